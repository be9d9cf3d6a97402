package main

import (
	"context"
	"io"
	"math"

	"gonum.org/v1/gonum/interp"

	"gorbm/experiments/internal/claims"
	"gorbm/negphase/compare"
)

// timeFigure holds the samplers against each other at equal time.
var timeFigure = claims.Figure{
	Name:  "time",
	Title: "distance late in training at equal computing time, toy data " + desjardinsToy.name,
	Says:  "Is INS still nearer to the exact gradient if each algorithm gets the same time of a core, so that PCD-1 takes more steps? PCD-1 with 50 chains has as many particles as the ladders.",
	Ours:  true,
	Jobs: func(o claims.Options) (jobs []claims.Job) {
		s := desjardinsToy.size(o)
		for seed := 1; seed <= repeats(o); seed++ {
			jobs = append(jobs, claims.Job{Name: jobName(s, "equal time", seed), Run: func(ctx context.Context) ([]claims.Point, error) {
				return timePoints(ctx, s, seed)
			}})
		}
		return jobs
	},
	Claims: func(t *claims.Table) (all []claims.Claim) {
		end := commonEnd(t, names(timed))
		last := func(name string) claims.Repeats { return t.Mean(distancePanel, name, end/10, end*(1+1e-6)) }
		for _, other := range timed[:3] {
			all = append(all, claims.Smaller("at equal time INS is nearer to the exact gradient than "+other.name, last(ins.name), last(other.name)))
		}
		return all
	},
	Draw: func(w io.Writer, t *claims.Table) error {
		return claims.Curves(w, t, 1, []claims.Panel{{Name: distancePanel, X: "ms", Y: "distance", LogX: true, LogY: true, To: commonEnd(t, names(timed)) * (1 + 1e-6)}}, []string{exactSGD.name, pcd.name, pt.name, ins.name, timed[1].name})
	},
	Notes: func(*claims.Table) string {
		return "Times are those of the calls of the sampler, each repetition with its own, on a machine that other programs used; the distances are interpolated to the same times. Claims take the mean over the last decade of time that all of them reach."
	},
}

// commonEnd returns the latest x that each repetition of each curve reaches.
func commonEnd(t *claims.Table, curves []string) float64 {
	end := math.Inf(1)
	for _, name := range curves {
		reached := claims.Repeats{}
		for _, p := range t.Curve(distancePanel, name) {
			reached[p.Repeat] = max(reached[p.Repeat], p.X)
		}
		for _, x := range reached {
			end = min(end, x)
		}
	}
	return end
}

// timed are the algorithms of the figure of equal time, INS last.
var timed = []algorithm{pcd, {"PCD-1, 50 chains", "pcd:chains=50"}, pt, ins}

// timePoints returns the curves of a repetition at fixed times.
func timePoints(ctx context.Context, s size, seed int) (points []claims.Point, err error) {
	_, late, err := statesOf(s)
	if err != nil {
		return nil, err
	}
	// Every sampler gets the time that INS takes for the paper's steps.
	budget := 0.0
	for i := len(timed) - 1; i >= 0; i-- {
		a := timed[i]
		steps := s.steps
		if budget > 0 {
			pilot, err := late.distances(ctx, a.negphase, s.steps/10, seed)
			if err != nil {
				return nil, err
			}
			steps = int(1.2*budget/pilot.SecondsPerStep()) + 10
		}
		c, err := late.distances(ctx, a.negphase, steps, seed)
		if err != nil {
			return nil, err
		}
		if budget == 0 {
			budget = c.Last().Seconds
		}
		points = append(points, atTimes(c, a.name, seed)...)
	}
	return points, nil
}

// atTimes returns the distances of a curve at the times of a fixed grid, in
// milliseconds, by linear interpolation of the logarithms.
func atTimes(c compare.Curve, name string, seed int) (points []claims.Point) {
	var x, y []float64
	for _, p := range c.Points {
		x = append(x, math.Log10(1e3*p.Seconds))
		y = append(y, math.Log10(p.Distance.Mean))
	}
	var line interp.PiecewiseLinear
	if err := line.Fit(x, y); err != nil {
		return nil
	}
	for k := -20; k <= 50; k++ { // ten a decade, from 0.01 ms to 100 s
		if t := float64(k) / 10; x[0] <= t && t <= x[len(x)-1] {
			points = append(points, claims.Point{Panel: distancePanel, Curve: name, Repeat: seed, X: math.Pow(10, t), Y: math.Pow(10, line.Predict(t))})
		}
	}
	return points
}
