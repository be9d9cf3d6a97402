package data

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/data/grammar"
	"gorbm/rbm"
)

// Values of Options.Numbers.
const (
	NumbersLevels   = "levels"
	NumbersGaussian = "gaussian"
)

const (
	maxLevels      = 1000    // levels of a column
	maxTableLevels = 1 << 14 // levels of a table
	maxTableBytes  = 1 << 18 // bytes of a table's words, which model files contain
	maxCells       = 1 << 27 // cells of a table
	defaultLevels  = 8
)

// IsMissing reports whether word, the content of a cell of a table, means that the value is missing.
func IsMissing(word string) bool {
	switch word {
	case "", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None":
		return true
	}
	return false
}

// A cellColumn is a column of a table as it is read: its different words, and which of them each row has.
type cellColumn struct {
	name  string
	at    int // index in a row that next returns
	words []string
	index map[string]int32 // index in words of each word
	// ofNumber has the index in words of each number. All spellings of a number count as one word, the
	// first of them.
	ofNumber map[float64]int32
	cells    []int32 // index in words for each row; −1: missing
}

// A tableReader reads a CSV file of categories and numbers.
type tableReader struct {
	*csvReader
	opt     Options
	columns []cellColumn
	lines   []int32   // line of each row in the file
	weight  []float64 // weight of each row; nil: no weights
	counted []float64 // see Options.counted
	gone    int       // number of rows of weight 0
}

// loadTable reads a CSV file whose columns are categories, bits or numbers, and whose cells may be missing.
// The first line names the columns. Options.Schema, if it is given, describes them.
func loadTable(f io.ReaderAt, size int64, path string, opt Options) ([]*Set, error) {
	c := newCSVReader(path, opt)
	c.asked = HeaderYes
	if opt.Header == HeaderNo {
		return nil, specErrorf("%s: a table of categories needs a first line of names, so not -header no", path)
	}
	if opt.Schema != nil {
		if c.known = opt.Schema.Label; c.known == "" {
			c.labels = "none"
		}
	}
	t := &tableReader{csvReader: c, opt: opt}
	if err := c.begin(f, size); err != nil {
		return nil, err
	}
	for j, name := range c.inputs(c.header) {
		name = strings.TrimSpace(name)
		c.header[j] = name
		if slices.ContainsFunc(t.columns, func(o cellColumn) bool { return o.name == name }) {
			return nil, formatErrorf("%s:1: two columns are named %s; give them different names", path, quote(name))
		}
		t.columns = append(t.columns, cellColumn{name: name, at: j, index: map[string]int32{}, ofNumber: map[float64]int32{}})
	}
	c.counts = false
	if err := c.read(f, size, t.add); err != nil {
		return nil, err
	}
	if len(t.lines) == 0 {
		return nil, formatErrorf("%s: no examples; write one a row", path)
	}
	if err := t.weigh(); err != nil {
		return nil, err
	}
	s, err := t.set()
	if err != nil {
		return nil, err
	}
	return []*Set{s}, nil
}

// add adds a row of words.
func (t *tableReader) add(row []string) error {
	t.counts = false // a first column that counts the rows is not an error here: namesRows finds it
	line, _ := t.r.FieldPos(0)
	if err := t.addLabelAndWeight(row, IsMissing); err != nil {
		return err
	}
	if t.lines = append(t.lines, int32(line)); len(t.lines)*len(t.columns) > maxCells {
		return formatErrorf("%s: more than the %d cells that are allowed; split the file", t.path, maxCells)
	}
	for j := range t.columns {
		c := &t.columns[j]
		word := strings.TrimSpace(row[j])
		if IsMissing(word) {
			c.cells = append(c.cells, -1)
			continue
		}
		k, ok := c.index[word]
		if !ok {
			if len(word) > maxLabel {
				return t.wrong(j, "a word of %d bytes", len(word))
			}
			word = strings.Clone(word)
			v, is := number(word)
			if k, ok = c.ofNumber[v]; !is || !ok {
				k, c.words = int32(len(c.words)), append(c.words, word)
			}
			if c.index[word] = k; is {
				c.ofNumber[v] = k
			}
		}
		c.cells = append(c.cells, k)
	}
	return nil
}

