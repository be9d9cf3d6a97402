package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// run is vec.Run: the number of rows that are summed in one accumulator.
const run = 32

// tiny is vec.Tiny.
var tiny = float("tiny", 0x1p-100)

// ascent writes the kernels of the ascent step.
func ascent() {
	for _, s := range []simd{avx2, avx512} {
		s.sums("sums", overwrite)
		s.sums("addSums", addOnce)
		s.sums("addSumsTo", addPart)
		s.sums("addCentred", addCentred)
		s.addSumsTimes()
		s.scale()
		s.addWhere()
		s.widen("addWide", true)
		s.addNarrow()
	}
}

// An ending says what a kernel does with a two-level sum Σ.
type ending int

const (
	overwrite  ending = iota // dst = Σ
	addOnce                  // dst += Σ
	addPart                  // dst += part + Σ
	addCentred               // dst += (Σ − mu·gc) − gb·lambda
)

// sums writes Sums, AddSums, AddSumsTo and AddCentred. The sum of the current run and that of
// earlier runs stay in registers.
func (s simd) sums(name string, end ending) {
	s.function(name, map[ending]string{
		overwrite:  "func(dst, base *float32, words *uint64, count, n int)",
		addOnce:    "func(dst, base *float32, words *uint64, count, n, ahead int)",
		addPart:    "func(dst, part, base *float32, words *uint64, count, n, ahead int)",
		addCentred: "func(dst, base *float32, words *uint64, count int, mu, gb, gc, lambda *float32, n, ahead int)",
	}[end], "is the kernel of the function of this name for n > 0 rows and count > 0 words. It prefetches rows of dst ahead bytes later.")
	dst, base, words, count, n := arg("dst"), arg("base"), arg("words"), arg("count"), arg("n")
	var part reg.GPVirtual
	if end == addPart {
		part = arg("part")
	}
	var centre centre
	if end == addCentred {
		centre = s.newCentre()
	}
	w, p, at, row := c.GP64(), c.GP64(), c.GP64(), c.GP64() // a word, its address, its first row, the row of a bit
	left, rest := c.GP64(), c.GP64()                        // words to count, bits to add
	sum, total := s.Vectors(block/s.Width), s.Vectors(block/s.Width)

	// one adds to sum the row of the next bit that is one, or copies that row to sum if it is the first of a
	// run. later has the code for the end of a word, which is placed after the return of the function.
	var later []func()
	one := func(label string, first bool) {
		c.Label(label)
		c.TESTQ(w, w)
		c.JEQ(operand.LabelRef(label + "Word"))
		c.TZCNTQ(w, row)
		c.SHLQ(operand.U8(8), row)
		c.ADDQ(at, row)
		c.BLSRQ(w, w)
		for i, x := range sum {
			if first {
				c.VMOVUPS(mem(row, 4*s.Width*i), x)
			} else {
				c.VADDPS(mem(row, 4*s.Width*i), x, x)
			}
		}
		later = append(later, func() {
			c.Label(label + "Word")
			advance(8*block, p)
			advance(4*block*block, at)
			c.MOVQ(mem(p, 0), w)
			c.JMP(operand.LabelRef(label))
		})
	}
	c.Label("unit")
	if end != overwrite {
		c.Load(c.Param("ahead"), p)
		c.TESTQ(p, p)
		c.JEQ(operand.LabelRef("asked"))
		for i := range 4 * block / 64 {
			c.PREFETCHT0(operand.Mem{Base: dst, Index: p, Scale: 1, Disp: 64 * i})
		}
		c.Label("asked")
	}
	c.MOVQ(words, p)
	c.MOVQ(count, left)
	c.XORQ(rest, rest)
	c.Label("count")
	c.POPCNTQ(mem(p, 0), row)
	c.ADDQ(row, rest)
	advance(8*block, p)
	until(left, 1, "count")
	c.TESTQ(rest, rest)
	c.JEQ(operand.LabelRef("none"))
	c.MOVQ(words, p)
	c.MOVQ(mem(p, 0), w)
	c.MOVQ(base, at)
	long := s.tree(rest, sum, total, one, "")
	if end == addCentred {
		c.Label("centre")
		centre.take(sum)
	}
	for i, x := range sum {
		if end == addPart {
			c.VADDPS(mem(part, 4*s.Width*i), x, x)
		}
		if end != overwrite {
			c.VADDPS(mem(dst, 4*s.Width*i), x, x)
		}
		c.VMOVUPS(x, mem(dst, 4*s.Width*i))
	}
	c.Label("next")
	if end == addPart {
		advance(4*block, part)
	}
	if end == addCentred {
		centre.next()
	}
	advance(4*block, dst)
	advance(8, words)
	until(n, 1, "unit")
	ret()

	c.Label("none")
	switch end {
	case addCentred:
		for _, x := range sum {
			c.VXORPS(x, x, x)
		}
		c.JMP(operand.LabelRef("centre"))
	case overwrite:
		c.VXORPS(sum[0], sum[0], sum[0])
		for i := range sum {
			c.VMOVUPS(sum[0], mem(dst, 4*s.Width*i))
		}
	case addPart:
		for i, x := range sum {
			c.VMOVUPS(mem(part, 4*s.Width*i), x)
			c.VADDPS(mem(dst, 4*s.Width*i), x, x)
			c.VMOVUPS(x, mem(dst, 4*s.Width*i))
		}
	}
	if end != addCentred {
		c.JMP(operand.LabelRef("next"))
	}
	long()
	for _, f := range later {
		f()
	}
}

