package negphase

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
)

// rejectionOf returns the exact mean rejection of swaps of independent states between two inverse
// temperatures, by enumeration.
func rejectionOf(all []state, a, b float64) float64 {
	p, q := distribution(all, a), distribution(all, b)
	r := 0.0
	for x, s := range all {
		for y, z := range all {
			r += p[x] * q[y] * (1 - math.Exp(min(0, (a-b)*(s.energy-z.energy))))
		}
	}
	return r
}

// ladderAfter returns the Ladder of an estimator after the given number of calls with m.
func ladderAfter(t testing.TB, text string, m *rbm.RBM, calls int) Ladder {
	t.Helper()
	e := estimator(t, text).(Tempered)
	for n := range calls {
		if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(3).Child(uint64(n))); err != nil {
			t.Fatal(err)
		}
	}
	return e.Ladder()
}

// Rejections and barrier of every kind, with many groups and with one group,
// agree with enumeration within six of their standard errors.
func TestRejections(t *testing.T) {
	m := shape{4, 3, 0, rbm.Softmax}.random(31, sharpSD)
	all := states(m)
	const tau = "tau=1/1.6/4/8"
	for _, text := range []string{"pt:" + tau, "pt:order=evenodd:" + tau, "ins:" + tau, "pins:block=2:" + tau} {
		for _, c := range []struct {
			size  string
			calls int
		}{{":chains=60", 1000}, {":chains=1", 20000}} {
			l := ladderAfter(t, text+c.size, m, c.calls)
			barrier := 0.0
			for k, r := range l.Rejection {
				want := rejectionOf(all, l.Beta[k], l.Beta[k+1])
				barrier += want
				z := (r - want) / l.RejectionErr[k]
				t.Logf("%s%s: pair %d: %.4f ± %.4f, exactly %.4f", text, c.size, k, r, l.RejectionErr[k], want)
				if !(math.Abs(z) < 6) {
					t.Errorf("%s%s: pair %d: rejection %v ± %v, want %v", text, c.size, k, r, l.RejectionErr[k], want)
				}
				// The rejection after the draw, or that of the neighbouring pair, differs by more.
				if k > 0 && math.Abs(rejectionOf(all, l.Beta[k-1], l.Beta[k])-r) < 6*l.RejectionErr[k] {
					t.Errorf("%s%s: the rejection of pair %d cannot be distinguished from that of its neighbour", text, c.size, k)
				}
			}
			if z := (l.Barrier - barrier) / l.BarrierErr; !(math.Abs(z) < 6) {
				t.Errorf("%s%s: barrier %v ± %v, want %v", text, c.size, l.Barrier, l.BarrierErr, barrier)
			}
		}
	}
}

// The sum of rejections approaches the barrier from below as temperatures are added, with the bias in the
// documentation of Ladder.Barrier. The model has 300 independent units, so that its energy is
// nearly normally distributed.
func TestBarrierFromBelow(t *testing.T) {
	const units, bias = 300, 2
	fine := make([]float64, 4001) // pairs reject 2 in 1000 swaps, so the sum is low by a fraction of some 1e-6
	for k := range fine {
		fine[k] = 1 - float64(k)/4000
	}
	r, _ := exactPairs(units, bias, fine)
	barrier := floats.Sum(r)
	for _, c := range []struct{ rejection, lacks float64 }{{0.25, 0.02}, {0.5, 0.06}, {0.75, 0.2}} {
		beta := make([]float64, 1+int(math.Round(barrier*(1-c.lacks)/c.rejection)))
		for k := range beta {
			beta[k] = 1 - float64(k)/float64(len(beta)-1)
		}
		r, _ := exactPairs(units, bias, settled(units, bias, beta, 20, true))
		lacks := 1 - floats.Sum(r)/barrier
		t.Logf("%d temperatures reject %.3f: the sum lacks %.3f of %.4f", len(beta), r[0], lacks, barrier)
		// The documented values are rounded. With a whole number of temperatures the rejections are up to
		// 4 % higher or lower, and the bias is proportional to their square.
		if math.Abs(lacks/c.lacks-1) > 0.25 {
			t.Errorf("rejections of %v: the sum lacks %.3f of the barrier, the doc says %v", r[0], lacks, c.lacks)
		}
	}
}

// The standard errors from the correlated rounds of a single group are right: they agree with the spread of the
// rejection over many runs.
func TestRejectionErrors(t *testing.T) {
	m := shape{4, 3, 0, rbm.Softmax}.random(31, sharpSD)
	want := rejectionOf(states(m), 1, 0.5)
	const runs = 60
	sum := 0.0
	for run := range runs {
		e := estimator(t, "pt:chains=1:tau=1/2").(Tempered)
		for n := range 2000 {
			if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(uint64(run)).Child(uint64(n))); err != nil {
				t.Fatal(err)
			}
		}
		l := e.Ladder()
		z := (l.Rejection[0] - want) / l.RejectionErr[0]
		sum += z * z
	}
	// z is Student's t with 61 degrees of freedom (2000 rounds are 62 batches of
	// 32). Its square has mean 61/59 and variance near 2.3.
	dev := (sum/runs - 61.0/59) / math.Sqrt(2.3/runs)
	t.Logf("mean z² %.2f, %.1f standard errors off", sum/runs, dev)
	if math.Abs(dev) > 6 {
		t.Errorf("the mean square of z is %v over %d runs", sum/runs, runs)
	}
}

