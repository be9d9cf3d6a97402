package negphase

import "gorbm/rbm"

// exchangeWork is the working memory of swaps between two neighbouring models.
type exchangeWork struct {
	// mean[a] and free[a] are the hidden means and free energies that the particles of the other model
	// of the pair have under model a.
	mean  [2]rbm.Matrix
	free  [2][]float64
	words []uint64 // scratch: the words of a particle

	rate  float64      // mean probability of a swap between the newest rung and the live model
	phase rbm.Matrix   // hidden means of the estimate
	watch int          // lower rung of the pair whose ratios are recorded; −1: none
	seen  [2][]float64 // pairEnergies.ratio of the watched pair: at particles of its lower model, and of its upper one
}

// grow allocates memory for particles of models of m's shape.
func (w *exchangeWork) grow(m *rbm.RBM, rows int) {
	w.watch = -1
	w.words, w.phase = make([]uint64, rbm.NewBits(1, m.Visible()).Stride), rbm.NewMatrix(rows, m.Hidden())
	for i := range w.mean {
		w.mean[i], w.free[i] = rbm.NewMatrix(rows, m.Hidden()), make([]float64, rows)
	}
}

// model returns rung i, or the live model if i is the number of rungs.
func (p *ptt) model(i int) *rung {
	if i == len(p.rungs) {
		return p.live
	}
	return p.rungs[i]
}

// exchange swaps particles of rung i and of the model above it. It needs the free energy of each
// particle under its own model. For the particles that it swaps, it updates the free energies and the
// hidden means.
func (p *ptt) exchange(i int, key rbm.Key) error {
	w := &p.work
	pair := [2]*rung{p.model(i), p.model(i + 1)}
	for a, g := range pair {
		if err := p.hiddenMeanFree(g.model, w.mean[a], w.free[a], pair[1-a].states.V); err != nil {
			return err
		}
	}
	rate := 0.0
	for r := range p.rows {
		f := pairEnergies{{pair[0].free[r], w.free[0][r]}, {w.free[1][r], pair[1].free[r]}}
		if i == w.watch {
			w.seen[0], w.seen[1] = append(w.seen[0], f.ratio(0)), append(w.seen[1], f.ratio(1))
		}
		accept := rbm.Exp(min(0, f.delta()))
		if i == len(p.rungs)-1 {
			rate += accept
		}
		from := len(p.rungs) - 1 - i // Info counts pairs from the live model
		p.info.SwapTries[from]++
		if key.Uniform(uint64(2*r)) < accept {
			p.info.Swaps[from]++
			w.swap(pair, r)
		}
	}
	w.rate = rate / float64(p.rows)
	return nil
}

// pairEnergies[a][b] is F_a(x_b): the free energy under model a of the particle of model b. Model 0 is
// the lower one of a pair, model 1 the upper one.
type pairEnergies [2][2]float64

// delta returns F_0(x_0) + F_1(x_1) − F_0(x_1) − F_1(x_0): by this a swap increases the log of the
// joint probability of both particles.
func (f pairEnergies) delta() float64 { return f[0][0] - f[0][1] + f[1][1] - f[1][0] }

// ratio returns F_1(x_b) − F_0(x_b).
func (f pairEnergies) ratio(b int) float64 { return f[1][b] - f[0][b] }

// swap exchanges the particles of chain r.
func (w *exchangeWork) swap(pair [2]*rung, r int) {
	x, y := pair[0].states.V.Row(r), pair[1].states.V.Row(r)
	copy(w.words, x)
	copy(x, y)
	copy(y, w.words)
	pair[0].born[r], pair[1].born[r] = pair[1].born[r], pair[0].born[r]
	for a, g := range pair {
		copy(g.states.Mean.Row(r), w.mean[a].Row(r))
		g.free[r], g.moved[r] = w.free[a][r], true
	}
}
