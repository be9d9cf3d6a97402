package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func small() {
	lists()
	nonzero()
	transpose()
	for _, s := range []simd{avx2, avx512} {
		s.nonzeroWord()
		s.exps()
	}
}

// lists writes Lists. It compresses the offsets of sixteen bits at a time by these bits, until no bit is
// left. It always stores a whole vector, which never ends beyond the space for the bits processed so far.
func lists() {
	function("listsAVX512", "func(list, cuts *uint32, words *uint64, rowStride, wordStride, n, count int, first, step uint32)",
		"listsAVX512 is Lists for n, count > 0. first is the offset of the first bit, and step the distance of offsets between words.")
	list, cuts, words := arg("list"), arg("cuts"), arg("words")
	rowStride, wordStride := arg("rowStride"), arg("wordStride")
	c.SHLQ(operand.U8(3), rowStride)
	c.SHLQ(operand.U8(3), wordStride)
	n, count := arg("n"), arg("count")
	first := c.GP32()
	c.Load(c.Param("first"), first)
	step := c.ZMM()
	s := c.GP32()
	c.Load(c.Param("step"), s)
	c.VPBROADCASTD(s, step)
	var start, value [4]reg.VecVirtual
	values := make([]uint32, 64)
	for i := range values {
		values[i] = uint32(i) * block
	}
	base := c.ZMM()
	c.VPBROADCASTD(first, base)
	for g := range start {
		start[g] = c.ZMM()
		c.VPADDD(table("offsets", values...).Offset(64*g), base, start[g])
	}
	p, w, left, bits := c.GP64(), c.GP64(), c.GP64(), c.GP64()
	c.MOVL(mem(cuts, 0), p.As32())
	c.LEAQ(operand.Mem{Base: list, Index: p, Scale: 4}, p)

	c.Label("row")
	c.MOVQ(words, w)
	c.MOVQ(count, left)
	for g := range value {
		value[g] = c.ZMM()
		c.VMOVDQA32(start[g], value[g])
	}
	c.Label("word")
	c.MOVQ(mem(w, 0), bits)
	c.TESTQ(bits, bits)
	c.JEQ(operand.LabelRef("next"))
	for g := range value {
		k, n := c.K(), c.GP64()
		c.MOVWLZX(bits.As16(), n.As32())
		c.KMOVW(n.As32(), k)
		t := c.ZMM()
		c.VPCOMPRESSD_Z(value[g], k, t)
		c.VMOVDQU32(t, mem(p, 0))
		c.POPCNTL(n.As32(), n.As32())
		c.LEAQ(operand.Mem{Base: p, Index: n, Scale: 4}, p)
		if g < 3 {
			c.SHRQ(operand.U8(16), bits)
			c.JEQ(operand.LabelRef("next"))
		}
	}
	c.Label("next")
	for g := range value {
		c.VPADDD(step, value[g], value[g])
	}
	c.ADDQ(wordStride, w)
	until(left, 1, "word")
	end := c.GP64()
	c.MOVQ(p, end)
	c.SUBQ(list, end)
	c.SHRQ(operand.U8(2), end)
	advance(4, cuts)
	c.MOVL(end.As32(), mem(cuts, 0))
	c.ADDQ(rowStride, words)
	until(n, 1, "row")
	ret()
}

