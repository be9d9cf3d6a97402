package main

import (
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"gorbm/train"
)

var programColors = map[string]color.RGBA{
	gorbm: train.CurveColors[0], numPy: train.CurveColors[1], torch: train.CurveColors[2],
	sklearn: train.CurveColors[3], loopsGo: train.CurveColors[4],
}

// short names of items for the axis.
var shortNames = map[string]string{ptSection: "PT", insSection: "INS", classifySection: "p(y|x)", aisSection: "AIS", exactSection: "exact\nlog Z"}

// plots shows how many times faster gorbm is than each peer, and the times of
// an update against batch and hidden units, as far as there are any.
func (r *Result) plots() ([]*plot.Plot, error) {
	var plots []*plot.Plot
	bars, err := ratioPlot(r)
	if err != nil {
		return nil, err
	}
	if bars != nil {
		plots = append(plots, bars)
	}
	scaling := r.of(scalingSection)
	for _, s := range []struct {
		label string
		in    func(j job) bool
		x     func(j job) int
	}{
		{"batch, at 784 × 500", func(j job) bool { return j.Visible == inputs && j.Hidden == hidden }, func(j job) int { return j.Batch }},
		{"hidden units, at 784 inputs and batch 100", func(j job) bool { return j.Visible == inputs && j.Batch == 100 }, func(j job) int { return j.Hidden }},
	} {
		p, err := scalingPlot(scaling, s.label, s.in, s.x)
		if err != nil {
			return nil, err
		}
		if p != nil {
			plots = append(plots, p)
		}
	}
	return plots, nil
}

// picture draws plots as PNG, one under the other.
func picture(w io.Writer, plots []*plot.Plot) error {
	const width, height, dpi, margin = 18 * vg.Centimeter, 9 * vg.Centimeter, 144, 3 * vg.Millimeter
	whole := vgimg.NewWith(vgimg.UseWH(width, height*vg.Length(len(plots))), vgimg.UseDPI(dpi))
	page := draw.New(whole)
	for i, p := range plots {
		top := page.Max.Y - height*vg.Length(i)
		p.Draw(draw.Crop(page, margin, -margin, top-height-page.Min.Y+margin, top-page.Max.Y-margin))
	}
	_, err := vgimg.PngCanvas{Canvas: whole}.WriteTo(w)
	return err
}

// ratioPlot has a group of bars an item, a bar a peer, with the range over
// rounds; nil if there are no peers. A line at 1 is gorbm itself.
func ratioPlot(r *Result) (*plot.Plot, error) {
	var items []Item
	var names []string
	for _, it := range r.Items {
		if it.Section == scalingSection || len(it.Ratios) == 0 {
			continue
		}
		name := shortNames[it.Section]
		switch it.Section {
		case updateSection:
			name = "PCD-1\nbatch " + strconv.Itoa(it.Job.Batch)
		case twinSection:
			name = "plain Go\nbatch " + strconv.Itoa(it.Job.Batch)
		}
		items, names = append(items, it), append(names, name)
	}
	if len(items) == 0 {
		return nil, nil
	}
	p := plot.New()
	p.Y.Label.Text = "times faster than the peer"
	p.NominalX(names...)
	p.Add(plotter.NewGrid())
	p.Legend.Top = true
	p.Y.Min, p.Y.Max = 0, 1.25
	const bar = 0.2 // of the distance between groups
	for _, program := range []string{numPy, torch, sklearn, loopsGo} {
		shown := false
		for i, it := range items {
			for k, ratio := range it.Ratios {
				if ratio.Program != program {
					continue
				}
				x := float64(i) + bar*(float64(k)-float64(len(it.Ratios)-1)/2)
				box, err := plotter.NewPolygon(plotter.XYs{{X: x - bar*.45, Y: 0}, {X: x + bar*.45, Y: 0}, {X: x + bar*.45, Y: ratio.Ratio}, {X: x - bar*.45, Y: ratio.Ratio}})
				if err != nil {
					return nil, err
				}
				box.Color, box.LineStyle.Width = programColors[program], 0
				span, err := plotter.NewLine(plotter.XYs{{X: x, Y: ratio.Low}, {X: x, Y: ratio.High}})
				if err != nil {
					return nil, err
				}
				text, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: ratio.High}}, Labels: []string{strconv.FormatFloat(ratio.Ratio, 'g', 2, 64)}})
				if err != nil {
					return nil, err
				}
				text.TextStyle[0].XAlign = draw.XCenter
				text.TextStyle[0].Font.Size = vg.Points(8) // neighbours keep apart
				text.Offset.Y = vg.Points(2)
				p.Add(box, span, text)
				p.Y.Max = max(p.Y.Max, 1.25*ratio.High) // room for the legend
				if !shown {
					p.Legend.Add(program, box)
					shown = true
				}
			}
		}
	}
	one, err := plotter.NewLine(plotter.XYs{{X: -0.5, Y: 1}, {X: float64(len(items)) - 0.5, Y: 1}})
	if err != nil {
		return nil, err
	}
	one.Dashes = []vg.Length{vg.Points(3), vg.Points(3)}
	p.Add(one)
	p.X.Min, p.X.Max = -0.5, float64(len(items))-0.5
	return p, nil
}

// scalingPlot shows the times of updates, with the best threads of each, on
// logarithmic axes; nil for fewer than two sizes.
func scalingPlot(items []Item, label string, in func(j job) bool, x func(j job) int) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = label, "time of an update / ms"
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(powers), plot.TickerFunc(powers)
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left = true, true
	most := 0
	for _, program := range []string{gorbm, numPy, torch, ""} {
		var xy plotter.XYs
		for i := range items {
			it := &items[i]
			if !in(it.Job) {
				continue
			}
			y := math.NaN()
			if e := it.fastest(program, 0); e != nil {
				y = e.Median
			} else if program == "" && it.Limit != nil {
				y = it.Limit.Seconds
			}
			if y > 0 {
				xy = append(xy, plotter.XY{X: math.Log10(float64(x(it.Job))), Y: math.Log10(1e3 * y)})
			}
		}
		if len(xy) == 0 {
			continue
		}
		most = max(most, len(xy))
		line, points, err := plotter.NewLinePoints(xy)
		if err != nil {
			return nil, err
		}
		name := program
		line.Width = vg.Points(1.4)
		if program == "" {
			name = "limit of the ports, one core"
			line.Dashes = []vg.Length{vg.Points(3), vg.Points(3)}
			line.Color = color.Gray{0x60}
			p.Add(line)
		} else {
			line.Color, points.Color = programColors[program], programColors[program]
			points.Shape = draw.CircleGlyph{}
			p.Add(line, points)
		}
		p.Legend.Add(strings.TrimSpace(name), line)
	}
	if most < 2 {
		return nil, nil
	}
	return p, nil
}

// powers are the ticks of an axis of decimal logarithms: 1, 2 and 5 of each
// decade have labels.
func powers(low, high float64) (all []plot.Tick) {
	for d := math.Floor(low); d <= high; d++ {
		for i := 1; i < 10; i++ {
			x := float64(i) * math.Pow10(int(d))
			t := plot.Tick{Value: math.Log10(x)}
			if i == 1 || i == 2 || i == 5 {
				t.Label = strconv.FormatFloat(x, 'g', 6, 64)
			}
			if low <= t.Value && t.Value <= high {
				all = append(all, t)
			}
		}
	}
	return all
}
