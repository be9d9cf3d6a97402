package sample

import (
	"cmp"
	"fmt"
	"slices"

	"gorbm/data"
	"gorbm/rbm"
)

// A Query says which visible units of a model are given. The rest is sampled.
type Query struct {
	Inputs []float32 // for each input 0 or 1, of real units any value, or rbm.FreeInput; nil: all free
	Class  int       // the class of the label, or rbm.Free
}

// A Law is what is sampled: a model given the units of a query.
type Law struct {
	Query
	Model *rbm.RBM  // over the units that are free: inputs, then the label if it is free
	Base  *rbm.Base // where tempered paths end; nil: the uniform distribution
	// Data are rows of data as states of Model, from which chains may start. They
	// have the query's class and, if inputs are given, those nearest to these. There
	// are none without data.
	Data rbm.Values
	Row  []int32 // the number of each of them in the data
}

// nearRows is the number of rows nearest to the given inputs that make Law.Data:
// some more than there are chains.
const nearRows = 200

// Law returns the conditional distribution of m given the units of q, which FillGroups completes. set may be nil. Its classes are
// those of m, and rows without a class serve queries of all classes alone. Path and
// start of the chains come from it. The error is that of Given. It panics as Given
// does, and if set has another number of inputs than m.
func (q Query) Law(m *rbm.RBM, set *data.Set) (Law, error) {
	g, err := m.Given(q.Inputs, q.Class)
	if err != nil {
		return Law{}, err
	}
	if q.Inputs, err = m.FillGroups(q.Inputs); err != nil {
		return Law{}, err
	}
	l := Law{Query: q, Model: g, Data: g.NewVisible(0)}
	if set == nil || set.Y == nil && m.Classes() > 0 {
		return l, nil
	}
	if set.X.Cols != m.Inputs() {
		panic("sample: data of another width than the model")
	}
	var rows []int32
	for r := range set.Len() {
		switch {
		case g.Classes() > 0 && set.Y[r] == data.NoClass: // a free label starts at that of the row
		case q.Class == rbm.Free || set.Y[r] == int32(q.Class):
			rows = append(rows, int32(r))
		}
	}
	values := set.X
	if m.Real() {
		values = set.Grey.Values()
	}
	if q.Inputs != nil {
		rows = slices.DeleteFunc(rows, func(r int32) bool { return q.excludes(m, set, r) })
		rows = nearest(values, rows, q.Inputs)
	}
	l.Data, l.Row = g.NewVisible(len(rows)), rows
	var free []int // inputs of which nothing is given
	for i := range m.Inputs() {
		if q.Inputs == nil || q.Inputs[i] == rbm.FreeInput {
			free = append(free, i)
		}
	}
	mean := make([]float32, g.Visible())
	for to, from := range rows {
		if q.Inputs == nil {
			set.Inputs(l.Data.Slice(to, to+1), rows[to:to+1])
		} else {
			for unit, i := range free {
				l.Data.Put(to, unit, values.At(int(from), i))
			}
		}
		if g.Classes() > 0 {
			l.Data.Set(to, len(free)+int(set.Y[from]), true)
		}
		l.Data.Nonzero(to, func(unit int, x float32) { mean[unit] += x })
	}
	if len(rows) == 0 {
		return l, nil
	}
	for i := range mean {
		mean[i] /= float32(len(rows))
	}
	l.Base = rbm.NewBase(g, mean, float64(len(rows)))
	l.keepPossible()
	return l, nil
}

// excludes reports whether a free softmax group of row r of set has a state that is given as 0.
func (q Query) excludes(m *rbm.RBM, set *data.Set, r int32) bool {
	for _, g := range m.SoftmaxGroups() {
		if g.Label || !slices.Contains(q.Inputs[g.First:g.First+g.Units], rbm.FreeInput) {
			continue
		}
		for i := g.First; i < g.First+g.Units; i++ {
			if q.Inputs[i] == 0 && set.X.Get(int(r), i) {
				return true
			}
		}
	}
	return false
}

// keepPossible removes the rows that a constraint on all units makes impossible.
func (l *Law) keepPossible() {
	if !l.Model.Constraint.OnAll() {
		return
	}
	l.Base = nil // no ladder is for such a constraint
	kept := 0
	for r := range l.Data.Rows {
		if l.Model.ImpossibleRow(l.Data.Slice(r, r+1)) < 0 {
			copy(l.Data.Row(kept), l.Data.Row(r))
			l.Row[kept] = l.Row[r]
			kept++
		}
	}
	l.Data, l.Row = l.Data.Slice(0, kept), l.Row[:kept]
}

// nearest returns the nearRows rows that are nearest to the given inputs by the sum of squared differences,
// which for bits is the number that differ. Of rows at equal distances it takes the first.
func nearest(values rbm.Values, rows []int32, given []float32) []int32 {
	differ := make(map[int32]float64, len(rows))
	for _, r := range rows {
		sum := 0.0
		for i, x := range given {
			if x != rbm.FreeInput {
				d := float64(values.At(int(r), i)) - float64(x)
				sum += float64(d * d)
			}
		}
		differ[r] = sum
	}
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(differ[a], differ[b]) })
	return rows[:min(len(rows), nearRows)]
}

// Fill overwrites dst, one value for each input of the whole model, with the given
// inputs and the values of the free ones, in order. It panics if there are too few.
func (l Law) Fill(dst, free []float32) {
	next := 0
	for i := range dst {
		if l.Inputs != nil && l.Inputs[i] != rbm.FreeInput {
			dst[i] = l.Inputs[i]
			continue
		}
		dst[i] = free[next]
		next++
	}
}

// String names the query for messages: "class 3, 392 of 784 inputs given".
func (q Query) String() string {
	text := ""
	if q.Class != rbm.Free {
		text = fmt.Sprintf("class %d", q.Class)
	}
	if q.Inputs != nil {
		given := len(q.Inputs)
		for _, x := range q.Inputs {
			if x == rbm.FreeInput {
				given--
			}
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d of %d inputs given", given, len(q.Inputs))
	}
	return text
}
