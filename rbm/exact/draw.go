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
	return checkListed(m, DrawLimit)
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
	s, err := newReal(m, DrawLimit)
	if err != nil {
		return err
	}
	e := newEnumeration(s)
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
	below, q := 0.0, s.walks[0]
	for b, log := range e.logs {
		block := vec.Exp(log - logZ)
		last := b == len(e.logs)-1
		if len(order) == 0 || !last && at[order[0]] >= below+block {
			below += block
			continue
		}
		sum := below
		for q.start(b); q.next(); {
			sum += vec.Exp(q.logWeight() - logZ)
			end := last && q.number == uint64(s.count()-1) // gets all remaining rows: rounding may end the sum below 1
			for len(order) > 0 && (at[order[0]] < sum || end) {
				row := h.Row(order[0])
				clear(row)
				row[0] = q.active
				order = order[1:]
			}
		}
		// Rounding may leave the sum over the states of a block below the sum of the block.
		for below += block; len(order) > 0 && at[order[0]] < below; order = order[1:] {
			copy(h.Row(order[0]), []uint64{q.active})
		}
	}
	x := rbm.NewStates(m, h.Rows)
	x.H.CopyFrom(h)
	m.Step(x, nil, 1, key.Child(1))
	v.CopyFrom(x.V)
	h.CopyFrom(x.H)
	return nil
}

// checkListed returns an error if m has more hidden states than limit.
func checkListed(m *rbm.RBM, limit int) error {
	if most := bits.Len(uint(limit)) - 1; m.Hidden() > most {
		return fmt.Errorf("%w: the hidden layer is listed, and it has 2^%d states, the limit is 2^%d; use a model of at most %d hidden units",
			ErrTooLarge, m.Hidden(), most, most)
	}
	return nil
}
