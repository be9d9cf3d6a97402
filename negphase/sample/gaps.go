package sample

import (
	"context"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/units"
)

// Gaps has rows of visible units with missing cells. A softmax label is a cell too. It is missing in rows without a
// class. The model must have no constraint.
type Gaps struct {
	V       rbm.Values // states: bits, or real values if the model has real units
	Missing rbm.Values // bits that are on for the units of missing cells

	cells  []Cell // the inputs, then a softmax label
	label  int    // index of the label in cells; −1: there is none
	states *rbm.States

	single []cellAt   // scratch of Move: the missing cells of rows that have only one
	copies rbm.Values // scratch of redraw
	free   []float64  // free energies of copies
	means  rbm.Matrix // hidden means of copies
}

// A cellAt is a cell of a row.
type cellAt struct{ row, cell int }

// NewGaps returns Gaps for the given number of rows of m, with all cells known.
func NewGaps(m *rbm.RBM, rows int) *Gaps {
	g := &Gaps{V: m.NewVisible(rows), Missing: rbm.NewBits(rows, m.Visible()), cells: Cells(m), label: -1}
	if label, ok := m.Label(); ok && label.Joint() {
		g.label = len(g.cells) - 1
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
			g.cells[g.label].put(g.V, r, 0)
			g.mark(r, g.label, true)
		}
	}
}

// mark marks a cell of row r as missing or as known.
func (g *Gaps) mark(r, cell int, missing bool) {
	c := g.cells[cell]
	for k := range c.Units {
		g.Missing.Set(r, c.First+k, missing)
	}
}

// isMissing reports whether a cell of row r is missing.
func (g *Gaps) isMissing(r, cell int) bool { return g.Missing.Get(r, g.cells[cell].First) }

// count returns the number of missing cells of row r, and the index of the last of them.
func (g *Gaps) count(r int) (n, last int) {
	for i := range g.cells {
		if g.isMissing(r, i) {
			n, last = n+1, i
		}
	}
	return n, last
}

// missing returns the missing cells of row r.
func (g *Gaps) missing(r int) (cells []int) {
	for i := range g.cells {
		if g.isMissing(r, i) {
			cells = append(cells, i)
		}
	}
	return cells
}

// listed returns the result of the function listed for the missing cells of row r.
func (g *Gaps) listed(m *rbm.RBM, r int) (states int, hidden bool) {
	visible := 1
	for _, i := range g.missing(r) {
		visible = min(visible*g.cells[i].Levels(), listedStates+1)
	}
	return listed(m, visible)
}

// Listed reports whether sums over the missing cells of row r are exact.
func (g *Gaps) Listed(m *rbm.RBM, r int) bool {
	states, _ := g.listed(m, r)
	return states > 0
}

// SumRows returns roughly the number of rows whose free energies take as long to compute as that of row r given its
// known cells.
func (g *Gaps) SumRows(m *rbm.RBM, r int) int {
	const given = 10 // the conditional model
	states, hidden := g.listed(m, r)
	switch {
	case g.missing(r) == nil:
		return 0
	case states == 0: // a Gibbs step takes about as long as a free energy
		return given + sumChains*sumSteps + chains*chainRounds[0]*chainSteps
	case hidden: // the rows of the list have as many terms as the conditional model has visible units
		units := 0
		g.Missing.Each(r, func(int) { units++ })
		return given + states*units/m.Hidden()
	}
	return given + states
}

// Move makes one step of each row, which is a Markov chain with the stationary distribution p(missing cells | known
// cells): it draws h given the row, and then the missing cells given h. If a single cell is missing, and it is not a real
// unit, each move is an independent draw from its distribution given the other cells. Draws depend only on key, the row
// and the unit.
func (g *Gaps) Move(m *rbm.RBM, key rbm.Key) {
	g.single = g.single[:0]
	several := false
	for r := range g.V.Rows {
		switch n, cell := g.count(r); {
		case n == 1 && !g.cells[cell].real():
			g.single = append(g.single, cellAt{r, cell})
		case n > 0:
			several = true
		}
	}
	if several {
		if g.states == nil {
			g.states = rbm.NewStates(m, g.V.Rows)
		}
		g.states.V.CopyFrom(g.V)
		m.StepVisible(g.states, key)
		for r := range g.V.Rows {
			g.V.Merge(r, g.states.V, r, g.Missing.Row(r))
		}
	}
	g.redraw(m, key.Child(2))
}

// copyRows is the number of rows whose free energies redraw computes at a time, if no cell has more levels.
const copyRows = 1024

