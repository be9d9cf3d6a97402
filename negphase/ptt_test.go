package negphase

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

// A rungState is a visible state of one of several models, with what the weights and
// the estimate need of it.
type trajectory struct {
	models []*rbm.RBM // the live one is the last
	v      [][]int    // visible states
	p      [][]float64
	free   [][]float64 // F_a of each state
	joint  [][]int
}

// newTrajectory lists the visible states of models.
func newTrajectory(models ...*rbm.RBM) *trajectory {
	s := &trajectory{models: models}
	for _, m := range models {
		sum := map[string]float64{}
		s.v = nil
		for _, x := range states(m) {
			name := fmt.Sprint(x.v)
			if _, ok := sum[name]; !ok {
				s.v = append(s.v, x.v)
			}
			sum[name] += math.Exp(-x.energy)
		}
		var free, p []float64
		z := 0.0
		for _, v := range s.v {
			free = append(free, -math.Log(sum[fmt.Sprint(v)]))
			z += sum[fmt.Sprint(v)]
		}
		for _, f := range free {
			p = append(p, math.Exp(-f)/z)
		}
		s.free, s.p = append(s.free, free), append(s.p, p)
	}
	x := make([]int, len(models))
	for {
		s.joint = append(s.joint, slices.Clone(x))
		k := 0
		for ; k < len(x); k++ {
			if x[k]++; x[k] < len(s.v) {
				break
			}
			x[k] = 0
		}
		if k == len(x) {
			return s
		}
	}
}

func (s *trajectory) number(x []int) (n int) {
	for k := len(x) - 1; k >= 0; k-- {
		n = n*len(s.v) + x[k]
	}
	return n
}

// energies returns F_a(x_b) at [a·K+b].
func (s *trajectory) energies(x []int) []float64 {
	var f []float64
	for a := range s.models {
		for _, b := range x {
			f = append(f, s.free[a][b])
		}
	}
	return f
}

// product returns Π_a p_a(x_a).
func (s *trajectory) product() []float64 {
	q := make([]float64, len(s.joint))
	for n, x := range s.joint {
		q[n] = 1
		for a, b := range x {
			q[n] *= s.p[a][b]
		}
	}
	return q
}

// kernel returns the matrix of a Gibbs step of model a that starts from v: h drawn from
// p(h|v) under model from, then v|h under model a.
func (s *trajectory) kernel(a, from int) [][]float64 {
	m := s.models[a]
	matrix := make([][]float64, len(s.v))
	for i, v := range s.v {
		matrix[i] = make([]float64, len(s.v))
		field := hiddenField(s.models[from], v)
		for bits := range 1 << m.Hidden() {
			h := make([]int, m.Hidden())
			p := 1.0
			for j := range h {
				h[j] = bits >> j & 1
				p *= sigmoid(field[j] * float64(2*h[j]-1))
			}
			w := visibleLaw(m, s.v, h)
			for k := range w {
				matrix[i][k] += p * w[k]
			}
		}
	}
	return matrix
}

// visibleLaw returns p(v|h) of the listed states.
func visibleLaw(m *rbm.RBM, all [][]int, h []int) []float64 {
	a, sum := visibleField(m, h), 0.0
	w := make([]float64, len(all))
	for k, v := range all {
		for i, x := range v {
			w[k] += float64(x) * a[i]
		}
		w[k] = math.Exp(w[k])
		sum += w[k]
	}
	for k := range w {
		w[k] /= sum
	}
	return w
}

// moved returns the law of the particles after model a's Gibbs step on its own.
func (s *trajectory) moved(q []float64, a int, kernel [][]float64) []float64 {
	next := make([]float64, len(q))
	for n, x := range s.joint {
		y := slices.Clone(x)
		for to, p := range kernel[x[a]] {
			y[a] = to
			next[s.number(y)] += q[n] * p
		}
	}
	return next
}

// swapped returns the law after the swaps of neighbours from below, by the
// implementation's Δ.
func (s *trajectory) swapped(q []float64, ratio func(f []float64, k, j, x, y int) float64) []float64 {
	k := len(s.models)
	for j := range k - 1 {
		next := make([]float64, len(q))
		for n, x := range s.joint {
			// The particles are as they are now, so particle a is model a's.
			accept := rbm.Exp(min(0, ratio(s.energies(x), k, j, j, j+1)))
			y := slices.Clone(x)
			y[j], y[j+1] = y[j+1], y[j]
			next[s.number(y)] += q[n] * accept
			next[n] += q[n] * (1 - accept)
		}
		q = next
	}
	return q
}

