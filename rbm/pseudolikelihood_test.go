package rbm

import (
	"fmt"
	"math"
	"testing"
)

// The pseudo-likelihood agrees with free energies of flipped rows, from the definition, at biases
// of every size. For biases beyond ±300 it uses logarithms of odds. Some weights are so large that
// the hidden units outweigh a bias.
func TestPseudoAtAllBiases(t *testing.T) {
	const rows = 20
	for _, size := range []float64{1, 290, 299.9, 300.1, 350, 700, 800, 9000} {
		for _, sd := range []float64{1, 60} {
			m := shape{70, 20, 3, Softmax}.random(5, sd)
			for i := range m.Inputs() {
				m.VisibleBias[i] = float32(size) + float32(i%3) // all of these are scored together
				if i/4%2 == 1 {
					m.VisibleBias[i] *= -1
				}
			}
			v := randomRows(m, rows)
			got := make([]float64, rows)
			m.PseudoLogLikelihood(got, v)
			logp := make([]float64, rows*m.Classes())
			m.ClassLogProb(logp, v)
			worst := 0.0
			for r := range rows {
				x := row64(v, r)
				own := plainFreeEnergy(m, x)
				want := logp[r*m.Classes()+r%m.Classes()]
				tol := 0.0
				for i := range m.Inputs() {
					x[i] = 1 - x[i]
					flipped := plainFreeEnergy(m, x)
					x[i] = 1 - x[i]
					want -= plainSoftplus(own - flipped)
					tol += 2 * rowTolerance(m, math.Abs(own)+math.Abs(flipped))
				}
				near(t, fmt.Sprintf("biases of %v, weights of %v: row %d", size, sd, r), got[r], want, tol)
				worst = max(worst, tol)
			}
			if worst > 1e-4 { // with the wrong sign the error is at least a nat
				t.Errorf("biases of %v, weights of %v: the tolerance %v sees nothing, want at most 1e-4", size, sd, worst)
			}
		}
	}
}

func TestPseudoLogLikelihood(t *testing.T) {
	forEach(t, small, func(t *testing.T, s shape) {
		for _, sd := range []float64{0.3, 2, 40} {
			m := s.random(13, sd)
			all := states(m)
			rows := distinctVisible(all)
			got := make([]float64, len(rows))
			m.PseudoLogLikelihood(got, bitsOf(rows))
			for r, v := range rows {
				want := pseudoByFlips(m, v)
				near(t, "pseudo-likelihood", got[r], want, 1e-11*math.Max(1, math.Abs(want)))
			}
		}
	})
}

// Each softmax group is scored as one variable, at small weights and at weights beyond the range of
// products of odds. Scores of its units one by one differ.
func TestPseudoLogLikelihoodOfGroups(t *testing.T) {
	for _, m := range []*RBM{grouped(), grouped(Group{Kind: Softmax, Units: 2, Label: true}), grouped(Group{Kind: Bernoulli, Units: 2, Label: true})} {
		for _, sd := range []float64{0.3, 2, 40} {
			m.Randomize(sd, NewKey(uint64(sd)))
			if sd == 40 {
				w := NewMatrix(m.Visible(), m.Hidden())
				m.Weights(w)
				for i := range w.Row(1) { // weights of a softmax unit
					w.Row(1)[i] *= 20
				}
				m.SetWeights(w)
			}
			rows := distinctVisible(states(m))
			got, bits := make([]float64, len(rows)), make([]float64, len(rows))
			m.PseudoLogLikelihood(got, bitsOf(rows))
			plain := m.Clone()
			plain.SetLabel(0, Bernoulli)
			plain.PseudoLogLikelihood(bits, bitsOf(rows))
			for r, v := range rows {
				want := pseudoByFlips(m, v)
				near(t, "pseudo-likelihood", got[r], want, 1e-11*math.Max(1, math.Abs(want)))
				if sd < 1 && math.Abs(bits[r]-want) < 0.1 {
					t.Errorf("units one by one have %v too", bits[r])
				}
			}
			last := bitsOf(rows[:1]) // a row in which no unit of its first group is on has the score of the other groups
			for i := range 3 {
				last.Set(0, i, false)
			}
			m.PseudoLogLikelihood(got[:1], last)
			if math.IsNaN(got[0]) {
				t.Error("a row without a state has a score of NaN")
			}
		}
	}
}

// pseudoByFlips scores each variable from the free energies of all its states.
func pseudoByFlips(m *RBM, v []int) float64 {
	free := func(v []int) float64 {
		f := make([]float64, 1)
		m.FreeEnergy(f, bitsOf([][]int{v}))
		return f[0]
	}
	logp := 0.0
	for _, g := range m.Groups() {
		for i := range g.Units {
			if g.Kind == Bernoulli {
				w := append([]int{}, v...)
				w[g.First+i] = 1 - w[g.First+i]
				logp += -free(v) - LogSumExp([]float64{-free(v), -free(w)})
			}
		}
		if g.Kind == Softmax {
			var alt []float64
			for y := range g.Units {
				w := append([]int{}, v...)
				clear(w[g.First : g.First+g.Units])
				w[g.First+y] = 1
				alt = append(alt, -free(w))
			}
			logp += -free(v) - LogSumExp(alt)
		}
	}
	return logp
}
