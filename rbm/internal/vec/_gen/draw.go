package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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

// A constant is a 32-bit value in memory, repeated for all lanes.
type constant struct {
	name string
	bits uint32
}

func float(name string, x float32) constant { return constant{name, math.Float32bits(x)} }

func (k constant) mem() operand.Mem { return repeat(k.name, k.bits) }

// Operations of float32 vectors with a constant.
func (s simd) mul(k constant, x ...reg.VecVirtual) { s.with(k.mem(), x, c.VMULPS, c.VMULPS_BCST) }
func (s simd) add(k constant, x ...reg.VecVirtual) { s.with(k.mem(), x, c.VADDPS, c.VADDPS_BCST) }
func (s simd) sub(k constant, x ...reg.VecVirtual) { s.with(k.mem(), x, c.VSUBPS, c.VSUBPS_BCST) }
func (s simd) min(k constant, x ...reg.VecVirtual) { s.with(k.mem(), x, c.VMINPS, c.VMINPS_BCST) }
func (s simd) max(k constant, x ...reg.VecVirtual) { s.with(k.mem(), x, c.VMAXPS, c.VMAXPS_BCST) }
func (s simd) xor(k constant, x ...reg.VecVirtual) { s.with(k.mem(), x, c.VXORPS, c.VXORPS_BCST) }
func (s simd) or(k constant, x ...reg.VecVirtual)  { s.with(k.mem(), x, c.VORPS, c.VORPS_BCST) }

// with replaces each x by x op k. all is the instruction for a vector in memory, and repeated the one of
// AVX-512 that repeats a single word.
func (s simd) with(k operand.Mem, x []reg.VecVirtual, all, repeated func(...operand.Op)) {
	for _, x := range x {
		if s.ZMM() {
			repeated(k, x, x)
		} else {
			all(k, x, x)
		}
	}
}

// each applies an operation to vectors in pairs: z[i] = x[i] op y[i].
func each(op func(...operand.Op), y, x, z []reg.VecVirtual) {
	for i := range x {
		op(y[i], x[i], z[i])
	}
}

// copies returns registers with copies of x.
func (s simd) copies(x []reg.VecVirtual) []reg.VecVirtual {
	v := s.Vectors(len(x))
	for i := range v {
		c.VMOVAPS(x[i], v[i])
	}
	return v
}

// exp replaces every y by exp32(y). Each step is done for all of them, because a single vector would
// not fill the pipelines.
func (s simd) exp(y ...reg.VecVirtual) {
	s.min(expMax, y...)
	s.max(expMin, y...)
	n := s.copies(y)
	s.mul(log2E, n...)
	s.add(roundMagic, n...)
	shift := s.Vectors(len(y))
	for i := range n {
		c.VPSLLD(operand.U8(23), n[i], shift[i]) // n·2²³, because the low bits of the rounded sum are n
	}
	s.sub(roundMagic, n...)
	t := s.copies(n)
	s.mul(ln2Hi, t...)
	each(c.VSUBPS, t, y, y)
	s.mul(ln2Lo, n...)
	each(c.VSUBPS, n, y, y) // r
	p := s.copies(y)
	s.mul(expC[6], p...)
	for k := 5; k >= 3; k-- {
		s.add(expC[k], p...)
		each(c.VMULPS, y, p, p)
	}
	s.add(expC[2], p...)
	each(c.VMULPS, y, y, t)
	each(c.VMULPS, t, p, p)
	each(c.VADDPS, y, p, p)
	s.add(one, p...)
	each(c.VPADDD, shift, p, y) // p·2ⁿ is a normal number, so n is added to the exponent of p
}