// weights returns the implementation's weights of all X.
func (s *trajectory) weights() (all [][]float64) {
	k := len(s.models)
	var w exchangeWork
	w.grow(s.models[0], 1, k)
	for _, x := range s.joint {
		share := make([]float64, k)
		w.insWeights(share, s.energies(x), k)
		all = append(all, share)
	}
	return all
}

// estimate returns Σ_X q(X) Σ_k w_k(X) f(x_k), with hidden means under the model that
// means names for each k.
func (s *trajectory) estimate(q []float64, weights [][]float64, means []int) []float64 {
	var sum []float64
	for n, x := range s.joint {
		for k, i := range x {
			sum = addTo(sum, q[n]*weights[n][k], terms(s.models[means[k]], s.v[i], 1))
		}
	}
	return sum
}

func (s *trajectory) want() (mean []float64) {
	last := len(s.models) - 1
	for i, p := range s.p[last] {
		mean = addTo(mean, p, terms(s.models[last], s.v[i], 1))
	}
	return mean
}

// The oldest rung is the law that path names, and log Z of a model without weights is
// exact from there. Checkpoints have it: TestBaseOfALadder.
func TestOldestRung(t *testing.T) {
	m := shape{5, 3, 0, rbm.Softmax}.random(4, untrained/8)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = float32(i) / 2
	}
	rates := randomBase(m, 2)
	for path, want := range map[string]*rbm.Base{ToUniform: uniformLaw(m), ToData: rates, "": meanField(m)} {
		s := set(t, "ptt", "chains", 40)
		if path != "" {
			s = set(t, "ptt", "chains", 40, "path", path)
		}
		if s.NeedsBase() {
			s.SetBase(rates)
		}
		p := build[*ptt](s)
		if _, _, err := p.Estimate(m, rbm.Batch{}, callFrom); err != nil {
			t.Fatal(err)
		}
		if g := p.rungs[0]; !g.model.Equal(baseModel(want, m)) || g.logZ.Mean != want.LogZ(m) || g.logZ.Variance != 0 {
			t.Errorf("path %q: the oldest rung is %v, log Z %v; want %v, %v", path, g.model.VisibleBias, g.logZ, want.VisibleBias, want.LogZ(m))
		}
		if got, err, ok := p.LogZ(); !ok || math.Abs(got-logZOf(states(m))) > 6*err || err > 0.5 {
			t.Errorf("path %q: log Z is %v ± %v, %v, want %v", path, got, err, ok, logZOf(states(m)))
		}
	}
}

// The whole step of ptt on three units, with two and three models: Gibbs steps of all,
// swaps from below, and the estimate of infinite swapping in between. The particles
// of the rungs are exact independent draws.
func TestTrajectoryKernel(t *testing.T) {
	for _, shape := range []shape{{2, 1, 0, 0}, {1, 2, 0, 0}, {3, 1, 2, rbm.Softmax}} {
		for k := 2; k <= 4; k++ {
			var models []*rbm.RBM
			for i := range k {
				models = append(models, shape.random(uint64(21+i), 1.5))
			}
			s := newTrajectory(models...)
			live := k - 1
			want, start, weights := s.want(), s.product(), s.weights()
			own := slices.Repeat([]int{live}, k)
			q := start
			for a := range k {
				q = s.moved(q, a, s.kernel(a, a))
			}
			if d := farthest(q, start); d > kernelTol {
				t.Errorf("%v, %d models: Gibbs steps move Π p by %v", shape, k, d)
			}
			if d := farthest(s.estimate(q, weights, own), want); d > kernelTol {
				t.Errorf("%v, %d models: the estimate is off by %v", shape, k, d)
			}
			if d := farthest(s.swapped(q, delta), start); d > kernelTol {
				t.Errorf("%v, %d models: swaps move Π p by %v", shape, k, d)
			}

			mutant := func(name string, d float64) {
				t.Helper()
				if d < mutantBreak {
					t.Errorf("%v, %d models: mutant is not seen: %s: off by %v only", shape, k, name, d)
				}
			}
			frozen := slices.Clone(own)
			frozen[live-1] = live - 1
			mutant("the frozen model's hidden means", farthest(s.estimate(start, weights, frozen), want))
			// After a swap, or an update, h is the one drawn under the model before.
			mutant("h kept over an update", farthest(s.moved(start, live, s.kernel(live, live-1)), start))
			mutant("h kept over a swap", s.keptOverSwap())
			flat := make([][]float64, len(s.joint))
			for n := range flat {
				flat[n] = slices.Repeat([]float64{1 / float64(k)}, k)
			}
			mutant("equal weights", farthest(s.estimate(start, flat, own), want))
			var stale []float64
			for n, x := range s.joint {
				one := make([]float64, len(s.joint))
				one[n] = start[n]
				for a := range k {
					one = s.moved(one, a, s.kernel(a, a))
				}
				old := make([][]float64, len(s.joint))
				for i := range old {
					old[i] = weights[n]
				}
				stale = addTo(stale, 1, s.estimate(one, old, own))
				_ = x
			}
			mutant("weights before the Gibbs steps", farthest(stale, want))
			mutant("Δ turned", farthest(s.swapped(start, func(f []float64, k, j, x, y int) float64 { return -delta(f, k, j, x, y) }), start))
			if d := s.turnedWeights(); k == 2 {
				mutant("Δ turned in the weights", d)
			}
		}
	}
}

