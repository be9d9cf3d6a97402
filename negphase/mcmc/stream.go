package mcmc

import (
	"math/bits"
	"math/rand/v2"
)

// A stream is the generator of the updates inside one move: xoroshiro128++ of
// Blackman & Vigna 2021, which the compiler puts into the loop, where the
// generators behind a rand.Rand are calls. Each move starts it anew from 128
// bits of its rand.Rand.
type stream struct{ a, b uint64 }

func newStream(r *rand.Rand) stream {
	return stream{r.Uint64(), r.Uint64() | 1} // never both 0, where it would stay
}

// next returns 64 random bits.
func (s *stream) next() uint64 {
	a, b := s.a, s.b^s.a
	word := bits.RotateLeft64(s.a+s.b, 17) + s.a
	s.a = bits.RotateLeft64(a, 49) ^ b ^ b<<21
	s.b = bits.RotateLeft64(b, 28)
	return word
}
