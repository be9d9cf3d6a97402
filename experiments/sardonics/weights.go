package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// Curves of the figure of weights, at the biases γ of Table II.
const (
	heatBathWeights = "heat bath"
	printedWeights  = "equation 3"
	halfWeights     = "equation 3, γ/2"
	fromRandom      = "heat bath, random start"
)

var weightCurves = []string{heatBathWeights, printedWeights, halfWeights, fromRandom}

// Panels. X is the index of the system.
const (
	acceptedPanel  = "accepted"
	weightTauPanel = "τ of weights"
	energyPanel    = "energy"
)

// weighted are the lattices of Table II.
var weighted = []system{ferro(2.27), frustrated, cube, chimera}

// repeated returns jobs for n seeds, from 1, of each system. run is called with the index of the system and the seed.
func repeated(systems []system, n int, run func(ctx context.Context, s system, at, seed int) ([]claims.Point, error)) (jobs []claims.Job) {
	for seed := range n {
		for at, s := range systems {
			jobs = append(jobs, claims.Job{
				Name: fmt.Sprintf("%s, seed %d", s.Label, seed+1),
				Run:  func(ctx context.Context) ([]claims.Point, error) { return run(ctx, s, at, seed+1) },
			})
		}
	}
	return jobs
}

// weights returns the figure of the weights of a flip, and of the start.
func weights(p *programs) claims.Figure {
	return claims.Figure{
		Name: "weights", Ours: true, Title: "weights of a flip with the settings of Table II, and a random start",
		Says: "do the settings of Table II suit the weights exp(−γΔE) of equation 3, or the heat bath, 1/(1+exp(γΔE)), of the authors' program? And do they work from a random state?",
		Jobs: func(o claims.Options) []claims.Job {
			return repeated(weighted, o.Seeds(3, 3), func(ctx context.Context, s system, at, seed int) ([]claims.Point, error) {
				return s.weigh(ctx, p, at, seed, o.Quick)
			})
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for at, s := range weighted {
				accepted := func(curve string) claims.Repeats { return t.At(acceptedPanel, curve, float64(at)) }
				all = append(all,
					claims.Larger(s.Panel("moves with heat-bath weights are accepted more often than with those of equation 3"), accepted(heatBathWeights), accepted(printedWeights)),
					claims.Larger(s.Panel("moves with heat-bath weights are accepted more often than with those of equation 3 with γ/2"), accepted(heatBathWeights), accepted(halfWeights)))
			}
			for at, s := range weighted {
				rate := t.At(acceptedPanel, fromRandom, float64(at)).Mean()
				all = append(all, claims.Holds(s.Panel("from a random state moves are accepted"), rate > 0, rate, "%.2g of the moves, %d in a run", rate, contestMoves))
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var names []string
			for _, s := range weighted {
				names = append(names, string(s.Label))
			}
			return claims.Curves(w, t, 2, []claims.Panel{
				{Name: acceptedPanel, Title: "accepted moves", Y: "fraction", Words: names},
				{Name: weightTauPanel, Title: "integrated autocorrelation time of the energy", Y: "moves", LogY: true, Geometric: true, Words: names},
			}, weightCurves)
		},
		Finding: func(t *claims.Table) string {
			least, most, printed := 1., 0., 0.
			for at := range weighted {
				rate := func(curve string) float64 { return t.At(acceptedPanel, curve, float64(at)).Mean() }
				least, most, printed = min(least, rate(heatBathWeights)), max(most, rate(heatBathWeights)), max(printed, rate(printedWeights))
			}
			const plane = 1 // index of frustrated
			return fmt.Sprintf("The settings of Table II suit the heat bath: %.0f to %.0f %% of the moves are accepted on the four lattices, and with equation 3 at most %.2g %%. From a random state the heat bath accepts %.2g of %d moves on the frustrated plane, so start with sweeps of Gibbs.",
				100*least, 100*most, 100*printed, t.At(acceptedPanel, fromRandom, plane).Mean(), contestMoves)
		},
		Notes: func(t *claims.Table) string {
			var b strings.Builder
			fmt.Fprintf(&b, "Runs take half a second, after 100 sweeps of Gibbs, or make %d moves from a random state. Equation 3 with γ/2 has the same ratio of forward and backward weights as the heat bath with γ. If no move was accepted, there is no τ.\n\n| system | weights | accepted | τ / moves | energy / site |\n| --- | --- | --- | --- | --- |\n", contestMoves)
			for at, s := range weighted {
				for _, c := range weightCurves {
					if accepted := t.At(acceptedPanel, c, float64(at)); len(accepted) > 0 {
						tau := "none"
						if x := t.At(weightTauPanel, c, float64(at)); len(x) > 1 {
							tau = chains.Factor(chains.Logs(x))
						}
						fmt.Fprintf(&b, "| %s | %s | %.4f | %s | %.4f |\n", s.Label, c, accepted.Mean(), tau, t.At(energyPanel, c, float64(at)).Mean())
					}
				}
			}
			return b.String()
		},
	}
}

// weigh runs the settings of Table II with each kind of weights, and from a random state.
func (s system) weigh(ctx context.Context, p *programs, at, seed int, quick bool) (points []claims.Point, err error) {
	c, start, err := s.begin(ctx, p, seed, quick)
	if err != nil {
		return nil, err
	}
	random, err := s.random(c, seed)
	if err != nil {
		return nil, err
	}
	full := s.settings(true, true)
	if quick {
		full = shortened(full, len(start))
	}
	by := func(w mcmc.Weights, scale float64) mcmc.Mover {
		m := full.(mcmc.Sardonics)
		m.Weights = w
		m.Gamma1 *= scale
		m.Gamma2 *= scale
		return m
	}
	seconds, moves := 0.5, contestMoves
	if quick {
		seconds, moves = 0.005, 200
	}
	samplers := []chains.Sampler{
		{Name: heatBathWeights, Mover: full, System: chains.Onto(c.build, start)},
		{Name: printedWeights, Mover: by(mcmc.Boltzmann, 1), System: chains.Onto(c.build, start)},
		{Name: halfWeights, Mover: by(mcmc.Boltzmann, 0.5), System: chains.Onto(c.build, start)},
	}
	key := rbm.NewKey(uint64(seed))
	runs, err := chains.Race(ctx, samplers, s.beta, seconds, key.Child(2))
	if err != nil {
		return nil, err
	}
	alone, err := chains.Race(ctx, []chains.Sampler{{Name: fromRandom, Mover: full, System: chains.Onto(c.build, random), Moves: moves}}, s.beta, math.Inf(1), key.Child(3))
	for _, r := range append(runs, alone...) {
		add := func(panel string, y float64) {
			points = append(points, claims.Point{Panel: panel, Curve: r.Name, Repeat: seed, X: float64(at), Y: y})
		}
		accepted, _ := r.Info.Acceptance()
		energies := r.Energies[len(r.Energies)/5:]
		add(acceptedPanel, accepted)
		add(energyPanel, stat.Mean(energies, nil)/float64(len(start)))
		if tau := diag.Summarize(energies).Time.Tau; finite(tau) {
			add(weightTauPanel, tau)
		}
	}
	return points, err
}
