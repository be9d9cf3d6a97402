package vec

import "math"

// Softplus returns log(1+eˣ) without overflow.
func Softplus(x float64) float64 {
	return max(x, 0) + Log(1+Exp(-math.Abs(x)))
}

// lanes are eight partial sums of max(x,0), then eight partial products of
// 1+e^−|x|. Together they give Σ log(1+eˣ).
type lanes [2 * Wide]float64

// Wide is the number of partial sums of the kernels in float64.
const Wide = 8

// softplusRun is the number of factors in (1,2] that are multiplied
// before one logarithm. Their product, at most 2¹⁰⁰⁰, is within range.
const softplusRun = 1000

func newLanes() (l lanes) {
	for i := Wide; i < len(l); i++ {
		l[i] = 1
	}
	return l
}

// fold combines lanes l and l+4, then l and l+2, then 0 and 1. It returns Σ max(x,0)
// and Σ log(1+e^−|x|).
func (l *lanes) fold() (above, rest float64) {
	for half := Wide / 2; half > 0; half /= 2 {
		for q := range half {
			l[q] += l[q+half]
			l[Wide+q] *= l[Wide+q+half]
		}
	}
	return l[0], Log(l[Wide])
}

// SoftplusSum returns Σ log(1+eˣ) over x. It processes softplusRun terms at a time, and adds their
// results in order. Lane l of eight adds max(x,0) and multiplies the factors 1+e^−|x| of terms
// l, l+8, … in order. fold combines the lanes and computes one logarithm.
func SoftplusSum(x []float64) float64 {
	sum := 0.0
	for len(x) > 0 {
		n := min(len(x), softplusRun)
		l, whole := newLanes(), n/Wide*Wide
		if whole > 0 {
			softplus(&l, x[:whole])
		}
		if whole < n {
			rest := padded(x[whole:n], math.Inf(-1))
			softplus(&l, rest[:])
		}
		above, rest := l.fold()
		sum += above + rest
		x = x[n:]
	}
	return sum
}

// padded returns x padded with fill to Wide values.
func padded(x []float64, fill float64) (p [Wide]float64) {
	for i := copy(p[:], x); i < Wide; i++ {
		p[i] = fill
	}
	return p
}

func softplusGo(l *lanes, x []float64) {
	for i, x := range x {
		l[i%Wide] += max(x, 0)
		l[Wide+i%Wide] *= 1 + Exp(-math.Abs(x))
	}
}

// Odds overwrites on and off with numbers whose ratio on/off is σ(x)/σ(−x), where σ(x) = 1/(1+e^−x):
// the larger is 1, and the other is e^−|x|. It also returns the two parts of
// Σ log(1+eˣ): above = Σ max(x,0) and rest = Σ log(1+e^−|x|) = Σ log(on+off), in the
// order of SoftplusSum. It limits |x| in on and off to 708, so that neither is subnormal. If an x is
// NaN, above is NaN, and on and off of this x are undefined. It panics if len(x) is not a
// multiple of Wide or on or off is shorter.
func Odds(on, off, x []float64) (above, rest float64) {
	if len(x)%Wide != 0 {
		panic("vec: Odds of a number of units that is not a multiple of eight")
	}
	_, _ = on[:len(x)], off[:len(x)]
	for len(x) > 0 {
		n := min(len(x), softplusRun)
		l := newLanes()
		odds(on[:n], off[:n], &l, x[:n])
		a, r := l.fold()
		above, rest = above+a, rest+r
		on, off, x = on[n:], off[n:], x[n:]
	}
	return above, rest
}

func oddsGo(on, off []float64, l *lanes, x []float64) {
	for i, x := range x {
		e := Exp(max(-math.Abs(x), -708))
		l[i%Wide] += max(x, 0)
		l[Wide+i%Wide] *= 1 + e
		on[i], off[i] = 1, e
		if math.Signbit(x) {
			on[i], off[i] = e, 1
		}
	}
}

// Exps overwrites the first len(x) values of dst with eˣ, with x limited to ±700. x must
// not be NaN.
func Exps(dst, x []float64) {
	dst = dst[:len(x)]
	for len(x) >= Wide {
		n := min(len(x), expsWork) / Wide * Wide
		exps64(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
	}
	if len(x) > 0 {
		rest := padded(x, 0)
		exps64(rest[:], rest[:])
		copy(dst, rest[:])
	}
}

func exps64Go(dst, x []float64) {
	for i, x := range x {
		dst[i] = Exp(min(max(x, -700), 700))
	}
}
