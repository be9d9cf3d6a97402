// Command _gen writes the assembly of package walk. Run it in its folder:
//
//	go run .
//
// It is a separate module, so that users of gorbm do not need its dependency avo.
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

// A simd is an instruction set. The methods write kernels for it.
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
		kernel.Call{Func: "addRows(acc, base []int32, stride int, list []int32)", Args: "&acc[0], len(acc), &base[0], stride, &list[0], len(list)"},
		kernel.Call{Func: "subtractRows(acc, base []int32, stride int, list []int32)", Args: "&acc[0], len(acc), &base[0], stride, &list[0], len(list)"},
		kernel.Call{Func: "take(dst []int32, dstStride int, transposed []int32, transposedStride int, x []float32, xStride int, scale float32, column []float32, row *[Square]float32)",
			Args: "&dst[0], dstStride, &transposed[0], transposedStride, &x[0], xStride, scale, &column[0], &row[0], len(column)/Square", Both: true},
		kernel.Call{Func: "quantize(dst []int32, x []float32, scale float32)", Args: "&dst[0], &x[0], scale, len(x)", Both: true},
		kernel.Call{Func: "weigh(field, row []int32, down bool, sign, unit []float32, leaf []uint32, sum *[Lanes]uint32)",
			Args: layerCall + ", &leaf[0], &sum[0]", Kernel: "weighUp", If: "down", Then: "weighDown"},
		kernel.Call{Func: "weighTwo(field, row []int32, down bool, sign, unit []float32, gamma *[2]float32, leaf0, leaf1 []uint32, sum0, sum1 *[Lanes]uint32)",
			Args: layerCall + ", &gamma[0], &leaf0[0], &leaf1[0], &sum0[0], &sum1[0]", Kernel: "weighTwoUp", If: "down", Then: "weighTwoDown"},
		kernel.Call{Func: "weighSides(field, row []int32, down bool, sign, unit []float32, side, leaf []uint32, sum0, sum1 *[Lanes]uint32)",
			Args: layerCall + ", &side[0], &leaf[0], &sum0[0], &sum1[0]", Kernel: "weighSidesUp", If: "down", Then: "weighSidesDown"},
	)
}

// lanes is the number of 32-bit numbers that kernels process at a time.
const lanes = 16

// A constant is a 32-bit value in all lanes. With AVX-512, which has 32 vector registers, it is in a
// register, and otherwise in memory.
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

// and writes z = x & y.
func (s simd) and(x, y operand.Op, z reg.VecVirtual) {
	if s.ZMM() {
		c.VPANDD(x, y, z)
	} else {
		c.VPAND(x, y, z)
	}
}

// move copies a vector.
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
