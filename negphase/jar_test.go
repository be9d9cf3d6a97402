package negphase

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

// between returns the model at share t of the way from a to b.
func between(a, b *rbm.RBM, t float32) *rbm.RBM {
	m := a.Clone()
	m.Approach(t, b, nil)
	return m
}

// logZOf returns log Z by listing the states.
func logZOf(all []state) float64 {
	e := make([]float64, len(all))
	for x, s := range all {
		e[x] = -s.energy
	}
	return rbm.LogSumExp(e)
}

// An annealed estimate of one replicate: Ẑ/Z, and Ẑ/Z times each moment. Their
// means are 1 and the exact moments, whatever the number of chains and however the
// resampling is decided (Del Moral 2004, proposition 7.4.1).
func jarReplicate(t *testing.T, j *jar, path []*rbm.RBM, logZ float64, key rbm.Key, estimate func(m *rbm.RBM, key rbm.Key) (rbm.Phase, error)) []float64 {
	t.Helper()
	var phase rbm.Phase
	for i, m := range path {
		var err error
		if phase, err = estimate(m, key.Child(uint64(i))); err != nil {
			t.Fatal(err)
		}
	}
	got, _, ok := j.LogZ()
	if !ok {
		t.Fatal("no log Z")
	}
	z := math.Exp(got - logZ)
	out := []float64{z}
	for _, f := range groupEstimates(phase, 1)[0] {
		out = append(out, z*f)
	}
	return out
}

// zScore returns the largest distance of the means of the replicates from want, in
// standard errors.
func zScore(replicates [][]float64, want []float64) float64 {
	n, worst := float64(len(replicates)), 0.0
	for i := range want {
		sum, square := 0.0, 0.0
		for _, x := range replicates {
			sum += x[i]
			square += x[i] * x[i]
		}
		mean := sum / n
		worst = max(worst, math.Abs(mean-want[i])/math.Sqrt((square/n-mean*mean)/(n-1)+1e-12))
	}
	return worst
}

