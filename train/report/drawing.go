package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"gorbm/rbm/finitejson"
	"gorbm/train/plots"
)

// Sizes of a chart, in units of its view box.
const (
	width, height            = 640, 260
	left, right, top, bottom = 72, 28, 12, 46
)

// A drawing is a chart in the coordinates of its SVG.
type drawing struct {
	plots.Chart
	Width, Height            int
	Left, Right, Top, Bottom int // of the frame
	XTicks, YTicks           []tick
	Breaks                   []float64 // coordinates at which the y axis is broken
	Curves                   []curve
	// The range of the x axis, for the page's script.
	XLow, XHigh float64
}

type tick struct {
	At   float64
	Text string
}

type curve struct {
	Name       string
	Color      int
	Path, Band string // SVG paths
	Dots       []dot
	Dashed     bool
	Radius     float64 // radius of the dots
	Dashes     string  // value of stroke-dasharray, for lines with Layers; Start is the value of stroke-dashoffset
	Start      float64
}

type dot struct{ X, Y float64 }

// colors is the number of colours in the style sheet, the last of which is grey.
const colors = 8

// dotRadius is the radius of a dot, in units of the view box.
const dotRadius = 2.5

// An axis maps values to coordinates of the drawing.
type axis struct {
	plots.Axis
	from, to float64 // coordinates of Low and High
}

func (a axis) at(v float64) float64 { return a.from + a.At(v)*(a.to-a.from) }

func (a axis) ticks(marks []plots.Mark) (all []tick) {
	for _, m := range marks {
		all = append(all, tick{a.at(m.Value), m.Text})
	}
	return all
}

func newDrawing(c plots.Chart) drawing {
	xs, ys := c.Axes()
	d := drawing{Chart: c, Width: width, Height: height, Left: left, Right: width - right, Top: top, Bottom: height - bottom, XLow: xs.Low, XHigh: xs.High}
	x, y := axis{xs, float64(d.Left), float64(d.Right)}, axis{ys, float64(d.Bottom), float64(d.Top)}
	d.XTicks, d.YTicks = x.ticks(xs.Marks()), y.ticks(c.YMarks())
	for _, v := range ys.Breaks() {
		d.Breaks = append(d.Breaks, y.at(v))
	}
	for i, l := range c.Lines {
		k := curve{Name: l.Name, Color: c.Ink(i) % colors, Dashed: l.Dashed, Radius: dotRadius * l.DotScale()}
		if l.Grey {
			k.Color = colors - 1
		}
		if l.Layers > 1 {
			dash, gap, start := l.Dashes()
			k.Dashes, k.Start = fmt.Sprintf("%g %g", dash, gap), start
		}
		var path, upper strings.Builder
		var lower []string
		pen := "M"
		for _, j := range c.Known(l) { // the line skips other points
			at := dot{x.at(l.X[j]), y.at(l.Y[j])}
			if l.Dots || l.Apart {
				k.Dots = append(k.Dots, at)
			}
			if !l.Apart {
				fmt.Fprintf(&path, "%s%.1f %.1f", pen, at.X, at.Y)
				pen = "L"
			}
			if low, high, ok := c.Band(l, j); ok {
				fmt.Fprintf(&upper, "L%.1f %.1f", at.X, y.at(high))
				lower = append(lower, fmt.Sprintf("L%.1f %.1f", at.X, y.at(low)))
			}
		}
		k.Path = path.String()
		slices.Reverse(lower)
		if band := upper.String() + strings.Join(lower, ""); band != "" {
			k.Band = "M" + band[1:] + "Z"
		}
		d.Curves = append(d.Curves, k)
	}
	return d
}

// JSON returns the points of the lines for the page's script, without points that the chart cannot show.
func (d drawing) JSON() (template.JS, error) {
	type line struct {
		Name string    `json:"name"`
		X    []float64 `json:"x"`
		Y    []float64 `json:"y"`
		Err  []float64 `json:"err,omitempty"`
	}
	lines := []line{}
	for _, l := range d.Lines {
		out := line{Name: l.Name, X: []float64{}, Y: []float64{}}
		for _, i := range d.Known(l) {
			out.X, out.Y = append(out.X, l.X[i]), append(out.Y, l.Y[i])
			if l.Err != nil {
				out.Err = append(out.Err, l.Err[i])
			}
		}
		lines = append(lines, out)
	}
	text, err := finitejson.Marshal(lines) // it escapes <, > and &
	return template.JS(text), err
}
