package main

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"gorbm/negphase/tune"
	"gorbm/train/plots"
)

// rewardPlot shows the reward of each trial as a dot, and the posterior mean of
// the settings that it tried as a line, with a band of two standard deviations.
// Rewards are as the model counts them: those of long trials are shifted to those of
// short ones, and useless settings count as equally useless.
func rewardPlot(t *tuning) *plots.Plot {
	label := "log of effective samples per second"
	if t.options.Method == tune.Paper {
		label = "1 − area of the autocorrelation"
	}
	p := plots.New("trial", label)
	p.Grid()
	var dots, line, low, band plotter.XYs
	for i, trial := range t.result.Trials {
		x := float64(i + 1)
		mean, sd := t.result.Process.Predict(trial.At)
		dots = append(dots, plotter.XY{X: x, Y: trial.Modelled})
		line = append(line, plotter.XY{X: x, Y: mean})
		band = append(band, plotter.XY{X: x, Y: mean + 2*sd})
		low = append(low, plotter.XY{X: x, Y: mean - 2*sd})
	}
	for i := range low {
		band = append(band, low[len(low)-1-i])
	}
	p.Area(band, color.RGBA{200, 215, 235, 255})
	p.Legend.Add("posterior mean ± 2 standard deviations", p.Line(line, plots.Colors[0], vg.Points(1)))
	p.Legend.Add("reward of a trial, as the model counts it", p.Dots(dots, plots.Colors[1], vg.Points(1.8)))
	legendAbove(p)
	return p
}

// legendAbove puts the legend above all that the plot shows.
func legendAbove(p *plots.Plot) {
	p.Legend.Top, p.Legend.Padding = true, vg.Millimeter
	p.Y.Max += 0.25 * (p.Y.Max - p.Y.Min)
}

// policyPlot shows the kernels of the policy: a column of dots for each
// parameter, from the lower to the upper end of its range.
func policyPlot(t *tuning) *plots.Plot {
	p := plots.New("", "place in the range")
	p.Grid()
	var ticks []plot.Tick
	var dots, best plotter.XYs
	for d, r := range t.space.Ranges {
		ticks = append(ticks, plot.Tick{Value: float64(d), Label: fmt.Sprintf("%s\n%.3g – %.3g", r.Name, r.Low, r.High)})
		for i, u := range t.result.Points {
			// Spread over the column, so that equal values show.
			spread := 0.3 * (math.Mod(float64(i)*math.Phi, 1) - 0.5)
			dots = append(dots, plotter.XY{X: float64(d) + spread, Y: u[d]})
		}
		best = append(best, plotter.XY{X: float64(d), Y: t.result.Best[d]})
	}
	p.Legend.Add("a kernel of the policy", p.Dots(dots, plots.Colors[0], vg.Points(1.2)))
	p.Legend.Add("best by the model", p.Dots(best, plots.Colors[1], vg.Points(3)))
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Marker = plot.ConstantTicks([]plot.Tick{{Value: 0, Label: "0"}, {Value: 0.5, Label: "0.5"}, {Value: 1, Label: "1"}})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(ticks))-0.5, -0.05, 1.05
	legendAbove(p)
	return p
}
