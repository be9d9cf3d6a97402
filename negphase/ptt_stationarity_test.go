package negphase

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// exactTrajectory returns an estimator at an exact start: the chains of the last model and the
// reservoirs of the others are independent draws. The first model is the oldest, and has no weights. The trajectory
// has the distributions of the models.
func exactTrajectory(t *testing.T, text string, chains int, models []*rbm.RBM) (*ptt, *trajectory) {
	t.Helper()
	s := newTrajectory(models...)
	p := build[*ptt](set(t, text, "chains", chains))
	last := len(models) - 1
	draw := func(dst rbm.Values, a int) {
		for r := range dst.Rows {
			for i, v := range s.v[pick(s.p[a], startFrom.Child(uint64(a)).Uniform(uint64(r)))] {
				dst.Set(r, i, v != 0)
			}
		}
	}
	p.states = rbm.NewStates(models[last], p.rows)
	draw(p.states.V, last)
	var rungs []*rung
	for a, m := range models[:last] {
		g := newRung(m, p.rows, p.reservoir)
		draw(g.reservoir, a)
		g.fill(startFrom.Child(uint64(100 + a)))
		rungs = append(rungs, g)
	}
	p.place(models[last], rungs)
	p.rate = 1
	return p, s
}

// z tests rows against the distribution of model a.
func (s *trajectory) z(v rbm.Values, a int) float64 {
	index := map[string]int{}
	for i, x := range s.v {
		index[fmt.Sprint(x)] = i
	}
	counts := make([]int, len(s.v))
	x := make([]int, v.Cols)
	for r := range v.Rows {
		clear(x)
		v.Each(r, func(i int) { x[i] = 1 })
		counts[index[fmt.Sprint(x)]]++
	}
	return diag.StationarityZ(counts, s.p[a])
}

// worst returns the largest z of the live chains and of all reservoirs.
func (s *trajectory) worst(p *ptt) float64 {
	z := s.z(p.states.V, len(s.models)-1)
	for a, g := range p.rungs {
		z = max(z, s.z(g.reservoir, a))
	}
	return z
}

// frozenModels returns k models between a model without weights and a model with strong weights.
func frozenModels(s shape, k int) []*rbm.RBM { return frozenOf(s.random, k) }

// frozenOf is frozenModels for models from random.
func frozenOf(random func(seed uint64, sd float64) *rbm.RBM, k int) []*rbm.RBM {
	m := random(31, sharpSD)
	models := []*rbm.RBM{baseModel(meanField(between(m, random(9, 1), 0.9)), m)}
	for i := 1; i < k; i++ {
		models = append(models, between(random(uint64(40+i), 1), m, float32(i)/float32(k-1)))
	}
	return models
}

// pttTexts has ladders of which all rungs take part in each call, and ladders of which only some do.
var pttTexts = []string{"ptt:reservoir=1", "ptt:k=2:reservoir=3", "ptt:rungs=3:reservoir=2"}

// Calls leave the distribution of each model's particles invariant from an exact start, and the
// estimate has the exact mean.
func TestTrajectoryIsStationary(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	kinds := map[string]func(seed uint64, sd float64) *rbm.RBM{"groups": sharpGroups}
	for _, shape := range fewer(sharp) {
		kinds[shape.String()] = shape.random
	}
	for shape, random := range kinds {
		for _, text := range pttTexts {
			for _, k := range []int{2, 5} {
				p, s := exactTrajectory(t, text, exactGroups, frozenOf(random, k))
				m := s.models[k-1]
				var phase rbm.Phase
				for n := range 3 {
					var err error
					if phase, _, err = p.Estimate(m, rbm.Batch{}, callFrom.Child(uint64(n))); err != nil {
						t.Fatal(err)
					}
				}
				if len(p.rungs) != k-1 {
					t.Fatalf("%v, %s: %d rungs, want %d", shape, text, len(p.rungs), k-1)
				}
				z, d := s.worst(p), deviation(groupEstimates(phase, exactGroups), s.want())
				t.Logf("%v, %d models, %s: z = %.1f, %.2f of the tolerance", shape, k, text, z, d)
				if z > 6 || d > 1 {
					t.Errorf("%v, %d models, %s: z = %.1f, the mean is off by %.2f tolerances", shape, k, text, z, d)
				}
			}
		}
	}
}

