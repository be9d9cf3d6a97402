package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sizes of a chart, in units of its own.
const (
	width, height            = 640, 260
	left, right, top, bottom = 64, 12, 10, 40
)

// An interval is the range of an axis; it is empty if low > high.
type interval struct{ low, high float64 }

var empty = interval{math.Inf(1), math.Inf(-1)}

func (i *interval) add(v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		i.low, i.high = min(i.low, v), max(i.high, v)
	}
}

// crush is how many times as high the first values of the curves may make a chart.
const crush = 2.5

// extent returns the ranges of the axes. Where the first values, those of a model
// that has not been trained, would crush the rest of all curves, they are left
// outside.
func (c Chart) extent() (x, y interval) {
	x, all, later := empty, empty, empty
	first := math.Inf(1)
	for _, l := range c.Lines {
		for _, v := range l.X {
			first = min(first, v)
		}
	}
	for _, l := range c.Lines {
		for i, v := range l.Y {
			if math.IsNaN(v) || math.IsInf(v, 0) || c.Log && !(l.X[i] > 0) {
				continue
			}
			x.add(l.X[i])
			e := 0.0
			if l.Err != nil && !math.IsNaN(l.Err[i]) && !math.IsInf(l.Err[i], 0) {
				e = 2 * l.Err[i]
			}
			all.add(v - e)
			all.add(v + e)
			if l.X[i] > first {
				later.add(v - e)
				later.add(v + e)
			}
		}
	}
	y = all
	if later.high > later.low && all.high-all.low > crush*(later.high-later.low) {
		y = later
	}
	if gap := y.high - y.low; gap > 0 {
		y.low, y.high = y.low-0.05*gap, y.high+0.05*gap
	} else {
		d := max(math.Abs(y.low)*0.1, 1e-3)
		y.low, y.high = y.low-d, y.high+d
	}
	return x, y
}

// A drawing is a chart in the coordinates of its SVG.
type drawing struct {
	Chart
	Width, Height            int
	Left, Right, Top, Bottom int // of the frame
	XTicks, YTicks           []tick
	Curves                   []curve
	// Of the script: the ranges of the axes.
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
}

// colors is the number of colours of the style sheet.
const colors = 8

func newDrawing(c Chart) drawing {
	x, y := c.extent()
	d := drawing{Chart: c, Width: width, Height: height, Left: left, Right: width - right, Top: top, Bottom: height - bottom, XLow: x.low, XHigh: x.high}
	scale := func(v float64) float64 { return v }
	if c.Log {
		scale = math.Log
	}
	span := scale(x.high) - scale(x.low)
	atX := func(v float64) float64 {
		if span == 0 {
			return (float64(d.Left) + float64(d.Right)) / 2
		}
		return float64(d.Left) + (scale(v)-scale(x.low))/span*float64(d.Right-d.Left)
	}
	atY := func(v float64) float64 {
		return float64(d.Bottom) - (v-y.low)/(y.high-y.low)*float64(d.Bottom-d.Top)
	}
	d.XTicks = ticks(x, c.Log, atX)
	d.YTicks = ticks(y, false, atY)
	for i, l := range c.Lines {
		k := curve{Name: l.Name, Color: i % colors}
		var path, upper strings.Builder
		var lower []string
		pen := "M"
		for j, v := range l.Y {
			if math.IsNaN(v) || math.IsInf(v, 0) || c.Log && !(l.X[j] > 0) {
				continue // what is measured now and then has a line all the same
			}
			fmt.Fprintf(&path, "%s%.1f %.1f", pen, atX(l.X[j]), atY(v))
			pen = "L"
			if l.Err != nil && !math.IsNaN(l.Err[j]) && !math.IsInf(l.Err[j], 0) {
				fmt.Fprintf(&upper, "L%.1f %.1f", atX(l.X[j]), atY(v+2*l.Err[j]))
				lower = append(lower, fmt.Sprintf("L%.1f %.1f", atX(l.X[j]), atY(v-2*l.Err[j])))
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

// someTicks is about the number of ticks on an axis.
const someTicks = 5

// ticks returns labelled places on an axis, no two of them with the same text: at
// powers of ten on a logarithmic axis that has some, else at multiples of 1, 2 or 5
// times such a power.
func ticks(i interval, log bool, at func(float64) float64) (all []tick) {
	if i.low == i.high {
		return []tick{{at(i.low), short(i.low, 0)}}
	}
	if log && i.high > 30*i.low {
		for p := math.Ceil(math.Log10(i.low) - 1e-9); math.Pow(10, p) <= i.high*(1+1e-9); p++ {
			v := math.Pow(10, p)
			all = append(all, tick{at(v), short(v, v)})
		}
		return all
	}
	raw := (i.high - i.low) / someTicks
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, times := range []float64{1, 2, 5, 10} {
		if times*step >= raw {
			step *= times
			break
		}
	}
	for k := math.Ceil(i.low/step - 1e-9); k*step <= i.high+1e-9*step; k++ {
		all = append(all, tick{at(k * step), short(k*step, step)})
	}
	return all
}

// short writes a number with as many digits as tell it from others a step away, and
// large ones in thousands or millions.
func short(v, step float64) string {
	if v == 0 {
		return "0"
	}
	for _, unit := range []struct {
		size float64
		name string
	}{{1e6, " M"}, {1e3, " k"}} {
		if math.Abs(v) >= 10*unit.size || step >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'g', 6, 64) + unit.name
		}
	}
	if step > 0 && !math.IsInf(step, 1) {
		digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
		if digits < 8 {
			return strconv.FormatFloat(v, 'f', digits, 64)
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
