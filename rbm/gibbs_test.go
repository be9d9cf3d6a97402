package rbm

import (
	"math"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm/parallel"
)

// startExactly draws the rows of s from the distribution p over all.
func startExactly(s *States, all []state, p []float64, key Key) {
	for r := range s.H.Rows {
		u := key.Uniform(uint64(r))
		k := 0
		for ; k < len(p)-1 && u >= p[k]; k++ {
			u -= p[k]
		}
		for j, h := range all[k].h {
			s.H.Set(r, j, h != 0)
		}
	}
}

// countStates counts how often each state of all occurs among the rows of s.
func countStates(s *States, all []state) []int {
	index := map[int]int{}
	for i, st := range all {
		index[key(append(append([]int{}, st.v...), st.h...))] = i
	}
	counts := make([]int, len(all))
	for r := range s.H.Rows {
		k := 0
		for i := range s.V.Cols {
			if s.V.Get(r, i) {
				k |= 1 << i
			}
		}
		for j := range s.H.Cols {
			if s.H.Get(r, j) {
				k |= 1 << (s.V.Cols + j)
			}
		}
		i, ok := index[k]
		if !ok {
			return nil // not a state of the model: two labels are on
		}
		counts[i]++
	}
	return counts
}

// A step leaves an exact start invariant at the β of each row. It does not if that β is wrong by a
// tenth.
func TestStepIsStationary(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const rows = 20000
	forEach(t, small, func(t *testing.T, shape shape) {
		m := shape.random(17, 1.5)
		all := states(m)
		for _, beta := range []float64{1, 0.4} {
			p, _ := probabilities(all, beta)
			run := func(actual float64) float64 {
				s := NewStates(m, rows)
				startExactly(s, all, p, NewKey(1))
				b := make([]float32, rows)
				for r := range b {
					b[r] = float32(actual)
				}
				m.Step(s, b, 3, NewKey(2))
				counts := countStates(s, all)
				if counts == nil {
					t.Fatal("a state outside the model")
				}
				for r := range 20 {
					want := make([]float64, rows)
					m.Energy(want, s.V, s.H)
					near(t, "energy", s.Energy[r], want[r], 1e-5)
				}
				return diag.StationarityZ(counts, p)
			}
			if z := run(beta); z > 6 {
				t.Errorf("β = %v: z = %.1f, want at most 6", beta, z)
			}
			if shape.visible+shape.hidden > 6 {
				if z := run(beta * 1.3); z < 6 {
					t.Errorf("β off by a third is not seen: z = %.1f, want at least 6", z)
				}
			}
		}
	})
}

// Mean is p(h|v) at β = 1 for any β of the row.
func TestStepMean(t *testing.T) {
	m := shape{20, 70, 3, Softmax}.random(4, 1)
	s := NewStates(m, 50)
	s.H.Randomize(NewKey(1))
	beta := make([]float32, 50)
	for r := range beta {
		beta[r] = 1 / float32(1+r%5)
	}
	m.Step(s, beta, 2, NewKey(5))
	want := NewMatrix(50, 70)
	m.HiddenMean(want, s.V)
	for i, x := range s.Mean.Data {
		if x != want.Data[i] {
			t.Fatalf("mean %d is %v, want %v", i, x, want.Data[i])
		}
	}
}

// Results are the same for any number of processors, and a row does not depend on later rows.
func TestStepDeterminism(t *testing.T) {
	m := shape{600, 250, 10, Softmax}.random(4, 0.3)
	run := func(rows, procs int) *States {
		defer parallel.SetProcessors(procs)()
		s := NewStates(m, rows)
		s.H.Randomize(NewKey(1))
		m.Step(s, nil, 3, NewKey(9))
		return s
	}
	want := run(70, 1)
	for _, procs := range []int{2, 4, 7} {
		got := run(70, procs)
		for i, w := range want.V.Words {
			if got.V.Words[i] != w {
				t.Fatalf("%d processors: other visible states, got %v, want %v", procs, got.V.Words[i], w)
			}
		}
		for i, e := range want.Energy {
			if math.Float64bits(e) != math.Float64bits(got.Energy[i]) {
				t.Fatalf("%d processors: other energies, got %v, want %v", procs, math.Float64bits(e), math.Float64bits(got.Energy[i]))
			}
		}
	}
	part := run(33, 2)
	for i, w := range part.H.Words {
		if want.H.Words[i] != w {
			t.Fatalf("rows depend on the rows after them: got %v, want %v", want.H.Words[i], w)
		}
	}
}

// Bits beyond the last unit cause a panic before a kernel uses them as offsets.
func TestStrayBitsPanic(t *testing.T) {
	m := shape{5, 3, 0, Softmax}.random(1, 1)
	stray := NewBits(2, 5)
	stray.Words[1] = 1 << 5
	wide := Values{Rows: 2, Cols: 5, Stride: 2, Words: make([]uint64, 4)}
	for name, f := range map[string]func(){
		"HiddenMean": func() { m.HiddenMean(NewMatrix(2, 3), stray) },
		"FreeEnergy": func() { m.FreeEnergy(make([]float64, 2), stray) },
		"Ascend": func() {
			new(Ascent).Step(m, 1, 1, Phase{Batch: Batch{V: stray, H: NewMatrix(2, 3)}}, Phase{Moments: NewMoments(m)})
		},
		"stride":      func() { m.HiddenMean(NewMatrix(2, 3), wide) },
		"VisibleMean": func() { h := NewBits(1, 3); h.Words[0] = 8; m.VisibleMean(NewMatrix(1, 5), h) },
		"Step":        func() { s := NewStates(m, 1); s.H.Words[0] = 8; m.Step(s, nil, 1, NewKey(1)) },
		"no states":   func() { m.Step(&States{V: NewBits(1, 5), H: NewBits(1, 3)}, nil, 1, NewKey(1)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	if parallel.Raced() {
		t.Skip("under the race detector a sync.Pool forgets at random")
	}
	m := shape{130, 200, 10, Softmax}.random(4, 0.3)
	s := NewStates(m, 70)
	key := NewKey(1)
	m.Step(s, nil, 1, key)
	if n := testing.AllocsPerRun(50, func() { m.Step(s, nil, 2, key) }); n != 0 {
		t.Errorf("%v allocations a step, want 0", n)
	}
	b := Batch{V: s.V, H: s.Mean}
	var a Ascent
	a.Step(m, 0, 1, Phase{Batch: b}, Phase{Batch: b})
	if n := testing.AllocsPerRun(50, func() { a.Step(m, 0.1, 1, Phase{Batch: b}, Phase{Batch: b}) }); n != 0 {
		t.Errorf("%v allocations an ascent, want 0", n)
	}
}
