package compare_test

import (
	"context"
	"fmt"

	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/rbm"
)

// The model has two modes, all units on or all off. The chains of pcd stay in the mode where they
// start; the chains of infinite swapping do not.
func Example() {
	m := rbm.New(6, 4, 0, rbm.Softmax)
	w := rbm.NewMatrix(6, 4)
	for i := range w.Data {
		w.Data[i] = 4
	}
	m.SetWeights(w)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = -8 // makes both modes equally likely
	}
	for j := range m.HiddenBias {
		m.HiddenBias[j] = -12
	}
	truth, err := compare.Enumerate(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	estimators := []negphase.Settings{negphase.DefaultSettings("pcd"), negphase.DefaultSettings("ins")}
	curves, err := compare.Run(context.Background(), m, truth, estimators, compare.Settings{Steps: 1000, Repeats: 20, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range curves {
		d := c.Last().Distance
		fmt.Printf("%s: distance %.2f ± %.2f of %.2f\n", c.Estimator.Kind, d.Mean, d.SD, truth.Norm())
	}
	// Output:
	// pcd: distance 0.73 ± 0.65 of 2.91
	// ins: distance 0.06 ± 0.05 of 2.91
}
