// Package plots draws the pictures of training and of the commands, as PNG, SVG or PDF: charts of curves
// with their errors, ladders of temperatures, and sheets of small pictures. All share colours, fonts, axes,
// ticks and pages.
//
// # Where to begin
//
// Read Chart, and Tiles for sheets of pictures. ExampleTiles, in sheet_test.go, lays out pictures.
package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Plot is one panel of a picture. Methods that add an element return the element, for the legend or for
// changes of its style. A Plot keeps the first error, such as a point that is not finite; writing the page
// returns that error.
type Plot struct {
	*plot.Plot
	x, y string // labels of the axes
	err  error
}

// labelRoom is the height of the label of an axis.
const labelRoom = vg.Length(labelSize) * 1.7

// inside returns place without the space for the labels of the axes. We draw these labels ourselves,
// because gonum/plot puts the label of a logarithmic axis far from the axis's middle.
func (p *Plot) inside(place draw.Canvas) draw.Canvas {
	var left, below vg.Length
	if p.y != "" {
		left = labelRoom
	}
	if p.x != "" {
		below = labelRoom
	}
	return draw.Crop(place, left, 0, below, 0)
}

// frame returns the rectangle of place in which the plot draws its curves.
func (p *Plot) frame(place draw.Canvas) vg.Rectangle {
	return p.DataCanvas(p.inside(place)).Rectangle
}

// draw draws the plot in a place.
func (p *Plot) draw(place draw.Canvas) {
	p.Draw(p.inside(place))
	s, frame := style(labelSize), p.frame(place)
	s.XAlign, s.YAlign = draw.XCenter, draw.YBottom
	place.FillText(s, vg.Point{X: (frame.Min.X + frame.Max.X) / 2, Y: place.Min.Y}, p.x)
	s.Rotation, s.YAlign = math.Pi/2, draw.YTop
	place.FillText(s, vg.Point{X: place.Min.X, Y: (frame.Min.Y + frame.Max.Y) / 2}, p.y)
}

// Grid adds grid lines at the ticks. Call it before curves are added, so that they are drawn over the
// lines.
func (p *Plot) Grid() {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = gridColor, gridColor
	p.Add(g)
}

// added records err if it is the first error, and reports whether err is nil.
func (p *Plot) added(err error) bool {
	if p.err == nil {
		p.err = err
	}
	return err == nil
}

// Line adds a line through the points, with the width in points.
func (p *Plot) Line(xy plotter.XYs, c color.Color, width vg.Length) *plotter.Line {
	line, err := plotter.NewLine(xy)
	if !p.added(err) {
		return new(plotter.Line)
	}
	line.Color, line.Width = c, width
	p.Add(line)
	return line
}

// Dots adds a filled circle at each point, with the radius in points.
func (p *Plot) Dots(xy plotter.XYs, c color.Color, radius vg.Length) *plotter.Scatter {
	dots, err := plotter.NewScatter(xy)
	if !p.added(err) {
		return new(plotter.Scatter)
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: c, Radius: radius, Shape: draw.CircleGlyph{}}
	p.Add(dots)
	return dots
}

// ErrorBars adds a bar from y − e to y + e at each point.
func (p *Plot) ErrorBars(xy plotter.XYs, e []float64) *plotter.YErrorBars {
	points := struct {
		plotter.XYs
		plotter.YErrors
	}{xy, make(plotter.YErrors, len(xy))}
	for i := range xy {
		points.YErrors[i].Low, points.YErrors[i].High = e[i], e[i]
	}
	bars, err := plotter.NewYErrorBars(points)
	if !p.added(err) {
		return new(plotter.YErrorBars)
	}
	p.Add(bars)
	return bars
}

// bandOpacity is the opacity of an Area, out of 0xFF.
const bandOpacity = 0x40

// Area fills the polygon with these corners, translucent and without an edge.
func (p *Plot) Area(corners plotter.XYs, c color.RGBA) *plotter.Polygon {
	area, err := plotter.NewPolygon(corners)
	if !p.added(err) {
		return new(plotter.Polygon)
	}
	area.Color = color.NRGBA{c.R, c.G, c.B, bandOpacity}
	area.LineStyle.Width = 0
	p.Add(area)
	return area
}

// Label writes text above a point, in small letters so that neighbours do not overlap.
func (p *Plot) Label(x, y float64, text string) {
	label, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{text}})
	if !p.added(err) {
		return
	}
	label.TextStyle[0] = style(tickSize - 1)
	label.TextStyle[0].XAlign = draw.XCenter
	label.Offset.Y = vg.Points(2)
	p.Add(label)
}

// Log makes axes of the plot logarithmic. Call it after the curves are added. Their values on these axes
// must be above 0. An axis with a single value gets space on both sides; an axis without values goes from 1
// to 10.
func (p *Plot) Log(axes ...*plot.Axis) {
	for _, a := range axes {
		if !(a.Max >= a.Min) {
			a.Min, a.Max = 1, 10
		}
		if a.Min == a.Max {
			a.Min, a.Max = a.Min/2, a.Max*2
		}
		a.Scale, a.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	}
}
