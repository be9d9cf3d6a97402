// Command _gen writes the assembly of package vec. Run it in its folder:
//
//	go run .
//
// It is a separate module, so that users' builds do not depend on avo.
package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"gorbm/_gen/kernel"
)

var (
	c        = kernel.C
	function = kernel.Function
	arg      = kernel.Arg
	bytes    = kernel.Bytes
	mem      = kernel.Mem
	table    = kernel.Table
	repeat   = kernel.Repeat
)

// A simd is an instruction set. Its methods write kernels.
type simd struct{ kernel.SIMD }

var avx2, avx512 = simd{kernel.AVX2}, simd{kernel.AVX512}

// function begins the kernel with this name. The doc comment is the full name followed by doc.
func (s simd) function(name, signature, doc string) {
	function(name+s.Name, signature, name+s.Name+" "+doc)
}

// ret ends a function.
func ret() {
	c.VZEROUPPER()
	c.RET()
}

// immediate returns n as the smallest possible operand.
func immediate(n int) operand.Op {
	if n < 128 {
		return operand.U8(n)
	}
	return operand.U32(n)
}

// advance adds n to registers.
func advance(n int, to ...reg.GPVirtual) {
	for _, r := range to {
		c.ADDQ(immediate(n), r)
	}
}

// until decreases left by n and jumps to label unless left is 0.
func until(left reg.GPVirtual, n int, label string) {
	if n == 1 {
		c.DECQ(left)
	} else {
		c.SUBQ(immediate(n), left)
	}
	c.JNE(operand.LabelRef(label))
}

// atOnce writes loops over left values, with each values in a vector. It processes counts[0] vectors at
// once while there are enough, then counts[1], and so on, because few vectors do not fill the pipelines.
func atOnce(left reg.GPVirtual, each int, counts []int, step func(vectors int)) {
	for _, v := range slices.Compact(counts) {
		again, enough := fmt.Sprintf("vectors%d", v), fmt.Sprintf("fewer%d", v)
		c.Label(again)
		c.CMPQ(left, operand.U8(v*each))
		c.JLT(operand.LabelRef(enough))
		step(v)
		c.SUBQ(operand.U8(v*each), left)
		c.JMP(operand.LabelRef(again))
		c.Label(enough)
	}
}

// load reads a row of vectors.
func (s simd) load(from reg.GPVirtual, row []reg.VecVirtual) {
	for i, x := range row {
		c.VMOVUPS(mem(from, 4*s.Width*i), x)
	}
}

func (s simd) store(row []reg.VecVirtual, to reg.GPVirtual) {
	for i, x := range row {
		c.VMOVUPS(x, mem(to, 4*s.Width*i))
	}
}

// scalar returns a vector with a float32 argument in all lanes.
func (s simd) scalar(name string) reg.VecVirtual {
	x := s.Vector()
	m, _ := c.Param(name).Resolve()
	c.VBROADCASTSS(m.Addr, x)
	return x
}

// widened returns a vector with a float32 in memory, converted to float64, in all lanes.
func (s simd) widened(m operand.Mem) reg.VecVirtual {
	x := s.Vector()
	half := x.AsX()
	if s.ZMM() {
		half = x.AsY()
	}
	c.VBROADCASTSS(m, half)
	c.VCVTPS2PD(half, x)
	return x
}

// A tail is a mask for the first n lanes of a vector.
type tail struct {
	on   reg.OpmaskVirtual // with AVX-512
	mask reg.VecVirtual    // with AVX2
}

func (s simd) tail(n reg.GPVirtual) (t tail) {
	if s.ZMM() {
		ones := c.GP32()
		t.on = c.K()
		c.MOVL(operand.U32(1<<16-1), ones)
		c.BZHIL(n.As32(), ones, ones)
		c.KMOVW(ones, t.on)
		return t
	}
	t.mask = c.YMM()
	s.broadcast(n, t.mask)
	c.VPCMPGTD(table("iota", 0, 1, 2, 3, 4, 5, 6, 7), t.mask, t.mask)
	return t
}

// load reads the lanes of the mask and sets the others to zero.
func (t tail) load(m operand.Mem, x reg.VecVirtual) {
	if t.mask == nil {
		c.VMOVUPS_Z(m, t.on, x)
	} else {
		c.VMASKMOVPS(m, t.mask, x)
	}
}

// store writes the lanes of the mask.
func (t tail) store(x reg.VecVirtual, m operand.Mem) {
	if t.mask == nil {
		c.VMOVUPS(x, t.on, m)
	} else {
		c.VMASKMOVPS(x, t.mask, m)
	}
}

func main() {
	avx2.rowSums()
	avx512.rowSums()
	columnSums()
	maskedSums()
	ascent()
	sweeps()
	transposePanel()
	draws()
	choices()
	small()
	path()
	evaluate()
	weightedSums()
	dense()
	normals()
	scaledErfcs()
	poisson()
	avx2.fillSubsets()
	avx512.fillSubsets()
	kernel.Write("vec", calls...)
}
