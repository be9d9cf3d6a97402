package main

import (
	"context"
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

// distanceFigure is a figure of distances from the exact gradient.
func distanceFigure(name string, t toy) claims.Figure {
	return claims.Figure{
		Name:  name,
		Title: "distance from the exact gradient, toy data " + t.name,
		Says:  "Early in training the distance is small and INS has the smallest error and variance; late in training the gradient is harder, and INS converges slightly faster than PT and faster than PCD-1.",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			s := t.size(o)
			for seed := 1; seed <= repeats(o); seed++ {
				jobs = append(jobs, claims.Job{Name: jobName(s, "distances", seed), Run: func(ctx context.Context) ([]claims.Point, error) {
					return distancePoints(ctx, s, seed)
				}})
			}
			return jobs
		},
		Claims: distanceClaims,
		Draw: func(w io.Writer, t *claims.Table) error {
			return claims.Curves(w, t, 2, []claims.Panel{
				{Name: earlyPanel, Title: "early: the initial parameters", X: "steps", Y: "distance", LogX: true, LogY: true},
				{Name: latePanel, Title: "late: the final parameters", X: "steps", Y: "distance", LogX: true, LogY: true},
			}, names(algorithms))
		},
		Notes: func(*claims.Table) string {
			return "The distance is Euclidean, over all elements of ⟨vhᵀ⟩, ⟨v⟩ and ⟨h⟩, of the mean of all steps so far. Claims take its mean over the last decade of steps. The parameters are those before and after training by exact SGD with seed 1; the chains have the seeds below."
		},
	}
}

// distancePoints are the curves of a repetition.
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
				if i%2 == 0 || i == len(c.Points)-1 { // half of them are enough for a picture
					points = append(points, claims.Point{Panel: panel, Curve: a.name, Repeat: seed, X: p.Steps, Y: p.Distance.Mean})
				}
			}
		}
	}
	return points, nil
}

// lastDecade returns the mean distances over the last decade of steps.
func lastDecade(t *claims.Table, panel string, a algorithm) claims.Repeats {
	xs := t.Xs(panel, a.name)
	if len(xs) == 0 {
		return nil
	}
	return t.Mean(panel, a.name, xs[len(xs)-1]/10, math.Inf(1))
}

func distanceClaims(t *claims.Table) (all []claims.Claim) {
	for _, panel := range phases {
		i, p, c := lastDecade(t, panel, ins), lastDecade(t, panel, pt), lastDecade(t, panel, pcd)
		all = append(all,
			claims.Smaller(panel+": INS is nearer to the exact gradient than PT", i, p),
			claims.Smaller(panel+": INS is nearer than PCD-1", i, c))
		if panel == latePanel {
			all = append(all, claims.Smaller("late: PT is nearer than PCD-1", p, c))
		} else {
			all = append(all,
				claims.Steadier("early: the distance of INS varies less than that of PT", i, p),
				claims.Steadier("early: the distance of INS varies less than that of PCD-1", i, c))
		}
	}
	for _, a := range samplers {
		all = append(all, claims.Smaller("the gradient is easier early than late, by "+a.name, lastDecade(t, earlyPanel, a), lastDecade(t, latePanel, a)))
	}
	return all
}
