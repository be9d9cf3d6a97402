// Metropolis makes the figures of "On the Convergence of the Metropolis Algorithm
// with Fixed-Order Updates for Multivariate Binary Probability Distributions"
// (Brügge, Fischer & Igel 2020) again.
//
//	go run ./experiments/metropolis -figure 2
//
// Results are in README.md. See -h for the figures.
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
)

func main() { cli.Main("metropolis", run) }

const about = `The Metropolis algorithm that updates spins in a fixed order may be reducible. The modified operator accepts
a flip that costs nothing with probability ½ and always converges. The spectral gap is 1 − |λ₂| of the transition
matrix of a sweep: 1 is convergence in one sweep, 0 is no convergence. It is computed from the whole matrix
(` + "`mcmc.SweepOperator`, `diag.SpectralGap`" + `), so nothing here is sampled unless a seed is named. Energies are
E = −J Σ s_i s_j, at β = 1.`

var run = experiment.Command(nil)

var experiment = claims.Experiment{
	Name:    "metropolis",
	Title:   "The Metropolis algorithm in a fixed order",
	Paper:   "Brügge, Fischer & Igel 2020",
	About:   about,
	Figures: []claims.Figure{figure2, figureA3, figureA4, figureB5},
}
