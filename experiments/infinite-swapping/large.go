package main

import (
	"context"
	"fmt"
	"io"

	"gorbm/data"
	"gorbm/experiments/internal/claims"
	"gorbm/rbm"
	"gorbm/train"
)

// larges are the problems of Figure 6, one for each panel.
var larges = []struct {
	panel string
	problem
}{
	{"mnist", problem{"MNIST, M = 500", "mnist:55000", "fontdigits:300", 500, 20}},
	{"toy", problem{"toy data (128,150,1000,0.2), M = 600", "toy:128,150,1000,0.2", "toy:8,4,25,0.2", 600, 10}},
}

// accuracyRows is the size of the random subset of training rows on which the prediction
// accuracy is computed. The paper calls the subset D′ and does not give its size. It is the same
// at each step and for each algorithm of a seed.
const accuracyRows = 500

var figure6 = claims.Figure{
	Name:  "6",
	Title: "prediction accuracy on MNIST and on large toy data",
	Says:  "On MNIST INS has the smallest variance initially, but the differences all but disappear; on the large toy data PCD-1 is best early in training, INS slightly better later, and PCD-1 is not degenerate.",
	Jobs: func(o claims.Options) (jobs []claims.Job) {
		for seed := 1; seed <= repeats(o); seed++ {
			for _, l := range larges {
				s := l.size(o)
				for _, a := range samplers {
					jobs = append(jobs, trainingJob(s, a, seed, largeEvaluations, accuracy(l.panel, s)))
				}
			}
		}
		return jobs
	},
	Claims: claims6,
	Finding: func(t *claims.Table) string {
		late := func(panel string, a algorithm) float64 { return secondHalf(t, panel, a).Mean() }
		return fmt.Sprintf("Late in training, the prediction accuracy, the mean of log p(class given inputs), is on MNIST %.3f nats by INS, %.3f by PT and %.3f by PCD-1. On the large toy data it is %.2f, %.2f and %.2f nats, in the same order.",
			late("mnist", ins), late("mnist", pt), late("mnist", pcd), late("toy", ins), late("toy", pt), late("toy", pcd))
	},
	Draw: func(w io.Writer, t *claims.Table) error {
		var panels []claims.Panel
		for _, l := range larges {
			panels = append(panels, claims.Panel{Name: l.panel, Title: l.name, X: "training step", Y: "mean log p(class | inputs) / nats"})
		}
		return claims.Curves(w, t, 2, panels, names(algorithms))
	},
	Notes: func(*claims.Table) string {
		return fmt.Sprintf("The accuracy is the mean over %d random training rows. Early is the first tenth of the steps without step 0, late the second half. Grey values of MNIST are rounded, as in the paper. With -quick the data are font digits and a small toy.", accuracyRows)
	},
}

// largeEvaluations is the number of evaluations of a run. The first ten are in the first
// tenth of the steps.
const largeEvaluations = 100

// accuracy measures the prediction accuracy on random rows: at each evaluation in the first tenth of the steps, then at every fifth.
func accuracy(panel string, s size) measure {
	return func(_ context.Context, set *data.Set, m *rbm.RBM, seed uint64, step int, add func(panel string, y float64)) error {
		if step > s.steps/10 && step%(5*(s.steps/largeEvaluations)) != 0 {
			return nil
		}
		rows := data.RowNumbers(0, set.Len())
		rbm.NewKey(seed).Child(accuracyRows).Rand().Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		add(panel, train.Classify(m, set, rows[:min(len(rows), accuracyRows)]).MeanLogP)
		return nil
	}
}

func claims6(t *claims.Table) (all []claims.Claim) {
	early := func(panel string, a algorithm) claims.Repeats {
		xs := t.Xs(panel, a.name)
		if len(xs) == 0 {
			return nil
		}
		return t.Mean(panel, a.name, 1, xs[len(xs)-1]/10)
	}
	first := 0.
	if xs := t.Xs("mnist", ins.name); len(xs) > 0 {
		first = xs[len(xs)-1] / 10
	}
	all = append(all,
		claims.Steadier("MNIST, early: INS varies less than PT", t, "mnist", ins.name, pt.name, 1, first),
		claims.Steadier("MNIST, early: INS varies less than PCD-1", t, "mnist", ins.name, pcd.name, 1, first))
	late := func(panel string, a algorithm) claims.Repeats { return secondHalf(t, panel, a) }
	all = append(all,
		claims.Alike("MNIST, late: INS and PT do not differ", late("mnist", ins), late("mnist", pt)),
		claims.Alike("MNIST, late: INS and PCD-1 do not differ", late("mnist", ins), late("mnist", pcd)),
		claims.Larger("large toy, early: PCD-1 is better than INS", early("toy", pcd), early("toy", ins)),
		claims.Larger("large toy, early: PCD-1 is better than PT", early("toy", pcd), early("toy", pt)),
		claims.Larger("large toy, late: INS is better than PCD-1", late("toy", ins), late("toy", pcd)),
		claims.Larger("large toy, late: INS is better than PT", late("toy", ins), late("toy", pt)))
	// The accuracy at the start is that of guessing.
	start := claims.Repeats{}
	if xs := t.Xs("toy", pcd.name); len(xs) > 0 {
		start = t.At("toy", pcd.name, xs[0])
	}
	return append(all, claims.Larger("large toy: PCD-1 is not degenerate, its accuracy ends above that of the start", t.Last("toy", pcd.name), start))
}
