package main

import (
	"errors"
	"io"

	"gonum.org/v1/plot/vg"

	"gorbm/train/plots"
)

// draw shows errors and log-likelihoods against seconds, as far as they are
// known: means over seeds, with bars of a standard deviation.
func draw(w io.Writer, rows []row) error {
	var all []plots.Chart
	for _, panel := range []struct {
		title, unit string
		of          func(r row) float64
	}{
		{"Test error", "%", func(r row) float64 { return 100 * r.Error }},
		{"Log-likelihood", "nats", logLikelihoodOf},
	} {
		c := plots.Chart{Title: panel.title + ": means over seeds, ± a standard deviation", X: "computing time / s of one core", Y: panel.unit, LogX: true}
		for i, m := range methods {
			l := plots.Line{Name: m.name, Color: i + 1, Dots: true, Bars: true}
			for _, steps := range lengths(rows) {
				some := of(rows, m.name, steps)
				y := meanOf(some, panel.of)
				if y.Mean == nil {
					continue
				}
				spread := 0.0
				if y.SD != nil {
					spread = *y.SD
				}
				l.X, l.Y = append(l.X, *meanOf(some, func(r row) float64 { return r.Seconds }).Mean), append(l.Y, *y.Mean)
				l.Low, l.High = append(l.Low, *y.Mean-spread), append(l.High, *y.Mean+spread)
			}
			c.Lines = append(c.Lines, l)
		}
		all = append(all, c)
	}
	page := plots.Charts(all, 2, 12*vg.Centimeter, 9*vg.Centimeter)
	if page == nil {
		return errors.New("there is nothing to draw: no run has an error or a log-likelihood")
	}
	return page.Write(w, plots.PNG)
}
