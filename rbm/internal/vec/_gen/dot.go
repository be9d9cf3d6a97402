package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile is the number of rows that Dots sums at once.
const tile = 8

const dotsSignature = "func(dst, base *float32, panelStride, panels int, bias *float32, words *uint64, wordStride, n int)"

func dots() {
	for chains := 1; chains <= 3; chains++ {
		dotsAVX512(chains)
	}
	dotsAVX2()
}

// dotsAVX512 writes Dots for groups of chains: one accumulator a row and
// chain. A mask of 16 bits of a state decides where a vector of weights is
// added; weights are read once for the group.
func dotsAVX512(chains int) {
	name := fmt.Sprintf("dots%dAVX512", chains)
	function(name, dotsSignature, name+fmt.Sprintf(" is Dots for n > 0 groups of %d examples.", chains))
	dst, base, panels, bias := arg("dst"), arg("base"), arg("panels"), arg("bias")
	stride := bytes(arg("panelStride"))
	words, wordStride := arg("words"), arg("wordStride")
	c.SHLQ(operand.U8(3), wordStride)
	n := arg("n")

	c.Label("group")
	sum := make([][tile]reg.VecVirtual, chains)
	for i := range sum {
		for r := range sum[i] {
			sum[i][r] = c.ZMM()
			c.VPXORD(sum[i][r], sum[i][r], sum[i][r])
		}
	}
	w, h, left := c.GP64(), c.GP64(), c.GP64()
	c.MOVQ(base, w)
	c.MOVQ(words, h)
	c.MOVQ(panels, left)

	c.Label("panel")
	for part := range block / 16 {
		mask := make([]reg.OpmaskVirtual, chains)
		for i := range mask {
			mask[i] = c.K()
			m := operand.Mem{Base: h, Disp: 2 * part}
			if i > 0 {
				m.Index, m.Scale = wordStride, uint8(i)
			}
			c.KMOVW(m, mask[i])
		}
		for r := range tile {
			x := c.ZMM()
			c.VMOVUPS(mem(w, 4*(block*r+16*part)), x)
			for i := range chains {
				c.VADDPS(x, sum[i][r], mask[i], sum[i][r])
			}
		}
	}
	c.ADDQ(stride, w)
	c.ADDQ(operand.U8(8), h)
	c.DECQ(left)
	c.JNE(operand.LabelRef("panel"))

	for i := range chains {
		s := c.ZMM()
		sumLanes512(s, sum[i][:])
		y := c.YMM()
		c.VEXTRACTF64X4(operand.U8(1), s, y)
		c.VADDPS(y, s.AsY(), y)
		c.VADDPS(mem(bias, 0), y, y)
		c.VMOVUPS(y, mem(dst, 4*block*i))
	}
	c.ADDQ(operand.U32(4*block*chains), dst)
	for range chains {
		c.ADDQ(wordStride, words)
	}
	c.DECQ(n)
	c.JNE(operand.LabelRef("group"))
	c.VZEROUPPER()
	c.RET()
}

// sumLanes512 leaves in the lower half of s t0+t2 and in the upper half t1+t3
// of the eight rows, in the terms of Dots.
func sumLanes512(s reg.VecVirtual, x []reg.VecVirtual) {
	lo, hi := quads(c.ZMM, x[:4]), quads(c.ZMM, x[4:])
	c.VSHUFF32X4(operand.U8(0x44), hi, lo, s) // t0 t1 of both
	c.VSHUFF32X4(operand.U8(0xEE), hi, lo, lo)
	c.VADDPS(lo, s, s)
	c.VSHUFF32X4(operand.U8(0xD8), s, s, s)
}

// quads returns a vector whose quad q holds t[q] of four rows.
func quads(vector func() reg.VecVirtual, x []reg.VecVirtual) reg.VecVirtual {
	pair := func(a, b reg.VecVirtual) reg.VecVirtual {
		s, t := vector(), vector()
		c.VUNPCKLPD(b, a, s)
		c.VUNPCKHPD(b, a, t)
		c.VADDPS(t, s, s) // a0+a2 a1+a3 b0+b2 b1+b3
		return s
	}
	ab, cd := pair(x[0], x[1]), pair(x[2], x[3])
	s := vector()
	c.VSHUFPS(operand.U8(0x88), cd, ab, s)
	c.VSHUFPS(operand.U8(0xDD), cd, ab, ab)
	c.VADDPS(ab, s, s)
	return s
}

// dotsAVX2 writes Dots for one example at a time: lanes 0–7 in one pass
// through the rows, lanes 8–15 in another. Weights are masked, which adds a
// zero where the bit is off.
func dotsAVX2() {
	function("dots1AVX2", dotsSignature, "dots1AVX2 is Dots for n > 0 examples.")
	dst, base, panels, bias := arg("dst"), arg("base"), arg("panels"), arg("bias")
	stride := bytes(arg("panelStride"))
	words, wordStride := arg("words"), arg("wordStride")
	c.SHLQ(operand.U8(3), wordStride)
	n := arg("n")

	c.Label("example")
	var half [2][2]reg.VecVirtual // rows 0–3 and 4–7 of each half of the lanes
	for lanes := range half {
		loop := fmt.Sprintf("lanes%d", 8*lanes)
		var sum [tile]reg.VecVirtual
		for r := range sum {
			sum[r] = c.YMM()
			c.VXORPS(sum[r], sum[r], sum[r])
		}
		var bit [2]reg.VecVirtual
		for k := range bit {
			bit[k] = c.YMM()
			c.VMOVDQU(bitsOfByte(lanes+2*k), bit[k])
		}
		w, h, left := c.GP64(), c.GP64(), c.GP64()
		c.MOVQ(base, w)
		c.MOVQ(words, h)
		c.MOVQ(panels, left)
		c.Label(loop)
		for part := range block / 16 {
			mask := c.YMM()
			c.VPBROADCASTD(mem(h, 4*(part/2)), mask)
			c.VPAND(bit[part%2], mask, mask)
			c.VPCMPEQD(bit[part%2], mask, mask)
			for r := range tile {
				x := c.YMM()
				c.VANDPS(mem(w, 4*(block*r+16*part+8*lanes)), mask, x)
				c.VADDPS(x, sum[r], sum[r])
			}
		}
		c.ADDQ(stride, w)
		c.ADDQ(operand.U8(8), h)
		c.DECQ(left)
		c.JNE(operand.LabelRef(loop))
		half[lanes] = [2]reg.VecVirtual{quads(c.YMM, sum[:4]), quads(c.YMM, sum[4:])}
	}
	for k := range 2 {
		c.VADDPS(half[1][k], half[0][k], half[0][k]) // t0+t2 t1+t3
	}
	s, t := c.YMM(), c.YMM()
	c.VPERM2F128(operand.U8(0x20), half[0][1], half[0][0], s)
	c.VPERM2F128(operand.U8(0x31), half[0][1], half[0][0], t)
	c.VADDPS(t, s, s)
	c.VADDPS(mem(bias, 0), s, s)
	c.VMOVUPS(s, mem(dst, 0))
	c.ADDQ(operand.U32(4*block), dst)
	c.ADDQ(wordStride, words)
	c.DECQ(n)
	c.JNE(operand.LabelRef("example"))
	c.VZEROUPPER()
	c.RET()
}
