package negphase

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// A trajectory lists the visible states of several models, with their probabilities.
type trajectory struct {
	models []*rbm.RBM // the last one is the live model
	v      [][]int    // visible states
	p      [][]float64
	free   [][]float64 // [a][state] F_a
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

// energies returns the free energies of the particles x of models j and j+1.
func (s *trajectory) energies(x []int, j int) (f pairEnergies) {
	for a := range f {
		for b := range f {
			f[a][b] = s.free[j+a][x[j+b]]
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

// kernel returns the transition matrix on v of a Gibbs step of model a: h is drawn from
// p(h|v) under model from, and then v from p(v|h) under model a.
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
			w := visibleDistribution(m, s.v, h)
			for k := range w {
				matrix[i][k] += p * w[k]
			}
		}
	}
	return matrix
}

// visibleDistribution returns p(v|h) of the listed states.
func visibleDistribution(m *rbm.RBM, all [][]int, h []int) []float64 {
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

// moved returns the distribution of the particles after a Gibbs step of model a.
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

// swapped returns the distribution after the swaps of neighbours, from the oldest up, with the given
// function for Δ.
func (s *trajectory) swapped(q []float64, ratio func(pairEnergies) float64) []float64 {
	k := len(s.models)
	for j := range k - 1 {
		next := make([]float64, len(q))
		for n, x := range s.joint {
			// Particle a of x belongs to model a.
			accept := rbm.Exp(min(0, ratio(s.energies(x, j))))
			y := slices.Clone(x)
			y[j], y[j+1] = y[j+1], y[j]
			next[s.number(y)] += q[n] * accept
			next[n] += q[n] * (1 - accept)
		}
		q = next
	}
	return q
}

// want returns the exact moments of the live model.
func (s *trajectory) want() (mean []float64) {
	last := len(s.models) - 1
	for i, p := range s.p[last] {
		mean = addTo(mean, p, terms(s.models[last], s.v[i], 1))
	}
	return mean
}

// The oldest rung is the distribution that path names, and log Z of a model without weights is
// exact. TestBaseOfALadder tests checkpoints.
func TestOldestRung(t *testing.T) {
	m := shape{5, 3, 0, rbm.Softmax}.random(4, untrained/8)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = float32(i) / 2
	}
	rates := randomBase(m, 2)
	for path, want := range map[string]*rbm.Base{ToUniform: uniformBase(m), ToData: rates, "": meanField(m)} {
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
		if got, err, ok, _ := p.LogZ(m, callFrom.Child(1)); !ok || math.Abs(got-logZOf(states(m))) > 6*err || err > 0.5 {
			t.Errorf("path %q: log Z is %v ± %v, %v, want %v", path, got, err, ok, logZOf(states(m)))
		}
	}
}

// On three units, with two to four models, the whole step of ptt (Gibbs steps of all models and then
// swaps from the oldest up) leaves the distribution of independent particles invariant.
func TestTrajectoryKernel(t *testing.T) {
	for _, shape := range []shape{{2, 1, 0, rbm.Softmax}, {1, 2, 0, rbm.Softmax}, {3, 1, 2, rbm.Softmax}} {
		for k := 2; k <= 4; k++ {
			var models []*rbm.RBM
			for i := range k {
				models = append(models, shape.random(uint64(21+i), 1.5))
			}
			s := newTrajectory(models...)
			live := k - 1
			start := s.product()
			q := start
			for a := range k {
				q = s.moved(q, a, s.kernel(a, a))
			}
			if d := farthest(q, start); d > kernelTol {
				t.Errorf("%v, %d models: Gibbs steps move Π p by %v, want at most %v", shape, k, d, kernelTol)
			}
			if d := farthest(s.swapped(q, pairEnergies.delta), start); d > kernelTol {
				t.Errorf("%v, %d models: swaps move Π p by %v, want at most %v", shape, k, d, kernelTol)
			}
			mutant := func(name string, d float64) {
				t.Helper()
				if d < mutantBreak {
					t.Errorf("%v, %d models: mutant is not seen: %s: off by %v only", shape, k, name, d)
				}
			}
			// Broken: after a swap or an update, h is that drawn under the earlier model.
			mutant("h kept over an update", farthest(s.moved(start, live, s.kernel(live, live-1)), start))
			mutant("h kept over a swap", s.keptOverSwap())
			mutant("Δ turned", farthest(s.swapped(start, func(f pairEnergies) float64 { return -f.delta() }), start))
		}
	}
}

// keptOverSwap returns the largest change of the distribution if particles of the two newest models
// keep their h when they swap, and then make the step v|h.
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
		accept := rbm.Exp(min(0, s.energies(x, j).delta()))
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

// If all swaps are accepted, the rate is exactly 1; a checkpoint with a higher rate would be
// rejected.
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

// No particle is older than the ladder. Ages are in calls, without the sweeps that thermalise
// rungs.
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
		if age := info.Get("Ages") / info.Get("Aged"); !(age <= float64(i+1)) {
			t.Errorf("call %d: the mean age is %v", i+1, age)
		}
		if i == calls-1 && info.Tuned < 2 {
			t.Errorf("%d rungs were added: the test sees nothing", info.Tuned)
		}
	}
}

