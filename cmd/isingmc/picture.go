package main

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/train/plots"
)

// picture returns a page of charts, one below the other: the autocorrelation of the energy, then the energies
// of each sampler, in the sampler's colour. After tuning, the rewards of the trials and the settings of the
// policy follow.
func picture(rows []row, t *tuning) *plots.Page {
	const height, strip, label = 8 * vg.Centimeter, 3 * vg.Centimeter, 6 * vg.Millimeter // label: height of the axis label of the last strip
	decay, legend := decayChart(rows).Plot()
	page, heights := []*plots.Plot{decay}, []vg.Length{height}
	for _, c := range energyStrips(rows) {
		p, _ := c.Plot()
		p.Y.Tick.Marker = plot.TickerFunc(fewTicks)
		page, heights = append(page, p), append(heights, strip)
	}
	heights[len(heights)-1] += label
	if t != nil && t.result != nil {
		reward, _ := rewardChart(t).Plot()
		page, heights = append(page, reward, policyPlot(t)), append(heights, height, height)
	}
	return plots.Column(page, 18*vg.Centimeter, heights, legend...)
}

const (
	// stripPoints is the number of energies in a strip, equally spaced in time:
	// one for every one or two pixels.
	stripPoints = 600
	// stripTaus is the length of a strip, divided by τ of the slowest sampler. So
	// a strip shows several slow changes of the energy, and their shape.
	stripTaus = 40
)

// energyStrips returns a chart of the energies of each sampler at the end of the run.
func energyStrips(rows []row) (strips []plots.Chart) {
	span, end := 0.0, math.Inf(1)
	for _, r := range rows {
		end = min(end, r.Elapsed.Seconds())
		span = max(span, stripTaus*r.secondsOf(r.Time.Tau))
	}
	if !(span < end) { // a short run, or τ is unknown
		span = end
	}
	unit, name := cli.TimeUnit(span)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		l := plots.Line{Name: r.name, Color: colorOf(rows, r)}
		blocks := r.Trace.Blocks()
		step := r.blockSeconds()
		skip := max(1, span/stripPoints/step)
		for at := max(0, (end-span)/step); at < float64(len(blocks)); at += skip {
			e := blocks[int(at)] / float64(r.system.Len())
			l.X, l.Y = append(l.X, (at*step-end+span)/unit), append(l.Y, e)
			lo, hi = min(lo, e), max(hi, e)
		}
		strips = append(strips, plots.Chart{Title: "Energy of " + r.name, Y: "per spin", Right: span / unit, Lines: []plots.Line{l}})
	}
	if !(lo < hi) {
		lo, hi = lo-0.5, hi+0.5
	}
	for i := range strips {
		strips[i].Low, strips[i].High = lo, hi
	}
	strips[len(strips)-1].X = "computing time at the end of the run / " + name
	return strips
}

// fewTicks returns up to three ticks for the energies of a strip.
func fewTicks(low, high float64) (few []plot.Tick) {
	all := plots.Ticks(low, high)
	for i := 0; i < len(all); i += (len(all) + 2) / 3 {
		few = append(few, all[i])
	}
	return few
}

// decayChart returns a chart of the autocorrelation ρ of the energy against the lag in time. The
// time axis is logarithmic, because samplers differ by powers of ten.
func decayChart(rows []row) plots.Chart {
	slowest := 0.0
	for _, r := range rows {
		slowest = max(slowest, lags(r)*r.blockSeconds())
	}
	unit, name := cli.TimeUnit(slowest)
	c := plots.Chart{Title: "Autocorrelation of the energy", X: "lag of computing time / " + name, Y: "autocorrelation", LogX: true, High: 1}
	for _, r := range rows {
		blocks := r.Trace.Blocks()
		rho := diag.Autocorrelation(blocks, len(blocks)/2)
		l := plots.Line{Name: r.name, Color: colorOf(rows, r)}
		// Lags are about 2 % apart, as fine as a logarithmic axis can show.
		for t := 1; t < len(rho) && float64(t) <= lags(r); t = max(t+1, t*51/50) {
			l.X, l.Y = append(l.X, float64(t)*r.blockSeconds()/unit), append(l.Y, rho[t])
			if rho[t] < c.Low {
				c.Low = rho[t]
			}
		}
		c.Lines = append(c.Lines, l)
	}
	c.Low = min(c.Low, -0.05)
	return c
}

// lags returns the largest lag in the plot of ρ, in blocks of the trace: twice the window of the estimate of
// τ, beyond which ρ is noise, and at least ten. If ρ decays slowly at the end, the largest lag is at least
// the length of a batch, where diag.Batches batches make up the trace.
func lags(r row) float64 {
	n := max(10, 2*float64(r.Time.Window)/float64(r.Trace.Stride()))
	if r.Slow {
		n = max(n, float64(len(r.Trace.Blocks())/diag.Batches))
	}
	return n
}

// blockSeconds returns the computing time of a block of the trace.
func (r row) blockSeconds() float64 { return r.secondsOf(float64(r.Trace.Stride())) }

// colorOf returns the index of the sampler's colour, from 1.
func colorOf(rows []row, r row) int {
	return 1 + slices.IndexFunc(rows, func(o row) bool { return o.contestant == r.contestant })
}
