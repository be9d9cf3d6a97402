package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows writes AddRows and SubtractRows. The sums of up to 64 columns stay in
// registers while all rows are added. With vectors of 16 numbers, mcmc.Parameters.Load is 8 % faster than
// with vectors of 8.
func rows(s simd, down bool) {
	group := 64 / s.Width // vectors
	name := map[bool]string{false: "AddRows", true: "SubtractRows"}[down]
	kind := strings.ToLower(name[:1]) + name[1:] + s.Name
	function(kind, "func(acc *int32, n int, base *int32, stride int, list *int32, count int)",
		fmt.Sprintf("%s is %s of n columns, a positive multiple of 16, and count > 0 rows.", kind, name))
	acc, n, base, stride, list, count := arg("acc"), bytes(arg("n")), arg("base"), bytes(arg("stride")), arg("list"), arg("count")
	c.LEAQ(operand.Mem{Base: list, Index: count, Scale: 4}, count)
	sum := make([]reg.VecVirtual, group)
	for i := range sum {
		sum[i] = s.Vector()
	}
	p, row := c.GP64(), c.GP64()
	pass := func(label string, vectors int) {
		for i := range vectors {
			s.move(mem(acc, 4*s.Width*i), sum[i])
		}
		c.MOVQ(list, p)
		c.Label(label)
		c.MOVLQSX(mem(p, 0), row)
		c.IMULQ(stride, row)
		c.ADDQ(base, row)
		for i := range vectors {
			if down {
				c.VPSUBD(mem(row, 4*s.Width*i), sum[i], sum[i])
			} else {
				c.VPADDD(mem(row, 4*s.Width*i), sum[i], sum[i])
			}
		}
		c.ADDQ(operand.U8(4), p)
		c.CMPQ(p, count)
		c.JNE(operand.LabelRef(label))
		for i := range vectors {
			s.move(sum[i], mem(acc, 4*s.Width*i))
		}
		c.ADDQ(operand.U32(4*s.Width*vectors), acc)
		c.ADDQ(operand.U32(4*s.Width*vectors), base)
		c.SUBQ(operand.U32(4*s.Width*vectors), n)
	}
	c.Label("wide")
	c.CMPQ(n, operand.U32(4*64))
	c.JLT(operand.LabelRef("narrow"))
	pass("wideRow", group)
	c.JMP(operand.LabelRef("wide"))
	c.Label("narrow")
	c.CMPQ(n, operand.U8(0))
	c.JEQ(operand.LabelRef("end"))
	pass("narrowRow", lanes/s.Width)
	c.JMP(operand.LabelRef("narrow"))
	c.Label("end")
	c.VZEROUPPER()
	c.RET()
}

// quantize writes Quantize.
func quantize() {
	function("quantizeAVX2", "func(dst *int32, x *float32, scale float32, n int)", "quantizeAVX2 is Quantize of n numbers, a positive multiple of 8.")
	dst, x, n := arg("dst"), arg("x"), bytes(arg("n"))
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

// take writes Take, which processes squares of 8×8 numbers. It sums the magnitudes of each row from the
// transposed square, where a vector has one number of each of eight rows.
func take() {
	function("takeAVX2", "func(dst *int32, dstStride int, transposed *int32, transposedStride int, x *float32, xStride int, scale float32, column, row *float32, n int)",
		"takeAVX2 is Take of n > 0 squares side by side.")
	dst, dstStride := arg("dst"), bytes(arg("dstStride"))
	transposed, transposedStride := arg("transposed"), bytes(arg("transposedStride"))
	x, xStride, column, n := arg("x"), bytes(arg("xStride")), arg("column"), arg("n")
	keep := avx2.word("magnitude", 1<<31-1)
	s, scale, rows := c.XMM(), c.YMM(), c.YMM()
	c.Load(c.Param("scale"), s)
	c.VBROADCASTSS(s, scale)
	rowSums := c.GP64()
	c.Load(c.Param("row"), rowSums)
	c.VMOVUPS(mem(rowSums, 0), rows)
	// round rounds scale·v to integers, writes them to memory, and adds |v| to sums.
	round := func(v reg.VecVirtual, to reg.GPVirtual, sums reg.VecVirtual) {
		size, q := c.YMM(), c.YMM()
		c.VANDPS(keep.op(), v, size)
		c.VADDPS(size, sums, sums)
		c.VMULPS(v, scale, q)
		c.VCVTPS2DQ(q, q)
		c.VMOVDQU(q, mem(to, 0))
	}
	p, q := c.GP64(), c.GP64()
	c.Label("square")
	var a, b [8]reg.VecVirtual
	for i := range a {
		a[i], b[i] = c.YMM(), c.YMM()
	}
	columns := c.YMM()
	c.VMOVUPS(mem(column, 0), columns)
	c.MOVQ(x, p)
	c.MOVQ(dst, q)
	for i := range a {
		c.VMOVUPS(mem(p, 0), a[i])
		round(a[i], q, columns)
		if i < 7 {
			c.ADDQ(xStride, p)
			c.ADDQ(dstStride, q)
		}
		if i%2 == 1 {
			c.VUNPCKLPS(a[i], a[i-1], b[i-1])
			c.VUNPCKHPS(a[i], a[i-1], b[i])
		}
	}
	c.VMOVUPS(columns, mem(column, 0))
	for i := 0; i < 8; i += 4 {
		c.VUNPCKLPD(b[i+2], b[i], a[i])
		c.VUNPCKHPD(b[i+2], b[i], a[i+1])
		c.VUNPCKLPD(b[i+3], b[i+1], a[i+2])
		c.VUNPCKHPD(b[i+3], b[i+1], a[i+3])
	}
	for i := range 4 {
		c.VPERM2F128(operand.U8(0x20), a[i+4], a[i], b[i])
		c.VPERM2F128(operand.U8(0x31), a[i+4], a[i], b[i+4])
	}
	for i := range b {
		round(b[i], transposed, rows)
		c.ADDQ(transposedStride, transposed)
	}
	c.ADDQ(operand.U8(32), x)
	c.ADDQ(operand.U8(32), dst)
	c.ADDQ(operand.U8(32), column)
	c.DECQ(n)
	c.JNE(operand.LabelRef("square"))
	c.VMOVUPS(rows, mem(rowSums, 0))
	c.VZEROUPPER()
	c.RET()
}
