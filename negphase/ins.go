package negphase

import (
	"runtime"

	"gorbm/data/grammar"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
	"gorbm/rbm/ranks"
)

type insSettings struct{ LadderSettings }

func (s *insSettings) keys() grammar.Keys { return s.LadderSettings.keys() }

func (s *insSettings) estimator(all Settings) Estimator { return newINS(all, maxBlock) }

type pinsSettings struct {
	LadderSettings
	block int // largest number of temperatures in a block
}

// By default blocks have 8 temperatures. At 784 × 500 units, 10 groups and 30
// temperatures an update with blocks of 8 or 10 takes up to 4 % longer than an update of pt, and with
// blocks of 12 it takes 9 % longer (BenchmarkLadder).
func (s *pinsSettings) keys() grammar.Keys {
	return s.LadderSettings.keys(grammar.Count("block", &s.block, 8, 2, maxBlock, "largest number of temperatures in a block"))
}

func (s *pinsSettings) estimator(all Settings) Estimator { return newINS(all, s.block) }

// OffWeight returns the mean fraction of a group's weight, for ins or pins, that is not on the particle
// simulated at temperature 1; NaN if there are no weights. groups is the number of groups averaged over.
func (i Info) OffWeight() (mean float64, groups int64) {
	n := i.Get("Groups")
	return ratio(i.Get("Off"), n), int64(n)
}

func (s *insSettings) Figures(i Info, updates int) []Figure {
	return s.LadderSettings.weighted(i, updates)
}

func (s *pinsSettings) Figures(i Info, updates int) []Figure {
	return s.LadderSettings.weighted(i, updates)
}

// weighted returns the figures of a ladder whose particles are weighted.
func (l *LadderSettings) weighted(i Info, updates int) []Figure {
	off, groups := i.OffWeight()
	f := Figure{Key: "off_weight", Value: off, Column: true, Ladder: true}
	if groups > 0 {
		f.Text = percent(off) + " of the estimate's weight on hotter particles"
	}
	return append(l.Figures(i, updates), f)
}

// ins is infinite swapping in its Gibbs version (Hult, Nyquist & Ringqvist 2020, Algorithm 1). After
// each round of Gibbs steps the temperatures of a group are reassigned by a permutation drawn from ρ,
// the distribution of all permutations given the particles. The estimate averages over all particles
// x_k with the weights Σ_{σ: σ(k)=1} ρ_σ, which sum to 1 in a group (Proposition 2). The paper lists
// the K! permutations of K temperatures. Here sums over permutations are permanents, computed by a
// recursion over subsets.
//
// The work of ins grows like 2^K. For long ladders there is pins, partial infinite swapping (Dupuis et
// al. 2012), which draws a permutation within each block of temperatures. Two partitions into blocks
// alternate; the second is offset by half a block. The weights are computed within the block that
// contains temperature 1. If a call has an even number of rounds, this block has full length in the
// last round. With a single block pins equals ins.
type ins struct {
	ladder
	block int // largest number of temperatures in a block
	parts []*insPart
	off   []float64 // for each group: 1 minus the weight of the particle simulated at temperature 1
	loop  parallel.Loop

	// The current work, which is divided among the parts: the block of temperatures lo … hi−1 in the
	// groups from … to−1.
	lo, hi, from, to int
	weigh            bool // compute weights too
	draws            rbm.Key
}

// An insPart is the working memory of one parallel task, which permutes some of the groups.
type insPart struct {
	perms    [maxBlock + 1]*permanent // [number of temperatures in the block]
	energies []float64                // [temperature] of a block's particles
	share    []float64                // [temperature] weights of these particles
	drawn    []int                    // [temperature] new particle there
	before   []int32                  // [temperature] row of the particle there before the draw
	draws    rbm.Key
	first    uint64 // number of the block's first uniform variate
	uniform  func(j int) float64
}

func newINS(s Settings, block int) *ins {
	n := &ins{ladder: newLadder(s), block: block}
	n.off = make([]float64, n.groups)
	n.loop.Body = n.permutePart
	return n
}

// newPart returns working memory for blocks of the given number of temperatures.
func newPart(block int) *insPart {
	p := &insPart{
		energies: make([]float64, block), share: make([]float64, block),
		drawn: make([]int, block), before: make([]int32, block),
	}
	p.uniform = func(j int) float64 { return p.draws.Uniform(p.first + uint64(j)) }
	return p
}

