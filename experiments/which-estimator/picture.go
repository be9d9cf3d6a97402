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

	"gorbm/experiments/internal/figures"
	"gorbm/train/plots"
)

// undecided is the colour of a cell in which no estimator beats pcd.
var undecided = color.RGBA{0xBB, 0xBB, 0xBB, 0xFF}

// yellow is the seventh colour of Okabe and Ito, which is too light for lines.
var yellow = color.RGBA{0xF0, 0xE4, 0x42, 0xFF}

// ink returns the colour of an estimator, and undecided for pcd.
func ink(name string) color.RGBA {
	i := slices.Index(names(estimators), name)
	if i == 0 {
		return undecided
	}
	return append(plots.Colors, yellow)[i-1]
}

// drawMap draws a map with a row for each data set and a column for each computing time. A cell has the colour of the
// best estimator.
func drawMap(w io.Writer, t *figures.Table, problems []problem) error {
	p := plots.New("s of updates", "")
	problems = slices.DeleteFunc(slices.Clone(problems), func(d problem) bool { return len(t.Xs(d.name, estimators[0].name)) == 0 })
	var xTicks, yTicks []plot.Tick
	for i, d := range problems {
		low := float64(len(problems) - 1 - i)
		xTicks = nil
		for k, x := range t.Xs(d.name, estimators[0].name) {
			v := winner(t, d, x)
			ground := undecided
			if v.sure {
				ground = ink(v.best)
			}
			base := t.At(d.name, estimators[0].name, x).Mean()
			left := float64(k)
			p.Area(plotter.XYs{{X: left, Y: low}, {X: left + 0.97, Y: low}, {X: left + 0.97, Y: low + 0.95}, {X: left, Y: low + 0.95}}, ground)
			p.Label(left+0.485, low+0.14, fmt.Sprintf("%s (pcd %s)", digits(v.nats), digits(base)))
			p.Label(left+0.485, low+0.52, strings.Join(group(v), ", "))
			xTicks = append(xTicks, plot.Tick{Value: left + 0.485, Label: fmt.Sprintf("%.2g", x)})
		}
		yTicks = append(yTicks, plot.Tick{Value: low + 0.475, Label: strings.ReplaceAll(d.name, ", ", "\n")})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(xTicks), plot.ConstantTicks(yTicks)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(len(xTicks)), 0, float64(len(yTicks))
	p.Title.Text = "best estimator and its nats below the truth; grey: not better than pcd by three standard errors"
	height := vg.Length(len(yTicks))*1.1*vg.Centimeter + 2*vg.Centimeter
	return plots.Column([]*plots.Plot{p}, vg.Length(max(4, len(xTicks)))*3.2*vg.Centimeter+3*vg.Centimeter, []vg.Length{height}).Write(w, plots.PNG)
}

// group returns the best estimator and those that it does not beat, at most three names.
func group(v verdict) (all []string) {
	for _, name := range append([]string{v.best}, v.others...) {
		all = append(all, short(name))
	}
	if len(all) > 3 {
		all = append(all[:2], fmt.Sprintf("%d more", len(all)-2))
	}
	return all
}

// digits formats nats for a cell.
func digits(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2f", max(0, x))
	}
	return fmt.Sprintf("%.0f", x)
}

// short returns a name of an estimator that fits into a cell.
func short(name string) string {
	switch name {
	case manyPCD:
		return "many pcd"
	case paperPT:
		return "pt 1…5"
	}
	return name
}
