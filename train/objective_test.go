package train

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/parallel"
)

// partly returns set with every third label missing.
func partly(set *data.Set) *data.Set {
	s := *set
	s.Y = slices.Clone(set.Y)
	for r := 1; r < len(s.Y); r += 3 {
		s.Y[r] = data.NoClass
	}
	return &s
}

// objectiveCases calls f for all objectives, with and without rows that lack a class.
func objectiveCases(t *testing.T, spec string, f func(t *testing.T, s Settings, set *data.Set, kind rbm.Kind)) {
	full := toy(t, spec)
	for _, c := range []struct {
		objective string
		alpha     float64
		set       *data.Set
	}{
		{Discriminative, 0, full},
		{Discriminative, 0, partly(full)},
		{Hybrid, 0.3, full},
		{Hybrid, 0.3, partly(full)},
		{Joint, 0, partly(full)},
	} {
		for _, kind := range []rbm.Kind{rbm.Softmax, rbm.Bernoulli} {
			t.Run(fmt.Sprintf("%s/%d unlabelled/%v", c.objective, c.set.Unlabelled(), kind), func(t *testing.T) {
				s := settingsOf(t, "pcd:chains=8")
				s.Objective, s.Alpha = c.objective, c.alpha
				f(t, s, c.set, kind)
			})
		}
	}
}

