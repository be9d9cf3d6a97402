package negphase

import "gorbm/rbm"

// exchangeWork is the working memory of exchanges of up to K models: hidden means and
// free energies of each particle under each model.
type exchangeWork struct {
	rows   int
	mean   []rbm.Matrix // [a·K+b]: of the particles of b under model a, a ≠ b
	free   [][]float64
	words  []uint64 // of the particles of one row
	born   []int64
	at     []int     // of one row: whose particle each model has
	f      []float64 // of one row: F_a(x_b) at [a·K+b]
	perm   []*permanent
	share  []float64
	turned []float64

	rate   float64    // mean probability of the last pair's swap
	phaseV rbm.Values // particles of the estimate, chain by chain, and from the oldest model
	phaseH rbm.Matrix // their means under the live model
	weight []float32
	taken  int          // models whose particles are weighed; 0: the live chains are the estimate
	watch  int          // the lower rung of the pair whose ratios are recorded
	seen   [2][]float64 // F_above − F_below at its particles, chain by chain
}

// grow makes room for blocks of k models of m's shape.
func (w *exchangeWork) grow(m *rbm.RBM, rows, k int) {
	w.rows, w.watch = rows, -1
	w.phaseV, w.phaseH = rbm.NewBits(k*rows, m.Visible()), rbm.NewMatrix(k*rows, m.Hidden())
	w.weight = make([]float32, k*rows)
	w.mean, w.free = make([]rbm.Matrix, k*k), make([][]float64, k*k)
	for i := range w.mean {
		w.mean[i], w.free[i] = rbm.NewMatrix(rows, m.Hidden()), make([]float64, rows)
	}
	w.words, w.born = make([]uint64, k*w.phaseV.Stride), make([]int64, k)
	w.at, w.f, w.share, w.turned = make([]int, k), make([]float64, k*k), make([]float64, k), make([]float64, k*k)
	w.perm = make([]*permanent, k+1)
	for i := 2; i <= k; i++ {
		w.perm[i] = newPermanent(make([]float64, i))
	}
}

// model returns rung i, or the live one.
func (p *ptt) model(i int) *rung {
	if i == len(p.rungs) {
		return p.live
	}
	return p.rungs[i]
}

// exchange swaps the particles of k neighbouring models, the lowest of which is rung
// first, from below. If weigh is set, it first weighs them for the live model, which is
// the last. Free energies of each model at its own particles are known before and after,
// and its hidden means at those that have moved.
func (p *ptt) exchange(first, k int, weigh bool, key rbm.Key) error {
	w := &p.work
	for a := range k {
		for b := range k {
			if a != b {
				if err := p.hiddenMeanFree(p.model(first+a).model, w.mean[a*k+b], w.free[a*k+b], p.model(first+b).states.V); err != nil {
					return err
				}
			}
		}
	}
	if weigh {
		p.take(first, k)
	}
	rate := 0.0
	f := w.f[:k*k]
	for r := range p.rows {
		p.energies(f, first, k, r)
		if weigh {
			p.weigh(f, k, r)
		}
		if first == w.watch && k == 2 {
			w.seen[0], w.seen[1] = append(w.seen[0], f[2]-f[0]), append(w.seen[1], f[3]-f[1])
		}
		if last := k - 2; first+k == len(p.rungs)+1 {
			rate += rbm.Exp(min(0, delta(f, k, last, last, last+1)))
			p.ratios[0][r] = f[(k-1)*k+k-2] - f[(k-2)*k+k-2]
			p.ratios[1][r] = f[(k-1)*k+k-1] - f[(k-2)*k+k-1]
		}
		p.swap(f, first, k, r, key)
	}
	w.rate = rate / float64(p.rows)
	return nil
}

// energies overwrites f with F_a(x_b) at [a·K+b] of the particles of chain r.
func (p *ptt) energies(f []float64, first, k, r int) {
	for a := range k {
		for b := range k {
			if a == b {
				f[a*k+b] = p.model(first + a).free[r]
			} else {
				f[a*k+b] = p.work.free[a*k+b][r]
			}
		}
	}
}

