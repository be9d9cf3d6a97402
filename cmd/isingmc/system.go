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
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// makeGraph makes the system of -lattice, -boundary, -J and -field.
func (p *plan) makeGraph() error {
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
	if p.graph, err = lattice.Graph(couplings, p.field); err != nil {
		return cli.Usagef("-lattice: %w", err)
	}
	return nil
}

// readGraph reads the system from a file; noLattice is the error to return if
// there is none.
func (p *plan) readGraph(noLattice error) (err error) {
	p.graph, err = mcmc.ReadGraphFile(p.lattice)
	if errors.Is(err, fs.ErrNotExist) {
		name, _, _ := strings.Cut(p.lattice, ":")
		return cli.Usagef("-lattice: %w, which is not there%s", noLattice, cli.DidYouMean("", name, []string{"chimera"}))
	}
	if err != nil {
		return fmt.Errorf("-lattice: %w", err)
	}
	for _, name := range []string{"boundary", "J", "field"} {
		if p.flags.Given(name) {
			return cli.Usagef("-%s is for lattices; %s holds its own couplings and fields", name, p.lattice)
		}
	}
	p.model = p.lattice
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readCouplings reads the couplings of a lattice from a file of lines "i j J",
// one for each pair of neighbours.
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
		couplings[k] = c[at] / float64(b.Times) // the file's is that of the pair
	}
	for i := range g.Len() {
		if g.Field(i) != 0 {
			return nil, fmt.Errorf("%s has a field on spin %d; -J takes couplings alone, and -lattice a file with both", path, i)
		}
	}
	return func(int) []float64 { return couplings }, nil
}

// errNoCouplings is wrapped by the error of parseCouplings for a text that is
// not of its grammar, which may be the name of a file.
var errNoCouplings = errors.New("no couplings")

// parseCouplings reads -J.
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
		return nil, fmt.Errorf("%w %q%s; they are a number, pm1, gaussian or a file", errNoCouplings, name, cli.DidYouMean("", name, []string{"pm1", "gaussian"}))
	case math.IsNaN(x) || math.IsInf(x, 0):
		return nil, fmt.Errorf("%v is not finite", x)
	case rest != "":
		return nil, fmt.Errorf("%q has nothing to draw, so no seed; leave it out", name)
	default:
		return mcmc.Uniform(x), nil
	}
}
