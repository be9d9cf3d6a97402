package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A simd is a width of vectors of float32.
type simd struct {
	name   string
	width  int
	vector func() reg.VecVirtual
}

var (
	avx2   = simd{"AVX2", 8, c.YMM}
	avx512 = simd{"AVX512", 16, c.ZMM}
)

func (s simd) zmm() bool { return s.width == 16 }

// The constants of exp32 in package vec.
var (
	log2E      = float("log2E", 1.44269504)
	roundMagic = float("roundMagic", 0x1.8p23)
	ln2Hi      = float("ln2Hi", 0.693359375)
	ln2Lo      = float("ln2Lo", -2.12194440e-4)
	expC       = [...]constant{
		2: float("expC2", 0.49999994), 3: float("expC3", 0.16666521), 4: float("expC4", 0.04166839),
		5: float("expC5", 0.008368717), 6: float("expC6", 0.0013814599),
	}
	expMax  = float("expMax", 87)
	expMin  = float("expMin", -87)
	one     = float("one", 1)
	two24   = float("two24", 1<<24)
	signBit = constant{"signBit", 1 << 31}
	lowBit  = constant{"lowBit", 1}
	philoxM = [2]constant{{"philoxM0", 0xD2511F53}, {"philoxM1", 0xCD9E8D57}}
)

// A constant is a 32-bit value in all lanes, in memory.
type constant struct {
	name string
	bits uint32
}

func float(name string, x float32) constant { return constant{name, math.Float32bits(x)} }

func (k constant) mem() operand.Mem { return repeat(k.name, k.bits) }

// The operations of a vector with a constant: x = x op k. AVX-512 repeats one
// word of memory by itself.
func (s simd) mul(k constant, x reg.VecVirtual) { s.with(k, x, c.VMULPS, c.VMULPS_BCST) }
func (s simd) add(k constant, x reg.VecVirtual) { s.with(k, x, c.VADDPS, c.VADDPS_BCST) }
func (s simd) sub(k constant, x reg.VecVirtual) { s.with(k, x, c.VSUBPS, c.VSUBPS_BCST) }
func (s simd) min(k constant, x reg.VecVirtual) { s.with(k, x, c.VMINPS, c.VMINPS_BCST) }
func (s simd) max(k constant, x reg.VecVirtual) { s.with(k, x, c.VMAXPS, c.VMAXPS_BCST) }
func (s simd) xor(k constant, x reg.VecVirtual) { s.with(k, x, c.VXORPS, c.VXORPS_BCST) }
func (s simd) or(k constant, x reg.VecVirtual)  { s.with(k, x, c.VORPS, c.VORPS_BCST) }

func (s simd) with(k constant, x reg.VecVirtual, all, repeated func(...operand.Op)) {
	if s.zmm() {
		repeated(k.mem(), x, x)
	} else {
		all(k.mem(), x, x)
	}
}

// exp replaces y by exp32(y).
func (s simd) exp(y reg.VecVirtual) {
	s.min(expMax, y)
	s.max(expMin, y)
	n, t, shift, p := s.vector(), s.vector(), s.vector(), s.vector()
	c.VMOVAPS(y, n)
	s.mul(log2E, n)
	s.add(roundMagic, n)
	c.VPSLLD(operand.U8(23), n, shift) // n·2²³: the low bits of the rounded sum are n
	s.sub(roundMagic, n)
	c.VMOVAPS(n, t)
	s.mul(ln2Hi, t)
	c.VSUBPS(t, y, y)
	s.mul(ln2Lo, n)
	c.VSUBPS(n, y, y) // r
	c.VMOVAPS(y, p)
	s.mul(expC[6], p)
	for k := 5; k >= 3; k-- {
		s.add(expC[k], p)
		c.VMULPS(y, p, p)
	}
	s.add(expC[2], p)
	c.VMULPS(y, y, t)
	c.VMULPS(t, p, p)
	c.VADDPS(y, p, p)
	s.add(one, p)
	c.VPADDD(shift, p, y) // ·2ⁿ: the result is a normal number, so its exponent is p's plus n
}

