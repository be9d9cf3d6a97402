package negphase

import (
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// insSettings are the settings of ins.
type insSettings struct{ LadderSettings }

func (s *insSettings) keys() []key { return s.LadderSettings.keys() }

func (s *insSettings) estimator(all Settings) Estimator { return newINS(all, maxBlock) }

// pinsSettings are the settings of pins.
type pinsSettings struct {
	LadderSettings
	block int // most temperatures in a block
}

// By default blocks have 8 temperatures: at 784 × 500 units, 10 groups and 30
// temperatures an update then takes 2 % longer than one of pt. With blocks of 10
// it takes 5 % longer and with blocks of 12 it takes 14 % (BenchmarkLadder).
func (s *pinsSettings) keys() []key {
	return s.LadderSettings.keys(countKey("block", &s.block, 8, 2, maxBlock, "most temperatures in a block"))
}

func (s *pinsSettings) estimator(all Settings) Estimator { return newINS(all, s.block) }

// ins is infinite swapping in its Gibbs version (Hult, Nyquist & Ringqvist
// 2020, Algorithm 1): after each round of Gibbs steps the temperatures of a
// group are reassigned by a permutation drawn from ρ, the law of all
// permutations given the particles. The estimate averages over all particles
// x_k with the weights Σ_{σ: σ(k)=1} ρ_σ of the same particles (Proposition
// 2), which sum to 1 in a group. The paper lists the K! permutations; here their
// sums are permanents, computed by a recursion over subsets.
//
// Its work grows like 2^K, so pins, the partial version (Dupuis et al. 2012), is
// for long ladders. It draws a permutation within each block of the ladder. Two
// partitions into blocks take turns, the second offset by half a block. The
// weights are those within the block that holds temperature 1. If a call has an
// even number of rounds, that block is whole in the last one. With a single block
// pins is ins.
type ins struct {
	ladder
	block    int                      // most temperatures in a block
	perms    [maxBlock + 1]*permanent // by number of temperatures
	energies []float64                // of a block's particles, by temperature
	share    []float64                // their weights
	drawn    []int                    // the permutation: particle by temperature
	before   []int32
	draws    rbm.Key
	first    uint64 // number of the block's first uniform
	uniform  func(j int) float64
	off      []float64 // of each group: the weight that is not on its particle at temperature 1
}

func newINS(s Settings, block int) *ins {
	n := &ins{ladder: newLadder(s), block: block}
	n.energies, n.share = make([]float64, n.block), make([]float64, n.block)
	n.off = make([]float64, n.groups)
	n.drawn, n.before = make([]int, n.block), make([]int32, n.block)
	n.uniform = func(j int) float64 { return n.draws.Uniform(n.first + uint64(j)) }
	return n
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

// reassign draws the temperatures of all particles anew within the blocks of
// this round and, if weigh is set, overwrites the weights in the estimate by
// those before the draw.
func (n *ins) reassign(key rbm.Key, weigh bool) error {
	n.draws = key
	if weigh {
		clear(n.weight)
	}
	from, to := n.dealt()
	for lo, k := 0, len(n.beta); lo < k; {
		hi := n.blockEnd(lo)
		for g := from; g < to; g++ {
			n.first = uint64(g*k + lo)
			n.permute(n.group(g), lo, hi, g, weigh && lo == 0)
		}
		lo = hi
	}
	if to-from < n.groups {
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
			n.info.Off += off
		}
		n.info.Groups += int64(n.groups)
	}
	return nil
}

// gatherDraws gathers what the ranks have drawn for their groups.
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

// blockEnd returns the end of the block that begins at temperature lo in the
// partition of this round.
func (n *ins) blockEnd(lo int) int {
	length := n.block
	offset := (n.rounds+int64(n.swaps))%2 == 0 // never in the last of an even number
	if lo == 0 && len(n.beta) > n.block && offset {
		length = n.block / 2
	}
	return min(lo+length, len(n.beta))
}

// permute draws the temperatures lo … hi−1 of the particles of group g anew and
// before that, if weigh is set, weighs them.
func (n *ins) permute(rows []int32, lo, hi, g int, weigh bool) {
	block := rows[lo:hi]
	perm := n.permanent(len(block))
	perm.beta = n.beta[lo:hi]
	energy, share, drawn, before := n.energies[:len(block)], n.share[:len(block)], n.drawn[:len(block)], n.before[:len(block)]
	for k, row := range block {
		energy[k] = n.energy(row)
	}
	perm.set(energy)
	if weigh {
		perm.weights(share)
		for k, row := range block {
			n.weight[row] = float32(share[k] / float64(n.groups))
		}
		n.off[g] = 1 - share[0]
	}
	perm.draw(drawn, n.uniform)
	copy(before, block)
	for j, k := range drawn {
		block[j] = before[k]
	}
}

// permanent returns the table for blocks of so many temperatures.
func (n *ins) permanent(length int) *permanent {
	if n.perms[length] == nil {
		n.perms[length] = newPermanent(make([]float64, length))
	}
	return n.perms[length]
}
