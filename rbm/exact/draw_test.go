package exact

import (
	"context"
	"errors"
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// meanIs fails unless the mean of n independent draws, given their sum and sum of squares, is
// within five standard errors of want.
func meanIs(t *testing.T, what string, sum, squares float64, n int, want float64) {
	t.Helper()
	mean := sum / float64(n)
	if se := math.Sqrt((squares/float64(n) - mean*mean) / float64(n)); math.Abs(mean-want) > 5*se+5/float64(n) {
		t.Errorf("%s is %v, want %v ± %v", what, mean, want, se)
	}
}

// Draws of a Gaussian model have its probabilities of hidden states and its moments, computed with
// SciPy.
func TestGaussianDraws(t *testing.T) {
	m := gaussianModel()
	const n = 40000
	v, h := m.NewVisible(n), rbm.NewBits(n, 2)
	if err := Draw(context.Background(), m, v, h, rbm.NewKey(1)); err != nil {
		t.Fatal(err)
	}
	counts := [4]int{}
	var sums, squares, fourths [2]float64
	var cross, cross2 float64
	for r := range n {
		counts[h.Row(r)[0]]++
		for i, x := range v.Matrix().Row(r) {
			x := float64(x)
			sums[i], squares[i], fourths[i] = sums[i]+x, squares[i]+x*x, fourths[i]+x*x*x*x
		}
		if h.Get(r, 1) {
			x := float64(v.Matrix().Row(r)[0])
			cross, cross2 = cross+x, cross2+x*x
		}
	}
	for state, p := range []float64{0.152144984972, 0.152144984972, 0.326142340940, 0.369567689116} { // bit j is unit j
		meanIs(t, "p(h)", float64(counts[state]), float64(counts[state]), n, p)
	}
	for i, want := range [][2]float64{{-0.067426846506, 0.571414573414}, {0.904421382128, 3.366590164119}} {
		meanIs(t, "E v", sums[i], squares[i], n, want[0])
		meanIs(t, "E v²", squares[i], fourths[i], n, want[1])
	}
	meanIs(t, "E v0h1", cross, cross2, n, (0.326142340940*-0.7+0.369567689116*-0.2)/2)
}

// Draws have the exact moments, for a layer of all kinds of units with several blocks of hidden
// states, and for an RBM of bits.
func TestMixedDraws(t *testing.T) {
	mixed := rbm.NewGroups(13, rbm.Group{Kind: rbm.Bernoulli, Units: 2}, rbm.Group{Kind: rbm.Gaussian, Units: 3}, rbm.Group{Kind: rbm.Softmax, Units: 3, Label: true})
	mixed.Randomize(0.6, rbm.NewKey(3))
	for name, m := range map[string]*rbm.RBM{"mixed": mixed, "bits": rbmtest.Random(70, 12, 0, rbm.Softmax, 4, 0.7)} {
		const n = 20000
		v, h := m.NewVisible(n), rbm.NewBits(n, m.Hidden())
		if err := Draw(context.Background(), m, v, h, rbm.NewKey(2)); err != nil {
			t.Fatal(err)
		}
		e, err := New(m, GradientLimit)
		if err != nil {
			t.Fatal(err)
		}
		want := rbm.NewMoments(m)
		e.Moments(want)
		sums, squares, on := make([]float64, m.Visible()), make([]float64, m.Visible()), make([]float64, m.Hidden())
		for r := range n {
			v.Nonzero(r, func(i int, x float32) {
				sums[i] += float64(x)
				squares[i] += float64(x) * float64(x)
			})
			h.Each(r, func(j int) { on[j]++ })
		}
		for i := range sums {
			meanIs(t, name+": E v", sums[i], squares[i], n, float64(want.V[i]))
		}
		for j, x := range on {
			meanIs(t, name+": E h", x, x, n, float64(want.H[j]))
		}
		const few = 200 // with one row per draw, most blocks have no row
		clear(on)
		for r := range few {
			if err := Draw(context.Background(), m, v.Slice(0, 1), h.Slice(0, 1), rbm.NewKey(uint64(100+r))); err != nil {
				t.Fatal(err)
			}
			h.Each(0, func(j int) { on[j]++ })
		}
		for j, x := range on {
			meanIs(t, name+": E h of single draws", x, x, few, float64(want.H[j]))
		}
	}
}

// Draw refuses a model with too many hidden units, and one under a constraint.
func TestDrawsAreRefused(t *testing.T) {
	large := rbm.NewGroups(26, rbm.Group{Kind: rbm.Gaussian, Units: 3})
	if err := CheckDraws(large); !errors.Is(err, ErrTooLarge) {
		t.Errorf("26 hidden units: %v, want %v", err, ErrTooLarge)
	}
	if err := CheckDraws(rbm.NewGroups(25, rbm.Group{Kind: rbm.Gaussian, Units: 3})); err != nil {
		t.Error(err)
	}
	m := rbmtest.Random(4, 3, 0, rbm.Softmax, 1, 1)
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 1}
	if err := Draw(context.Background(), m, m.NewVisible(1), rbm.NewBits(1, 3), rbm.NewKey(1)); !errors.Is(err, rbm.ErrConstraint) {
		t.Errorf("under a constraint: %v, want %v", err, rbm.ErrConstraint)
	}
	m.Constraint = nil
	m.VisibleBias[0] = float32(math.NaN())
	if err := Draw(context.Background(), m, m.NewVisible(1), rbm.NewBits(1, 3), rbm.NewKey(1)); !errors.Is(err, rbm.ErrDiverged) {
		t.Errorf("of NaN: %v, want %v", err, rbm.ErrDiverged)
	}
}
