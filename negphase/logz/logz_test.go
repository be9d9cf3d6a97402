package logz

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/partition"
)

// A model is a small model with the base of its path.
type model struct {
	name string
	m    *rbm.RBM
	base *rbm.Base
	want float64 // log Z by enumeration
}

// models returns models with weights of standard deviations 0.3 to 3, with and without labels
// and a base.
func models(t *testing.T) []model {
	t.Helper()
	var all []model
	for i, c := range []struct {
		name    string
		sd      float64
		classes int
		labels  rbm.Kind
		base    bool
	}{
		{"flat", 0.3, 0, rbm.Softmax, false},
		{"plain", 1, 0, rbm.Softmax, true},
		{"softmax", 1, 4, rbm.Softmax, true},
		{"bernoulli", 1, 4, rbm.Bernoulli, true},
		{"sharp softmax", 3, 4, rbm.Softmax, false},
		{"sharp", 3, 0, rbm.Softmax, true},
	} {
		m := rbm.New(16, 8, c.classes, c.labels)
		m.Randomize(c.sd, rbm.NewKey(uint64(i)))
		one := model{name: c.name, m: m}
		if c.base {
			one.base = rampBase(m)
		}
		var err error
		if one.want, err = exact.LogZ(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// rampBase returns the base for data whose means increase from unit to unit.
func rampBase(m *rbm.RBM) *rbm.Base {
	mean := make([]float32, m.Visible())
	for i := range mean {
		mean[i] = float32(i+1) / float32(len(mean)+1)
	}
	return rbm.NewBase(m, mean, 1000)
}

// small returns settings that take some hundredths of a second for such models.
func small(base *rbm.Base) Settings {
	s := DefaultSettings()
	s.Annealing.Temperatures, s.Annealing.Base = 200, base
	s.BurnIn, s.Rounds, s.Longest = 300, 300, 0
	return s
}

// Broken versions: if the draws are not those of their
// temperatures, the estimates must differ from log Z by many standard errors.
func TestBrokenDraws(t *testing.T) {
	c := models(t)[5] // strong weights
	s := small(c.base)
	far := func(what string, logZ, stdErr float64) {
		t.Helper()
		if z := (logZ - c.want) / stdErr; math.Abs(z) < 6 {
			t.Errorf("%s: %v ± %v cannot be distinguished from %v", what, logZ, stdErr, c.want)
		}
	}
	d, err := s.runLadder(t.Context(), c.m, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	// Broken: the energies at each temperature are those at the next higher one.
	warmer := d
	warmer.excess = append(append([][]float64{}, d.excess[1:]...), d.excess[len(d.excess)-1])
	r, err := s.bennett(c.m, warmer)
	if err != nil {
		t.Fatal(err)
	}
	far("energies of the wrong temperature", r.LogZ, r.StdErr)
	// Broken: reverse AIS from draws of the base instead of the model.
	hot := rbm.NewBits(d.start.Rows, d.start.Cols)
	c.base.Draw(c.m, hot, rbm.NewBits(hot.Rows, c.m.Hidden()), rbm.NewKey(1))
	a, err := partition.ReverseAIS(t.Context(), c.m, s.Annealing, hot, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	far("rows of the base", a.LogZ, groupedStdErr(a.LogWeights, s.Groups))
	// With the right draws the estimate is right.
	a, err = partition.ReverseAIS(t.Context(), c.m, s.Annealing, d.start, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if z := (a.LogZ - c.want) / groupedStdErr(a.LogWeights, s.Groups); math.Abs(z) > 6 {
		t.Errorf("rows of the model: z = %v", z)
	}
}

// The estimates from a ladder that is too coarse and too short for the model, so that chains do not
// exchange, have warnings.
func TestPoorEstimatesSaySo(t *testing.T) {
	m := rbm.New(60, 30, 0, rbm.Softmax)
	m.Randomize(4, rbm.NewKey(1))
	s := small(nil)
	s.Annealing.Temperatures, s.Annealing.Chains = 4, 30
	s.BurnIn, s.Rounds = 4, 6
	b, err := Estimate(t.Context(), m, s, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []diag.Kind{FewWeightsLow, FewWeightsHigh, NoOverlap, diag.FewTrips} {
		if !diag.Has(b.Warnings, kind) {
			t.Errorf("there is no warning %s: %v", kind, b.Warnings)
		}
	}
}

func TestDeterminismGOMAXPROCS(t *testing.T) {
	c := models(t)[2]
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first Bracket
	for i, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		calls := map[string]float64{}
		b, err := Estimate(t.Context(), c.m, small(c.base), rbm.NewKey(3), func(stage string, done float64) {
			if done < calls[stage] || done > 1 {
				t.Errorf("%s goes from %v to %v", stage, calls[stage], done)
			}
			calls[stage] = done
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range []string{Annealing, Ladder, Reversing} {
			if calls[stage] != 1 {
				t.Errorf("%s ends at %v", stage, calls[stage])
			}
		}
		if i == 0 {
			first = b
		} else if d := cmp.Diff(first, b); d != "" {
			t.Errorf("at %d processors: %s", procs, d)
		}
	}
}

// A counted ladder is a fake whose state in each round is the number of the round, in bits.
type counted struct {
	negphase.Tempered
}

func (counted) Ladder() negphase.Ladder { return negphase.Ladder{Beta: []float64{1, 0}} }
func (counted) Excess([]float64)        {}

// The states of one group from which reverse AIS starts are equally spaced in rounds, up to rounding to whole
// rounds. The first is one such distance after the burn-in, and the last is from the last round. The first rounds, or
// the first round of each part, would be nearer to the start of the chains.
func TestReverseStartsAreSpread(t *testing.T) {
	m := rbm.New(8, 2, 0, rbm.Softmax)
	for _, c := range []struct{ groups, rows, first, rounds, most int }{{2, 3, 0, 10, 100}, {3, 3, 0, 100, 100}, {2, 10, 0, 10, 100}, {4, 1, 0, 7, 9}, {2, 10, 85, 256, 20}} {
		kept := records{groups: c.groups, rows: c.rows, energies: record[particles]{every: 1, most: c.most}, states: record[rbm.Values]{every: 1, most: c.most}}
		for round := range c.rounds {
			v, weight := rbm.NewBits(2*c.groups, 8), make([]float32, 2*c.groups)
			for r := range v.Rows {
				for i := range 8 {
					v.Set(r, i, round>>i&1 == 1)
				}
				weight[r] = float32(1 - r%2) // the second particle of a group is hot
			}
			kept.add(counted{}, m, round, rbm.Phase{Batch: rbm.Batch{V: v, Weight: weight}})
		}
		d := kept.draws(c.first)
		if d.start.Rows != c.rows*c.groups {
			t.Fatalf("%+v: %d rows, want %d", c, d.start.Rows, c.rows*c.groups)
		}
		if n := len(d.excess[0]); n%c.groups != 0 || n > 2*c.most*c.groups || n < min(c.most/2, c.rounds)*c.groups {
			t.Errorf("%+v: %d draws at a temperature", c, n)
		}
		for group := range c.groups {
			before := c.first - 1 // the last round of the burn-in
			for k := range c.rows {
				at := 0
				for i := range 8 {
					if d.start.Get(k*c.groups+group, i) {
						at |= 1 << i
					}
				}
				n := (c.rounds - c.first) / c.rows
				if apart := at - before; apart < n-2*kept.states.every || apart > n+2*kept.states.every {
					t.Errorf("%+v: row %d of group %d is of round %d, %d after the one before", c, k, group, at, apart)
				}
				before = at
			}
			if before < c.rounds-kept.states.every {
				t.Errorf("%+v: the last row of group %d is of round %d", c, group, before)
			}
		}
	}
}

// A ladder that may run longer does so until its draws are enough, and reports its rounds. A ladder
// that may not has the warnings of a short ladder.
func TestLadderRunsLonger(t *testing.T) {
	c := kinds(t)[10] // a slow model
	s := small(c.base)
	s.AIS, s.Reverse, s.BurnIn, s.Rounds = false, false, 20, 40
	short, err := Estimate(t.Context(), c.m, s, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if short.Rounds != 60 || !short.Doubtful(ByBennett) {
		t.Errorf("%d rounds, doubtful %v; want 60 and a warning", short.Rounds, short.Doubtful(ByBennett))
	}
	s.Longest = 100_000
	// The progress of each stage, including the doublings, rises from 0 to 1.
	var stages []string
	last := 0.0
	long, err := Estimate(t.Context(), c.m, s, rbm.NewKey(1), func(stage string, done float64) {
		if len(stages) == 0 || stage != stages[len(stages)-1] {
			if last != 1 && len(stages) > 0 || done > 0.1 {
				t.Errorf("%s begins at %v after %v of %q", stage, done, last, stages)
			}
			stages, last = append(stages, stage), 0
		}
		if done < last || done > 1 {
			t.Errorf("%s: %v after %v", stage, done, last)
		}
		last = done
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + bits.Len(uint(long.Rounds/60)) - 1; last != 1 || len(stages) != want || stages[1] != "tempered chains, doubled to 120 rounds" {
		t.Errorf("stages %q end at %v; want %d", stages, last, want)
	}
	logZ, stdErr, _ := long.Best()
	if long.Doubtful(ByBennett) || long.Rounds <= 60 || long.Rounds%60 != 0 || stdErr > wantedError {
		t.Errorf("%d rounds: ± %v, %v", long.Rounds, stdErr, long.Warnings)
	}
	if z := (logZ - c.want) / stdErr; math.Abs(z) > 6 {
		t.Errorf("%v ± %v for %v", logZ, stdErr, c.want)
	}
	s.Longest = 2*60 - 1 // less than twice the rounds
	if b, err := Estimate(t.Context(), c.m, s, rbm.NewKey(1), nil); err != nil || b.Rounds != 60 {
		t.Errorf("%d rounds, %v", b.Rounds, err)
	}
}

// Only the selected estimates are computed, with the same results.
func TestParts(t *testing.T) {
	c := models(t)[1]
	whole, err := Estimate(t.Context(), c.m, small(c.base), rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"AIS", "reverse", "Bennett"} {
		s := small(c.base)
		s.AIS, s.Reverse, s.Bennett = part == "AIS", part == "reverse", part == "Bennett"
		b, err := Estimate(t.Context(), c.m, s, rbm.NewKey(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if (b.AIS != nil) != s.AIS || (b.Reverse != nil) != s.Reverse || (b.Bennett != nil) != s.Bennett {
			t.Errorf("%s alone: %+v", part, b)
		}
		logZ, stdErr, by := b.Best()
		want := map[string]Method{"AIS": ByAIS, "reverse": ByReverse, "Bennett": ByBennett}[part]
		if by != want || math.Abs(logZ-c.want) > 6*stdErr {
			t.Errorf("%s alone: %v ± %v by %s", part, logZ, stdErr, by)
		}
		switch part {
		case "AIS":
			if logZ != whole.AIS.LogZ || b.Ladder.Beta != nil {
				t.Errorf("AIS alone %v, among others %v", logZ, whole.AIS.LogZ)
			}
		case "Bennett":
			if logZ != whole.Bennett.LogZ {
				t.Errorf("Bennett alone %v, among others %v", logZ, whole.Bennett.LogZ)
			}
		}
	}
	// 25 chains from ten groups are rounded up to three from each.
	s := small(c.base)
	s.AIS, s.Bennett, s.Annealing.Chains = false, false, 25
	b, err := Estimate(t.Context(), c.m, s, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.Reverse.LogWeights); n != 30 {
		t.Errorf("%d chains of reverse AIS", n)
	}
	if b.Start.Tuned != 0 || len(b.Start.Beta) == 0 || b.Start.Rounds == 0 || b.Ladder.Tuned == 0 {
		t.Errorf("ladder tuned %d times after %d", b.Ladder.Tuned, b.Start.Tuned)
	}
}

func TestErrors(t *testing.T) {
	m := rbm.New(4, 3, 0, rbm.Softmax)
	for want, change := range map[string]func(s *Settings){
		"no estimate":               func(s *Settings) { s.AIS, s.Reverse, s.Bennett = false, false, false },
		"1 ladders; it takes 2":     func(s *Settings) { s.Groups = 1 },
		"a burn-in of -1 rounds":    func(s *Settings) { s.BurnIn = -1 },
		"1 rounds of the ladder":    func(s *Settings) { s.Rounds = 1 },
		"9 rounds of 10 ladders":    func(s *Settings) { s.Rounds = 9 },
		"0 chains":                  func(s *Settings) { s.Annealing.Chains = 0 },
		"1 temperatures":            func(s *Settings) { s.Annealing.Temperatures = 1 },
		"base has 2 visible":        func(s *Settings) { s.Annealing.Base = &rbm.Base{VisibleBias: make([]float32, 2)} },
		"100000001 rounds":          func(s *Settings) { s.Rounds = 100_000_001 },
		"10001 ladders; it takes 2": func(s *Settings) { s.Groups = 10_001 },
	} {
		s := DefaultSettings()
		change(&s)
		if _, err := Estimate(t.Context(), m, s, rbm.NewKey(1), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ais := range []bool{true, false} {
		s := DefaultSettings()
		s.AIS = ais
		if _, err := Estimate(ctx, m, s, rbm.NewKey(1), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	m.HiddenBias[1] = float32(math.Inf(1))
	if _, err := Estimate(t.Context(), m, DefaultSettings(), rbm.NewKey(1), nil); !errors.Is(err, rbm.ErrDiverged) {
		t.Errorf("an infinite bias: %v", err)
	}
}
