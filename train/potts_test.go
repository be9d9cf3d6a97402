package train

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/potts"
)

// pairs returns the frequencies ⟨xy⟩ and the connected correlations ⟨xy⟩ − ⟨x⟩⟨y⟩ over the rows of v, for
// all pairs of units of different groups.
func pairs(groups []rbm.Group, v rbm.Values) (f, c []float64) {
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
				f = append(f, both[i*n+j]/rows)
				c = append(c, both[i*n+j]/rows-mean[i]/rows*mean[j]/rows)
			}
		}
		first += g.Units
	}
	return f, c
}

// sampled returns samples of m: chains that start at rows of set, after the given number of steps.
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

// knownGroups returns a known model of six groups of three units, with a training set drawn from its states
// and a held-out set of the same size.
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

// Every estimator learns rows of a known model of groups. Correlations of pairs of sites agree between
// samples and held-out rows. The likelihood is near that of the known model: at most a tenth of the gap to
// the model of independent sites is left.
func TestKnownGroups(t *testing.T) {
	truth, sets := knownGroups(10000)
	best := meanLogLikelihood(t, truth, sets[1])
	_, want := pairs(sets[1].Groups, sets[1].X)
	for _, kind := range []string{"exact", "cd:k=5", "pcd:chains=100", "pt:chains=50:tau=1/1.3/1.7", "ins:chains=50:tau=1/1.3/1.7", "pins:chains=50:tau=1/1.3/1.7:block=2", "ptt:chains=100"} {
		s := settingsOf(t, kind)
		s.Rate, s.Batch, s.Schedule, s.Horizon, s.Center = 0.2, 100, "linear", 2500, 0.01
		m := NewModel(sets[0], 8, false, rbm.Softmax, 1)
		SetLogOdds(m, sets[0])
		start := meanLogLikelihood(t, m, sets[1])
		_, c := pairs(sets[1].Groups, sampled(m, sets[1], 10000, 50))
		apart := stat.Correlation(c, want, nil)
		tr, err := New(s, sets[0], m)
		if err != nil {
			t.Fatal(err)
		}
		run(t, tr, s.Horizon)
		got := meanLogLikelihood(t, m, sets[1])
		_, c = pairs(sets[1].Groups, sampled(m, sets[1], 10000, 50))
		r := stat.Correlation(c, want, nil)
		t.Logf("%s: log-likelihood %.4f of %.4f, independent sites %.4f; Pearson %.4f, independent sites %.3f", kind, got, best, start, r, apart)
		if r < 0.98 || apart > 0.5 {
			t.Errorf("%s: correlations of two sites have Pearson %.4f with those held out; independent sites have %.3f", kind, r, apart)
		}
		if best-got > 0.1*(best-start) {
			t.Errorf("%s: log-likelihood %.4f, that of the truth %.4f, of independent sites %.4f", kind, got, best, start)
		}
	}
}

