package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// Versions of SARDONICS: with one walk in each half of a move and one bias; with several walks; with two biases; with both.
const (
	pure     = "pure"
	iterated = "iterated"
	mixed    = "mixed"
	full     = "full"
)

var versions = []string{pure, iterated, mixed, full}

// version returns the sampler of a curve.
func (s system) version(name string) mcmc.Mover {
	switch name {
	case clusters:
		return mcmc.SwendsenWang{}
	case gibbs:
		return mcmc.Gibbs{}
	}
	return s.settings(name == iterated || name == full, name == mixed || name == full)
}

// versionsFigure returns the figure of the versions on the given systems.
func versionsFigure(p *programs, name, title, says string, clustersWin bool, systems ...system) claims.Figure {
	curves := versions
	if clustersWin {
		curves = append(slices.Clone(versions), clusters)
	}
	return claims.Figure{
		Name: name, Title: title, Says: says,
		Jobs: func(o claims.Options) []claims.Job {
			return repeated(systems, o.Seeds(3, heavyRepeats), func(ctx context.Context, s system, seed int) ([]claims.Point, error) {
				return s.compete(ctx, p, curves, claims.Size(o, 0.005, 1), seed, o.Quick)
			})
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for _, s := range systems {
				if !s.has(t) {
					continue
				}
				for _, v := range []string{iterated, mixed, full} {
					all = append(all, claims.Smaller(fmt.Sprintf("%s: in moves, the %s version mixes faster than the pure one", s.Label, v), s.Logs(t, tauMoves, v), s.Logs(t, tauMoves, pure)))
				}
				all = append(all, claims.Larger(s.Panel("in seconds, the full version mixes faster than the pure one"), s.Logs(t, gainPanel, full), s.Logs(t, gainPanel, pure)).InOtherUnit())
				for _, v := range versions {
					if clustersWin {
						all = append(all, claims.Smaller(fmt.Sprintf("%s: in moves, Swendsen–Wang mixes faster than the %s version", s.Label, v), s.Logs(t, tauMoves, clusters), s.Logs(t, tauMoves, v)))
					}
				}
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var panels []claims.Panel
			for _, s := range systems {
				panels = append(panels,
					s.Rho(rhoMoves, "autocorrelation of the energy", "lag / moves", false), s.Rho(rhoSeconds, "by time", "lag / s", true))
			}
			return claims.Curves(w, t, 2, panels, curves)
		},
		Finding: func(t *claims.Table) string {
			var texts []string
			for _, s := range systems {
				tau := func(v string) string { return chains.Typical(s.At(t, tauMoves, v)) }
				text := fmt.Sprintf("%s: τ in moves is %s for the pure version, %s for the iterated, %s for the mixed and %s for the full version", s.Label, tau(pure), tau(iterated), tau(mixed), tau(full))
				if clustersWin {
					text += fmt.Sprintf(", and %s for Swendsen–Wang", tau(clusters))
				}
				texts = append(texts, text)
			}
			return strings.Join(texts, ". ") + "."
		},
		Notes: func(t *claims.Table) string {
			var b strings.Builder
			b.WriteString("All versions have the settings of Table II that apply to them. The pure version has one walk in each half of a move, and one bias; the iterated version has several walks, the mixed version has two biases, and the full version has both. " +
				"Each runs for 1 s from the same state, after 100 sweeps of Gibbs from a random state. The first fifth is discarded. Times are geometric means.\n\n| system | version | settings | µs per move | τ / moves | τ / s |\n| --- | --- | --- | --- | --- | --- |\n")
			for _, s := range systems {
				for _, v := range curves {
					if tau := s.Logs(t, tauMoves, v); len(tau) > 1 {
						fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s |\n", s.Label, v, mcmc.FormatMover(s.version(v)), chains.Digits(s.Mean(t, microPanel, v)), chains.Factor(tau), chains.Factor(s.Logs(t, tauSeconds, v)))
					}
				}
			}
			return b.String()
		},
	}
}

// compete runs the samplers of curves on the system, each for the given seconds.
func (s system) compete(ctx context.Context, p *programs, curves []string, seconds float64, seed int, quick bool) (points []claims.Point, err error) {
	c, start, err := s.begin(ctx, p, seed, quick)
	if err != nil {
		return nil, err
	}
	var samplers []chains.Sampler
	for _, name := range curves {
		mover := s.version(name)
		if quick {
			mover = shortened(mover, len(start))
		}
		samplers = append(samplers, chains.Sampler{Name: name, Mover: mover, System: chains.Onto(c.build, start)})
	}
	runs, err := chains.Race(ctx, samplers, s.beta, seconds, rbm.NewKey(uint64(seed)).Child(2))
	for _, r := range runs {
		measure(s.adder(&points, seed), r, int(contestBurn*float64(len(r.Energies))), float64(len(start)))
	}
	return points, err
}
