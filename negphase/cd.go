package negphase

import (
	"fmt"

	"gorbm/rbm"
)

// cd is contrastive divergence (Hinton 2002): the chains start anew at the
// batch, their first hidden states drawn from the positive phase. The particle
// that descends from a row of the batch has the weight of that row.
type cd struct {
	steps  int
	states *rbm.States
	info   Info
}

func (c *cd) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := Keeps("cd", m.Constraint); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	if c.states == nil || c.states.H.Rows != pos.Rows() {
		c.states = rbm.NewStates(m, pos.Rows())
	}
	if err := checkShape(c.states, m); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	if pos.Rows() > 0 {
		m.HiddenSample(c.states.H, pos, key.Child(startKey))
	}
	m.Step(c.states, nil, c.steps, key.Child(roundKeys).Child(stepKey))
	c.info.Reset()
	c.info.Updates = int64(c.steps) * int64(pos.Rows())
	return rbm.Phase{Batch: rbm.Batch{V: c.states.V.Input(), H: c.states.Mean, Weight: pos.Weight}}, c.info, finite(c.states)
}

// MarshalBinary returns nothing: every call starts anew.
func (c *cd) MarshalBinary() ([]byte, error) { return nil, nil }

func (c *cd) UnmarshalBinary(b []byte) error {
	if len(b) != 0 {
		return fmt.Errorf("%w: cd keeps no chains, but %d bytes are saved", rbm.ErrFormat, len(b))
	}
	return nil
}

// pcd continues its chains from update to update (Tieleman 2008).
type pcd struct {
	chains
	steps int
	info  Info
}

func newPCD(s Settings) *pcd {
	return &pcd{chains: chains{settings: s, rows: s.Chains, start: s.Start}, steps: s.K}
}

func (p *pcd) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := p.begin(m, pos, key.Child(startKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	m.Step(p.states, nil, p.steps, key.Child(roundKeys).Child(stepKey))
	p.info.Reset()
	p.info.Updates = int64(p.steps) * int64(p.rows)
	return rbm.Phase{Batch: rbm.Batch{V: p.states.V.Input(), H: p.states.Mean}}, p.info, finite(p.states)
}
