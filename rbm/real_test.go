package rbm

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm/parallel"
)

// gaussianModel has two Gaussian and two hidden units. Its log Z and moments were computed with
// SciPy.
func gaussianModel() *RBM {
	m := NewGroups(2, Group{Kind: Gaussian, Units: 2})
	m.VisibleBias = append(m.VisibleBias[:0], 0.3, -0.2)
	m.HiddenBias = append(m.HiddenBias[:0], -0.1, 0.4)
	m.SetWeights(Matrix{2, 2, []float32{0.5, -1, 0.25, 0.75}})
	copy(m.VisibleParams()[0], []float32{2, 0.5})
	return m
}

const gaussianLogZ = 3.783298430669

// quadrature returns ∫∫ f over the square of ±40 by the trapezium rule, which is exact to rounding
// for functions that decrease like a Gaussian.
func quadrature(m *RBM, f func(v []float32, free float64)) (step float64) {
	const n = 400
	step = 80.0 / n
	for i := range n + 1 {
		rows := NewMatrix(n+1, 2)
		for j := range n + 1 {
			rows.Row(j)[0], rows.Row(j)[1] = float32(-40+step*float64(i)), float32(-40+step*float64(j))
		}
		free := make([]float64, n+1)
		m.FreeEnergy(free, rows.Values())
		for j, x := range free {
			f(rows.Row(j), x)
		}
	}
	return step * step
}

func TestGaussianFreeEnergy(t *testing.T) {
	m := gaussianModel()
	free := make([]float64, 1)
	m.FreeEnergy(free, Matrix{1, 2, []float32{0.4, -1.1}}.Values())
	near(t, "F", free[0], -0.850387092790, 1e-7) // parameters and values are float32
	z, v0, v1, s0, s1 := 0.0, 0.0, 0.0, 0.0, 0.0
	area := quadrature(m, func(v []float32, free float64) {
		w := math.Exp(-free)
		x, y := float64(v[0]), float64(v[1])
		z, v0, v1, s0, s1 = z+w, v0+w*x, v1+w*y, s0+w*x*x, s1+w*y*y
	})
	near(t, "log Z by quadrature", math.Log(z*area), gaussianLogZ, 1e-6)
	for i, want := range []float64{-0.067426846506, 0.904421382128, 0.571414573414, 3.366590164119} {
		near(t, "moment by quadrature", []float64{v0, v1, s0, s1}[i]/z, want, 1e-6)
	}
	c := m.Clone()
	c.FreeEnergy(free, Matrix{1, 2, []float32{0.4, -1.1}}.Values())
	near(t, "F of a clone", free[0], -0.850387092790, 1e-7)
	if !c.Equal(m) || c.CheckFinite() != nil {
		t.Errorf("a clone is not equal, or %v", c.CheckFinite())
	}
	if c.VisibleParams()[0][1] = float32(math.NaN()); c.Equal(m) || c.CheckFinite() == nil || c.CheckFinite().Error() != "diverged: visible_precision[1] is NaN" {
		t.Errorf("a precision of NaN gives %v", c.CheckFinite())
	}
}

func TestGaussianSteps(t *testing.T) {
	m := gaussianModel()
	const rows = 40000
	s := NewStates(m, rows)
	m.Step(s, nil, 30, NewKey(1))
	for i, want := range [][2]float64{{-0.067426846506, 0.571414573414}, {0.904421382128, 3.366590164119}} {
		for power := 1; power <= 2; power++ {
			sum, squares := 0.0, 0.0
			for r := range rows {
				x := math.Pow(float64(s.V.Matrix().Row(r)[i]), float64(power))
				sum, squares = sum+x, squares+x*x
			}
			mean := sum / rows
			if z := (mean - want[power-1]) / math.Sqrt((squares/rows-mean*mean)/rows); math.Abs(z) > 6 {
				t.Errorf("⟨v%d^%d⟩ = %v, want %v: z = %.1f", i, power, mean, want[power-1], z)
			}
		}
	}
	energy := make([]float64, rows)
	m.Energy(energy, s.V, s.H)
	for r := range 50 {
		near(t, "energy", s.Energy[r], energy[r], 1e-5)
	}
	if n := testing.AllocsPerRun(5, func() { m.StepRows(s, 0, 100, nil, 1, NewKey(2)) }); n > 0 && !parallel.Raced() {
		t.Errorf("%v allocations, want 0", n)
	}
}

