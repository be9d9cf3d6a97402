package tune

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// A Problem is a sampler to tune, on a system.
type Problem struct {
	Space     *Space
	Beta      float64                         // inverse temperature
	NewSystem func(state []uint8) mcmc.System // returns a system in this state
	Start     []uint8                         // state that trials start from
	Sites     []int32                         // units that are flipped; nil: all
	Hidden    int                             // first unit of the magnetisation, which counts the active units from here on: in an RBM, the hidden ones
	Symmetric bool                            // the energy is the same after a flip of all units, as without fields
	Energy    bool                            // the reward counts the energy alone, and no slower observable
	Key       rbm.Key                         // of all random numbers
	Clock     func() time.Duration            // returns the time since a fixed moment, or the processor time of this thread
	// SecondsPerFlip, unless it is 0, replaces Clock: every flip of a walk counts as this
	// long, so that equal keys give equal results.
	SecondsPerFlip float64
}

// A Trial is one evaluation of the reward.
type Trial struct {
	At       []float64 // in the unit cube
	Settings string    // of the sampler, in the grammar of mcmc.ParseMover
	Reward   float64
	// Modelled is the reward that the Gaussian process gets, clipped not far below the median.
	Modelled float64
	Seconds  float64 // of computing
	Moves    int64

	series [][]float64 // of the observables
}

// A lane is a system on which one trial runs at a time. Its state goes from
// trial to trial, so that only the first one has to forget the start.
type lane struct {
	system mcmc.System
	r      *rand.Rand
	target
}

// A target is what is known of the distribution that is sampled.
type target struct {
	reference []uint8   // overlap with this state is observed
	variance  []float64 // for each observable
}

func (p *Problem) lane(n int) *lane {
	return &lane{system: p.NewSystem(p.Start), r: p.Key.Child(laneKey).Child(uint64(n)).Rand()}
}

// Keys that derive from that of a Problem.
const (
	laneKey = iota
	designKey
	_ // so that policyKey keeps its number
	policyKey
)

// observables returns how many observables are read.
func (p *Problem) observables() int {
	if p.Energy {
		return 1
	}
	return 3
}

// observe appends the energy to the first series. The second series gets the overlap with
// the lane's reference, which is a slow mode if the distribution has several modes, and the third the
// number of active units from Hidden on. In a Symmetric problem the last two are the absolute
// distances from their middle, as in |m|, which a flip of all units leaves unchanged. Without that they
// would measure how rarely a chain reverses all units, a symmetry that a reflection gives for free.
func (p *Problem) observe(l *lane, series [][]float64) {
	x := l.system.State()
	count := [3]int{}
	for i, b := range x {
		count[1] += int(b ^ l.reference[i])
	}
	for _, b := range x[p.Hidden:] {
		count[2] += int(b)
	}
	units := [3]int{1: len(x), 2: len(x) - p.Hidden}
	for o := range series {
		value := float64(count[o])
		switch {
		case o == 0:
			value = l.system.Energy()
		case p.Symmetric:
			value = math.Abs(value - float64(units[o])/2)
		}
		series[o] = append(series[o], value)
	}
}

// moves makes n moves and returns their computing time in seconds.
func (p *Problem) moves(l *lane, c mcmc.Chain, n int) float64 {
	if p.SecondsPerFlip > 0 {
		flips := int64(0)
		for range n {
			flips += c.Move(l.r).Flips
		}
		return p.SecondsPerFlip * float64(flips)
	}
	start := p.Clock()
	for range n {
		c.Move(l.r)
	}
	return (p.Clock() - start).Seconds()
}

// leastValues is the number of values of each observable that a trial has at
// least. Fewer would say nothing of τ.
const leastValues = 8

// rate runs a trial by time: the observables are read at equal intervals.
func (p *Problem) rate(l *lane, m mcmc.Mover, interval, seconds float64) (Trial, error) {
	chain, err := m.Bind(l.system, p.Beta, p.Sites)
	if err != nil {
		return Trial{}, err
	}
	series, t := p.run(l, chain, interval, seconds)
	t.Settings, t.series = mcmc.FormatMover(m), series
	t.Reward = Rate(series, l.variance, t.Seconds)
	return t, nil
}

// run makes moves for about the given seconds and returns the values of the
// observables at intervals of equally many moves.
//
// The computing time is the number of moves times that of a move, in the median
// of blocks of the series. So other work of the machine that interrupts some of
// the blocks does not count.
func (p *Problem) run(l *lane, chain mcmc.Chain, interval, seconds float64) (series [][]float64, t Trial) {
	runtime.LockOSThread() // the clock may be that of the thread
	defer runtime.UnlockOSThread()
	series = make([][]float64, p.observables())
	// Count the moves in an interval: twice as many at a time until they take one.
	n, spent := 1, p.moves(l, chain, 1)
	for spent < interval {
		n *= 2
		spent = p.moves(l, chain, n)
	}
	each := spent / float64(n)
	n = max(1, int(interval/each))
	values := max(leastValues, int(seconds/(float64(n)*each)))
	const blocks = 32
	perBlock := (values + blocks - 1) / blocks
	var block []float64 // seconds a move
	total, moves := 0.0, 0
	spent = 0
	// Kernels of a policy take unlike times, so that the number of values is not known
	// before. It has a bound, as the time of Rate grows with its square.
	for i := 1; moves > 0 || i <= leastValues || i <= 2*values && total < seconds; i++ {
		took := p.moves(l, chain, n)
		spent += took
		total += took
		moves += n
		p.observe(l, series)
		if i%perBlock == 0 {
			block = append(block, spent/float64(moves))
			t.Moves += int64(moves)
			spent, moves = 0, 0
		}
	}
	slices.Sort(block)
	t.Seconds = block[len(block)/2] * float64(t.Moves)
	return series, t
}

// area runs a trial of the paper.
func (p *Problem) area(l *lane, at []float64, moves int) (Trial, error) {
	m := p.Space.Mover(at)
	chain, err := m.Bind(l.system, p.Beta, p.Sites)
	if err != nil {
		return Trial{}, err
	}
	runtime.LockOSThread() // the clock may be that of the thread
	defer runtime.UnlockOSThread()
	t := Trial{At: at, Settings: mcmc.FormatMover(m), Moves: int64(moves)}
	energy := make([]float64, moves)
	for i := range energy {
		energy[i] = l.system.Energy()
		t.Seconds += p.moves(l, chain, 1)
	}
	t.Reward = Area(energy)
	return t, nil
}

// lanes is the number of systems that trials run on. It does not depend on the
// machine, so that results do not.
const lanes = 4

// trials runs trials by time of the given settings, in parallel.
func (p *Problem) trials(on []*lane, settings []mcmc.Mover, interval, seconds float64) ([]Trial, error) {
	done, errs := make([]Trial, len(settings)), make([]error, len(settings))
	parallel.Do(len(on), func(k int) {
		for i := k; i < len(settings); i += len(on) {
			done[i], errs[i] = p.rate(on[k], settings[i], interval, seconds)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return done, nil
}

// trialsAt runs trials at points of the cube.
func (p *Problem) trialsAt(on []*lane, points [][]float64, interval, seconds float64) ([]Trial, error) {
	settings := make([]mcmc.Mover, len(points))
	for i, x := range points {
		settings[i] = p.Space.Mover(x)
	}
	done, err := p.trials(on, settings, interval, seconds)
	for i := range done {
		done[i].At = points[i]
	}
	return done, err
}
