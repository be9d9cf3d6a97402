// Package ports measures what one core of this machine can do at most of the
// vector operations that an update of an RBM is made of. asm_amd64.s is
// written by the generator in _gen:
//
//	cd _gen && go run .
package ports

import (
	"math"
	"time"
)

// Rates are operations a second of one core, of vectors of sixteen float32.
type Rates struct {
	LoadAdd    float64 `json:"load_add"`    // additions of a vector in the first-level cache
	Add        float64 `json:"add"`         // additions of registers
	FMA        float64 `json:"fma"`         // fused multiply-adds of registers
	PermuteAdd float64 `json:"permute_add"` // pairs of a permutation and an addition
}

const (
	// Bytes that loadAdds goes through: its addresses wrap there. A Zen 4 loads a vector
	// a cycle from up to 32 KiB, its first-level cache, and half as many from the second.
	// The bytes must have been written: pages that never were are all the same page of
	// zeros, of which the first-level cache keeps one copy.
	cacheBytes = 4 << 10
	perLoop    = 16 // operations of a loop
	// A sample takes some 100 µs at a vector a cycle: below the time slices of
	// other programs, above the resolution of the clock.
	loops = 1 << 15
)

// Max returns the rates of best and more, whichever are higher.
func (r Rates) Max(more Rates) Rates {
	return Rates{max(r.LoadAdd, more.LoadAdd), max(r.Add, more.Add), max(r.FMA, more.FMA), max(r.PermuteAdd, more.PermuteAdd)}
}

// Measure returns the rates, of each the highest of so many samples, and
// whether this machine and build can be measured: it takes AVX-512.
func Measure(samples int) (Rates, bool) {
	if !measurable {
		return Rates{}, false
	}
	room := make([]float32, cacheBytes/4)
	for i := range room {
		room[i] = 1
	}
	rate := func(kernel func(base *float32, n int)) float64 {
		least := time.Duration(math.MaxInt64)
		for range samples {
			start := time.Now()
			kernel(&room[0], loops)
			least = min(least, time.Since(start))
		}
		return perLoop * loops / least.Seconds()
	}
	return Rates{LoadAdd: rate(loadAdds), Add: rate(adds), FMA: rate(fmas), PermuteAdd: rate(permuteAdds)}, true
}
