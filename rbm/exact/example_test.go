package exact_test

import (
	"context"
	"fmt"

	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// In this model both units are on in the most probable state, because their weight is large.
func Example() {
	m := rbm.New(2, 1, 0, rbm.Softmax)
	m.SetWeights(rbm.Matrix{Rows: 2, Cols: 1, Data: []float32{3, 0}})
	m.HiddenBias[0] = -1

	logZ, err := exact.LogZ(context.Background(), m)
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

// Exact moments can be used as the negative phase of training.
func ExampleEnumeration_Moments() {
	m := rbm.New(3, 2, 0, rbm.Softmax) // all parameters are zero: every unit is on with probability ½
	e, err := exact.New(m, exact.GradientLimit)
	if err != nil {
		fmt.Println(err)
		return
	}
	moments := rbm.NewMoments(m)
	logZ := e.Moments(moments)
	fmt.Printf("log Z = %.4f, ⟨v₀⟩ = %.2f, ⟨v₀h₀⟩ = %.2f\n", logZ, moments.V[0], moments.VH.Row(0)[0])
	// Output: log Z = 3.4657, ⟨v₀⟩ = 0.50, ⟨v₀h₀⟩ = 0.25
}