// keptOverSwap returns how far the law is moved if particles of the two newest models
// swap with their h, drawn under the model before, and then take the step v|h.
func (s *trajectory) keptOverSwap() float64 {
	k := len(s.models)
	j := k - 2
	start := s.product()
	end := make([]float64, len(start))
	kernels := [2][2][][]float64{}
	for a := range 2 {
		for from := range 2 {
			kernels[a][from] = s.kernel(j+a, j+from)
		}
	}
	for n, x := range s.joint {
		accept := rbm.Exp(min(0, delta(s.energies(x), k, j, j, j+1)))
		for moved, p := range [2]float64{1 - accept, accept} {
			y := slices.Clone(x)
			if moved == 1 {
				y[j], y[j+1] = y[j+1], y[j]
			}
			one := make([]float64, len(start))
			one[s.number(y)] = start[n] * p
			one = s.moved(one, j, kernels[0][moved])
			one = s.moved(one, j+1, kernels[1][1-moved])
			end = addTo(end, 1, one)
		}
	}
	return farthest(end, start)
}

// turnedWeights returns how far the estimate is off with the weights exchanged.
func (s *trajectory) turnedWeights() float64 {
	weights := s.weights()
	for _, w := range weights {
		slices.Reverse(w)
	}
	return farthest(s.estimate(s.product(), weights, slices.Repeat([]int{len(s.models) - 1}, len(s.models))), s.want())
}

// The weights are the sums over all permutations, at any scale of the free energies.
func TestINSWeightsOfModels(t *testing.T) {
	for k := 2; k <= 6; k++ {
		for _, scale := range []float64{0.1, 1, 30, 1000} {
			r := rbm.NewKey(uint64(k)).Rand()
			var w exchangeWork
			w.grow(rbm.New(2, 2, 0, rbm.Softmax), 1, k)
			for range 20 {
				f := make([]float64, k*k)
				for i := range f {
					f[i] = scale*r.NormFloat64() - 500
				}
				want, total := make([]float64, k), math.Inf(-1)
				for _, at := range permutations(k) {
					sum := 0.0
					for a, b := range at {
						sum -= f[a*k+b]
					}
					total = rbm.LogSumExp([]float64{total, sum})
				}
				for _, at := range permutations(k) {
					sum := -total
					for a, b := range at {
						sum -= f[a*k+b]
					}
					want[at[k-1]] += math.Exp(sum)
				}
				share := make([]float64, k)
				w.insWeights(share, f, k)
				for b := range share {
					near(t, fmt.Sprintf("%d models, scale %v: weight %d", k, scale, b), share[b], want[b], 1e-9*math.Max(1, scale/30)) // a few roundings of sums of that size
				}
			}
		}
	}
}

