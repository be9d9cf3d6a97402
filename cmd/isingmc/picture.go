package main

import (
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
)

// samplerColors are Okabe and Ito's, told apart by the colour-blind.
var samplerColors = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF},
	{0xCC, 0x79, 0xA7, 0xFF}, {0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF},
}

// picture draws, as PNG, the autocorrelation of the energy against computing
// time, and below it a strip of the energies of each sampler, in its colour.
func picture(w io.Writer, rows []row) error {
	decay, err := decayPlot(rows)
	if err != nil {
		return err
	}
	strips, err := energyStrips(rows)
	if err != nil {
		return err
	}
	const width, height, strip, dpi = 18 * vg.Centimeter, 8 * vg.Centimeter, 3.2 * vg.Centimeter, 144
	const label = 5 * vg.Millimeter // of the last strip's axis
	whole := vgimg.NewWith(vgimg.UseWH(width, height+strip*vg.Length(len(strips))+label), vgimg.UseDPI(dpi))
	page := draw.New(whole)
	top := page.Max.Y
	put := func(p *plot.Plot, height vg.Length) {
		const margin, right = 2 * vg.Millimeter, 6 * vg.Millimeter
		p.Draw(draw.Crop(page, margin, -right, top-height-page.Min.Y+margin, top-page.Max.Y-margin))
		top -= height
	}
	put(decay, height)
	for i, p := range strips {
		if i == len(strips)-1 {
			put(p, strip+label)
		} else {
			put(p, strip)
		}
	}
	_, err = vgimg.PngCanvas{Canvas: whole}.WriteTo(w)
	return err
}

const (
	// stripPoints is the number of energies shown of each sampler, at equal
	// lags of time: about one to two pixels.
	stripPoints = 600
	// stripTaus is how many τ of the slowest sampler the energies span: enough
	// to see it wander, few enough to see how.
	stripTaus = 40
)

// energyStrips shows the energies at the end of the run.
func energyStrips(rows []row) (strips []*plot.Plot, err error) {
	span, end := 0.0, math.Inf(1)
	for _, r := range rows {
		end = min(end, r.seconds)
		span = max(span, stripTaus*r.secondsOf(r.Time.Tau))
	}
	if !(span < end) { // or not known
		span = end
	}
	unit, name := cli.TimeUnit(span)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		p := plot.New()
		p.Title.Text = r.name
		p.Title.TextStyle.Color = colorOf(rows, r)
		p.Y.Label.Text = "E / spin"
		p.Y.Tick.Marker, p.X.Tick.Marker = plot.TickerFunc(fewTicks), plot.TickerFunc(ticks)
		p.Add(plotter.NewGrid())
		blocks := r.trace.Blocks()
		step := r.blockSeconds()
		skip := max(1, span/stripPoints/step)
		var xy plotter.XYs
		for at := max(0, (end-span)/step); at < float64(len(blocks)); at += skip {
			e := blocks[int(at)] / float64(r.system.Len())
			xy = append(xy, plotter.XY{X: (at*step - end + span) / unit, Y: e})
			lo, hi = min(lo, e), max(hi, e)
		}
		line, err := newLine(xy, colorOf(rows, r), vg.Points(0.7))
		if err != nil {
			return nil, err
		}
		p.Add(line)
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
	return strips, nil
}

// ticks are the usual ones, labelled with all their digits.
func ticks(low, high float64) []plot.Tick {
	all := plot.DefaultTicks{}.Ticks(low, high)
	for i, t := range all {
		if t.Label != "" {
			all[i].Label = strconv.FormatFloat(t.Value, 'g', 6, 64) // not 1.3500000000000001
		}
	}
	return all
}

// fewTicks are the ticks of a strip's energies: labelled ones alone, up to three.
func fewTicks(low, high float64) (few []plot.Tick) {
	labelled := slices.DeleteFunc(ticks(low, high), func(t plot.Tick) bool { return t.Label == "" })
	for i := 0; i < len(labelled); i += (len(labelled) + 2) / 3 {
		few = append(few, labelled[i])
	}
	return few
}

// decades are the ticks of an axis of decimal logarithms.
func decades(low, high float64) (all []plot.Tick) {
	for d := math.Floor(low); d <= high; d++ {
		for i := 1; i < 10; i++ {
			t := plot.Tick{Value: d + math.Log10(float64(i))}
			if i == 1 {
				t.Label = strconv.FormatFloat(math.Pow10(int(d)), 'g', -1, 64)
			}
			if low <= t.Value && t.Value <= high {
				all = append(all, t)
			}
		}
	}
	return all
}

// decayPlot shows ρ against the lag in time, on a logarithmic axis as samplers
// differ by powers of ten.
func decayPlot(rows []row) (*plot.Plot, error) {
	p := plot.New()
	p.Y.Label.Text = "autocorrelation of the energy"
	p.X.Tick.Marker = plot.TickerFunc(decades)
	p.Add(plotter.NewGrid())
	p.Legend.Top = true
	p.Legend.Padding = vg.Millimeter
	slowest := 0.0
	for _, r := range rows {
		slowest = max(slowest, lags(r)*r.blockSeconds())
	}
	unit, name := cli.TimeUnit(slowest)
	p.X.Label.Text = "lag of computing time / " + name
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		blocks := r.trace.Blocks()
		rho := diag.Autocorrelation(blocks, len(blocks)/2)
		var xy plotter.XYs
		// Lags that a logarithmic axis tells apart, up to where ρ is noise.
		for t := 1; t < len(rho) && float64(t) <= lags(r); t = max(t+1, t*51/50) {
			xy = append(xy, plotter.XY{X: math.Log10(float64(t) * r.blockSeconds() / unit), Y: rho[t]})
		}
		if len(xy) == 0 || math.IsNaN(xy[0].Y) {
			continue
		}
		lo, hi = min(lo, xy[0].X), max(hi, xy[len(xy)-1].X)
		line, err := newLine(xy, colorOf(rows, r), vg.Points(1.4))
		if err != nil {
			return nil, err
		}
		p.Add(line)
		p.Legend.Add(r.name, line)
	}
	if lo < hi {
		p.X.Min, p.X.Max = lo, hi
	}
	p.Y.Min, p.Y.Max = min(p.Y.Min, -0.05), 1
	return p, nil
}

// lags is the number of blocks beyond which ρ is noise: twice the window of τ,
// and some if there is next to none; of a slow tail as many as a batch of it has.
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
	return samplerColors[slices.IndexFunc(rows, func(o row) bool { return o.contestant == r.contestant })]
}

// newLine returns a line of the given colour and width.
func newLine(xy plotter.XYs, c color.Color, width vg.Length) (*plotter.Line, error) {
	line, err := plotter.NewLine(xy)
	if err != nil {
		return nil, err
	}
	line.Color, line.Width = c, width
	return line, nil
}
