package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// goldenFile has the parameters of short runs on smallToy with 6 hidden units: a line for each case, step
// and tensor, with the bits of its values in hexadecimal. They are the same on every processor. A change of
// them changes every run that was ever reported, and must be announced. -update writes the file again.
const goldenFile = "testdata/parameters.txt"

var update = flag.Bool("update", false, "rewrite the golden files")

// tensors returns the parameters of m by their names in goldenFile.
func tensors(m *rbm.RBM) (names []string, values map[string][]float32) {
	w := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	return []string{"weights", "visible_bias", "hidden_bias"}, map[string][]float32{"weights": w.Data, "visible_bias": m.VisibleBias, "hidden_bias": m.HiddenBias}
}

// hexadecimal returns the bits of values, 8 digits each.
func hexadecimal(values []float32) string {
	var b []byte
	for _, x := range values {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(x))
	}
	return hex.EncodeToString(b)
}

// firstDifference describes the first of values that differs from text, their hexadecimal form, or returns
// "".
func firstDifference(text string, values []float32) string {
	want, err := hex.DecodeString(text)
	if err != nil || len(want) != 4*len(values) {
		return fmt.Sprintf("%d values, want %d (%v)", len(values), len(want)/4, err)
	}
	for i, got := range values {
		if want := math.Float32frombits(binary.BigEndian.Uint32(want[4*i:])); math.Float32bits(got) != math.Float32bits(want) {
			return fmt.Sprintf("element %d is %v, want %v", i, got, want)
		}
	}
	return ""
}

