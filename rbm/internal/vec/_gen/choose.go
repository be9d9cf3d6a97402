package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var twoToMinus24 = float("twoToMinus24", 0x1p-24)

func choices() {
	for _, s := range []simd{avx2, avx512} {
		s.choose()
		s.column()
	}
}

// choose writes Choose. It processes several rows of states at once. It passes over all units three times:
// for the largest input, for the exponentials and their sum, and for the cumulative sums.
func (s simd) choose() {
	s.function("choose", "func(state *uint32, x *float32, units int, beta, u *float32)", "is Choose for units > 0.")
	state, x, units, beta, u := arg("state"), arg("x"), arg("units"), arg("beta"), arg("u")
	vectors := s.Width / 4
	count, left, at := c.GP64(), c.GP64(), c.GP64()
	c.MOVQ(operand.U32(block/(vectors*s.Width)), count)

	// eachUnit calls do in a loop over the units. y has their inputs times scale, or what has replaced
	// the inputs if scale is nil.
	eachUnit := func(label string, scale []reg.VecVirtual, do func(y []reg.VecVirtual)) {
		c.MOVQ(x, at)
		c.MOVQ(units, left)
		c.Label(label)
		y := s.Vectors(vectors)
		s.load(at, y)
		if scale != nil {
			each(c.VMULPS, scale, y, y)
		}
		do(y)
		advance(4*block, at)
		until(left, 1, label)
	}
	c.Label("columns")
	b, top := s.Vectors(vectors), s.Vectors(vectors)
	s.load(beta, b)
	s.load(x, top)
	each(c.VMULPS, b, top, top)
	eachUnit("largest", b, func(y []reg.VecVirtual) { each(c.VMAXPS, top, y, top) })
	sum := s.zeros(vectors)
	eachUnit("exponentials", b, func(y []reg.VecVirtual) {
		each(c.VSUBPS, top, y, y)
		s.exp(y...)
		s.store(y, at)
		each(c.VADDPS, y, sum, sum)
	})
	limit := s.Vectors(vectors)
	s.load(u, limit)
	s.mul(twoToMinus24, sum...)
	each(c.VMULPS, sum, limit, limit)
	upTo, above := s.zeros(vectors), s.zeros(vectors) // cumulative sum; number of units at which it is above the limit
	eachUnit("sums", nil, func(y []reg.VecVirtual) {
		each(c.VADDPS, y, upTo, upTo)
		for i := range y {
			if s.ZMM() {
				k := c.K()
				c.VCMPPS(operand.U8(1), upTo[i], limit[i], k)
				c.VPADDD_BCST(constant{"lowBit", 1}.mem(), above[i], k, above[i])
				continue
			}
			t := s.Vector()
			c.VCMPPS(operand.U8(1), upTo[i], limit[i], t)
			c.VPSUBD(t, above[i], above[i])
		}
	})
	n, last := s.Vector(), s.Vector()
	s.broadcast(units, n)
	c.LEAQ(mem(units, -1), at)
	s.broadcast(at, last)
	for i := range above {
		c.VPSUBD(above[i], n, above[i])
		c.VPMINUD(last, above[i], above[i])
	}
	s.store(above, state)
	advance(4*vectors*s.Width, state, x, beta, u)
	until(count, 1, "columns")
	ret()
}

// zeros returns n registers that are set to zero.
func (s simd) zeros(n int) []reg.VecVirtual {
	x := s.Vectors(n)
	for _, x := range x {
		c.VXORPS(x, x, x)
	}
	return x
}

// column writes Stream.Column. It computes all four words of the counters of several rows at once.
func (s simd) column() {
	s.function("column", "func(dst *float32, keys *[22]uint32, counter, row int)", "is Stream.Column.")
	dst, keys, counter, row := arg("dst"), arg("keys"), arg("counter"), arg("row")
	vectors := s.Width / 8
	if s.ZMM() {
		oddLanesInit()
	}
	left := c.GP64()
	c.MOVQ(operand.U32(block/(vectors*s.Width)), left)
	c.Label("rows")
	place := s.Vector()
	s.broadcast(counter, place)
	var x [4][]reg.VecVirtual
	var upper [2]reg.VecVirtual
	for w := range upper {
		upper[w] = s.Vector()
		c.VPBROADCASTD(mem(keys, 4*(20+w)), upper[w])
	}
	for i := range vectors {
		for _, rows := range s.firstCounters(row, i*s.Width) {
			x[0], x[1], x[2], x[3] = append(x[0], place), append(x[1], rows), append(x[2], upper[0]), append(x[3], upper[1])
		}
	}
	y := s.philox(x, keys)
	for w := range y {
		for i := range vectors {
			u := s.merge(y[w][2*i], y[w][2*i+1])
			s.uniform(u)
			c.VMOVUPS(u, mem(dst, 4*(block*w+i*s.Width)))
		}
	}
	advance(4*vectors*s.Width, dst)
	advance(vectors*s.Width, row)
	until(left, 1, "rows")
	ret()
}
