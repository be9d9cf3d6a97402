package exact

import (
	"context"
	"errors"
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// softmaxes returns n softmax groups of q units.
func softmaxes(n, q int) (groups []rbm.Group) {
	for range n {
		groups = append(groups, rbm.Group{Kind: rbm.Softmax, Units: q})
	}
	return groups
}

// Log Z and moments of models with softmax groups agree with sums over all states, with listed and
// with summed groups. A model with the same parameters but Bernoulli units has other values.
func TestGroups(t *testing.T) {
	mixed := []rbm.Group{{Kind: rbm.Bernoulli, Units: 1}, {Kind: rbm.Softmax, Units: 3}, {Kind: rbm.Bernoulli, Units: 2}, {Kind: rbm.Softmax, Units: 2}}
	label := append(mixed[:4:4], rbm.Group{Kind: rbm.Softmax, Units: 2, Label: true})
	for _, c := range []struct {
		hidden int
		groups []rbm.Group
	}{
		{2, mixed}, {8, mixed}, {3, label}, {7, label}, {3, softmaxes(3, 3)}, {6, softmaxes(3, 3)}, {2, softmaxes(1, 4)}, {5, softmaxes(1, 4)},
		{4, softmaxes(4, 1)}, {7, append(softmaxes(2, 2), rbm.Group{Kind: rbm.Bernoulli, Units: 2, Label: true})},
	} {
		for _, sd := range []float64{0.1, 1, 5, 60} {
			m := rbm.NewGroups(c.hidden, c.groups...)
			m.Randomize(sd, rbm.NewKey(7))
			e, err := New(m, GradientLimit)
			if err != nil {
				t.Fatal(err)
			}
			all := rbmtest.States(m)
			p, want := rbmtest.Probabilities(all, 1)
			got := rbm.NewMoments(m)
			tol := exactTol * math.Max(1, math.Abs(want))
			rbmtest.Near(t, "log Z", e.Moments(got), want, tol)
			if bits := m.Clone(); m.Visible() > len(m.Groups()) {
				bits.SetLabel(0, rbm.Bernoulli)
				if z, err := LogZ(context.Background(), bits); err != nil || math.Abs(z-want) < 0.1 {
					t.Errorf("%v: of binary units log Z is %v too: %v", c.groups, z, err)
				}
			}
			wanted := rbm.NewMoments(m)
			for k, s := range all {
				for i, v := range s.V {
					wanted.V[i] += float32(p[k] * float64(v))
					for j, h := range s.H {
						wanted.VH.Row(i)[j] += float32(p[k] * float64(v*h))
					}
				}
				for j, h := range s.H {
					wanted.H[j] += float32(p[k] * float64(h))
				}
			}
			const sum = 1e-4 // rounding of a sum of 65536 float32 terms
			for i := range got.V {
				rbmtest.Near(t, "⟨v⟩", float64(got.V[i]), float64(wanted.V[i]), sum)
				for j := range got.H {
					rbmtest.Near(t, "⟨vh⟩", float64(got.VH.Row(i)[j]), float64(wanted.VH.Row(i)[j]), sum)
				}
			}
			for j := range got.H {
				rbmtest.Near(t, "⟨h⟩", float64(got.H[j]), float64(wanted.H[j]), sum)
			}
		}
	}
}

// Enumerations of either layer of a model with many groups give the same log Z and moments.
func TestGroupsFromEitherSide(t *testing.T) {
	m := rbm.NewGroups(17, softmaxes(11, 3)...)
	m.Randomize(0.7, rbm.NewKey(3))
	var logZ [2]float64
	var moments [2]*rbm.Moments
	for k, hidden := range []bool{true, false} {
		moments[k] = rbm.NewMoments(m)
		logZ[k] = newEnumeration(newPlan(m, hidden)).Moments(moments[k])
	}
	rbmtest.Near(t, "log Z", logZ[1], logZ[0], exactTol*logZ[0])
	for i := range 33 {
		rbmtest.Near(t, "⟨v⟩", float64(moments[1].V[i]), float64(moments[0].V[i]), 0x1p-23)
		for j := range 17 {
			rbmtest.Near(t, "⟨vh⟩", float64(moments[1].VH.Row(i)[j]), float64(moments[0].VH.Row(i)[j]), 0x1p-23)
		}
	}
}

// The error of a model that is too large counts the states of its groups.
func TestGroupsTooLarge(t *testing.T) {
	_, err := New(rbm.NewGroups(100, softmaxes(30, 21)...), GradientLimit)
	if !errors.Is(err, ErrTooLarge) || err.Error() != "too many states to enumerate: the hidden layer has 2^100 states, the limit is 2^18, and the visible layer has 2^131.8 states, the limit is 2^18; use a model of at most 18 hidden units" {
		t.Errorf("got %v", err)
	}
	if _, err := New(rbm.NewGroups(100, softmaxes(4, 21)...), GradientLimit); err != nil { // 194481 states
		t.Error(err)
	}
}
