package rbm_test

import (
	"context"
	"fmt"

	"gorbm/rbm"
)

// A model with one strong weight: both units on is the likeliest state.
func Example() {
	m := rbm.New(2, 1, 0, rbm.Softmax)
	m.SetWeights(rbm.Matrix{Rows: 2, Cols: 1, Data: []float32{3, 0}})
	m.HiddenBias[0] = -1

	logZ, err := m.LogZ(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	v := rbm.NewBits(2, 2) // two rows: (0,0) and (1,0)
	v.Set(1, 0, true)
	f := make([]float64, v.Rows)
	m.FreeEnergy(f, v)
	for r := range f {
		fmt.Printf("p(v) = %.4f\n", rbm.Exp(-f[r]-logZ))
	}
	// Output:
	// p(v) = 0.0701
	// p(v) = 0.4299
}

// Fifty chains of a Gibbs sampler at two temperatures, in one call.
func ExampleRBM_Step() {
	m := rbm.New(8, 4, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(1))

	s := rbm.NewStates(m, 50)
	s.H.Randomize(rbm.NewKey(2))
	beta := make([]float32, 50)
	for r := range beta {
		beta[r] = 1
		if r >= 25 {
			beta[r] = 0.5
		}
	}
	m.Step(s, beta, 100, rbm.NewKey(3))
	var cold, hot float64
	for r, e := range s.Energy {
		if r < 25 {
			cold += e / 25
		} else {
			hot += e / 25
		}
	}
	fmt.Printf("mean energy %.1f at β = 1, %.1f at β = ½\n", cold, hot)
	// Output: mean energy -5.7 at β = 1, -4.3 at β = ½
}

// The exact moments are the negative phase itself, where they can be had.
func ExampleEnumeration_Moments() {
	m := rbm.New(3, 2, 0, rbm.Softmax) // all parameters zero: every unit is fair
	e, err := rbm.NewEnumeration(m, rbm.GradientLimit)
	if err != nil {
		fmt.Println(err)
		return
	}
	exact := rbm.NewMoments(m)
	logZ := e.Moments(exact)
	fmt.Printf("log Z = %.4f, ⟨v₀⟩ = %.2f, ⟨v₀h₀⟩ = %.2f\n", logZ, exact.V[0], exact.VH.Row(0)[0])
	// Output: log Z = 3.4657, ⟨v₀⟩ = 0.50, ⟨v₀h₀⟩ = 0.25
}

// A classification RBM predicts by the free energies of its labels.
func ExampleRBM_ClassLogProb() {
	m := rbm.New(3, 1, 2, rbm.Softmax) // one input, two label units
	m.SetWeights(rbm.Matrix{Rows: 3, Cols: 1, Data: []float32{4, 4, -4}})
	m.HiddenBias[0] = -4

	x := rbm.NewBits(2, 3) // input off, input on
	x.Set(1, 0, true)
	logp := make([]float64, 2*m.Classes)
	m.ClassLogProb(logp, x)
	for r := range x.Rows {
		fmt.Printf("p(first class) = %.3f\n", rbm.Exp(logp[r*m.Classes]))
	}
	// Output:
	// p(first class) = 0.667
	// p(first class) = 0.982
}
