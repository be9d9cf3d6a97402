package data

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// A dialect is how a text separates and quotes its cells.
type dialect struct {
	comma      rune // separator of columns; blank: any number of blanks
	characters bool // each character of a line is a column
	decimal    bool // numbers have decimal commas, which become points
	single     bool // cells stand in single quotes
	skipped    int  // number of lines before the first record
	names      []string
	notes      []string
}

const (
	blank     = ' '
	leastBits = 3 // characters of a line that is read as bits without separators
)

// separators are the values of Options.Separator other than a character.
var separators = map[string]rune{"comma": ',', "semicolon": ';', "tab": '\t', "bar": '|', "blank": blank, `\t`: '\t'}

// checkSeparator returns an error unless text is a value of Options.Separator.
func checkSeparator(text string) error {
	if r := []rune(text); text == "" || text == "auto" || text == "none" || separators[text] != 0 || len(r) == 1 && !unicode.IsLetter(r[0]) && !unicode.IsDigit(r[0]) && !strings.ContainsRune("\"\n\r.-+", r[0]) && r[0] < 128 {
		return nil
	}
	return specErrorf("separator %s: it must be auto, comma, semicolon, tab, bar, blank, none (each character is a column), or a character such as |", quote(text))
}

// findDialect finds the dialect of t, and skips the lines before its first record.
func (t *text) findDialect(opt Options) (d dialect, err error) {
	if opt.Separator == "none" {
		d.comma, d.characters = ',', true
		return d, nil
	}
	asked := separators[opt.Separator]
	if r := []rune(opt.Separator); asked == 0 && len(r) == 1 {
		asked = r[0]
	}
	comment := ""
	for {
		line, _, found := strings.Cut(t.start, "\n")
		line = strings.TrimRight(line, "\r")
		by, isSep := strings.CutPrefix(strings.ToLower(strings.Trim(line, `"`)), "sep=")
		switch {
		case isSep && len(by) == 1 && d.skipped == 0: // a line for spreadsheets
			asked = cmp.Or(asked, rune(by[0]))
		case strings.HasPrefix(line, "#") && (found || t.all):
			comment = line
		default:
			if d.comma = asked; asked == 0 {
				d.comma, err = t.separator()
			}
			if err == nil && comment != "" {
				err = d.readComment(t, comment)
			}
			if err == nil {
				err = d.readMarks(t)
			}
			return d, err
		}
		t.skip()
		d.skipped++
	}
}

// sampleLines splits the sample of t into lines and cells by the separator comma, without the last line if
// it may be cut off. There are at most 1+lookAhead lines. Quotes are removed; an error of quotes is left to
// the reader.
func (t *text) sampleLines(comma rune) (lines [][]string) {
	var line []string
	cell, quoted, empty := 0, false, true
	end := func(to int) {
		field := strings.TrimSpace(t.start[cell:to])
		if n := len(field); n > 1 && field[0] == '"' && field[n-1] == '"' {
			field = field[1 : n-1]
		}
		if comma != blank || field != "" {
			line = append(line, field)
		}
		cell = to + 1
	}
	for i := 0; i < len(t.start) && len(lines) <= lookAhead; i++ {
		switch c := t.start[i]; {
		case c == '"':
			quoted, empty = !quoted, false
		case quoted:
		case c == '\n':
			if end(i); !empty {
				lines = append(lines, line)
			}
			line, empty = nil, true
		case rune(c) == comma:
			end(i)
			empty = empty && comma == blank
		case c != '\r' && c != ' ':
			empty = false
		}
	}
	if !empty && len(lines) <= lookAhead && (t.all || lines == nil) {
		end(len(t.start))
		lines = append(lines, line)
	}
	return lines
}

// A split is the sample under one separator.
type split struct {
	comma   rune
	lines   [][]string
	width   int     // most frequent number of cells of a line
	share   float64 // of the lines that have it
	foreign bool    // some cell has a comma that is no decimal comma
}

func (t *text) split(comma rune) split {
	s := split{comma: comma, lines: t.sampleLines(comma)}
	count := map[int]int{}
	for _, line := range s.lines {
		n := len(line)
		if count[n]++; count[n] > count[s.width] || count[n] == count[s.width] && n > s.width {
			s.width = n
		}
		for _, cell := range line {
			s.foreign = s.foreign || comma != ',' && strings.Contains(decimalPoint(cell), ",") && !isAmount(cell)
		}
	}
	s.share = float64(count[s.width]) / float64(max(len(s.lines), 1))
	return s
}