// A centre writes the code of vec.Centre for a row. It has the arguments mu, gb, gc and
// lambda of a kernel.
type centre struct {
	simd
	rows, cols [2]reg.GPVirtual    // addresses of mu and gb, and of gc and lambda
	kept       [2][]reg.VecVirtual // gc and lambda in registers, with AVX-512
	by         reg.VecVirtual      // the current value of mu or gb
}

func (s simd) newCentre() centre {
	x := centre{simd: s, rows: [2]reg.GPVirtual{arg("mu"), arg("gb")}, cols: [2]reg.GPVirtual{arg("gc"), arg("lambda")}, by: s.Vector()}
	for k, at := range x.cols {
		if s.ZMM() {
			x.kept[k] = s.Vectors(block / s.Width)
			for i, v := range x.kept[k] {
				c.VMOVUPS(mem(at, 4*s.Width*i), v)
			}
		}
	}
	return x
}

// take subtracts the terms of Centre from a row.
func (x centre) take(row []reg.VecVirtual) {
	for k, at := range x.rows {
		c.VBROADCASTSS(mem(at, 0), x.by)
		for i, v := range row {
			t := x.Vector()
			if x.ZMM() {
				c.VMULPS(x.kept[k][i], x.by, t)
			} else {
				c.VMULPS(mem(x.cols[k], 4*x.Width*i), x.by, t)
			}
			c.VSUBPS(t, v, v)
		}
	}
}

// next moves to the next row.
func (x centre) next() {
	for _, at := range x.rows {
		advance(4, at)
	}
}

// tree writes the code of a two-level sum of rest > 0 rows. The result is in sum, and rest becomes 0. one
// must write the label and code that adds the next row to sum, or copies the first row of a run to sum. long
// writes the code for sums of several runs, which the caller places after the return of the function.
func (s simd) tree(rest reg.GPVirtual, sum, total []reg.VecVirtual, one func(label string, first bool), suffix string) (long func()) {
	left := c.GP64() // remaining rows of the run
	oneRun := func(name string) {
		name += suffix
		c.MOVQ(operand.U32(run), left)
		c.CMPQ(rest, left)
		c.CMOVQLT(rest, left)
		c.SUBQ(left, rest)
		one(name+"First", true)
		c.DECQ(left)
		c.JEQ(operand.LabelRef(name + "Done"))
		one(name, false)
		until(left, 1, name)
		c.Label(name + "Done")
	}
	oneRun("run")
	c.TESTQ(rest, rest)
	c.JNE(operand.LabelRef("long" + suffix))
	c.Label("summed" + suffix)
	return func() {
		c.Label("long" + suffix)
		for i := range sum {
			c.VMOVAPS(sum[i], total[i])
		}
		c.Label("more" + suffix)
		oneRun("further")
		for i := range sum {
			c.VADDPS(sum[i], total[i], total[i])
		}
		c.TESTQ(rest, rest)
		c.JNE(operand.LabelRef("more" + suffix))
		for i := range sum {
			c.VMOVAPS(total[i], sum[i])
		}
		c.JMP(operand.LabelRef("summed" + suffix))
	}
}

