package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// path writes Blend and Rises.
func path() {
	for _, s := range []simd{avx2, avx512} {
		s.blend()
		s.rises()
	}
}

func (s simd) blend() {
	s.function("blend", "func(dst, x, beta, base *float32, n int)", "is Blend for n > 0 rows.")
	dst, x, beta, base, n := arg("dst"), arg("x"), arg("beta"), arg("base"), arg("n")
	unit := s.Vector()
	c.VBROADCASTSS(one.mem(), unit)
	c.Label("row")
	b, rest := s.Vector(), s.Vector()
	c.VBROADCASTSS(mem(beta, 0), b)
	c.VSUBPS(b, unit, rest)
	const together = 4 // number of vectors that hides the latency of three operations
	for lo := 0; lo < block; lo += together * s.Width {
		y, z := make([]reg.VecVirtual, together), make([]reg.VecVirtual, together)
		for i := range y {
			y[i], z[i] = s.Vector(), s.Vector()
			c.VMULPS(mem(x, 4*(lo+i*s.Width)), b, y[i])
			c.VMULPS(mem(base, 4*(lo+i*s.Width)), rest, z[i])
		}
		each(c.VADDPS, z, y, y)
		for i := range y {
			c.VMOVUPS(y[i], mem(dst, 4*(lo+i*s.Width)))
		}
	}
	advance(4*block, dst, x)
	advance(4, beta)
	until(n, 1, "row")
	ret()
}

// rises writes Rises. It keeps the eight lanes of each of three accumulators in one or two
// vectors.
func (s simd) rises() {
	s.function("rises", "func(factor, part *float64, x *float32, from, to float64, fromShift, toShift *float64, n int)",
		"is Rises for n > 0 rows.")
	factor, part, x, n := arg("factor"), arg("part"), arg("x"), arg("n")
	shift := [2]reg.GPVirtual{arg("fromShift"), arg("toShift")}
	lanes := s.Width / 2
	parts := 8 / lanes // number of vectors of an accumulator
	zero, unit := s.Vector(), s.Vector()
	c.VXORPD(zero, zero, zero)
	c.VBROADCASTSD(double("one64", 1), unit)
	c.Label("row")
	sum := s.Vectors(parts)
	var prod [2][]reg.VecVirtual
	for i := range sum {
		c.VXORPD(sum[i], sum[i], sum[i])
	}
	for end := range prod {
		prod[end] = s.Vectors(parts)
		for i := range prod[end] {
			c.VMOVAPD(unit, prod[end][i])
		}
	}
	// AVX-512 has enough registers for two vectors at a time, at both inverse temperatures.
	together := 1
	if s.ZMM() {
		together = 2
	}
	scales := func(end int) operand.Mem {
		m, _ := c.Param([]string{"from", "to"}[end]).Resolve()
		return m.Addr
	}
	for lo := 0; lo < block; lo += together * lanes {
		acc := lo / lanes % parts
		y := [2][]reg.VecVirtual{}
		for end := range y {
			b := s.Vector()
			c.VBROADCASTSD(scales(end), b)
			for i := range together {
				at, v := lo+i*lanes, s.Vector()
				c.VCVTPS2PD(mem(x, 4*at), v)
				c.VMULPD(b, v, v)
				c.VADDPD(mem(shift[end], 8*at), v, v)
				y[end] = append(y[end], v)
			}
		}
		for i := range together {
			up, down := s.Vector(), s.Vector()
			c.VMAXPD(y[1][i], zero, up)
			c.VMAXPD(y[0][i], zero, down)
			c.VSUBPD(down, up, up)
			c.VADDPD(up, sum[acc], sum[acc])
		}
		var f [2][]reg.VecVirtual
		if s.ZMM() {
			all := s.softplusFactor(append(y[0], y[1]...))
			f = [2][]reg.VecVirtual{all[:together], all[together:]}
		} else {
			for end := range f {
				f[end] = s.softplusFactor(y[end])
			}
		}
		for end := range f {
			for _, v := range f[end] {
				c.VMULPD(v, prod[end][acc], prod[end][acc])
			}
		}
	}
	total := s.fold(sum, c.VADDPD)
	c.VMOVSD(total, mem(part, 0))
	low, high := s.fold(prod[0], c.VMULPD), s.fold(prod[1], c.VMULPD)
	c.VDIVSD(low, high, high)
	c.VMOVSD(high, mem(factor, 0))
	advance(4*block, x)
	advance(8, part, factor)
	until(n, 1, "row")
	ret()
}

// fold reduces eight lanes of float64 to one: lane q with q+4, then q with
// q+2, then 0 with 1.
func (s simd) fold(x []reg.VecVirtual, op func(...operand.Op)) reg.Register {
	four, two := x[0].AsY(), x[0].AsX()
	if s.ZMM() {
		upper := c.YMM()
		c.VEXTRACTF64X4(operand.U8(1), x[0], upper)
		op(upper, four, four)
	} else {
		op(x[1], four, four)
	}
	pair := c.XMM()
	c.VEXTRACTF128(operand.U8(1), four, pair)
	op(pair, two, two)
	c.VPERMILPD(operand.U8(1), two, pair)
	op(pair, two, two)
	return two
}
