package compare

import (
	"math"

	"gorbm/rbm"
)

// A Mean is the running mean of phases of one shape, with equal weights.
type Mean struct {
	visible, hidden int
	sum             []float64
	n               int
}

// NewMean returns an empty mean for phases of m's shape.
func NewMean(m *rbm.RBM) *Mean {
	v, h := m.Visible(), m.Hidden()
	return &Mean{visible: v, hidden: h, sum: make([]float64, v*h+v+h)}
}

// Reset removes all phases.
func (a *Mean) Reset() {
	clear(a.sum)
	a.n = 0
}

// Add adds a phase: its moments if it has them, otherwise its weighted particles. It panics
// if the phase has another shape.
func (a *Mean) Add(p rbm.Phase) {
	a.n++
	vh := a.sum[:a.visible*a.hidden]
	v, h := a.sum[len(vh):len(vh)+a.visible], a.sum[len(vh)+a.visible:]
	if s := p.Moments; s != nil {
		plus(vh, 1, s.VH.Data)
		plus(v, 1, s.V)
		plus(h, 1, s.H)
		return
	}
	if p.H.Cols != a.hidden || p.V.Cols != a.visible {
		panic("compare: a phase of another shape")
	}
	for r := range p.Rows() {
		w := p.WeightOf(r)
		if w == 0 {
			continue
		}
		mean := p.H.Row(r)
		plus(h, w, mean)
		p.V.Nonzero(r, func(i int, x float32) {
			share := float64(w * float64(x))
			v[i] += share
			plus(vh[i*a.hidden:(i+1)*a.hidden], share, mean)
		})
	}
}

// plus adds w·x to sum.
func plus(sum []float64, w float64, x []float32) {
	sum = sum[:len(x)]
	for i, y := range x {
		sum[i] += float64(w * float64(y))
	}
}

// Sum returns the sum of the phases, which shares memory with a.
func (a *Mean) Sum() []float64 { return a.sum }

// Value overwrites dst with the mean; NaN if there are no phases.
func (a *Mean) Value(dst []float64) {
	n := float64(a.n)
	for i, x := range a.sum {
		dst[i] = x / n
	}
}

// Distance returns the Euclidean distance of the mean from x.
func (a *Mean) Distance(x []float64) float64 {
	n, sum := float64(a.n), 0.0
	for i, s := range a.sum {
		d := s/n - x[i]
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

// norm returns the Euclidean norm of x.
func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v * v)
	}
	return math.Sqrt(sum)
}

// cosine returns the cosine of the angle between the likelihood gradients positive − a and positive − b,
// or between the negative phases a and b if positive is nil. It is NaN if one of the vectors is zero.
func cosine(a, b, positive []float64) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := a[i], b[i]
		if positive != nil {
			x, y = positive[i]-x, positive[i]-y
		}
		dot += float64(x * y)
		aa += float64(x * x)
		bb += float64(y * y)
	}
	return dot / math.Sqrt(float64(aa*bb))
}