// philox evaluates Philox4x32-10 for two vectors of counters, the even and the
// odd ones, each in the low half of a 64-bit lane. What is in the high halves
// does not matter. x are the counter words; it returns the four words of the
// result with even and odd ones in their places. Vectors that are the same for
// both are given once.
func (s simd) philox(x [4][2]reg.VecVirtual, keys reg.GPVirtual) (out [4]reg.VecVirtual) {
	var m [2]reg.VecVirtual
	for i := range m {
		m[i] = s.vector()
		if s.zmm() {
			c.VPBROADCASTD(philoxM[i].mem(), m[i])
		} else {
			c.VMOVDQU(philoxM[i].mem(), m[i])
		}
	}
	for round := range 10 {
		var p [2][2]reg.VecVirtual // products, by word 0 or 2, by even or odd
		for i := range p {
			for k := range 2 {
				if k == 1 && x[2*i][0] == x[2*i][1] {
					p[i][1] = p[i][0]
					continue
				}
				p[i][k] = s.vector()
				c.VPMULUDQ(m[i], x[2*i][k], p[i][k])
			}
		}
		// high returns the high half of a product ^ w ^ key.
		high := func(p, w reg.VecVirtual, key int) reg.VecVirtual {
			h := s.vector()
			k := mem(keys, 4*(2*round+key))
			if s.zmm() {
				c.VPSHUFD(operand.U8(0xF5), p, h)
				c.VPTERNLOGD_BCST(operand.U8(0x96), k, w, h)
				return h
			}
			t := s.vector()
			c.VPSHUFD(operand.U8(0xF5), p, h)
			c.VPBROADCASTD(k, t)
			c.VPXOR(w, h, h)
			c.VPXOR(t, h, h)
			return h
		}
		var y [4][2]reg.VecVirtual
		for k := range 2 {
			for i, from := range [2]int{1, 0} { // new words 0 and 2
				same := k == 1 && p[from][0] == p[from][1] && x[2*i+1][0] == x[2*i+1][1]
				if same {
					y[2*i][1] = y[2*i][0]
				} else {
					y[2*i][k] = high(p[from][k], x[2*i+1][k], i)
				}
			}
			y[1][k], y[3][k] = p[1][k], p[0][k]
		}
		x = y
	}
	for w := range out {
		even, odd := x[w][0], x[w][1]
		if s.zmm() {
			c.VPSHUFD(operand.U8(0xA0), odd, oddLanes, even)
		} else {
			c.VPSHUFD(operand.U8(0xA0), odd, odd)
			c.VPBLENDD(operand.U8(0xAA), odd, even, even)
		}
		out[w] = even
	}
	return out
}

var oddLanes reg.OpmaskVirtual

// uniform turns random words into 24-bit uniforms.
func (s simd) uniform(x reg.VecVirtual) {
	c.VPSRLD(operand.U8(8), x, x)
	s.or(lowBit, x)
	c.VCVTDQ2PS(x, x)
}

// firstCounters returns the first counter words of a block, 16j+l, of n even
// and n odd lanes l from lane on.
func (s simd) firstCounters(j reg.GPVirtual, lane int) [2]reg.VecVirtual {
	var x [2]reg.VecVirtual
	for odd := range 2 {
		n := s.width / 2
		v := make([]uint32, 2*n)
		for i := range n {
			v[2*i] = uint32(lane + 2*i + odd)
		}
		x[odd] = s.vector()
		s.broadcast(j, x[odd])
		c.VPADDD(wide(fmt.Sprintf("lanes%d_%d_%d", s.width, lane, odd), v...), x[odd], x[odd])
	}
	return x
}

// broadcast copies the low 32 bits of r to all lanes of x.
func (s simd) broadcast(r reg.GPVirtual, x reg.VecVirtual) {
	if s.zmm() {
		c.VPBROADCASTD(r.As32(), x)
		return
	}
	t := c.XMM()
	c.VMOVD(r.As32(), t)
	c.VPBROADCASTD(t, x)
}

