package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A plan is a checked command line with its system and samplers.
type plan struct {
	options
	model       string                     // the system in words
	units       int                        // number of spins, or of units of an RBM
	pairs       int                        // number of coupled pairs of units
	newSystem   func(state []uint8) system // returns a system in the given state
	graph       *mcmc.Graph                // the couplings of an Ising system, or of an RBM whose Gaussian units are integrated out; nil for other RBMs
	shift       float64                    // constant part of the energy: the bias of the label unit of -class, and the contribution of Gaussian units
	movers      []namedMover
	keepsUp     bool          // the samplers keep the number of spins up
	constrained bool          // the constraint of the model sets the number of spins up
	contestants []*contestant // samplers of the first chain
	runs        [][]*measured // chains × contestants
	length      length
	firstHidden int     // index of the first hidden unit of an RBM; 0 for an Ising system
	symmetric   bool    // flipping all spins leaves the energy unchanged
	tuning      *tuning // nil without -tune and -policy
	scan        *scan   // nil without -scan
	references  int     // number of contestants at the end of the list that are only compared with the others

	samplerWarnings []string // warnings about the samplers' settings
	policyWarning   string   // set if the policy was learned at another temperature
}

const (
	maxMoves   = 1 << 50
	maxSeconds = 30 * 24 * 3600
	maxBurn    = 100
)

// check checks all flags and makes the system and the samplers.
func (o *options) check() (*plan, error) {
	p := &plan{options: *o}
	if o.flags.Given("temperature") {
		p.beta = 1 / o.temperature
	}
	if math.IsInf(p.beta, 0) {
		return nil, cli.Usagef("-temperature is %v; its inverse must be finite too", o.temperature)
	}
	if o.group.Size() > 1 && o.flags.Given("tune") {
		return nil, cli.Usagef("-tune works in one process; tune without mpirun and with -policy FILE; then run with -policy FILE under mpirun")
	}
	if err := o.flags.CheckNew("out", "trace", "states", "table"); err != nil {
		return nil, err
	}
	if o.flags.Given("scan") {
		return p, cmp.Or(p.makeScan(), p.bind())
	}
	if o.flags.Given("model") {
		if err := p.readModel(); err != nil {
			return nil, err
		}
	} else if err := p.makeGraph(); err != nil {
		return nil, err
	}
	if !o.flags.Given("sampler") {
		p.samplers = p.defaultSamplers()
	}
	if err := p.parseSamplers(); err != nil {
		return nil, err
	}
	if err := cmp.Or(p.checkActive(), p.checkTune(), p.checkStates()); err != nil || p.gap {
		return p, err
	}
	return p, p.bind()
}

// checkActive checks -active against the samplers and the system.
func (p *plan) checkActive() error {
	n := p.units
	switch {
	case !p.keepsUp && p.constrained:
		return cli.Usagef("-sampler: %s changes the number of units that are on, and the constraint of %s keeps it at %d; use exchange or im", p.movers[0].name, p.modelFile, p.active)
	case !p.keepsUp && p.flags.Given("active"):
		return cli.Usagef("-active fixes how many spins are up, which %s does not keep; use exchange or im", p.movers[0].name)
	case !p.keepsUp:
		return nil
	case !p.fixed():
		p.active = n / 2
	}
	if p.active < 1 || p.active >= n {
		return cli.Usagef("-active is %d; it must lie in 1 … %[3]d, because with 0 or %[2]d spins up there is only one state", p.active, n, n-1)
	}
	return nil
}