func TestGoldenParameters(t *testing.T) {
	set := toy(t, smallToy)
	golden := map[string]string{}
	if !*update {
		b, err := os.ReadFile(goldenFile)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			name, values, _ := strings.Cut(strings.TrimSpace(line), ": ")
			golden[name] = values
		}
	}
	var written strings.Builder
	eachRun(t, func(t *testing.T, s Settings, labelled bool, kind rbm.Kind) {
		tr := newTrainer(t, s, set, 6, labelled, kind)
		for _, step := range []int{1, 10, 50} {
			run(t, tr, step)
			names, values := tensors(tr.Model())
			for _, tensor := range names {
				line := fmt.Sprintf("%s, step %d, %s", strings.TrimPrefix(t.Name(), "TestGoldenParameters/"), step, tensor)
				fmt.Fprintf(&written, "%s: %s\n", line, hexadecimal(values[tensor]))
				if *update {
					continue
				}
				if why := firstDifference(golden[line], values[tensor]); why != "" {
					t.Fatalf("%s: %s, want nothing", line, why)
				}
			}
		}
	})
	if *update {
		if err := os.WriteFile(goldenFile, []byte(written.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFirstDifference checks the report on a golden that has changed.
func TestFirstDifference(t *testing.T) {
	text := hexadecimal([]float32{1, -2, 0.5})
	for _, c := range []struct {
		values []float32
		want   string
	}{
		{[]float32{1, -2, 0.5}, ""},
		{[]float32{1, 2, 5}, "element 1 is 2, want -2"},
		{[]float32{1}, "1 values, want 3 (<nil>)"},
	} {
		if got := firstDifference(text, c.values); got != c.want {
			t.Errorf("%v: got %q, want %q", c.values, got, c.want)
		}
	}
}

// Results are identical at any GOMAXPROCS, on a model for which the passes are divided among goroutines: 25
// rows of 484 × 700 weights are above 2²³.
func TestTrainingAtAnyGOMAXPROCS(t *testing.T) {
	set := toy(t, "toy:4,240,25,0.2")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, text := range []string{"cd:k=1", "pcd:chains=25", "ptt:chains=10:sweeps=2", "pt:chains=10:tau=1/2/3", "ins:chains=10:tau=1/2/3", "pins:chains=10:tau=1/2/3:block=2", "exact"} {
		t.Run(text, func(t *testing.T) {
			s := settingsOf(t, text)
			s.Batch = 25
			hidden := 700
			if s.Negative.Kind == "exact" {
				hidden = 9 // 2⁹ states × 484 units are above 2¹⁴
			}
			var want *rbm.RBM
			for _, procs := range []int{1, 4} {
				runtime.GOMAXPROCS(procs)
				tr := newTrainer(t, s, set, hidden, true, rbm.Softmax)
				run(t, tr, 8)
				if want == nil {
					want = tr.Model()
				}
				if !tr.Model().Equal(want) {
					t.Errorf("other parameters at GOMAXPROCS %d", procs)
				}
			}
			s.Seed++
			other := newTrainer(t, s, set, hidden, true, rbm.Softmax)
			run(t, other, 20)
			if other.Model().Equal(want) {
				t.Error("another seed gives the same parameters")
			}
		})
	}
}

// Observers and metrics with random draws change nothing.
func TestObserversDisturbNothing(t *testing.T) {
	set := toy(t, smallToy)
	eachRun(t, func(t *testing.T, s Settings, labelled bool, kind rbm.Kind) {
		alone := newTrainer(t, s, set, 6, labelled, kind)
		run(t, alone, 30)

		watched := newTrainer(t, s, set, 6, labelled, kind)
		metrics, err := NewMetrics([]string{"auto"}, watched.Model(), Sets{Train: set, Test: set}, s.Seed)
		if err != nil || len(metrics) < 2 {
			t.Fatal(metrics, err)
		}
		sampler, err := negphase.New(negphase.DefaultSettings("pcd"))
		if err != nil {
			t.Fatal(err)
		}
		var seen []int
		evaluator := &Evaluator{Metrics: metrics, Every: 7, Report: func(e Evaluation) error {
			seen = append(seen, e.Step)
			return nil
		}}
		run(t, watched, 30, evaluator.Observe, func(_ context.Context, e Event) error {
			_, _, err := sampler.Estimate(e.Model, rbm.Batch{}, rbm.NewKey(s.Seed).Child(uint64(e.Step)))
			return err
		})
		if !watched.Model().Equal(alone.Model()) {
			t.Error("training differs when it is watched")
		}
		if fmt.Sprint(seen) != "[7 14 21 28 30]" {
			t.Errorf("evaluated at %v", seen)
		}
	})
}

func TestRunTellsOfEveryStep(t *testing.T) {
	tr := newTrainer(t, settingsOf(t, negatives["pt"]), toy(t, smallToy), 6, true, rbm.Softmax)
	var steps []int
	var total negphase.Info
	last := 0
	observe := func(_ context.Context, e Event) error {
		steps = append(steps, e.Step)
		total.Add(e.Info)
		if e.Last {
			last = e.Step
		}
		if e.Model != tr.Model() {
			t.Error("the event is of another model")
		}
		return nil
	}
	run(t, tr, 3, observe)
	run(t, tr, 5, observe)
	run(t, tr, 5, observe) // the run has ended
	if fmt.Sprint(steps) != "[1 2 3 4 5]" || last != 5 || tr.Steps() != 5 {
		t.Errorf("steps %v, last %d, %d taken", steps, last, tr.Steps())
	}
	// 5 steps × 2 rounds × 4 groups × 3 temperatures.
	if total.Updates != 5*2*4*3 || total.SwapTries[0] != 5*2*4 {
		t.Errorf("counted %+v", total)
	}
}

func TestRunStops(t *testing.T) {
	set := toy(t, smallToy)
	at := func(step int, err error) Observer {
		return func(_ context.Context, e Event) error {
			if e.Step == step {
				return err
			}
			return nil
		}
	}
	trainer := func() *Trainer { return newTrainer(t, settingsOf(t, "cd:k=1"), set, 6, true, rbm.Softmax) }

	tr := trainer()
	later := 0
	count := func(context.Context, Event) error { later++; return nil }
	err := tr.Run(context.Background(), 10, at(3, fmt.Errorf("well enough: %w", ErrStop)), count)
	if err != nil || tr.Steps() != 3 || later != 2 {
		t.Errorf("ErrStop: %v after %d steps; the next observer saw %d, want 3 and 2", err, tr.Steps(), later)
	}
	tr = trainer()
	failure := errors.New("disk full")
	if err := tr.Run(context.Background(), 10, at(4, failure)); !errors.Is(err, failure) || tr.Steps() != 4 {
		t.Errorf("an error: %v after %d steps", err, tr.Steps())
	}
	tr = trainer()
	ctx, cancel := context.WithCancel(context.Background())
	err = tr.Run(ctx, 10, func(_ context.Context, e Event) error {
		if e.Step == 5 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || tr.Steps() != 5 {
		t.Errorf("cancelled: %v after %d steps", err, tr.Steps())
	}
	// It can continue, identically to a run that never stopped.
	run(t, tr, 12)
	whole := trainer()
	run(t, whole, 12)
	if !tr.Model().Equal(whole.Model()) {
		t.Error("a run that was stopped goes on otherwise")
	}
}

// A parameter that is NaN, infinite or huge stops training at the next check of all parameters, at the last
// step or every hundred. The error names the step and the tensor.
func TestDivergence(t *testing.T) {
	set := toy(t, smallToy)
	for _, c := range []struct {
		name  string
		spoil func(m *rbm.RBM)
		rate  float64
		steps int
		want  string
	}{
		{"NaN weight", func(m *rbm.RBM) { spoil(m, 3, 2, float32(math.NaN())) }, 0.1, 5, "step 5: diverged: weights[3,2] is NaN"},
		{"NaN weight, long run", func(m *rbm.RBM) { spoil(m, 3, 2, float32(math.NaN())) }, 0.1, 1000, "step 100: diverged: weights[3,2] is NaN"},
		{"NaN visible bias", func(m *rbm.RBM) { m.VisibleBias[1] = float32(math.NaN()) }, 0.1, 1, "step 1: diverged: visible_bias[1] is NaN"},
		{"NaN hidden bias", func(m *rbm.RBM) { m.HiddenBias[4] = float32(math.NaN()) }, 0.1, 2, "step 2: diverged: hidden_bias[4] is NaN"},
		{"huge weight", func(m *rbm.RBM) { spoil(m, 0, 1, -5e4) }, maxRate, 3, "step 3: diverged: weights[0,1] is -"},
		{"infinite bias", func(m *rbm.RBM) { m.HiddenBias[0] = float32(math.Inf(1)) }, 0.1, 3, "step 1: diverged: hidden_bias[0] is +Inf"},
	} {
		s := settingsOf(t, "pcd:chains=8")
		s.Rate = c.rate
		tr := newTrainer(t, s, set, 6, true, rbm.Softmax)
		c.spoil(tr.Model())
		err := tr.Run(context.Background(), c.steps)
		if !errors.Is(err, rbm.ErrDiverged) || !strings.HasPrefix(fmt.Sprint(err), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	// A failed step leaves the parameters and the count unchanged.
	tr := newTrainer(t, settingsOf(t, "pcd:chains=8"), set, 6, true, rbm.Softmax)
	tr.Model().HiddenBias[0] = float32(math.Inf(1))
	before := tr.Model().Clone()
	if _, err := tr.Step(); !errors.Is(err, rbm.ErrDiverged) || !tr.Model().Equal(before) || tr.Steps() != 0 {
		t.Errorf("a step that fails: %v, %d steps", err, tr.Steps())
	}
}

func TestNewRefuses(t *testing.T) {
	set := toy(t, smallToy)
	plain := toy(t, "toy:4,4,100,0.2:plain")
	for _, c := range []struct {
		name  string
		spoil func(s *Settings, m **rbm.RBM)
		want  string
	}{
		{"rate 0", func(s *Settings, _ **rbm.RBM) { s.Rate = 0 }, "rate is 0"},
		{"rate NaN", func(s *Settings, _ **rbm.RBM) { s.Rate = math.NaN() }, "rate is NaN"},
		{"rate Inf", func(s *Settings, _ **rbm.RBM) { s.Rate = math.Inf(1) }, "rate is +Inf"},
		{"rate 101", func(s *Settings, _ **rbm.RBM) { s.Rate = 101 }, "rate is 101"},
		{"batch 0", func(s *Settings, _ **rbm.RBM) { s.Batch = 0 }, "batch is 0"},
		{"batch too large", func(s *Settings, _ **rbm.RBM) { s.Batch = 401 }, "1 … 400"},
		{"chains 0", func(s *Settings, _ **rbm.RBM) { s.Negative.Set("chains", 0) }, "pcd: chains is 0"},
		{"kind", func(s *Settings, _ **rbm.RBM) { s.Negative.Kind = "pdc" }, "did you mean pcd?"},
		{"inputs", func(_ *Settings, m **rbm.RBM) { *m = rbm.New(9, 2, 0, rbm.Softmax) }, "9 inputs"},
		{"classes", func(_ *Settings, m **rbm.RBM) { *m = rbm.New(11, 2, 3, rbm.Softmax) }, "3 classes"},
	} {
		s, m := settingsOf(t, "pcd:chains=8"), NewModel(set, 6, true, rbm.Softmax, 1)
		c.spoil(&s, &m)
		if _, err := New(s, set, m); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := New(PaperSettings("cd"), plain, rbm.New(12, 2, 4, rbm.Softmax)); err == nil || !strings.Contains(err.Error(), "no labels") {
		t.Errorf("labels of unlabelled data: %v, want %q in it", err, "no labels")
	}
}

// The initial parameters have mean 0 and variance InitialSD², and are a
// function of the seed.
func TestNewModel(t *testing.T) {
	set := toy(t, "toy:4,40,25,0.2")
	m := NewModel(set, 100, true, rbm.Bernoulli, 3)
	if m.Visible() != 84 || m.Hidden() != 100 || m.Classes() != 4 || m.LabelKind() != rbm.Bernoulli {
		t.Errorf("a model of %d × %d units, %d classes, %v", m.Visible(), m.Hidden(), m.Classes(), m.LabelKind())
	}
	w := rbm.NewMatrix(84, 100)
	m.Weights(w)
	var sum, square float64
	for _, x := range w.Data {
		sum += float64(x)
		square += float64(x) * float64(x)
	}
	n := float64(len(w.Data))
	near(t, "mean", sum/n, 0, 6*InitialSD/math.Sqrt(n))
	near(t, "variance", square/n, InitialSD*InitialSD, 6*InitialSD*InitialSD*math.Sqrt(2/n))
	if !m.Equal(NewModel(set, 100, true, rbm.Bernoulli, 3)) || m.Equal(NewModel(set, 100, true, rbm.Bernoulli, 4)) {
		t.Error("the model is not a function of its seed")
	}
	if m := NewModel(set, 2, false, rbm.Softmax, 1); m.Visible() != 80 || m.Classes() != 0 {
		t.Errorf("without labels %d visible units, %d classes, want 80 and 0", m.Visible(), m.Classes())
	}
}

// With the exact negative phase training reaches the likelihood of the distribution that the data were
// drawn from.
func TestExactTrainingReachesTheDistribution(t *testing.T) {
	set := toy(t, smallToy)
	truth, ok := TrueLikelihood(set, true)
	if !ok {
		t.Fatal("the distribution of the toy data is not known")
	}
	for _, kind := range []rbm.Kind{rbm.Softmax, rbm.Bernoulli} {
		tr := newTrainer(t, settingsOf(t, "exact"), set, 8, true, kind)
		metrics, err := NewMetrics([]string{"log_likelihood"}, tr.Model(), Sets{Train: set}, 1)
		if err != nil {
			t.Fatal(err)
		}
		likelihood := func() float64 {
			x, err := metrics[0].Measure(context.Background(), tr.Model(), true)
			if err != nil {
				t.Fatal(err)
			}
			return x[0]
		}
		start := likelihood()
		run(t, tr, 3000)
		end := likelihood()
		t.Logf("%v: %.4f to %.4f; truth %.4f", kind, start, end, truth)
		// Training closes nine tenths of the gap at the start. A fitted model of p parameters exceeds the
		// likelihood of the true distribution on its rows by p/2N on average, with a standard deviation of
		// √(p/2)/N (Wilks).
		p := float64(8*12 + 8 + 12)
		n := float64(set.Len())
		if end < truth-(truth-start)/10 || end > truth+p/(2*n)+6*math.Sqrt(p/2)/n {
			t.Errorf("%v: %.4f after 3000 steps from %.4f; the distribution of the data has %.4f, want %.4f to %.4f", kind, end, start, truth, truth-(truth-start)/10, truth+p/(2*n)+6*math.Sqrt(p/2)/n)
		}
	}
}

// Estimators whose chains move by walks learn: in the same number of steps they gain nine tenths of what
// the exact gradient gains, in nats of exact likelihood.
func TestWalksLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const steps = 3000
	for _, c := range []struct {
		set      string
		hidden   int
		labelled bool
	}{{"toy:4,4,2500,0.2", 4, true}, {"bars:3", 8, false}} {
		set := toy(t, c.set)
		learn := func(negative string) (start, end float64) {
			s := settingsOf(t, negative)
			s.Schedule, s.Horizon = "linear", steps
			tr := newTrainer(t, s, set, c.hidden, c.labelled, rbm.Softmax)
			metrics, err := NewMetrics([]string{"log_likelihood"}, tr.Model(), Sets{Train: set}, 1)
			if err != nil {
				t.Fatal(err)
			}
			likelihood := func() float64 {
				x, err := metrics[0].Measure(context.Background(), tr.Model(), true)
				if err != nil {
					t.Fatal(err)
				}
				return x[0]
			}
			start = likelihood()
			run(t, tr, steps)
			return start, likelihood()
		}
		start, best := learn("exact")
		for _, negative := range []string{"sardonics", "im", "walk:gibbs", "pt:tau=1/2/4:sardonics"} {
			_, end := learn(negative)
			t.Logf("%s, %s: %.4f to %.4f; exact %.4f", c.set, negative, start, end, best)
			if end < best-(best-start)/10 {
				t.Errorf("%s, %s: %.4f after %d steps from %.4f; exact comes to %.4f, want at least %.4f", c.set, negative, end, steps, start, best, best-(best-start)/10)
			}
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	if parallel.Raced() {
		t.Skip("the race detector makes pools forget")
	}
	set := toy(t, "toy:4,40,25,0.2")
	eachRun(t, func(t *testing.T, s Settings, labelled bool, kind rbm.Kind) {
		if s.Negative.Kind == "ptt" { // the steps are between two freezings, which allocate a rung
			if err := s.Negative.Set("freeze", 1e-6); err != nil {
				t.Fatal(err)
			}
		}
		tr := newTrainer(t, s, set, 9, labelled, kind)
		run(t, tr, 20) // lists grow to the largest number of active units
		step := func() {
			if _, err := tr.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(50, step); n != 0 {
			t.Errorf("%v allocations a step, want 0", n)
		}
	})
}

// watched wraps another estimator and counts its calls.
type watched struct {
	negphase.Estimator
	calls int
}

func (w *watched) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, negphase.Info, error) {
	w.calls++
	return w.Estimator.Estimate(m, pos, key)
}

// NewWith accepts any estimator. With the same one it is identical to New, with Save and Load in between.
func TestNewWith(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, negatives["pt"])
	want := newTrainer(t, s, set, 6, true, rbm.Softmax)
	run(t, want, 40)
	begin := func() (*Trainer, *watched) {
		inner, err := negphase.New(s.Negative)
		if err != nil {
			t.Fatal(err)
		}
		w, own := &watched{Estimator: inner}, s
		own.Negative = negphase.DefaultSettings("watched")
		tr, err := NewWith(w, own, set, NewModel(set, 6, true, rbm.Softmax, s.Seed))
		if err != nil {
			t.Fatal(err)
		}
		return tr, w
	}
	first, _ := begin()
	run(t, first, 25)
	second, w := begin()
	if _, err := second.Load(bytes.NewReader(save(t, first))); err != nil {
		t.Fatal(err)
	}
	run(t, second, 40)
	if !second.Model().Equal(want.Model()) || w.calls != 15 {
		t.Errorf("%d calls, or other parameters than those of New", w.calls)
	}
	if _, err := want.Load(bytes.NewReader(save(t, first))); err == nil || !strings.Contains(err.Error(), "watched") {
		t.Errorf("loaded into a trainer of another estimator: %v, want %q in it", err, "watched")
	}
	s.Rate = -1
	if _, err := NewWith(w, s, set, NewModel(set, 6, true, rbm.Softmax, 1)); err == nil || !strings.Contains(err.Error(), "rate is -1") {
		t.Errorf("a negative rate: %v, want %q in it", err, "rate is -1")
	}
	if _, err := NewWith(w, settingsOf(t, "cd"), set, rbm.New(3, 2, 0, rbm.Softmax)); err == nil || !strings.Contains(err.Error(), "the model has 3 inputs") {
		t.Errorf("a model of another shape: %v, want %q in it", err, "the model has 3 inputs")
	}
}

// Without rows there is no score, and no panic.
func TestClassifyNothing(t *testing.T) {
	set := toy(t, smallToy)
	m := NewModel(set, 3, true, rbm.Softmax, 1)
	for _, rows := range [][]int32{nil, {}} {
		if s := Classify(m, set, rows); s.N != 0 || !math.IsNaN(s.Error) || !math.IsNaN(s.MeanLogP) {
			t.Errorf("%+v", s)
		}
	}
	if s := Classify(m, set, []int32{0}); s.N != 1 || math.IsNaN(s.Error) {
		t.Errorf("%+v", s)
	}
}

// Sets built by hand are checked before training.
func TestFitsOwnData(t *testing.T) {
	m := tinyModel(rbm.Softmax)
	few, grey := tinySet(), tinySet()
	few.Y = few.Y[:2]
	grey.Grey = rbm.NewMatrix(2, 1)
	for want, set := range map[string]*data.Set{"tiny has 2 labels for 3 rows; give one each": few, "tiny has 3 × 1 bits but 2 × 1 grey values; give both the same shape": grey} {
		s := settingsOf(t, "cd")
		s.Batch = 1
		if _, err := New(s, set, m); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
