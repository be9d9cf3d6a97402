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
784 × 500 units as the paper's; without it, one that is trained on the built-in digits. Times are those that the thread had a core.
Each sampler of a figure has as much of it as SARDONICS, so that Gibbs has "the computing time of SARDONICS", for which the paper says it
still loses: 1.5 s on lattices and 2.5 s on the RBM, from one state that 100 sweeps of Gibbs have made of a random one; the first fifth is
left out. SARDONICS is tuned before, as in the paper, by 200 trials of 100 moves, which is not charged to it.

A move of Gibbs is a sweep, an update of each site. Bands in pictures are one standard deviation between runs, energies those of the last 2000
moves of one run, and a reward is the mean of 10 trials. Times in tables are geometric means over runs, times or divided by the factor of one
standard error; differences of times in claims are of natural logarithms: 0.69 is a factor of 2. Where the energy never changed in a
run, τ is the length of the run, a lower bound. Figure II compares our tuning with the paper's; its jobs are runs of ` + "`isingmc -tune -json`" + `.`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := newPrograms()
	defer p.runs.Remove()
	return experiment(p).Command(func(f *cli.Flags) func() error {
		f.StringVar(&p.model, "model", "", "trained RBM, a .npz or .safetensors file, for figures II and 10 (default: one trained on the built-in digits; figure II needs a file, for its last row)")
		return func() error { return nil }
	})(ctx, args, stdout, stderr)
}

// experiment returns all figures.
func experiment(p *programs) claims.Experiment {
	figures := map[string]claims.Figure{}
	for _, c := range contests {
		figures[c.name] = c.figure(p)
	}
	versions := "SARDONICS with several walks, with two biases and with both: each part leads to an increase in performance"
	return claims.Experiment{
		Name:  "sardonics",
		Title: "SARDONICS",
		Paper: "Hamze, Wang & de Freitas 2012",
		About: about,
		Figures: []claims.Figure{
			figures["2"],
			parts(p, "3", "versions of SARDONICS on the ferromagnet", versions+", but none is better than Swendsen–Wang.", true, ferro(2.27)),
			figures["4"], figures["5"], figures["6"],
			parts(p, "7", "versions of SARDONICS on the frustrated lattices", versions+".", false, frustrated, cube),
			bits(p), figures["9"], figures["10"], figures["12"],
			tuning(p),
		},
	}
}
