// Command _gen writes the assembly of package walk. Run it in its folder:
//
//	go run .
//
// It is a module of its own so that avo stays out of the users' builds.
package main

import (
	"fmt"
	"log"
	"math"
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
	for _, s := range []simd{avx2, avx512} {
		for _, down := range []bool{false, true} {
			weigh(s, down)
			weighTwo(s, down)
			weighSides(s, down)
		}
	}
	for _, s := range []simd{avx2, avx512} {
		rows(s, false)
		rows(s, true)
	}
	quantize()
	take()

	out := func(name string, p printer.Builder) pass.Interface {
		f, err := os.Create("../" + name)
		if err != nil {
			log.Fatal(err)
		}
		c := printer.Config{Argv: []string{"go", "run", "."}, Name: "_gen", Pkg: "walk"}
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

// lanes is the number of 32-bit numbers that kernels take at a time.
const lanes = 16

// A simd is a width of vectors.
type simd struct {
	name   string
	width  int
	vector func() reg.VecVirtual
}

var (
	avx2   = simd{"AVX2", 8, func() reg.VecVirtual { return c.YMM() }}
	avx512 = simd{"AVX512", 16, func() reg.VecVirtual { return c.ZMM() }}
)

func (s simd) zmm() bool { return s.width == 16 }

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

// size turns a number of 32-bit numbers in a register into bytes.
func size(r reg.GPVirtual) reg.GPVirtual {
	c.SHLQ(operand.U8(2), r)
	return r
}

func mem(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

func at(base, index reg.Register, disp int) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: 1, Disp: disp}
}

// A constant is a 32-bit value in all lanes: in a register of its own where
// there are 32 of them, in memory else.
type constant struct {
	memory   operand.Mem
	register reg.VecVirtual
}

var tables = map[string]operand.Mem{}

func (s simd) word(name string, bits uint32) *constant {
	m, ok := tables[name]
	if !ok {
		m = c.StaticGlobal(name)
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 8 {
			c.AddDatum(4*i, operand.U32(bits))
		}
		tables[name] = m
	}
	k := &constant{memory: m}
	if s.zmm() {
		k.register = s.vector()
		c.VPBROADCASTD(m, k.register)
	}
	return k
}

func (s simd) float(name string, x float32) *constant { return s.word(name, math.Float32bits(x)) }

func (k *constant) op() operand.Op {
	if k.register != nil {
		return k.register
	}
	return k.memory
}

// bitwise and of 32-bit lanes.
func (s simd) and(x, y operand.Op, z reg.VecVirtual) {
	if s.zmm() {
		c.VPANDD(x, y, z)
	} else {
		c.VPAND(x, y, z)
	}
}

// move moves whole vectors.
func (s simd) move(from, to operand.Op) { c.VMOVUPS(from, to) }

func (s simd) vectors(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = s.vector()
	}
	return v
}

func (s simd) zeros(n int) []reg.VecVirtual {
	v := s.vectors(n)
	for i := range v {
		if s.zmm() {
			c.VPXORD(v[i], v[i], v[i])
		} else {
			c.VPXOR(v[i], v[i], v[i])
		}
	}
	return v
}

func suffix(down bool) string {
	if down {
		return "Down"
	}
	return "Up"
}

func name(kind string, s simd, down bool) string { return fmt.Sprint(kind, suffix(down), s.name) }
