// Mixing tests the warnings of rbmtrain about a falling log-likelihood and about overfitting, on
// small runs whose log-likelihood is known.
//
//	go run ./experiments/mixing
//
// Results are in README.md. See -h for the figures.
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
)

func main() { cli.Main("mixing", experiment.Command(nil)) }

var experiment = claims.Experiment{
	Name:  "mixing",
	Title: "Training where chains do not mix",
	Paper: "ours",
	About: `Persistent chains that lag behind the model, or a rate that is too high, lower the log-likelihood of a run. A model that
memorises its rows overfits. ` + "`rbmtrain`" + ` warns of both. We made 104 small runs whose exact log-likelihood is known: 13 settings of
the negative phase, the rate and its schedule on eight data sets. Each run is monitored once with the metric log_likelihood and once
without it. Its seed is not one of those on which the thresholds of the warnings were chosen.`,
	Figures: []claims.Figure{battery()},
}
