package vec

import "math/bits"

// Multipliers and Weyl constants of Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011, Table 2 and section 4.3).
const (
	philoxM0 = 0xD2511F53
	philoxM1 = 0xCD9E8D57
	philoxW0 = 0x9E3779B9
	philoxW1 = 0xBB67AE85
)

// Philox returns the four random words for the counter (c0, c1, c2, c3) and the key (k0, k1).
func Philox(c0, c1, c2, c3, k0, k1 uint32) (x0, x1, x2, x3 uint32) {
	for range 10 {
		h0, l0 := bits.Mul32(philoxM0, c0)
		h1, l1 := bits.Mul32(philoxM1, c2)
		c0, c1, c2, c3 = h1^c1^k0, l1, h0^c3^k1, l0
		k0 += philoxW0
		k1 += philoxW1
	}
	return c0, c1, c2, c3
}

// A Stream is a stream of random words: a Philox key and the two upper counter words. The lower
// counter words number the draws: C0 depends on the unit, and C1 is the row.
type Stream struct{ K0, K1, C2, C3 uint32 }

// Uniforms overwrites dst with the 24-bit uniforms of the 64 units of block j in a
// row. Unit 16w+l uses word w for the counter C0 = 16j+l, so that sixteen lanes
// of a vector compute four vectors of uniforms in the order of units. A uniform
// is an odd number below 2²⁴, the midpoint of a cell of width 2. It is exact in
// float32.
func (s Stream) Uniforms(dst *[Block]float32, row, j uint32) { uniforms(s, dst, row, j, Block) }

// uniformsGo is Uniforms for the counters of the first width ≤ Block units.
func (s Stream) uniformsGo(dst *[Block]float32, row, j uint32, width int) {
	for l := uint32(0); l < uint32(min(16, width)); l++ {
		x0, x1, x2, x3 := Philox(16*j+l, row, s.C2, s.C3, s.K0, s.K1)
		dst[l] = float32(x0>>8 | 1)
		dst[16+l] = float32(x1>>8 | 1)
		dst[32+l] = float32(x2>>8 | 1)
		dst[48+l] = float32(x3>>8 | 1)
	}
}

// Uniform returns the uniform of one unit in a row: see Uniforms.
func (s Stream) Uniform(row, unit uint32) float32 {
	c := unit % Block
	x0, x1, x2, x3 := Philox(unit/Block*16+c%16, row, s.C2, s.C3, s.K0, s.K1)
	x := [4]uint32{x0, x1, x2, x3}
	return float32(x[c/16]>>8 | 1)
}

// Bits returns 64 random bits: the first two words for C0 = j in a row.
func (s Stream) Bits(row, j uint32) uint64 {
	lo, hi, _, _ := Philox(j, row, s.C2, s.C3, s.K0, s.K1)
	return uint64(hi)<<32 | uint64(lo)
}