// If the model jumps far from the chains, several rungs are added between.
func TestBridge(t *testing.T) {
	s := shape{12, 6, 0, rbm.Softmax}
	start := s.random(3, 0.01)
	far := s.random(8, 6) // hardly overlaps with the model before
	p := build[*ptt](set(t, "ptt", "chains", 20, "freeze", 0.9, "sweeps", 4))
	call(t, p, start, rbm.Batch{}, 0, 1)
	rungs, given := len(p.rungs), far.Clone()
	p.rate = 0 // forces raise
	call(t, p, given, rbm.Batch{}, 1, 2)
	if !given.Equal(far) {
		t.Error("Estimate changes the model")
	}
	if len(p.rungs) < rungs+2 {
		t.Errorf("%d rungs are put between: got %v, want at least %v", len(p.rungs)-rungs, len(p.rungs), rungs+2)
	}
}

// There are warnings if more than a hundredth of the updates is rejected, or if the mean age of particles is
// a quarter of the run.
func TestVetoAndRenewalWarnings(t *testing.T) {
	for _, c := range []struct {
		counts          []Count
		vetoes, renewal bool
	}{
		{nil, false, false},
		{[]Count{{"Vetoes", 10}}, false, false},
		{[]Count{{"Vetoes", 11}}, true, false},
		{[]Count{{"Ages", 4990}, {"Aged", 20}}, false, false},
		{[]Count{{"Ages", 5000}, {"Aged", 20}}, false, true},
	} {
		got := DefaultSettings("ptt").Warnings(Info{Counts: c.counts}, Info{}, 1000)
		if diag.Has(got, StepsHalved) != c.vetoes || diag.Has(got, NoRenewal) != c.renewal {
			t.Errorf("%v: got the warnings %v", c.counts, got)
		}
	}
}

// A trained model has two modes, all visible units off or on. Its meanField describes one
// of them, and chains that start there would not find the other. The chains of ptt
// start elsewhere, and half of them must be in each mode.
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
		t.Fatalf("meanField is not in the mode of zeros: %v, got %v, want at most %v", b.VisibleBias, b.VisibleBias[0], -0.9*weight/2)
	}
	for _, text := range []string{"ptt", "ptt:path=data"} {
		s := set(t, text, "chains", chains)
		if s.NeedsBase() { // the mean rates of both modes
			s.SetBase(uniformBase(m))
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
		// Six standard errors of 400 independent chains; successive calls are not independent.
		if math.Abs(on-0.5) > 6*math.Sqrt(0.25/chains) {
			t.Errorf("%s: a unit is on in %.3f of the chains, want 0.5 ± %.3g", text, on, 6*math.Sqrt(0.25/chains))
		}
	}
}

// Veto rejects an update that leaves less than half of the effective size. It accepts a small update. It does not
// change the result of the next call.
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
	if err != nil || info.Get("Vetoes") != 2 {
		t.Errorf("%v vetoes are counted, %v, want 2", info.Get("Vetoes"), err)
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

// The recorded ratios to the live model are F_live − F_newest at the particles of both models before they
// swap.
func TestRatiosToTheLiveModel(t *testing.T) {
	p, s := exactTrajectory(t, "ptt:reservoir=1", 50, frozenModels(sharp[2], 3))
	m, g := s.models[2], p.rungs[1]
	p.live.model = m
	m.HiddenMeanFree(p.states.Mean, p.live.free, p.states.V)
	g.gather(callFrom)
	var want [2][]float64
	for i, v := range []rbm.Values{g.states.V, p.states.V} {
		live, newest := make([]float64, p.rows), make([]float64, p.rows)
		m.FreeEnergy(live, v)
		g.model.FreeEnergy(newest, v)
		for r := range live {
			want[i] = append(want[i], live[r]-newest[r])
		}
	}
	p.startCounts()
	p.work.watch = 1
	if err := p.exchange(1, callFrom); err != nil {
		t.Fatal(err)
	}
	if p.info.Swaps[0] == 0 || p.info.Swaps[0] == int64(p.rows) {
		t.Fatalf("%d swaps: the test sees nothing", p.info.Swaps[0])
	}
	for i, name := range []string{"newest rung", "live model"} {
		for r, x := range want[i] {
			near(t, fmt.Sprintf("ratio at particle %d of the %s", r, name), p.work.seen[i][r], x, 1e-5*(1+math.Abs(x))) // float32 sums in different orders
		}
	}
}

// The error of log Z of a new rung is computed from the spread over chains, because successive sweeps of a chain are
// not independent. For chains with constant, different values, an error from the spread over sweeps would
// be far too small.
func TestLogZOfARungByChains(t *testing.T) {
	const rows, sweeps = 8, 50
	p := build[*ptt](set(t, "ptt", "chains", rows))
	r := rbm.NewKey(1).Rand()
	var chains, bySweep [2][]float64
	for i := range chains {
		chains[i], bySweep[i] = make([]float64, rows*sweeps), make([]float64, rows*sweeps)
		p.work.seen[i] = make([]float64, 2*rows*sweeps) // the first half is not used
		for c := range rows {
			for n := range sweeps {
				x := 2*float64(c)/rows + 0.01*r.NormFloat64() - float64(i)
				chains[i][c*sweeps+n], bySweep[i][n*rows+c] = x, x
				p.work.seen[i][rows*sweeps+n*rows+c] = x
			}
		}
	}
	got := p.logZAbove(estimateOfLogZ{Mean: 5, Variance: 0.25})
	stdErr := func(draws [2][]float64) float64 {
		ratio, err := partition.Bennett([]float64{0, 1}, draws[:], rows, 5)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "log Z", got.Mean, ratio.LogZ[1], 1e-12)
		return ratio.StdErr[1]
	}
	want := stdErr(chains)
	near(t, "standard error", math.Sqrt(got.Variance-0.25), want, 1e-12)
	if wrong := stdErr(bySweep); wrong > want/5 {
		t.Errorf("the error is %v by sweeps and %v by chains: the test sees nothing, want at most %v", wrong, want, want/5)
	}
}

