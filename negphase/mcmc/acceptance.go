package mcmc

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// A stream is the generator of the draws inside one move, xoroshiro128++
// (Blackman & Vigna 2021). The compiler inlines it, which it does not do with
// the generators of a rand.Rand. Each move seeds it with 128 bits of its
// rand.Rand.
type stream struct{ a, b uint64 }

func newStream(r *rand.Rand) stream {
	return stream{r.Uint64(), r.Uint64() | 1} // two zeros would stay zeros
}

// next returns 64 random bits.
func (s *stream) next() uint64 {
	a, b := s.a, s.b^s.a
	word := bits.RotateLeft64(s.a+s.b, 17) + s.a
	s.a = bits.RotateLeft64(a, 49) ^ b ^ b<<21
	s.b = bits.RotateLeft64(b, 28)
	return word
}

// below returns a number in 0…n−1 for a random half word. The probabilities
// differ by at most 2⁻³². No sampler needs them equal: it is enough that a move
// does not change them.
func below(n int, half uint32) int { return int(uint64(n) * uint64(half) >> 32) }

// belowWord is below for a whole random word.
func belowWord(n int, word uint64) int {
	hi, _ := bits.Mul64(word, uint64(n))
	return int(hi)
}

// A chance is a probability in units of 2⁻⁵³. The event happens if 53 random
// bits are less. Probabilities below 2⁻⁵³ become 0.
type chance uint64

const always chance = 1 << 53

func chanceOf(p float64) chance { return chance(p * 0x1p53) }

// happens decides the event by a random word.
func (c chance) happens(word uint64) bool { return word>>11 < uint64(c) }

// A probability is that of a change, as a function of β times its cost.
type probability func(x float64) float64

// table returns the chance under p of each change of a system on g whose cost
// is −reach…reach half costs (see Graph.cost), at index cost + reach.
func (p probability) table(g *Graph, beta float64, reach int32) []chance {
	t := make([]chance, 2*int(reach)+1)
	for k := range t {
		t[k] = chanceOf(p(beta * g.cost(int64(k)-int64(reach))))
	}
	return t
}

const (
	squeezeEdge  = 32 // the outermost cells reach from βΔE = ±32 to infinity
	squeezeCells = 8  // in a unit of βΔE: one update in 40 or less computes its probability
	// squeezeMargin widens the bounds by 2⁻⁴³. The roundings of probabilities, and of
	// βΔE + 32 in the choice of the cell, are far smaller.
	squeezeMargin = 1 << 10
)

// A squeeze decides events of a probability, and computes it for few of them:
// it has bounds on each of many cells. The decisions are exactly those of
// the probability, which must be monotone on each side of 0 and may jump
// at 0.
type squeeze struct {
	p     probability
	cells []struct{ low, high chance }
}

func newSqueeze(p probability) *squeeze {
	s := &squeeze{p: p, cells: make([]struct{ low, high chance }, 2*squeezeEdge*squeezeCells)}
	for k := range s.cells {
		from, to := float64(float64(k)/squeezeCells)-squeezeEdge, float64(float64(k+1)/squeezeCells)-squeezeEdge
		switch k {
		case 0:
			from = math.Inf(-1)
		case len(s.cells) - 1:
			to = math.Inf(1)
		}
		low, high := always, chance(0)
		for _, x := range []float64{from, math.Nextafter(from, to), math.Nextafter(to, from), to} {
			c := chanceOf(p(x))
			low, high = min(low, c), max(high, c)
		}
		s.cells[k].low = max(low, squeezeMargin) - squeezeMargin
		s.cells[k].high = high + squeezeMargin
	}
	return s
}

// happens decides an event of probability p(x) by a random word.
func (s *squeeze) happens(x float64, word uint64) bool {
	const edge = squeezeEdge - 0x1p-20 // inside the last cell
	at := x
	if at < -edge {
		at = -edge
	} else if !(at < edge) { // NaN counts as a high cost
		at = edge
	}
	c := &s.cells[int((at+squeezeEdge)*squeezeCells)]
	if !c.high.happens(word) {
		return false
	}
	return c.low.happens(word) || chanceOf(s.p(x)).happens(word)
}
