package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// path writes the kernels of the path between a model and its base.
func path() {
	for _, s := range []simd{avx2, avx512} {
		s.blend()
	}
}

func (s simd) blend() {
	name := "blend" + s.name
	function(name, "func(dst, x, beta, base *float32, n int)", name+" is Blend for n > 0 rows.")
	dst, x, beta, base, n := arg("dst"), arg("x"), arg("beta"), arg("base"), arg("n")
	unit := s.vector()
	c.VBROADCASTSS(one.mem(), unit)
	c.Label("row")
	b, rest := s.vector(), s.vector()
	c.VBROADCASTSS(mem(beta, 0), b)
	c.VSUBPS(b, unit, rest)
	const together = 4 // vectors: enough to hide the latency of three operations
	for lo := 0; lo < block; lo += together * s.width {
		y, z := make([]reg.VecVirtual, together), make([]reg.VecVirtual, together)
		for i := range y {
			y[i], z[i] = s.vector(), s.vector()
			c.VMULPS(mem(x, 4*(lo+i*s.width)), b, y[i])
			c.VMULPS(mem(base, 4*(lo+i*s.width)), rest, z[i])
		}
		each(c.VADDPS, z, y, y)
		for i := range y {
			c.VMOVUPS(y[i], mem(dst, 4*(lo+i*s.width)))
		}
	}
	c.ADDQ(operand.U32(4*block), dst)
	c.ADDQ(operand.U32(4*block), x)
	c.ADDQ(operand.U8(4), beta)
	c.DECQ(n)
	c.JNE(operand.LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}
