package data

import (
	"encoding/binary"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// IsMissing reports whether word, the content of a cell of a table, means that the value is missing.
func IsMissing(word string) bool {
	switch word {
	case "", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>", "#N/A", "NaT":
		return true
	}
	return false
}

// isDash reports whether word means that the value is missing if all other cells of its column are numbers.
func isDash(word string) bool {
	switch word {
	case "-", "--", "–", "—", ".", "*", "n.a.", "na", "NULL!", "missing", "unknown":
		return true
	}
	return false
}

// ParseNumber reads a number of a table: decimal, such as -1.5e-3, or nan or inf in
// the spellings of strconv.ParseFloat, whose errors it returns. Hexadecimal numbers
// and underscores between digits, which Go's own syntax allows, are errors.
func ParseNumber(text string) (float64, error) {
	if strings.ContainsAny(text, "_xX") {
		return 0, &strconv.NumError{Func: "ParseNumber", Num: text, Err: strconv.ErrSyntax}
	}
	return strconv.ParseFloat(text, 64)
}

// isNumber reports whether a field is a number, and so cannot be the name of a column. NaN and the numbers
// of Go's syntax that ParseNumber refuses count as numbers.
func isNumber(field string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
	return err == nil || strings.HasSuffix(err.Error(), strconv.ErrRange.Error())
}

var amount = regexp.MustCompile(`^([-+]?)[$€£¥]? ?([1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+) ?([€$£¥%]?)$`)

// parseAmount reads a number with a sign of a currency, a percent sign or commas between thousands. Percent
// are hundredths.
func parseAmount(word string) (v float64, ok bool) {
	if !strings.ContainsAny(word, ",$€£¥%") {
		return 0, false
	}
	m := amount.FindStringSubmatch(word)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1]+strings.ReplaceAll(m[2], ",", ""), 64)
	if m[3] == "%" {
		v /= 100
	}
	return v, err == nil
}

func isAmount(word string) bool {
	_, ok := parseAmount(word)
	return ok
}

