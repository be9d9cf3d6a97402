package main

import (
	"strings"
	"testing"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/claims/claimstest"
	"gorbm/negphase/mcmc"
)

func TestQuick(t *testing.T) {
	verdicts := claimstest.Quick(t, experiment(newPrograms()), run)
	for claim := range verdicts {
		if strings.HasPrefix(claim, "II: RBM") {
			t.Errorf("a verdict without a model: %s", claim)
		}
	}
}

func TestCommitted(t *testing.T) { claimstest.Committed(t, experiment(newPrograms())) }

// The bonds of the drawings: of a 12 × 12 corner 2·12·11, of the open cube 3·9·9·8, and of 16
// cells of the chimera 16 in each and 4 between each two neighbours, of which there are 2·4·3. All
// join sites that are drawn beside each other. With one coupling of a ferromagnet turned the
// two squares beside it cannot be satisfied.
func TestLattices(t *testing.T) {
	p := newPrograms()
	for _, c := range []struct {
		s     system
		bonds int
		most  float64 // squared length of a bond
	}{{ferro(2.27), 264, 1}, {frustrated, 264, 1}, {cube, 1944, 1}, {chimera, 16*16 + 4*24, 25}} {
		points, err := c.s.state(t.Context(), p, false)
		if err != nil {
			t.Fatal(err)
		}
		table := claims.TableOf(points...)
		n, _ := c.s.At(table, countPanel, sardonics).Average()
		bonds := append(table.Curve(c.s.Panel(bondPanel), above), table.Curve(c.s.Panel(bondPanel), below)...)
		if len(bonds) != c.bonds {
			t.Errorf("%s: %d bonds, not %d", c.s.Label, len(bonds), c.bonds)
		}
		for _, b := range bonds {
			side := c.s.side(int(n))
			from, to := c.s.place(int(b.X), side), c.s.place(int(b.Y), side)
			if d := (from.X-to.X)*(from.X-to.X) + (from.Y-to.Y)*(from.Y-to.Y); d > c.most+1e-9 {
				t.Errorf("%s: sites %v and %v are drawn %g apart", c.s.Label, b.X, b.Y, d)
				break
			}
		}
	}
	var edges []mcmc.Edge
	const side = 4
	for i := range side * side {
		x, y := i%side, i/side
		edges = append(edges, mcmc.Edge{I: int32(i), J: int32((x+1)%side + y*side), Coupling: 1}, mcmc.Edge{I: int32(i), J: int32(x + (y+1)%side*side), Coupling: 1})
	}
	for _, turned := range []int{0, 1} {
		if turned == 1 {
			edges[5].Coupling = -1
		}
		g, err := mcmc.NewGraph(make([]float64, side*side), edges)
		if err != nil {
			t.Fatal(err)
		}
		if count, share := plaquettes(g, side); count != side*side || share != float64(2*turned)/(side*side) {
			t.Errorf("%d turned: %d plaquettes, of which %g are frustrated", turned, count, share)
		}
	}
}
