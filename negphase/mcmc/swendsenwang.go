package mcmc

import (
	"fmt"
	"math/rand/v2"

	"gorbm/rbm"
)

// SwendsenWang updates an Ising system by clusters (Swendsen & Wang 1987), with
// couplings of either sign and fields. Each pair of neighbours whose coupling
// is satisfied, J_ij s_i s_j > 0, is joined with probability 1 − exp(−2β|J_ij|).
// Each spin that points along its field is joined to a ghost spin with
// probability 1 − exp(−2β|h_i|). Each cluster then flips with probability ½,
// except the cluster of the ghost and clusters with a site that the chain must not
// change. A move is one such update of all sites.
type SwendsenWang struct{}

// Bind returns the chain; see Mover. It is an error if s is not an Ising.
func (SwendsenWang) Bind(s System, beta float64, sites []int32) (Chain, error) {
	sites, err := bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	is, ok := s.(*Ising)
	if !ok {
		return nil, fmt.Errorf("sw: clusters need the couplings of an Ising system; use another sampler")
	}
	n := is.Len()
	c := &swendsenWang{ising: is, beta: beta, sites: sites,
		bits: make([]uint8, n+1), alone: make(forest, n+1), cluster: make(forest, n+1), coin: make([]uint8, n+1)}
	ghost := int32(n)
	for i := range c.alone {
		c.alone[i] = ghost // sites that must not change belong to the ghost
	}
	for _, i := range sites {
		c.alone[i] = i
	}
	c.takeCouplings()
	return c, nil
}

// takeCouplings lists the bonds that may join spins, with their probabilities.
func (c *swendsenWang) takeCouplings() {
	c.bonds = c.bonds[:0]
	ghost := int32(c.ising.Len())
	for i := range ghost {
		if h := c.ising.graph.field[i]; h != 0 {
			c.bonds = append(c.bonds, newBond(i, ghost, h, c.beta))
		}
		neighbors, couplings := c.ising.graph.Neighbors(int(i))
		for k, j := range neighbors {
			if i < j && couplings[k] != 0 && (c.alone[i] == i || c.alone[j] == j) {
				c.bonds = append(c.bonds, newBond(i, j, couplings[k], c.beta))
			}
		}
	}
}

// A clusterBond may join spins i and j.
type clusterBond struct {
	i, j   int32
	unlike uint8  // 1 if opposite spins satisfy the coupling, otherwise 0
	joins  chance // probability of joining the spins if the coupling is satisfied
}

func newBond(i, j int32, coupling, beta float64) clusterBond {
	b := clusterBond{i: i, j: j, joins: chanceOf(1 - rbm.Exp(-2*beta*max(coupling, -coupling)))}
	if coupling < 0 {
		b.unlike = 1
	}
	return b
}

type swendsenWang struct {
	ising   *Ising
	beta    float64
	sites   []int32
	bonds   []clusterBond
	bits    []uint8 // states of the spins and of the ghost, which is up
	alone   forest  // the clusters before any bond is joined
	cluster forest
	coin    []uint8 // [root of a cluster] whether it flips
}

// The values of a coin.
const (
	unthrown = iota
	stays
	flips
)

// Reset recomputes the probabilities of the bonds if the couplings can change.
func (c *swendsenWang) Reset() {
	if c.ising.graph.changes {
		c.takeCouplings()
	}
}

func (c *swendsenWang) Move(r *rand.Rand) Info {
	c.begin()
	draws := newStream(r)
	for k := range c.bonds {
		b := &c.bonds[k]
		if c.satisfied(b) && b.joins.happens(draws.next()) {
			c.cluster.join(b.i, b.j)
		}
	}
	return c.flipClusters(&draws)
}

// begin copies the state, and puts each spin that may flip into a separate cluster.
func (c *swendsenWang) begin() {
	copy(c.bits, c.ising.state)
	c.bits[len(c.bits)-1] = 1
	copy(c.cluster, c.alone)
	clear(c.coin)
}

func (c *swendsenWang) satisfied(b *clusterBond) bool { return c.bits[b.i]^c.bits[b.j] == b.unlike }

// flipClusters flips each cluster but the ghost's with probability ½.
func (c *swendsenWang) flipClusters(draws *stream) Info {
	info := Info{Moves: 1}
	c.coin[c.cluster.root(int32(len(c.bits)-1))] = stays
	for _, i := range c.sites {
		root := c.cluster.root(i)
		if c.coin[root] == unthrown {
			c.coin[root] = stays + uint8(draws.next()>>63)
			info.Updates++
		}
		if c.coin[root] == flips {
			c.ising.state[i] ^= 1
			info.Flips++
		}
	}
	c.ising.recompute()
	return info
}

// A forest represents disjoint sets as trees. Its elements are the parents of the nodes; the parent of a
// root is the root itself.
type forest []int32

// root returns the root of node i. It shortens the path to the root for later calls.
func (f forest) root(i int32) int32 {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

// join unites the sets of i and j.
func (f forest) join(i, j int32) {
	a, b := f.root(i), f.root(j)
	f[max(a, b)] = min(a, b)
}
