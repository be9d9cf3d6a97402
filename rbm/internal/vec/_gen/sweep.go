package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A sweep is an operation on every parameter. Its kernels process a few vectors
// at once, which hides the latency of the operations.
type sweep struct {
	simd
	m, x, rest []reg.VecVirtual // parameters, other numbers, rounding errors
	a, b       reg.VecVirtual   // the scalar arguments
}

func sweeps() {
	for _, s := range []simd{avx2, avx512} {
		s.sweep("shrink", "m", "a", func(o sweep) {
			share := o.Vectors(len(o.m))
			each(c.VMULPS, o.broadcast(o.a), o.m, share)
			each(c.VSUBPS, share, o.m, o.m)
			o.flush(o.m...)
		})
		for _, rest := range []string{"", " rest"} {
			name := func(name string) string {
				if rest != "" {
					name += "Rest"
				}
				return name
			}
			s.sweep(name("advance"), "m x"+rest, "a", func(o sweep) {
				each(c.VMULPS, o.broadcast(o.a), o.x, o.x)
				o.flush(o.x...)
				o.take(o.x)
			})
			s.sweep(name("approach"), "m x"+rest, "a", func(o sweep) {
				each(c.VSUBPS, o.m, o.x, o.x)
				if o.rest != nil {
					each(c.VSUBPS, o.rest, o.x, o.x)
				}
				each(c.VMULPS, o.broadcast(o.a), o.x, o.x)
				o.flush(o.x...)
				o.take(o.x)
			})
			s.sweep(name("decay"), "m"+rest, "a b", sweep.decay)
		}
		s.centre()
		s.dot64()
		s.sizes()
	}
}

// sizes writes the kernel of Largest, which updates the largest |x| in 16 lanes, as bits.
func (s simd) sizes() {
	s.function("sizes", "func(lanes *uint32, x *float32, n int)", "is sizes for n > 0, a multiple of 16.")
	lanes, x, n := arg("lanes"), arg("x"), arg("n")
	top := s.Vectors(16 / s.Width)
	s.load(lanes, top)
	mask := s.Vector()
	c.VBROADCASTSS(absolute.mem(), mask)
	c.Label("vectors")
	for i := range top {
		size := s.Vector()
		if s.ZMM() {
			c.VPANDD(mem(x, 4*s.Width*i), mask, size)
		} else {
			c.VPAND(mem(x, 4*s.Width*i), mask, size)
		}
		c.VPMAXUD(size, top[i], top[i])
	}
	advance(64, x)
	until(n, 16, "vectors")
	s.store(top, lanes)
	ret()
}

// sweep writes a sweep. pointers has the names of the slices, and numbers those of the scalar arguments.
func (s simd) sweep(name, pointers, numbers string, op func(o sweep)) {
	names, o := strings.Fields(pointers), sweep{simd: s}
	name += s.Name
	signature := "func(" + strings.Join(names, ", ") + " *float32, n int, a"
	if numbers == "a b" {
		signature += ", b"
	}
	function(name, signature+" float32)", name+" is the sweep of this name for n > 0, a multiple of 64.")
	at := map[string]reg.GPVirtual{}
	for _, p := range names {
		at[p] = arg(p)
	}
	n := arg("n")
	o.a = s.scalar("a")
	if numbers == "a b" {
		o.b = s.scalar("b")
	}
	together := 4
	if !s.ZMM() {
		together = 2 // because there are only sixteen registers
	}
	values := map[string]*[]reg.VecVirtual{"m": &o.m, "x": &o.x, "rest": &o.rest}
	c.Label("vectors")
	for _, p := range names {
		*values[p] = s.Vectors(together)
		s.load(at[p], *values[p])
	}
	op(o)
	for _, p := range names {
		if p != "x" {
			s.store(*values[p], at[p])
		}
		advance(4*s.Width*together, at[p])
	}
	until(n, s.Width*together, "vectors")
	ret()
}

// broadcast returns a slice of len(o.m) elements, all x.
func (o sweep) broadcast(x reg.VecVirtual) []reg.VecVirtual {
	v := make([]reg.VecVirtual, len(o.m))
	for i := range v {
		v[i] = x
	}
	return v
}