// A new rung is kept if its rate of swaps with the rung before is at least a third of freeze, for any freeze.
// Otherwise rungs are added between.
func TestFloorOfANewRung(t *testing.T) {
	s := shape{12, 6, 0, rbm.Softmax}
	start, far := s.random(3, 0.01), s.random(8, 6)
	seen := map[bool]int{}
	for i := range 10 {
		for _, freeze := range []float64{0.3, 0.9} {
			p := build[*ptt](set(t, "ptt", "chains", 50, "freeze", freeze, "sweeps", 20))
			call(t, p, start, rbm.Batch{}, 0, 1)
			p.live.model = between(start, far, 0.1+0.03*float32(i))
			if err := p.look(p.live.model); err != nil {
				t.Fatal(err)
			}
			p.live.free, p.next = p.next, p.live.free
			rungs, before := len(p.rungs), p.rungs[len(p.rungs)-1]
			// The rate at the first try of raise.
			probe := build[*ptt](set(t, "ptt", "chains", 50, "freeze", 1e-9, "sweeps", 20))
			call(t, probe, start, rbm.Batch{}, 0, 1)
			probe.live.model = p.live.model
			probe.look(probe.live.model)
			probe.live.free, probe.next = probe.next, probe.live.free
			if len(probe.rungs) != rungs || !probe.rungs[rungs-1].model.Equal(before.model) {
				t.Fatal("the ladders differ before the rung is raised")
			}
			if err := probe.raise(callFrom); err != nil {
				t.Fatal(err)
			}
			rate := probe.pairRate()
			if err := p.raise(callFrom); err != nil {
				t.Fatal(err)
			}
			bridged := len(p.rungs) > rungs+1
			if want := rate < freeze/3; bridged != want {
				t.Errorf("freeze %v: at a rate of %.3f rungs are put between: %v, want %v", freeze, rate, bridged, want)
			}
			if rate > 0.3/3 && rate < 1./3 && freeze == 0.3 {
				seen[bridged]++
			}
		}
	}
	if seen[false] == 0 {
		t.Error("no rate lies between a third of freeze and a third: the test sees nothing")
	}
}

// All pairs of older rungs take part equally often.
func TestOlderRungsTakeTurns(t *testing.T) {
	const rungs, rows, rounds = 7, 20, 3
	m := rbm.New(3, 2, 0, rbm.Softmax) // the model of all rungs
	p := build[*ptt](set(t, "ptt", "chains", rows))
	p.states = rbm.NewStates(m, rows)
	var ladder []*rung
	for i := range rungs {
		g := newRung(m, rows, p.reservoir)
		g.fill(startFrom.Child(uint64(i)))
		ladder = append(ladder, g)
	}
	p.place(m, ladder)
	p.rate = 1
	older := rungs - p.pttSettings.rungs + 1
	tries := make([]int64, rungs)
	for n := range 2 * older * rounds {
		_, info, err := p.Estimate(m, rbm.Batch{}, callFrom.Child(uint64(n)))
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range info.SwapTries {
			tries[i] += x
		}
	}
	for i, got := range tries {
		want := int64(rows * rounds)
		if below := rungs - 1 - i; below >= older { // the newest rungs take part in every call
			want *= 2 * int64(older)
		}
		if got != want {
			t.Errorf("%d swaps of the pair %d from the live model were tried, want %d", got, i, want)
		}
	}
}
