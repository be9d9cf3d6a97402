package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"gorbm/data/grammar"
	"gorbm/rbm"
)

// Values of Options.Numbers.
const (
	NumbersLevels   = "levels"
	NumbersGaussian = "gaussian"
)

const (
	maxLevels      = 1000    // levels of a column, unless Options.Categorical names it
	maxTableLevels = 1 << 14 // levels of a table
	maxTableBytes  = 1 << 18 // bytes of a table's words, which model files contain
	maxCells       = 1 << 27 // cells of a table
	defaultLevels  = 8
)

// newTable makes a set of a table: columns of categories, bits and numbers, whose cells may be missing. It
// decides the levels of each column.
func (f *frame) newTable(kept, out []judgement, opt Options) (*Set, error) {
	seen := map[string]bool{}
	for _, j := range kept {
		if seen[j.c.name] {
			return nil, formatErrorf("%s:1: two columns are named %s; give them different names", f.path, quote(j.c.name))
		}
		seen[j.c.name] = true
	}
	asked := ParseNames(opt.Categorical)
	varies := func(j judgement) bool { return j.c.varies(f.counted) || slices.Contains(asked, j.c.name) }
	if slices.ContainsFunc(kept, varies) {
		kept = slices.DeleteFunc(kept, func(j judgement) bool {
			if varies(j) {
				return false
			}
			j.as, j.why, j.other = asNothing, "one value, "+quote(j.c.text(int(j.c.known(f.counted)[0]))), ""
			out = append(out, j)
			return true
		})
	}
	notes, dropped := f.leftOut(out)
	f.notes = append(f.notes, notes...)
	s := &Schema{}
	total, bytes := 0, 0
	for _, j := range kept {
		c, err := f.schemaColumn(j, opt)
		if err != nil {
			return nil, err
		}
		s.Columns = append(s.Columns, c)
		if total += len(c.Levels); total > maxTableLevels {
			return nil, formatErrorf("%s: the columns up to %s have %d levels, more than the %d that are allowed; leave columns out by -ignore, or use fewer -levels", f.path, quote(c.Name), total, maxTableLevels)
		}
		for _, word := range c.Levels {
			bytes += len(word)
		}
		if bytes += len(c.Name); bytes > maxTableBytes {
			return nil, formatErrorf("%s: the columns up to %s have %d bytes of words, more than the %d that are allowed; shorten them", f.path, quote(c.Name), bytes, maxTableBytes)
		}
		if j.c.rising && f.rows >= leastIndex {
			f.notes = append(f.notes, f.namesRows(j.c))
		}
		if opt.LabelColumn == "auto" && f.label == nil && c.Edges == nil && c.Number == nil && isLabelName(c.Name) {
			f.notes = append(f.notes, fmt.Sprintf("%s is an input, as it is not the last column; if it holds the labels, say so by -label-column %s", f.columnName(j.c), c.Name))
		}
		if a, b, ok := caseTwins(c.Levels); ok {
			f.notes = append(f.notes, fmt.Sprintf("%s: %s and %s differ in case alone and are two levels; write them alike if they are one", f.columnName(j.c), quote(a), quote(b)))
		}
	}
	if f.label != nil {
		s.Label = f.label.name
	}
	set, err := f.table(s, kept, opt)
	if err == nil {
		set.Dropped = dropped
		set.Readings = f.readings(kept, out, func(i int) (as, why, other string) {
			c, j := &s.Columns[i], kept[i]
			switch {
			case c.Number != nil:
				return asGaussian, fmt.Sprintf("%d or more numbers, standardised", j.numbers), "-numbers levels, -categorical " + givenName(c.Name)
			case c.Edges != nil:
				return asLevels, fmt.Sprintf("numbers from %g to %g, cut into %d intervals", j.c.values.least, j.c.values.most, len(c.Levels)), "-numbers gaussian, -levels N"
			case c.Bit:
				return asBit, someNames(c.Levels), "-ignore " + givenName(c.Name)
			}
			return asCategories, countOf(len(c.Levels), "value") + ": " + someNames(c.Levels[:min(3, len(c.Levels))]), "-ignore " + givenName(c.Name)
		})
	}
	return set, err
}

// schemaColumn decides the units of a column.
func (f *frame) schemaColumn(j judgement, opt Options) (Column, error) {
	column := Column{Name: j.c.name}
	if j.as == asNumber && j.numbers > j.cut {
		if opt.Numbers == NumbersGaussian || opt.Numbers == "" && opt.Binarize == Standard {
			column.Number = j.c.scale(f.counted)
			if d := column.Number.Deviation; !(d > 0) || math.IsInf(d, 0) {
				return column, f.columnError(j.c, "has numbers whose standard deviation is %v; correct it, or cut it into levels", d)
			}
			return column, nil
		}
		j.c.cut(&column, opt.cut(), f.counted)
		return column, nil
	}
	words := j.c.levels()
	if !j.c.varies(f.counted) {
		advice := leaveOut(j.c)
		if j.c.gaps() > 0 {
			advice += ", or if an empty cell means no, write 0 and 1"
		}
		return column, f.columnError(j.c, "has one value, %s; %s", quote(words[0]), advice)
	}
	column.Levels, column.Bit = sortedNames(words), len(words) == 2
	return column, nil
}