// philox computes Philox4x32-10 for vectors of counters, each in
// the low half of a 64-bit lane. The high halves are ignored. x[w] has counter word w of each
// vector. A register may occur several times in x; its products are computed once.
func (s simd) philox(x [4][]reg.VecVirtual, keys reg.GPVirtual) [4][]reg.VecVirtual {
	var m [2]reg.VecVirtual
	for i := range m {
		m[i] = s.Vector()
		if s.ZMM() {
			c.VPBROADCASTD(philoxM[i].mem(), m[i])
		} else {
			c.VMOVDQU(philoxM[i].mem(), m[i])
		}
	}
	type pair [2]reg.VecVirtual
	for round := range 10 {
		var p, y [4][]reg.VecVirtual // products of words 0 and 2; new words
		for i := 0; i < 4; i += 2 {
			done := map[reg.VecVirtual]reg.VecVirtual{}
			for _, w := range x[i] {
				if done[w] == nil {
					done[w] = s.Vector()
					c.VPMULUDQ(m[i/2], w, done[w])
				}
				p[i] = append(p[i], done[w])
			}
		}
		// high returns (high halves of p) ^ w ^ key.
		high := func(p, w []reg.VecVirtual, key int) (out []reg.VecVirtual) {
			k := mem(keys, 4*(2*round+key))
			done := map[pair]reg.VecVirtual{}
			for i := range p {
				at := pair{p[i], w[i]}
				if h := done[at]; h == nil {
					h = s.Vector()
					done[at] = h
					c.VPSHUFD(operand.U8(0xF5), p[i], h)
					if s.ZMM() {
						c.VPTERNLOGD_BCST(operand.U8(0x96), k, w[i], h)
					} else {
						t := s.Vector()
						c.VPBROADCASTD(k, t)
						c.VPXOR(w[i], h, h)
						c.VPXOR(t, h, h)
					}
				}
				out = append(out, done[at])
			}
			return out
		}
		y[0], y[1] = high(p[2], x[1], 0), p[2]
		y[2], y[3] = high(p[0], x[3], 1), p[0]
		x = y
	}
	return x
}

// merge copies the low halves of the 64-bit lanes of odd to the high halves of even.
func (s simd) merge(even, odd reg.VecVirtual) reg.VecVirtual {
	if s.ZMM() {
		c.VPSHUFD(operand.U8(0xA0), odd, oddLanes, even)
	} else {
		c.VPSHUFD(operand.U8(0xA0), odd, odd)
		c.VPBLENDD(operand.U8(0xAA), odd, even, even)
	}
	return even
}

var oddLanes reg.OpmaskVirtual

// uniform converts random words to 24-bit uniforms.
func (s simd) uniform(x reg.VecVirtual) {
	c.VPSRLD(operand.U8(8), x, x)
	s.or(lowBit, x)
	c.VCVTDQ2PS(x, x)
}

// firstCounters returns the first counter words 16j+l of a block. The first vector has the even lanes l
// from lane on, and the second the odd lanes.
func (s simd) firstCounters(j reg.GPVirtual, lane int) [2]reg.VecVirtual {
	var x [2]reg.VecVirtual
	for odd := range 2 {
		n := s.Width / 2
		v := make([]uint32, 2*n)
		for i := range n {
			v[2*i] = uint32(lane + 2*i + odd)
		}
		x[odd] = s.Vector()
		s.broadcast(j, x[odd])
		c.VPADDD(table(fmt.Sprintf("lanes%d_%d_%d", s.Width, lane, odd), v...), x[odd], x[odd])
	}
	return x
}

// broadcast copies the low 32 bits of r to all lanes of x.
func (s simd) broadcast(r reg.GPVirtual, x reg.VecVirtual) {
	if s.ZMM() {
		c.VPBROADCASTD(r.As32(), x)
		return
	}
	t := c.XMM()
	c.VMOVD(r.As32(), t)
	c.VPBROADCASTD(t, x)
}

// uniforms computes the uniforms of block j in several rows from row on.
// keys points to the twenty round keys, then counter words 2 and 3. first is 16j. emit is called
// for each vector of uniforms with its row and its first unit.
func (s simd) uniforms(keys, first, row reg.GPVirtual, rows int, emit func(r, unit int, u reg.VecVirtual)) {
	for lane := 0; lane < 16; lane += s.Width {
		var x [4][]reg.VecVirtual
		counters := s.firstCounters(first, lane)
		var upper [2]reg.VecVirtual
		for w := range upper {
			upper[w] = s.Vector()
			c.VPBROADCASTD(mem(keys, 4*(20+w)), upper[w])
		}
		for r := range rows {
			at, v := row, s.Vector()
			if r > 0 {
				at = c.GP64()
				c.LEAQ(mem(row, r), at)
			}
			s.broadcast(at, v)
			for odd := range 2 {
				x[0] = append(x[0], counters[odd])
				x[1] = append(x[1], v)
				x[2] = append(x[2], upper[0])
				x[3] = append(x[3], upper[1])
			}
		}
		y := s.philox(x, keys)
		for w := range y {
			for r := range rows {
				u := s.merge(y[w][2*r], y[w][2*r+1])
				s.uniform(u)
				emit(r, 16*w+lane, u)
			}
		}
	}
}

