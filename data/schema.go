package data

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/rbm"
	"gorbm/rbm/finitejson"
)

// A Schema says what the inputs stand for: sites of aligned sequences or columns of a table.
type Schema struct {
	Columns []Column `json:"columns"`
	// Alphabet has the letters of sequences, which are the levels of each column; "" for tables.
	Alphabet string `json:"alphabet,omitempty"`
	Label    string `json:"label,omitempty"` // name of the table's column of labels, if it has one
}

// A Column is a variable: a number, or one of a few levels. A number is a Gaussian unit. A column of a
// table with two levels is one binary unit, which is on for the second level. Any other column of levels is
// a softmax group with a unit for each level.
type Column struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels,omitempty"`
	// Edges cut numbers into levels: level k has the numbers from Edges[k−1] to below Edges[k], and its
	// word is their median. If Edges is nil each word is a level.
	Edges []float64 `json:"edges,omitempty"`
	Bit   bool      `json:"bit,omitempty"` // one binary unit
	// Number is the scale by which numbers are standardised; nil: the column has levels.
	Number *Scale `json:"number,omitempty"`
}

// A Scale is the mean and the standard deviation, above 0, of the numbers of a column.
type Scale struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

// Standard returns (x − mean)/deviation.
func (s *Scale) Standard(x float64) float32 { return float32((x - s.Mean) / s.Deviation) }

// Number returns mean + z·deviation.
func (s *Scale) Number(z float64) float64 { return s.Mean + float64(s.Deviation*z) }

// Text returns Number(z) as text, with an error of at most some millionths of a deviation.
func (s *Scale) Text(z float64) string {
	more := math.Log10(max(math.Abs(s.Mean)/s.Deviation, 1))
	return strconv.FormatFloat(s.Number(z), 'g', min(6+int(more), 17), 64)
}

// Units returns the number of units of the column.
func (c *Column) Units() int {
	if c.Bit || c.Number != nil {
		return 1
	}
	return len(c.Levels)
}

// String describes the columns, as in "60 sites of 21 letters".
func (s *Schema) String() string {
	if s.Alphabet != "" {
		return fmt.Sprintf("%d sites of %d letters", len(s.Columns), len(s.Alphabet))
	}
	levels, numbers := 0, 0
	for i := range s.Columns {
		levels += len(s.Columns[i].Levels)
		if s.Columns[i].Number != nil {
			numbers++
		}
	}
	switch numbers {
	case 0:
		return fmt.Sprintf("%d columns of %d levels in all", len(s.Columns), levels)
	case len(s.Columns):
		return fmt.Sprintf("%d columns of numbers", numbers)
	}
	return fmt.Sprintf("%d columns, %d of numbers and the others of %d levels in all", len(s.Columns), numbers, levels)
}

// Numbers reports whether some column has numbers. Rows are then real values.
func (s *Schema) Numbers() bool {
	return slices.ContainsFunc(s.Columns, func(c Column) bool { return c.Number != nil })
}

// Units returns the number of inputs.
func (s *Schema) Units() int {
	n := 0
	for i := range s.Columns {
		n += s.Columns[i].Units()
	}
	return n
}

// Groups returns the groups of the inputs, as in Set.Groups.
func (s *Schema) Groups() (groups []rbm.Group) {
	for i := range s.Columns {
		c := &s.Columns[i]
		kind := rbm.Softmax
		switch {
		case c.Number != nil:
			kind = rbm.Gaussian
		case c.Bit:
			kind = rbm.Bernoulli
		}
		if n := len(groups); kind != rbm.Softmax && n > 0 && groups[n-1].Kind == kind {
			groups[n-1].Units++
			continue
		}
		groups = append(groups, rbm.Group{Kind: kind, Units: c.Units()})
	}
	return groups
}

// Put sets the units of row r of x to the given level of each column. It does not change numbers.
func (s *Schema) Put(x rbm.Values, r int, levels []int32) {
	unit := 0
	for i := range s.Columns {
		c := &s.Columns[i]
		switch {
		case c.Bit:
			x.Set(r, unit, levels[i] == 1)
		case c.Number == nil:
			for k := range c.Levels {
				x.Set(r, unit+k, levels[i] == int32(k))
			}
		}
		unit += c.Units()
	}
}

