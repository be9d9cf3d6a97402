package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gorbm/data/grammar"
)

// A Reading says what a column of a text file was read as, why, and what else is possible.
type Reading struct {
	Column  string // name
	As      string // such as bit, categories or left out
	Why     string
	Missing int    // number of missing cells
	Else    string // flags that change the reading
}

// What a column is read as.
const (
	asBit        = "bit"
	asValue      = "value in [0,1]"
	asSpin       = "spin"
	asGaussian   = "real number"
	asCategories = "categories"
	asLevels     = "levels"
	asNothing    = "left out"
	asNumber     = "number" // one of the readings above that are numbers, by the whole file
	refused      = "refused"
)

// A columnFacts has the facts about a column by which the rules judge it.
type columnFacts struct {
	c       *column
	numbers int  // different numbers
	words   int  // different words that are no numbers
	known   int  // cells that are not missing
	once    int  // words that only one row has
	first   bool // it is the first column
	unnamed bool // and has no name, although the others have
	asked   bool // -categorical names it
	keep    bool // nothing is left out unless it is named: -ignore none, or the inputs of a model
	cut     int  // number of different numbers above which they are no categories
	label   bool // it is the last column and may have labels
}

// A rule judges a column. It applies if why returns a text: the reason, or the error if as is refused.
// other names the flags that change the reading.
type rule struct {
	as, other string
	why       func(x *columnFacts) string
}

// rules are the rules for the columns of a file that is read without a model. The first that applies
// decides.
func rules() []rule {
	return []rule{
		{refused, "", func(x *columnFacts) string {
			return when(x.asked && x.c.lost, "has more than %d different words, which are too many for categories; %s", maxTableLevels, leaveOut(x.c))
		}},
		{asCategories, "", func(x *columnFacts) string { return when(x.asked && x.numbers+x.words > 0, "-categorical") }},
		{refused, "", func(x *columnFacts) string {
			return when(x.numbers+x.words == 0 && (x.keep || x.asked), "has no cell that is not missing; %s", leaveOut(x.c))
		}},
		{asNothing, "", func(x *columnFacts) string { return when(x.numbers+x.words == 0, "no cell is known") }},
		{asNothing, "-ignore none", func(x *columnFacts) string {
			return when(!x.keep && x.first && x.c.counting && x.c.rows >= leastIndex, "counts the rows")
		}},
		{refused, "", (*columnFacts).infinite},
		{refused, "", (*columnFacts).decimalCommas},
		{asNothing, "", func(x *columnFacts) string {
			return when(x.unnamed && (x.c.rising || x.known == x.c.rows && x.once == x.c.rows), "it has no name and another value in each row, like the row numbers of pandas")
		}},
		{refused, "", func(x *columnFacts) string {
			return when(x.unnamed, "has no name, like the row numbers of pandas; leave it out (to_csv(index=False))")
		}},
		{asNothing, "-categorical NAME", func(x *columnFacts) string {
			return when(!x.keep && x.numbers == 0 && x.words > x.cut && x.c.areDates(), "%d dates", x.words)
		}},
		{asNothing, "-categorical NAME", func(x *columnFacts) string {
			return when(!x.keep && x.numbers == 0 && x.words > 0 && x.c.rows >= leastIndex && x.namesRows(), "another word in each row, as names of rows have")
		}},
		{refused, "", (*columnFacts).strays},
		{refused, "", func(x *columnFacts) string {
			return when(x.words > 0 && x.numbers+x.words > maxLevels, "has %d different words, more than the %d levels that are allowed; is it a name of the row? %s, or name it in -categorical, which allows %d", x.numbers+x.words, maxLevels, leaveOut(x.c), maxTableLevels)
		}},
		{asCategories, "-ignore NAME", func(x *columnFacts) string { return when(x.words > 0, "%s", countOf(x.words+x.numbers, "word")) }},
		{asNumber, "", func(x *columnFacts) string { return "numbers" }},
	}
}

