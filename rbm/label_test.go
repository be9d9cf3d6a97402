package rbm

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"gorbm/rbm/internal/vec"
)

// listedInputMean returns p(h=1|x) of the inputs of a row from the definition. It weighs every
// one-hot label with every hidden state that the constraint allows by exp(−E). The result is NaN if
// there is none.
func listedInputMean(m *RBM, x []float64) []float64 {
	var c Constraint
	if m.Constraint != nil {
		c = *m.Constraint
	}
	top, sum := math.Inf(-1), 0.0 // all weights are relative to e^top
	mean := make([]float64, m.Hidden())
	for y := range m.Classes() {
		v := append([]float64(nil), x[:m.Visible()]...)
		clear(v[m.Inputs():])
		v[m.Inputs()+y] = 1
		field, a := plainField(m, v)
		for h := range 1 << m.Hidden() {
			w, active := field, bits.OnesCount(uint(h))
			if c.On == AllUnits {
				for _, x := range v {
					active += int(x)
				}
			}
			for j := range a {
				if h>>j&1 == 1 {
					w += a[j]
				}
			}
			if c.On != "" && active != c.Active {
				continue
			}
			if w > top {
				for j := range mean {
					mean[j] *= math.Exp(top - w)
				}
				sum *= math.Exp(top - w)
				top = w
			}
			p := math.Exp(w - top)
			sum += p
			for j := range mean {
				mean[j] += p * float64(h>>j&1)
			}
		}
	}
	for j := range mean {
		mean[j] /= sum
	}
	return mean
}

// Hidden means given the inputs alone agree with the definition, for any label units in the row,
// for grey rows and under every kind of constraint.
func TestHiddenMeanGivenInputs(t *testing.T) {
	const hidden, classes, rows = 7, 3, 24
	none := Constraint{}
	for _, labels := range []Kind{Softmax, Bernoulli} {
		for _, c := range []Constraint{none, {On: HiddenUnits, Active: 2}, {On: AllUnits, Active: 5}} {
			m := shape{5 + classes, hidden, classes, labels}.random(11, 1.5)
			if c.On != "" {
				m.Constraint = &c
			}
			what := fmt.Sprintf("%v labels, %v", labels, m.Constraint)
			v := NewBits(rows, m.Visible())
			v.Randomize(NewKey(4)) // arbitrary labels, which must not matter
			if c.On == AllUnits {
				for i := range m.Inputs() {
					v.Set(0, i, true) // with any label six units are on, one too many
				}
			}
			got, bare := NewMatrix(rows, hidden), NewMatrix(rows, hidden)
			m.HiddenMeanGivenInputs(got, v)
			for r := range rows {
				want := listedInputMean(m, row64(v, r))
				for j, x := range got.Row(r) {
					if x != x && math.IsNaN(want[j]) {
						continue
					}
					near(t, what, float64(x), want[j], 0x1p-24) // numbers below 1 are rounded to float32
				}
			}
			for y := -1; y < classes; y++ {
				for r := range rows {
					for k := range classes {
						v.Set(r, m.Inputs()+k, k == y)
					}
				}
				m.HiddenMeanGivenInputs(bare, v)
				sameBits(t, what+": the label leaks", bare, got)
			}
			if c.On == AllUnits {
				continue
			}
			m.HiddenMeanGivenInputs(bare, greyOf(v).Values())
			for i, x := range bare.Data { // the products are added in another order
				near(t, what+", grey bits", float64(x), float64(got.Data[i]), 0x1p-23)
			}
			grey := NewMatrix(rows, m.Visible())
			r := NewKey(8).Rand()
			for i := range grey.Data {
				grey.Data[i] = float32(r.IntN(5)) / 4
			}
			m.HiddenMeanGivenInputs(got, grey.Values())
			for r := range rows {
				x := make([]float64, m.Visible())
				for i, g := range grey.Row(r) {
					x[i] = float64(g)
				}
				for j, want := range listedInputMean(m, x) {
					near(t, what+", grey", float64(got.Row(r)[j]), want, 0x1p-24)
				}
				clear(grey.Row(r)[m.Inputs():])
			}
			m.HiddenMeanGivenInputs(bare, grey.Values())
			sameBits(t, what+": the label of grey rows leaks", bare, got)
		}
	}
}

func sameBits(t *testing.T, what string, got, want Matrix) {
	t.Helper()
	for i, x := range got.Data {
		if math.Float32bits(x) != math.Float32bits(want.Data[i]) {
			t.Fatalf("%s: place %d is %v, not %v", what, i, x, want.Data[i])
		}
	}
}

