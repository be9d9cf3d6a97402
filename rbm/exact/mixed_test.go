package exact

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// mixedModel has a Gaussian unit, a softmax group of three states, a bit and two hidden units. Its
// parameters are float32.
func mixedModel() *rbm.RBM {
	m := rbm.NewGroups(2, rbm.Group{Kind: rbm.Gaussian, Units: 1}, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 1})
	copy(m.VisibleBias, []float32{0.3, 0.5, -0.25, 0.125, -0.75})
	copy(m.HiddenBias, []float32{-0.5, 0.4})
	m.SetWeights(rbm.Matrix{Rows: 5, Cols: 2, Data: []float32{1.5, -1, 0.5, 1.25, -0.75, 0.25, 0.5, -1.5, 1, -0.5}})
	m.VisibleParams()[0][0] = 2.5
	return m
}

// mixedStates is the number of states of the discrete visible units of mixedModel: three times two.
const mixedStates = 6

// negEnergy returns −E of mixedModel from the definition, for value x of the Gaussian unit, state s
// of the other visible units and hidden state h.
func negEnergy(m *rbm.RBM, x float64, s, h int) float64 {
	v := [5]float64{x}
	v[1+s%3] = 1
	v[4] = float64(s / 3)
	sum := -x * x / 2 * float64(m.VisibleParams()[0][0])
	for i, v := range v {
		sum += v * float64(m.VisibleBias[i])
		for j := range 2 {
			sum += v * float64(h>>j&1) * float64(m.Weight(i, j))
		}
	}
	for j := range 2 {
		sum += float64(h>>j&1) * float64(m.HiddenBias[j])
	}
	return sum
}

// integral returns ∫ f by the trapezium rule, which is exact to rounding for mixtures of Gaussians
// with the standard deviation of the model, 0.63.
func integral(f func(x float64) float64) float64 {
	const step = 1.0 / 8
	sum := 0.0
	for k := -120; k <= 120; k++ {
		sum += f(step*float64(k)) * step
	}
	return sum
}

// weight returns Σ_h exp(−E).
func weight(m *rbm.RBM, x float64, s int) (w float64) {
	for h := range 4 {
		w += math.Exp(negEnergy(m, x, s, h))
	}
	return w
}

// mixedRow returns a row of mixedModel.
func mixedRow(x float32, s int) rbm.Values {
	row := rbm.NewMatrix(1, 5)
	row.Data[0], row.Data[1+s%3], row.Data[4] = x, 1, float32(s/3)
	return row.Values()
}

// Log Z, F, hidden means, moments and pseudo-likelihood of every state agree with enumeration and
// quadrature of the energy.
func TestMixedExactValues(t *testing.T) {
	m := mixedModel()
	z := 0.0
	for s := range mixedStates {
		z += integral(func(x float64) float64 { return weight(m, x, s) })
	}
	logZ, err := LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	rbmtest.Near(t, "log Z", logZ, math.Log(z), 1e-10)
	for _, x := range []float32{-1.25, 0, 0.5, 3, -30} {
		for s := range mixedStates {
			row := mixedRow(x, s)
			w, free := weight(m, float64(x), s), make([]float64, 1)
			m.FreeEnergy(free, row)
			if x != -30 {
				rbmtest.Near(t, "F", free[0], -math.Log(w), 1e-10)
				mean := rbm.NewMatrix(1, 2)
				m.HiddenMean(mean, row)
				for j := range 2 {
					on := 0.0
					for h := range 4 {
						on += float64(h>>j&1) * math.Exp(negEnergy(m, float64(x), s, h))
					}
					rbmtest.Near(t, "hidden mean", float64(mean.Data[j]), on/w, 1e-6) // stored as float32
				}
			}
			// The terms of the pseudo-likelihood: the real unit, the softmax group and the bit,
			// each given the others.
			logs := func(x float64, s int) float64 {
				var e []float64
				for h := range 4 {
					e = append(e, negEnergy(m, x, s, h))
				}
				return rbm.LogSumExp(e)
			}
			own := logs(float64(x), s)
			want := own - math.Log(integral(func(x float64) float64 { return math.Exp(logs(x, s)) }))
			var group []float64
			for k := range 3 {
				group = append(group, logs(float64(x), s/3*3+k))
			}
			want += own - rbm.LogSumExp(group)
			want += own - rbm.LogSumExp([]float64{own, logs(float64(x), (s+3)%6)})
			pseudo := make([]float64, 1)
			m.PseudoLogLikelihood(pseudo, row)
			rbmtest.Near(t, fmt.Sprintf("pseudo-log-likelihood at %v, %d", x, s), pseudo[0], want, 1e-10*(1+math.Abs(want)))
		}
	}
	e, err := New(m, GradientLimit)
	if err != nil {
		t.Fatal(err)
	}
	got := rbm.NewMoments(m)
	e.Moments(got)
	for i := range 5 {
		mean, square, cross := 0.0, 0.0, [2]float64{}
		for s := range mixedStates {
			for h := range 4 {
				term := func(x float64) float64 { // value of unit i
					if i > 0 {
						return float64(mixedRow(0, s).Real[i])
					}
					return x
				}
				p := func(x float64) float64 { return math.Exp(negEnergy(m, x, s, h)) / z }
				first := integral(func(x float64) float64 { return term(x) * p(x) })
				mean += first
				square += integral(func(x float64) float64 { return term(x) * term(x) * p(x) })
				for j := range 2 {
					cross[j] += float64(h>>j&1) * first
				}
			}
		}
		rbmtest.Near(t, "⟨v⟩", float64(got.V[i]), mean, 1e-6) // stored as float32
		rbmtest.Near(t, "⟨v²⟩", float64(got.Squares[i]), square, 1e-6)
		for j, x := range cross {
			rbmtest.Near(t, "⟨vh⟩", float64(got.VH.Row(i)[j]), x, 1e-6)
		}
	}
}

