package negphase

import "gorbm/rbm"

// pt is parallel tempering: after each round of Gibbs steps neighbours swap,
// upward from the coldest pair, by the Metropolis–Hastings rule (Desjardins et
// al. 2010; infinite-swapping paper, section 3). The estimate is the mean over
// the particles at temperature 1 after the last swaps.
type pt struct{ ladder }

func newPT(s Settings) *pt { return &pt{newLadder(s)} }

func (p *pt) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := p.begin(m, pos, key.Child(startKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	p.info.Reset()
	for t := range p.swaps {
		round := key.Child(roundKeys + uint64(t))
		if err := p.advance(m, round); err != nil {
			return rbm.Phase{}, Info{}, err
		}
		p.sweep(round.Child(swapKey))
	}
	clear(p.weight)
	for g := range p.groups() {
		p.weight[p.group(g)[0]] = 1 / float32(p.groups())
	}
	return p.phase(), p.info, nil
}

// sweep attempts the swaps of all pairs of neighbours in every group.
func (p *pt) sweep(key rbm.Key) {
	pairs := len(p.beta) - 1
	for g := range p.groups() {
		rows := p.group(g)
		for k := range pairs {
			a := swapProbability(p.beta[k], p.beta[k+1], p.states.Energy[rows[k]], p.states.Energy[rows[k+1]])
			p.info.SwapTries[k]++
			if key.Uniform(uint64(g*pairs+k)) < a {
				rows[k], rows[k+1] = rows[k+1], rows[k]
				p.info.Swaps[k]++
			}
		}
		p.trace(rows)
	}
}

// swapProbability returns min(1, exp((βa − βb)(Ea − Eb))), the probability to
// exchange particles of energies Ea and Eb between inverse temperatures βa
// and βb.
func swapProbability(betaA, betaB, energyA, energyB float64) float64 {
	return rbm.Exp(min(0, (betaA-betaB)*(energyA-energyB)))
}
