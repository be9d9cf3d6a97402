package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// heat has the constants of the function heat in package walk.
type heat struct{ top, bottom, magic, h1, h2, h3, one *constant }

func (s simd) heat() heat {
	return heat{
		s.float("heatTop", 22), s.float("heatBottom", -22), s.float("heatMagic", 0x1.8p23),
		s.float("heat1", 0.693283), s.float("heat2", 0.242211), s.float("heat3", 0.055009), s.float("one", 1),
	}
}

// weights replaces each vector t[i] of exponents by weights; see heat in package walk. It makes each step
// of the computation for all vectors before the next step, so that the processor can overlap
// independent instructions.
func (s simd) weights(k heat, t []reg.VecVirtual, unit []operand.Mem) {
	n, r, p := s.Vectors(len(t)), s.Vectors(len(t)), s.Vectors(len(t))
	each := func(f func(i int)) {
		for i := range t {
			f(i)
		}
	}
	if s.ZMM() {
		// VRANGEPS gives min(|t|, 22) with the sign of t. VREDUCEPS gives t minus t rounded to the
		// nearest integer, ties to even.
		each(func(i int) { c.VRANGEPS(operand.U8(2), k.top.op(), t[i], t[i]) })
		each(func(i int) { c.VADDPS(k.magic.op(), t[i], n[i]) })
		each(func(i int) { c.VREDUCEPS(operand.U8(0), t[i], r[i]) })
	} else {
		each(func(i int) { c.VMAXPS(k.bottom.op(), t[i], t[i]) })
		each(func(i int) { c.VMINPS(k.top.op(), t[i], t[i]) })
		each(func(i int) { c.VADDPS(k.magic.op(), t[i], n[i]) })
		each(func(i int) { c.VSUBPS(k.magic.op(), n[i], r[i]) })
		each(func(i int) { c.VSUBPS(r[i], t[i], r[i]) })
	}
	each(func(i int) { c.VPSLLD(operand.U8(23), n[i], n[i]) })
	each(func(i int) { c.VMULPS(k.h3.op(), r[i], p[i]) })
	each(func(i int) { c.VADDPS(k.h2.op(), p[i], p[i]) })
	each(func(i int) { c.VMULPS(r[i], p[i], p[i]) })
	each(func(i int) { c.VADDPS(k.h1.op(), p[i], p[i]) })
	each(func(i int) { c.VMULPS(r[i], p[i], p[i]) })
	each(func(i int) { c.VADDPS(k.one.op(), p[i], p[i]) })
	each(func(i int) { c.VPADDD(n[i], p[i], p[i]) })
	each(func(i int) { c.VADDPS(k.one.op(), p[i], p[i]) })
	each(func(i int) { s.move(unit[i], t[i]) })
	each(func(i int) { c.VDIVPS(p[i], t[i], t[i]) })
	each(func(i int) { c.VCVTTPS2DQ(t[i], t[i]) })
}

// layer has the arguments that all three kernels have, and the offset i of the current vectors.
type layer struct {
	field, row, sign, unit, n, i reg.GPVirtual
}

const layerArgs = "field, row *int32, sign, unit *float32, n int"

// layerCall has these arguments in the form of a call.
const layerCall = "&field[0], &row[0], &sign[0], &unit[0], len(field)"

func layerOf() layer {
	l := layer{arg("field"), arg("row"), arg("sign"), arg("unit"), bytes(arg("n")), c.GP64()}
	c.XORQ(l.i, l.i)
	return l
}

// exponents adds row to the fields of the vectors at disps, or subtracts it if down, and returns the new
// fields times sign.
func (s simd) exponents(l layer, disps []int, down bool) []reg.VecVirtual {
	t := s.Vectors(len(disps))
	for i, d := range disps {
		s.move(at(l.field, l.i, d), t[i])
	}
	for i, d := range disps {
		if down {
			c.VPSUBD(at(l.row, l.i, d), t[i], t[i])
		} else {
			c.VPADDD(at(l.row, l.i, d), t[i], t[i])
		}
	}
	for i, d := range disps {
		s.move(t[i], at(l.field, l.i, d))
	}
	for i := range disps {
		c.VCVTDQ2PS(t[i], t[i])
	}
	for i, d := range disps {
		c.VMULPS(at(l.sign, l.i, d), t[i], t[i])
	}
	return t
}

