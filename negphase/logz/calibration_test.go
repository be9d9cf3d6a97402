package logz

import (
	"math"
	"strings"
	"testing"

	"gorbm/rbm"
)

// drawer returns a function that draws visible states from m by a table of
// all of them.
func drawer(m *rbm.RBM) func(rows int, key rbm.Key) rbm.Bits {
	inputs, labels := m.Inputs(), 1
	if m.Classes() > 0 && m.LabelKind() == rbm.Softmax {
		labels = m.Classes()
	} else {
		inputs = m.Visible()
	}
	all := rbm.NewBits(labels<<inputs, m.Visible())
	for r := range all.Rows {
		for i := range inputs {
			all.Set(r, i, r>>i&1 != 0)
		}
		if inputs < m.Visible() {
			all.Set(r, inputs+r>>inputs, true)
		}
	}
	free := make([]float64, all.Rows)
	m.FreeEnergy(free, all)
	least, total := free[0], 0.0
	for _, f := range free {
		least = min(least, f)
	}
	for i, f := range free {
		free[i] = math.Exp(least - f)
		total += free[i]
	}
	return func(rows int, key rbm.Key) rbm.Bits {
		v := rbm.NewBits(rows, m.Visible())
		for r := range rows {
			k := 0
			for u := key.Uniform(uint64(r)) * total; k < len(free)-1 && u >= free[k]; k++ {
				u -= free[k]
			}
			copy(v.Row(r), all.Row(k))
		}
		return v
	}
}

// Ten models with weights of standard deviations 0.3 to 3, a hundred runs of
// AIS and of its reverse from exact draws on each: where nothing warns, which
// takes an effective sample size above 50, the truth is within two standard
// errors at least nine times in ten; below there is a warning.
func TestTenModels(t *testing.T) {
	const repeats = 100
	var trusted, inside, warned [2]int
	for k := range 10 {
		classes := 3 * min(1, k%3)
		m := rbm.New(11, 8, classes, []rbm.Kind{rbm.Softmax, rbm.Softmax, rbm.Bernoulli}[k%3])
		m.Randomize(0.3*math.Pow(10, float64(k)/9), rbm.NewKey(uint64(k)))
		want, err := m.LogZ(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := DefaultSettings()
		s.Annealing.Temperatures, s.Annealing.Pilot = 30, 20
		draw := drawer(m)
		for i := range uint64(repeats) {
			key := rbm.NewKey(uint64(k)).Child(i)
			up, err := m.AIS(t.Context(), s.Annealing, key.Child(0), nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Annealing.Path = up.Path // of the first run: the way is the same for all
			down, err := m.ReverseAIS(t.Context(), s.Annealing, draw(s.Annealing.Chains, key.Child(1)), key.Child(2), nil)
			if err != nil {
				t.Fatal(err)
			}
			for side, b := range []Bracket{{AIS: &up}, {Reverse: &down, RoundTrips: 1000}} {
				a := []rbm.Annealed{up, down}[side]
				switch words := strings.Join(s.warnings(b), "\n"); {
				case a.ESS <= 50 != strings.Contains(words, "are worth"):
					t.Errorf("model %d, run %d: an effective sample size of %.1f and the warnings %q", k, i, a.ESS, words)
				case a.ESS <= 50:
					warned[side]++
				default:
					trusted[side]++
					if math.Abs(a.LogZ-want) <= 2*a.StdErr {
						inside[side]++
					}
				}
			}
		}
	}
	for side, what := range []string{"AIS", "reverse AIS"} {
		t.Logf("%s: %d of %d within two standard errors, %d warnings", what, inside[side], trusted[side], warned[side])
		if trusted[side] < 300 || warned[side] < 100 {
			t.Errorf("%s: %d runs are trusted and %d warned of: one way is not tested", what, trusted[side], warned[side])
		}
		if float64(inside[side]) < 0.9*float64(trusted[side]) {
			t.Errorf("%s: %d of %d within two standard errors", what, inside[side], trusted[side])
		}
	}
}
