package data

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"gorbm/rbm"
)

// A Set is a list of examples, binary or grey, with class labels or without.
// Readers must not change it, so that many goroutines can share it.
type Set struct {
	// Name is the canonical spec, for example "toy:4,4,2500,0.2:seed=1", or a
	// file's path. For a training set Load(Name), with the same options, gives
	// the same rows again; the test part of a source is called the same with
	// " test" after it.
	Name string

	X       rbm.Values // inputs, one row an example; labels are not among them
	Y       []int32    // class of each row, or NoClass; nil where there are no labels
	Classes []string   // names of the classes; nil where there are no labels

	// Weights says how often each row counts, above 0; nil: once. See Effective.
	Weights []float64

	// WeightColumn is true if they come from a column of the rows' file.
	WeightColumn bool

	// Groups are the groups of the inputs, in the order of their columns, which a model of the
	// data has too. Columns of binary units next to each other are one Bernoulli group; a
	// variable of q states is a softmax group of q columns, of which each row of X has exactly
	// one on. Only Kind and Units of a group count here. Nil: all inputs are binary units.
	Groups []rbm.Group

	// Grey holds values that were not made binary, in X's shape: values in [0,1], or standardised values, next to 0 and
	// 1 of the other units of a table. If there are none, Grey.Rows is 0. X then holds the values after Threshold, for
	// the number and the length of rows and for pictures; a model that takes grey values is trained and evaluated
	// on Grey.
	Grey rbm.Matrix

	// Chances holds the probabilities of ones that X was drawn by, in X's shape, if
	// Options.Redraw asked for them; else Chances.Rows is 0. Training then draws the
	// rows of each minibatch by them, with Redraw. All else goes by X.
	Chances rbm.Matrix

	// Height and Width are the shape of an example as a picture, stored row by
	// row: Height·Width = X.Cols. Data that are no pictures have the shape
	// nearest to a square, wider than high.
	Height, Width int
	guessed       bool // that shape is NearSquare's

	// Pictures is true if the rows of an .npz or .npy were arrays of Height × Width.
	Pictures bool

	// Binarize says how the values were made binary: Binary, Threshold or
	// Sample. It is None if there is Grey.
	Binarize string

	// Scale is the range of the source's values that became [0,1], such as 0:16, or the ranges of all
	// columns, with commas between, if Options.Scale asked for it; else "". Given as Options.Scale it
	// reads another file in the same way.
	Scale string

	// Header says whether the first line of a CSV file names the columns: HeaderYes,
	// HeaderNo, or HeaderNumbers. It is "" for other sources.
	Header string

	// Spins is true if the source held spins, −1 and +1, although no scale was asked
	// for: −1 became 0.
	Spins bool

	// Schema says which units stand for which values of the source. It is set for sequences and tables; otherwise
	// it is nil.
	Schema *Schema

	// Missing has the units of missing cells on, in X's shape; X holds a draw of the cells that are
	// known in their place. Missing.Rows is 0 if there are none.
	Missing rbm.Values

	// Numbers are those of the rows in the source, from 0; nil: all of its rows are here, in order.
	Numbers []int32

	// RowNames are the names of sequences of a file, the first word of each name; else nil.
	RowNames []string

	// Contacts are the pairs of sites in contact in generated sequences; nil for other data.
	Contacts [][2]int

	// Unused are the names of the columns of a CSV file that are not used because Options.Schema
	// lacks them.
	Unused []string

	// Columns are the names of the inputs by the header of a CSV file, nil if it has none.
	Columns []string

	// Notes are lines, each on something that the reader of a file dropped or reinterpreted.
	Notes []string

	// Means and Deviations are those of each column of real values that were standardised, in their
	// own units; the deviation of a constant column is 0. They are 0 and 1 of other units of a table.
	// Nil: none were. Found is true if
	// nobody asked for it, see Options.Real.
	Means, Deviations []float64
	Found             bool
	origin            []float64 // what Grey is off from the values, before they are standardised

	// LogProb returns the log probability, in nats, of inputs x and class y
	// under the distribution of the data; for y < 0 that of x alone. Bits of x past X.Cols
	// are ignored. It is nil if it is not known.
	LogProb func(x []uint64, y int) float64
}