// known returns the rows with a weight above 0 in which the cell is known.
func (c *column) known(weights []float64) (rows []int32) {
	for r, w := range weights {
		if w > 0 && !c.isGap(r) {
			rows = append(rows, int32(r))
		}
	}
	return rows
}

// varies reports whether known cells of rows with a weight above 0 differ.
func (c *column) varies(weights []float64) bool {
	same := c.canonical()
	var first uint64
	rows := c.known(weights)
	for i, r := range rows {
		id := math.Float64bits(c.number(int(r)))
		if k := c.word(int(r)); k >= 0 {
			id = uint64(same[k])
		}
		if i == 0 {
			first = id
		}
		if id != first {
			return true
		}
	}
	return len(rows) == 0
}

// scale returns the mean and standard deviation of the known numbers of a column, by the weights of the rows.
func (c *column) scale(weights []float64) *Scale {
	var s Scale
	rows, total := c.known(weights), 0.0
	for _, r := range rows {
		total += weights[r]
		s.Mean += (c.number(int(r)) - s.Mean) / (total / weights[r])
	}
	for _, r := range rows {
		d := c.number(int(r)) - s.Mean
		s.Deviation += float64(float64(d*d) * weights[r])
	}
	s.Deviation = math.Sqrt(s.Deviation / total)
	return &s
}