func (n *ins) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := n.prepare(m, pos, key.Child(startKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	for t := range n.swaps {
		round := key.Child(roundKeys + uint64(t))
		if err := n.advance(m, round); err != nil {
			return rbm.Phase{}, Info{}, err
		}
		if err := n.reassign(round.Child(swapKey), t == n.swaps-1); err != nil {
			return rbm.Phase{}, Info{}, err
		}
		n.finish()
	}
	phase, err := n.phase(m)
	return phase, n.info, err
}

// reassign redraws the temperatures of all particles within the blocks of this round. If weigh is set,
// reassign also sets the weights in the estimate, from the energies before the draw. If there are many
// replicas, each rank draws for its groups only.
func (n *ins) reassign(key rbm.Key, weigh bool) error {
	n.draws = key
	if weigh {
		clear(n.weight)
	}
	n.from, n.to = n.dealt()
	mine := n.to - n.from
	// One part per processor; the results do not depend on the number of parts.
	for len(n.parts) < min(mine, runtime.GOMAXPROCS(0)) {
		n.parts = append(n.parts, newPart(n.block))
	}
	for n.lo = 0; n.lo < len(n.beta) && mine > 0; n.lo = n.hi {
		n.hi = n.blockEnd(n.lo)
		n.weigh = weigh && n.lo == 0
		n.loop.Run(len(n.parts), permanentCost(n.hi-n.lo)*mine)
	}
	if mine < n.groups {
		if err := n.gatherDraws(weigh); err != nil {
			return err
		}
	}
	for lo := 0; lo < len(n.beta); lo = n.blockEnd(lo) {
		for g := range n.groups {
			n.countCrossings(n.group(g), lo, n.blockEnd(lo))
		}
	}
	if weigh {
		for _, off := range n.off {
			n.info.Count("Off", off)
		}
		n.info.Count("Groups", float64(n.groups))
	}
	return nil
}

// gatherDraws gathers the permutations and weights that the ranks have computed for their groups.
func (n *ins) gatherDraws(weigh bool) error {
	g := n.team.group
	if err := ranks.GatherRows(g, n.at, n.groups); err != nil || !weigh {
		return err
	}
	if err := ranks.GatherRows(g, n.weight, n.groups); err != nil {
		return err
	}
	return ranks.GatherRows(g, n.off, n.groups)
}

// permanentCost is the cost of a permanent of k particles in the units of parallel.Loop. A
// multiplication in a permanent takes some sixteen times as long as a multiplication in a product of
// matrices.
func permanentCost(k int) int { return 16 * (16*k*k + k<<k/2) }

// blockEnd returns the temperature after the block that starts at temperature lo, in the
// partition of this round.
func (n *ins) blockEnd(lo int) int {
	length := n.block
	offset := (n.rounds+int64(n.swaps))%2 == 0 // false in the last round of a call with an even number of rounds
	if lo == 0 && len(n.beta) > n.block && offset {
		length = n.block / 2
	}
	return min(lo+length, len(n.beta))
}

// permutePart calls permute for each group of part i.
func (n *ins) permutePart(i int) {
	p := n.parts[i]
	mine := n.to - n.from
	for g := i * mine / len(n.parts); g < (i+1)*mine/len(n.parts); g++ {
		n.permute(p, n.from+g)
	}
}

// permute redraws the temperatures of a group's particles within the block. If n.weigh is set, it first
// computes their weights.
func (n *ins) permute(p *insPart, g int) {
	block := n.group(g)[n.lo:n.hi]
	perm := p.permanent(len(block))
	perm.beta = n.beta[n.lo:n.hi]
	energy, share, drawn, before := p.energies[:len(block)], p.share[:len(block)], p.drawn[:len(block)], p.before[:len(block)]
	for k, row := range block {
		energy[k] = n.energy(row)
	}
	perm.set(energy)
	if n.weigh {
		perm.weights(share)
		for k, row := range block {
			n.weight[row] = float32(share[k] / float64(n.groups))
		}
		n.off[g] = 1 - share[0]
	}
	p.draws, p.first = n.draws, uint64(g*len(n.beta)+n.lo)
	perm.draw(drawn, p.uniform)
	copy(before, block)
	for j, k := range drawn {
		block[j] = before[k]
	}
}

// permanent returns the permanent for blocks of the given number of temperatures.
func (p *insPart) permanent(length int) *permanent {
	if p.perms[length] == nil {
		p.perms[length] = newPermanent(make([]float64, length))
	}
	return p.perms[length]
}
