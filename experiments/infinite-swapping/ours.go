package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/interp"

	"gorbm/experiments/internal/claims"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/rbm"
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
		last := func(name string) claims.Repeats {
			xs := t.Xs(distancePanel, name)
			if len(xs) == 0 {
				return nil
			}
			return t.Mean(distancePanel, name, xs[len(xs)-1]/10, math.Inf(1))
		}
		for _, other := range timed[:3] {
			all = append(all, claims.Smaller("at equal time INS is nearer to the exact gradient than "+other.name, last(ins.name), last(other.name)))
		}
		return all
	},
	Draw: func(w io.Writer, t *claims.Table) error {
		return claims.Curves(w, t, 1, []claims.Panel{{Name: distancePanel, X: "ms", Y: "distance", LogX: true, LogY: true}}, names(timed))
	},
	Notes: func(*claims.Table) string {
		return "Times are those of the calls of the sampler, each repetition with its own, on a machine that other programs used; the distances are interpolated to the same times. Claims take the mean over the last decade of time."
	},
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
			claims.Alike("twelve temperatures are not nearer than five, by INS", at(insEven, 12), at(insEven, 5)),
			claims.Alike("twelve temperatures are not nearer than five, by PT", at(ptEven, 12), at(ptEven, 5)),
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
		return []claims.Claim{
			claims.Smaller(fmt.Sprintf("at %g temperatures PINS takes less time than INS", top), at(costPanel, pinsName), at(costPanel, ins.name)),
			claims.Alike(fmt.Sprintf("at %g temperatures PINS is as near to the exact gradient as INS", top), at(distancePanel, pinsName), at(distancePanel, ins.name)),
			claims.Smaller(fmt.Sprintf("at %g temperatures PINS is nearer than PT", top), at(distancePanel, pinsName), at(distancePanel, pt.name)),
		}
	},
	Draw: func(w io.Writer, t *claims.Table) error {
		return claims.Curves(w, t, 2, []claims.Panel{
			{Name: distancePanel, Title: "distance from the exact gradient, late", X: "temperatures", Y: "distance", LogX: true, LogY: true, Dots: true},
			{Name: costPanel, Title: "time of an update", X: "temperatures", Y: "µs", LogX: true, LogY: true, Dots: true},
		}, []string{pt.name, ins.name, pinsName})
	},
	Notes: func(*claims.Table) string {
		return "Temperatures from 1 to 5 of equal ratios, two groups, 500 updates. Times are those of the median call on a machine that other programs used."
	},
}

const pinsName = "PINS"

// ratesFigure varies the Gibbs steps between attempts to swap.
var ratesFigure = claims.Figure{
	Name:  "rates",
	Title: "swap rates, distance late in training, toy data " + desjardinsToy.name,
	Says:  "How often should swaps be attempted? At equal numbers of Gibbs steps, with κ of them before each attempt.",
	Ours:  true,
	Jobs: func(o claims.Options) []claims.Job {
		var variants []variant
		for _, k := range []int{1, 2, 5, 10, 20, 50} {
			for _, a := range []algorithm{pt, ins} {
				variants = append(variants, variant{a.name, float64(k), fmt.Sprintf("%s:k=%d", a.negphase, k)})
			}
			// At these updates the estimate takes one state of each chain in κ steps.
			variants = append(variants, variant{pcd.name, float64(k), fmt.Sprintf("pcd:k=%d", k)})
		}
		return variantJobs(o, desjardinsToy, 5000, variants)
	},
	Claims: func(t *claims.Table) (all []claims.Claim) {
		at := func(curve string, x float64) claims.Repeats { return t.At(distancePanel, curve, x) }
		for _, a := range []algorithm{pt, ins} {
			all = append(all, claims.Smaller("an attempt every step is nearer to the exact gradient than one every 20 steps, by "+a.name, at(a.name, 1), at(a.name, 20)))
		}
		for _, k := range []float64{1, 5, 20} {
			all = append(all, claims.Smaller(fmt.Sprintf("with %g steps before each attempt INS is nearer than PT", k), at(ins.name, k), at(pt.name, k)))
		}
		return all
	},
	Draw: func(w io.Writer, t *claims.Table) error {
		return claims.Curves(w, t, 1, []claims.Panel{{Name: distancePanel, X: "κ", Y: "distance", LogX: true, LogY: true, Dots: true}}, names(samplers))
	},
	Notes: func(*claims.Table) string {
		return "PCD has no swaps and takes an estimate every κ steps: it shows what fewer estimates cost by themselves."
	},
}

