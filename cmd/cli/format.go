package cli

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gorbm/rbm"
)

// Finite returns x, or nil if it is NaN or infinite. JSON writes nil as null,
// or leaves it out by omitempty.
func Finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Known returns x, or nil if it is not known, for JSON as Finite.
func Known(x float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &x
}

// Number returns x to three digits, or a dash if it is NaN. Up to a million it has no exponent:
// 2970 for 2968.4.
func Number(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	if size := math.Abs(x); size >= 100 && size < 999500 {
		return digits(x, 3)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// Percent returns a share as per cent to three digits, or a dash if it is NaN.
func Percent(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return Number(100*x) + " %"
}

// Count returns a number of things: "1 repeat", "2 repeats".
func Count[N int | int64](n N, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// FourDigits returns x to four digits without an exponent: 16630 for 16634.2.
func FourDigits(x float64) string { return digits(x, 4) }

// TwoDigits returns x to two digits without an exponent: 100 for 99.7.
func TwoDigits(x float64) string { return digits(x, 2) }

// digits returns x to n digits without an exponent.
func digits(x float64, n int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	if err != nil { // beyond the largest number
		rounded = x
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// PlusMinus returns x ± its standard error with these decimals, or with more where the error would
// read as 0. It returns x alone if the error is infinite.
func PlusMinus(x, stdErr float64, decimals int) string {
	if math.IsInf(stdErr, 0) {
		return strconv.FormatFloat(x, 'f', decimals, 64)
	}
	switch {
	case stdErr == 0:
		return fmt.Sprintf("%.*f ± 0", decimals, x)
	case stdErr < math.Pow10(-decimals)/2:
		decimals = Decimals(stdErr)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, x, decimals, stdErr)
}

// Decimals returns the number of decimals that show two digits of an error, none from 10
// on. The error is finite and above 0.
func Decimals(stdErr float64) int { return max(0, 1-int(math.Floor(math.Log10(stdErr)))) }

// TimeUnit returns the unit, in seconds, in which a time in seconds is
// read best, and its name.
func TimeUnit(seconds float64) (unit float64, name string) {
	switch {
	case seconds < 1e-3:
		return 1e-6, "µs"
	case seconds < 1:
		return 1e-3, "ms"
	}
	return 1, "s"
}

// Units describes the units of m: "784 inputs + 10 softmax labels, 500 hidden
// units", and its constraint if it has one.
func Units(m *rbm.RBM) string {
	text := Count(m.Inputs(), "input")
	if m.Classes() > 0 {
		text += fmt.Sprintf(" + %d %s labels", m.Classes(), m.LabelKind())
	}
	what := "hidden unit"
	if kind := m.HiddenText(); kind != "" {
		what = kind + " " + what
	}
	text += ", " + Count(m.Hidden(), what)
	if c := m.Constraint; c != nil {
		what := "hidden units"
		if c.On == rbm.AllUnits {
			what = "units of all"
		}
		text += fmt.Sprintf(", %d %s on", c.Active, what)
	}
	return text
}

// WriteTSV is WriteCSV with tabs between columns. Cells with commas are quoted, so that commas
// are not taken for what separates the columns.
func WriteTSV(lines [][]string) func(w io.Writer) error {
	return func(w io.Writer) error {
		out := bufio.NewWriter(w)
		for _, line := range lines {
			for i, text := range line {
				if i > 0 {
					out.WriteByte('\t')
				}
				if text = plainCell(text); strings.ContainsAny(text, "\t\",\n\r") {
					text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
				}
				out.WriteString(text)
			}
			out.WriteByte('\n')
		}
		return out.Flush()
	}
}

// WriteCSV returns a function that writes the lines as a CSV file, for
// atomicfile.Write. Names in it may come from foreign files: see plainCell.
func WriteCSV(lines [][]string) func(w io.Writer) error {
	return func(w io.Writer) error {
		c := csv.NewWriter(w)
		for _, line := range lines {
			cells := make([]string, len(line))
			for i, text := range line {
				cells[i] = plainCell(text)
			}
			if err := c.Write(cells); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	}
}

// plainCell returns text as a cell that neither a terminal nor a spreadsheet obeys. Control
// characters are written as clean writes them. A spreadsheet takes what begins with =, +, -
// or @ for a formula: an apostrophe goes before it, unless it is a number or a sign alone.
// (OWASP, "CSV injection".)
func plainCell(text string) string {
	text = string(clean([]byte(text)))
	if len(text) < 2 || !strings.ContainsRune("=+-@\t", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

// Field returns x for a CSV file, to these digits. NaN leaves it empty.
func Field(x float64, digits int) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', digits, 64)
}
