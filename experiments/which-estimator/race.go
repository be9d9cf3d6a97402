package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"gorbm/experiments/internal/claims"
	"gorbm/negphase"
)

// An estimator is a named estimator of the negative phase, a curve of the figures. Its settings have the syntax of package negphase.
type estimator struct {
	name, settings string
}

// estimators are compared with the first of them.
var estimators = []estimator{
	{name: "pcd", settings: "pcd:chains=50"},
	{name: "cd", settings: "cd:k=1"},
	{name: manyPCD, settings: "pcd:chains=%d"},
	{name: "pt", settings: "pt:chains=10:tau=auto"},
	{name: paperPT, settings: "pt:chains=10:tau=" + paperLadder},
	{name: "pins", settings: "pins:chains=10:tau=auto"},
	{name: "ptt", settings: "ptt:chains=20"},
}

const (
	manyPCD = "pcd, as many chains as pt"
	paperPT = "pt, ladder of the paper"
	// paperLadder has the temperatures of Hult, Nyquist & Ringqvist (2020), section 4.2.5.
	paperLadder = "1/2/3/4/5"
)

// settings returns the settings of an estimator for a problem.
func (d problem) settings(e estimator) (negphase.Settings, error) {
	text := e.settings
	if e.name == manyPCD {
		text = fmt.Sprintf(text, 10*d.temperatures())
	}
	return negphase.Parse(text, negphase.Settings{})
}

func names(estimators []estimator) (all []string) {
	for _, e := range estimators {
		all = append(all, e.name)
	}
	return all
}

// likelihoodRows is the largest number of rows of a mean log-likelihood.
const likelihoodRows = 1000

// A contest is a figure in which the estimators train on data for equal computing time.
type contest struct {
	name, title, says, flags string
	estimators               []estimator // all are compared with the first
	problems                 []problem
	seconds                  float64
	moments                  []float64                    // times of the measurements, as fractions of seconds; the last is 1
	apart                    bool                         // each moment is the end of a separate run
	chart                    bool                         // draw a map; otherwise curves against time
	quick                    func(d problem) problem      // changes a problem for -quick; nil: unchanged
	notes                    func(t *claims.Table) string // additional notes; nil: none
}

func (r contest) figure(p *files) claims.Figure {
	return claims.Figure{
		Name: r.name, Ours: true, Title: r.title, Says: r.says, Flags: r.flags,
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			var last []claims.Job // jobs that need files
			for _, fraction := range r.ends() {
				for repeat := range o.Seeds(3, 5) {
					for _, d := range r.sized(o) {
						for _, e := range r.estimators {
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
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for _, d := range r.problems {
				x, ok := d.last(t)
				if !ok {
					continue
				}
				end := func(name string) claims.Repeats { return d.scores(t.At(d.name, name, x)) }
				for _, e := range r.estimators[1:] {
					all = append(all, d.against(e.name, end(e.name), end(r.estimators[0].name)))
				}
				if slices.Contains(names(r.estimators), paperPT) {
					all = append(all, d.ladders(end("pt"), end(paperPT)))
				}
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			if r.chart {
				return drawMap(w, t, r.problems)
			}
			var panels []claims.Panel
			for _, d := range r.problems {
				if measure, _, _ := d.words(); len(t.Curves(d.name)) > 0 {
					panels = append(panels, claims.Panel{Name: d.name, Title: d.name, X: "s of updates", Y: measure, LogX: true, Dots: true})
				}
			}
			return claims.Curves(w, t, 2, panels, names(r.estimators))
		},
		Finding: func(t *claims.Table) string {
			var texts, better, worse []string
			count := 0
			for _, e := range r.estimators[1:] {
				wins, losses := 0, 0
				count = 0
				for _, d := range r.problems {
					if x, ok := d.last(t); ok {
						count++
						its, base := d.scores(t.At(d.name, e.name, x)), d.scores(t.At(d.name, r.estimators[0].name, x))
						wins += map[bool]int{true: 1}[beats(its, base)]
						losses += map[bool]int{true: 1}[beats(base, its)]
					}
				}
				texts = append(texts, fmt.Sprintf("%s (%d, %d)", e.name, wins, losses))
				if wins > 0 {
					better = append(better, e.name)
				}
				if losses > 0 {
					worse = append(worse, e.name)
				}
			}
			if count == 1 {
				return fmt.Sprintf("Better than pcd: %s. Worse: %s.", orNone(better), orNone(worse))
			}
			return fmt.Sprintf("In parentheses are the numbers of the %d data sets on which an estimator is better and worse than pcd: %s.", count, strings.Join(texts, "; "))
		},
		Notes: func(t *claims.Table) string {
			more := ""
			if r.notes != nil {
				more = r.notes(t)
			}
			return ends(t, r.estimators, r.problems) + more
		},
	}
}

// ends returns the lengths of the runs as fractions of the time, the longest first.
func (r contest) ends() []float64 {
	if !r.apart {
		return []float64{1}
	}
	all := slices.Clone(r.moments)
	slices.Reverse(all)
	return all
}

// job returns the job that trains by an estimator on a problem, for a fraction of the time.
func (r contest) job(o claims.Options, p *files, d problem, e estimator, seed int, fraction float64) claims.Job {
	name, seconds, moments := d.name+", "+e.name, fraction*claims.Size(o, 0.01, r.seconds), r.moments
	if r.apart {
		name, moments = fmt.Sprintf("%s, %g s", name, seconds), []float64{1}
	}
	return claims.Job{Name: fmt.Sprintf("%s, seed %d", name, seed), Run: func(ctx context.Context) ([]claims.Point, error) {
		return d.train(ctx, p, e, uint64(seed), seconds, moments)
	}}
}

// sized returns the problems. With -quick these are at most two, which need no files.
func (r contest) sized(o claims.Options) (all []problem) {
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

// orNone joins names, and returns "none" if there are none.
func orNone(names []string) string { return cmp.Or(strings.Join(names, "; "), "none") }
