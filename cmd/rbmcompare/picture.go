package main

import (
	"io"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"gorbm/negphase/compare"
	"gorbm/train/plots"
)

// A curve is a line of a plot with its points, all above 0.
type curve struct {
	name string
	xy   plotter.XYs
}

// add adds a point if logarithmic axes can show it.
func (c *curve) add(x, y float64) {
	if x > 0 && y > 0 && !math.IsInf(y, 0) {
		c.xy = append(c.xy, plotter.XY{X: x, Y: y})
	}
}

func distanceMean(pt compare.Point) float64 { return pt.Distance.Mean }
func distanceSD(pt compare.Point) float64   { return pt.Distance.SD }

const meanLabel, sdLabel = "distance, mean", "distance, standard deviation"

// drawCurves draws the distances of one model as PNG: mean above and standard
// deviation below, against steps on the left and seconds on the right.
func (p *plan) drawCurves(r result, w io.Writer) error {
	curves := func(x, y func(pt compare.Point) float64) (all []curve) {
		for i, c := range r.curves {
			l := curve{name: p.names[i]}
			for _, pt := range c.Points {
				l.add(x(pt), y(pt))
			}
			all = append(all, l)
		}
		return all
	}
	// withFloor adds a line at the error of the reference to a plot of mean
	// distances: a distance near it may be nothing but that error.
	withFloor := func(all []curve) []curve {
		if r.truth.Exact {
			return all
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, l := range all {
			for _, xy := range l.xy {
				low, high = min(low, xy.X), max(high, xy.X)
			}
		}
		floor := curve{name: "error of the reference"}
		if low <= high {
			floor.add(low, r.truth.StdErr)
			floor.add(high, r.truth.StdErr)
		}
		return append(all, floor)
	}
	steps := func(pt compare.Point) float64 { return pt.Steps }
	seconds := func(pt compare.Point) float64 { return pt.Seconds }
	const stepsLabel = "Gibbs steps of each chain"
	mean, legend := plotCurves(stepsLabel, meanLabel, withFloor(curves(steps, distanceMean)))
	meanTime, _ := plotCurves("seconds", "", withFloor(curves(seconds, distanceMean)))
	sd, _ := plotCurves(stepsLabel, sdLabel, curves(steps, distanceSD))
	sdTime, _ := plotCurves("seconds", "", curves(seconds, distanceSD))
	return save(w, legend, []*plots.Plot{mean, meanTime}, []*plots.Plot{sd, sdTime})
}

// drawRun draws the distances at the last step against the step of training.
func (p *plan) drawRun(results []result, w io.Writer) error {
	curves := func(y func(pt compare.Point) float64) (all []curve) {
		for i, name := range p.names {
			l := curve{name: name}
			for _, r := range results {
				l.add(float64(r.Step), y(r.curves[i].Last()))
			}
			all = append(all, l)
		}
		return all
	}
	mean, legend := plotCurves("step of training", meanLabel, curves(distanceMean))
	sd, _ := plotCurves("step of training", sdLabel, curves(distanceSD))
	return save(w, legend, []*plots.Plot{mean}, []*plots.Plot{sd})
}

func save(w io.Writer, legend []plots.LegendEntry, rows ...[]*plots.Plot) error {
	return plots.Grid(w, rows, 13*vg.Centimeter, 8*vg.Centimeter, 3*vg.Millimeter, legend...)
}

// plotCurves returns a plot of the curves that have points, on logarithmic
// axes, and its legend. From the seventh curve on lines are dashed and colours
// come again.
func plotCurves(x, y string, curves []curve) (p *plots.Plot, legend []plots.LegendEntry) {
	p = plots.New(x, y)
	for i, c := range curves {
		if len(c.xy) == 0 {
			continue
		}
		if len(legend) == 0 {
			p.Grid()
		}
		ink := plots.Colors[i%len(plots.Colors)]
		line := p.Line(c.xy, ink, vg.Points(1.2))
		p.Dots(c.xy, ink, vg.Points(1))
		if i >= len(plots.Colors) {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(2)}
		}
		legend = append(legend, plots.LegendEntry{Name: c.name, Line: line})
	}
	if len(legend) == 0 {
		p.HideAxes()
		return p, nil
	}
	p.Log(&p.X, &p.Y)
	return p, legend
}
