package rbm_test

import (
	"fmt"

	"gorbm/rbm"
)

// Contrastive divergence learns two opposite patterns. The positive phase is at the data; one Gibbs
// step from there gives the negative phase; the ascent moves along the difference.
func Example() {
	m := rbm.New(6, 2, 0, rbm.Softmax) // six visible and two hidden units, no label
	m.Randomize(0.1, rbm.NewKey(1))
	v := rbm.NewBits(2, 6) // rows 111000 and 000111
	for i := range 3 {
		v.Set(0, i, true)
		v.Set(1, 3+i, true)
	}
	positive := rbm.Batch{V: v, H: rbm.NewMatrix(2, 2)}
	chains := rbm.NewStates(m, 2)
	var ascent rbm.Ascent
	for step := range uint64(5000) {
		key := rbm.NewKey(2).Child(step)
		m.HiddenMean(positive.H, v)
		m.HiddenSample(chains.H, positive, key.Child(0))
		m.Step(chains, nil, 1, key.Child(1))
		negative := rbm.Batch{V: chains.V, H: chains.Mean}
		if err := ascent.Step(m, 0.1, 1, rbm.Phase{Batch: positive}, rbm.Phase{Batch: negative}); err != nil {
			fmt.Println(err)
			return
		}
	}
	other := rbm.NewBits(1, 6) // another pattern, 100000
	other.Set(0, 0, true)
	learned, unknown := make([]float64, 2), make([]float64, 1)
	m.FreeEnergy(learned, v)
	m.FreeEnergy(unknown, other)
	fmt.Printf("each pattern is more than a hundred times as probable as another: %v\n", unknown[0]-max(learned[0], learned[1]) > 4.6)
	// Output: each pattern is more than a hundred times as probable as another: true
}

// One call advances fifty Gibbs chains at two temperatures.
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

// A classification RBM predicts classes from the free energies of its labels.
func ExampleRBM_ClassLogProb() {
	m := rbm.New(3, 1, 2, rbm.Softmax) // one input, two label units
	m.SetWeights(rbm.Matrix{Rows: 3, Cols: 1, Data: []float32{4, 4, -4}})
	m.HiddenBias[0] = -4

	x := rbm.NewBits(2, 3) // input off, input on
	x.Set(1, 0, true)
	logp := make([]float64, 2*m.Classes())
	m.ClassLogProb(logp, x)
	for r := range x.Rows {
		fmt.Printf("p(first class) = %.3f\n", rbm.Exp(logp[r*m.Classes()]))
	}
	// Output:
	// p(first class) = 0.667
	// p(first class) = 0.982
}

// A base for the means of the data has the same label frequencies.
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
