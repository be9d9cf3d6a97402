package rbm

import "gorbm/rbm/internal/vec"

// HiddenMeanFree overwrites mean, v.Rows × Hidden(), with p(h=1|v) and free, len
// v.Rows, with F(v) in nats, in one up pass. The means are identical to those of HiddenMean.
// F differs from that of FreeEnergy by rounding: its preactivations are sums in float32,
// and all else is in float64. It is for weights and swaps of chains in training,
// and takes a fraction of the time of FreeEnergy. Under a constraint it takes both
// passes. It panics if the shapes differ.
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

// StepFreeRows takes the rows lo … hi−1 of s through steps block Gibbs steps that end at v: v|h, and
// between steps h|v. It starts from s.H and overwrites s.V, s.Mean and free, one place a
// row of s, which become p(h|v) and F(v) of the new s.V, as HiddenMeanFree gives them. It leaves
// all other rows as they are. s.H and s.Energy do not belong to it: draw h by HiddenSample before
// the next steps. It is for chains whose visible states persist, where weights and swaps are by free
// energies. Draws depend on key, the row, the step and the unit alone. It panics where
// StepRows does.
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

// A freeSum collects, in an up pass that computes means, the log Z of the hidden units: for
// each row and panel as units.Kind.LogZs writes it.
type freeSum struct {
	wanted       bool
	panels       int
	sum, product []float64 // rows × panels
}

// startFree makes the next up pass collect what sumFree needs, if there is such. It must compute means.
func (p *pass) startFree() {
	p.m.given().startFree(p)
}

func (independent) startFree(p *pass) {
	p.free.panels = vec.Blocks(p.m.Hidden())
	n := p.v.Rows * p.free.panels
	p.free.sum, p.free.product = grown(p.free.sum, n), grown(p.free.product, n)
	p.free.wanted = true
}

// sumFree overwrites dst with F of the visible rows of the up pass that startFree
// began.
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
			if k%14 == 13 {     // together within the range of float64
				sum -= Log(product)
				product = 1
			}
		}
		dst[r] = Log(product) - sum
	}
}
