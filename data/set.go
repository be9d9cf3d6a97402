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

// A Set is a list of examples, binary or grey, with or without class labels. Its users must not change it,
// so that many goroutines can share it.
type Set struct {
	// Name is the canonical spec, such as "toy:4,4,2500,0.2:seed=1", or the path of a file. Load with the
	// Name of a training set, and the same options, gives the same rows again. The name of a test set ends
	// in " test".
	Name string

	X       rbm.Values // inputs, one row for each example, without labels
	Y       []int32    // class of each row, or NoClass; nil: no labels
	Classes []string   // names of the classes; nil: no labels

	// Weights are the weights of the rows, above 0; nil: all are 1. See TotalWeight and EqualRows.
	Weights []float64

	// WeightColumn is true if Weights come from a column of the rows' file.
	WeightColumn bool

	// Groups are the groups of the inputs, in the order of their columns. A model of the data has the same
	// groups. Adjacent columns of binary units are one Bernoulli group. A variable of q states is a softmax
	// group of q columns, exactly one of which is on in each row of X. Only Kind and Units of a group are
	// used. If Groups is nil all inputs are binary units.
	Groups []rbm.Group

	// Grey has values that were not made binary, in X's shape: values in [0,1], or standardised values. In
	// a table with standardised values, Grey also has the units of levels, as 0 or 1. If all values are
	// binary, Grey.Rows is 0. A model of grey values is trained and evaluated on Grey. X then has bits in
	// place of these values: as by Threshold, or ones for values above the mean.
	Grey rbm.Matrix

	// Chances has the probabilities of ones from which X was drawn, in X's shape, if Options.Redraw is set.
	// Otherwise Chances.Rows is 0. Training redraws the rows of each minibatch with Redraw. Everything else
	// uses X.
	Chances rbm.Matrix

	// Height and Width are the shape of an example as a picture, stored row by row: Height·Width = X.Cols.
	// If data are not pictures, the shape is the one nearest to a square, wider than high.
	Height, Width int
	guessed       bool // the shape is that of NearSquare

	// Pictures is true if the rows of an .npz or .npy were arrays of Height × Width.
	Pictures bool

	// Binarize says how the values were made binary: Binary, Threshold or Sample. With Grey it is None or
	// Standard.
	Binarize string

	// Scale is the range of values in the source that was mapped to [0,1], such as 0:16, or the ranges of
	// all columns, separated by commas. Pass it as Options.Scale to read another file in the same way. It
	// is "" if Options.Scale was not set.
	Scale string

	// Header says whether the first line of a CSV file names the columns: HeaderYes,
	// HeaderNo, or HeaderNumbers. It is "" for other sources.
	Header string

	// Spins is true if the source had spins, −1 and +1, although Options.Scale did not say so. −1 became 0.
	Spins bool

	// Schema says which units stand for which values of the source. It is set for sequences and tables; otherwise
	// it is nil.
	Schema *Schema

	// In Missing, in X's shape, the units of missing cells are on and all others off. In X these cells have
	// values drawn from the known cells of their columns. If no cell is missing, Missing.Rows is 0.
	Missing rbm.Values

	// Numbers are the numbers of the rows in the source, from 0. If Numbers is nil, the set has all rows of
	// the source in order.
	Numbers []int32

	// RowNames are the names of the sequences of a file, the first word of each; nil for other data.
	RowNames []string

	// Contacts are the pairs of sites in contact in generated sequences; nil for other data.
	Contacts [][2]int

	// Dropped are the names of the columns of a table that have one value and are not inputs.
	Dropped []string
	// Unused are the names of the columns of a CSV file that are not used because Options.Schema
	// lacks them.
	Unused []string

	// Columns are the names of the inputs in the header of a CSV file; nil if there is no header.
	Columns []string

	// Readings say what each column of a text file was read as, in the order of the file; nil for other sources and for
	// files that were read with a Schema.
	Readings []Reading

	// Notes are messages, a line each, about what the reader of a file dropped or reinterpreted.
	Notes []string

	// Means and Deviations are the mean and the standard deviation of each column of real values, in the
	// units of the data, if values were standardised. The deviation of a constant column is 0. The other
	// units of a table have the mean 0 and the deviation 1. If nothing was standardised both are nil. Found
	// is true if values were standardised because of Options.Real.
	Means, Deviations []float64
	Found             bool
	origin            []float64 // by column, what must be added to Grey to give the value; nil once values are standardised

	// LogProb returns the log probability, in nats, of inputs x and class y under the distribution of the
	// data. If y < 0 it returns the log probability of x alone. Bits of x past X.Cols are ignored. LogProb
	// is nil if the distribution is not known.
	LogProb func(x []uint64, y int) float64
}

