package rbm

import "gorbm/rbm/internal/vec"

// labels draws the softmax label of row r, by the uniform of its first unit,
// or takes the label means.
func (l *layers) labels(r int) {
	m := l.m
	x := l.label[r*m.Classes : (r+1)*m.Classes]
	nx := m.Inputs()
	if l.mean.Rows > 0 {
		vec.Softmax(l.mean.Row(r)[nx:], x)
	}
	if l.draw {
		l.drawLabel(x, l.v, r, l.stream)
	}
}

// drawLabel draws the softmax label of row r of v from its preactivations x,
// which it overwrites, at the row's β, or coupled to the partner's.
func (l *layers) drawLabel(x []float32, v Bits, r int, stream vec.Stream) {
	nx := l.m.Inputs()
	beta := float32(1)
	if l.beta != nil {
		beta = l.beta[r]
	}
	if l.base != nil {
		for c, b := range l.base.VisibleBias[nx:] {
			x[c] = float32(beta*x[c]) + float32((1-beta)*b)
		}
		beta = 1
	}
	if l.partner != nil {
		v.Set(r, nx+l.coupledLabel(r, x), true)
		return
	}
	y := vec.DrawOne(x, stream.Uniform(uint32(l.first+r), uint32(nx)), beta)
	v.Set(r, nx+y, true)
}
