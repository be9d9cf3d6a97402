package partition

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

const (
	// mbarParts is the number of partial sums over the draws.
	mbarParts = 16
	// mbarChunk is the number of consecutive draws that one part adds up.
	mbarChunk = 1024
)

// mbar solves the equations of the multistate Bennett acceptance ratio: see Bennett for the symbols. The
// temperatures are in order of ascending β.
type mbar struct {
	beta   []float64
	d      [][]float64
	centre float64   // mean of D, subtracted from every D so that large energies keep their precision
	n      []float64 // number of draws at each temperature
	logn   []float64
	f      []float64 // free energies for D − centre; f[0] = 0

	chunks []chunk
	parts  []mbarSums
	loop   parallel.Loop
}

// A chunk is the draws lo … hi−1 at temperature k.
type chunk struct{ k, lo, hi int }

// mbarSums are sums over draws, with r_k = n_k p_k/Σ_l n_l p_l.
type mbarSums struct {
	value  float64   // Σ log Σ_k n_k p_k(x)
	first  []float64 // Σ r_k
	second []float64 // Σ r_k r_l, the lower triangle of a square matrix
	r      []float64 // r_k of one draw
}

func newMBAR(beta []float64, d [][]float64, order []int) *mbar {
	s := &mbar{f: make([]float64, len(beta))}
	total := 0
	for i, k := range order {
		n := float64(len(d[k]))
		s.beta, s.d = append(s.beta, beta[k]), append(s.d, d[k])
		s.n, s.logn = append(s.n, n), append(s.logn, vec.Log(n))
		for lo := 0; lo < len(d[k]); lo += mbarChunk {
			s.chunks = append(s.chunks, chunk{i, lo, min(lo+mbarChunk, len(d[k]))})
		}
		total += len(d[k])
	}
	for _, d := range s.d {
		for _, x := range d {
			s.centre += x / float64(total)
		}
	}
	k := len(beta)
	s.parts = make([]mbarSums, min(mbarParts, len(s.chunks)))
	for i := range s.parts {
		s.parts[i] = mbarSums{first: make([]float64, k), second: make([]float64, k*k), r: make([]float64, k)}
	}
	s.loop.Body = s.sumPart
	return s
}

// sum computes the sums over all draws at the current f.
func (s *mbar) sum() *mbarSums {
	s.loop.Run(len(s.parts), parallel.Always)
	all := &s.parts[0]
	for i := range s.parts[1:] {
		part := &s.parts[i+1]
		all.value += part.value
		floats.Add(all.first, part.first)
		floats.Add(all.second, part.second)
	}
	return all
}

// negligible is the logarithm of the smallest weight r_k, relative to the largest, that is not set to
// 0. The sum of 512 weights of e⁻⁴⁶ = 10⁻²⁰ is below the resolution of 1 in float64.
const negligible = -46

// weights overwrites r with the weight of each temperature in a draw with D = d,
//
//	r_k = n_k p_k/Σ_l n_l p_l,
//
// and returns value = log Σ_l n_l p_l. Negligible weights, and all those outside lo … hi−1, are 0.
func (s *mbar) weights(r []float64, d float64) (lo, hi int, value float64) {
	d -= s.centre
	top := math.Inf(-1)
	for k, b := range s.beta {
		r[k] = s.logn[k] + s.f[k] - float64(b*d)
		top = max(top, r[k])
	}
	lo = len(r)
	total := 0.0
	for k, x := range r {
		if x-top < negligible {
			r[k] = 0
			continue
		}
		r[k] = vec.Exp(x - top)
		total += r[k]
		lo, hi = min(lo, k), k+1
	}
	for k := lo; k < hi; k++ {
		r[k] /= total
	}
	return lo, hi, top + vec.Log(total)
}

func (s *mbar) sumPart(i int) {
	sums := &s.parts[i]
	sums.value = 0
	clear(sums.first)
	clear(sums.second)
	n := len(s.beta)
	r := sums.r
	for c := i; c < len(s.chunks); c += len(s.parts) {
		at := s.chunks[c]
		for _, d := range s.d[at.k][at.lo:at.hi] {
			lo, hi, value := s.weights(r, d)
			sums.value += value
			for k := lo; k < hi; k++ {
				sums.first[k] += r[k]
				row := sums.second[k*n:]
				for l := lo; l <= k; l++ {
					row[l] += float64(r[k] * r[l])
				}
			}
		}
	}
}