// number returns the number that word spells, and whether it is a finite number.
func number(word string) (float64, bool) {
	v, err := ParseNumber(word)
	if err != nil {
		return parseAmount(word)
	}
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

var dates = regexp.MustCompile(`^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4}))([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[-+]\d{2}:?\d{2})?)?$`)

// A word is one of the different contents of the cells of a column.
type word struct {
	text   string
	value  float64 // the number that text spells; NaN: none
	row    int32   // first row that has it
	rows   int32   // number of rows that have it
	gap    bool    // it means that the value is missing
	amount bool    // it is a number, but not plainly written
}

func (w *word) isNumber() bool { return w.value == w.value }

// isWord reports whether w is neither a number nor missing.
func (w *word) isWord() bool { return !w.isNumber() && !w.gap }

// A column has the cells of a column and facts about them. Cells are the numbers of words, or float64 values
// if there are many different numbers. A row with a cell that is not a number then has a NaN whose low bits
// are the number of the word.
type column struct {
	name  string
	at    int // index in the file
	words []word
	index map[string]int32 // number of each word, if there are many
	cells []byte
	width int  // bytes of a cell: 0 (a bit), 1 or 4, for the number of a word, or 8
	rows  int  // number of cells
	lost  bool // there are too many words, and further cells are not kept

	asked   bool            // Options.Categorical names the column
	keep    int             // number of different numbers beyond which their words are not kept
	missing func(word) bool // whether a word means that the value is missing

	numbers  int     // different numbers so far, while width < 8
	strange  int     // words that are neither numbers nor missing
	rising   bool    // each cell so far is a whole number, above those before
	last     float64 // last number, if rising
	counting bool    // the cells so far count the rows, from 0 or from 1
	amounts  int     // cells with numbers that are not plainly written, once width is 8
	values   extent  // of the numbers, once facts are complete
	whole    bool    // all numbers are whole
}

// manyWords is the number of words above which a column has an index of them.
const manyWords = 8

func newColumn(name string, at, keep int, missing func(word) bool) *column {
	return &column{name: name, at: at, keep: keep, missing: missing, rising: true, counting: true, whole: true}
}

// nanWord is the bits of a NaN that stands for word 0.
const nanWord = 0x7ff8 << 48

// add adds the cell of the next row. field is without white space.
func (c *column) add(field string) {
	if c.lost {
		c.rows++
		return
	}
	if c.width == 8 {
		if v, err := ParseNumber(field); err == nil && v-v == 0 && !(c.missing != nil && c.missing(word{value: v})) {
			c.addNumber(v)
			return
		}
		k := c.find(field)
		if c.lost {
			return
		}
		w := &c.words[k]
		if w.rows++; w.isNumber() {
			c.amounts++
			c.addNumber(w.value)
			return
		}
		c.rising, c.counting = false, false
		c.put(nanWord | uint64(k))
		return
	}
	k := c.find(field)
	if c.lost {
		return
	}
	if c.width == 8 { // the new word was one too many
		c.add(field)
		return
	}
	w := &c.words[k]
	w.rows++
	if c.rising || c.counting {
		c.follow(w.value)
	}
	c.put(uint64(k))
}

func (c *column) addNumber(v float64) {
	if c.rising || c.counting {
		c.follow(v)
	}
	c.values.add(v)
	c.whole = c.whole && v == math.Trunc(v)
	c.put(math.Float64bits(v + 0)) // −0 becomes 0
}

// follow notes whether v continues the numbers so far.
func (c *column) follow(v float64) {
	if c.rows == 0 {
		c.last = v - 1
		c.counting = v == 0 || v == 1
	}
	c.rising = c.rising && v > c.last && v == math.Trunc(v)
	c.counting = c.counting && v == c.last+1
	c.last = v
}

// find returns the number of a word, and adds it if it is new. It may replace the words by numbers, so that
// width is 8, or set lost.
func (c *column) find(field string) int {
	if c.index == nil {
		for k := range c.words {
			if c.words[k].text == field {
				return k
			}
		}
	} else if k, ok := c.index[field]; ok {
		return int(k)
	}
	w := word{text: strings.Clone(field), row: int32(c.rows)}
	var plain error
	if w.value, plain = ParseNumber(field); plain != nil || w.value-w.value != 0 {
		w.value = math.NaN()
		if v, ok := parseAmount(field); ok {
			w.value, w.amount = v, true
		}
	}
	if w.gap = IsMissing(field) || c.missing != nil && c.missing(w); w.gap {
		w.value = math.NaN()
	}
	k := len(c.words)
	c.words = append(c.words, w)
	switch {
	case w.isNumber():
		if c.numbers++; c.numbers > c.keep && len(c.words) <= 16*c.keep {
			c.numbers, _ = c.counts() // without other spellings
		}
	case !w.gap:
		c.strange++
	}
	if c.index != nil {
		c.index[w.text] = int32(k)
	} else if k == manyWords {
		c.index = make(map[string]int32, 2*manyWords)
		for i := range c.words {
			c.index[c.words[i].text] = int32(i)
		}
	}
	switch {
	case c.width < 8 && c.numbers > c.keep && c.strange <= c.numbers:
		c.toNumbers(k)
	case len(c.words) > maxTableLevels:
		c.lost = true
		c.rows++
	case c.width == 0 && k == 2:
		c.widen(1)
	case c.width == 1 && k == 256:
		c.widen(4)
	}
	return k
}

// widen stores the cells in more bytes each.
func (c *column) widen(width int) {
	old := *c
	c.cells, c.width, c.rows = make([]byte, 0, (old.rows+old.rows/2+1)*width), width, 0
	for r := range old.rows {
		c.put(uint64(old.word(r)))
	}
}

// toNumbers stores the values of the cells instead of their words. It drops word k, which has no cell yet.
func (c *column) toNumbers(k int) {
	old := *c
	c.words = c.words[:k]
	kept, to := []word(nil), make([]uint64, k)
	for i, w := range c.words {
		if w.isNumber() {
			to[i] = math.Float64bits(w.value + 0)
			c.values.add(w.value)
			c.whole = c.whole && w.value == math.Trunc(w.value)
			if w.amount {
				c.amounts += int(w.rows)
			}
			continue
		}
		to[i] = nanWord | uint64(len(kept))
		kept = append(kept, w)
	}
	c.cells, c.width, c.rows = make([]byte, 0, 12*(old.rows+1)), 8, 0
	for r := range old.rows {
		c.put(to[old.word(r)])
	}
	c.words, c.index = kept, nil
	if len(kept) > manyWords {
		c.index = map[string]int32{}
		for i := range kept {
			c.index[kept[i].text] = int32(i)
		}
	}
}

// put appends a cell.
func (c *column) put(v uint64) {
	switch c.width {
	case 0:
		if c.rows%8 == 0 {
			c.cells = append(c.cells, 0)
		}
		c.cells[c.rows/8] |= byte(v) << (c.rows % 8)
	case 1:
		c.cells = append(c.cells, byte(v))
	case 4:
		c.cells = binary.LittleEndian.AppendUint32(c.cells, uint32(v))
	case 8:
		c.cells = binary.LittleEndian.AppendUint64(c.cells, v)
	}
	c.rows++
}

// word returns the number of the word in row r, or −1 if there is a number without its word.
func (c *column) word(r int) int {
	switch c.width {
	case 0:
		return int(c.cells[r/8] >> (r % 8) & 1)
	case 1:
		return int(c.cells[r])
	case 4:
		return int(binary.LittleEndian.Uint32(c.cells[4*r:]))
	}
	if v := binary.LittleEndian.Uint64(c.cells[8*r:]); v&nanWord == nanWord {
		return int(v &^ nanWord & 0xffffffff)
	}
	return -1
}

// number returns the number in row r, or NaN.
func (c *column) number(r int) float64 {
	if c.width < 8 {
		return c.words[c.word(r)].value
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(c.cells[8*r:]))
}

// text returns the cell of row r as it was written, or the number in it.
func (c *column) text(r int) string {
	if k := c.word(r); k >= 0 {
		return c.words[k].text
	}
	return strconv.FormatFloat(c.number(r), 'g', -1, 64)
}

// isGap reports whether the cell of row r is missing.
func (c *column) isGap(r int) bool {
	k := c.word(r)
	return k >= 0 && c.words[k].gap
}

// finish completes the facts once all rows are read. Dashes among numbers become missing cells.
func (c *column) finish() {
	numbers, words := c.counts()
	dashes := 0
	if c.asked {
		words = -1
	}
	for i := range c.words {
		if c.words[i].isWord() && isDash(c.words[i].text) {
			dashes++
		}
	}
	if numbers > 1 && dashes == words {
		for i := range c.words {
			c.words[i].gap = !c.words[i].isNumber()
		}
	}
	if c.width < 8 {
		for i := range c.words {
			if w := &c.words[i]; w.isNumber() {
				c.values.add(w.value)
				c.whole = c.whole && w.value == math.Trunc(w.value)
			}
		}
	}
}

// counts returns how many different numbers and words a column has. If it has numbers without their words
// this is some number above keep.
func (c *column) counts() (numbers, words int) {
	for i, same := range c.canonical() {
		switch w := &c.words[i]; {
		case w.gap || int(same) != i:
		case w.isNumber():
			numbers++
		default:
			words++
		}
	}
	if c.width == 8 {
		numbers = max(numbers, c.keep+1, words)
	}
	return numbers, words
}

// gaps returns the number of missing cells.
func (c *column) gaps() (n int) {
	for i := range c.words {
		if c.words[i].gap {
			n += int(c.words[i].rows)
		}
	}
	return n
}

// first returns the first word for which is returns true, in the order of the rows; nil: none.
func (c *column) first(is func(w *word) bool) *word {
	var first *word
	for i := range c.words {
		if w := &c.words[i]; is(w) && w.rows > 0 && (first == nil || w.row < first.row) {
			first = w
		}
	}
	return first
}

// once returns how many words occur in one row only.
func (c *column) once() (n int) {
	for i := range c.words {
		if w := &c.words[i]; !w.gap && w.rows == 1 {
			n++
		}
	}
	return n
}

// areDates reports whether all words of a column are dates.
func (c *column) areDates() bool {
	n := 0
	for i := range c.words {
		if w := &c.words[i]; !w.gap {
			if n++; !dates.MatchString(w.text) {
				return false
			}
		}
	}
	return n > 0 && c.width < 8
}

// canonical returns, for each word, the number of the first word that spells the same number, and otherwise
// the word itself.
func (c *column) canonical() []int32 {
	first := map[float64]int32{}
	to := make([]int32, len(c.words))
	for k := range c.words {
		to[k] = int32(k)
		if w := &c.words[k]; w.isNumber() {
			if i, ok := first[w.value]; ok {
				to[k] = i
			} else {
				first[w.value] = int32(k)
			}
		}
	}
	return to
}

// levels returns the words of the different values of a column, one for all spellings of a number, in the order of their
// first rows.
func (c *column) levels() (words []string) {
	for k, to := range c.canonical() {
		if w := &c.words[k]; int(to) == k && !w.gap {
			words = append(words, w.text)
		}
	}
	return words
}