// Levels overwrites dst with the level of each column in row r of x; the level of a number is 0.
func (s *Schema) Levels(dst []int32, x rbm.Values, r int) {
	unit := 0
	for i := range s.Columns {
		c := &s.Columns[i]
		dst[i] = 0
		switch {
		case c.Bit:
			dst[i] = int32(x.At(r, unit))
		case c.Number == nil:
			for k := range c.Levels {
				if x.At(r, unit+k) != 0 {
					dst[i] = int32(k)
				}
			}
		}
		unit += c.Units()
	}
}

// Text returns the schema as one line of text, which ParseSchema reads.
func (s *Schema) Text() string {
	if s.Alphabet != "" {
		return fmt.Sprintf("sequences %d %s", len(s.Columns), s.Alphabet)
	}
	b, err := finitejson.Marshal(s)
	if err != nil { // a file has finite numbers only
		panic("data: " + err.Error())
	}
	return string(b)
}

// ParseSchema reads a text that Text wrote. The error wraps ErrFormat.
func ParseSchema(text string) (*Schema, error) {
	if rest, ok := strings.CutPrefix(text, "sequences "); ok {
		sites, letters, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(sites)
		if err != nil || n < 1 || n > maxSites || len(letters) < 2 || len(letters) > maxAlphabet {
			return nil, formatErrorf("schema %s is not that of sequences", quote(text))
		}
		return NewSequenceSchema(letters, n), nil
	}
	s := &Schema{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, formatErrorf("schema %s: %w", quote(text), err)
	}
	total := 0
	for _, c := range s.Columns {
		n := len(c.Levels)
		if number := c.Number; number != nil {
			if n > 0 || c.Edges != nil || c.Bit || !(number.Deviation > 0) || math.IsInf(number.Deviation, 0) {
				return nil, formatErrorf("schema: column %s is no number with a deviation above 0", quote(c.Name))
			}
			continue
		}
		total += n
		edges := slices.IsSorted(c.Edges) && (c.Edges == nil || len(c.Edges) == n-1)
		if n < 2 || n > maxTableLevels || total > maxTableLevels || c.Bit != (n == 2) || !edges {
			return nil, formatErrorf("schema: column %s does not have levels that fit", quote(c.Name))
		}
	}
	if len(s.Columns) == 0 || s.Alphabet != "" {
		return nil, formatErrorf("schema %s has no columns", quote(text))
	}
	return s, nil
}

// Words returns the level, or the number, of each column in row r of x as text.
func (s *Schema) Words(x rbm.Values, r int) []string {
	levels, words := make([]int32, len(s.Columns)), make([]string, len(s.Columns))
	s.Levels(levels, x, r)
	unit := 0
	for i, k := range levels {
		if c := &s.Columns[i]; c.Number != nil {
			words[i] = c.Number.Text(float64(x.At(r, unit)))
		} else {
			words[i] = c.Levels[k]
		}
		unit += s.Columns[i].Units()
	}
	return words
}

// scale returns the means and deviations of the inputs, which are 0 and 1 for levels. They are nil if there
// are no numbers.
func (s *Schema) scale() (mean, deviation []float64) {
	if !s.Numbers() {
		return nil, nil
	}
	for i := range s.Columns {
		scale := s.Columns[i].Number
		if scale == nil {
			scale = &Scale{0, 1}
		}
		for range s.Columns[i].Units() {
			mean, deviation = append(mean, scale.Mean), append(deviation, scale.Deviation)
		}
	}
	return mean, deviation
}

// WriteFASTA writes the rows of x as sequences in FASTA format, named by their numbers from 0.
func (s *Schema) WriteFASTA(w io.Writer, x rbm.Values) error {
	out := bufio.NewWriter(w)
	for r := range x.Rows {
		fmt.Fprintf(out, ">%d\n%s\n", r, strings.Join(s.Words(x, r), ""))
	}
	return out.Flush()
}
