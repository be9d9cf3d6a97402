package rbm

import (
	"context"
	"math"
	"testing"

	"gorbm/rbm/parallel"
)

// dyadic rounds the parameters of m and b to multiples of 1/8, so that float32 sums of them are
// exact.
func dyadic(m *RBM, b *Base) {
	round := func(x []float32) {
		for i := range x {
			x[i] = float32(math.Round(8*float64(x[i])) / 8)
		}
	}
	round(m.VisibleBias)
	round(m.HiddenBias)
	round(m.w)
	round(b.VisibleBias)
	round(b.HiddenBias)
}

// visibleKernel returns the transition matrix of h|v, then v|h, over the rows of visible states,
// from the definition of the conditionals.
func visibleKernel(all []state, rows [][]int) [][]float64 {
	p, _ := probabilities(all, 1)
	at := map[int]int{}
	for i, v := range rows {
		at[key(v)] = i
	}
	v, h := make([]float64, len(rows)), map[int]float64{}
	for i, s := range all {
		v[at[key(s.v)]] += p[i]
		h[key(s.h)] += p[i]
	}
	kernel := make([][]float64, len(rows))
	for i := range kernel {
		kernel[i] = make([]float64, len(rows))
	}
	for i, s := range all {
		for j, to := range all {
			if key(s.h) == key(to.h) {
				kernel[at[key(s.v)]][at[key(to.v)]] += p[i] / v[at[key(s.v)]] * p[j] / h[key(s.h)]
			}
		}
	}
	return kernel
}

// allPaths computes the weights of all paths over visible states. Paths start from a distribution
// over rows; kernel(k) is the transition matrix of step k.
type allPaths struct {
	m    *RBM
	b    *Base
	rows [][]int
	a    *annealing
}

func newAllPaths(m *RBM, b *Base, path []float64) *allPaths {
	rows := distinctVisible(states(m))
	return &allPaths{m, b, rows, newAnnealing(nil, m, b, path, bitsOf(rows), NewKey(1))}
}

// probabilities returns p_β of the rows.
func (s *allPaths) probabilities(beta float64) []float64 {
	all := blended(s.m, s.b, beta, 1-beta)
	p, _ := probabilities(all, 1)
	of := marginals(all, p)
	q := make([]float64, len(s.rows))
	for i, v := range s.rows {
		q[i] = of[key(v)]
	}
	return q
}

// weigh multiplies p by the weights of a step.
func (s *allPaths) weigh(p []float64, from, to float64) []float64 {
	gain := make([]float64, annealRows)
	q := make([]float64, len(p))
	for i := range s.a.parts {
		part := &s.a.parts[i]
		part.gain(gain, from, to, NewKey(1), false)
		for r := range part.up.v.Rows {
			q[part.first+r] = p[part.first+r] * math.Exp(gain[r])
		}
	}
	return q
}

// move multiplies p by the kernel at beta.
func (s *allPaths) move(p []float64, beta float64) []float64 {
	kernel := visibleKernel(blended(s.m, s.b, beta, 1-beta), s.rows)
	q := make([]float64, len(p))
	for i, row := range kernel {
		for j, t := range row {
			q[j] += p[i] * t
		}
	}
	return q
}

func total(p []float64) (sum float64) {
	for _, x := range p {
		sum += x
	}
	return sum
}

