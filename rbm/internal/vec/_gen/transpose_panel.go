package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile is the number of rows and columns that TransposePanel processes at once.
const tile = 8

// transposePanel writes TransposePanel. It transposes 8×8 values: first within quarters of 4×4 values,
// then the quarters. It is also the version for AVX-512: on a Zen 4, vectors of 512 bits are slower,
// because they need shuffles between quarters.
func transposePanel() {
	function("transposePanelAVX2", "func(dst, panel *float32, down, across int)", "transposePanelAVX2 is TransposePanel for down > 0 and across > 0 tiles.")
	dst, panel, down, across := arg("dst"), arg("panel"), arg("down"), arg("across")
	to, from, left := c.GP64(), c.GP64(), c.GP64()
	c.Label("rows")
	c.MOVQ(dst, to)
	c.MOVQ(panel, from)
	c.MOVQ(across, left)
	c.Label("tile")
	var x, y [tile]reg.VecVirtual
	for r := range x {
		x[r], y[r] = c.YMM(), c.YMM()
		c.VMOVUPS(mem(from, 4*block*r), x[r])
	}
	for r := 0; r < tile; r += 2 {
		c.VUNPCKLPS(x[r+1], x[r], y[r])
		c.VUNPCKHPS(x[r+1], x[r], y[r+1])
	}
	for h := 0; h < tile; h += 4 { // x[h+k]: columns k and k+4 of rows h … h+3
		for k := range 2 {
			c.VUNPCKLPD(y[h+k+2], y[h+k], x[h+2*k])
			c.VUNPCKHPD(y[h+k+2], y[h+k], x[h+2*k+1])
		}
	}
	for k := range tile / 2 {
		c.VINSERTF128(operand.U8(1), x[k+4].AsX(), x[k], y[k])
		c.VPERM2F128(operand.U8(0x31), x[k+4], x[k], y[k+4])
	}
	for k := range y {
		c.VMOVUPS(y[k], mem(to, 4*block*k))
	}
	advance(4*tile*block, to)
	advance(4*tile, from)
	until(left, 1, "tile")
	advance(4*tile, dst)
	advance(4*tile*block, panel)
	until(down, 1, "rows")
	ret()
}
