package main

import (
	"gonum.org/v1/plot/vg"

	"gorbm/cmd/cli"
	"gorbm/negphase/compare"
	"gorbm/train/plots"
)

const distance, spread = "distance from the exact one", "standard deviation of the distance"

// charts returns charts of the mean and standard deviation of the distances on one model,
// against steps and seconds.
func (p *plan) charts(r result) []plots.Chart {
	chart := func(title, quantity, x string, at, y func(pt compare.Point) float64) plots.Chart {
		c := plots.Chart{Title: title, X: x, Y: quantity, LogX: true, LogY: true}
		for i, curve := range r.curves {
			l := plots.Line{Name: p.names[i], Dots: true}
			for _, pt := range curve.Points {
				l.X, l.Y = append(l.X, at(pt)), append(l.Y, y(pt))
			}
			c.Lines = append(c.Lines, l)
		}
		return c
	}
	// withFloor adds a line at the error of the reference. A mean distance near this line may be only the
	// error of the reference.
	withFloor := func(c plots.Chart) plots.Chart {
		if x, _ := c.Axes(); !r.truth.Exact && !c.Empty() {
			c.Lines = append(c.Lines, plots.Line{Name: "error of the reference", Dashed: true,
				X: []float64{x.Low, x.High}, Y: []float64{r.truth.StdErr, r.truth.StdErr}})
		}
		return c
	}
	steps := func(pt compare.Point) float64 { return pt.Steps }
	seconds := func(pt compare.Point) float64 { return pt.Seconds }
	mean := func(pt compare.Point) float64 { return pt.Distance.Mean }
	sd := func(pt compare.Point) float64 { return pt.Distance.SD }
	const stepsLabel, secondsLabel = "Gibbs steps of each chain", "computing time / s"
	repeats := " over " + cli.Count(r.curves[0].Repeats, "repeat")
	return []plots.Chart{
		withFloor(chart("Mean"+repeats, distance, stepsLabel, steps, mean)), withFloor(chart("Mean"+repeats, distance, secondsLabel, seconds, mean)),
		chart("Spread"+repeats, spread, stepsLabel, steps, sd), chart("Spread"+repeats, spread, secondsLabel, seconds, sd),
	}
}

// alongRun returns charts of the distances at the last Gibbs step, against the step of training.
func (p *plan) alongRun(results []result) (all []plots.Chart) {
	for _, s := range []struct {
		title, quantity string
		value           func(pt compare.Point) float64
	}{
		{"Mean along the run", distance, func(pt compare.Point) float64 { return pt.Distance.Mean }},
		{"Spread along the run", spread, func(pt compare.Point) float64 { return pt.Distance.SD }},
	} {
		c := plots.Chart{Title: s.title, X: "step of training", Y: s.quantity, LogX: true, LogY: true}
		for i, name := range p.names {
			l := plots.Line{Name: name, Dots: true}
			for _, r := range results {
				l.X, l.Y = append(l.X, float64(r.Step)), append(l.Y, s.value(r.curves[i].Last()))
			}
			c.Lines = append(c.Lines, l)
		}
		all = append(all, c)
	}
	return all
}

// picture returns a page with two charts in a row, or nil if there is nothing to draw.
func picture(charts []plots.Chart) *plots.Page {
	return plots.Charts(charts, 2, 13*vg.Centimeter, 8*vg.Centimeter)
}
