package figures

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Line is a line of a table on a page. It shows a curve at X in the panels of the columns, whose names begin with Prefix.
type Line struct {
	Words  []string // first cells
	Prefix string
	Curve  string
	X      float64
}

// A Column is a column of a table on a page: a panel, and how its repetitions are written.
type Column struct {
	Title, Panel string
	Write        func(r Repeats) string
}

// Markdown returns a table with the given first headings, a line for each of lines that has a number, and the columns.
func (t *Table) Markdown(first []string, lines []Line, columns []Column) string {
	heads := append([]string{}, first...)
	for _, c := range columns {
		heads = append(heads, c.Title)
	}
	var rows [][]string
	for _, l := range lines {
		row, any := append([]string{}, l.Words...), false
		for _, c := range columns {
			r, text := t.At(l.Prefix+c.Panel, l.Curve, l.X), "–"
			if len(r) > 0 {
				any, text = true, c.Write(r)
			}
			row = append(row, text)
		}
		if any {
			rows = append(rows, row)
		}
	}
	return Grid(heads, rows)
}

// Grid returns a Markdown table.
func Grid(heads []string, rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(heads, " | "), strings.Repeat(" --- |", len(heads)))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	return b.String()
}

// Mean writes a mean with this number of decimals.
func Mean(decimals int) func(r Repeats) string {
	return func(r Repeats) string { return fmt.Sprintf("%.*f", decimals, r.Mean()) }
}

// Spread writes a mean ± one standard deviation, if there is more than one repetition.
func Spread(decimals int) func(r Repeats) string {
	return func(r Repeats) string {
		mean, sd := r.Average()
		if len(r) < 2 {
			return fmt.Sprintf("%.*f", decimals, mean)
		}
		return fmt.Sprintf("%.*f ± %.*f", decimals, mean, decimals, sd)
	}
}

// Accurate writes a mean ± its standard error.
func Accurate(decimals int) func(r Repeats) string {
	return func(r Repeats) string {
		mean, sd := r.Average()
		return fmt.Sprintf("%.*f ± %.*f", decimals, mean, decimals, sd/math.Sqrt(float64(len(r))))
	}
}

// Count writes the number of repetitions.
func Count(r Repeats) string { return fmt.Sprint(len(r)) }

// Sum writes the sum.
func Sum(r Repeats) string { return fmt.Sprintf("%.0f", r.Mean()*float64(len(r))) }

// Short writes the mean by Digits.
func Short(r Repeats) string { return Digits(r.Mean()) }

// Factor writes the geometric mean and its standard error, which is a factor.
func Factor(r Repeats) string {
	mean, sd := r.Logs().Average()
	return fmt.Sprintf("%s ×/÷ %.2f", Digits(math.Exp(mean)), math.Exp(sd/math.Sqrt(float64(len(r)))))
}

// Digits formats x with three digits, or with all digits before the point.
func Digits(x float64) string {
	if x >= 999.5 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
