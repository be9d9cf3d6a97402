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
	"gorbm/train/plots"
)

// undecided is the colour of a cell in which no estimator beats pcd.
var undecided = color.RGBA{0xBB, 0xBB, 0xBB, 0xFF}

// yellow is the seventh colour of Okabe and Ito, which is too light for lines.
var yellow = color.RGBA{0xF0, 0xE4, 0x42, 0xFF}

// ink returns the colour of an estimator, and undecided for pcd.
func ink(name string) color.RGBA {
	i := slices.Index(names(), name)
	if i == 0 {
		return undecided
	}
	return append(plots.Colors, yellow)[i-1]
}

// draw draws the map: a cell for each data and each budget, in the colour of the estimator that
// is nearest to the law there.
func draw(w io.Writer, t *claims.Table, problems []problem) error {
	p := plots.New("", "s of updates")
	var xTicks, yTicks []plot.Tick
	var budgets []float64
	column := 0
	for _, d := range problems {
		xs := t.Xs(d.name, estimators[0].name)
		if len(xs) == 0 {
			continue
		}
		budgets = xs
		for k, x := range xs {
			v := winner(t, d, x)
			c := undecided
			if v.sure {
				c = ink(v.best)
			}
			base, _ := t.At(d.name, estimators[0].name, x).Average()
			text := []string{fmt.Sprintf("%s (pcd %s)", digits(v.nats), digits(base)), strings.Join(group(v), ", ")}
			left, low := float64(column), float64(k)
			p.Area(plotter.XYs{{X: left, Y: low}, {X: left + 0.96, Y: low}, {X: left + 0.96, Y: low + 0.94}, {X: left, Y: low + 0.94}}, c)
			p.Label(left+0.48, low+0.2, text[0])
			p.Label(left+0.48, low+0.5, text[1])
		}
		words := strings.ReplaceAll(d.name, ", ", "\n")
		xTicks = append(xTicks, plot.Tick{Value: float64(column) + 0.48, Label: words})
		column++
	}
	for k, x := range budgets {
		yTicks = append(yTicks, plot.Tick{Value: float64(k) + 0.47, Label: fmt.Sprintf("%.2g", x)})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(xTicks), plot.ConstantTicks(yTicks)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(column), 0, float64(len(budgets))
	p.Title.Text = "nearest to the law, with its nats below the law; grey: not beyond the error"
	return plots.Column([]*plots.Plot{p}, vg.Length(max(4, column))*3.4*vg.Centimeter, []vg.Length{10 * vg.Centimeter}).Write(w, plots.PNG)
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
	case "pcd, as many chains as pt":
		return "pcd 100"
	case "pt, ladder of the paper":
		return "pt 1…5"
	}
	return name
}
