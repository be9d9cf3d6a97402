package negphase

import "gorbm/rbm"

// CopyFrom implements Copier. It shares the frozen models of other, because these never change.
func (p *ptt) CopyFrom(other Estimator) bool {
	o, ok := other.(*ptt)
	if !ok || o.states == nil || o.pttSettings != p.pttSettings {
		return false
	}
	m := o.rungs[0].model
	if p.states == nil || checkShape(p.states, m) != nil {
		p.states = rbm.NewStates(m, p.rows)
		p.rungs = nil
		p.place(m, nil)
	}
	copyStates(p.states, o.states)
	p.rungs = p.rungs[:min(len(p.rungs), len(o.rungs))]
	for i, from := range o.rungs {
		if i == len(p.rungs) {
			p.rungs = append(p.rungs, newRung(from.model, p.rows, p.reservoir))
		}
		g := p.rungs[i]
		g.model, g.logZ = from.model, from.logZ
		g.reservoir.CopyFrom(from.reservoir)
		g.reservoirH.CopyFrom(from.reservoirH)
		copy(g.reservoirFree, from.reservoirFree)
		copy(g.reservoirBorn, from.reservoirBorn)
	}
	copy(p.live.free, o.live.free)
	copy(p.live.born, o.live.born)
	p.now, p.oldPairs, p.rate, p.vetoes, p.looked = o.now, o.oldPairs, o.rate, o.vetoes, o.looked
	return true
}

func copyStates(dst, src *rbm.States) {
	dst.V.CopyFrom(src.V)
	dst.H.CopyFrom(src.H)
	copy(dst.Mean.Data, src.Mean.Data)
}
