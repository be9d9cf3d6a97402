package negphase

import (
	"fmt"
	"slices"
	"strings"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// The layers on which the chains of a kind keep constraints. A constraint fixes the number of active
// units in a layer or in both.
//
// Block Gibbs steps draw the visible units freely, and the hidden ones among the states that a
// constraint on them allows. Under a constraint on all units these steps would never change the number
// of active visible units.
var (
	onHidden = []rbm.Layer{rbm.HiddenUnits}
	onBoth   = []rbm.Layer{rbm.HiddenUnits, rbm.AllUnits}
)

const gibbsObstacle = "its Gibbs steps never change the number of visible units that are active"

// Keeps returns nil if an estimator with these settings respects the constraint c, or if c is nil. The
// error says why the estimator does not, and which estimators do. New cannot check this, because it
// does not know the model. Estimate returns the same error for a model with such a constraint.
func (s Settings) Keeps(c *rbm.Constraint) error {
	if c == nil {
		return nil
	}
	k, err := find(s.Kind)
	if err != nil {
		return err
	}
	if m := s.sampler(); m != nil && m.mover != nil {
		switch {
		case mcmc.KeepsActive(m.mover):
			return nil
		case m.only == "":
			return fmt.Errorf("%s cannot keep the constraint %v: moves of %s change the number of active units; use im or walk:exchange", s.Kind, c, s.Sampler())
		}
	}
	if slices.Contains(k.keeps, c.On) {
		return nil
	}
	var others []string
	for _, k := range estimatorKinds {
		if slices.Contains(k.keeps, c.On) {
			name := k.name
			if name == "walk" {
				name = "walk:exchange" // the sampler of walk that keeps constraints
			}
			others = append(others, name)
		}
	}
	return fmt.Errorf("%s cannot keep the constraint %v: %s; use %s", s.Kind, c, k.obstacle, strings.Join(others, ", "))
}

// suits returns an error that says why an estimator with these settings cannot sample m.
func (s Settings) suits(m *rbm.RBM) error {
	why := s.Traits().BitsOnly
	if set := s.sampler(); set != nil && set.mover != nil && m.RealHidden() {
		why = "flips hidden units; use pcd, pt, ins or pins with Gibbs steps"
	}
	if why != "" {
		if err := m.CheckBits(); err != nil {
			return fmt.Errorf("%w, and %s %s", err, s.Kind, why)
		}
	}
	return s.Keeps(m.Constraint)
}
