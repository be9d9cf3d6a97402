package vec

import (
	"math"
	"slices"
)

// Sweeps are operations on every parameter of a model, or on numbers of the same
// shape, such as a velocity. Steps below Tiny in absolute value count as zero, so that
// numbers do not become subnormal.
//
// A rest has a second number for each parameter, the rounding error of its steps, which is added to the next
// step. Without a rest, steps below half of a parameter's last bit would be lost. Parameter plus rest is the
// sum of all steps with twice the digits.
//
// A sweep panics unless its slices have the same length. They must not overlap unless they are the same.

// sweepWork is the largest number of values of one call; sixteen values take about 3 ns.
const sweepWork = 1 << 18

// sizeLanes is the number of lanes of the kernels of Largest.
const sizeLanes = 16

// Largest returns the largest |x|, NaN if an x is NaN, and 0 for no values. It compares the bits of |x|
// as integers, which have the order of the numbers; NaN is above infinity.
func Largest(x []float32) float32 {
	var lanes [sizeLanes]uint32
	for ; len(x) >= sizeLanes; x = x[min(len(x)/sizeLanes*sizeLanes, sweepWork):] {
		sizes(&lanes, x[:min(len(x)/sizeLanes*sizeLanes, sweepWork)])
	}
	for l, x := range x {
		lanes[l] = max(lanes[l], math.Float32bits(x)&^(1<<31))
	}
	return math.Float32frombits(slices.Max(lanes[:]))
}

func sizesGo(lanes *[sizeLanes]uint32, x []float32) {
	for ; len(x) > 0; x = x[sizeLanes:] {
		for l := range lanes {
			lanes[l] = max(lanes[l], math.Float32bits(x[l])&^(1<<31))
		}
	}
}

// Shrink multiplies m by 1−a.
func Shrink(m []float32, a float32) {
	eachStretch(len(m), func(lo, hi int) { shrink(m[lo:hi], a) })
}

// Advance adds a·x to m.
func Advance(m, x, rest []float32, a float32) {
	checkSweep(m, x, rest)
	eachStretch(len(m), func(lo, hi int) {
		if rest == nil {
			advance(m[lo:hi], x[lo:hi], a)
		} else {
			advanceRest(m[lo:hi], x[lo:hi], rest[lo:hi], a)
		}
	})
}

// Approach moves m towards x: m += a·(x−m).
func Approach(m, x, rest []float32, a float32) {
	checkSweep(m, x, rest)
	eachStretch(len(m), func(lo, hi int) {
		if rest == nil {
			approach(m[lo:hi], x[lo:hi], a)
		} else {
			approachRest(m[lo:hi], x[lo:hi], rest[lo:hi], a)
		}
	})
}

// Decay multiplies m by 1−l2, then moves it towards zero by at most l1.
func Decay(m, rest []float32, l1, l2 float32) {
	checkSweep(m, m, rest)
	eachStretch(len(m), func(lo, hi int) {
		if rest == nil {
			decay(m[lo:hi], l1, l2)
		} else {
			decayRest(m[lo:hi], rest[lo:hi], l1, l2)
		}
	})
}

func checkSweep(m, x, rest []float32) {
	if len(x) != len(m) || rest != nil && len(rest) != len(m) {
		panic("vec: a sweep over slices of different lengths")
	}
}

// eachStretch divides n values into ranges of whole blocks, for calls of assembly, and
// a last range for plain Go.
func eachStretch(n int, f func(lo, hi int)) {
	whole := n / Block * Block
	for lo := 0; lo < whole; lo += sweepWork {
		f(lo, min(lo+sweepWork, whole))
	}
	if whole < n {
		f(whole, n)
	}
}

func shrinkGo(m []float32, a float32) {
	for i, x := range m {
		m[i] = flush(x - float32(x*a))
	}
}

func advanceGo(m, x []float32, a float32) {
	for i, x := range x {
		m[i] += flush(float32(x * a))
	}
}

func advanceRestGo(m, x, rest []float32, a float32) {
	for i, x := range x {
		m[i], rest[i] = twoSum(m[i], flush(float32(x*a))+rest[i])
	}
}

