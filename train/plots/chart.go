package plots

import (
	"image/color"
	"math"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Chart is a panel of lines with common axes, for a picture or a report.
type Chart struct {
	Title      string
	X, Y       string // labels of the axes, with units
	LogX, LogY bool   // logarithmic axes, which leave out values that are not above 0
	// Left and Right bound the x axis, if Right is above Left. Low and High bound the y axis likewise.
	Left, Right, Low, High float64
	Whole                  bool // y counts something, so that its ticks are whole numbers
	// Words, if there are any, label x = 0, 1, … in place of numbers.
	Words []string
	Lines []Line
	Good  string // a sentence on which values are good, for a report
}

// A Line is a curve. It joins the neighbours of a Y that is not finite by a straight line.
type Line struct {
	Name string
	X, Y []float64
	// Err, if it is not nil, is the standard error of each Y, drawn as a band of ±2.
	Err []float64
	// Low and High, if they are not nil, bound the band in place of Err.
	Low, High []float64
	Bars      bool // a bar at each point in place of a band, in pictures
	Color     int  // number of the colour in Colors, from 1; 0: by the line's index
	Dots      bool // a dot at each point
	Apart     bool // dots only, without a line
	Dashed    bool
	Grey      bool // in the grey of the axes, for what is not measured
	// Layers, if it is above 1, is the number of lines that may coincide, and Layer is the number of this
	// line among them, from 0, the lowest. So that all remain visible, the dashes of the layers alternate,
	// and lower layers have larger dots.
	Layer, Layers int
}

// LayerDash is the length of a dash of a line with Layers, in points.
const LayerDash = 4

// Dashes returns the lengths of dash and gap of a line with Layers, and the offset at which its pattern
// starts.
func (l Line) Dashes() (dash, gap, start float64) {
	return LayerDash, LayerDash * float64(l.Layers-1), LayerDash * float64((l.Layers-l.Layer)%l.Layers)
}

// DotScale returns the size of the line's dots relative to those of a line without Layers.
func (l Line) DotScale() float64 {
	return 1 + 0.5*float64(max(0, l.Layers-1-l.Layer))
}

// Ink returns the number of the colour of line i in Colors, from 0.
func (c Chart) Ink(i int) int {
	if k := c.Lines[i].Color; k > 0 {
		return k - 1
	}
	return i
}

// color returns the colour of line i in a picture.
func (c Chart) color(i int) color.RGBA {
	if c.Lines[i].Grey {
		return axisInk
	}
	return Colors[c.Ink(i)%len(Colors)]
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Shows reports whether the axes can show the point (x, y).
func (c Chart) Shows(x, y float64) bool {
	return finite(x) && finite(y) && (!c.LogX || x > 0) && (!c.LogY || y > 0)
}

// Known returns the indices of the points of a line that the axes can show.
func (c Chart) Known(l Line) (all []int) {
	for i, y := range l.Y {
		if c.Shows(l.X[i], y) {
			all = append(all, i)
		}
	}
	return all
}

// Band returns the ends of the band at point i of a line, and whether the band has ends there.
func (c Chart) Band(l Line, i int) (low, high float64, ok bool) {
	switch {
	case l.Low != nil:
		low, high = l.Low[i], l.High[i]
	case l.Err != nil:
		low, high = l.Y[i]-2*l.Err[i], l.Y[i]+2*l.Err[i]
		if c.LogY && !(low > 0) && high > 0 { // on the axis, the band then goes as far down as up
			low = l.Y[i] * l.Y[i] / high
		}
	default:
		return 0, 0, false
	}
	return low, high, c.Shows(l.X[i], low) && c.Shows(l.X[i], high)
}

// mostPoints is the largest number of points of a line that are drawn, some two or three for each pixel.
const mostPoints = 2000

// Thinned returns the chart with at most mostPoints points in each line. They are evenly spaced and end
// with the line's last point. Points that the chart cannot show are left out first, so that values that are
// measured only now and then remain.
func (c Chart) Thinned() Chart {
	c.Lines = slices.Clone(c.Lines)
	for k, l := range c.Lines {
		if len(l.X) <= mostPoints {
			continue
		}
		known := c.Known(l)
		every := (len(known) + mostPoints - 1) / mostPoints
		var kept []int
		if len(known) > 0 {
			for i := (len(known) - 1) % every; i < len(known); i += every {
				kept = append(kept, known[i])
			}
		}
		thinned := func(values []float64) (few []float64) {
			if values != nil {
				few = []float64{}
				for _, i := range kept {
					few = append(few, values[i])
				}
			}
			return few
		}
		l.X, l.Y, l.Err, l.Low, l.High = thinned(l.X), thinned(l.Y), thinned(l.Err), thinned(l.Low), thinned(l.High)
		c.Lines[k] = l
	}
	return c
}

// Shown returns the chart without lines that have no points to show. The others keep their colours.
func (c Chart) Shown() Chart {
	var lines []Line
	for i, l := range c.Lines {
		l.Color = c.Ink(i) + 1
		if len(c.Known(l)) > 0 {
			lines = append(lines, l)
		}
	}
	c.Lines = lines
	return c
}

// A Span is the range of an axis; it is empty if Low > High.
type Span struct{ Low, High float64 }

func nothing() Span { return Span{math.Inf(1), math.Inf(-1)} }

func (s *Span) add(v float64) { s.Low, s.High = min(s.Low, v), max(s.High, v) }

// An Axis maps values to positions along it.
type Axis struct {
	Span
	Log bool
	// Core, if it is not empty, is the range of values that takes most of the axis. The axis is broken at
	// an end of Core if there are values beyond that end; they take the fraction brokenShare of the length.
	Core Span
}

// brokenShare is the fraction of an axis for values beyond a break.
const brokenShare = 0.15

// At returns the position of a value: 0 at the low end of the axis, 1 at the high end.
func (a Axis) At(v float64) float64 {
	switch {
	case a.Low == a.High:
		return 0.5
	case a.Log:
		return math.Log(v/a.Low) / math.Log(a.High/a.Low)
	case a.Core.Low > a.Core.High:
		return (v - a.Low) / (a.High - a.Low)
	}
	low, high := 0.0, 1.0 // positions of the ends of the core
	if a.Low < a.Core.Low {
		low = brokenShare
	}
	if a.High > a.Core.High {
		high = 1 - brokenShare
	}
	switch {
	case v < a.Core.Low:
		return low * (v - a.Low) / (a.Core.Low - a.Low)
	case v > a.Core.High:
		return high + (1-high)*(v-a.Core.High)/(a.High-a.Core.High)
	}
	return low + (high-low)*(v-a.Core.Low)/(a.Core.High-a.Core.Low)
}

// Marks returns the labelled values of the axis. On a broken axis they are those of Core and the ends of
// the axis beyond the breaks.
func (a Axis) Marks() []Mark {
	if a.Core.Low > a.Core.High {
		return Marks(a.Low, a.High, a.Log)
	}
	all := Marks(a.Core.Low, a.Core.High, false)
	for _, end := range []struct{ at, core float64 }{{a.Low, a.Core.Low}, {a.High, a.Core.High}} {
		if end.at != end.core {
			all = append(all, Mark{end.at, short(end.at, math.Pow(10, math.Floor(math.Log10(math.Abs(end.at-end.core)))-1))})
		}
	}
	return all
}

// Breaks returns the values at which the axis is broken.
func (a Axis) Breaks() (all []float64) {
	if a.Core.Low > a.Core.High {
		return nil
	}
	if a.Low < a.Core.Low {
		all = append(all, a.Core.Low)
	}
	if a.High > a.Core.High {
		all = append(all, a.Core.High)
	}
	return all
}

// crush is the limit for a y axis without a break: the first values of the curves may make the range of y at most
// this many times as large.
const crush = 2.5

// Axes returns the axes, which are both empty if there is nothing to show. The y axis is broken if the
// first values of the curves, before training, would compress the rest of all curves.
func (c Chart) Axes() (x, y Axis) {
	x, y = Axis{nothing(), c.LogX, nothing()}, Axis{nothing(), c.LogY, nothing()}
	later, first := nothing(), math.Inf(1)
	for _, l := range c.Lines {
		for _, i := range c.Known(l) {
			first = min(first, l.X[i])
		}
	}
	for _, l := range c.Lines {
		for _, i := range c.Known(l) {
			v := l.Y[i]
			x.add(l.X[i])
			low, high, ok := c.Band(l, i)
			if !ok {
				low, high = v, v
			}
			for _, v := range []float64{v, low, high} {
				y.add(v)
				if l.X[i] > first {
					later.add(v)
				}
			}
		}
	}
	switch {
	case x.Low > x.High:
	case c.Words != nil:
		x.Span = Span{-0.4, float64(len(c.Words)) - 0.6}
	case c.Right > c.Left:
		x.Span = Span{c.Left, c.Right}
	}
	if !c.LogY && !c.Whole && !(c.High > c.Low) && later.High > later.Low && y.High-y.Low > crush*(later.High-later.Low) {
		core := roomy(later)
		if y.Low >= core.Low {
			y.Low = core.Low
		}
		if y.High <= core.High {
			y.High = core.High
		}
		y.Core = core
		return x, y
	}
	switch {
	case c.High > c.Low:
		y.Span = Span{c.Low, c.High}
	case y.Low > y.High:
	case c.LogY:
		room := max(math.Pow(y.High/y.Low, 0.05), 1.02)
		y.Span = Span{y.Low / room, y.High * room}
	case y.High > y.Low:
		y.Span = roomy(y.Span)
	case y.Low == 0:
		y.High = 1
	case c.Whole:
		y.Span = Span{max(0, y.Low-1), y.High + 1}
	default:
		d := max(math.Abs(y.Low)*0.1, 1e-3)
		y.Span = Span{y.Low - d, y.High + d}
	}
	return x, y
}

// roomy returns the span with some space at both ends.
func roomy(s Span) Span {
	room := 0.05 * (s.High - s.Low)
	if s.Low >= 0 { // the axis of a count or a fraction does not go below 0
		return Span{max(0, s.Low-room), s.High + room}
	}
	return Span{s.Low - room, s.High + room}
}

// Empty reports whether the chart has nothing to show.
func (c Chart) Empty() bool {
	x, _ := c.Axes()
	return x.Low > x.High
}

// Flat returns the value of a chart whose points all have the same value, and whether it is such a chart. A
// chart with one point per line is not flat.
func (c Chart) Flat() (value float64, flat bool) {
	span, points := nothing(), 0
	for _, l := range c.Lines {
		for _, i := range c.Known(l) {
			span.add(l.Y[i])
			points++
		}
	}
	return span.Low, points > len(c.Lines) && span.Low == span.High
}

// YMarks returns the labelled values of the y axis.
func (c Chart) YMarks() []Mark {
	_, y := c.Axes()
	all := y.Marks()
	if !c.Whole {
		return all
	}
	return wholeMarks(all)
}

// Plot returns the plot of a chart and its entries in the legend.
func (c Chart) Plot() (p *Plot, key []LegendEntry) {
	c = c.Thinned().Shown()
	p = New(c.X, c.Y)
	p.Title.Text = c.Title
	p.Grid()
	for i, l := range c.Lines {
		ink := c.color(i)
		var xy, low, high plotter.XYs
		for _, k := range c.Known(l) {
			xy = append(xy, plotter.XY{X: l.X[k], Y: l.Y[k]})
			if from, to, ok := c.Band(l, k); ok {
				low, high = append(low, plotter.XY{X: l.X[k], Y: from}), append(high, plotter.XY{X: l.X[k], Y: to})
			}
		}
		switch {
		case l.Bars:
			for k := range low {
				p.Line(plotter.XYs{low[k], high[k]}, ink, vg.Points(curveWidth/2))
			}
		case len(low) > 1:
			slices.Reverse(low)
			p.Area(append(high, low...), ink)
		}
		var mark plot.Thumbnailer
		if l.Dots || l.Apart || len(xy) == 1 {
			radius := vg.Points(dotRadius)
			if len(xy) > manyDots {
				radius /= 2
			}
			mark = p.Dots(xy, ink, radius*vg.Length(l.DotScale()))
		}
		if !l.Apart {
			line := p.Line(xy, ink, vg.Points(curveWidth))
			if l.Dashed || c.Ink(i) >= len(Colors) {
				line.Dashes = []vg.Length{vg.Points(4), vg.Points(2)}
			}
			mark = line
			if l.Layers > 1 {
				whole := *line // the legend shows the line without dashes
				mark = &whole
				dash, gap, start := l.Dashes()
				line.Dashes, line.DashOffs = []vg.Length{vg.Points(dash), vg.Points(gap)}, vg.Points(start)
			}
		}
		key = append(key, LegendEntry{l.Name, mark})
	}
	x, y := c.Axes()
	if y.Low > y.High {
		p.HideAxes()
		return p, nil
	}
	if p.X.Min, p.X.Max = x.Low, x.High; x.Low == x.High {
		p.X.Min, p.X.Max = x.Low-0.5, x.High+0.5
		if c.LogX {
			p.X.Min, p.X.Max = x.Low/2, x.High*2
		}
	}
	p.Y.Min, p.Y.Max = y.Low, y.High
	breaks := y.Breaks()
	if c.Whole || breaks != nil {
		p.Y.Tick.Marker = plot.ConstantTicks(ticks(c.YMarks()))
	}
	if breaks != nil {
		p.Y.Scale = broken(y)
		for _, v := range breaks {
			line := p.Line(plotter.XYs{{X: p.X.Min, Y: v}, {X: p.X.Max, Y: v}}, axisInk, vg.Points(0.5))
			line.Dashes = []vg.Length{vg.Points(2), vg.Points(2)}
		}
	}
	if c.Words != nil {
		var words []plot.Tick
		for x, word := range c.Words {
			words = append(words, plot.Tick{Value: float64(x), Label: word})
		}
		p.X.Tick.Marker = plot.ConstantTicks(words)
	}
	if c.LogX {
		p.Log(&p.X)
	}
	if c.LogY {
		p.Log(&p.Y)
	}
	return p, key
}

// broken is the scale of a broken axis.
type broken Axis

// Normalize implements plot.Normalizer.
func (b broken) Normalize(_, _, v float64) float64 { return Axis(b).At(v) }

// A line with more than manyDots dots has small dots.
const manyDots = 40

// Charts returns a page of charts, with the number across in each row. Each chart is width × height, with
// its margins. Charts that have nothing to show are left out; if none is left the page is nil. If the
// curves of all charts reach the right ends, their names are written there, in their colours. Otherwise
// there is a legend above.
func Charts(charts []Chart, across int, width, height vg.Length) *Page {
	charts = slices.DeleteFunc(slices.Clone(charts), Chart.Empty)
	if len(charts) == 0 {
		return nil
	}
	direct := !slices.ContainsFunc(charts, func(c Chart) bool { return !c.endsRight() })
	var rows [][]*Plot
	var legend []LegendEntry
	across = min(across, len(charts))
	for i, c := range charts {
		p, key := c.Plot()
		switch {
		case direct && len(key) > 1:
			p.Add(newEnds(c))
		case !direct:
			for _, e := range key {
				if e.Name != "" && !slices.ContainsFunc(legend, func(o LegendEntry) bool { return o.Name == e.Name }) {
					legend = append(legend, e)
				}
			}
		}
		if i%across == 0 {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], p)
	}
	return Grid(rows, width, height, legend...)
}

// directLetters is the length of the longest name that is written at the end of a curve.
const directLetters = 22

// endsRight reports whether the names of the curves can be written at their ends: the curves are few and
// end near the right end of the chart, and the names are short.
func (c Chart) endsRight() bool {
	const near, most = 0.9, 6
	x, _ := c.Axes()
	if len(c.Lines) > most {
		return false
	}
	for _, l := range c.Lines {
		end := math.Inf(-1)
		for _, i := range c.Known(l) {
			end = max(end, l.X[i])
		}
		if math.IsInf(end, -1) || len(c.Lines) == 1 {
			continue
		}
		if c.LogX || l.Apart || utf8.RuneCountInString(l.Name) > directLetters || end < x.Low+near*(x.High-x.Low) {
			return false
		}
	}
	return true
}

// ends are names at the right ends of curves. They are moved apart where they would overlap.
type ends struct {
	names []string
	inks  []color.Color
	at    []float64
}

func newEnds(c Chart) *ends {
	e := new(ends)
	_, y := c.Axes()
	for i, l := range c.Lines {
		if known := c.Known(l); len(known) > 0 {
			e.names, e.inks = append(e.names, l.Name), append(e.inks, c.color(i))
			e.at = append(e.at, min(max(l.Y[known[len(known)-1]], y.Low), y.High))
		}
	}
	return e
}

const endsGap = 1.5 * vg.Millimeter

// Plot draws the names.
func (e *ends) Plot(c draw.Canvas, p *plot.Plot) {
	_, at := p.Transforms(&c)
	order := make([]int, len(e.names))
	places := make([]vg.Length, len(e.names))
	for i := range order {
		order[i], places[i] = i, at(e.at[i])
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if d := places[a] - places[b]; d != 0 {
			return int(math.Copysign(1, float64(d)))
		}
		return b - a
	})
	apart := vg.Points(tickSize + 1)
	for k := 1; k < len(order); k++ { // from the lowest
		places[order[k]] = max(places[order[k]], places[order[k-1]]+apart)
	}
	if n := len(order); n > 0 { // names above the frame push the rest down
		limit := max(c.Max.Y, c.Min.Y+apart*vg.Length(n-1))
		for k := n - 1; k >= 0; k-- {
			places[order[k]] = min(places[order[k]], limit)
			limit = places[order[k]] - apart
		}
	}
	for i, name := range e.names {
		s := style(tickSize)
		s.Color, s.YAlign = e.inks[i], draw.YCenter
		c.FillText(s, vg.Point{X: c.Max.X + endsGap, Y: places[i]}, name)
	}
}

// GlyphBoxes reserves space for the names. It implements plot.GlyphBoxer.
func (e *ends) GlyphBoxes(*plot.Plot) (boxes []plot.GlyphBox) {
	for _, name := range e.names {
		boxes = append(boxes, plot.GlyphBox{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: endsGap + style(tickSize).Width(name), Y: 1}}})
	}
	return boxes
}
