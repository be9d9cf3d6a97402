package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// heat holds the constants of heat in package walk.
type heat struct{ top, bottom, magic, h1, h2, h3, one *constant }

func (s simd) heat() heat {
	return heat{
		s.float("heatTop", 22), s.float("heatBottom", -22), s.float("heatMagic", 0x1.8p23),
		s.float("heat1", 0.693283), s.float("heat2", 0.242211), s.float("heat3", 0.055009), s.float("one", 1),
	}
}

// weight turns t into the weight: see heat in package walk. It leaves unit.
func (s simd) weight(k heat, t, unit reg.VecVirtual) {
	c.VMAXPS(k.bottom.op(), t, t)
	c.VMINPS(k.top.op(), t, t)
	n, r, p := s.vector(), s.vector(), s.vector()
	c.VADDPS(k.magic.op(), t, n)
	c.VSUBPS(k.magic.op(), n, r)
	c.VSUBPS(r, t, r)
	c.VPSLLD(operand.U8(23), n, n)
	c.VMULPS(k.h3.op(), r, p)
	c.VADDPS(k.h2.op(), p, p)
	c.VMULPS(r, p, p)
	c.VADDPS(k.h1.op(), p, p)
	c.VMULPS(r, p, p)
	c.VADDPS(k.one.op(), p, p)
	c.VPADDD(n, p, p)
	c.VADDPS(k.one.op(), p, p)
	c.VDIVPS(p, unit, t)
	c.VCVTTPS2DQ(t, t)
}

// layer holds the arguments that all three kernels have.
type layer struct {
	field, row, sign, unit, n, i reg.GPVirtual
}

const layerArgs = "field, row *int32, sign, unit *float32, n int"

func layerOf() layer {
	l := layer{arg("field"), arg("row"), arg("sign"), arg("unit"), size(arg("n")), c.GP64()}
	c.XORQ(l.i, l.i)
	return l
}

// input moves the field of a vector and returns it times sign, and the unit.
func (s simd) input(l layer, disp int, down bool) (t, unit reg.VecVirtual) {
	f, t, unit := s.vector(), s.vector(), s.vector()
	s.move(at(l.field, l.i, disp), f)
	if down {
		c.VPSUBD(at(l.row, l.i, disp), f, f)
	} else {
		c.VPADDD(at(l.row, l.i, disp), f, f)
	}
	s.move(f, at(l.field, l.i, disp))
	c.VCVTDQ2PS(f, t)
	c.VMULPS(at(l.sign, l.i, disp), t, t)
	s.move(at(l.unit, l.i, disp), unit)
	return t, unit
}

// loop goes through the vectors, as many at a time as have all lanes.
func (s simd) loop(l layer, f func(part, disp int)) {
	c.Label("vector")
	for part := range lanes / s.width {
		f(part, 4*s.width*part)
	}
	c.ADDQ(operand.U8(4*lanes), l.i)
	c.CMPQ(l.i, l.n)
	c.JNE(operand.LabelRef("vector"))
}

// store writes sums and ends the function.
func (s simd) store(sums []reg.VecVirtual, to reg.GPVirtual) {
	for part, x := range sums {
		s.move(x, mem(to, 4*s.width*part))
	}
}

func weigh(s simd, down bool) {
	n := name("weigh", s, down)
	function(n, "func("+layerArgs+", leaf, sum *uint32)", fmt.Sprintf("%s is weighGo.", n))
	l := layerOf()
	leaf := arg("leaf")
	k := s.heat()
	sum := s.zeros(lanes / s.width)
	s.loop(l, func(part, disp int) {
		t, unit := s.input(l, disp, down)
		s.weight(k, t, unit)
		s.move(t, at(leaf, l.i, disp))
		c.VPADDD(t, sum[part], sum[part])
	})
	s.store(sum, arg("sum"))
	c.VZEROUPPER()
	c.RET()
}

func weighTwo(s simd, down bool) {
	n := name("weighTwo", s, down)
	function(n, "func("+layerArgs+", gamma *float32, leaf0, leaf1, sum0, sum1 *uint32)", fmt.Sprintf("%s is weighTwoGo.", n))
	l := layerOf()
	gamma := arg("gamma")
	leaf := [2]reg.GPVirtual{arg("leaf0"), arg("leaf1")}
	k := s.heat()
	var g [2]reg.VecVirtual
	for b := range g {
		g[b] = s.vector()
		c.VBROADCASTSS(mem(gamma, 4*b), g[b])
	}
	sums := [2][]reg.VecVirtual{s.zeros(lanes / s.width), s.zeros(lanes / s.width)}
	s.loop(l, func(part, disp int) {
		t, unit := s.input(l, disp, down)
		u := s.vector()
		c.VMULPS(g[1], t, u)
		c.VMULPS(g[0], t, t)
		for b, t := range []reg.VecVirtual{t, u} {
			s.weight(k, t, unit)
			s.move(t, at(leaf[b], l.i, disp))
			c.VPADDD(t, sums[b][part], sums[b][part])
		}
	})
	s.store(sums[0], arg("sum0"))
	s.store(sums[1], arg("sum1"))
	c.VZEROUPPER()
	c.RET()
}

func weighSides(s simd, down bool) {
	n := name("weighSides", s, down)
	function(n, "func("+layerArgs+", side, leaf, sum0, sum1 *uint32)", fmt.Sprintf("%s is weighSidesGo.", n))
	l := layerOf()
	side, leaf := arg("side"), arg("leaf")
	k := s.heat()
	all, second := s.zeros(lanes/s.width), s.zeros(lanes/s.width)
	s.loop(l, func(part, disp int) {
		t, unit := s.input(l, disp, down)
		s.weight(k, t, unit)
		s.move(t, at(leaf, l.i, disp))
		c.VPADDD(t, all[part], all[part])
		s.and(at(side, l.i, disp), t, t)
		c.VPADDD(t, second[part], second[part])
	})
	for part := range all {
		c.VPSUBD(second[part], all[part], all[part])
	}
	s.store(all, arg("sum0"))
	s.store(second, arg("sum1"))
	c.VZEROUPPER()
	c.RET()
}
