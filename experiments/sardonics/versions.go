package main

import (
	"context"
	"io"
	"slices"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/figures"
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
func versionsFigure(p *programs, name string, clustersWin bool, systems ...system) figures.Figure {
	curves := versions
	if clustersWin {
		curves = append(slices.Clone(versions), clusters)
	}
	return figures.Figure{
		Name: name,
		Jobs: func(o figures.Options) []figures.Job {
			return chains.Repeated(systems, o.Seeds(3, heavyRepeats), func(ctx context.Context, s system, seed int, add figures.Add) error {
				return s.compete(ctx, p, curves, figures.Size(o, 0.005, 1), seed, o.Quick, s.Adder(add))
			})
		},
		Claims: func(t *figures.Table) (all []figures.Claim) {
			for _, s := range systems {
				if !s.has(t) {
					continue
				}
				for _, v := range versions[1:] {
					all = append(all, s.compare(t, "in moves, the "+v+" version mixes faster than the pure one", chains.Tau+moves, v, pure))
				}
				all = append(all, s.compare(t, "in seconds, the full version mixes faster than the pure one", chains.Gain, pure, full).InOtherUnit())
				for _, v := range versions {
					if clustersWin {
						all = append(all, s.compare(t, "in moves, Swendsen–Wang mixes faster than the "+v+" version", chains.Tau+moves, clusters, v))
					}
				}
			}
			return all
		},
		Draw: func(w io.Writer, t *figures.Table) error {
			var panels []figures.Panel
			for _, s := range systems {
				panels = append(panels, s.Rho(chains.Rho+moves, "autocorrelation of the energy", "lag / moves", false), s.Rho(chains.Rho+seconds, "by time", "lag / s", true))
			}
			return figures.Curves(2, curves, panels...)(w, t)
		},
		Table: func(t *figures.Table) string {
			var lines []figures.Line
			for _, s := range systems {
				for _, v := range curves {
					lines = append(lines, figures.Line{Words: []string{string(s.Label), v, "`" + mcmc.FormatMover(s.version(v)) + "`"}, Prefix: s.Panel(""), Curve: v})
				}
			}
			return t.Markdown([]string{"system", "version", "settings"}, lines, []figures.Column{
				{Title: "µs per move", Panel: chains.Micro, Write: figures.Short},
				{Title: "τ / moves", Panel: chains.Tau + moves, Write: figures.Factor},
				{Title: "τ / s", Panel: chains.Tau + seconds, Write: figures.Factor},
			})
		},
	}
}

// compete runs the samplers of curves on the system, each for the given seconds.
func (s system) compete(ctx context.Context, p *programs, curves []string, seconds float64, seed int, quick bool, add figures.Add) error {
	c, start, err := s.begin(ctx, p, seed, quick)
	if err != nil {
		return err
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
		measure(add, r, int(contestBurn*float64(len(r.Energies))), float64(len(start)))
	}
	return err
}
