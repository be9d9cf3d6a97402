package vec

import "math"

// A product over many units is stored as a mantissa in [1,2) and a power of two, so
// that it cannot overflow. The factors of units l, l+8, … are multiplied in lane l of
// eight, in this order, starting with 1. After some units each lane is split into
// mantissa and power. The mantissas of lanes l and l+4, then l and l+2, then 0 and 1 are
// multiplied, and the powers are added. The result multiplies the stored product.
//
// The lanes must stay within the range of float64. Span returns the number of units that may
// be multiplied between two splits. Splitting is exact, so the result does not depend on that number.

// Span returns the largest number of units between two splits, a multiple of Wide. size is the
// largest absolute logarithm of a ratio in table of Products. on and off must be those of Odds. Span
// returns zero if size is above 700 or NaN.
func Span(size float64) int {
	if !(size <= maxLog) {
		return 0
	}
	return Wide * max(1, int(maxLog/(size+math.Ln2))) // off + on·ratio is at most 2e^size
}

// maxLog is small enough that 2e^±maxLog are normal numbers: the largest float64 is e^709.8.
const maxLog = 700

// Products multiplies each of the products m[y]·2^e[y] by
//
//	Π (off[j] + on[j]·table[offsets[y]+j])
//
// over the units j. It splits the lanes after every span units. It panics if len(on) or span is not
// a multiple of Wide, if span is not positive, or if a slice is too short. It does not check offsets.
func Products(m []float64, e []int64, on, off, table []float64, offsets []uint32, span int) {
	checkSpan(len(on), span)
	_, _, _ = off[:len(on)], m[:len(offsets)], e[:len(offsets)]
	for lo := 0; lo < len(on); lo += span {
		n := min(span, len(on)-lo)
		on, off, table := on[lo:lo+n], off[lo:lo+n], table[lo:]
		step := max(1, productsWork*Wide/n) * quad // see productsWork
		whole := len(offsets) / quad * quad
		for y := 0; y < whole; y += step {
			products(m[y:], e[y:], on, off, table, offsets[y:min(y+step, whole)])
		}
		if rest := offsets[whole:]; len(rest) > 0 {
			o := [quad]uint32{rest[0], rest[0], rest[0], rest[0]}
			copy(o[:], rest)
			a, b := [quad]float64{1, 1, 1, 1}, [quad]int64{}
			copy(a[:], m[whole:len(offsets)])
			copy(b[:], e[whole:len(offsets)])
			products(a[:], b[:], on, off, table, o[:])
			copy(m[whole:len(offsets)], a[:])
			copy(e[whole:len(offsets)], b[:])
		}
	}
}

// quad is the number of products that a kernel computes at once.
const quad = 4

func checkSpan(units, span int) {
	if units%Wide != 0 || span <= 0 || span%Wide != 0 {
		panic("vec: products of a number of units that is not a multiple of eight")
	}
}

func productsGo(m []float64, e []int64, on, off, table []float64, offsets []uint32) {
	for y, o := range offsets {
		ratio := table[o:][:len(on)]
		lane := [Wide]float64{1, 1, 1, 1, 1, 1, 1, 1}
		for j := 0; j < len(on); j += Wide {
			s, t, r := (*[Wide]float64)(on[j:]), (*[Wide]float64)(off[j:]), (*[Wide]float64)(ratio[j:])
			for l := range lane {
				lane[l] *= t[l] + float64(s[l]*r[l])
			}
		}
		multiply(&m[y], &e[y], &lane)
	}
}

// multiply multiplies the product m·2^e by all lanes.
func multiply(m *float64, e *int64, lane *[Wide]float64) {
	for l := range lane {
		var k int64
		lane[l], k = split(lane[l])
		*e += k
	}
	for half := Wide / 2; half > 0; half /= 2 {
		for q := range half {
			lane[q] *= lane[q+half]
		}
	}
	last, k := split(*m * lane[0])
	*m = last
	*e += k
}

// split returns the mantissa of x in [1,2) and its power of two. x must be a
// positive normal number.
func split(x float64) (m float64, e int64) {
	b := math.Float64bits(x)
	return math.Float64frombits(b&(1<<52-1) | 1023<<52), int64(b>>52) - 1023
}

// QuadProducts multiplies four products, one for each state s of two listed units. Bit 0 of s is the
// state of the unit with the ratios first, bit 1 that of the unit with the ratios second. m[s]·2^e[s] is
// multiplied by Π (off[j]+x_s) over the summed units j, where
//
//	x₀ = on[j]·upper[j],  x₁ = x₀·first[j],  x₂ = x₀·second[j],  x₃ = x₁·second[j]
//
// are rounded in this order. It panics like Products.
func QuadProducts(m *[4]float64, e *[4]int64, on, off, upper, first, second []float64, span int) {
	checkSpan(len(on), span)
	for lo := 0; lo < len(on); lo += span {
		hi := min(lo+span, len(on))
		quadProducts(m, e, on[lo:hi], off[lo:hi], upper[lo:hi], first[lo:hi], second[lo:hi])
	}
}

