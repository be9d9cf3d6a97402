// Metropolis makes the figures of "On the Convergence of the Metropolis Algorithm
// with Fixed-Order Updates for Multivariate Binary Probability Distributions"
// (Brügge, Fischer & Igel 2020) again, and some beyond them.
//
//	go run ./experiments/metropolis -figure 2
//
// Results are in README.md. See -h for the figures.
package main

import (
	"context"
	"io"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
)

func main() { cli.Main("metropolis", run) }

const about = `The Metropolis algorithm that updates spins in a fixed order may be reducible. The modified operator accepts
a flip that costs nothing with probability ½ and always converges. The spectral gap is 1 − |λ₂| of the transition
matrix of a sweep: 1 is convergence in one sweep, 0 is no convergence. It is computed from the whole matrix
(` + "`mcmc.SweepOperator`, `diag.OperatorGap`" + `), so nothing here is sampled unless a seed is named. Energies are
E = −J Σ s_i s_j, at β = 1.`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	graphs := &named{list: defaultGraphs}
	e := experiment(graphs)
	return e.Command(func(f *cli.Flags) func() error {
		f.Func("graph", "graphs of figure graphs, separated by commas: sides as 3x4, chimera:1x1x4, or a file of couplings; :free after sides for a free boundary. Needs -out (default "+strings.Join(defaultGraphs, ",")+")", graphs.set)
		return func() error {
			if f.Given("graph") && !f.Given("out") {
				return cli.Usagef("-graph needs -out, a folder of its own: the page of experiments/metropolis is of the default graphs")
			}
			return nil
		}
	})(ctx, args, stdout, stderr)
}

// experiment returns all figures; that of graphs is of the named ones.
func experiment(graphs *named) claims.Experiment {
	return claims.Experiment{
		Name:  "metropolis",
		Title: "The Metropolis algorithm in a fixed order",
		Paper: "Brügge, Fischer & Igel 2020",
		About: about,
		Figures: []claims.Figure{
			figure2, figureA3, figureA4, figureB5, minimal,
			graphs.figure(), sizes, layers,
		},
	}
}
