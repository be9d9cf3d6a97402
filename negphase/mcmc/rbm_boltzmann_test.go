package mcmc

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

// Boltzmann weights on an RBM are a function of costs that does not depend on the
// parameters at Bind. After new parameters and a Reset a chain
// moves identically to a chain that is bound then, even if costs exceed the range of the
// weights.
func TestBoltzmannWalksFollowTheParameters(t *testing.T) {
	small, large := gaussianRBM(40, 25, .05, 1), gaussianRBM(40, 25, 2, 2)
	sardonics := DefaultSardonics()
	sardonics.MaxLength, sardonics.Gamma1, sardonics.Weights = 4, .5, Boltzmann
	mixed := sardonics
	mixed.Gamma2, mixed.Mix = .4, [3]float64{1, 1, 1}
	im := Intracluster{MinLength: 1, MaxLength: 3, GammaDown: .5, GammaUp: .45, Weights: Boltzmann}
	for _, m := range []Mover{sardonics, mixed, im} {
		start := shellState(65, 30, rbm.NewKey(3))
		then, now := NewRBM(NewParameters(small)), NewRBM(NewParameters(large))
		then.SetState(start)
		before := must(m.Bind(then, 1, nil))(t)
		then.parameters.Set(large)
		then.SetState(start)
		before.Reset()
		now.SetState(start)
		after := must(m.Bind(now, 1, nil))(t)
		r, q := rbm.NewKey(4).Rand(), rbm.NewKey(4).Rand()
		var a, b Info
		far := 0.0
		for range 300 {
			a.Add(before.Move(r))
			b.Add(after.Move(q))
			for i := range now.Len() {
				far = max(far, math.Abs(now.FlipCost(i)))
			}
		}
		if !slices.Equal(then.state, now.state) || a != b {
			t.Errorf("%s: the chains part: %+v, %+v", FormatMover(m), a, b)
		}
		if a.Accepted == 0 || far*.45 < 15 {
			t.Errorf("%s: %d accepted, costs up to %v only", FormatMover(m), a.Accepted, far)
		}
	}
}

// If costs exceed the range of the weights, so that weights are clipped, the distribution is still invariant.
func TestCutBoltzmannWeightsLeaveTheLaw(t *testing.T) {
	const beta, units = 0.3, 8
	c := NewParameters(gaussianRBM(5, 3, 6, 5))
	if 2*beta*c.reach < 1.5*15 {
		t.Fatalf("γβ times costs of %v are not cut", c.reach)
	}
	sardonics := DefaultSardonics()
	sardonics.MaxLength, sardonics.Gamma1, sardonics.Weights = 3, 2, Boltzmann
	im := Intracluster{MinLength: 1, MaxLength: 2, GammaDown: 2, GammaUp: 2, Weights: Boltzmann}
	for _, m := range []Mover{sardonics, im} {
		on := states(units)
		if _, ok := m.(Intracluster); ok {
			on = slices.DeleteFunc(on, func(x []uint8) bool { return sum(x) != 4 })
		}
		distribution := plainOfRBM(c).boltzmann(on, beta)
		s := NewRBM(c)
		s.SetState(on[0])
		if z := rbmZ(s, must(m.Bind(s, beta, nil))(t), on, distribution, 10_000); z > 6 {
			t.Errorf("%s: z = %.1f, want at most 6", FormatMover(m), z)
		}
		s.SetState(on[0])
		if z := rbmZ(s, must(m.Bind(s, 1.5*beta, nil))(t), on, distribution, 10_000); z < 6 {
			t.Errorf("%s at a wrong temperature: z = %.1f, want at least 6", FormatMover(m), z)
		}
	}
}

// With a bias that overflows float32, the weight of a flip with ΔE = 0 is still
// one half.
func TestHugeBiases(t *testing.T) {
	m := DefaultSardonics()
	m.MaxLength, m.Gamma1, m.Gamma2, m.Mix = 2, 1e200, 1, [3]float64{1, 1, 1}
	flat := rbm.New(3, 2, 0, rbm.Softmax)
	flat.HiddenBias[0] = 1
	s := NewRBM(NewParameters(flat))
	w := must(m.Bind(s, 1, nil))(t).(*sardonicsChain).walker.(*denseWalk)
	for b := range 2 {
		if got := w.layer[visible][b].Leaf[:3]; !slices.Equal(got, []uint32{1 << 23, 1 << 23, 1 << 23}) {
			t.Errorf("weights %v under bias %d, want half of 2²⁴", got, b)
		}
	}
}