// laddersFigure holds tuned ladders against the paper's.
var laddersFigure = claims.Figure{
	Name:  "ladders",
	Title: "tuned ladders against the paper's, distance late in training",
	Says:  "Are temperatures that are tuned on the model better than 1, 2, 3, 4, 5? reach/5 tunes five and their hottest, auto/5 five up to infinity.",
	Ours:  true,
	Jobs: func(o claims.Options) (jobs []claims.Job) {
		for x, t := range ladderToys {
			var variants []variant
			for _, l := range tunedLadders {
				for _, a := range []algorithm{pt, ins} {
					variants = append(variants, variant{a.name + ", " + l.name, float64(x), a.negphase + ":tau=" + l.tau})
				}
			}
			jobs = append(jobs, variantJobs(o, t, 5000, variants)...)
		}
		return jobs
	},
	Claims: func(t *claims.Table) (all []claims.Claim) {
		for x, set := range ladderToys {
			for _, a := range []algorithm{pt, ins} {
				for _, l := range tunedLadders[1:] {
					all = append(all, claims.Smaller(fmt.Sprintf("%s: %s with %s is nearer to the exact gradient than with the paper's", set.name, a.name, l.name),
						t.At(distancePanel, a.name+", "+l.name, float64(x)), t.At(distancePanel, a.name+", "+tunedLadders[0].name, float64(x))))
				}
			}
		}
		return all
	},
	Draw: func(w io.Writer, t *claims.Table) error {
		var curves []string
		for _, l := range tunedLadders {
			curves = append(curves, pt.name+", "+l.name, ins.name+", "+l.name)
		}
		var ticks []string
		for _, set := range ladderToys {
			ticks = append(ticks, set.name)
		}
		return claims.Curves(w, t, 2, []claims.Panel{
			{Name: distancePanel, Title: "distance from the exact gradient, late", Y: "distance", LogY: true, Dots: true, Words: ticks},
			{Name: hottestPanel, Title: "hottest temperature", Y: "τ", LogY: true, Dots: true, Words: ticks},
		}, curves)
	},
	Notes: func(*claims.Table) string {
		return "A ladder up to infinity has no place in the right panel."
	},
}

// ladderToys are the states of training that ladders are tuned on.
var ladderToys = []toy{smallToy, desjardinsToy,
	{name: "(4,4,2500,0.02), M = 4", spec: "toy:4,4,2500,0.02", quickSpec: "toy:4,2,50,0.02", hidden: 4, quickHidden: 3}}

var tunedLadders = []struct{ name, tau string }{{"1, 2, 3, 4, 5", "1/2/3/4/5"}, {"reach/5", "reach/5"}, {"auto/5", "auto/5"}}

