package main

import (
	"context"
	"fmt"
	"io"

	"gorbm/data"
	"gorbm/experiments/internal/figures"
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

var figure6 = figures.Figure{
	Name: "6",
	Jobs: func(o figures.Options) (jobs []figures.Job) {
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
	Draw: func(w io.Writer, t *figures.Table) error {
		var panels []figures.Panel
		for _, l := range larges {
			panels = append(panels, figures.Panel{Name: l.panel, Title: l.name, X: "training step", Y: "mean log p(class | inputs) / nats"})
		}
		return figures.Curves(2, names(algorithms), panels...)(w, t)
	},
	Table: func(t *figures.Table) string {
		var rows [][]string
		for _, l := range larges {
			row := []string{l.name}
			for _, a := range []algorithm{ins, pt, pcd} {
				row = append(row, fmt.Sprintf("%.3f", secondHalf(t, l.panel, a).Mean()))
			}
			rows = append(rows, row)
		}
		return "Mean of log p(class given inputs) over the second half of the steps:\n\n" + figures.Grid([]string{"data", ins.name, pt.name, pcd.name}, rows)
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

func claims6(t *figures.Table) []figures.Claim {
	early := func(panel string, a algorithm) figures.Repeats {
		return t.Mean(panel, a.name, 1, t.LastX(panel, a.name)/10)
	}
	first := t.LastX("mnist", ins.name) / 10
	late := func(panel string, a algorithm) figures.Repeats { return secondHalf(t, panel, a) }
	return []figures.Claim{
		figures.Steadier("MNIST, early: INS varies less than PT", t, "mnist", ins.name, pt.name, 1, first),
		figures.Steadier("MNIST, early: INS varies less than PCD-1", t, "mnist", ins.name, pcd.name, 1, first),
		figures.Alike("MNIST, late: INS and PT do not differ", late("mnist", ins), late("mnist", pt)),
		figures.Alike("MNIST, late: INS and PCD-1 do not differ", late("mnist", ins), late("mnist", pcd)),
		figures.Larger("large toy, early: PCD-1 is better than INS", early("toy", pcd), early("toy", ins)),
		figures.Larger("large toy, early: PCD-1 is better than PT", early("toy", pcd), early("toy", pt)),
		figures.Larger("large toy, late: INS is better than PCD-1", late("toy", ins), late("toy", pcd)),
		figures.Larger("large toy, late: INS is better than PT", late("toy", ins), late("toy", pt)),
		// At the start it is the accuracy of guessing.
		figures.Larger("large toy: PCD-1 is not degenerate, its accuracy ends above that of the start", t.Last("toy", pcd.name), t.At("toy", pcd.name, 0)),
	}
}
