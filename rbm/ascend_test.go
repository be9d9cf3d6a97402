package rbm

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// A step64 is a step of all parameters in float64: weights row by row, visible biases, hidden
// biases.
type step64 [3][]float64

// newStep64 returns the moments of p for a model of n × m units.
func newStep64(n, m int, p Phase) step64 {
	s := step64{make([]float64, n*m), make([]float64, n), make([]float64, m)}
	if k := p.Moments; k != nil {
		for i, x := range k.VH.Data {
			s[0][i] = float64(x)
		}
		for i, x := range k.V {
			s[1][i] = float64(x)
		}
		for j, x := range k.H {
			s[2][j] = float64(x)
		}
		return s
	}
	for r := range p.Rows() {
		w := 1 / float64(p.Rows())
		if p.Weight != nil {
			w = float64(p.Weight[r])
		}
		h := p.H.Row(r)
		for i := range n {
			v := 0.0
			if p.V.IsReal() {
				v = float64(p.V.Matrix().Row(r)[i])
			} else if p.V.Get(r, i) {
				v = 1
			}
			if v == 0 {
				continue
			}
			s[1][i] += w * v
			for j, p := range h {
				s[0][i*m+j] += w * v * float64(p)
			}
		}
		for j, p := range h {
			s[2][j] += w * float64(p)
		}
	}
	return s
}

// parameters64 returns the parameters of m in the order of a step64.
func parameters64(m *RBM) step64 {
	s := newStep64(m.Visible(), m.Hidden(), Phase{Moments: NewMoments(m)})
	for i := range m.Visible() {
		for j := range m.Hidden() {
			s[0][i*m.Hidden()+j] = float64(m.Weight(i, j))
		}
		s[1][i] = float64(m.VisibleBias[i])
	}
	for j, c := range m.HiddenBias {
		s[2][j] = float64(c)
	}
	return s
}

func norm64(x []float64, less []float64) float64 {
	sum := 0.0
	for i, x := range x {
		if less != nil {
			x -= less[i]
		}
		sum += x * x
	}
	return math.Sqrt(sum)
}

// particlesOf returns rows drawn from m, starting from fair hidden units.
func particlesOf(m *RBM, rows int, seed uint64) Batch {
	s := NewStates(m, rows)
	s.H.Randomize(NewKey(seed))
	m.Step(s, nil, 1, NewKey(seed))
	return Batch{V: s.V, H: s.Mean}
}

