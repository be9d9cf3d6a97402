package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"gorbm/experiments/internal/claims"
	"gorbm/rbm"
)

// flips are the π of Remark 1, from the paper's down to modes far apart.
var flips = []float64{0.2, 0.15, 0.1, 0.05, 0.02}

const distancePanel = "distance"

// remark1 is Remark 1 of the paper, which it has no figure for.
var remark1 = claims.Figure{
	Name:  "pi",
	Title: "Remark 1: smaller π, toy data (4,4,2500,π), M = 4",
	Says:  "With decreasing π the algorithms differ more in the quality of the gradient, as modes are more separated; if π is too small, they all have similar prediction accuracy, as classification is simple.",
	Jobs: func(o claims.Options) (jobs []claims.Job) {
		for seed := 1; seed <= repeats(o); seed++ {
			for _, flip := range flips {
				s := smallToy.size(o)
				s.spec = fmt.Sprintf(claims.Size(o, "toy:4,2,50,%g", "toy:4,4,2500,%g"), flip)
				jobs = append(jobs, claims.Job{Name: jobName(s, "remark 1", seed), Run: func(ctx context.Context) ([]claims.Point, error) {
					return flipPoints(ctx, s, flip, seed)
				}})
			}
		}
		return jobs
	},
	Claims: remarkClaims,
	Draw: func(w io.Writer, t *claims.Table) error {
		return claims.Curves(w, t, 3, []claims.Panel{
			{Name: distancePanel, Title: "distance late in training", X: "π", Y: "distance", LogX: true, LogY: true, Dots: true},
			{Name: likelihoodPanel, Title: "likelihood at the end", X: "π", Y: "log-likelihood / nats a row", LogX: true, Dots: true},
			{Name: accuracyPanel, Title: "prediction accuracy at the end", X: "π", Y: "mean log p(class | inputs) / nats", LogX: true, Dots: true},
		}, names(algorithms))
	},
}

// flipPoints measures distances at the final parameters of exact SGD, and trains by
// each algorithm.
func flipPoints(ctx context.Context, s size, flip float64, seed int) (points []claims.Point, err error) {
	_, late, err := statesOf(s)
	if err != nil {
		return nil, err
	}
	for _, a := range samplers {
		c, err := late.distances(ctx, a.negphase, s.steps, seed)
		if err != nil {
			return nil, err
		}
		points = append(points, claims.Point{Panel: distancePanel, Curve: a.name, Repeat: seed, X: flip, Y: settled(c)})
	}
	set, err := load(s.spec)
	if err != nil {
		return nil, err
	}
	for _, a := range algorithms {
		err := a.train(ctx, set, s.hidden, s.steps, s.steps, uint64(seed), func(step int, m *rbm.RBM) error {
			if step == 0 {
				return nil
			}
			some, err := evaluate(ctx, set, m, a, seed, flip)
			points = append(points, some...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return points, nil
}

func remarkClaims(t *claims.Table) (all []claims.Claim) {
	least, most := flips[len(flips)-1], flips[0]
	// ratios are log ratios of distances.
	ratios := func(a, b algorithm, flip float64) claims.Repeats {
		r := claims.Repeats{}
		y := t.At(distancePanel, b.name, flip)
		for k, x := range t.At(distancePanel, a.name, flip) {
			r[k] = math.Log(x / y[k])
		}
		return r
	}
	for _, a := range []algorithm{pcd, pt} {
		all = append(all, claims.Larger(fmt.Sprintf("the distance of %s, as a multiple of that of INS, is larger at π = %g than at %g (log ratios)", a.name, least, most),
			ratios(a, ins, least), ratios(a, ins, most)))
	}
	for _, a := range []algorithm{pcd, pt} {
		all = append(all, claims.Alike(fmt.Sprintf("at π = %g INS and %s have the same prediction accuracy", least, a.name),
			t.At(accuracyPanel, ins.name, least), t.At(accuracyPanel, a.name, least)))
	}
	for _, flip := range flips {
		all = append(all, claims.Larger(fmt.Sprintf("at π = %g INS ends at a higher likelihood than PCD-1", flip),
			t.At(likelihoodPanel, ins.name, flip), t.At(likelihoodPanel, pcd.name, flip)))
	}
	return all
}
