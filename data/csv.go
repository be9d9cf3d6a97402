package data

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gorbm/data/grammar"
	"gorbm/rbm"
)

// labelNames are the names, in lower case, that mark a last column as labels.
var labelNames = []string{"y", "label", "class", "target"}

// isLabelName reports whether name is one of labelNames, in any case.
func isLabelName(name string) bool {
	return slices.Contains(labelNames, strings.ToLower(strings.TrimSpace(name)))
}

// A csvReader reads a CSV file.
type csvReader struct {
	path      string
	labels    string // auto, last, first, none, or the name of the label column
	known     string // name of the label column that auto uses if the file has it; "": none
	asked     string // Options.Header, or yes if a column is found by its name
	comma     byte   // separator of columns
	asWritten bool   // decimal commas stay
	limit     *rowLimit
	r         *csv.Reader
	header    []string // nil if the file has none
	kind      string   // value of Set.Header
	numbers   bool     // the first line has distinct whole numbers, and Options.Header is auto
	width     int      // number of columns of each line of the file, from the first
	across    int      // number of columns in the file of the line that next returned last
	ignore    string   // Options.Ignore
	lacking   bool     // Options.IgnoreKnown
	ignored   []int    // columns of the file that next drops, ascending
	fields    int      // columns of a row that next returns, with the label
	label     bool     // the last column holds labels
	labelAt   int      // 1 + index of the column that next moves to the end; 0: none
	rows      int      // number of rows read so far
	counts    bool     // the first column has counted the rows so far, from 0 or from 1
	from      int      // first number of the first column, 0 or 1, if counts

	scaling  scaling
	byColumn bool // -scale max and minmax use the extremes of each column, not of all values
	to       scales
	clipped  int // number of values clipped so far
	rising   []risingColumn
	bin      binarizer
	words    []uint64  // bits of the rows so far
	labeller labeller  // collects the labels
	weight   string    // name of the column of weights; "": none
	weightAt int       // index of the column of weights among the columns that are not ignored; −1: none
	weights  []float64 // weights of the rows so far
	raw      string    // text of the weight of the row that next returned
	between  bool      // some value so far lies between 0 and 1
	grey     []float32 // values of the rows so far, if they are kept
}

func newCSVReader(path string, opt Options) *csvReader {
	return &csvReader{path: path, labels: opt.LabelColumn, asked: cmp.Or(opt.Header, "auto"), labeller: opt.labeller(), weight: opt.Weights, weightAt: -1, ignore: opt.Ignore, lacking: opt.IgnoreKnown}
}

// loadCSV reads a file with one example per row. Values are 0 and 1, numbers in [0,1],
// or numbers that Options.Scale maps to [0,1]. Options.Binarize makes them binary. The
// first line may be a header, and a column may have labels: see Options.Header and
// Options.LabelColumn.
func loadCSV(f io.ReaderAt, size int64, path string, opt Options) ([]*Set, error) {
	c := newCSVReader(path, opt)
	c.scaling, c.byColumn, c.bin = opt.scaling(), opt.Height == 0, opt.binarizer(streamTrain)
	if err := c.begin(f, size); err != nil {
		return nil, err
	}
	if err := c.findScales(f, size); err != nil {
		return nil, err
	}
	if err := c.read(f, size, c.add); err != nil {
		return nil, err
	}
	sets, err := c.set()
	if err == nil {
		sets[0].Scale = opt.describe(c.to)
	}
	return sets, err
}

