package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const ln2 = math.Ln2

var negativeZero = math.Copysign(0, -1)

// mantissaMask has the bits of the mantissa of a float64.
var mantissaMask = math.Float64frombits(1<<52 - 1)

// double returns the address of a vector that contains x four times.
func double(name string, x float64) operand.Mem {
	b := math.Float64bits(x)
	lo, hi := uint32(b), uint32(b>>32)
	return table(name, lo, hi, lo, hi, lo, hi, lo, hi)
}

// taylor returns the address of a vector of 1/n!.
func taylor(n int) operand.Mem {
	f := 1.0 // exact up to 18!
	for i := 2; i <= n; i++ {
		f *= float64(i)
	}
	return double(fmt.Sprintf("taylor%d", n), 1/f)
}

// Operations of float64 vectors with a constant.
func (s simd) mul64(k operand.Mem, x ...reg.VecVirtual) { s.with(k, x, c.VMULPD, c.VMULPD_BCST) }
func (s simd) add64(k operand.Mem, x ...reg.VecVirtual) { s.with(k, x, c.VADDPD, c.VADDPD_BCST) }
func (s simd) sub64(k operand.Mem, x ...reg.VecVirtual) { s.with(k, x, c.VSUBPD, c.VSUBPD_BCST) }
func (s simd) max64(k operand.Mem, x ...reg.VecVirtual) { s.with(k, x, c.VMAXPD, c.VMAXPD_BCST) }
func (s simd) min64(k operand.Mem, x ...reg.VecVirtual) { s.with(k, x, c.VMINPD, c.VMINPD_BCST) }
func (s simd) and64(k operand.Mem, x ...reg.VecVirtual) { s.with(k, x, c.VANDPD, c.VANDPD_BCST) }
func (s simd) or64(k operand.Mem, x ...reg.VecVirtual)  { s.with(k, x, c.VORPD, c.VORPD_BCST) }
