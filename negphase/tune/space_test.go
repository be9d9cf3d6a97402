package tune

import (
	"strings"
	"testing"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

func glass(t testing.TB, name string) *mcmc.Graph {
	t.Helper()
	l, err := mcmc.ParseLattice(name, true)
	if err != nil {
		t.Fatal(err)
	}
	g, err := l.Graph(mcmc.PlusMinus(1, rbm.NewKey(3)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestEveryPointIsLegal binds the settings of many points of the cube, including its
// corners.
func TestEveryPointIsLegal(t *testing.T) {
	for _, lattice := range []string{"3", "3x3", "20x20"} {
		g := glass(t, lattice)
		n := g.Len()
		state := make([]uint8, n)
		for i := range n / 2 {
			state[i] = 1
		}
		boltzmann := mcmc.DefaultSardonics()
		boltzmann.Weights = mcmc.Boltzmann
		single := mcmc.DefaultSardonics()
		single.Single = true
		for _, base := range []mcmc.Sardonics{mcmc.DefaultSardonics(), boltzmann, single} {
			for _, held := range [][]string{nil, {"k"}, {"gamma"}, {"walks", "mix"}} {
				if len(held) == 1 && held[0] == "k" && n < 25 {
					continue // the lengths of base are too large
				}
				s, err := NewSpace(base, held, n, [2]int{})
				if err != nil {
					t.Fatal(err)
				}
				dims := len(s.Ranges)
				for _, u := range append(LatinHypercube(30, dims, rbm.NewKey(1)), make([]float64, dims), ones(dims)) {
					m := s.Mover(u)
					if _, err := m.Bind(mcmc.NewIsing(g, state), 0.1, nil); err != nil {
						t.Fatalf("%s, held %v: %v is %s: %v", lattice, held, u, mcmc.FormatMover(m), err)
					}
				}
			}
		}
	}
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// Whole numbers are equally probable.
func TestWholeNumbersAreEven(t *testing.T) {
	r := Range{"N", 1, 5, true}
	counts := map[float64]int{}
	const n = 5000
	for i := range n {
		counts[r.at((float64(i)+0.5)/n)]++
	}
	for v := 1.0; v <= 5; v++ {
		if counts[v] != n/5 {
			t.Errorf("%v has %d of %d, want %d", v, counts[v], n, n/5)
		}
	}
}

func TestBadSpaces(t *testing.T) {
	sardonics := mcmc.DefaultSardonics()
	for want, c := range map[string]struct {
		m    mcmc.Sardonics
		held []string
		room int
		k    [2]int
	}{
		"nothing is left to tune": {sardonics, []string{"k", "gamma", "walks", "mix"}, 9, [2]int{}},
		"k=9-3 leave no length":   {sardonics, nil, 99, [2]int{9, 3}},
		"room for 20 flips":       {sardonics, nil, 20, [2]int{30, 40}},
		"2 lengths or more":       {sardonics, nil, 99, [2]int{5, 5}},
	} {
		if _, err := NewSpace(c.m, c.held, c.room, c.k); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
