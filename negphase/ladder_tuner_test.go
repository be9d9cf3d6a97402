package negphase

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"gorbm/rbm"
)

// independent returns a model of independent units with equal biases. Its
// energy is −bias times a binomial variate, and a Gibbs step is an independent
// draw.
func independent(visible, hidden int, bias float32) *rbm.RBM {
	m := rbm.New(visible, hidden, 0, rbm.Softmax)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = bias
	}
	for j := range m.HiddenBias {
		m.HiddenBias[j] = bias
	}
	return m
}

// exactPairs returns the exact rejection of each pair of neighbours of beta,
// and the difference of their mean energies, for the given number of independent units.
func exactPairs(units int, bias float64, beta []float64) (rejection, rise []float64) {
	distributions := make([][]float64, len(beta)) // [temperature][number of units that are off]
	means := make([]float64, len(beta))
	choose := func(n int) float64 { // log of the binomial coefficient
		all, _ := math.Lgamma(float64(units + 1))
		off, _ := math.Lgamma(float64(n + 1))
		on, _ := math.Lgamma(float64(units - n + 1))
		return all - off - on
	}
	for k, b := range beta {
		for n := range units + 1 {
			p := math.Exp(choose(n) - float64(n)*b*bias - float64(units)*math.Log1p(math.Exp(-b*bias)))
			distributions[k] = append(distributions[k], p)
			means[k] += bias * float64(n) * p
		}
	}
	for k := range len(beta) - 1 {
		// Σ over x < y of p(x)·q(y)·(1 − exp(−Δβ·bias·(y−x))), by partial sums
		// over x.
		r, below, damped := 0.0, 0.0, 0.0
		decay := math.Exp(-(beta[k] - beta[k+1]) * bias)
		for n := range units + 1 {
			r += distributions[k+1][n] * (below - damped)
			below += distributions[k][n]
			damped = (damped + distributions[k][n]) * decay
		}
		rejection, rise = append(rejection, r), append(rise, means[k+1]-means[k])
	}
	return rejection, rise
}

// calls makes calls first … last of e.
func calls(t testing.TB, e Estimator, m *rbm.RBM, first, last int) {
	t.Helper()
	call(t, e, m, rbm.Batch{}, first, last+1)
}

// On a model with known rejections all pairs of a tuned ladder reject equally often,
// and its barrier is exact.
func TestTunedLadderRejectsEqually(t *testing.T) {
	const bias = 2
	m := independent(60, 40, bias)
	for _, text := range fewer([]string{"pt:tau=auto/10", "pt:tau=auto", "pt:tau=auto:hottest=4", "ins:tau=auto", "pins:tau=auto/10:block=4"}) {
		e := estimator(t, text+":chains=20").(Tempered)
		calls(t, e, m, 1, 1000)
		e.Freeze()
		calls(t, e, m, 1001, 1300)
		l := e.Ladder()
		r, _ := exactPairs(100, bias, l.Beta)
		mean := stat.Mean(r, nil)
		t.Logf("%s: %d temperatures, rejections %.3f ± %.3f, barrier %.3f ± %.3f", text, len(l.Beta), r, l.RejectionErr[0], l.Barrier, l.BarrierErr)
		for k := range r {
			// Temperatures were placed by rejections of some 200 calls; those compared are measured in
			// the last 300 calls or more.
			if tol := 6 * math.Sqrt(1.5) * l.RejectionErr[k]; math.Abs(r[k]-mean) > tol {
				t.Errorf("%s: pair %d rejects %.4f, all pairs %.4f; tolerance %.4f", text, k, r[k], mean, tol)
			}
		}
		if z := (l.Barrier - floats.Sum(r)) / l.BarrierErr; math.Abs(z) > 6 {
			t.Errorf("%s: barrier %v ± %v, exactly %v", text, l.Barrier, l.BarrierErr, floats.Sum(r))
		}
		if l.Capped || l.Tuned == 0 {
			t.Errorf("%s: tuned %d times, capped %v", text, l.Tuned, l.Capped)
		}
	}
}

// settled returns the ladder after tunings with exact measurements. thermal says whether these include
// the differences of energy.
func settled(units int, bias float64, beta []float64, tunings int, thermal bool) []float64 {
	for range tunings {
		r, rise := exactPairs(units, bias, beta)
		if !thermal {
			clear(rise)
		}
		length := Barriers(beta, r, rise)
		if next, _ := placed(beta, length, len(beta), sum(length)); next != nil {
			beta = next
		}
	}
	return beta
}