// The mean weight over all paths is exactly Z/Z₀, and Z₀/Z in reverse. It is not if the weight is
// computed after the move, if a move uses the previous β, or if the reverse uses the gains of the
// forward direction.
func TestWeightsOverAllPaths(t *testing.T) {
	path := []float64{0, 0.125, 0.5, 0.625, 1}
	forEach(t, tiny, func(t *testing.T, shape shape) {
		for _, none := range []bool{false, true} {
			m := shape.random(8, 1.5)
			b := randomBase(m, 1.5, 9)
			dyadic(m, b)
			if none {
				b = nil
			}
			s := newAllPaths(m, b, path)
			_, logZ := probabilities(states(m), 1)
			ratio := math.Exp(logZ - b.LogZ(m))

			up := func(step func(p []float64, from, to float64, last bool) []float64) float64 {
				p := s.probabilities(0)
				for k := range len(path) - 1 {
					p = step(p, path[k], path[k+1], k == len(path)-2)
				}
				return total(p)
			}
			right := func(p []float64, from, to float64, last bool) []float64 {
				p = s.weigh(p, from, to)
				if !last {
					p = s.move(p, to)
				}
				return p
			}
			// Sums of a few hundred positive products of about 1.
			near(t, "mean weight", up(right)/ratio, 1, 1e-12)
			down := s.probabilities(1)
			for k := len(path) - 1; k > 0; k-- {
				down = right(down, path[k], path[k-1], k == 1)
			}
			near(t, "mean weight in reverse", total(down)*ratio, 1, 1e-12)

			mutant := func(name string, got float64) {
				if math.Abs(got-1) < 1e-6 {
					t.Errorf("mutant is not seen: %s: mean weight off by %.2g, want ±1e-6 at least", name, got-1)
				}
			}
			mutant("weight after the move", up(func(p []float64, from, to float64, _ bool) []float64 {
				return s.weigh(s.move(p, to), from, to)
			})/ratio)
			mutant("move at the β before", up(func(p []float64, from, to float64, last bool) []float64 {
				p = s.weigh(p, from, to)
				if !last {
					p = s.move(p, from)
				}
				return p
			})/ratio)
			wrong := s.probabilities(1)
			for k := range len(path) - 1 { // starts at the model, but moves forward
				wrong = right(wrong, path[k+1], path[k], k == len(path)-2)
			}
			mutant("reverse not reversed", total(wrong)*ratio)
		}
	})
}

// A byHand run anneals with plain loops and the same uniforms as the library, so both must have the
// same weights. With late or behind it is a wrong algorithm.
type byHand struct {
	m            *RBM
	b            *Base
	key          Key
	late, behind bool // weights after the move; moves at the previous β
}

// at returns the model at β: interpolated parameters, rounded to float32.
func (s byHand) at(beta float64) *RBM {
	m, b := s.m.Clone(), s.b
	if b == nil {
		b = UniformBase(m)
	}
	blend := func(x *float32, x0 float32) { *x = float32(beta*float64(*x) + (1-beta)*float64(x0)) }
	for i := range m.VisibleBias {
		blend(&m.VisibleBias[i], b.VisibleBias[i])
	}
	for j := range m.HiddenBias {
		blend(&m.HiddenBias[j], b.HiddenBias[j])
	}
	for i := range m.w {
		blend(&m.w[i], 0)
	}
	return m
}

// weights anneals the rows of v and returns their log weights.
func (s byHand) weights(path []float64, v Values) []float64 {
	logw := make([]float64, v.Rows)
	h := NewBits(v.Rows, s.m.Hidden())
	before, after := make([]float64, v.Rows), make([]float64, v.Rows)
	for k := range len(path) - 1 {
		from, to := s.at(path[k]), s.at(path[k+1])
		weigh := func() {
			from.FreeEnergy(before, v)
			to.FreeEnergy(after, v)
			for r := range logw {
				logw[r] += before[r] - after[r]
			}
		}
		if !s.late {
			weigh()
		}
		if s.late || k+2 < len(path) {
			at := to
			if s.behind {
				at = from
			}
			s.draw(at, v, h, s.key.Child(uint64(2*k)), s.key.Child(uint64(2*k+1)))
		}
		if s.late {
			weigh()
		}
	}
	return logw
}

// draw draws h|v, then v|h, of m.
func (s byHand) draw(m *RBM, v, h Values, up, down Key) {
	mean := NewMatrix(v.Rows, m.Hidden())
	m.HiddenMean(mean, v)
	us, ds := up.stream(), down.stream()
	for r := range v.Rows {
		for j, p := range mean.Row(r) {
			h.Set(r, j, us.Uniform(uint32(r), uint32(j)) < p*(1<<24))
		}
	}
	mean = NewMatrix(v.Rows, m.Visible())
	m.VisibleMean(mean, h)
	for r := range v.Rows {
		for i, p := range mean.Row(r) {
			v.Set(r, i, ds.Uniform(uint32(r), uint32(i)) < p*(1<<24))
		}
		if m.softmaxLabel() {
			clearFrom(v.Row(r), m.Inputs())
			u, y := ds.Uniform(uint32(r), uint32(m.Inputs()))*0x1p-24, 0
			for ; y < m.Classes()-1 && u >= mean.Row(r)[m.Inputs()+y]; y++ {
				u -= mean.Row(r)[m.Inputs()+y]
			}
			v.Set(r, m.Inputs()+y, true)
		}
	}
}

