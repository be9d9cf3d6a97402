// Informed races locally balanced proposals against the samplers of the programs.
//
//	go run ./experiments/informed
//
// Results are in README.md. See -h for the figures.
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/informed"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

func main() { cli.Main("informed", experiment().Command(nil)) }

const about = `A locally balanced proposal weights the flips of single bits by g(t), g(t) = t·g(1/t), t the ratio of the probabilities of two states (Zanella 2020). LB flips one bit a move.
PAS draws a path of bits by the weights of the first state (Sun et al. 2022); "corrected", a bit may flip back. DMALA (Zhang et al. 2022) and DLMC (Sun et al. 2023) flip each bit by a separate coin. All are
accepted by the exact ratio. A warm-up of 1000 moves drives the length of paths, or the step size, to an acceptance of 0.574 and then freezes it. SARDONICS is ` + "`sardonics:k=auto`" + `, whose warm-up does the same; it differs from
PAS in that weights are renewed after each flip. LB on lattices and on both layers is ` + "`sardonics:k=1:gamma=1:walks=single`" + `. "Tempering" is parallel tempering of sweeps, or of block Gibbs, and "block Gibbs + IM" makes an intracluster move, ` + "`im:k=auto`" + `, after each
step of block Gibbs.

On both layers (v,h) of an RBM, and on lattices, costs of flips are exact: they are kept anyway. On p(v), the target of the papers, they are to first order, from the gradient of the free energy, whose exact differences would
take an exponential for each weight; the acceptance has the exact free energy. Weights are linear between the entries of a table, which the acceptance uses too, so that no balance is lost.
Each run starts from a state of the distribution and takes 0.3 s of processor time, 15 s in figure long, in turns of 50 ms with the others of its seed. Warm-ups do not count.

Observables of an RBM are the eight principal components of its visible units, those of a lattice its energy and the square of its magnetisation, or of its overlap with a state of a glass. A run is worth its number of
observations over 2τ of the slowest observable; by the error, the variance of the observables over the mean squared error of their means. The two differ where chains stay in part of the states, about whose means their τ is: if squared errors
are more than 3 times what τ says, the table marks a sampler as stuck, and a claim takes it for the fastest only if all are. Runs of fewer than 50 τ are "too short". A sampler with either mark wins no claim. Both marks
are set by means over runs. True means are not better known than the halves of the long runs agree. The fastest samplers of claims are those of the same runs.

Limits: runs are short, and references have 4000 states, in figure long ten times as far apart; one model of each size, trained by 3000 steps of persistent chains of 50 rows on the built-in digits; one glass; one core of a busy machine, so that times of a move are larger than on an idle one, for all samplers alike. The new samplers are plain Go; block Gibbs and SARDONICS
on an RBM use vector kernels for weights. Flips for an independent value do not depend on such things.
Of the family, Potts models, the any-scale sampler, cyclical steps and moves without the acceptance test are missing.`

// What the tables mean.
const (
	whyRBM = `Why: a step of block Gibbs redraws all units, without rejections, for the price of the rows of W whose units change. A path moves some tens of bits, and pays for the weights of all units in both states; on p(v) each is a pass
over W, which grows with the hidden layer. Many pixels hardly depend on the hidden units, and flips of them are always accepted. So an acceptance says little about the mode that the chain is in: with 16 and 25 hidden units corrected paths and DLMC come near 0.574 only at lengths of
hundreds of flips, or at a step so large that each move is a heat bath of all sites at once, and then stay in one mode. With all parameters doubled block Gibbs hardly leaves a mode; moves of few bits do no better than it, and tempering does.`
	whyLong = `Longer runs show that in 15 s block Gibbs alone leaves the part of the states where it starts, and comes back. Its τ is thousands of moves, a tenth of a second; the tens of moves in figure rbm, by runs of 0.3 s, are those within a part.
Of each other sampler, tempering and SARDONICS included, three of four runs stay in one part, with the τ of that part; from the fourth start they left it, and have a τ tens to hundreds of times as long, most of seconds. So a race by τ needs runs of minutes on this model. By the errors of means, for which the reference is good to the
difference of its halves, block Gibbs is ahead of the new samplers, but not by three standard errors.`
	whyLattice = `Why: weights, or coins, of all sites are computed again in each move, of which some tens of sites flip; Gibbs makes as many flips while it passes each site once. Away from the critical point sweeps need fewer flips for an independent value than any
new sampler, so that no implementation of these can win there by more than the cost of a flip. At it, clusters change the magnetisation, and flips of single sites do not, however they are drawn.`
)

// Arenas are made once for all jobs.
var (
	machines = []arena{machine(16, 1, 0), machine(16, 2, 0), machine(25, 1, 0), machine(200, 1, shortApart), machine(500, 1, shortApart)}
	lattices = []arena{
		lattice("50×50, β = 0.3", "β = 0.3", "50x50", 0.3, mcmc.Uniform(1), false, reference{mcmc.SwendsenWang{}, 4}),
		lattice("50×50, β_c = 0.4407", "critical", "50x50", critical, mcmc.Uniform(1), false, reference{mcmc.Wolff{Clusters: 1}, 10}),
		lattice("50×50, β = 0.6", "β = 0.6", "50x50", 0.6, mcmc.Uniform(1), false, reference{mcmc.Gibbs{}, 5}),
		lattice("9×9×9 glass, β = 0.8", "glass", "9x9x9", 0.8, mcmc.PlusMinus(1, rbm.NewKey(1)), true, reference{onLattice()[3].mover, 30}),
	}
)

// experiment returns all figures.
func experiment() claims.Experiment {
	return claims.Experiment{
		Name:  "informed",
		Title: "Informed proposals",
		Paper: "ours",
		About: about,
		Figures: []claims.Figure{
			contest{name: "rbm", seconds: shortSeconds, repeats: repeats, title: "Samplers of RBMs trained on digits", says: "do locally balanced proposals sample an RBM faster than block Gibbs?",
				arenas: machines, contestants: onRBM(), notes: whyRBM,
				pictures: []string{blockGibbs, tempering, sardonics, pasRoot, string(informed.Langevin), string(informed.DLMCRoot)}}.figure(),
			contest{name: "lattice", seconds: shortSeconds, repeats: repeats, title: "Samplers of Ising systems", says: "do locally balanced proposals sample a lattice faster than sweeps or clusters?",
				arenas: lattices, contestants: onLattice(), notes: whyLattice,
				pictures: []string{gibbs, clusters, sardonics, pasRoot, string(informed.Langevin), string(informed.DLMCRoot)}}.figure(),
			contest{name: "long", seconds: 15, repeats: 4, title: "Long runs on the largest RBM", says: "what do longer runs show where those of figure rbm stay in part of the states?",
				arenas: []arena{machine(500, 1, longApart)}, contestants: only(onRBM(), longNames), notes: whyLong, pictures: longNames}.figure(),
		},
	}
}
