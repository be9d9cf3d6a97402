package tune

import (
	"math"
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
// corners, and maps them back.
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
			for _, paper := range []bool{false, true} {
				for _, held := range [][]string{nil, {"k"}, {"gamma"}, {"walks", "mix"}} {
					if len(held) == 1 && held[0] == "k" && n < 25 {
						continue // the lengths of base are too large
					}
					s, err := NewSpace(base, held, n, Limits{}, paper)
					if err != nil {
						t.Fatal(err)
					}
					dims := len(s.Ranges)
					points := append(LatinHypercube(30, dims, rbm.NewKey(1)), make([]float64, dims), ones(dims))
					for _, u := range points {
						m := s.Mover(u)
						if _, err := m.Bind(mcmc.NewIsing(g, state), 0.1, nil); err != nil {
							t.Fatalf("%s, paper %v, held %v: %v is %s: %v", lattice, paper, held, u, mcmc.FormatMover(m), err)
						}
						if again := s.Mover(s.Point(m)); !alike(m, again) {
							t.Fatalf("%s comes back as %s", mcmc.FormatMover(m), mcmc.FormatMover(again))
						}
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

// alike reports whether settings are equal up to rounding of real numbers.
func alike(x, y mcmc.Sardonics) bool {
	apart := math.Abs(x.Gamma1-y.Gamma1) + math.Abs(x.Gamma2-y.Gamma2)
	for t := range x.Mix {
		apart += math.Abs(x.Mix[t] - y.Mix[t])
	}
	return x.MinLength == y.MinLength && x.MaxLength == y.MaxLength && x.Walks == y.Walks && apart < 1e-9
}

// Whole numbers are equally probable, and the three frequencies are uniformly distributed
// in their triangle: each has mean ⅓.
func TestSharesAreEven(t *testing.T) {
	r := Range{"N", 1, 5, true, false}
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
	var mean [3]float64
	for _, u := range LatinHypercube(n, 2, rbm.NewKey(4)) {
		p := triangle(u[0], u[1])
		if math.Abs(p[0]+p[1]+p[2]-1) > 1e-12 || p[0] < 0 || p[1] < 0 || p[2] < 0 {
			t.Fatalf("%v", p)
		}
		for k := range mean {
			mean[k] += p[k] / n
		}
	}
	for k, m := range mean { // the standard deviation of each is 1/√18
		if math.Abs(m-1./3) > 4/math.Sqrt(18*n) {
			t.Errorf("share %d has mean %v, want %v ± %.3g", k, m, 1./3, 4/math.Sqrt(18*n))
		}
	}
}

func TestBadSpaces(t *testing.T) {
	sardonics := mcmc.DefaultSardonics()
	for want, c := range map[string]struct {
		m      mcmc.Sardonics
		held   []string
		room   int
		limits Limits
	}{
		"nothing is left to tune":   {sardonics, []string{"k", "gamma", "walks", "mix"}, 9, Limits{}},
		"k=9-3 leave no length":     {sardonics, nil, 99, Limits{Length: [2]int{9, 3}}},
		"room for 20 flips":         {sardonics, nil, 20, Limits{Length: [2]int{30, 40}}},
		"2 lengths or more":         {sardonics, nil, 99, Limits{Length: [2]int{5, 5}}},
		"gamma=2/1 leave no bias":   {sardonics, nil, 99, Limits{Gamma: [2]float64{2, 1}}},
		"walks=0-3 leave no number": {sardonics, nil, 99, Limits{Walks: [2]int{0, 3}}},
	} {
		if _, err := NewSpace(c.m, c.held, c.room, c.limits, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