// The uniforms of one block. keys are the twenty round keys, then counter
// words 2 and 3; first are 16j of the block, row its row. emit is called for
// each vector of uniforms with the unit that it starts at.
func (s simd) uniforms(keys, first, row reg.GPVirtual, emit func(unit int, u reg.VecVirtual)) {
	for lane := 0; lane < 16; lane += s.width {
		var x [4][2]reg.VecVirtual
		x[0] = s.firstCounters(first, lane)
		for w := 1; w < 4; w++ {
			v := s.vector()
			if w == 1 {
				s.broadcast(row, v)
			} else {
				c.VPBROADCASTD(mem(keys, 4*(18+w)), v)
			}
			x[w] = [2]reg.VecVirtual{v, v}
		}
		for w, u := range s.philox(x, keys) {
			s.uniform(u)
			emit(16*w+lane, u)
		}
	}
}

func draws() {
	for _, s := range []simd{avx2, avx512} {
		s.draws()
		s.drawMeans()
		s.uniformsBlocks()
		s.sigmoids()
	}
}

// rowLoop writes the loop over rows that Draws and DrawMeans share. fire
// returns the scaled comparison of a vector x with uniforms u, x < y.
func (s simd) rowLoop(fire func(x operand.Mem, u reg.VecVirtual) (lhs, rhs reg.VecVirtual), next func()) {
	words, wordStride := arg("words"), arg("wordStride")
	c.SHLQ(operand.U8(3), wordStride)
	x, xStride := arg("x"), bytes(arg("xStride"))
	keys, first, row, n := arg("keys"), arg("first"), arg("row"), arg("n")
	mask := arg("mask")
	var width [4]reg.OpmaskVirtual
	var u operand.Mem
	if s.zmm() {
		oddLanesInit()
		m := c.GP64()
		c.MOVQ(mask, m)
		for i := range width {
			width[i] = c.K()
			c.KMOVW(m.As32(), width[i])
			c.SHRQ(operand.U8(16), m)
		}
	} else {
		u = c.AllocLocal(4 * block)
	}
	c.Label("row")
	word := c.GP64()
	if s.zmm() {
		s.uniforms(keys, first, row, func(unit int, u reg.VecVirtual) {
			lhs, rhs := fire(mem(x, 4*unit), u)
			k := c.K()
			c.VCMPPS(operand.U8(1), rhs, lhs, width[unit/16], k)
			c.KMOVW(k, mem(words, unit/8))
		})
	} else {
		s.uniforms(keys, first, row, func(unit int, v reg.VecVirtual) { c.VMOVUPS(v, u.Offset(4*unit)) })
		c.XORQ(word, word)
		for unit := block - 8; unit >= 0; unit -= 8 {
			v := s.vector()
			c.VMOVUPS(u.Offset(4*unit), v)
			lhs, rhs := fire(mem(x, 4*unit), v)
			c.VCMPPS(operand.U8(1), rhs, lhs, lhs)
			bits := c.GP64()
			c.VMOVMSKPS(lhs, bits.As32())
			c.SHLQ(operand.U8(8), word)
			c.ORQ(bits, word)
		}
		c.ANDQ(mask, word)
		c.MOVQ(word, mem(words, 0))
	}
	c.ADDQ(wordStride, words)
	c.ADDQ(xStride, x)
	c.INCQ(row)
	next()
	c.DECQ(n)
	c.JNE(operand.LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}

// oddLanesInit makes the mask of the odd lanes of a zmm register.
func oddLanesInit() {
	oddLanes = c.K()
	t := c.GP32()
	c.MOVL(operand.U32(0xAAAA), t)
	c.KMOVW(t, oddLanes)
}

func (s simd) draws() {
	function("draws"+s.name, "func(words *uint64, wordStride int, x *float32, xStride int, beta *float32, betaStride int, keys *[22]uint32, first, row, n int, mask uint64)",
		"draws"+s.name+" is Draws for n > 0 rows; first is 16·block, keys are those of Stream.keys.")
	beta, betaStride := arg("beta"), bytes(arg("betaStride"))
	limit := s.vector()
	c.VBROADCASTSS(two24.mem(), limit)
	s.rowLoop(func(x operand.Mem, u reg.VecVirtual) (lhs, rhs reg.VecVirtual) {
		y := s.vector()
		c.VBROADCASTSS(mem(beta, 0), y)
		c.VMULPS(x, y, y)
		s.xor(signBit, y)
		s.exp(y)
		s.add(one, y)
		c.VMULPS(u, y, y)
		return y, limit
	}, func() { c.ADDQ(betaStride, beta) })
}

func (s simd) drawMeans() {
	function("drawMeans"+s.name, "func(words *uint64, wordStride int, x *float32, xStride int, keys *[22]uint32, first, row, n int, mask uint64)",
		"drawMeans"+s.name+" is DrawMeans of a whole block for n > 0 rows.")
	s.rowLoop(func(x operand.Mem, u reg.VecVirtual) (lhs, rhs reg.VecVirtual) {
		y := s.vector()
		c.VMOVUPS(x, y)
		s.mul(two24, y)
		return u, y
	}, func() {})
}

func (s simd) uniformsBlocks() {
	function("uniforms"+s.name, "func(dst *float32, keys *[22]uint32, first, row int)",
		"uniforms"+s.name+" is Stream.Uniforms.")
	dst, keys, first, row := arg("dst"), arg("keys"), arg("first"), arg("row")
	if s.zmm() {
		oddLanesInit()
	}
	s.uniforms(keys, first, row, func(unit int, u reg.VecVirtual) { c.VMOVUPS(u, mem(dst, 4*unit)) })
	c.VZEROUPPER()
	c.RET()
}

// sigmoids writes means of n rows of up to a block: whole vectors, then the
// rest of the row under a mask.
func (s simd) sigmoids() {
	function("sigmoids"+s.name, "func(dst *float32, dstStride int, x *float32, n, width int)",
		"sigmoids"+s.name+" is Sigmoids for n > 0 rows of 0 < width ≤ 64.")
	dst, dstStride, x, n, width := arg("dst"), bytes(arg("dstStride")), arg("x"), arg("n"), arg("width")
	whole, left := c.GP64(), c.GP64()
	c.MOVQ(width, whole)
	c.SHRQ(operand.U8(log2(s.width)), whole)
	c.ANDQ(operand.U8(s.width-1), width)
	var k reg.OpmaskVirtual
	mask := reg.VecVirtual(nil)
	if s.zmm() {
		k = c.K()
		t := c.GP32()
		c.MOVL(operand.U32(1<<16-1), t)
		c.BZHIL(width.As32(), t, t)
		c.KMOVW(t, k)
	} else {
		mask = c.YMM()
		s.broadcast(width, mask)
		c.VPCMPGTD(wide("iota", 0, 1, 2, 3, 4, 5, 6, 7), mask, mask)
	}
	unit := s.vector()
	c.VBROADCASTSS(one.mem(), unit)
	sigmoid := func(p reg.GPVirtual) reg.VecVirtual {
		y := s.vector()
		c.VMOVUPS(mem(p, 0), y)
		s.xor(signBit, y)
		s.exp(y)
		s.add(one, y)
		c.VDIVPS(y, unit, y)
		return y
	}
	to, from := c.GP64(), c.GP64()
	c.Label("row")
	c.MOVQ(dst, to)
	c.MOVQ(x, from)
	c.MOVQ(whole, left)
	c.TESTQ(left, left)
	c.JEQ(operand.LabelRef("rest"))
	c.Label("vector")
	c.VMOVUPS(sigmoid(from), mem(to, 0))
	c.ADDQ(operand.U8(4*s.width), to)
	c.ADDQ(operand.U8(4*s.width), from)
	c.DECQ(left)
	c.JNE(operand.LabelRef("vector"))
	c.Label("rest")
	c.TESTQ(width, width)
	c.JEQ(operand.LabelRef("next"))
	y := sigmoid(from) // x has whole rows of 64
	if s.zmm() {
		c.VMOVUPS(y, k, mem(to, 0))
	} else {
		c.VMASKMOVPS(y, mask, mem(to, 0))
	}
	c.Label("next")
	c.ADDQ(dstStride, dst)
	c.ADDQ(operand.U32(4*block), x)
	c.DECQ(n)
	c.JNE(operand.LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}

func log2(n int) (k int) {
	for ; n > 1; n >>= 1 {
		k++
	}
	return k
}