// nonzero writes Nonzero. It compresses sixteen values and their offsets at a time.
func nonzero() {
	function("nonzeroAVX512", "func(list *uint32, values, x *float32, n int) int", "nonzeroAVX512 is Nonzero for n > 0.")
	list, values, x, n := arg("list"), arg("values"), arg("x"), arg("n")
	offsets := make([]uint32, 16)
	for i := range offsets {
		offsets[i] = uint32(i) * block
	}
	at, step, zero := c.ZMM(), c.ZMM(), c.ZMM()
	c.VMOVDQU32(table("offsets", offsets...), at) // reads the first sixteen elements of the table of lists
	s := c.GP32()
	c.MOVL(operand.U32(16*block), s)
	c.VPBROADCASTD(s, step)
	c.VPXORD(zero, zero, zero)
	count, few, ones := c.GP64(), c.GP64(), c.GP32()
	c.XORQ(count, count)
	c.Label("vector")
	within, on := c.K(), c.K()
	c.MOVQ(n, few)
	c.MOVL(operand.U32(16), s)
	c.CMPQ(few, operand.U8(16))
	c.CMOVQGT(s.As64(), few)
	c.MOVL(operand.U32(1<<16-1), ones)
	c.BZHIL(few.As32(), ones, ones)
	c.KMOVW(ones, within)
	y, t := c.ZMM(), c.ZMM()
	c.VMOVUPS_Z(mem(x, 0), within, y)
	c.VCMPPS(operand.U8(4), zero, y, on) // not equal, or NaN
	c.VPCOMPRESSD_Z(at, on, t)
	c.VMOVDQU32(t, operand.Mem{Base: list, Index: count, Scale: 4})
	c.VCOMPRESSPS_Z(y, on, t)
	c.VMOVUPS(t, operand.Mem{Base: values, Index: count, Scale: 4})
	c.KMOVW(on, ones)
	c.POPCNTL(ones, ones)
	c.ADDQ(ones.As64(), count)
	c.VPADDD(step, at, at)
	advance(64, x)
	c.SUBQ(operand.U8(16), n)
	c.JGT(operand.LabelRef("vector"))
	c.VZEROUPPER()
	c.Store(count, c.ReturnIndex(0))
	c.RET()
}

// nonzeroWord writes NonzeroWord. With AVX2, which has no mask registers, it is only for a whole block.
func (s simd) nonzeroWord() {
	const notEqual = 4 // or NaN
	name := "nonzeroWord" + s.Name
	if s.ZMM() {
		function(name, "func(x *float32, mask uint64) uint64", name+" is NonzeroWord; mask has a one for each value.")
	} else {
		function(name, "func(x *float32) uint64", name+" is NonzeroWord of a whole block.")
	}
	x, word, part := arg("x"), c.GP64(), c.GP64()
	zero := s.Vector()
	c.VXORPS(zero, zero, zero)
	c.XORQ(word, word)
	var mask reg.GPVirtual
	if s.ZMM() {
		mask = arg("mask")
	}
	for i := range block / s.Width {
		y := s.Vector()
		if s.ZMM() {
			within, on := c.K(), c.K()
			c.KMOVW(mask.As32(), within)
			c.SHRQ(operand.U8(16), mask)
			c.VMOVUPS_Z(mem(x, 4*s.Width*i), within, y)
			c.VCMPPS(operand.U8(notEqual), zero, y, on)
			c.KMOVW(on, part.As32())
		} else {
			c.VMOVUPS(mem(x, 4*s.Width*i), y)
			c.VCMPPS(operand.U8(notEqual), zero, y, y)
			c.VMOVMSKPS(y, part.As32())
		}
		if i > 0 {
			c.SHLQ(operand.U8(s.Width*i), part)
		}
		c.ORQ(part, word)
	}
	c.VZEROUPPER()
	c.Store(word, c.ReturnIndex(0))
	c.RET()
}

