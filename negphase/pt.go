package negphase

import (
	"gorbm/data/grammar"
	"gorbm/rbm"
)

type ptSettings struct {
	LadderSettings
	order string // Sweep or EvenOdd; "" is Sweep
}

func (s *ptSettings) keys() grammar.Keys {
	return s.LadderSettings.keys(grammar.Word("order", &s.order, "", "order of swaps: sweep tries all pairs from the coldest up; evenodd alternates between the even and the odd pairs (default: sweep)", Sweep, EvenOdd).Like(EvenOdd))
}

func (s *ptSettings) estimator(all Settings) Estimator { return &pt{newLadder(all), s.order} }

// pt is parallel tempering: after the Gibbs steps of a round, neighbouring temperatures swap their
// particles by the Metropolis–Hastings rule. The order Sweep goes upward from the coldest pair
// (Desjardins et al. 2010; infinite-swapping paper, section 3). The order EvenOdd swaps the even pairs
// in one round and the odd pairs in the next (Okabe et al. 2001). With EvenOdd, particles tend to keep
// their direction along the ladder, because the chain is not reversible (Syed et al. 2022). The
// estimate is the mean over the particles at temperature 1 after the last swaps.
type pt struct {
	ladder
	order string // Sweep or EvenOdd; "" is Sweep
}

func (p *pt) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := p.prepare(m, pos, key.Child(startKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	for t := range p.swaps {
		round := key.Child(roundKeys + uint64(t))
		if err := p.advance(m, round); err != nil {
			return rbm.Phase{}, Info{}, err
		}
		p.swap(round.Child(swapKey))
		p.finish()
	}
	clear(p.weight)
	for g := range p.groups {
		p.weight[p.group(g)[0]] = 1 / float32(p.groups)
	}
	phase, err := p.phase(m)
	return phase, p.info, err
}

// swap attempts the swaps of this round's pairs in every group.
func (p *pt) swap(key rbm.Key) {
	pairs := len(p.beta) - 1
	first, stride := 0, 1
	if p.order == EvenOdd {
		first, stride = int(p.rounds%2), 2
	}
	for g := range p.groups {
		rows := p.group(g)
		for k := first; k < pairs; k += stride {
			a := swapProbability(p.beta[k], p.beta[k+1], p.energy(rows[k]), p.energy(rows[k+1]))
			p.info.SwapTries[k]++
			if key.Uniform(uint64(g*pairs+k)) < a {
				rows[k], rows[k+1] = rows[k+1], rows[k]
				p.info.Swaps[k]++
			}
		}
	}
}

// swapProbability returns min(1, exp((βa − βb)(Ea − Eb))), the probability of accepting a swap of
// particles with energies Ea and Eb between the inverse temperatures βa and βb.
func swapProbability(betaA, betaB, energyA, energyB float64) float64 {
	return rbm.Exp(min(0, (betaA-betaB)*(energyA-energyB)))
}
