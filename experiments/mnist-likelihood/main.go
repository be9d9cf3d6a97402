// Mnist-likelihood trains RBMs of 500 hidden units on MNIST without labels, by many persistent
// chains, and brackets their test log-likelihood.
//
//	go run ./experiments/mnist-likelihood
//
// Results are in README.md. See -h for the figures.
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/program"
)

func main() { cli.Main("mnist-likelihood", run) }

var run = program.Command(experiment)

const about = `How likely are the test rows of MNIST under an RBM of 500 hidden units that was trained without labels on one core?
Grey values become bits by a threshold (1 from ½ up), or by sampling (1 with the value as probability). The test rows are
sampled once, and all runs have the same sample. With ` + "`-redraw`" + ` the training rows are redrawn in each minibatch, so that a model
cannot memorise one draw. We do not have the sampled rows of Salakhutdinov & Murray, on which others trained too.

Each run trains by ` + "`rbmtrain`" + ` on one core and is evaluated by ` + "`rbmeval`" + `.`

// experiment returns all figures.
func experiment(p *program.Runs) claims.Experiment {
	return claims.Experiment{
		Name:    "mnist-likelihood",
		Title:   "The likelihood of MNIST under 500 hidden units",
		Paper:   "ours",
		About:   about,
		Figures: []claims.Figure{long(p)},
	}
}

// Flags that all runs share.
const (
	common      = "-data mnist -labels none -hidden 500 -init log-odds -schedule linear -snapshots 0 -workers 1"
	quickCommon = "-data fontdigits:60 -hidden 8 -batch 10 -steps 40 -eval-every 40"
)
