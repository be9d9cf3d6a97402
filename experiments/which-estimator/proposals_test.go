package main

import (
	"math"
	"testing"

	"gorbm/experiments/internal/informed"
	"gorbm/negphase/compare"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// small returns a model with weights of standard deviation sd.
func small(sd float64, seed uint64) *rbm.RBM {
	m := rbm.New(5, 3, 0, rbm.Softmax)
	m.Randomize(sd, rbm.NewKey(seed))
	return m
}

// The mean over updates is the exact negative phase of the model of the moment, and of no earlier one; nothing is allocated.
func TestProposing(t *testing.T) {
	const updates, burn = 3000, 200
	now, before := small(1.5, 1), small(1.5, 2)
	for _, m := range []informed.Mover{informed.Path{Balance: informed.Root, Length: 2}, informed.Path{Balance: informed.Root, Length: 2, Correct: true}, informed.Parallel{Coin: informed.DLMCRatio, Step: 1}} {
		e := newProposing(m)
		key := rbm.NewKey(3)
		estimate := func(model *rbm.RBM, n uint64) rbm.Phase {
			phase, info, err := e.Estimate(model, rbm.Batch{}, key.Child(n))
			if err != nil || info.Updates != proposingChains {
				t.Fatal(err, info)
			}
			return phase
		}
		estimate(before, 0)
		var visible [5][]float64
		for n := range uint64(updates) {
			phase := estimate(now, 1+n)
			if n < burn {
				continue
			}
			for i := range visible {
				on := 0.
				for r := range phase.V.Rows {
					if phase.V.Get(r, i) {
						on++
					}
				}
				visible[i] = append(visible[i], on/proposingChains)
			}
		}
		// off returns the largest distance of the means from those of a model, in standard errors. Moments ⟨vhᵀ⟩ come first.
		off := func(model *rbm.RBM) (worst float64) {
			truth, err := compare.Enumerate(model)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range visible {
				s := diag.Summarize(x)
				worst = max(worst, math.Abs(s.Mean-truth.Negative[model.Visible()*model.Hidden()+i])/s.StdErr)
			}
			return worst
		}
		if z := off(now); z > 5 {
			t.Errorf("%+v: %.1f standard errors from the exact means", m, z)
		}
		if z := off(before); z < 10 {
			t.Errorf("%+v: the means are those of the first model, too: %.1f standard errors", m, z)
		}
		n := uint64(updates)
		if allocs := testing.AllocsPerRun(50, func() { n++; estimate(now, n) }); allocs != 0 && !parallel.Raced() {
			t.Errorf("%+v: got %v allocations an update, want 0", m, allocs)
		}
	}
}

// A setting that is not given is one for all chains and goes to the acceptance that it is driven to.
func TestProposingAdapts(t *testing.T) {
	m := small(1.5, 1)
	e := newProposing(informed.Parallel{Coin: informed.Langevin})
	key := rbm.NewKey(4)
	accepted, moves := 0., 0.
	for n := range uint64(6000) {
		if _, _, err := e.Estimate(m, rbm.Batch{}, key.Child(n)); err != nil {
			t.Fatal(err)
		}
		if a, ok := e.moves.Acceptance(); ok && n >= 4000 {
			accepted += a
			moves++
		}
	}
	if e.chains[0].Setting() != e.chains[proposingChains-1].Setting() {
		t.Error("chains have different steps")
	}
	// A step of the setting changes the acceptance by less than 0.02.
	if a := accepted / moves; math.Abs(a-0.574) > 0.02 {
		t.Errorf("accepted with %.3f at the end", a)
	}
}
