// Mixing tests the warnings of rbmtrain about a falling log-likelihood and about overfitting, on
// small runs whose log-likelihood is known.
//
//	go run ./experiments/mixing
//
// Results are in README.md.
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
)

func main() { cli.Main("mixing", experiment.Command(nil)) }

var experiment = figures.Experiment{Name: "mixing", Title: "Training where chains do not mix", Ours: true, Figures: []figures.Figure{battery}}
