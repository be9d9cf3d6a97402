// Metropolis reproduces the figures of "On the Convergence of the Metropolis Algorithm
// with Fixed-Order Updates for Multivariate Binary Probability Distributions"
// (Brügge, Fischer & Igel 2020).
//
//	go run ./experiments/metropolis -figure 2
//
// Results are in README.md.
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
)

func main() { cli.Main("metropolis", run) }

var run = experiment.Command(nil)

var experiment = figures.Experiment{
	Name: "metropolis", Title: "The Metropolis algorithm in a fixed order",
	Figures: []figures.Figure{figure2, figureA3, figureA4, figureB5},
}
