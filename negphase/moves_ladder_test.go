package negphase

import (
	"math/rand/v2"
	"testing"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// Under a constraint on the hidden units, the visible units are redrawn after
// the moves at each temperature of a ladder. Particles that start from the distribution at their temperature
// keep it.
func TestConstrainedLaddersAreStationary(t *testing.T) {
	for _, c := range []struct {
		shape      shape
		constraint rbm.Constraint
	}{
		{shape{3, 4, 0, rbm.Softmax}, rbm.Constraint{On: rbm.HiddenUnits, Active: 2}},
		{shape{5, 4, 3, rbm.Softmax}, rbm.Constraint{On: rbm.HiddenUnits, Active: 1}},
		{shape{4, 3, 0, rbm.Softmax}, rbm.Constraint{On: rbm.AllUnits, Active: 3}},
	} {
		m := c.shape.random(46, sharpSD)
		m.Constraint = &c.constraint
		x := &exactStart{m: m, all: allowed(m)}
		for _, temperature := range testTemperatures {
			x.p = append(x.p, distribution(x.all, 1/temperature))
		}
		x.c = newCensus(x.all)
		for _, text := range []string{"pt:swaps=2:tau=1/1.6/16:im:k=1", "ins:swaps=2:tau=1/1.6/16:exchange"} {
			s := set(t, text, "chains", exactWalks)
			e, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			var l *ladder
			switch e := e.(type) {
			case *pt:
				l = &e.ladder
			case *ins:
				l = &e.ladder
			}
			l.saved = drawJointly(x.all, x.p, l.rows)
			if _, _, err := e.Estimate(m, rbm.Batch{}, callFrom); err != nil {
				t.Fatal(err)
			}
			z := x.worst(t, l)
			t.Logf("%v, %v, %s: z = %.1f", c.shape, m.Constraint, text, z)
			if z > 6 {
				t.Errorf("%v, %v, %s: z = %.1f, want at most 6", c.shape, m.Constraint, text, z)
			}
		}
	}
}

// Each visible unit is drawn from its distribution given the hidden units, at the
// temperature of the particle: it flips if the uniform variate is below the probability of
// a flip. The energy is that of the new state.
func TestInputsAreDrawnFromTheirLaw(t *testing.T) {
	m := rounded(shape{3, 3, 0, rbm.Softmax}.random(43, 1.5))
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 1}
	for _, beta := range []float64{1, 0.3, 0} {
		w := newMoves(samplerSettings{mover: mcmc.Exchange{}}, 1)
		if err := w.prepare(m, []float64{beta}, 1); err != nil {
			t.Fatal(err)
		}
		p := &w.replicas[0]
		p.chain = still{}
		s := rbm.NewStates(m, 1)
		for _, st := range allowed(m) {
			for i, a := range visibleField(m, st.h) {
				flip := sigmoid(beta * a * float64(1-2*st.v[i]))
				for _, u := range []float64{flip - kernelTol, flip + kernelTol} {
					for i, v := range st.v {
						s.V.Set(0, i, v != 0)
					}
					for j, h := range st.h {
						s.H.Set(0, j, h != 0)
					}
					uniforms := make([]uint64, m.Visible())
					for k := range uniforms {
						uniforms[k] = 1<<53 - 1 // no other unit flips
					}
					uniforms[i] = uint64(u * 0x1p53)
					p.draws = rand.New(&script{uniforms})
					var info Info
					w.run(m, s, []int32{0}, nil, rbm.NewKey(1), &info, new(team))
					for k := range m.Visible() {
						want := st.v[k] != 0
						if k == i && u < flip {
							want = !want
						}
						if s.V.Get(0, k) != want {
							t.Fatalf("β = %v: at the uniform %v, with a chance of %v to flip, unit %d is %v, want %v", beta, u, flip, k, s.V.Get(0, k), want)
						}
					}
					energy := make([]float64, 1)
					m.Energy(energy, s.V, s.H)
					near(t, "energy with the new inputs", s.Energy[0], energy[0], 1e-6)
				}
			}
		}
	}
}
