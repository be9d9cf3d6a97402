package main

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"gorbm/train/plots"
)

// rewardChart returns a chart of the reward of each trial as a dot, and of the Gaussian process's
// posterior mean at its settings as a line, with a band of two standard deviations.
func rewardChart(t *tuning) plots.Chart {
	mean := plots.Line{Name: "what the model expects, ± 2 standard deviations", Color: 4}
	dots := plots.Line{Name: "reward of a trial", Apart: true, Color: 5}
	for i, trial := range t.result.Trials {
		x := float64(i + 1)
		m, sd := t.result.Process.Predict(trial.At)
		dots.X, dots.Y = append(dots.X, x), append(dots.Y, trial.Reward)
		mean.X, mean.Y, mean.Err = append(mean.X, x), append(mean.Y, m), append(mean.Err, sd)
	}
	return plots.Chart{Title: "Rewards of the trials (dots), and what the model expects, ± 2 standard deviations", X: "trial", Y: "1 − area of the autocorrelation", Lines: []plots.Line{mean, dots}}
}

// policyPlot returns a plot of the kernels of the policy, with a column of dots for each setting. On the
// vertical axis, 0 is the lower end of the setting's range and 1 the upper end.
func policyPlot(t *tuning) *plots.Plot {
	p := plots.New("", "place in the range")
	p.Title.Text = "Settings of the policy: its kernels (small dots), and the best by the model (large dots)"
	p.Grid()
	var ticks []plot.Tick
	var dots, best plotter.XYs
	for d, r := range t.space.Ranges {
		ticks = append(ticks, plot.Tick{Value: float64(d), Label: fmt.Sprintf("%s\n%.3g – %.3g", r.Name, r.Low, r.High)})
		for i, u := range t.result.Points {
			// Shift dots sideways, so that equal values are visible.
			spread := 0.3 * (math.Mod(float64(i)*math.Phi, 1) - 0.5)
			dots = append(dots, plotter.XY{X: float64(d) + spread, Y: u[d]})
		}
		best = append(best, plotter.XY{X: float64(d), Y: t.result.Best[d]})
	}
	p.Dots(dots, plots.Colors[0], vg.Points(1.2))
	p.Dots(best, plots.Colors[3], vg.Points(3))
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Marker = plot.ConstantTicks([]plot.Tick{{Value: 0, Label: "0"}, {Value: 0.5, Label: "0.5"}, {Value: 1, Label: "1"}})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(ticks))-0.5, -0.05, 1.05
	return p
}
