package claims

import (
	"errors"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gorbm/train/plots"
)

// A Panel is a plot of a figure: means over repetitions, with a band of one
// standard deviation where there are several.
type Panel struct {
	Name       string // of the points
	Title      string
	X, Y       string // labels of the axes; on a logarithmic axis short, as room is made for them off the middle
	LogX, LogY bool
	// Geometric shows geometric means, with bars of one standard deviation of the
	// logarithms; it needs LogY.
	Geometric bool
	Dots      bool // at each point
	// To is the largest x that is shown; 0: all.
	To float64
	// Low and High bound the axis of y, if High is above Low.
	Low, High float64
	// Words, if there are any, stand at x = 0, 1, … in place of numbers. The curves
	// are then dots beside each other, with bars in place of bands.
	Words []string
	// Apart draws points at x = 0 as crosses, apart from the curves.
	Apart bool
}

// A Part is a panel with the table of its points.
type Part struct {
	Table *Table
	Panel Panel
}

const (
	panelWidth  = 12 * vg.Centimeter
	panelHeight = 8 * vg.Centimeter
)

// Curves draws panels, so many in a row, with the curves of these names, in the
// same colours everywhere.
func Curves(w io.Writer, t *Table, across int, panels []Panel, curves []string) error {
	var parts []Part
	for _, p := range panels {
		parts = append(parts, Part{t, p})
	}
	return CurvesOf(w, across, parts, curves)
}

// CurvesOf is Curves for panels of several tables.
func CurvesOf(w io.Writer, across int, parts []Part, curves []string) error {
	var legend []plots.LegendEntry
	var rows [][]*plots.Plot
	for i, part := range parts {
		p, entries := part.Panel.plot(part.Table, curves)
		if i%across == 0 {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], p)
		for _, e := range entries {
			if !named(legend, e.Name) {
				legend = append(legend, e)
			}
		}
	}
	if len(legend) == 0 {
		return errors.New("there is nothing to draw")
	}
	return plots.Grid(rows, panelWidth, panelHeight, legend...).Write(w, plots.PNG)
}

func named(legend []plots.LegendEntry, name string) bool {
	for _, e := range legend {
		if e.Name == name {
			return true
		}
	}
	return false
}

// plot returns the plot of a panel and the lines that it has.
func (panel Panel) plot(t *Table, curves []string) (*plots.Plot, []plots.LegendEntry) {
	p := plots.New(panel.X, panel.Y)
	p.Title.Text = panel.Title
	p.Grid()
	var legend []plots.LegendEntry
	for i, name := range curves {
		xy, band := panel.curve(t, name)
		if len(xy) == 0 {
			continue
		}
		ink := plots.Colors[i%len(plots.Colors)]
		if panel.Apart && xy[0].X == 0 {
			cross := p.Dots(xy[:1], ink, vg.Points(4))
			cross.Shape = draw.CrossGlyph{}
			xy = xy[1:]
		}
		if panel.Words != nil {
			line := panel.marks(p, xy, band, ink, float64(i)-float64(len(curves)-1)/2)
			legend = append(legend, plots.LegendEntry{Name: name, Mark: line})
			continue
		}
		if band != nil {
			p.Area(band, ink)
		}
		line := p.Line(xy, ink, vg.Points(1.4))
		if dash := i / len(plots.Colors); dash > 0 {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(2)}
		}
		if panel.Dots {
			p.Dots(xy, ink, vg.Points(2))
		}
		legend = append(legend, plots.LegendEntry{Name: name, Mark: line})
	}
	if len(legend) == 0 {
		p.HideAxes()
		return p, nil
	}
	if panel.High > panel.Low {
		p.Y.Min, p.Y.Max = panel.Low, panel.High
	}
	if panel.Words != nil {
		var ticks []plot.Tick
		for x, word := range panel.Words {
			ticks = append(ticks, plot.Tick{Value: float64(x), Label: word})
		}
		p.X.Tick.Marker = plot.ConstantTicks(ticks)
		p.X.Min, p.X.Max = -0.4, float64(len(panel.Words))-0.6
	}
	if panel.LogX {
		p.Log(&p.X)
	}
	if panel.LogY {
		p.Log(&p.Y)
	}
	return p, legend
}

// marks draws a curve as dots with bars, so many places to the right of its words,
// and returns a line for the legend.
func (panel Panel) marks(p *plots.Plot, xy, band plotter.XYs, ink color.RGBA, place float64) *plotter.Line {
	const apart = 0.09 // of two places
	sd := make([]float64, len(xy))
	for k := range xy {
		xy[k].X += apart * place
		if band != nil {
			sd[k] = band[k].Y - xy[k].Y
		}
	}
	if band != nil && !panel.LogY {
		p.ErrorBars(xy, sd).LineStyle.Color = ink
	} else if band != nil {
		for k, at := range xy { // bars that are alike upward and downward on the axis
			low := band[len(band)-1-k].Y
			p.Line(plotter.XYs{{X: at.X, Y: low}, {X: at.X, Y: at.Y + sd[k]}}, ink, vg.Points(0.8))
		}
	}
	p.Dots(xy, ink, vg.Points(2.5))
	return p.Line(xy[:1], ink, vg.Points(1.4))
}

// curve returns the means of a curve and the outline of its band, nil if it has
// no width. Where an axis is logarithmic, what it cannot show is left out.
func (panel Panel) curve(t *Table, name string) (xy, band plotter.XYs) {
	var upper, lower plotter.XYs
	wide := false
	byX := map[float64]Repeats{}
	for _, p := range t.Curve(panel.Name, name) {
		if byX[p.X] == nil {
			byX[p.X] = Repeats{}
		}
		byX[p.X][p.Repeat] = p.Y
		if panel.Geometric {
			byX[p.X][p.Repeat] = math.Log(p.Y)
		}
	}
	for _, x := range t.Xs(panel.Name, name) {
		mean, sd := byX[x].Average()
		if panel.Geometric {
			mean, sd = math.Exp(mean), math.Exp(mean)*math.Expm1(sd)
		}
		if panel.To > 0 && x > panel.To || panel.LogX && x <= 0 || panel.LogY && mean <= 0 || math.IsNaN(mean) || math.IsInf(mean, 0) {
			continue
		}
		wide = wide || sd > 0
		low := mean - sd
		if panel.LogY {
			// The band has the same shape upward and downward on the axis, and stays
			// above 0.
			low = mean * mean / (mean + sd)
		}
		xy = append(xy, plotter.XY{X: x, Y: mean})
		upper = append(upper, plotter.XY{X: x, Y: mean + sd})
		lower = append(lower, plotter.XY{X: x, Y: low})
	}
	if !wide {
		return xy, nil
	}
	band = upper
	for i := range lower {
		band = append(band, lower[len(lower)-1-i])
	}
	return xy, band
}
