// Package walk holds what the walks of package mcmc draw from and score
// with: integer weights, lists of sites of equal weight, sums of blocks of
// weights, whole layers of them, and products of many probabilities.
//
// Weights are integers, so that a sum of them is exact in any order: a total
// can be kept current by differences, the normaliser of a reversed walk is found
// by adding and subtracting, and a draw finds each site with exactly its share.
// Rounding the weights does no harm. Any positive function of the state is a
// valid proposal, as long as the walk and its reverse are scored with the same
// function.
//
// A flip in an RBM changes the weights of a whole layer. A Dense layer renews
// them in one pass, by assembly where the machine has it. All levels of
// instructions give the bits of plain Go.
package walk

import (
	"math/bits"
	"math/rand/v2"

	"gorbm/rbm"
)

// Below draws an integer from 0 to n − 1, n > 0, each with exactly the same
// probability (Lemire 2019: multiply, and draw again in the rare case that would
// be uneven).
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

// A Product multiplies many probabilities and takes few logarithms. One is the
// empty product.
type Product struct {
	P   float64 // product of the factors since the last logarithm
	log float64
}

// One is the empty product.
var One = Product{P: 1}

// small is where the logarithm of P is taken. A factor is at least 2⁻⁶², the
// ratio of the smallest weight to the largest total, so P stays above 2⁻⁹⁶², a
// normal number.
const small = 0x1p-900

// Times multiplies p by weight/total.
func (p *Product) Times(weight, total uint64) {
	p.P *= float64(weight) / float64(total)
	if p.P < small {
		p.fold()
	}
}

// fold moves the factors so far into the logarithm. It is kept out of line so
// that Times is inlined.
//
//go:noinline
func (p *Product) fold() {
	p.log += rbm.Log(p.P)
	p.P = 1
}

// Log returns the logarithm of the product.
func (p *Product) Log() float64 { return p.log + rbm.Log(p.P) }
