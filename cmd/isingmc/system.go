package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data/grammar"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A system is an Ising system or an RBM whose state can be set.
type system interface {
	mcmc.System
	SetState(state []uint8)
}

// makeGraph makes the system of -lattice, -boundary, -J and -field.
func (p *plan) makeGraph() error {
	if p.scan == nil && strings.Contains(p.lattice, ",") {
		return cli.Usagef("-lattice names several lattices, which are for -scan; give one")
	}
	lattice, err := mcmc.ParseLattice(p.lattice, p.boundary == "periodic")
	if errors.Is(err, mcmc.ErrSpec) {
		return p.readGraph(err)
	} else if err != nil {
		return cli.Usagef("-lattice: %w", err)
	}
	couplings, err := parseCouplings(p.couplings)
	if errors.Is(err, errNoCouplings) && exists(p.couplings) {
		couplings, err = readCouplings(p.couplings, lattice)
		if err != nil {
			return fmt.Errorf("-J: %w", err)
		}
	}
	if err != nil {
		return cli.Usagef("-J: %w", err)
	}
	p.model = fmt.Sprintf("%s %s, J = %s", lattice.Name, p.boundary, p.couplings)
	if p.field != 0 {
		p.model += fmt.Sprintf(", h = %v", p.field)
	}
	graph, err := lattice.Graph(couplings, p.field)
	if err != nil {
		return cli.Usagef("-lattice: %w", err)
	}
	p.setGraph(graph)
	return nil
}

// setGraph sets the system of p to the Ising system on g.
func (p *plan) setGraph(g *mcmc.Graph) {
	p.graph, p.units, p.pairs = g, g.Len(), g.Edges()
	p.symmetric = true
	for i := range g.Len() {
		p.symmetric = p.symmetric && g.Field(i) == 0
	}
	p.newSystem = func(state []uint8) system { return mcmc.NewIsing(g, state) }
}