// sum adds in order, as retune does.
func sum(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return total
}

// spread returns the largest element of x divided by the smallest.
func spread(x []float64) float64 { return slices.Max(x) / slices.Min(x) }

// terrible has ladders of n inverse temperatures from 1 to 0 that hardly exchange.
var terrible = map[string]func(n int) []float64{
	"all temperatures at the hot end": func(n int) []float64 {
		beta := make([]float64, n)
		for k := range beta {
			beta[k] = 1e-3 * (1 - float64(k)/float64(n-1))
		}
		beta[0] = 1
		return beta
	},
	"all temperatures at the cold end": func(n int) []float64 {
		beta := make([]float64, n)
		for k := range beta {
			beta[k] = 1 - 1e-3*float64(k)/float64(n-1)
		}
		beta[n-1] = 0
		return beta
	},
	"equal gaps": func(n int) []float64 {
		beta := make([]float64, n)
		for k := range beta {
			beta[k] = 1 - float64(k)/float64(n-1)
		}
		return beta
	},
}

// From terrible ladders, tuning with exact measurements leads to equal rejections. On a model where nearly all swaps
// are rejected at any temperatures, it leads to equal thermodynamic lengths; rejections
// alone do not.
func TestTerribleLadders(t *testing.T) {
	for name, start := range terrible {
		r, _ := exactPairs(300, 8, settled(300, 8, start(24), 20, true))
		t.Logf("%s: rejections end at %.4f … %.4f", name, slices.Min(r), slices.Max(r))
		// Each tuning reduces the error of the one before; after twenty, less than one in a thousand
		// is left.
		if spread(r) > 1.001 {
			t.Errorf("%s: rejections end at %.4f", name, r)
		}

		thermal := func(beta []float64) []float64 {
			_, length := exactPairs(4000, 1.5, beta)
			for k := range length {
				length[k] = math.Sqrt((beta[k] - beta[k+1]) * length[k])
			}
			return length
		}
		length, stuck := thermal(settled(4000, 1.5, start(5), 20, true)), thermal(settled(4000, 1.5, start(5), 20, false))
		t.Logf("%s: five temperatures end at thermodynamic lengths %.2f, by rejections alone at %.2f", name, length, stuck)
		if spread(length) > 1.01 {
			t.Errorf("%s: thermodynamic lengths end at %.3f", name, length)
		}
		if spread(stuck) < 1.1 {
			t.Errorf("%s: mutant is not seen: rejections alone end at thermodynamic lengths %.3f", name, stuck)
		}
	}
}

// The same test with estimators, whose measurements are noisy, and with a
// number of temperatures that the barrier determines.
func TestTerribleLaddersInUse(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	m := independent(60, 40, 8)
	for name, start := range terrible {
		for _, text := range []string{"pt:chains=6:tau=auto/16", "pt:chains=6:tau=auto", "pins:chains=6:tau=auto"} {
			e := estimator(t, text).(Tempered)
			var l *ladder
			switch e := e.(type) {
			case *pt:
				l = &e.ladder
			case *ins:
				l = &e.ladder
			}
			l.setBeta(start(max(startTemperatures, l.tuner.number)))
			calls(t, e, m, 1, 440)
			got := e.Ladder()
			r, _ := exactPairs(100, 8, got.Beta)
			mean := stat.Mean(r, nil)
			t.Logf("%s, %s: %d temperatures, rejections %.3f … %.3f", text, name, len(r)+1, slices.Min(r), slices.Max(r))
			for k := range r {
				// Temperatures were placed by the rejections of the 72 calls before the last
				// tuning: 432 independent rounds with a variance of at most ¼.
				if tol := 6 * math.Sqrt(0.25/432); math.Abs(r[k]-mean) > tol {
					t.Errorf("%s, %s: pair %d rejects %.3f, all pairs %.3f; tolerance %.3f", text, name, k, r[k], mean, tol)
				}
			}
			// The number of temperatures is chosen for rejections of a half. Temperatures are
			// removed only if the rejections are below three eighths.
			if l.tuner.number == 0 && (mean > 0.55 || mean < 3./8) {
				t.Errorf("%s, %s: %d temperatures reject %.3f", text, name, len(got.Beta), mean)
			}
		}
	}
}