// Associations, moves and trajectories of three rounds are compared with values computed by hand.
func TestRecordByHand(t *testing.T) {
	r := newRecord(1, 3)
	for _, round := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} { // temperature of each particle
		was := []int{0, 1, 2}
		if r.rounds > 0 {
			for p, k := range r.trajectory()[r.rounds-1] {
				was[p] = int(k)
			}
		}
		for p, k := range round {
			r.visit(0, p, was[p], k)
		}
		r.next()
	}
	third := func(x ...float64) []float64 {
		for i := range x {
			x[i] /= 3
		}
		return x
	}
	for i, want := range [][]float64{third(1, 1, 1), third(1, 2, 0), third(1, 0, 2)} {
		if got := r.rates(r.stays)[i]; farthest(got, want) > 1e-15 {
			t.Errorf("particle %d: associations %v, want %v", i, got, want)
		}
	}
	for i, want := range [][]float64{third(1, 2, 0), third(1, 1, 1), third(1, 0, 2)} {
		if got := r.rates(r.moves)[i]; farthest(got, want) > 1e-15 {
			t.Errorf("from temperature %d: moves %v, want %v", i, got, want)
		}
	}
	if got := r.trajectory(); !slices.EqualFunc(got, [][]uint8{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}}, slices.Equal) {
		t.Errorf("trajectory %v", got)
	}
}

// In a long run the trajectory has the last rounds, and the length of batches doubles.
func TestRecordOfManyRounds(t *testing.T) {
	r := newRecord(1, 2)
	const rounds = 3000
	for n := range rounds {
		r.sample(0)[0] += float64(n % 2)
		r.visit(0, 0, 0, n%2)
		r.visit(0, 1, 1, (n+1)%2)
		r.next()
	}
	mean, err := r.rejection(0)
	samples, length := r.complete()
	if mean != 0.5 || err != 0 || length != 64 || samples != rounds/64 {
		t.Errorf("mean %v ± %v from %d batches of %d", mean, err, samples, length)
	}
	path := r.trajectory()
	if len(path) != journalRounds {
		t.Fatalf("the trajectory has %d rounds, want %d", len(path), journalRounds)
	}
	for i, at := range path {
		if n := rounds - journalRounds + i; int(at[0]) != n%2 || int(at[1]) != (n+1)%2 {
			t.Fatalf("round %d: temperatures %v", n, at)
		}
	}
}

// If a ladder exchanges, its particles visit all temperatures equally often; if it does not, they stay. The
// record distinguishes both cases.
func TestAssociations(t *testing.T) {
	m := shape{6, 4, 0, rbm.Softmax}.random(1, 0.3)
	for _, text := range []string{"pt", "pt:order=evenodd", "ins", "pins:block=3"} {
		text += ":chains=20:tau=1/1.1/1.2/1.3"
		const calls = 2000
		l := ladderAfter(t, text, m, calls)
		// Energies are nearly equal, so the temperature of a particle decorrelates in
		// some ten rounds: there are 20·2000/10 independent visits with probability 1/4.
		if tol := 6 * math.Sqrt(0.25*0.75/(20*calls/10)); l.Deviation > tol {
			t.Errorf("%s: associations %v, got %v, want at most %v", text, l.Association, l.Deviation, tol)
		}
		if l.Rounds != calls || len(l.Trajectory) != journalRounds || l.RoundTrips == 0 {
			t.Errorf("%s: %d rounds, %d of them kept, %d round trips", text, l.Rounds, len(l.Trajectory), l.RoundTrips)
		}
		for i := range l.Beta {
			row, column, from := 0.0, 0.0, 0.0
			for j := range l.Beta {
				row += l.Association[i][j]
				column += l.Association[j][i]
				from += l.Moves[i][j]
			}
			near(t, text+": sum of associations of a particle", row, 1, 1e-14)
			near(t, text+": sum of associations of a temperature", column, 1, 1e-14)
			near(t, text+": sum of moves", from, 1, 1e-14)
		}
	}
	frozen := ladderAfter(t, "pt:chains=20:tau=1/1e30", shape{20, 20, 0, rbm.Softmax}.random(1, 9), 50)
	if frozen.Deviation < 0.4 || frozen.Rejection[0] < 0.9 {
		t.Errorf("a ladder that cannot exchange: deviation %v, rejection %v", frozen.Deviation, frozen.Rejection)
	}
}

func TestLadderBeforeTheFirstCall(t *testing.T) {
	l := estimator(t, "ins:tau=1/2/4").(Tempered).Ladder()
	if !slices.Equal(l.Beta, []float64{1, 0.5, 0.25}) || l.Rounds != 0 || l.RejectionErr != nil || l.Barrier != 0 || l.Deviation != 0 || len(l.Trajectory) != 0 {
		t.Errorf("got %+v", l)
	}
	if l := ladderAfter(t, "pt:chains=1", shape{4, 3, 0, rbm.Softmax}.random(1, 1), 1); l.RejectionErr != nil || l.BarrierErr != 0 || l.Rounds != 1 {
		t.Errorf("after one round of a lone group: %+v", l)
	}
}
