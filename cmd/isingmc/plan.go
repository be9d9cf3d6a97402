package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/internal/cli"
	"gorbm/negphase/binary"
	"gorbm/rbm"
)

// A plan is a checked command line with its system made.
type plan struct {
	options
	model       string // the system in words
	graph       *binary.Graph
	movers      []namedMover
	shell       bool // the samplers keep the number of spins up
	contestants []*contestant
	length      length
	doubts      []string // of samplers about their settings
}

const (
	maxMoves   = 1 << 50
	maxSeconds = 30 * 24 * 3600
	maxBurn    = 100
)

// check checks every flag and makes the system and the samplers.
func (o *options) check() (*plan, error) {
	for _, err := range []error{
		o.checkTemperature(),
		o.checkLength(),
		cli.Choice("boundary", o.boundary, "periodic", "free"),
	} {
		if err != nil {
			return nil, err
		}
	}
	for _, out := range []struct{ flag, path, suffix string }{{"out", o.out, ".png"}, {"trace", o.trace, ".csv"}} {
		switch {
		case !o.flags.Given(out.flag):
			continue
		case o.gap:
			return nil, cli.Usagef("-gap runs no chain, so there is nothing for -%s; leave one of them out", out.flag)
		case !strings.HasSuffix(out.path, out.suffix):
			return nil, cli.Usagef("-%s is %q; the name must end in %s", out.flag, out.path, out.suffix)
		}
		if err := cli.Absent(out.flag, out.path); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"moves", "seconds", "burn", "active"} {
		if o.gap && o.flags.Given(name) {
			return nil, cli.Usagef("-gap runs no chain, so there is nothing for -%s; leave one of them out", name)
		}
	}
	p := &plan{options: *o}
	if err := p.makeGraph(); err != nil {
		return nil, err
	}
	if !o.flags.Given("sampler") {
		p.samplers = p.defaultSamplers()
	}
	if err := p.parseSamplers(); err != nil {
		return nil, err
	}
	if err := p.checkActive(); err != nil {
		return nil, err
	}
	if p.gap {
		return p, nil
	}
	return p, p.bind()
}

func (o *options) checkTemperature() error {
	name, value := "beta", o.beta
	if o.flags.Given("temperature") {
		if o.flags.Given("beta") {
			return cli.Usagef("-beta and -temperature say the same; give one of them")
		}
		name, value = "temperature", o.temperature
		o.beta = 1 / o.temperature
	}
	if !(value > 0) || math.IsInf(value, 0) || math.IsInf(o.beta, 0) {
		return cli.Usagef("-%s is %v; it must be a finite number above 0", name, value)
	}
	if math.IsNaN(o.field) || math.IsInf(o.field, 0) {
		return cli.Usagef("-field is %v; it must be a finite number", o.field)
	}
	return nil
}

func (o *options) checkLength() error {
	byMoves := o.flags.Given("moves")
	switch {
	case byMoves && o.flags.Given("seconds"):
		return cli.Usagef("-moves and -seconds both say how long to run; give one of them")
	case byMoves && (o.moves < 1 || o.moves > maxMoves):
		return cli.Usagef("-moves is %d; it must lie in 1 … %d", o.moves, int64(maxMoves))
	case !(o.seconds > 0 && o.seconds <= maxSeconds):
		return cli.Usagef("-seconds is %v; it must be above 0 and at most %d", o.seconds, maxSeconds)
	case !(o.burn >= 0 && o.burn <= maxBurn):
		return cli.Usagef("-burn is %v; it is a share of the run, from 0 to %d", o.burn, maxBurn)
	}
	return nil
}

// checkActive checks -active against the samplers and the system.
func (p *plan) checkActive() error {
	n := p.graph.Len()
	switch {
	case !p.shell && p.flags.Given("active"):
		return cli.Usagef("-active fixes how many spins are up, which %s does not keep; take exchange or im", p.movers[0].name)
	case !p.shell:
		return nil
	case !p.flags.Given("active"):
		p.active = n / 2
	}
	if p.active < 1 || p.active >= n {
		return cli.Usagef("-active is %d; of %d spins it must lie in 1 … %d, or there is but one state", p.active, n, n-1)
	}
	return nil
}

// start returns the state that all samplers start from: fair coins, or fair
// draws of the spins that are up.
func (p *plan) start() []uint8 {
	r := rbm.NewKey(p.seed).Child(startKey).Rand()
	x := make([]uint8, p.graph.Len())
	if p.shell {
		for _, i := range r.Perm(len(x))[:p.active] {
			x[i] = 1
		}
		return x
	}
	for i := range x {
		x[i] = uint8(r.Uint64() & 1)
	}
	return x
}

// bind puts each sampler on its own copy of the system.
func (p *plan) bind() error {
	start := p.start()
	for i, m := range p.movers {
		system := binary.NewIsing(p.graph, start)
		chain, err := m.Bind(system, p.beta, nil)
		if err != nil {
			return cli.Usagef("-sampler: %w", err)
		}
		if w, ok := chain.(binary.Warner); ok && w.Warning() != "" {
			p.doubts = append(p.doubts, w.Warning())
		}
		settings, twin := binary.FormatMover(m.Mover), 0
		for _, before := range p.movers[:i] {
			if binary.FormatMover(before.Mover) == settings {
				twin++
			}
		}
		p.contestants = append(p.contestants, &contestant{name: m.name, system: system, chain: chain, rand: movesRand(p.seed, settings, twin)})
	}
	p.length = length{byTime, time.Duration(p.seconds * float64(time.Second))}
	if p.flags.Given("moves") {
		p.length = length{p.options.moves, math.MaxInt64}
	}
	return nil
}

