package exact

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"gorbm/rbm"
	"gorbm/rbm/internal/vec"
)

// DrawLimit is the largest number of hidden states of a model for Draw.
const DrawLimit = 1 << 25

// CheckDraws returns an error if Draw cannot draw from m.
func CheckDraws(m *rbm.RBM) error {
	if m.Constraint != nil {
		return fmt.Errorf("%w: the model has %v; exact draws need a model without a constraint", rbm.ErrConstraint, m.Constraint)
	}
	if err := m.CheckBinaryHidden(); err != nil {
		return fmt.Errorf("exact draws list the hidden states: %w", err)
	}
	if p := newPlan(m, true); p.states > DrawLimit {
		return fmt.Errorf("%w: the hidden layer is listed, and it has 2^%d states, the limit is 2^%d; use a model of at most %[3]d hidden units",
			ErrTooLarge, m.Hidden(), bits.Len(uint(DrawLimit))-1)
	}
	return nil
}

// Draw overwrites the rows of v and h with independent exact draws from m. It lists all hidden states
// with the visible units summed out, draws a hidden state for each row, and makes one Gibbs step. There
// may be any number and kinds of visible units. The error is that of ctx or CheckDraws,
// or wraps rbm.ErrDiverged. Draw panics unless v and h have the same number of rows, and the widths of m's
// layers.
func Draw(ctx context.Context, m *rbm.RBM, v, h rbm.Values, key rbm.Key) error {
	if err := CheckDraws(m); err != nil {
		return err
	}
	e := newEnumeration(newPlan(m, true))
	logZ, err := e.LogZ(ctx, nil)
	if err != nil {
		return err
	}
	if x := logZ - logZ; x != 0 {
		return fmt.Errorf("%w: log Z is %v", rbm.ErrDiverged, logZ)
	}
	at := make([]float64, h.Rows) // row r gets the first state at which the cumulative probability exceeds at[r]
	order := make([]int, h.Rows)
	for r := range order {
		order[r], at[r] = r, key.Child(0).Uniform(uint64(r))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	below, w := 0.0, e.walks[0]
	for b, log := range e.logs {
		block := vec.Exp(log - logZ)
		last := b == len(e.logs)-1
		if len(order) == 0 || !last && at[order[0]] >= below+block {
			below += block
			continue
		}
		sum, state := below, uint64(0)
		w.ref = logZ
		e.visitBlock(w, b, func() {
			p := w.add()
			for _, s := range w.grayOrder() {
				state = w.hiddenState() | uint64(s)
				sum += p[s]
				for ; len(order) > 0 && at[order[0]] < sum; order = order[1:] {
					setState(h.Row(order[0]), state)
				}
			}
		})
		// Rounding may leave the sum over the states of a block below the sum of the block, and that of all blocks
		// below 1.
		for below += block; len(order) > 0 && (at[order[0]] < below || last); order = order[1:] {
			setState(h.Row(order[0]), state)
		}
	}
	x := rbm.NewStates(m, h.Rows)
	x.H.CopyFrom(h)
	m.Step(x, nil, 1, key.Child(1))
	v.CopyFrom(x.V)
	h.CopyFrom(x.H)
	return nil
}

func setState(row []uint64, state uint64) {
	clear(row)
	row[0] = state
}

// grayOrder returns the states of the quad in Gray-code order.
func (w *walk) grayOrder() []int {
	order := [...]int{0, 1, 3, 2}
	states := order[:1<<w.within]
	if odd := bits.OnesCount64(w.low)%2 != 0; odd != w.backward {
		slices.Reverse(states)
	}
	return states
}

// hiddenState returns state 0 of the quad as a word, for at most 64 binary listed units.
func (w *walk) hiddenState() uint64 {
	state := uint64(0)
	w.eachOn(func(l int) { state |= 1 << l })
	return state
}