// objectiveOf returns the mean of the objective over the rows that it trains on, by enumeration.
func objectiveOf(t *testing.T, s Settings, m *rbm.RBM, set *data.Set) float64 {
	t.Helper()
	enum, err := exact.New(m, exact.EvaluationLimit)
	if err != nil {
		t.Fatal(err)
	}
	enum.Set(m)
	logZ, err := enum.LogZ(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o, sum := s.parts(), 0.0
	logp, free := make([]float64, m.Classes()), make([]float64, 1)
	for r := range set.Len() {
		v := set.Rows([]int32{int32(r)}, m.Classes())
		m.ClassLogProb(logp, v)
		if y := set.Y[r]; y != data.NoClass {
			m.FreeEnergy(free, v)
			sum += o.Discriminative*logp[y] + o.Generative*(-free[0]-logZ)
			continue
		}
		v.Set(0, m.Inputs(), true) // log p(x) = log p(x,e_0) − log p(e_0|x)
		m.FreeEnergy(free, v)
		sum += o.Generative * (-free[0] - logp[0] - logZ)
	}
	return sum / float64(s.Rows(set))
}

// One step on all rows with the exact negative phase is a step along the gradient of the objective. The
// objective, by enumeration, differs between a step ahead and a step back by 2|step|²/rate, up to the third
// order in the rate. Divided by the rate, the error shrinks by 4 if the rate is halved, so extrapolation
// removes it.
func TestStepClimbsTheObjective(t *testing.T) {
	objectiveCases(t, "toy:4,3,10,0.2", func(t *testing.T, s Settings, set *data.Set, kind rbm.Kind) {
		s.Negative = settingsOf(t, "exact").Negative
		s.Batch = s.Rows(set)
		start := NewModel(set, 5, true, kind, 1)
		start.Randomize(0.5, rbm.NewKey(4))
		slope := func(rate float64) (got, want float64) {
			s.Rate = rate
			ahead := start.Clone()
			tr, err := New(s, set, ahead)
			if err != nil {
				t.Fatal(err)
			}
			run(t, tr, 1)
			step := ahead.Clone()
			step.Parameters().Add(-1, start.Parameters(), nil)
			back := start.Clone()
			back.Parameters().Add(-1, step.Parameters(), nil)
			length := 0.0
			for _, x := range flat(step) {
				length += x * x
			}
			return (objectiveOf(t, s, ahead, set) - objectiveOf(t, s, back, set)) / (2 * rate), length / (rate * rate)
		}
		a, want := slope(1. / 16)
		b, _ := slope(1. / 32)
		// The remaining error is of higher order than the one removed. Parameters below 4 have a rounding
		// error of 2⁻²³, and so has the step, whose squared length is want times rate².
		near(t, "rise of the objective", b+(b-a)/3, want, math.Abs(b-a)/3+2*0x1p-23*32*math.Sqrt(want*float64(start.Visible()*start.Hidden())))
	})
}

// A run that is saved and loaded continues identically, with every option that keeps state. No step
// allocates.
func TestObjectivesGoOn(t *testing.T) {
	objectiveCases(t, smallToy, func(t *testing.T, s Settings, set *data.Set, kind rbm.Kind) {
		s.Momentum, s.Center, s.Average, s.L1, s.L2 = 0.5, 0.05, 0.9, 1e-4, 1e-3
		whole := newTrainer(t, s, set, 6, true, kind)
		run(t, whole, 60)
		first := newTrainer(t, s, set, 6, true, kind)
		run(t, first, 25)
		second := newTrainer(t, s, set, 6, true, kind)
		run(t, second, 7) // Load must overwrite this
		if _, err := second.Load(bytes.NewReader(save(t, first))); err != nil {
			t.Fatal(err)
		}
		run(t, second, 60)
		if !second.Model().Equal(whole.Model()) || !bytes.Equal(save(t, second), save(t, whole)) {
			t.Error("loaded at step 25 it goes on with other bits")
		}
		other := s
		other.Objective, other.Alpha = Hybrid, 0.7
		if _, err := newTrainer(t, other, set, 6, true, kind).Load(bytes.NewReader(save(t, first))); err == nil || !strings.Contains(err.Error(), "other settings") {
			t.Errorf("another objective goes on: %v, want %q in it", err, "other settings")
		}
		if parallel.Raced() {
			return // under the race detector pools drop objects
		}
		if n := testing.AllocsPerRun(50, func() {
			if _, err := whole.Step(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v allocations a step, want 0", n)
		}
	})
}

// Results are identical at any GOMAXPROCS, on a model for which the loops are divided among goroutines.
func TestObjectivesAtAnyGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	objectiveCases(t, "toy:4,240,25,0.2", func(t *testing.T, s Settings, set *data.Set, kind rbm.Kind) {
		s.Batch = 25
		var want *rbm.RBM
		for _, procs := range []int{1, 4} {
			runtime.GOMAXPROCS(procs)
			tr := newTrainer(t, s, set, 700, true, kind)
			run(t, tr, 5)
			if want == nil {
				want = tr.Model()
			}
			if !tr.Model().Equal(want) {
				t.Errorf("other parameters at GOMAXPROCS %d", procs)
			}
		}
	})
}

// "joint" and "" are the same objective.
func TestJointIsTheDefault(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, "cd:k=1")
	unnamed := newTrainer(t, s, set, 6, true, rbm.Softmax)
	s.Objective = Joint
	named := newTrainer(t, s, set, 6, true, rbm.Softmax)
	run(t, unnamed, 10)
	run(t, named, 10)
	if !bytes.Equal(save(t, unnamed), save(t, named)) {
		t.Error("the objective joint differs from the default")
	}
}

// The discriminative objective uses only rows that have a class: other rows change no bit, and each of
// these is used once in an epoch.
func TestDiscriminativeLeavesUnlabelledRowsOut(t *testing.T) {
	set := partly(toy(t, smallToy))
	s := settingsOf(t, "cd:k=1")
	s.Objective, s.Batch = Discriminative, 3
	all := newTrainer(t, s, set, 6, true, rbm.Softmax)
	labelled := newTrainer(t, s, set.Take(set.Labelled()), 6, true, rbm.Softmax)
	run(t, all, 50)
	run(t, labelled, 50)
	if !all.Model().Equal(labelled.Model()) {
		t.Error("rows without a class change the parameters")
	}
}

// At a row without a class, chains start at a class drawn from p(y|x).
func TestClassesAreDrawn(t *testing.T) {
	set := partly(toy(t, "toy:4,4,30,0.2"))
	s := settingsOf(t, "cd:k=1")
	s.Batch = set.Len()
	m := NewModel(set, 6, true, rbm.Softmax, 1)
	m.Randomize(1, rbm.NewKey(2))
	tr, err := New(s, set, m)
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 400
	sum, variance := make([]float64, 4), make([]float64, 4)
	for range rounds {
		tr.batches.Rows(tr.rows, tr.step)
		tr.objective.positive(tr)
		tr.step++
		for i, y := range tr.objective.y {
			at := -1
			for k := range 4 {
				if tr.batch.V.Get(i, m.Inputs()+k) {
					if at >= 0 {
						t.Fatalf("two classes in a row: got %v, want less than 0", at)
					}
					at = k
				}
			}
			if y != data.NoClass {
				if at != int(y) {
					t.Fatalf("class %d became %d", y, at)
				}
				continue
			}
			for k := range 4 {
				p := math.Exp(tr.objective.phase.LogProb[4*i+k])
				sum[k] -= p
				variance[k] += p * (1 - p)
				if k == at {
					sum[k]++
				}
			}
		}
	}
	for k, x := range sum {
		if z := x / math.Sqrt(variance[k]); math.Abs(z) > 5 {
			t.Errorf("class %d is drawn %.1f standard deviations off, want ±5 at most", k, z)
		}
	}
}

func TestObjectiveRefuses(t *testing.T) {
	set := toy(t, smallToy)
	none := *set
	none.Y = slices.Repeat([]int32{data.NoClass}, set.Len())
	bare := *set
	bare.Y, bare.Classes = nil, nil
	for _, c := range []struct {
		objective string
		alpha     float64
		batch     int
		set       *data.Set
		keep      *rbm.Constraint
		want      string
	}{
		{"genrative", 0, 5, set, nil, `objective is "genrative"; there are joint, discriminative and hybrid`},
		{Hybrid, 0, 5, set, nil, "alpha is 0; it must be above 0 and at most 100"},
		{Hybrid, math.NaN(), 5, set, nil, "alpha is NaN"},
		{Hybrid, -1, 5, set, nil, "alpha is -1"},
		{Hybrid, 101, 5, set, nil, "alpha is 101"},
		{Joint, 0.1, 5, set, nil, "only the objective hybrid has it"},
		{"", 0.1, 5, set, nil, "only the objective hybrid has it"},
		{Discriminative, 0, 5, &bare, nil, "the objective discriminative needs a model with labels"},
		{Hybrid, 1, 5, &bare, nil, "the objective hybrid needs a model with labels"},
		{Hybrid, 1, 5, set, &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}, "cannot go with the constraint"},
		{Joint, 0, 5, partly(set), &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}, "have no class"},
		{Joint, 0, 5, &none, nil, "no row of"},
		{Discriminative, 0, set.Len(), partly(set), nil, "that have a class"},
	} {
		s := settingsOf(t, "cd:k=1")
		s.Objective, s.Alpha, s.Batch = c.objective, c.alpha, c.batch
		m := NewModel(c.set, 4, c.set.Y != nil, rbm.Softmax, 1)
		m.Constraint = c.keep
		if _, err := New(s, c.set, m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.objective, c.alpha, err, c.want)
		}
	}
}

