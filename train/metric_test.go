package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
)

// tinyModel has one input, two classes and one hidden unit. All biases are 0. The weights are ln 3 for the
// input, 0 for class 0 and ln 7 for class 1. The weight of a visible state, 1 + exp(Σ w), is then
//
//	          x=0  x=1
//	label 0    2    4
//	label 1    8   22
//
// and 36 in all with a softmax label. With Bernoulli labels, states without a label have the weights of
// label 0, and states with both have those of label 1: 72 in all.
func tinyModel(kind rbm.Kind) *rbm.RBM {
	m := rbm.New(3, 1, 2, kind)
	w := rbm.NewMatrix(3, 1)
	w.Data[0], w.Data[2] = float32(math.Log(3)), float32(math.Log(7))
	m.SetWeights(w)
	return m
}

// tinySet has the rows (x,y) = (1,1), (0,1), (1,0).
func tinySet() *data.Set {
	s := &data.Set{
		Name: "tiny", X: rbm.NewBits(3, 1), Y: []int32{1, 1, 0}, Classes: []string{"a", "b"},
		Height: 1, Width: 1, Binarize: data.Binary,
	}
	s.X.Set(0, 0, true)
	s.X.Set(2, 0, true)
	return s
}

// tinyTest has the single row (1,1).
func tinyTest() *data.Set {
	s := tinySet()
	s.X, s.Y = s.X.Slice(0, 1), s.Y[:1]
	return s
}

// handTol is the error of ln 3 and ln 7 rounded to float32, in three terms.
const handTol = 1e-6

func TestMetricsByHand(t *testing.T) {
	log := math.Log
	classes := (log(22./26) + log(8./10) + log(4./26)) / 3
	for _, c := range []struct {
		kind          rbm.Kind
		total, pseudo float64
	}{
		{rbm.Softmax, 36, classes + log(22./30*8/30*4/6)/3},
		// Given the other units, a Bernoulli unit of class 0 has probability ½ for both values.
		{rbm.Bernoulli, 72, classes + log(22./30*8/30*4/6)/3 + log(0.5)},
	} {
		m := tinyModel(c.kind)
		want := map[string]float64{
			"error_train": 1. / 3, "error_test": 0,
			"accuracy_sum": log(22. / 26), "accuracy_mean": log(22. / 26), // of the test row
			"log_likelihood_train": log(22*8*4)/3 - log(c.total), "log_likelihood_test": log(22 / c.total),
			"pseudo_likelihood_train": c.pseudo, "pseudo_likelihood_test": pseudoOfTest(c.kind),
			"free_energy_gap": log(22*8*4)/3 - log(22),
		}
		metrics, err := NewMetrics([]string{"auto"}, m, Sets{Train: tinySet(), Test: tinyTest()}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, whole := range []bool{false, true} {
			seen := 0
			for _, metric := range metrics {
				got, err := metric.Measure(context.Background(), m, whole)
				if err != nil || len(got) != len(metric.Values) {
					t.Fatal(got, metric.Values, err)
				}
				for i, name := range metric.Values {
					if _, ok := want[name]; !ok {
						t.Errorf("%s is not expected", name)
					}
					near(t, fmt.Sprint(c.kind, " ", name), got[i], want[name], handTol)
					seen++
				}
			}
			if seen != len(want) {
				t.Errorf("%d values of %d", seen, len(want))
			}
		}
		// Without test rows, the accuracy is that of the training rows.
		metrics, err = NewMetrics([]string{"classification"}, m, Sets{Train: tinySet()}, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := metrics[0].Measure(context.Background(), m, false)
		if err != nil || !slices.Equal(metrics[0].Values, []string{"error_train", "accuracy_sum", "accuracy_mean"}) {
			t.Fatal(got, metrics[0].Values, err)
		}
		near(t, "accuracy_sum", got[1], 3*classes, handTol)
		near(t, "accuracy_mean", got[2], classes, handTol)

		score := Classify(m, tinySet(), []int32{2, 2, 0, 1})
		if score.N != 4 || score.Error != 0.5 {
			t.Errorf("score %+v", score)
		}
	}
}

// pseudoOfTest is the log pseudo-likelihood of (1,1).
func pseudoOfTest(kind rbm.Kind) float64 {
	p := math.Log(22./26) + math.Log(22./30)
	if kind == rbm.Bernoulli {
		p += math.Log(0.5)
	}
	return p
}

func TestMetricsWithoutLabels(t *testing.T) {
	m := rbm.New(1, 1, 0, rbm.Softmax)
	m.VisibleBias[0] = float32(math.Log(3)) // p(x=1) = 3/4
	metrics, err := NewMetrics([]string{"auto"}, m, Sets{Train: tinySet()}, 1)
	if err != nil || len(metrics) != 2 {
		t.Fatal(metrics, err)
	}
	want := math.Log(3./4*1/4*3/4) / 3
	for _, metric := range metrics {
		got, err := metric.Measure(context.Background(), m, true)
		if err != nil {
			t.Fatal(err)
		}
		near(t, metric.Name, got[0], want, handTol)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := metrics[0].Measure(ctx, m, true); err == nil {
		t.Error("an enumeration goes on when it is cancelled")
	}
}

func TestNewMetricsNames(t *testing.T) {
	tiny, set := tinyModel(rbm.Softmax), tinySet()
	large := rbm.New(61, 60, 2, rbm.Softmax)
	for _, c := range []struct {
		names string
		m     *rbm.RBM
		want  string // the metrics' names, or part of the error
	}{
		{"none", tiny, ""},
		{"auto", tiny, "classification log_likelihood pseudo_likelihood"},
		{"auto", large, "classification pseudo_likelihood"},
		{"auto", rbm.New(1, 1, 0, rbm.Softmax), "log_likelihood pseudo_likelihood"},
		{"pseudo_likelihood", tiny, "pseudo_likelihood"},
		{"pseudo_likelihood,classification", tiny, "pseudo_likelihood classification"},
		{"log_likelihood", large, "too many states"},
		{"classification", rbm.New(1, 1, 0, rbm.Softmax), "labels"},
		{"clasification", tiny, "did you mean classification?"},
		{"speed", tiny, "there are classification, log_likelihood, pseudo_likelihood"},
	} {
		metrics, err := NewMetrics(strings.Split(c.names, ","), c.m, Sets{Train: set}, 1)
		var got []string
		for _, m := range metrics {
			got = append(got, m.Name)
		}
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || c.want == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: got %v, want %q", c.names, err, c.want)
			}
		} else if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %q", c.names, got, c.want)
		}
	}
}

