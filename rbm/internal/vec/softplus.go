package vec

import "math"

// Softplus returns log(1+eˣ), safe at any size.
func Softplus(x float64) float64 {
	return max(x, 0) + Log(1+Exp(-math.Abs(x)))
}

// lanes are the eight partial sums of max(x,0), then the eight partial
// products of 1+e^−|x|, that Σ log(1+eˣ) is made of.
type lanes [2 * Wide]float64

// Wide is the number of partial sums of the kernels in float64.
const Wide = 8

// softplusRun is the number of terms whose factors, in (1,2], are multiplied
// before one logarithm: 2¹⁰⁰⁰ is within range.
const softplusRun = 1000

func newLanes() (l lanes) {
	for i := Wide; i < len(l); i++ {
		l[i] = 1
	}
	return l
}

// total folds lanes l and l+4, then l and l+2, then 0 and 1, and returns the
// sum of softplus terms that they stand for.
func (l *lanes) total() float64 {
	for half := Wide / 2; half > 0; half /= 2 {
		for q := range half {
			l[q] += l[q+half]
			l[Wide+q] *= l[Wide+q+half]
		}
	}
	return l[0] + Log(l[Wide])
}

// SoftplusSum returns Σ log(1+eˣ) over x. Of each thousand terms, lane l of
// eight takes terms l, l+8, … in order: it adds max(x,0) and multiplies the
// factors 1+e^−|x|. The lanes are folded as total says, with one logarithm,
// and the thousands are added in order.
func SoftplusSum(x []float64) float64 {
	sum := 0.0
	for len(x) > softplusRun {
		l := newLanes()
		softplus(&l, x[:softplusRun])
		sum += l.total()
		x = x[softplusRun:]
	}
	l := newLanes()
	whole := len(x) / Wide * Wide
	if whole > 0 {
		softplus(&l, x[:whole])
	}
	if whole < len(x) {
		rest := padded(x[whole:], math.Inf(-1))
		softplus(&l, rest[:])
	}
	return sum + l.total()
}

// padded returns fewer than Wide values, filled up.
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

// Means overwrites on and off with σ(x) and σ(−x) and returns Σ log(1+eˣ), in
// the order of SoftplusSum. |x| counts as no larger than 708 in the means, so
// that none is denormal; a NaN makes the sum NaN and leaves its means open. It
// panics if len(x) is not a multiple of Wide or on or off is shorter.
func Means(on, off, x []float64) float64 {
	if len(x)%Wide != 0 {
		panic("vec: Means of a number of units that is no multiple of eight")
	}
	_, _ = on[:len(x)], off[:len(x)]
	sum := 0.0
	for {
		n := min(len(x), softplusRun)
		if n == 0 {
			return sum
		}
		l := newLanes()
		means(on[:n], off[:n], &l, x[:n])
		sum += l.total()
		on, off, x = on[n:], off[n:], x[n:]
	}
}

func meansGo(on, off []float64, l *lanes, x []float64) {
	for i, x := range x {
		e := Exp(max(-math.Abs(x), -708))
		f := 1 + e
		l[i%Wide] += max(x, 0)
		l[Wide+i%Wide] *= f
		on[i] = 1 / f
		off[i] = e * on[i]
		if math.Signbit(x) {
			on[i], off[i] = off[i], on[i]
		}
	}
}

// Exps overwrites dst, len(x), with eˣ; x counts as no larger than 700 in size
// and must not be NaN.
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

// expsWork is the number of exponentials, some 1 ns each, of one call.
const expsWork = 1 << 14

func exps64Go(dst, x []float64) {
	for i, x := range x {
		dst[i] = Exp(min(max(x, -700), 700))
	}
}
