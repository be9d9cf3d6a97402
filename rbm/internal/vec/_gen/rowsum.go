package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// block is the number of float32 in a row of a panel.
const block = 64

func rowSums() {
	for _, panels := range []int{1, 2} {
		rowSumsLevel(fmt.Sprintf("rowSums%dAVX512", panels), panels, 16, func() reg.VecVirtual { return c.ZMM() })
	}
	rowSumsLevel("rowSums1AVX2", 1, 8, func() reg.VecVirtual { return c.YMM() })
}

// rowSumsLevel writes rowSums for one or two panels and a width of vector:
// the accumulators of one list stay in registers.
func rowSumsLevel(name string, panels, width int, vector func() reg.VecVirtual) {
	function(name, "func(acc *float32, accStride int, base *float32, baseStride int, lists, cuts *uint32, n int)",
		fmt.Sprintf("%s is RowSums for %d panel(s) and n > 0 lists.", name, panels))
	acc, base, lists, cuts, n := arg("acc"), arg("base"), arg("lists"), arg("cuts"), arg("n")
	var accStride, baseStride reg.GPVirtual
	if panels > 1 {
		accStride, baseStride = bytes(arg("accStride")), bytes(arg("baseStride"))
	}
	p, end, at, row := c.GP64(), c.GP64(), c.GP64(), c.GP64()
	sum := make([]reg.VecVirtual, panels*block/width)
	for i := range sum {
		sum[i] = vector()
	}
	// each calls f for every accumulator, with the address in the panels that
	// lie stride apart from start on.
	each := func(start, stride, walk reg.GPVirtual, f func(s reg.VecVirtual, m operand.Mem)) {
		from := start
		for panel := range panels {
			if panel == 1 {
				c.LEAQ(operand.Mem{Base: start, Index: stride, Scale: 1}, walk)
				from = walk
			}
			for i := range block / width {
				f(sum[panel*block/width+i], mem(from, 4*width*i))
			}
		}
	}
	c.MOVL(mem(cuts, 0), p.As32())
	c.LEAQ(operand.Mem{Base: lists, Index: p, Scale: 4}, p)

	c.Label("list")
	c.MOVL(mem(cuts, 4), end.As32())
	c.LEAQ(operand.Mem{Base: lists, Index: end, Scale: 4}, end)
	c.CMPQ(p, end)
	c.JEQ(operand.LabelRef("next"))
	each(acc, accStride, at, func(s reg.VecVirtual, m operand.Mem) { c.VMOVUPS(m, s) })

	c.Label("row")
	c.MOVL(mem(p, 0), row.As32())
	c.LEAQ(operand.Mem{Base: base, Index: row, Scale: 4}, row)
	each(row, baseStride, at, func(s reg.VecVirtual, m operand.Mem) { c.VADDPS(m, s, s) })
	c.ADDQ(operand.U8(4), p)
	c.CMPQ(p, end)
	c.JNE(operand.LabelRef("row"))

	each(acc, accStride, at, func(s reg.VecVirtual, m operand.Mem) { c.VMOVUPS(s, m) })
	c.Label("next")
	c.ADDQ(operand.U32(4*block), acc)
	c.ADDQ(operand.U8(4), cuts)
	c.DECQ(n)
	c.JNE(operand.LabelRef("list"))
	c.VZEROUPPER()
	c.RET()
}
