package train

import (
	"fmt"

	"gorbm/data"
	"gorbm/rbm"
)

// Allows checks that each row of set has a positive probability under the constraint of m. The error names
// the first row of probability zero, or says why the constraint does not fit m or set.
func Allows(m *rbm.RBM, set *data.Set) error {
	if err := m.Constraint.Check(m); err != nil {
		return err
	}
	if !m.Constraint.OnAll() {
		return nil
	}
	if set.Grey.Rows > 0 {
		return fmt.Errorf("the constraint %v counts units that are on, but inputs of %s are grey; make them binary, as by threshold, or constrain the hidden units", m.Constraint, set.Name)
	}
	bad, on := -1, 0
	eachVisible(m, set, func(first int, v rbm.Values) {
		if r := m.ImpossibleRow(v); r >= 0 && bad < 0 {
			bad, on = first+r, v.Slice(r, r+1).Count()
		}
	})
	if bad < 0 {
		return nil
	}
	least, most := m.Visible(), 0
	eachVisible(m, set, func(_ int, v rbm.Values) {
		for r := range v.Rows {
			n := v.Slice(r, r+1).Count()
			least, most = min(least, n), max(most, n)
		}
	})
	remedy := fmt.Sprintf("all=%d to all=%d allow every row", most, least+m.Hidden())
	switch {
	case m.Classes() > 0 && set.Y == nil: // label units count too, and their states are unknown
		remedy = "take another number, or more hidden units"
	case most-least > m.Hidden():
		remedy = fmt.Sprintf("as rows have %d to %d such units, it takes %d hidden units or more", least, most, most-least)
	}
	return fmt.Errorf("row %d of %s has probability zero under the constraint %v: %d of its units are on, and the %d hidden units cannot make up the number; %s",
		bad, set.Name, m.Constraint, on, m.Hidden(), remedy)
}

// eachVisible calls f with successive blocks of rows of set, as states of the visible units of m. first is
// the number of the block's first row. Label units are off if set has no labels.
func eachVisible(m *rbm.RBM, set *data.Set, f func(first int, v rbm.Values)) {
	const rows = 256 // of a block
	for lo := 0; lo < set.Len(); lo += rows {
		block := data.RowNumbers(lo, min(lo+rows, set.Len()))
		v := rbm.NewBits(len(block), m.Visible())
		if set.Y != nil || m.Classes() == 0 {
			set.Visible(v, block, m.Classes())
		} else {
			set.Inputs(v, block)
		}
		f(lo, v)
	}
}
