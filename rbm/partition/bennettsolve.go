package partition

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

const (
	// bennettParts is the number of partial sums over draws.
	bennettParts = 16
	// bennettChunk is the number of draws that go to one part at a time.
	bennettChunk = 1024
)

// bennett is the problem with its rungs in ascending β.
type bennett struct {
	beta   []float64
	d      [][]float64
	centre float64   // subtracted from every D, so that large energies keep their digits
	n      []float64 // numbers of draws
	logn   []float64
	f      []float64 // of the centred D; f[0] = 0

	chunks []chunk
	parts  []bennettSums
	loop   parallel.Loop
}

// A chunk is draws lo … hi−1 of a rung.
type chunk struct{ rung, lo, hi int }

// bennettSums are sums over draws.
type bennettSums struct {
	value  float64   // Σ log Σ_k n_k p_k(x)
	first  []float64 // Σ r_k, r_k = n_k p_k/Σ_l n_l p_l
	second []float64 // Σ r_k r_l, the lower triangle of rungs × rungs
	r      []float64
}

func newBennett(beta []float64, d [][]float64, order []int) *bennett {
	s := &bennett{f: make([]float64, len(beta))}
	total := 0
	for i, k := range order {
		n := float64(len(d[k]))
		s.beta, s.d = append(s.beta, beta[k]), append(s.d, d[k])
		s.n, s.logn = append(s.n, n), append(s.logn, vec.Log(n))
		for lo := 0; lo < len(d[k]); lo += bennettChunk {
			s.chunks = append(s.chunks, chunk{i, lo, min(lo+bennettChunk, len(d[k]))})
		}
		total += len(d[k])
	}
	for _, d := range s.d {
		for _, x := range d {
			s.centre += x / float64(total)
		}
	}
	k := len(beta)
	s.parts = make([]bennettSums, min(bennettParts, len(s.chunks)))
	for i := range s.parts {
		s.parts[i] = bennettSums{first: make([]float64, k), second: make([]float64, k*k), r: make([]float64, k)}
	}
	s.loop.Body = s.sumPart
	return s
}

// sum evaluates the sums at f.
func (s *bennett) sum() *bennettSums {
	s.loop.Run(len(s.parts), parallel.Always)
	all := &s.parts[0]
	for i := range s.parts[1:] {
		part := &s.parts[i+1]
		all.value += part.value
		for k, x := range part.first {
			all.first[k] += x
		}
		for k, x := range part.second {
			all.second[k] += x
		}
	}
	return all
}

// negligible is the logarithm below which a rung's share of a draw is left
// out: 512 of e⁻⁴⁶ = 10⁻²⁰ are less than a rounding of 1.
const negligible = -46

// shares overwrites r with what each rung has of a draw with this D,
//
//	r_k = n_k p_k/Σ_l n_l p_l,
//
// and returns log Σ_l n_l p_l. Only neighbours count as a rule: all but the
// rungs lo … hi−1 have a negligible share, and 0 stands for it.
func (s *bennett) shares(r []float64, d float64) (lo, hi int, value float64) {
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

func (s *bennett) sumPart(i int) {
	sums := &s.parts[i]
	sums.value = 0
	clear(sums.first)
	clear(sums.second)
	rungs := len(s.beta)
	r := sums.r
	for c := i; c < len(s.chunks); c += len(s.parts) {
		at := s.chunks[c]
		for _, d := range s.d[at.rung][at.lo:at.hi] {
			lo, hi, value := s.shares(r, d)
			sums.value += value
			for k := lo; k < hi; k++ {
				sums.first[k] += r[k]
				row := sums.second[k*rungs:]
				for l := lo; l <= k; l++ {
					row[l] += r[k] * r[l]
				}
			}
		}
	}
}

// newton minimises Σ_x log Σ_k n_k exp(f_k − β_k D(x)) − Σ_k n_k f_k, which is
// convex, over f with f[0] = 0, and returns the factors of its Hessian there.
func (s *bennett) newton() (*mat.Cholesky, error) {
	const (
		most      = 100   // steps: from two-rung ratios it takes a handful
		tolerance = 1e-10 // nats
		relative  = 1e-13 // of the largest f, where float64 ends
		small     = 1e-4  // a step below it is Newton's own: its decrease may drown in rounding
	)
	free := len(s.f) - 1
	hessian, slope, step := mat.NewSymDense(free, nil), mat.NewVecDense(free, nil), mat.NewVecDense(free, nil)
	var factors mat.Cholesky
	objective := func(sums *bennettSums) float64 {
		v := sums.value
		for k, f := range s.f {
			v -= s.n[k] * f
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
				s.f[k+1] = old[k+1] + scale*step.AtVec(k)
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

// isCondition reports whether err only warns of a large condition number.
func isCondition(err error) bool {
	var c mat.Condition
	return errors.As(err, &c)
}

// solve returns H⁻¹x of the free f for the factors of H.
func solve(hessian *mat.Cholesky, x []float64) *mat.VecDense {
	out := mat.NewVecDense(len(x), nil)
	if err := hessian.SolveVecTo(out, mat.NewVecDense(len(x), x)); err != nil && !isCondition(err) {
		panic("rbm: a factorised matrix of another shape") // cannot be: x is made for it
	}
	return out
}

// variances returns those of f if all draws are independent: the inverse of
// the Hessian less 1/n_k and 1/n_0, which is eq. 8 of Shirts & Chodera for the
// difference f_k − f_0.
func (s *bennett) variances(hessian *mat.Cholesky) []float64 {
	v := make([]float64, len(s.f))
	for k := range len(v) - 1 {
		unit := make([]float64, len(v)-1)
		unit[k] = 1
		v[k+1] = max(0, solve(hessian, unit).AtVec(k)-1/s.n[k+1]-1/s.n[0])
	}
	return v
}

// groupVariances returns those of f from the spread between groups of draws.
func (s *bennett) groupVariances(hessian *mat.Cholesky, groups int) []float64 {
	score := make([][]float64, groups) // of each group: n_k/G − Σ r_k over its draws
	parallel.Do(groups, func(g int) {
		sum, r := make([]float64, len(s.f)), make([]float64, len(s.f))
		for i, d := range s.d {
			n := len(d) / groups
			sum[i] += float64(n)
			for _, x := range d[g*n : (g+1)*n] {
				lo, hi, _ := s.shares(r, x)
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