// A metric measures the same rows every time, whatever else is done.
func TestMetricsRepeat(t *testing.T) {
	set := toy(t, smallToy)
	m := NewModel(set, 6, true, rbm.Softmax, 1)
	m.Randomize(1, rbm.NewKey(5))
	before := m.Clone()
	measure := func(seed uint64) string {
		metrics, err := NewMetrics([]string{"auto"}, m, Sets{Train: set, Test: set}, seed)
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for range 2 {
			for _, metric := range metrics {
				x, err := metric.Measure(context.Background(), m, false)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, x...)
			}
		}
		if half := len(all) / 2; !slices.Equal(all[:half], all[half:]) {
			t.Error("measured twice, other values")
		}
		return fmt.Sprint(all)
	}
	first := measure(1)
	if again := measure(1); again != first {
		t.Errorf("measured again, other values: got %q, want %q", again, first)
	}
	if !m.Equal(before) {
		t.Error("measuring has changed the model")
	}
}

func TestLikeliest(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want int
	}{{[]float64{1}, 0}, {[]float64{1, 3, 2}, 1}, {[]float64{2, 3, 3}, 1}, {[]float64{math.Inf(-1), -5}, 1}} {
		if got := Likeliest(c.x); got != c.want {
			t.Errorf("of %v: %d, want %d", c.x, got, c.want)
		}
	}
}

