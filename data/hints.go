package data

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
)

const (
	maxHints     = 3
	maxHintCells = 1 << 24 // cells of a set beyond which it is not searched for hints
)

// Hints returns at most three sentences on traits of training rows that a better file may not have. Sets that
// are not from text files have none.
func (s *Set) Hints() (hints []string) {
	for _, hint := range []func() string{s.oneHot, s.transposed, s.determined, s.nearlyConstant, s.repeated} {
		if s.Readings == nil || s.X.Rows*s.X.Cols > maxHintCells || len(hints) == maxHints {
			break
		}
		if text := hint(); text != "" {
			hints = append(hints, "hint: "+text)
		}
	}
	return hints
}

// column returns the name of variable j, an input or a column of the schema, for a message.
func (s *Set) column(j int) string {
	switch {
	case s.Schema != nil:
		return quote(s.Schema.Columns[j].Name)
	case s.Columns != nil:
		return quote(s.Columns[j])
	}
	return fmt.Sprint(j + 1)
}

// oneHot looks for adjacent columns of bits, exactly one of which is on in each row.
func (s *Set) oneHot() string {
	const least, most = 3, maxLevels
	if s.Schema != nil || s.Binarize != Binary || s.Len() < leastIndex {
		return ""
	}
	counts := make([]int, s.X.Cols)
	for r := range s.Len() {
		s.X.Each(r, func(j int) { counts[j]++ })
	}
	first, groups := "", 0
	for from := 0; from < len(counts); from++ {
		to, sum := from, 0
		for ; to < min(len(counts), from+most) && counts[to] > 0 && sum < s.Len(); to++ {
			sum += counts[to]
		}
		if sum != s.Len() || to-from < least || !s.oneOf(from, to) {
			continue
		}
		if groups++; groups == 1 {
			first = fmt.Sprintf("of the columns %s to %s exactly one is 1 in each row, so that they are one category; as a column of words it has a softmax group, whose samples are always valid", s.column(from), s.column(to-1))
		}
		from = to - 1
	}
	if groups > 1 {
		first += fmt.Sprintf(" (%d such groups)", groups)
	}
	return first
}

// oneOf reports whether exactly one of the columns from … to−1 is on in each row.
func (s *Set) oneOf(from, to int) bool {
	for r := range s.Len() {
		on := 0
		for j := from; j < to && on < 2; j++ {
			if s.X.Get(r, j) {
				on++
			}
		}
		if on != 1 {
			return false
		}
	}
	return true
}

// transposed looks for many more columns than rows.
func (s *Set) transposed() string {
	const ratio = 10
	variables := s.X.Cols
	if s.Schema != nil {
		variables = len(s.Schema.Columns)
	}
	if s.Len() < 3 || variables < ratio*s.Len() {
		return ""
	}
	return fmt.Sprintf("%d rows of %d columns: if each column of the file is an example, transpose it", s.Len(), variables)
}

// codes returns the levels of each variable, row by row. Numbers have nil.
func (s *Set) codes() (codes [][]int32) {
	if s.Schema == nil {
		for j := range s.X.Cols {
			column := make([]int32, s.Len())
			for r := range column {
				column[r] = int32(s.X.At(r, j))
			}
			codes = append(codes, column)
		}
		return codes
	}
	codes = make([][]int32, len(s.Schema.Columns))
	levels := make([]int32, len(codes))
	for r := range s.Len() {
		s.Schema.Levels(levels, s.X, r)
		for j := range codes {
			if s.Schema.Columns[j].Number == nil {
				codes[j] = append(codes[j], levels[j])
			}
		}
	}
	return codes
}

// determined looks for a column whose level follows from that of another.
func (s *Set) determined() string {
	const mostColumns, leastRows, rowsPerLevel = 128, 50, 10
	if s.Schema == nil && (s.Binarize != Binary || s.X.Cols > mostColumns) || s.Schema != nil && len(s.Schema.Columns) > mostColumns || s.Missing.Rows > 0 || s.Len() < leastRows {
		return ""
	}
	codes := s.codes()
	first, more := "", 0
	found := make([]bool, len(codes))
	for j, a := range codes {
		for k, b := range codes {
			if j == k || a == nil || b == nil || found[j] || found[k] || len(a) < rowsPerLevel*int(1+slices.Max(a)) || slices.Max(b) == slices.Min(b) || !follows(a, b) {
				continue
			}
			if found[k] = true; first == "" {
				first = fmt.Sprintf("column %s is determined by column %s; one of them is enough", s.column(k), s.column(j))
			} else {
				more++
			}
		}
	}
	if more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	return first
}

