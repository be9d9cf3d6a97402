package vec

// Sigmoids writes the sigmoids of n rows of width ≤ Block values:
//
//	dst[r·stride+i] = 1/(1+e^−x[r·Block+i]),  i < width
func Sigmoids(dst []float32, stride int, x []float32, n, width int) {
	if n <= 0 || width <= 0 {
		return
	}
	_ = dst[(n-1)*stride+width-1]
	_ = x[n*Block-1]
	_ = x[:n*Block][width-1]
	for lo := 0; lo < n; lo += rowsWork {
		sigmoids(dst[lo*stride:], stride, x[lo*Block:], min(rowsWork, n-lo), width)
	}
}

func sigmoidsGo(dst []float32, stride int, x []float32, n, width int) {
	for r := range n {
		to := dst[r*stride:][:width]
		for i, x := range x[r*Block:][:width] {
			to[i] = 1 / (1 + exp32(-x))
		}
	}
}

// SigmoidsOfSums writes the sigmoid of the sum of each of n rows r of x and each of m rows k of shifts:
//
//	dst[(r·m+k)·Block+c] = 1/(1+e^−(x[r·Block+c]+shifts[k·Block+c]))
func SigmoidsOfSums(dst, x, shifts []float32, n, m int) {
	if n <= 0 || m <= 0 {
		return
	}
	_, _, _ = dst[n*m*Block-1], x[n*Block-1], shifts[m*Block-1]
	rows := max(1, rowsWork/m)
	for r := 0; r < n; r += rows {
		for k := 0; k < m; k += rowsWork { // a single iteration unless m > rowsWork, and rows is 1 then
			sigmoidsOfSums(dst[(r*m+k)*Block:], x[r*Block:], shifts[k*Block:], min(rows, n-r), min(rowsWork, m-k))
		}
	}
}

func sigmoidsOfSumsGo(dst, x, shifts []float32, n, m int) {
	for i := range n * m {
		x, shift := (*[Block]float32)(x[i/m*Block:]), (*[Block]float32)(shifts[i%m*Block:])
		for c, to := 0, (*[Block]float32)(dst[i*Block:]); c < Block; c++ {
			to[c] = 1 / (1 + exp32(-(x[c] + shift[c])))
		}
	}
}

// Draws draws the first width units of block j in n rows. Bit i of
// words[r·stride] is one with probability 1/(1+e^(−beta[r]·x[r·Block+i])). A nil
// beta means 1. With the uniform u of row first+r and unit i of block j, the bit is one if
// u·(1+e^(−beta·x)) < 2²⁴, which needs no division.
func (s Stream) Draws(words []uint64, stride int, x, beta []float32, first, j uint32, n, width int) {
	if n <= 0 {
		return
	}
	_ = words[(n-1)*stride]
	_ = x[n*Block-1]
	if beta != nil {
		_ = beta[n-1]
	}
	for lo := 0; lo < n; lo += rowsWork {
		b := beta
		if b != nil {
			b = b[lo:]
		}
		draws(s, words[lo*stride:], stride, x[lo*Block:], b, first+uint32(lo), j, min(rowsWork, n-lo), width)
	}
}

func (s Stream) drawsGo(words []uint64, stride int, x, beta []float32, first, j uint32, n, width int) {
	var u [Block]float32
	b := float32(1)
	for r := range n {
		if beta != nil {
			b = beta[r]
		}
		s.uniformsGo(&u, first+uint32(r), j, width)
		var w uint64
		for i, x := range x[r*Block:][:width] {
			w |= less(u[i]*(1+exp32(-(b*x))), 1<<24) << i
		}
		words[r*stride] = w
	}
}

// DrawMeans draws the first width units of block j in n rows. Bit i of
// words[r·stride] is one with probability p[r·pStride+i]. It uses the uniform of
// row first+r and unit i of block j.
func (s Stream) DrawMeans(words []uint64, stride int, p []float32, pStride int, first, j uint32, n, width int) {
	if n <= 0 {
		return
	}
	_ = words[(n-1)*stride]
	_ = p[(n-1)*pStride+width-1]
	if width == Block {
		for lo := 0; lo < n; lo += rowsWork {
			drawMeans(s, words[lo*stride:], stride, p[lo*pStride:], pStride, first+uint32(lo), j, min(rowsWork, n-lo), width)
		}
		return
	}
	for r := range n { // the kernel would read past the end of the row
		var q [Block]float32
		copy(q[:], p[r*pStride:][:width])
		drawMeans(s, words[r*stride:], stride, q[:], Block, first+uint32(r), j, 1, width)
	}
}

func (s Stream) drawMeansGo(words []uint64, stride int, p []float32, pStride int, first, j uint32, n, width int) {
	var u [Block]float32
	for r := range n {
		s.uniformsGo(&u, first+uint32(r), j, width)
		var w uint64
		for i, p := range p[r*pStride:][:width] {
			w |= less(u[i], p*(1<<24)) << i
		}
		words[r*stride] = w
	}
}

// less returns 1 if a < b, else 0. The compiler translates it without a branch.
func less(a, b float32) uint64 {
	if a < b {
		return 1
	}
	return 0
}

// WordMask returns a word whose low n bits are one, 0 ≤ n ≤ 64.
func WordMask(n int) uint64 { return 1<<n - 1 }

// DrawOne returns index k with probability proportional to exp(beta·x[k]). It inverts
// the distribution function at the uniform u of Stream.Uniforms. Exponentials are relative to the
// largest beta·x and added in order. It overwrites x with them, and panics if x is empty.
func DrawOne(x []float32, u, beta float32) int {
	relativeExps(x, x, beta)
	var sum float32
	for _, e := range x {
		sum += e
	}
	u *= 0x1p-24 * sum
	sum = 0
	for k, e := range x {
		if sum += e; u < sum {
			return k
		}
	}
	return len(x) - 1 // rounding has made u reach the total
}

// Softmax writes exp(x[k]) / Σ exp(x) to dst, which may be x. Both have the same
// length, at least 1. Exponentials are relative to the largest x and added in order.
func Softmax(dst, x []float32) {
	dst = dst[:len(x)]
	relativeExps(dst, x, 1)
	var sum float32
	for _, e := range dst {
		sum += e
	}
	for k := range dst {
		dst[k] /= sum
	}
}

// relativeExps writes exp(beta·x − max beta·x) to dst, which may
// be x. It panics if x is empty.
func relativeExps(dst, x []float32, beta float32) {
	top := beta * x[0]
	for _, x := range x[1:] {
		if z := beta * x; z > top {
			top = z
		}
	}
	exps(dst, x, beta, top)
}

// expsGo writes exp(scale·x−shift) to dst, which may be x.
func expsGo(dst, x []float32, scale, shift float32) {
	for i, x := range x {
		dst[i] = exp32(float32(scale*x) - shift)
	}
}
