package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm/parallel"
)

// paper runs Algorithm 3 of the paper.
func (t *tuner) paper(ctx context.Context) error {
	l := t.lane(0)
	// The first design has a tenth of the trials, or two for each parameter if that is more, but no more
	// than all.
	first := min(t.Evaluations, max(t.Evaluations/10, 2*t.dims()))
	points := LatinHypercube(first, t.dims(), t.Key.Child(designKey))
	for i := range t.Evaluations {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i >= first {
			if err := t.observeLast(); err != nil {
				return err
			}
			points = append(points, t.improvement(t.bestSeen(), directPoints))
		}
		trial, err := t.area(l, points[i], t.Moves)
		if err != nil {
			return err
		}
		t.result.Trials = append(t.result.Trials, trial)
		t.report(float64(i+1) / float64(t.Evaluations))
	}
	return nil
}

// directPoints is the number of points at which DIRECT evaluates the expected
// improvement. It takes 2 ms at 200 observations.
const directPoints = 200

// observeLast takes the last trial into the model, by a fit if one is due.
func (t *tuner) observeLast() error {
	defer t.modelling()()
	if n := len(t.result.Trials); !t.due(n) && t.result.Process.Add(t.data()[n-1]) {
		return nil
	}
	return t.model()
}

// bestSeen returns the largest reward so far: "the best known action".
func (t *tuner) bestSeen() float64 {
	best := t.result.Trials[0].Reward
	for _, trial := range t.result.Trials {
		best = max(best, trial.Reward)
	}
	return best
}

// improvement returns the point of largest expected improvement over best plus
// 0.01, the margin of the paper's program.
func (t *tuner) improvement(best float64, evaluations int) []float64 {
	defer t.modelling()()
	p := t.result.Process
	x, _ := Direct(func(x []float64) float64 {
		mean, sd := p.Predict(x)
		return ExpectedImprovement(mean, sd, best+0.01)
	}, t.dims(), evaluations)
	return x
}

// The fractions of Seconds: burnShare for the lanes to reach equilibrium under the settings before
// tuning, exploreShare for the trials that the model is fitted to, and finalsShare for the finals.
const burnShare, exploreShare, finalsShare = 0.1, 0.36, 0.54

// start makes the lanes and burns them in. The state of the first one half way is
// the reference of all, and the second half says what the variances are.
func (t *tuner) start(shortest float64) error {
	for k := range lanes {
		t.lanes = append(t.lanes, t.lane(k))
	}
	chains := make([]mcmc.Chain, lanes)
	for k, l := range t.lanes {
		var err error
		if chains[k], err = t.Space.Base.Bind(l.system, t.Beta, t.Sites); err != nil {
			return err
		}
	}
	half := burnShare * t.Seconds / lanes / 2
	var goal target
	var series [lanes][][]float64
	var trial [lanes]Trial
	for range 2 {
		goal.reference = slices.Clone(t.lanes[0].system.State())
		parallel.Do(lanes, func(k int) {
			t.lanes[k].target = goal
			series[k], trial[k] = t.run(t.lanes[k], chains[k], half/values, half)
		})
		for _, trial := range trial {
			t.result.BurnSeconds += trial.Seconds
		}
	}
	t.all = series
	goal.variance = t.variances()
	move := math.Inf(1)
	for k, l := range t.lanes {
		l.target = goal
		move = min(move, trial[k].Seconds/float64(trial[k].Moves))
	}
	if least := leastValues * move; shortest < least {
		return fmt.Errorf("%w: of %.3g s of tuning the shortest trial gets %.2g s, and %d moves take %.2g s; give at least %.2g s",
			ErrBudget, t.Seconds, shortest, leastValues, least, 2*t.Seconds*least/shortest)
	}
	return nil
}

// variances returns the variance of each observable: that of all series of a lane
// together, in the mean over lanes. All settings sample one distribution, so that they share
// these. How far lanes lie apart does not count: what no lane forgets in all of the
// tuning, no settings of a trial can show.
func (t *tuner) variances() (v []float64) {
	for o := range t.observables() {
		sum := 0.0
		for _, series := range t.all {
			_, variance := diag.MeanVariance(series[o])
			sum += variance / lanes
		}
		v = append(v, sum)
	}
	return v
}

// learned updates the variances by the series of the trials, which are in the order of the lanes.
// It then recomputes the rewards of these trials and of earlier ones by the new variances.
func (t *tuner) learned(done, earlier []Trial) {
	for i, trial := range done {
		for o, x := range trial.series {
			all := t.all[i%lanes]
			all[o] = append(all[o], x...)
		}
	}
	v := t.variances()
	for _, l := range t.lanes {
		l.variance = v
	}
	for _, trials := range [][]Trial{earlier, done} {
		for i, trial := range trials {
			trials[i].Reward = Rate(trial.series, v, trial.Seconds)
		}
	}
}

// values is the number of values of each observable in the shortest trial.
const values = 512

// batches runs trials of one length, in batches of one for each lane.
func (t *tuner) batches(ctx context.Context) error {
	length := exploreShare * t.Seconds / float64(t.Evaluations)
	t.length = length
	if err := t.start(length); err != nil {
		return err
	}
	// The settings before tuning come first, once on each lane. How far their
	// rewards lie apart tells the model what noise is.
	first := min(t.Evaluations, 16)
	points := slices.Repeat([][]float64{t.Space.Point(t.Space.Base)}, min(first, lanes))
	if more := first - len(points); more > 0 {
		points = append(points, LatinHypercube(more, t.dims(), t.Key.Child(designKey))...)
	}
	for {
		if err := t.batch(ctx, points, length); err != nil {
			return err
		}
		left := t.Evaluations - len(t.result.Trials)
		t.report((1 - finalsShare) * float64(t.Evaluations-left) / float64(t.Evaluations))
		if left <= 0 {
			return nil
		}
		points = t.propose(min(lanes, left))
	}
}

// batch runs a trial of the given seconds at each point, and takes them into the
// model.
func (t *tuner) batch(ctx context.Context, points [][]float64, seconds float64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done, err := t.trialsAt(t.lanes, points, seconds/values, seconds)
	if err != nil {
		return err
	}
	t.learned(done, t.result.Trials)
	t.result.Trials = append(t.result.Trials, done...)
	return t.model()
}

// propose returns the points of the next batch.
func (t *tuner) propose(n int) (points [][]float64) {
	p := t.result.Process
	best := p.Mean(t.result.Trials[0].At)
	for _, trial := range t.result.Trials {
		best = max(best, p.Mean(trial.At))
	}
	for range n {
		x := t.improvement(best, 2*directPoints)
		points = append(points, x)
		p.Add(Observation{At: x, Value: p.Mean(x)})
	}
	return points
}
