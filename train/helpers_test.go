package train

import (
	"bytes"
	"context"
	"math"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
)

// negatives has settings of every estimator, with sizes that run fast.
var negatives = map[string]string{
	"cd":        "cd:k=1",
	"pcd":       "pcd:k=1:chains=8",
	"pt":        "pt:k=1:swaps=2:chains=4:tau=1/1.5/2.25",
	"ins":       "ins:k=1:swaps=2:chains=4:tau=1/1.5/2.25",
	"pins":      "pins:k=1:swaps=2:chains=4:tau=1/1.5/2.25:block=2",
	"ptt":       "ptt:chains=8:freeze=0.8:sweeps=4",
	"sardonics": "sardonics:chains=4:moves=2",
	"im":        "im:chains=4",
	"walk":      "walk:gibbs:chains=4",
	"exact":     "exact",
}

// layers are the kinds of label layer, and none.
var layers = []struct {
	name     string
	labelled bool
	kind     rbm.Kind
}{
	{"softmax", true, rbm.Softmax},
	{"bernoulli", true, rbm.Bernoulli},
	{"none", false, rbm.Softmax},
}

// toy returns the training data of a spec.
func toy(t testing.TB, spec string) *data.Set {
	t.Helper()
	set, _, err := data.Load(context.Background(), spec, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const smallToy = "toy:4,4,100,0.2"

// settingsOf returns default settings with the estimator that text describes.
func settingsOf(t testing.TB, text string) Settings {
	t.Helper()
	negative, err := negphase.Parse(text, negphase.DefaultSettings(""))
	if err != nil {
		t.Fatal(err)
	}
	s := PaperSettings(negative.Kind)
	s.Negative = negative
	return s
}

// newTrainer returns a trainer of a new model.
func newTrainer(t testing.TB, s Settings, set *data.Set, hidden int, labelled bool, kind rbm.Kind) *Trainer {
	t.Helper()
	tr, err := New(s, set, NewModel(set, hidden, labelled, kind, s.Seed))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// run trains until the trainer has taken that many steps in all.
func run(t testing.TB, tr *Trainer, steps int, observers ...Observer) {
	t.Helper()
	if err := tr.Run(context.Background(), steps, observers...); err != nil {
		t.Fatal(err)
	}
}

// save returns what Save writes.
func save(t testing.TB, tr *Trainer) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tr.Save(&b, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// eachRun calls f for every estimator with every kind of label layer.
func eachRun(t *testing.T, f func(t *testing.T, s Settings, labelled bool, kind rbm.Kind)) {
	for _, kind := range negphase.Kinds() {
		if negatives[kind] == "" {
			t.Errorf("%s is missing from the table", kind)
			continue
		}
		for _, l := range layers {
			t.Run(kind+"/"+l.name, func(t *testing.T) { f(t, settingsOf(t, negatives[kind]), l.labelled, l.kind) })
		}
	}
}

// near fails unless got is within tol of want.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, tol)
	}
}

// spoil sets weight (i, j) of m to x.
func spoil(m *rbm.RBM, i, j int, x float32) {
	w := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	w.Row(i)[j] = x
	m.SetWeights(w)
}
