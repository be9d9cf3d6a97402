// Intracluster makes the figures of "Intracluster Moves for Constrained Discrete-Space
// MCMC" (Hamze & de Freitas 2010) again.
//
//	go run ./experiments/intracluster -figure 2
//	go run ./experiments/intracluster -figure 4 -model FILE
//
// FILE is the RBM of the paper's authors, whose figures are committed, or another one of 784 × 500 units.
// Results are in README.md. See -h for the figures.
package main

import (
	"context"
	"io"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
)

func main() { cli.Main("intracluster", run) }

const about = `All samplers here keep the number of bits that are on. Exchange, the paper's "Metropolis" and Kawasaki's in physics,
proposes to swap a bit that is on and one that is off, both drawn uniformly. An intracluster move (IM) is a walk that flips k
bits off, one after the other, and a walk that flips k bits on, or the other way round; the energy draws the bits, and the
move is accepted or rejected as a whole. In Go both are far faster than in 2010, and not by the same factor. So
each figure shows the same runs on three clocks: processor time of the thread; proposed flips, those of rejected moves included,
two for an attempt to exchange; and moves at the paper's ratio of attempts to moves. "IM" has the paper's settings, with heat-bath
weights as in the authors' program; "IM, our settings" has those of ` + "`isingmc`" + `, walks of 1 to 25 flips at γ = β. All start from the same
state, which 100 sweeps of exchange have made from a random one; the numbers of moves of the paper's runs count from there.`

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
