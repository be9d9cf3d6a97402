package main

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/race"
	"gorbm/train/plots"
)

// undecided is the colour of a cell in which no estimator beats pcd.
var undecided = color.RGBA{0xBB, 0xBB, 0xBB, 0xFF}

// yellow is the seventh colour of Okabe and Ito, which is too light for lines.
var yellow = color.RGBA{0xF0, 0xE4, 0x42, 0xFF}

// ink returns the colour of an estimator, and undecided for pcd.
func ink(name string) color.RGBA {
	i := slices.Index(race.Names(estimators), name)
	if i == 0 {
		return undecided
	}
	return append(plots.Colors, yellow)[i-1]
}

// A column of a map has a cell for each x of some data.
type column struct {
	problem
	label string
	xs    []float64
}

// drawMap draws the map of the budgets: a column for each data.
func drawMap(w io.Writer, t *claims.Table, problems []problem) error {
	var columns []column
	var rows []string
	for _, d := range problems {
		xs := t.Xs(d.Name, estimators[0].Name)
		if len(xs) == 0 {
			continue
		}
		columns = append(columns, column{d, strings.ReplaceAll(d.Name, ", ", "\n"), xs})
		rows = nil
		for _, x := range xs {
			rows = append(rows, fmt.Sprintf("%.2g", x))
		}
	}
	return drawCells(w, t, "nearest to the law, with its nats below the law; grey: not better than pcd beyond the error", "s of updates", columns, rows)
}

// cells says what is in a cell.
const cells = "In the picture a cell names the best estimator and those that it does not beat, with the nats of the best and of pcd. It is grey where the best does not beat pcd.\n"

// drawCells draws cells in the colour of the estimator that is the best there.
func drawCells(w io.Writer, t *claims.Table, title, y string, columns []column, rows []string) error {
	p := plots.New("", y)
	var xTicks, yTicks []plot.Tick
	for at, c := range columns {
		for k, x := range c.xs {
			v := winner(t, c.problem, x)
			ground := undecided
			if v.sure {
				ground = ink(v.best)
			}
			base, _ := t.At(c.Name, estimators[0].Name, x).Average()
			left, low := float64(at), float64(k)
			p.Area(plotter.XYs{{X: left, Y: low}, {X: left + 0.96, Y: low}, {X: left + 0.96, Y: low + 0.94}, {X: left, Y: low + 0.94}}, ground)
			p.Label(left+0.48, low+0.2, fmt.Sprintf("%s (pcd %s)", digits(v.nats), digits(base)))
			p.Label(left+0.48, low+0.5, strings.Join(group(v), ", "))
		}
		xTicks = append(xTicks, plot.Tick{Value: float64(at) + 0.48, Label: c.label})
	}
	for k, label := range rows {
		yTicks = append(yTicks, plot.Tick{Value: float64(k) + 0.47, Label: label})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(xTicks), plot.ConstantTicks(yTicks)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(len(columns)), 0, float64(len(rows))
	p.Title.Text = title
	height := vg.Length(len(rows))*1.8*vg.Centimeter + vg.Centimeter
	return plots.Column([]*plots.Plot{p}, vg.Length(max(4, len(columns)))*3.4*vg.Centimeter, []vg.Length{height}).Write(w, plots.PNG)
}

// group returns the best estimator and those that it does not beat, three at most.
func group(v verdict) (all []string) {
	for _, name := range append([]string{v.best}, v.others...) {
		all = append(all, short(name))
	}
	if len(all) > 3 {
		all = append(all[:2], fmt.Sprintf("%d more", len(all)-2))
	}
	return all
}

// digits returns nats for a cell.
func digits(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2f", max(0, x))
	}
	return fmt.Sprintf("%.0f", x)
}

// short returns the name of an estimator that fits a cell.
func short(name string) string {
	switch name {
	case manyPCD:
		return "many pcd"
	case paperPT:
		return "pt 1…5"
	}
	return name
}