// describe says in two lines what is sampled.
func (p *plan) describe() string {
	n := p.graph.Len()
	d := fmt.Sprintf("%s: %d spins, %d bonds; β = %.6g", p.model, n, p.graph.Edges(), p.beta)
	if p.shell {
		d += fmt.Sprintf("; %d spins up", p.active)
	}
	run := fmt.Sprintf("%v s of computing each", p.seconds)
	if p.flags.Given("moves") {
		run = fmt.Sprintf("%d moves", p.options.moves)
		if len(p.movers) > 1 {
			run += " of " + p.movers[0].name + " and equal computing time of the others"
		}
	}
	return fmt.Sprintf("%s\nseed %d; %s, after a burn-in of %v of that", d, p.seed, run, p.burn)
}

// defaultSamplers returns samplers that suit the system.
func (p *plan) defaultSamplers() string {
	const paper, long = 90, 25 // flips of the papers' walks, on 60x60 and on 9x9x9
	n := p.graph.Len()
	switch {
	case p.gap:
		return "gibbs,metropolis,modified-metropolis"
	case p.flags.Given("active"):
		if room := min(p.active, n-p.active); room < paper {
			return fmt.Sprintf("exchange,im:k=1-%d", max(1, min(long, room)))
		}
		return fmt.Sprintf("exchange,im:k=%d", paper)
	case n >= 20*paper:
		return fmt.Sprintf("gibbs,sw,sardonics:k=%d-%d:gamma=1.02", paper-1, paper) // a fixed length is reducible
	case n > 2:
		return fmt.Sprintf("gibbs,sw,sardonics:k=1-%d", min(long, n-1))
	}
	return "gibbs,sw"
}

// A namedMover is a sampler's settings and their text.
type namedMover struct {
	binary.Mover
	name string // as it was given, and -order
}

// parseSamplers reads -sampler and -order.
func (p *plan) parseSamplers() error {
	if p.order != "" {
		if err := cli.Choice("order", p.order, binary.Orders()...); err != nil {
			return err
		}
	}
	taken := p.order == ""
	var kinds [2]string // the first sampler on all states, and on a shell
	for _, text := range strings.Split(p.samplers, ",") {
		if name, rest, _ := strings.Cut(text, ":"); p.order != "" && binary.MoverHas(name, "order") && !strings.Contains(":"+rest, ":order=") {
			text += ":order=" + p.order
			taken = true
		}
		m, err := binary.ParseMover(text, binary.Linear)
		if err != nil {
			return cli.Usagef("-sampler: %w", err)
		}
		p.movers = append(p.movers, namedMover{m, text})
		shell := 0
		if keepsMagnetisation(m) {
			shell = 1
		}
		kinds[shell] = text
	}
	switch {
	case !taken:
		return cli.Usagef("-order is for gibbs, metropolis and modified-metropolis that do not say order= themselves; -sampler %s has none", p.samplers)
	case kinds[0] != "" && kinds[1] != "":
		return cli.Usagef("-sampler: %s keeps the number of spins up, %s does not: their laws differ, so there is nothing to compare; run them apart", kinds[1], kinds[0])
	case len(p.movers) > len(samplerColors):
		return cli.Usagef("-sampler names %d samplers; at most %d run together", len(p.movers), len(samplerColors))
	}
	p.shell = kinds[1] != ""
	return nil
}

// keepsMagnetisation reports whether a sampler keeps the number of spins up.
func keepsMagnetisation(m binary.Mover) bool {
	switch m.(type) {
	case binary.Exchange, binary.Intracluster:
		return true
	}
	return false
}

// makeGraph makes the system of -lattice, -boundary, -J and -field.
func (p *plan) makeGraph() error {
	lattice, err := binary.ParseLattice(p.lattice, p.boundary == "periodic")
	if errors.Is(err, binary.ErrSpec) {
		return p.readGraph(err)
	} else if err != nil {
		return cli.Usagef("-lattice: %w", err)
	}
	couplings, err := parseCouplings(p.couplings)
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
	p.graph, err = binary.ReadGraphFile(p.lattice)
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

// parseCouplings reads -J.
func parseCouplings(text string) (binary.Couplings, error) {
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
		return binary.PlusMinus(1, key), nil
	case name == "gaussian":
		return binary.Gaussian(1, key), nil
	case err != nil:
		return nil, fmt.Errorf("%q%s; couplings are a number, pm1 or gaussian", name, cli.DidYouMean("", name, []string{"pm1", "gaussian"}))
	case math.IsNaN(x) || math.IsInf(x, 0):
		return nil, fmt.Errorf("%v is not finite", x)
	case rest != "":
		return nil, fmt.Errorf("%q has nothing to draw, so no seed; leave it out", name)
	default:
		return binary.Uniform(x), nil
	}
}