// take adds a step to the parameters. With a rest, it adds step + rest, and the rounding error
// becomes the new rest (Knuth's two-sum: see vec.twoSum). It overwrites step.
func (o sweep) take(step []reg.VecVirtual) {
	if o.rest == nil {
		each(c.VADDPS, step, o.m, o.m)
		return
	}
	each(c.VADDPS, o.rest, step, step)
	for i := range step {
		sum, part := o.Vector(), o.Vector()
		c.VADDPS(step[i], o.m[i], sum)
		c.VSUBPS(o.m[i], sum, part)      // the part of step in sum
		c.VSUBPS(part, step[i], step[i]) // the rest of step
		c.VSUBPS(part, sum, part)        // the part of m in sum
		c.VSUBPS(part, o.m[i], part)     // the rest of m
		c.VADDPS(step[i], part, o.rest[i])
		c.VMOVAPS(sum, o.m[i])
	}
}

// decay multiplies m by 1−b, then moves it towards zero by at most a.
func (o sweep) decay() {
	l1, l2 := o.a, o.b
	const less = 1
	for i, m := range o.m {
		share, sign, size := o.Vector(), o.Vector(), o.Vector()
		c.VMULPS(m, l2, share)
		o.flush(share)
		c.VSUBPS(share, m, size)
		if o.ZMM() {
			c.VANDPS_BCST(signBit.mem(), size, sign)
			c.VANDPS_BCST(absolute.mem(), size, size)
		} else {
			c.VANDPS(signBit.mem(), size, sign)
			c.VANDPS(absolute.mem(), size, size)
		}
		c.VORPS(l1, sign, sign)
		c.VADDPS(sign, share, share)
		one := o
		one.m = o.m[i : i+1]
		if o.rest != nil {
			one.rest = o.rest[i : i+1]
		}
		zero := o.Vector()
		c.VXORPS(zero, zero, zero)
		c.VSUBPS(share, zero, share)
		one.take([]reg.VecVirtual{share})
		keep := append([]reg.VecVirtual{m}, one.rest...)
		const notLess = 5
		if o.ZMM() {
			k := c.K()
			c.VCMPPS(operand.U8(notLess), l1, size, k)
			for _, v := range keep {
				c.VMOVAPS_Z(v, k, v)
			}
			continue
		}
		c.VCMPPS(operand.U8(notLess), l1, size, size)
		for _, v := range keep {
			c.VANDPS(size, v, v)
		}
	}
}

// centre writes Centre.
func (s simd) centre() {
	s.function("centre", "func(steps, mu, gb, gc, lambda *float32, n int)", "is Centre for n > 0 rows.")
	steps, n, centre := arg("steps"), arg("n"), s.newCentre()
	row := s.Vectors(block / s.Width)
	c.Label("row")
	s.load(steps, row)
	centre.take(row)
	s.store(row, steps)
	centre.next()
	advance(4*block, steps)
	until(n, 1, "row")
	ret()
}

// dot64 writes the kernel of Dot64, which computes its lanes.
func (s simd) dot64() {
	s.function("dot64", "func(lanes *float64, x *float32, y *float64, n int)", "is dot64 for n > 0, a multiple of 32.")
	lanes, x, y, n := arg("lanes"), arg("x"), arg("y"), arg("n")
	width := s.Width / 2
	sum := s.Vectors(32 / width)
	for i := range sum {
		c.VXORPD(sum[i], sum[i], sum[i])
	}
	c.Label("values")
	for i := range sum {
		t := s.Vector()
		c.VCVTPS2PD(mem(x, 4*width*i), t)
		c.VMULPD(mem(y, 8*width*i), t, t)
		c.VADDPD(t, sum[i], sum[i])
	}
	advance(4*32, x)
	advance(8*32, y)
	until(n, 32, "values")
	for i := range sum {
		c.VMOVUPD(sum[i], mem(lanes, 8*width*i))
	}
	ret()
}
