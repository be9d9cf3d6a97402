package cli

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gorbm/rbm"
)

// Finite reports whether x is neither NaN nor infinite.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Known returns x as the value of a field, or nil, for no value, if x is not finite.
func Known(x float64) any {
	if !Finite(x) {
		return nil
	}
	return x
}

// Number writes x to three significant digits, or a dash if it is NaN. From 100 to a million it
// uses no exponent: 2970 for 2968.4.
func Number(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	if size := math.Abs(x); size >= 100 && size < 999500 {
		return digits(x, 3)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// Percent writes the fraction x in per cent, as Number does.
func Percent(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return Number(100*x) + " %"
}

// Count writes n and the noun, in the plural unless n is 1: "1 repeat", "2 repeats".
func Count[N int | int64](n N, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// FourDigits writes x to four significant digits, without an exponent: 16630 for 16634.2.
func FourDigits(x float64) string { return digits(x, 4) }

// TwoDigits writes x to two significant digits, without an exponent: 100 for 99.7.
func TwoDigits(x float64) string { return digits(x, 2) }

func digits(x float64, n int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	if err != nil { // rounding up overflows
		rounded = x
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// PlusMinus writes x ± its standard error to the given number of decimals, or to more where the
// error would be rounded to 0. It writes x alone if the error is infinite.
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

// Decimals returns the number of decimals that show two significant digits of a standard error,
// or 0 from 10 up. The error must be finite and above 0.
func Decimals(stdErr float64) int { return max(0, 1-int(math.Floor(math.Log10(stdErr)))) }

// TimeUnit returns a readable unit for a time: its length in seconds and its name.
func TimeUnit(seconds float64) (unit float64, name string) {
	switch {
	case seconds < 1e-3:
		return 1e-6, "µs"
	case seconds < 1:
		return 1e-3, "ms"
	}
	return 1, "s"
}

// Units describes the units of m, as in "784 inputs + 10 softmax labels, 500 hidden
// units", and the constraint on their number if there is one.
func Units(m *rbm.RBM) string {
	text := Count(m.Inputs(), "input")
	if m.Classes() > 0 {
		text += fmt.Sprintf(" + %d %s labels", m.Classes(), m.LabelKind())
	}
	what := "hidden unit"
	if kind := m.HiddenKind(); kind != rbm.Bernoulli {
		what = kind.String() + " " + what
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

// WriteCSV returns a function that writes the lines as a CSV file, for
// atomicfile.Write. Cells are written as they are, so that a reader has them back: a spreadsheet may take some of them for
// formulas.
func WriteCSV(lines [][]string) func(w io.Writer) error { return WriteSeparated(lines, ',') }

// WriteSeparated is WriteCSV with any separator of columns. Next to tabs it quotes cells with commas, so that
// readers do not mistake the comma for the separator.
func WriteSeparated(lines [][]string, separator rune) func(w io.Writer) error {
	return func(w io.Writer) error {
		out := bufio.NewWriter(w)
		for _, line := range lines {
			for i, text := range line {
				if i > 0 {
					out.WriteRune(separator)
				}
				if strings.ContainsRune(text, separator) || strings.ContainsAny(text, "\",\n\r") && !isDecimal(text, separator) || text != strings.TrimLeft(text, " \t") || strings.HasPrefix(text, "#") || len(line) == 1 && text == "" {
					text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
				}
				out.WriteString(text)
			}
			out.WriteByte('\n')
		}
		return out.Flush()
	}
}

// isDecimal reports whether text is a number with a decimal comma, where the comma is no separator.
func isDecimal(text string, separator rune) bool {
	_, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	return separator != ',' && err == nil
}

// Field writes x for a CSV file, to the given number of significant digits, or "" for NaN.
func Field(x float64, digits int) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', digits, 64)
}
