package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile is the number of rows that Turn works on at once.
const tile = 8

// turn writes Turn, eight rows of four columns at a time: a vector holds row r
// in its lower half and row r+4 in its upper, and 4×4 values of each half are
// transposed. It serves AVX-512 too: vectors of 512 bits store no faster on a
// Zen 4, and are slower by the shuffles between their quarters.
func turn() {
	function("turnAVX2", "func(dst, panel *float32, tiles, quads int)", "turnAVX2 is Turn for tiles of rows > 0 and quads of columns > 0.")
	dst, panel, tiles, quads := arg("dst"), arg("panel"), arg("tiles"), arg("quads")
	to, from, left := c.GP64(), c.GP64(), c.GP64()
	c.Label("quad")
	c.MOVQ(dst, to)
	c.MOVQ(panel, from)
	c.MOVQ(tiles, left)
	c.Label("tile")
	var x, y [4]reg.VecVirtual
	for r := range x {
		x[r], y[r] = c.YMM(), c.YMM()
		c.VBROADCASTF128(mem(from, 4*block*r), x[r])
		c.VINSERTF128(operand.U8(1), mem(from, 4*block*(r+4)), x[r], x[r])
	}
	for k := range 2 {
		c.VUNPCKLPS(x[2*k+1], x[2*k], y[2*k]) // columns 0 and 1 of two rows
		c.VUNPCKHPS(x[2*k+1], x[2*k], y[2*k+1])
	}
	for k := range 2 {
		c.VUNPCKLPD(y[2+k], y[k], x[2*k])
		c.VUNPCKHPD(y[2+k], y[k], x[2*k+1])
	}
	for k := range x {
		c.VMOVUPS(x[k], mem(to, 4*block*k))
	}
	c.ADDQ(operand.U8(4*tile), to)
	c.ADDQ(operand.U32(4*tile*block), from)
	c.DECQ(left)
	c.JNE(operand.LabelRef("tile"))
	c.ADDQ(operand.U32(4*4*block), dst)
	c.ADDQ(operand.U8(4*4), panel)
	c.DECQ(quads)
	c.JNE(operand.LabelRef("quad"))
	c.VZEROUPPER()
	c.RET()
}
