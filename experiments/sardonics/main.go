// Sardonics reproduces figures and tables of "Self-Avoiding Random Dynamics on Integer
// Complex Systems" (Hamze, Wang & de Freitas 2012).
//
//	go run ./experiments/sardonics -model FILE
//
// FILE is the RBM of the paper, or another RBM of 784 × 500 units.
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

Figures 2, 4, 5, 6, 9, 10 and 12 have the paper's protocol. All samplers make 10^5 moves from one random state, with half of the spins up or a
third of the units on, as in the authors' program (ziyuw/AdaptSAW). The first 2·10^4 moves of SARDONICS are 200 tuning trials of 100 moves, after
which it continues from its last state. The other samplers discard 2·10^4 moves as burn-in. In the paper a move of Gibbs is an update of one random
site ("Gibbs, a site a move"). According to the paper's Table III, a move of SARDONICS takes as long as some 40 such updates, so the figures also have
"Gibbs, 40 sites a move". Comparisons by flips and seconds use "Gibbs, a sweep a move", which updates each site once. On most systems the runs of Gibbs
with one or 40 sites per move are too short to reach equilibrium, as in the paper.

Each comparison has three units of cost: moves, as in the paper; flips, which are the proposed flips of walks, or updates of
sites; and processor time without tuning.

The couplings have the distributions of the authors' files. They were drawn once, and are the same for all seeds: couplings of ±1 with fields of ±1
in the frustrated plane, couplings of ±1 in the cube, and couplings uniform in [−1, 1] on the chimera lattice, whose boundary is free. So standard
errors are over repeated runs on one draw of the couplings, and not over draws. The RBM is that of the authors:
` + "`-model`" + ` names a file with the weights and biases of ` + "`adaptive_saw.h5`" + ` in their repository. Without ` + "`-model`" + `, the RBM is trained on the built-in digits.

Bands in pictures are ± one standard deviation between runs, and a curve ends at the longest lag that all runs have. Pictures show the energies of
one run, for SARDONICS after its tuning. Each point of a reward is the mean of 10 trials. Times in tables are geometric means over runs; the factor
after ×/÷ is one standard error. Claims compare the natural logarithms of times: a difference of 0.69 is a factor of 2. If the energy never changed
in a run, τ is the length of the run, which is a lower bound. Figures 3, 7, 8 and II start after 100 sweeps of Gibbs or a burn-in, because SARDONICS
with the settings of Table II hardly accepts a move in a random state: none of 100000 on the frustrated plane. The jobs of figure II are runs of
` + "`isingmc -tune -json`" + `.

Two figures of ours were removed with their programs, which commit cc149625 has. One showed that the settings of Table II suit the heat-bath
weights 1/(1+exp(γΔE)) of the authors' program: 52 to 80 % of the moves are accepted on the four lattices, and at most 0.15 % with the weights
exp(−γΔE) of equation 3. The other compared ` + "`k=auto`" + `, which tunes the length of walks to an acceptance of 0.574 in a warm-up, with the
paper's Bayesian optimisation on 5 to 22 draws of each system of Table II. In moves, τ of ` + "`k=auto`" + ` was 3.54 times that of the paper's
tuning on the ferromagnet, 3.69 times on the frustrated plane and 3.14 times on the cube. Per second, tuning included, ` + "`k=auto`" + ` gave 3.89
times as many independent energies on the chimera lattice. It was nowhere faster than untuned settings, and 2.27 times slower on the frustrated plane.`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := newPrograms()
	defer p.runs.Remove()
	return experiment(p).Command(func(f *cli.Flags) {
		f.StringVar(&p.model, "model", "", "trained RBM, a .npz or .safetensors file, for figures 10 and II (default for figure 10: an RBM trained on the built-in digits)")
	})(ctx, args, stdout, stderr)
}

// experiment returns all figures.
func experiment(p *programs) claims.Experiment {
	figures := map[string]claims.Figure{}
	for _, c := range contests {
		figures[c.name] = c.figure(p)
	}
	versions := "SARDONICS with several walks, with two biases and with both: each of these leads to an increase in performance"
	return claims.Experiment{
		Name:  "sardonics",
		Title: "SARDONICS",
		Paper: "Hamze, Wang & de Freitas 2012",
		About: about,
		Figures: []claims.Figure{
			figures["2"],
			versionsFigure(p, "3", "versions of SARDONICS on the ferromagnet", versions+", but none is better than Swendsen–Wang.", true, ferro(2.27)),
			figures["4"], figures["5"], figures["6"],
			versionsFigure(p, "7", "versions of SARDONICS on the frustrated lattices", versions+".", false, frustrated, cube),
			bits(p), figures["9"], figures["10"], figures["12"],
			tuning(p),
		},
	}
}
