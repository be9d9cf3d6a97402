package negphase

import "gorbm/rbm"

// ins is infinite swapping in its Gibbs version (Hult, Nyquist & Ringqvist
// 2020, Algorithm 1): after each round of Gibbs steps the temperatures of a
// group are reassigned by a permutation drawn from ρ, the law of all
// permutations given the particles. The estimate averages over all particles
// x_k with the weights Σ_{σ: σ(k)=1} ρ_σ of the same particles (Proposition
// 2), which sum to 1 in a group. Where the paper lists the K! permutations, a
// permanent by subsets is taken.
type ins struct {
	ladder
	perm   *permanent
	energy []float64 // of the group's particles, by temperature
	share  []float64 // their weights
	drawn  []int     // the permutation: particle by temperature
	before []int32
	draws  rbm.Key
	first  uint64 // number of the group's first uniform
	next   func(j int) float64
}

func newINS(s Settings) *ins {
	k := len(s.Temperatures)
	n := &ins{ladder: newLadder(s), energy: make([]float64, k), share: make([]float64, k),
		drawn: make([]int, k), before: make([]int32, k)}
	n.perm = newPermanent(n.beta)
	n.next = func(j int) float64 { return n.draws.Uniform(n.first + uint64(j)) }
	return n
}

func (n *ins) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := n.begin(m, pos, key.Child(startKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	n.info.Reset()
	for t := range n.swaps {
		round := key.Child(roundKeys + uint64(t))
		if err := n.advance(m, round); err != nil {
			return rbm.Phase{}, Info{}, err
		}
		n.draws = round.Child(swapKey)
		for g := range n.groups() {
			n.reassign(g, t == n.swaps-1)
		}
	}
	return n.phase(), n.info, nil
}

// reassign draws the temperatures of group g's particles anew, and before
// that, if weigh is set, their weights in the estimate.
func (n *ins) reassign(g int, weigh bool) {
	rows := n.group(g)
	for k, row := range rows {
		n.energy[k] = n.states.Energy[row]
	}
	n.perm.set(n.energy)
	if weigh {
		n.perm.weights(n.share)
		for k, row := range rows {
			n.weight[row] = float32(n.share[k] / float64(n.groups()))
		}
		n.info.Off += 1 - n.share[0]
		n.info.Groups++
	}
	n.first = uint64(g * len(rows))
	n.perm.draw(n.drawn, n.next)
	copy(n.before, rows)
	for j, k := range n.drawn {
		rows[j] = n.before[k]
	}
	n.crossed(n.before, rows)
}
