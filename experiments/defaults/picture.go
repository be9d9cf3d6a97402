package main

import (
	"errors"
	"io"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"gorbm/train/plots"
)

// draw shows errors and log-likelihoods against seconds, as far as they are
// known: means over seeds, with their standard deviations.
func draw(w io.Writer, rows []row) error {
	var all []*plots.Plot
	var legend []plots.LegendEntry
	for _, panel := range []struct {
		label string
		of    func(r row) float64
	}{
		{"test error / %", func(r row) float64 { return 100 * r.Error }},
		{"log-likelihood / nats", logLikelihoodOf},
	} {
		if meanOf(rows, panel.of).N == 0 {
			continue
		}
		p := plots.New("seconds of one core", panel.label)
		p.Y.Tick.Marker = plots.Ticks
		p.Grid()
		legend = nil
		for i, m := range methods {
			var xy plotter.XYs
			var sd []float64
			for _, steps := range lengths(rows) {
				some := of(rows, m.name, steps)
				y := meanOf(some, panel.of)
				if y.Mean == nil {
					continue
				}
				xy = append(xy, plotter.XY{X: *meanOf(some, func(r row) float64 { return r.Seconds }).Mean, Y: *y.Mean})
				spread := 0.0
				if y.SD != nil {
					spread = *y.SD
				}
				sd = append(sd, spread)
			}
			if len(xy) == 0 {
				continue
			}
			line := p.Line(xy, plots.Colors[i], vg.Points(1.5))
			p.Dots(xy, plots.Colors[i], vg.Points(2.5))
			p.ErrorBars(xy, sd).LineStyle.Color = plots.Colors[i]
			legend = append(legend, plots.LegendEntry{Name: m.name, Line: line})
		}
		p.Log(&p.X)
		all = append(all, p)
	}
	if len(all) == 0 {
		return errors.New("there is nothing to draw: no run has an error or a log-likelihood")
	}
	const width, height = 11 * vg.Centimeter, 8 * vg.Centimeter
	return plots.Grid(w, [][]*plots.Plot{all}, width, height, 0, legend...)
}