// AIS is right on the path from a base of other means and precisions. Weights without the
// precisions of the path are wrong.
func TestGaussianAnnealing(t *testing.T) {
	m := gaussianModel()
	b := &Base{VisibleBias: []float32{-0.1, 1}, HiddenBias: []float32{0, 0}, VisibleParams: [][]float32{{1.5, 0.4}}}
	want := 2*math.Ln2 + 0.01/3 + 1/0.8 + (math.Log(2*math.Pi/1.5)+math.Log(2*math.Pi/0.4))/2
	near(t, "log Z of the base", b.LogZ(m), want, 1e-7)
	const chains = 20000
	run := func(b *Base, path []float64) (z, mean float64) {
		v, h := NewValues(chains, 2, true), NewBits(chains, 2)
		b.Draw(m, v, h, NewKey(5))
		logw, err := annealed(m, b, path, v)
		if err != nil {
			t.Fatal(err)
		}
		sum, squares := 0.0, 0.0
		for _, x := range logw {
			w := math.Exp(x + want - gaussianLogZ)
			sum, squares = sum+w, squares+w*w
		}
		mean = sum / chains
		return (mean - 1) / math.Sqrt((squares/chains-mean*mean)/chains), mean
	}
	var path []float64
	for k := range 17 {
		path = append(path, float64(k)/16)
	}
	if z, mean := run(b, path); math.Abs(z) > 6 {
		t.Errorf("mean weight %v of Z: z = %.1f, want ±6 at most", mean, z)
	}
	wrong := *b
	wrong.VisibleParams = [][]float32{{1.5, 0.5}} // starts at another base than that of log Z
	if z, _ := run(&wrong, path); math.Abs(z) < 6 {
		t.Errorf("a base of another precision is not seen: z = %.1f, want ±6 at least", z)
	}
}

// Real units, bits and a softmax group share a layer and a block, and all states are real. Steps
// from exact draws, by the marginals of the Gaussian units, leave the means invariant.
func TestMixedLayer(t *testing.T) {
	m := NewGroups(2, Group{Kind: Bernoulli, Units: 2}, Group{Kind: Gaussian, Units: 1}, Group{Kind: Softmax, Units: 3}, Group{Kind: Bernoulli, Units: 1})
	m.Randomize(0.7, NewKey(2))
	m.VisibleParams()[0][2] = 1.5
	// p(h) ∝ e^(c·h) Π Z of each visible unit.
	want, total := make([]float64, 7), 0.0
	hidden, means := NewBits(4, 2), NewMatrix(4, 7)
	for h := range 4 {
		hidden.Set(h, 0, h&1 != 0)
		hidden.Set(h, 1, h&2 != 0)
	}
	m.VisibleMean(means, hidden)
	for h := range 4 {
		in := make([]float64, 7)
		logw := 0.0
		for i := range in {
			in[i] = float64(m.VisibleBias[i])
			for j := range 2 {
				in[i] += float64(h>>j&1) * float64(m.Weight(i, j))
			}
		}
		for j := range 2 {
			logw += float64(h>>j&1) * float64(m.HiddenBias[j])
		}
		mean := make([]float64, 7)
		for _, i := range []int{0, 1, 6} {
			logw += math.Log1p(math.Exp(in[i]))
			mean[i] = 1 / (1 + math.Exp(-in[i]))
		}
		logw += in[2]*in[2]/3 + math.Log(2*math.Pi/1.5)/2
		mean[2] = in[2] / 1.5
		z := LogSumExp(in[3:6])
		logw += z
		for i := 3; i < 6; i++ {
			mean[i] = math.Exp(in[i] - z)
		}
		for i, x := range means.Row(h) {
			near(t, "visible mean", float64(x), mean[i], 1e-6) // a few roundings of 2⁻²⁴
		}
		total += math.Exp(logw)
		for i := range want {
			want[i] += math.Exp(logw) * mean[i]
		}
	}
	const rows = 40000
	s := NewStates(m, rows)
	m.Step(s, nil, 30, NewKey(1))
	for i := range want {
		sum, squares := 0.0, 0.0
		for r := range rows {
			x := float64(s.V.Matrix().Row(r)[i])
			if i != 2 && x != 0 && x != 1 {
				t.Fatalf("unit %d is %v", i, x)
			}
			sum, squares = sum+x, squares+x*x
		}
		mean := sum / rows
		if z := (mean - want[i]/total) / math.Sqrt((squares/rows-mean*mean)/rows); math.Abs(z) > 6 {
			t.Errorf("mean %d is %v, want %v: z = %.1f", i, mean, want[i]/total, z)
		}
	}
}