func draws() {
	for _, s := range []simd{avx2, avx512} {
		s.draws()
		s.drawMeans()
		s.uniformsBlocks()
		s.sigmoids()
		s.sigmoidsOfSums()
	}
}

// rowLoop writes the loop over rows of Draws and DrawMeans. A unit is on if lhs < rhs. fire writes the
// code that computes lhs and rhs from the values at x and the uniforms u.
func (s simd) rowLoop(fire func(x []operand.Mem, u []reg.VecVirtual) (lhs, rhs []reg.VecVirtual), next func()) {
	words, wordStride := arg("words"), arg("wordStride")
	c.SHLQ(operand.U8(3), wordStride)
	x, xStride := arg("x"), bytes(arg("xStride"))
	keys, first, row, n := arg("keys"), arg("first"), arg("row"), arg("n")
	mask := arg("mask")
	// Uniforms are computed for several rows at a time, to fill the pipelines, even if the last of these
	// rows do not exist.
	rows, vectors := 1, 2
	var width [4]reg.OpmaskVirtual
	if s.ZMM() {
		rows, vectors = 2, 4
		oddLanesInit()
		m := c.GP64()
		c.MOVQ(mask, m)
		for i := range width {
			width[i] = c.K()
			c.KMOVW(m.As32(), width[i])
			c.SHRQ(operand.U8(16), m)
		}
	}
	u := c.AllocLocal(4 * block * rows)

	c.Label("rows")
	s.uniforms(keys, first, row, rows, func(r, unit int, v reg.VecVirtual) {
		c.VMOVUPS(v, u.Offset(4*(block*r+unit)))
	})
	for r := range rows {
		word := c.GP64()
		if !s.ZMM() {
			c.XORQ(word, word)
		}
		for unit := block - vectors*s.Width; unit >= 0; unit -= vectors * s.Width {
			v, at := s.Vectors(vectors), make([]operand.Mem, vectors)
			for i := range v {
				c.VMOVUPS(u.Offset(4*(block*r+unit+i*s.Width)), v[i])
				at[i] = mem(x, 4*(unit+i*s.Width))
			}
			lhs, rhs := fire(at, v)
			for i := vectors - 1; i >= 0; i-- {
				if s.ZMM() {
					k := c.K()
					c.VCMPPS(operand.U8(1), rhs[i], lhs[i], width[i], k)
					c.KMOVW(k, mem(words, 2*i))
					continue
				}
				c.VCMPPS(operand.U8(1), rhs[i], lhs[i], lhs[i])
				bits := c.GP64()
				c.VMOVMSKPS(lhs[i], bits.As32())
				c.SHLQ(operand.U8(8), word)
				c.ORQ(bits, word)
			}
		}
		if !s.ZMM() {
			c.ANDQ(mask, word)
			c.MOVQ(word, mem(words, 0))
		}
		c.ADDQ(wordStride, words)
		c.ADDQ(xStride, x)
		next()
		c.DECQ(n)
		if r < rows-1 {
			c.JEQ(operand.LabelRef("done"))
		}
	}
	advance(rows, row)
	c.TESTQ(n, n)
	c.JNE(operand.LabelRef("rows"))
	c.Label("done")
	ret()
}

// oddLanesInit sets oddLanes, the mask of the odd lanes of a zmm register.
func oddLanesInit() {
	oddLanes = c.K()
	t := c.GP32()
	c.MOVL(operand.U32(0xAAAA), t)
	c.KMOVW(t, oddLanes)
}

func (s simd) draws() {
	s.function("draws", "func(words *uint64, wordStride int, x *float32, xStride int, beta *float32, betaStride int, keys *[22]uint32, first, row, n int, mask uint64)",
		"is Draws for n > 0 rows. first is 16·j for block j, and keys is Stream.keys.")
	beta, betaStride := arg("beta"), bytes(arg("betaStride"))
	limit := s.Vector()
	c.VBROADCASTSS(two24.mem(), limit)
	s.rowLoop(func(x []operand.Mem, u []reg.VecVirtual) (lhs, rhs []reg.VecVirtual) {
		b, y := s.Vector(), s.Vectors(len(x))
		c.VBROADCASTSS(mem(beta, 0), b)
		for i := range y {
			c.VMULPS(x[i], b, y[i])
			rhs = append(rhs, limit)
		}
		s.xor(signBit, y...)
		s.exp(y...)
		s.add(one, y...)
		each(c.VMULPS, u, y, y)
		return y, rhs
	}, func() { c.ADDQ(betaStride, beta) })
}