// A run with tunings that is saved at any call continues with identical results,
// at any GOMAXPROCS.
func TestTuningsResume(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	m := shape{20, 16, 0, rbm.Softmax}.random(3, 1.5)
	for _, text := range []string{"pt:chains=3:tau=auto", "ins:chains=3:tau=auto", "pins:chains=1:tau=auto:block=4", "ins:chains=3:tau=reach/4"} {
		const last = 230 // tunings come before calls 51, 101, 151 and 201
		runtime.GOMAXPROCS(1)
		whole := estimator(t, text).(Tempered)
		var saved [][]byte
		var bits [][]uint64
		var lengths []int
		var hottest []float64
		for n := range last {
			b, err := whole.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			beta := whole.Ladder().Beta
			saved, lengths, hottest = append(saved, b), append(lengths, len(beta)), append(hottest, beta[len(beta)-1])
			bits = append(bits, call(t, whole, m, rbm.Batch{}, n, n+1))
		}
		final, _ := whole.MarshalBinary()
		if l := whole.Ladder(); l.Tuned != 4 || slices.Min(lengths) == slices.Max(lengths) && slices.Min(hottest) == slices.Max(hottest) {
			t.Errorf("%s: tuned %d times, lengths from %d to %d", text, l.Tuned, slices.Min(lengths), slices.Max(lengths))
		}
		runtime.GOMAXPROCS(4)
		for _, at := range []int{0, 49, 50, 51, 130, 205} {
			e := estimator(t, text).(Tempered)
			if err := e.UnmarshalBinary(saved[at]); err != nil {
				t.Fatal(err)
			}
			for n := at; n < last; n++ {
				if got := call(t, e, m, rbm.Batch{}, n, n+1); !slices.Equal(got, bits[n]) {
					t.Fatalf("%s: saved before call %d, call %d gives other bits", text, at, n)
				}
			}
			if b, _ := e.MarshalBinary(); !bytes.Equal(b, final) {
				t.Errorf("%s: saved before call %d it ends in another state", text, at)
			}
		}
	}
}

// Tunings are due by the number of calls alone. There are none after Freeze, nor after restoring
// a frozen state.
func TestTuningSchedule(t *testing.T) {
	u := newTuner(parse(t, "pt:tau=auto").ladder())
	var due []int
	for n := range 1000 {
		if u.due() {
			due = append(due, n)
		}
	}
	if want := []int{50, 100, 150, 200, 250, 300, 360, 432, 518, 621, 745, 894}; !slices.Equal(due, want) {
		t.Errorf("tunings after calls %v, want %v", due, want)
	}
	m := independent(20, 10, 1)
	e := estimator(t, "pt:chains=4:tau=auto").(Tempered)
	calls(t, e, m, 1, 60)
	e.Freeze()
	saved, _ := e.MarshalBinary()
	restored := estimator(t, "pt:chains=4:tau=auto").(Tempered)
	if err := restored.UnmarshalBinary(saved); err != nil {
		t.Fatal(err)
	}
	for _, e := range []Tempered{e, restored} {
		calls(t, e, m, 61, 300)
		if l := e.Ladder(); l.Tuned != 1 || l.Rounds != 250 {
			t.Errorf("frozen after one tuning it is tuned %d times, the ladder stands for %d rounds, want 1 and 250", l.Tuned, l.Rounds)
		}
	}
	for _, text := range []string{"pt", "pt:tau=auto/2"} {
		e := estimator(t, text).(Tempered)
		calls(t, e, m, 1, 120)
		if l := e.Ladder(); l.Tuned != 0 {
			t.Errorf("%s is tuned: got %v, want 0", text, l.Tuned)
		}
	}
}

