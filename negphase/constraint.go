package negphase

import (
	"fmt"
	"slices"
	"strings"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// keeps says which constraints the chains of each kind keep and cover.
//
// Block Gibbs steps draw the visible units freely and the hidden ones among the
// states that a constraint on them allows. Under one on all units they would
// never change the number of visible units that are active. The coupling of ucd
// is one of independent units.
var keeps = map[string][]rbm.Layer{
	"cd":        {rbm.HiddenUnits},
	"pcd":       {rbm.HiddenUnits},
	"pt":        {rbm.HiddenUnits},
	"ins":       {rbm.HiddenUnits},
	"pins":      {rbm.HiddenUnits},
	"ucd":       nil,
	"sardonics": nil,
	"im":        {rbm.HiddenUnits, rbm.AllUnits},
	"walk":      {rbm.HiddenUnits, rbm.AllUnits}, // with the sampler exchange
	"exact":     {rbm.HiddenUnits, rbm.AllUnits},
}

// Keeps returns an error that says why estimators of this kind cannot respect
// the constraint c and which can, or that there is no such kind; nil if c is
// nil. New does not know the model: whoever does asks Keeps, and Estimate
// refuses a model that fails it.
func Keeps(name string, c *rbm.Constraint) error {
	if _, err := find(name); err != nil || c == nil {
		return err
	}
	if slices.Contains(keeps[name], c.On) {
		return nil
	}
	reason := "its Gibbs steps never change the number of visible units that are active"
	if name == "sardonics" {
		reason = "its walks change the number of active units"
	} else if c.On == rbm.HiddenUnits {
		reason = "its chains are coupled unit by unit, which needs units that are independent"
	}
	var others []string
	for _, k := range kinds {
		if slices.Contains(keeps[k.name], c.On) {
			name := k.name
			if name == "walk" {
				name = "walk:exchange" // of its samplers this one keeps constraints
			}
			others = append(others, name)
		}
	}
	return fmt.Errorf("%s cannot keep the constraint %v: %s; take %s", name, c, reason, strings.Join(others, ", "))
}

// Keeps returns an error that says why an estimator of these settings cannot
// respect the constraint c and which can; nil if c is nil.
func (s Settings) Keeps(c *rbm.Constraint) error {
	switch {
	case c == nil:
		return nil
	case s.Mover == nil || s.Kind == "sardonics" || !s.walks() && !Has(s.Kind, "tau"):
		return Keeps(s.Kind, c)
	case mcmc.KeepsActive(s.Mover):
		return nil
	}
	return fmt.Errorf("%s cannot keep the constraint %v: moves of %s change the number of active units; take im or walk:exchange", s.Kind, c, s.Sampler())
}

// meets returns an error that names the first of the saved chains that a
// constraint of m does not allow.
func meets(m *rbm.RBM, s savedChains) error {
	c := m.Constraint
	if c == nil || c.On == rbm.AllUnits && s.v.Cols == 0 {
		return nil
	}
	for r := range s.h.Rows {
		active, unit := 0, 0
		count := func(b rbm.Bits) {
			for j := range b.Cols {
				if b.Get(r, j) != (c.Reference != nil && c.Reference[unit] == 1) {
					active++
				}
				unit++
			}
		}
		what := "hidden units"
		if c.On == rbm.AllUnits {
			what = "units"
			count(s.v)
		}
		count(s.h)
		if active != c.Active {
			return fmt.Errorf("%w: saved chain %d has %d active %s; the model's constraint is %v", rbm.ErrFormat, r, active, what, c)
		}
	}
	return nil
}
