// Ising makes the picture of isingmc's samplers side by side.
//
//	go run ./experiments/ising
package main

import (
	"gorbm/cmd/cli"
	"gorbm/experiments/internal/program"
)

func main() { cli.Main("ising", run) }

var run = program.Pictures("ising", "ising makes the picture of isingmc's samplers side by side: 60×60 spins near the\ncritical point, three minutes. Figures:", []program.Figure{{
	Name: "race", Command: "isingmc", Out: "race.png", Pictures: []string{"race.png"},
	Flags: []string{"-sampler", "sw,gibbs,sardonics:k=89-90:gamma=1.02", "-seconds", "60", "-out", "OUT"},
	Quick: []string{"-seconds", "0.2", "-lattice", "12x12"},
}})
