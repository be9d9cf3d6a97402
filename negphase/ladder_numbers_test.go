package negphase

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

// The differences of mean energy that a ladder records for neighbours are
// exact. The energy is E or, on the path from a base, E − E₀.
func TestRises(t *testing.T) {
	for _, base := range []bool{false, true} {
		for _, s := range sharp {
			x := newExactStart(s.random(31, sharpSD), base)
			p := x.pt(Sweep)
			if _, _, err := p.Estimate(x.m, rbm.Batch{}, callFrom); err != nil {
				t.Fatal(err)
			}
			mean, variance := make([]float64, len(x.p)), make([]float64, len(x.p))
			for k, distribution := range x.p {
				for i, st := range x.all {
					e := st.energy - st.base
					mean[k] += distribution[i] * e
					variance[k] += distribution[i] * e * e
				}
				variance[k] -= mean[k] * mean[k]
			}
			for k := range len(x.p) - 1 {
				want := mean[k+1] - mean[k]
				// One round of each group is an independent pair; the second round is not counted.
				tol := 6 * math.Sqrt((variance[k]+variance[k+1])/exactGroups)
				near(t, "rise", p.record.rise(k), want, tol)
				if want < 2*tol {
					t.Errorf("%v, base %v: a rise of %v cannot be distinguished from its negative within %v, want at least %v", s, base, want, tol, 2*tol)
				}
			}
		}
	}
}

// The barrier of a pair is its rejection if that is reliable. If all swaps are rejected, it is the
// thermodynamic length where this is longer. Between these cases it is interpolated.
func TestLengths(t *testing.T) {
	beta := []float64{1, 0.5, 0.2, 0.1, 0}
	got := Barriers(beta, []float64{0.3, 0.8, 0.97, 0.99}, []float64{10, 20, 400, 1})
	for k, want := range []float64{
		0.3 + 0.5e-3,
		0.8 + 0.2/0.35*(math.Sqrt(0.3*20/math.Pi)-0.8) + 0.3e-3,
		math.Sqrt(0.1*400/math.Pi) + 0.1e-3,
		0.99 + 0.1e-3, // the thermodynamic length is shorter
	} {
		near(t, "length", got[k], want, 1e-14)
	}
}

// A tuned ladder has the highest temperature of the settings, before and after tuning.
func TestHottestStays(t *testing.T) {
	m := independent(20, 10, 1)
	for text, want := range map[string]float64{"pt:tau=auto:chains=4": 0, "pt:tau=auto:hottest=4:chains=4": 0.25, "ins:tau=auto/6:hottest=8:chains=4": 0.125} {
		e := estimator(t, text).(Tempered)
		for _, last := range []int{0, 60} {
			calls(t, e, m, 1, last)
			l := e.Ladder()
			if end := l.Beta[len(l.Beta)-1]; l.Beta[0] != 1 || end != want {
				t.Errorf("%s, tuned %d times: inverse temperatures from %v to %v, want 1 to %v", text, l.Tuned, l.Beta[0], end, want)
			}
		}
	}
}

// The standard error of a rejection is that of the mean of the groups:
// √(Σ(x−mean)²/(n(n−1))).
func TestRejectionErrorByHand(t *testing.T) {
	r := newRecord(3, 3)
	for _, round := range [][3]float64{{0.2, 0.4, 0.1}, {0.4, 0.2, 0.7}} { // of the groups' first pair
		for g, x := range round {
			r.sample(g)[0] += x
			r.sample(g)[1] += 0.5
		}
		r.next()
	}
	// Group means 0.3, 0.3 and 0.4.
	mean, err := r.rejection(0)
	near(t, "mean", mean, 1./3, 1e-15)
	near(t, "standard error", err, math.Sqrt((2*1./900+4./900)/6), 1e-15)
	mean, err = r.rejection(allPairs)
	near(t, "mean of the sum", mean, 1./3+0.5, 1e-15)
	near(t, "standard error of the sum", err, math.Sqrt((2*1./900+4./900)/6), 1e-15)
}

