package train

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// A panel of curves.png shows the columns of metrics.csv whose names begin
// with its stem.
var panels = []struct {
	stem, label string
}{
	{"log_likelihood_", "log-likelihood / nats"},
	{"pseudo_likelihood_", "pseudo-log-likelihood / nats"},
	{"error_", "classification error"},
	{"accuracy_mean", "mean log p(y|x) / nats"},
	{"free_energy_gap", "free-energy gap / nats"},
	{"swap_", "exchange rate of pair"},
	{"off_weight", "weight off coldest"},
	{"temperatures", "temperatures"},
	{"barrier", "barrier of the ladder"},
	{"round_trips_per_1000", "round trips / 1000 steps"},
}

// ladderStems are those of what only steps have.
var ladderStems = []string{"swap_", "off_weight", "temperatures", "barrier", "round_trips_per_1000"}

// CurveColors are Okabe and Ito's, told apart by the colour-blind.
var CurveColors = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF},
	{0xCC, 0x79, 0xA7, 0xFF}, {0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF},
}

// Curves draws the metrics of a run against the step, a panel a kind, as PNG.
// table is the file metrics.csv. It writes nothing if there is nothing to
// draw.
func Curves(w io.Writer, table string) error {
	columns, rows, err := ReadTable(table)
	if err != nil {
		return err
	}
	var plots [][]*plot.Plot
	for _, p := range panels {
		if one, err := panel(p.stem, p.label, columns, rows); err != nil {
			return err
		} else if one != nil {
			plots = append(plots, []*plot.Plot{one})
		}
	}
	if len(plots) == 0 {
		return nil
	}
	plots[len(plots)-1][0].X.Label.Text = "step"
	const width, height = 16 * vg.Centimeter, 6 * vg.Centimeter
	return DrawPlots(w, plots, width, height, 3*vg.Millimeter)
}

// DrawPlots draws rows of plots with aligned axes as PNG, each of them width ×
// height with its margins and rows gap apart. Rows are equally long and not empty.
func DrawPlots(w io.Writer, plots [][]*plot.Plot, width, height, gap vg.Length) error {
	rows, cols := len(plots), len(plots[0])
	img := vgimg.New(width*vg.Length(cols), height*vg.Length(rows))
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: 4 * vg.Millimeter, PadY: gap,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	for i, row := range plot.Align(plots, tiles, draw.New(img)) {
		for c, canvas := range row {
			plots[i][c].Draw(canvas)
		}
	}
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
	return err
}

// legendRoom stretches the axis of steps, so that the legend lies beside the
// curves.
const legendRoom = 1.14

// panel returns the plot of the columns that begin with stem; nil if there are
// none.
func panel(stem, label string, columns []string, rows [][]float64) (*plot.Plot, error) {
	p := plot.New()
	p.Y.Label.Text = label
	p.X.Tick.Marker = plot.TickerFunc(stepTicks)
	p.Add(plotter.NewGrid())
	p.Legend.Top = true
	ofSteps := slices.Contains(ladderStems, stem)
	n := 0
	for c, name := range columns {
		if !strings.HasPrefix(name, stem) || strings.HasSuffix(name, "_error") {
			continue
		}
		xy := make(plotter.XYs, 0, len(rows))
		for _, row := range rows {
			if row[0] == 0 && ofSteps {
				continue // nothing was done yet
			}
			if !math.IsNaN(row[c]) && !math.IsInf(row[c], 0) {
				xy = append(xy, plotter.XY{X: row[0], Y: row[c]})
			}
		}
		if len(xy) == 0 {
			continue
		}
		line, err := plotter.NewLine(xy)
		if err != nil {
			return nil, fmt.Errorf("cannot draw %s: %w", name, err)
		}
		line.Color = CurveColors[n%len(CurveColors)]
		line.Width = vg.Points(1.2)
		p.Add(line)
		if rest := strings.TrimPrefix(name, stem); rest != "" {
			p.Legend.Add(strings.ReplaceAll(rest, "_", "–"), line)
		}
		n++
	}
	if n == 0 {
		return nil, nil
	}
	if last := rows[len(rows)-1][0]; last > 0 {
		p.X.Min, p.X.Max = 0, legendRoom*last
	}
	return p, nil
}

// stepTicks labels the default ticks with whole numbers.
func stepTicks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i, t := range ticks {
		if t.Label != "" {
			ticks[i].Label = strconv.FormatFloat(t.Value, 'f', -1, 64)
		}
	}
	return ticks
}

// ReadTable reads metrics.csv: the names of its columns and its rows. A last
// line without its end was cut short and is left out.
func ReadTable(path string) (columns []string, rows [][]float64, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = -1
	records, err := in.ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) == 0 {
		return nil, nil, fmt.Errorf("%s is empty", path)
	}
	for line, r := range records[1:] {
		if len(r) != len(records[0]) {
			return nil, nil, fmt.Errorf("%s: line %d has %d values for %d columns", path, line+2, len(r), len(records[0]))
		}
		row := make([]float64, len(r))
		for i, field := range r {
			if row[i], err = strconv.ParseFloat(field, 64); err != nil {
				return nil, nil, fmt.Errorf("%s: line %d: %q is not a number", path, line+2, field)
			}
		}
		rows = append(rows, row)
	}
	return records[0], rows, nil
}
