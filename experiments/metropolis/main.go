// Metropolis reproduces the figures of "On the Convergence of the Metropolis Algorithm
// with Fixed-Order Updates for Multivariate Binary Probability Distributions"
// (Brügge, Fischer & Igel 2020).
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

const about = `If the Metropolis algorithm updates spins in a fixed order, its chain may be reducible. The modified operator accepts
with probability ½ a flip that leaves the energy unchanged, and always converges. The spectral gap is 1 − |λ₂|, where λ₂ is the
second largest eigenvalue, by modulus, of the transition matrix of a sweep. A gap of 1 means convergence in one sweep, and a gap
of 0 no convergence. Gaps are computed from the whole matrix (` + "`mcmc.SweepOperator`, `diag.SpectralGap`" + `); only figures with
seeds are sampled. Energies are E = −J Σ s_i s_j, at β = 1.`

var run = experiment.Command(nil)

var experiment = claims.Experiment{
	Name:    "metropolis",
	Title:   "The Metropolis algorithm in a fixed order",
	Paper:   "Brügge, Fischer & Igel 2020",
	About:   about,
	Figures: []claims.Figure{figure2, figureA3, figureA4, figureB5},
}