// newton minimises the convex function
//
//	Σ_x log Σ_k n_k exp(f_k − β_k D(x)) − Σ_k n_k f_k
//
// over f with f[0] = 0. It returns the Cholesky factors of the Hessian at the minimum.
func (s *mbar) newton() (*mat.Cholesky, error) {
	const (
		most      = 100   // largest number of steps; about five are usual
		tolerance = 1e-10 // in nats
		relative  = 1e-13 // tolerance relative to the largest f, near the resolution of float64
		small     = 1e-4  // smaller steps are not shortened, because rounding may hide that the function decreases
	)
	free := len(s.f) - 1
	hessian, slope, step := mat.NewSymDense(free, nil), mat.NewVecDense(free, nil), mat.NewVecDense(free, nil)
	var factors mat.Cholesky
	objective := func(sums *mbarSums) float64 {
		v := sums.value
		for k, f := range s.f {
			v -= float64(s.n[k] * f)
		}
		return v
	}
	sums := s.sum()
	for range most {
		for k := range free {
			slope.SetVec(k, s.n[k+1]-sums.first[k+1])
			for l := range k + 1 {
				h := -sums.second[(k+1)*len(s.f)+l+1]
				if k == l {
					h += sums.first[k+1]
				}
				hessian.SetSym(k, l, h)
			}
		}
		if !factors.Factorize(hessian) {
			return nil, errors.New("the draws do not determine the ratios; put temperatures closer or draw more")
		}
		if err := factors.SolveVecTo(step, slope); err != nil && !isCondition(err) {
			return nil, err
		}
		largest, size := 0.0, 0.0
		for k := range free {
			largest, size = max(largest, math.Abs(step.AtVec(k))), max(size, math.Abs(s.f[k+1]))
		}
		before, old := objective(sums), slices.Clone(s.f)
		for scale := 1.0; ; scale /= 2 {
			for k := range free {
				s.f[k+1] = old[k+1] + float64(scale*step.AtVec(k))
			}
			sums = s.sum()
			if objective(sums) <= before || scale*largest < small {
				break
			}
		}
		if largest <= max(tolerance, relative*size) {
			return &factors, nil
		}
	}
	return nil, fmt.Errorf("no convergence in %d steps; put temperatures closer or draw more", most)
}

// isCondition reports whether err is only a warning of a large condition number.
func isCondition(err error) bool {
	var c mat.Condition
	return errors.As(err, &c)
}

// solve returns H⁻¹x for the factors of H.
func solve(hessian *mat.Cholesky, x []float64) *mat.VecDense {
	out := mat.NewVecDense(len(x), nil)
	if err := hessian.SolveVecTo(out, mat.NewVecDense(len(x), x)); err != nil && !isCondition(err) {
		panic("partition: a factorised matrix of another shape") // impossible, because x has its size
	}
	return out
}

// variances returns the variances of f if all draws are independent: the diagonal of
// the inverse Hessian minus 1/n_k and 1/n_0. This is eq. 8 of Shirts & Chodera for
// the difference f_k − f_0.
func (s *mbar) variances(hessian *mat.Cholesky) []float64 {
	v := make([]float64, len(s.f))
	for k := range len(v) - 1 {
		unit := make([]float64, len(v)-1)
		unit[k] = 1
		v[k+1] = max(0, solve(hessian, unit).AtVec(k)-1/s.n[k+1]-1/s.n[0])
	}
	return v
}

// groupVariances returns the variances of f from the variance between groups of draws.
func (s *mbar) groupVariances(hessian *mat.Cholesky, groups int) []float64 {
	score := make([][]float64, groups) // for each group: n_k/G − Σ r_k, with the sum over its draws
	parallel.Do(groups, func(g int) {
		sum, r := make([]float64, len(s.f)), make([]float64, len(s.f))
		for i, d := range s.d {
			n := len(d) / groups
			sum[i] += float64(n)
			for _, x := range d[g*n : (g+1)*n] {
				lo, hi, _ := s.weights(r, x)
				for k := lo; k < hi; k++ {
					sum[k] -= r[k]
				}
			}
		}
		score[g] = sum[1:]
	})
	v := make([]float64, len(s.f))
	scale := float64(groups) / float64(groups-1)
	for _, u := range score {
		moved := solve(hessian, u)
		for k := range len(v) - 1 {
			v[k+1] += float64(scale * moved.AtVec(k) * moved.AtVec(k))
		}
	}
	return v
}
