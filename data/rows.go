package data

import (
	"fmt"
	"math"
	"slices"

	"gorbm/rbm"
)

// values makes a set of columns that are numbers: bits, values in [0,1], spins, or real numbers.
func (f *frame) values(kept, out []judgement, opt Options) (*Set, error) {
	notes, dropped := f.leftOut(out)
	s := &Set{Name: f.path, Binarize: Binary, Header: f.kind, Weights: f.weights, WeightColumn: f.weigher != "", Numbers: f.numbers, Dropped: dropped, Unused: f.unused}
	s.Notes = append(f.notes, notes...)
	to, err := f.scale(kept, &opt, s)
	if err != nil {
		return nil, err
	}
	rows, cols := f.rows, len(kept)
	if why := checkShape(int64(rows), int64(cols)); why != "" {
		return nil, formatErrorf("%s: %s; split the file", f.path, why)
	}
	bin, scaling := opt.binarizer(streamTrain), opt.scaling()
	between := bin.mode == Standard
	for k, j := range kept {
		between = between || j.c.values.between(to.at(k))
	}
	if err := f.checkBetween(kept, to, opt, s); err != nil {
		return nil, err
	}
	s.X = rbm.NewBits(rows, cols)
	if between {
		s.Binarize = bin.mode
		if bin.grey {
			if why := checkGrey(rows, cols); why != "" {
				return nil, formatErrorf("%s: %s", f.path, why)
			}
			s.Grey = rbm.NewMatrix(rows, cols)
		}
	}
	keys := make([]rbm.Key, rows)
	for r := range keys {
		row := r
		if f.numbers != nil {
			row = int(f.numbers[r])
		}
		keys[r] = bin.row(row)
	}
	clips := 0
	for k, j := range kept {
		scale := to.at(k)
		value := func(r int) float64 {
			v := j.c.number(r)
			if scaling.clip && !scale.holds(v) {
				clips++
				v = scale.clip(v)
			}
			return scale.apply(v)
		}
		for r := range rows {
			v := value(r)
			if bin.isOne(keys[r], k, v) {
				s.X.Set(r, k, true)
			}
			if s.Grey.Rows > 0 {
				s.Grey.Row(r)[k] = bin.kept(k, v)
			}
		}
	}
	if s.Grey.Rows > 0 {
		s.origin = bin.origin
	}
	for _, j := range kept {
		if j.c.rising && rows >= leastIndex {
			s.Notes = append(s.Notes, f.namesRows(j.c))
		}
		if j.c.name != "" && f.kind == HeaderYes {
			s.Columns = append(s.Columns, j.c.name)
		} else if f.kind == HeaderYes {
			s.Columns = append(s.Columns, "")
		}
	}
	if clips > 0 {
		s.Notes = append(s.Notes, clipped(clips, rows*cols))
	}
	if scaling.rule != "" && len(to) > 1 {
		s.Notes = append(s.Notes, fmt.Sprintf("-scale %s: each column has its own range; pictures take one for all columns, by -shape or -scale LOW:HIGH", scaling.rule))
	}
	s.Readings = f.readings(kept, out, func(i int) (as, why, other string) {
		x := kept[i].c.values
		switch why = fmt.Sprintf("from %g to %g", x.least, x.most); {
		case s.Spins || opt.scaling().rule == "spins":
			return asSpin, "−1 and 1", ""
		case s.Binarize == Standard:
			return asGaussian, why, "-scale minmax, -numbers levels"
		case to.at(i) == present:
			return asBit, why + ", on above 0", "-scale max"
		case x.between(to.at(i)) && s.Grey.Rows == 0 && bin.mode == Threshold:
			return asBit, why + ", on from the middle of the scale " + to.at(i).String(), "-binarize sample, -binarize none, -units gaussian"
		case x.between(to.at(i)) && s.Grey.Rows == 0:
			return asBit, why + ", drawn", "-binarize threshold, -binarize none, -units gaussian"
		case x.between(to.at(i)):
			return asValue, why, "-binarize threshold, -units gaussian"
		case x.least == x.most:
			return asBit, fmt.Sprintf("always %g", x.least), ""
		}
		return asBit, fmt.Sprintf("%g and %g", x.least, x.most), "-categorical NAME"
	})
	s.Height, s.Width = NearSquare(cols)
	s.guessed = true
	s.Scale = opt.describe(to)
	if s.Spins {
		s.Scale = ""
	}
	return s, f.addLabels(s, opt, func(w string) bool { return w == "" })
}

// checkBetween notes which share of the values lies strictly between 0 and 1, where they are cut at ½ unasked. It returns an
// error if that are nearly all of them.
func (f *frame) checkBetween(kept []judgement, to scales, opt Options, s *Set) error {
	const nearly, leastCells = 0.9, 100
	if !opt.canBeReal() || opt.Binarize != Threshold {
		return nil
	}
	n, cells := 0, len(kept)*f.rows
	for k, j := range kept {
		if scale := to.at(k); j.c.values.between(scale) {
			for r := range f.rows {
				if v := j.c.number(r); v != scale.low && v != scale.high {
					n++
				}
			}
		}
	}
	if n == 0 {
		return nil
	}
	share := fmt.Sprintf("%.3g %% of the values lie strictly between 0 and 1", 100*float64(n)/float64(cells))
	if float64(n) > nearly*float64(cells) && cells >= leastCells {
		return formatErrorf("%s: %s; -units gaussian reads them as real numbers, and -binarize sample, threshold or none as probabilities of ones (drawn, cut at ½ or kept)", f.path, share)
	}
	s.Notes = append(s.Notes, share+" and are cut at ½; -binarize sample draws them, none keeps them as probabilities, and -units gaussian reads real numbers")
	return nil
}

