package partition_test

import (
	"context"
	"fmt"

	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/partition"
)

// AIS and ReverseAIS bracket log Z, which enumeration gives exactly for this small model. The
// reverse starts at rows from long chains.
func ExampleAIS() {
	m := rbm.New(12, 8, 0, rbm.Softmax)
	m.Randomize(0.8, rbm.NewKey(1))
	ctx := context.Background()

	s := partition.DefaultAnnealing()
	low, err := partition.AIS(ctx, m, s, rbm.NewKey(2), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	chains := rbm.NewStates(m, s.Chains)
	m.Step(chains, nil, 1000, rbm.NewKey(3))
	high, err := partition.ReverseAIS(ctx, m, s, chains.V, rbm.NewKey(4), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	want, err := exact.LogZ(ctx, m)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("AIS %.2f ± %.2f, reverse %.2f ± %.2f, exact %.2f\n", low.LogZ, low.StdErr, high.LogZ, high.StdErr, want)
	fmt.Printf("worth %.0f of %d chains\n", low.ESS, s.Chains)
	// Output:
	// AIS 19.30 ± 0.01, reverse 19.29 ± 0.01, exact 19.30
	// worth 100 of 100 chains
}

// From independent draws at three temperatures of a ladder, which ends at β = 0, Bennett estimates
// log Z at the other temperatures.
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
	got, err := partition.Bennett(betas, energies, 0, uniform.LogZ(m))
	if err != nil {
		fmt.Println(err)
		return
	}
	want, err := exact.LogZ(context.Background(), m)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("log Z %.2f ± %.2f, exact %.2f, overlap %.2f\n", got.LogZ[0], got.StdErr[0], want, got.Overlap)
	// Output: log Z 8.95 ± 0.03, exact 8.98, overlap 0.79
}
