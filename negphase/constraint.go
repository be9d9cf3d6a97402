package negphase

import (
	"fmt"
	"slices"
	"strings"

	"gorbm/rbm"
)

// keeps says which constraints the chains of each kind keep and cover.
//
// Block Gibbs steps draw the visible units freely and the hidden ones among the
// states that a constraint on them allows. Under one on all units they would
// never change the number of visible units that are active. The coupling of ucd
// is one of independent units.
var keeps = map[string][]rbm.Layer{
	"cd":    {rbm.HiddenUnits},
	"pcd":   {rbm.HiddenUnits},
	"pt":    {rbm.HiddenUnits},
	"ins":   {rbm.HiddenUnits},
	"pins":  {rbm.HiddenUnits},
	"ucd":   nil,
	"exact": {rbm.HiddenUnits, rbm.AllUnits},
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
	if c.On == rbm.HiddenUnits {
		reason = "its chains are coupled unit by unit, which needs units that are independent"
	}
	var others []string
	for _, k := range kinds {
		if slices.Contains(keeps[k.name], c.On) {
			others = append(others, k.name)
		}
	}
	return fmt.Errorf("%s cannot keep the constraint %v: %s; take %s", name, c, reason, strings.Join(others, ", "))
}

// meets returns an error that names the first row of h that a constraint of m
// on the hidden units does not allow.
func meets(m *rbm.RBM, h rbm.Bits) error {
	c := m.Constraint
	if c == nil || c.On != rbm.HiddenUnits {
		return nil
	}
	for r := range h.Rows {
		active := 0
		for j := range h.Cols {
			if h.Get(r, j) != (c.Reference != nil && c.Reference[j] == 1) {
				active++
			}
		}
		if active != c.Active {
			return fmt.Errorf("%w: saved chain %d has %d active hidden units; the model's constraint is %v", rbm.ErrFormat, r, active, c)
		}
	}
	return nil
}
