package mcmc

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gorbm/rbm"
)

// wolffKernel returns the transition matrix of a Wolff chain with one cluster per move. A move is determined by the
// first site and by the bonds that join, including those to the ghost. wolffKernel enumerates all choices of both, and
// lets the chain grow the cluster.
func wolffKernel(s *Ising, c *wolff) *mat.Dense {
	n, g := s.Len(), s.graph
	k := mat.NewDense(1<<n, 1<<n, nil)
	joins, ghost := slices.Clone(c.joins), slices.Clone(c.ghost)
	type choice struct {
		p  float64
		at []*chance // both directions of a bond, or the ghost bond of a site
	}
	var all []choice
	for i := range int32(n) {
		if ghost[i] > 0 {
			all = append(all, choice{float64(ghost[i]) * 0x1p-53, []*chance{&c.ghost[i]}})
		}
		for a := g.start[i]; a < g.start[i+1]; a++ {
			j := g.neighbor[a]
			if i > j {
				continue
			}
			b := g.start[j] + int32(slices.Index(g.neighbor[g.start[j]:g.start[j+1]], i))
			all = append(all, choice{float64(joins[a]) * 0x1p-53, []*chance{&c.joins[a], &c.joins[b]}})
		}
	}
	draws := newStream(rbm.NewKey(1).Rand()) // has no influence, because every chance is 0 or 1
	for chosen := range 1 << len(all) {
		p := 1 / float64(len(c.sites))
		for i, one := range all {
			here, q := chance(0), 1-one.p
			if chosen>>i&1 == 1 {
				here, q = always, one.p
			}
			p *= q
			for _, at := range one.at {
				*at = here
			}
		}
		for x := range 1 << n {
			for _, seed := range c.sites {
				s.SetState(stateOf(x, n))
				y := x
				free := c.grow(seed, &draws)
				for _, i := range c.cluster {
					c.kind[i] = outside
					if free {
						y ^= 1 << i
					}
				}
				k.Set(x, y, k.At(x, y)+p)
			}
		}
	}
	copy(c.joins, joins)
	copy(c.ghost, ghost)
	return k
}

func TestWolffIsInDetailedBalance(t *testing.T) {
	const beta = 0.6
	for name, g := range map[string]*Graph{
		"real":     realGraph(t, 4),
		"integer":  integerGraph(t, 4, 1),
		"signs":    lattice(t, "3x2", PlusMinus(1, rbm.NewKey(5)), 0),
		"field":    lattice(t, "2x2", Uniform(-0.5), 0.25),
		"no field": lattice(t, "4", Uniform(1), 0),
	} {
		pi := boltzmann(energies(g), beta)
		for _, sites := range [][]int32{nil, {2, 0}} {
			s := NewIsing(g, nil)
			c := must(Wolff{1}.Bind(s, beta, sites))(t).(*wolff)
			if d := max(imbalance(pi, wolffKernel(s, c)), drift(pi, wolffKernel(s, c))); d > exact {
				t.Errorf("%s, sites %v: out of balance by %g, want at most %g", name, sites, d, exact)
			}
		}
	}
}

// Three broken versions are detected: no ghost, half of β in the bonds, and held sites that flip.
func TestBrokenWolffIsFound(t *testing.T) {
	const beta = 0.6
	g := integerGraph(t, 4, 1)
	pi := boltzmann(energies(g), beta)
	for name, breaks := range map[string]func(c *wolff){
		"no ghost": func(c *wolff) { clear(c.ghost) },
		"half": func(c *wolff) {
			for k, p := range c.joins {
				c.joins[k] = chanceOf(1 - math.Sqrt(1-float64(p)*0x1p-53))
			}
		},
		"ghost of half the field": func(c *wolff) {
			for k, p := range c.ghost {
				c.ghost[k] = chanceOf(1 - math.Sqrt(1-float64(p)*0x1p-53))
			}
		},
	} {
		s := NewIsing(g, nil)
		c := must(Wolff{1}.Bind(s, beta, nil))(t).(*wolff)
		breaks(c)
		if d := drift(pi, wolffKernel(s, c)); d < broken {
			t.Errorf("%s: the distribution moves by %g only", name, d)
		}
	}
}

func TestWolffRefusals(t *testing.T) {
	p := NewParameters(gaussianRBM(3, 2, 1, 1))
	if _, err := (Wolff{1}).Bind(NewRBM(p), 1, nil); err == nil {
		t.Error("clusters of an RBM")
	}
	s := NewIsing(realGraph(t, 4), nil)
	for _, w := range []Wolff{{-1}, {0}, {maxClusters + 1}} {
		if _, err := w.Bind(s, 1, nil); err == nil {
			t.Errorf("%d clusters", w.Clusters)
		}
	}
}

// TestWolffHoldsSites checks that only sites flip that the chain may change.
func TestWolffHoldsSites(t *testing.T) {
	s := NewIsing(lattice(t, "4x4", Uniform(1), 0), nil)
	sites := []int32{0, 1, 5, 9}
	c := must(Wolff{1}.Bind(s, 0.4, sites))(t)
	r := rbm.NewKey(2).Rand()
	var info Info
	for range 500 {
		info.Add(c.Move(r))
		for i, x := range s.State() {
			if x != 0 && !slices.Contains(sites, int32(i)) {
				t.Fatalf("spin %d flipped, which is held", i)
			}
		}
	}
	if info.Flips == 0 {
		t.Error("no spin ever flipped")
	}
}
