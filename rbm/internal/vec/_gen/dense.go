package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// denseRows is vec.denseRows: the number of sums that a kernel computes at once.
const denseRows = 4

// dense writes denseSums and denseRun.
func dense() {
	for _, s := range []simd{avx2, avx512} {
		s.dense("denseSums", false)
		s.dense("denseRun", true)
	}
}

// dense writes denseRun if run is set, else denseSums. The accumulators of all columns are in registers with
// AVX-512, and those of a quarter of the columns at a time with AVX2.
func (s simd) dense(name string, run bool) {
	signature := "func(dst, base *float32, list *uint32, values *float32, stride, n int)"
	if run {
		signature = "func(dst, plus, base *float32, list *uint32, values *float32, stride, n, add int)"
	}
	s.function(name, signature, "is the kernel of the function of this name for n > 0 rows.")
	dst, base, list, stride, n := arg("dst"), arg("base"), arg("list"), bytes(arg("stride")), arg("n")
	values := arg("values")
	parts := 1
	if !s.ZMM() {
		parts = 4
	}
	vectors := block / s.Width / parts
	stride3 := c.GP64()
	c.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	row, p, x, left := c.GP64(), c.GP64(), c.GP64(), c.GP64()
	sum := make([][]reg.VecVirtual, denseRows)
	for r := range sum {
		sum[r] = s.Vectors(vectors)
	}
	w := s.Vectors(vectors)
	for part := range parts {
		offset := 4 * block / parts * part
		at := func(r, i int) int { return 4*block*r + offset + 4*s.Width*i }
		c.MOVQ(list, p)
		c.MOVQ(values, x)
		c.MOVQ(n, left)
		step := func(first bool) {
			c.MOVL(mem(p, 0), row.As32())
			c.LEAQ(operand.Mem{Base: base, Index: row, Scale: 4}, row)
			for i := range w {
				c.VMOVUPS(mem(row, offset+4*s.Width*i), w[i])
			}
			for r := range sum {
				value := s.Vector()
				c.VBROADCASTSS([]operand.Mem{{Base: x}, {Base: x, Index: stride, Scale: 1}, {Base: x, Index: stride, Scale: 2}, {Base: x, Index: stride3, Scale: 1}}[r], value)
				for i := range w {
					if first {
						c.VMULPS(w[i], value, sum[r][i])
						continue
					}
					t := s.Vector()
					c.VMULPS(w[i], value, t)
					c.VADDPS(t, sum[r][i], sum[r][i])
				}
			}
			advance(4, p, x)
		}
		again, done := fmt.Sprintf("row%d", part), fmt.Sprintf("done%d", part)
		if run {
			step(true)
			c.DECQ(left)
			c.JEQ(operand.LabelRef(done))
		} else {
			for r := range sum {
				for i := range w {
					c.VMOVUPS(mem(dst, at(r, i)), sum[r][i])
				}
			}
		}
		c.Label(again)
		step(false)
		until(left, 1, again)
		c.Label(done)
		if run {
			for _, more := range []struct{ name, from string }{{"plus", "plus"}, {"add", "dst"}} {
				p, label := c.GP64(), fmt.Sprintf("%s%d", more.name, part)
				c.Load(c.Param(more.name), p)
				c.TESTQ(p, p)
				c.JEQ(operand.LabelRef(label))
				if more.from == "dst" {
					p = dst
				}
				for r := range sum {
					for i := range w {
						c.VADDPS(mem(p, at(r, i)), sum[r][i], sum[r][i])
					}
				}
				c.Label(label)
			}
		}
		for r := range sum {
			for i := range w {
				c.VMOVUPS(sum[r][i], mem(dst, at(r, i)))
			}
		}
	}
	ret()
}
