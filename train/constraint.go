package train

import (
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/rbm"
)

// Allows returns an error that names the first row of set to which the
// constraint of m gives probability zero, or says why it cannot be kept with
// such data.
func Allows(m *rbm.RBM, set *data.Set) error {
	if err := m.Constraint.Check(m); err != nil {
		return err
	}
	if m.Constraint == nil || m.Constraint.On == rbm.HiddenUnits {
		return nil
	}
	if set.Grey.Rows > 0 {
		return fmt.Errorf("the constraint %v counts units that are on, but inputs of %s are grey; make them binary, as by threshold, or constrain the hidden units", m.Constraint, set.Name)
	}
	const rows = 256 // at once
	for lo := 0; lo < set.Len(); lo += rows {
		some := make([]int32, min(rows, set.Len()-lo))
		for i := range some {
			some[i] = int32(lo + i)
		}
		v := rbm.NewBits(len(some), m.Visible())
		if set.Y != nil || m.Classes == 0 {
			set.Visible(v, some, m.Classes)
		} else {
			for i, r := range some { // label units stay off
				copy(v.Row(i), set.X.Row(int(r)))
			}
		}
		if r := m.ImpossibleRow(v); r >= 0 {
			return fmt.Errorf("row %d of %s has probability zero under the constraint %v: %d of its units are on, and the %d hidden units cannot make up the number; take another number, or more hidden units",
				lo+r, set.Name, m.Constraint, v.Slice(r, r+1).Count(), m.Hidden())
		}
	}
	return nil
}

// pairsOffered is the number of pairs that a shellStep offers each state: their
// fields are summed anew each time, so that this keeps a sheet of a hundred
// samples of 784 inputs to about a second.
const pairsOffered = 16

// sampleShell is sample under a constraint on all units.
func sampleShell(m *rbm.RBM, set *data.Set, y, rows int, key rbm.Key) rbm.Matrix {
	b := rbm.Batch{V: rbm.NewBits(rows, m.Visible()), H: rbm.NewMatrix(rows, m.Hidden())}
	h := rbm.NewBits(rows, m.Hidden())
	if from := rowsOf(set, y); len(from) > 0 {
		pick := make([]int32, rows)
		for r := range pick {
			pick[r] = from[int(key.Child(sampleRows).Uniform(uint64(r))*float64(len(from)))]
		}
		set.Visible(b.V, pick, 0)
		m.HiddenSample(h, b, key.Child(sampleStart))
	} else {
		(*rbm.Base)(nil).Draw(m, b.V, h, key.Child(sampleStart))
	}
	for step := range sampleSteps {
		shellStep(m, b, h, key.Child(uint64(step)))
	}
	mean := rbm.NewMatrix(rows, m.Visible())
	m.VisibleMean(mean, h)
	return mean
}

// shellStep takes states of m, a model without softmax labels under a constraint
// on all units, through one step that leaves the model's law unchanged: the
// hidden units are drawn given the visible ones and how many are active; then
// exchanges pairs of an active unit and one that is not, wherever they are, are
// offered to the Metropolis rule (Kawasaki's moves), which alone reach all
// states. Both batches are changed.
func shellStep(m *rbm.RBM, b rbm.Batch, h rbm.Bits, key rbm.Key) {
	m.HiddenSample(h, b, key.Child(0))
	n := m.Visible() + m.Hidden()
	for r := range b.V.Rows {
		draw := key.Child(uint64(1 + r)).Rand()
		for range pairsOffered {
			i, j := draw.IntN(n), draw.IntN(n)
			u := draw.Float64()
			if active(m, b.V, h, r, i) == active(m, b.V, h, r, j) {
				continue
			}
			if u < rbm.Exp(math.Min(0, -exchangeCost(m, b.V, h, r, i, j))) {
				for _, unit := range []int{i, j} {
					rows := b.V
					if unit >= m.Visible() {
						rows, unit = h, unit-m.Visible()
					}
					rows.Set(r, unit, !rows.Get(r, unit))
				}
			}
		}
	}
}

// exchangeCost returns by how much the energy of state r rises if units i and j
// flip.
func exchangeCost(m *rbm.RBM, v, h rbm.Bits, r, i, j int) float64 {
	cost, sign := 0.0, [2]float64{}
	for k, unit := range []int{i, j} {
		field, on := 0.0, false
		if unit < m.Visible() {
			field, on = float64(m.VisibleBias[unit]), v.Get(r, unit)
			h.Each(r, func(j int) { field += float64(m.Weight(unit, j)) })
		} else {
			unit -= m.Visible()
			field, on = float64(m.HiddenBias[unit]), h.Get(r, unit)
			v.Each(r, func(i int) { field += float64(m.Weight(i, unit)) })
		}
		if sign[k] = 1; on {
			sign[k] = -1
		}
		cost -= float64(sign[k] * field)
	}
	if lo, hi := min(i, j), max(i, j)-m.Visible(); lo < m.Visible() && hi >= 0 {
		cost -= float64(sign[0] * sign[1] * float64(m.Weight(lo, hi))) // they meet
	}
	return cost
}

// active reports whether unit i of row r differs from the reference.
func active(m *rbm.RBM, v, h rbm.Bits, r, i int) bool {
	on := false
	if i < m.Visible() {
		on = v.Get(r, i)
	} else {
		on = h.Get(r, i-m.Visible())
	}
	return on != (m.Constraint.Reference != nil && m.Constraint.Reference[i] == 1)
}
