// Tour makes the pictures of rbmtrain's runs that the main README shows.
//
//	go run ./experiments/tour
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/program"
)

func main() { cli.Main("tour", run) }

var run = program.Pictures("tour", "tour makes the pictures of rbmtrain's runs in the main README: samples and filters\nof the default run, half a minute, and the ladder of a long one, some minutes.\nFigures:", []program.Figure{
	{
		Name: "samples", Command: "rbmtrain", Out: "run", Pictures: []string{"samples.png", "filters.png"},
		Flags: []string{"-negphase", "ins", "-out", "OUT"},
		Quick: []string{"-data", "fontdigits:100", "-steps", "40", "-eval-every", "20", "-hidden", "20"},
	},
	{
		Name: "ladder", Command: "rbmtrain", Out: "ladder", Pictures: []string{"ladder.png"},
		Flags: []string{"-preset", "ins-paper", "-labels", "softmax", "-negphase", "pins", "-temperatures", "auto", "-out", "OUT"},
		Quick: []string{"-data", "fontdigits:100", "-steps", "100", "-eval-every", "50", "-hidden", "20"},
	},
})
