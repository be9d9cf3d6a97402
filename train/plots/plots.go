// Package plots draws the pictures of training and of the commands, as PNG:
// curves with their errors, ladders of temperatures, and sheets of small
// pictures. It holds what they share: colours, axes, ticks and page layouts.
package plots

import (
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Colors are the colours of curves, in order. They are those of Okabe and Ito,
// which colour-blind readers can tell apart.
var Colors = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF},
	{0xCC, 0x79, 0xA7, 0xFF}, {0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF},
}

// A Plot is one panel of a picture. The methods that add to it return what
// they have added, for the legend or for changes of style. They keep the first
// error, such as a point that is not finite; Grid and Column return it.
type Plot struct {
	*plot.Plot
	err error
}

// New returns a plot with these labels of its axes.
func New(x, y string) *Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	return &Plot{Plot: p}
}

// Grid adds grid lines at the ticks. It comes before the curves, which are
// drawn on top of it.
func (p *Plot) Grid() { p.Add(plotter.NewGrid()) }

// added keeps the first error and reports whether there is none.
func (p *Plot) added(err error) bool {
	if p.err == nil {
		p.err = err
	}
	return err == nil
}

// Line adds a line through the points, of a width in points.
func (p *Plot) Line(xy plotter.XYs, c color.Color, width vg.Length) *plotter.Line {
	line, err := plotter.NewLine(xy)
	if !p.added(err) {
		return new(plotter.Line)
	}
	line.Color, line.Width = c, width
	p.Add(line)
	return line
}

// Dots adds a filled circle at each point, of a radius in points.
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

// Label writes text above a point, small enough for neighbours to keep apart.
func (p *Plot) Label(x, y float64, text string) {
	label, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{text}})
	if !p.added(err) {
		return
	}
	label.TextStyle[0].XAlign = draw.XCenter
	label.TextStyle[0].Font.Size = vg.Points(8)
	label.Offset.Y = vg.Points(2)
	p.Add(label)
}

// Log makes axes of the plot logarithmic. It comes after the curves, all of
// which must be above 0 on these axes. An axis with a single value gets room
// around it, and one with none goes from 1 to 10.
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

// logTicks are at 1, 2 … 9 times each power of ten. Powers of ten have labels,
// and their two- and fivefold too where the axis spans two powers or less.
func logTicks(low, high float64) (ticks []plot.Tick) {
	for d := math.Floor(math.Log10(low)); d <= math.Log10(high); d++ {
		for i := 1; i < 10; i++ {
			t := plot.Tick{Value: float64(i) * math.Pow10(int(d))}
			if i == 1 || (i == 2 || i == 5) && high <= 100*low {
				t.Label = strconv.FormatFloat(t.Value, 'g', 6, 64) // 20, not 2e+01
			}
			if low <= t.Value && t.Value <= high {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

// Ticks are the default ticks of gonum/plot, with six digits. The default labels
// have all digits of a float64, such as 1.3500000000000001.
var Ticks = relabelled('g', 6)

// stepTicks are the default ticks, with labels without exponents.
var stepTicks = relabelled('f', -1)

func relabelled(format byte, digits int) plot.TickerFunc {
	return func(low, high float64) []plot.Tick {
		ticks := plot.DefaultTicks{}.Ticks(low, high)
		for i, t := range ticks {
			if t.Label != "" {
				ticks[i].Label = strconv.FormatFloat(t.Value, format, digits, 64)
			}
		}
		return ticks
	}
}

// wholeTicks are some five ticks at whole numbers.
func wholeTicks(low, high float64) (ticks []plot.Tick) {
	by := max(1, math.Round((high-low)/5))
	for x := by * math.Ceil(low/by); x <= high; x += by {
		ticks = append(ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'f', -1, 64)})
	}
	return ticks
}

// A LegendEntry is a line with its name, for the legend of a Grid.
type LegendEntry struct {
	Name string
	Line *plotter.Line
}

// Grid writes rows of plots with aligned axes. Each plot with its margins is
// width × height, and rows are gap apart. Rows are equally long and not empty.
// A legend, if there is one, stands above all plots.
func Grid(w io.Writer, rows [][]*Plot, width, height, gap vg.Length, legend ...LegendEntry) error {
	const entry = 5 * vg.Millimeter // height of a line of the legend
	head := vg.Length(0)
	if len(legend) > 0 {
		head = entry * vg.Length(len(legend)+1)
	}
	bare := make([][]*plot.Plot, len(rows))
	for i, row := range rows {
		for _, p := range row {
			if p.err != nil {
				return p.err
			}
			bare[i] = append(bare[i], p.Plot)
		}
	}
	cols := len(rows[0])
	page := vgimg.New(width*vg.Length(cols), height*vg.Length(len(rows))+head)
	canvas := draw.New(page)
	tiles := draw.Tiles{Rows: len(rows), Cols: cols, PadX: 4 * vg.Millimeter, PadY: gap,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	for i, row := range plot.Align(bare, tiles, draw.Crop(canvas, 0, 0, 0, -head)) {
		for j, place := range row {
			bare[i][j].Draw(place)
		}
	}
	if len(legend) > 0 {
		l := plot.NewLegend()
		l.Top, l.Left, l.Padding = true, true, entry/10
		for _, e := range legend {
			l.Add(e.Name, e.Line)
		}
		l.Draw(draw.Crop(canvas, width/10, 0, 0, -entry/2))
	}
	return encode(w, page)
}

// Column writes plots of one width below each other, each with its own height.
func Column(w io.Writer, plots []*Plot, width vg.Length, heights []vg.Length) error {
	const dpi, margin, right = 144, 2 * vg.Millimeter, 6 * vg.Millimeter
	whole := vg.Length(0)
	for _, h := range heights {
		whole += h
	}
	page := vgimg.NewWith(vgimg.UseWH(width, whole), vgimg.UseDPI(dpi))
	canvas := draw.New(page)
	top := canvas.Max.Y
	for i, p := range plots {
		if p.err != nil {
			return p.err
		}
		p.Draw(draw.Crop(canvas, margin, -right, top-heights[i]-canvas.Min.Y+margin, top-canvas.Max.Y-margin))
		top -= heights[i]
	}
	return encode(w, page)
}

// encode writes a page as PNG. The best compression takes up to three times as long,
// and the file is a tenth smaller at most.
func encode(w io.Writer, page *vgimg.Canvas) error {
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, page.Image())
}
