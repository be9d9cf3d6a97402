package mcmc

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gorbm/rbm"
)

// clusterKernel returns the transition matrix of a Swendsen–Wang chain, by enumeration of
// all choices of bonds and coins.
func clusterKernel(s *Ising, c *swendsenWang) *mat.Dense {
	n := s.Len()
	k := mat.NewDense(1<<n, 1<<n, nil)
	for x := range 1 << n {
		s.SetState(stateOf(x, n))
		c.begin()
		var open []clusterBond
		for _, b := range c.bonds {
			if c.satisfied(&b) {
				open = append(open, b)
			}
		}
		for choice := range 1 << len(open) {
			p := 1.0
			copy(c.cluster, c.alone)
			for i, b := range open {
				if q := float64(b.joins) * 0x1p-53; choice>>i&1 == 1 {
					p *= q
					c.cluster.join(b.i, b.j)
				} else {
					p *= 1 - q
				}
			}
			var flips []int // masks of the sites of each cluster except the ghost's
			var roots []int32
			for _, i := range c.sites {
				root := c.cluster.root(i)
				if root == c.cluster.root(int32(n)) {
					continue
				}
				at := slices.Index(roots, root)
				if at < 0 {
					at, roots, flips = len(roots), append(roots, root), append(flips, 0)
				}
				flips[at] |= 1 << i
			}
			for coins := range 1 << len(flips) {
				y := x
				for at, mask := range flips {
					if coins>>at&1 == 1 {
						y ^= mask
					}
				}
				k.Set(x, y, k.At(x, y)+p/float64(int(1)<<len(flips)))
			}
		}
	}
	return k
}

func TestClustersAreInDetailedBalance(t *testing.T) {
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
			c := must(SwendsenWang{}.Bind(s, beta, sites))(t).(*swendsenWang)
			if d := max(imbalance(pi, clusterKernel(s, c)), drift(pi, clusterKernel(s, c))); d > exact {
				t.Errorf("%s, sites %v: out of balance by %g, want at most %g", name, sites, d, exact)
			}
		}
	}
}

// Three broken versions are detected: no ghost, bonds of the wrong sign, and half of β in the bonds.
func TestBrokenClustersAreFound(t *testing.T) {
	const beta = 0.6
	g := integerGraph(t, 4, 1)
	pi := boltzmann(energies(g), beta)
	for name, breaks := range map[string]func(c *swendsenWang){
		"no ghost": func(c *swendsenWang) {
			c.bonds = slices.DeleteFunc(c.bonds, func(b clusterBond) bool { return int(b.j) == g.Len() })
		},
		"no sign": func(c *swendsenWang) {
			for k := range c.bonds {
				c.bonds[k].unlike = 0
			}
		},
		"half": func(c *swendsenWang) {
			for k, b := range c.bonds {
				c.bonds[k].joins = chanceOf(1 - math.Sqrt(1-float64(b.joins)*0x1p-53))
			}
		},
	} {
		s := NewIsing(g, nil)
		c := must(SwendsenWang{}.Bind(s, beta, nil))(t).(*swendsenWang)
		breaks(c)
		if d := drift(pi, clusterKernel(s, c)); d < broken {
			t.Errorf("%s: the distribution moves by %g only", name, d)
		}
	}
}
