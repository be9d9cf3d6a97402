package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// Versions of SARDONICS: one walk a half and one bias; several walks; two biases; both.
const (
	pure     = "pure"
	iterated = "iterated"
	mixed    = "mixed"
	full     = "full"
)

var versions = []string{pure, iterated, mixed, full, clusters}

// version returns the sampler of a curve.
func (s system) version(name string) mcmc.Mover {
	switch name {
	case clusters:
		return mcmc.SwendsenWang{}
	case gibbs:
		return mcmc.Gibbs{}
	case blocks:
		return mcmc.BlockGibbs{}
	}
	return s.settings(name == iterated || name == full, name == mixed || name == full)
}

// parts is the figure of the versions on some systems.
func parts(p *programs, name, title, says string, clustersWin bool, systems ...system) claims.Figure {
	return claims.Figure{
		Name: name, Title: title, Says: says,
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for repeat := range cmp.Or(o.Repeats, claims.Size(o, 3, 5)) {
				for _, s := range systems {
					jobs = append(jobs, claims.Job{
						Name: fmt.Sprintf("%s, seed %d", s.Label, repeat+1),
						Run: func(ctx context.Context) ([]claims.Point, error) {
							return s.race(ctx, p, versions, claims.Size(o, 0.005, 1), repeat+1, o.Quick)
						},
					})
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for _, s := range systems {
				if !s.has(t) {
					continue
				}
				for _, v := range []string{iterated, mixed, full} {
					all = append(all, claims.Smaller(fmt.Sprintf("%s: by moves, the %s version mixes faster than the pure one", s.Label, v), s.Logs(t, tauMoves, v), s.Logs(t, tauMoves, pure)))
				}
				all = append(all, claims.Larger(s.Panel("by seconds, the full version mixes faster than the pure one"), s.Logs(t, gainPanel, full), s.Logs(t, gainPanel, pure)))
				for _, v := range versions[:len(versions)-1] {
					if clustersWin {
						all = append(all, claims.Smaller(fmt.Sprintf("%s: by moves, Swendsen–Wang mixes faster than the %s version", s.Label, v), s.Logs(t, tauMoves, clusters), s.Logs(t, tauMoves, v)))
					}
				}
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var panels []claims.Panel
			for _, s := range systems {
				panels = append(panels,
					s.Rho(rhoMoves, "autocorrelation of the energy", "lag / moves", false), s.Rho(rhoSeconds, "for equal computing time", "lag / s", true))
			}
			return claims.Curves(w, t, 2, panels, versions)
		},
		Notes: func(t *claims.Table) string {
			var b strings.Builder
			b.WriteString("All versions have the settings of Table II, those that they use: pure has a walk in each half of a move and one bias, iterated has several walks, mixed has two biases, and full has both. " +
				"Each runs for 1 s from the same state, the first fifth is left out. Times are geometric means.\n\n| system | version | settings | µs a move | τ / moves | τ / s |\n| --- | --- | --- | --- | --- | --- |\n")
			for _, s := range systems {
				for _, v := range versions {
					if tau := s.Logs(t, tauMoves, v); len(tau) > 1 {
						fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s |\n", s.Label, v, mcmc.FormatMover(s.version(v)), chains.Digits(s.Mean(t, microPanel, v)), chains.Factor(tau), chains.Factor(s.Logs(t, tauSeconds, v)))
					}
				}
			}
			return b.String()
		},
	}
}

// race runs samplers on the system for so many seconds each.
func (s system) race(ctx context.Context, p *programs, names []string, seconds float64, seed int, quick bool) (points []claims.Point, err error) {
	c, err := s.make(ctx, p, quick)
	if err != nil {
		return nil, err
	}
	start, err := s.start(c, seed)
	if err != nil {
		return nil, err
	}
	var samplers []chains.Sampler
	for _, name := range names {
		build, mover := c.build, s.version(name)
		if name == clusters {
			build = c.ising
		}
		if quick {
			mover = shortened(mover, len(start))
		}
		samplers = append(samplers, chains.Sampler{Name: name, Mover: mover, System: chains.Onto(build, start)})
	}
	runs, err := chains.Race(ctx, samplers, s.beta, seconds, rbm.NewKey(uint64(seed)).Child(2))
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		measure(func(panel, curve string, x, y float64) {
			if finite(y) {
				points = append(points, claims.Point{Panel: s.Panel(panel), Curve: curve, Repeat: seed, X: x, Y: y})
			}
		}, r, float64(len(start)), false)
	}
	return points, nil
}
