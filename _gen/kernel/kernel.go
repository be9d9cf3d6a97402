// Package kernel is what the generators of assembly have in common. Each of
// them is a program in the folder _gen of its package, and a module of its own,
// so that avo stays out of the users' builds.
package kernel

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/buildtags"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// C is the file that is being written.
var C = build.NewContext()

// Write writes asm_amd64.s and asm_amd64.go of a package to the folder above and
// ends the program.
//
// Each of calls makes a Go function in asm_amd64.go that calls the best version
// of a kernel that the machine has. It consists of the name and the parameters
// of the function, and of the arguments of the assembly, nameAVX512 or nameAVX2.
// On other machines the function calls nameGo with its own parameters.
func Write(pkg string, calls ...[2]string) {
	log.SetFlags(0)
	C.Constraint(buildtags.Not("noasm").ToConstraint())
	out := func(name string, p printer.Builder) pass.Interface {
		f, err := os.Create("../" + name)
		if err != nil {
			log.Fatal(err)
		}
		c := printer.Config{Argv: []string{"go", "run", "."}, Name: "_gen", Pkg: pkg}
		return &pass.Output{Writer: f, Printer: p(c)}
	}
	status := build.Main(&build.Config{
		ErrOut:    os.Stderr,
		MaxErrors: 20,
		Passes: []pass.Interface{
			pass.Compile,
			out("asm_amd64.s", printer.NewGoAsm),
			out("asm_amd64.go", printer.NewStubs),
		},
	}, C)
	if status == 0 && len(calls) > 0 {
		if err := writeCalls("../asm_amd64.go", calls); err != nil {
			log.Fatal(err)
		}
	}
	os.Exit(status)
}

// writeCalls appends the functions to a file.
func writeCalls(path string, calls [][2]string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprint(f, `
// Assembly has no points at which the garbage collector can stop it. The
// functions below are not inlined, so that each call of one is such a point.
`)
	for _, c := range calls {
		name, _, _ := strings.Cut(c[0], "(")
		src, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc "+c[0], 0)
		if err != nil {
			return err
		}
		var params []string
		for _, field := range src.Decls[0].(*ast.FuncDecl).Type.Params.List {
			for _, p := range field.Names {
				params = append(params, p.Name)
			}
		}
		fmt.Fprintf(f, `
//go:noinline
func %[1]s {
	switch InUse() {
	case AVX512:
		%[2]sAVX512(%[3]s)
	case AVX2:
		%[2]sAVX2(%[3]s)
	default:
		%[2]sGo(%[4]s)
	}
}
`, c[0], name, c[1], strings.Join(params, ", "))
	}
	return f.Sync()
}

// Function begins a function. doc is one line, as the function is described
// where it is called.
func Function(name, signature, doc string) {
	C.Function(name)
	C.Attributes(attr.NOSPLIT)
	C.Doc(doc)
	C.Pragma("noescape")
	C.SignatureExpr(signature)
}

// Arg loads an argument into a register.
func Arg(name string) reg.GPVirtual {
	r := C.GP64()
	C.Load(C.Param(name), r)
	return r
}

// Bytes turns a number of 32-bit values in a register into a number of bytes.
func Bytes(r reg.GPVirtual) reg.GPVirtual {
	C.SHLQ(operand.U8(2), r)
	return r
}

// Mem is the address base + disp.
func Mem(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

// At is the address base + index + disp.
func At(base, index reg.Register, disp int) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: 1, Disp: disp}
}

var tables = map[string]operand.Mem{}

// Table returns the address of a table of 32-bit values, made at its first use.
func Table(name string, values ...uint32) operand.Mem {
	if m, ok := tables[name]; ok {
		return m
	}
	m := C.StaticGlobal(name)
	C.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, v := range values {
		C.AddDatum(4*i, operand.U32(v))
	}
	tables[name] = m
	return m
}

// Repeat returns the address of a table of eight times v.
func Repeat(name string, v uint32) operand.Mem { return Table(name, v, v, v, v, v, v, v, v) }

// A SIMD is a width of vectors.
type SIMD struct {
	Name   string
	Width  int                   // 32-bit values in a vector
	Vector func() reg.VecVirtual // returns an unused register
}

var (
	AVX2   = SIMD{"AVX2", 8, C.YMM}
	AVX512 = SIMD{"AVX512", 16, C.ZMM}
)

// ZMM reports whether vectors have 512 bits.
func (s SIMD) ZMM() bool { return s.Width == 16 }

// Vectors returns n unused registers.
func (s SIMD) Vectors(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = s.Vector()
	}
	return v
}
