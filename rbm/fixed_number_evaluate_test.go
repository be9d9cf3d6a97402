package rbm

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"

	"gorbm/rbm/parallel"
)

// constrainedLargeModels returns models with several blocks of units in both layers, under
// constraints of every kind. The last of their rows is impossible under a constraint on all units.
func constrainedLargeModels() map[string]func() (*RBM, Values) {
	models := map[string]func() (*RBM, Values){}
	for _, s := range []shape{{75, 90, 0, Softmax}, {75, 90, 5, Softmax}, {75, 90, 5, Bernoulli}} {
		for _, c := range []Constraint{{On: HiddenUnits, Active: 20}, {On: AllUnits, Active: 92}} {
			models[fmt.Sprintf("%v, %v", s, &c)] = func() (*RBM, Values) {
				m := s.random(3, 0.3)
				c := c
				m.Constraint = &c
				v := NewBits(37, m.Visible())
				v.Randomize(NewKey(6))
				clear(v.Row(v.Rows - 1))
				for r := range v.Rows {
					for k := range m.Classes() {
						v.Set(r, m.Inputs()+k, k == r%m.Classes())
					}
				}
				return m, v
			}
		}
	}
	return models
}

// Free energies agree with a separate distribution for each row. Class probabilities and
// pseudo-likelihoods agree with free energies of other rows.
func TestConstrainedEvaluation(t *testing.T) {
	for name, make1 := range constrainedLargeModels() {
		m, v := make1()
		f := make([]float64, v.Rows)
		m.FreeEnergy(f, v)
		// Hundreds of roundings of numbers of size 100.
		const tol = 1e-11
		last := v.Rows - 1
		if on := m.Constraint.activeHidden(v, last); math.IsInf(f[last], 1) != (on > m.Hidden()) {
			t.Errorf("%s: %d hidden units are left, F = %v", name, on, f[last])
		}
		for r := range v.Rows {
			var c bernoulli.Conditional
			c.Resize(m.Hidden())
			preactivate(m, c.LogOdds[3], v.Row(r))
			c.Active[3] = m.Constraint.activeHidden(v, r)
			weight := maskedSums(m.VisibleBias, v.Row(r))
			if !c.Possible(3) {
				continue
			}
			c.Solve()
			near(t, name+": F", f[r], -weight-c.LogZ(3), tol)
		}
		one := NewBits(1, v.Cols)
		energy := func(change func()) float64 {
			var f [1]float64
			change()
			m.FreeEnergy(f[:], one)
			return f[0]
		}
		logp, score := make([]float64, v.Rows*m.Classes()), make([]float64, v.Rows)
		if m.Classes() > 0 {
			m.ClassLogProb(logp, v)
		}
		m.PseudoLogLikelihood(score, v)
		for _, r := range []int{0, 5, 17, last - 1} {
			want := 0.0
			one.CopyFrom(v.Slice(r, r+1))
			var classes []float64
			for y := range m.Classes() {
				classes = append(classes, -energy(func() {
					for k := range m.Classes() {
						one.Set(0, m.Inputs()+k, k == y)
					}
				}))
			}
			for y, x := range classes {
				x -= LogSumExp(classes)
				near(t, name+": log p(y|x)", logp[r*m.Classes()+y], x, tol)
				if m.softmaxLabel() && v.Get(r, m.Inputs()+y) {
					want = x
				}
			}
			one.CopyFrom(v.Slice(r, r+1))
			units := m.Visible()
			if m.softmaxLabel() {
				units = m.Inputs()
			}
			for i := range units {
				flipped := energy(func() { one.Set(0, i, !v.Get(r, i)) })
				one.Set(0, i, v.Get(r, i))
				want -= vec.Softplus(f[r] - flipped)
			}
			near(t, name+": pseudo-likelihood", score[r], want, float64(units)*tol)
		}
		if math.IsInf(f[last], 1) && !math.IsInf(score[last], -1) {
			t.Errorf("%s: an impossible row has the pseudo-likelihood %v", name, score[last])
		}
		if m.Constraint.On == AllUnits {
			continue
		}
		grey, greyp := make([]float64, v.Rows), make([]float64, len(logp))
		m.FreeEnergy(grey, greyOf(v).Values())
		if m.Classes() > 0 {
			m.ClassLogProb(greyp, greyOf(v).Values())
		}
		for i, x := range slices.Concat(grey, greyp) {
			near(t, name+": grey", x, slices.Concat(f, logp)[i], tol)
		}
	}
}

