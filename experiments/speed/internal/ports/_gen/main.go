// Command _gen writes the assembly of package ports. Run it in its folder:
//
//	go run .
//
// It is a module of its own so that avo stays out of the users' builds.
package main

import (
	"log"
	"os"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/buildtags"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// chains is the number of sums that run beside each other: more than the
// latency of an addition times the additions of a cycle on any processor so
// far, 4 × 2.
const chains = 16

var c = build.NewContext()

func main() {
	log.SetFlags(0)
	c.Constraint(buildtags.Not("noasm").ToConstraint())
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

	out := func(name string, p printer.Builder) pass.Interface {
		f, err := os.Create("../" + name)
		if err != nil {
			log.Fatal(err)
		}
		c := printer.Config{Argv: []string{"go", "run", "."}, Name: "_gen", Pkg: "ports"}
		return &pass.Output{Writer: f, Printer: p(c)}
	}
	os.Exit(build.Main(&build.Config{
		ErrOut:    os.Stderr,
		MaxErrors: 20,
		Passes: []pass.Interface{
			pass.Compile,
			out("asm_amd64.s", printer.NewGoAsm),
			out("asm_amd64.go", printer.NewStubs),
		},
	}, c))
}

// loop writes a function that does op on each of the sums in turn, n > 0 times.
func loop(name, doc string, loads bool, op func(i int, sum, x reg.VecVirtual, from operand.Mem)) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Doc(doc)
	c.Pragma("noescape")
	c.SignatureExpr("func(base *float32, n int)")
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
		op(i, s, x, operand.Mem{Base: base, Index: at, Scale: 1, Disp: 64 * i})
	}
	if loads {
		c.ADDQ(operand.U32(64*chains), at)
		c.ANDQ(operand.U32(4<<10-1), at)
	}
	c.DECQ(n)
	c.JNE(operand.LabelRef("again"))
	for i, s := range sums { // the sums are wanted
		c.VMOVUPS(s, operand.Mem{Base: base, Disp: 64 * i})
	}
	c.VZEROUPPER()
	c.RET()
}
