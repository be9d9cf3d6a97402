package data

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
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
	Label    string `json:"label,omitempty"` // name of the column of labels, of a table that has one
}

// A Column is a variable with a few states, its levels. A column of a table with two levels is one
// binary unit, which is on for the second level. Other columns are softmax groups, one unit a level.
type Column struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels"`
	// Edges cut numbers into levels: level k is of numbers from Edges[k−1] to below Edges[k].
	// A level then has the median of its numbers as its word. Nil: a word is its own level.
	Edges []float64 `json:"edges,omitempty"`
	Bit   bool      `json:"bit,omitempty"` // one binary unit
}

// Units returns the number of units of the column.
func (c *Column) Units() int {
	if c.Bit {
		return 1
	}
	return len(c.Levels)
}

// String describes the columns, as in "60 sites of 21 letters".
func (s *Schema) String() string {
	if s.Alphabet != "" {
		return fmt.Sprintf("%d sites of %d letters", len(s.Columns), len(s.Alphabet))
	}
	levels := 0
	for i := range s.Columns {
		levels += len(s.Columns[i].Levels)
	}
	return fmt.Sprintf("%d columns of %d levels in all", len(s.Columns), levels)
}

// Units returns the number of inputs.
func (s *Schema) Units() int {
	n := 0
	for i := range s.Columns {
		n += s.Columns[i].Units()
	}
	return n
}

// Groups returns the groups of the inputs, as Set.Groups.
func (s *Schema) Groups() (groups []rbm.Group) {
	for i := range s.Columns {
		c := &s.Columns[i]
		switch n := len(groups); {
		case !c.Bit:
			groups = append(groups, rbm.Group{Kind: rbm.Softmax, Units: len(c.Levels)})
		case n > 0 && groups[n-1].Kind == rbm.Bernoulli:
			groups[n-1].Units++
		default:
			groups = append(groups, rbm.Group{Kind: rbm.Bernoulli, Units: 1})
		}
	}
	return groups
}

// Put overwrites the units of the columns in row r of x, bits, with levels.
func (s *Schema) Put(x rbm.Values, r int, levels []int32) {
	unit := 0
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Bit {
			x.Set(r, unit, levels[i] == 1)
			unit++
			continue
		}
		for k := range c.Levels {
			x.Set(r, unit+k, levels[i] == int32(k))
		}
		unit += len(c.Levels)
	}
}

// Levels overwrites dst with the levels of the columns in row r of x.
func (s *Schema) Levels(dst []int32, x rbm.Values, r int) {
	unit := 0
	for i := range s.Columns {
		c := &s.Columns[i]
		dst[i] = 0
		if c.Bit {
			if x.Get(r, unit) {
				dst[i] = 1
			}
			unit++
			continue
		}
		for k := range c.Levels {
			if x.Get(r, unit+k) {
				dst[i] = int32(k)
			}
		}
		unit += len(c.Levels)
	}
}

// Text returns the schema in one line of text, which ParseSchema reads.
func (s *Schema) Text() string {
	if s.Alphabet != "" {
		return fmt.Sprintf("sequences %d %s", len(s.Columns), s.Alphabet)
	}
	b, err := finitejson.Marshal(s)
	if err != nil { // numbers of a file are finite
		panic("data: " + err.Error())
	}
	return string(b)
}

// ParseSchema reads what Text writes. The error is an ErrFormat.
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
		total += n
		edges := slices.IsSorted(c.Edges) && (c.Edges == nil || len(c.Edges) == n-1)
		if n < 2 || n > maxLevels || total > maxTableLevels || c.Bit != (n == 2) || !edges {
			return nil, formatErrorf("schema: column %s does not have levels that fit", quote(c.Name))
		}
	}
	if len(s.Columns) == 0 || s.Alphabet != "" {
		return nil, formatErrorf("schema %s has no columns", quote(text))
	}
	return s, nil
}

// Words returns the levels of row r of x in words.
func (s *Schema) Words(x rbm.Values, r int) []string {
	levels, words := make([]int32, len(s.Columns)), make([]string, len(s.Columns))
	s.Levels(levels, x, r)
	for i, k := range levels {
		words[i] = s.Columns[i].Levels[k]
	}
	return words
}

// WriteFASTA writes the rows of x, sequences, with numbers from 0 for names.
func (s *Schema) WriteFASTA(w io.Writer, x rbm.Values) error {
	out := bufio.NewWriter(w)
	for r := range x.Rows {
		fmt.Fprintf(out, ">%d\n%s\n", r, strings.Join(s.Words(x, r), ""))
	}
	return out.Flush()
}
