// Infinite-swapping reproduces the figures of "Infinite Swapping Algorithm for
// Training Restricted Boltzmann Machines" (Hult, Nyquist & Ringqvist 2020).
//
//	go run ./experiments/infinite-swapping -figure 2
//
// Results are in README.md. Figure 6 needs MNIST, which is
// found or downloaded as by rbmtrain. The variable GORBM_DATA names its folder.
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
)

func main() { cli.Main("infinite-swapping", experiment.Command(nil)) }

var experiment = figures.Experiment{
	Name: "infinite-swapping", Title: "Infinite swapping for restricted Boltzmann machines",
	Figures: []figures.Figure{
		distanceFigure("2", smallToy, 60), trainingFigure("3", smallToy),
		distanceFigure("4", desjardinsToy, paperRepeats), trainingFigure("5", desjardinsToy),
		figure6,
	},
}
