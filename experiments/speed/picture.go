package main

import (
	"image/color"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gorbm/train/plots"
)

var programColors = map[string]color.RGBA{
	gorbm: plots.Colors[0], numPy: plots.Colors[1], torch: plots.Colors[2],
	sklearn: plots.Colors[3],
}

// shortNames are names of items for the axis.
var shortNames = map[string]string{ptSection: "PT", insSection: "INS", statesSection: "groups of\n21 states", labelsSection: "log p(y|x)\ngradient", classifySection: "p(y|x)", aisSection: "AIS", exactSection: "exact\nlog Z"}

// plots returns plots of the ratios of times of peers and gorbm, and of the times of
// an update against batch and hidden units.
func (r *Result) plots() (all []*plots.Plot) {
	if bars := ratioPlot(r); bars != nil {
		all = append(all, bars)
	}
	scaling := r.items(scalingSection)
	for _, s := range []struct {
		label string
		in    func(j job) bool
		x     func(j job) int
	}{
		{"batch, at 784 × 500", func(j job) bool { return j.Visible == inputs && j.Hidden == hidden }, func(j job) int { return j.Batch }},
		{"hidden units, at 784 inputs and batch 100", func(j job) bool { return j.Visible == inputs && j.Batch == 100 }, func(j job) int { return j.Hidden }},
	} {
		if p := scalingPlot(scaling, s.label, s.in, s.x); p != nil {
			all = append(all, p)
		}
	}
	return all
}

// picture draws plots as PNG, one below the other, with the names of the programs
// above.
func picture(w io.Writer, all []*plots.Plot) error {
	const width, height = 18 * vg.Centimeter, 9 * vg.Centimeter
	var legend []plots.LegendEntry
	for _, program := range []string{gorbm, numPy, torch, sklearn} {
		line := &plotter.Line{LineStyle: draw.LineStyle{Color: programColors[program], Width: vg.Points(3)}}
		legend = append(legend, plots.LegendEntry{Name: program, Mark: line})
	}
	return plots.Column(all, width, slices.Repeat([]vg.Length{height}, len(all)), legend...).Write(w, plots.PNG)
}

// ratioPlot returns a plot with a group of bars for each item, and in it a bar for each peer with the range
// over rounds. Gorbm is a line at 1. It is nil if there are no peers.
func ratioPlot(r *Result) *plots.Plot {
	var items []Item
	var names []string
	for _, it := range r.Items {
		if it.Section == scalingSection || len(it.Ratios) == 0 {
			continue
		}
		name := shortNames[it.Section]
		if it.Section == updateSection {
			name = "PCD-1\nbatch " + strconv.Itoa(it.Job.Batch)
		}
		items, names = append(items, it), append(names, name)
	}
	if len(items) == 0 {
		return nil
	}
	p := plots.New("", "times faster than the peer")
	p.NominalX(names...)
	p.Grid()
	p.Title.Text = "How many times faster gorbm is than each peer; lines: the range over rounds"
	p.Y.Min, p.Y.Max = 0, 1.25
	const bar = 0.27 // in units of the distance between groups
	for _, program := range []string{numPy, torch, sklearn} {
		for i, it := range items {
			for k, ratio := range it.Ratios {
				if ratio.Program != program {
					continue
				}
				x := float64(i) + bar*(float64(k)-float64(len(it.Ratios)-1)/2)
				box := p.Area(plotter.XYs{{X: x - bar*.45, Y: 0}, {X: x + bar*.45, Y: 0}, {X: x + bar*.45, Y: ratio.Ratio}, {X: x - bar*.45, Y: ratio.Ratio}}, programColors[program])
				box.Color = programColors[program]
				p.Line(plotter.XYs{{X: x, Y: ratio.Low}, {X: x, Y: ratio.High}}, color.Black, vg.Points(1))
				p.Label(x, ratio.High, strconv.FormatFloat(ratio.Ratio, 'g', 2, 64))
				p.Y.Max = max(p.Y.Max, 1.1*ratio.High) // room for the number
			}
		}
	}
	one := p.Line(plotter.XYs{{X: -0.5, Y: 1}, {X: float64(len(items)) - 0.5, Y: 1}}, color.Black, vg.Points(1))
	one.Dashes = []vg.Length{vg.Points(1), vg.Points(3)}
	p.X.Min, p.X.Max = -0.5, float64(len(items))-0.5
	return p
}

// scalingPlot returns a plot of the times of updates with each program's best number of threads, as in
// the table, on logarithmic axes. It is nil for fewer than two sizes.
func scalingPlot(items []Item, label string, in func(j job) bool, x func(j job) int) *plots.Plot {
	p := plots.New(label, "time of an update / ms")
	p.Title.Text = "Time of an update, best threads of each, against " + label
	p.Grid()
	most := 0
	for _, program := range []string{gorbm, numPy, torch} {
		var xy plotter.XYs
		for i := range items {
			it := &items[i]
			if !in(it.Job) {
				continue
			}
			if e := it.fastest(program, 0); e != nil {
				xy = append(xy, plotter.XY{X: float64(x(it.Job)), Y: 1e3 * e.Median})
			}
		}
		if len(xy) == 0 {
			continue
		}
		most = max(most, len(xy))
		p.Line(xy, programColors[program], vg.Points(1.4))
		p.Dots(xy, programColors[program], vg.Points(2.5))
	}
	if most < 2 {
		return nil
	}
	p.Log(&p.X, &p.Y)
	return p
}
