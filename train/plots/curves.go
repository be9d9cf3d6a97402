package plots

import (
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// A Panel of a picture of curves shows the columns of a table whose names
// begin with Stem.
type Panel struct {
	Stem, Label string
	// OfSteps is set if the columns count what happened in training steps, so
	// that the values at step 0 mean nothing and are left out.
	OfSteps bool
}

// legendRoom stretches the axis of steps, so that the legend lies beside the
// curves.
const legendRoom = 1.14

// Curves draws a table of numbers against its first column, the step: one plot
// for each panel that has columns, below each other. Columns whose names end in
// "_error" are left out. It writes nothing if there is nothing to draw.
func Curves(w io.Writer, panels []Panel, columns []string, rows [][]float64) error {
	var all [][]*Plot
	for _, panel := range panels {
		if p := panel.plot(columns, rows); p != nil {
			all = append(all, []*Plot{p})
		}
	}
	if len(all) == 0 {
		return nil
	}
	all[len(all)-1][0].X.Label.Text = "step"
	return Grid(w, all, 16*vg.Centimeter, 6*vg.Centimeter, 3*vg.Millimeter)
}

// mostPoints is the number of points of a curve that are drawn at most, some two
// for each pixel.
const mostPoints = 2000

// thinned returns every so many points, the last one among them, so that a curve
// has no more than mostPoints.
func thinned(xy plotter.XYs) plotter.XYs {
	every := (len(xy) + mostPoints - 1) / mostPoints
	var some plotter.XYs
	for i := (len(xy) - 1) % every; i < len(xy); i += every {
		some = append(some, xy[i])
	}
	return some
}

// plot returns the plot of a panel, or nil if it has no columns.
func (panel Panel) plot(columns []string, rows [][]float64) *Plot {
	p := New("", panel.Label)
	p.X.Tick.Marker, p.Y.Tick.Marker = stepTicks, Ticks
	p.Grid()
	p.Legend.Top = true
	n := 0
	for c, name := range columns {
		rest, ok := strings.CutPrefix(name, panel.Stem)
		if !ok || strings.HasSuffix(name, "_error") {
			continue
		}
		xy := make(plotter.XYs, 0, len(rows))
		for _, row := range rows {
			if !(panel.OfSteps && row[0] == 0) && !math.IsNaN(row[c]) && !math.IsInf(row[c], 0) {
				xy = append(xy, plotter.XY{X: row[0], Y: row[c]})
			}
		}
		if len(xy) == 0 {
			continue
		}
		xy = thinned(xy)
		line := p.Line(xy, Colors[n%len(Colors)], vg.Points(1.2))
		if rest != "" {
			p.Legend.Add(strings.ReplaceAll(rest, "_", "–"), line)
		}
		n++
	}
	if n == 0 {
		return nil
	}
	if last := rows[len(rows)-1][0]; last > 0 {
		p.X.Min, p.X.Max = 0, legendRoom*last
	}
	return p
}
