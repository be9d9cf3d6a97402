// Sardonics makes figures and tables of "Self-Avoiding Random Dynamics on Integer
// Complex Systems" (Hamze, Wang & de Freitas 2012) again, and some beyond them.
//
//	go run ./experiments/sardonics -model FILE
//
// FILE is the RBM of the paper, or another one of 784 × 500 units.
// Results are in README.md. See -h for the figures.
package main

import (
	"context"
	"io"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
)

func main() { cli.Main("sardonics", run) }

const about = `SARDONICS flips many units at once along self-avoiding walks. Its settings are learned by Bayesian optimisation.
The lattices are those of the paper's Table II, with couplings that are drawn once and are the same for all seeds:
errors are of other runs on the same system. The RBM is a file that ` + "`-model`" + ` names, of
784 × 500 units as the paper's. Each job is a run of ` + "`isingmc -tune -json`" + `, and times are those that the process had a core.`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := &programs{}
	defer p.remove()
	return experiment(p).Command(func(f *cli.Flags) func() error {
		f.StringVar(&p.model, "model", "", "trained RBM for the row of RBMs, a .npz or .safetensors file; that row comes last")
		return func() error { return nil }
	})(ctx, args, stdout, stderr)
}

// experiment returns all figures.
func experiment(p *programs) claims.Experiment {
	return claims.Experiment{
		Name:    "sardonics",
		Title:   "SARDONICS",
		Paper:   "Hamze, Wang & de Freitas 2012",
		About:   about,
		Figures: []claims.Figure{tuning(p)},
	}
}
