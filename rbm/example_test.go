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
	m.FreeEnergy(f, v.Input())
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
	logp := make([]float64, 2*m.Classes())
	m.ClassLogProb(logp, x.Input())
	for r := range x.Rows {
		fmt.Printf("p(first class) = %.3f\n", rbm.Exp(logp[r*m.Classes()]))
	}
	// Output:
	// p(first class) = 0.667
	// p(first class) = 0.982
}

// AIS from below and its reverse from above bracket a log Z that enumeration
// can tell here. The rows that the reverse starts at come from long chains.
func ExampleRBM_AIS() {
	m := rbm.New(12, 8, 0, rbm.Softmax)
	m.Randomize(0.8, rbm.NewKey(1))
	ctx := context.Background()

	s := rbm.DefaultAnnealing()
	low, err := m.AIS(ctx, s, rbm.NewKey(2), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	chains := rbm.NewStates(m, s.Chains)
	m.Step(chains, nil, 1000, rbm.NewKey(3))
	high, err := m.ReverseAIS(ctx, s, chains.V, rbm.NewKey(4), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	exact, err := m.LogZ(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("AIS %.2f ± %.2f, reverse %.2f ± %.2f, exact %.2f\n", low.LogZ, low.StdErr, high.LogZ, high.StdErr, exact)
	fmt.Printf("worth %.0f of %d chains\n", low.ESS, s.Chains)
	// Output:
	// AIS 19.30 ± 0.01, reverse 19.29 ± 0.01, exact 19.30
	// worth 100 of 100 chains
}

// Independent draws at three temperatures of a ladder that ends at β = 0, and
// what they say of log Z at the others.
func ExampleBennett() {
	m := rbm.New(6, 4, 0, rbm.Softmax)
	m.Randomize(0.8, rbm.NewKey(1))
	const chains = 2000
	betas := []float64{1, 0.5, 0}
	var energies [][]float64
	for k, b := range betas {
		s := rbm.NewStates(m, chains)
		beta := make([]float32, chains)
		for r := range beta {
			beta[r] = float32(b)
		}
		m.Step(s, beta, 200, rbm.NewKey(uint64(k)))
		energies = append(energies, s.Energy)
	}
	var uniform *rbm.Base
	got, err := rbm.Bennett(betas, energies, 0, uniform.LogZ(m))
	if err != nil {
		fmt.Println(err)
		return
	}
	exact, err := m.LogZ(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("log Z %.2f ± %.2f, exact %.2f, overlap %.2f\n", got.LogZ[0], got.StdErr[0], exact, got.Overlap)
	// Output: log Z 8.95 ± 0.03, exact 8.98, overlap 0.79
}

// A base with the data's means shares their label frequencies.
func ExampleNewBase() {
	m := rbm.New(4, 2, 2, rbm.Softmax) // two inputs and a label of two classes
	base := rbm.NewBase(m, []float32{0.9, 0.2, 0.7, 0.3}, 1000)

	v, h := rbm.NewBits(10000, 4), rbm.NewBits(10000, 2)
	base.Draw(m, v, h, rbm.NewKey(1))
	on := make([]int, 4)
	for r := range v.Rows {
		v.Each(r, func(i int) { on[i]++ })
	}
	fmt.Printf("log Z₀ = %.3f\n", base.LogZ(m))
	fmt.Printf("%.2f %.2f %.2f %.2f\n", float64(on[0])/1e4, float64(on[1])/1e4, float64(on[2])/1e4, float64(on[3])/1e4)
	// Output:
	// log Z₀ = 10.817
	// 0.90 0.20 0.70 0.30
}
