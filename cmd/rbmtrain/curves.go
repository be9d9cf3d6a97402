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
	axis string // the quantity and its unit, separated by " / "
	// scale is the factor from values to the unit; 0 means 1.
	scale float64
	// counts is set if the columns count events in training steps. Values at
	// step 0 then mean nothing and are not drawn.
	counts bool
	whole  bool   // the values are whole numbers
	good   string // a sentence on which values are good
	first  bool   // the metric is a main goal of the run, and its panel comes first
}

// panels returns the panels of curves.png and of the report in order, without those of a ladder.
func panels(metrics []train.Metric) (all []panel) {
	var columns []train.Column
	for _, m := range metrics {
		columns = append(columns, m.Columns...)
	}
	slices.SortStableFunc(columns, func(a, b train.Column) int { return a.Rank - b.Rank })
	for _, c := range columns {
		stem := c.Name
		if !c.Single {
			stem += "_" // then train, holdout or test
		}
		if c.Axis != "" {
			all = append(all, panel{stem: stem, axis: c.Axis, scale: c.Scale, good: c.Good, first: c.First})
		}
	}
	return all
}

// seriesNames are the names of curves, by the end of the name of their column.
var seriesNames = map[string]string{
	"train": "training rows", "holdout": "rows held out", "test": "test rows",
	"coldest": "coldest pair", "least": "least of all pairs",
}

// charts returns the charts of the panels. columns and rows are the content of metrics.csv. A
// column PANEL_std_err has the standard errors of the panel's curves. Columns that end in
// _error have no curve.
func charts(panels []panel, columns []string, rows [][]float64) (all []plots.Chart) {
	for _, panel := range panels {
		what, unit, _ := strings.Cut(panel.axis, " / ")
		first, size := utf8.DecodeRuneInString(what)
		chart := plots.Chart{Title: string(unicode.ToUpper(first)) + what[size:], X: "step", Y: unit, Whole: panel.whole, Good: panel.good}
		if len(rows) > 0 {
			chart.Right = rows[len(rows)-1][0]
		}
		from := 0
		if panel.counts && len(rows) > 0 && rows[0][0] == 0 {
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

// curves returns curves.png, or nil if there is nothing to draw. columns and rows are the content of
// metrics.csv. Charts of single points, as in a run that is measured twice, are left out if there are others.
func curves(metrics []train.Metric, columns []string, rows [][]float64) *plots.Page {
	const width, height = 10 * vg.Centimeter, 6.2 * vg.Centimeter
	all := charts(append(panels(metrics), ladderPanels...), columns, rows)
	if curved := slices.DeleteFunc(slices.Clone(all), pointwise); len(curved) > 0 {
		all = curved
	}
	return plots.Charts(all, curvesAcross, width, height)
}

// pointwise reports whether every line of a chart has fewer than two points.
func pointwise(c plots.Chart) bool {
	for _, l := range c.Lines {
		shown := 0
		for i, y := range l.Y {
			if c.Shows(l.X[i], y) {
				shown++
			}
		}
		if shown > 1 {
			return false
		}
	}
	return true
}
