package tune

import (
	"cmp"
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
	// The first design has a tenth of the trials, but at least two per parameter.
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
			// the largest reward so far, which the paper calls the best known action
			best := slices.MaxFunc(t.result.Trials, func(a, b Trial) int { return cmp.Compare(a.Reward, b.Reward) })
			points = append(points, t.improvement(best.Reward, directPoints))
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
// improvement. This takes 2 ms with 200 observations.
const directPoints = 200

// observeLast adds the last trial to the model. It fits the hyper-parameters if that is due.
func (t *tuner) observeLast() error {
	defer t.modelling()()
	if n := len(t.result.Trials); !t.due(n) && t.result.Process.Add(t.data()[n-1]) {
		return nil
	}
	return t.model()
}

// improvement returns the point with the largest expected improvement over best + 0.01. The margin is that
// of the paper's program.
func (t *tuner) improvement(best float64, evaluations int) []float64 {
	defer t.modelling()()
	p := t.result.Process
	x, _ := Direct(func(x []float64) float64 {
		mean, sd := p.Predict(x)
		return ExpectedImprovement(mean, sd, best+0.01)
	}, t.dims(), evaluations)
	return x
}

// The fractions of Seconds for the phases of NoisyEI. burnShare is for the lanes to reach equilibrium with
// the settings before tuning, exploreShare for the trials to which the model is fitted, and finalsShare
// for the finals.
const burnShare, exploreShare, finalsShare = 0.1, 0.36, 0.54

// start makes the lanes and runs their burn-in. The state of the first lane after half of the burn-in is
// the reference of all lanes. The variances are computed from the second half.
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

// variances returns the variance of each observable: the variance of all values of a lane,
// averaged over lanes. All settings sample one distribution, so they have the same
// variances. Differences between the means of lanes are not included: a mode so slow that no lane
// forgets it during all of the tuning cannot be measured in a trial.
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

// learned updates the variances with the series of new trials, which are in the order of the lanes.
// It then recomputes the rewards of these and of earlier trials with the new variances.
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

// batches runs the trials of NoisyEI before the finals, in batches of one trial per lane.
func (t *tuner) batches(ctx context.Context) error {
	length := exploreShare * t.Seconds / float64(t.Evaluations)
	t.length = length
	if err := t.start(length); err != nil {
		return err
	}
	// The first trials have the settings before tuning, one on each lane. The spread of their
	// rewards shows the model the size of the noise.
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

// batch runs a trial of the given seconds at each point, and updates the
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

// propose returns the n points of the next batch; see NoisyEI.
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