// follows reports whether b[r] is a function of a[r].
func follows(a, b []int32) bool {
	to := map[int32]int32{}
	for r, x := range a {
		y, known := to[x]
		if !known {
			to[x] = b[r]
		} else if y != b[r] {
			return false
		}
	}
	return true
}

// nearlyConstant looks for columns of a table that have one value nearly everywhere.
func (s *Set) nearlyConstant() string {
	const nearly, leastRows = 0.995, 500
	if s.Schema == nil || s.Len() < leastRows {
		return ""
	}
	first, more := "", 0
	for j, codes := range s.codes() {
		counts := map[int32]int{}
		most := int32(0)
		for _, c := range codes {
			if counts[c]++; counts[c] > counts[most] {
				most = c
			}
		}
		share := float64(counts[most]) / float64(s.Len())
		if share <= nearly {
			continue
		}
		if first == "" {
			first = fmt.Sprintf("column %s has the value %s in %.4g %% of the rows; a model learns little from it", s.column(j), quote(s.Schema.Columns[j].Levels[most]), 100*share)
		} else {
			more++
		}
	}
	if more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	return first
}

// repeated looks for many equal rows, where independent columns would have few.
func (s *Set) repeated() string {
	const share, timesChance = 0.1, 5
	equal := 0.0 // probability that two rows of independent columns are equal
	if s.Grey.Rows == 0 {
		equal = 1
		for _, codes := range s.codes() {
			counts := map[int32]float64{}
			for _, c := range codes {
				counts[c]++
			}
			p := 0.0
			for _, n := range counts {
				p += float64(n * n)
			}
			equal *= p / math.Pow(float64(s.Len()), 2)
		}
	}
	least := float64(s.Len()) * max(share, timesChance*equal*float64(s.Len())/2)
	if least >= float64(s.Len()) {
		return ""
	}
	seen, seed := map[uint64]bool{}, maphash.MakeSeed()
	again := 0
	var key []byte
	for r := range s.Len() {
		key = key[:0]
		for _, w := range s.X.Row(r) {
			key = binary.LittleEndian.AppendUint64(key, w)
		}
		if s.Grey.Rows > 0 {
			for _, v := range s.Grey.Row(r) {
				key = binary.LittleEndian.AppendUint32(key, math.Float32bits(v))
			}
		}
		hash := maphash.Bytes(seed, key)
		if seen[hash] {
			again++
		}
		seen[hash] = true
	}
	if float64(again) <= least {
		return ""
	}
	return fmt.Sprintf("%d of %d rows repeat an earlier row; held-out and test rows are then known from training", again, s.Len())
}

// beyond returns a note about numbers of test rows that lie far outside the range of the training rows, by
// more than its width, or "".
func (s *Set) beyond(test *Set) string {
	if s.Means == nil || test.Grey.Cols != s.Grey.Cols {
		return ""
	}
	worst, at, value := 1.0, -1, 0.0
	var low, high float64
	for j := range s.Grey.Cols {
		if s.Deviations[j] == 0 || s.Schema != nil && s.Deviations[j] == 1 && s.Means[j] == 0 {
			continue
		}
		least, most := math.Inf(1), math.Inf(-1)
		for r := range s.Len() {
			v := float64(s.Grey.Row(r)[j])
			least, most = min(least, v), max(most, v)
		}
		for r := range test.Len() {
			v := float64(test.Grey.Row(r)[j])
			if d := max(least-v, v-most) / (most - least); d > worst {
				number := func(z float64) float64 { // without the rounding of z
					if x := s.Means[j] + float64(s.Deviations[j]*z); math.Abs(x) > 1e-5*s.Deviations[j] {
						return x
					}
					return 0
				}
				worst, at, value, low, high = d, j, number(v), number(least), number(most)
			}
		}
	}
	if at < 0 {
		return ""
	}
	name := fmt.Sprint(at + 1)
	if s.Columns != nil {
		name = quote(s.Columns[at])
	}
	for unit, i := 0, 0; s.Schema != nil && i < len(s.Schema.Columns); i++ {
		if unit == at {
			name = quote(s.Schema.Columns[i].Name)
		}
		unit += s.Schema.Columns[i].Units()
	}
	return fmt.Sprintf("hint: column %s reaches %.6g, far outside the training rows, which have %.6g to %.6g; are the units the same?", name, value, low, high)
}