// The number of temperatures follows the barrier without oscillating.
func TestWantedTemperatures(t *testing.T) {
	for _, c := range []struct {
		kind    string
		number  int
		now     int
		barrier float64
		want    int
		capped  bool
	}{
		{"pt", 0, 5, 2, 5, false},
		{"pt", 0, 5, 2.01, 6, false},
		{"pt", 0, 5, 40, 10, true}, // at most doubled
		{"pt", 0, 40, 31, 63, false},
		{"pt", 0, 40, 31.6, 64, true},
		{"pt", 0, 64, 1e300, 64, true},
		{"pt", 0, 20, 7.1, 20, false}, // 17 would be enough
		{"pt", 0, 20, 7, 15, false},
		{"pt", 0, 5, 0, 3, false},
		{"pt", 0, 3, 0, 3, false},
		{"ins", 0, 16, 9, 16, true},
		{"pt", 20, 20, 3, 20, false},
	} {
		u := newTuner(set(t, c.kind, "tau", "auto").ladder())
		u.number = c.number
		if got := u.wanted(c.now, c.barrier); got != c.want || u.capped != c.capped {
			t.Errorf("%s of %d temperatures, barrier %v: wants %d, capped %v; want %d, %v", c.kind, c.now, c.barrier, got, u.capped, c.want, c.capped)
		}
	}
}

// Particles of a retuned ladder start at the states of the nearest old temperatures,
// and all records but the totals are cleared.
func TestRetunedParticles(t *testing.T) {
	m := shape{20, 70, 0, rbm.Softmax}.random(3, 0.2)
	e := estimator(t, "pt:chains=3:tau=auto/6").(*pt)
	calls(t, e, m, 1, 50)
	old, at, beta, trips := slices.Clone(e.states.H.Words), slices.Clone(e.at), slices.Clone(e.beta), e.trips
	if trips == 0 || e.record.rounds != 50 {
		t.Fatalf("%d round trips in %d rounds", trips, e.record.rounds)
	}
	e.tuner.number = 9
	e.retune(m)
	if len(e.beta) != 9 || e.rows != 27 || e.beta[0] != 1 || e.beta[8] != 0 || slices.Equal(e.beta[1:5], beta[1:5]) {
		t.Errorf("from %v to %v", beta, e.beta)
	}
	if e.trips != trips || e.record.rounds != 0 || e.rounds != 50 || e.tuned != 1 {
		t.Errorf("%d round trips, %d rounds on record, %d in all, %d tunings", e.trips, e.record.rounds, e.rounds, e.tuned)
	}
	for g := range 3 {
		last := 0
		for j, row := range e.group(g) {
			from := -1
			for k, o := range at[g*6 : (g+1)*6] {
				if slices.Equal(old[int(o)*2:int(o)*2+2], e.states.H.Row(int(row))) {
					from = k
				}
			}
			if from < last || j == 8 && from != 5 {
				t.Errorf("group %d: temperature %d starts from old temperature %d, the one before from %d", g, j, from, last)
			}
			last = from
		}
	}
}

// Temperatures that float32 cannot tell apart are not placed.
func TestPlaced(t *testing.T) {
	beta, from := placed([]float64{1, 0.5, 0}, []float64{1, 1}, 5, 2)
	if !slices.Equal(beta, []float64{1, 0.75, 0.5, 0.25, 0}) || !slices.Equal(from, []int{0, 0, 1, 1, 2}) {
		t.Errorf("got %v from %v, want %v and %v", beta, from, []float64{1, 0.75, 0.5, 0.25, 0}, []int{0, 0, 1, 1, 2})
	}
	beta, from = placed([]float64{1, 0.5, 0}, []float64{1, 1}, 4, 1.5) // three quarters of the barrier
	if !slices.Equal(beta, []float64{1, 0.75, 0.5, 0.25}) || !slices.Equal(from, []int{0, 0, 1, 1}) {
		t.Errorf("a part: got %v from %v, want %v and %v", beta, from, []float64{1, 0.75, 0.5, 0.25}, []int{0, 0, 1, 1})
	}
	for _, length := range [][]float64{{0, 1}, {1, math.Inf(1)}, {math.NaN(), 1}, {1, -1}, {1e300, 1}} {
		if beta, _ := placed([]float64{1, 0.5, 0}, length, 5, sum(length)); beta != nil {
			t.Errorf("%v: placed at %v", length, beta)
		}
	}
	if beta, _ := placed([]float64{1, 1 - 0x1p-22}, []float64{1}, 9, 1); beta != nil {
		t.Errorf("more than there are between: %v", beta)
	}
}