// The step of an ascent is compared with the same sum in float64. With zero parameters the step is
// stored unrounded, so its error is visible. For each tensor it must be below 10⁻⁵ of the norm of
// the step, or of a hundredth of the norm of the positive phase if that is larger. With other
// parameters the rounding of a parameter adds at most half of its last bit. For large batches the
// error of the weights must also be below eight average roundings, of 2.5·10⁻⁸ each, of the
// positive phase. Without float64 sums over chunks a million rows have twice that error. If the
// phases differ in size, the limit is half of a last bit, the error of coefficients whose rounding
// errors are not carried over.
func TestAscendLosesNothing(t *testing.T) {
	const small, share = 1e-5, 0.01
	m := shape{8, 5, 0, Softmax}.random(1, 1)
	wide := shape{130, 75, 0, Softmax}.random(2, 0.3)
	weights := func(rows int, weight func(r int) float32) []float32 {
		w := make([]float32, rows)
		for r := range w {
			w[r] = weight(r)
		}
		return w
	}
	const eight, half = 8 * 2.53e-8, 0x1p-24
	type phases struct {
		name     string
		m        *RBM
		most     float64
		pos, neg Phase
	}
	var all []phases
	sizes := []int{1, 10, 100, 1000, 20000, 1_000_000}
	if testing.Short() {
		sizes = sizes[:5]
	}
	for _, rows := range sizes {
		pos, neg := particlesOf(m, rows, 1), particlesOf(m, rows, 2)
		all = append(all, phases{fmt.Sprintf("%d rows against as many", rows), m, eight, Phase{Batch: pos}, Phase{Batch: neg}})
		if rows > 20000 { // five times the work
			continue
		}
		few := particlesOf(m, min(rows, 7), 3)
		all = append(all, phases{fmt.Sprintf("%d rows against few", rows), m, eight, Phase{Batch: pos}, Phase{Batch: few}})
		exact := NewMoments(m)
		exact.Set(particlesOf(m, 50, 5))
		all = append(all, phases{fmt.Sprintf("%d rows against moments", rows), m, eight, Phase{Batch: pos}, Phase{Moments: exact}})
		grey := Batch{V: NewMatrix(rows, 8).Values(), H: pos.H}
		r := NewKey(4).Rand()
		for i := range grey.V.Real {
			grey.V.Real[i] = r.Float32() * float32(i%3)
		}
		all = append(all, phases{fmt.Sprintf("%d grey rows against bits", rows), m, eight, Phase{Batch: grey}, Phase{Batch: neg}})
		neg.Weight = weights(rows, func(r int) float32 { return []float32{1e-9, 3, 0, -1, 0.3}[r%5] / float32(rows) })
		all = append(all, phases{fmt.Sprintf("%d rows against weights", rows), m, eight, Phase{Batch: pos}, Phase{Batch: neg}})
	}
	for _, rows := range [][2]int{{100, 100}, {300, 1000}, {1500, 500}, {3000, 3000}} {
		pos, neg := particlesOf(wide, rows[0], 1), particlesOf(wide, rows[1], 2)
		most := half
		if rows[0] == rows[1] {
			most = eight
		}
		all = append(all, phases{fmt.Sprintf("130 × 75 units, %d rows against %d", rows[0], rows[1]), wide, most, Phase{Batch: pos}, Phase{Batch: neg}})
	}
	for _, c := range all {
		n, h := c.m.Visible(), c.m.Hidden()
		plus, less := newStep64(n, h, c.pos), newStep64(n, h, c.neg)
		for _, rate := range []float32{0.1, 0.01, 0.001, 1e-6} {
			want, rate64 := newStep64(n, h, Phase{Moments: NewMoments(c.m)}), float64(rate)
			for k := range want {
				for i := range want[k] {
					want[k][i] = rate64 * (plus[k][i] - less[k][i])
				}
			}
			step, moved := New(n, h, 0, Softmax), c.m.Clone()
			new(Ascent).Step(step, rate, 1, c.pos, c.neg)
			new(Ascent).Step(moved, rate, 1, c.pos, c.neg)
			got, before, after := parameters64(step), parameters64(c.m), parameters64(moved)
			for k, tensor := range tensors {
				size := math.Max(norm64(want[k], nil), share*rate64*norm64(plus[k], nil))
				off := norm64(got[k], want[k])
				if !(off <= small*size) {
					t.Errorf("%s, rate %v: the step of the %s is off by %.2g of its norm, got %v, want at most %v", c.name, rate, tensor, off/size, off, small*size)
				}
				if phase := rate64 * norm64(plus[k], nil); k == 0 && !(off <= c.most*phase) {
					t.Errorf("%s, rate %v: the step of the weights is off by %.2g of the positive phase", c.name, rate, off/phase)
				}
				for i, x := range after[k] {
					bit := math.Abs(float64(math.Float32frombits(math.Float32bits(float32(math.Abs(x)))+1)) - math.Abs(x))
					if lost := math.Abs(x - (before[k][i] + got[k][i])); lost > bit/2*(1+1e-6) {
						t.Fatalf("%s, rate %v: %s %d are off by %v, half of the last bit is %v, want at most %v", c.name, rate, tensor, i, lost, bit/2, bit/2*(1+1e-6))
					}
				}
			}
		}
	}
}

