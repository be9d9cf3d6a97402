package vec

import "math"

// A Quad holds one value for each of four rows.
type Quad [4]float64

// Spread writes, for each of four rows,
//
//	dst[i] = q·src[i+1] + p·src[i]
//
// with both products rounded before they are added. The number of independent units that are on has a Poisson
// binomial distribution. Spread is the step of a recursion that adds a unit to this distribution; the unit is
// on with probability p = 1−q. It panics if src has fewer than len(dst)+1 elements. dst and src must not
// overlap.
func Spread(dst, src []Quad, p, q *Quad) {
	if len(dst) == 0 {
		return
	}
	src = src[:len(dst)+1]
	spread(dst, src, p, q)
}

func spreadGo(dst, src []Quad, p, q *Quad) {
	p0, p1, p2, p3 := p[0], p[1], p[2], p[3]
	q0, q1, q2, q3 := q[0], q[1], q[2], q[3]
	low := &src[0]
	for i := range dst {
		high, to := &src[i+1], &dst[i]
		to[0] = float64(q0*high[0]) + float64(p0*low[0])
		to[1] = float64(q1*high[1]) + float64(p1*low[1])
		to[2] = float64(q2*high[2]) + float64(p2*low[2])
		to[3] = float64(q3*high[3]) + float64(p3*low[3])
		low = high
	}
}

// Join overwrites sum, for each of four rows, with Σ f[i+1]·b[i] over i < len(b). It sums even i
// and odd i separately, in ascending order, and adds the two sums. Then it replaces
//
//	f[i] by q·f[i] + p·f[i+1]
//
// for these i. It panics if f has fewer than len(b)+1 elements.
func Join(sum *Quad, f, b []Quad, p, q *Quad) {
	if len(b) == 0 {
		*sum = Quad{}
		return
	}
	f = f[:len(b)+1]
	join(sum, f, b, p, q)
}

func joinGo(sum *Quad, f, b []Quad, p, q *Quad) {
	var sums [2]Quad
	for i := range b {
		at, next, back, s := &f[i], &f[i+1], &b[i], &sums[i&1]
		for l := range 4 {
			s[l] += float64(next[l] * back[l])
			at[l] = float64(q[l]*at[l]) + float64(p[l]*next[l])
		}
	}
	for l := range sum {
		sum[l] = sums[0][l] + sums[1][l]
	}
}

// Chances overwrites p with 1/(1+e^−x) and q with 1/(1+eˣ), both with small relative errors.
// It limits |x| to 708, because e^−|x| would be subnormal beyond. x must not be NaN. All slices have the
// same length.
func Chances(p, q, x []float64) {
	p, q = p[:len(x)], q[:len(x)]
	whole := len(x) / Wide * Wide // number of values for the assembly
	for lo := 0; lo < whole; lo += chancesWork {
		hi := min(lo+chancesWork, whole)
		chances(p[lo:hi], q[lo:hi], x[lo:hi])
	}
	chancesGo(p[whole:], q[whole:], x[whole:])
}

func chancesGo(p, q, x []float64) {
	for i, x := range x {
		e := Exp(-min(math.Abs(x), 708))
		high := 1 / (1 + e)
		low := float64(e * high)
		if math.Signbit(x) {
			high, low = low, high
		}
		p[i], q[i] = high, low
	}
}
