package negphase

import (
	"fmt"

	"gorbm/data/grammar"
	"gorbm/rbm"
)

type cdSettings struct{ k int }

func (s *cdSettings) keys() grammar.Keys {
	return grammar.Keys{grammar.Count("k", &s.k, 1, 1, maxSteps, "number of Gibbs steps per update")}
}

func (s *cdSettings) estimator(all Settings) Estimator { return &cd{settings: all, steps: s.k} }

func (*cdSettings) Traits() Traits {
	return Traits{AtData: true, NoSamples: "starts at the data at each update; use pcd, which does the same steps and continues its chains, or pt"}
}

// cd is contrastive divergence (Hinton 2002). In each call one chain starts at each row of the
// batch, with hidden states drawn from the positive phase. A particle has the weight of the row at
// which its chain started.
type cd struct {
	settings Settings
	steps    int
	states   *rbm.States
	info     Info
	stateless
	team
}

func (c *cd) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := c.settings.suits(m); err != nil {
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
	if err := c.step(m, c.states, nil, c.steps, key.Child(roundKeys).Child(stepKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	c.info.Reset()
	c.info.Updates = int64(c.steps) * int64(pos.Rows())
	return rbm.Phase{Batch: rbm.Batch{V: c.states.V, H: c.states.Mean, Weight: pos.Weight}}, c.info, c.gatherMeans(c.states.Mean, pos.Weight)
}

// stateless is the binary form of estimators that restart in every call.
type stateless struct{}

func (stateless) MarshalBinary() ([]byte, error) { return nil, nil }

func (stateless) UnmarshalBinary(b []byte) error {
	if len(b) != 0 {
		return fmt.Errorf("%w: the estimator keeps no chains, but %d bytes are saved", rbm.ErrFormat, len(b))
	}
	return nil
}

type pcdSettings struct {
	k int
	chainSettings
}

func (s *pcdSettings) keys() grammar.Keys {
	k := grammar.Count("k", &s.k, 1, 1, maxSteps, "number of Gibbs steps per update")
	return append(grammar.Keys{k}, s.chainSettings.keys("chains")...)
}

func (s *pcdSettings) estimator(all Settings) Estimator {
	return &pcd{chains: chains{settings: all, rows: s.chains, start: s.start}, steps: s.k}
}

// pcd continues its chains from update to update (Tieleman 2008).
type pcd struct {
	chains
	steps int
	info  Info
}

func (p *pcd) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := p.begin(m, pos, key.Child(startKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	if err := p.step(m, p.states, nil, p.steps, key.Child(roundKeys).Child(stepKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	p.info.Reset()
	p.info.Updates = int64(p.steps) * int64(p.rows)
	return rbm.Phase{Batch: rbm.Batch{V: p.states.V, H: p.states.Mean}}, p.info, p.gatherMeans(p.states.Mean, nil)
}
