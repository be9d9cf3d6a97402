// Objectives trains classification RBMs by the objectives of "Learning algorithms
// for the classification restricted Boltzmann machine" (Larochelle, Mandel, Pascanu
// & Bengio 2012) and compares their test errors on MNIST with the paper's.
//
//	go run ./experiments/objectives
//
// Results are in README.md. See -h for the figures.
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/program"
)

func main() { cli.Main("objectives", run) }

var run = program.Command(experiment)

const about = `A classification RBM is trained by log p(x,y) (joint), by log p(y|x) (discriminative), or by
log p(y|x) + α log p(x,y) (hybrid). The sparse hybrid also subtracts a constant from every hidden bias after each step.
Sizes, α and data are the paper's: MNIST with grey inputs, and 10000 of the 60000 training rows held out. We keep the model
with the smallest error on these rows. For the discriminative row, the rate and the averaging were chosen among twelve settings by
this error, with seed 1. For the other rows one setting was tried. ` + "`rbmtrain`" + ` trains each run on one core, and
` + "`rbmeval -classify`" + ` evaluates it.`

// experiment returns all figures.
func experiment(p *program.Runs) claims.Experiment {
	return claims.Experiment{
		Name:    "objectives",
		Title:   "Joint, discriminative and hybrid training of classifiers",
		Paper:   "Larochelle, Mandel, Pascanu & Bengio 2012",
		About:   about,
		Figures: []claims.Figure{mnist(p)},
	}
}