// namesRows returns the note about a column that may name the rows.
func (f *frame) namesRows(c *column) string {
	return f.columnName(c) + " has another value in each row; if it names the rows, " + leaveOut(c)
}

// addLabels gives the labels to s.
func (f *frame) addLabels(s *Set, opt Options, isMissing func(word string) bool) error {
	if f.label == nil {
		return nil
	}
	l := opt.labeller()
	same := f.label.canonical()
	for r := range f.rows {
		name := f.label.text(r)
		if k := f.label.word(r); k >= 0 {
			name = f.label.words[same[k]].text
		}
		if isMissing(name) {
			name = ""
		}
		if name == "" && !l.missing(name) {
			return f.wrong(f.label, r, "the label is missing; name a class")
		}
		if why := l.add(name); why != "" {
			return f.wrong(f.label, r, "%s; is it a column of labels?", why)
		}
	}
	l.give(s)
	return nil
}

// scale decides what the numbers are and returns the scales of the columns. For spins and real numbers it
// sets options and s.
func (f *frame) scale(kept []judgement, opt *Options, s *Set) (to scales, err error) {
	var all extent
	whole := true
	for _, j := range kept {
		all.join(j.c.values)
		whole = whole && j.c.whole
	}
	g := opt.scaling()
	if g.rule == "auto" {
		one := scaling{rule: "spins", given: scales{spins}}
		switch {
		case all.least >= 0 && all.most <= 1:
		case all.least == -1 && all.most <= 1 && !all.more && !slices.ContainsFunc(all.distinct[:all.n], func(v float64) bool { return one.wrong(0, v, false) != "" }):
			s.Spins, g, opt.Scale = true, one, "spins"
		case opt.canBeReal() && all.least == -1 && all.most == 1 && whole:
			return nil, formatErrorf("%s: all values are −1, 0 and 1; if one of them means that the value is missing, say so by -missing -1 or -missing 0; -categorical all reads three categories, -units gaussian real numbers", f.path)
		case opt.canBeReal() && (all.least < 0 || !whole):
			s.Found, g, opt.Binarize = true, raw, Standard
		}
	}
	wrong := func(v float64, k int) string { return g.wrong(k, v, false) }
	for k, j := range kept {
		bad := wrong(j.c.values.least, k) != "" || wrong(j.c.values.most, k) != "" || g.rule == "spins" && (j.c.values.more || wrong(j.c.values.distinct[0], k) != "" || j.c.values.n > 1 && wrong(j.c.values.distinct[1], k) != "")
		if bad {
			return nil, f.outside(kept, g, all, whole)
		}
	}
	if known, ok := g.known(false); ok {
		if why := known.check(len(kept)); why != "" {
			return nil, formatErrorf("%s: %s", f.path, why)
		}
		return known, nil
	}
	if opt.Height != 0 {
		to, why := g.fit(all, false)
		if why != "" {
			return nil, formatErrorf("%s: %s", f.path, why)
		}
		return to, nil
	}
	spread := false
	for _, j := range kept {
		scale, why := g.spread(j.c.values)
		if why != "" {
			return nil, formatErrorf("%s: %s: %s", f.path, f.columnName(j.c), why)
		}
		to = append(to, scale)
		spread = spread || scale.low < scale.high
	}
	if !spread {
		return nil, formatErrorf("%s: all values of a column are equal, which -scale %s cannot spread over [0,1]; give the range they may have, such as -scale 255", f.path, g.rule)
	}
	if values := slices.Compact(slices.Clone(to)); len(values) == 1 {
		to = values
	}
	return to, nil
}

// outside returns the error about the first value that is not on the scale.
func (f *frame) outside(kept []judgement, g scaling, all extent, whole bool) error {
	index := map[*column]int{}
	for k, j := range kept {
		index[j.c] = k
	}
	c, row := f.firstCell(kept, func(c *column, r int) bool { return g.wrong(index[c], c.number(r), false) != "" })
	v := c.number(row)
	why := g.wrong(index[c], v, false)
	last := c.at == len(f.names)-1
	distinctNow, _ := distinct(f.texts(kept, row))
	switch {
	case c == kept[0].c && c.counting && row > 0:
		return f.wrong(c, row, "%s: the first column counts the rows; %s (pandas: to_csv(index=False))", quote(c.text(row)), leaveOut(c))
	case g.rule == "auto" && row == f.rows-1 && row > 0:
		why += "; if the last line has totals, delete it"
	case g.rule == "auto" && whole && all.least >= 0 && all.most < 128:
		why = "is outside [0,1]; of counts and scores, -scale presence reads all above 0 as 1, -numbers levels takes intervals, and -scale max fractions of the largest; -missing " + c.text(row) + " if it marks missing cells"
	}
	switch {
	case row == 0 && f.kind == HeaderNo && distinctNow != nil:
		why += ", or if this line names the columns, say so by -header yes"
	case slices.Contains([]string{"n", "count", "counts", "freq", "frequency", "weight", "weights"}, c.name):
		why += "; if it counts how often a row occurs, say so by -weights " + c.name
	case last && f.label == nil && !math.IsNaN(v):
		why += ", or if a column holds labels, say so by -label-column last, first or its name"
	}
	return f.wrong(c, row, "%s %s", quote(c.text(row)), why)
}

// texts returns the cells of a row.
func (f *frame) texts(kept []judgement, row int) (cells []string) {
	for _, j := range kept {
		cells = append(cells, j.c.text(row))
	}
	return cells
}