// addSumsTimes writes AddSumsTimes. AVX2 does not have enough registers for all
// columns: it processes each list once for each half of them.
func (s simd) addSumsTimes() {
	s.function("addSumsTimes", "func(dst, base *float32, lists, cuts *uint32, values *float32, n int)", "is AddSumsTimes for n > 0 lists.")
	dst, base, lists, cuts, n := arg("dst"), arg("base"), arg("lists"), arg("cuts"), arg("n")
	ahead := arg("values") // distance from lists to values
	c.SUBQ(lists, ahead)
	halves := 1
	if !s.ZMM() {
		halves = 2
	}
	start, p, last, rest, row := c.GP64(), c.GP64(), c.GP64(), c.GP64(), c.GP64()
	c.MOVL(mem(cuts, 0), start.As32())
	c.LEAQ(operand.Mem{Base: lists, Index: start, Scale: 4}, start)
	sum, total := s.Vectors(block/s.Width/halves), s.Vectors(block/s.Width/halves)

	c.Label("list")
	c.MOVL(mem(cuts, 4), last.As32())
	c.LEAQ(operand.Mem{Base: lists, Index: last, Scale: 4}, last)
	c.CMPQ(start, last)
	c.JEQ(operand.LabelRef("next"))
	var long []func()
	for half := range halves {
		offset := 4 * block / halves * half
		c.MOVQ(start, p)
		c.MOVQ(last, rest)
		c.SUBQ(start, rest)
		c.SHRQ(operand.U8(2), rest)
		long = append(long, s.tree(rest, sum, total, func(label string, first bool) {
			c.Label(label)
			c.MOVL(mem(p, 0), row.As32())
			c.LEAQ(operand.Mem{Base: base, Index: row, Scale: 4}, row) // Intel processors divide an addition from an indexed address into two operations
			value := s.Vector()
			c.VBROADCASTSS(operand.Mem{Base: p, Index: ahead, Scale: 1}, value)
			advance(4, p)
			for i, x := range sum {
				if first {
					c.VMULPS(mem(row, offset+4*s.Width*i), value, x)
					continue
				}
				t := s.Vector()
				c.VMULPS(mem(row, offset+4*s.Width*i), value, t)
				c.VADDPS(t, x, x)
			}
		}, []string{"", "Upper"}[half]))
		for i, x := range sum {
			c.VADDPS(mem(dst, offset+4*s.Width*i), x, x)
			c.VMOVUPS(x, mem(dst, offset+4*s.Width*i))
		}
	}
	c.MOVQ(last, start)
	c.Label("next")
	advance(4*block, dst)
	advance(4, cuts)
	until(n, 1, "list")
	ret()
	for _, f := range long {
		f()
	}
}

// absolute has all bits except the sign.
var absolute = constant{"absolute", 1<<31 - 1}

// flush sets numbers of y below tiny in absolute value to zero.
func (s simd) flush(y ...reg.VecVirtual) {
	const notLess = 5 // or not a number
	for _, y := range y {
		t := s.Vector()
		if s.ZMM() {
			k := c.K()
			c.VANDPS_BCST(absolute.mem(), y, t)
			c.VCMPPS_BCST(operand.U8(notLess), tiny.mem(), t, k)
			c.VMOVAPS_Z(y, k, y)
			continue
		}
		c.VANDPS(absolute.mem(), y, t)
		c.VCMPPS(operand.U8(notLess), tiny.mem(), t, t)
		c.VANDPS(t, y, y)
	}
}

