package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/train/plots"
)

// A scan is a checked -scan: every sampler runs at all temperatures.
type scan struct {
	betas   []float64 // falling
	inBeta  bool      // the text gave inverse temperatures
	auto    bool      // spaceScan places those between the first and the last
	capped  bool      // it would have placed more than maxScan
	systems []*plan   // for each lattice, with its samplers
	of      []int     // for each contestant: its system
}

const (
	// maxScan is the largest number of temperatures of a scan.
	maxScan = 200
	// A scan that places its temperatures begins with pilotTemperatures. It has leastPilots pilot runs or
	// more, at most mostPilots, of pilotMoves moves each, the first quarter of which is not measured. So the
	// acceptance of a swap is known to some 0.04, if moves are independent.
	pilotTemperatures, leastPilots, mostPilots = 5, 3, 10
	pilotMoves                                 = 200
)

// parseScan reads the value of -scan: LOW:HIGH:N, N equally spaced temperatures, LOW:HIGH:auto, or
// the same of inverse temperatures after beta=.
func parseScan(text string) (*scan, error) {
	s := new(scan)
	var rest string
	if rest, s.inBeta = strings.CutPrefix(text, "beta="); !s.inBeta {
		rest = text
	}
	parts := strings.Split(rest, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q is not of the form LOW:HIGH:N, as 1.8:2.8:21, 1.8:2.8:auto or beta=0:0.5:26", text)
	}
	low, err1 := data.ParseNumber(parts[0])
	high, err2 := data.ParseNumber(parts[1])
	n, err3 := pilotTemperatures, error(nil)
	if s.auto = parts[2] == "auto"; !s.auto {
		n, err3 = strconv.Atoi(parts[2])
	}
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("%q is not of the form LOW:HIGH:N, as 1.8:2.8:21, 1.8:2.8:auto or beta=0:0.5:26", text)
	}
	switch {
	case math.IsNaN(low) || math.IsInf(high, 0) || !(low < high):
		return nil, fmt.Errorf("%q: LOW must be below HIGH, and both finite", text)
	case low < 0 || low == 0 && !s.inBeta:
		return nil, fmt.Errorf("%q: temperatures must be above 0; for an infinite one give beta=0:HIGH:N", text)
	case n < 2 || n > maxScan:
		return nil, fmt.Errorf("%q: N is %d; it must lie in 2 … %d", text, n, maxScan)
	}
	for i := range n {
		x := low + float64((high-low)*float64(i)/float64(n-1))
		if i == n-1 {
			x = high
		}
		if !s.inBeta {
			x = 1 / x
		}
		s.betas = append(s.betas, x)
	}
	slices.SortFunc(s.betas, func(a, b float64) int { return cmp.Compare(b, a) })
	if math.IsInf(s.betas[0], 0) || s.betas[n-1] == s.betas[n-2] {
		return nil, fmt.Errorf("%q: these temperatures have no different finite inverses", text)
	}
	return s, nil
}

// x returns an inverse temperature in the variable of the scan.
func (s *scan) x(beta float64) float64 {
	if s.inBeta {
		return beta
	}
	return 1 / beta
}

// span returns the least and the largest value of the variable of the scan.
func (s *scan) span() (low, high float64) {
	a, b := s.x(s.betas[0]), s.x(s.betas[len(s.betas)-1])
	return min(a, b), max(a, b)
}

// name returns the name of the variable.
func (s *scan) name() string {
	if s.inBeta {
		return "β"
	}
	return "T"
}

// makeScan reads -scan, and the lattices of -lattice, of which a scan takes several.
func (p *plan) makeScan() error {
	s, err := parseScan(p.options.scan)
	if err != nil {
		return cli.Usagef("-scan: %w", err)
	}
	p.scan, p.beta = s, s.betas[0]
	lattices := strings.Split(p.lattice, ",")
	for _, lattice := range lattices {
		q := &plan{options: p.options, scan: s}
		q.beta, q.lattice = s.betas[0], lattice
		if p.flags.Given("model") {
			err = q.readModel()
			q.beta = s.betas[0]
		} else {
			err = q.makeGraph()
		}
		if err == nil {
			if !p.flags.Given("sampler") {
				q.samplers = q.scanSampler()
			}
			err = cmp.Or(q.parseSamplers(), q.checkActive())
		}
		if err != nil {
			return err
		}
		s.systems = append(s.systems, q)
	}
	if n := len(lattices) * len(s.systems[0].movers); n > len(plots.Colors) {
		return cli.Usagef("-scan: %d lattices by %d samplers; at most %d curves together", len(lattices), len(s.systems[0].movers), len(plots.Colors))
	}
	first := s.systems[0]
	p.model, p.units, p.pairs, p.graph, p.movers, p.symmetric, p.keepsUp, p.active = first.model, first.units, first.pairs, first.graph, first.movers, first.symmetric, first.keepsUp, first.active
	return nil
}