// The centred gradient is compared with the same sums in float64. Its bias steps are sums of many
// terms that nearly cancel, so the error of each tensor is compared with the norm of the whole
// step.
func TestCentreLosesNothing(t *testing.T) {
	for _, c := range []struct {
		s    shape
		rows int
	}{{shape{784, 500, 0, Softmax}, 10}, {shape{784, 500, 0, Softmax}, 100}, {shape{130, 75, 0, Softmax}, 5000}} {
		m := c.s.random(1, 0.1)
		n, h := m.Visible(), m.Hidden()
		pos, neg := Phase{Batch: particlesOf(m, c.rows, 1)}, Phase{Batch: particlesOf(m, c.rows, 2)}
		plus, less := newStep64(n, h, pos), newStep64(n, h, neg)
		want := newStep64(n, h, Phase{Moments: NewMoments(m)})
		for k := range want {
			for i := range want[k] {
				want[k][i] = plus[k][i] - less[k][i]
			}
		}
		mu, lambda := make([]float32, n), make([]float32, h)
		for i := range mu {
			mu[i] = float32(plus[1][i])
		}
		for j := range lambda {
			lambda[j] = float32(plus[2][j])
		}
		got := New(n, h, 0, Softmax)
		(&Ascent{Mu: mu, Lambda: lambda}).Step(got, 1, 1, pos, neg)
		gb, gc := slices.Clone(want[1]), slices.Clone(want[2])
		for i := range n {
			for j := range h {
				g := want[0][i*h+j] - float64(mu[i])*gc[j] - gb[i]*float64(lambda[j])
				want[0][i*h+j] = g
				want[1][i] -= g * float64(lambda[j])
				want[2][j] -= g * float64(mu[i])
			}
		}
		size := norm64(slices.Concat(want[:]...), nil)
		for k, tensor := range tensors {
			if off := norm64(parameters64(got)[k], want[k]) / size; !(off <= 1e-5) {
				t.Errorf("%v, %d rows: the %s are off by %.2g of the gradient's norm, want at most 1e-5", c.s, c.rows, tensor, off)
			}
		}
	}
}

var tensors = [3]string{"weights", "visible biases", "hidden biases"}

func TestAscendAddsTheMomentDifference(t *testing.T) {
	m := shape{130, 75, 3, Softmax}.random(4, 0.5)
	states := func(rows int, seed uint64) Batch {
		s := NewStates(m, rows)
		s.H.Randomize(NewKey(seed))
		m.Step(s, nil, 1, NewKey(seed))
		return Batch{V: s.V, H: s.Mean}
	}
	for _, slots := range [][2]int{{1, 1}, {10, 50}, {70, 100}, {3, 0}} {
		pos, neg := states(slots[0], 1), states(slots[1], 2)
		neg.Weight = make([]float32, slots[1])
		for r := range neg.Weight {
			neg.Weight[r] = float32(r%3) - 0.5
			if r%5 == 0 {
				neg.Weight[r] = 0
			}
		}
		plus, less := NewMoments(m), NewMoments(m)
		plus.Set(pos)
		less.Set(neg)
		fused, dense, mixed := m.Clone(), m.Clone(), m.Clone()
		const rate = 0.25
		new(Ascent).Step(fused, rate, 1, Phase{Batch: pos}, Phase{Batch: neg})
		new(Ascent).Step(dense, rate, 1, Phase{Moments: plus}, Phase{Moments: less})
		new(Ascent).Step(mixed, rate, 1, Phase{Batch: pos}, Phase{Moments: less})
		// Sums of up to 170 float32 terms below 1.5, in different orders.
		const tol = 170 * 1.5 * rate / (1 << 23)
		for _, got := range []*RBM{dense, mixed} {
			for i := range m.Visible() {
				near(t, "visible bias", float64(got.VisibleBias[i]), float64(fused.VisibleBias[i]), tol)
				for j := range m.Hidden() {
					near(t, "weight", float64(got.Weight(i, j)), float64(fused.Weight(i, j)), tol)
				}
			}
			for j := range m.Hidden() {
				near(t, "hidden bias", float64(got.HiddenBias[j]), float64(fused.HiddenBias[j]), tol)
			}
		}
		// The dense pass against the definition.
		for i := range m.Visible() {
			for j := range m.Hidden() {
				want := float64(m.Weight(i, j)) + rate*(float64(plus.VH.Row(i)[j])-float64(less.VH.Row(i)[j]))
				near(t, "weight", float64(dense.Weight(i, j)), want, 1e-6*math.Max(1, math.Abs(want)))
			}
		}
	}
}
