package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/data"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/train/plots"
	"gorbm/train/report"
)

// A variable is a column of data other than pictures. Its inputs are one unit per level, or a single
// bit or real unit.
type variable struct {
	name   string
	levels []string
	first  int       // index of its first unit
	bit    bool      // a single unit: 0 is the first of two levels, 1 the second
	real   bool      // a single real unit, whose levels are bins
	edges  []float32 // edges between the bins, for standardised values
}

// realBins are the edges between the bins of standardised values.
var realBins = []float32{-1.5, -1, -0.5, 0, 0.5, 1, 1.5}

// variablesOf returns the columns of a set as variables.
func variablesOf(set *data.Set) (all []variable) {
	if s := set.Schema; s != nil {
		unit := 0
		for i := range s.Columns {
			c := &s.Columns[i]
			name := c.Name
			if s.Alphabet != "" {
				name = "site " + name
			}
			v := variable{name: name, levels: c.Levels, first: unit, bit: c.Bit}
			if c.Number != nil {
				v.bins(c.Number.Number)
			}
			all = append(all, v)
			unit += c.Units()
		}
		return all
	}
	for i := range set.X.Cols {
		v := variable{name: "column " + strconv.Itoa(i+1), levels: []string{"0", "1"}, first: i, bit: true}
		if i < len(set.Columns) {
			v.name = set.Columns[i]
		}
		if set.Means != nil {
			v.bit = false
			scale := data.Scale{Mean: set.Means[i], Deviation: set.Deviations[i]}
			v.bins(scale.Number)
		}
		all = append(all, v)
	}
	return all
}

// bins makes v a real variable with bins as levels. number converts a standardised value to the data's units.
func (v *variable) bins(number func(z float64) float64) {
	v.real, v.edges, v.levels = true, realBins, nil
	at := func(x float32) string { return strconv.FormatFloat(number(float64(x)), 'g', 3, 64) }
	v.levels = append(v.levels, "below "+at(realBins[0]))
	for k := 1; k < len(realBins); k++ {
		v.levels = append(v.levels, at(realBins[k-1])+" to "+at(realBins[k]))
	}
	v.levels = append(v.levels, "above "+at(realBins[len(realBins)-1]))
}

// sums adds a row, times weight, to the sums of the variable's levels. The row has bits or their means,
// or real values.
func (v variable) sums(levels []float64, row []float32, weight float64) {
	switch x := float64(row[v.first]); {
	case v.real:
		k := 0
		for k < len(v.edges) && row[v.first] >= v.edges[k] {
			k++
		}
		levels[k] += weight
	case v.bit:
		levels[0] += float64(weight * (1 - x))
		levels[1] += float64(weight * x)
	default:
		for k := range levels {
			levels[k] += float64(weight * float64(row[v.first+k]))
		}
	}
}

// frequencies returns the weighted frequency of each level of each variable. The function each yields the
// rows. Missing cells do not count.
func frequencies(vars []variable, each func(yield func(row []float32, missing func(unit int) bool, weight float64))) [][]float64 {
	all := make([][]float64, len(vars))
	for i, v := range vars {
		all[i] = make([]float64, len(v.levels))
	}
	each(func(row []float32, missing func(unit int) bool, weight float64) {
		for i, v := range vars {
			if !missing(v.first) {
				v.sums(all[i], row, weight)
			}
		}
	})
	for _, levels := range all {
		sum := 0.0
		for _, x := range levels {
			sum += x
		}
		for k := range levels {
			levels[k] /= sum
		}
	}
	return all
}

// frequencyValues is about the largest number of values that setFrequencies reads.
const frequencyValues = 1 << 26

// setFrequencies returns the frequencies in the rows of a set. In a large set it reads evenly spaced
// rows.
func setFrequencies(vars []variable, set *data.Set) [][]float64 {
	every := 1 + set.Len()*set.X.Cols/frequencyValues
	return frequencies(vars, func(yield func([]float32, func(int) bool, float64)) {
		row, number := rbm.NewMatrix(1, set.X.Cols), make([]int32, 1)
		for r := 0; r < set.Len(); r += every {
			number[0] = int32(r)
			set.Inputs(row.Values(), number)
			yield(row.Data, func(unit int) bool { return set.Missing.Rows > 0 && set.Missing.Get(r, unit) }, set.Weight(int32(r)))
		}
	})
}

// sheetFrequencies returns the frequencies in samples. For bits it uses their means given the hidden
// units, which vary less than the bits.
func sheetFrequencies(vars []variable, s sample.Sheet) [][]float64 {
	rows := s.Means
	if s.Values.IsReal() {
		rows = s.Values.Matrix()
	}
	return frequencies(vars, func(yield func([]float32, func(int) bool, float64)) {
		for r := range rows.Rows {
			yield(rows.Row(r), func(int) bool { return false }, 1)
		}
	})
}

const (
	// columnsShown is the number of columns that a report has room for.
	columnsShown = 40
	// sequencesShown is the number of samples that a report shows as letters.
	sequencesShown = 12
	// columnsSamples is the number of samples for data other than pictures.
	columnsSamples = 200
)