// transpose writes Transpose. It permutes bytes so that one vector has the
// same byte of all 64 words. The top bits of its bytes are a word of the result, and shifts
// give the next words.
func transpose() {
	function("transposeAVX512", "func(m *uint64)", "transposeAVX512 is Transpose.")
	m := arg("m")
	pairs := make([]uint32, 16) // permutation within 128 bits that interleaves the bytes of two words
	for i := range 64 {
		from := i%16/2 + i%2*8
		pairs[i/4] |= uint32(from) << (8 * (i % 4))
	}
	columns := make([]uint32, 16) // permutation that groups the pairs of the same byte
	for i := range 32 {
		from := i%4*8 + i/4
		columns[i/2] |= uint32(from) << (16 * (i % 2))
	}
	shuffle, order := c.ZMM(), c.ZMM()
	c.VMOVDQU32(table("pairs", pairs...), shuffle)
	c.VMOVDQU32(table("columns", columns...), order)
	var a, t [8]reg.VecVirtual
	for i := range a {
		a[i] = c.ZMM()
		c.VMOVDQU64(mem(m, 64*i), a[i])
		c.VPSHUFB(shuffle, a[i], a[i])
		c.VPERMW(a[i], order, a[i]) // quadword b has byte b of eight words
	}
	for i := 0; i < 8; i += 2 {
		t[i], t[i+1] = c.ZMM(), c.ZMM()
		c.VPUNPCKLQDQ(a[i+1], a[i], t[i])
		c.VPUNPCKHQDQ(a[i+1], a[i], t[i+1])
	}
	var column [8]reg.VecVirtual
	for odd := range 2 {
		var s [4]reg.VecVirtual
		for i := range s {
			s[i] = c.ZMM()
			lo := i / 2 * 4
			c.VSHUFI64X2(operand.U8([2]int{0x88, 0xDD}[i%2]), t[lo+2+odd], t[lo+odd], s[i])
		}
		for i := range 4 {
			z := c.ZMM()
			c.VSHUFI64X2(operand.U8([2]int{0x88, 0xDD}[i/2]), s[2+i%2], s[i%2], z)
			column[2*i+odd] = z
		}
	}
	for b, z := range column {
		for bit := 7; bit >= 0; bit-- {
			k := c.K()
			c.VPMOVB2M(z, k)
			c.KMOVQ(k, mem(m, 8*(8*b+bit)))
			if bit > 0 {
				c.VPADDB(z, z, z)
			}
		}
	}
	ret()
}

func (s simd) exps() {
	s.function("exps", "func(dst, x *float32, n int, scale, shift float32)", "is exps for n > 0.")
	dst, x, n := arg("dst"), arg("x"), arg("n")
	a, b := s.scalar("scale"), s.scalar("shift")
	compute := func(y reg.VecVirtual) {
		c.VMULPS(y, a, y)
		c.VSUBPS(b, y, y)
		s.exp(y)
	}
	c.Label("vector")
	c.CMPQ(n, operand.U8(s.Width))
	c.JLT(operand.LabelRef("rest"))
	y := s.Vector()
	c.VMOVUPS(mem(x, 0), y)
	compute(y)
	c.VMOVUPS(y, mem(dst, 0))
	advance(4*s.Width, x, dst)
	c.SUBQ(operand.U8(s.Width), n)
	c.JMP(operand.LabelRef("vector"))
	c.Label("rest")
	c.TESTQ(n, n)
	c.JEQ(operand.LabelRef("done"))
	rest := s.tail(n)
	y = s.Vector()
	rest.load(mem(x, 0), y)
	compute(y)
	rest.store(y, mem(dst, 0))
	c.Label("done")
	ret()
}

// softplusFactor returns 1+e^−|y|, with the operations of vec.Exp. It limits |y| to 50; the result
// is 1 beyond 37. It overwrites y.
func (s simd) softplusFactor(y []reg.VecVirtual) []reg.VecVirtual {
	s.or64(double("signBit64", negativeZero), y...)
	s.max64(double("softplusMin", -50), y...)
	p := s.exp64(y)
	s.add64(double("one64", 1), p...)
	return p
}

// exp64 returns e^y, with the operations of vec.Exp, if the results are
// normal numbers. It overwrites y.
func (s simd) exp64(y []reg.VecVirtual) []reg.VecVirtual {
	k := s.copies(y)
	s.mul64(double("log2E64", 1/ln2), k...)
	s.add64(double("roundMagic64", 0x1.8p52), k...)
	shift := s.Vectors(len(y))
	for i := range k {
		c.VPSLLQ(operand.U8(52), k[i], shift[i])
	}
	s.sub64(double("roundMagic64", 0x1.8p52), k...)
	t := s.Vectors(len(y))
	for i := range k {
		c.VMOVAPD(k[i], t[i])
	}
	s.mul64(double("ln2Hi64", 6.93147180369123816490e-01), t...)
	each(c.VSUBPD, t, y, y)
	s.mul64(double("ln2Lo64", 1.90821492927058770002e-10), k...)
	each(c.VSUBPD, k, y, y)
	p := s.copies(y)
	s.mul64(taylor(13), p...)
	for i := 12; i >= 0; i-- {
		s.add64(taylor(i), p...)
		if i > 0 {
			each(c.VMULPD, y, p, p)
		}
	}
	each(c.VPADDQ, shift, p, p)
	return p
}