// Along a path of parameters that chains of one Gibbs step cannot follow, the
// weighted chains have the exact moments as their mean, and log Z is unbiased, with
// resampling and without. What is put together wrongly has not: see the mutants of
// each line.
func TestJarFollowsTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const replicates = 1000
	for i, s := range sharp {
		if !taken(i, len(sharp)) {
			continue
		}
		to := s.random(31, sharpSD)
		from := between(to, baseModel(&rbm.Base{VisibleBias: make([]float32, to.Visible()), HiddenBias: make([]float32, to.Hidden())}, to), 0.99)
		for _, constrained := range []bool{false, true} {
			if constrained {
				from.Constraint, to.Constraint = constraints[i], constraints[i]
			}
			var path []*rbm.RBM
			for t := range 4 {
				path = append(path, between(from, to, float32(t)/3))
			}
			all := states(to)
			want := expectation(to, all, law(all, 1))
			if constrained {
				all = permitted(to)
				want = constrainedMoments(all, law(all, 1))
			}
			logZ := logZOf(all)
			want = append([]float64{1}, want...)
			score := func(text string, estimate func(j *jar, m *rbm.RBM, key rbm.Key) (rbm.Phase, error)) float64 {
				var all [][]float64
				for n := range replicates {
					j := build[*jar](parse(t, text))
					all = append(all, jarReplicate(t, j, path, logZ, callFrom.Child(uint64(n)), func(m *rbm.RBM, key rbm.Key) (rbm.Phase, error) { return estimate(j, m, key) }))
				}
				return zScore(all, want)
			}
			right := func(j *jar, m *rbm.RBM, key rbm.Key) (rbm.Phase, error) {
				phase, _, err := j.Estimate(m, rbm.Batch{}, key)
				return phase, err
			}
			for _, text := range []string{"jar:chains=16:resample=0.01", "jar:chains=16:resample=0.8"} {
				z := score(text, right)
				t.Logf("%v, constrained %v, %s: %.1f standard errors", s, constrained, text, z)
				if z > 6 {
					t.Errorf("%v, constrained %v, %s: off by %.1f standard errors", s, constrained, text, z)
				}
			}
			if constrained || i != 2 { // one model shows them all
				continue
			}
			for name, wrong := range map[string]func(j *jar, m *rbm.RBM, key rbm.Key) (rbm.Phase, error){
				"the kept h": func(j *jar, m *rbm.RBM, key rbm.Key) (rbm.Phase, error) {
					if j.states == nil {
						return right(j, m, key)
					}
					j.look(m, &j.next)
					j.past, j.next = j.next, j.past
					// h is drawn from the means under the model before.
					m.HiddenSample(j.states.H, rbm.Batch{V: j.states.V.Input(), H: j.mean}, key.Child(1))
					m.StepFree(j.states, j.past.free, 1, key)
					j.states.Mean, j.mean = j.mean, j.states.Mean
					return weighted(j), nil
				},
				"weights of the state after the step": func(j *jar, m *rbm.RBM, key rbm.Key) (rbm.Phase, error) {
					if j.states == nil {
						return right(j, m, key)
					}
					was := slices.Clone(j.past.log)
					old := j.states
					if _, err := right(j, m, key); err != nil {
						return rbm.Phase{}, err
					}
					free := make([]float64, j.rows)
					path[max(0, slices.Index(path, m)-1)].HiddenMeanFree(rbm.NewMatrix(j.rows, m.Hidden()), free, old.V)
					for r := range was {
						j.past.log[r] = was[r] + free[r] - j.past.free[r]
					}
					return weighted(j), nil
				},
				"equal weights": func(j *jar, m *rbm.RBM, key rbm.Key) (rbm.Phase, error) {
					phase, err := right(j, m, key)
					phase.Weight = nil
					return phase, err
				},
			} {
				z := score("jar:chains=16:resample=0.01", wrong)
				t.Logf("%v, %s: %.1f standard errors", s, name, z)
				if z < 6 {
					t.Errorf("%v: a mutant is not seen: %s: %.1f standard errors", s, name, z)
				}
			}
			z := score("jar:chains=16:resample=0.8", func(j *jar, m *rbm.RBM, key rbm.Key) (rbm.Phase, error) {
				before := j.past.sums.LogZ
				phase, err := right(j, m, key)
				if j.info.Resampled > 0 {
					j.past.sums.LogZ = before
				}
				return phase, err
			})
			if z < 6 {
				t.Errorf("%v: a mutant is not seen: a resampling that forgets the mean weight: %.1f standard errors", s, z)
			}
		}
	}
}

// weighted returns the phase of j with its weights computed anew.
func weighted(j *jar) rbm.Phase {
	effective(j.linear, j.past.log)
	total := 0.0
	for _, w := range j.linear {
		total += w
	}
	for r, w := range j.linear {
		j.weight[r] = float32(w / total)
	}
	return rbm.Phase{Batch: rbm.Batch{V: j.states.V.Input(), H: j.mean, Weight: j.weight}}
}

// Each row has ⌊R·w⌋ or one more copies, R·w in the mean over u; rows that have
// copies stay where they are.
func TestSystematicResampling(t *testing.T) {
	weight := []float64{0.05, 2, 0, 0.7, 0.3, 0.95, 0, 4}
	total := 8.0
	const draws = 4000
	mean := make([]float64, len(weight))
	from := make([]int32, len(weight))
	for n := range draws {
		systematic(from, weight, (float64(n)+0.5)/draws)
		count := make([]float64, len(weight))
		for _, f := range from {
			count[f]++
		}
		for r, c := range count {
			share := weight[r] / total * float64(len(weight))
			if c < math.Floor(share) || c > math.Ceil(share) {
				t.Fatalf("row %d of %v has %v copies", r, share, c)
			}
			if c > 0 && from[r] != int32(r) {
				t.Fatalf("row %d has copies and is moved: %v", r, from)
			}
			mean[r] += c / draws
		}
	}
	for r, m := range mean {
		near(t, "copies", m, weight[r]/total*float64(len(weight)), 2.0/draws) // a grid of u misses each end by half a cell
	}
}

