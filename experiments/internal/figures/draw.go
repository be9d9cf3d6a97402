package figures

import (
	"errors"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"gorbm/train/plots"
)

// A Panel is a chart of a figure: means over repetitions, with a band of one
// standard deviation if there are several repetitions.
type Panel struct {
	Name        string // the panel of the points
	Title, X, Y string
	LogX, LogY  bool
	Low, High   float64  // bounds of the y axis, if High is above Low
	Words       []string // labels at x = 0, 1, … in place of numbers
	// Geometric shows geometric means, with bars of one standard deviation of the
	// logarithms; it needs LogY.
	Geometric bool
	Dots      bool // draw a dot at each point
	// Whole leaves out each x that some repetition of a curve lacks. Otherwise the means at neighbouring x
	// would be over different repetitions, which alone could make a curve rise or fall.
	Whole bool
	// A line joins the points with x of JoinFrom or more. At +Inf there is no line, as for points of separate
	// runs.
	JoinFrom float64
}

// Curves returns a Draw of a figure: it draws the named curves in panels, with the number across of panels in a row. Panels
// without points are left out. A curve has the same colour in all panels. In panels with Words the points are dots with bars, next
// to each other.
func Curves(across int, curves []string, panels ...Panel) func(w io.Writer, t *Table) error {
	return func(w io.Writer, t *Table) error {
		var charts []plots.Chart
		for _, p := range panels {
			if t.Has(p.Name) {
				charts = append(charts, p.chart(t, curves))
			}
		}
		page := plots.Charts(charts, across, 12*vg.Centimeter, 8*vg.Centimeter)
		if page == nil {
			return errors.New("there is nothing to draw")
		}
		return page.Write(w, plots.PNG)
	}
}

// chart returns the chart of a panel.
func (p Panel) chart(t *Table, curves []string) plots.Chart {
	c := plots.Chart{Title: p.Title, X: p.X, Y: p.Y, LogX: p.LogX, LogY: p.LogY, Low: p.Low, High: p.High, Words: p.Words}
	for i, name := range curves {
		l := p.line(t, name)
		l.Color, l.Dots = i+1, p.Dots
		if c.Words != nil {
			const apart = 0.09 // relative to the distance between two words
			for k := range l.X {
				l.X[k] += apart * (float64(i) - float64(len(curves)-1)/2)
			}
			l.Bars, l.Apart = true, true
		}
		at, _ := slices.BinarySearch(l.X, p.JoinFrom)
		if c.Words != nil {
			at = 0
		}
		joined := l
		joined.X, joined.Y, joined.Low, joined.High = l.X[at:], l.Y[at:], l.Low[at:], l.High[at:]
		if at == 0 || at < len(l.X) {
			c.Lines = append(c.Lines, joined)
		}
		if at > 0 {
			l.X, l.Y, l.Low, l.High, l.Apart = l.X[:at], l.Y[:at], l.Low[:at], l.High[:at], true
			c.Lines = append(c.Lines, l)
		}
	}
	return c
}

// line returns the means of a curve with one standard deviation around them.
func (p Panel) line(t *Table, name string) (l plots.Line) {
	l.Name = name
	byX, most := map[float64]Repeats{}, 0
	for _, point := range t.Curve(p.Name, name) {
		if byX[point.X] == nil {
			byX[point.X] = Repeats{}
		}
		byX[point.X][point.Repeat] = point.Y
		if p.Geometric {
			byX[point.X][point.Repeat] = math.Log(point.Y)
		}
		most = max(most, len(byX[point.X]))
	}
	for _, x := range t.Xs(p.Name, name) {
		if p.Whole && len(byX[x]) < most {
			continue
		}
		mean, sd := byX[x].Average()
		if p.Geometric {
			mean, sd = math.Exp(mean), math.Exp(mean)*math.Expm1(sd)
		}
		low := mean - sd
		if p.LogY {
			// On the logarithmic axis the band has equal heights above and below the mean.
			low = mean * mean / (mean + sd)
		}
		l.X, l.Y, l.Low, l.High = append(l.X, x), append(l.Y, mean), append(l.Low, low), append(l.High, mean+sd)
	}
	return l
}
