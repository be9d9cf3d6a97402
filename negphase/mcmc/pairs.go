package mcmc

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gorbm/data/grammar"
	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
)

// Pairs are locally balanced exchanges (Zanella 2020, of the neighbourhood of all pairs). A move
// flips one site that differs from a reference and one that agrees, drawn among all such pairs
// in proportion to g(t), t = exp(−βΔE) of the exchange: t/(1+t) with heat-bath weights, √t with
// Boltzmann weights. It is accepted with probability
//
//	min(1, t · g(1/t)/G(y) ÷ g(t)/G(x)) = min(1, G(x)/G(y)),  G the sum of the weights of all pairs,
//
// which is near 1 on large systems, where an exchange hardly changes G. It is the balanced member of the family of Intracluster, whose walks of one flip draw the
// two sites one after the other. The number of sites that differ is that of the system's state at Bind or
// Reset.
//
// On an Ising system of few equal costs a move takes a time that does not grow with the number of sites, but
// for the draw of a bond. Elsewhere it goes through all pairs twice.
type Pairs struct {
	Weights   Weights
	Reference []uint8 // of length Len; nil: all zeros
}

// keys returns the keys of m.
func (m *Pairs) keys() grammar.Keys {
	return grammar.Keys{weightsKey(&m.Weights)}
}

// Check returns an error that names the setting that is out of range.
func (m Pairs) Check() error { return m.keys().Check("pairs") }

// Bind returns the chain; see Mover. It is an error if no site differs from the reference, or
// all do, since then nothing can move.
func (m Pairs) Bind(s System, beta float64, sites []int32) (Chain, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	bound, err := Exchange{m.Reference}.Bind(s, beta, sites)
	if err != nil {
		return nil, fmt.Errorf("pairs: %w", err)
	}
	e := bound.(*exchange) // which has the sites on both sides, and the costs of pairs
	n := len(e.sites)
	links := 0
	if e.ising != nil {
		links = len(e.ising.graph.neighbor)
	}
	gamma := m.Weights.Balanced()
	b, err := newPairBiases(m.Weights, s, beta, n/2*(n-n/2)+links, gamma)
	if err != nil {
		return nil, err
	}
	c := &pairsChain{beta: beta}
	if lists, ok := newClasses(s, e.sites, e.reference, b); ok {
		c.pairs = newPairClasses(lists, b)
	} else {
		c.pairs = &pairTable{exchange: e, scale: b.scale[0], table: walk.NewTable(b.weight[0]), rows: make([]uint64, n)}
	}
	c.Reset()
	return c, nil
}

// newPairBiases returns the weights of exchanges of s, as newBiases does of flips. An exchange is two flips.
func newPairBiases(weights Weights, s System, beta float64, pairs int, gamma float64) (biases, error) {
	top, _ := largestCost(s)
	return newBiasesUpTo("pairs", weights, s, 2*top, beta, pairs, gamma, gamma)
}

// A weightedPairs are all pairs of a site that differs from the reference and one that agrees, with their
// weights.
type weightedPairs interface {
	reset()
	// total returns the weight of all pairs, 0 if there are none.
	total() uint64
	// draw draws a pair in proportion to its weight.
	draw(r *rand.Rand) (differ, agree int32)
	// weight returns the weight of a pair, and cost what its exchange costs.
	weight(differ, agree int32) uint64
	cost(differ, agree int32) float64
	// swap exchanges a pair: the site that differed agrees then.
	swap(differ, agree int32)
	// commit keeps the state.
	commit()
	size() int // number of pairs
}

// A pairsChain is Pairs on one system.
type pairsChain struct {
	pairs weightedPairs
	beta  float64
}

// Reset takes over the state of the system after it was changed elsewhere.
func (c *pairsChain) Reset() { c.pairs.reset() }

// Warning implements Warner.
func (c *pairsChain) Warning() string {
	if c.pairs.size() != 1 {
		return ""
	}
	return "pairs: there is a single pair; if its two states have equal energy, the chain alternates between them"
}

// Move exchanges a pair, or leaves it.
func (c *pairsChain) Move(r *rand.Rand) Info {
	before := c.pairs.total()
	if before == 0 {
		return Info{Moves: 1} // after a Reset to a state that cannot move
	}
	i, j := c.pairs.draw(r)
	ratio := c.take(i, j, before)
	info := Info{Moves: 1, Updates: 1, Proposals: 1, Flips: 2}
	if ratio >= 0 || r.Float64() < rbm.Exp(ratio) {
		info.Accepted = 1
	} else {
		c.pairs.swap(j, i)
	}
	c.pairs.commit()
	return info
}

