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
	betas    []float64 // inverse temperatures, in descending order
	inBeta   bool      // the value of -scan gave inverse temperatures
	auto     bool      // spaceScan chooses the temperatures between the first and the last
	capped   bool      // spaceScan needed more than maxScan temperatures
	systems  []*plan   // a plan for each lattice, with its samplers
	systemOf []int     // for each contestant: index of its system
}

const (
	// maxScan is the largest number of temperatures of a scan.
	maxScan = 200
	// A scan with auto begins with pilotTemperatures temperatures. It makes leastPilots to mostPilots pilot
	// runs of pilotMoves moves, and measures all but the first quarter of each run. If moves are independent,
	// a pilot run measures the acceptance of a swap with a standard error of at most 0.04.
	pilotTemperatures, leastPilots, mostPilots = 5, 3, 10
	pilotMoves                                 = 200
)

// parseScan parses the value of -scan: LOW:HIGH:N for N equally spaced temperatures, LOW:HIGH:auto, or
// beta= and the same for inverse temperatures.
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
		return nil, fmt.Errorf("%q: the inverses of these temperatures are infinite or equal", text)
	}
	return s, nil
}

// x converts an inverse temperature to the variable of the scan, T or β.
func (s *scan) x(beta float64) float64 {
	if s.inBeta {
		return beta
	}
	return 1 / beta
}

// span returns the smallest and the largest value of the variable of the scan.
func (s *scan) span() (low, high float64) {
	a, b := s.x(s.betas[0]), s.x(s.betas[len(s.betas)-1])
	return min(a, b), max(a, b)
}

// name returns the name of the variable of the scan.
func (s *scan) name() string {
	if s.inBeta {
		return "β"
	}
	return "T"
}

// makeScan makes the scan of -scan, with the systems of -lattice, which may list several lattices.
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

// scanSampler returns the default sampler of a scan.
func (p *plan) scanSampler() string {
	if p.clustersHelp() {
		return "sw"
	}
	return "pt"
}

// clustersHelp reports whether sw and wolff apply and no coupling is negative, so that the system has no frustration.
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

// closeScan is the relative range of inverse temperatures below which maxScan of them are not distinct in float32.
const closeScan = maxScan * 0x1p-23

// spaceScan chooses the temperatures of a scan with auto: ⌈2Λ⌉ + 1 temperatures for the communication
// barrier Λ, the sum of the rejection rates of swaps, so that all neighbours accept about half of their swaps
// (Syed et al. 2022, section 5). Pilot runs of the first sampler, with swaps, measure the barrier. With several
// lattices, each pair of temperatures has the largest barrier of all lattices. Pilot runs have a fixed number
// of moves, so that the result depends only on the seed.
func (p *plan) spaceScan(ctx context.Context) error {
	s := p.scan
	if !s.auto {
		return nil
	}
	key := p.keyOf(0).Child(spaceKey)
	states := make([][]uint8, len(s.systems)) // states of the coldest replicas
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
		all := 0.0 // summed in order: the rounding of a library's sum depends on the processor
		for _, x := range barriers {
			all += x
		}
		wanted := int(min(math.Ceil(2*all)+1, 2*maxScan))
		n := min(max(wanted, 3), maxScan, 2*len(s.betas))
		next := negphase.EqualBarriers(s.betas, barriers, n)
		if next == nil {
			if last := s.betas[len(s.betas)-1]; s.betas[0]-last < closeScan*s.betas[0] {
				return cli.Usagef("-scan: the temperatures of %q are too close together to choose others between them; give N in place of auto", p.options.scan)
			}
			return cli.Usagef("-scan: the temperatures of %q are too far apart to choose others between them; give a narrower range, or N in place of auto", p.options.scan)
		}
		grew := n > len(s.betas)
		s.betas, s.capped = next, wanted > maxScan
		if !grew && pilot+1 >= leastPilots {
			break
		}
	}
	return p.bind()
}

// pilotRun moves the ladder of c. For each pair of neighbouring temperatures it returns the mean rejection
// probability of a swap, and the mean energy of the hotter replica minus that of the colder one.
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

// acceptance returns the acceptance probability of a swap between the k-th inverse temperature and the next
// hotter one. cold and hot are the energies of their states.
func acceptance(betas []float64, k int, cold, hot float64) float64 {
	return rbm.Exp(min(0, (betas[k]-betas[k+1])*(cold-hot)))
}

// ladderOf returns the ladder of sampler m on system s at the temperatures of the scan. Only pt and ins swap.
func (p *plan) ladderOf(m namedMover, s system) (*mcmc.Ladder, error) {
	mover, swapping := m.Mover, mcmc.NoSwaps
	if t, ok := mover.(mcmc.Tempering); ok {
		mover, swapping = t.Mover, t.Swapping
	}
	return mcmc.NewLadder(s, mover, swapping, p.scan.betas, nil)
}

// newScanContestants is newContestants for a scan. It returns a contestant for each sampler on each lattice.
func (p *plan) newScanContestants(chain int) (field []*contestant, err error) {
	p.scan.systemOf = nil
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
			p.scan.systemOf = append(p.scan.systemOf, at)
			field = append(field, c)
		}
	}
	return field, nil
}

// randOf returns the generator for the moves of the i-th sampler.
func (p *plan) randOf(key rbm.Key, i int) *rand.Rand {
	settings, before := format(p.movers[i]), 0
	for _, other := range p.movers[:i] {
		if format(other) == settings {
			before++
		}
	}
	return movesRand(key, settings, before)
}

// A scanned has the measurements of a sampler at the temperatures of a scan, coldest first.
type scanned struct {
	At     []*observables
	Within []float64 // measured.Within at each temperature
	Accept []float64 // sum over moves of the acceptance probability of a swap with the next hotter temperature
	Log    drawLog
	now    []reading // the current states
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
	// maxDraws is the largest number of states of a chain, over all temperatures, that reweighting uses.
	// More would add little, because the states of neighbouring moves are nearly equal.
	maxDraws = 160_000
	// leastRounds is the smallest number of moves that reweighting uses.
	leastRounds = 2 * scanGroups
)

// A drawLog keeps energies and magnetisations at all temperatures after some of the moves.
type drawLog struct {
	Spacing spacing
	Energy  []float64 // moves × temperatures
	M       []float64 // likewise: magnetisation per spin
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
