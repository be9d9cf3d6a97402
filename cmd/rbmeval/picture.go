package main

import (
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gorbm/negphase/logz"
	"gorbm/train"
)

// bandOpacity is that of the band between AIS and its reverse.
const bandOpacity = 0x40

// draw draws the log-likelihood against the step as PNG, of all snapshots above
// and of the later half, where differences are small, below: points with two
// standard errors of log Z, and the band between AIS, which is too high, and
// reverse AIS.
func (h *history) draw(w io.Writer) error {
	var plots [][]*plot.Plot
	for _, from := range []int{0, len(h.snapshots) / 2} {
		p := plot.New()
		p.Y.Label.Text = "log-likelihood / nats"
		if h.parts[0].v.IsGrey() {
			p.Y.Label.Text = "score −F − log Z / nats"
		}
		p.Y.Tick.Marker = plot.TickerFunc(plainTicks)
		p.Add(plotter.NewGrid())
		for part := range h.parts {
			if err := h.addPart(p, h.snapshots[from:], part, from == 0); err != nil {
				return err
			}
		}
		logarithmic(&p.X)
		p.Title.Text = "all snapshots"
		if from > 0 {
			p.Title.Text = "the later half"
		}
		plots = append(plots, []*plot.Plot{p})
		if len(h.snapshots) < 4 { // one panel shows them all
			break
		}
	}
	plots[len(plots)-1][0].X.Label.Text = "step"
	const width, height = 16 * vg.Centimeter, 8 * vg.Centimeter
	return train.DrawPlots(w, plots, width, height, 3*vg.Millimeter)
}

// plainTicks labels the default ticks without needless digits.
func plainTicks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i, t := range ticks {
		if t.Label != "" {
			ticks[i].Label = strconv.FormatFloat(t.Value, 'g', 6, 64)
		}
	}
	return ticks
}

// bars are points with errors.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

// addPart adds the curve of the training or the test rows, and what it is to
// the legend if that is asked for.
func (h *history) addPart(p *plot.Plot, snapshots []snapshot, part int, legend bool) error {
	name := []string{"training rows", "test rows"}[part]
	ink := train.CurveColors[part]
	var points bars
	var low, high plotter.XYs
	errors := false
	for i := range snapshots {
		s := &snapshots[i]
		y := s.likelihood(part, s.logZ)
		if s.by == "" || s.step < 1 { // step 0 has no place on a logarithmic axis
			continue
		}
		x := float64(s.step)
		points.XYs = append(points.XYs, plotter.XY{X: x, Y: *y})
		e := 0.0
		if s.by != byExact && !math.IsInf(s.stdErr, 0) {
			e, errors = 2*s.stdErr, true
		}
		points.YErrors = append(points.YErrors, struct{ Low, High float64 }{e, e})
		ais, _ := s.By(logz.ByAIS)
		reverse, _ := s.By(logz.ByReverse)
		if !math.IsNaN(ais) && !math.IsNaN(reverse) {
			high = append(high, plotter.XY{X: x, Y: *s.likelihood(part, ais)})
			low = append(low, plotter.XY{X: x, Y: *s.likelihood(part, reverse)})
		}
	}
	if len(points.XYs) == 0 {
		return nil
	}
	if len(low) > 1 {
		for i := range high {
			low = append(low, high[len(high)-1-i])
		}
		band, err := plotter.NewPolygon(low)
		if err != nil {
			return err
		}
		band.Color = color.NRGBA{ink.R, ink.G, ink.B, bandOpacity}
		band.LineStyle.Width = 0
		p.Add(band)
		if legend {
			p.Legend.Add(name+", between AIS and its reverse", band)
		}
	}
	line, dots, err := plotter.NewLinePoints(points.XYs)
	if err != nil {
		return err
	}
	line.Color, line.Width = ink, vg.Points(1.2)
	dots.Color, dots.Radius, dots.Shape = ink, vg.Points(1.5), draw.CircleGlyph{}
	p.Add(line, dots)
	if errors {
		whiskers, err := plotter.NewYErrorBars(points)
		if err != nil {
			return err
		}
		whiskers.Color, whiskers.CapWidth = ink, vg.Points(3)
		p.Add(whiskers)
		name += " ± 2 standard errors"
	}
	if legend {
		p.Legend.Add(name, line, dots)
	}
	return nil
}

// logarithmic makes an axis logarithmic, with room where there is one point.
func logarithmic(axis *plot.Axis) {
	if !(axis.Max >= axis.Min) { // nothing to show
		axis.Min, axis.Max = 1, 10
	}
	if axis.Min == axis.Max {
		axis.Min, axis.Max = axis.Min/2, axis.Max*2
	}
	axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
}
