package rbm

import (
	"fmt"
	"math"
	"testing"

	"gorbm/rbm/internal/vec"

	"gorbm/rbm/parallel"
)

// plainField returns bᵀv and c + vᵀW of one row of values, from the definition.
func plainField(m *RBM, v []float64) (field float64, a []float64) {
	a = make([]float64, m.Hidden())
	for j, c := range m.HiddenBias {
		a[j] = float64(c)
	}
	for i, x := range v {
		field += x * float64(m.VisibleBias[i])
		for j := range a {
			a[j] += x * float64(m.Weight(i, j))
		}
	}
	return field, a
}

func plainSoftplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func plainFreeEnergy(m *RBM, v []float64) float64 {
	field, a := plainField(m, v)
	f := -field
	for _, x := range a {
		f -= plainSoftplus(x)
	}
	return f
}

// rowTolerance bounds the rounding of a free energy of m in float64. A preactivation has n+1 terms
// and the sum m+2; none exceeds size.
func rowTolerance(m *RBM, size float64) float64 {
	return float64(m.Visible()+m.Hidden()+3) * 0x1p-52 * math.Max(1, size)
}

// randomRows returns rows of m, with a label if m has one.
func randomRows(m *RBM, rows int) Values {
	v := NewBits(rows, m.Visible())
	p := NewMatrix(rows, m.Visible())
	for i := range p.Data {
		p.Data[i] = 0.3
	}
	DrawBits(v, p, NewKey(9))
	for r := range rows {
		for y := range m.Classes() {
			v.Set(r, m.Inputs()+y, y == r%m.Classes())
		}
	}
	return v
}

func row64(v Values, r int) []float64 {
	x := make([]float64, v.Cols)
	v.Each(r, func(i int) { x[i] = 1 })
	return x
}

// Evaluations of rows agree with the definition. A single row has bit-identical results, although
// it uses other kernels than many rows.
func TestEvaluatedRows(t *testing.T) {
	for _, s := range []shape{{130, 200, 10, Softmax}, {64, 8, 3, Bernoulli}, {201, 63, 2, Softmax}} {
		for _, sd := range []float64{0.1, 3} {
			m := s.random(4, sd)
			const rows = 4*maxBlockRows + 5
			v := randomRows(m, rows)
			h := NewBits(rows, m.Hidden())
			h.Randomize(NewKey(2))
			free, energy, pseudo := make([]float64, rows), make([]float64, rows), make([]float64, rows)
			logp := make([]float64, rows*m.Classes())
			m.FreeEnergy(free, v)
			m.Energy(energy, v, h)
			m.ClassLogProb(logp, v)
			m.PseudoLogLikelihood(pseudo, v)
			for r := 0; r < rows; r += 19 {
				x := row64(v, r)
				want := plainFreeEnergy(m, x)
				tol := rowTolerance(m, math.Abs(want))
				near(t, "free energy", free[r], want, tol)
				if free[r]+1e-4 == free[r] || math.Abs(free[r]-(want+1e-4)) <= tol { // must fail
					t.Errorf("the tolerance %v hides 10⁻⁴ nats", tol)
				}
				field, a := plainField(m, x)
				e := -field
				h.Each(r, func(j int) { e -= a[j] })
				near(t, "energy", energy[r], e, rowTolerance(m, math.Abs(want)+math.Abs(e)))

				one := make([]float64, m.Classes()+2)
				m.FreeEnergy(one[:1], v.Slice(r, r+1))
				m.PseudoLogLikelihood(one[1:2], v.Slice(r, r+1))
				m.ClassLogProb(one[2:], v.Slice(r, r+1))
				for i, got := range append([]float64{free[r], pseudo[r]}, logp[r*m.Classes():(r+1)*m.Classes()]...) {
					if got != one[i] {
						t.Errorf("row %d, figure %d: %v among others, %v alone", r, i, got, one[i])
					}
				}
			}
		}
	}
}

// A NaN among the parameters makes the results NaN.
func TestNaNIsSeen(t *testing.T) {
	for _, spoil := range []func(m *RBM){
		func(m *RBM) { m.HiddenBias[3] = float32(math.NaN()) },
		func(m *RBM) { m.panel(0)[3] = float32(math.NaN()) },
		func(m *RBM) { m.panel(0)[12*vec.Block+3] = float32(math.NaN()) }, // a weight of the label
	} {
		m := shape{13, 20, 2, Softmax}.random(1, 1)
		spoil(m)
		v := NewBits(1, 13)
		v.Set(0, 0, true)
		v.Set(0, 12, true)
		out := make([]float64, 4)
		m.FreeEnergy(out[:1], v)
		m.PseudoLogLikelihood(out[1:2], v)
		m.ClassLogProb(out[2:4], v)
		for i, x := range out[:4] {
			if x == x && i != 2 { // the first label may have a finite result
				t.Errorf("figure %d is %v", i, x)
			}
		}
	}
}

