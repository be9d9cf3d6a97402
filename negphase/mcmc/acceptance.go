package mcmc

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// A stream generates the random numbers inside one move, by xoroshiro128++ (Blackman & Vigna 2021). The
// compiler inlines its methods, unlike those of rand.Rand. Each move seeds a stream with 128 bits from
// its rand.Rand.
type stream struct{ a, b uint64 }

func newStream(r *rand.Rand) stream {
	return stream{r.Uint64(), r.Uint64() | 1} // the all-zero state would never change
}

// next returns 64 random bits.
func (s *stream) next() uint64 {
	a, b := s.a, s.b^s.a
	word := bits.RotateLeft64(s.a+s.b, 17) + s.a
	s.a = bits.RotateLeft64(a, 49) ^ b ^ b<<21
	s.b = bits.RotateLeft64(b, 28)
	return word
}

// below maps 32 random bits to a number in 0…n−1. The probabilities of the numbers differ by at most
// 2⁻³². A sampler does not need equal probabilities: detailed balance holds because a move and its
// reverse choose with the same probabilities.
func below(n int, half uint32) int { return int(uint64(n) * uint64(half) >> 32) }

// belowWord is below for 64 random bits.
func belowWord(n int, word uint64) int {
	hi, _ := bits.Mul64(word, uint64(n))
	return int(hi)
}

// A chance is a probability in units of 2⁻⁵³, rounded down. The event happens if a random integer of 53
// bits is less than the chance.
type chance uint64

const always chance = 1 << 53

func chanceOf(p float64) chance { return chance(p * 0x1p53) }

// happens reports whether the event happens, given 64 random bits.
func (c chance) happens(word uint64) bool { return word>>11 < uint64(c) }

// A probability gives the probability of accepting a change, as a function of βΔE.
type probability func(x float64) float64

// table tabulates p for a system on g. Element k is the chance of a change that costs (k − reach) units
// of energy; Graph.cost converts these units, called half costs.
func (p probability) table(g *Graph, beta float64, reach int32) []chance {
	t := make([]chance, 2*int(reach)+1)
	for k := range t {
		t[k] = chanceOf(p(beta * g.cost(int64(k)-int64(reach))))
	}
	return t
}

const (
	squeezeEdge  = 32 // the outermost cells extend beyond βΔE = ±32
	squeezeCells = 8  // cells per unit of βΔE; at most one update in 40 then computes its probability
	// squeezeMargin widens the bounds by 2⁻⁴³. The rounding errors of probabilities, and of
	// βΔE + 32 in the choice of the cell, are far smaller.
	squeezeMargin = 1 << 10
)

// A squeeze decides whether an event of probability p(x) happens, mostly without computing p(x). It has
// an upper and a lower bound of p on each of many cells of x. The decisions are exactly those with p(x).
// p must be monotone on each side of 0 and may jump at 0.
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

// happens reports whether an event of probability p(x) happens, given 64 random bits.
func (s *squeeze) happens(x float64, word uint64) bool {
	const edge = squeezeEdge - 0x1p-20 // inside the last cell
	at := x
	if at < -edge {
		at = -edge
	} else if !(at < edge) { // NaN is treated as a high cost
		at = edge
	}
	c := &s.cells[int((at+squeezeEdge)*squeezeCells)]
	if !c.high.happens(word) {
		return false
	}
	return c.low.happens(word) || chanceOf(s.p(x)).happens(word)
}
