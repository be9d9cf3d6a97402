package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quadBytes is the size of a vec.Quad, a vector of AVX2. Wider vectors would not be faster, because
// loads and stores limit the speed.
const quadBytes = 32

// poisson writes Spread, Join and Chances.
func poisson() {
	spread()
	join()
	avx2.chances()
}

// chances writes Chances. There is no version for AVX-512, because a division takes as long for each
// lane in wider vectors.
func (s simd) chances() {
	s.function("chances", "func(p, q, x *float64, n int)", "is Chances for n > 0, a multiple of eight.")
	p, q, x, n := arg("p"), arg("q"), arg("x"), arg("n")
	unit := s.Vector()
	c.VMOVUPD(double("one64", 1), unit)
	c.Label("vectors")
	sign, y := s.Vectors(2), s.Vectors(2)
	for i := range y {
		c.VMOVUPD(mem(x, quadBytes*i), sign[i])
		c.VMOVAPD(sign[i], y[i])
	}
	s.or64(double("signBit64", negativeZero), y...)
	s.max64(double("chanceMin", -708), y...)
	e := s.exp64(y)
	for i := range e {
		high, t := s.Vector(), s.Vector()
		c.VADDPD(unit, e[i], high)
		c.VDIVPD(high, unit, high)
		c.VMULPD(high, e[i], e[i])
		c.VBLENDVPD(sign[i], e[i], high, t)
		c.VMOVUPD(t, mem(p, quadBytes*i))
		c.VBLENDVPD(sign[i], high, e[i], t)
		c.VMOVUPD(t, mem(q, quadBytes*i))
	}
	advance(2*quadBytes, p, q, x)
	until(n, 8, "vectors")
	ret()
}

func spread() {
	function("spreadAVX2", "func(dst, src, p, q *float64, n int)", "spreadAVX2 is Spread for n > 0 elements.")
	dst, src, pp, qp, n := arg("dst"), arg("src"), arg("p"), arg("q"), arg("n")
	p, q := c.YMM(), c.YMM()
	c.VMOVUPD(mem(pp, 0), p)
	c.VMOVUPD(mem(qp, 0), q)
	step := func(count int) {
		for i := range count {
			low, high := c.YMM(), c.YMM()
			c.VMULPD(mem(src, quadBytes*i), p, low)
			c.VMULPD(mem(src, quadBytes*(i+1)), q, high)
			c.VADDPD(low, high, high)
			c.VMOVUPD(high, mem(dst, quadBytes*i))
		}
		advance(quadBytes*count, dst, src)
	}
	fours(n, step)
	c.JEQ(operand.LabelRef("done"))
	c.Label("one")
	step(1)
	until(n, 1, "one")
	c.Label("done")
	ret()
}

// fours writes a loop of four steps at a time while n is at least 4. After it n is the number of remaining
// steps, and the zero flag is set if there are none.
func fours(n reg.GPVirtual, step func(count int)) {
	c.SUBQ(operand.U8(4), n)
	c.JLT(operand.LabelRef("rest"))
	c.Label("four")
	step(4)
	c.SUBQ(operand.U8(4), n)
	c.JGE(operand.LabelRef("four"))
	c.Label("rest")
	advance(4, n)
}

func join() {
	function("joinAVX2", "func(sum, f, b, p, q *float64, n int)", "joinAVX2 is Join for n > 0 elements.")
	sum, f, b, pp, qp, n := arg("sum"), arg("f"), arg("b"), arg("p"), arg("q"), arg("n")
	p, q, at := c.YMM(), c.YMM(), c.YMM()
	c.VMOVUPD(mem(pp, 0), p)
	c.VMOVUPD(mem(qp, 0), q)
	sums := [2]reg.VecVirtual{c.YMM(), c.YMM()}
	for _, s := range sums {
		c.VXORPD(s, s, s)
	}
	c.VMOVUPD(mem(f, 0), at)
	step := func(count int) {
		for i := range count {
			next, product := c.YMM(), c.YMM()
			c.VMOVUPD(mem(f, quadBytes*(i+1)), next)
			c.VMULPD(mem(b, quadBytes*i), next, product)
			c.VADDPD(product, sums[i%2], sums[i%2])
			c.VMULPD(p, next, product)
			c.VMULPD(q, at, at)
			c.VADDPD(product, at, at)
			c.VMOVUPD(at, mem(f, quadBytes*i))
			c.VMOVAPD(next, at)
		}
		advance(quadBytes*count, f, b)
	}
	fours(n, step) // at most three steps remain, and the first has an even index
	c.JEQ(operand.LabelRef("done"))
	c.CMPQ(n, operand.U8(2))
	c.JLT(operand.LabelRef("one"))
	step(2)
	c.SUBQ(operand.U8(2), n)
	c.JEQ(operand.LabelRef("done"))
	c.Label("one")
	step(1)
	c.Label("done")
	c.VADDPD(sums[1], sums[0], sums[0])
	c.VMOVUPD(sums[0], mem(sum, 0))
	ret()
}
