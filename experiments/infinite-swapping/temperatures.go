package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gorbm/experiments/internal/claims"
)

// A variant is an estimator of a figure of ours: a curve at one x.
type variant struct {
	curve     string
	x         float64
	estimator string
}

// variantJobs measure the distance of each variant late in training.
func variantJobs(o claims.Options, t toy, steps int, variants []variant) (jobs []claims.Job) {
	s := t.size(o)
	steps = claims.Size(o, 100, steps)
	for seed := 1; seed <= repeats(o); seed++ {
		for _, v := range variants {
			jobs = append(jobs, claims.Job{Name: jobName(s, fmt.Sprintf("%s, %d steps, %s", v.curve, steps, v.estimator), seed), Run: func(ctx context.Context) ([]claims.Point, error) {
				_, late, err := statesOf(s)
				if err != nil {
					return nil, err
				}
				c, err := late.distances(ctx, v.estimator, steps, seed)
				if err != nil {
					return nil, err
				}
				points := []claims.Point{
					{Panel: distancePanel, Curve: v.curve, Repeat: seed, X: v.x, Y: settled(c)},
					{Panel: costPanel, Curve: v.curve, Repeat: seed, X: v.x, Y: 1e6 * c.Last().Seconds / float64(c.Last().Updates)},
				}
				if tau := c.Estimator.Ladder().Temperatures.List; len(tau) > 0 {
					points = append(points, claims.Point{Panel: hottestPanel, Curve: v.curve, Repeat: seed, X: v.x, Y: tau[len(tau)-1]})
				}
				return points, nil
			}})
		}
	}
	return jobs
}

const (
	costPanel    = "microseconds an update"
	hottestPanel = "hottest temperature"
)

// evenly returns a ladder of k temperatures from 1 to top, as text.
func evenly(k int, top float64) string {
	return ladder(k, func(u float64) float64 { return 1 + (top-1)*u })
}

// geometric returns one of equal ratios.
func geometric(k int, top float64) string {
	return ladder(k, func(u float64) float64 { return math.Pow(top, u) })
}

func ladder(k int, at func(u float64) float64) string {
	tau := make([]string, k)
	for i := range tau {
		tau[i] = fmt.Sprintf("%.6g", at(float64(i)/float64(k-1)))
	}
	return strings.Join(tau, "/")
}

// temperaturesFigure varies the number of temperatures and the hottest.
var temperaturesFigure = claims.Figure{
	Name:  "temperatures",
	Title: "number and choice of temperatures, distance late in training, toy data " + desjardinsToy.name,
	Says:  "How many temperatures, how far up, and how spaced? The paper sees no difference with more than five.",
	Ours:  true,
	Jobs: func(o claims.Options) (jobs []claims.Job) {
		var variants []variant
		for _, k := range []int{2, 3, 5, 8, 12} {
			variants = append(variants,
				variant{insEven, float64(k), "ins:tau=" + evenly(k, 5)}, variant{insRatio, float64(k), "ins:tau=" + geometric(k, 5)},
				variant{ptEven, float64(k), "pt:tau=" + evenly(k, 5)}, variant{ptRatio, float64(k), "pt:tau=" + geometric(k, 5)})
		}
		jobs = variantJobs(o, desjardinsToy, 2000, variants)
		variants = nil
		for _, top := range []float64{1.5, 2, 3, 5, 10, 20} {
			variants = append(variants, variant{insTop, top, "ins:tau=" + evenly(5, top)}, variant{ptTop, top, "pt:tau=" + evenly(5, top)})
		}
		return append(jobs, variantJobs(o, desjardinsToy, 2000, variants)...)
	},
	Claims: func(t *claims.Table) (all []claims.Claim) {
		at := func(curve string, x float64) claims.Repeats { return t.At(distancePanel, curve, x) }
		return []claims.Claim{
			claims.Smaller("five temperatures are nearer to the exact gradient than two, by INS", at(insEven, 5), at(insEven, 2)),
			claims.Alike("twelve temperatures and five do not differ, by INS", at(insEven, 12), at(insEven, 5)),
			claims.Alike("twelve temperatures and five do not differ, by PT", at(ptEven, 12), at(ptEven, 5)),
			claims.Smaller("five temperatures of equal ratios are nearer than five evenly spaced, by INS", at(insRatio, 5), at(insEven, 5)),
			claims.Smaller("five temperatures up to 5 are nearer than five up to 1.5, by INS", at(insTop, 5), at(insTop, 1.5)),
			claims.Smaller("five temperatures up to 5 are nearer than five up to 20, by INS", at(insTop, 5), at(insTop, 20)),
		}
	},
	Draw: func(w io.Writer, t *claims.Table) error {
		// The curves of the right panel have other names, so that the axes stay apart.
		number, top := t.Part(insEven, insRatio, ptEven, ptRatio), t.Part(insTop, ptTop)
		return claims.CurvesOf(w, 2, []claims.Part{
			{Table: number, Panel: claims.Panel{Name: distancePanel, Title: "up to temperature 5", X: "number of temperatures", Y: "distance", LogY: true, Dots: true}},
			{Table: top, Panel: claims.Panel{Name: distancePanel, Title: "five temperatures", X: "hottest", Y: "distance", LogX: true, LogY: true, Dots: true}},
		}, []string{insEven, insRatio, ptEven, ptRatio, insTop, ptTop})
	},
}

