package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
	"gorbm/train"
)

// An estimator is a named estimator of the negative phase, a curve of the figures. Its settings have the syntax of package negphase.
type estimator struct{ name, settings string }

// estimators are compared with the first of them.
var estimators = []estimator{
	{"pcd", "pcd:chains=50"},
	{"cd", "cd:k=1"},
	{manyPCD, "pcd:chains=%d"},
	{"pt", "pt:chains=10:tau=auto"},
	{paperPT, "pt:chains=10:tau=" + paperLadder},
	{"pins", "pins:chains=10:tau=auto"},
	{"ptt", "ptt:chains=20"},
}

const (
	manyPCD = "pcd, as many chains as pt"
	paperPT = "pt, ladder of the paper"
	// paperLadder has the temperatures of Hult, Nyquist & Ringqvist (2020), section 4.2.5.
	paperLadder = "1/2/3/4/5"
)

func names(estimators []estimator) (all []string) {
	for _, e := range estimators {
		all = append(all, e.name)
	}
	return all
}

// A race is a figure in which the estimators train on data for equal computing time.
type race struct {
	name, flags string
	problems    []problem
	seconds     float64
	moments     []float64                     // times of the measurements, as fractions of seconds; the last is 1
	apart       bool                          // each moment is the end of a separate run, in which the rate falls to 0
	chart       bool                          // draw a map; otherwise curves against time
	quick       func(d problem) problem       // changes a problem for -quick; nil: unchanged
	more        func(t *figures.Table) string // a second table; nil: none
}

func (r race) figure(p *files) figures.Figure {
	return figures.Figure{
		Name: r.name, Flags: r.flags,
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			var last []figures.Job // jobs that need files
			ends := []float64{1}   // the lengths of the runs as fractions of the time, the longest first
			if r.apart {
				ends = slices.Clone(r.moments)
				slices.Reverse(ends)
			}
			for _, fraction := range ends {
				for repeat := range o.Seeds(3, 5) {
					for _, d := range r.sized(o) {
						for _, e := range estimators {
							job := r.job(o, p, d, e, repeat+1, fraction)
							if d.file {
								last = append(last, job)
							} else {
								jobs = append(jobs, job)
							}
						}
					}
				}
			}
			return append(jobs, last...)
		},
		Draw: func(w io.Writer, t *figures.Table) error {
			if r.chart {
				return drawMap(w, t, r.problems)
			}
			var panels []figures.Panel
			for _, d := range r.problems {
				panels = append(panels, figures.Panel{Name: d.name, Title: d.name, X: "s of updates", Y: d.measure(), LogX: true, Dots: true})
			}
			return figures.Curves(2, names(estimators), panels...)(w, t)
		},
		Table: func(t *figures.Table) string {
			text := ends(t, r.problems)
			if r.more != nil {
				text += "\n" + r.more(t)
			}
			return text
		},
	}
}

// Suffixes of the panels of the end of a run. The name of the data comes before them.
const (
	updatesPanel      = ": updates"
	temperaturesPanel = ": temperatures" // number of temperatures of the ladder
)

// temperatures returns the approximate number of temperatures of pt.
func (d problem) temperatures() int { return cmp.Or(d.ladder, 10) }

// recipe returns the recipe of an estimator for a problem.
func (d problem) recipe(e estimator) training.Recipe {
	text := e.settings
	if e.name == manyPCD {
		text = fmt.Sprintf(text, 10*d.temperatures())
	}
	return training.Recipe{Negative: text, Hidden: d.hidden, LogOdds: true, Rate: 0.05, Batch: 20, Center: 0.01}
}

// job returns the job that trains by an estimator on a problem, for a fraction of the time, and measures the model at each moment.
func (r race) job(o figures.Options, p *files, d problem, e estimator, seed int, fraction float64) figures.Job {
	name, seconds, moments := d.name+", "+e.name, fraction*figures.Size(o, 0.01, r.seconds), r.moments
	if r.apart {
		name, moments = fmt.Sprintf("%s, %g s", name, seconds), []float64{1}
	}
	return figures.Job{Name: fmt.Sprintf("%s, seed %d", name, seed), Repeat: seed, Run: func(ctx context.Context, add figures.Add) error {
		set, err := d.load(ctx, p)
		if err != nil {
			return err
		}
		rows := d.test(set)
		return d.recipe(e).Race(ctx, set, uint64(seed), seconds, r.apart, moments, func(moment float64, t *train.Trainer) error {
			err := rows.measure(ctx, t.Model(), uint64(seed), func(panel string, y float64) { add(panel, e.name, moment*seconds, y) })
			if moment < 1 {
				return err
			}
			x := 0.0
			if r.apart { // runs of other times have the same name
				x = seconds
			}
			add(d.name+updatesPanel, e.name, x, float64(t.Steps()))
			if l, ok := t.Ladder(); ok {
				add(d.name+temperaturesPanel, e.name, x, float64(len(l.Beta)))
			}
			return err
		})
	}}
}

// sized returns the problems. With -quick these are at most two, which need no files.
func (r race) sized(o figures.Options) (all []problem) {
	for _, d := range r.problems {
		switch {
		case !o.Quick:
			all = append(all, d)
		case r.quick != nil:
			all = append(all, r.quick(d))
		case !d.file && len(all) < 2:
			all = append(all, d)
		}
	}
	return all
}
