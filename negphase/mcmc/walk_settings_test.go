package mcmc

import (
	"math"
	"strings"
	"testing"

	"gorbm/rbm"
)

// Settings that cannot run give an error of one line with the reason.
func TestWalksRefuse(t *testing.T) {
	g := randomGraph(t, 6, true, 3)
	half := []uint8{1, 0, 1, 0, 1, 0}
	one := []uint8{0, 0, 1, 0, 0, 0}
	sardonics := func(low, high int, change func(m *Sardonics)) Sardonics {
		m := DefaultSardonics()
		m.MinLength, m.MaxLength = low, high
		change(&m)
		return m
	}
	same := func(*Sardonics) {}
	single := func(m *Sardonics) { m.Single = true }
	im := func(low, high int) Intracluster {
		return Intracluster{MinLength: low, MaxLength: high, GammaDown: 1, GammaUp: 1, Weights: HeatBath}
	}
	free, err := NewGraph(make([]float64, 6), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sardonics(3, 3, single).Bind(NewIsing(free, nil), 1, nil); err == nil || !strings.Contains(err.Error(), "without couplings") {
		t.Errorf("walks of 3 flips that cost nothing: error %v, want %q in it", err, "without couplings")
	}
	for _, c := range []struct {
		m     Mover
		state []uint8
		beta  float64
		sites []int32
		want  string // part of the error; "" if the settings are valid
	}{
		{sardonics(1, 6, same), nil, 1, nil, ""},
		{sardonics(1, 1, single), nil, 1, nil, ""},
		{sardonics(3, 3, single), nil, 1, nil, ""},
		{sardonics(1, 1, single), nil, 1, []int32{4}, ""},
		{sardonics(1, 7, same), nil, 1, nil, "longer than the system of 6 units; give k at most 6"},
		{sardonics(1, 3, same), nil, 1, []int32{0, 1}, "longer than the system of 2 units"},
		{sardonics(5, 5, single), nil, 1, []int32{0, 1, 2, 3, 4}, "only two states can be reached"},
		{sardonics(2, 2, single), nil, 1, nil, "even number"},
		{sardonics(3, 3, same), nil, 1, nil, "even number"},
		{sardonics(1, 1, same), nil, 1, nil, "let the length vary, such as k=1-2"},
		{sardonics(3, 3, single), nil, 0, nil, "beta 0"},
		{sardonics(0, 3, same), nil, 1, nil, "lengths must lie in"},
		{sardonics(1, MaxLength+1, same), nil, 1, nil, "lengths must lie in"},
		{sardonics(1, 3, func(m *Sardonics) { m.Gamma1 = math.Inf(1) }), nil, 1, nil, "gamma is +Inf"},
		{sardonics(1, 3, func(m *Sardonics) { m.Gamma1 = 1e300 }), nil, 1e300, nil, "overflows"},
		{sardonics(1, 3, func(m *Sardonics) { m.Gamma1 = 1e5 }), nil, 1, nil, ""},
		{sardonics(1, 3, func(m *Sardonics) { m.Gamma1, m.Weights = 1e5, Boltzmann }), nil, 1, nil, "use weights=heatbath or gamma of at most"},
		{sardonics(1, 3, func(m *Sardonics) { m.Weights = "" }), nil, 1, nil, "heatbath or boltzmann"},
		{sardonics(1, 3, func(m *Sardonics) { m.Walks = MaxWalks + 1 }), nil, 1, nil, "walks is"},
		{sardonics(1, 3, func(m *Sardonics) { m.Mix[2] = math.NaN() }), nil, 1, nil, "must not be negative"},
		{sardonics(1, 3, same), nil, -1, nil, "inverse temperature"},
		{sardonics(1, 3, same), nil, 1, []int32{9}, "numbered 0 to 5"},
		{im(1, 3), half, 1, nil, ""},
		{im(3, 3), half, 1, nil, ""},
		{im(1, 1), one, 1, nil, ""},
		{im(1, 2), one, 1, nil, "1 sites are on and 5 are off; give k at most 1"},
		{im(1, 4), half, 1, nil, "give k at most 3"},
		{im(1, 1), nil, 1, nil, "0 of 6 sites are on"},
		{im(2, 1), half, 1, nil, "must not exceed"},
		{Intracluster{MinLength: 1, MaxLength: 1, Weights: HeatBath, GammaUp: math.NaN()}, half, 1, nil, "gamma is NaN"},
	} {
		_, err := c.m.Bind(NewIsing(g, c.state), c.beta, c.sites)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%+v: %v", c.m, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%+v: error %v, want …%s…", c.m, err, c.want)
		}
	}
}

// If the shell of a chain becomes too small for some lengths, the chain does not draw these. It does not move if none
// is left.
func TestIntraclusterOnASmallerShell(t *testing.T) {
	ising := NewIsing(randomGraph(t, 6, true, 3), []uint8{1, 1, 1, 0, 0, 0})
	chain := mustBind(t, Intracluster{MinLength: 2, MaxLength: 3, GammaDown: 1, GammaUp: 1, Weights: HeatBath}, ising, 0.3)
	r := rbm.NewKey(4).Rand()
	for n, most := range map[int]int64{4: 4, 5: 0} {
		state := make([]uint8, 6)
		for i := range n {
			state[i] = 1
		}
		ising.SetState(state)
		chain.Reset()
		for range 20 {
			if info := chain.Move(r); info.Flips != most {
				t.Fatalf("%d flips on the shell of %d, want %d", info.Flips, n, most)
			}
		}
	}
}
