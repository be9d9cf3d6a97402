// Infinite-swapping reproduces the figures of "Infinite Swapping Algorithm for
// Training Restricted Boltzmann Machines" (Hult, Nyquist & Ringqvist 2020).
//
//	go run ./experiments/infinite-swapping -figure 2
//
// Results are in README.md. See -h for the figures. Figure 6 needs MNIST, which is
// found or downloaded as by rbmtrain. The variable GORBM_DATA names its folder.
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
)

func main() { cli.Main("infinite-swapping", experiment.Command(nil)) }

var experiment = claims.Experiment{
	Name:  "infinite-swapping",
	Title: "Infinite swapping for restricted Boltzmann machines",
	Paper: "Hult, Nyquist & Ringqvist 2020",
	About: `Four ways to train an RBM: by the exact gradient (exact SGD), by persistent chains (PCD-1), by parallel tempering
(PT) and by infinite swapping (INS). The settings are the paper's (sections 4.2 and 4.4): rate 0.1, batches of 10,
10 chains or groups with a uniform start, temperatures 1, 2, 3, 4 and 5, one Gibbs step and one attempt to swap per
training step, weights and biases from N(0, 0.01²), labels that are independent binary units, 10000 steps. The toy data
(μ,δ,ν,π) have μ modes, δ copies of each bit and ν rows of each mode; bits are flipped with probability π. In a
repetition all algorithms have the same seed, so that differences are paired. Bands are one standard deviation over
repetitions. The log-likelihood is exact, in nats per row. The prediction accuracy is the mean of log p(class|inputs)
over rows; the paper has the sum.`,
	Figures: []claims.Figure{
		distanceFigure("2", smallToy, 60), trainingFigure("3", smallToy),
		distanceFigure("4", desjardinsToy, paperRepeats), trainingFigure("5", desjardinsToy),
		figure6,
	},
}