func quadProductsGo(m *[quad]float64, e *[quad]int64, on, off, upper, first, second []float64) {
	var lane [quad][Wide]float64
	for s := range lane {
		lane[s] = [Wide]float64{1, 1, 1, 1, 1, 1, 1, 1}
	}
	for j := range on {
		l := j % Wide
		for s, x := range quadOdds(on[j], upper[j], first[j], second[j]) {
			lane[s][l] *= off[j] + x
		}
	}
	for s := range lane {
		multiply(&m[s], &e[s], &lane[s])
	}
}

func quadOdds(on, upper, first, second float64) (x [quad]float64) {
	x[0] = float64(on * upper)
	x[1] = float64(x[0] * first)
	x[2] = float64(x[0] * second)
	x[3] = float64(x[1] * second)
	return x
}

// QuadMeans adds up the means x_s/(off+x_s) of the summed units in the four states s of
// QuadProducts, times the weights w_s of the states. It adds all states to all, states
// 1 and 3 to one, and states 2 and 3 to two. It computes the four means g_s of a unit with one division,
// so the product of the four f_s = off+x_s must be within range:
//
//	r = 1/((f₀f₁)(f₂f₃)),  g₀ = (w₀x₀)((r·(f₂f₃))f₁),  g₂ = (w₂x₂)((r·(f₀f₁))f₃), …
//	all += (g₀+g₂)+(g₁+g₃),  one += g₁+g₃,  two += g₂+g₃
//
// It panics unless all slices have the same length, a multiple of Wide.
func QuadMeans(all, one, two, on, off, upper, first, second []float64, weight *[4]float64) {
	n := len(all)
	checkSpan(n, Wide)
	if len(one) != n || len(two) != n || len(on) != n || len(off) != n || len(upper) != n || len(first) != n || len(second) != n {
		panic("vec: QuadMeans of slices of different lengths")
	}
	for lo := 0; lo < n; lo += productsWork * Wide {
		hi := min(lo+productsWork*Wide, n)
		quadMeans(all[lo:hi], one[lo:hi], two[lo:hi], on[lo:hi], off[lo:hi], upper[lo:hi], first[lo:hi], second[lo:hi], weight)
	}
}

func quadMeansGo(all, one, two, on, off, upper, first, second []float64, weight *[quad]float64) {
	for j := range all {
		var f, g [quad]float64
		for s, x := range quadOdds(on[j], upper[j], first[j], second[j]) {
			f[s] = off[j] + x
			g[s] = float64(x * weight[s])
		}
		low, high := float64(f[0]*f[1]), float64(f[2]*f[3])
		inverse := 1 / float64(low*high)
		high, low = float64(inverse*high), float64(inverse*low)
		g[0] *= float64(high * f[1])
		g[1] *= float64(high * f[0])
		g[2] *= float64(low * f[3])
		g[3] *= float64(low * f[2])
		odd, second := float64(g[1])+float64(g[3]), float64(g[2])+float64(g[3])
		all[j] += (float64(g[0]) + float64(g[2])) + odd
		one[j] += odd
		two[j] += second
	}
}

// LogSplit returns log(m·2^e) for m > 0.
func LogSplit(m float64, e int64) float64 {
	return float64(float64(e)*ln2Hi) + (Log(m) + float64(float64(e)*ln2Lo))
}

// A Scaled is the positive number M·2^E with M in [1,2). It cannot overflow.
type Scaled struct {
	M float64
	E int64
}

// ScaledExp returns eˣ for |x| below 10⁹.
func ScaledExp(x float64) Scaled {
	k := math.Floor(x / math.Ln2)
	r := x - float64(k*ln2Hi) - float64(k*ln2Lo) // k·ln2Hi is exact
	p := Scaled{1, int64(k)}
	p.Times(Exp(r))
	return p
}

// Times multiplies p by x, a positive normal number.
func (p *Scaled) Times(x float64) {
	m, k := split(x)
	m, l := split(p.M * m)
	p.M, p.E = m, p.E+k+l
}

// Power returns 2^e, or zero if that is subnormal. e must be below 1024.
func Power(e int64) float64 {
	if e < -1022 {
		return 0
	}
	return math.Float64frombits(uint64(e+1023) << 52)
}

// RoundUp returns the smallest multiple of Wide that is at least n.
func RoundUp(n int) int { return (n + Wide - 1) / Wide * Wide }

// LargestSize returns the largest |x|, or NaN if an x is NaN. It compares the bits of |x| as integers,
// which have the order of the numbers; NaN is above infinity.
func LargestSize(x []float64) float64 {
	var top [4]uint64 // independent maxima, which the processor computes in parallel
	for ; len(x) >= len(top); x = x[len(top):] {
		for i := range top {
			top[i] = max(top[i], math.Float64bits(x[i])<<1)
		}
	}
	for _, x := range x {
		top[0] = max(top[0], math.Float64bits(x)<<1)
	}
	return math.Float64frombits(max(top[0], top[1], top[2], top[3]) >> 1)
}