// redraw draws the single missing cells given the other cells of their rows. It lists the levels of a cell as copies of
// its row, with free energies of the precision of float32.
func (g *Gaps) redraw(m *rbm.RBM, key rbm.Key) {
	for lo := 0; lo < len(g.single); {
		hi, rows := lo, 0
		for ; hi < len(g.single); hi++ {
			n := g.cells[g.single[hi].cell].Levels()
			if hi > lo && rows+n > copyRows {
				break
			}
			rows += n
		}
		if g.copies.Rows < rows {
			n := max(rows, copyRows)
			g.copies, g.free, g.means = m.NewVisible(n), make([]float64, n), rbm.NewMatrix(n, m.Hidden())
		}
		next := 0
		for _, a := range g.single[lo:hi] {
			for level := range g.cells[a.cell].Levels() {
				g.copies.CopyRow(next, g.V, a.row)
				g.cells[a.cell].put(g.copies, next, level)
				next++
			}
		}
		m.HiddenMeanFree(g.means.Slice(0, rows), g.free[:rows], g.copies.Slice(0, rows))
		next = 0
		for _, a := range g.single[lo:hi] {
			logw := g.free[next : next+g.cells[a.cell].Levels()]
			next += len(logw)
			for k := range logw {
				logw[k] = -logw[k]
			}
			g.cells[a.cell].put(g.V, a.row, pickLog(logw, rbm.LogSumExp(logw), key.Uniform(uint64(a.row))))
		}
		lo = hi
	}
}

// pickLog returns the state at which the cumulative probability exceeds u. The states have the logarithms logw of their
// weights, whose sum is exp(all).
func pickLog(logw []float64, all, u float64) (state int) {
	for ; state+1 < len(logw); state++ {
		if u -= rbm.Exp(logw[state] - all); u < 0 {
			break
		}
	}
	return state
}

// given returns the conditional model of the missing cells of row r given its known cells. bias is the sum of
// −U over the known units, where U is the energy of a unit without hidden units. log Σ exp(−F) over the states
// of the missing cells is log Z of the conditional model plus bias.
func (g *Gaps) given(m *rbm.RBM, r int) (c *rbm.RBM, bias float64, err error) {
	inputs, class := make([]float32, m.Inputs()), rbm.Free
	for i := range m.Visible() {
		x := g.V.At(r, i)
		switch {
		case i >= m.Inputs():
			if g.Missing.Get(r, i) {
				x = 0
			} else if x != 0 {
				class = i - m.Inputs()
			}
		case g.Missing.Get(r, i):
			inputs[i], x = rbm.FreeInput, 0
		default:
			inputs[i] = x
		}
		bias += float64(float64(x) * float64(m.VisibleBias[i]))
	}
	for _, group := range m.Groups() {
		kind, ok := group.Kind.(units.RealKind)
		for i := group.First; ok && i < group.First+group.Units; i++ {
			if !g.Missing.Get(r, i) {
				bias -= kind.Rest([]float32{g.V.At(r, i)}, &units.Distribution{Params: m.VisibleParams()}, i)
			}
		}
	}
	c, err = m.Given(inputs, class)
	return c, bias, err
}

// logSum returns log Σ exp(−F) over the states of the missing cells of row r, of which there is at least one, and its
// standard error. For real units the sum is an integral.
func (g *Gaps) logSum(ctx context.Context, m *rbm.RBM, r int, key rbm.Key) (sum, stdErr float64, err error) {
	c, bias, err := g.given(m, r)
	if err != nil {
		return 0, 0, err
	}
	sum, stdErr, err = LogSum(ctx, c, key)
	return sum + bias, stdErr, err
}

// FreeEnergy overwrites dst with the free energy of each row given its known cells: −log Σ exp(−F), summed over the
// states of the missing cells (see LogSum). It overwrites stdErr with the standard errors, in nats, which are 0 if the
// sum is exact. Bernoulli labels keep their values in V. The estimate for a row depends only on key and the row. The
// error is the context's, or wraps rbm.ErrDiverged.
func (g *Gaps) FreeEnergy(ctx context.Context, m *rbm.RBM, dst, stdErr []float64, key rbm.Key) error {
	m.FreeEnergy(dst, g.V)
	clear(stdErr)
	for r := range dst {
		if g.missing(r) == nil {
			continue
		}
		sum, se, err := g.logSum(ctx, m, r, key.Child(uint64(r)))
		if err != nil {
			return err
		}
		dst[r], stdErr[r] = -sum, se
	}
	return ctx.Err()
}