// Values of Set.Header. The first two are values of Options.Header too.
const (
	HeaderYes     = "yes"
	HeaderNo      = "no"
	HeaderNumbers = "numbers" // yes: Options.Header is auto, and the line is numbers that cannot well be a row
)

// NoClass is the class of a row without a label, in a set where others have one.
const NoClass = -1

// Unlabelled returns the number of rows without a label; 0 for a set without labels.
func (s *Set) Unlabelled() int {
	n := 0
	for _, y := range s.Y {
		if y == NoClass {
			n++
		}
	}
	return n
}

// Labelled returns the numbers of the rows that have a label, or of all rows of a set
// without labels.
func (s *Set) Labelled() []int32 {
	rows := RowNumbers(0, s.Len())
	if s.Y == nil {
		return rows
	}
	return slices.DeleteFunc(rows, func(r int32) bool { return s.Y[r] == NoClass })
}

// MissesCells reports whether cells of a row are missing.
func (s *Set) MissesCells(row int32) bool {
	return s.Missing.Rows > 0 && slices.ContainsFunc(s.Missing.Row(int(row)), func(w uint64) bool { return w != 0 })
}

// Len returns the number of examples.
func (s *Set) Len() int { return s.X.Rows }

// Density returns the fraction of ones among the inputs, or the mean of grey
// values; 0 for an empty set.
func (s *Set) Density() float64 {
	n := s.X.Rows * s.X.Cols
	if n == 0 {
		return 0
	}
	if s.Grey.Rows > 0 {
		sum := 0.0
		for _, v := range s.Grey.Data {
			sum += float64(v)
		}
		return sum / float64(n)
	}
	return float64(s.X.Count()) / float64(n)
}

// Values says in a word what the values of a row are, for messages: sequences, table, or
// Binarize.
func (s *Set) Values() string {
	switch {
	case s.Schema == nil:
		return s.Binarize
	case s.Schema.Alphabet != "":
		return "sequences"
	}
	return "table"
}

// InputGroups returns Groups, or the one Bernoulli group that nil stands for.
func (s *Set) InputGroups() []rbm.Group {
	if s.Groups == nil {
		return []rbm.Group{{Kind: rbm.Bernoulli, Units: s.X.Cols}}
	}
	return s.Groups
}

// Hash returns the SHA-256, in hexadecimal, of the rows: their number, their
// length, their bits, their labels, their grey values or probabilities, their weights and their
// groups, if there are any, in order. Names have no influence.
func (s *Set) Hash() string {
	h := sha256.New()
	buf := bufio.NewWriterSize(h, 1<<15)
	put := func(w uint64) { buf.Write(binary.LittleEndian.AppendUint64(buf.AvailableBuffer(), w)) }
	put(uint64(s.X.Rows))
	put(uint64(s.X.Cols))
	put(uint64(len(s.Y))) // labelled or not
	for _, w := range s.X.Words {
		put(w)
	}
	for _, y := range s.Y {
		put(uint64(y))
	}
	for _, values := range [][]float32{s.Grey.Data, s.Chances.Data} {
		for _, v := range values {
			put(uint64(math.Float32bits(v)))
		}
	}
	for _, w := range s.Missing.Words {
		put(w)
	}
	for _, w := range s.Weights {
		put(math.Float64bits(w))
	}
	if s.Groups != nil {
		buf.WriteString(rbm.GroupsText(s.Groups))
	}
	buf.Flush()
	return hex.EncodeToString(h.Sum(nil))
}

// NewRows returns room for n rows of s as visible units of a model with that number of
// classes: grey values if the set is grey, else bits.
func (s *Set) NewRows(n, classes int) rbm.Values {
	return rbm.NewValues(n, s.X.Cols+classes, s.Grey.Rows > 0)
}

// RowNumbers returns lo … hi−1, the numbers of rows of a set.
func RowNumbers(lo, hi int) []int32 {
	rows := make([]int32, hi-lo)
	for i := range rows {
		rows[i] = int32(lo + i)
	}
	return rows
}

// Rows returns the visible units of these examples, as Visible lays them out.
func (s *Set) Rows(rows []int32, classes int) rbm.Values {
	v := s.NewRows(len(rows), classes)
	s.Visible(v, rows, classes)
	return v
}