// scanSampler returns the sampler of a scan that names none.
func (p *plan) scanSampler() string {
	if p.clustersHelp() {
		return "sw" // at every temperature
	}
	return "pt"
}

// clustersHelp reports whether sw and wolff apply, and no coupling is negative, so that clusters never compete.
func (p *plan) clustersHelp() bool {
	if p.graph == nil || p.fixed() {
		return false
	}
	for i := range p.graph.Len() {
		_, couplings := p.graph.Neighbors(i)
		if slices.ContainsFunc(couplings, func(j float64) bool { return j < 0 }) {
			return false
		}
	}
	return true
}

// spaceScan places the temperatures of a scan whose number is auto: ⌈2Λ⌉ + 1 of them for the communication
// barrier Λ, that neighbours accept about half of their swaps (Syed et al. 2022, section 5), and all pairs
// equally often. Pilot runs of the first sampler, with swaps, measure the barrier. Of several lattices the
// largest barrier counts in each pair. Pilot runs have a fixed number of moves, so that the result
// depends on the seed alone.
func (p *plan) spaceScan(ctx context.Context) error {
	s := p.scan
	if !s.auto {
		return nil
	}
	key := p.keyOf(0).Child(spaceKey)
	states := make([][]uint8, len(s.systems)) // of the coldest replicas
	for at, q := range s.systems {
		states[at] = q.starts(key.Child(uint64(at)))[isWalk(q.movers[0].Mover)]
	}
	for pilot := range mostPilots {
		barriers := make([]float64, len(s.betas)-1)
		for at, q := range s.systems {
			mover := q.movers[0].Mover
			if t, ok := mover.(mcmc.Tempering); ok {
				mover = t.Mover
			}
			system := q.newSystem(states[at])
			ladder, err := mcmc.NewLadder(system, mover, mcmc.Swaps, s.betas, nil)
			if err != nil {
				return cli.Usagef("-sampler: %w", err)
			}
			c := &contestant{system: system, chain: ladder, ladder: ladder, rand: key.Child(uint64(at)).Child(uint64(pilot)).Rand()}
			c.warm(func() time.Duration { return 0 })
			rejection, rise, err := pilotRun(ctx, c)
			if err != nil {
				return err
			}
			states[at] = slices.Clone(system.State())
			for k, x := range negphase.Barriers(s.betas, rejection, rise) {
				barriers[k] = max(barriers[k], x)
			}
		}
		all := 0.0 // summed in order: a library's sum has other bits on other processors
		for _, x := range barriers {
			all += x
		}
		wanted := int(min(math.Ceil(2*all)+1, 2*maxScan))
		n := min(max(wanted, 3), maxScan, 2*len(s.betas))
		next := negphase.EqualBarriers(s.betas, barriers, n)
		if next == nil {
			return cli.Usagef("-scan: the temperatures of %q are too close to place others between them; give N in place of auto", p.options.scan)
		}
		grew := n > len(s.betas)
		s.betas, s.capped = next, wanted > maxScan
		if !grew && pilot+1 >= leastPilots {
			break
		}
	}
	return p.bind()
}

// pilotRun moves the ladder of c and returns the mean rejections of its neighbours' swaps and the
// differences of their mean energies.
func pilotRun(ctx context.Context, c *contestant) (rejection, rise []float64, err error) {
	pairs := len(c.ladder.Betas()) - 1
	rejection, rise = make([]float64, pairs), make([]float64, pairs)
	const measured = pilotMoves - pilotMoves/4
	for move := range pilotMoves {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		c.ladder.Move(c.rand)
		if move < pilotMoves-measured {
			continue
		}
		for k := range pairs {
			cold, hot := c.ladder.Replica(k).Energy(), c.ladder.Replica(k+1).Energy()
			rejection[k] += (1 - acceptance(c.ladder.Betas(), k, cold, hot)) / measured
			rise[k] += (hot - cold) / measured
		}
	}
	return rejection, rise, nil
}

