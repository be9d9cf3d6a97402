package sample

import (
	"gorbm/data"
	"gorbm/rbm"
)

// Gaps has rows of visible units with missing cells. Each row is a Markov chain with the stationary
// distribution p(missing cells | known cells). If a single cell is missing, and it is not a real unit,
// each move is an independent draw. A softmax label is a cell too. It is missing in rows without a
// class. The model must have no constraint. NewGaps computes the nodes of real cells from the
// parameters of the model at that time.
type Gaps struct {
	V       rbm.Values // states: bits, or real values if the model has real units
	Missing rbm.Values // bits that are on for the units of missing cells

	cells  []Cell   // the inputs, then a softmax label
	label  int      // index of the label in cells; −1: there is none
	at     []cellAt // scratch of Move: the missing cells of rows that have only one
	states *rbm.States
	copies rbm.Values // scratch of logProbs
	free   []float64  // scratch of logProbs: free energies of copies
}

// A cellAt is a cell of a row.
type cellAt struct{ Row, Cell int }

// NewGaps returns Gaps for the given number of rows of m, with all cells known.
func NewGaps(m *rbm.RBM, rows int) *Gaps {
	g := &Gaps{V: m.NewVisible(rows), Missing: rbm.NewBits(rows, m.Visible()), cells: Cells(m), label: -1}
	if label, ok := m.Label(); ok && label.Joint() {
		g.label = len(g.cells)
		g.cells = append(g.cells, Cell{First: label.First, Units: label.Units})
	}
	return g
}

// Set copies the given rows of set into V and Missing. Missing cells get their values in set.X. A missing softmax
// label gets the first class; a missing Bernoulli label has all its units off.
func (g *Gaps) Set(set *data.Set, rows []int32, classes int) {
	if set.Y == nil {
		set.Inputs(g.V, rows)
	} else {
		set.Visible(g.V, rows, classes)
	}
	for r, row := range rows {
		clear(g.Missing.Row(r))
		if set.Missing.Rows > 0 {
			copy(g.Missing.Row(r), set.Missing.Row(int(row)))
		}
		if g.label >= 0 && classes > 0 && (set.Y == nil || set.Y[row] == data.NoClass) {
			g.cells[g.label].put(g.V, r, 0, 0)
			g.mark(r, g.label, true)
		}
	}
}

// gaps returns the number of missing cells of row r, and the index of the last of them.
func (g *Gaps) gaps(r int) (n, last int) {
	for i := range g.cells {
		if g.Missing.Get(r, g.cells[i].First) {
			n, last = n+1, i
		}
	}
	return n, last
}

// Move makes one step of each row: it draws h given the row, and then the missing cells given h. It draws a single
// missing cell exactly given the other cells. Draws depend only on key, the row and the unit.
func (g *Gaps) Move(m *rbm.RBM, key rbm.Key) {
	g.at = g.at[:0]
	several := false
	for r := range g.V.Rows {
		switch n, cell := g.gaps(r); {
		case n == 1 && !g.cells[cell].real():
			g.at = append(g.at, cellAt{r, cell})
		case n > 0:
			several = true
		}
	}
	if several {
		if g.states == nil {
			g.states = rbm.NewStates(m, g.V.Rows)
		}
		gibbs(m, g.states, g.V, g.Missing, key)
	}
	exact := key.Child(2)
	g.logProbs(m, g.at, func(i int, logp []float64) {
		u, level := exact.Uniform(uint64(g.at[i].Row)), 0
		for ; level+1 < len(logp); level++ {
			if u -= rbm.Exp(logp[level]); u < 0 {
				break
			}
		}
		g.cells[g.at[i].Cell].put(g.V, g.at[i].Row, level, 0)
	})
}

// gibbs draws h given each row of v, and then the missing units given h. It overwrites s, which has the same
// number of rows as v.
func gibbs(m *rbm.RBM, s *rbm.States, v, missing rbm.Values, key rbm.Key) {
	m.HiddenMean(s.Mean, v)
	m.HiddenSample(s.H, rbm.Batch{V: v, H: s.Mean}, key.Child(0))
	m.Step(s, nil, 1, key.Child(1))
	for r := range v.Rows {
		v.Merge(r, s.V, r, missing.Row(r))
	}
}

// copyRows is the number of rows whose free energies are computed at a time.
const copyRows = 1024

// logProbs calls do for each cell at[i] with log p of its levels given the current values of all other cells of its
// row. The slice is valid until do returns.
func (g *Gaps) logProbs(m *rbm.RBM, at []cellAt, do func(i int, logp []float64)) {
	for lo := 0; lo < len(at); {
		hi, rows := lo, 0
		for hi < len(at) && (hi == lo || rows+g.cells[at[hi].Cell].Levels() <= copyRows) {
			rows += g.cells[at[hi].Cell].Levels()
			hi++
		}
		if g.copies.Rows < rows {
			g.copies, g.free = m.NewVisible(max(rows, copyRows)), make([]float64, max(rows, copyRows))
		}
		next := 0
		for _, a := range at[lo:hi] {
			c := &g.cells[a.Cell]
			at := c.value(g.V, a.Row)
			for level := range c.Levels() {
				g.copies.CopyRow(next, g.V, a.Row)
				c.put(g.copies, next, level, at)
				next++
			}
		}
		m.FreeEnergy(g.free[:rows], g.copies.Slice(0, rows))
		next = 0
		for i := lo; i < hi; i++ {
			logp := g.free[next : next+g.cells[at[i].Cell].Levels()]
			next += len(logp)
			for k := range logp {
				logp[k] = -logp[k]
			}
			z := rbm.LogSumExp(logp)
			for k := range logp {
				logp[k] -= z
			}
			do(i, logp)
		}
		lo = hi
	}
}