// Visible overwrites row r of dst with the visible units of example rows[r]:
// its inputs, then its class one-hot in the last classes units. With classes 0
// there are only the inputs, and labels are ignored. If dst has room for grey
// values the inputs are those of Grey, or 0 and 1 in a binary set; bits are those
// of X. The label units of a row without a class are off. It allocates nothing.
//
// It panics if dst is not len(rows) × (X.Cols+classes), if a row is out of
// range, or if classes > 0 and an example has a class that is not below it.
func (s *Set) Visible(dst rbm.Values, rows []int32, classes int) {
	if classes < 0 || dst.Cols != s.X.Cols+classes {
		panic("data: visible units of the wrong shape")
	}
	if classes > 0 && s.Y == nil {
		panic("data: visible units with classes from a set without labels")
	}
	s.Inputs(dst, rows)
	if classes == 0 {
		return
	}
	for r, row := range rows {
		y := int(s.Y[row])
		if y == NoClass {
			continue
		}
		if uint(y) >= uint(classes) {
			panic("data: label beyond the number of classes")
		}
		dst.Set(r, s.X.Cols+y, true)
	}
}

// Inputs overwrites row r of dst with the inputs of example rows[r], as Visible
// does, and the units after them, which are those of the label, with zeros. It
// panics if dst has not len(rows) rows of X.Cols units or more, or if a row is
// out of range.
func (s *Set) Inputs(dst rbm.Values, rows []int32) {
	if dst.Rows != len(rows) || dst.Cols < s.X.Cols {
		panic("data: visible units of the wrong shape")
	}
	for r, row := range rows {
		if !dst.IsReal() {
			to := dst.Row(r)
			clear(to[copy(to, s.X.Row(int(row))):])
			continue
		}
		to := dst.Matrix().Row(r)
		clear(to)
		if s.Grey.Rows > 0 {
			copy(to, s.Grey.Row(int(row)))
		} else {
			s.X.Each(int(row), func(j int) { to[j] = 1 })
		}
	}
}

// Redraw redraws the inputs of row r of dst, which must be those of example rows[r]:
// each is 1 with its probability in Chances. Draws depend on key, r and the input alone.
// It does nothing if there are no Chances, allocates nothing, and panics if dst holds
// grey values or has not len(rows) rows.
func (s *Set) Redraw(dst rbm.Values, rows []int32, key rbm.Key) {
	if s.Chances.Rows == 0 {
		return
	}
	if dst.IsReal() || dst.Rows != len(rows) || dst.Cols < s.X.Cols {
		panic("data: rows to redraw have the wrong shape")
	}
	cols := s.X.Cols
	words := (cols + 63) / 64
	for r, row := range rows {
		to := dst.Row(r)
		after := to[words-1] &^ (1<<(cols-64*(words-1)) - 1) // units of the label in the word of the last inputs
		chances := rbm.Matrix{Rows: 1, Cols: cols, Data: s.Chances.Row(int(row))}
		rbm.DrawBits(rbm.Values{Rows: 1, Cols: cols, Stride: words, Words: to[:words]}, chances, key.Child(uint64(r)))
		to[words-1] |= after
	}
}

// IsPicture reports whether rows are to be seen as pictures of Height × Width. Sequences and tables
// are not; nor are rows of a file whose shape nobody gave, unless the number of columns is a square of
// some size and they have no names but numbered ones.
func (s *Set) IsPicture() bool {
	const leastSide = 7
	switch {
	case s.Schema != nil:
		return false
	case !s.guessed:
		return true
	case s.Height != s.Width || s.Width < leastSide:
		return false
	}
	stem := func(name string) string { return strings.TrimRight(name, "0123456789_x") }
	return !slices.ContainsFunc(s.Columns, func(name string) bool { return stem(name) != stem(s.Columns[0]) })
}

// NearSquare returns the factors of n closest to each other, the smaller
// first.
func NearSquare(n int) (height, width int) {
	for h := 1; h*h <= n; h++ {
		if n%h == 0 {
			height = h
		}
	}
	if height == 0 {
		return 0, 0
	}
	return height, n / height
}