// weigh finds the weights of the rows in the means and levels of columns. It empties the rows of weight 0,
// which Load leaves out, so that their words are no levels.
func (t *tableReader) weigh() error {
	t.weight = t.weights
	if t.weight == nil && t.opt.Weights != "" {
		if w, err := t.opt.rowWeights(); err == nil && len(w) == len(t.lines) { // else Load finds the error
			t.weight = w
		}
	}
	t.counted = t.opt.counted(len(t.lines), t.weight)
	sum := 0.0
	for r := range t.weight {
		if sum += t.weight[r]; t.isGone(r) {
			t.gone++
		}
	}
	if t.gone == 0 && !math.IsInf(sum, 0) {
		return nil
	}
	if t.gone == len(t.lines) || math.IsInf(sum, 0) {
		return noWeight(t.path, len(t.lines), sum)
	}
	for j := range t.columns {
		c := &t.columns[j]
		place := make([]int32, len(c.words)) // 1 + new index of each word that stays
		var words []string
		for r, k := range c.cells {
			switch {
			case k < 0:
			case t.isGone(r):
				c.cells[r] = -1
			default:
				if place[k] == 0 {
					words = append(words, c.words[k])
					place[k] = int32(len(words))
				}
				c.cells[r] = place[k] - 1
			}
		}
		c.words = words
	}
	return nil
}

// isGone reports whether a row has weight 0.
func (t *tableReader) isGone(row int) bool { return t.weight != nil && t.weight[row] == 0 }

// where returns the file, line and column of a cell, for a message.
func (t *tableReader) where(c *cellColumn, row int) string {
	return fmt.Sprintf("%s:%d: %s", t.path, t.lines[row], t.columnName(c.at))
}

// namesRows reports whether all cells of a column differ, and are words or whole numbers in ascending
// order. Such a column may name the rows.
func (t *tableReader) namesRows(c *cellColumn) bool {
	if len(c.words) < leastIndex || len(c.words) < len(c.cells) {
		return false
	}
	last, numbers := math.Inf(-1), 0
	for _, word := range c.words {
		v, ok := number(word)
		if !ok {
			continue
		}
		if numbers++; v <= last || v != math.Trunc(v) {
			return false
		}
		last = v
	}
	return numbers == 0 || numbers == len(c.words)
}

// mostlyOnce reports whether most words of a column occur in one row only, like names of rows.
func mostlyOnce(c *cellColumn) bool {
	rows := make([]int, len(c.words))
	for _, k := range c.cells {
		if k >= 0 {
			rows[k]++
		}
	}
	once := 0
	for _, n := range rows {
		if n == 1 {
			once++
		}
	}
	return len(c.cells) >= leastIndex && 2*once > len(c.cells)
}

// columnError returns an error about a whole column.
func (t *tableReader) columnError(c *cellColumn, format string, args ...any) error {
	return formatErrorf("%s: %s %s", t.path, t.columnName(c.at), fmt.Sprintf(format, args...))
}

