package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"gorbm/experiments/internal/claims"
)

// Panels of Figures 2 and 4.
const (
	earlyPanel = "early"
	latePanel  = "late"
)

var phases = []string{earlyPanel, latePanel}

// distanceFigure returns a figure of distances from the exact gradient.
func distanceFigure(name string, d problem, repeats int) claims.Figure {
	return claims.Figure{
		Name:  name,
		Title: "distance from the exact gradient, toy data " + d.name,
		Says:  "Early in training the distance is small and INS has the smallest error and variance; late in training the gradient is harder, and INS converges slightly faster than PT and faster than PCD-1.",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			s := d.size(o)
			for seed := 1; seed <= o.Seeds(3, repeats); seed++ {
				jobs = append(jobs, claims.Job{Name: jobName(s, "distances", seed), Run: func(ctx context.Context) ([]claims.Point, error) {
					return distancePoints(ctx, s, seed)
				}})
			}
			return jobs
		},
		Claims:  distanceClaims,
		Finding: distanceFinding,
		Draw: func(w io.Writer, t *claims.Table) error {
			return claims.Curves(w, t, 2, []claims.Panel{
				{Name: earlyPanel, Title: "early: the initial parameters", X: "steps", Y: "distance", LogX: true, LogY: true},
				{Name: latePanel, Title: "late: the final parameters", X: "steps", Y: "distance", LogX: true, LogY: true},
			}, names(algorithms))
		},
		Notes: func(*claims.Table) string {
			return "The distance is the Euclidean norm of the error of ⟨vhᵀ⟩, ⟨v⟩ and ⟨h⟩ together, estimated by means over all steps so far. Claims over the curve compare the mean logarithms of the distances at the steps in the picture, so that each decade has the same weight. A paired difference of 0.1 is a ratio of 1.1. The early parameters are those before training by exact SGD with seed 1, and the late parameters those after this training. The chains have the seeds below."
		},
	}
}

// distancePoints returns the curves of a repetition.
func distancePoints(ctx context.Context, s size, seed int) (points []claims.Point, err error) {
	early, late, err := statesOf(s)
	if err != nil {
		return nil, err
	}
	for i, at := range []state{early, late} {
		panel := phases[i]
		for _, a := range samplers {
			c, err := at.distances(ctx, a.negphase, s.steps, seed)
			if err != nil {
				return nil, err
			}
			for i, p := range c.Points {
				if i%2 == 0 || i == len(c.Points)-1 { // every second point is enough for a picture
					points = append(points, claims.Point{Panel: panel, Curve: a.name, Repeat: seed, X: p.Steps, Y: p.Distance.Mean})
				}
			}
		}
	}
	return points, nil
}

// lastDecade returns the mean distances over the last decade of steps.
func lastDecade(t *claims.Table, panel string, a algorithm) claims.Repeats {
	return t.After(panel, a.name, 0.1)
}

// logs returns the means over all steps of the logarithms of distances.
func logs(t *claims.Table, panel string, a algorithm) claims.Repeats {
	sum, n := claims.Repeats{}, map[int]float64{}
	for _, p := range t.Curve(panel, a.name) {
		sum[p.Repeat] += math.Log(p.Y)
		n[p.Repeat]++
	}
	for r := range sum {
		sum[r] /= n[r]
	}
	return sum
}

func distanceClaims(t *claims.Table) (all []claims.Claim) {
	for _, panel := range phases {
		i, p, c := lastDecade(t, panel, ins), lastDecade(t, panel, pt), lastDecade(t, panel, pcd)
		li, lp, lc := logs(t, panel, ins), logs(t, panel, pt), logs(t, panel, pcd)
		all = append(all,
			claims.Smaller(panel+", over the curve: INS is nearer to the exact gradient than PT", li, lp),
			claims.Smaller(panel+", over the curve: INS is nearer than PCD-1", li, lc),
			claims.Smaller(panel+", last decade of steps: INS is nearer to the exact gradient than PT", i, p).Aside(),
			claims.Smaller(panel+", last decade of steps: INS is nearer than PCD-1", i, c).Aside())
		if panel == latePanel {
			all = append(all, claims.Smaller("late, last decade of steps: PT is nearer than PCD-1", p, c).Aside())
		} else {
			all = append(all,
				claims.Steadier("early: the distance of INS varies less than that of PT", t, panel, ins.name, pt.name, 0, math.Inf(1)),
				claims.Steadier("early: the distance of INS varies less than that of PCD-1", t, panel, ins.name, pcd.name, 0, math.Inf(1)))
		}
	}
	for _, a := range samplers {
		all = append(all, claims.Smaller("the distance of "+a.name+" is smaller early than late", lastDecade(t, earlyPanel, a), lastDecade(t, latePanel, a)))
	}
	return all
}

func distanceFinding(t *claims.Table) string {
	ratio := func(panel string, a algorithm) float64 {
		return math.Exp(logs(t, panel, a).Mean() - logs(t, panel, ins).Mean())
	}
	return fmt.Sprintf("Early in training, the distance of PT from the exact gradient is %.2f times that of INS, and its standard deviation %.2f times; the distance of PCD-1 is %.2f times that of INS. Late, the distance of PT is %.2f times that of INS, and the distance of PCD-1 %.2f times (geometric means over the curve).",
		ratio(earlyPanel, pt), claims.SpreadRatio(t, earlyPanel, pt.name, ins.name, 0, math.Inf(1)), ratio(earlyPanel, pcd), ratio(latePanel, pt), ratio(latePanel, pcd))
}