// when returns a text if is is true, and "" otherwise.
func when(is bool, format string, args ...any) string {
	if !is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// namesRows reports whether all cells are known and differ.
func (x *columnFacts) namesRows() bool {
	if x.c.lost {
		return x.once == len(x.c.words)
	}
	return x.known == x.c.rows && x.once == x.c.rows
}

// at returns the place of a word for a message, where %AT stands for the file, the line and the column.
func (w *word) at() string { return fmt.Sprintf("%%AT%d%%", w.row) }

// infinite returns an error if a number is infinite or too large.
func (x *columnFacts) infinite() string {
	w := x.c.first(func(w *word) bool {
		v, err := ParseNumber(w.text)
		return w.isWord() && math.IsInf(v, 0) && (err == nil || isNumber(w.text))
	})
	if w == nil {
		return ""
	}
	return w.at() + quote(w.text) + " is not finite; correct it, or leave the cell empty (or NA) if it is missing"
}

// decimalCommas returns an error if the words of the column are numbers with a decimal comma.
func (x *columnFacts) decimalCommas() string {
	comma := func(w *word) bool { return w.isWord() && decimalPoint(w.text) != w.text }
	first := x.c.first(comma)
	if first == nil || x.c.first(func(w *word) bool { return w.isWord() && !comma(w) }) != nil {
		return ""
	}
	return first.at() + when(true, "the words of the column look like numbers with a decimal comma, as %s; write a decimal point, or name the column in -categorical", quote(first.text))
}

// strays returns an error if most of the different cells are numbers and some are not.
func (x *columnFacts) strays() string {
	if x.words == 0 || x.numbers < x.words {
		return ""
	}
	return x.stray()
}

// stray returns the error about the first word in a column that should have numbers.
func (x *columnFacts) stray() string {
	w := x.c.first((*word).isWord)
	advice := "correct it, leave the cell empty (or NA) if it is missing, or name the column in -categorical"
	switch {
	case x.words == 1 && w.rows > 1:
		advice = fmt.Sprintf("if it means that the value is missing, say so by -missing '%s'; or name the column in -categorical", w.text)
	case w.row == 0 && x.words == 1 && x.numbers > 1:
		advice = "if the line has units or second names, delete it; otherwise correct the cell, leave it empty (or NA) if it is missing, or name the column in -categorical"
	}
	if x.label {
		advice += "; or if the column holds labels, say so by -label-column last, first or its name"
	}
	return w.at() + quote(w.text) + " is not a number, as most of the column are; " + advice
}

// judge finds the rule for a column.
func (f *frame) judge(c *column, opt Options) (j judgement, err error) {
	x := columnFacts{c: c, first: c.at == slices.Index(f.roles, input), keep: opt.Columns != nil && f.kind == HeaderYes || slices.Contains(ParseNames(opt.Ignore), "none"),
		asked: opt.isCategorical(c.name), cut: opt.cut(), known: c.rows - c.gaps(), once: c.once(), label: f.label == nil && c.at == len(f.names)-1}
	x.numbers, x.words = c.counts()
	x.unnamed = x.first && c.name == "" && len(f.columns) > 1
	for _, r := range rules() {
		why := r.why(&x)
		if why == "" {
			continue
		}
		if r.as != refused {
			return judgement{x, r.as, why, strings.Replace(r.other, "NAME", givenName(c.name), 1)}, nil
		}
		return j, f.refusal(c, why)
	}
	panic("data: no rule for a column")
}

// refusal returns the error of a rule.
func (f *frame) refusal(c *column, why string) error {
	var row int
	if _, err := fmt.Sscanf(why, "%%AT%d%%", &row); err == nil {
		_, why, _ = strings.Cut(strings.TrimPrefix(why, "%"), "%")
		return f.wrong(c, row, "%s", why)
	}
	return f.columnError(c, "%s", why)
}

// A judgement says what a column is.
type judgement struct {
	columnFacts
	as, why, other string
}

// isTable reports whether the options ask for a table.
func (o Options) isTable() bool {
	return o.Schema != nil && o.Schema.Alphabet == "" || o.Levels > 0 || o.Numbers != "" || o.Categorical != "" && o.Categorical != "auto"
}

// cut returns the number of different numbers above which they are no categories.
func (o Options) cut() int { return cmp.Or(o.Levels, defaultLevels) }

// set decides what the columns are and makes a set of them.
func (f *frame) set(opt Options) (*Set, error) {
	if opt.Pivot != "" && opt.Pivot != "none" {
		if err := f.pivot(opt); err != nil {
			return nil, err
		}
	}
	if opt.Schema != nil && opt.Schema.Alphabet == "" {
		return f.table(opt.Schema, nil, opt)
	}
	if o := opt.Categorical; o != "" && o != "auto" && o != "all" {
		for _, name := range ParseNames(o) {
			if !slices.Contains(f.inputs(), name) {
				return nil, specErrorf("%s has no column %s to be categorical%s", f.path, quote(name), grammar.DidYouMean(name, f.inputs()))
			}
		}
	}
	if err := f.checkList(opt); err != nil {
		return nil, err
	}
	if err := f.ofModel(opt); err != nil {
		return nil, err
	}
	var kept, out []judgement
	table := opt.isTable()
	gaps := 0
	for _, c := range f.columns {
		j, err := f.judge(c, opt)
		if err != nil {
			return nil, err
		}
		if j.as == asNothing {
			out = append(out, j)
			continue
		}
		kept = append(kept, j)
		table = table || j.as == asCategories && (j.numbers == 0 || j.asked)
		gaps += c.gaps()
	}
	for _, j := range kept {
		if !table && j.as == asCategories { // words among numbers alone do not make a table
			return nil, f.refusal(j.c, j.stray())
		}
	}
	if len(kept) == 0 {
		return nil, f.columnError(out[0].c, "would be left out, like all columns: %s; %s", out[0].why, cmp.Or(out[0].other, "give the file other columns"))
	}
	if gaps > 0 && !table {
		if err := f.checkGaps(kept, opt); err != nil {
			return nil, err
		}
		table = true
	}
	var s *Set
	var err error
	if table {
		s, err = f.newTable(kept, out, opt)
	} else {
		s, err = f.values(kept, out, opt)
	}
	return s, err
}

// ofModel leaves out the columns that a model, whose inputs have the names Options.Columns, does not have.
func (f *frame) ofModel(opt Options) error {
	if opt.Columns == nil || f.kind != HeaderYes {
		return nil
	}
	for _, name := range opt.Columns {
		if !slices.ContainsFunc(f.columns, func(c *column) bool { return c.name == name }) {
			return formatErrorf("%s has no column %s, which the model has%s", f.path, quote(name), grammar.DidYouMean(name, f.inputs()))
		}
	}
	f.columns = slices.DeleteFunc(f.columns, func(c *column) bool {
		if slices.Contains(opt.Columns, c.name) {
			return false
		}
		f.unused = append(f.unused, c.name)
		return true
	})
	return nil
}

// checkGaps returns an error unless the columns of numbers, some of which miss cells, are read as categories
// without a doubt: each has few different numbers and many cells, or is of bits.
func (f *frame) checkGaps(kept []judgement, opt Options) error {
	plain := opt.Binarize != Standard && opt.scaling().rule == "auto"
	for _, j := range kept {
		bits := j.c.values.least >= 0 && j.c.values.most <= 1
		if plain && (bits || j.numbers <= j.cut) && j.c.whole && (j.known >= 3*j.numbers || opt.Pivot != "") {
			continue
		}
		at, row := f.firstCell(kept, func(c *column, r int) bool { return c.isGap(r) })
		what := "a value is missing"
		if word := at.text(row); word != "" {
			what = quote(word) + " is not a number"
		}
		return f.wrong(at, row, "%s; fill it in, or take -numbers gaussian (real numbers) or -numbers levels (intervals), which read the file as a table, in which cells may be missing", what)
	}
	return nil
}

// firstCell returns the first cell, row by row, for which is returns true. There must be one.
func (f *frame) firstCell(kept []judgement, is func(c *column, r int) bool) (*column, int) {
	for r := range f.rows {
		for _, j := range kept {
			if is(j.c, r) {
				return j.c, r
			}
		}
	}
	panic("data: no such cell")
}

// readings describes all columns of the file, in its order. kept[i] is read as described by of(i).
func (f *frame) readings(kept, out []judgement, of func(i int) (as, why, other string)) []Reading {
	all := make([]Reading, len(f.names))
	for j, name := range f.names {
		all[j] = Reading{Column: name, As: asNothing, Why: "-ignore"}
		switch {
		case f.roles[j] == weight:
			all[j].As, all[j].Why = "weight of the row", "-weights"
		case f.roles[j] == labels:
			all[j].As, all[j].Why, all[j].Else = "label", fmt.Sprintf("%d classes", len(f.label.levels())), "-label-column none"
		case slices.Contains(f.unused, name):
			all[j].Why = "the model lacks it"
		}
	}
	for i, j := range kept {
		as, why, other := of(i)
		all[j.c.at] = Reading{j.c.name, as, why, j.c.gaps(), strings.Replace(other, "NAME", givenName(j.c.name), 1)}
	}
	for _, j := range out {
		all[j.c.at] = Reading{j.c.name, j.as, j.why, j.c.gaps(), j.other}
	}
	return all
}

// leftOut notes the columns that are left out, and returns their names.
func (f *frame) leftOut(out []judgement) (notes, names []string) {
	const most = 3 // notes; further columns are named together
	for i, j := range out {
		note := fmt.Sprintf("%s is left out: %s", f.columnName(j.c), j.why)
		if j.why == "no cell is known" && j.c.at == len(f.names)-1 && (j.c.name == "" || f.kind == HeaderNo) {
			note = fmt.Sprintf("%s is left out: each line ends with a separator", f.columnName(j.c))
		} else if j.other != "" {
			note += "; " + j.other + " keeps it"
		}
		if i < most || len(out) == most+1 {
			notes = append(notes, note)
		} else if i == most {
			var more []string
			for _, j := range out[most:] {
				more = append(more, j.c.name)
			}
			notes = append(notes, fmt.Sprintf("%d more columns are left out for such reasons: %s", len(more), someNames(more)))
		}
		if j.c.name != "" && f.kind == HeaderYes {
			names = append(names, j.c.name)
		}
	}
	return notes, names
}