// delta returns the log of the ratio in which a swap of the particles x of model j and
// y of model j+1 changes their joint probability: F_j(x) + F_j+1(y) − F_j(y) − F_j+1(x).
func delta(f []float64, k, j, x, y int) float64 {
	return f[j*k+x] - f[j*k+y] + f[(j+1)*k+y] - f[(j+1)*k+x]
}

// swap tries the pairs of chain r from below, by the energies f of the particles
// before, and moves them.
func (p *ptt) swap(f []float64, first, k, r int, key rbm.Key) {
	w := &p.work
	at := w.at[:k]
	for j := range at {
		at[j] = j
	}
	moved := false
	for j := range k - 1 {
		pair := len(p.rungs) - 1 - (first + j) // from the live model
		p.info.SwapTries[pair]++
		if key.Uniform(uint64(r*k+j)) < rbm.Exp(min(0, delta(f, k, j, at[j], at[j+1]))) {
			at[j], at[j+1] = at[j+1], at[j]
			p.info.Swaps[pair]++
			moved = true
		}
	}
	if !moved {
		return
	}
	stride := w.phaseV.Stride
	for j := range at {
		g := p.model(first + j)
		copy(w.words[j*stride:(j+1)*stride], g.states.V.Row(r))
		w.born[j] = g.born[r]
	}
	for j, x := range at {
		if x == j {
			continue
		}
		g := p.model(first + j)
		copy(g.states.V.Row(r), w.words[x*stride:(x+1)*stride])
		copy(g.states.Mean.Row(r), w.mean[j*k+x].Row(r))
		g.free[r], g.born[r], g.moved[r] = f[j*k+x], w.born[x], true
	}
}

// take makes the particles of k models, as they are, those of the estimate, with
// their hidden means under the live model.
func (p *ptt) take(first, k int) {
	w := &p.work
	for b := range k {
		g := p.model(first + b)
		mean := w.mean[(k-1)*k+b]
		if b == k-1 {
			mean = g.states.Mean
		}
		for r := range p.rows {
			copy(w.phaseV.Row(r*k+b), g.states.V.Row(r))
			copy(w.phaseH.Row(r*k+b), mean.Row(r))
		}
	}
	w.taken = k
	clear(w.weight)
}

// weigh overwrites the weights of the particles of chain r by infinite swapping, as
// energies f say.
func (p *ptt) weigh(f []float64, k, r int) {
	w := &p.work
	share := w.share[:k]
	w.insWeights(share, f, k)
	for b, s := range share {
		w.weight[r*k+b] = float32(s / float64(p.rows))
	}
	p.info.Off += 1 - share[k-1]
	p.info.Groups++
}

// insWeights overwrites share with the probability of each of k particles to be that of
// the last model, when all permutations of the particles count by their probability. f
// holds F_a(x_b) at [a·K+b].
func (w *exchangeWork) insWeights(share, f []float64, k int) {
	if k == 2 {
		// σ(Δ) and 1 − σ(Δ), safe at any size.
		d := delta(f, 2, 0, 0, 1)
		e := rbm.Exp(min(d, -d))
		small, large := e/(1+e), 1/(1+e)
		share[0], share[1] = small, large
		if d > 0 {
			share[0], share[1] = large, small
		}
		return
	}
	// The permanent weighs for the first model: take the models from the last.
	perm := w.perm[k]
	turned := w.turned[:k*k]
	for a := range k {
		copy(turned[a*k:(a+1)*k], f[(k-1-a)*k:(k-a)*k])
	}
	perm.setEnergies(turned)
	perm.weights(share)
}

// phase returns the weighted particles of the last sweep.
func (w *exchangeWork) phase(p *ptt) rbm.Phase {
	if w.taken > 0 {
		n := w.taken * p.rows
		w.taken = 0
		return rbm.Phase{Batch: rbm.Batch{V: w.phaseV.Slice(0, n), H: w.phaseH.Slice(0, n), Weight: w.weight[:n]}}
	}
	w.phaseV.Slice(0, p.rows).CopyFrom(p.states.V)
	copy(w.phaseH.Data[:len(p.states.Mean.Data)], p.states.Mean.Data)
	return rbm.Phase{Batch: rbm.Batch{V: w.phaseV.Slice(0, p.rows), H: w.phaseH.Slice(0, p.rows)}}
}
