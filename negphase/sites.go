package negphase

import (
	"fmt"
	"slices"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// sites are the units of a model that a sampler flips. The other fields say what must be drawn besides
// the moves of the sampler, so that chains reach all states.
type sites struct {
	constraint *rbm.Constraint
	units      []int32   // indices in the system, where visible units precede hidden ones
	active     int       // number of active units: that of the constraint, or half of the units if there is none
	needsGibbs bool      // Gibbs steps must change the number of active units, because the moves never do
	hiddenOnly bool      // only hidden units are flipped; visible units are drawn given them
	softmax    rbm.Group // the units of a softmax label; an empty group if there is none
}

// sitesOf returns the units of m that a sampler flips, or an error that says why the sampler cannot
// move m.
func sitesOf(m *rbm.RBM, mover mcmc.Mover) (sites, error) {
	if m.Real() {
		return marginalSites(m, mover)
	}
	if err := m.CheckBinary(); err != nil {
		return sites{}, fmt.Errorf("%s: %w", moverName(mover), err)
	}
	s := sites{constraint: m.Constraint, softmax: softmaxLabel(m)}
	c, units := m.Constraint, m.Visible()+m.Hidden()
	s.hiddenOnly = c != nil && c.On == rbm.HiddenUnits
	for i := range units {
		if i >= m.Visible() || !s.hiddenOnly && i < s.softmax.First {
			s.units = append(s.units, int32(i))
		}
	}
	if len(s.units) < 2 {
		return s, fmt.Errorf("%s: the model has a single unit to move; use exact", moverName(mover))
	}
	if c == nil {
		s.active, s.needsGibbs = len(s.units)/2, mcmc.KeepsActive(mover)
		return s, nil
	}
	if !mcmc.KeepsActive(mover) {
		return s, fmt.Errorf("%s cannot keep the constraint %v: its moves change the number of active units; use im or walk:exchange", moverName(mover), c)
	}
	s.active = c.Active
	if !s.hiddenOnly && s.softmax.Units > 0 {
		s.active-- // one label unit is always active, and is not flipped
	}
	return s, s.checkMoves(mover)
}

// marginalSites is sitesOf for a model with Gaussian units, whose system is its mcmc.Marginal. The
// visible states of such a model do not persist, so a Gibbs step before the moves draws the visible
// units that are not Gaussian.
func marginalSites(m *rbm.RBM, mover mcmc.Mover) (s sites, err error) {
	if err := m.CheckGaussian(); err != nil {
		return s, fmt.Errorf("%s: %w", moverName(mover), err)
	}
	visible := 0
	for _, g := range m.Groups() {
		for i := g.First; !g.Real() && i < g.First+g.Units; i++ {
			if !g.Joint() {
				s.units = append(s.units, int32(visible))
			}
			visible++
		}
	}
	for j := range m.Hidden() {
		s.units = append(s.units, int32(visible+j))
	}
	s.active, s.needsGibbs = len(s.units)/2, visible > 0
	switch name := moverName(mover); {
	case m.Constraint != nil:
		return s, fmt.Errorf("%s: %w %v with Gaussian units; use pcd", name, rbm.ErrConstraint, m.Constraint)
	case slices.Contains([]string{"block-gibbs", "flip"}, name):
		return s, fmt.Errorf("%s: %w: with Gaussian units summed out there are no layers to update; use pcd for Gibbs steps, or walk:gibbs", name, rbm.ErrUnits)
	case len(s.units) < 2:
		return s, fmt.Errorf("%s: the model has a single unit to move; use exact", name)
	}
	return s, nil
}

// checkMoves returns an error if the constraint allows a single state of the units.
func (s *sites) checkMoves(mover mcmc.Mover) error {
	if s.active > 0 && s.active < len(s.units) {
		return nil
	}
	others := "exact"
	if s.hiddenOnly {
		others = "pcd or exact"
	}
	return fmt.Errorf("%s: under the constraint %v the %d units that it moves have a single state; use %s", moverName(mover), s.constraint, len(s.units), others)
}

// softmaxLabel returns the softmax group of m, or an empty group that starts after the last
// visible unit.
func softmaxLabel(m *rbm.RBM) rbm.Group {
	for _, g := range m.SoftmaxGroups() {
		return g
	}
	return rbm.Group{First: m.Visible()}
}

// fitted returns the sampler. If fit is set, it limits the lengths of walks to maxFit and to the number
// of units.
func (s *sites) fitted(mover mcmc.Mover, fit bool) mcmc.Mover {
	if !fit {
		return mover
	}
	n := len(s.units)
	longest := max(2, n-1) // a walk over all n sites always ends in the same state
	if mcmc.KeepsActive(mover) {
		longest = max(1, min(s.active, n-s.active))
	}
	return withLengths(mover, 1, min(maxFit, longest))
}

// bind sets the state of a system to one with s.active active units and binds the sampler to it.
// Without a constraint half of the units are active, which allows the longest walks.
func (s *sites) bind(m mcmc.Mover, system interface {
	mcmc.System
	SetState([]uint8)
}, beta float64) (mcmc.Chain, error) {
	x := make([]uint8, system.Len())
	for _, i := range s.units[:min(max(s.active, 0), len(s.units))] {
		x[i] = 1
	}
	system.SetState(x)
	return m.Bind(system, beta, s.units)
}

// drawShell draws a state for each row of s, uniformly among the states that a constraint on all units
// allows.
func drawShell(m *rbm.RBM, s *rbm.States, key rbm.Key) {
	c, inputs, labels := m.Constraint, softmaxLabel(m).First, softmaxLabel(m).Units
	units := inputs + m.Hidden()
	active := c.Active
	if labels > 0 {
		active--
	}
	for r := range s.V.Rows {
		draws := key.Child(uint64(r)).Rand()
		if labels > 0 {
			on := draws.IntN(labels)
			for k := range labels {
				s.V.Set(r, inputs+k, k == on)
			}
		}
		on := make([]bool, units)
		for _, i := range draws.Perm(units)[:active] {
			on[i] = true
		}
		for i := range inputs {
			s.V.Set(r, i, on[i])
		}
		for j := range m.Hidden() {
			s.H.Set(r, j, on[inputs+j])
		}
	}
}
