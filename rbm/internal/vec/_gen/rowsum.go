package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// block is the number of float32 in a row of a panel.
const block = 64

// rowSums writes RowSums for one or two words. The accumulators of a row stay in registers.
// After each row it prefetches some cache lines at ahead; lines is their number.
func (s simd) rowSums() {
	s.function("rowSums", "func(acc, base *float32, words *uint64, stride int, more *uint64, moreStride, n int, ahead *float32, lines int)",
		"is RowSums for n > 0 rows, with the first words at words and the second at more.")
	acc, base, words, stride := arg("acc"), arg("base"), arg("words"), arg("stride")
	more, moreStride, n, ahead := arg("more"), arg("moreStride"), arg("n"), arg("ahead")
	c.SHLQ(operand.U8(3), stride)
	c.SHLQ(operand.U8(3), moreStride)
	word, second, row, left := c.GP64(), c.GP64(), c.GP64(), c.GP64()
	upper := c.GP64()
	c.LEAQ(mem(base, 4*block*block), upper)
	sum := s.Vectors(block / s.Width)

	c.Label("sum")
	c.MOVQ(mem(words, 0), word)
	c.MOVQ(mem(more, 0), second)
	c.MOVQ(word, row)
	c.ORQ(second, row)
	c.JEQ(operand.LabelRef("next"))
	s.load(acc, sum)
	c.TESTQ(word, word)
	c.JEQ(operand.LabelRef("upper"))

	ones := func(label string, word, base reg.GPVirtual) { // word must not be 0
		c.Label(label)
		c.TZCNTQ(word, row)
		c.SHLQ(operand.U8(8), row)
		c.ADDQ(base, row)
		for i, x := range sum {
			c.VADDPS(mem(row, 4*s.Width*i), x, x)
		}
		c.BLSRQ(word, word)
		c.JNE(operand.LabelRef(label))
	}
	ones("row", word, base)
	c.TESTQ(second, second)
	c.JEQ(operand.LabelRef("summed"))
	ones("upper", second, upper)
	c.Label("summed")
	s.store(sum, acc)
	c.Label("next")
	advance(4*block, acc)
	c.ADDQ(stride, words)
	c.ADDQ(moreStride, more)
	c.Load(c.Param("lines"), left)
	c.TESTQ(left, left)
	c.JEQ(operand.LabelRef("asked"))
	c.Label("line")
	c.PREFETCHT1(mem(ahead, 0))
	advance(64, ahead)
	until(left, 1, "line")
	c.Label("asked")
	until(n, 1, "sum")
	ret()
}

// columnSums writes ColumnSums. It keeps the accumulators of eight units in registers and adds the
// columns of the word in order.
func columnSums() {
	const (
		units = 8
		// Each column prefetches two cache lines of the eight units after the next eight. About
		// sixteen columns are on in a word, so together they prefetch all lines.
		unitsAhead = 2
	)
	function("columnSumsAVX2", "func(acc, panel *float32, word uint64, n int)", "columnSumsAVX2 is ColumnSums for word ≠ 0 and n > 0 units, a multiple of eight.")
	acc, panel, word, n := arg("acc"), arg("panel"), arg("word"), arg("n")
	left, column, lower, ahead := c.GP64(), c.GP64(), c.GP64(), c.GP64()
	sum := make([]reg.VecVirtual, units)
	for i := range sum {
		sum[i] = c.XMM()
	}
	c.Label("units")
	for i, x := range sum {
		c.VMOVSS(mem(acc, 4*i), x)
	}
	c.MOVQ(word, left)
	c.LEAQ(mem(panel, 4*block*units*unitsAhead), ahead)
	c.Label("column")
	c.PREFETCHT0(mem(ahead, 0))
	c.PREFETCHT0(mem(ahead, 64))
	advance(128, ahead)
	c.TZCNTQ(left, column)
	c.LEAQ(mem(left, -1), lower)
	c.LEAQ(operand.Mem{Base: panel, Index: column, Scale: 4}, column)
	for i, x := range sum {
		c.VADDSS(mem(column, 4*block*i), x, x)
	}
	c.ANDQ(lower, left)
	c.JNE(operand.LabelRef("column"))
	for i, x := range sum {
		c.VMOVSS(x, mem(acc, 4*i))
	}
	advance(4*units, acc)
	advance(4*block*units, panel)
	until(n, units, "units")
	c.RET()
}

// maskedSums writes MaskedSums. The sixteen lanes are two vectors.
func maskedSums() {
	function("maskedSumsAVX512", "func(dst *float64, dstStride int, x *float32, xStride int, words *uint64, stride, n int)", "maskedSumsAVX512 is MaskedSums for n > 0 rows.")
	dst, x, words, n := arg("dst"), arg("x"), arg("words"), arg("n")
	dstStep, xStep, step := arg("dstStride"), bytes(arg("xStride")), arg("stride")
	c.SHLQ(operand.U8(3), dstStep)
	c.SHLQ(operand.U8(3), step)
	c.Label("row")
	sum := []reg.VecVirtual{c.ZMM(), c.ZMM()}
	for _, s := range sum {
		c.VXORPD(s, s, s)
	}
	for i := range block / 8 {
		k, wide := c.K(), c.ZMM()
		c.KMOVB(mem(words, i), k)
		c.VCVTPS2PD(mem(x, 4*8*i), wide)
		c.VADDPD(wide, sum[i%2], k, sum[i%2])
	}
	half := c.ZMM()
	c.VADDPD(sum[1], sum[0], sum[0])
	c.VEXTRACTF64X4(operand.U8(1), sum[0], half.AsY())
	c.VADDPD(half.AsY(), sum[0].AsY(), sum[0].AsY())
	c.VEXTRACTF128(operand.U8(1), sum[0].AsY(), half.AsX())
	c.VADDPD(half.AsX(), sum[0].AsX(), sum[0].AsX())
	c.VUNPCKHPD(sum[0].AsX(), sum[0].AsX(), half.AsX())
	c.VADDSD(half.AsX(), sum[0].AsX(), sum[0].AsX())
	c.VMOVSD(sum[0].AsX(), mem(dst, 0))
	c.ADDQ(dstStep, dst)
	c.ADDQ(xStep, x)
	c.ADDQ(step, words)
	until(n, 1, "row")
	ret()
}
