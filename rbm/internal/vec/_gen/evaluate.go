package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// evaluate writes the kernels for evaluating models in float64.
func evaluate() {
	for _, s := range []simd{avx2, avx512} {
		s.softplus("softplus", false)
		s.softplus("odds", true)
		s.exps64()
		s.products()
		s.quadProducts()
		s.quadMeans()
	}
}

// parts returns the number of vectors for eight float64.
func (s simd) parts() int { return 16 / s.Width }

// at returns the address of vector i at r.
func (s simd) at(r reg.Register, i int) operand.Mem { return mem(r, 4*s.Width*i) }

// softplus writes the kernels softplus and odds. Both accumulate Σ log(1+eˣ) in eight
// lanes; odds also writes on and off.
func (s simd) softplus(what string, odds bool) {
	name := what + s.Name
	signature := "func(acc, x *float64, n int)"
	if odds {
		signature = "func(on, off, acc, x *float64, n int)"
	}
	function(name, signature, name+" is "+what+" for n > 0, a multiple of eight.")
	var on, off reg.GPVirtual
	if odds {
		on, off = arg("on"), arg("off")
	}
	acc, x, n := arg("acc"), arg("x"), arg("n")
	zero := s.Vector()
	c.VXORPD(zero, zero, zero)
	sum, prod := s.Vectors(s.parts()), s.Vectors(s.parts())
	for i := range sum {
		c.VMOVUPD(s.at(acc, i), sum[i])
		c.VMOVUPD(mem(acc, 64+4*s.Width*i), prod[i])
	}
	atOnce(n, s.Width/2, []int{s.Width / 4, s.parts()}, func(v int) {
		y := s.Vectors(v)
		for i := range y {
			t := s.Vector()
			c.VMOVUPD(s.at(x, i), y[i])
			c.VMAXPD(y[i], zero, t)
			c.VADDPD(t, sum[i%s.parts()], sum[i%s.parts()])
		}
		s.or64(double("signBit64", negativeZero), y...)
		s.max64(double("oddsMin", -708), y...)
		p := s.exp64(y)
		if odds {
			s.storeOdds(on, off, x, p)
			advance(4*s.Width*v, on, off)
		}
		s.add64(double("one64", 1), p...)
		for i := range p {
			c.VMULPD(p[i], prod[i%s.parts()], prod[i%s.parts()])
		}
		advance(4*s.Width*v, x)
	})
	for i := range sum {
		c.VMOVUPD(sum[i], s.at(acc, i))
		c.VMOVUPD(prod[i], mem(acc, 64+4*s.Width*i))
	}
	ret()
}

// storeOdds writes 1 to on and e = e^−|x| to off, or e to on and 1 to off if
// x is negative.
func (s simd) storeOdds(on, off, x reg.GPVirtual, e []reg.VecVirtual) {
	unit := s.Vector()
	c.VBROADCASTSD(double("one64", 1), unit)
	for i := range e {
		sign, up, down := s.Vector(), s.Vector(), s.Vector()
		c.VMOVUPD(s.at(x, i), sign)
		if s.ZMM() {
			k := c.K()
			c.VPMOVQ2M(sign, k)
			c.VBLENDMPD(e[i], unit, k, up)
			c.VBLENDMPD(unit, e[i], k, down)
		} else {
			c.VBLENDVPD(sign, e[i], unit, up)
			c.VBLENDVPD(sign, unit, e[i], down)
		}
		c.VMOVUPD(up, s.at(on, i))
		c.VMOVUPD(down, s.at(off, i))
	}
}

func (s simd) exps64() {
	s.function("exps64", "func(dst, x *float64, n int)", "is Exps for n > 0, a multiple of eight.")
	dst, x, n := arg("dst"), arg("x"), arg("n")
	atOnce(n, s.Width/2, []int{s.Width / 4, s.parts()}, func(v int) {
		y := s.Vectors(v)
		for i := range y {
			c.VMOVUPD(s.at(x, i), y[i])
		}
		s.max64(double("expsMin64", -700), y...)
		s.min64(double("expsMax64", 700), y...)
		for i, p := range s.exp64(y) {
			c.VMOVUPD(p, s.at(dst, i))
		}
		advance(4*s.Width*v, x, dst)
	})
	ret()
}