// For models of several blocks the result is the mixture of the means of clamped labels with the
// weights of ClassLogProb, for any size of the weights. Without labels it is HiddenMean. NaN is not
// hidden.
func TestHiddenMeanGivenInputsIsMixture(t *testing.T) {
	for _, sd := range []float64{0.05, 1, 150, 2000} { // beyond 700 products of odds are out of range
		m := shape{75, 90, 6, Bernoulli}.random(3, sd)
		const rows = 40
		v := randomRows(m, rows)
		logp := make([]float64, rows*m.Classes())
		m.ClassLogProb(logp, v)
		got := NewMatrix(rows, m.Hidden())
		m.HiddenMeanGivenInputs(got, v)
		for r := range rows {
			want := make([]float64, m.Hidden())
			x := row64(v, r)
			for y := range m.Classes() {
				clear(x[m.Inputs():])
				x[m.Inputs()+y] = 1
				_, a := plainField(m, x)
				for j := range want {
					want[j] += math.Exp(logp[r*m.Classes()+y]) / (1 + math.Exp(-a[j]))
				}
			}
			for j, x := range got.Row(r) {
				near(t, fmt.Sprintf("sd %v", sd), float64(x), want[j], 0x1p-23)
			}
		}
	}
	plain := shape{20, 9, 0, Softmax}.random(2, 1)
	v := randomRows(plain, 5)
	got, want := NewMatrix(5, 9), NewMatrix(5, 9)
	plain.HiddenMeanGivenInputs(got, v)
	plain.HiddenMean(want, v)
	sameBits(t, "without labels", got, want)
	plain.HiddenMeanGivenInputs(got, greyOf(v).Values())
	plain.HiddenMean(want, greyOf(v).Values())
	sameBits(t, "without labels, grey", got, want)

	m := shape{13, 9, 2, Softmax}.random(1, 1)
	m.panel(0)[12*vec.Block+3] = float32(math.NaN()) // a weight of the second label
	m.HiddenMeanGivenInputs(got, NewBits(5, 13))
	for i, x := range got.Data {
		if x == x {
			t.Fatalf("a weight of NaN makes place %d %v, want NaN", i, x)
		}
	}
	for name, f := range map[string]func(){
		"dst":      func() { m.HiddenMeanGivenInputs(NewMatrix(5, 8), NewBits(5, 13)) },
		"rows":     func() { m.HiddenMeanGivenInputs(NewMatrix(4, 9), NewBits(5, 13)) },
		"v":        func() { m.HiddenMeanGivenInputs(NewMatrix(5, 9), NewBits(5, 11)) },
		"grey dst": func() { m.HiddenMeanGivenInputs(NewMatrix(5, 8), NewMatrix(5, 13).Values()) },
		"grey v":   func() { m.HiddenMeanGivenInputs(NewMatrix(5, 9), NewMatrix(5, 11).Values()) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of another shape: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestClassLogProb(t *testing.T) {
	for _, kind := range []Kind{Softmax, Bernoulli} {
		for _, sd := range []float64{0.5, 30} {
			m := shape{6, 4, 3, kind}.random(9, sd)
			rows := [][]int{{0, 1, 1, 0, 0, 1}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}}
			got := make([]float64, len(rows)*3)
			m.ClassLogProb(got, bitsOf(rows))
			for r, row := range rows {
				f := make([]float64, 3)
				for y := range f {
					full := append([]int{}, row...)
					clear(full[m.Inputs():])
					full[m.Inputs()+y] = 1
					m.FreeEnergy(f[y:y+1], bitsOf([][]int{full}))
					f[y] = -f[y]
				}
				z := LogSumExp(f)
				for y := range f {
					near(t, "log p(y|x)", got[3*r+y], f[y]-z, 1e-12*math.Max(1, math.Abs(z)))
				}
			}
		}
	}
}

// p(y|x) agrees with free energies, at weights within and beyond the range of products of odds.
func TestClassLogProbAtAllSizes(t *testing.T) {
	for _, sd := range []float64{0.01, 1, 100, 150, 2000} {
		m := shape{70, 90, 7, Softmax}.random(6, sd)
		wild := 0.0
		for y := range 7 {
			for j := range 90 {
				wild = max(wild, math.Abs(float64(m.Weight(63+y, j))))
			}
		}
		if (sd == 2000) != (wild > 700) {
			t.Fatalf("sd %v: largest weight %v", sd, wild)
		}
		v := randomRows(m, 20)
		got := make([]float64, 20*7)
		m.ClassLogProb(got, v)
		for r := range 20 {
			x := row64(v, r)
			f := make([]float64, 7)
			size := 0.0
			for y := range f {
				clear(x[63:])
				x[63+y] = 1
				f[y] = -plainFreeEnergy(m, x)
				size = max(size, math.Abs(f[y]))
			}
			z := LogSumExp(f)
			for y := range f {
				near(t, fmt.Sprintf("sd %v: log p(y|x)", sd), got[7*r+y], f[y]-z, 2*rowTolerance(m, size))
			}
		}
	}
}

// A weight of a label may exceed preactivations that are below the range of odds.
func TestClassLogProbBelowOdds(t *testing.T) {
	m := New(3, 1, 2, Softmax)
	m.HiddenBias[0] = -720
	m.panel(0)[1*vec.Block] = 690 // a weight of the first label
	got := make([]float64, 2)
	m.ClassLogProb(got, NewBits(1, 3))
	// 1+e^−30 is rounded to 1; about ten roundings of numbers near log 2
	near(t, "log p", got[0], -math.Ln2+math.Exp(-30)/2, 10*0x1p-53)
	near(t, "log p", got[1], -math.Ln2-math.Exp(-30)/2, 10*0x1p-53)
}
