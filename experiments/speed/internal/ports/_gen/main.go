// Command _gen writes the assembly of package ports. Run it in its folder:
//
//	go run .
//
// It is a module of its own so that avo stays out of the users' builds.
package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"gorbm/_gen/kernel"
)

// chains is the number of sums that run beside each other: more than the
// latency of an addition times the additions of a cycle on any processor so
// far, 4 × 2.
const chains = 16

var c = kernel.C

func main() {
	loop("loadAdds", "loadAdds adds n times 16 vectors, from the 4 KiB at base over and over.", true,
		func(i int, sum reg.VecVirtual, _ reg.VecVirtual, from operand.Mem) { c.VADDPS(from, sum, sum) })
	loop("adds", "adds makes n times 16 additions of registers.", false,
		func(_ int, sum reg.VecVirtual, x reg.VecVirtual, _ operand.Mem) { c.VADDPS(x, sum, sum) })
	loop("fmas", "fmas makes n times 16 fused multiply-adds of registers.", false,
		func(_ int, sum reg.VecVirtual, x reg.VecVirtual, _ operand.Mem) { c.VFMADD231PS(x, x, sum) })
	loop("permuteAdds", "permuteAdds makes n times 16 permutations, each of which it adds to a sum.", false,
		func(_ int, sum reg.VecVirtual, x reg.VecVirtual, _ operand.Mem) {
			t := c.ZMM()
			c.VPERMPS(x, x, t)
			c.VADDPS(t, sum, sum)
		})
	kernel.Write("ports")
}

// loop writes a function that does op on each of the sums in turn, n > 0 times.
func loop(name, doc string, loads bool, op func(i int, sum, x reg.VecVirtual, from operand.Mem)) {
	kernel.Function(name, "func(base *float32, n int)", doc)
	base, n, at := c.GP64(), c.GP64(), c.GP64()
	c.Load(c.Param("base"), base)
	c.Load(c.Param("n"), n)
	c.XORQ(at, at)
	x := c.ZMM()
	c.VPXORD(x, x, x)
	sums := make([]reg.VecVirtual, chains)
	for i := range sums {
		sums[i] = c.ZMM()
		c.VPXORD(sums[i], sums[i], sums[i])
	}
	c.Label("again")
	for i, s := range sums {
		op(i, s, x, kernel.At(base, at, 64*i))
	}
	if loads {
		c.ADDQ(operand.U32(64*chains), at)
		c.ANDQ(operand.U32(4<<10-1), at)
	}
	c.DECQ(n)
	c.JNE(operand.LabelRef("again"))
	for i, s := range sums { // the sums are wanted
		c.VMOVUPS(s, kernel.Mem(base, 64*i))
	}
	c.VZEROUPPER()
	c.RET()
}