// separator finds the separator of columns: the first of tab, semicolon, bar and comma that gives all lines
// of the sample the same number of cells, above one, or else most of the lines. Where a comma does so too, the commas
// in the cells of another separator must be decimal commas. Blanks separate numbers only. An error asks where neither fits.
func (t *text) separator() (rune, error) {
	var all []split
	for _, comma := range []rune{'\t', ';', '|', ','} {
		all = append(all, t.split(comma))
	}
	commas := all[3]
	for _, least := range []float64{1, 0.5} {
		for _, s := range all {
			if s.width > 1 && (s.share > least || s.share == 1) && !(s.foreign && commas.width > 1 && commas.share >= s.share) {
				return s.comma, nil
			}
		}
	}
	if several, numbers := t.byBlanks(); several && numbers {
		return blank, nil
	} else if several {
		return 0, specErrorf("%s: the lines have words with blanks between; if they are columns, say so by -separator blank, and if a line is one word, by -separator comma", t.path)
	}
	for _, s := range all { // no separator fits; the first line decides, and the reader names the line that differs
		if len(s.lines) > 0 && len(s.lines[0]) > 1 && !s.foreign {
			return s.comma, nil
		}
	}
	if strings.Contains(t.start, "::") {
		return 0, formatErrorf("%s: columns are separated by ::; replace it by a single character, as in: sed 's/::/|/g'", t.path)
	}
	return ',', nil
}

// byBlanks reports whether most lines of the sample have blanks between words, and whether most of these
// words, below a first line that may name the columns, are numbers.
func (t *text) byBlanks() (several, numbers bool) {
	const most = 0.9
	lines := t.sampleLines(blank)
	words, values, split := 0, 0, 0
	for i, line := range lines {
		if len(line) > 1 {
			split++
		}
		if i == 0 && len(lines) > 1 && !slices.ContainsFunc(line, isNumber) {
			continue
		}
		for _, cell := range line {
			if words++; isNumber(decimalPoint(cell)) || IsMissing(cell) {
				values++
			}
		}
	}
	return 2*split > len(lines), float64(values) >= most*float64(words)
}

// readComment reads the last of the lines that begin with # before the first record. It has the names of
// the columns if it has as many words as there are columns.
func (d *dialect) readComment(t *text, comment string) error {
	lines, only := t.split(d.comma), &text{start: strings.TrimSpace(strings.TrimLeft(comment, "#")), all: true}
	cells := only.sampleLines(d.comma)
	if len(cells) == 1 && len(cells[0]) == lines.width && lines.width > 1 {
		if slices.ContainsFunc(cells[0], isNumber) {
			return formatErrorf("%s:%d: the line begins with # and may be a comment or a row; delete it, or put the cell in quotes", t.path, d.skipped)
		}
		if len(lines.lines) > 0 && slices.ContainsFunc(lines.lines[0], isNumber) {
			d.names = cells[0]
			return nil
		}
	}
	d.notes = append(d.notes, countOf(d.skipped, "line")+" before the rows are left out; the last is "+quote(comment))
	return nil
}

// readMarks finds the quotes and the decimal mark, and whether a line is a string of bits.
func (d *dialect) readMarks(t *text) error {
	lines := t.sampleLines(d.comma)
	cells, quoted, bits, leading := 0, 0, 0, false
	decimal, thousands, either := "", "", ""
	for i, line := range lines {
		for _, cell := range line {
			cells++
			if n := len(cell); n > 1 && cell[0] == '\'' && cell[n-1] == '\'' {
				quoted++
			}
			if len(line) == 1 && len(cell) >= leastBits && len(cell) == len(lines[len(lines)-1][0]) && strings.Trim(cell, "01") == "" {
				bits++
				leading = leading || cell[0] == '0'
			} else if i == 0 && len(line) == 1 && len(lines) > 1 && !isNumber(cell) { // a name
				bits++
			}
			switch {
			case d.comma == ',' || !strings.Contains(cell, ","):
			case decimalPoint(cell) != cell && !isAmount(cell):
				decimal = cmp.Or(decimal, cell)
			case decimalPoint(cell) != cell:
				either = cmp.Or(either, cell)
			case isAmount(cell):
				thousands = cmp.Or(thousands, cell)
			}
		}
	}
	d.single = cells > 0 && quoted == cells
	if d.characters = cells > 0 && bits == cells && leading; d.characters {
		d.notes = append(d.notes, "each line is a string of bits; each of its characters is a column")
	}
	switch {
	case d.comma == ',':
	case decimal != "" && thousands != "":
		return formatErrorf("%s: %s has a decimal comma and %s a comma between thousands; write numbers in one way", t.path, quote(decimal), quote(thousands))
	case thousands == "" && decimal == "" && either != "" && d.comma != ';':
		return formatErrorf("%s: %s may have a decimal comma or a comma between thousands; write it without the comma", t.path, quote(either))
	default:
		d.decimal = thousands == ""
	}
	return nil
}

// decimalPoint replaces the decimal comma of a number by a point. It returns other fields unchanged.
func decimalPoint(field string) string {
	at := strings.IndexByte(field, ',')
	if at < 0 || strings.TrimSpace(field[at+1:]) == "" || strings.IndexByte(field[at+1:], ',') >= 0 {
		return field
	}
	if point := field[:at] + "." + field[at+1:]; isNumber(point) {
		return point
	}
	return field
}
