package exact

import (
	"fmt"
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
	"gorbm/rbm/units"
)

// simpson returns log Z, the mean and the mean square of a real unit with input z, from the energies in the
// comments of the kinds. params has its parameters besides the field.
func simpson(kind rbm.Kind, z float64, params []float64) (logZ, mean, square float64) {
	theta, gamma := [2]float64{}, [2]float64{params[0], params[0]} // for x ≥ 0 and for x < 0
	if kind == units.DReLU {
		eta := params[2] / (1 + math.Abs(params[2]))
		gamma = [2]float64{params[0] / (1 + eta), params[0] / (1 - eta)}
		theta = [2]float64{params[1] / (1 + eta), -params[1] / (1 - eta)}
	}
	const n, reach = 4000, 20.0 // steps of 1/200; the parameters of the test leave less than e⁻¹⁰⁰ beyond
	var sums [3]float64         // by the composite Simpson rule on each side of zero
	for side, sign := range [...]float64{1, -1} {
		for k := range n + 1 {
			x := sign * reach * float64(k) / n
			weight := float64(2 + 2*(k%2))
			if k == 0 || k == n {
				weight = 1
			}
			weight *= math.Exp(x*(z+theta[side])-gamma[side]*x*x/2) * reach / n / 3
			sums[0], sums[1], sums[2] = sums[0]+weight, sums[1]+weight*x, sums[2]+weight*x*x
		}
		if kind == units.ReLU {
			break
		}
	}
	return math.Log(sums[0]), sums[1] / sums[0], sums[2] / sums[0]
}

// reference returns log Z and the moments of m from a list of the states of a layer.
func reference(m *rbm.RBM, hidden bool) (logZ float64, want *rbm.Moments) {
	listed, summed := groupsOf(m, hidden), groupsOf(m, !hidden)
	bias, fields, params := m.HiddenBias, m.VisibleBias, m.VisibleParams()
	weight := func(l, i int) float64 { return float64(m.Weight(i, l)) }
	if !hidden {
		bias, fields, params = fields, bias, m.HiddenParams()
		weight = func(l, i int) float64 { return float64(m.Weight(l, i)) }
	}
	sum := make(map[string][]float64) // sums over the states by name
	add := func(name string, n, i int, x float64) {
		if sum[name] == nil {
			sum[name] = make([]float64, n)
		}
		sum[name][i] += x
	}
	n, width := len(bias), len(fields)
	for state := range 1 << n {
		log, possible := 0.0, true
		for _, g := range listed {
			on := 0
			for i := g.First; i < g.First+g.Units; i++ {
				on += state >> i & 1
				log += float64(state>>i&1) * float64(bias[i])
			}
			possible = possible && (g.Kind.Support() != units.OneHot || on == 1)
		}
		if !possible {
			continue
		}
		mean, square := make([]float64, width), make([]float64, width)
		for _, g := range summed {
			group := 0.0
			for i := g.First; i < g.First+g.Units; i++ {
				z := float64(fields[i])
				for l := range n {
					z += float64(state>>l&1) * weight(l, i)
				}
				switch g.Kind.Support() {
				case units.Bits:
					log += math.Log1p(math.Exp(z))
					mean[i] = 1 / (1 + math.Exp(-z))
					square[i] = mean[i]
				case units.OneHot:
					mean[i] = math.Exp(z)
					group += mean[i]
				case units.Real:
					var values []float64
					for _, p := range params {
						values = append(values, float64(p[i]))
					}
					var x float64
					x, mean[i], square[i] = simpson(g.Kind, z, values)
					log += x
				}
			}
			if g.Kind.Support() == units.OneHot {
				log += math.Log(group)
				for i := g.First; i < g.First+g.Units; i++ {
					mean[i] /= group
					square[i] = mean[i]
				}
			}
		}
		p := math.Exp(log)
		add("Z", 1, 0, p)
		for i, x := range mean {
			add("summed", width, i, p*x)
			add("squares", width, i, p*square[i])
		}
		for l := range n {
			if state>>l&1 != 0 {
				add("listed", n, l, p)
				for i, x := range mean {
					add("cross", n*width, l*width+i, p*x)
				}
			}
		}
	}
	want = rbm.NewMoments(m)
	z := sum["Z"][0]
	v, h := want.H, want.V
	if !hidden {
		v, h = h, v
	}
	for l := range v {
		v[l] = float32(sum["listed"][l] / z)
		for i := range h {
			x := float32(sum["cross"][l*width+i] / z)
			if hidden {
				want.VH.Row(i)[l] = x
			} else {
				want.VH.Row(l)[i] = x
			}
		}
	}
	for i := range h {
		h[i] = float32(sum["summed"][i] / z)
		if want.Squares != nil {
			want.Squares[i] = float32(sum["squares"][i] / z)
		}
	}
	return math.Log(z), want
}

