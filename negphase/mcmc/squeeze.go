package mcmc

import "math"

const (
	squeezeEdge  = 32 // βΔE beyond ±32 counts as the outermost cells
	squeezeCells = 8  // a unit of βΔE: an update in 40 at most needs its exponential
	// squeezeMargin widens the bounds by 2⁻⁴³, far more than the roundings of
	// the laws, and of βΔE + 32 on the way to its cell, make.
	squeezeMargin = 1 << 10
)

// A squeeze decides events under a law without computing it, but for a few
// that come too close: it bounds the law on each of many cells. The decisions
// are those of the law, bit for bit. The law must be monotone on each side of
// 0 and may jump at 0.
type squeeze struct {
	law   law
	cells []struct{ low, high chance }
}

func newSqueeze(p law) *squeeze {
	s := &squeeze{law: p, cells: make([]struct{ low, high chance }, 2*squeezeEdge*squeezeCells)}
	for k := range s.cells {
		from, to := float64(k)/squeezeCells-squeezeEdge, float64(k+1)/squeezeCells-squeezeEdge
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

// happens decides an event of probability law(x) by a random word.
func (s *squeeze) happens(x float64, word uint64) bool {
	const edge = squeezeEdge - 0x1p-20 // inside the last cell
	at := x
	if at < -edge {
		at = -edge
	} else if !(at < edge) { // a cost that is no number counts as high
		at = edge
	}
	c := &s.cells[int((at+squeezeEdge)*squeezeCells)]
	if !c.high.happens(word) {
		return false
	}
	return c.low.happens(word) || chanceOf(s.law(x)).happens(word)
}
