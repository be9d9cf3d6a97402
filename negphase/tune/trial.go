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

// A Problem is a sampler to be tuned on a system.
type Problem struct {
	Space     *Space
	Beta      float64                         // inverse temperature
	NewSystem func(state []uint8) mcmc.System // returns a new system in the given state
	Start     []uint8                         // initial state of trials
	Sites     []int32                         // units that are flipped; nil: all
	Hidden    int                             // the observable "number of active units" counts the units Hidden, Hidden+1, …; in an RBM, the hidden ones
	Symmetric bool                            // the energy does not change if all units are flipped, as without fields
	Energy    bool                            // the energy is the only observable of the reward
	Key       rbm.Key                         // for all random numbers
	Clock     func() time.Duration            // returns the time since a fixed moment, or the processor time of this thread
	// SecondsPerFlip, unless it is 0, replaces Clock: each flip of a walk counts as
	// SecondsPerFlip, so that equal keys give identical results.
	SecondsPerFlip float64
}

// A Trial is one evaluation of the reward.
type Trial struct {
	At       []float64 // point in the unit cube
	Settings string    // settings of the sampler, in the grammar of mcmc.ParseMover
	Reward   float64
	// Modelled is the reward to which the Gaussian process is fitted: Reward, but at least worst below
	// the median.
	Modelled float64
	Seconds  float64 // computing time
	Moves    int64   // number of moves

	series [][]float64 // [observable] its values
}

// A lane is a system on which one trial runs at a time. A trial starts from the final state of the trial
// before, so that only the first one needs a burn-in.
type lane struct {
	system mcmc.System
	r      *rand.Rand
	target
}

// A target has properties of the sampled distribution that the observables need.
type target struct {
	reference []uint8   // state with which the overlap is observed
	variance  []float64 // [observable] its variance in equilibrium
}

func (p *Problem) lane(n int) *lane {
	return &lane{system: p.NewSystem(p.Start), r: p.Key.Child(laneKey).Child(uint64(n)).Rand()}
}

// Purposes of the random streams that are derived from Problem.Key.
const (
	laneKey = iota
	designKey
	_ // so that policyKey keeps its number
	policyKey
)

// observables returns the number of observables.
func (p *Problem) observables() int {
	if p.Energy {
		return 1
	}
	return 3
}

// observe appends the value of each observable to its series. The first is the energy. The second is the
// number of units that differ from the lane's reference, which is slow if the distribution has several
// modes. The third is the number of active units from Hidden on. In a Symmetric problem, the last two are
// replaced by their absolute deviations from half of the units, which do not change if all units are
// flipped. Otherwise they would measure how often a chain flips nearly all units, which is irrelevant for
// averages by symmetry.
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

// leastValues is the least number of values of each observable in a trial. τ cannot be estimated from
// fewer.
const leastValues = 8

// rate runs a trial of NoisyEI for the given seconds. It reads the observables at equal intervals of time.
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

// run makes moves for about the given seconds. It returns the values of the
// observables at equal intervals of moves, which take about the given interval in seconds.
//
// The computing time of the trial is the number of moves times the time per move in the median block
// of the series. So other programs that interrupt some of
// the blocks do not affect it.
func (p *Problem) run(l *lane, chain mcmc.Chain, interval, seconds float64) (series [][]float64, t Trial) {
	runtime.LockOSThread() // the clock may be that of the thread
	defer runtime.UnlockOSThread()
	series = make([][]float64, p.observables())
	// Find the number of moves in an interval by doubling.
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
	var block []float64 // seconds per move in each block
	total, moves := 0.0, 0
	spent = 0
	// The kernels of a policy differ in speed, so the number of values is not known in
	// advance. It is bounded, because the time of Rate grows with its square.
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

// area runs a trial of Paper.
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

// lanes is the number of lanes. It does not depend on the number of processors, so that results do not.
const lanes = 4

// trials runs trials of NoisyEI with the given settings, in parallel. Settings i runs on lane i mod the
// number of lanes.
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

// trialsAt is trials with the settings at the given points of the cube.
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
