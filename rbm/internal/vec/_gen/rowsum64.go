package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weightedSums writes the row sums with values or in float64, and the kernels Widen and AddTimes.
func weightedSums() {
	for _, s := range []simd{avx2, avx512} {
		s.rowSumsTimes("rowSumsTimes"+s.Name, true, 4, 4)
		for _, from := range []int{4, 8} {
			s.rowSumsTimes(fmt.Sprintf("rowSums64From%d%s", 8*from, s.Name), false, from, 8)
			s.rowSumsTimes(fmt.Sprintf("rowSumsTimes64From%d%s", 8*from, s.Name), true, from, 8)
		}
		s.widen("widen", false)
		s.addTimes()
	}
}

// rowSumsTimes writes row sums for rows of numbers of from bytes and sums of size bytes. It
// keeps the accumulators of one list in registers. AVX2 does not have
// enough registers for 64 float64: it processes each list once for each
// half of the columns.
func (s simd) rowSumsTimes(name string, values bool, from, size int) {
	signature := fmt.Sprintf("func(acc *float%d, accStride int, base *float%d, lists, cuts *uint32, n int)", 8*size, 8*from)
	double := size == 8
	lanes, halves := 4*s.Width/size, 1
	if double && !s.ZMM() {
		halves = 2
	}
	if values {
		signature = signature[:len(signature)-1] + ", values *float32)"
	}
	function(name, signature, name+" computes row sums for n > 0 lists.")
	acc, stride, base, lists, cuts, n := arg("acc"), arg("accStride"), arg("base"), arg("lists"), arg("cuts"), arg("n")
	c.SHLQ(operand.U8(map[int]int{4: 2, 8: 3}[size]), stride)
	var ahead reg.GPVirtual // distance from lists to values
	if values {
		ahead = arg("values")
		c.SUBQ(lists, ahead)
	}
	start, p, end, row := c.GP64(), c.GP64(), c.GP64(), c.GP64()
	sum := s.Vectors(block / halves / lanes)
	c.MOVL(mem(cuts, 0), start.As32())
	c.LEAQ(operand.Mem{Base: lists, Index: start, Scale: 4}, start)

	c.Label("list")
	c.MOVL(mem(cuts, 4), end.As32())
	c.LEAQ(operand.Mem{Base: lists, Index: end, Scale: 4}, end)
	c.CMPQ(start, end)
	c.JEQ(operand.LabelRef("next"))
	for half := range halves {
		first := half * block / halves
		for i := range sum {
			c.VMOVUPS(mem(acc, size*(first+i*lanes)), sum[i])
		}
		c.MOVQ(start, p)
		again := fmt.Sprintf("row%d", half)
		c.Label(again)
		c.MOVL(mem(p, 0), row.As32())
		c.LEAQ(operand.Mem{Base: base, Index: row, Scale: uint8(from)}, row)
		var x reg.VecVirtual
		if values {
			if at := (operand.Mem{Base: p, Index: ahead, Scale: 1}); double {
				x = s.widened(at)
			} else {
				x = s.Vector()
				c.VBROADCASTSS(at, x)
			}
		}
		for i := range sum {
			w := operand.Op(mem(row, from*(first+i*lanes)))
			t := s.Vector()
			if !double {
				c.VMULPS(w, x, t)
				c.VADDPS(t, sum[i], sum[i])
				continue
			}
			if from == 4 {
				c.VCVTPS2PD(w, t)
				w = t
			}
			if values {
				c.VMULPD(w, x, t)
				w = t
			}
			c.VADDPD(w, sum[i], sum[i])
		}
		advance(4, p)
		c.CMPQ(p, end)
		c.JNE(operand.LabelRef(again))
		for i := range sum {
			c.VMOVUPS(sum[i], mem(acc, size*(first+i*lanes)))
		}
	}
	c.MOVQ(end, start)
	c.Label("next")
	c.ADDQ(stride, acc)
	advance(4, cuts)
	until(n, 1, "list")
	ret()
}

// widen writes Widen, or AddWide.
func (s simd) widen(name string, add bool) {
	s.function(name, "func(dst *float64, x *float32, n int)", "is the kernel of the function of this name for n > 0, a multiple of eight.")
	dst, x, n := arg("dst"), arg("x"), arg("n")
	c.Label("vectors")
	for i := range s.parts() {
		t := s.Vector()
		c.VCVTPS2PD(mem(x, 2*s.Width*i), t)
		if add {
			c.VADDPD(s.at(dst, i), t, t)
		}
		c.VMOVUPD(t, s.at(dst, i))
	}
	advance(32, x)
	advance(64, dst)
	until(n, 8, "vectors")
	ret()
}

// addTimes writes AddTimes: for each row whole vectors, then the rest with a mask.
func (s simd) addTimes() {
	s.function("addTimes", "func(dst *float32, dstStride int, x *float32, xStride int, a float32, rows, width int)",
		"is AddTimes for rows, width > 0.")
	dst, dstStride, x, xStride := arg("dst"), bytes(arg("dstStride")), arg("x"), bytes(arg("xStride"))
	rows, width := arg("rows"), arg("width")
	a := s.scalar("a")
	to, from, left := c.GP64(), c.GP64(), c.GP64()
	c.Label("row")
	c.MOVQ(dst, to)
	c.MOVQ(x, from)
	c.MOVQ(width, left)
	c.Label("vector")
	c.CMPQ(left, operand.U8(s.Width))
	c.JLT(operand.LabelRef("rest"))
	y := s.Vector()
	c.VMULPS(mem(from, 0), a, y)
	s.flush(y)
	c.VADDPS(mem(to, 0), y, y)
	c.VMOVUPS(y, mem(to, 0))
	advance(4*s.Width, to, from)
	c.SUBQ(operand.U8(s.Width), left)
	c.JMP(operand.LabelRef("vector"))
	c.Label("rest")
	c.TESTQ(left, left)
	c.JEQ(operand.LabelRef("next"))
	rest, t := s.tail(left), s.Vector()
	y = s.Vector()
	rest.load(mem(from, 0), y)
	rest.load(mem(to, 0), t)
	c.VMULPS(a, y, y)
	s.flush(y)
	c.VADDPS(t, y, y)
	rest.store(y, mem(to, 0))
	c.Label("next")
	c.ADDQ(dstStride, dst)
	c.ADDQ(xStride, x)
	until(rows, 1, "row")
	ret()
}
