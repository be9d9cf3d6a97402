package data

import (
	"fmt"
	"slices"
	"strings"

	"gorbm/data/grammar"
)

// A list has a row for each cell of a table, such as the rating of a film by a user: a column that names the
// row, one that names the column, and one with the value.
type list struct{ row, column, value *column }

// asList returns the list that the columns of f may be: of two of the first three columns, which have many
// different values, no pair occurs twice, but each value often, and the third has few different numbers. It
// returns nil if f is not like this.
func (f *frame) asList() *list {
	const manyDifferent, fewValues = 10, 11
	if n := len(f.columns); n < 3 || n > 4 {
		return nil
	}
	l := &list{f.columns[0], f.columns[1], f.columns[2]}
	for _, c := range []*column{l.row, l.column} {
		ids := map[string]bool{}
		for r := range c.rows {
			ids[c.text(r)] = true
		}
		if c.gaps() > 0 || !c.whole && c.values.n > 0 || len(ids) < manyDifferent || c.rows < 2*len(ids) {
			return nil
		}
	}
	values := map[string]bool{}
	pairs := map[[2]string]bool{}
	for r := range l.value.rows {
		values[l.value.text(r)] = true
		pairs[[2]string{l.row.text(r), l.column.text(r)}] = true
	}
	if len(values) > fewValues || len(pairs) < l.value.rows || l.value.values.n == 0 {
		return nil
	}
	return l
}

// checkList returns an error if the file is probably a list.
func (f *frame) checkList(opt Options) error {
	l := f.asList()
	if l == nil || opt.Pivot != "" || opt.Columns != nil {
		return nil
	}
	names := JoinNames(l.row.name, l.column.name, l.value.name)
	return formatErrorf("%s: the rows look like a list, in which each pair of %s and %s has a value in %s; a row of the data must be one %s: -pivot %s makes it so, and -pivot none reads the rows as they are",
		f.path, quote(l.row.name), quote(l.column.name), quote(l.value.name), quote(l.row.name), names)
}

// pivot turns the list whose columns Options.Pivot names into a table with a row for each value of the first
// and a column for each value of the second. Without a third column the table has bits.
func (f *frame) pivot(opt Options) error {
	names := ParseNames(opt.Pivot)
	if len(names) != 2 && len(names) != 3 {
		return specErrorf("-pivot %s: name the column of the rows, that of the columns and that of the values, or the first two", opt.Pivot)
	}
	var of []*column
	for _, name := range names {
		at := slices.IndexFunc(f.columns, func(c *column) bool { return c.name == name })
		if at < 0 {
			return specErrorf("%s has no column %s for -pivot%s", f.path, quote(name), grammar.DidYouMeanOr(name, f.inputs(), "its columns are "+someNames(f.inputs())))
		}
		of = append(of, f.columns[at])
	}
	if f.label != nil || f.weights != nil {
		return specErrorf("%s: the rows of a list have no labels and no weights; leave -label-column and -weights out", f.path)
	}
	rows, columns := newIndex(of[0]), newIndex(of[1])
	if cells := len(rows.names) * len(columns.names); cells > maxCells {
		return formatErrorf("%s: %d rows of %d columns are more than the %d cells that are allowed", f.path, len(rows.names), len(columns.names), maxCells)
	}
	from := make([]int32, len(rows.names)*len(columns.names)) // 1 + row of the list that has the cell
	var lines lineIndex                                       // of the first row of the list in each row of the table
	for r := range f.rows {
		i, j := rows.of[r], columns.of[r]
		if int(i) == len(lines.rows) {
			lines.rows, lines.offsets = append(lines.rows, int(i)), append(lines.offsets, f.lines.of(r)-int(i))
		}
		cell := &from[int(j)*len(rows.names)+int(i)]
		if *cell > 0 {
			return f.wrong(of[1], r, "%s of %s is there twice, also in line %d; leave one of them", quote(of[1].text(r)), quote(of[0].text(r)), f.lines.of(int(*cell-1)))
		}
		*cell = int32(r + 1)
	}
	f.notes = append(f.notes, fmt.Sprintf("the list is a table of %s (%s) and %s (%s)", countOf(len(rows.names), "row"), names[0], countOf(len(columns.names), "column"), names[1]))
	f.columns, f.names, f.roles, f.lines, f.rows, f.kind = nil, nil, nil, lines, len(rows.names), HeaderYes
	for _, name := range sortedNames(columns.names) {
		c := newColumn(name, len(f.columns), opt.kept(name), opt.missing())
		first := int(columns.number[name]) * len(rows.names)
		for _, r := range from[first : first+len(rows.names)] {
			switch {
			case len(of) < 3:
				c.add([]string{"0", "1"}[min(r, 1)])
			case r == 0:
				c.add("")
			default:
				c.add(of[2].text(int(r - 1)))
			}
		}
		c.finish()
		f.columns, f.names, f.roles = append(f.columns, c), append(f.names, name), append(f.roles, input)
	}
	f.counted = opt.counted(f.rows, nil)
	return nil
}

// An index numbers the different cells of a column, by their first rows.
type index struct {
	number map[string]int32
	names  []string
	of     []int32 // number of the cell of each row
}

func newIndex(c *column) index {
	x := index{number: map[string]int32{}}
	for r := range c.rows {
		name := c.text(r)
		k, ok := x.number[name]
		if !ok {
			k = int32(len(x.names))
			name = strings.Clone(name)
			x.number[name], x.names = k, append(x.names, name)
		}
		x.of = append(x.of, k)
	}
	return x
}