func TestTrueLikelihood(t *testing.T) {
	set := tinySet()
	if _, ok := TrueLikelihood(set, true); ok {
		t.Error("a distribution that is not known")
	}
	set.LogProb = func(x []uint64, y int) float64 { return float64(10*int(x[0]) + y) }
	if got, ok := TrueLikelihood(set, true); !ok || got != (11+1+10)/3. {
		t.Errorf("with labels %v", got)
	}
	if got, ok := TrueLikelihood(set, false); !ok || got != (9-1+9)/3. {
		t.Errorf("without labels %v", got)
	}
	// The toy distribution has the entropy H = ln 4 + 8·h(0.2) nats, and the variance of a row's log
	// probability is 8·0.2·0.8·ln²4.
	set = toy(t, smallToy)
	got, _ := TrueLikelihood(set, true)
	want := -math.Log(4) + 8*(0.2*math.Log(0.2)+0.8*math.Log(0.8))
	near(t, "mean log probability of the toy data", got, want, 6*math.Sqrt(8*0.2*0.8/float64(set.Len()))*math.Log(4))
}

func TestEvaluator(t *testing.T) {
	whole := map[int]bool{}
	step := 0
	metric := Metric{Name: "m", Values: []string{"a", "b"}, Measure: func(_ context.Context, _ *rbm.RBM, all bool) ([]float64, error) {
		whole[step] = all
		return []float64{float64(step), -1}, nil
	}}
	var updates []int64
	var kept []negphase.Info
	v := &Evaluator{Metrics: []Metric{metric}, Every: 4, Report: func(e Evaluation) error {
		a, ok := e.Value("a")
		if !ok || a != float64(e.Step) {
			t.Errorf("step %d: a is %v, %v", e.Step, a, ok)
		}
		if _, ok := e.Value("c"); ok {
			t.Error("a value that is not there")
		}
		updates, kept = append(updates, e.Info.Updates), append(kept, e.Info)
		return nil
	}}
	m := tinyModel(rbm.Softmax)
	if err := v.Begin(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	for step = 1; step <= 10; step++ {
		e := Event{Step: step, Last: step == 10, Info: negphase.Info{Updates: int64(step), Counts: []negphase.Count{{Name: "Vetoes", Value: float64(step)}}}, Model: m}
		if err := v.Observe(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(whole) != "map[0:false 4:false 8:false 10:false]" {
		t.Errorf("measured at %v", whole)
	}
	// The final evaluation uses all rows. It is not reported and adds no counts.
	if final, err := v.Final(context.Background(), m, 10); err != nil || !whole[step] || final.Step != 10 || len(final.Values) != 2 {
		t.Errorf("the final look is %+v, %v", final, err)
	}
	// A metric with Once is not measured again at the step of the last evaluation.
	v.Metrics[0].Once = true
	for _, at := range []int{10, 11} {
		step = 100 + at
		final, err := v.Final(context.Background(), m, at)
		if _, again := whole[step]; err != nil || again != (at == 11) || final.Values[0].Value != map[int]float64{10: 10, 11: 111}[at] {
			t.Errorf("after step %d the final look is %+v, %v; measured again: %v", at, final, err, again)
		}
	}
	// 1+2+3+4, 5+…+8, 9+10.
	if !slices.Equal(updates, []int64{0, 10, 26, 19}) || v.total.Updates != 55 {
		t.Errorf("counts %v, in all %d, want %v and 55", updates, v.total.Updates, []int64{0, 10, 26, 19})
	}
	for i, info := range kept {
		if got := info.Get("Vetoes"); got != float64(updates[i]) {
			t.Errorf("evaluation %d, kept until the end, has %v vetoes, want %d", i, got, updates[i])
		}
	}
}

// The lines of the report follow the table of metrics.
func TestMetricsAreDescribed(t *testing.T) {
	metrics, err := NewMetrics([]string{"classification", "log_likelihood", "active_hidden"}, tinyModel(rbm.Softmax), Sets{Train: tinySet(), Test: tinySet()}, 1)
	if err != nil {
		t.Fatal(err)
	}
	e := Evaluation{Values: []Value{{"error_train", 0.12345}, {"error_test", 0.5}, {"accuracy_sum", 3}, {"accuracy_mean", -0.123456},
		{"log_likelihood_test", -2.7182818}, {"active_hidden_train", 1.005}}}
	var lines []string
	for _, first := range []bool{true, false} {
		for _, m := range metrics {
			lines = append(lines, m.Report(e, first)...)
		}
	}
	if got, want := strings.Join(lines, "\n"), `classification error: train 12.3 %, test 50 %
exact log-likelihood: test -2.7183 nats (`+tinySet().Binarize+`)
mean log p(y|x): -0.1235 nats
mean number of hidden units on: train 1.00`; got != want {
		t.Errorf("the report is\n%s\nwant\n%s", got, want)
	}
}

// halves returns a set whose first half has blank rows of class a and whose second half has full rows of
// class b, so that the first rows are not a random sample.
func halves(rows, inputs int) *data.Set {
	s := &data.Set{Name: "halves", X: rbm.NewBits(rows, inputs), Y: make([]int32, rows), Classes: []string{"a", "b"}, Height: 1, Width: inputs, Binarize: data.Binary}
	for r := rows / 2; r < rows; r++ {
		s.Y[r] = 1
		for i := range inputs {
			s.X.Set(r, i, true)
		}
	}
	return s
}

// measure returns the values of one metric by name.
func measure(t *testing.T, name string, m *rbm.RBM, sets Sets, whole bool) map[string]float64 {
	t.Helper()
	metrics, err := NewMetrics([]string{name}, m, sets, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := metrics[0].Measure(context.Background(), m, whole)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for i, name := range metrics[0].Values {
		values[name] = x[i]
	}
	return values
}

// sampleTol is six standard errors of the fraction of a half of n rows in a sample of 100, drawn without
// replacement.
func sampleTol(n float64) float64 { return 6 * math.Sqrt(0.25/100*(n-100)/(n-1)) }

// Classification of a large model uses a sample of 100 rows. At the end of a run it uses all rows, except
// for the training rows, for the sum and for the mean.
func TestClassificationTakesASample(t *testing.T) {
	const rows, inputs, hidden = 200, 4000, 2700 // rowWork is less than 100 times the weights
	m := rbm.New(inputs+2, hidden, 2, rbm.Softmax)
	m.VisibleBias[inputs] = float32(math.Log(3)) // p(a|x) = 3/4 of any row
	sets := Sets{Train: halves(rows, inputs), Test: halves(rows, inputs)}
	first, last := measure(t, "classification", m, sets, false), measure(t, "classification", m, sets, true)
	for name, e := range map[string]float64{"training": first["error_train"], "test": first["error_test"]} {
		near(t, "error of a sample of the "+name+" rows", e, 0.5, sampleTol(rows))
	}
	if first["error_train"] == 0.5 && first["error_test"] == 0.5 {
		t.Fatal("both samples are even: nothing is tested")
	}
	near(t, "error of all test rows", last["error_test"], 0.5, 0)
	near(t, "error of training rows at the last look", last["error_train"], first["error_train"], 0)
	b := math.Round(100 * first["error_test"]) // rows of class b in the sample
	sum := (100-b)*math.Log(0.75) + b*math.Log(0.25)
	near(t, "sum over the sample", first["accuracy_sum"], sum, 1e-4) // the rounding of a float32 bias, 100 times
	near(t, "sum over all", last["accuracy_sum"], rows*(math.Log(0.75)+math.Log(0.25))/2, 1e-4)
	near(t, "mean over the sample", first["accuracy_mean"], sum/100, 1e-6)
	near(t, "mean over all", last["accuracy_mean"], (math.Log(0.75)+math.Log(0.25))/2, 1e-6)
}

// The pseudo-likelihood uses a sample during training, and a larger one of the stated size at the end.
func TestPseudoLikelihoodTakesASample(t *testing.T) {
	const rows, inputs, hidden = 400, 600, 560 // productWork is 100 times the weights, wholeWork more than 400 times
	m := rbm.New(inputs, hidden, 0, rbm.Softmax)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = float32(math.Log(3)) // units are on by 3/4
	}
	set := halves(rows, inputs)
	set.Y, set.Classes = nil, nil
	if n := sampleRowsOf(m, set, wholeWork); n != rows {
		t.Fatalf("%d rows at the last look, want %d", n, rows)
	}
	blank, full := inputs*math.Log(0.25), inputs*math.Log(0.75)
	sample := measure(t, "pseudo_likelihood", m, Sets{Train: set}, false)["pseudo_likelihood_train"]
	near(t, "share of full rows in the sample", (sample-blank)/(full-blank), 0.5, sampleTol(rows))
	if math.Abs(sample-(blank+full)/2) < 1 {
		t.Fatal("the sample is even: nothing is tested")
	}
	all := measure(t, "pseudo_likelihood", m, Sets{Train: set}, true)["pseudo_likelihood_train"]
	near(t, "pseudo-likelihood of all rows", all, (blank+full)/2, 1e-3) // biases in float32, 600 of them
}

// Samples of a short run are smaller, down to a quarter; the log p(y|x) of the last part is kept.
func TestShortRunsTakeFewerRows(t *testing.T) {
	const rows, inputs, hidden = 5000, 498, 500 // rowWork is 4294 times the weights
	set, test := halves(rows, inputs), halves(40, inputs)
	m := rbm.New(inputs+2, hidden, 2, rbm.Softmax)
	for _, c := range []struct{ steps, rows int }{{0, 4294}, {100, 1073}, {4000, 2222}, {20000, 4294}} {
		s := DefaultSettings("cd")
		s.Horizon, s.Batch = c.steps, 20
		metrics, err := NewRunMetrics([]string{"classification", "free_energy_gap"}, m, Sets{Train: set, Test: test}, s)
		if err != nil {
			t.Fatal(err)
		}
		// Between the bounds there are 2³⁰ · 20 · steps / (36 · 2³⁰) rows.
		if got := metrics[1].Columns[0].Unit; got != fmt.Sprintf(" nats (samples of at most %d rows)", c.rows) {
			t.Errorf("%d steps: %q, want %d rows", c.steps, got, c.rows)
		}
		kept := metrics[0].Scores
		for _, whole := range []bool{false, true} {
			if _, err := metrics[0].Measure(context.Background(), m, whole); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{false: 0, true: 40}[whole]; len(kept.Rows) != want || len(kept.LogP) != 2*want {
				t.Errorf("whole %v: %d rows and %d values are kept, want %d rows", whole, len(kept.Rows), len(kept.LogP), want)
			}
		}
		want64, _ := ClassLogProbs(m, test, kept.Rows)
		if kept.Set != test || !slices.Equal(kept.LogP, want64) {
			t.Errorf("%d steps: other scores than those of the rows are kept", c.steps)
		}
	}
}

// The log-likelihood of a model that can be enumerated uses all rows, during training too.
func TestLogLikelihoodTakesAllRows(t *testing.T) {
	const rows, inputs, hidden = 6000, 600, 10 // rowWork is 44739 times the weights, productWork 5592 times
	m := rbm.New(inputs, hidden, 0, rbm.Softmax)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = float32(math.Log(3))
	}
	set := halves(rows, inputs)
	set.Y, set.Classes = nil, nil
	got := measure(t, "log_likelihood", m, Sets{Train: set}, false)["log_likelihood_train"]
	near(t, "log-likelihood", got, inputs*(math.Log(0.25)+math.Log(0.75))/2, 1e-3) // biases in float32, 600 of them
}

// At the end of a run the free-energy gap is the difference of the log-likelihoods of all rows, if these
// are measured. Otherwise it names its number of rows.
func TestGapIsOfTheRowsOfTheLikelihood(t *testing.T) {
	const rows, inputs = 3 * gapRows, 3
	m := rbm.New(inputs, 2, 0, rbm.Softmax)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = float32(math.Log(3))
	}
	sets := Sets{Train: halves(rows, inputs), Test: halves(rows, inputs)}
	sets.Train.Missing = rbm.NewBits(rows, inputs) // of rows with missing cells, only the first ones are measured
	sets.Train.Missing.Set(0, 0, true)
	for _, s := range []*data.Set{sets.Train, sets.Test} {
		s.Y, s.Classes = nil, nil
	}
	metrics, err := NewMetrics([]string{"log_likelihood", "free_energy_gap"}, m, sets, 1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := metrics[0].Measure(t.Context(), m, true)
	if err != nil {
		t.Fatal(err)
	}
	gap, err := metrics[1].Measure(t.Context(), m, true)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "log-likelihood of all test rows", l[1], inputs*(math.Log(0.75)+math.Log(0.25))/2, handTol)
	near(t, "gap", gap[0], l[0]-l[1], handTol)
	if sample, err := metrics[1].Measure(t.Context(), m, false); err != nil || math.Abs(sample[0]-gap[0]) < 1e-3 {
		t.Errorf("the gap of a sample is %v (%v), as that of all rows: nothing is tested", sample, err)
	}
	if unit := metrics[1].Columns[0].Unit; unit != " nats" {
		t.Errorf("the gap of all rows has the unit %q, want %q", unit, " nats")
	}

	large := rbm.New(4000, 2700, 0, rbm.Softmax) // needs samples of 100 rows, and is too large to enumerate
	sets = Sets{Train: halves(200, 4000), Test: halves(50, 4000)}
	for _, s := range []*data.Set{sets.Train, sets.Test} {
		s.Y, s.Classes = nil, nil
	}
	if metrics, err = NewMetrics([]string{"free_energy_gap"}, large, sets, 1); err != nil {
		t.Fatal(err)
	}
	if unit := metrics[0].Columns[0].Unit; unit != " nats (samples of at most 100 rows)" {
		t.Errorf("the gap of samples has the unit %q, want %q", unit, " nats (samples of at most 100 rows)")
	}
}

// The free-energy gap uses the held-out rows if there are any. active_hidden is the mean per row.
func TestGapAndActiveByHand(t *testing.T) {
	m := tinyModel(rbm.Softmax)
	held := tinySet()
	held.X, held.Y = held.X.Slice(1, 2), held.Y[1:2] // the row (0,1), of weight 8
	sets := Sets{Train: tinySet(), Holdout: held, Test: tinyTest()}
	train := math.Log(22*8*4) / 3
	near(t, "gap", measure(t, "free_energy_gap", m, sets, true)["free_energy_gap"], train-math.Log(8), handTol)
	sets.Holdout = nil
	near(t, "gap to the test rows", measure(t, "free_energy_gap", m, sets, true)["free_energy_gap"], train-math.Log(22), handTol)

	// Two hidden units. The second is on with probability 4/5 whatever the row.
	two := rbm.New(3, 2, 2, rbm.Softmax)
	w := rbm.NewMatrix(3, 2)
	w.Row(0)[0], w.Row(2)[0] = float32(math.Log(3)), float32(math.Log(7))
	two.SetWeights(w)
	two.HiddenBias[1] = float32(math.Log(4))
	want := (21./22+7./8+3./4)/3 + 0.8
	near(t, "active hidden units", measure(t, "active_hidden", two, sets, false)["active_hidden_train"], want, handTol)
	near(t, "of the test row", measure(t, "active_hidden", two, sets, false)["active_hidden_test"], 21./22+0.8, handTol)
}

// If cells are missing, as many rows are measured as the sums allow, and fewer in a short run, but not fewer than
// leastGapRows. The metric's Rows and Terms are the cost of these rows and the terms of the enumeration.
func TestGapsBoundTheRows(t *testing.T) {
	const rows, inputs, hidden, gaps = 600, 14, 13, 12 // of 2¹² states a row
	m := rbm.New(inputs, hidden, 0, rbm.Softmax)
	set := halves(rows, inputs)
	set.Y, set.Classes = nil, nil
	set.Missing = rbm.NewBits(rows, inputs)
	for r := range rows {
		for i := range gaps {
			set.Missing.Set(r, i, true)
		}
	}
	p := newMeasuredSet("train", set, m, rbm.NewKey(1))
	const cost = 1<<gaps + 10 // the states, and the conditional model
	if n, whole := len(p.freeEnergyRows(m, rowWork)), len(p.freeEnergyRows(m, 0)); n != gapSums/cost || whole != wholeGapSums/cost {
		t.Errorf("%d rows of a sample, want %d; %d of the last measurement, want %d", n, gapSums/cost, whole, wholeGapSums/cost)
	}
	short := p
	short.shorten(Settings{Horizon: 300, Batch: 10})
	if n, whole := len(short.freeEnergyRows(m, rowWork)), len(short.freeEnergyRows(m, 0)); n != leastGapRows || whole != leastGapRows {
		t.Errorf("in a short run %d and %d rows, want %d", n, whole, leastGapRows)
	}
	metrics, err := NewMetrics([]string{"log_likelihood"}, m, Sets{Train: set}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := metrics[0]; got.Rows != gapSums/cost*cost || got.Terms != inputs<<hidden {
		t.Errorf("%d rows and %v terms, want %d and %d", got.Rows, got.Terms, gapSums/cost*cost, inputs<<hidden)
	}
}
