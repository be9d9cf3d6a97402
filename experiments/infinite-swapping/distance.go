package main

import (
	"context"
	"math"

	"gorbm/experiments/internal/figures"
	"gorbm/negphase"
	"gorbm/negphase/compare"
)

// Panels of Figures 2 and 4.
const (
	earlyPanel = "early"
	latePanel  = "late"
)

var phases = []string{earlyPanel, latePanel}

// distanceFigure returns a figure of distances from the exact gradient.
func distanceFigure(name string, d problem, repeats int) figures.Figure {
	return figures.Figure{
		Name: name,
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			s := d.size(o)
			for seed := 1; seed <= o.Seeds(3, repeats); seed++ {
				jobs = append(jobs, figures.Job{Name: jobName(s, "distances", seed), Repeat: seed, Run: func(ctx context.Context, add figures.Add) error {
					return distances(ctx, s, seed, add)
				}})
			}
			return jobs
		},
		Claims: distanceClaims,
		Draw: figures.Curves(2, names(algorithms),
			figures.Panel{Name: earlyPanel, Title: "early: the initial parameters", X: "steps", Y: "distance", LogX: true, LogY: true},
			figures.Panel{Name: latePanel, Title: "late: the final parameters", X: "steps", Y: "distance", LogX: true, LogY: true}),
	}
}

// distances adds the curves of a repetition: the distances of the estimates of each sampler from the exact gradient.
func distances(ctx context.Context, s size, seed int, add figures.Add) error {
	both, err := statesOf(s)
	if err != nil {
		return err
	}
	var all []negphase.Settings
	for _, a := range samplers {
		e, err := negphase.Parse(a.negphase, negphase.DefaultSettings(""))
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	for i, at := range both {
		for k, e := range all {
			curves, err := compare.Run(ctx, at.model, at.truth, []negphase.Settings{e}, compare.Settings{Steps: s.steps, Repeats: 1, Seed: uint64(seed)})
			if err != nil {
				return err
			}
			for j, p := range curves[0].Points {
				if j%2 == 0 || j == len(curves[0].Points)-1 { // every second point is enough for a picture
					add(phases[i], samplers[k].name, p.Steps, p.Distance.Mean)
				}
			}
		}
	}
	return nil
}

// lastDecade returns the mean distances over the last decade of steps.
func lastDecade(t *figures.Table, panel string, a algorithm) figures.Repeats {
	return t.After(panel, a.name, 0.1)
}

// logs returns the means over all steps of the logarithms of distances.
func logs(t *figures.Table, panel string, a algorithm) figures.Repeats {
	sum, n := figures.Repeats{}, map[int]float64{}
	for _, p := range t.Curve(panel, a.name) {
		sum[p.Repeat] += math.Log(p.Y)
		n[p.Repeat]++
	}
	for r := range sum {
		sum[r] /= n[r]
	}
	return sum
}

func distanceClaims(t *figures.Table) (all []figures.Claim) {
	for _, panel := range phases {
		i, p, c := lastDecade(t, panel, ins), lastDecade(t, panel, pt), lastDecade(t, panel, pcd)
		li, lp, lc := logs(t, panel, ins), logs(t, panel, pt), logs(t, panel, pcd)
		all = append(all,
			figures.Smaller(panel+", over the curve: INS is nearer to the exact gradient than PT", li, lp).Times(),
			figures.Smaller(panel+", over the curve: INS is nearer than PCD-1", li, lc).Times(),
			figures.Smaller(panel+", last decade of steps: INS is nearer to the exact gradient than PT", i, p).Aside(),
			figures.Smaller(panel+", last decade of steps: INS is nearer than PCD-1", i, c).Aside())
		if panel == latePanel {
			all = append(all, figures.Smaller("late, last decade of steps: PT is nearer than PCD-1", p, c).Aside())
		} else {
			all = append(all,
				figures.Steadier("early: the distance of INS varies less than that of PT", t, panel, ins.name, pt.name, 0, math.Inf(1)),
				figures.Steadier("early: the distance of INS varies less than that of PCD-1", t, panel, ins.name, pcd.name, 0, math.Inf(1)))
		}
	}
	for _, a := range samplers {
		all = append(all, figures.Smaller("the distance of "+a.name+" is smaller early than late", lastDecade(t, earlyPanel, a), lastDecade(t, latePanel, a)))
	}
	return all
}