// Metrics, means and base rates use the labels of the rows that have one.
func TestMetricsOfPartlyLabelledRows(t *testing.T) {
	set := partly(toy(t, "toy:4,4,30,0.2"))
	labelled := set.Take(set.Labelled())
	m := NewModel(set, 5, true, rbm.Softmax, 1)
	m.Randomize(1, rbm.NewKey(3))
	measure := func(set *data.Set) (values []float64) {
		metrics, err := NewMetrics([]string{"auto"}, m, Sets{Train: set, Test: set}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range metrics {
			v, err := metric.Measure(context.Background(), m, true)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v...)
		}
		return values
	}
	got, want := measure(set), measure(labelled)
	for i := range got { // the order of the rows differs
		near(t, "metric", got[i], want[i], 1e-12*math.Abs(want[i]))
	}
	all, some := VisibleMean(set, 4), VisibleMean(labelled, 4)
	if !slices.Equal(all[set.X.Cols:], some[set.X.Cols:]) || slices.Equal(all[:set.X.Cols], some[:set.X.Cols]) {
		t.Errorf("means %v, of the rows with labels %v", all, some)
	}
}

// Momentum, second words and centring act on the gradient of the whole objective. The first step with
// momentum equals the plain one, as does the first small step, and offsets slide to the means of the
// minibatch.
func TestOptimizersTakeTheObjective(t *testing.T) {
	objectiveCases(t, smallToy, func(t *testing.T, s Settings, set *data.Set, kind rbm.Kind) {
		step := func(change func(s *Settings)) *Trainer {
			s := s
			change(&s)
			tr := newTrainer(t, s, set, 6, true, kind)
			run(t, tr, 1)
			return tr
		}
		plain := step(func(s *Settings) {})
		for name, other := range map[string]*Trainer{
			"momentum": step(func(s *Settings) { s.Momentum = 0.5 }),
			"gradient": step(func(s *Settings) { s.Schedule = "inverse:1000000000" }),
		} {
			a, b := flat(plain.Model()), flat(other.Model())
			for i, x := range a {
				near(t, name, b[i], x, 0x1p-22*(math.Abs(x)+s.Rate)) // some roundings, of the step and of the sum
			}
		}
		if set.Unlabelled() > 0 {
			return // rows or drawn classes differ
		}
		centred := step(func(s *Settings) { s.Center = 0.1 })
		joint := step(func(s *Settings) { s.Center, s.Objective, s.Alpha = 0.1, Joint, 0 })
		if !slices.Equal(centred.optimizer.ascent.Mu, joint.optimizer.ascent.Mu) || !slices.Equal(centred.optimizer.ascent.Lambda, joint.optimizer.ascent.Lambda) {
			t.Error("offsets slide to other means than those of the minibatch")
		}
	})
}