// ClassLogProb overwrites logp, rows × classes, with log p(y | known inputs) of each class y, in nats. It
// overwrites stdErr with the largest standard error among a row's classes of probability rareLevel or more, 0 if all are exact.
func (g *Gaps) ClassLogProb(ctx context.Context, m *rbm.RBM, logp, stdErr []float64, key rbm.Key) error {
	classes := m.Classes()
	if m.LabelKind() != rbm.Softmax { // p(y | x) is that of the same weights with one class on
		m = softmaxLabel(m)
	}
	for r := range g.V.Rows {
		at := NewGaps(m, 1)
		at.V.CopyRow(0, g.V, r)
		at.Missing.CopyRow(0, g.Missing, r)
		at.mark(0, at.label, true)
		_, p, err := at.Posterior(ctx, m, 0, key.Child(uint64(r)))
		if err != nil {
			return err
		}
		last := len(p.LogP) - 1
		copy(logp[r*classes:], p.LogP[last])
		stdErr[r] = p.logErr(last)
	}
	return ctx.Err()
}

// softmaxLabel returns m with a softmax label in place of its Bernoulli label.
func softmaxLabel(m *rbm.RBM) *rbm.RBM {
	groups := append([]rbm.Group(nil), m.Groups()...)
	groups[len(groups)-1].Kind = rbm.Softmax
	n := rbm.NewGroups(m.Hidden(), groups...)
	n.Set(m)
	return n
}

// Posterior returns the distribution of the missing cells of row r, of which there is at least one, and their indices
// among the cells of the model; a softmax label is the last cell.
func (g *Gaps) Posterior(ctx context.Context, m *rbm.RBM, r int, key rbm.Key) (cells []int, p *Posterior, err error) {
	c, _, err := g.given(m, r)
	if err != nil {
		return nil, nil, err
	}
	p, err = NewPosterior(ctx, c, key)
	return g.missing(r), p, err
}

// cellLogProbs overwrites logp with the log-probability of each known input of row r given the other known cells; of
// a real unit it is the logarithm of the density. Missing cells get NaN. It returns the largest standard error. By
// definition log p(x|y) = log Σ exp(−F(x,y,·)) − log Σ exp(−F(·,y,·)), with sums over all that is not known.
func (g *Gaps) cellLogProbs(ctx context.Context, m *rbm.RBM, r int, logp []float64, key rbm.Key) (stdErr float64, err error) {
	free, se := []float64{0}, []float64{0}
	row := Gaps{V: g.V.Slice(r, r+1), Missing: g.Missing.Slice(r, r+1), cells: g.cells}
	if err := row.FreeEnergy(ctx, m, free, se, key); err != nil {
		return 0, err
	}
	for i := range logp {
		if g.isMissing(r, i) {
			logp[i] = math.NaN()
			continue
		}
		g.mark(r, i, true)
		sum, e, err := g.logSum(ctx, m, r, key.Child(uint64(1+i)))
		g.mark(r, i, false)
		if err != nil {
			return 0, err
		}
		logp[i] = -free[0] - sum
		stdErr = max(stdErr, math.Hypot(e, se[0]))
	}
	return stdErr, nil
}

// GapDoubt returns a warning that the numbers of some rows with missing cells are estimates. what are these numbers,
// and worst is the largest of their standard errors.
func GapDoubt(what string, estimated, rows int, worst float64, unit string) string {
	return fmt.Sprintf("%d of %d rows have too many missing cells to enumerate: their %s are estimates, with standard errors of up to %.2g%s", estimated, rows, what, worst, unit)
}

// EachPosterior calls do with the distribution of the missing cells of each row of set that has some. cells are
// the indices of these cells; a missing softmax label is the cell after the inputs. Results for a row depend on key,
// the model and the row's number alone. The error is that of do, of ctx, or wraps rbm.ErrDiverged.
func EachPosterior(ctx context.Context, m *rbm.RBM, set *data.Set, key rbm.Key, do func(row int, cells []int, p *Posterior) error) error {
	g := NewGaps(m, 1)
	for row := range set.Len() {
		if g.Set(set, []int32{int32(row)}, m.Classes()); g.missing(0) == nil {
			continue
		}
		cells, p, err := g.Posterior(ctx, m, 0, key.Child(uint64(row)))
		if err == nil {
			err = do(row, cells, p)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// EachCellLogProb calls do with the log-probability of each known input of each row of set given the other known cells
// of the row; of a real unit it is the logarithm of the density. Missing cells have NaN. stdErr is the largest standard error of a row, and 0 if
// all are exact. The error is that of ctx, or wraps rbm.ErrDiverged.
func EachCellLogProb(ctx context.Context, m *rbm.RBM, set *data.Set, key rbm.Key, do func(row int, logp []float64, stdErr float64)) error {
	g := NewGaps(m, 1)
	logp := make([]float64, len(g.cells))
	if g.label >= 0 {
		logp = logp[:g.label]
	}
	for row := range set.Len() {
		g.Set(set, []int32{int32(row)}, m.Classes())
		stdErr, err := g.cellLogProbs(ctx, m, 0, logp, key.Child(uint64(row)))
		if err != nil {
			return err
		}
		do(row, logp, stdErr)
	}
	return ctx.Err()
}