// start returns a uniformly random state, among all states or among those with the fixed
// number of spins up.
func (p *plan) start(key rbm.Key) []uint8 {
	r := key.Rand()
	x := make([]uint8, p.units)
	if p.keepsUp {
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

// relaxSweeps is the number of sweeps from the random start before a walk sampler
// begins. The random start is a state of infinite temperature, from which long walks
// with settings for β may never be accepted: on 60×60 with J = ±1, β = 1 and the settings
// of Table II of Hamze et al. (2012), 35,000 moves in a row were rejected.
const relaxSweeps = 100

// relaxed returns the state from which walk samplers start: the start of the other
// samplers after relaxSweeps sweeps of single flips or exchanges, or the start itself if
// these moves do not apply to the system.
func (p *plan) relaxed(key rbm.Key) []uint8 {
	system := p.newSystem(p.start(key))
	var single mcmc.Mover = mcmc.Gibbs{}
	if p.keepsUp {
		single = mcmc.Exchange{}
	}
	if chain, err := single.Bind(system, p.beta, nil); err == nil {
		r := key.Child(1).Rand()
		for range relaxSweeps {
			chain.Move(r)
		}
	}
	return slices.Clone(system.State())
}

// isWalk reports whether a move of the sampler is a walk of many flips that may be rejected.
func isWalk(m mcmc.Mover) bool {
	switch m := m.(type) {
	case mcmc.Sardonics, mcmc.Intracluster, mcmc.Mixture:
		return true
	case mcmc.Tempering:
		return isWalk(m.Mover)
	}
	return false
}

// starts returns the initial states of a chain: element true for walk samplers, element false for all others.
// Equal keys give equal states.
func (p *plan) starts(key rbm.Key) map[bool][]uint8 {
	starts := map[bool][]uint8{false: p.start(key)}
	if slices.ContainsFunc(p.movers, func(m namedMover) bool { return isWalk(m.Mover) }) {
		starts[true] = p.relaxed(key)
	}
	return starts
}

// bind creates the samplers of the first chain and sets the length of their runs.
func (p *plan) bind() (err error) {
	p.length = length{moves: byTime, time: time.Duration(p.seconds * float64(time.Second))}
	if p.flags.Given("moves") {
		p.length = length{p.options.moves, math.MaxInt64, p.scan != nil}
	}
	p.contestants, err = p.newContestants(0)
	for _, c := range p.contestants {
		if w, ok := c.chain.(mcmc.Warner); ok && w.Warning() != "" && !slices.Contains(p.samplerWarnings, w.Warning()) {
			p.samplerWarnings = append(p.samplerWarnings, w.Warning())
		}
	}
	return err
}

// newContestants creates the samplers of one chain. Each has a copy of the system, and a second copy
// with -overlap.
func (p *plan) newContestants(chain int) (field []*contestant, err error) {
	if p.scan != nil {
		return p.newScanContestants(chain)
	}
	seed := p.keyOf(chain)
	starts, twinStarts := p.starts(seed.Child(startKey)), map[bool][]uint8{}
	if p.overlap {
		twinStarts = p.starts(seed.Child(twinKey))
	}
	for i, m := range p.movers {
		system := p.newSystem(starts[isWalk(m.Mover)])
		chain, err := m.Bind(system, p.beta, nil)
		if err != nil {
			return nil, cli.Usagef("-sampler: %w", err)
		}
		c := &contestant{name: m.name, beta: p.beta, system: system, shift: p.shift, chain: chain, rand: p.randOf(seed.Child(movesKey), i)}
		c.ladder, _ = chain.(*mcmc.Ladder)
		if p.overlap {
			second := p.newSystem(twinStarts[isWalk(m.Mover)])
			chain, err := m.Bind(second, p.beta, nil)
			if err != nil {
				return nil, err
			}
			c.twin = &twin{second, chain, p.randOf(seed.Child(twinKey), i)}
		}
		if p.observables || p.overlap {
			c.Observables = newObservables(p.observables && !p.keepsUp, p.overlap)
		}
		field = append(field, c)
	}
	if p.states != "" {
		field[0].States = newStateLog(p.keep, p.units)
	}
	return field, nil
}

// format returns the settings of m as text, or the name of a policy.
func format(m namedMover) string {
	if _, ok := m.Mover.(mcmc.Mixture); ok {
		return m.name
	}
	return mcmc.FormatMover(m.Mover)
}

// describeSystem returns a line about the system, without the newline.
func (p *plan) describeSystem() string {
	return fmt.Sprintf("%s: %d spins, %d bonds; β = %.6g", p.model, p.units, p.pairs, p.beta)
}

// describe returns two lines: one about the system, one about the length of the runs.
func (p *plan) describe() string {
	if p.scan != nil {
		return p.describeSystems() + "\n" + p.describeLength(len(p.contestants))
	}
	d := p.describeSystem()
	if p.keepsUp {
		d += fmt.Sprintf("; %d spins up", p.active)
	}
	return d + "\n" + p.describeLength(len(p.movers))
}

// describeLength returns a line about the length of the runs, without the newline.
func (p *plan) describeLength(samplers int) string {
	run := fmt.Sprintf("%v s of computing each", p.seconds)
	if p.flags.Given("moves") {
		run = fmt.Sprintf("%d moves", p.options.moves)
		switch {
		case samplers > 1 && p.scan != nil:
			run += " each"
		case samplers > 1:
			run += " of " + p.movers[0].name + " and equal computing time of the others"
		}
	}
	if p.chains > 1 {
		run += fmt.Sprintf(" in each of %d chains", p.chains)
	}
	return fmt.Sprintf("seed %d; %s, after a burn-in of %v of that", p.seed, run, p.burn)
}