// take exchanges a pair of a state in which the pairs weigh before, and returns the logarithm of the ratio of
// acceptance.
func (c *pairsChain) take(i, j int32, before uint64) float64 {
	rise, forward := c.pairs.cost(i, j), c.pairs.weight(i, j)
	c.pairs.swap(i, j)
	there := walk.One
	there.Times(forward, before)
	back := walk.One
	back.Times(c.pairs.weight(j, i), c.pairs.total())
	return -float64(c.beta*rise) + back.Log() - there.Log()
}

// A pairTable goes through all pairs of any system.
type pairTable struct {
	*exchange
	scale float64
	table *walk.Table
	rows  []uint64 // weights of the pairs of each site that differs
	sum   uint64
}

func (w *pairTable) reset() {
	w.exchange.Reset()
	w.weigh()
}

// weigh renews the weights of all pairs.
func (w *pairTable) weigh() {
	w.sum = 0
	for a, i := range w.slots[:w.differ] {
		w.rows[a] = 0
		for _, j := range w.slots[w.differ:] {
			w.rows[a] += w.weight(i, j)
		}
		w.sum += w.rows[a]
	}
}

func (w *pairTable) total() uint64 { return w.sum }
func (w *pairTable) size() int     { return w.differ * (len(w.slots) - w.differ) }

func (w *pairTable) draw(r *rand.Rand) (differ, agree int32) {
	x, a := walk.Below(r, w.sum), 0
	for ; x >= w.rows[a]; a++ {
		x -= w.rows[a]
	}
	i, b := w.slots[a], w.differ
	for ; ; b++ {
		weight := w.weight(i, w.slots[b])
		if x < weight {
			return i, w.slots[b]
		}
		x -= weight
	}
}

func (w *pairTable) weight(differ, agree int32) uint64 {
	return w.table.Weight(float64(w.scale * w.pairCost(differ, agree)))
}

func (w *pairTable) cost(differ, agree int32) float64 { return w.pairCost(differ, agree) }

func (w *pairTable) swap(differ, agree int32) {
	w.flip(differ)
	w.flip(agree)
	a, b := slices.Index(w.slots, differ), slices.Index(w.slots, agree)
	w.slots[a], w.slots[b] = agree, differ
	w.weigh()
}

func (w *pairTable) commit() {}

// A pairClasses are the pairs of an Ising system on classes of equal cost. Two sites that are not coupled are
// exchanged at the sum of their costs, so that a pair of classes has a weight. Coupled
// ones, the bonds, have separate weights.
type pairClasses struct {
	classes
	by []uint64 // weight of a pair by the sum of the classes of its sites, less the step of their bond

	bond  []int32      // of each link
	ends  [][2]int32   // of each bond
	step  []int32      // of each bond; see link
	bonds *walk.Blocks // weights of the bonds between sites on two sides
	plain []uint64     // of each such bond, what it would weigh without its coupling
	gone  uint64       // sum of plain
	all   uint64       // weight of all pairs, as if none were coupled
}

func newPairClasses(c classes, b biases) *pairClasses {
	w := &pairClasses{classes: c, bond: make([]int32, len(c.link))}
	w.by = make([]uint64, 2*w.n-1)
	for k := range w.by {
		half := int64(k)<<w.shift - 2*int64(w.reach)
		w.by[k] = b.weight[0].Weight(float64(b.scale[0] * w.ising.graph.cost(half)))
	}
	for i := range w.state {
		for at := w.head[i]; at < w.head[i+1]; at++ {
			j := w.link[at].to()
			if int(j) > i {
				w.bond[at] = int32(len(w.ends))
				w.ends = append(w.ends, [2]int32{int32(i), j})
				w.step = append(w.step, w.link[at].step())
			} else {
				w.bond[at] = w.bond[w.linkTo(j, int32(i))]
			}
		}
	}
	w.bonds, w.plain = walk.NewBlocks(len(w.ends)), make([]uint64, len(w.ends))
	return w
}

// linkTo returns the index of the link from site i to j, or −1.
func (w *pairClasses) linkTo(i, j int32) int32 {
	for at := w.head[i]; at < w.head[i+1]; at++ {
		if w.link[at].to() == j {
			return at
		}
	}
	return -1
}

