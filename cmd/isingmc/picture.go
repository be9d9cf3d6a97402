package main

import (
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/train/plots"
)

// picture draws, as PNG, the autocorrelation of the energy against computing
// time, and below it a strip of the energies of each sampler, in its colour. After
// tuning there follow the rewards of the trials and the policy.
func picture(w io.Writer, rows []row, t *tuning) error {
	const height, strip, label = 8 * vg.Centimeter, 3.2 * vg.Centimeter, 5 * vg.Millimeter // label: of the last strip's axis
	page, heights := []*plots.Plot{decayPlot(rows)}, []vg.Length{height}
	for _, p := range energyStrips(rows) {
		page, heights = append(page, p), append(heights, strip)
	}
	heights[len(heights)-1] += label
	if t != nil && t.result != nil {
		page, heights = append(page, rewardPlot(t), policyPlot(t)), append(heights, height, height)
	}
	return plots.Column(w, page, 18*vg.Centimeter, heights)
}

const (
	// stripPoints is the number of energies that a strip shows, equally spaced
	// in time: one for every one or two pixels.
	stripPoints = 600
	// stripTaus is the length of a strip in τ of the slowest sampler. It is long
	// enough to show that the energy wanders, and short enough to show how.
	stripTaus = 40
)

// energyStrips shows the energies at the end of the run.
func energyStrips(rows []row) (strips []*plots.Plot) {
	span, end := 0.0, math.Inf(1)
	for _, r := range rows {
		end = min(end, r.seconds)
		span = max(span, stripTaus*r.secondsOf(r.Time.Tau))
	}
	if !(span < end) { // or τ is unknown
		span = end
	}
	unit, name := cli.TimeUnit(span)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		p := plots.New("", "E / spin")
		p.Title.Text = r.name
		p.Title.TextStyle.Color = colorOf(rows, r)
		p.Y.Tick.Marker, p.X.Tick.Marker = plot.TickerFunc(fewTicks), plots.Ticks
		p.Grid()
		blocks := r.trace.Blocks()
		step := r.blockSeconds()
		skip := max(1, span/stripPoints/step)
		var xy plotter.XYs
		for at := max(0, (end-span)/step); at < float64(len(blocks)); at += skip {
			e := blocks[int(at)] / float64(r.system.Len())
			xy = append(xy, plotter.XY{X: (at*step - end + span) / unit, Y: e})
			lo, hi = min(lo, e), max(hi, e)
		}
		p.Line(xy, colorOf(rows, r), vg.Points(0.7))
		strips = append(strips, p)
	}
	if !(lo < hi) {
		lo, hi = lo-0.5, hi+0.5
	}
	for _, s := range strips {
		s.Y.Min, s.Y.Max = lo, hi
		s.X.Min, s.X.Max = 0, span/unit
	}
	strips[len(strips)-1].X.Label.Text = "computing time at the end of the run / " + name
	return strips
}

// fewTicks are the ticks of a strip's energies: up to three, all with labels.
func fewTicks(low, high float64) (few []plot.Tick) {
	labelled := slices.DeleteFunc(plots.Ticks(low, high), func(t plot.Tick) bool { return t.Label == "" })
	for i := 0; i < len(labelled); i += (len(labelled) + 2) / 3 {
		few = append(few, labelled[i])
	}
	return few
}

// decayPlot shows the autocorrelation ρ against the lag in time. The axis is
// logarithmic, because samplers differ by powers of ten.
func decayPlot(rows []row) *plots.Plot {
	slowest := 0.0
	for _, r := range rows {
		slowest = max(slowest, lags(r)*r.blockSeconds())
	}
	unit, name := cli.TimeUnit(slowest)
	p := plots.New("lag of computing time / "+name, "autocorrelation of the energy")
	p.Grid()
	p.Legend.Top = true
	p.Legend.Padding = vg.Millimeter
	for _, r := range rows {
		blocks := r.trace.Blocks()
		rho := diag.Autocorrelation(blocks, len(blocks)/2)
		var xy plotter.XYs
		// Lags are 2 % apart, which a logarithmic axis can show.
		for t := 1; t < len(rho) && float64(t) <= lags(r); t = max(t+1, t*51/50) {
			xy = append(xy, plotter.XY{X: float64(t) * r.blockSeconds() / unit, Y: rho[t]})
		}
		if len(xy) == 0 || math.IsNaN(xy[0].Y) || !(xy[0].X > 0) {
			continue
		}
		p.Legend.Add(r.name, p.Line(xy, colorOf(rows, r), vg.Points(1.4)))
	}
	p.Log(&p.X)
	p.Y.Min, p.Y.Max = min(p.Y.Min, -0.05), 1
	return p
}

// lags returns how many blocks of the trace the plot of ρ goes back: twice the
// window of τ, beyond which ρ is noise, and at least ten. If ρ falls slowly at the
// end, it is at least the length of a batch.
func lags(r row) float64 {
	n := max(10, 2*float64(r.Time.Window)/float64(r.trace.Stride()))
	if r.Slow {
		n = max(n, float64(len(r.trace.Blocks())/diag.Batches))
	}
	return n
}

// blockSeconds returns the computing time of a block of the trace.
func (r row) blockSeconds() float64 { return r.secondsOf(float64(r.trace.Stride())) }

// colorOf returns the sampler's colour.
func colorOf(rows []row, r row) color.Color {
	return plots.Colors[slices.IndexFunc(rows, func(o row) bool { return o.contestant == r.contestant })]
}