// All held-out rows are scored during training, because they choose the best model. Other parts, of the
// same size here, are sampled.
func TestHoldoutIsScoredWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("a model so large that a sample is taken takes seconds")
	}
	set := toy(t, "toy:4,4,250,0.2")
	m := NewModel(set, 100_000, true, rbm.Softmax, 1)
	metrics, err := NewMetrics([]string{"classification"}, m, Sets{Train: set, Holdout: set, Test: set}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := sampleRowsOf(m, set, rowWork); n == set.Len() {
		t.Fatal("the model is too small for a sample")
	}
	values, err := metrics[0].Measure(context.Background(), m, false)
	if err != nil {
		t.Fatal(err)
	}
	all := Classify(m, set, data.RowNumbers(0, set.Len())).Error
	near(t, "error of the rows held out", values[1], all, 1e-12)
	if values[0] == all || values[2] == all {
		t.Errorf("the other parts are scored whole too: %v", values)
	}
}

// The amount that Sparse subtracts from the hidden biases is proportional to the rate.
func TestSparseKeepsPaceWithTheRate(t *testing.T) {
	set := toy(t, smallToy)
	m := NewModel(set, 6, true, rbm.Softmax, 1)
	s := PaperSettings("cd")
	s.Schedule, s.Horizon, s.Sparse = "linear", 8, 0.25
	none := rbm.Phase{Batch: rbm.Batch{V: rbm.NewBits(0, m.Visible()), H: rbm.NewMatrix(0, m.Hidden())}}
	for _, at := range []int{0, 4} {
		before := m.Clone()
		o := newOptimizer(s, m, set)
		o.ascend(m, at, none.Batch, none.Batch, 1, none, false)
		off := float32(0.25 * float64(8-at) / 8)
		for j := range before.HiddenBias {
			before.HiddenBias[j] -= off
		}
		if !m.Equal(before) {
			t.Errorf("step %d of 8 does not take %v off the hidden biases", at, off)
		}
	}
}

// If its steps of sparsity are small, a run has second words, and without a gradient the hidden biases move
// by the sum of the steps. Steps of 2⁻¹⁰ need no second words.
func TestSmallSparseStepsOfARun(t *testing.T) {
	set := toy(t, smallToy)
	m := NewModel(set, 6, true, rbm.Softmax, 1)
	none := rbm.Phase{Batch: rbm.Batch{V: rbm.NewBits(0, m.Visible()), H: rbm.NewMatrix(0, m.Hidden())}}
	const steps = 20_000
	for _, sparse := range []float64{0x1p-10, 1e-6, 1e-7, 1e-8} {
		s := PaperSettings("cd")
		s.Schedule, s.Sparse = "constant", sparse
		o := newOptimizer(s, m, set)
		if small := sparse < 1e-5; (o.ascent.Rest != nil) != small {
			t.Errorf("sparse %v: second words are kept: %v, want %v", sparse, o.ascent.Rest != nil, small)
		}
		if o.ascent.Rest == nil {
			continue
		}
		for j := range m.HiddenBias {
			m.HiddenBias[j] = -5
		}
		for step := range steps {
			o.ascend(m, step, none.Batch, none.Batch, 1, none, false)
		}
		want := -5 - steps*float64(float32(sparse))
		rest := flatOf(o.ascent.Rest)
		rest = rest[len(rest)-m.Hidden():]
		for j, c := range m.HiddenBias {
			// See TestSmallSparseSteps of package rbm.
			near(t, "bias and second word", float64(c)+rest[j], want, steps*0x1p-46)
			near(t, "bias", float64(c), want, steps*0x1p-46+0x1p-22)
		}
	}
}

// Sparse is subtracted from the hidden biases after a step, whatever the optimizer, and before the
// parameters are averaged.
func TestSparseStep(t *testing.T) {
	set := toy(t, smallToy)
	for _, average := range []float64{0, 0.5} {
		step := func(sparse float64) *Trainer {
			s := settingsOf(t, "cd:k=1")
			s.Momentum, s.Average, s.Sparse = 0.5, average, sparse
			tr := newTrainer(t, s, set, 6, true, rbm.Softmax)
			run(t, tr, 1)
			return tr
		}
		plain, sparse := step(0), step(0.25)
		for j := range plain.model.HiddenBias {
			plain.model.HiddenBias[j] -= 0.25
		}
		if !sparse.model.Equal(plain.model) {
			t.Error("a sparse step is not the plain one with a quarter off the hidden biases")
		}
		for j, c := range sparse.Model().HiddenBias { // the average starts at the parameters before the step
			near(t, "hidden bias", float64(c), float64(step(0).Model().HiddenBias[j])-0.25*(1-average), 0x1p-22)
		}
	}
}
