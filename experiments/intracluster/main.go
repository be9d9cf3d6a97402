// Intracluster reproduces the figures of "Intracluster Moves for Constrained Discrete-Space
// MCMC" (Hamze & de Freitas 2010).
//
//	go run ./experiments/intracluster -figure 2
//	go run ./experiments/intracluster -figure 4 -model FILE
//
// FILE is an RBM of 784 × 500 units. The committed figures use the RBM of the paper's authors.
// Results are in README.md. See -h for the figures.
package main

import (
	"context"
	"io"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
)

func main() { cli.Main("intracluster", run) }

const about = `All samplers here keep the number of active bits fixed. Exchange proposes to swap an active and an inactive bit, both
drawn uniformly. The paper calls it "Metropolis"; in physics it is non-local Kawasaki dynamics. An intracluster move (IM) has two
walks, in either order: one switches k bits off, one after the other, and the other switches k bits on. The energies bias the choice of
each bit, and the move is accepted or rejected as a whole.

In Go both samplers are far faster than in 2010, but not by the same factor. Each figure therefore shows the same runs in three units of
cost: processor time; proposed flips, those of rejected moves included, with two flips for each attempt to exchange; and moves of IM "at the
paper's relative speeds", where a move of IM counts as much as the number of attempts to exchange that took the same time in the paper.
"IM" has the paper's settings, with heat-bath weights as in the authors' program. "IM, our settings" has the defaults of
` + "`isingmc`" + `: walks of 1 to 25 flips, whose bias γ towards low energies is β. All samplers start at the same state, which 100 sweeps of
exchange reach from a random state. The paper's numbers of moves count from there.

Figure 4 has two RBMs of 784 × 500 units. The weights of one are random Gabor filters, plane waves in Gaussian windows. The other is the RBM of
the authors' program (ziyuw/AdaptSAW).`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	model := new(string)
	return experiment(model).Command(func(f *cli.Flags) {
		f.StringVar(model, "model", "", "trained RBM for the second half of figure 4, a .npz or .safetensors file; its runs come last")
	})(ctx, args, stdout, stderr)
}

// experiment returns all figures.
func experiment(model *string) claims.Experiment {
	return claims.Experiment{
		Name:    "intracluster",
		Title:   "Intracluster moves",
		Paper:   "Hamze & de Freitas 2010",
		About:   about,
		Figures: figures(model),
	}
}
