package sample

import (
	"math"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// follower returns a run with artificial traces: free energies and activities
// are white noise, and so are the states except for twenty units, which change together
// with probability flip per round.
func follower(chains, rounds int, flip float64) *run {
	const units, together = 70, 20
	r := rbm.NewKey(8).Rand()
	s := &side{}
	for c := range chains {
		var free, activity []float64
		var states []rbm.Values
		on := r.IntN(2) == 0
		for range rounds {
			if r.Float64() < flip {
				on = !on
			}
			row := rbm.NewBits(1, units)
			for i := range units {
				row.Set(0, i, i < together && on || i >= together && r.IntN(2) == 0)
			}
			free, activity, states = append(free, r.NormFloat64()), append(activity, r.NormFloat64()), append(states, row)
		}
		s.trace, s.activity = append(s.trace, free), append(s.activity, activity)
		if c < keptChains {
			s.states = append(s.states, states)
		}
	}
	return &run{target: &Target{Model: rbm.New(units, 1, 0, rbm.Softmax)}, key: rbm.NewKey(1), cold: s}
}

// The autocorrelation time is that of the slowest of several quantities, and agrees with
// theory.
func TestSlowest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for name, c := range map[string]struct {
		change func(s *side)
		flip   float64
		of     string
	}{
		"pictures": {func(*side) {}, 0.05, "principal component 1"},
		"more chains than are kept": {func(s *side) {
			s.trace, s.activity = append(s.trace, s.trace...), append(s.activity, s.activity...)
		}, 0.05, "principal component 1"},
		"the free energy": {func(s *side) { slow(s.trace, 0.05) }, 0.5, ofFreeEnergy},
		"the activity":    {func(s *side) { slow(s.activity, 0.05) }, 0.5, ofActivity},
		"a constant activity": {func(s *side) {
			for c := range s.activity {
				clear(s.activity[c])
			}
		}, 0.05, "principal component 1"},
		"a constant free energy": {func(s *side) {
			for c := range s.trace {
				clear(s.trace[c])
			}
		}, 0.05, "principal component 1"},
	} {
		r := follower(40, 2000, c.flip)
		c.change(r.cold)
		of, got := r.slowest()
		// For a quantity that changes its sign with probability q per round, ρ(t) = (1−2q)^t and
		// τ = ½ + Σρ = 1/(2q) − ½. The other units, which are noise, reduce ρ of the
		// projection on the component by less than the
		// standard error.
		want := 1/(2*0.05) - 0.5
		if of != c.of || !(math.Abs(got.Time.Tau-want) < 5*got.Time.StdErr) {
			t.Errorf("%s: τ is %.3g ± %.2g, of %s; want %.3g, of %s", name, got.Time.Tau, got.Time.StdErr, of, want, c.of)
		}
		// 1000 rounds of each chain are after the burn-in.
		if n := float64(1000*len(r.cold.trace)) / (2 * got.Time.Tau); math.Abs(got.Effective/n-1) > 1e-12 {
			t.Errorf("%s: %v effective samples, want %v", name, got.Effective, n)
		}
	}
	// If half of the chains stay in each of two modes, τ is unknown.
	for _, c := range [][2]int{{40, 2000}, {40, 1024}, {20, 512}, {64, 256}} { // some numbers of rounds are multiples of 256
		r := follower(c[0], c[1], 0)
		if of, got := r.slowest(); of != "principal component 1" || !math.IsInf(got.Time.StdErr, 1) {
			t.Errorf("%d chains that stay apart for %d rounds: τ %v ± %v, of %s", c[0], c[1], got.Time.Tau, got.Time.StdErr, of)
		}
	}
	r := follower(40, 2000, 0)
	r.cold.rounds, r.cold.every = 2000, 1
	if p := r.judge(); p.Mixed || p.Why.Kind != diag.Endless || !slices.Equal(p.Why.Of, []string{p.TauOf}) {
		t.Errorf("they are said to have mixed, or to be slow by another name: %+v", p)
	}
}

// slow sets traces to values ±1 that change sign with probability flip per round.
func slow(trace [][]float64, flip float64) {
	r := rbm.NewKey(9).Rand()
	for _, chain := range trace {
		x := float64(1 - 2*r.IntN(2))
		for i := range chain {
			if r.Float64() < flip {
				x = -x
			}
			chain[i] = x
		}
	}
}

// The components agree with those of a known matrix.
func TestLeading(t *testing.T) {
	// The matrix for the rows minus their mean is 8 eˣ eˣ' + 2 eʸ eʸ', with unit vectors eˣ and eʸ.
	x, y := []float64{0.5, 0.5, -0.5, -0.5}, []float64{0.5, -0.5, 0.5, -0.5}
	g := make([][]float64, 4)
	for i := range g {
		g[i] = make([]float64, 4)
		for j := range g {
			g[i][j] = 8*x[i]*x[j] + 2*y[i]*y[j]
		}
	}
	got := leading(g, 3, rbm.NewKey(1))
	// The second eigenvalue is a quarter of the first, so the error falls by a factor of 4 in each of 30
	// iterations; 4⁻³⁰ is far below the rounding error.
	if len(got) != 2 || math.Abs(math.Abs(dot(got[0], x))-1) > 1e-12 || math.Abs(math.Abs(dot(got[1], y))-1) > 1e-12 {
		t.Errorf("components %v", got)
	}
	rows := [][]uint64{{0b0111, 1}, {0b0001, 1}, {0b1110, 0}}
	want := gramByHand(rows, 65)
	var values []rbm.Values
	for _, row := range rows {
		values = append(values, rbm.Values{Rows: 1, Cols: 65, Stride: 2, Words: row})
	}
	for r, line := range gram(values) {
		for s, v := range line {
			if math.Abs(v-want[r][s]) > 1e-12 {
				t.Errorf("product of rows %d and %d is %v, want %v", r, s, v, want[r][s])
			}
		}
	}
}

func gramByHand(rows [][]uint64, units int) [][]float64 {
	g := make([][]float64, len(rows))
	for r := range rows {
		g[r] = make([]float64, len(rows))
	}
	for i := range units {
		mean := 0.0
		on := func(r int) float64 { return float64(rows[r][i/64] >> (i % 64) & 1) }
		for r := range rows {
			mean += on(r) / float64(len(rows))
		}
		for r := range rows {
			for s := range rows {
				g[r][s] += (on(r) - mean) * (on(s) - mean)
			}
		}
	}
	return g
}