func TestEvaluationAllocatesNothing(t *testing.T) {
	if parallel.Raced() {
		t.Skip("under the race detector a sync.Pool forgets at random")
	}
	m := shape{130, 200, 10, Softmax}.random(4, 0.3)
	const rows = 40
	v, h := randomRows(m, rows), NewBits(rows, 200)
	grey, mean := greyOf(v), NewMatrix(rows, 200)
	dst := make([]float64, rows*10)
	moments := NewMoments(m)
	for name, f := range map[string]func(){
		"FreeEnergy":          func() { m.FreeEnergy(dst[:rows], v) },
		"Energy":              func() { m.Energy(dst[:rows], v, h) },
		"ClassLogProb":        func() { m.ClassLogProb(dst, v) },
		"PseudoLogLikelihood": func() { m.PseudoLogLikelihood(dst[:rows], v) },
		"FreeEnergyGrey":      func() { m.FreeEnergy(dst[:rows], grey.Values()) },
		"ClassLogProbGrey":    func() { m.ClassLogProb(dst, grey.Values()) },
		"HiddenMeanGrey":      func() { m.HiddenMean(mean, grey.Values()) },
		"means given inputs":  func() { m.HiddenMeanGivenInputs(mean, v) },
		"Moments.Set":         func() { moments.Set(Batch{V: v, H: mean}) },
	} {
		f()
		if n := testing.AllocsPerRun(50, f); n != 0 {
			t.Errorf("%s allocates %v times, want 0", name, n)
		}
	}
}

// A digest of all evaluations is the same at every level of the kernels and for any number of
// processors.
func TestEvaluationAtAllLevels(t *testing.T) {
	want := map[shape]*trace{}
	forLevelsAndProcessors(func(name string) {
		for _, s := range []shape{{130, 200, 10, Softmax}, {64, 8, 3, Bernoulli}, {20, 9, 0, Softmax}, {7, 70, 3, Softmax}} {
			m := s.random(4, 0.7)
			const rows = 150
			v := randomRows(m, rows)
			h, grey, mean := NewBits(rows, m.Hidden()), NewMatrix(rows, m.Visible()), NewMatrix(rows, m.Hidden())
			h.Randomize(NewKey(2))
			r := NewKey(3).Rand()
			for i := range grey.Data {
				grey.Data[i] = float32(r.IntN(4)) / 3
			}
			out := [][]float64{make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows),
				make([]float64, rows*m.Classes()), make([]float64, rows*m.Classes())}
			m.FreeEnergy(out[0], v)
			m.Energy(out[1], v, h)
			m.PseudoLogLikelihood(out[2], v)
			m.FreeEnergy(out[3], grey.Values())
			if m.Classes() > 0 {
				m.ClassLogProb(out[4], v)
				m.ClassLogProb(out[5], grey.Values())
			}
			m.HiddenMean(mean, grey.Values())
			moments := NewMoments(m)
			moments.Set(Batch{V: v, H: mean})
			set := NewMoments(m)
			set.Set(Batch{V: grey.Values(), H: mean})
			new(Ascent).Step(m, 0.1, 1, Phase{Batch: Batch{V: grey.Values(), H: mean}}, Phase{Moments: moments})
			given, givenGrey := NewMatrix(rows, m.Hidden()), NewMatrix(rows, m.Hidden())
			m.HiddenMeanGivenInputs(given, v)
			m.HiddenMeanGivenInputs(givenGrey, grey.Values())
			got := &trace{}
			for i, x := range out {
				got.add(fmt.Sprintf("evaluation %d", i), x)
			}
			got.add("hidden means", mean.Data)
			got.add("hidden means given the inputs", given.Data)
			got.add("hidden means given grey inputs", givenGrey.Data)
			got.add("moments", moments.VH.Data)
			got.add("moments of grey rows", set.VH.Data)
			got.addModel(m)
			if want[s] == nil {
				want[s] = got
			}
			if why := got.difference(want[s]); why != "" {
				t.Errorf("%v, %s: %s, want nothing", s, name, why)
			}
		}
	})
}
