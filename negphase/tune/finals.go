package tune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
)

// A contestant is a policy in the finals.
type contestant struct {
	points  [][]float64 // of its kernels
	kernels mcmc.Mixture
	trials  []Trial   // lanes of them in each round
	seconds []float64 // of a trial of each round, in the mean
}

// surely is the number of standard errors that make a difference clear. With the 12
// degrees of freedom that there are after two rounds, chance exceeds it once in 180
// times.
const surely = 3

// finals race the policy, the policy drawn in half of the way to its best kernel, its
// best kernel alone, and the settings that rank next, against the settings before
// tuning. These stay unless another one beats them by more than 3 standard errors.
// Otherwise noise would decide: the best of many noisy rewards is mostly a lucky one.
//
// In a round each contestant has a trial on every lane. Trials of the next round are
// twice as long and of the better half of the challengers, until one is left; then
// of that one and the settings before tuning, until the difference is clear or the
// seconds of the finals are spent. The policy may lose to its best kernel where the
// model takes for irrelevant what is not. The states of these trials are discarded.
func (t *tuner) finals(ctx context.Context) error {
	base := t.Space.Point(t.Space.Base)
	before := t.contestant([][]float64{base})
	challengers := t.challengers(base)
	left := finalsShare * t.Seconds
	best, clear := before, false
	for length := t.length; len(challengers) > 0 && !clear; length *= 2 {
		field := append([]*contestant{before}, challengers...)
		each := min(length, left/float64(lanes*len(field)))
		if each < t.length/2 {
			break
		}
		for _, c := range field {
			if err := cmp.Or(ctx.Err(), t.round(c, each)); err != nil {
				return err
			}
			left -= lanes * each
			t.report(1 - left/t.Seconds)
		}
		for _, c := range field {
			t.learned(nil, c.trials)
		}
		slices.SortStableFunc(challengers, func(a, b *contestant) int { return cmp.Compare(b.mean(), a.mean()) })
		last := len(challengers) == 1
		challengers = challengers[:(len(challengers)+1)/2]
		rise := challengers[0].mean() - before.mean()
		certain := math.Abs(rise) > surely*math.Hypot(challengers[0].stdErr(), before.stdErr())
		best = before
		if certain && rise > 0 {
			best = challengers[0]
		}
		clear = certain && (last || rise < 0)
	}
	t.result.Points, t.result.Kernels, t.result.Untuned = best.points, best.kernels, best == before
	if best == before {
		t.result.Best = base
	}
	return nil
}

// challengers returns the policies that race against the settings at base.
func (t *tuner) challengers(base []float64) (all []*contestant) {
	best := t.result.Best
	policies := [][][]float64{t.result.Points, nil, {best}}
	for _, x := range t.result.Points {
		x = slices.Clone(x)
		for d, b := range best {
			x[d] = (x[d] + b) / 2
		}
		policies[1] = append(policies[1], x)
	}
	settings := func(x []float64) string { return mcmc.FormatMover(t.Space.Mover(x)) }
	seen := []string{settings(base)}
	for _, x := range append([][]float64{best}, t.ranked()...) {
		if s := settings(x); !slices.Contains(seen, s) && len(seen) < 3 {
			seen = append(seen, s)
			if &x[0] != &best[0] {
				policies = append(policies, [][]float64{x})
			}
		}
	}
	for _, points := range policies {
		if len(points) > 1 || settings(points[0]) != seen[0] {
			all = append(all, t.contestant(points))
		}
	}
	return all
}

func (t *tuner) contestant(points [][]float64) *contestant {
	c := &contestant{points: points}
	for _, x := range points {
		c.kernels = append(c.kernels, t.Space.Mover(x))
	}
	return c
}

// round runs a trial of c on every lane.
func (t *tuner) round(c *contestant, seconds float64) error {
	var m mcmc.Mover = c.kernels
	if len(c.kernels) == 1 {
		m = c.kernels[0]
	}
	done, err := t.trials(t.lanes, slices.Repeat([]mcmc.Mover{m}, lanes), seconds/values, seconds)
	if err != nil {
		return err
	}
	t.learned(done)
	took := 0.0
	for _, trial := range done {
		took += trial.Seconds / lanes
	}
	c.trials, c.seconds = append(c.trials, done...), append(c.seconds, took)
	t.result.Finals = append(t.result.Finals, done...)
	return nil
}

// total returns the seconds of one trial of each round together.
func (c *contestant) total() (sum float64) {
	for _, s := range c.seconds {
		sum += s
	}
	return sum
}

// mean returns the mean reward, where trials count by their lengths.
func (c *contestant) mean() (mean float64) {
	for i, trial := range c.trials {
		mean += trial.Reward * c.seconds[i/lanes] / (lanes * c.total())
	}
	return mean
}

// stdErr returns the standard error of mean. Rewards vary about the mean of their
// round, with a variance that is as one over the length of trials.
func (c *contestant) stdErr() float64 {
	variance := 0.0 // of a trial of one second
	for r, seconds := range c.seconds {
		var rewards []float64
		for _, trial := range c.trials[r*lanes : (r+1)*lanes] {
			rewards = append(rewards, trial.Reward)
		}
		_, v := diag.MeanVariance(rewards)
		variance += seconds * v * lanes / (lanes - 1) / float64(len(c.seconds))
	}
	return math.Sqrt(variance / (lanes * c.total()))
}
