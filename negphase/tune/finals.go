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
	points    [][]float64 // points of its kernels in the cube
	kernels   mcmc.Mixture
	trials    []Trial       // one per lane in each round
	halves    [][][]float64 // [trial][observable] result of increments
	variances [][]float64   // [trial][observable]
}

// surely is the number of standard errors of a clear difference. The best of several challengers is tested
// after every round. If all contestants are equally good, the test therefore passes by chance in 9 to 21 %
// of the finals (simulated with 1 to 5 challengers). Other, equally good settings then replace those before
// tuning.
const surely = 2

// finals compares challengers with the settings before tuning. The challengers are the policy, the
// policy with its points moved halfway towards the best kernel, the best kernel alone, and the one or
// two next settings in the order of ranked. A challenger wins only if it is better by more than 2
// standard errors. Otherwise noise would decide, because the best of many noisy rewards is usually too
// high.
//
// In a round each contestant has one trial on each lane. The better half of the challengers enters
// the next round, whose trials are twice as long. The last challenger competes with the settings before
// tuning until the difference is clear or the seconds of the finals are spent. The states of these trials
// are discarded.
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
		rises := map[*contestant]difference{}
		for _, c := range challengers {
			rises[c] = t.rise(c, before)
		}
		slices.SortStableFunc(challengers, func(a, b *contestant) int { return cmp.Compare(rises[b].mean, rises[a].mean) })
		last := len(challengers) == 1
		challengers = challengers[:(len(challengers)+1)/2]
		rise := rises[challengers[0]]
		certain := math.Abs(rise.mean) > surely*rise.stdErr
		best = before
		if certain && rise.mean > 0 {
			best = challengers[0]
		}
		clear = certain && (last || rise.mean < 0)
	}
	t.result.Points, t.result.Kernels, t.result.Untuned = best.points, best.kernels, best == before
	if len(best.points) == 1 {
		t.result.Best = best.points[0]
	}
	return nil
}

// challengers returns the policies that compete with the settings at base; see finals.
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
	t.learned(done, nil)
	for _, trial := range done {
		c.read(trial)
	}
	t.result.Finals = append(t.result.Finals, done...)
	return nil
}

// read adds a trial.
func (c *contestant) read(trial Trial) {
	var halves [][]float64
	var variances []float64
	for _, x := range trial.series {
		_, v := diag.MeanVariance(x)
		halves, variances = append(halves, increments(x)), append(variances, v)
	}
	c.trials, c.halves, c.variances = append(c.trials, trial), append(c.halves, halves), append(c.variances, variances)
}

// rate is Rate for all trials of c together, except the trial with index skip. ρ is computed from two
// means over trials, weighted by their lengths: of the squared increments at each lag, and of the
// variances. The variance of a trial is about its mean. Trials of the finals are long, and modes slower
// than a trial would only add noise.
func (t *tuner) rate(c *contestant, skip int) float64 {
	const finest = values // number of lags up to reach, which is the largest lag of the longest trial, in seconds
	reach := 0.0
	for i, trial := range c.trials {
		if i != skip {
			reach = max(reach, trial.Seconds/float64(len(trial.series[0]))*float64(len(c.halves[i][0])))
		}
	}
	slowest := 0.0
	for o := range t.observables() {
		variance, total := 0.0, 0.0
		for i, trial := range c.trials {
			if i != skip {
				variance += trial.Seconds * c.variances[i][o]
				total += trial.Seconds
			}
		}
		slowest = max(slowest, integrated(finest, func(lag int) float64 {
			at := reach * float64(lag) / finest
			sum, weight := 0.0, 0.0
			for i, trial := range c.trials {
				half := c.halves[i][o]
				place := at/trial.Seconds*float64(len(trial.series[o])) - 1 // fractional index into half
				if i == skip || place > float64(len(half)-1)+1e-9 {
					continue
				}
				below := max(0, int(place))
				y := half[min(below, len(half)-1)]
				switch {
				case place < 0:
					y *= 1 + place // the increment at lag 0 is 0
				case below+1 < len(half):
					y += (place - float64(below)) * (half[below+1] - half[below])
				}
				sum, weight = sum+trial.Seconds*y, weight+trial.Seconds
			}
			if variance == 0 { // the observable never changed: see leastFall
				return 0
			}
			return sum / weight / (variance / total)
		}))
	}
	return math.Log(finest / (2 * slowest * reach))
}

type difference struct{ mean, stdErr float64 }

// rise returns the rate of c minus the rate of another contestant. The standard error is a jackknife
// that leaves out one pair of trials at a time, the trials of both contestants on one lane in one round
// (the delete-m_j jackknife of Busing, Meijer & van der Leeden 1999). The pairs differ in length.
func (t *tuner) rise(c, other *contestant) (d difference) {
	total := 0.0
	for _, trial := range c.trials {
		total += trial.Seconds
	}
	all := t.rate(c, -1) - t.rate(other, -1)
	n := float64(len(c.trials))
	pseudo, parts := make([]float64, len(c.trials)), make([]float64, len(c.trials))
	for i, trial := range c.trials {
		parts[i] = total / trial.Seconds
		pseudo[i] = parts[i]*all - (parts[i]-1)*(t.rate(c, i)-t.rate(other, i))
		d.mean += pseudo[i] / parts[i]
	}
	for i, p := range pseudo {
		d.stdErr += (p - d.mean) * (p - d.mean) / (parts[i] - 1) / n
	}
	return difference{all, math.Sqrt(d.stdErr)}
}