// Results are bit-identical at any GOMAXPROCS and kernel level. Free energies, class probabilities
// and hidden means of grey rows allocate nothing.
func TestConstrainedEvaluationBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, make1 := range constrainedLargeModels() {
		m, v := make1()
		dst := make([]float64, v.Rows*(2+m.Classes()))
		mean, given := NewMatrix(v.Rows, m.Hidden()), NewMatrix(v.Rows, m.Hidden())
		grey := greyOf(v)
		quick := func() {
			m.FreeEnergy(dst[:v.Rows], v)
			if m.Classes() > 0 {
				m.ClassLogProb(dst[2*v.Rows:], v)
				m.HiddenMeanGivenInputs(given, v)
			}
		}
		greyMeans := func() {
			if m.Constraint.On == HiddenUnits {
				m.HiddenMean(mean, grey.Values())
			}
		}
		run := func() []uint64 {
			quick()
			greyMeans()
			m.PseudoLogLikelihood(dst[v.Rows:2*v.Rows], v)
			var bits []uint64
			for _, x := range dst {
				bits = append(bits, math.Float64bits(x))
			}
			for _, x := range slices.Concat(mean.Data, given.Data) {
				bits = append(bits, uint64(math.Float32bits(x)))
			}
			return bits
		}
		runtime.GOMAXPROCS(1)
		want := run()
		for _, f := range []func(){quick, greyMeans} {
			if n := testing.AllocsPerRun(5, f); n >= 1 && !parallel.Raced() { // under the race detector pools drop elements
				t.Errorf("%s: %v allocations, want less than 1", name, n)
			}
		}
		runtime.GOMAXPROCS(5)
		if !slices.Equal(run(), want) {
			t.Errorf("%s: other bits at GOMAXPROCS 5", name)
		}
		restore := vec.SetLevel(vec.Go)
		if !slices.Equal(run(), want) {
			t.Errorf("%s: other bits in plain Go", name)
		}
		restore()
	}
}

// Free energies, class probabilities, pseudo-likelihoods, hidden means and log Z of a base agree
// with sums over all states.
func TestConstrainedQuantities(t *testing.T) {
	for name, m := range constrainedModels() {
		v, h, logw := allowed(m)
		logZ := LogSumExp(logw)
		pv := map[uint64]float64{}
		mean := map[uint64][]float64{}
		for r, w := range logw {
			x := v.Row(r)[0]
			p := math.Exp(w - logZ)
			pv[x] += p
			if mean[x] == nil {
				mean[x] = make([]float64, m.Hidden())
			}
			h.Each(r, func(j int) { mean[x][j] += p })
		}
		n := 1 << m.Visible()
		rows := NewBits(n, m.Visible())
		for x := range n {
			rows.Row(x)[0] = uint64(x)
		}
		f, means := make([]float64, n), NewMatrix(n, m.Hidden())
		m.FreeEnergy(f, rows)
		m.HiddenMean(means, rows)
		const tol = 1e-12 // hundreds of roundings of numbers of size 10
		oneHot := func(x int) bool {
			y := x >> m.Inputs()
			return !m.softmaxLabel() || y&(y-1) == 0 && y != 0
		}
		for x := range n {
			p := pv[uint64(x)]
			if !oneHot(x) {
				continue
			}
			if p == 0 {
				if !math.IsInf(f[x], 1) || !math.IsNaN(float64(means.Row(x)[0])) {
					t.Errorf("%s: state %b of probability zero has F = %v, mean %v", name, x, f[x], means.Row(x))
				}
				continue
			}
			near(t, fmt.Sprintf("%s: log p(%b)", name, x), -f[x]-logZ, math.Log(p), tol)
			for j, q := range means.Row(x) {
				near(t, fmt.Sprintf("%s: mean %d of %b", name, j, x), float64(q), mean[uint64(x)][j]/p, 8.0/(1<<24)) // preactivations are float32
			}
		}
		var possible Values
		for x := range n {
			if oneHot(x) && pv[uint64(x)] > 0 {
				possible.Rows++
				possible.Words = append(possible.Words, uint64(x))
			}
		}
		possible.Cols, possible.Stride = m.Visible(), 1
		if m.Classes() > 0 {
			logp := make([]float64, possible.Rows*m.Classes())
			m.ClassLogProb(logp, possible)
			for r := range possible.Rows {
				x := possible.Words[r] &^ (^uint64(0) << m.Inputs())
				total := 0.0
				for y := range m.Classes() {
					total += pv[x|1<<(m.Inputs()+y)]
				}
				for y := range m.Classes() {
					if total == 0 { // Bernoulli labels of no single class
						continue
					}
					want := math.Log(pv[x|1<<(m.Inputs()+y)] / total)
					if got := logp[r*m.Classes()+y]; math.IsInf(want, -1) != math.IsInf(got, -1) || want > -1e300 && math.Abs(got-want) > tol {
						t.Errorf("%s: log p(%d|%b) = %v, want %v", name, y, x, got, want)
					}
				}
			}
		}
		pl := make([]float64, possible.Rows)
		m.PseudoLogLikelihood(pl, possible)
		for r, x := range possible.Words {
			want := 0.0
			units := m.Visible()
			if m.softmaxLabel() {
				units = m.Inputs()
				total := 0.0
				for y := range m.Classes() {
					total += pv[x&^(^uint64(0)<<units)|1<<(units+y)]
				}
				want = math.Log(pv[x] / total)
			}
			for i := range units {
				want += math.Log(pv[x] / (pv[x] + pv[x^1<<i]))
			}
			near(t, fmt.Sprintf("%s: pseudo-likelihood of %b", name, x), pl[r], want, 10*tol)
		}
		base := &Base{VisibleBias: m.VisibleBias, HiddenBias: m.HiddenBias}
		logs := make([]float64, v.Rows)
		base.Energy(m, logs, v, h)
		for r := range logs {
			logs[r] = -logs[r]
		}
		near(t, name+": log Z of the base", base.LogZ(m), LogSumExp(logs), tol)
		near(t, name+": log of the number of states", (*Base)(nil).LogZ(m), math.Log(float64(len(logs))), tol)
	}
}