// readGraph reads the system from the file that -lattice names. If there is no such file it
// returns noLattice, the error for a name that is not a lattice.
func (p *plan) readGraph(noLattice error) error {
	graph, err := mcmc.ReadGraphFile(p.lattice)
	if errors.Is(err, fs.ErrNotExist) {
		name, _, _ := strings.Cut(p.lattice, ":")
		return cli.Usagef("-lattice: %w, which does not exist%s", noLattice, grammar.DidYouMean(name, []string{"chimera"}))
	}
	if err != nil {
		return fmt.Errorf("-lattice: %w", err)
	}
	if name := p.flags.FirstGiven("boundary", "J", "field"); name != "" {
		return cli.Usagef("-%s is for lattices; %s is a file with couplings and fields", name, p.lattice)
	}
	p.model = p.lattice
	p.setGraph(graph)
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readCouplings reads the couplings of a lattice from a file with a line "i j J"
// for each pair of neighbours.
func readCouplings(path string, l *mcmc.Lattice) (mcmc.Couplings, error) {
	g, err := mcmc.ReadGraphFile(path)
	switch {
	case err != nil:
		return nil, err
	case g.Len() != l.Spins || g.Edges() != len(l.Bonds):
		return nil, fmt.Errorf("%s couples %d pairs of %d spins, but lattice %s has %d pairs of %d; give -lattice the file alone", path, g.Edges(), g.Len(), l.Name, len(l.Bonds), l.Spins)
	}
	couplings := make([]float64, len(l.Bonds))
	for k, b := range l.Bonds {
		neighbors, c := g.Neighbors(int(b.I))
		at, ok := slices.BinarySearch(neighbors, b.J)
		if !ok {
			return nil, fmt.Errorf("%s does not couple spins %d and %d, which are neighbours on lattice %s; give -lattice the file alone", path, b.I, b.J, l.Name)
		}
		couplings[k] = c[at] / float64(b.Times) // the file has the sum over the bonds of the pair
	}
	for i := range g.Len() {
		if g.Field(i) != 0 {
			return nil, fmt.Errorf("%s has a field on spin %d; -J takes couplings alone, and -lattice a file with both", path, i)
		}
	}
	return func(int) []float64 { return couplings }, nil
}

// errNoCouplings is in the error of parseCouplings for an unknown name, which may be the name of a file.
var errNoCouplings = errors.New("no couplings")

// parseCouplings parses -J, unless it names a file.
func parseCouplings(text string) (mcmc.Couplings, error) {
	name, rest, _ := strings.Cut(text, ":")
	seed := uint64(1)
	if rest != "" {
		value, ok := strings.CutPrefix(rest, "seed=")
		n, err := strconv.ParseUint(value, 10, 64)
		if !ok || err != nil {
			return nil, fmt.Errorf("%q is not of the form seed=N", rest)
		}
		seed = n
	}
	key := rbm.NewKey(seed)
	switch x, err := strconv.ParseFloat(name, 64); {
	case name == "pm1":
		return mcmc.PlusMinus(1, key), nil
	case name == "gaussian":
		return mcmc.Gaussian(1, key), nil
	case err != nil:
		return nil, fmt.Errorf("%w %q%s", errNoCouplings, name, grammar.DidYouMeanOr(name, []string{"pm1", "gaussian"}, "they are a number, pm1, gaussian or a file"))
	case math.IsNaN(x) || math.IsInf(x, 0):
		return nil, fmt.Errorf("%v is not finite", x)
	case rest != "":
		return nil, fmt.Errorf("%q is not random and has no seed; leave the seed out", name)
	default:
		return mcmc.Uniform(x), nil
	}
}

// readModel reads the RBM of -model.
func (p *plan) readModel() error {
	m, _, err := cli.ReadModel(&p.modelFile)
	if err != nil {
		return fmt.Errorf("-model: %w", err)
	}
	if err := m.CheckFinite(); err != nil {
		return fmt.Errorf("-model: %s: %w", p.modelFile, err)
	}
	if err := p.checkConstraint(m); err != nil {
		return err
	}
	given, held := "", p.flags.Given("class")
	if err := m.CheckBinary(); err != nil && !m.Real() {
		return cli.Usagef("-model: %s: %w", p.modelFile, err)
	}
	switch {
	case held && m.Classes() == 0:
		return cli.Usagef("-class is for models with a label; %s has none", p.modelFile)
	case held && (p.class < 0 || p.class >= m.Classes()):
		return cli.Usagef("-class is %d; the classes of %s are 0 to %d", p.class, p.modelFile, m.Classes()-1)
	case held && m.Inputs() == 0:
		return fmt.Errorf("-model: %s has a label but no inputs; use one that has both", p.modelFile)
	case held:
		p.shift = -float64(m.VisibleBias[m.Inputs()+p.class]) // GivenClass adds the label's weights to the hidden biases, but not its bias
		m = m.GivenClass(p.class)
		given = fmt.Sprintf(" given class %d", p.class)
	case m.Classes() == 0 && len(m.SoftmaxGroups()) > 0:
		return cli.Usagef("-model: %s has categories, which flips of single bits cannot change", p.modelFile)
	case len(m.SoftmaxGroups()) > 0:
		return cli.Usagef("-model: %s has a softmax label, which flips of single bits cannot change; fix it to one of its classes by -class, 0 to %d", p.modelFile, m.Classes()-1)
	}
	if c := m.Constraint; c != nil {
		if p.flags.Given("active") && p.active != c.Active {
			return cli.Usagef("-active is %d, but %s%s has the constraint %v; leave -active out", p.active, p.modelFile, given, c)
		}
		p.active, p.constrained = c.Active, true
	}
	if p.flags.FirstGiven("beta", "temperature") == "" {
		p.beta = 1 // the model itself
	}
	if m.Real() {
		q, err := mcmc.NewMarginal(m)
		if errors.Is(err, rbm.ErrUnits) {
			return cli.Usagef("-model: %s: %w", p.modelFile, err)
		}
		if err != nil {
			return fmt.Errorf("-model: %s: %w", p.modelFile, err)
		}
		p.setGraph(q.Graph)
		p.shift += q.Shift
		p.firstHidden = len(q.Visible)
		p.model = fmt.Sprintf("%s, an RBM of %d × %d units%s, the Gaussian ones integrated out", p.modelFile, m.Visible(), m.Hidden(), given)
		return nil
	}
	parameters := mcmc.NewParameters(m)
	p.newSystem = func(state []uint8) system {
		s := mcmc.NewRBM(parameters)
		s.SetState(state)
		return s
	}
	p.model = fmt.Sprintf("%s, an RBM of %d × %d units%s", p.modelFile, m.Visible(), m.Hidden(), given)
	p.units, p.pairs, p.firstHidden = parameters.Len(), m.Visible()*m.Hidden(), m.Visible()
	return nil
}

// checkConstraint returns an error if no sampler keeps the constraint of m, or if no state with the class of
// -class satisfies the constraint.
func (p *plan) checkConstraint(m *rbm.RBM) error {
	c := m.Constraint
	switch {
	case c == nil:
		return nil
	case c.On == rbm.HiddenUnits:
		return cli.Usagef("-model: %s has the constraint %v, which no sampler here keeps; exchange and im keep the number of all units that are on, all=K", p.modelFile, c)
	case p.flags.Given("class") && (c.Active < 1 || c.Active-1 > m.Inputs()+m.Hidden()):
		return cli.Usagef("-class: no state of a class meets the constraint %v of %s", c, p.modelFile)
	}
	return nil
}

// fixed reports whether -active or a constraint fixes the number of spins up.
func (p *plan) fixed() bool { return p.constrained || p.flags.Given("active") }
