package rbm

import "gorbm/rbm/internal/vec"

// HiddenMeanFree computes hidden means and free energies in one up pass. It overwrites mean,
// v.Rows × Hidden(), with the means of HiddenMean, and free, of length v.Rows, with F(v) in nats.
// F differs from that of FreeEnergy by rounding, because its preactivations are float32 sums. It takes
// a fraction of the time of FreeEnergy, and is precise enough for the weights and swaps of chains in
// training. Under a constraint it calls FreeEnergy. It panics if the shapes differ.
func (m *RBM) HiddenMeanFree(mean Matrix, free []float64, v Values) {
	m.checkStates(v)
	if mean.Rows != v.Rows || mean.Cols != m.Hidden() || len(free) != v.Rows {
		panic("rbm: HiddenMeanFree needs rows × hidden means and one free energy a row")
	}
	m.passes(v.Rows, func(p *pass, lo, hi int) {
		p.v, p.mean = v.Slice(lo, hi), mean.Slice(lo, hi)
		p.startFree()
		p.runUp(p.v)
		p.sumFree(free[lo:hi])
	})
}

// StepFreeRows advances the chains in rows lo … hi−1 of s by block Gibbs steps that end at v: v|h,
// and h|v between steps. It is for chains whose visible states persist, with weights and swaps from
// free energies. It starts from s.H, overwrites s.V, and writes the hidden means to s.Mean and
// F(v) to free, which has an element for each row of s: see HiddenMeanFree. Other rows do not change.
// s.H and s.Energy do not match the new s.V: draw h by HiddenSample before the next call. Draws
// depend only on key, the row, the step and the unit. It panics where StepRows does.
func (m *RBM) StepFreeRows(s *States, lo, hi int, free []float64, steps int, key Key) {
	s.check(m)
	s.checkRows(lo, hi)
	if len(free) != s.V.Rows {
		panic("rbm: StepFreeRows needs one free energy a row")
	}
	if steps < 1 {
		panic("rbm: StepFreeRows needs at least one step")
	}
	m.mustStep("StepFreeRows")
	if lo == hi {
		return
	}
	v, mean := s.V.Slice(lo, hi), s.Mean.Slice(lo, hi)
	for t := range steps {
		step := key.Child(uint64(t))
		if t > 0 {
			m.HiddenMean(mean, v)
			m.hiddenSample(s.H.Slice(lo, hi), Batch{V: v, H: mean}, step.Child(2), lo)
		}
		p := s.pass
		p.grow(m, min(hi-lo, chunkRows))
		p.draw, p.mean = true, Matrix{}
		p.stream = step.Child(0).stream()
		for at := lo; at < hi; at += chunkRows {
			end := min(at+chunkRows, hi)
			p.first, p.v, p.h = at, s.V.Slice(at, end), s.H.Slice(at, end)
			p.runDown()
		}
		p.forget()
	}
	m.HiddenMeanFree(mean, free[lo:hi], v)
}

// A freeSum holds log Z of the hidden units, in the form of units.Kind.LogZs. An up pass that computes
// means writes it.
type freeSum struct {
	wanted       bool
	panels       int
	sum, product []float64 // rows × panels
}

// startFree makes the next up pass compute log Z of the hidden units, unless m has a constraint. That pass
// must compute means.
func (p *pass) startFree() {
	p.m.given().startFree(p)
}

func (independent) startFree(p *pass) {
	p.free.panels = vec.Blocks(p.m.Hidden())
	n := p.v.Rows * p.free.panels
	p.free.sum, p.free.product = grown(p.free.sum, n), grown(p.free.product, n)
	p.free.wanted = true
}

// sumFree overwrites dst with F of the visible rows, after the up pass.
func (p *pass) sumFree(dst []float64) {
	if !p.free.wanted {
		p.m.FreeEnergy(dst, p.v)
		return
	}
	p.free.wanted = false
	panels := p.free.panels
	for r := range dst {
		above, below := p.free.sum[r*panels:][:panels], p.free.product[r*panels:][:panels]
		sum, product := p.m.visible.weight(&p.v, r, &p.m.visible.dist), 1.0
		for k := range above {
			sum += above[k]
			product *= below[k] // at least 2⁻⁶⁴
			if k%14 == 13 {     // fourteen factors stay within the range of float64
				sum -= Log(product)
				product = 1
			}
		}
		dst[r] = Log(product) - sum
	}
}