// Values of Set.Header. The first two are values of Options.Header too.
const (
	HeaderYes     = "yes"
	HeaderNo      = "no"
	HeaderNumbers = "numbers" // a header of numbers, which Options.Header auto has found
)

// NoClass is the class of a row without a label, in a set where other rows have one.
const NoClass = -1

// Unlabelled returns the number of rows without a label, or 0 for a set without labels.
func (s *Set) Unlabelled() int {
	n := 0
	for _, y := range s.Y {
		if y == NoClass {
			n++
		}
	}
	return n
}

// Labelled returns the numbers of the rows that have a label. For a set without labels these are all rows.
func (s *Set) Labelled() []int32 {
	rows := RowNumbers(0, s.Len())
	if s.Y == nil {
		return rows
	}
	return slices.DeleteFunc(rows, func(r int32) bool { return s.Y[r] == NoClass })
}

// ClassesOf returns the classes of the given rows, or nil if the set has no labels.
func (s *Set) ClassesOf(rows []int32) []int32 { return pick(s.Y, rows) }

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

// Values returns a word that says in messages what the values of a row are: sequences, table, or Binarize.
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

// NewRows allocates n rows of visible units for a model of s with the given number of classes: real values
// if the set is grey, bits otherwise.
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

// EvenRows returns the numbers of at most n rows out of total, evenly spaced, because rows may be sorted.
func EvenRows(n, total int) []int32 {
	rows := make([]int32, min(n, total))
	for i := range rows {
		rows[i] = int32(i * total / len(rows))
	}
	return rows
}

// Rows returns the visible units of the given examples, in the layout of Visible.
func (s *Set) Rows(rows []int32, classes int) rbm.Values {
	v := s.NewRows(len(rows), classes)
	s.Visible(v, rows, classes)
	return v
}

// Visible overwrites row r of dst with the visible units of example rows[r]: its inputs, then its class
// one-hot in the last classes units. If classes is 0 there are only the inputs, and labels are ignored. If
// dst has real values the inputs are those of Grey, or 0 and 1 in a binary set. If dst has bits the inputs
// are those of X. The label units of a row without a class are off. Visible allocates nothing.
//
// It panics if dst is not len(rows) × (X.Cols+classes), if a row is out of range, or if classes > 0 and the
// set has no labels or the class of an example is not below classes.
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

// Inputs overwrites row r of dst with the inputs of example rows[r], as Visible does. It sets the label
// units, which come after the inputs, to zero. It panics if dst does not have len(rows) rows of X.Cols
// units or more, or if a row is out of range.
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

// Redraw redraws the inputs of row r of dst, which must be those of example rows[r]: each is 1 with its
// probability in Chances. Draws depend on key, r and the input alone. Redraw does nothing if there are no
// Chances, and allocates nothing. It panics if dst has grey values or does not have len(rows) rows.
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

// IsPicture reports whether rows are shown as pictures of Height × Width. Sequences and tables are not. If
// the shape was guessed, rows are pictures if it is a square of at least 7 × 7, and if the columns have no
// names, or names that differ only in a number.
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

// NearSquare returns the two factors of n that are closest to each other, the smaller first.
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
