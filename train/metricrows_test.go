package train

import (
	"context"
	"math"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// halves returns a set whose first half has blank rows of class a and whose
// second half full rows of class b: the first rows are no sample of it.
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

// sampleTol is six standard errors of the share of one half in a sample of 100
// rows of n, drawn without putting back.
func sampleTol(n float64) float64 { return 6 * math.Sqrt(0.25/100*(n-100)/(n-1)) }

// Classification of a model so large that it takes a sample of 100 rows: at
// the last look all rows but those of training count, and the sum goes over the
// sample still.
func TestClassificationTakesASample(t *testing.T) {
	const rows, inputs, hidden = 200, 4000, 700 // rowWork is less than 100 times the weights
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
	near(t, "sum over the sample", first["accuracy_sum"], sum, 1e-4) // a bias in float32, 100 times
	near(t, "sum at the last look", last["accuracy_sum"], first["accuracy_sum"], 0)
	near(t, "mean over the sample", first["accuracy_mean"], sum/100, 1e-6)
	near(t, "mean over all", last["accuracy_mean"], (math.Log(0.75)+math.Log(0.25))/2, 1e-6)
}

// The pseudo-likelihood takes a sample as long as training goes on, and at the
// last look as many more rows as it says.
func TestPseudoLikelihoodTakesASample(t *testing.T) {
	const rows, inputs, hidden = 400, 600, 560 // productWork is 100 times the weights, wholeWork more than 400 times
	m := rbm.New(inputs, hidden, 0, rbm.Softmax)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = float32(math.Log(3)) // units are on by 3/4
	}
	set := halves(rows, inputs)
	set.Y, set.Classes = nil, nil
	if n := SampleRows(m, set); n != rows {
		t.Fatalf("%d rows at the last look", n)
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

// The log-likelihood takes all rows, while training too, of a model as small as
// those that can be enumerated.
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

// The gap of free energies is that of the rows held out, where there are any;
// and hidden units that are on are counted a row.
func TestGapAndActiveByHand(t *testing.T) {
	m := tinyModel(rbm.Softmax)
	held := tinySet()
	held.X, held.Y = held.X.Slice(1, 2), held.Y[1:2] // (0,1), of weight 8
	sets := Sets{Train: tinySet(), Holdout: held, Test: tinyTest()}
	train := math.Log(22*8*4) / 3
	near(t, "gap", measure(t, "free_energy_gap", m, sets, true)["free_energy_gap"], train-math.Log(8), handTol)
	sets.Holdout = nil
	near(t, "gap to the test rows", measure(t, "free_energy_gap", m, sets, true)["free_energy_gap"], train-math.Log(22), handTol)

	// Two hidden units, of which the second is on by 4/5 whatever the row.
	two := rbm.New(3, 2, 2, rbm.Softmax)
	w := rbm.NewMatrix(3, 2)
	w.Row(0)[0], w.Row(2)[0] = float32(math.Log(3)), float32(math.Log(7))
	two.SetWeights(w)
	two.HiddenBias[1] = float32(math.Log(4))
	want := (21./22+7./8+3./4)/3 + 0.8
	near(t, "active hidden units", measure(t, "active_hidden", two, sets, false)["active_hidden_train"], want, handTol)
	near(t, "of the test row", measure(t, "active_hidden", two, sets, false)["active_hidden_test"], 21./22+0.8, handTol)
}
