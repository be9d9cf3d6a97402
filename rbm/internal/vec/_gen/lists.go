package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func small() {
	lists()
	transpose()
	for _, s := range []simd{avx2, avx512} {
		s.scale()
		s.addWhere()
		s.exps()
		s.softplusParts()
	}
}

// lists writes Lists: the numbers of sixteen bits at a time are compressed by
// them. A whole vector is stored each time, so that up to sixteen places past
// the end are overwritten.
func lists() {
	function("listsAVX512", "func(list, cuts *uint32, words *uint64, rowStride, wordStride, n, count int, first, step uint32)",
		"listsAVX512 is Lists for n, count > 0; first is the value of the first bit, step that between words.")
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
		c.VPADDD(wide("offsets", values...).Offset(64*g), base, start[g])
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
		}
	}
	c.Label("next")
	for g := range value {
		c.VPADDD(step, value[g], value[g])
	}
	c.ADDQ(wordStride, w)
	c.DECQ(left)
	c.JNE(operand.LabelRef("word"))
	end := c.GP64()
	c.MOVQ(p, end)
	c.SUBQ(list, end)
	c.SHRQ(operand.U8(2), end)
	c.ADDQ(operand.U8(4), cuts)
	c.MOVL(end.As32(), mem(cuts, 0))
	c.ADDQ(rowStride, words)
	c.DECQ(n)
	c.JNE(operand.LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}

// transpose writes Transpose: bytes are sorted so that one vector holds the
// same byte of all 64 words, whose top bits are then a word of the result; the
// next ones follow by shifting.
func transpose() {
	function("transposeAVX512", "func(m *uint64)", "transposeAVX512 is Transpose.")
	m := arg("m")
	pairs := make([]uint32, 16) // within 128 bits: bytes of two words side by side
	for i := range 64 {
		from := i%16/2 + i%2*8
		pairs[i/4] |= uint32(from) << (8 * (i % 4))
	}
	columns := make([]uint32, 16) // of the pairs: those of one byte side by side
	for i := range 32 {
		from := i%4*8 + i/4
		columns[i/2] |= uint32(from) << (16 * (i % 2))
	}
	shuffle, order := c.ZMM(), c.ZMM()
	c.VMOVDQU32(wide("pairs", pairs...), shuffle)
	c.VMOVDQU32(wide("columns", columns...), order)
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
	c.VZEROUPPER()
	c.RET()
}

func (s simd) scale() {
	name := "scale" + s.name
	function(name, "func(dst *float32, dstStride int, x *float32, a float32, blocks int)",
		name+" is Scale for blocks > 0 whole blocks.")
	dst, dstStride, x, blocks := arg("dst"), bytes(arg("dstStride")), arg("x"), arg("blocks")
	a := s.vector()
	m, _ := c.Param("a").Resolve()
	c.VBROADCASTSS(m.Addr, a)
	c.Label("block")
	for i := range block / s.width {
		y := s.vector()
		c.VMULPS(mem(x, 4*s.width*i), a, y)
		c.VMOVUPS(y, mem(dst, 4*s.width*i))
	}
	c.ADDQ(dstStride, dst)
	c.ADDQ(operand.U32(4*block), x)
	c.DECQ(blocks)
	c.JNE(operand.LabelRef("block"))
	c.VZEROUPPER()
	c.RET()
}

func (s simd) addWhere() {
	name := "addWhere" + s.name
	function(name, "func(acc *float32, words *uint64, coef *float32, n int)",
		name+" is AddWhere for n > 0 words.")
	acc, words, coef, n := arg("acc"), arg("words"), arg("coef"), arg("n")
	sum := make([]reg.VecVirtual, block/s.width)
	for i := range sum {
		sum[i] = s.vector()
		c.VMOVUPS(mem(acc, 4*s.width*i), sum[i])
	}
	x := s.vector()
	c.Label("word")
	c.VBROADCASTSS(mem(coef, 0), x)
	for i := range sum {
		if s.zmm() {
			k := c.K()
			c.KMOVW(mem(words, 2*i), k)
			c.VADDPS(x, sum[i], k, sum[i])
			continue
		}
		mask, t := c.YMM(), c.YMM()
		c.VPBROADCASTD(mem(words, i/4*4), mask)
		c.VPAND(bitsOfByte(i%4), mask, mask)
		c.VPCMPEQD(bitsOfByte(i%4), mask, mask)
		c.VADDPS(x, sum[i], t)
		c.VBLENDVPS(mask, t, sum[i], sum[i])
	}
	c.ADDQ(operand.U8(8), words)
	c.ADDQ(operand.U8(4), coef)
	c.DECQ(n)
	c.JNE(operand.LabelRef("word"))
	for i := range sum {
		c.VMOVUPS(sum[i], mem(acc, 4*s.width*i))
	}
	c.VZEROUPPER()
	c.RET()
}

