package negphase

import "math"

// A monotone is a piecewise cubic interpolant with a continuous slope, monotone wherever its points are
// (Fritsch & Butland 1984). It is not computed by a library: draws on a tuned ladder depend on its last
// bit, and compilers may fuse a library's products and sums on some processors.
type monotone struct {
	x, y  []float64
	slope []float64 // at x
}

// newMonotone returns the curve through two or more points with rising x.
func newMonotone(x, y []float64) monotone {
	m := len(x) - 1
	chord := make([]float64, m)
	for i := range chord {
		chord[i] = (y[i+1] - y[i]) / (x[i+1] - x[i])
	}
	slope := make([]float64, m+1)
	if m == 1 {
		slope[0], slope[1] = chord[0], chord[0]
		return monotone{x, y, slope}
	}
	for i := 1; i < m; i++ {
		left, right := x[i]-x[i-1], x[i+1]-x[i]
		if chord[i-1]*chord[i] > 0 { // a weighted harmonic mean; at a local extremum the slope is 0
			slope[i] = 3 * (left + right) / ((left+2*right)/chord[i-1] + (2*left+right)/chord[i])
		}
	}
	slope[0] = edgeSlope(x[1]-x[0], x[2]-x[1], chord[0], chord[1])
	slope[m] = edgeSlope(x[m]-x[m-1], x[m-1]-x[m-2], chord[m-1], chord[m-2])
	return monotone{x, y, slope}
}

// edgeSlope returns the slope at an end of the curve: the slope of the parabola through the last three
// points, limited so that the curve stays monotone. last and before are the widths of the last interval
// and its neighbour, chord and next the slopes of their chords.
func edgeSlope(last, before, chord, next float64) float64 {
	s := (float64((2*last+before)*chord) - float64(last*next)) / (last + before)
	switch {
	case s*chord <= 0:
		return 0
	case chord*next <= 0 && math.Abs(s) > 3*math.Abs(chord):
		return 3 * chord
	}
	return s
}

// at returns the value of the curve at x, between the first point and the last.
func (c monotone) at(x float64) float64 {
	i := 0
	for i < len(c.x)-2 && x >= c.x[i+1] {
		i++
	}
	width, rise := c.x[i+1]-c.x[i], c.y[i+1]-c.y[i]
	t := (x - c.x[i]) / width
	// The cubic Hermite polynomial y + t·(a + t·(b + t·d)), where a and z are the slopes at both
	// ends times the width.
	a, z := float64(width*c.slope[i]), float64(width*c.slope[i+1])
	b := float64(3*rise) - 2*a - z
	d := a + z - 2*rise
	return c.y[i] + float64(t*(a+float64(t*(b+float64(t*d)))))
}