// With a nil base the path begins at standard normal units. Draws, log Z, tempered steps and
// energies are those of the base with these parameters.
func TestNilBaseOfRealUnits(t *testing.T) {
	m := gaussianModel()
	b := &Base{VisibleBias: make([]float32, 2), HiddenBias: make([]float32, 2), VisibleParams: [][]float32{{1, 1}}}
	near(t, "log Z", (*Base)(nil).LogZ(m), 2*math.Ln2+math.Log(2*math.Pi), 1e-12)
	const rows = 200
	beta := make([]float32, rows)
	fill(beta, 0.5)
	step := func(b *Base) *States {
		s := NewStates(m, rows)
		s.Base = b
		b.Draw(m, s.V, s.H, NewKey(2))
		m.Step(s, beta, 3, NewKey(1))
		return s
	}
	want, got := step(b), step(nil)
	if !slices.Equal(want.V.Real, got.V.Real) || !slices.Equal(want.Energy, got.Energy) {
		t.Error("steps without a base are not those from standard normal units")
	}
	energy := make([]float64, rows)
	b.Energy(m, energy, want.V, want.H)
	for r, e := range energy {
		near(t, "energy of the base", want.BaseEnergy[r], e, 1e-12*(1+math.Abs(e)))
	}
}

// In a model given some units, some of them real, differences of F are those of the whole model.
func TestGivenRealUnits(t *testing.T) {
	m := NewGroups(3, Group{Kind: Gaussian, Units: 2}, Group{Kind: Softmax, Units: 3}, Group{Kind: Gaussian, Units: 1}, Group{Kind: Bernoulli, Units: 2})
	m.Randomize(1, NewKey(4))
	m.VisibleParams()[0][1], m.VisibleParams()[0][5] = 3, 0.5
	row := []float32{-1.5, 0.25, 0, 1, 0, 2, 1, 0}
	free := func(m *RBM, row []float32) float64 {
		v, f := m.NewVisible(1), make([]float64, 1)
		for i, x := range row {
			if v.IsReal() {
				v.Real[i] = x
			} else {
				v.Set(0, i, x == 1)
			}
		}
		m.FreeEnergy(f, v)
		return f[0]
	}
	other := []float32{0.5, -1, 1, 0, 0, -0.75, 0, 1}
	for _, given := range [][]int{{0}, {1, 5}, {0, 1, 5}, {0, 6}, {2, 3, 4, 0}} {
		inputs, from, to := make([]float32, 8), slices.Clone(row), slices.Clone(row)
		var left, right []float32
		for i := range inputs {
			if inputs[i] = row[i]; !slices.Contains(given, i) {
				inputs[i], to[i] = FreeInput, other[i]
				left, right = append(left, row[i]), append(right, other[i])
			}
		}
		c, err := m.Given(inputs, Free)
		if err != nil {
			t.Fatal(err)
		}
		// Each hidden bias, below 8 in absolute value, is rounded once to float32.
		near(t, "difference of F", free(c, right)-free(c, left), free(m, to)-free(m, from), 3*2*8*0x1p-24)
	}
}

// A model of real units refuses bits.
func TestRealUnitsRefuseBits(t *testing.T) {
	defer func() {
		if got := recover(); got != "rbm: bits where states are real values" {
			t.Errorf("panic %v, want %v", got, "rbm: bits where states are real values")
		}
	}()
	gaussianModel().HiddenMeanFree(NewMatrix(1, 2), make([]float64, 1), NewBits(1, 2))
}