// annealed returns the log weights of the rows of v at the end of path.
func annealed(m *RBM, b *Base, path []float64, v Values) ([]float64, error) {
	logw := make([]float64, v.Rows)
	err := Anneal(context.Background(), m, b, path, v, NewKey(6), func(_ int, gains []float64) {
		for r, g := range gains {
			logw[r] += g
		}
	}, nil)
	return logw, err
}

func TestAnnealingByHand(t *testing.T) {
	path := []float64{0, 0.25, 0.5, 0.75, 1}
	for _, shape := range []shape{{6, 5, 0, Softmax}, {70, 130, 0, Softmax}, {40, 70, 10, Softmax}, {40, 70, 3, Bernoulli}} {
		t.Run(shape.String(), func(t *testing.T) {
			m := shape.random(3, 0.3)
			for _, b := range []*Base{nil, randomBase(m, 1, 4)} {
				const chains = annealRows + 7
				v, h := NewBits(chains, m.Visible()), NewBits(chains, m.Hidden())
				b.Draw(m, v, h, NewKey(5))
				same := NewBits(chains, m.Visible())
				same.CopyFrom(v)
				got, err := annealed(m, b, path, v)
				if err != nil {
					t.Fatal(err)
				}
				want := byHand{m: m, b: b, key: NewKey(6)}.weights(path, same)
				for r := range want {
					// Five gains, each a sum of 200 float32 preactivations of size 3 with about ten
					// roundings of 2⁻²⁴.
					near(t, "log weight", got[r], want[r], 5*200*10*3*0x1p-24)
				}
			}
		})
	}
}

// The mean weight of the annealing is Z/Z₀. That of the wrong algorithms is not.
func TestAnnealingIsUnbiased(t *testing.T) {
	const chains = 10000
	path := []float64{0, 0.25, 0.5, 0.75, 1}
	for _, shape := range []shape{{4, 3, 0, Softmax}, {5, 3, 3, Softmax}, {5, 3, 2, Bernoulli}} {
		t.Run(shape.String(), func(t *testing.T) {
			m := shape.random(12, 1.2)
			_, logZ := probabilities(states(m), 1)
			for _, b := range []*Base{nil, randomBase(m, 0.5, 4)} {
				start := func() Values {
					v, h := NewBits(chains, m.Visible()), NewBits(chains, m.Hidden())
					b.Draw(m, v, h, NewKey(5))
					return v
				}
				// off returns the distance of the mean weight from Z/Z₀ in standard errors.
				off := func(logw []float64) float64 {
					sum, squares := 0.0, 0.0
					for _, w := range logw {
						x := math.Exp(w + b.LogZ(m) - logZ)
						sum += x / chains
						squares += x * x / chains
					}
					return (sum - 1) / math.Sqrt((squares-sum*sum)/chains)
				}
				got, err := annealed(m, b, path, start())
				if err != nil {
					t.Fatal(err)
				}
				if z := off(got); math.Abs(z) > 5 {
					t.Errorf("mean weight is off by %.1f standard errors, want ±5 at most", z)
				}
				late := byHand{m: m, b: b, key: NewKey(6), late: true}.weights(path, start())
				behind := byHand{m: m, b: b, key: NewKey(6), behind: true}.weights(path, start())
				if z := off(late); math.Abs(z) < 5 {
					t.Errorf("a weight after the move is not seen: %.1f standard errors, want ±5 at least", z)
				}
				if z := off(behind); math.Abs(z) < 5 {
					t.Errorf("a move at the β before is not seen: %.1f standard errors, want ±5 at least", z)
				}
			}
		})
	}
}

func TestAnnealingAllocatesNothing(t *testing.T) {
	m := shape{130, 200, 10, Softmax}.random(4, 0.3)
	v, h := NewBits(2*annealRows, 130), NewBits(2*annealRows, 200)
	b := randomBase(m, 1, 6)
	b.Draw(m, v, h, NewKey(1))
	a := newAnnealing(nil, m, b, []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1}, v, NewKey(2))
	a.ctx, a.hi = context.Background(), 5
	a.runPart(len(a.parts) - 1)
	if n := testing.AllocsPerRun(20, func() { a.runPart(len(a.parts) - 1) }); n != 0 && !parallel.Raced() { // under the race detector a pool drops elements at random
		t.Errorf("%v allocations in five steps, want 0", n)
	}
}
