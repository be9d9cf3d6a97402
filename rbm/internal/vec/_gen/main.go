// Command _gen writes the assembly of package vec. Run it in its folder:
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

var c = build.NewContext()

func main() {
	log.SetFlags(0)
	c.Constraint(buildtags.Not("noasm").ToConstraint())
	avx2.rowSums()
	avx512.rowSums()
	ascent()
	sweeps()
	turn()
	draws()
	small()
	path()
	judge()
	weightedSums()
	poisson()

	out := func(name string, p printer.Builder) pass.Interface {
		f, err := os.Create("../" + name)
		if err != nil {
			log.Fatal(err)
		}
		c := printer.Config{Argv: []string{"go", "run", "."}, Name: "_gen", Pkg: "vec"}
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

// function starts a function; what it does is said where it is called.
func function(name, signature, doc string) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Doc(doc)
	c.Pragma("noescape")
	c.SignatureExpr(signature)
}

// arg loads an argument into a register.
func arg(name string) reg.GPVirtual {
	r := c.GP64()
	c.Load(c.Param(name), r)
	return r
}

// bytes turns a number of float32 in a register into bytes.
func bytes(r reg.GPVirtual) reg.GPVirtual {
	c.SHLQ(operand.U8(2), r)
	return r
}

func mem(base reg.Register, disp int) operand.Mem {
	return operand.Mem{Base: base, Disp: disp}
}