// findScales finds the scales of the columns. It reads the whole file if the scales depend on the values.
func (c *csvReader) findScales(f io.ReaderAt, size int64) error {
	if to, known := c.scaling.known(false); known {
		c.to = to
		if why := to.check(c.columns()); why != "" && c.fields > 0 {
			return formatErrorf("%s: %s", c.path, why)
		}
		return nil
	}
	each := make([]extent, max(c.columns(), 1))
	err := c.read(f, size, func(row []string) error {
		for j := range c.inputs(row) {
			v, err := c.value(j, row[j])
			if err != nil {
				return err
			}
			each[j].add(v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.rows == 0 {
		return nil
	}
	if !c.byColumn {
		var all extent
		for _, e := range each {
			all.join(e)
		}
		why := ""
		if c.to, why = c.scaling.fit(all, false); why != "" {
			return formatErrorf("%s: %s", c.path, why)
		}
		return nil
	}
	spread := false
	for j, e := range each {
		s, why := c.scaling.spread(e)
		if why != "" {
			return formatErrorf("%s: %s: %s", c.path, c.columnName(j), why)
		}
		c.to = append(c.to, s)
		spread = spread || s.low < s.high
	}
	if !spread {
		return formatErrorf("%s: all values of a column are equal, which -scale %s cannot spread over [0,1]; give the range they may have, such as -scale 255", c.path, c.scaling.rule)
	}
	if values := slices.Compact(slices.Clone(c.to)); len(values) == 1 {
		c.to = values
	}
	return nil
}

// openText finds the separator of columns and goes to the first line of the file.
func (c *csvReader) openText(f io.ReaderAt, size int64) {
	start := make([]byte, min(size, 1<<16))
	n, _ := f.ReadAt(start, 0) // next will report an error
	c.comma = separatorOf(string(start[:n]))
	c.open(f, size)
}

// open goes to the first line of the file.
func (c *csvReader) open(f io.ReaderAt, size int64) {
	c.limit = &rowLimit{r: io.NewSectionReader(f, 0, size), comma: c.comma}
	in := bufio.NewReaderSize(c.limit, 1<<16)
	// Some spreadsheets begin a file with a byte order mark.
	if bom, err := in.Peek(3); err == nil && string(bom) == "\xef\xbb\xbf" {
		in.Discard(3)
	}
	c.r = csv.NewReader(in)
	c.r.Comma = rune(c.comma)
	c.r.FieldsPerRecord = -1 // checkRow checks the number of columns
	c.r.ReuseRecord = true
	c.r.TrimLeadingSpace = c.comma != '\t' // with tabs it would drop empty fields
}

// next returns the next line, or io.EOF. The line is valid until the next call.
func (c *csvReader) next() ([]string, error) {
	row, err := c.r.Read()
	var parse *csv.ParseError
	switch {
	case c.limit.err != nil: // takes precedence over the parser's error about the truncated row
		return nil, fmt.Errorf("%s: %w", c.path, c.limit.err)
	case errors.As(err, &parse):
		return nil, formatErrorf("%s:%d: byte %d: %w; quotes must enclose a whole field", c.path, parse.Line, parse.Column, parse.Err)
	case err != nil && err != io.EOF:
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	for j, field := range row {
		if !utf8.ValidString(field) {
			line, _ := c.r.FieldPos(j)
			return nil, formatErrorf("%s:%d: column %d: %s is not UTF-8; save the file as UTF-8, such as by iconv -f latin1 -t utf-8", c.path, line, j+1, quote(field))
		}
	}
	if c.comma != ',' && !c.asWritten {
		for j, field := range row {
			row[j] = decimalPoint(field)
		}
	}
	c.across = len(row)
	row = without(row, c.ignored)
	if at := c.weightAt; at >= 0 && at < len(row) {
		c.raw = row[at]
		copy(row[at:], row[at+1:])
		row = row[:len(row)-1]
	}
	if at := c.labelAt - 1; at >= 0 && at < len(row) {
		moveToLast(row, at)
	}
	return row, err
}

// without deletes from row the fields at the given indices, which are ascending, and returns the result.
func without(row []string, places []int) []string {
	for dropped, at := range places {
		if at -= dropped; at < len(row) {
			row = slices.Delete(row, at, at+1)
		}
	}
	return row
}

// findIgnored finds the columns of Options.Ignore in the first line, and returns the line without them.
func (c *csvReader) findIgnored(row []string) ([]string, error) {
	if c.ignore == "" || c.lacking && c.asked == HeaderNo {
		return row, nil
	}
	if c.asked == HeaderNo {
		return nil, specErrorf("%s: columns are ignored by their names, which are in a first line, so not -header no", c.path)
	}
	for name := range strings.SplitSeq(c.ignore, ",") {
		name = strings.TrimSpace(name)
		found := false
		for at, other := range row {
			if strings.TrimSpace(other) == name {
				c.ignored, found = append(c.ignored, at), true
			}
		}
		if !found && !c.lacking {
			return nil, specErrorf("%s has no column %s to ignore%s", c.path, quote(name), grammar.DidYouMeanOr(name, row, "its first line is "+someNames(row)))
		}
	}
	slices.Sort(c.ignored)
	c.ignored = slices.Compact(c.ignored)
	switch len(c.ignored) {
	case 0:
		return row, nil
	case len(row):
		return nil, specErrorf("%s: all columns are ignored; leave one of them", c.path)
	}
	c.asked = HeaderYes
	return without(row, c.ignored), nil
}

// moveToLast moves a field of a row to its end.
func moveToLast(row []string, at int) {
	label := row[at]
	copy(row[at:], row[at+1:])
	row[len(row)-1] = label
}

// findLabels finds the column of labels in the first line, if it is the first or a named one, and
// moves its field to the end. next then does the same for each line.
func (c *csvReader) findLabels(row []string) error {
	at := 0
	if c.labels == "auto" && c.known != "" && c.asked != HeaderNo && slices.ContainsFunc(row, func(name string) bool { return strings.TrimSpace(name) == c.known }) {
		c.labels = c.known
	}
	switch c.labels {
	case "", "auto", "last", "none":
		return nil
	case "first":
	default:
		isLabel := func(name string) bool { return strings.TrimSpace(name) == c.labels }
		at = slices.IndexFunc(row, isLabel)
		if at >= 0 && slices.ContainsFunc(row[at+1:], isLabel) {
			return formatErrorf("%s:1: two columns are named %s; give them different names", c.path, quote(c.labels))
		}
		if at < 0 || c.asked == HeaderNo {
			return formatErrorf("%s:1: no column is named %s, for the labels%s", c.path, quote(c.labels), grammar.DidYouMeanOr(c.labels, row, "the first line is "+someNames(row)))
		}
		c.asked = HeaderYes
	}
	moveToLast(row, at)
	c.labels, c.labelAt = "last", at+1
	return nil
}

// read calls do for each row of the file except the header.
func (c *csvReader) read(f io.ReaderAt, size int64, do func(row []string) error) error {
	c.open(f, size)
	c.rows, c.counts = 0, true
	for first := true; ; first = false {
		row, err := c.next()
		if err == io.EOF {
			return c.checkIndex()
		}
		if err == nil && first && c.header != nil {
			continue
		}
		if err == nil {
			err = c.checkRow(row)
		}
		if err == nil {
			err = do(row)
		}
		if err != nil {
			return err
		}
		c.rows++
	}
}

// checkRow checks the number of columns, and notes whether the first column still counts the rows.
func (c *csvReader) checkRow(row []string) error {
	if c.across != c.width {
		line, _ := c.r.FieldPos(0)
		return formatErrorf("%s:%d: %d columns where the first row has %d; give every row the same number", c.path, line, c.across, c.width)
	}
	if c.counts {
		n, err := strconv.Atoi(strings.TrimSpace(row[0]))
		if c.rows == 0 {
			c.from = n
		}
		c.counts = err == nil && c.fields > 1 && n == c.from+c.rows && (c.from == 0 || c.from == 1)
	}
	return nil
}

// A risingColumn is a column of whole numbers that increase from row to row, as the numbers that identify
// customers or patients often do.
type risingColumn struct {
	column int
	last   float64
}

// leaveOut returns the advice to leave out a column. It names the column if it has a name.
func leaveOut(name string) string {
	switch name = strings.TrimSpace(name); {
	case name == "", strings.Contains(name, ","):
		return "leave it out"
	case strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	}):
		name = quote(name)
	}
	return "leave it out by -ignore " + name
}

// namesRows returns the note about a risingColumn, which may be an identifier.
func namesRows(column, name string) string {
	return column + " has another value in each row; if it names the rows, " + leaveOut(name)
}

// leastIndex is the least number of rows for which a first column that counts them is an error: such a
// column is likely an index, even if all of its values can be scaled.
const leastIndex = 10

// checkIndex returns an error if the first column counts the rows.
func (c *csvReader) checkIndex() error {
	if !c.counts || c.rows < leastIndex {
		return nil
	}
	return formatErrorf("%s: %s", c.path, c.countsRows())
}

// countsRows returns the message about a first column that counts the rows.
func (c *csvReader) countsRows() string {
	return "the first column counts the rows; " + leaveOut(c.name(0)) + " (pandas: to_csv(index=False))"
}

// separatorOf guesses the separator of columns from the first line of start: a tab or, if there is none, a
// semicolon, provided that every comma of the line can be a decimal comma; otherwise a comma. It ignores
// quoted text.
func separatorOf(start string) byte {
	quoted := false
	line := strings.Map(func(r rune) rune {
		if r == '"' {
			quoted = !quoted
		}
		if quoted && r != '\n' {
			return -1
		}
		return r
	}, start)
	line, _, _ = strings.Cut(line, "\n")
	hasComma := func(field string) bool { return strings.Contains(decimalPoint(field), ",") }
	for _, by := range []string{"\t", ";"} {
		if fields := strings.Split(line, by); len(fields) > 1 && !slices.ContainsFunc(fields, hasComma) {
			return by[0]
		}
	}
	return ','
}

// decimalPoint replaces the decimal comma of a number by a point. It returns other fields unchanged.
func decimalPoint(field string) string {
	if strings.Count(field, ",") == 1 && !strings.HasSuffix(field, ",") {
		if point := strings.Replace(field, ",", ".", 1); isNumber(point) {
			return point
		}
	}
	return field
}

// separator returns "semicolons" or "tabs" if a field contains them, and "" otherwise. Such a field is
// probably several columns.
func separator(field string) string {
	switch {
	case strings.Contains(field, ";"):
		return "semicolons"
	case strings.Contains(field, "\t"):
		return "tabs"
	}
	return ""
}

// otherSeparator returns "blanks" or "bars", |, if they separate words in the only field of a first line, and
// "" otherwise.
func otherSeparator(field string) string {
	for _, s := range []string{"bars", "blanks"} {
		if len(splitBy(s, field)) > 1 {
			return s
		}
	}
	return ""
}

func splitBy(separator, field string) []string {
	if separator == "bars" {
		return strings.Split(field, "|")
	}
	return strings.Fields(field)
}

// checkOneColumn returns an error if each of the next rows has the given number of words, as the first line
// has. Such a file has several columns, and not one.
func (c *csvReader) checkOneColumn(separator string, words int) error {
	same := true
	rows, err := c.ahead(func(row []string) {
		same = same && len(row) == 1 && len(splitBy(separator, row[0])) == words
	})
	if err == nil && same && rows > 0 {
		err = formatErrorf("%s:1: %d columns are separated by %s; separate them by commas", c.path, words, separator)
	}
	return err
}

// columns returns the number of inputs.
func (c *csvReader) columns() int {
	if c.label {
		return c.fields - 1
	}
	return c.fields
}

// inputs returns the row without its label.
func (c *csvReader) inputs(row []string) []string {
	if c.label {
		return row[:len(row)-1]
	}
	return row
}

// begin reads the first line. It finds the number of columns, whether the line is a
// header, and where the labels are.
func (c *csvReader) begin(f io.ReaderAt, size int64) error {
	c.openText(f, size)
	row, err := c.next()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	c.width = c.across
	if s := otherSeparator(row[0]); s != "" && len(row) == 1 {
		if err := c.checkOneColumn(s, len(splitBy(s, row[0]))); err != nil {
			return err
		}
		c.open(f, size)
		if row, err = c.next(); err != nil {
			return err
		}
	}
	if row, err = c.findIgnored(slices.Clone(row)); err != nil { // the reader reuses row
		return err
	}
	if at := slices.Index(row, c.weight); c.weight != "" && c.asked != "no" && at >= 0 && len(row) > 1 {
		row, c.weightAt, c.asked = slices.Delete(row, at, at+1), at, HeaderYes
	}
	if s := separator(row[0]); s != "" {
		return formatErrorf("%s:1: columns are separated by %s; separate them by commas, and write fractions as 0.5", c.path, s)
	}
	if err := c.findLabels(row); err != nil {
		return err
	}
	if row[0] == "" && len(row) > 1 && c.asked != "no" {
		return formatErrorf("%s:1: the first column has no name, like the row numbers of pandas; leave it out (to_csv(index=False))", c.path)
	}
	if why := checkShape(0, int64(len(row))); why != "" {
		return formatErrorf("%s:1: %s; split the file", c.path, why)
	}
	c.fields = len(row)
	isLabel := func(name string) bool {
		return c.asked != "no" && isLabelName(name)
	}
	labelled := isLabel(row[len(row)-1])
	c.kind = c.asked
	if c.asked == "auto" {
		inputs := row
		if c.labels == "last" && len(row) > 1 {
			inputs = row[:len(row)-1]
		}
		// A header has words in all columns of inputs. A word among numbers is a
		// mistake.
		c.kind = HeaderNo
		words := !slices.ContainsFunc(inputs, isNumber)
		if labelled && slices.ContainsFunc(row[:len(row)-1], isNumber) {
			if labelled, err = c.isName(row[len(row)-1]); err != nil {
				return err
			}
		}
		if labelled || words {
			c.kind = HeaderYes
		} else if names, err := c.areNames(inputs); err != nil {
			return err
		} else if names {
			c.kind = HeaderNumbers
		}
	}
	if c.kind != HeaderNo {
		c.header = row
		if c.labels == "auto" && !labelled && isLabel(row[0]) {
			return formatErrorf("%s:1: the labels, %s, are in the first column; say so by -label-column first", c.path, quote(row[0]))
		}
	}
	c.label = c.labels == "last" || c.labels == "auto" && labelled
	if c.label && len(row) < 2 {
		return formatErrorf("%s:1: the labels are the only column; put the inputs before it", c.path)
	}
	return nil
}

const (
	// countedNames is the least number of columns for which a first line that counts
	// the columns is always a header. Even if each row were a permutation of these
	// numbers, the first row would have this order with probability 1/5! or less.
	countedNames = 5
	// leastCounted is the least number of columns for which such a line is a header
	// unless another row has the same numbers. With two columns it would be 0,1 or 1,2,
	// which are common rows.
	leastCounted = 3
	// lookAhead is the number of rows that are compared with the first line. If rows are
	// in random order and one of 101 differs from the rest, it is the first by chance
	// with probability 1 %.
	lookAhead = 100
)

// areNames reports whether a first line of numbers is nevertheless a header, because pandas numbers columns
// that have no names. The fields must be distinct whole numbers. They are a header if they count the
// columns, from 0 or from 1 (see countedNames and leastCounted), or if lookAhead rows follow and none of
// them has distinct whole numbers only. The only line of a file is a row, not a header.
func (c *csvReader) areNames(line []string) (bool, error) {
	names, counted := distinct(line)
	if c.numbers = names != nil; !c.numbers {
		return false, nil
	}
	alike, reordered := 0, false
	rows, err := c.ahead(func(row []string) {
		if values, _ := distinct(row[:min(len(line), len(row))]); values != nil {
			alike++
			reordered = reordered || slices.Equal(values, names)
		}
	})
	switch n := len(line); {
	case err != nil:
		return false, err
	case rows == 0:
		return false, nil
	case counted && n >= leastCounted:
		return n >= countedNames || !reordered, nil
	}
	return rows == lookAhead && alike == 0, nil
}

// isName reports whether last is the name of the column of labels. last is the last field of a first line
// of numbers, and one of labelNames, such as y. But it may also be a class, which other rows then have too.
func (c *csvReader) isName(last string) (bool, error) {
	classes := 0
	_, err := c.ahead(func(row []string) {
		if strings.EqualFold(strings.TrimSpace(row[len(row)-1]), strings.TrimSpace(last)) {
			classes++
		}
	})
	return classes == 0, err
}

// ahead calls do for the next lookAhead rows, or for all if there are fewer, and returns
// their number. Call open afterwards, to read from the first line again.
func (c *csvReader) ahead(do func(row []string)) (rows int, err error) {
	for ; rows < lookAhead; rows++ {
		row, err := c.next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		do(row)
	}
	return rows, nil
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
	counted = counted && (sorted[0] == 0 || sorted[0] == 1)
	slices.Sort(sorted)
	if len(slices.Compact(slices.Clone(sorted))) < len(sorted) {
		return nil, false
	}
	return sorted, counted
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
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// addLabelAndWeight adds the label and the weight of a row, if the file has these columns.
func (c *csvReader) addLabelAndWeight(row []string, isMissing func(name string) bool) error {
	if c.label {
		name := strings.TrimSpace(row[len(row)-1])
		if isMissing(name) {
			name = ""
		}
		if name == "" && !c.labeller.missing(name) {
			return c.wrong(len(row)-1, "the label is missing; name a class")
		}
		if why := c.labeller.add(name); why != "" {
			return c.wrong(len(row)-1, "%s; is it a column of labels?", why)
		}
	}
	if c.weightAt >= 0 {
		w, why := parseWeight(c.raw)
		if why != "" {
			line, _ := c.r.FieldPos(0)
			return formatErrorf("%s:%d: column %d (%s): %s", c.path, line, c.inFile(c.weightAt)+1, quote(c.weight), why)
		}
		c.weights = append(c.weights, w)
	}
	return nil
}

// add adds a row of values.
func (c *csvReader) add(row []string) error {
	if err := c.addLabelAndWeight(row, func(name string) bool { return name == "" }); err != nil {
		return err
	}
	row = c.inputs(row)
	if c.rows == 0 {
		c.rising = make([]risingColumn, len(row))
		for j := range c.rising {
			c.rising[j] = risingColumn{j, math.Inf(-1)}
		}
	}
	kept := c.rising[:0]
	for _, r := range c.rising {
		if v, err := c.value(r.column, row[r.column]); err == nil && v > r.last && v == math.Trunc(v) {
			kept = append(kept, risingColumn{r.column, v})
		}
	}
	c.rising = kept
	at := len(c.words)
	stride := (len(row) + 63) / 64
	if at+stride > maxWords || at/stride >= maxRows {
		return formatErrorf("%s: more than the 1 GiB of bits that is allowed; split the file", c.path)
	}
	c.words = slices.Grow(c.words, stride)[:at+stride]
	x := c.words[at:]
	clear(x)
	i := c.rows
	key := c.bin.row(i)
	for j, field := range row {
		v, err := c.value(j, field)
		if err != nil {
			return err
		}
		to := c.to.at(j)
		if c.scaling.clip && !to.holds(v) {
			c.clipped++
			v = to.clip(v)
		}
		v = to.apply(v)
		if c.bin.isOne(key, j, v) {
			x[j/64] |= 1 << (j % 64)
		}
		c.between = c.between || v != 0 && v != 1 || c.bin.mode == Standard
		if c.bin.grey {
			c.grey = append(c.grey, c.bin.kept(j, v))
		}
	}
	if c.bin.grey && c.between {
		if why := checkGrey(i+1, len(row)); why != "" {
			return formatErrorf("%s: %s", c.path, why)
		}
	}
	return nil
}

// errValue is wrapped by errors about a field that is not a value of an input.
var errValue = errors.New("no value")

// errGap is wrapped by errors about a missing field.
var errGap = errors.New("a gap")

// fillIn says what to do about a missing field.
const fillIn = "fill it in, or take -numbers gaussian, which reads the file as a table, in which cells may be missing"

// value reads a field of column j. Its errors wrap errValue, and errGap if the field is missing.
func (c *csvReader) value(j int, field string) (float64, error) {
	v, err := c.readValue(j, field)
	if err != nil {
		kinds := []error{ErrFormat, errValue}
		if IsMissing(strings.TrimSpace(field)) {
			kinds = append(kinds, errGap)
		}
		err = &kindError{err, kinds}
	}
	return v, err
}

func (c *csvReader) readValue(j int, field string) (v float64, err error) {
	switch field {
	case "0":
	case "1":
		v = 1
	default:
		field = strings.TrimSpace(field)
		v, err = ParseNumber(field)
	}
	why := c.scaling.wrong(j, v, false)
	switch {
	case field == "":
		return 0, c.wrong(j, "a value is missing; %s", fillIn)
	case err != nil && IsMissing(field):
		return 0, c.wrong(j, "%s is not a number; %s", quote(field), fillIn)
	case err != nil && !errors.Is(err, strconv.ErrRange):
		if s := separator(field); s != "" {
			return 0, c.wrong(j, "%s: columns are separated by %s; separate them by commas, and write fractions as 0.5", quote(field), s)
		}
		if j == c.fields-1 {
			return 0, c.wrong(j, "%s is not a number; if a column holds labels, say so by -label-column last, first or its name", quote(field))
		}
		return 0, c.wrong(j, "%s is not a number; write 0 or 1, or a number between", quote(field))
	case why == "":
		return v, nil
	case j == 0 && c.counts && c.rows > 0:
		return 0, c.wrong(j, "%s: %s", quote(field), c.countsRows())
	case c.rows == 0 && c.header == nil && c.numbers:
		why += ", or if this line names the columns, say so by -header yes"
	case j == c.fields-1 && !c.label && !math.IsNaN(v):
		why += ", or if a column holds labels, say so by -label-column last, first or its name"
	}
	return 0, c.wrong(j, "%s %s", quote(field), why)
}

// wrong returns an error about a field. It names the file, the line and the column, with the name of the
// column if there is one.
func (c *csvReader) wrong(j int, format string, args ...any) error {
	line, _ := c.r.FieldPos(j)
	return formatErrorf("%s:%d: %s: %s", c.path, line, c.columnName(j), fmt.Sprintf(format, args...))
}

// name returns the name of column j, or "" if it has none.
func (c *csvReader) name(j int) string {
	if c.header == nil {
		return ""
	}
	return c.header[j]
}

// columnName names column j for a message, by its number in the file and by the header.
func (c *csvReader) columnName(j int) string {
	name := fmt.Sprintf("column %d", c.column(j)+1)
	if c.header != nil {
		name += " (" + quote(c.header[j]) + ")"
	}
	return name
}

// column returns the index in the file of column j of the rows that next returns.
func (c *csvReader) column(j int) int {
	switch {
	case c.labelAt > 0 && j == c.fields-1:
		j = c.labelAt - 1
	case c.labelAt > 0 && j >= c.labelAt-1:
		j++
	}
	if c.weightAt >= 0 && j >= c.weightAt {
		j++
	}
	return c.inFile(j)
}

// inFile returns the index in the file of column j of a line without ignored columns.
func (c *csvReader) inFile(j int) int {
	for _, at := range c.ignored {
		if j >= at {
			j++
		}
	}
	return j
}

// set returns a set of all rows read.
func (c *csvReader) set() ([]*Set, error) {
	cols := c.columns()
	stride := (cols + 63) / 64
	if len(c.words) == 0 {
		return nil, formatErrorf("%s: no examples; write one a row", c.path)
	}
	s := &Set{
		Name:     c.path,
		X:        rbm.Values{Rows: len(c.words) / stride, Cols: cols, Stride: stride, Words: c.words},
		Binarize: Binary,
		Header:   c.kind,
		Weights:  c.weights, WeightColumn: c.weightAt >= 0,
	}
	if c.between {
		s.Binarize = c.bin.mode
	}
	if c.between && c.bin.grey {
		s.Grey = rbm.Matrix{Rows: s.X.Rows, Cols: cols, Data: c.grey}
		s.origin = c.bin.origin
	}
	for _, r := range c.rising {
		if s.X.Rows >= leastIndex {
			s.Notes = append(s.Notes, namesRows(c.columnName(r.column), c.name(r.column)))
		}
	}
	if c.clipped > 0 {
		s.Notes = append(s.Notes, clipped(c.clipped, s.X.Rows*cols))
	}
	if c.scaling.rule != "" && len(c.to) > 1 {
		s.Notes = append(s.Notes, fmt.Sprintf("-scale %s: each column has its own range; pictures take one for all columns, by -shape or -scale LOW:HIGH", c.scaling.rule))
	}
	s.Height, s.Width = NearSquare(cols)
	s.guessed = true
	if c.header != nil && c.kind == HeaderYes {
		for _, name := range c.header[:cols] {
			s.Columns = append(s.Columns, strings.TrimSpace(name))
		}
	}
	if c.label {
		c.labeller.give(s)
	}
	return []*Set{s}, nil
}