// quad is vec.quad: the number of products that a kernel computes at once.
const quad = 4

// units returns accumulators of quad products, set to one.
func (s simd) units() (acc [quad][]reg.VecVirtual) {
	for q := range acc {
		acc[q] = s.Vectors(s.parts())
		for i := range acc[q] {
			c.VBROADCASTSD(double("one64", 1), acc[q][i])
		}
	}
	return acc
}

// split replaces positive normal numbers x by their mantissas in [1,2), and returns their biased
// exponents.
func (s simd) split(x []reg.VecVirtual) []reg.VecVirtual {
	e := s.Vectors(len(x))
	for i := range x {
		c.VPSRLQ(operand.U8(52), x[i], e[i])
	}
	s.and64(double("mantissa64", mantissaMask), x...)
	s.or64(double("one64", 1), x...)
	return e
}

// multiply multiplies quad products, with mantissas at m and exponents at e, by all lanes of acc.
func (s simd) multiply(m, e reg.Register, acc [quad][]reg.VecVirtual) {
	for q, x := range acc {
		exponent := s.fold(s.split(x), c.VPADDQ).(reg.VecVirtual).AsX()
		mantissa := s.fold(x, c.VMULPD).(reg.VecVirtual).AsX()
		c.VMULSD(mem(m, 8*q), mantissa, mantissa)
		last := c.XMM()
		c.VPSRLQ(operand.U8(52), mantissa, last)
		c.VPAND(double("mantissa64", mantissaMask), mantissa, mantissa)
		c.VPOR(double("one64", 1), mantissa, mantissa)
		c.VMOVSD(mantissa, mem(m, 8*q))
		c.VPADDQ(last, exponent, exponent)
		sum := c.GP64()
		c.VMOVQ(exponent, sum)
		c.SUBQ(operand.U32(9*1023), sum)
		c.ADDQ(sum, mem(e, 8*q))
	}
}

func (s simd) products() {
	s.function("products", "func(m *float64, e *int64, on, off *float64, vectors int, table *float64, offsets *uint32, quads int)",
		"is Products for 4·quads > 0 products and 8·vectors > 0 units.")
	m, e, on, off := arg("m"), arg("e"), arg("on"), arg("off")
	vectors, table, offsets, quads := arg("vectors"), arg("table"), arg("offsets"), arg("quads")
	c.SHLQ(operand.U8(6), vectors) // to bytes
	c.Label("quad")
	var row [quad]reg.GPVirtual
	for q := range row {
		row[q] = c.GP64()
		c.MOVL(mem(offsets, 4*q), row[q].As32())
		c.LEAQ(operand.Mem{Base: table, Index: row[q], Scale: 8}, row[q])
	}
	acc := s.units()
	at := c.GP64()
	c.XORQ(at, at)
	c.Label("unit")
	for i := range s.parts() {
		place := func(r reg.GPVirtual) operand.Mem {
			return operand.Mem{Base: r, Index: at, Scale: 1, Disp: 4 * s.Width * i}
		}
		slope, rest := s.Vector(), s.Vector()
		c.VMOVUPD(place(on), slope)
		c.VMOVUPD(place(off), rest)
		for q := range row {
			f := s.Vector()
			c.VMULPD(place(row[q]), slope, f)
			c.VADDPD(rest, f, f)
			c.VMULPD(f, acc[q][i], acc[q][i])
		}
	}
	advance(64, at)
	c.CMPQ(at, vectors)
	c.JNE(operand.LabelRef("unit"))
	s.multiply(m, e, acc)
	advance(8*quad, m, e)
	advance(4*quad, offsets)
	until(quads, 1, "quad")
	ret()
}

