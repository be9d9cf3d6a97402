package sample

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"gorbm/data"
	"gorbm/rbm"
)

// A Query says which visible units of a model are given (clamped). The others are sampled.
type Query struct {
	Inputs []float32 // for each input its value (0 or 1 for bits), or rbm.FreeInput; nil: all free
	Class  int       // the class of the label, or rbm.Free
}

// A Target is the distribution that chains sample: that of the free units of a model, conditional on the
// units that a query gives.
type Target struct {
	Query
	Model *rbm.RBM // the conditional model of the free units: inputs, then the label if it is free
	// Base returns the distribution at β = 0 of tempered paths, which its first call computes. nil stands
	// for the uniform distribution.
	Base func() *rbm.Base
	// Data has states of Model from which chains may start. They are the rows of a data set that have the
	// query's class; if the query gives inputs, only the rows nearest to those. Data is empty if there is
	// no data set.
	Data rbm.Values
	Row  []int32 // number of each row of Data in the data set
}

// nearRows is the largest number of rows in Target.Data if inputs are given. It is larger than the number
// of chains.
const nearRows = 200

// Target returns the distribution of the other units of m given those that q gives. If q gives part of a
// softmax group, rbm.RBM.FillGroups adds the units that follow from it. Target computes Base and Data from
// set, which may be nil. The classes of set must be those of m. Rows without a class are used only if m has
// no label. The error is that of rbm.RBM.Given. Target panics like Given, and if set has another number of
// inputs than m.
func (q Query) Target(m *rbm.RBM, set *data.Set) (Target, error) {
	g, err := m.Given(q.Inputs, q.Class)
	if err != nil {
		return Target{}, err
	}
	if q.Inputs, err = m.FillGroups(q.Inputs); err != nil {
		return Target{}, err
	}
	t := Target{Query: q, Model: g, Data: g.NewVisible(0)}
	if set == nil || set.Y == nil && m.Classes() > 0 {
		return t, nil
	}
	if set.X.Cols != m.Inputs() {
		panic("sample: data of another width than the model")
	}
	var rows []int32
	for r := range set.Len() {
		switch {
		case g.Classes() > 0 && set.Y[r] == data.NoClass: // a free label needs the label of the row as its start
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
	t.Data, t.Row = g.NewVisible(len(rows)), rows
	var free []int // inputs that are not given
	for i := range m.Inputs() {
		if q.Inputs == nil || q.Inputs[i] == rbm.FreeInput {
			free = append(free, i)
		}
	}
	for to, from := range rows {
		if q.Inputs == nil {
			set.Inputs(t.Data.Slice(to, to+1), rows[to:to+1])
		} else {
			for unit, i := range free {
				t.Data.Put(to, unit, values.At(int(from), i))
			}
		}
		if g.Classes() > 0 {
			t.Data.Set(to, len(free)+int(set.Y[from]), true)
		}
	}
	if len(rows) == 0 {
		return t, nil
	}
	states := t.Data
	t.Base = sync.OnceValue(func() *rbm.Base {
		mean := make([]float32, g.Visible())
		for r := range rows {
			states.Nonzero(r, func(unit int, x float32) { mean[unit] += x })
		}
		for i := range mean {
			mean[i] /= float32(len(rows))
		}
		return rbm.NewBase(g, mean, float64(len(rows)))
	})
	t.keepPossible()
	return t, nil
}

// excludes reports whether row r of set contradicts q in a softmax group with free units: the row has a
// state that q gives as 0.
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

// keepPossible removes the rows of Data that a constraint on all units makes impossible.
func (t *Target) keepPossible() {
	if !t.Model.Constraint.OnAll() {
		return
	}
	t.Base = nil // path=data is not available for such a constraint
	kept := 0
	for r := range t.Data.Rows {
		if t.Model.ImpossibleRow(t.Data.Slice(r, r+1)) < 0 {
			copy(t.Data.Row(kept), t.Data.Row(r))
			t.Row[kept] = t.Row[r]
			kept++
		}
	}
	t.Data, t.Row = t.Data.Slice(0, kept), t.Row[:kept]
}

// nearest returns the nearRows rows that are nearest to the given inputs by the sum of squared differences.
// Rows at equal distances keep their order.
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

// Fill overwrites dst, one value for each input of the original model, with the given inputs and with free,
// the values of the free inputs. It panics if free is too short.
func (t Target) Fill(dst, free []float32) {
	next := 0
	for i := range dst {
		if t.Inputs != nil && t.Inputs[i] != rbm.FreeInput {
			dst[i] = t.Inputs[i]
			continue
		}
		dst[i] = free[next]
		next++
	}
}

// String describes the query in messages: "class 3, 392 of 784 inputs given".
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
