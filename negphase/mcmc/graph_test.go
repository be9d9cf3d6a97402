package mcmc

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

func TestEnergiesAndCostsAreTheDefinitions(t *testing.T) {
	for name, g := range graphs(t) {
		s := NewIsing(g, nil)
		// By definition the energy is a sum of at most 21 terms, each with a rounding error.
		tolerance := 32 * 0x1p-53 * float64(g.Len()) * g.maxField
		for x, want := range energies(g) {
			s.SetState(stateOf(x, g.Len()))
			if got := s.Energy(); math.Abs(got-want) > tolerance {
				t.Errorf("%s: energy of state %b is %g, want %g", name, x, got, want)
			}
			for i, d := range flipCosts(s) {
				if want := energyOf(g, stateOf(x^1<<i, g.Len())) - want; math.Abs(d-want) > 2*tolerance {
					t.Errorf("%s: flip of %d in %b costs %g, want %g", name, i, x, d, want)
				}
			}
		}
	}
}

// Fields, costs and energy are identical to their recomputation.
func TestFlipsNeverDrift(t *testing.T) {
	systems := map[string]*Graph{
		"60x60":    lattice(t, "20x20", Uniform(1), 0.5),
		"tenths":   lattice(t, "5x5x5", PlusMinus(0.1, rbm.NewKey(1)), 0.3),
		"gaussian": lattice(t, "9x9x9", Gaussian(1, rbm.NewKey(2)), 0.1),
		"wide":     lattice(t, "10x10", func(n int) []float64 { return wide(n) }, 1e-7),
		"dense":    realGraph(t, 40),
	}
	for name, g := range systems {
		r := rbm.NewKey(3).Rand()
		s := NewIsing(g, RandomState(g.Len(), rbm.NewKey(4)))
		for range 20000 {
			s.Flip(r.IntN(s.Len()))
		}
		fresh := NewIsing(g, s.State())
		if s.Energy() != fresh.Energy() || s.energy != fresh.energy {
			t.Errorf("%s: energy drifted by %g", name, s.Energy()-fresh.Energy())
		}
		if !slices.Equal(s.local, fresh.local) || !slices.Equal(s.real, fresh.real) || !slices.Equal(flipCosts(s), flipCosts(fresh)) {
			t.Errorf("%s: fields or costs drifted", name)
		}
	}
}

// wide returns couplings that span twelve orders of magnitude.
func wide(n int) []float64 {
	r := rbm.NewKey(6).Rand()
	c := make([]float64, n)
	for k := range c {
		c[k] = math.Pow(10, -12*r.Float64()) * (2*r.Float64() - 1)
	}
	return c
}

func TestFlipTellsWhatItTouched(t *testing.T) {
	g := lattice(t, "5x5", Gaussian(1, rbm.NewKey(2)), 0.1)
	s := NewIsing(g, nil)
	for i := range s.Len() {
		before := flipCosts(s)
		touched := s.Flip(i)
		for j, cost := range flipCosts(s) {
			if j != i && cost != before[j] && !slices.Contains(touched, int32(j)) {
				t.Errorf("flip of %d changed the cost of %d without telling", i, j)
			}
		}
		if slices.Contains(touched, int32(i)) || len(touched) != 4 {
			t.Errorf("flip of %d touched %v", i, touched)
		}
	}
}

func TestIntegerGraphsAreFound(t *testing.T) {
	three := 3.0 // a variable: constants are divided exactly
	for _, c := range []struct {
		name    string
		numbers []float64
		quantum float64 // 0: not an integer graph
	}{
		{"signs", []float64{1, -1, 1}, 1},
		{"halves", []float64{0.5, -0.5, 1}, 0.5},
		{"tenths", []float64{0.1, 0.2, 0.3}, 0.3 / three},
		{"two and three", []float64{2, -3, 0}, 1},
		{"thirds", []float64{1.0 / 3, 2.0 / 3, 1}, 1.0 / 3},
		{"tiny", []float64{1e-30, 3e-30, 0}, 3e-30 / three},
		{"none", []float64{0, 0, 0}, 1},
		{"irrational", []float64{1, math.Sqrt2, 1}, 0},
		{"wide", []float64{1, 1e-6, 1}, 0},
		{"off by 1e-14", []float64{1, 2 + 1e-14, 1}, 0},
		{"large", []float64{1, 60000, 1}, 1},
		{"too large", []float64{1, 70000, 1}, 0},
	} {
		g := must(NewGraph(make([]float64, 4), []Edge{{0, 1, c.numbers[0]}, {1, 2, c.numbers[1]}, {2, 3, c.numbers[2]}}))(t)
		q, ok := g.Integer()
		if ok != (c.quantum != 0) || ok && q != c.quantum {
			t.Errorf("%s: quantum %v, %v, want %v", c.name, q, ok, c.quantum)
		}
		for i, want := range c.numbers {
			// Couplings of a graph that is not an integer graph are rounded to 2⁻⁵⁰ of the largest field.
			if got := g.Coupling(i, i+1); math.Abs(got-want) > 0x1p-49*g.maxField {
				t.Errorf("%s: coupling %g became %g", c.name, want, got)
			}
		}
	}
}

// An integer graph has ΔE = 0 where sums of rounded numbers do not.
func TestEqualEnergiesAreEqualBits(t *testing.T) {
	// One spin with neighbours that pull by 0.1, 0.2 and −0.3.
	g := must(NewGraph(make([]float64, 4), []Edge{{0, 1, 0.1}, {0, 2, 0.2}, {0, 3, -0.3}}))(t)
	s := NewIsing(g, []uint8{1, 1, 1, 1})
	if d := s.FlipCost(0); d != 0 {
		t.Errorf("a flip that costs nothing costs %g, want 0", d)
	}
	a, b, c := 0.1, 0.2, 0.3
	if a+b-c == 0 {
		t.Error("sums of these numbers are not rounded: the test shows nothing")
	}
}

func TestGraphErrors(t *testing.T) {
	two := []float64{0, 0}
	for want, c := range map[string]struct {
		field []float64
		edges []Edge
	}{
		"without spins":         {nil, nil},
		"couples a spin to":     {two, []Edge{{1, 1, 1}}},
		"given twice":           {two, []Edge{{0, 1, 1}, {1, 0, 2}}},
		"numbered 0 to 1":       {two, []Edge{{0, 2, 1}}},
		"edge -1–0":             {two, []Edge{{-1, 0, 1}}},
		"coupling of edge 0–1":  {two, []Edge{{0, 1, math.NaN()}}},
		"is +Inf":               {two, []Edge{{0, 1, math.Inf(1)}}},
		"field of spin 1 is":    {[]float64{0, math.Inf(-1)}, nil},
		"scale them":            {two, []Edge{{0, 1, 1e200}}},
		"couplings and fields ": {two, []Edge{{0, 1, 1e-200}}},
	} {
		if _, err := NewGraph(c.field, c.edges); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestStatePanics(t *testing.T) {
	g := lattice(t, "3x3", Uniform(1), 0)
	for _, state := range [][]uint8{make([]uint8, 8), {0, 0, 0, 0, 2, 0, 0, 0, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for %v", state)
				}
			}()
			NewIsing(g, state)
		}()
	}
}
