package main

import (
	"context"
	"fmt"
	"io"

	"gorbm/experiments/internal/claims"
	"gorbm/negphase"
	"gorbm/rbm"
)

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
