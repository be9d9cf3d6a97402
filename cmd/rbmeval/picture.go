package main

import (
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"gorbm/negphase/logz"
	"gorbm/train/plots"
)

// draw draws the log-likelihood against the step as PNG: of all snapshots
// above, and below of the later half, where differences are small. Points have
// bars of two standard errors of log Z. A band lies between AIS, which makes the
// likelihood too high, and reverse AIS, which makes it too low.
func (h *history) draw(w io.Writer) error {
	label := h.parts[0].likelihoodName() + " / nats"
	panel := func(title string, snapshots []snapshot) []*plots.Plot {
		p := plots.New("", label)
		p.Title.Text = title
		p.Y.Tick.Marker = plots.Ticks
		p.Grid()
		for part := range h.parts {
			addPart(p, snapshots, part)
		}
		p.Log(&p.X)
		return []*plots.Plot{p}
	}
	rows := [][]*plots.Plot{panel("all snapshots", h.snapshots)}
	if len(h.snapshots) >= 4 { // else one panel shows them all
		rows = append(rows, panel("the later half", h.snapshots[len(h.snapshots)/2:]))
		rows[1][0].Legend = plot.NewLegend() // that of the first panel will do
	}
	rows[len(rows)-1][0].X.Label.Text = "step"
	return plots.Grid(w, rows, 16*vg.Centimeter, 8*vg.Centimeter, 3*vg.Millimeter)
}

// addPart adds the curve of the training rows, part 0, or of the test rows, and
// its lines of the legend.
func addPart(p *plots.Plot, snapshots []snapshot, part int) {
	name := []string{"training rows", "test rows"}[part]
	ink := plots.Colors[part]
	var points, low, high plotter.XYs
	var errors []float64
	estimated := false
	for i := range snapshots {
		s := &snapshots[i]
		if s.by == "" || s.Step < 1 { // step 0 has no place on a logarithmic axis
			continue
		}
		at := func(logZ float64) plotter.XY { return plotter.XY{X: float64(s.Step), Y: -s.free[part] - logZ} }
		e := 0.0
		if s.by != byExact && !math.IsInf(s.stdErr, 0) {
			e, estimated = 2*s.stdErr, true
		}
		points, errors = append(points, at(s.logZ)), append(errors, e)
		ais, _ := s.By(logz.ByAIS)
		reverse, _ := s.By(logz.ByReverse)
		if !math.IsNaN(ais) && !math.IsNaN(reverse) {
			high, low = append(high, at(ais)), append(low, at(reverse))
		}
	}
	if len(points) == 0 {
		return
	}
	if len(low) > 1 {
		slices.Reverse(high)
		p.Legend.Add(name+", between AIS and its reverse", p.Area(append(low, high...), ink))
	}
	line, dots := p.Line(points, ink, vg.Points(1.2)), p.Dots(points, ink, vg.Points(1.5))
	if estimated {
		bars := p.ErrorBars(points, errors)
		bars.Color, bars.CapWidth = ink, vg.Points(3)
		name += " ± 2 standard errors"
	}
	p.Legend.Add(name, line, dots)
}
