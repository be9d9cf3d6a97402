// Informed compares locally balanced proposals with the samplers of rbmtrain and isingmc.
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

const about = `A locally balanced proposal chooses single flips with weights g(t), where t is the ratio of the probabilities of the two states, and
g(t) = t·g(1/t) (Zanella 2020). LB flips one bit per move. PAS draws a path of bits with the weights of the first state (Sun et al. 2022); in the corrected
version a bit may flip back. DMALA (Zhang et al. 2022) and DLMC (Sun et al. 2023) flip each bit independently with its own probability. All use the
exact Metropolis–Hastings acceptance. A warm-up of 1000 moves tunes the length of paths, or the step size, to an acceptance of 0.574 and then freezes it. SARDONICS is
` + "`sardonics:k=auto`" + `, which has the same warm-up; unlike PAS, it updates the weights after each flip. LB on lattices and on both layers is
` + "`sardonics:k=1:gamma=1:walks=single`" + `. "Tempering" is parallel tempering of sweeps or of block Gibbs. "block Gibbs + IM" makes an intracluster move,
` + "`im:k=auto`" + `, after each step of block Gibbs.

On both layers (v,h) of an RBM, and on lattices, the energy differences of flips are exact, because the samplers keep them up to date. On p(v), for which the
papers' samplers were made, the energy differences are to first order, from the gradient of the free energy; exact ones would need an exponential for each
weight. The acceptance uses the exact free energy. Weights are interpolated linearly in a table. The acceptance uses the same weights, so detailed balance is
exact.

Each run starts from a state of the distribution and takes 0.3 s of processor time, or 15 s in figure long. The samplers of a seed run in turns of 50 ms.
Warm-ups do not count.

The observables of an RBM are the first eight principal components of its visible units. Those of a lattice are its energy and the square of its
magnetisation, or on a glass the square of its overlap with a fixed state. The number of independent values of a run is computed in two ways. By τ, it is
the number of observations divided by 2τ of the slowest observable. By the error, it is the variance of the observables divided by the mean squared error of
their means. The two differ if chains stay in part of the states, because τ then describes only that part. If the squared error is more than 3
times that which τ predicts, the table marks the sampler as "stuck". A stuck sampler is the fastest in a claim only if all are stuck. Runs of fewer than 50 τ are "too
short". A sampler with either mark cannot win a claim. Both marks use means over runs. The true means come from a reference, a set of states from exact
draws or long runs. The difference between the two halves of the reference shows how well the true means are known. The fastest samplers are chosen from the same runs, which favours them a little.

Limits: Runs are short. References have 4000 states, which are ten times as far apart in figure long. There is one model of each size, trained by 3000 steps of
persistent chains on batches of 50 rows of the built-in digits, and one glass. All runs were on one core of a busy machine, so that moves of all samplers take longer than on an idle
one. The new samplers are plain Go, and block Gibbs and SARDONICS on an RBM use vector kernels for weights; the number of flips per independent value does not depend on
this. Potts models, the any-scale sampler, cyclical steps and moves without an acceptance test are missing.`

// Explanations below the tables.
const (
	whyRBM = `Why: a step of block Gibbs redraws all units without rejections, and costs only the rows of W of the units that change. A path flips some tens of bits, and computes
the weights of all units in both states. On p(v), each computation is a pass over W, which grows with the hidden layer. Many pixels hardly depend on the hidden units, so that their flips are almost
always accepted. Therefore the acceptance says little about the modes. With 16 and 25 hidden units, corrected paths and DLMC get near 0.574 only with hundreds of flips per move, or with a step so
large that each move is a heat bath of all sites at once. Then they stay in one mode. With all parameters doubled, block Gibbs hardly leaves a mode; moves of few bits are no better, but tempering is.`
	whyLong = `In runs of 15 s only block Gibbs leaves the part of the states in which it starts, and comes back. Its τ is thousands of moves, or a tenth of a second. The tens of moves in figure rbm, from
runs of 0.3 s, are τ within a part. For each other sampler, including tempering and SARDONICS, three of four runs stay in one part, and have the τ of that part. The fourth run leaves it, and its τ is tens to
hundreds of times as long, mostly seconds. So a comparison by τ needs runs of minutes on this model. By the errors of means, block Gibbs is ahead of the new samplers, but not by three standard
errors; the means of the reference are known only to within the difference between its halves.`
	whyLattice = `Why: each move computes the weights, or probabilities, of all sites and flips some tens of them. Gibbs makes as many flips in one pass over the sites. Away from the critical point,
sweeps need fewer flips per independent value than any new sampler, so that no implementation of these can win there by more than the cost of a flip. At the critical point, clusters
change the magnetisation, and flips of single sites do not, however they are drawn.`
)

// Arenas build their systems once for all jobs.
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
			contest{name: "long", seconds: 15, repeats: 4, title: "Long runs on the largest RBM", says: "in figure rbm, chains on 784×500 stay in part of the states. What do longer runs show?",
				arenas: []arena{machine(500, 1, longApart)}, contestants: only(onRBM(), longNames), notes: whyLong, pictures: longNames}.figure(),
		},
	}
}
