package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows writes AddRows and SubtractRows: the sums of up to 64 columns stay in
// registers while the rows go by. Two vectors of 8 take no longer than one of
// 16.
func rows(down bool) {
	const group = 8 // vectors
	kind := map[bool]string{false: "addRowsAVX2", true: "subtractRowsAVX2"}[down]
	function(kind, "func(acc *int32, n int, base *int32, stride int, list *int32, count int)",
		fmt.Sprintf("%s is that of n columns, a positive multiple of 16, and count > 0 rows.", kind))
	acc, n, base, stride, list, count := arg("acc"), size(arg("n")), arg("base"), size(arg("stride")), arg("list"), arg("count")
	c.LEAQ(operand.Mem{Base: list, Index: count, Scale: 4}, count)
	sum := make([]reg.VecVirtual, group)
	for i := range sum {
		sum[i] = c.YMM()
	}
	p, row := c.GP64(), c.GP64()
	pass := func(label string, vectors int) {
		for i := range vectors {
			c.VMOVDQU(mem(acc, 32*i), sum[i])
		}
		c.MOVQ(list, p)
		c.Label(label)
		c.MOVLQSX(mem(p, 0), row)
		c.IMULQ(stride, row)
		c.ADDQ(base, row)
		for i := range vectors {
			if down {
				c.VPSUBD(mem(row, 32*i), sum[i], sum[i])
			} else {
				c.VPADDD(mem(row, 32*i), sum[i], sum[i])
			}
		}
		c.ADDQ(operand.U8(4), p)
		c.CMPQ(p, count)
		c.JNE(operand.LabelRef(label))
		for i := range vectors {
			c.VMOVDQU(sum[i], mem(acc, 32*i))
		}
		c.ADDQ(operand.U32(32*vectors), acc)
		c.ADDQ(operand.U32(32*vectors), base)
		c.SUBQ(operand.U32(32*vectors), n)
	}
	c.Label("wide")
	c.CMPQ(n, operand.U32(32*group))
	c.JLT(operand.LabelRef("narrow"))
	pass("wideRow", group)
	c.JMP(operand.LabelRef("wide"))
	c.Label("narrow")
	c.CMPQ(n, operand.U8(0))
	c.JEQ(operand.LabelRef("end"))
	pass("narrowRow", lanes/8)
	c.JMP(operand.LabelRef("narrow"))
	c.Label("end")
	c.VZEROUPPER()
	c.RET()
}

// quantize writes Quantize.
func quantize() {
	function("quantizeAVX2", "func(dst *int32, x *float32, scale float32, n int)", "quantizeAVX2 is Quantize of n numbers, a positive multiple of 8.")
	dst, x, n := arg("dst"), arg("x"), size(arg("n"))
	scale := c.YMM()
	s := c.XMM()
	c.Load(c.Param("scale"), s)
	c.VBROADCASTSS(s, scale)
	c.ADDQ(x, n)
	c.Label("vector")
	v := c.YMM()
	c.VMULPS(mem(x, 0), scale, v)
	c.VCVTPS2DQ(v, v)
	c.VMOVDQU(v, mem(dst, 0))
	c.ADDQ(operand.U8(32), x)
	c.ADDQ(operand.U8(32), dst)
	c.CMPQ(x, n)
	c.JNE(operand.LabelRef("vector"))
	c.VZEROUPPER()
	c.RET()
}

// magnitudes writes Magnitudes.
func magnitudes() {
	function("magnitudesAVX2", "func(column, lane, x *float32, n int)", "magnitudesAVX2 is Magnitudes of n numbers, a positive multiple of 16.")
	column, lane, x, n := arg("column"), arg("lane"), arg("x"), size(arg("n"))
	keep := avx2.word("magnitude", 1<<31-1)
	sum := [2]reg.VecVirtual{c.YMM(), c.YMM()}
	for i := range sum {
		c.VMOVUPS(mem(lane, 32*i), sum[i])
	}
	c.ADDQ(x, n)
	c.Label("vector")
	for i := range sum {
		v, w := c.YMM(), c.YMM()
		c.VMOVUPS(mem(x, 32*i), v)
		c.VANDPS(keep.op(), v, v)
		c.VADDPS(v, sum[i], sum[i])
		c.VADDPS(mem(column, 32*i), v, w)
		c.VMOVUPS(w, mem(column, 32*i))
	}
	c.ADDQ(operand.U8(64), x)
	c.ADDQ(operand.U8(64), column)
	c.CMPQ(x, n)
	c.JNE(operand.LabelRef("vector"))
	for i := range sum {
		c.VMOVUPS(sum[i], mem(lane, 32*i))
	}
	c.VZEROUPPER()
	c.RET()
}

// transpose writes the transposition of a square of 8×8.
func transpose() {
	function("transposeAVX2", "func(dst *int32, dstStride int, src *int32, srcStride, n int)",
		"transposeAVX2 writes the transpose of n > 0 squares of 8×8 that lie side by side in src to squares one below the other in dst.")
	dst, dstStride, src, srcStride, n := arg("dst"), size(arg("dstStride")), arg("src"), size(arg("srcStride")), arg("n")
	down := c.GP64()
	c.MOVQ(dstStride, down)
	c.SHLQ(operand.U8(3), down)
	// row k of a matrix, k < 8: base + k·stride with base3 = base + 3·stride
	// and so on would need more registers than walking does.
	p, q := c.GP64(), c.GP64()
	c.Label("square")
	var a, b [8]reg.VecVirtual
	for i := range a {
		a[i], b[i] = c.YMM(), c.YMM()
	}
	c.MOVQ(src, p)
	for i := range a {
		c.VMOVDQU(mem(p, 0), a[i])
		if i < 7 {
			c.ADDQ(srcStride, p)
		}
	}
	for i := 0; i < 8; i += 2 {
		c.VPUNPCKLDQ(a[i+1], a[i], b[i])
		c.VPUNPCKHDQ(a[i+1], a[i], b[i+1])
	}
	for i := 0; i < 8; i += 4 {
		c.VPUNPCKLQDQ(b[i+2], b[i], a[i])
		c.VPUNPCKHQDQ(b[i+2], b[i], a[i+1])
		c.VPUNPCKLQDQ(b[i+3], b[i+1], a[i+2])
		c.VPUNPCKHQDQ(b[i+3], b[i+1], a[i+3])
	}
	for i := range 4 {
		c.VPERM2I128(operand.U8(0x20), a[i+4], a[i], b[i])
		c.VPERM2I128(operand.U8(0x31), a[i+4], a[i], b[i+4])
	}
	c.MOVQ(dst, q)
	for i := range b {
		c.VMOVDQU(b[i], mem(q, 0))
		if i < 7 {
			c.ADDQ(dstStride, q)
		}
	}
	c.ADDQ(operand.U8(32), src)
	c.ADDQ(down, dst)
	c.DECQ(n)
	c.JNE(operand.LabelRef("square"))
	c.VZEROUPPER()
	c.RET()
}
