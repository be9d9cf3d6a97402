package train

import (
	"context"
	"flag"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/potts"
)

// pairs returns the connected correlations of two groups, ⟨xy⟩ − ⟨x⟩⟨y⟩, of all pairs of units
// of different groups over the rows of v.
func pairs(groups []rbm.Group, v rbm.Values) (c []float64) {
	n := v.Cols
	mean, both := make([]float64, n), make([]float64, n*n)
	for r := range v.Rows {
		var on []int
		v.Each(r, func(i int) { on = append(on, i) })
		for _, i := range on {
			mean[i]++
			for _, j := range on {
				both[i*n+j]++
			}
		}
	}
	rows := float64(v.Rows)
	first := 0
	for _, g := range groups {
		for i := first; i < first+g.Units; i++ {
			for j := first + g.Units; j < n; j++ {
				c = append(c, both[i*n+j]/rows-mean[i]/rows*mean[j]/rows)
			}
		}
		first += g.Units
	}
	return c
}

// sampled returns rows of m: its chains after a number of steps from rows of set.
func sampled(m *rbm.RBM, set *data.Set, rows, steps int) rbm.Values {
	s := rbm.NewStates(m, rows)
	numbers := make([]int32, rows)
	for r := range numbers {
		numbers[r] = int32(r % set.Len())
	}
	set.Visible(s.V, numbers, 0)
	mean := rbm.NewMatrix(rows, m.Hidden())
	m.HiddenMean(mean, s.V)
	m.HiddenSample(s.H, rbm.Batch{V: s.V, H: mean}, rbm.NewKey(5))
	m.Step(s, nil, steps, rbm.NewKey(6))
	return s.V
}

// states returns all states of six groups of three units.
func states() rbm.Values {
	v := rbm.NewBits(729, 18)
	for r := range v.Rows {
		for site, rest := 0, r; site < 6; site, rest = site+1, rest/3 {
			v.Set(r, 3*site+rest%3, true)
		}
	}
	return v
}

// knownGroups returns rows of a known model of six groups of three units, drawn from the listed
// states, and a set as large that is held out.
func knownGroups(rows int) (truth *rbm.RBM, sets [2]*data.Set) {
	var groups []rbm.Group
	for range 6 {
		groups = append(groups, rbm.Group{Kind: rbm.Softmax, Units: 3})
	}
	truth = rbm.NewGroups(4, groups...)
	truth.Randomize(1, rbm.NewKey(8))
	all := states()
	free := make([]float64, all.Rows)
	truth.FreeEnergy(free, all)
	upTo, sum := make([]float64, len(free)), 0.0
	for i, f := range free {
		sum += math.Exp(-f)
		upTo[i] = sum
	}
	for k := range sets {
		set := &data.Set{Name: "groups", X: rbm.NewBits(rows, 18), Groups: groups, Binarize: data.Binary, Height: 6, Width: 3}
		for r := range rows {
			i, _ := slices.BinarySearch(upTo, sum*rbm.NewKey(9).Child(uint64(k)).Uniform(uint64(r)))
			copy(set.X.Row(r), all.Row(i))
		}
		sets[k] = set
	}
	return truth, sets
}

// meanLogLikelihood returns the exact mean of log p over set.
func meanLogLikelihood(t *testing.T, m *rbm.RBM, set *data.Set) float64 {
	t.Helper()
	z, err := exact.LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	free := make([]float64, set.Len())
	m.FreeEnergy(free, set.X)
	return -stat.Mean(free, nil) - z
}

