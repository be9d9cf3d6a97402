package rbm

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"gorbm/rbm/internal/vec"
)

// A Key names a random stream. It is a value, not a generator: equal keys give
// equal draws in any order and on any machine. A program derives every key from
// one seed, by a path of numbers for purpose, step and chain:
//
//	key := rbm.NewKey(seed).Child(purpose).Child(step)
//
// and passes a key to each function that draws. Each child is a SHA-256 digest, so the streams
// of children and of their parent are independent for all practical purposes.
type Key [16]byte

// NewKey returns the root key of a seed.
func NewKey(seed uint64) Key {
	return Key{}.Child(seed)
}

// Child returns the n-th child of k.
func (k Key) Child(n uint64) Key {
	var b [24]byte
	copy(b[:16], k[:])
	binary.LittleEndian.PutUint64(b[16:], n)
	sum := sha256.Sum256(b[:])
	return Key(sum[:16])
}

// stream splits k into the key and the two upper counter words of Philox4x32-10,
// the generator of the kernels. The two lower counter words number the draws.
func (k Key) stream() vec.Stream {
	return vec.Stream{
		K0: binary.LittleEndian.Uint32(k[0:]),
		K1: binary.LittleEndian.Uint32(k[4:]),
		C2: binary.LittleEndian.Uint32(k[8:]),
		C3: binary.LittleEndian.Uint32(k[12:]),
	}
}

// Uniform returns the n-th uniform number of k's stream, in the open interval
// (0,1), with 52 random bits.
func (k Key) Uniform(n uint64) float64 {
	s := k.stream()
	lo, hi, _, _ := vec.Philox(uint32(n), uint32(n>>32), s.C2, s.C3, s.K0, s.K1)
	u := uint64(hi)<<32 | uint64(lo)
	// The midpoint of one of 2⁵² cells is never 0 and never 1.
	return (float64(u>>12) + 0.5) * 0x1p-52
}

// Rand returns a new generator seeded by k, for sequences of draws of unknown
// length: shuffles, normal deviates, generated data. It allocates; training steps
// draw from keys instead.
func (k Key) Rand() *rand.Rand {
	var p rand.PCG
	k.Seed(&p)
	return rand.New(&p)
}

// Seed seeds p like the generator of Rand, without allocating.
func (k Key) Seed(p *rand.PCG) {
	p.Seed(binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:]))
}
