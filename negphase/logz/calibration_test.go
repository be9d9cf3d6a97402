package logz

import (
	"flag"
	"math"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/partition"
)

// states returns all visible states of m.
func states(m *rbm.RBM) rbm.Values {
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
	return all
}

// drawer returns a function that draws visible states from m, with a table of
// all states.
func drawer(m *rbm.RBM) func(rows int, key rbm.Key) rbm.Values {
	all := states(m)
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
	return func(rows int, key rbm.Key) rbm.Values {
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

// bimodal returns a model with two modes of equal weight that hardly overlap. In one mode the
// first hidden unit is off and the inputs are nearly fair coins. In the other it is on and
// nearly all inputs are on. A ladder crosses between the modes rarely.
func bimodal(inputs int, weight float64) *rbm.RBM {
	m := rbm.New(inputs, 4, 0, rbm.Softmax)
	m.Randomize(0.3, rbm.NewKey(1))
	w := rbm.NewMatrix(inputs, 4)
	m.Weights(w)
	for i := range inputs {
		w.Row(i)[0] = float32(weight)
		m.VisibleBias[i] = 0
	}
	m.SetWeights(w)
	m.HiddenBias[0] = float32(float64(inputs) * (math.Log(2) - math.Log1p(math.Exp(weight))))
	return m
}

// kinds returns models of all kinds.
func kinds(t *testing.T) []model {
	random := func(inputs, hidden, classes int, labels rbm.Kind, sd float64) *rbm.RBM {
		m := rbm.New(inputs+classes, hidden, classes, labels)
		m.Randomize(sd, rbm.NewKey(uint64(inputs+hidden)))
		return m
	}
	some, odd := random(12, 9, 0, rbm.Softmax, 1), random(10, 8, 3, rbm.Softmax, 1.5)
	some.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 3}
	odd.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 4}
	var all []model
	for _, c := range []struct {
		name string
		m    *rbm.RBM
		base bool
	}{
		{"tiny", random(2, 2, 0, rbm.Softmax, 2), false},
		{"flat", random(16, 8, 0, rbm.Softmax, 0.1), true},
		{"random", random(30, 8, 0, rbm.Softmax, 0.6), true},
		{"wide", random(8, 40, 0, rbm.Softmax, 0.5), false},
		{"softmax", random(12, 8, 4, rbm.Softmax, 1), true},
		{"bernoulli", random(12, 8, 4, rbm.Bernoulli, 1), true},
		{"sharp", random(16, 10, 0, rbm.Softmax, 3), false},
		{"sharp softmax", random(12, 8, 4, rbm.Softmax, 3), true},
		{"hidden=3", some, true},
		{"hidden=4 from a reference", odd, false},
		{"slow", bimodal(24, 2), false},
		{"slower", bimodal(24, 2.3), false},
	} {
		one := model{name: c.name, m: c.m}
		if c.base {
			one.base = rampBase(c.m)
		}
		var err error
		if one.want, err = exact.LogZ(t.Context(), c.m); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

var long = flag.Bool("long", false, "more runs of each estimator, a minute")

// The intervals LogZ ± 1.96·StdErr contain log Z in 90 to 99 % of the
// cases without a warning, with a tolerance of three binomial standard errors. More than half of all cases must be
// without a warning. For Student's t with ν = 9 degrees of freedom, to whose interval
// StdErr is widened, z² has mean (9/7)/1.154² = 0.97 and variance
// 5.3/1.154⁴ = 3.0; for normal errors both are less. The tolerance of the mean of z² is five standard errors.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	seeds := 3
	if *long {
		seeds = 9
	}
	methods := []Method{ByAIS, ByReverse, ByBennett}
	inside, n, squares := map[Method]int{}, map[Method]int{}, map[Method]float64{}
	all := kinds(t)
	for _, c := range all {
		for seed := range uint64(seeds) {
			s := DefaultSettings()
			s.Annealing.Temperatures, s.Annealing.Pilot, s.Annealing.Base = 100, 20, c.base
			s.BurnIn, s.Rounds, s.Longest = 150, 300, 0
			b, err := Estimate(t.Context(), c.m, s, rbm.NewKey(seed), nil)
			if err != nil {
				t.Fatal(err)
			}
			if most := float64(s.Groups * s.Rounds); !(b.Bennett.ESS > 0 && b.Bennett.ESS <= most) {
				t.Errorf("%s, seed %d: %v draws are worth %v", c.name, seed, most, b.Bennett.ESS)
			}
			for _, m := range methods {
				if b.Doubtful(m) {
					continue
				}
				x, e := b.estimate(m)
				logZ, stdErr := *x, *e
				n[m]++
				squares[m] += math.Pow((logZ-c.want)/stdErr, 2)
				if math.Abs(logZ-c.want) <= 1.96*stdErr {
					inside[m]++
				}
			}
		}
	}
	for _, m := range methods {
		n, inside := float64(n[m]), float64(inside[m])
		t.Logf("%s: %v of %v inside, mean z² %.2f, %v warned of", m.Name(), inside, n, squares[m]/n, float64(len(all)*seeds)-n)
		if 2*n < float64(len(all)*seeds) {
			t.Errorf("%s: %v of %d runs are without a warning", m.Name(), n, len(all)*seeds)
		}
		if low, high := 0.90-3*math.Sqrt(0.90*0.10/n), 0.99+3*math.Sqrt(0.99*0.01/n); inside < low*n || inside > high*n {
			t.Errorf("%s: %v of %v intervals of 95 %% hold the truth, want %v to %v", m.Name(), inside, n, low*n, high*n)
		}
		if z2 := squares[m] / n; z2 > 0.97+5*math.Sqrt(3.0/n) {
			t.Errorf("%s: mean z² is %.2f, want at most %.3g", m.Name(), z2, 0.97+5*math.Sqrt(3.0/n))
		}
	}
}

// The test has ten models with weights of standard deviations 0.3 to 3, with several runs of
// AIS and of its reverse from exact draws on each. With an effective sample size of 70 or more there is no warning,
// and log Z is within two standard errors in at least nine of ten cases. Below 70 there is a warning.
func TestTenModels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	repeats := 20
	if *long {
		repeats = 100
	}
	var trusted, inside, warned [2]int
	for k := range 10 {
		classes := 3 * min(1, k%3)
		m := rbm.New(11, 8, classes, []rbm.Kind{rbm.Softmax, rbm.Softmax, rbm.Bernoulli}[k%3])
		m.Randomize(0.3*math.Pow(10, float64(k)/9), rbm.NewKey(uint64(k)))
		want, err := exact.LogZ(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		s := DefaultSettings()
		s.Annealing.Temperatures, s.Annealing.Pilot = 30, 20
		draw := drawer(m)
		for i := range uint64(repeats) {
			key := rbm.NewKey(uint64(k)).Child(i)
			up, err := partition.AIS(t.Context(), m, s.Annealing, key.Child(0), nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Annealing.Path = up.Path // all runs have the path of the first
			down, err := partition.ReverseAIS(t.Context(), m, s.Annealing, draw(s.Annealing.Chains, key.Child(1)), key.Child(2), nil)
			if err != nil {
				t.Fatal(err)
			}
			for side, b := range []Bracket{{AIS: &up}, {Reverse: &down, RoundTrips: 1000}} {
				a := []partition.Annealed{up, down}[side]
				b.LowerBound = math.Inf(-1)
				s.check(&b)
				switch few := diag.Has(b.Warnings, FewWeightsLow) || diag.Has(b.Warnings, FewWeightsHigh); {
				case a.ESS < diag.LeastWeight*diag.LeastWeights != few:
					t.Errorf("model %d, run %d: an effective sample size of %.1f and the warnings %v", k, i, a.ESS, b.Warnings)
				case a.ESS < diag.LeastWeight*diag.LeastWeights:
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
		if trusted[side] < 3*repeats || warned[side] < repeats {
			t.Errorf("%s: %d runs are trusted and %d warned of: one way is not tested", what, trusted[side], warned[side])
		}
		if float64(inside[side]) < 0.9*float64(trusted[side]) {
			t.Errorf("%s: %d of %d within two standard errors, want at least %v", what, inside[side], trusted[side], 0.9*float64(trusted[side]))
		}
	}
}
