package logz

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/partition"
)

func annealed(logZ, stdErr, ess float64) *partition.Annealed {
	return &partition.Annealed{LogZ: logZ, StdErr: stdErr, ESS: ess, CESS: 0.9, LogWeights: make([]float64, 100), Path: []float64{0, 1}}
}

// The warnings for given estimates, the methods that they are about, and the best estimate.
func TestWarnings(t *testing.T) {
	ratio := func(logZ, stdErr, ess float64) *Ratio {
		return &Ratio{LogZ: logZ, StdErr: stdErr, ESS: ess, Overlap: 0.5, Groups: 10}
	}
	many := func(ess float64) *partition.Annealed {
		return &partition.Annealed{LogZ: 10, StdErr: 0.1, ESS: ess, LogWeights: make([]float64, 400)}
	}
	few := &partition.Annealed{LogZ: 10, StdErr: 0.1, ESS: 60, LogWeights: make([]float64, 60)}
	none := math.Inf(-1)
	for name, c := range map[string]struct {
		ais, reverse *partition.Annealed
		bennett      *Ratio
		bound        float64
		trips        int64
		want         []string
		by           Method
	}{
		"sound":               {annealed(10, 0.1, 70), annealed(10.2, 0.1, 70), ratio(10.1, 0.1, 400), none, 100, nil, ByBennett},
		"reversed by chance":  {annealed(10.3, 0.1, 70), annealed(10, 0.1, 70), ratio(10.1, 0.1, 400), none, 100, nil, ByBennett},
		"AIS is a bound":      {annealed(10, 0.1, 69), annealed(10.2, 0.1, 70), ratio(10.1, 0.1, 400), none, 100, nil, ByBennett},
		"reverse is a bound":  {annealed(10, 0.1, 70), annealed(10.2, 0.1, 69), ratio(10.1, 0.1, 400), none, 100, nil, ByBennett},
		"both are far bounds": {annealed(5, 0.1, 2), annealed(15, 0.1, 2), ratio(10.1, 0.1, 400), none, 100, nil, ByBennett},
		"AIS in few weights":  {annealed(10, 0.1, 69), annealed(10.2, 0.1, 70), nil, none, 100, []string{"AIS few_weights_low"}, ByAIS},
		"reverse in few":      {annealed(10, 0.1, 70), annealed(10.2, 0.1, 69), nil, none, 100, []string{"reverse AIS few_weights_high"}, ByAIS},
		"AIS above, in few":   {annealed(10.5, 0.1, 69), nil, ratio(10, 0.1, 400), none, 100, []string{"AIS few_weights_low", "Bennett disagree_bennett_below_ais"}, ByAIS},
		"reverse below":       {nil, annealed(9.6, 0.1, 69), ratio(10, 0.1, 400), none, 100, []string{"reverse AIS few_weights_high"}, ByBennett},
		"no bound, ratio low": {annealed(10.5, 0.1, 70), annealed(12, 0.1, 2), ratio(10, 0.1, 400), none, 100, []string{"reverse AIS few_weights_high", "Bennett disagree_bennett_below_ais", "AIS, reverse AIS disagree_ais_below_reverse_ais"}, ByAIS},
		"all in doubt":        {annealed(9, 0.1, 1), annealed(12, 0.1, 3.4), ratio(10, 0.1, 104), none, 11, []string{"Bennett, reverse AIS few_trips", "AIS few_weights_low", "reverse AIS few_weights_high"}, ByBennett},
		"ratio is doubtful":   {annealed(10, 0.1, 69), nil, ratio(10.1, 0.1, 399), none, 100, []string{"Bennett few_draws", "AIS few_weights_low"}, ByBennett},
		"few of many":         {many(279), nil, nil, none, 0, []string{"AIS few_weights_low"}, ByAIS},
		"enough of many":      {many(280), nil, nil, none, 0, nil, ByAIS},
		"few chains":          {few, nil, nil, none, 0, []string{"AIS few_weights_low"}, ByAIS},
		"apart":               {annealed(10, 0.1, 70), annealed(11.1, 0.1, 70), nil, none, 100, []string{"AIS, reverse AIS disagree_ais_below_reverse_ais"}, ByAIS},
		"reverse above ratio": {nil, annealed(10.6, 0.1, 70), ratio(10.1, 0.1, 400), none, 100, []string{"reverse AIS disagree_bennett_below_reverse_ais"}, ByBennett},
		"ratio above reverse": {nil, annealed(10.2, 0.1, 70), ratio(10.9, 0.1, 400), none, 100, []string{"Bennett, reverse AIS disagree_reverse_ais_below_bennett"}, ByBennett},
		"ratio above AIS":     {annealed(10, 0.1, 70), nil, ratio(11.1, 0.1, 400), none, 100, []string{"AIS disagree_ais_below_bennett"}, ByBennett},
		"upper below lower":   {annealed(10.5, 0.1, 70), annealed(10, 0.1, 70), ratio(10.4, 0.1, 400), none, 100, []string{"reverse AIS disagree_reverse_ais_below_ais"}, ByBennett},
		"ratio below AIS":     {annealed(10.5, 0.1, 70), nil, ratio(10, 0.1, 400), none, 100, []string{"Bennett disagree_bennett_below_ais"}, ByAIS},
		"no overlap":          {annealed(10, 0.1, 70), nil, &Ratio{LogZ: math.NaN(), Overlap: 0.002}, none, 100, []string{"Bennett no_overlap"}, ByAIS},
		"few trips":           {annealed(10, 0.1, 70), annealed(10, 0.1, 70), ratio(10.1, 0.1, 400), none, 99, []string{"Bennett, reverse AIS few_trips"}, ByBennett},
		"few trips, reverse":  {annealed(10, 0.1, 70), annealed(10, 0.1, 70), nil, none, 99, []string{"reverse AIS few_trips"}, ByAIS},
		"few draws":           {annealed(10, 0.1, 70), annealed(10, 0.1, 70), ratio(10.1, 0.1, 399), none, 100, []string{"Bennett, reverse AIS few_draws"}, ByBennett},
		"AIS needs no ladder": {annealed(10, 0.1, 70), nil, nil, none, 0, nil, ByAIS},
		"reverse alone":       {nil, annealed(10, 0.1, 70), nil, none, 100, nil, ByReverse},
		"no number, reverse":  {nil, annealed(10, 0.1, 70), &Ratio{LogZ: math.NaN()}, none, 100, []string{"Bennett no_overlap"}, ByReverse},
		"nothing":             {nil, nil, &Ratio{LogZ: math.NaN()}, none, 100, []string{"Bennett no_overlap"}, ""},

		"at the bound":         {annealed(10, 0.1, 70), nil, nil, 10, 0, nil, ByAIS},
		"raised":               {annealed(9.81, 0.1, 70), nil, nil, 10, 0, nil, ByAIS},
		"all raised":           {annealed(9.9, 0.1, 70), annealed(9.85, 0.1, 70), ratio(9.99, 0.1, 400), 10, 100, nil, ByBennett},
		"too low to be raised": {annealed(9.8, 0.1, 70), nil, nil, 10, 0, []string{"AIS impossible"}, ""},
		"doubtful, not raised": {annealed(9.9, 0.1, 69), nil, nil, 10, 0, []string{"AIS impossible"}, ""},
		"AIS impossible":       {annealed(9, 0.1, 70), nil, ratio(10.1, 0.1, 400), 10, 100, []string{"AIS impossible"}, ByBennett},
		"Bennett impossible":   {annealed(10.1, 0.1, 70), nil, ratio(9, 0.1, 400), 10, 100, []string{"Bennett impossible"}, ByAIS},
		"both impossible":      {annealed(9, 0.1, 70), annealed(10.1, 0.1, 70), ratio(9.1, 0.1, 400), 10, 99, []string{"AIS, Bennett impossible", "reverse AIS same_chains", "reverse AIS few_trips"}, ""},
		"all impossible":       {annealed(9, 0.1, 1), annealed(9.2, 0.1, 2), ratio(9.1, 0.1, 3), 10, 4, []string{"AIS, reverse AIS, Bennett impossible"}, ""},
		"reverse remains":      {annealed(9, 0.1, 70), annealed(10.1, 0.1, 70), nil, 10, 100, []string{"AIS impossible"}, ByReverse},
		"reverse impossible":   {nil, annealed(9, 0.1, 70), nil, 10, 100, []string{"reverse AIS impossible"}, ""},
	} {
		b := Bracket{AIS: c.ais, Reverse: c.reverse, Bennett: c.bennett, LowerBound: c.bound, RoundTrips: c.trips}
		DefaultSettings().check(&b)
		var got []string
		doubtful := map[string]bool{}
		for _, w := range b.Warnings {
			got = append(got, strings.Join(w.Of, ", ")+" "+string(w.Kind))
			for _, name := range w.Of {
				doubtful[name] = true
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: warnings %q, want %q", name, got, c.want)
		}
		for _, m := range []Method{ByAIS, ByReverse, ByBennett} {
			if b.Doubtful(m) != doubtful[m.Name()] {
				t.Errorf("%s: %s is doubtful: %v, want %v", name, m.Name(), b.Doubtful(m), doubtful[m.Name()])
			}
		}
		for m, is := range map[Method]bool{ByAIS: name == "AIS is a bound" || name == "both are far bounds", ByReverse: name == "reverse is a bound" || name == "both are far bounds", ByBennett: false} {
			if b.Bound(m) != is {
				t.Errorf("%s: %s is a bound: %v, want %v", name, m.Name(), b.Bound(m), is)
			}
		}
		logZ, _, by := b.Best()
		if by != c.by || math.IsNaN(logZ) != (by == "") || logZ < c.bound {
			t.Errorf("%s: best is %v by %q, want by %q", name, logZ, by, c.by)
		}
		if raised := strings.Contains(name, "raised") && c.by != ""; raised != (len(b.Raised) > 0) || raised && logZ != c.bound {
			t.Errorf("%s: %v are raised, the best is %v", name, b.Raised, logZ)
		}
	}
}

// Copies of a row within a group do not reduce the error; independent
// rows have the usual error.
func TestGroupedStdErr(t *testing.T) {
	r := rbm.NewKey(3).Rand()
	const groups, rows = 40, 25
	one, copies, free := make([]float64, groups), []float64{}, make([]float64, groups*rows)
	for g := range one {
		one[g] = 1000 + 0.3*r.NormFloat64() // the weights themselves would overflow
	}
	for range rows {
		copies = append(copies, one...)
	}
	for i := range free {
		free[i] = 0.3 * r.NormFloat64()
	}
	alone, copied := groupedStdErr(one, groups), groupedStdErr(copies, groups)
	if math.Abs(copied-alone) > 1e-12 {
		t.Errorf("copies have the error %v, their originals %v", copied, alone)
	}
	// The variance of a log-normal weight is e^{s²} − 1 times its squared mean. A
	// standard error from 40 groups has a relative error of 1/√(2·39). The tolerance is five times
	// this.
	want := math.Sqrt((math.Exp(0.09) - 1) / (groups * rows))
	if got := groupedStdErr(free, groups); math.Abs(got/want-1) > 5/math.Sqrt(2*39) {
		t.Errorf("error %v, want %v", got, want)
	}
	if broken := groupedStdErr(copies, groups*rows); math.Abs(broken/alone-1) < 0.5 {
		t.Errorf("rows taken as independent have the error %v: the test is blind", broken)
	}
}

// In tables the 97.5 % quantile of Student's t is 12.706 with one degree of
// freedom, 2.2622 with nine and 1.9842 with 99; that of the normal distribution is 1.95996.
func TestWidened(t *testing.T) {
	for n, want := range map[int]float64{2: 12.706 / 1.95996, 10: 2.2622 / 1.95996, 100: 1.9842 / 1.95996, 1: math.Inf(1)} {
		if got := widened(1, n); got != want && math.Abs(got/want-1) > 5e-5 { // the last digit of the tables
			t.Errorf("of %d values: %v times as wide, want %v", n, got, want)
		}
	}
	s := DefaultSettings()
	if got := s.stdErr(0.1, 0.5); got != 0.5 {
		t.Errorf("groups that agree by luck have the error %v, independent draws 0.5", got)
	}
	if got := s.stdErr(0.5, 0.1); got != widened(0.5, 10) {
		t.Errorf("groups that differ have the error %v", got)
	}
}

// If each draw is repeated four times, the effective size and the error do not change. For a flat model the effective
// size is the number of draws.
func TestWorthOfDraws(t *testing.T) {
	m, s := bimodal(24, 2), small(nil)
	d, err := s.runLadder(t.Context(), m, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	four := d
	four.excess = nil
	for _, x := range d.excess {
		n, copies := len(x)/s.Groups, []float64{}
		for g := range s.Groups {
			one := x[g*n : (g+1)*n]
			copies = slices.Concat(copies, one, one, one, one)
		}
		four.excess = append(four.excess, copies)
	}
	once, err := s.bennett(m, d)
	if err != nil {
		t.Fatal(err)
	}
	often, err := s.bennett(m, four)
	if err != nil {
		t.Fatal(err)
	}
	if !(once.ESS < 0.7*float64(len(d.excess[0]))) || math.Abs(often.ESS/once.ESS-1) > 1e-6 || math.Abs(often.StdErr/once.StdErr-1) > 1e-6 {
		t.Errorf("draws: %+v, four times over: %+v", once, often)
	}
	flat := rbm.New(6, 4, 0, rbm.Softmax)
	flat.Randomize(1e-9, rbm.NewKey(1)) // the statistical error is below the rounding error
	if d, err = s.runLadder(t.Context(), flat, rbm.NewKey(1), nil); err != nil {
		t.Fatal(err)
	}
	if r, err := s.bennett(flat, d); err != nil || r.ESS != float64(len(d.excess[0])) || r.StdErr > rounding {
		t.Errorf("flat: %+v, %v", r, err)
	}
}

// A ladder stops if it cannot make its round trips within its rounds, even at the highest rate that the
// counted ones allow.
func TestHopeless(t *testing.T) {
	s := DefaultSettings() // 10 ladders, so that 100 round trips are wanted; a third of the rounds is burn-in
	for _, c := range []struct {
		trips, sampled int64
		longest        int
		want           bool
	}{
		{100, 2000, 3000, false},
		{0, 2000, 96_000, true}, // 3 at most in 2000 rounds: 100 take 66,667 of 64,000
		{0, 2000, 102_000, false},
		{25, 2000, 9000, false}, // 38 at most: 5263 of 6000
		{16, 2000, 9000, true},  // 27 at most: 7407 of 6000
	} {
		w := s.hopeless(draws{trips: c.trips, sampled: int(c.sampled)}, c.longest)
		if (w != nil) != c.want {
			t.Errorf("%+v: got %v", c, w)
		}
	}
}