// Swaps between Gibbs steps exchange particles together with their free energies. A member of a
// reservoir that does not swap keeps its h, and no particle is lost.
func TestSwapsExchangeParticles(t *testing.T) {
	p, s := exactTrajectory(t, "ptt:reservoir=1", 1000, frozenModels(sharp[2], 3))
	m, g := s.models[2], p.rungs[1]
	p.live.model = m
	m.HiddenMeanFree(p.states.Mean, p.live.free, p.states.V)
	x, y, h := rbm.NewBits(1000, m.Visible()), rbm.NewBits(1000, m.Visible()), rbm.NewBits(1000, m.Hidden())
	x.CopyFrom(p.states.V)
	y.CopyFrom(g.reservoir)
	h.CopyFrom(g.reservoirH)
	p.startCounts()
	g.gather(callFrom)
	p.exchange(1, callFrom)
	g.scatter(callFrom)
	free := make([]float64, 1000)
	g.model.HiddenMeanFree(rbm.NewMatrix(1000, m.Hidden()), free, g.reservoir)
	moved := 0
	for r := range x.Rows {
		swapped := slices.Equal(p.states.V.Row(r), y.Row(r)) && slices.Equal(g.reservoir.Row(r), x.Row(r))
		stayed := slices.Equal(p.states.V.Row(r), x.Row(r)) && slices.Equal(g.reservoir.Row(r), y.Row(r))
		same := slices.Equal(g.reservoirH.Row(r), h.Row(r))
		if !swapped && !stayed || !swapped && !same || g.reservoirFree[r] != free[r] {
			t.Fatalf("row %d: swapped %v, stayed %v, h is the same %v, F is %v, want %v", r, swapped, stayed, same, g.reservoirFree[r], free[r])
		}
		if swapped && !same {
			moved++
		}
	}
	if moved == 0 || int64(moved) > p.info.Swaps[0] {
		t.Errorf("%d of %d particles that swapped have another h", moved, p.info.Swaps[0])
	}
}

// Broken versions of the estimator must be detected.
func TestBrokenTrajectories(t *testing.T) {
	shape := sharp[2]
	check := func(name string, z float64) {
		t.Helper()
		t.Logf("%s: %.1f", name, z)
		if z < 6 {
			t.Errorf("a broken estimator is not seen: %s: z = %.1f, want at least 6", name, z)
		}
	}
	estimate := func(p *ptt, m *rbm.RBM, n int) rbm.Phase {
		t.Helper()
		phase, _, err := p.Estimate(m, rbm.Batch{}, callFrom.Child(uint64(n)))
		if err != nil {
			t.Fatal(err)
		}
		return phase
	}
	fresh := func(text string) (*ptt, *trajectory, *rbm.RBM) {
		p, s := exactTrajectory(t, text, exactGroups, frozenModels(shape, 3))
		return p, s, s.models[2]
	}

	// Broken: the live model has the hidden means of the model before.
	p, s, m := fresh("ptt:reservoir=1")
	estimate(p, m, 0)
	s.models[1].HiddenMeanFree(p.states.Mean, p.next, p.states.V)
	p.looked = true
	estimate(p, m, 1)
	check("h kept over an update", s.worst(p))

	// Broken: particles of a rung keep the h that they had under the live model.
	p, s, m = fresh("ptt:reservoir=1")
	for n := range 3 {
		estimate(p, m, n)
		g := p.rungs[1]
		mean := rbm.NewMatrix(g.reservoir.Rows, m.Hidden())
		m.HiddenMean(mean, g.reservoir)
		m.HiddenSample(g.reservoirH, rbm.Batch{V: g.reservoir, H: mean}, callFrom.Child(uint64(50+n)))
	}
	check("h kept over a swap", s.worst(p))

	// Broken: free energies under the model before the update, as without a call of look.
	p, s, m = fresh("ptt:reservoir=1")
	p.live.model = m
	p.live.model.HiddenMeanFree(p.states.Mean, p.live.free, p.states.V)
	for i := range p.rungs {
		p.rungs[i].gather(callFrom)
		if err := p.step(i, callFrom.Child(uint64(i))); err != nil {
			t.Fatal(err)
		}
	}
	p.startCounts()
	clear(p.rungs[1].free)
	p.exchange(1, callFrom)
	check("free energies that are not those of the particles", s.z(p.states.V, 2))

	// Broken: the hidden means of the live particles are those under the newest rung.
	p, s, m = fresh("ptt:reservoir=1")
	phase := estimate(p, m, 0)
	s.models[1].HiddenMean(phase.H, phase.V)
	check("the frozen model's hidden means", 6*deviation(groupEstimates(phase, exactGroups), s.want()))
}