// The gradient of the mean log-likelihood of rows, positive minus negative phase, agrees with
// finite differences.
func TestMixedGradient(t *testing.T) {
	m := mixedModel()
	v := m.NewVisible(3)
	for r, row := range []rbm.Values{mixedRow(0.75, 1), mixedRow(-0.5, 3), mixedRow(1.5, 5)} {
		v.CopyRow(r, row, 0)
	}
	h := rbm.NewMatrix(3, 2)
	m.HiddenMean(h, v)
	positive, negative := rbm.NewMoments(m), rbm.NewMoments(m)
	positive.Set(rbm.Batch{V: v, H: h})
	e, err := New(m, GradientLimit)
	if err != nil {
		t.Fatal(err)
	}
	e.Moments(negative)
	const step = 1.0 / 512 // exact in float32; the third derivative adds a relative error of about step²/6
	slope := func(move func(m *rbm.RBM, d float32)) float64 {
		sum := 0.0
		for _, d := range []float32{step, -step} {
			c := m.Clone()
			move(c, d)
			sum += float64(d) * likelihood(t, c, v) / (2 * step * step)
		}
		return sum
	}
	for i := range 5 {
		want := slope(func(m *rbm.RBM, d float32) { m.VisibleBias[i] += d })
		rbmtest.Near(t, fmt.Sprintf("slope of visible bias %d", i), float64(positive.V[i]-negative.V[i]), want, 1e-5)
		for j := range 2 {
			want := slope(func(m *rbm.RBM, d float32) {
				w := rbm.NewMatrix(5, 2)
				m.Weights(w)
				w.Row(i)[j] += d
				m.SetWeights(w)
			})
			rbmtest.Near(t, fmt.Sprintf("slope of weight %d, %d", i, j), float64(positive.VH.Row(i)[j]-negative.VH.Row(i)[j]), want, 1e-4)
		}
	}
	want := slope(func(m *rbm.RBM, d float32) { m.VisibleParams()[0][0] += d })
	rbmtest.Near(t, "slope of the precision", -float64(positive.Squares[0]-negative.Squares[0])/2, want, 1e-5)
	for j := range 2 {
		want := slope(func(m *rbm.RBM, d float32) { m.HiddenBias[j] += d })
		rbmtest.Near(t, "slope of a hidden bias", float64(positive.H[j]-negative.H[j]), want, 1e-5)
	}
}

// Steps from exact draws leave the distribution invariant: states of the discrete units by χ², and
// the real unit by its first two moments in each state. Steps of a model with another precision, or
// with three bits instead of the softmax group, do not.
func TestMixedStationarity(t *testing.T) {
	m := mixedModel()
	const rows = 40000
	start := rbm.NewStates(m, rows)
	if err := Draw(context.Background(), m, start.V, start.H, rbm.NewKey(3)); err != nil {
		t.Fatal(err)
	}
	z, p := 0.0, make([]float64, mixedStates)
	var want [2]float64 // E x and E x²
	for s := range p {
		p[s] = integral(func(x float64) float64 { return weight(m, x, s) })
		z += p[s]
		want[0] += integral(func(x float64) float64 { return x * weight(m, x, s) })
		want[1] += integral(func(x float64) float64 { return x * x * weight(m, x, s) })
	}
	for s := range p {
		p[s] /= z
	}
	off := func(m *rbm.RBM, beta []float32) (discrete, real float64) {
		x := rbm.NewStates(m, rows)
		x.H.CopyFrom(start.H)
		m.Step(x, beta, 3, rbm.NewKey(4))
		counts := make([]int, mixedStates)
		for power := range 2 {
			sum, squares := 0.0, 0.0
			for r := range rows {
				row := x.V.Matrix().Row(r)
				if power == 0 {
					if row[1]+row[2]+row[3] != 1 {
						return math.Inf(1), math.Inf(1)
					}
					counts[int(row[2]+2*row[3]+3*row[4])]++
				}
				y := math.Pow(float64(row[0]), float64(power+1))
				sum, squares = sum+y, squares+y*y
			}
			mean := sum / rows
			real = max(real, math.Abs(mean-want[power]/z)/math.Sqrt((squares/rows-mean*mean)/rows))
		}
		return diag.StationarityZ(counts, p), real
	}
	if discrete, real := off(m, nil); discrete > 6 || real > 6 {
		t.Errorf("z = %.1f of states, %.1f of the real unit", discrete, real)
	}
	other := m.Clone()
	other.VisibleParams()[0][0] = 2
	if _, real := off(other, nil); real < 6 {
		t.Errorf("another precision passes: z = %.1f, want at least 6", real)
	}
	bits := rbm.NewGroups(2, rbm.Group{Kind: rbm.Gaussian, Units: 1}, rbm.Group{Kind: rbm.Bernoulli, Units: 4})
	bits.Set(m)
	if discrete, _ := off(bits, nil); discrete < 6 {
		t.Errorf("three bits pass for a variable of three states: z = %.1f, want at least 6", discrete)
	}
	if discrete, real := off(m, make([]float32, rows)); max(discrete, real) < 6 {
		t.Errorf("steps at β = 0 pass: z = %.1f, %.1f", discrete, real)
	}
}
