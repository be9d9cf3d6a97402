package main

import (
	"fmt"
	"io"

	"gorbm/experiments/internal/claims"
)

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
		return claims.Curves(w, t, 1, []claims.Panel{{Name: distancePanel, X: "κ", Y: "distance", LogX: true, LogY: true, Dots: true}}, names(algorithms))
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
			{Name: hottestPanel, Title: "hottest temperature", Y: "τ", Dots: true, Words: ticks},
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
