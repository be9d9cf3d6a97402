package mcmc

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gorbm/rbm"
)

func TestLattices(t *testing.T) {
	for _, c := range []struct {
		spec         string
		periodic     bool
		spins, bonds int
		degree       int // number of neighbours of each spin, with multiplicity; 0: not constant
	}{
		{"60x60", true, 3600, 7200, 4},
		{"60x60", false, 3600, 2 * 60 * 59, 0},
		{"9x9x9", true, 729, 2187, 6},
		{"3x3", true, 9, 18, 4},
		{"2x2", true, 4, 4, 4}, // every bond has Times 2
		{"2x3x2", true, 12, 6 + 12 + 6, 6},
		{"5", true, 5, 5, 2},
		{"1x4", false, 4, 3, 0},
		{"chimera:4", false, 128, 16*16 + 2*4*3*4, 0}, // 16 cells with 16 bonds, 2 × 12 pairs of cells with 4 bonds
		{"chimera:3x2", false, 48, 6*16 + (2*2+3)*4, 0},
		{"chimera:3x4x2", true, 48, 12*4 + 2*12*2, 4},
		{"chimera:2x3x1", true, 12, 6 + 3 + 6, 3},
		{"chimera:1", false, 8, 16, 4},
	} {
		l := must(ParseLattice(c.spec, c.periodic))(t)
		if l.Spins != c.spins || len(l.Bonds) != c.bonds {
			t.Errorf("%s: %d spins, %d bonds, want %d, %d", c.spec, l.Spins, len(l.Bonds), c.spins, c.bonds)
		}
		degree := make([]int, l.Spins)
		even := true // all neighbours differ in parity
		for _, b := range l.Bonds {
			degree[b.I] += int(b.Times)
			degree[b.J] += int(b.Times)
			even = even && l.Parity[b.I] != l.Parity[b.J]
		}
		for i, d := range degree {
			if c.degree != 0 && d != c.degree {
				t.Errorf("%s: spin %d has %d neighbours, want %d", c.spec, i, d, c.degree)
			}
		}
		if odd := c.periodic && strings.ContainsAny(c.spec, "359"); even == odd {
			t.Errorf("%s: two-coloured by parity is %v", c.spec, even)
		}
		if _, err := l.Graph(Uniform(1), 0); err != nil {
			t.Error(err)
		}
	}
}

func TestNeighboursOfASquare(t *testing.T) {
	g := lattice(t, "4x3", Uniform(1), 0)
	for _, c := range []struct{ i, j int }{{0, 1}, {0, 3}, {0, 4}, {0, 8}, {5, 1}, {5, 4}, {5, 6}, {5, 9}, {11, 8}, {11, 3}} {
		if g.Coupling(c.i, c.j) != 1 || g.Coupling(c.j, c.i) != 1 {
			t.Errorf("%d and %d are not coupled", c.i, c.j)
		}
	}
	if g.Coupling(0, 5) != 0 {
		t.Error("a diagonal is coupled")
	}
	if j := lattice(t, "2x3", Uniform(1.5), 0).Coupling(0, 1); j != 3 {
		t.Errorf("the coupling of a periodic side of 2 is %g, want twice 1.5", j)
	}
}

func TestLatticeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"1x4":                   "periodic side of 1",
		"0x4":                   "at least 1",
		"5000x5000":             "more than 16777216 spins",
		"2147483647x2147483647": "more than",
		"chimera:0":             "at least 1",
		"chimera:1":             "periodic side of 1",
		"chimera:x":             "write chimera:4",
		"chimera:2x2x2x2":       "write chimera:4",
		"chimera:2x2x4000":      "make it smaller",
		"chimera:9999999":       "make it smaller",
	} {
		if _, err := ParseLattice(text, true); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrSpec) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	for _, text := range []string{"", "glass.txt", "60x", "x60", "60X60", "-3x4", "6.0x6", "99999999999x2"} {
		if _, err := ParseLattice(text, true); !errors.Is(err, ErrSpec) {
			t.Errorf("%q: error %v, want ErrSpec", text, err)
		}
	}
}

func TestCouplingsFollowTheirLaws(t *testing.T) {
	const n = 40000
	var ups int
	for _, c := range PlusMinus(0.5, rbm.NewKey(1))(n) {
		switch c {
		case 0.5:
			ups++
		case -0.5:
		default:
			t.Fatalf("coupling %g", c)
		}
	}
	// The standard deviation of the count is √n/2.
	if z := (float64(ups) - n/2) / (math.Sqrt(n) / 2); math.Abs(z) > 4 {
		t.Errorf("%d of %d couplings are positive: z = %.1f, want ±4 at most", ups, n, z)
	}
	var sum, squares float64
	for _, c := range Gaussian(2, rbm.NewKey(1))(n) {
		sum += c / 2
		squares += c * c / 4
	}
	// Standard deviations √n and √(2n).
	if z, z2 := sum/math.Sqrt(n), (squares-n)/math.Sqrt(2*n); math.Abs(z) > 4 || math.Abs(z2) > 4 {
		t.Errorf("normal couplings: z = %.1f of the mean, %.1f of the variance", z, z2)
	}
}
