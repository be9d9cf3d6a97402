package main

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"

	"gorbm/train"
	"gorbm/train/plots"
)

// A panel is a chart of the columns of metrics.csv whose names begin with stem.
type panel struct {
	stem string
	axis string // what is shown, and after " / " its unit
	// scale takes the values to the unit; 0 stands for 1.
	scale float64
	// ofSteps is set if the columns count what happened in training steps, so
	// that the values at step 0 mean nothing and are left out.
	ofSteps bool
	whole   bool   // the values are whole numbers
	good    string // a sentence on which values are good
	first   bool   // the panel shows what the run is for, and comes first
}

// panels returns the panels of curves.png and of the report, in their order, without those of a ladder.
func panels(metrics []train.Metric) (all []panel) {
	var columns []train.Column
	for _, m := range metrics {
		columns = append(columns, m.Columns...)
	}
	slices.SortStableFunc(columns, func(a, b train.Column) int { return a.Rank - b.Rank })
	for _, c := range columns {
		stem := c.Name
		if !c.Single {
			stem += "_" // the name of a part of the data follows
		}
		if c.Axis != "" {
			all = append(all, panel{stem: stem, axis: c.Axis, scale: c.Scale, good: c.Good, first: c.First})
		}
	}
	return all
}

// seriesNames are what columns of a panel are called, by the ends of their names.
var seriesNames = map[string]string{
	"train": "training rows", "holdout": "rows held out", "test": "test rows",
	"coldest": "coldest pair", "least": "least of all pairs",
}

// charts returns the charts of a table. A column whose name ends in
// _std_err is the error of the others; one that ends in _error has no curve.
func charts(panels []panel, columns []string, rows [][]float64) (all []plots.Chart) {
	for _, panel := range panels {
		what, unit, _ := strings.Cut(panel.axis, " / ")
		first, size := utf8.DecodeRuneInString(what)
		chart := plots.Chart{Title: string(unicode.ToUpper(first)) + what[size:], X: "step", Y: unit, Whole: panel.whole, Good: panel.good}
		if len(rows) > 0 {
			chart.Right = rows[len(rows)-1][0]
		}
		from := 0
		if panel.ofSteps && len(rows) > 0 && rows[0][0] == 0 {
			from = 1
		}
		column := func(c int, scale float64) []float64 {
			values := make([]float64, 0, len(rows))
			for _, row := range rows[from:] {
				values = append(values, scale*row[c])
			}
			return values
		}
		scale := panel.scale
		if scale == 0 {
			scale = 1
		}
		var errors []float64
		for c, name := range columns {
			rest, ok := strings.CutPrefix(name, panel.stem)
			switch {
			case !ok || strings.HasSuffix(name, "_error"):
				continue
			case rest == "std_err":
				errors = column(c, scale)
				continue
			}
			name, known := seriesNames[rest]
			switch {
			case rest == "":
				name = what
			case !known:
				name = "pair " + strings.ReplaceAll(rest, "_", "–")
			}
			chart.Lines = append(chart.Lines, plots.Line{Name: name, X: column(0, 1), Y: column(c, scale)})
		}
		for i := range chart.Lines {
			chart.Lines[i].Err = errors
		}
		all = append(all, chart)
	}
	return all
}

// curvesAcross is the number of panels in a row of curves.png.
const curvesAcross = 3

// curves returns curves.png of a table of these metrics; nil if there is nothing to draw.
func curves(metrics []train.Metric, columns []string, rows [][]float64) *plots.Page {
	const width, height = 10 * vg.Centimeter, 6.2 * vg.Centimeter
	return plots.Charts(charts(append(panels(metrics), ladderPanels...), columns, rows), curvesAcross, width, height)
}
