package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"gorbm/experiments/internal/figures"
)

// A work is what all programs do in figure times, with the processor time of a run in seconds. The model has 784 × 500 units.
type work struct {
	name   string
	flags  string // of rbmtrain
	recipe recipe
	peers  []string
}

var works = []work{
	{"PCD-1, batch 10", plain + " -negphase pcd:chains=10", recipe{Rate: 0.05, Batch: 10, Chains: 10}, []string{numpy, pytorch, sklearn}},
	{"the default recipe", "", preset, []string{numpy, pytorch}},
	{"parallel tempering, 5 temperatures × 10 chains, batch 10", plain + " -negphase pt:chains=10:tau=1/2/3/4/5", recipe{Rate: 0.05, Batch: 10, Chains: 50, Betas: []float64{1, 1. / 2, 1. / 3, 1. / 4, 1. / 5}}, []string{numpy, pytorch}},
}

const (
	plain       = "-rate 0.05 -batch 10 -init log-odds -center 0 -l2 0 -average 0"
	timeSeconds = 1
	timeRounds  = 3
)

// times returns the figure of the times of an update. Its jobs run one at a time, in turns of all programs.
func (q *speed) times() figures.Figure {
	var one sync.Mutex
	var names []string
	for _, w := range works {
		names = append(names, strings.Replace(strings.Replace(w.name, ", 5", ",\n5", 1), ", batch", ",\nbatch", 1))
	}
	all := append(contestants[:3:3], sklearn)
	return figures.Figure{
		Name: "times",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for round := 1; round <= o.Seeds(1, timeRounds); round++ {
				for at, w := range works {
					for _, name := range append([]string{gorbm}, w.peers...) {
						t := task{contestant: name, data: "fontdigits", hidden: 500, seed: round, seconds: timeSeconds, flags: w.flags, recipe: w.recipe}
						if o.Quick {
							t.data, t.hidden, t.seconds = "fontdigits:500", 10, 0.1
						}
						jobs = append(jobs, figures.Job{Name: fmt.Sprintf("%s, %s, round %d", w.name, name, round), Repeat: round, Run: func(ctx context.Context, add figures.Add) error {
							one.Lock()
							defer one.Unlock()
							dir, err := os.MkdirTemp("", "gorbm-speed")
							if err != nil {
								return err
							}
							defer os.RemoveAll(dir)
							updates, used, _, err := q.train(ctx, t, dir)
							if updates > 0 {
								add(timesPanel, name, float64(at), 1e6*used/updates)
								add(updatesPanel, name, float64(at), updates)
							}
							return err
						}})
					}
				}
			}
			return jobs
		},
		Draw: figures.Curves(1, all, figures.Panel{Name: timesPanel, Title: "an update of 784 × 500 units", Y: "µs of one core", LogY: true, Geometric: true, Words: names}),
		Table: func(t *figures.Table) string {
			var rows [][]string
			for at, w := range works {
				least := func(name string) float64 { return smallest(t.At(timesPanel, name, float64(at))) }
				row := []string{w.name, fmt.Sprintf("%.0f µs", least(gorbm))}
				for _, name := range all[1:] {
					text := ""
					switch x := least(name); {
					case x > 0:
						text = fmt.Sprintf("%.1f (%.0f µs)", x/least(gorbm), x)
					case slices.Contains(w.peers, name):
						text = "not installed"
					}
					row = append(row, text)
				}
				rows = append(rows, row)
			}
			return figures.Grid([]string{"an update of", "gorbm", "NumPy / gorbm", "PyTorch / gorbm", "scikit-learn / gorbm"}, rows)
		},
	}
}

const timesPanel = "µs an update"

// smallest returns the smallest value, and 0 if there is none.
func smallest(r figures.Repeats) (least float64) {
	for _, x := range r {
		if least == 0 || x < least {
			least = x
		}
	}
	return least
}