func (s simd) exps() {
	name := "exps" + s.name
	function(name, "func(dst, x *float32, n int, scale, shift float32)", name+" is exps for n > 0.")
	dst, x, n := arg("dst"), arg("x"), arg("n")
	a, b := s.vector(), s.vector()
	m, _ := c.Param("scale").Resolve()
	c.VBROADCASTSS(m.Addr, a)
	m, _ = c.Param("shift").Resolve()
	c.VBROADCASTSS(m.Addr, b)
	compute := func(y reg.VecVirtual) {
		c.VMULPS(y, a, y)
		c.VSUBPS(b, y, y)
		s.exp(y)
	}
	c.Label("vector")
	c.CMPQ(n, operand.U8(s.width))
	c.JLT(operand.LabelRef("rest"))
	y := s.vector()
	c.VMOVUPS(mem(x, 0), y)
	compute(y)
	c.VMOVUPS(y, mem(dst, 0))
	c.ADDQ(operand.U8(4*s.width), x)
	c.ADDQ(operand.U8(4*s.width), dst)
	c.SUBQ(operand.U8(s.width), n)
	c.JMP(operand.LabelRef("vector"))
	c.Label("rest")
	c.TESTQ(n, n)
	c.JEQ(operand.LabelRef("done"))
	y = s.vector()
	if s.zmm() {
		k, t := c.K(), c.GP32()
		c.MOVL(operand.U32(1<<16-1), t)
		c.BZHIL(n.As32(), t, t)
		c.KMOVW(t, k)
		c.VMOVUPS_Z(mem(x, 0), k, y)
		compute(y)
		c.VMOVUPS(y, k, mem(dst, 0))
	} else {
		mask := c.YMM()
		s.broadcast(n, mask)
		c.VPCMPGTD(wide("iota", 0, 1, 2, 3, 4, 5, 6, 7), mask, mask)
		c.VMASKMOVPS(mem(x, 0), mask, y)
		compute(y)
		c.VMASKMOVPS(y, mask, mem(dst, 0))
	}
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

// softplusParts writes 1+e^−|x| and max(x,0), which keeps a NaN.
func (s simd) softplusParts() {
	name := "softplusParts" + s.name
	function(name, "func(factor, part, x *float64, n int)", name+" is softplusParts for n > 0, a multiple of the vector.")
	factor, part, x, n := arg("factor"), arg("part"), arg("x"), arg("n")
	zero := s.vector()
	c.VXORPD(zero, zero, zero)
	for _, v := range []int{s.width / 4, 1} { // vectors at once: one alone would not fill the pipelines
		again, enough := fmt.Sprintf("vectors%d", v), fmt.Sprintf("fewer%d", v)
		c.Label(again)
		c.CMPQ(n, operand.U8(v*s.width/2))
		c.JLT(operand.LabelRef(enough))
		y, t := s.vectors(v), s.vectors(v)
		for i := range y {
			c.VMOVUPD(mem(x, 4*s.width*i), y[i])
			c.VMAXPD(y[i], zero, t[i])
			c.VMOVUPD(t[i], mem(part, 4*s.width*i))
		}
		p := s.softplusFactor(y)
		for i := range p {
			c.VMOVUPD(p[i], mem(factor, 4*s.width*i))
		}
		c.ADDQ(operand.U32(4*s.width*v), x)
		c.ADDQ(operand.U32(4*s.width*v), part)
		c.ADDQ(operand.U32(4*s.width*v), factor)
		c.SUBQ(operand.U8(v*s.width/2), n)
		c.JMP(operand.LabelRef(again))
		c.Label(enough)
	}
	c.VZEROUPPER()
	c.RET()
}

// softplusFactor returns 1+e^−|y| in the terms of Exp of package vec, with |y|
// cut at 50, as beyond 37 the result is 1. It overwrites y.
func (s simd) softplusFactor(y []reg.VecVirtual) []reg.VecVirtual {
	s.or64(double("signBit64", negativeZero), y...)
	s.max64(double("softplusMin", -50), y...)
	p := s.exp64(y)
	s.add64(double("one64", 1), p...)
	return p
}

// exp64 returns e^y in the terms of Exp of package vec, for y from −708 to 0,
// whose exponentials are normal numbers. It overwrites y.
func (s simd) exp64(y []reg.VecVirtual) []reg.VecVirtual {
	k := s.vectors(len(y), y...)
	s.mul64(double("log2E64", 1/ln2), k...)
	s.add64(double("roundMagic64", 0x1.8p52), k...)
	shift := s.vectors(len(y))
	for i := range k {
		c.VPSLLQ(operand.U8(52), k[i], shift[i])
	}
	s.sub64(double("roundMagic64", 0x1.8p52), k...)
	t := s.vectors(len(y))
	for i := range k {
		c.VMOVAPD(k[i], t[i])
	}
	s.mul64(double("ln2Hi64", 6.93147180369123816490e-01), t...)
	each(c.VSUBPD, t, y, y)
	s.mul64(double("ln2Lo64", 1.90821492927058770002e-10), k...)
	each(c.VSUBPD, k, y, y)
	p := s.vectors(len(y), y...)
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
