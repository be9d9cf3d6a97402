package main

import (
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// With -class all energies are those of the whole model with its label fixed: each
// energy of the trace is E(v,h) of such a state, including the label's bias. The mean
// agrees with the exact one within standard errors.
func TestClassEnergies(t *testing.T) {
	const inputs, classes, hidden, class = 4, 3, 4, 1
	for _, labels := range []rbm.Kind{rbm.Softmax, rbm.Bernoulli} {
		for _, sampler := range []string{"block-gibbs", "sardonics:k=1-3", "exchange"} {
			clitest.Isolate(t)
			active := 0 // number of active units of the constraint; 0: no constraint
			if sampler == "exchange" {
				active = 4
			}
			m := rbm.New(inputs+classes, hidden, classes, labels)
			m.Randomize(1, rbm.NewKey(3))
			m.VisibleBias[inputs+class] = -3 // an energy that other units cannot compensate
			if active > 0 {
				m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: active}
			}
			clitest.Save(t, "m.safetensors", m, modelfile.About{})

			var states []float64 // energies of all states
			v, h := rbm.NewBits(1, inputs+classes), rbm.NewBits(1, hidden)
			for x := range 1 << (inputs + hidden) {
				v.Words[0] = uint64(x)&(1<<inputs-1) | 1<<(inputs+class)
				h.Words[0] = uint64(x) >> inputs
				if active > 0 && v.Count()+h.Count() != active {
					continue
				}
				var e [1]float64
				m.Energy(e[:], v, h)
				states = append(states, e[0])
			}
			var sum, z float64
			for _, e := range states {
				sum += math.Exp(-e) * e
				z += math.Exp(-e)
			}

			r := result(t, "-model m.safetensors -class 1 -moves 20000 -trace e.csv -sampler "+sampler)
			// By chance one in 16,000 differs by more than 4.
			if d := (*r.EnergyMean - sum/z) / *r.EnergyStdErr; !(math.Abs(d) < 4) {
				t.Errorf("%v labels, %s: mean energy %v ± %v, want %v", labels, sampler, *r.EnergyMean, *r.EnergyStdErr, sum/z)
			}
			if *r.EnergyPerSpin != *r.EnergyMean/(inputs+hidden) {
				t.Errorf("%v labels, %s: %v a spin, %v in all", labels, sampler, *r.EnergyPerSpin, *r.EnergyMean)
			}
			table, err := csv.NewReader(strings.NewReader(clitest.Read(t, "e.csv"))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range table[1:] {
				energy, err := strconv.ParseFloat(line[3], 64)
				if err != nil {
					t.Fatal(err)
				}
				nearest := math.Inf(1)
				for _, e := range states {
					nearest = min(nearest, math.Abs(e-energy))
				}
				// The hidden biases with the label's weights are rounded to float32,
				// half an ulp of numbers below 8 each, and parameters to 2⁻³⁰ of some 20.
				if !(nearest <= hidden*0x1p-22+24*20*0x1p-30) {
					t.Fatalf("%v labels: energy %v of move %s of %s is that of no state: the nearest is %v away, want at most %v", labels, energy, line[1], line[0], nearest, hidden*0x1p-22+24*20*0x1p-30)
				}
			}
		}
	}
}
