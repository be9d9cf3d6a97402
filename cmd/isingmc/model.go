package main

import (
	"fmt"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A system is what samplers move.
type system interface {
	mcmc.System
	SetState(state []uint8)
}

// readModel reads the RBM of -model.
func (p *plan) readModel() error {
	for _, name := range []string{"lattice", "boundary", "J", "field", "gap"} {
		if p.flags.Given(name) {
			return cli.Usagef("-%s is for Ising systems; leave it out, or -model", name)
		}
	}
	m, _, err := cli.ReadModel(&p.modelFile)
	if err != nil {
		return fmt.Errorf("-model: %w", err)
	}
	if err := m.CheckFinite(); err != nil {
		return fmt.Errorf("-model: %s: %w", p.modelFile, err)
	}
	if err := p.keepable(m); err != nil {
		return err
	}
	given := ""
	switch {
	case p.flags.Given("class") && m.Classes() == 0:
		return cli.Usagef("-class is for models with a label; %s has none", p.modelFile)
	case p.flags.Given("class") && (p.class < 0 || p.class >= m.Classes()):
		return cli.Usagef("-class is %d; the classes of %s are 0 to %d", p.class, p.modelFile, m.Classes()-1)
	case p.flags.Given("class") && m.Inputs() == 0:
		return fmt.Errorf("-model: %s has a label but no inputs; take one that has both", p.modelFile)
	case p.flags.Given("class"):
		p.labelEnergy = -float64(m.VisibleBias[m.Inputs()+p.class]) // its weights are in the hidden biases of GivenClass
		m = m.GivenClass(p.class)
		given = fmt.Sprintf(" given class %d", p.class)
	case m.Classes() > 0 && m.LabelKind() == rbm.Softmax:
		return cli.Usagef("-model: %s has a softmax label, which flips of single bits cannot change; hold it at one of its classes by -class, 0 to %d", p.modelFile, m.Classes()-1)
	}
	if c := m.Constraint; c != nil {
		if p.flags.Given("active") && p.active != c.Active {
			return cli.Usagef("-active is %d, but %s%s has the constraint %v; leave -active out", p.active, p.modelFile, given, c)
		}
		p.active, p.held = c.Active, true
	}
	p.machine = mcmc.NewParameters(m)
	p.model = fmt.Sprintf("%s, an RBM of %d × %d units%s", p.modelFile, m.Visible(), m.Hidden(), given)
	p.pairs = m.Visible() * m.Hidden()
	if !p.flags.Given("beta") && !p.flags.Given("temperature") {
		p.beta = 1 // the model itself
	}
	return nil
}

// keepable returns an error if no sampler here keeps the constraint of m, or no
// state of -class meets it.
func (p *plan) keepable(m *rbm.RBM) error {
	c := m.Constraint
	switch {
	case c == nil:
		return nil
	case c.On == rbm.HiddenUnits || slices.Contains(c.Reference, 1):
		return cli.Usagef("-model: %s has the constraint %v, which no sampler here keeps; exchange and im keep the number of all units that are on, all=K", p.modelFile, c)
	case p.flags.Given("class") && (c.Active < 1 || c.Active-1 > m.Inputs()+m.Hidden()):
		return cli.Usagef("-class: no state of a class meets the constraint %v of %s", c, p.modelFile)
	}
	return nil
}

// fixed reports whether the number of spins up is given.
func (p *plan) fixed() bool { return p.held || p.flags.Given("active") }

// bits returns the number of spins, or units.
func (p *plan) bits() int {
	if p.machine != nil {
		return p.machine.Len()
	}
	return p.graph.Len()
}

// bonds returns the number of pairs that are coupled.
func (p *plan) bonds() int {
	if p.machine != nil {
		return p.pairs
	}
	return p.graph.Edges()
}

// newSystem returns a system of the sampler's own in the given state.
func (p *plan) newSystem(state []uint8) system {
	if p.machine == nil {
		return mcmc.NewIsing(p.graph, state)
	}
	s := mcmc.NewRBM(p.machine)
	s.SetState(state)
	return s
}