// The highest temperature of a ladder with reach is such that neighbours reject reachRejection of
// their swaps, for strong and for weak biases, unless the setting hottest limits it. It adapts to
// a model that changes.
func TestReach(t *testing.T) {
	if testing.Short() {
		t.Skip("two seconds of tuning; TestTunedLadderRejectsEqually tunes one ladder")
	}
	for _, c := range []struct {
		text    string
		bias    float64
		hottest float64 // the required highest temperature; 0: determined by the rejections
	}{
		{"ins:tau=reach/5", 1, 0},
		{"pt:tau=reach/4", 1.2, 0},
		{"pins:tau=reach/6:block=4", 1, 0},
		{"pt:tau=reach/2", 1, 0},
		{"ins:tau=reach/5", 0.05, math.Inf(1)},
		{"pt:tau=reach/9:hottest=1.5", 1, 1.5},
	} {
		m := independent(60, 40, float32(c.bias))
		e := estimator(t, c.text+":chains=20").(Tempered)
		calls(t, e, m, 1, 1000)
		l := e.Ladder()
		r, _ := exactPairs(100, c.bias, l.Beta)
		last := l.Beta[len(l.Beta)-1]
		t.Logf("%s, bias %v: up to %.4g, rejections %.3f", c.text, c.bias, 1/last, r)
		if c.hottest != 0 {
			if math.Abs(last-1/c.hottest) > 1e-6 {
				t.Errorf("%s, bias %v: up to %v, want %v", c.text, c.bias, 1/last, c.hottest)
			}
			continue
		}
		for k := range r {
			// Measured by at least 160 calls of 20 groups before the last tuning.
			if tol := 6 * 0.5 / math.Sqrt(160); math.Abs(r[k]-reachRejection) > tol {
				t.Errorf("%s, bias %v: pair %d rejects %.3f, want %v ± %.3f", c.text, c.bias, k, r[k], reachRejection, tol)
			}
		}
		// The same chains under a model with twice the biases, whose energies have a larger variance.
		sharp := independent(60, 40, float32(2*c.bias))
		calls(t, e, sharp, 1001, 3000)
		r, _ = exactPairs(100, 2*c.bias, e.Ladder().Beta)
		if now := e.Ladder().Beta[len(l.Beta)-1]; !(now > last) || math.Abs(stat.Mean(r, nil)-reachRejection) > 0.1 {
			t.Errorf("%s: up to %v of the model of bias %v and up to %v of bias %v, where pairs reject %.3f", c.text, 1/last, c.bias, 1/now, 2*c.bias, r)
		}
	}
}

// Settings with reach are parsed, formatted and checked.
func TestReachSettings(t *testing.T) {
	for text, want := range map[string]string{"reach": "reach/5", "reach:7": "reach/7", "reach/2": "reach/2"} {
		s := DefaultSettings("pt")
		if err := s.Set("tau", text); err != nil || s.Get("tau") != want || s.Check() != nil {
			t.Errorf("%q gives %q: %v, %v, want %q", text, s.Get("tau"), err, s.Check(), want)
		}
	}
	for _, text := range []string{"ins:tau=reach/17", "pt:tau=reach/1", "pt:tau=reach/0", "pt:tau=reach/x", "pt:tau=reach5", "pt:tau=reach/5:hottest=1", "pt:tau=reaching"} {
		if s, err := Parse(text, DefaultSettings("pt")); err == nil {
			t.Errorf("%s is taken as %v", text, s)
		}
	}
}

// Retune places the temperatures of a frozen ladder once, before the next call. A frozen ladder is not tuned
// otherwise.
func TestRetune(t *testing.T) {
	m := shape{9, 7, 0, rbm.Softmax}.random(3, 2)
	e := estimator(t, "pt:chains=4:tau=auto").(Tempered)
	call := func(n int) int64 {
		for i := range n {
			if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(7).Child(uint64(i))); err != nil {
				t.Fatal(err)
			}
		}
		return e.Ladder().Tuned
	}
	before := call(120)
	e.Freeze()
	if got := call(200); got != before {
		t.Errorf("frozen, the ladder was tuned %d times, want %d", got, before)
	}
	e.Retune()
	if got := call(1); got != before+1 || e.Ladder().Rounds != 1 {
		t.Errorf("after Retune it was tuned %d times and measured %d rounds, want %d and 1", got, e.Ladder().Rounds, before+1)
	}
	if got := call(300); got != before+1 {
		t.Errorf("later it was tuned %d times, want %d", got, before+1)
	}
}