// Rows of a known model of groups are learned by every estimator: samples have the correlations
// of two sites of rows that were held out, and the likelihood is near that of the truth, closer
// than a tenth of the way from the model of independent sites.
func TestKnownGroups(t *testing.T) {
	truth, sets := knownGroups(10000)
	best := meanLogLikelihood(t, truth, sets[1])
	want := pairs(sets[1].Groups, sets[1].X)
	for _, kind := range []string{"exact", "cd:k=5", "pcd:chains=100", "pt:chains=50:tau=1/1.3/1.7", "ins:chains=50:tau=1/1.3/1.7", "pins:chains=50:tau=1/1.3/1.7:block=2", "ptt:chains=100"} {
		s := settingsOf(t, kind)
		s.Rate, s.Batch, s.Schedule, s.Horizon, s.Center = 0.2, 100, "linear", 2500, 0.01
		m := NewModel(sets[0], 8, false, rbm.Softmax, 1)
		SetLogOdds(m, sets[0])
		start := meanLogLikelihood(t, m, sets[1])
		apart := stat.Correlation(pairs(sets[1].Groups, sampled(m, sets[1], 10000, 50)), want, nil)
		tr, err := New(s, sets[0], m)
		if err != nil {
			t.Fatal(err)
		}
		run(t, tr, s.Horizon)
		got := meanLogLikelihood(t, m, sets[1])
		r := stat.Correlation(pairs(sets[1].Groups, sampled(m, sets[1], 10000, 50)), want, nil)
		t.Logf("%s: log-likelihood %.4f of %.4f, independent sites %.4f; Pearson %.4f, independent sites %.3f", kind, got, best, start, r, apart)
		if r < 0.98 || apart > 0.5 {
			t.Errorf("%s: correlations of two sites have Pearson %.4f with those held out; independent sites have %.3f", kind, r, apart)
		}
		if best-got > 0.1*(best-start) {
			t.Errorf("%s: log-likelihood %.4f, that of the truth %.4f, of independent sites %.4f", kind, got, best, start)
		}
	}
}

// A family of sequences of a known Potts model: 60 sites of 21 states, 10⁴ rows and 10⁵ held
// out, which are compared with 10⁵ samples. Most pairs do not touch, and their correlations in the training rows are
// mostly noise: they have a Pearson of 0.85 with those held out. The models are no worse than these rows, for
// all pairs, and near to those held out for the sites that touch. Their effective couplings find these sites.
func TestKnownFamily(t *testing.T) {
	if !*long {
		t.Skip("trains for minutes, with -long")
	}
	set, _, err := data.Load(context.Background(), "sequences:110000", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	training, held := set.Take(data.RowNumbers(0, 10000)), set.Take(data.RowNumbers(10000, 110000))
	want, noise := pairs(set.Groups, held.X), pairs(set.Groups, training.X)
	touch := make([]bool, 0, len(want))
	first := 0
	contact := map[[2]int]bool{}
	for _, c := range set.Contacts {
		contact[c] = true
	}
	site := make([]int, set.X.Cols)
	for k, g := range set.Groups {
		for i := range g.Units {
			site[first+i] = k
		}
		first += g.Units
	}
	for i := range site {
		for j := i + 1; j < len(site); j++ {
			if site[i] != site[j] {
				touch = append(touch, contact[[2]int{site[i], site[j]}])
			}
		}
	}
	of := func(c []float64) (some []float64) {
		for k, x := range c {
			if touch[k] {
				some = append(some, x)
			}
		}
		return some
	}
	limit, limitOfAll := stat.Correlation(of(noise), of(want), nil), stat.Correlation(noise, want, nil)
	for _, kind := range []string{"pcd:chains=100", "pt:chains=50:tau=1/1.1/1.2", "ins:chains=50:tau=1/1.1/1.2", "ptt:chains=100"} {
		s := settingsOf(t, kind)
		s.Rate, s.Batch, s.Schedule, s.Horizon, s.Center = 0.2, 100, "linear", 10000, 0.01
		m := NewModel(training, 200, false, rbm.Softmax, 1)
		SetLogOdds(m, training)
		tr, err := New(s, training, m)
		if err != nil {
			t.Fatal(err)
		}
		run(t, tr, s.Horizon)
		got := pairs(set.Groups, sampled(m, training, 100000, 50))
		r := stat.Correlation(of(got), of(want), nil)
		all := stat.Correlation(got, want, nil)
		t.Logf("%s: Pearson %.4f of sites that touch (training rows %.4f), %.4f of all pairs (training rows %.4f); %v", kind, r, limit, all, limitOfAll, tr.Elapsed())
		p, err := potts.Effective(context.Background(), m, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := 0 // of the 28 contacts of sites that are four or more apart
		for _, pair := range p.Frobenius(1).Corrected().Ranked(4)[:30] {
			if contact[pair] {
				found++
			}
		}
		if found < 28 {
			t.Errorf("%s: %d of the 30 pairs of the largest scores touch, want 28", kind, found)
		}
		if all < limitOfAll {
			t.Errorf("%s: correlations of all pairs have Pearson %.4f with those held out, those of training rows %.4f", kind, all, limitOfAll)
		}
		if r < 0.98 {
			t.Errorf("%s: correlations of sites that touch have Pearson %.4f with those held out", kind, r)
		}
	}
}

var long = flag.Bool("long", false, "train on a family of sequences, a minute or more")