const (
	insEven, insRatio = "INS, evenly spaced", "INS, equal ratios"
	ptEven, ptRatio   = "PT, evenly spaced", "PT, equal ratios"
	insTop, ptTop     = "INS, five", "PT, five"
)

// manyFigure has more temperatures than K! permutations allow.
var manyFigure = claims.Figure{
	Name:  "many",
	Title: "INS of up to 16 temperatures and PINS beyond, toy data " + desjardinsToy.name,
	Says:  "The paper lists K! permutations. A recursion over subsets takes INS to 16 temperatures; PINS, in blocks of eight, goes beyond. What do they cost and what do they gain?",
	Ours:  true,
	Jobs: func(o claims.Options) []claims.Job {
		var variants []variant
		for _, k := range claims.Size(o, []int{2, 8, 12}, []int{2, 4, 6, 8, 10, 12, 14, 16}) {
			variants = append(variants, variant{ins.name, float64(k), fmt.Sprintf("ins:chains=2:tau=%s", geometric(k, 5))})
		}
		for _, k := range claims.Size(o, []int{2, 12, 16}, []int{2, 4, 6, 8, 10, 12, 14, 16, 24, 32, 48, 64}) {
			variants = append(variants,
				variant{pt.name, float64(k), fmt.Sprintf("pt:chains=2:tau=%s", geometric(k, 5))},
				variant{pinsName, float64(k), fmt.Sprintf("pins:chains=2:tau=%s", geometric(k, 5))})
		}
		return variantJobs(o, desjardinsToy, 500, variants)
	},
	Claims: func(t *claims.Table) (all []claims.Claim) {
		xs := t.Xs(distancePanel, ins.name)
		if len(xs) == 0 {
			return nil
		}
		top := xs[len(xs)-1]
		at := func(panel, curve string) claims.Repeats { return t.At(panel, curve, top) }
		// Other programs multiply times, now and then by ten.
		logs := func(r claims.Repeats) claims.Repeats {
			for k, x := range r {
				r[k] = math.Log(x)
			}
			return r
		}
		return []claims.Claim{
			claims.Smaller(fmt.Sprintf("at %g temperatures PINS takes less time than INS (log ratios)", top), logs(at(costPanel, pinsName)), logs(at(costPanel, ins.name))),
			claims.Alike(fmt.Sprintf("at %g temperatures PINS is as near to the exact gradient as INS", top), at(distancePanel, pinsName), at(distancePanel, ins.name)),
			claims.Smaller(fmt.Sprintf("at %g temperatures PINS is nearer than PT", top), at(distancePanel, pinsName), at(distancePanel, pt.name)),
		}
	},
	Draw: func(w io.Writer, t *claims.Table) error {
		return claims.Curves(w, t, 2, []claims.Panel{
			{Name: distancePanel, Title: "distance from the exact gradient, late", X: "temperatures", Y: "distance", LogX: true, LogY: true, Dots: true},
			{Name: costPanel, Title: "time of an update", X: "temperatures", Y: "µs", LogX: true, LogY: true, Geometric: true, Dots: true},
		}, []string{exactSGD.name, pcd.name, pt.name, ins.name, pinsName})
	},
	Notes: func(*claims.Table) string {
		return "Temperatures from 1 to 5 of equal ratios, two groups, 500 updates. Times are means over the updates of a run, by the clock, on a machine that other programs used: geometric means over runs, with bands of one standard deviation of the logarithms."
	},
}

const pinsName = "PINS"
