package rbm

import (
	"fmt"
	"math"
	"testing"
)

// The pseudo-likelihood against free energies of flipped rows, by the
// definition, at biases of every size: the odds of those beyond ±300 are taken
// by their logarithm. Weights are moderate and large, so that what the hidden
// units add to a bias matters and at times outweighs it.
func TestPseudoAtAllBiases(t *testing.T) {
	const rows = 20
	for _, size := range []float64{1, 290, 299.9, 300.1, 350, 700, 800, 9000} {
		for _, sd := range []float64{1, 60} {
			m := shape{70, 20, 3, Softmax}.random(5, sd)
			for i := range m.Inputs() {
				m.VisibleBias[i] = float32(size) + float32(i%3) // each next to the others of four
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
			if worst > 1e-4 { // a unit that is scored with the wrong sign is off by a nat or more
				t.Errorf("biases of %v, weights of %v: the tolerance %v sees nothing", size, sd, worst)
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

// pseudoByFlips scores each unit by the free energies of both its states.
func pseudoByFlips(m *RBM, v []int) float64 {
	free := func(v []int) float64 {
		f := make([]float64, 1)
		m.FreeEnergy(f, bitsOf([][]int{v}))
		return f[0]
	}
	logp := 0.0
	units := m.Visible()
	if m.softmaxLabel() {
		units = m.Inputs()
		var alt []float64
		for y := range m.Classes() {
			w := append([]int{}, v...)
			clear(w[units:])
			w[units+y] = 1
			alt = append(alt, -free(w))
		}
		logp += -free(v) - LogSumExp(alt)
	}
	for i := range units {
		w := append([]int{}, v...)
		w[i] = 1 - w[i]
		logp += -free(v) - LogSumExp([]float64{-free(v), -free(w)})
	}
	return logp
}
