package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
)

// timed are the systems of Table III with their samplers.
var timed = []struct {
	system
	paper map[string]string // what the table says
}{
	{ferro(2.27).named("ferromagnet"), map[string]string{pure: "8 minutes", full: "20 minutes", clusters: "50 minutes", gibbs: "tens of seconds"}},
	{frustrated, map[string]string{pure: "7 minutes", full: "20 minutes", clusters: "50 minutes", gibbs: "tens of seconds"}},
	{cube, map[string]string{pure: "3 minutes", full: "10 minutes", clusters: "few minutes", gibbs: "tens of seconds"}},
	{machine, map[string]string{pure: "3 hours", clusters: "few hours", gibbs: "20 minutes", blocks: "few minutes"}},
	{chimera, map[string]string{pure: "2 minutes", full: "10 minutes", clusters: "tens of seconds", gibbs: "tens of seconds"}},
}

func (s system) named(name string) system {
	s.Label = chains.Label(name)
	return s
}

const timePanel = "seconds of 10⁵ moves"

var timedCurves = []string{pure, full, clusters, gibbs, blocks}

func times(p *programs) claims.Figure {
	var names []string
	for _, s := range timed {
		names = append(names, string(s.Label))
	}
	at := func(t *claims.Table, curve string, i int) claims.Repeats {
		return chains.Logs(t.At(timePanel, curve, float64(i)))
	}
	return claims.Figure{
		Name: "III", Flags: "-model FILE", Title: "time of 10⁵ samples",
		Says: "rough computing times: SARDONICS takes less than Swendsen–Wang on the large lattices, and on all models more than Gibbs and block Gibbs.",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for repeat := range cmp.Or(o.Repeats, claims.Size(o, 3, 5)) {
				for i, s := range timed {
					jobs = append(jobs, claims.Job{
						Name: fmt.Sprintf("%s, seed %d", s.Label, repeat+1),
						Run: func(ctx context.Context) (points []claims.Point, err error) {
							var curves []string
							for _, c := range timedCurves {
								if s.paper[c] != "" {
									curves = append(curves, c)
								}
							}
							all, err := s.race(ctx, p, curves, claims.Size(o, 0.002, 0.25), repeat+1, o.Quick)
							for _, pt := range all {
								if pt.Panel == s.Panel(microPanel) {
									points = append(points, claims.Point{Panel: timePanel, Curve: pt.Curve, Repeat: pt.Repeat, X: float64(i), Y: pt.Y / 10})
								}
							}
							return points, err
						},
					})
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for i, s := range timed {
				if len(at(t, pure, i)) == 0 {
					continue
				}
				mine := pure
				if s.paper[full] != "" {
					mine = full
				}
				if i < 2 { // the lattices of 60×60
					all = append(all, claims.Smaller(fmt.Sprintf("%s: a move of SARDONICS, %s, takes less time than one of Swendsen–Wang", s.Label, mine), at(t, mine, i), at(t, clusters, i)))
				}
				all = append(all, claims.Larger(fmt.Sprintf("%s: a move of SARDONICS, %s, takes more time than a sweep of Gibbs", s.Label, mine), at(t, mine, i), at(t, gibbs, i)))
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			return claims.Curves(w, t, 1, []claims.Panel{{Name: timePanel, Title: "time of 10⁵ moves", Y: "s", LogY: true, Geometric: true, Words: names}}, timedCurves)
		},
		Notes: func(t *claims.Table) string {
			var b strings.Builder
			b.WriteString("SARDONICS has the settings of Table II, without tuning, which takes about a second more here; its times in the paper include tuning. " +
				"A move of Gibbs is a sweep here and probably an update of one site in the paper; see figure 2. Swendsen–Wang on the RBM runs on the same law as an Ising system. Geometric means, from runs of 0.25 s; the paper's times, of 2012, in brackets.\n\n| model |")
			for _, c := range timedCurves {
				fmt.Fprintf(&b, " %s |", c)
			}
			b.WriteString("\n|" + strings.Repeat(" --- |", 1+len(timedCurves)) + "\n")
			for i, s := range timed {
				fmt.Fprintf(&b, "| %s |", s.Label)
				for _, c := range timedCurves {
					l := at(t, c, i)
					if len(l) == 0 {
						b.WriteString(" – |")
						continue
					}
					mean, _ := l.Average()
					fmt.Fprintf(&b, " %s s (%s) |", chains.Digits(math.Exp(mean)), s.paper[c])
				}
				b.WriteString("\n")
			}
			b.WriteString("\nTable I, the ranges from which tuning takes its settings, is the same here as in the paper: k_l of 1 … 70, k_u of 2 … 120, γ_L of 0.89 … 1.05 and γ_H of 0.9 … 1.15 in units of β, P_LL, P_HL and P_LH of 0 … 1, divided by their sum, and N of 1 … 5.\n")
			return b.String()
		},
	}
}