// number returns the number that word spells, and whether it is a finite number.
func number(word string) (float64, bool) {
	v, err := ParseNumber(word)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// set returns a set of the rows read.
func (t *tableReader) set() (*Set, error) {
	schema := t.opt.Schema
	var notes, dropped []string
	if schema == nil {
		notes, dropped = t.dropConstant()
		var err error
		if schema, err = t.schema(); err != nil {
			return nil, err
		}
		for j := range t.columns {
			if c := &t.columns[j]; t.namesRows(c) {
				notes = append(notes, namesRows(t.columnName(c.at), c.name))
			}
			if c := &schema.Columns[j]; t.labels == "auto" && !t.label && c.Edges == nil && c.Number == nil && isLabelName(c.Name) {
				notes = append(notes, fmt.Sprintf("%s is an input, as it is not the last column; if it holds the labels, say so by -label-column %s", t.columnName(t.columns[j].at), c.Name))
			}
			if a, b, ok := caseTwins(schema.Columns[j].Levels); ok {
				notes = append(notes, fmt.Sprintf("%s: %s and %s differ in case alone and are two levels; write them alike if they are one", t.columnName(t.columns[j].at), quote(a), quote(b)))
			}
		}
	}
	if t.label {
		schema.Label = strings.TrimSpace(t.header[len(t.header)-1])
	}
	rows, units := len(t.lines), schema.Units()
	if why := checkShape(int64(rows), 2*int64(units)); why != "" {
		return nil, formatErrorf("%s: %s", t.path, why)
	}
	s := &Set{Name: t.path, X: rbm.NewBits(rows, units), Schema: schema, Groups: schema.Groups(), Binarize: Binary,
		Header: HeaderYes, Weights: t.weights, WeightColumn: t.weightAt >= 0, Notes: notes, Dropped: dropped}
	s.Height, s.Width = NearSquare(units)
	if s.Means, s.Deviations = schema.scale(); s.Means != nil {
		if why := checkGrey(rows, units); why != "" {
			return nil, formatErrorf("%s: %s", t.path, why)
		}
		s.Binarize, s.Grey = Standard, rbm.NewMatrix(rows, units)
	}
	for _, name := range t.names() {
		if name != t.known && !slices.ContainsFunc(schema.Columns, func(c Column) bool { return c.Name == name }) {
			s.Unused = append(s.Unused, name)
		}
	}
	missing := rbm.NewBits(rows, units)
	gaps, key := 0, dataKey(1, streamMissing)
	first := 0
	for j := range schema.Columns {
		column := &schema.Columns[j]
		at := slices.IndexFunc(t.columns, func(c cellColumn) bool { return c.name == column.Name })
		if at < 0 {
			return nil, formatErrorf("%s has no column %s, which the model has%s", t.path, quote(column.Name), grammar.DidYouMean(column.Name, t.names()))
		}
		c := &t.columns[at]
		var levels []int32
		var numbers []float32 // in place of levels
		var err error
		if column.Number != nil {
			numbers, err = t.numbers(c, column)
		} else {
			levels, err = t.levels(c, column)
		}
		if err != nil {
			return nil, err
		}
		// A missing cell starts with a value drawn from the known cells of the column.
		known, _ := c.known(t.counted)
		for r, k := range c.cells {
			word := k
			if k < 0 && len(known) > 0 {
				word = known[int(key.Child(uint64(j)).Uniform(uint64(r))*float64(len(known)))]
			}
			var level int32
			if levels != nil && word >= 0 {
				level = levels[word]
			}
			switch {
			case numbers != nil && word >= 0:
				s.Grey.Row(r)[first] = numbers[word]
				s.X.Set(r, first, numbers[word] > 0)
			case numbers != nil || column.Bit && level == 0:
			case column.Bit:
				s.turnOn(r, first)
			default:
				s.turnOn(r, first+int(level))
			}
			if k < 0 && !t.isGone(r) {
				gaps++
				for unit := range column.Units() {
					missing.Set(r, first+unit, true)
				}
			}
		}
		first += column.Units()
	}
	if gaps > 0 {
		cells := (rows - t.gone) * len(schema.Columns)
		s.Missing = missing
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d cells are missing (%.1f %%)", gaps, cells, 100*float64(gaps)/float64(cells)))
	}
	if t.label {
		t.labeller.give(s)
	}
	return s, nil
}

// turnOn turns on the unit of a level.
func (s *Set) turnOn(r, unit int) {
	s.X.Set(r, unit, true)
	if s.Grey.Rows > 0 {
		s.Grey.Row(r)[unit] = 1
	}
}

// dropConstant drops the columns that have one value, unless all columns do. It returns notes about the
// dropped columns, and their names. A column that cannot be named by Options.Ignore, or that
// Options.Categorical names, stays and is an error later.
func (t *tableReader) dropConstant() (notes, names []string) {
	varies := func(c cellColumn) bool {
		return c.different(t.counted) != 1 || c.name == "" || strings.Contains(c.name, ",") || slices.Contains(strings.Split(t.opt.Categorical, ","), c.name)
	}
	if !slices.ContainsFunc(t.columns, varies) {
		return nil, nil
	}
	t.columns = slices.DeleteFunc(t.columns, func(c cellColumn) bool {
		if varies(c) {
			return false
		}
		known, _ := c.known(t.counted)
		notes = append(notes, fmt.Sprintf("%s has one value, %s, and is left out, as by -ignore", t.columnName(c.at), quote(c.words[known[0]])))
		names = append(names, c.name)
		return true
	})
	return notes, names
}

func (t *tableReader) names() (names []string) {
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

// numbers returns the number that each word of c spells, standardised by the scale of column.
func (t *tableReader) numbers(c *cellColumn, column *Column) ([]float32, error) {
	numbers := make([]float32, len(c.words)) // not nil, even if there are no words
	for k, word := range c.words {
		v, ok := number(word)
		if !ok {
			return nil, t.noNumber(c, k)
		}
		if numbers[k] = column.Number.Standard(v); math.IsInf(float64(numbers[k]), 0) {
			return nil, formatErrorf("%s: %s is too far from the mean of the column, %.6g, to be standardised; correct it", t.where(c, slices.Index(c.cells, int32(k))), quote(word), column.Number.Mean)
		}
	}
	return numbers, nil
}

// noNumber returns the error about a word in a column of numbers.
func (t *tableReader) noNumber(c *cellColumn, word int) error {
	return formatErrorf("%s: %s is not a number, unlike the others of its column; correct it, or leave the cell empty (or NA) if it is missing", t.where(c, slices.Index(c.cells, int32(word))), quote(c.words[word]))
}

// levels returns the level of column to which each word of c belongs.
func (t *tableReader) levels(c *cellColumn, column *Column) ([]int32, error) {
	levels := make([]int32, len(c.words))
	for k, word := range c.words {
		if column.Edges != nil {
			v, ok := number(word)
			if !ok {
				return nil, t.noNumber(c, k)
			}
			level, found := slices.BinarySearch(column.Edges, v)
			if found {
				level++
			}
			levels[k] = int32(level)
			continue
		}
		level := slices.Index(column.Levels, word)
		if v, ok := number(word); level < 0 && ok { // another spelling of a number
			level = slices.IndexFunc(column.Levels, func(l string) bool { x, is := number(l); return is && x == v })
		}
		if level < 0 {
			rows := ""
			if mostlyOnce(c) {
				rows = "; most words of the column occur once; if they name the rows, " + leaveOut(c.name) + " in training"
			}
			return nil, formatErrorf("%s: %s is no level that the model knows; it knows %s; leave the cell empty (or NA) to have it missing%s", t.where(c, slices.Index(c.cells, int32(k))), quote(word), someNames(column.Levels), rows)
		}
		levels[k] = int32(level)
	}
	return levels, nil
}

// schema decides the kind and the levels of each column.
func (t *tableReader) schema() (*Schema, error) {
	var asked []string
	if o := t.opt.Categorical; o != "" && o != "auto" && o != "all" {
		for name := range strings.SplitSeq(o, ",") {
			name = strings.TrimSpace(name)
			if !slices.Contains(t.names(), name) {
				return nil, specErrorf("%s has no column %s to be categorical%s", t.path, quote(name), grammar.DidYouMean(name, t.names()))
			}
			asked = append(asked, name)
		}
	}
	s := &Schema{}
	total, bytes := 0, 0
	for j := range t.columns {
		c := &t.columns[j]
		column, err := t.columnOf(c, t.opt.Categorical == "all" || slices.Contains(asked, c.name))
		if err != nil {
			return nil, err
		}
		s.Columns = append(s.Columns, column)
		if total += len(column.Levels); total > maxTableLevels {
			return nil, formatErrorf("%s: the columns up to %s have %d levels, more than the %d that are allowed; leave columns out by -ignore, or use fewer -levels", t.path, quote(c.name), total, maxTableLevels)
		}
		for _, word := range column.Levels {
			bytes += len(word)
		}
		if bytes += len(c.name); bytes > maxTableBytes {
			return nil, formatErrorf("%s: the columns up to %s have %d bytes of words, more than the %d that are allowed; shorten them", t.path, quote(c.name), bytes, maxTableBytes)
		}
	}
	return s, nil
}

// columnOf decides whether a column has categories, bits or numbers. It has categories if categorical is
// set or some words are not numbers.
func (t *tableReader) columnOf(c *cellColumn, categorical bool) (Column, error) {
	column := Column{Name: c.name}
	numbers, other := 0, -1  // number of words that are numbers; index of the first that is not
	commas, decimal := 0, -1 // number of words with a decimal comma; index of the first
	for k, word := range c.words {
		if _, ok := number(word); ok {
			numbers++
			continue
		}
		if decimalPoint(word) != word {
			if commas++; decimal < 0 {
				decimal = k
			}
		}
		if other < 0 {
			other = k
		}
	}
	switch different := c.different(t.counted); {
	case different == 0:
		return column, t.columnError(c, "has no cell that is not missing; %s", leaveOut(c.name))
	case different == 1:
		known, _ := c.known(t.counted)
		return column, t.columnError(c, "has one value, %s; %s", quote(c.words[known[0]]), leaveOut(c.name))
	case commas > 0 && commas+numbers == len(c.words) && !categorical:
		return column, formatErrorf("%s: the words of the column look like numbers with a decimal comma, as %s; write a decimal point, or name the column in -categorical", t.where(c, slices.Index(c.cells, int32(decimal))), quote(c.words[decimal]))
	case other >= 0 && numbers >= len(c.words)-numbers && !categorical:
		return column, formatErrorf("%s: %s is not a number, as most of the column are; correct it, leave the cell empty (or NA) if it is missing, or name the column in -categorical", t.where(c, slices.Index(c.cells, int32(other))), quote(c.words[other]))
	}
	cut := cmp.Or(t.opt.Levels, defaultLevels)
	if other < 0 && !categorical && len(c.words) > cut {
		if t.opt.Numbers == NumbersGaussian || t.opt.Numbers == "" && t.opt.Binarize == Standard {
			column.Number = c.scale(t.counted)
			if d := column.Number.Deviation; !(d > 0) || math.IsInf(d, 0) {
				return column, t.columnError(c, "has numbers whose standard deviation is %v; correct it, or cut it into levels", d)
			}
			return column, nil
		}
		c.cut(&column, cut, t.counted)
		return column, nil
	}
	if len(c.words) > maxLevels {
		return column, t.columnError(c, "has %d different words, more than the %d levels that are allowed; is it a name of the row? %s", len(c.words), maxLevels, leaveOut(c.name))
	}
	column.Levels, column.Bit = sortedNames(c.words), len(c.words) == 2
	return column, nil
}

// known returns the indices in c.words of the cells that are not missing, in rows of a weight above 0, and
// these weights.
func (c *cellColumn) known(weights []float64) (cells []int32, weight []float64) {
	for r, k := range c.cells {
		if k >= 0 && weights[r] > 0 {
			cells, weight = append(cells, k), append(weight, weights[r])
		}
	}
	return cells, weight
}

// different returns the number of different words in rows of a weight above 0, at most 2.
func (c *cellColumn) different(weights []float64) int {
	known, _ := c.known(weights)
	if len(known) == 0 {
		return 0
	}
	if slices.ContainsFunc(known, func(k int32) bool { return k != known[0] }) {
		return 2
	}
	return 1
}

// A weighted number is one of the numbers of a column.
type weighted struct{ value, weight float64 }

// numbers returns the known numbers of a column of numbers, row by row, and the sum of their weights.
func (c *cellColumn) numbers(weights []float64) (values []weighted, total float64) {
	ofWord := make([]float64, len(c.words))
	for k, word := range c.words {
		ofWord[k], _ = number(word)
	}
	cells, weight := c.known(weights)
	for n, k := range cells {
		values = append(values, weighted{ofWord[k], weight[n]})
		total += weight[n]
	}
	return values, total
}

// scale returns the mean and the standard deviation of the numbers of a column.
func (c *cellColumn) scale(weights []float64) *Scale {
	var s Scale
	values, total := c.numbers(weights)
	sum := 0.0
	for _, v := range values {
		sum += v.weight
		s.Mean += (v.value - s.Mean) / (sum / v.weight)
	}
	for _, v := range values {
		d := v.value - s.Mean
		s.Deviation += float64(float64(d*d) * v.weight)
	}
	s.Deviation = math.Sqrt(s.Deviation / total)
	return &s
}

// cut divides the numbers of a column into at most n levels of about equal weight. The name of a level is
// the median of its numbers.
func (c *cellColumn) cut(column *Column, n int, weights []float64) {
	values, total := c.numbers(weights)
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	least := values[0].value
	column.Edges = []float64{}
	k, sum := 1, 0.0
	for _, v := range values {
		for sum += v.weight; k < n && sum*float64(n) > float64(k)*total; k++ {
			if edge := v.value; edge > least && (len(column.Edges) == 0 || edge > column.Edges[len(column.Edges)-1]) {
				column.Edges = append(column.Edges, edge)
			}
		}
	}
	if len(column.Edges) == 0 { // nearly all numbers equal the smallest
		at := slices.IndexFunc(values, func(v weighted) bool { return v.value > least })
		column.Edges = append(column.Edges, values[at].value)
	}
	lo := 0
	for _, edge := range append(slices.Clone(column.Edges), math.Inf(1)) {
		hi, level := lo, 0.0
		for hi < len(values) && values[hi].value < edge {
			level += values[hi].weight
			hi++
		}
		median, sum := lo, values[lo].weight
		for ; 2*sum < level; sum += values[median].weight {
			median++
		}
		column.Levels = append(column.Levels, strconv.FormatFloat(values[median].value, 'g', -1, 64))
		lo = hi
	}
	column.Bit = len(column.Levels) == 2
}

// loadCSVOrTable reads a CSV file as a table if the options ask for one, or if it is no file of
// values and some column has words in place of numbers.
func loadCSVOrTable(f io.ReaderAt, size int64, path string, opt Options) ([]*Set, error) {
	if opt.isTable() {
		return loadTable(f, size, path, opt)
	}
	sets, err := loadCSV(f, size, path, opt)
	// With the rule spins, Load is repeating a failed reading. Tables have no spins.
	if !errors.Is(err, errValue) || opt.scaling().rule == "spins" {
		return sets, err
	}
	words, faulty := hasWords(f, size, path, opt)
	switch {
	case faulty != nil: // the error about a value would hide this one
		return nil, faulty
	case words:
		return loadTable(f, size, path, opt)
	}
	return nil, err
}

// isTable reports whether a CSV file is to be read as a table.
func (o Options) isTable() bool {
	return o.Schema != nil && o.Schema.Alphabet == "" || o.Levels > 0 || o.Numbers != "" || o.Categorical != "" && o.Categorical != "auto"
}

// hasWords reports whether, in the first rows after a header, some column of inputs has words and no
// number. The error is that of reading these rows as text.
func hasWords(f io.ReaderAt, size int64, path string, opt Options) (bool, error) {
	c := newCSVReader(path, opt)
	if err := c.begin(f, size); err != nil || c.header == nil {
		return false, err
	}
	columns := len(c.inputs(c.header))
	words, numbers := make([]int, columns), make([]int, columns)
	c.open(f, size)
	c.next()
	rows, err := c.ahead(func(row []string) {
		for j := range min(columns, len(row)) {
			switch word := strings.TrimSpace(row[j]); {
			case isNumber(word) && word != "nan" && word != "NaN":
				numbers[j]++
			case !IsMissing(word):
				words[j]++
			}
		}
	})
	for j := range columns {
		if err == nil && rows > 1 && words[j] > 1 && numbers[j] == 0 {
			return true, nil
		}
	}
	return false, err
}
