package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// HiddenMeanFree overwrites mean, v.Rows × Hidden(), with p(h=1|v) and free, len
// v.Rows, with F(v) in nats, in one up pass. The means have the bits of HiddenMean.
// F is that of FreeEnergy but for rounding: its preactivations are sums in float32,
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

// StepFree takes each row of s through steps block Gibbs steps that end at v: v|h, and
// between steps h|v. It starts from s.H and overwrites s.V, s.Mean and free, one place a
// row, which become p(h|v) and F(v) of the new s.V, as HiddenMeanFree gives them.
// s.H and s.Energy do not belong to it: draw h by HiddenSample before the next steps.
// It is for chains whose visible states persist, where weights and swaps are by free
// energies. Draws depend on key, the row, the step and the unit alone. It panics where
// Step does.
func (m *RBM) StepFree(s *States, free []float64, steps int, key Key) {
	m.StepFreeRows(s, 0, s.H.Rows, free, steps, key)
}

// StepFreeRows is StepFree of the rows lo … hi−1 alone, to the bits that StepFree gives
// them. It leaves all other rows, and their places of free, as they are. It panics
// where StepFree does, or if there are no such rows.
func (m *RBM) StepFreeRows(s *States, lo, hi int, free []float64, steps int, key Key) {
	s.check(m)
	s.checkRows(lo, hi)
	if len(free) != s.V.Rows {
		panic("rbm: StepFree needs one free energy a row")
	}
	if steps < 1 {
		panic("rbm: StepFree needs at least one step")
	}
	if m.Constraint != nil && m.Constraint.On == AllUnits {
		panic("rbm: StepFree is not for models with a constraint on all units")
	}
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

// A freeSum collects, in an up pass that computes means p = σ(a), what the hidden
// units add to −F: by log(1+eᵃ) = max(a,0) − log max(p,1−p), the sum of the first
// terms and the product of the arguments of the second, for each row and panel. A
// mean is off by at most some 2⁻²⁴ of itself, so that a unit adds no more than that to
// the rounding of its preactivation.
type freeSum struct {
	wanted       bool
	above, below []float64 // rows × panels
}

// startFree makes the next up pass collect what sumFree needs. It must compute means.
func (p *pass) startFree() {
	if p.m.Constraint != nil {
		return
	}
	n := p.v.Rows * vec.Blocks(p.m.Hidden())
	p.free.above, p.free.below = grown(p.free.above, n), grown(p.free.below, n)
	p.free.wanted = true
}

// freePanel collects from the preactivations of panel k, n rows from lo on.
func (p *pass) freePanel(acts []float32, k, lo, n, width int) {
	panels := vec.Blocks(p.m.Hidden())
	for r := range n {
		a := acts[r*vec.Block:][:width]
		mean := p.mean.Data[(lo+r)*p.mean.Cols+k*vec.Block:][:width]
		// Units take turns in two lanes. All of it is free of branches: a+|a| is twice
		// max(a,0), and ½+|p−½| is max(p,1−p), exactly.
		var sum [2]float64
		product := [2]float64{1, 1}
		i := 0
		for ; i+1 < len(a) && i+1 < len(mean); i += 2 {
			x, y := float64(a[i]), float64(a[i+1])
			sum[0] += x + math.Abs(x)
			sum[1] += y + math.Abs(y)
			product[0] *= 0.5 + math.Abs(float64(mean[i])-0.5)
			product[1] *= 0.5 + math.Abs(float64(mean[i+1])-0.5)
		}
		if i < width {
			x := float64(a[i])
			sum[0] += x + math.Abs(x)
			product[0] *= 0.5 + math.Abs(float64(mean[i])-0.5)
		}
		at := (lo+r)*panels + k
		p.free.above[at], p.free.below[at] = (sum[0]+sum[1])/2, product[0]*product[1]
	}
}

// sumFree overwrites dst with F of the visible rows of the up pass that startFree
// began.
func (p *pass) sumFree(dst []float64) {
	if p.m.Constraint != nil {
		p.m.FreeEnergy(dst, p.v)
		return
	}
	p.free.wanted = false
	panels := vec.Blocks(p.m.Hidden())
	for r := range dst {
		above, below := p.free.above[r*panels:][:panels], p.free.below[r*panels:][:panels]
		sum, product := maskedSums(p.m.VisibleBias, p.v.Row(r)), 1.0
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
