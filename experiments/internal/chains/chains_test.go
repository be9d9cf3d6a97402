package chains

import (
	"math"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

func ring(t *testing.T) func() mcmc.Settable {
	t.Helper()
	l, err := mcmc.ParseLattice("12", true)
	if err != nil {
		t.Fatal(err)
	}
	g, err := l.Graph(mcmc.Uniform(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	return func() mcmc.Settable { return mcmc.NewIsing(g, nil) }
}

// A sampler runs for the time of the race or makes its moves, and equal keys give equal moves.
func TestRace(t *testing.T) {
	build := ring(t)
	const few = 7
	race := func(seconds float64) []Run {
		runs, err := Race(t.Context(), []Sampler{
			{Name: "a", Mover: mcmc.Gibbs{}, System: build()},
			{Name: "b", Mover: mcmc.Gibbs{}, System: build(), Moves: few},
		}, 0.5, seconds, rbm.NewKey(3))
		if err != nil {
			t.Fatal(err)
		}
		return runs
	}
	first, second := race(0.02), race(0.03)
	// A batch is at most about two readings of the clock, of a millisecond each.
	if r := first[0]; r.Seconds < 0.02 || r.Seconds > 0.03 {
		t.Errorf("%s: %g s, want 0.02 s", r.Name, r.Seconds)
	}
	if r := first[1]; len(r.Energies) != few || r.Seconds > 0.02 {
		t.Errorf("%s: %d moves in %g s, want %d", r.Name, len(r.Energies), r.Seconds, few)
	}
	for i, r := range first {
		n := min(len(r.Energies), len(second[i].Energies))
		if r.Info.Moves != int64(len(r.Energies)) || !slices.Equal(r.Energies[:n], second[i].Energies[:n]) {
			t.Errorf("%s: %d moves for %d energies, or equal keys give other moves", r.Name, r.Info.Moves, len(r.Energies))
		}
	}
	if n := min(len(first[0].Energies), len(first[1].Energies)); slices.Equal(first[0].Energies[:n], first[1].Energies[:n]) {
		t.Error("both samplers have the same moves")
	}
	if _, err := Race(t.Context(), []Sampler{{Name: "x", Mover: mcmc.Exchange{}, System: build()}}, 1, 1, rbm.NewKey(1)); err == nil {
		t.Error("exchange without a bit that is on is no error")
	}
}

func TestRun(t *testing.T) {
	r := Run{Energies: []float64{1, 2, 3, 4}, Seconds: 2}
	for at, want := range map[float64]float64{0: 1, 0.5: 1, 0.6: 2, 2: 4, 9: 4} {
		if got := r.At(at); got != want {
			t.Errorf("after %g s the energy is %g, want %g", at, got, want)
		}
	}
	if got := r.After(0.5); !slices.Equal(got, []float64{3, 4}) {
		t.Errorf("the second half is %v, want %v", got, []float64{3, 4})
	}
}

func TestDecayOfMoves(t *testing.T) {
	x := make([]float64, 40)
	r := rbm.NewKey(1).Rand()
	for i := range x {
		x[i] = r.Float64()
	}
	rho := diag.Autocorrelation(x, 20)
	want := map[float64]float64{1: rho[1], 1.25: 0.75*rho[1] + 0.25*rho[2], 20: rho[20]}
	got := map[float64]float64{}
	Decay(x, []float64{0.9, 1, 1.25, 20, 21}, 1, func(lag, rho float64) { got[lag] = rho })
	for lag, y := range want {
		if len(got) != len(want) || math.Abs(got[lag]-y) > 1e-12 {
			t.Errorf("correlations %v, want %v", got, want)
			break
		}
	}
}

func TestRelaxed(t *testing.T) {
	build := ring(t)
	count := func(x []uint8) (n int) {
		for _, b := range x {
			n += int(b)
		}
		return n
	}
	x, err := Relaxed(build(), mcmc.Exchange{}, 2, 5, 10, rbm.NewKey(1))
	if err != nil || count(x) != 5 {
		t.Errorf("%v, %v: want 5 bits on", x, err)
	}
	// At β = 20 a relaxed ring has at most two domain walls.
	s := build()
	if x, err = Relaxed(s, mcmc.Gibbs{Order: mcmc.Random}, 20, 0, 1000, rbm.NewKey(1)); err != nil || s.Energy() > -8 || !slices.Equal(x, s.State()) {
		t.Errorf("%v, %v: energy %g", x, err, s.Energy())
	}
}

// If a move costs 2, a lag of 3 is between one and two moves. Unknown lags are left out.
func TestDecay(t *testing.T) {
	x := make([]float64, 40)
	r := rbm.NewKey(1).Rand()
	for i := range x {
		x[i] = r.Float64()
	}
	rho := diag.Autocorrelation(x, 2)
	got := map[float64]float64{}
	Decay(x, []float64{1, 3, 50}, 2, func(lag, rho float64) { got[lag] = rho })
	if want := (rho[1] + rho[2]) / 2; len(got) != 1 || math.Abs(got[3]-want) > 1e-12 {
		t.Errorf("got %v, want %v at lag 3 alone", got, want)
	}
}
