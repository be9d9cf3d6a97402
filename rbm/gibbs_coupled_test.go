package rbm

import (
	"slices"
	"testing"

	"gorbm/negphase/diag"
)

// coupledRows is more than a chunk, so that rows keep their numbers across them.
const coupledRows = chunkRows + 9

// Alone, both members of a pair are what Step makes of them: x to the bit, and
// so y where there is no softmax label, whose draws are not those of Step.
func TestStepCoupledIsStep(t *testing.T) {
	forEach(t, append([]shape{{70, 66, 3, Softmax}}, small...), func(t *testing.T, shape shape) {
		m := shape.random(3, 0.8)
		start := func(rows int, seed uint64) *States {
			s := NewStates(m, rows)
			s.H.Randomize(NewKey(seed))
			return s
		}
		for _, rowsY := range []int{coupledRows, 7, 0} {
			x, y := start(coupledRows, 1), start(rowsY, 2)
			m.StepCoupled(x, y, NewKey(5))
			for _, c := range []struct {
				name string
				got  *States
				seed uint64
			}{{"x", x, 1}, {"y", y, 2}} {
				want := start(c.got.H.Rows, c.seed)
				m.Step(want, nil, 1, NewKey(5))
				if c.name == "y" && m.softmaxLabel() {
					for r := range want.V.Rows {
						for i := range m.Inputs() {
							if want.V.Get(r, i) != c.got.V.Get(r, i) {
								t.Fatalf("y: input %d of row %d is not that of Step", i, r)
							}
						}
					}
					continue
				}
				if !slices.Equal(c.got.V.Words, want.V.Words) || !slices.Equal(c.got.H.Words, want.H.Words) ||
					!slices.Equal(c.got.Mean.Data, want.Mean.Data) || !slices.Equal(c.got.Energy, want.Energy) {
					t.Errorf("%s has other bits than Step", c.name)
				}
			}
		}
	})
}

// Rows of y are Gibbs chains: from an exact start a coupled step leaves their
// law as it is, softmax labels included, whatever the law of x.
func TestStepCoupledIsStationary(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const rows = 40000
	forEach(t, small, func(t *testing.T, shape shape) {
		m := shape.random(17, 1.5)
		all := states(m)
		p, _ := law(all, 1)
		x, y := NewStates(m, rows), NewStates(m, rows)
		x.H.Randomize(NewKey(4))
		startExactly(y, all, p, NewKey(1))
		for n := range uint64(3) {
			m.StepCoupled(x, y, NewKey(2).Child(n))
		}
		counts := countStates(y, all)
		if counts == nil {
			t.Fatal("a state outside the model")
		}
		if z := diag.StationarityZ(counts, p); z > 6 {
			t.Errorf("z = %.1f", z)
		}
	})
}

// Coupled rows meet, which independent ones of these sizes hardly do, and have
// the same bits ever after.
func TestStepCoupledRowsMeetAndStay(t *testing.T) {
	for _, shape := range []shape{{70, 40, 0, Softmax}, {70, 40, 3, Softmax}, {70, 40, 3, Bernoulli}} {
		m := shape.random(3, 0.05)
		x, y := NewStates(m, coupledRows), NewStates(m, coupledRows)
		x.H.Randomize(NewKey(1))
		y.H.Randomize(NewKey(2))
		met := 0
		for n := range uint64(30) {
			was := make([]bool, coupledRows)
			for r := range was {
				was[r] = slices.Equal(x.H.Row(r), y.H.Row(r))
			}
			m.StepCoupled(x, y, NewKey(3).Child(n))
			met = 0
			for r := range was {
				same := slices.Equal(x.V.Row(r), y.V.Row(r)) && slices.Equal(x.H.Row(r), y.H.Row(r)) && x.Energy[r] == y.Energy[r]
				if same {
					met++
				}
				if was[r] && !same {
					t.Fatalf("%v: row %d had met and parts", shape, r)
				}
			}
		}
		if met != coupledRows {
			t.Errorf("%v: %d of %d rows have met", shape, met, coupledRows)
		}
	}
}

func TestStepCoupledPanics(t *testing.T) {
	m := New(3, 2, 0, Softmax)
	x := NewStates(m, 2)
	for name, call := range map[string]func(){
		"too many rows":  func() { m.StepCoupled(x, NewStates(m, 3), Key{}) },
		"the same":       func() { m.StepCoupled(x, x, Key{}) },
		"another model":  func() { New(4, 2, 0, Softmax).StepCoupled(x, NewStates(m, 2), Key{}) },
		"another second": func() { m.StepCoupled(x, NewStates(New(4, 2, 0, Softmax), 2), Key{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