// units returns the addresses of unit for the vectors at disps.
func (l layer) units(disps []int) []operand.Mem {
	m := make([]operand.Mem, len(disps))
	for i, d := range disps {
		m[i] = at(l.unit, l.i, d)
	}
	return m
}

// loop writes a loop over all numbers of a layer. An iteration processes turns·lanes numbers while that
// many are left, and then lanes numbers. f writes the body for a list of at most together vectors,
// given by their displacements in bytes.
func (s simd) loop(l layer, turns, together int, f func(disps []int)) {
	part := func(label string, turns int) {
		c.Label(label)
		var disps []int
		for v := range turns * lanes / s.Width {
			disps = append(disps, 4*s.Width*v)
		}
		for len(disps) > 0 {
			n := min(together, len(disps))
			f(disps[:n])
			disps = disps[n:]
		}
		c.ADDQ(operand.U32(4*lanes*turns), l.i)
	}
	if turns > 1 {
		last := c.GP64()
		c.MOVQ(l.n, last)
		c.SUBQ(operand.U32(4*lanes*turns), last) // last offset at which a long iteration may start
		c.CMPQ(l.i, last)
		c.JG(operand.LabelRef("vector"))
		part("vectors", turns)
		c.CMPQ(l.i, last)
		c.JLE(operand.LabelRef("vectors"))
		c.CMPQ(l.i, l.n)
		c.JEQ(operand.LabelRef("sums"))
	}
	part("vector", 1)
	c.CMPQ(l.i, l.n)
	c.JNE(operand.LabelRef("vector"))
	c.Label("sums")
}

// sumAt returns the index of the vector of sums to which the vector at disp is added.
func (s simd) sumAt(disp int) int { return disp / (4 * s.Width) % (lanes / s.Width) }

// store writes sums to memory.
func (s simd) store(sums []reg.VecVirtual, to reg.GPVirtual) {
	for part, x := range sums {
		s.move(x, mem(to, 4*s.Width*part))
	}
}

// together returns the number of vectors whose weights are computed at once. The number of registers
// limits it.
func (s simd) together() int {
	if s.ZMM() {
		return 4
	}
	return 2
}

func weigh(s simd, down bool) {
	n := name("weigh", s, down)
	function(n, "func("+layerArgs+", leaf, sum *uint32)", fmt.Sprintf("%s is weighGo.", n))
	l := layerOf()
	leaf := arg("leaf")
	k := s.heat()
	sum := s.zeros(lanes / s.Width)
	s.loop(l, 4, s.together(), func(disps []int) {
		t := s.exponents(l, disps, down)
		s.weights(k, t, l.units(disps))
		for i, d := range disps {
			s.move(t[i], at(leaf, l.i, d))
			c.VPADDD(t[i], sum[s.sumAt(d)], sum[s.sumAt(d)])
		}
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
		g[b] = s.Vector()
		c.VBROADCASTSS(mem(gamma, 4*b), g[b])
	}
	sums := [2][]reg.VecVirtual{s.zeros(lanes / s.Width), s.zeros(lanes / s.Width)}
	s.loop(l, 2, s.together()/2, func(disps []int) {
		t := s.exponents(l, disps, down)
		n := len(t)
		t = append(t, s.Vectors(n)...)
		for i := range n {
			c.VMULPS(g[1], t[i], t[n+i])
			c.VMULPS(g[0], t[i], t[i])
		}
		s.weights(k, t, append(l.units(disps), l.units(disps)...))
		for b := range leaf {
			for i, d := range disps {
				sum := sums[b][s.sumAt(d)]
				s.move(t[b*n+i], at(leaf[b], l.i, d))
				c.VPADDD(t[b*n+i], sum, sum)
			}
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
	all, second := s.zeros(lanes/s.Width), s.zeros(lanes/s.Width)
	s.loop(l, 4, s.together(), func(disps []int) {
		t := s.exponents(l, disps, down)
		s.weights(k, t, l.units(disps))
		for i, d := range disps {
			s.move(t[i], at(leaf, l.i, d))
			sum := all[s.sumAt(d)]
			c.VPADDD(t[i], sum, sum)
			s.and(at(side, l.i, d), t[i], t[i])
			sum = second[s.sumAt(d)]
			c.VPADDD(t[i], sum, sum)
		}
	})
	for part := range all {
		c.VPSUBD(second[part], all[part], all[part])
	}
	s.store(all, arg("sum0"))
	s.store(second, arg("sum1"))
	c.VZEROUPPER()
	c.RET()
}