// An update that leaves less than half of the effective size is rejected, and
// changes nothing; a small one passes, and the call after it has the bits of one
// without the question.
func TestJarVeto(t *testing.T) {
	m := shape{9, 7, 3, rbm.Softmax}.random(3, 0.1)
	far := shape{9, 7, 3, rbm.Softmax}.random(4, 6)
	near := between(m, far, 1e-3)
	const text = "jar:chains=20:resample=0.5"
	j := estimator(t, text).(*jar)
	if j.Veto(far) {
		t.Error("a veto before the first call")
	}
	call(t, j, m, rbm.Batch{}, 0, 1)
	saved, _ := j.MarshalBinary()
	plain := estimator(t, text)
	if err := plain.UnmarshalBinary(saved); err != nil {
		t.Fatal(err)
	}
	nan := m.Clone()
	nan.HiddenBias[1] = float32(math.Inf(1))
	if !j.Veto(far) || !j.Veto(nan) {
		t.Error("no veto of an update that goes too far")
	}
	if j.Veto(m) || j.Veto(near) {
		t.Error("a veto of a small update")
	}
	_, info, err := j.Estimate(near, rbm.Batch{}, rbm.NewKey(8))
	if err != nil || info.Vetoes != 2 {
		t.Errorf("%d vetoes are counted, %v", info.Vetoes, err)
	}
	if _, _, err := plain.Estimate(near, rbm.Batch{}, rbm.NewKey(8)); err != nil {
		t.Fatal(err)
	}
	a, _ := j.MarshalBinary()
	b, _ := plain.MarshalBinary()
	if !slices.Equal(a, b) {
		t.Error("a question of Veto changes the chains")
	}
}

// On a model that is trained already the weights come from annealing: log Z is
// right at the first call.
func TestJarOnATrainedModel(t *testing.T) {
	m := shape{10, 8, 0, 0}.random(7, 2.5)
	j := estimator(t, "jar:chains=200").(*jar)
	call(t, j, m, rbm.Batch{}, 0, 1)
	got, err, _ := j.LogZ()
	want := logZOf(states(m))
	t.Logf("log Z %v ± %v, exact %v", got, err, want)
	if math.Abs(got-want) > 6*err || err > 0.3 {
		t.Errorf("log Z is %v ± %v, want %v", got, err, want)
	}
}

// A model of two modes, all units on or all off, of which draws from the start see one:
// they weigh alike, but annealed ones find both.
func TestJarFindsAllModes(t *testing.T) {
	m := rbm.New(6, 6, 0, rbm.Softmax)
	w := rbm.NewMatrix(6, 6)
	for i := range w.Data {
		w.Data[i] = 1.5
	}
	m.SetWeights(w)
	for i := range 6 {
		m.VisibleBias[i], m.HiddenBias[i] = -4.5, -4.5
	}
	j := estimator(t, "jar:chains=1000").(*jar)
	call(t, j, m, rbm.Batch{}, 0, 1)
	got, err, _ := j.LogZ()
	want := logZOf(states(m))
	t.Logf("log Z %v ± %v, exact %v", got, err, want)
	if math.Abs(got-want) > 6*err || err > 0.3 {
		t.Errorf("log Z is %v ± %v, want %v", got, err, want)
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
// of them, and chains that begin there would not find the other. The chains of jar and
// ptt begin elsewhere. Half of them are to be in each mode.
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
	for _, text := range []string{"jar", "ptt", "ptt:weights=ins", "ptt:path=data"} {
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
			for r := range phase.V.Bits.Rows {
				p := 1 / float64(phase.V.Bits.Rows)
				if phase.Weight != nil {
					p = float64(phase.Weight[r])
				}
				if phase.V.Bits.Get(r, 0) {
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
