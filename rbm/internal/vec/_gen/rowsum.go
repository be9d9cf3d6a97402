package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// block is the number of float32 in a row of a panel.
const block = 64

// rowSums writes RowSums: the accumulators of one list stay in registers.
func (s simd) rowSums() {
	name := "rowSums" + s.Name
	function(name, "func(acc, base *float32, lists, cuts *uint32, n int)", name+" is RowSums for n > 0 lists.")
	acc, base, lists, cuts, n := arg("acc"), arg("base"), arg("lists"), arg("cuts"), arg("n")
	p, end, row := c.GP64(), c.GP64(), c.GP64()
	sum := s.Vectors(block / s.Width)
	each := func(f func(x reg.VecVirtual, disp int)) {
		for i, x := range sum {
			f(x, 4*s.Width*i)
		}
	}
	c.MOVL(mem(cuts, 0), p.As32())
	c.LEAQ(operand.Mem{Base: lists, Index: p, Scale: 4}, p)

	c.Label("list")
	c.MOVL(mem(cuts, 4), end.As32())
	c.LEAQ(operand.Mem{Base: lists, Index: end, Scale: 4}, end)
	c.CMPQ(p, end)
	c.JEQ(operand.LabelRef("next"))
	each(func(x reg.VecVirtual, disp int) { c.VMOVUPS(mem(acc, disp), x) })

	c.Label("row")
	c.MOVL(mem(p, 0), row.As32())
	c.LEAQ(operand.Mem{Base: base, Index: row, Scale: 4}, row) // Intel splits additions from indexed addresses
	each(func(x reg.VecVirtual, disp int) { c.VADDPS(mem(row, disp), x, x) })
	c.ADDQ(operand.U8(4), p)
	c.CMPQ(p, end)
	c.JNE(operand.LabelRef("row"))

	each(func(x reg.VecVirtual, disp int) { c.VMOVUPS(x, mem(acc, disp)) })
	c.Label("next")
	c.ADDQ(operand.U32(4*block), acc)
	c.ADDQ(operand.U8(4), cuts)
	c.DECQ(n)
	c.JNE(operand.LabelRef("list"))
	c.VZEROUPPER()
	c.RET()
}