// Training on a generated family: sequences of a known Potts model, 60 sites of 21 states, with 10⁴
// training rows and 3·10⁵ held-out rows. 10⁵ samples of each model are compared with the held-out rows by
// two statistics of all pairs of letters.
//
// The frequencies f(a,b) have a Pearson correlation above 0.98. A model of independent sites has that too,
// because frequencies of single letters dominate. The connected correlations f(a,b) − f(a)f(b) exceed 0.98
// for sites in contact. Most other sites hardly depend on each other, and 10⁴ rows do not determine their
// correlations. Over all pairs even 10⁵ rows of the family have less than 0.98: the models are no worse
// than the training rows. The effective couplings find the sites in contact.
func TestKnownFamily(t *testing.T) {
	if !*long {
		t.Skip("trains for minutes, with -long")
	}
	const rows, samples, heldOut = 10_000, 100_000, 300_000
	set, _, err := data.Load(context.Background(), fmt.Sprintf("sequences:%d", rows+samples+heldOut), data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	training, fresh, held := set.Take(data.RowNumbers(0, rows)), set.Take(data.RowNumbers(rows, rows+samples)), set.Take(data.RowNumbers(rows+samples, set.Len()))
	touch := []int{} // indices of the pairs of units of sites in contact
	contact := map[[2]int]bool{}
	for _, c := range set.Contacts {
		contact[c] = true
	}
	site := make([]int, 0, set.X.Cols)
	for k, g := range set.Groups {
		for range g.Units {
			site = append(site, k)
		}
	}
	pair := 0
	for i := range site {
		for j := i + 1; j < len(site); j++ {
			if site[i] == site[j] {
				continue
			}
			if contact[[2]int{site[i], site[j]}] {
				touch = append(touch, pair)
			}
			pair++
		}
	}
	wantF, wantC := pairs(set.Groups, held.X)
	touching := func(c []float64) (some []float64) {
		for _, k := range touch {
			some = append(some, c[k])
		}
		return some
	}
	// compare returns the Pearson correlations with the held-out rows: of frequencies, of connected
	// correlations, and of the latter for sites in contact.
	compare := func(v rbm.Values) (all, connected, near float64) {
		f, c := pairs(set.Groups, v)
		return stat.Correlation(f, wantF, nil), stat.Correlation(c, wantC, nil), stat.Correlation(touching(c), touching(wantC), nil)
	}
	limitF, limitC, limitNear := compare(training.X)
	t.Logf("training rows: Pearson %.4f of frequencies, %.4f of connected correlations, %.4f of these where sites touch", limitF, limitC, limitNear)
	f, c, near := compare(fresh.X)
	t.Logf("as many other rows as there are samples: %.4f, %.4f, %.4f", f, c, near)
	trained := func(kind string, steps int) *rbm.RBM {
		s := settingsOf(t, kind)
		s.Rate, s.Batch, s.Schedule, s.Horizon, s.Center = 0.2, 100, "linear", max(steps, 1), 0.01
		m := NewModel(training, 200, false, rbm.Softmax, 1)
		SetLogOdds(m, training)
		tr, err := New(s, training, m)
		if err != nil {
			t.Fatal(err)
		}
		run(t, tr, steps)
		return m
	}
	apart, c, near := compare(sampled(trained("pcd", 0), training, samples, 5))
	t.Logf("independent sites: %.4f, %.4f, %.4f", apart, c, near)
	good := func(f, c, near float64) bool { return f >= 0.98 && f > apart && c >= limitC && near >= 0.98 }
	if c >= limitC || near >= 0.98 {
		t.Errorf("independent sites have Pearson %.4f of connected correlations, %.4f where sites touch", c, near)
	}
	for _, kind := range []string{"pcd:chains=100", "pt:chains=50:tau=1/1.1/1.2", "ins:chains=50:tau=1/1.1/1.2", "ptt:chains=100"} {
		name, _, _ := strings.Cut(kind, ":")
		t.Run(name, func(t *testing.T) {
			m := trained(kind, 10000)
			f, c, near := compare(sampled(m, training, samples, 20)) // six times as many steps as τ
			t.Logf("%s: Pearson %.4f of frequencies, %.4f of connected correlations, %.4f of these where sites touch", kind, f, c, near)
			if !good(f, c, near) {
				t.Errorf("want 0.98 of frequencies, %.4f of connected correlations, 0.98 where sites touch", limitC)
			}
			p, err := potts.Effective(context.Background(), m, nil)
			if err != nil {
				t.Fatal(err)
			}
			found := 0 // contacts found, of the 28 between sites that are four or more apart
			for _, pair := range p.Frobenius(1).Corrected().Ranked(4)[:30] {
				if contact[pair] {
					found++
				}
			}
			if found < 28 {
				t.Errorf("%d of the 30 pairs of the largest scores touch, want 28", found)
			}
		})
	}
}

var long = flag.Bool("long", false, "train on a family of sequences, a minute or more")