// Along a path of parameters that changes fast compared with one Gibbs step per call, rungs are added
// automatically. log Z and the moments, averaged over calls at the end, are right, both along the path and after a
// jump of the model to its end.
func TestTrajectoryIsTrue(t *testing.T) {
	type path struct {
		text  string
		steps int
	}
	for i, shape := range sharp {
		if !taken(i, len(sharp)) {
			continue
		}
		to := shape.random(31, sharpSD)
		for _, c := range fewer([]path{{"ptt:chains=100:sweeps=60:freeze=0.9", 40}, {"ptt:chains=100:sweeps=60:freeze=0.9", 1}}) {
			for _, constraint := range []*rbm.Constraint{nil, constraints[i]} {
				all := states(to)
				to.Constraint = constraint
				want := expectation(to, all, distribution(all, 1))
				if constraint != nil {
					all = permitted(to)
					want = constrainedMoments(all, distribution(all, 1))
				}
				from := between(to, baseModel(meanField(to), to), 0.97)
				p := estimator(t, c.text).(*ptt)
				for n := range c.steps {
					call(t, p, between(from, to, float32(n+1)/float32(c.steps)), rbm.Batch{}, n, n+1)
				}
				// Chains are independent; successive calls are not.
				const calls = 60
				sums := make([][]float64, 100)
				for n := range calls {
					phase, _, err := p.Estimate(to, rbm.Batch{}, callFrom.Child(uint64(n)))
					if err != nil {
						t.Fatal(err)
					}
					for g, f := range groupEstimates(phase, 100) {
						sums[g] = addTo(sums[g], 1./calls, f)
					}
				}
				logZ, stdErr, ok, err := p.LogZ(to, callFrom.Child(calls))
				if !ok || err != nil {
					t.Fatalf("%v, %s: no log Z: %v", shape, c.text, err)
				}
				exact, d := logZOf(all), beyond(sums, want, 42./(100*calls))
				t.Logf("%v, %s, %d steps, constraint %v: %d rungs, log Z %.3f ± %.3f, exact %.3f; moments %.2f of the tolerance", shape, c.text, c.steps, constraint, len(p.rungs), logZ, stdErr, exact, d)
				if math.Abs(logZ-exact) > 6*stdErr || stdErr > 0.3 {
					t.Errorf("%v, %s, constraint %v: log Z %v ± %v, want %v", shape, c.text, constraint, logZ, stdErr, exact)
				}
				if d > 1 {
					t.Errorf("%v, %s, constraint %v: the moments are off by %.2f tolerances, want at most 1", shape, c.text, constraint, d)
				}
				to.Constraint = nil
			}
		}
	}
}

// beyond returns the largest |mean of the chains' estimates − want| divided by six standard errors plus
// least, the allowance for rare states; see deviation.
func beyond(chains [][]float64, want []float64, least float64) float64 {
	n, worst := float64(len(chains)), 0.0
	for i := range want {
		sum, square := 0.0, 0.0
		for _, x := range chains {
			sum += x[i]
			square += x[i] * x[i]
		}
		mean := sum / n
		worst = max(worst, math.Abs(mean-want[i])/(6*math.Sqrt(max(0, square/n-mean*mean)/(n-1))+least))
	}
	return worst
}

// For a model that changes in each call, the particles of finite reservoirs depend on their past, so the ladder has
// a bias. With any reservoir it is less than that of persistent chains alone. The model moves three quarters of the
// way to strong weights in twelve calls of one Gibbs step.
func TestReservoirBias(t *testing.T) {
	if testing.Short() {
		t.Skip("three seconds, for a claim of the documentation")
	}
	const chains = 4000
	shape := sharp[2]
	to := shape.random(31, sharpSD)
	from := between(to, baseModel(meanField(to), to), 0.97)
	bias := func(text string) (bias, err float64) {
		e := estimator(t, text)
		var phase rbm.Phase
		var m *rbm.RBM
		for n := range 12 {
			m = between(from, to, float32(n+1)/16)
			var err error
			if phase, _, err = e.Estimate(m, rbm.Batch{}, callFrom.Child(uint64(n))); err != nil {
				t.Fatal(err)
			}
		}
		all := states(m)
		want, mean, square := expectation(m, all, distribution(all, 1)), []float64(nil), []float64(nil)
		for _, f := range groupEstimates(phase, chains) {
			mean = addTo(mean, 1./chains, f)
			for i := range f {
				f[i] *= f[i]
			}
			square = addTo(square, 1./chains, f)
		}
		for i := range want {
			if d := math.Abs(mean[i] - want[i]); d > bias {
				bias, err = d, math.Sqrt((square[i]-mean[i]*mean[i])/chains)
			}
		}
		return bias, err
	}
	alone, se := bias(fmt.Sprintf("pcd:chains=%d", chains))
	t.Logf("pcd: %.4f ± %.4f", alone, se)
	for _, members := range fewer([]int{16, 4, 1}) {
		got, se := bias(fmt.Sprintf("ptt:chains=%d:freeze=0.9:sweeps=10:reservoir=%d", chains, members))
		t.Logf("reservoir=%d: %.4f ± %.4f", members, got, se)
		if got-6*se > alone/2 {
			t.Errorf("reservoir=%d: a bias of %v ± %v; persistent chains alone have %v", members, got, se, alone)
		}
	}
}
