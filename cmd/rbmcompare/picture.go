package main

import (
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"gorbm/negphase/compare"
	"gorbm/train"
)

// A line is one curve of a panel.
type line struct {
	name string
	xy   plotter.XYs
}

// drawCurves draws the distances of one model as PNG: mean above and standard
// deviation below, against steps on the left and seconds on the right.
func (p *plan) drawCurves(r result, w io.Writer) error {
	steps := func(pt compare.Point) float64 { return pt.Steps }
	seconds := func(pt compare.Point) float64 { return pt.Seconds }
	mean := func(pt compare.Point) float64 { return pt.Distance.Mean }
	sd := func(pt compare.Point) float64 { return pt.Distance.SD }
	lines := func(x, y func(pt compare.Point) float64) (all []line) {
		for i, c := range r.curves {
			l := line{name: p.names[i]}
			for _, pt := range c.Points {
				l.add(x(pt), y(pt))
			}
			all = append(all, l)
		}
		return all
	}
	// floor is the error of the reference, across a panel of means: what lies
	// near it cannot be told from it.
	floor := func(all []line) []line {
		if r.truth.Exact {
			return all
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, l := range all {
			for _, xy := range l.xy {
				low, high = min(low, xy.X), max(high, xy.X)
			}
		}
		l := line{name: "error of the reference"}
		if low <= high {
			l.add(low, r.truth.StdErr)
			l.add(high, r.truth.StdErr)
		}
		return append(all, l)
	}
	const stepsLabel, meanLabel, sdLabel = "Gibbs steps of each chain", "distance, mean", "distance, standard deviation"
	return drawPanels(w, [][]panel{
		{{stepsLabel, meanLabel, floor(lines(steps, mean))}, {"seconds", "", floor(lines(seconds, mean))}},
		{{stepsLabel, sdLabel, lines(steps, sd)}, {"seconds", "", lines(seconds, sd)}},
	})
}

// drawRun draws the distances at the last step against the step of training.
func (p *plan) drawRun(results []result, w io.Writer) error {
	lines := func(y func(d compare.Moment) float64) (all []line) {
		for i, name := range p.names {
			l := line{name: name}
			for _, r := range results {
				l.add(float64(r.step), y(r.curves[i].Last().Distance))
			}
			all = append(all, l)
		}
		return all
	}
	return drawPanels(w, [][]panel{
		{{"step of training", "distance, mean", lines(func(d compare.Moment) float64 { return d.Mean })}},
		{{"step of training", "distance, standard deviation", lines(func(d compare.Moment) float64 { return d.SD })}},
	})
}

// add adds a point if it can be shown on logarithmic axes.
func (l *line) add(x, y float64) {
	if x > 0 && y > 0 && !math.IsInf(y, 0) {
		l.xy = append(l.xy, plotter.XY{X: x, Y: y})
	}
}

// A panel is one plot of a picture.
type panel struct {
	x, y  string // labels
	lines []line
}

// drawPanels draws rows of panels under one legend, that of the first panel.
func drawPanels(w io.Writer, panels [][]panel) error {
	plots := make([][]*plot.Plot, len(panels))
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	entries := 0
	for i, row := range panels {
		for j, one := range row {
			p, curves, err := one.plot()
			if err != nil {
				return err
			}
			plots[i] = append(plots[i], p)
			for k, c := range curves {
				if i == 0 && j == 0 && c != nil {
					legend.Add(one.lines[k].name, c)
					entries++
				}
			}
		}
	}
	const width, height, entry = 13 * vg.Centimeter, 8 * vg.Centimeter, 5 * vg.Millimeter
	head := entry * vg.Length(entries+1)
	img := vgimg.New(width*vg.Length(len(plots[0])), height*vg.Length(len(plots))+head)
	canvas := draw.New(img)
	tiles := draw.Tiles{Rows: len(plots), Cols: len(plots[0]), PadX: 4 * vg.Millimeter, PadY: 3 * vg.Millimeter,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	for i, row := range plot.Align(plots, tiles, draw.Crop(canvas, 0, 0, 0, -head)) {
		for j, place := range row {
			plots[i][j].Draw(place)
		}
	}
	legend.Draw(draw.Crop(canvas, width/10, 0, 0, -entry/2))
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
	return err
}

// plot returns the panel on logarithmic axes, and its lines, nil for those that
// have no point to show.
func (n panel) plot() (*plot.Plot, []*plotter.Line, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = n.x, n.y
	curves := make([]*plotter.Line, len(n.lines))
	shown := false
	for i, l := range n.lines {
		if len(l.xy) == 0 {
			continue
		}
		c, dots, err := plotter.NewLinePoints(l.xy)
		if err != nil {
			return nil, nil, err
		}
		c.Color, c.Width = train.CurveColors[i%len(train.CurveColors)], vg.Points(1.2)
		dots.Color, dots.Radius, dots.Shape = c.Color, vg.Points(1), draw.CircleGlyph{}
		if i >= len(train.CurveColors) { // a second round of the colours
			c.Dashes = []vg.Length{vg.Points(4), vg.Points(2)}
		}
		if !shown {
			p.Add(plotter.NewGrid())
		}
		shown = true
		p.Add(c, dots)
		curves[i] = c
	}
	if !shown {
		p.HideAxes()
		return p, curves, nil
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		if axis.Min == axis.Max { // one point
			axis.Min, axis.Max = axis.Min/2, axis.Max*2
		}
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	}
	return p, curves, nil
}

// logTicks labels powers of ten, and their two- and fivefold where there are
// few of them.
func logTicks(low, high float64) []plot.Tick {
	ticks := plot.LogTicks{Prec: -1}.Ticks(low, high)
	if high > 100*low {
		return ticks
	}
	for i, t := range ticks {
		lead := math.Round(t.Value / math.Pow(10, math.Floor(math.Log10(t.Value))))
		if t.Label == "" && (lead == 2 || lead == 5) {
			ticks[i].Label = strconv.FormatFloat(t.Value, 'g', 6, 64) // 20, not 2e+01
		}
	}
	return ticks
}