// Log Z and moments of all kinds of units, and of mixes of them, agree with quadrature in each state of a list.
func TestEveryKind(t *testing.T) {
	group := func(kind rbm.Kind, n int) rbm.Group { return rbm.Group{Kind: kind, Units: n} }
	mix := []rbm.Group{group(rbm.Bernoulli, 2), group(units.ReLU, 2), group(rbm.Gaussian, 2), group(rbm.Softmax, 3), group(units.DReLU, 1), group(rbm.Bernoulli, 1), group(rbm.Softmax, 2)}
	for _, c := range []struct {
		hidden  rbm.Group
		visible []rbm.Group
	}{
		{group(rbm.Bernoulli, 8), mix}, {group(rbm.Bernoulli, 1), mix},
		{group(rbm.Bernoulli, 6), []rbm.Group{group(units.ReLU, 3), group(rbm.Bernoulli, 2)}},
		{group(rbm.Bernoulli, 7), []rbm.Group{group(rbm.Gaussian, 5)}},
		{group(rbm.Bernoulli, 3), []rbm.Group{group(units.DReLU, 2), {Kind: rbm.Softmax, Units: 3, Label: true}}},
		{group(rbm.Bernoulli, 9), []rbm.Group{group(rbm.Softmax, 2), group(rbm.Softmax, 3), group(rbm.Bernoulli, 1)}},
		{group(rbm.Bernoulli, 2), []rbm.Group{group(rbm.Softmax, 3), group(rbm.Softmax, 3), group(rbm.Softmax, 1)}},
		{group(rbm.Bernoulli, 3), []rbm.Group{group(rbm.Bernoulli, 9), {Kind: rbm.Softmax, Units: 2, Label: true}}},
		{group(rbm.Gaussian, 3), []rbm.Group{group(rbm.Softmax, 3), group(rbm.Bernoulli, 7), group(rbm.Softmax, 2)}},
		{group(units.ReLU, 2), []rbm.Group{group(rbm.Softmax, 5), group(rbm.Softmax, 2)}},
		{group(units.DReLU, 3), []rbm.Group{group(rbm.Bernoulli, 8)}},
	} {
		m := rbm.NewLayers(c.hidden, c.visible...)
		m.Randomize(0.4, rbm.NewKey(7))
		for _, params := range [][][]float32{m.VisibleParams(), m.HiddenParams()} {
			for k, p := range params {
				for i := range p {
					p[i] = [3]float32{1.2, 0.4, -0.5}[k] + [3]float32{0.3, -0.5, 0.7}[k]*float32(i%4)
				}
			}
		}
		what := fmt.Sprintf("%v:%d under %s", c.hidden.Kind, c.hidden.Units, rbm.GroupsText(m.Groups()))
		for _, hidden := range []bool{true, false} {
			if _, err := checkedPlan(m, hidden, 1<<20); err != nil {
				continue // real units are not listed
			}
			wantLogZ, want := reference(m, hidden)
			got := rbm.NewMoments(m)
			logZ := newEnumeration(newPlan(m, hidden)).Moments(got)
			rbmtest.Near(t, what+": log Z", logZ, wantLogZ, 1e-9*(1+math.Abs(wantLogZ)))
			for name, x := range map[string][2][]float32{"⟨v⟩": {got.V, want.V}, "⟨h⟩": {got.H, want.H}, "⟨vh⟩": {got.VH.Data, want.VH.Data}, "⟨v²⟩": {got.Squares, want.Squares}} {
				for i := range x[1] {
					rbmtest.Near(t, fmt.Sprintf("%s, hidden listed %v: %s[%d]", what, hidden, name, i), float64(x[0][i]), float64(x[1][i]), 4e-7*(1+math.Abs(float64(x[1][i])))) // means are float32
				}
			}
		}
	}
}

// The ReLU units of such a model once counted as units of precision 0.
func TestReLUVisible(t *testing.T) {
	m := rbm.NewGroups(6, rbm.Group{Kind: units.ReLU, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 2})
	w := rbm.NewMatrix(5, 6)
	for k := range w.Data {
		w.Data[k] = 0.6 * float32(1-2*((k/6+k%6)%2))
	}
	m.SetWeights(w)
	if got, err := LogZ(t.Context(), m); err != nil || math.Abs(got-7.350816843886) > 1e-6 { // by quadrature; parameters are float32
		t.Errorf("log Z is %v, %v, want 7.350816843886", got, err)
	}
}
