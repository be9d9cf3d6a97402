package mcmc

import (
	"fmt"
	"math/rand/v2"

	"gorbm/data/grammar"
)

// maxClusters bounds Wolff.Clusters.
const maxClusters = 1 << 20

// Wolff updates an Ising system by single clusters (Wolff 1989), with couplings of either sign and
// fields. A cluster grows from a random site and then flips. It grows over satisfied bonds with the
// probabilities of SwendsenWang. So large clusters flip more often than with SwendsenWang. A cluster
// does not flip if it reaches the ghost spin of the fields or a site that the chain must not change. A
// move grows the given number of clusters.
//
// At β = 0 or without couplings, each cluster is one spin, which always flips. With one cluster per move
// the chain then has period 2. Averages over its moves are correct, but the parity of the state
// after a given move is not random.
type Wolff struct{ Clusters int }

func (w *Wolff) keys() grammar.Keys {
	return grammar.Keys{grammar.Count("clusters", &w.Clusters, 1, 1, maxClusters, "number of clusters per move")}
}

// Check returns an error if the number of clusters is out of range.
func (w Wolff) Check() error { return w.keys().Check("wolff") }

// Bind returns the chain; see Mover. It is an error if s is not an Ising.
func (w Wolff) Bind(s System, beta float64, sites []int32) (Chain, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	sites, err := bindable(s, beta, sites)
	if err != nil {
		return nil, err
	}
	is, ok := s.(*Ising)
	if !ok {
		return nil, fmt.Errorf("wolff: clusters need the couplings of an Ising system; use another sampler")
	}
	g := is.graph
	c := &wolff{ising: is, beta: beta, clusters: w.Clusters, sites: sites,
		joins: make([]chance, len(g.neighbor)), ghost: make([]chance, g.Len()), kind: make([]uint8, g.Len())}
	for i := range c.kind {
		c.kind[i] = held
	}
	c.takeCouplings()
	for _, i := range sites {
		c.kind[i] = outside
	}
	return c, nil
}

// The kinds of a site. The chain must not flip a held site.
const (
	outside = iota
	inside
	held
)

// takeCouplings computes the probabilities of the bonds.
func (c *wolff) takeCouplings() {
	for i, h := range c.ising.graph.field {
		c.ghost[i] = newBond(0, 0, h, c.beta).joins
	}
	for k, coupling := range c.ising.graph.coupling {
		c.joins[k] = newBond(0, 0, coupling, c.beta).joins
	}
}

type wolff struct {
	ising    *Ising
	beta     float64
	clusters int
	sites    []int32
	joins    []chance // for each element of Graph.neighbor: probability of joining it if the bond is satisfied
	ghost    []chance // [site] probability of joining the ghost if the spin points along its field
	kind     []uint8  // [site] outside, inside or held
	cluster  []int32  // sites of the current cluster
}

// Reset recomputes the probabilities of the bonds if the couplings can change.
func (c *wolff) Reset() {
	if c.ising.graph.changes {
		c.takeCouplings()
	}
}

// Move grows the clusters, one after the other, and flips them.
func (c *wolff) Move(r *rand.Rand) Info {
	draws := newStream(r)
	info := Info{Moves: 1, Updates: int64(c.clusters)}
	for range c.clusters {
		free := c.grow(c.sites[belowWord(len(c.sites), draws.next())], &draws)
		for _, i := range c.cluster {
			c.kind[i] = outside
			if free {
				c.ising.Flip(int(i))
				info.Flips++
			}
		}
	}
	return info
}

// grow grows the cluster of a site and reports whether it may flip. It stops early if the cluster may
// not flip.
func (c *wolff) grow(seed int32, draws *stream) bool {
	g, state := c.ising.graph, c.ising.state
	c.cluster = append(c.cluster[:0], seed)
	c.kind[seed] = inside
	for at := 0; at < len(c.cluster); at++ {
		i := c.cluster[at]
		x := state[i]
		if c.ghost[i] > 0 && (g.field[i] > 0) == (x == 1) && c.ghost[i].happens(draws.next()) {
			return false
		}
		for k := g.start[i]; k < g.start[i+1]; k++ {
			j := g.neighbor[k]
			if c.kind[j] == inside || (g.coupling[k] > 0) != (state[j] == x) || !c.joins[k].happens(draws.next()) {
				continue
			}
			if c.kind[j] == held {
				return false
			}
			c.kind[j] = inside
			c.cluster = append(c.cluster, j)
		}
	}
	return true
}
