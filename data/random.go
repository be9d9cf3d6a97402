package data

import (
	"context"
	"math/bits"
	"math/rand/v2"

	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// Streams of random numbers: children of a seed's key, one for each kind of generated data. A training run
// uses small numbers for its streams, so that data of seed 1 and training with seed 1 share no draws.
const (
	streamData    = 0x64617461 // "data"
	streamToy     = 1
	streamTrain   = 2
	streamTest    = 3
	streamSample  = 4
	streamFamily  = 5
	streamMissing = 6
)

// dataKey returns the key of one stream.
func dataKey(seed, kind uint64) rbm.Key {
	return rbm.NewKey(seed).Child(streamData).Child(kind)
}

// rng is a sequence of random numbers. Its values depend on the PCG-DXSM
// algorithm and on the few lines here only, so no change of a library's
// algorithms changes a data set. Unlike Key.Rand it can be seeded again in
// place.
type rng struct{ pcg rand.PCG }

func (r *rng) seed(k rbm.Key) {
	k.Seed(&r.pcg)
}

// uniform returns a number in [0,1) with 53 random bits.
func (r *rng) uniform() float64 {
	return float64(r.pcg.Uint64()>>11) * 0x1p-53
}

// between returns a number in [lo,hi), of 24 random bits.
func (r *rng) between(lo, hi float32) float32 {
	u := float32(r.pcg.Uint64()>>40) * 0x1p-24
	return lo + float32(u*(hi-lo))
}

// bell returns a number in (−1,1) of standard deviation 0.289, the mean of four uniform ones. Its
// distribution is close to normal, and its values are identical on every machine.
func (r *rng) bell() float32 {
	w := r.pcg.Uint64()
	sum := int32(w&0xffff) + int32(w>>16&0xffff) + int32(w>>32&0xffff) + int32(w>>48)
	return float32(sum-2*0xffff) * (1.0 / (2 * 0x10000))
}

// intn returns a number in [0,n), for n > 0. The multiplication alone favours
// some values by n·2⁻⁶⁴, too little to show in any sample.
func (r *rng) intn(n int) int {
	hi, _ := bits.Mul64(r.pcg.Uint64(), uint64(n))
	return int(hi)
}

// forBlocks calls do(lo, hi) for the blocks of [0,n), each of the given size, on all processors. The
// results of do must depend on lo and hi only. If ctx ends first, some blocks are left out and the error is
// ctx's.
func forBlocks(ctx context.Context, n, size int, do func(lo, hi int)) error {
	parallel.Do((n+size-1)/size, func(i int) {
		if ctx.Err() == nil {
			do(i*size, min((i+1)*size, n))
		}
	})
	return ctx.Err()
}