// acceptance returns the probability that a swap of states of these energies at the k-th inverse
// temperature and the next hotter one is accepted.
func acceptance(betas []float64, k int, cold, hot float64) float64 {
	return rbm.Exp(min(0, (betas[k]-betas[k+1])*(cold-hot)))
}

// ladderOf returns a sampler's ladder of the scan on a system: with exchanges for pt and ins.
func (p *plan) ladderOf(m namedMover, s system) (*mcmc.Ladder, error) {
	mover, swapping := m.Mover, mcmc.NoSwaps
	if t, ok := mover.(mcmc.Tempering); ok {
		mover, swapping = t.Mover, t.Swapping
	}
	return mcmc.NewLadder(s, mover, swapping, p.scan.betas, nil)
}

// newScanContestants is newContestants for a scan: each sampler on each lattice.
func (p *plan) newScanContestants(chain int) (field []*contestant, err error) {
	p.scan.of = nil
	for at, q := range p.scan.systems {
		seed := q.keyOf(chain)
		starts := q.starts(seed.Child(startKey))
		for i, m := range q.movers {
			system := q.newSystem(starts[isWalk(m.Mover)])
			ladder, err := q.ladderOf(m, system)
			if err != nil {
				return nil, cli.Usagef("-sampler: %w", err)
			}
			name := m.name
			if len(p.scan.systems) > 1 {
				name = q.lattice
				if len(q.movers) > 1 {
					name += " " + m.name
				}
			}
			c := &contestant{name: name, beta: q.beta, system: system, shift: q.shift, chain: ladder, ladder: ladder, rand: q.randOf(seed.Child(movesKey), i)}
			c.Scanned = newScanned(len(p.scan.betas), q.graph != nil && !q.keepsUp)
			p.scan.of = append(p.scan.of, at)
			field = append(field, c)
		}
	}
	return field, nil
}

// randOf returns the random numbers of the moves of the i-th sampler.
func (p *plan) randOf(key rbm.Key, i int) *rand.Rand {
	settings, before := format(p.movers[i]), 0
	for _, other := range p.movers[:i] {
		if format(other) == settings {
			before++
		}
	}
	return movesRand(key, settings, before)
}

// A scanned is what a sampler has measured at the temperatures of a scan, coldest first.
type scanned struct {
	At     []*observables
	Within []float64 // as of measured, of each temperature
	Accept []float64 // the sum over moves of the acceptance of a swap with the next hotter temperature
	Log    drawLog
	now    []reading
}

func newScanned(temperatures int, magnetisation bool) *scanned {
	s := &scanned{now: make([]reading, temperatures), Within: make([]float64, temperatures), Accept: make([]float64, temperatures-1)}
	for range temperatures {
		s.At = append(s.At, newObservables(magnetisation, false))
	}
	s.Log.Spacing = spacing{Most: max(2*leastRounds, maxDraws/temperatures), Every: 1}
	return s
}

// observeScan adds the values after a move.
func (c *contestant) observeScan() {
	s := c.Scanned
	magnetisation := s.At[0].Spins != nil
	for k := range s.now {
		s.now[k] = c.read(c.ladder.Replica(k), magnetisation)
	}
	for k, o := range s.At {
		weight, partner := c.ladder.Weight(k)
		o.add(s.now[k], s.now[partner], weight)
		s.Within[k] += within(s.now[k], s.now[partner], weight)
	}
	for k := range s.Accept {
		s.Accept[k] += acceptance(c.ladder.Betas(), k, s.now[k].energy, s.now[k+1].energy)
	}
	s.Log.add(s.now)
}

const (
	// maxDraws is the number of draws, of all temperatures, that reweighting takes from a chain at most;
	// neighbouring moves are nearly equal.
	maxDraws = 160_000
	// leastRounds is the least number of moves that it takes.
	leastRounds = 2 * scanGroups
)

// A drawLog keeps energies and magnetisations at all temperatures of some moves.
type drawLog struct {
	Spacing spacing
	Energy  []float64 // for each temperature, move by move
	M       []float64
}

func (l *drawLog) add(now []reading) {
	drop, keep := l.Spacing.next()
	if drop {
		l.Energy, l.M = halved(l.Energy, len(now)), halved(l.M, len(now))
	}
	if keep {
		for _, x := range now {
			l.Energy, l.M = append(l.Energy, x.energy), append(l.M, x.m)
		}
	}
}