// sampleBars compares the frequencies of the levels of each column in samples with those in the
// training rows. If there are too many columns, it shows those that differ most.
func sampleBars(set *data.Set, s sample.Sheet, note string) report.Bars {
	vars := variablesOf(set)
	ours, theirs := setFrequencies(vars, set), sheetFrequencies(vars, s)
	order := make([]int, len(vars))
	off := make([]float64, len(vars))
	for i := range vars {
		order[i] = i
		for k := range ours[i] {
			off[i] += math.Abs(ours[i][k]-theirs[i][k]) / 2
		}
	}
	b := report.Bars{Title: "Samples of the model, column by column", Series: []string{"training rows", "samples"},
		Note: fmt.Sprintf("Good samples have bars as long as those of the training rows. These are %d samples; %s.", s.Means.Rows, note)}
	if len(vars) > columnsShown {
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(off[j], off[i]) })
		order = order[:columnsShown]
		b.Note += fmt.Sprintf(" Shown are the %d of %d columns that differ most.", columnsShown, len(vars))
	}
	for _, i := range order {
		b.Panels = append(b.Panels, panelOf(vars[i].name, vars[i].levels, ours[i], theirs[i]))
	}
	if set.Y != nil && !slices.Contains(s.Class, rbm.Free) { // the model has labels
		x, y := make([]float64, len(set.Classes)), make([]float64, len(set.Classes))
		rows := set.Labelled()
		for _, r := range rows {
			x[set.Y[r]] += 1 / float64(len(rows))
		}
		for _, class := range s.Class {
			y[class] += 1 / float64(len(s.Class))
		}
		b.Panels = append([]report.Panel{panelOf("label", set.Classes, x, y)}, b.Panels...)
	}
	return b
}

// panelOf returns bars that compare two frequencies of each level. The longest bar has the full width.
func panelOf(name string, levels []string, ours, theirs []float64) report.Panel {
	p := report.Panel{Title: name}
	longest := max(slices.Max(ours), slices.Max(theirs))
	for k, level := range levels {
		x, y := ours[k], theirs[k]
		p.Bars = append(p.Bars, report.Bar{Label: level, Values: []float64{x / longest, y / longest}, Text: fmt.Sprintf("%.3g / %.3g %%", 100*x, 100*y)})
	}
	return p
}

// sequenceSamples returns some samples as letters, and a chart of the frequency of each letter at each site
// in samples against that in the training rows.
func sequenceSamples(set *data.Set, s sample.Sheet, note string) (report.Listing, plots.Chart) {
	var lines []string
	for r := range min(sequencesShown, s.Values.Rows) {
		lines = append(lines, strings.Join(set.Schema.Words(s.Values, r), ""))
	}
	list := report.Listing{Title: "Samples of the model", Text: strings.Join(lines, "\n"),
		Note: fmt.Sprintf("Good samples look like sequences of the family, and are not all alike. These are %d of %d; %s.", len(lines), s.Values.Rows, note)}
	vars := variablesOf(set)
	dots := plots.Line{Name: "a letter at a site", Apart: true}
	theirs := sheetFrequencies(vars, s)
	for i, levels := range setFrequencies(vars, set) {
		dots.X, dots.Y = append(dots.X, levels...), append(dots.Y, theirs[i]...)
	}
	return list, plots.Chart{Title: "Letters at sites, in samples against training rows", X: "frequency in training rows", Y: "frequency in samples",
		Good: "Good samples have the dots along the dashed line.", Right: 1, High: 1,
		Lines: []plots.Line{dots, {Name: "equal", Dashed: true, X: []float64{0, 1}, Y: []float64{0, 1}}}}
}

const (
	// weightBars shows the weightColumns largest weights of weightUnits hidden units.
	weightUnits, weightColumns = 12, 6
)

// weightBars shows the largest weights of the hidden units that have the largest Σweight².
func weightBars(m *rbm.RBM, set *data.Set) report.Bars {
	var names []string
	for _, v := range variablesOf(set) {
		if v.bit && set.Schema != nil {
			names = append(names, v.name+" = "+v.levels[1])
		} else if v.bit || v.real {
			names = append(names, v.name)
		} else {
			for _, level := range v.levels {
				names = append(names, v.name+" = "+level)
			}
		}
	}
	type unit struct {
		number int
		size   float64
		inputs []int // in descending order of |weight|
	}
	units := make([]unit, m.Hidden())
	largest := 0.0
	for j := range units {
		u := unit{number: j}
		for i := range m.Inputs() {
			w := math.Abs(float64(m.Weight(i, j)))
			u.size += float64(w * w)
			largest = max(largest, w)
		}
		units[j] = u
	}
	slices.SortStableFunc(units, func(a, b unit) int { return cmp.Compare(b.size, a.size) })
	b := report.Bars{Title: "Weights of hidden units",
		Note: fmt.Sprintf("The largest weights of the %d hidden units with the largest weights. Red inputs raise the unit, blue ones lower it. Units that differ have learnt something; units with weights near 0 have learnt nothing.", min(weightUnits, len(units)))}
	for _, u := range units[:min(weightUnits, len(units))] {
		for i := range m.Inputs() {
			u.inputs = append(u.inputs, i)
		}
		size := func(i int) float64 { return math.Abs(float64(m.Weight(i, u.number))) }
		slices.SortStableFunc(u.inputs, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
		p := report.Panel{Title: "hidden unit " + strconv.Itoa(u.number+1)}
		for _, i := range u.inputs[:min(weightColumns, len(u.inputs))] {
			w := float64(m.Weight(i, u.number))
			p.Bars = append(p.Bars, report.Bar{Label: names[i], Values: []float64{w / max(largest, 1e-9)}, Text: fmt.Sprintf("%.2g", w)})
		}
		b.Panels = append(b.Panels, p)
	}
	return b
}