func (w *pairClasses) reset() {
	w.classes.reset()
	w.bonds.Clear()
	clear(w.plain)
	w.gone = 0
	for k := range w.ends {
		w.renewBond(int32(k))
	}
	w.weigh()
}

// class returns the class of a site.
func (w *pairClasses) class(i int32) int32 { return int32(w.lists.Node[i].List) % int32(w.n) }

// renewBond renews the weights of a bond.
func (w *pairClasses) renewBond(k int32) {
	i, j := w.ends[k][0], w.ends[k][1]
	a, b := &w.lists.Node[i], &w.lists.Node[j]
	w.gone -= w.plain[k]
	w.plain[k] = 0
	own := uint64(0)
	if a.Pos >= 0 && b.Pos >= 0 && (int(a.List) < w.n) != (int(b.List) < w.n) {
		sum := w.class(i) + w.class(j)
		w.plain[k] = w.by[sum]
		own = w.by[sum-w.step[k]*int32(a.Spin)*int32(b.Spin)]
	}
	w.gone += w.plain[k]
	w.bonds.Set(int(k), own)
}

// weigh renews the weight of all pairs from the numbers of sites in each class.
func (w *pairClasses) weigh() {
	w.all = 0
	for c := range w.n {
		n := uint64(w.lists.List[w.n+c].N())
		if n == 0 {
			continue
		}
		sum := uint64(0)
		for d := range w.n {
			sum += uint64(w.lists.List[d].N()) * w.by[c+d]
		}
		w.all += n * sum
	}
}

func (w *pairClasses) total() uint64 { return w.all - w.gone + w.bonds.Total }

func (w *pairClasses) size() int {
	n := (&classShell{w.classes}).sizes()
	return n[agrees] * n[differs]
}

func (w *pairClasses) draw(r *rand.Rand) (differ, agree int32) {
	if x := walk.Below(r, w.total()); x < w.bonds.Total {
		ends := w.ends[w.bonds.Find(x)]
		if int(w.lists.Node[ends[0]].List) < w.n {
			return ends[1], ends[0]
		}
		return ends[0], ends[1]
	}
	for { // all pairs as if none were coupled; those that are have been drawn above
		if i, j := w.drawPlain(walk.Below(r, w.all)); w.linkTo(i, j) < 0 {
			return i, j
		}
	}
}

// drawPlain returns the pair into whose share x falls as if none were coupled.
func (w *pairClasses) drawPlain(x uint64) (differ, agree int32) {
	for c := range w.n {
		from := &w.lists.List[w.n+c]
		if from.N() == 0 {
			continue
		}
		for d := range w.n {
			to := &w.lists.List[d]
			weight, n := w.by[c+d], uint64(to.N())
			share := uint64(from.N()) * n * weight
			if x < share {
				at := x / weight
				return w.lists.Site[from.Start+int32(at/n)], w.lists.Site[to.Start+int32(at%n)]
			}
			x -= share
		}
	}
	panic("mcmc: no such pair")
}

// sumOf returns the sum of the classes of a pair, less the step of its bond.
func (w *pairClasses) sumOf(i, j int32) int32 {
	sum := w.class(i) + w.class(j)
	if at := w.linkTo(i, j); at >= 0 {
		sum -= w.link[at].step() * int32(w.lists.Node[i].Spin) * int32(w.lists.Node[j].Spin)
	}
	return sum
}

func (w *pairClasses) weight(differ, agree int32) uint64 { return w.by[w.sumOf(differ, agree)] }

func (w *pairClasses) cost(differ, agree int32) float64 {
	return w.ising.graph.cost(int64(w.sumOf(differ, agree))<<w.shift - 2*int64(w.reach))
}

func (w *pairClasses) swap(differ, agree int32) {
	for _, i := range [2]int32{differ, agree} {
		w.sum += int64(w.lists.List[w.lists.Node[i].List].Half)
		w.flip(i)
	}
	for _, i := range [2]int32{differ, agree} {
		w.renewBonds(i)
		for _, l := range w.links(i) {
			w.renewBonds(l.to())
		}
	}
	w.weigh()
}

// renewBonds renews the weights of the bonds of a site.
func (w *pairClasses) renewBonds(i int32) {
	for _, k := range w.bond[w.head[i]:w.head[i+1]] {
		w.renewBond(k)
	}
}

var _ Mover = Pairs{}
