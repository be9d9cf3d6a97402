package plots

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Colors are the colours of curves, in order. They are those of Okabe and Ito, which colour-blind readers
// can distinguish.
var Colors = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF},
	{0xCC, 0x79, 0xA7, 0xFF}, {0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF},
}

// The theme of all pictures: one typeface, its sizes, and greys for axes and grids that are fainter than
// the curves.
var (
	typeface  = font.Font{Typeface: "Liberation", Variant: "Sans"}
	axisColor = color.Gray{0x60}
	axisInk   = color.RGBA{0x60, 0x60, 0x60, 0xFF}
	gridColor = color.Gray{0xE0}
)

const (
	titleSize, labelSize, tickSize = 10.5, 9.5, 8.5 // in points
	curveWidth, dotRadius          = 1.3, 1.8       // in points
)

// style returns the text style for a size in points.
func style(size float64) text.Style {
	return text.Style{Color: color.Gray{0x20}, Font: font.From(typeface, font.Length(size)), Handler: plot.DefaultTextHandler}
}

// New returns an empty plot with labels for its axes.
func New(x, y string) *Plot {
	p := plot.New()
	p.BackgroundColor = nil // the page is white
	p.Title.TextStyle.Font, p.Title.Padding = font.From(typeface, titleSize), vg.Points(4)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Tick.Label.Font = font.From(typeface, tickSize)
		a.LineStyle.Color, a.Tick.LineStyle.Color = axisColor, axisColor
		a.Tick.Length = vg.Points(4)
		a.Tick.Marker = Ticks
	}
	return &Plot{Plot: p, x: x, y: y}
}

// A Mark is a labelled value on an axis.
type Mark struct {
	Value float64
	Text  string
}

// someMarks is the approximate number of marks on an axis.
const someMarks = 5

// Marks returns labelled values for an axis from low to high, all with different texts. On a logarithmic
// axis of one and a half decades or more they are powers of ten; below two decades, 2 and 5 times these
// powers are added. On other axes the values are multiples of 1, 2 or 5 times a power of ten.
func Marks(low, high float64, log bool) (all []Mark) {
	switch {
	case !(high > low):
		return []Mark{{low, short(low, 0)}}
	case log && low > 0 && high > 30*low:
		for p := math.Floor(math.Log10(low)); p <= math.Log10(high)+1e-9; p++ {
			for _, times := range []float64{1, 2, 5} {
				v := times * math.Pow(10, p)
				if (times == 1 || high <= 100*low) && low*(1-1e-9) <= v && v <= high*(1+1e-9) {
					all = append(all, Mark{v, short(v, v)})
				}
			}
		}
		return all
	}
	raw := (high - low) / someMarks
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, times := range []float64{1, 2, 5, 10} {
		if times*step >= raw {
			step *= times
			break
		}
	}
	for k := math.Ceil(low/step - 1e-9); k*step <= high+1e-9*step; k++ {
		all = append(all, Mark{k * step, short(k*step, step)})
	}
	return all
}

// short formats v with enough digits to distinguish it from values a step away. Large values are in
// thousands or millions.
func short(v, step float64) string {
	if v == 0 {
		return "0"
	}
	for _, unit := range []struct {
		size float64
		name string
	}{{1e6, " M"}, {1e3, " k"}} {
		if math.Abs(v) >= 10*unit.size || step >= unit.size {
			return minus(strconv.FormatFloat(v/unit.size, 'g', 6, 64) + unit.name)
		}
	}
	if step > 0 && !math.IsInf(step, 1) {
		digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
		if digits < 6 {
			return minus(strconv.FormatFloat(v, 'f', digits, 64))
		}
	}
	return minus(strconv.FormatFloat(v, 'g', 4, 64))
}

// minus replaces hyphens in number by minus signs, which are as wide as a digit.
func minus(number string) string { return strings.ReplaceAll(number, "-", "−") }

// Ticks returns Marks as ticks of gonum/plot.
var Ticks = plot.TickerFunc(func(low, high float64) []plot.Tick { return ticks(Marks(low, high, false)) })

// logTicks returns Marks of a logarithmic axis, and ticks without labels at 1, 2 … 9 times each power of
// ten.
func logTicks(low, high float64) []plot.Tick {
	all := ticks(Marks(low, high, true))
	for d := math.Floor(math.Log10(low)); d <= math.Log10(high); d++ {
		for i := 1; i < 10; i++ {
			if v := float64(i) * math.Pow(10, d); low <= v && v <= high {
				all = append(all, plot.Tick{Value: v})
			}
		}
	}
	return all
}

func ticks(marks []Mark) (all []plot.Tick) {
	for _, m := range marks {
		all = append(all, plot.Tick{Value: m.Value, Label: m.Text})
	}
	return all
}

// wholeTicks returns some five ticks at whole numbers.
func wholeTicks(low, high float64) []plot.Tick { return ticks(wholeMarks(Marks(low, high, false))) }

// wholeMarks returns the marks at whole numbers, without decimals.
func wholeMarks(marks []Mark) (whole []Mark) {
	for _, m := range marks {
		if m.Value == math.Round(m.Value) {
			whole = append(whole, Mark{m.Value, short(m.Value, 1)})
		}
	}
	return whole
}