// cut divides the numbers of a column into at most n levels of about equal weight. The name of a level is
// the median of its numbers.
func (c *column) cut(column *Column, n int, weights []float64) {
	type weighted struct{ value, weight float64 }
	var values []weighted
	total := 0.0
	for _, r := range c.known(weights) {
		values = append(values, weighted{c.number(int(r)), weights[r]})
		total += weights[r]
	}
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

// table makes a set of the columns of a schema, which it finds by their names.
func (f *frame) table(schema *Schema, kept []judgement, opt Options) (*Set, error) {
	rows, units := f.rows, schema.Units()
	why := checkShape(int64(rows), 2*int64(units))
	if rows*len(schema.Columns) > maxCells {
		why = fmt.Sprintf("more than the %d cells that are allowed; split the file", maxCells)
	}
	s := &Set{Name: f.path, Schema: schema, Groups: schema.Groups(), Binarize: Binary, Header: f.kind, Weights: f.weights,
		WeightColumn: f.weigher != "", Numbers: f.numbers, Notes: f.notes}
	s.Height, s.Width = NearSquare(units)
	if s.Means, s.Deviations = schema.scale(); s.Means != nil && why == "" {
		why = checkGrey(rows, units)
		s.Binarize = Standard
	}
	if why != "" {
		return nil, formatErrorf("%s: %s", f.path, why)
	}
	s.X = rbm.NewBits(rows, units)
	if s.Means != nil {
		s.Grey = rbm.NewMatrix(rows, units)
	}
	used := map[string]*column{}
	for i := range schema.Columns {
		used[schema.Columns[i].Name] = nil
	}
	for _, c := range f.columns {
		switch first, has := used[c.name]; {
		case has && first != nil:
			return nil, formatErrorf("%s:1: two columns are named %s; give them different names", f.path, quote(c.name))
		case has:
			used[c.name] = c
		case opt.Schema != nil && c.name != opt.Schema.Label:
			s.Unused = append(s.Unused, c.name)
		}
	}
	if len(kept) > 0 {
		used = map[string]*column{}
		for _, j := range kept {
			used[j.c.name] = j.c
		}
	}
	missing := rbm.NewBits(rows, units)
	first, gaps, unknown := 0, 0, 0
	for j := range schema.Columns {
		column := &schema.Columns[j]
		c := used[column.Name]
		if c == nil && opt.Pivot != "" && opt.Pivot != "none" { // no row of the list has this column
			c = newColumn(column.Name, -1, 0, nil)
			for range f.rows {
				c.add("")
			}
		}
		if c == nil {
			return nil, formatErrorf("%s has no column %s, which the model has%s", f.path, quote(column.Name), grammar.DidYouMean(column.Name, f.inputs()))
		}
		p := placed{f: f, c: c, column: column, s: s, missing: missing, unit: first, key: dataKey(1, streamMissing).Child(uint64(j))}
		if err := p.place(opt.Unknown == "missing"); err != nil {
			return nil, err
		}
		gaps, unknown = gaps+p.gaps, unknown+p.unknown
		first += column.Units()
	}
	if unknown > 0 {
		s.Notes = append(s.Notes, countOf(unknown, "cell")+" with words that the model does not know count as missing")
	}
	if gaps > 0 {
		s.Missing = missing
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d cells are missing (%.1f %%)", gaps, rows*len(schema.Columns), 100*float64(gaps)/float64(rows*len(schema.Columns))))
	}
	return s, f.addLabels(s, opt, IsMissing)
}

// A placed column is a column of a file that gives units of a set their values.
type placed struct {
	f             *frame
	c             *column
	column        *Column
	s             *Set
	missing       rbm.Values
	unit          int     // the first unit of the column
	key           rbm.Key // of the values with which missing cells start
	gaps, unknown int     // missing cells, and those of them whose word is unknown
}

// place sets the units. A missing cell starts with a value drawn from the known cells of the column.
func (p *placed) place(unknown bool) error {
	levels, err := p.levels(unknown)
	if err != nil {
		return err
	}
	isGap := func(r int) bool {
		k := p.c.word(r)
		return k >= 0 && (p.c.words[k].gap || levels != nil && levels[k] < 0)
	}
	var known []int32
	var up []float64 // weights of the known rows so far
	for r := range p.c.rows {
		if isGap(r) {
			p.gaps++
			continue
		}
		w := p.f.counted[r]
		if w == 0 {
			continue
		}
		known = append(known, int32(r))
		if p.s.Weights != nil {
			if len(up) > 0 {
				w += up[len(up)-1]
			}
			up = append(up, w)
		}
	}
	for r := range p.c.rows {
		from := r
		if isGap(r) {
			for unit := range p.column.Units() {
				p.missing.Set(r, p.unit+unit, true)
			}
			if k := p.c.word(r); !p.c.words[k].gap {
				p.unknown++
			}
			if len(known) == 0 {
				continue
			}
			u := p.key.Uniform(uint64(r))
			if from = int(known[int(u*float64(len(known)))]); up != nil {
				from = int(known[min(sort.SearchFloat64s(up, u*up[len(up)-1]), len(known)-1)])
			}
		}
		if p.column.Number != nil {
			if err := p.placeNumber(r, from); err != nil {
				return err
			}
			continue
		}
		level := p.level(levels, from)
		switch {
		case p.column.Bit && level == 0:
		case p.column.Bit:
			p.turnOn(r, p.unit)
		default:
			p.turnOn(r, p.unit+level)
		}
	}
	return nil
}

// placeNumber gives row r the standardised number of row from.
func (p *placed) placeNumber(r, from int) error {
	x := p.column.Number.Standard(p.c.number(from))
	if math.IsInf(float64(x), 0) {
		return p.f.wrong(p.c, from, "%s is too far from the mean of the column, %.6g, to be standardised; correct it", quote(p.c.text(from)), p.column.Number.Mean)
	}
	p.s.Grey.Row(r)[p.unit] = x
	p.s.X.Set(r, p.unit, x > 0)
	return nil
}

// turnOn turns on the unit of a level.
func (p *placed) turnOn(r, unit int) {
	p.s.X.Set(r, unit, true)
	if p.s.Grey.Rows > 0 {
		p.s.Grey.Row(r)[unit] = 1
	}
}

// level returns the level of the cell of row r.
func (p *placed) level(levels []int, r int) int {
	if k := p.c.word(r); k >= 0 {
		return levels[k]
	}
	return p.column.interval(p.c.number(r))
}

// interval returns the level of a number that is cut by edges.
func (c *Column) interval(v float64) int {
	level, found := slices.BinarySearch(c.Edges, v)
	if found {
		level++
	}
	return level
}

// levels returns the level of each word of the column, or −1 if the word is missing, or unknown where that
// is allowed. It checks that numbers are numbers.
func (p *placed) levels(unknown bool) ([]int, error) {
	levels := make([]int, len(p.c.words))
	index := make(map[string]int, len(p.column.Levels))
	values := make(map[float64]int, len(p.column.Levels))
	for k, level := range p.column.Levels {
		index[level] = k
		if v, ok := number(level); ok {
			if _, has := values[v]; !has {
				values[v] = k
			}
		}
	}
	numbers := p.column.Number != nil || p.column.Edges != nil
	if p.c.lost {
		return nil, p.f.columnError(p.c, "has more than %d different words, which the model does not know", maxTableLevels)
	}
	for k := range p.c.words {
		w := &p.c.words[k]
		level, known := index[w.text]
		if !known && w.isNumber() { // another spelling of a number
			level, known = values[w.value]
		}
		switch {
		case w.gap:
			levels[k] = -1
		case numbers && !w.isNumber():
			return nil, p.f.wrong(p.c, int(w.row), "%s is not a number, unlike the others of its column; correct it, or leave the cell empty (or NA) if it is missing", quote(w.text))
		case p.column.Number != nil:
		case p.column.Edges != nil:
			levels[k] = p.column.interval(w.value)
		case known:
			levels[k] = level
		case unknown:
			levels[k] = -1
		default:
			rows := ""
			if p.c.rows >= leastIndex && 2*p.c.once() > p.c.rows {
				rows = "; most words of the column occur once; if they name the rows, " + leaveOut(p.c) + " in training"
			}
			return nil, p.f.wrong(p.c, int(w.row), "%s is no level that the model knows; it knows %s; leave the cell empty (or NA) to have it missing, or take -unknown missing for all such words%s", quote(w.text), someNames(p.column.Levels), rows)
		}
	}
	return levels, nil
}