// The particles of a retuned ladder with a sampler start at states of the old ladder, in
// both layers.
func TestRetunedParticlesKeepBothLayers(t *testing.T) {
	m := shape{20, 70, 5, rbm.Softmax}.random(3, 0.2)
	e := estimator(t, "pt:chains=3:tau=auto/6:sardonics:k=1-3").(*pt)
	calls(t, e, m, 1, 50)
	words := func(s *rbm.States, row int) []uint64 { return slices.Concat(s.V.Row(row), s.H.Row(row)) }
	var old [][]uint64
	for row := range e.rows {
		old = append(old, words(e.states, row))
	}
	e.tuner.number = 9
	e.retune(m)
	for row := range e.rows {
		now := words(e.states, row)
		if !slices.ContainsFunc(old, func(was []uint64) bool { return slices.Equal(was, now) }) {
			t.Fatalf("row %d of the new ladder starts at a state that no particle was in", row)
		}
	}
}

// Chains that start at the data start at the rows of the batch in turn. From grey rows they start at
// draws.
func TestVisibleStatesStartAtTheRows(t *testing.T) {
	m := shape{7, 4, 3, rbm.Softmax}.random(3, 1)
	pos := positive(m, 3, 4)
	grey := pos
	grey.V = rbm.NewValues(3, 7, true)
	for r := range 3 {
		pos.V.Each(r, func(i int) { grey.V.Matrix().Row(r)[i] = 1 }) // the draw from a probability of 0 or 1 is certain
	}
	for _, batch := range []rbm.Batch{pos, grey} {
		s := rbm.NewStates(m, 8)
		drawVisible(m, s, Data, batch, callFrom)
		for r := range 8 {
			if !slices.Equal(s.V.Row(r), pos.V.Row(r%3)) {
				t.Errorf("grey %v: chain %d does not start at row %d", batch.V.IsReal(), r, r%3)
			}
		}
	}
	half := rbm.Batch{V: rbm.NewMatrix(2, 7).Values(), H: rbm.NewMatrix(2, 4)}
	for i := range 7 {
		half.V.Matrix().Row(1)[i] = 0.25
	}
	const rows = 4000
	s := rbm.NewStates(m, rows)
	drawVisible(m, s, Data, half, callFrom)
	on := float64(s.V.Count()) / (7 * rows / 2)
	near(t, "share of units on", on, 0.25, 6*math.Sqrt(0.25*0.75/(7*rows/2)))
}

// A Gibbs step is added to moves that keep the number of active units, so that
// chains that all start in one state reach the distribution of the model.
func TestLockedMovesReachAllStates(t *testing.T) {
	for _, s := range []shape{{4, 3, 0, rbm.Softmax}, {5, 3, 3, rbm.Softmax}} {
		m := s.random(31, 1)
		x := &exactStart{m: m, all: states(m)}
		x.p = [][]float64{distribution(x.all, 1)}
		x.c = newCensus(x.all)
		for _, text := range []string{"im:k=1", "walk:exchange"} {
			w := x.walk(t, text)
			one := make([]float64, len(x.all))
			one[len(one)/2] = 1
			w.saved = drawJointly(x.all, [][]float64{one}, w.rows)
			calls(t, w, m, 1, 40)
			z := x.c.z(t, w.states, w.at, x.p[0])
			t.Logf("%v, %s: z = %.1f", s, text, z)
			if z > 6 {
				t.Errorf("%v, %s: z = %.1f, want at most 6", s, text, z)
			}
		}
	}
}

// exact returns the moments of the model of each call, not those of the first.
func TestExactFollowsTheModel(t *testing.T) {
	e := estimator(t, "exact")
	for seed := range uint64(3) {
		m := shape{5, 3, 3, rbm.Softmax}.random(seed, sharpSD)
		all := states(m)
		phase, _, err := e.Estimate(m, rbm.Batch{}, callFrom)
		if err != nil {
			t.Fatal(err)
		}
		want := expectation(m, all, distribution(all, 1))
		for i, x := range slices.Concat(phase.Moments.VH.Data, phase.Moments.V, phase.Moments.H) {
			near(t, "moment", float64(x), want[i], 0x1p-24+1e-12) // stored as float32
		}
	}
}

// Each swap rate is divided by the attempts of the same pair.
func TestSwapRatesByHand(t *testing.T) {
	got := Info{SwapTries: []int64{10, 4, 0}, Swaps: []int64{5, 4, 0}}.SwapRates()
	if want := []float64{0.5, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
