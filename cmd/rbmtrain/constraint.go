package main

import (
	"gorbm/cmd/cli"
	"gorbm/rbm"
)

// parseConstraint returns the value of -constraint, or nil if the flag is not given.
func (o *options) parseConstraint() (*rbm.Constraint, error) {
	if !o.flags.Given("constraint") {
		return nil, nil
	}
	c, err := rbm.ParseConstraint(o.constraint)
	if err != nil {
		return nil, cli.Usagef("-constraint: %w", err)
	}
	if c.Active == 0 {
		return nil, cli.Usagef("-constraint %q leaves all units off; give a number from 1 on", o.constraint)
	}
	return c, nil
}

// constrain gives the model the constraint c, which may be nil. A model of -init that has a
// constraint keeps it, and c must be equal to it.
func (o *options) constrain(m *rbm.RBM, c *rbm.Constraint) error {
	if c == nil {
		return nil
	}
	if err := c.Check(m); err != nil {
		return cli.Usagef("-constraint: %w", err)
	}
	if own := m.Constraint; own != nil && !own.Equal(c) {
		return cli.Usagef("-constraint is %v, but %s has the constraint %v; leave -constraint out", c, o.init, own)
	}
	m.Constraint = c
	return nil
}
