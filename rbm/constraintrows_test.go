package rbm

import "testing"

// Rows that a constraint on all units makes impossible are those beside which
// no hidden state, and of rows without a label no class, meets it.
func TestImpossibleRow(t *testing.T) {
	const inputs, hidden = 4, 2
	seen := map[bool]int{}
	for _, kind := range []shape{{inputs, hidden, 0, Softmax}, {inputs + 3, hidden, 3, Softmax}, {inputs + 3, hidden, 3, Bernoulli}} {
		m := kind.random(1, 1)
		units := m.Visible() + hidden
		r := NewKey(7).Rand()
		for trial := range 40 {
			c := &Constraint{On: AllUnits, Active: 1 + r.IntN(units-1)}
			if trial%2 == 1 {
				c.Reference = make([]uint8, units)
				for i := range c.Reference {
					c.Reference[i] = uint8(r.IntN(2))
				}
			}
			m.Constraint = c
			distance := func(v int) (d int) { // of visible states from the reference
				for i := range m.Visible() {
					if (v>>i&1 == 1) != (c.Reference != nil && c.Reference[i] == 1) {
						d++
					}
				}
				return d
			}
			fits := func(v int) bool { d := distance(v); return d <= c.Active && d+hidden >= c.Active }
			for x := range 1 << inputs {
				for y := -1; y < m.Classes(); y++ {
					v, want := x, fits(x)
					switch {
					case y >= 0:
						v |= 1 << (inputs + y)
						want = fits(v)
					case m.Classes() > 0:
						want = false
						for y := range m.Classes() {
							want = want || fits(x|1<<(inputs+y))
						}
					}
					row := NewBits(2, m.Visible())
					for i := range m.Visible() {
						row.Set(0, i, v>>i&1 == 1)
						row.Set(1, i, v>>i&1 == 1)
					}
					seen[want]++
					if got := m.ImpossibleRow(row); got != map[bool]int{true: -1, false: 0}[want] {
						t.Errorf("%v, %v, reference %v: row %b: got %d, possible is %v", kind, c, c.Reference, v, got, want)
					}
				}
			}
		}
	}
	if seen[true] < 100 || seen[false] < 100 {
		t.Errorf("%v rows of each sort: nothing is tested", seen)
	}
}