// Where all swaps are accepted the rate is 1 and not above, which a checkpoint must not
// have.
func TestSwapRateIsAtMostOne(t *testing.T) {
	m := rbm.New(6, 4, 0, rbm.Softmax)
	for _, text := range []string{"ptt:sweeps=2", "ptt:sweeps=40", "ptt:sweeps=80:chains=3"} {
		s, err := Parse(text, DefaultSettings("ptt"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Estimate(m, rbm.Batch{}, rbm.NewKey(1)); err != nil {
			t.Fatal(err)
		}
		b, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.UnmarshalBinary(b); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// No particle is older than the ladder, in calls: the sweeps that thermalise its rungs
// are no calls.
func TestAgesAreInCalls(t *testing.T) {
	s, err := Parse("ptt:freeze=0.9:sweeps=40", DefaultSettings("ptt"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	from, to := rbm.New(6, 4, 0, rbm.Softmax), rbm.New(6, 4, 0, rbm.Softmax)
	to.Randomize(2, rbm.NewKey(3))
	const calls = 10
	for i := range calls {
		m := between(from, to, float32(i)/calls)
		_, info, err := p.Estimate(m, rbm.Batch{}, rbm.NewKey(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		if age, ok := info.MeanAge(); !ok || age > float64(i+1) {
			t.Errorf("call %d: the mean age is %v", i+1, age)
		}
		if i == calls-1 && info.Tuned < 2 {
			t.Errorf("%d rungs were added: the test sees nothing", info.Tuned)
		}
	}
}

// A model that jumps far from the chains is left: with lost=return the parameters are
// those of the newest rung again, bit by bit, and the chains are its particles, with
// their ages. Without it rungs are put between. A return is counted by the next call,
// also of an estimator that was saved in between.
func TestReturnToTheLastRung(t *testing.T) {
	s := shape{12, 6, 0, rbm.Softmax}
	start := s.random(3, 0.01)
	far := s.random(8, 6) // hardly a state in common
	for _, lost := range []string{putBetween, goBack} {
		p := build[*ptt](set(t, "ptt", "chains", 20, "lost", lost, "freeze", 0.9, "sweeps", 4))
		m := between(start, s.random(5, 1), 0.5)
		call(t, p, start, rbm.Batch{}, 0, 1)
		young := build[*ptt](set(t, "ptt", "chains", 20, "lost", lost, "freeze", 0.9, "sweeps", 4))
		call(t, young, start, rbm.Batch{}, 0, 1)
		young.rate = 0
		if call(t, young, far, rbm.Batch{}, 1, 2); young.Return(far) || len(young.rungs) < 3 {
			t.Fatalf("%s: the oldest rung is returned to, or nothing is put between %d rungs", lost, len(young.rungs))
		}
		for n := 1; len(p.rungs) < 2; n++ {
			call(t, p, m, rbm.Batch{}, n, n+1)
		}
		newest, model := p.rungs[len(p.rungs)-1], far.Clone()
		rungs := len(p.rungs)
		p.rate = 0 // as the model has jumped
		if lost == goBack {
			call(t, p, far, rbm.Batch{}, 48, 49)
			p.rate = 1
			if call(t, p, far, rbm.Batch{}, 49, 50); p.Return(far.Clone()) {
				t.Error("a return that an earlier call asked for is made")
			}
			p.rate = 0
		}
		call(t, p, model, rbm.Batch{}, 50, 51)
		if !model.Equal(far) {
			t.Fatalf("%s: Estimate changes the model", lost)
		}
		if back := p.Return(model); back != (lost == goBack) {
			t.Fatalf("%s: returns: %v, with %d rungs", lost, back, len(p.rungs))
		}
		if lost == putBetween {
			if len(p.rungs) < rungs+2 {
				t.Errorf("%d rungs are put between", len(p.rungs)-rungs)
			}
			continue
		}
		if !model.Equal(newest.model) || len(p.rungs) != rungs || p.Return(model) {
			t.Errorf("the parameters are not those of the newest rung, or there are %d rungs, not %d", len(p.rungs), rungs)
		}
		if logZ, err, ok := p.LogZ(); !ok || math.Abs(logZ-newest.logZ.Mean) > 1e-12*math.Abs(logZ) || math.Abs(err*err-newest.logZ.Variance) > 1e-12*newest.logZ.Variance {
			t.Errorf("log Z is %v ± %v, %v, not that of the newest rung, %v", logZ, err, ok, newest.logZ)
		}
		members := map[string]bool{}
		for r := range newest.reservoir.Rows {
			members[fmt.Sprint(newest.reservoir.Row(r), newest.reservoirH.Row(r), newest.reservoirBorn[r])] = true
		}
		for r := range p.rows {
			if !members[fmt.Sprint(p.states.V.Row(r), p.states.H.Row(r), p.live.born[r])] {
				t.Errorf("chain %d is no particle of the newest rung", r)
			}
		}
		saved, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		restored := build[*ptt](set(t, "ptt", "chains", 20, "lost", lost, "freeze", 0.9, "sweeps", 4))
		if err := restored.UnmarshalBinary(saved); err != nil {
			t.Fatal(err)
		}
		for _, e := range []*ptt{p, restored} {
			for n, want := range []int64{1, 0} {
				_, info, err := e.Estimate(model, rbm.Batch{}, callFrom.Child(uint64(60+n)))
				if err != nil || info.Returns != want {
					t.Errorf("call %d counts %d returns, not %d; %v", n, info.Returns, want, err)
				}
			}
		}
		if again, _ := p.MarshalBinary(); true {
			if other, _ := restored.MarshalBinary(); !slices.Equal(again, other) {
				t.Error("a ladder that was saved after a return goes on with other bits")
			}
		}
	}
}

// Warnings begin where a hundredth of the updates is rejected, and where particles are
// as old as a quarter of the run.
func TestVetoAndRenewalWarnings(t *testing.T) {
	for _, c := range []struct {
		info            Info
		vetoes, renewal bool
	}{
		{Info{}, false, false},
		{Info{Vetoes: 10}, false, false},
		{Info{Vetoes: 11}, true, false},
		{Info{Ages: 4990, Aged: 20}, false, false},
		{Info{Ages: 5000, Aged: 20}, false, true},
	} {
		if v, r := c.info.VetoWarning(1000), c.info.RenewalWarning(1000); (v != "") != c.vetoes || (r != "") != c.renewal {
			t.Errorf("%+v: %q, %q", c.info, v, r)
		}
	}
}

// A trained model of two modes, all visible units off or on: its meanField lies in one
// of them, and chains that begin there would not find the other. The chains of ptt
// begin elsewhere. Half of them are to be in each mode.
func TestStartOnTrainedModel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const visible, weight, chains = 40, 2, 400
	m := rbm.New(visible, 1, 0, rbm.Softmax)
	w := rbm.NewMatrix(visible, 1)
	for i := range visible {
		w.Data[i], m.VisibleBias[i] = weight, -weight/2
	}
	m.SetWeights(w)
	m.HiddenBias[0] = -weight * visible / 2
	if b := meanField(m); b.VisibleBias[0] > -0.9*weight/2 {
		t.Fatalf("meanField is not in the mode of zeros: %v", b.VisibleBias)
	}
	for _, text := range []string{"ptt", "ptt:weights=ins", "ptt:path=data"} {
		s := set(t, text, "chains", chains)
		if s.NeedsBase() { // the rates of both modes together
			s.SetBase(uniformLaw(m))
		}
		e := build[Estimator](s)
		on := 0.0
		const calls = 50
		for n := range calls {
			phase, _, err := e.Estimate(m, rbm.Batch{}, callFrom.Child(uint64(n)))
			if err != nil {
				t.Fatal(err)
			}
			for r := range phase.V.Rows {
				p := 1 / float64(phase.V.Rows)
				if phase.Weight != nil {
					p = float64(phase.Weight[r])
				}
				if phase.V.Get(r, 0) {
					on += p / calls
				}
			}
		}
		// Six standard errors of 400 independent chains, whose calls are not.
		if math.Abs(on-0.5) > 6*math.Sqrt(0.25/chains) {
			t.Errorf("%s: a unit is on in %.3f of the chains", text, on)
		}
	}
}

// An update that leaves less than half of the effective size is rejected, and changes
// nothing; a small one passes, and the next call returns what it would without the
// question.
func TestVeto(t *testing.T) {
	m := shape{9, 7, 3, rbm.Softmax}.random(3, 0.1)
	far := shape{9, 7, 3, rbm.Softmax}.random(4, 6)
	near := between(m, far, 1e-3)
	const text = "ptt:chains=20:sweeps=2"
	p := estimator(t, text).(*ptt)
	if p.Veto(far) {
		t.Error("a veto before the first call")
	}
	call(t, p, m, rbm.Batch{}, 0, 1)
	saved, _ := p.MarshalBinary()
	plain := estimator(t, text)
	if err := plain.UnmarshalBinary(saved); err != nil {
		t.Fatal(err)
	}
	infinite := m.Clone()
	infinite.HiddenBias[1] = float32(math.Inf(1))
	if !p.Veto(far) || !p.Veto(infinite) {
		t.Error("no veto of an update that goes too far")
	}
	if p.Veto(m) || p.Veto(near) {
		t.Error("a veto of a small update")
	}
	_, info, err := p.Estimate(near, rbm.Batch{}, rbm.NewKey(8))
	if err != nil || info.Vetoes != 2 {
		t.Errorf("%d vetoes are counted, %v", info.Vetoes, err)
	}
	if _, _, err := plain.Estimate(near, rbm.Batch{}, rbm.NewKey(8)); err != nil {
		t.Fatal(err)
	}
	a, _ := p.MarshalBinary()
	b, _ := plain.MarshalBinary()
	if !slices.Equal(a, b) {
		t.Error("a question of Veto changes the chains")
	}
}