// scale writes Scale. With AVX2, which has no masks, it is only for whole blocks.
func (s simd) scale() {
	name := "scale" + s.Name
	signature, doc := "func(dst, x *float32, stride int, a *float32, n int)", " is Scale for n > 0 rows of a whole block."
	if s.ZMM() {
		signature, doc = "func(dst, x *float32, stride int, a *float32, n int, mask uint64)", " is Scale for n > 0 rows; mask has a one for each column."
	}
	function(name, signature, name+doc)
	dst, x, stride, a, n := arg("dst"), arg("x"), bytes(arg("stride")), arg("a"), arg("n")
	width := make([]reg.OpmaskVirtual, block/s.Width)
	if s.ZMM() {
		m := arg("mask")
		for i := range width {
			width[i] = c.K()
			c.KMOVW(m.As32(), width[i])
			c.SHRQ(operand.U8(16), m)
		}
	}
	by := s.Vector()
	c.Label("row")
	c.VBROADCASTSS(mem(a, 0), by)
	for i := range block / s.Width {
		y := s.Vector()
		if s.ZMM() {
			c.VMULPS_Z(mem(x, 4*s.Width*i), by, width[i], y)
		} else {
			c.VMULPS(mem(x, 4*s.Width*i), by, y)
		}
		s.flush(y)
		c.VMOVUPS(y, mem(dst, 4*s.Width*i))
	}
	c.ADDQ(stride, x)
	advance(4*block, dst)
	advance(4, a)
	until(n, 1, "row")
	ret()
}

// addWhere writes AddWhere. AVX2 processes the words once for each half of
// the columns.
func (s simd) addWhere() {
	s.function("addWhere", "func(acc *float64, words *uint64, coef *float32, n int)", "is AddWhere for n > 0 words.")
	acc, words, coef, n := arg("acc"), arg("words"), arg("coef"), arg("n")
	lanes, halves := s.Width/2, 1
	if !s.ZMM() {
		halves = 2
	}
	sum := s.Vectors(block / lanes / halves)
	for half := range halves {
		label := []string{"word", "upper"}[half]
		offset := 8 * block / halves * half
		w, a, left := c.GP64(), c.GP64(), c.GP64()
		c.MOVQ(words, w)
		c.MOVQ(coef, a)
		c.MOVQ(n, left)
		for i := range sum {
			c.VMOVUPD(mem(acc, offset+8*lanes*i), sum[i])
		}
		c.Label(label)
		x := s.widened(mem(a, 0))
		for i := range sum {
			if s.ZMM() {
				k := c.K()
				c.KMOVB(mem(w, i), k)
				c.VADDPD(x, sum[i], k, sum[i])
				continue
			}
			mask, t := c.YMM(), c.YMM()
			bit := half*32 + 4*i
			c.VPBROADCASTB(mem(w, bit/8), mask.AsX())
			c.VPMOVZXBQ(mask.AsX(), mask)
			c.VPAND(fourBits(bit%8), mask, mask)
			c.VPCMPEQQ(fourBits(bit%8), mask, mask)
			c.VADDPD(x, sum[i], t)
			c.VBLENDVPD(mask, t, sum[i], sum[i])
		}
		advance(8, w)
		advance(4, a)
		until(left, 1, label)
		for i := range sum {
			c.VMOVUPD(sum[i], mem(acc, offset+8*lanes*i))
		}
	}
	ret()
}

// fourBits returns the address of four quadwords, with bits first … first+3 of a byte.
func fourBits(first int) operand.Mem {
	var v [8]uint32
	for i := range 4 {
		v[2*i] = 1 << (first + i)
	}
	return table([]string{"lowBits", "highBits"}[first/4], v[:]...)
}

func (s simd) addNarrow() {
	s.function("addNarrow", "func(dst *float32, x *float64, n int)", "is AddNarrow for n > 0, a multiple of eight.")
	dst, x, n := arg("dst"), arg("x"), arg("n")
	c.Label("vectors")
	for i := range s.parts() {
		t, narrow := c.XMM(), c.VCVTPD2PSY
		if s.ZMM() {
			t, narrow = c.YMM(), c.VCVTPD2PS
		}
		narrow(s.at(x, i), t)
		c.VADDPS(mem(dst, 2*s.Width*i), t, t)
		c.VMOVUPS(t, mem(dst, 2*s.Width*i))
	}
	advance(64, x)
	advance(32, dst)
	until(n, 8, "vectors")
	ret()
}
