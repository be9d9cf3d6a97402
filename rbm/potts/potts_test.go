package potts

import (
	"context"
	"errors"
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/units"
)

// groups returns a model with sites of q states.
func groups(sites, q, hidden int, sd float64) *rbm.RBM {
	var all []rbm.Group
	for range sites {
		all = append(all, rbm.Group{Kind: rbm.Softmax, Units: q})
	}
	m := rbm.NewGroups(hidden, all...)
	m.Randomize(sd, rbm.NewKey(3))
	return m
}

// listed returns all sequences and −F of each.
func listed(m *rbm.RBM, sites, q int) (all [][]int32, minusF []float64) {
	n := int(math.Round(math.Pow(float64(q), float64(sites))))
	v := rbm.NewBits(n, sites*q)
	for r := range n {
		a := make([]int32, sites)
		for i, rest := 0, r; i < sites; i, rest = i+1, rest/q {
			a[i] = int32(rest % q)
			v.Set(r, i*q+rest%q, true)
		}
		all = append(all, a)
	}
	free := make([]float64, n)
	m.FreeEnergy(free, v)
	for _, f := range free {
		minusF = append(minusF, -f)
	}
	return all, minusF
}

// enumerated is Effective computed from the definition.
func enumerated(t *testing.T, m *rbm.RBM, sites, q int) *Model {
	t.Helper()
	p, err := New(sites, q)
	if err != nil {
		t.Fatal(err)
	}
	all, f := listed(m, sites, q)
	mean, one, n := 0.0, make([]float64, sites*q), float64(len(all))
	for r, a := range all {
		mean += f[r] / n
		for i, x := range a {
			one[i*q+int(x)] += f[r] / n * float64(q)
			for j := i + 1; j < sites; j++ {
				p.Pair(i, j)[int(x)*q+int(a[j])] += f[r] / n * float64(q*q)
			}
		}
	}
	for i := range sites {
		for a := range q {
			p.Fields[i*q+a] = one[i*q+a] - mean
			for j := i + 1; j < sites; j++ {
				for b := range q {
					p.Pair(i, j)[a*q+b] += mean - one[i*q+a] - one[j*q+b]
				}
			}
		}
	}
	return p
}

// farthest returns the largest difference between the parameters of two models.
func farthest(a, b *Model) (d float64) {
	for k := range a.Fields {
		d = max(d, math.Abs(a.Fields[k]-b.Fields[k]))
	}
	for k := range a.Couplings {
		for c := range a.Couplings[k] {
			d = max(d, math.Abs(a.Couplings[k][c]-b.Couplings[k][c]))
		}
	}
	return d
}

// Fields and couplings equal the means over all sequences, for small and large weights.
func TestEffective(t *testing.T) {
	for _, c := range []struct {
		sites, q, hidden int
		sd               float64
	}{{4, 3, 5, 0.3}, {5, 4, 3, 1}, {3, 2, 4, 3}, {2, 5, 2, 1}, {4, 3, 3, 8}} {
		m := groups(c.sites, c.q, c.hidden, c.sd)
		got, err := Effective(context.Background(), m, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := enumerated(t, m, c.sites, c.q)
		// Free energies are float64 sums of float32 parameters.
		if d := farthest(got, want); d > 1e-11*(1+c.sd) {
			t.Errorf("%+v: fields and couplings are off by %v, want at most %v", c, d, 1e-11*(1+c.sd))
		}
		if d := math.Abs(got.Pair(0, 1)[0]); d < 1e-4 {
			t.Errorf("%+v: a coupling of %v shows nothing, want at least 1e-4", c, d)
		}
		gauged, err := Effective(context.Background(), m, nil)
		if err != nil {
			t.Fatal(err)
		}
		gauged.ZeroSum()
		if d := farthest(got, gauged); d > 1e-11*(1+c.sd) {
			t.Errorf("%+v: the zero-sum gauge is off by %v, want at most %v", c, d, 1e-11*(1+c.sd))
		}
	}
}

// The gauge of a model does not matter. A model of two sites is its Potts model.
func TestEffectiveOfTwoSites(t *testing.T) {
	m := groups(2, 4, 6, 1)
	p, err := Effective(context.Background(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, f := listed(m, 2, 4)
	for r := range all {
		got, want := p.LogWeight(all[r])-p.LogWeight(all[0]), f[r]-f[0]
		if math.Abs(got-want) > 1e-11 {
			t.Errorf("ln p of %v and %v differ by %v, want %v", all[r], all[0], got, want)
		}
	}
	moved := m.Clone()
	moved.ZeroSum()
	other, err := Effective(context.Background(), moved, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := farthest(p, other); d > 1e-5 { // parameters in the other gauge are rounded to float32
		t.Errorf("in the zero-sum gauge of the machine the Potts model is off by %v, want at most 1e-5", d)
	}
}

func TestEffectiveRefuses(t *testing.T) {
	three := rbm.Group{Kind: rbm.Softmax, Units: 3}
	for name, m := range map[string]*rbm.RBM{
		"bits":           rbm.New(6, 2, 0, rbm.Softmax),
		"a label":        rbm.NewGroups(2, three, three, rbm.Group{Kind: rbm.Softmax, Units: 3, Label: true}),
		"a bit":          rbm.NewGroups(2, three, three, rbm.Group{Kind: rbm.Bernoulli, Units: 1}),
		"unequal groups": rbm.NewGroups(2, three, rbm.Group{Kind: rbm.Softmax, Units: 4}),
		"one site":       rbm.NewGroups(2, three),
	} {
		if _, err := Effective(context.Background(), m, nil); !errors.Is(err, ErrInputs) {
			t.Errorf("%s: got %v, want ErrInputs", name, err)
		}
	}
	if _, err := Effective(context.Background(), rbm.NewLayers(rbm.Group{Kind: units.ReLU, Units: 2}, three, three), nil); !errors.Is(err, rbm.ErrUnits) {
		t.Errorf("real hidden units: got %v, want %v", err, rbm.ErrUnits)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Effective(ctx, groups(3, 3, 2, 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want %v", err, context.Canceled)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), 1e30} {
		m := groups(3, 3, 2, 1)
		m.HiddenBias[1] = float32(x)
		if _, err := Effective(context.Background(), m, nil); !errors.Is(err, rbm.ErrDiverged) {
			t.Errorf("a bias of %v: got %v, want %v", x, err, rbm.ErrDiverged)
		}
	}
}