func (s simd) drawMeans() {
	s.function("drawMeans", "func(words *uint64, wordStride int, x *float32, xStride int, keys *[22]uint32, first, row, n int, mask uint64)",
		"is DrawMeans for a whole block in n > 0 rows.")
	s.rowLoop(func(x []operand.Mem, u []reg.VecVirtual) (lhs, rhs []reg.VecVirtual) {
		y := s.Vectors(len(x))
		for i := range y {
			c.VMOVUPS(x[i], y[i])
		}
		s.mul(two24, y...)
		return u, y
	}, func() {})
}

func (s simd) uniformsBlocks() {
	s.function("uniforms", "func(dst *float32, keys *[22]uint32, first, row int)",
		"is Stream.Uniforms.")
	dst, keys, first, row := arg("dst"), arg("keys"), arg("first"), arg("row")
	if s.ZMM() {
		oddLanesInit()
	}
	s.uniforms(keys, first, row, 1, func(r, unit int, u reg.VecVirtual) { c.VMOVUPS(u, mem(dst, 4*unit)) })
	ret()
}

// sigmoids writes Sigmoids: for each row whole vectors, then the rest of the row with a mask.
func (s simd) sigmoids() {
	s.function("sigmoids", "func(dst *float32, dstStride int, x *float32, n, width int)",
		"is Sigmoids for n > 0 rows of 0 < width ≤ 64.")
	dst, dstStride, x, n, width := arg("dst"), bytes(arg("dstStride")), arg("x"), arg("n"), arg("width")
	whole, left := c.GP64(), c.GP64()
	c.MOVQ(width, whole)
	c.SHRQ(operand.U8(log2(s.Width)), whole)
	c.ANDQ(operand.U8(s.Width-1), width)
	rest := s.tail(width)
	unit := s.Vector()
	c.VBROADCASTSS(one.mem(), unit)
	sigmoid := func(p reg.GPVirtual, n int) []reg.VecVirtual {
		y := s.Vectors(n)
		s.load(p, y)
		s.sigmoid(unit, y)
		return y
	}
	to, from := c.GP64(), c.GP64()
	c.Label("row")
	c.MOVQ(dst, to)
	c.MOVQ(x, from)
	c.MOVQ(whole, left)
	atOnce(left, 1, []int{s.Width / 4, 1}, func(n int) {
		s.store(sigmoid(from, n), to)
		advance(4*s.Width*n, to, from)
	})
	c.TESTQ(width, width)
	c.JEQ(operand.LabelRef("next"))
	rest.store(sigmoid(from, 1)[0], mem(to, 0)) // x has whole rows of 64
	c.Label("next")
	c.ADDQ(dstStride, dst)
	advance(4*block, x)
	until(n, 1, "row")
	ret()
}

// sigmoid replaces each y by 1/(1+e^−y). unit is 1 in all lanes.
func (s simd) sigmoid(unit reg.VecVirtual, y []reg.VecVirtual) {
	s.xor(signBit, y...)
	s.exp(y...)
	s.add(one, y...)
	for i := range y {
		c.VDIVPS(y[i], unit, y[i])
	}
}

// sigmoidsOfSums writes SigmoidsOfSums. It processes several vectors at once, to fill the
// pipelines.
func (s simd) sigmoidsOfSums() {
	s.function("sigmoidsOfSums", "func(dst, x, shifts *float32, n, m int)",
		"is SigmoidsOfSums for n > 0 rows and m > 0 shifts.")
	dst, x, shifts, n, m := arg("dst"), arg("x"), arg("shifts"), arg("n"), arg("m")
	unit := s.Vector()
	c.VBROADCASTSS(one.mem(), unit)
	shift, left := c.GP64(), c.GP64()
	c.Label("row")
	c.MOVQ(shifts, shift)
	c.MOVQ(m, left)
	c.Label("shift")
	for at := 0; at < 4*block; at += s.Width * s.Width {
		y := s.Vectors(s.Width / 4)
		for i := range y {
			c.VMOVUPS(mem(x, at+4*s.Width*i), y[i])
			c.VADDPS(mem(shift, at+4*s.Width*i), y[i], y[i])
		}
		s.sigmoid(unit, y)
		for i := range y {
			c.VMOVUPS(y[i], mem(dst, at+4*s.Width*i))
		}
	}
	advance(4*block, shift, dst)
	until(left, 1, "shift")
	advance(4*block, x)
	until(n, 1, "row")
	ret()
}

func log2(n int) (k int) {
	for ; n > 1; n >>= 1 {
		k++
	}
	return k
}
