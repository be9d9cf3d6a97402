package main

import (
	"fmt"

	"gorbm/cmd/cli"
	"gorbm/negphase/binary"
	"gorbm/rbm"
)

// A system is what samplers move.
type system interface {
	binary.System
	SetState(state []uint8)
}

// readModel reads the RBM of -model.
func (p *plan) readModel() error {
	for _, name := range []string{"lattice", "boundary", "J", "field", "gap"} {
		if p.flags.Given(name) {
			return cli.Usagef("-%s is for Ising systems; leave it out, or -model", name)
		}
	}
	m, _, err := rbm.ReadFile(p.modelFile)
	if err != nil {
		return fmt.Errorf("-model: %w", err)
	}
	if err := m.CheckFinite(); err != nil {
		return fmt.Errorf("-model: %s: %w", p.modelFile, err)
	}
	given := ""
	switch {
	case p.flags.Given("class") && m.Classes == 0:
		return cli.Usagef("-class is for models with a label; %s has none", p.modelFile)
	case p.flags.Given("class") && (p.class < 0 || p.class >= m.Classes):
		return cli.Usagef("-class is %d; the classes of %s are 0 to %d", p.class, p.modelFile, m.Classes-1)
	case p.flags.Given("class") && m.Inputs() == 0:
		return fmt.Errorf("-model: %s has labels but no inputs; take one that has both", p.modelFile)
	case p.flags.Given("class") && !m.HasClass(p.class):
		return cli.Usagef("-class is %d, of which %s has no state under its constraint %v", p.class, p.modelFile, m.Constraint)
	case p.flags.Given("class"):
		m = m.GivenClass(p.class)
		given = fmt.Sprintf(" given class %d", p.class)
	case m.Classes > 0 && m.Labels == rbm.Softmax:
		return cli.Usagef("-model: %s has a softmax label, which flips of single bits cannot change; hold it at one of its classes by -class, 0 to %d", p.modelFile, m.Classes-1)
	}
	if err := p.checkConstraint(m.Constraint); err != nil {
		return err
	}
	p.machine = binary.NewMachine(m)
	p.model = fmt.Sprintf("%s, an RBM of %d × %d units%s", p.modelFile, m.Visible(), m.Hidden(), given)
	p.pairs = m.Visible() * m.Hidden()
	if !p.flags.Given("beta") && !p.flags.Given("temperature") {
		p.beta = 1 // the model itself
	}
	return nil
}

// checkConstraint checks that the samplers keep the constraint of the model:
// here they know none but a number of all units that are on.
func (p *plan) checkConstraint(c *rbm.Constraint) error {
	reference := ""
	if c != nil && c.Reference != nil {
		reference = " from a reference"
	}
	switch {
	case c == nil:
		return nil
	case c.On != rbm.AllUnits || c.Reference != nil:
		return cli.Usagef("-model: %s has the constraint %v%s, and the samplers here keep no number but that of all units on; rbmcompare compares samplers under it", p.modelFile, c, reference)
	case !p.flags.Given("active") || p.active != c.Active:
		return cli.Usagef("-model: %s has the constraint %v; give -active %d, and exchange or im as samplers", p.modelFile, c, c.Active)
	}
	return nil
}

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
		return binary.NewIsing(p.graph, state)
	}
	s := binary.NewRBM(p.machine)
	s.SetState(state)
	return s
}
