package negphase

import "gorbm/rbm"

// Return takes the parameters of the newest rung, and for each chain a member of its
// reservoir; see Returner.
func (p *ptt) Return(m *rbm.RBM) bool {
	if !p.back {
		return false
	}
	p.back = false
	p.returns++
	g := p.rungs[len(p.rungs)-1]
	m.Set(g.model)
	member := int(p.now%int64(p.reservoir)) * p.rows // another each time
	for r := range p.rows {
		copy(p.states.V.Row(r), g.reservoir.Row(member+r))
		copy(p.states.H.Row(r), g.reservoirH.Row(member+r))
		p.live.born[r] = g.reservoirBorn[member+r]
	}
	// The model and the newest rung are equal.
	p.rate = 1
	for _, x := range p.ratios {
		clear(x)
	}
	return true
}