// odds returns x₀ … x₃ of QuadProducts for vector i of the units.
func (s simd) odds(i int, on, upper, first, second reg.GPVirtual) [quad]reg.VecVirtual {
	var x [quad]reg.VecVirtual
	for q := range x {
		x[q] = s.Vector()
	}
	c.VMOVUPD(s.at(on, i), x[0])
	c.VMULPD(s.at(upper, i), x[0], x[0])
	c.VMULPD(s.at(first, i), x[0], x[1])
	c.VMOVUPD(s.at(second, i), x[3])
	c.VMULPD(x[3], x[0], x[2])
	c.VMULPD(x[3], x[1], x[3])
	return x
}

func (s simd) quadProducts() {
	s.function("quadProducts", "func(m *float64, e *int64, on, off, upper, first, second *float64, vectors int)",
		"is QuadProducts for 8·vectors > 0 units.")
	m, e, on, off := arg("m"), arg("e"), arg("on"), arg("off")
	upper, first, second, vectors := arg("upper"), arg("first"), arg("second"), arg("vectors")
	acc := s.units()
	c.Label("unit")
	for i := range s.parts() {
		x := s.odds(i, on, upper, first, second)
		rest := s.Vector()
		c.VMOVUPD(s.at(off, i), rest)
		for q, f := range x {
			c.VADDPD(rest, f, f)
			c.VMULPD(f, acc[q][i], acc[q][i])
		}
	}
	advance(64, on, off, upper, first, second)
	until(vectors, 1, "unit")
	s.multiply(m, e, acc)
	ret()
}

func (s simd) quadMeans() {
	s.function("quadMeans", "func(all, one, two, on, off, upper, first, second, weight *float64, vectors int)",
		"is QuadMeans for 8·vectors > 0 units. weight contains each weight eight times.")
	all, one, two, on, off := arg("all"), arg("one"), arg("two"), arg("on"), arg("off")
	upper, first, second, weight, vectors := arg("upper"), arg("first"), arg("second"), arg("weight"), arg("vectors")
	unit := s.Vector()
	c.VBROADCASTSD(double("one64", 1), unit)
	var weights [quad]operand.Op // in memory with AVX2, which does not have enough registers
	for q := range weights {
		weights[q] = mem(weight, 64*q)
		if s.ZMM() {
			w := s.Vector()
			c.VMOVUPD(mem(weight, 64*q), w)
			weights[q] = w
		}
	}
	c.Label("unit")
	for i := range s.parts() {
		x := s.odds(i, on, upper, first, second)
		var f [quad]reg.VecVirtual
		rest := s.Vector()
		c.VMOVUPD(s.at(off, i), rest)
		for q := range f {
			f[q] = s.Vector()
			c.VADDPD(rest, x[q], f[q])
			c.VMULPD(weights[q], x[q], x[q])
		}
		low, high, inverse := s.Vector(), s.Vector(), s.Vector()
		c.VMULPD(f[1], f[0], low)
		c.VMULPD(f[3], f[2], high)
		c.VMULPD(high, low, inverse)
		c.VDIVPD(inverse, unit, inverse)
		c.VMULPD(inverse, high, high) // 1/(f0·f1)
		c.VMULPD(inverse, low, low)   // 1/(f2·f3)
		for q, half := range [quad]reg.VecVirtual{high, high, low, low} {
			other := f[q^1]
			t := s.Vector()
			c.VMULPD(half, other, t)
			c.VMULPD(t, x[q], x[q])
		}
		c.VADDPD(x[3], x[1], x[1])
		t := s.Vector()
		c.VADDPD(x[3], x[2], t)
		c.VADDPD(x[2], x[0], x[0])
		c.VADDPD(x[1], x[0], x[0])
		for k, r := range []reg.GPVirtual{all, one, two} {
			sum := [3]reg.VecVirtual{x[0], x[1], t}[k]
			c.VADDPD(s.at(r, i), sum, sum)
			c.VMOVUPD(sum, s.at(r, i))
		}
	}
	advance(64, all, one, two, on, off, upper, first, second)
	until(vectors, 1, "unit")
	ret()
}
