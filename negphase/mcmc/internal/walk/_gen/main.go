// Command _gen writes the assembly of package walk. Run it in its folder:
//
//	go run .
//
// It is a module of its own so that avo stays out of the users' builds.
package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"gorbm/_gen/kernel"
)

var (
	c        = kernel.C
	function = kernel.Function
	arg      = kernel.Arg
	bytes    = kernel.Bytes
	mem, at  = kernel.Mem, kernel.At
)

// A simd is a width of vectors, of which the kernels are methods.
type simd struct{ kernel.SIMD }

var avx2, avx512 = simd{kernel.AVX2}, simd{kernel.AVX512}

func main() {
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
	kernel.Write("walk",
		[2]string{"addRows(acc, base []int32, stride int, list []int32)", "&acc[0], len(acc), &base[0], stride, &list[0], len(list)"},
		[2]string{"subtractRows(acc, base []int32, stride int, list []int32)", "&acc[0], len(acc), &base[0], stride, &list[0], len(list)"},
	)
}

// lanes is the number of 32-bit numbers that kernels take at a time.
const lanes = 16

// A constant is a 32-bit value in all lanes: in a register of its own where
// there are 32 of them, in memory else.
type constant struct {
	memory   operand.Mem
	register reg.VecVirtual
}

func (s simd) word(name string, bits uint32) *constant {
	k := &constant{memory: kernel.Repeat(name, bits)}
	if s.ZMM() {
		k.register = s.Vector()
		c.VPBROADCASTD(k.memory, k.register)
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
	if s.ZMM() {
		c.VPANDD(x, y, z)
	} else {
		c.VPAND(x, y, z)
	}
}

// move moves whole vectors.
func (s simd) move(from, to operand.Op) { c.VMOVUPS(from, to) }

func (s simd) zeros(n int) []reg.VecVirtual {
	v := s.Vectors(n)
	for i := range v {
		if s.ZMM() {
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

func name(kind string, s simd, down bool) string { return fmt.Sprint(kind, suffix(down), s.Name) }
