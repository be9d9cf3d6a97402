package walk

import (
	"math/bits"
	"math/rand/v2"
)

// Below draws a whole number below n, each with exactly the same probability
// (Lemire 2019: multiply, and redraw in the rare case that would be uneven).
// n must be positive.
func Below(r *rand.Rand, n uint64) uint64 {
	hi, lo := bits.Mul64(r.Uint64(), n)
	if lo < n {
		hi = redraw(r, n, hi, lo)
	}
	return hi
}

func redraw(r *rand.Rand, n, hi, lo uint64) uint64 {
	for uneven := -n % n; lo < uneven; {
		hi, lo = bits.Mul64(r.Uint64(), n)
	}
	return hi
}