// weightsFigure shows the weights of INS.
var weightsFigure = claims.Figure{
	Name:  "weights",
	Title: "how the weight of INS spreads over its particles, and rates of exchange, toy data " + desjardinsToy.name,
	Says:  "How much of the weight in an estimate of INS is off the particle at temperature 1, where neighbouring temperatures are so far apart, and how does that compare with the rate at which PT accepts a swap of the coldest pair?",
	Ours:  true,
	Jobs: func(o claims.Options) (jobs []claims.Job) {
		s := desjardinsToy.size(o)
		for seed := 1; seed <= repeats(o); seed++ {
			for _, top := range weightTops {
				jobs = append(jobs, claims.Job{Name: jobName(s, fmt.Sprintf("weights, hottest %g", top), seed), Run: func(ctx context.Context) ([]claims.Point, error) {
					return weightPoints(s, top, claims.Size(o, 100, 1000), seed)
				}})
			}
		}
		return jobs
	},
	Claims: func(t *claims.Table) (all []claims.Claim) {
		for _, panel := range phases {
			for _, top := range []float64{2, 5} {
				all = append(all, claims.Larger(fmt.Sprintf("%s, hottest %g: the share of INS's weight off the coldest particle is larger than half of PT's rate of exchange", panel, top),
					t.At(panel, offCurve, top), halved(t.At(panel, rateCurve, top))))
			}
		}
		return append(all, claims.Larger("hottest 5: the weight is spread over more particles early in training than late", t.At(earlyPanel, effectiveCurve, 5), t.At(latePanel, effectiveCurve, 5)))
	},
	Draw: func(w io.Writer, t *claims.Table) error {
		var panels []claims.Panel
		for _, name := range phases {
			panels = append(panels, claims.Panel{Name: name, Title: name + " in training", X: "hottest", Y: "share", LogX: true, Low: 0, High: 1, Dots: true})
		}
		return claims.Curves(w, t, 2, panels, []string{rateCurve, offCurve, effectiveCurve})
	},
	Notes: func(*claims.Table) string {
		return "The effective number of particles is 1/Σw² of the weights w in a group, as a share of its five particles. Its least value is 1/5, where all weight is on one particle."
	},
}

const (
	rateCurve      = "PT: rate of exchange of the coldest pair"
	offCurve       = "INS: weight off the particle at temperature 1"
	effectiveCurve = "INS: effective share of the particles"
)

var weightTops = []float64{1.2, 1.5, 2, 3, 5, 8, 12, 20, 40}

func halved(r claims.Repeats) claims.Repeats {
	h := claims.Repeats{}
	for k, x := range r {
		h[k] = x / 2
	}
	return h
}

// weightPoints runs PT and INS on both states and measures rates and weights in
// the second half of the steps.
func weightPoints(s size, top float64, steps, seed int) (points []claims.Point, err error) {
	early, late, err := statesOf(s)
	if err != nil {
		return nil, err
	}
	const temperatures = 5
	for i, at := range []state{early, late} {
		panel := phases[i]
		add := func(curve string, y float64) {
			points = append(points, claims.Point{Panel: panel, Curve: curve, Repeat: seed, X: top, Y: y})
		}
		for _, a := range []algorithm{pt, ins} {
			settings, err := negphase.Parse(a.negphase+":tau="+evenly(temperatures, top), negphase.DefaultSettings(""))
			if err != nil {
				return nil, err
			}
			e, err := negphase.New(settings)
			if err != nil {
				return nil, err
			}
			var sum negphase.Info
			effective, groups := 0.0, 0.0
			for n := range steps {
				phase, info, err := e.Estimate(at.model, rbm.Batch{}, rbm.NewKey(uint64(seed)).Child(uint64(n)))
				if err != nil {
					return nil, err
				}
				if n < steps/2 {
					continue
				}
				sum.Add(info)
				for g := 0; g < len(phase.Weight); g += temperatures {
					w, squares := 0.0, 0.0
					for _, x := range phase.Weight[g : g+temperatures] {
						w += float64(x)
						squares += float64(x) * float64(x)
					}
					effective += w * w / squares
					groups++
				}
			}
			if a == pt {
				add(rateCurve, sum.SwapRates()[0])
				continue
			}
			off, _ := sum.OffWeight()
			add(offCurve, off)
			add(effectiveCurve, effective/groups/temperatures)
		}
	}
	return points, nil
}