func approachGo(m, x []float32, a float32) {
	for i, x := range x {
		m[i] += flush(float32((x - m[i]) * a))
	}
}

func approachRestGo(m, x, rest []float32, a float32) {
	for i, x := range x {
		m[i], rest[i] = twoSum(m[i], flush(float32((x-m[i]-rest[i])*a))+rest[i])
	}
}

func decayGo(m []float32, l1, l2 float32) {
	for i, x := range m {
		if step, stop := decayStep(x, l1, l2); stop {
			m[i] = 0
		} else {
			m[i] += step
		}
	}
}

func decayRestGo(m, rest []float32, l1, l2 float32) {
	for i, x := range m {
		if step, stop := decayStep(x, l1, l2); stop {
			m[i], rest[i] = 0, 0
		} else {
			m[i], rest[i] = twoSum(x, step+rest[i])
		}
	}
}

// decayStep returns the step of Decay, and whether x becomes zero.
func decayStep(x, l1, l2 float32) (step float32, stop bool) {
	share := flush(float32(x * l2))
	left := x - share
	if left < l1 && left > -l1 {
		return 0, true
	}
	if math.Signbit(float64(left)) {
		l1 = -l1
	}
	return 0 - (share + l1), false
}

// twoSum returns the rounded sum x+y and the rounding error. The error is
// exact (Knuth, The Art of Computer Programming, volume 2, section 4.2.2).
func twoSum(x, y float32) (sum, rest float32) {
	sum = x + y
	z := sum - x
	return sum, (y - z) + (x - (sum - z))
}

// Centre subtracts the terms of a centred gradient (rbm.Ascent) from steps of weights in a panel:
//
//	steps[i·Block+c] = (steps[i·Block+c] − mu[i]·gc[c]) − gb[i]·lambda[c]
//
// Products are rounded to float32. It panics if gb has another length than mu, or
// if steps has fewer than len(mu) rows.
func Centre(steps, mu, gb []float32, gc, lambda *[Block]float32) {
	if len(gb) != len(mu) {
		panic("vec: Centre of slices of different lengths")
	}
	_ = steps[:len(mu)*Block]
	for lo := 0; lo < len(mu); lo += centreWork {
		hi := min(lo+centreWork, len(mu))
		centre(steps[lo*Block:], mu[lo:hi], gb[lo:hi], gc, lambda)
	}
}

// centreWork is the largest number of rows of one call; each takes about 10 ns.
const centreWork = 1 << 12

func centreGo(steps, mu, gb []float32, gc, lambda *[Block]float32) {
	for i, mu := range mu {
		row, gb := (*[Block]float32)(steps[i*Block:]), gb[i]
		for c, l := range lambda {
			row[c] = row[c] - float32(mu*gc[c]) - float32(gb*l)
		}
	}
}

// dotLanes is the number of lanes of Dot64.
const dotLanes = 32

// Dot64 returns Σ x[i]·y[i] in float64. Product i is added in lane i mod 32. Then lanes l and l+16,
// l and l+8, … 0 and 1 are added. It panics if y is shorter than x.
func Dot64(x []float32, y []float64) float64 {
	var sum [dotLanes]float64
	y = y[:len(x)]
	whole := len(x) / dotLanes * dotLanes
	for lo := 0; lo < whole; lo += sweepWork {
		var part [dotLanes]float64
		n := min(sweepWork, whole-lo)
		dot64(&part, x[lo:lo+n], y[lo:lo+n])
		for l, x := range part {
			sum[l] += x
		}
	}
	for i := whole; i < len(x); i++ {
		sum[i-whole] += float64(float64(x[i]) * y[i])
	}
	for half := dotLanes / 2; half > 0; half /= 2 {
		for l := range half {
			sum[l] += sum[l+half]
		}
	}
	return sum[0]
}

func dot64Go(sum *[dotLanes]float64, x []float32, y []float64) {
	clear(sum[:])
	for ; len(x) > 0; x, y = x[dotLanes:], y[dotLanes:] {
		for l := range sum {
			sum[l] += float64(float64(x[l]) * y[l])
		}
	}
}
