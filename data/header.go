package data

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// labelNames are the names, in lower case, that mark a last column as labels.
var labelNames = []string{"y", "label", "class", "target"}

// isLabelName reports whether name is one of labelNames, in any case.
func isLabelName(name string) bool {
	return slices.Contains(labelNames, strings.ToLower(strings.TrimSpace(name)))
}

const (
	// lookAhead is the number of rows that are compared with the first line. If rows are
	// in random order and one of 101 differs from the rest, it is the first by chance
	// with probability 1 %.
	lookAhead = 100
	// countedNames is the least number of columns for which a first line that counts
	// the columns is always a header. Even if each row were a permutation of these
	// numbers, the first row would have this order with probability 1/5! or less.
	countedNames = 5
	// leastCounted is the least number of columns for which such a line is a header
	// unless another row has the same numbers. With two columns it would be 0,1 or 1,2,
	// which are common rows.
	leastCounted = 3
	// leastIndex is the least number of rows for which a column of row names is recognised.
	leastIndex = 10
)

// A firstLine is the first line of a text and the rows below it, at most lookAhead of them, from which it
// is decided whether the line names the columns.
type firstLine struct {
	path   string
	cells  []string
	rows   [][]string
	inputs int // number of cells that are not a label in the last column
}

// cell returns the cell of a row in column j, without white space, or "" if the row is too short.
func cell(row []string, j int) string {
	if j >= len(row) {
		return ""
	}
	return strings.TrimSpace(row[j])
}

// below reports whether some row below the line has the cell in column j.
func (l *firstLine) below(j int) bool {
	word := cell(l.cells, j)
	return slices.ContainsFunc(l.rows, func(row []string) bool { return cell(row, j) == word })
}

// kind returns HeaderYes, HeaderNo or HeaderNumbers, and a note on a decision that is not obvious. It
// returns an error if the line may as well be a row.
func (l *firstLine) kind() (kind, note string, err error) {
	last := len(l.cells) - 1
	words, again := 0, 0
	var numbers []string
	for j := range l.inputs {
		switch word := cell(l.cells, j); {
		case isNumber(word):
			numbers = append(numbers, word)
			if l.below(j) {
				again++
			}
		case !IsMissing(word):
			words++
			if l.below(j) {
				again++
			}
		}
	}
	switch {
	case isLabelName(l.cells[last]) && (numbers == nil || !slices.ContainsFunc(l.rows, func(row []string) bool { return strings.EqualFold(cell(row, last), cell(l.cells, last)) })):
		return HeaderYes, "", nil
	case words == 0 && numbers == nil:
		return HeaderNo, "", nil
	case numbers == nil && again == 0:
		return HeaderYes, "", nil
	case numbers == nil && 2*again >= words:
		return HeaderNo, "the first line is a row, as its words occur again below; -header yes reads it as names of the columns", nil
	case numbers == nil:
		return "", "", specErrorf("%s: the first line may name the columns or be a row, as %d of its %d words occur again below; say which by -header yes or -header no", l.path, again, words)
	}
	years, _ := distinct(numbers)
	if words == 0 && l.areNames() || words > 0 && again == 0 && years != nil && l.outside() {
		return HeaderNumbers, "", nil
	}
	if sorted, _ := distinct(l.named()); words == 0 && len(sorted) > 1 && len(l.rows) >= leastIndex && !slices.ContainsFunc(l.rows, l.like) {
		note = "the first line is different whole numbers, unlike the rows below, and is read as a row; -header yes reads it as names of the columns"
	}
	return HeaderNo, note, nil
}

// named returns the cells of inputs. An empty first cell, above the row numbers of pandas, is left out.
func (l *firstLine) named() []string {
	if l.inputs > 1 && cell(l.cells, 0) == "" {
		return l.cells[1:l.inputs]
	}
	return l.cells[:l.inputs]
}

// like reports whether the inputs of a row are different whole numbers.
func (l *firstLine) like(row []string) bool {
	values, _ := distinct(row[min(l.inputs-len(l.named()), len(row)):min(l.inputs, len(row))])
	return values != nil
}

// areNames reports whether a first line of numbers is nevertheless a header, because pandas numbers columns
// that have no names. The cells must be distinct whole numbers. They are a header if they count the
// columns, from 0 or from 1 (see countedNames and leastCounted). Otherwise no row below may consist of
// distinct whole numbers, and the line must differ from the rows more than the first of all rows does by
// chance with a probability of 1 %. The only line of a file is a row, not a header.
func (l *firstLine) areNames() bool {
	line := l.named()
	names, counted := distinct(line)
	if names == nil || len(l.rows) == 0 {
		return false
	}
	if n := len(line); counted && n >= leastCounted {
		return n >= countedNames || !slices.ContainsFunc(l.rows, func(row []string) bool {
			values, _ := distinct(row[min(l.inputs-n, len(row)):min(l.inputs, len(row))])
			return slices.Equal(values, names)
		})
	}
	return !slices.ContainsFunc(l.rows, l.like) && (len(l.rows) >= lookAhead || l.outside())
}

// outside reports whether each number of the line is outside the range of the numbers below it, and the
// first of n+1 rows in random order has this property by chance with a probability of 1 % or less. That is
// (2/(n+1))^k for k independent columns of numbers.
func (l *firstLine) outside() bool {
	p := 1.0
	for j := range l.inputs {
		v, ok := number(cell(l.cells, j))
		if !ok {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, row := range l.rows {
			if x, ok := number(cell(row, j)); ok {
				low, high = min(low, x), max(high, x)
			}
		}
		if v >= low && v <= high || low > high {
			return false
		}
		p *= 2 / float64(len(l.rows)+1)
	}
	return p <= 0.01
}

// distinct returns the numbers in fields, in ascending order, if all are whole and no
// two are equal, else nil. counted says that they are 0, 1, 2, … or 1, 2, 3, … in the
// order of the fields.
func distinct(fields []string) (sorted []float64, counted bool) {
	counted = true
	for _, field := range fields {
		v, err := ParseNumber(strings.TrimSpace(field))
		if err != nil || v != math.Trunc(v) {
			return nil, false
		}
		sorted = append(sorted, v)
		counted = counted && v == sorted[0]+float64(len(sorted)-1)
	}
	if len(sorted) == 0 {
		return nil, false
	}
	counted = counted && (sorted[0] == 0 || sorted[0] == 1)
	slices.Sort(sorted)
	if len(slices.Compact(slices.Clone(sorted))) < len(sorted) {
		return nil, false
	}
	return sorted, counted
}

// countOf returns n with a noun, in the plural unless n is 1.
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
