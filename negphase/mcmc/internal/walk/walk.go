// Package walk has the data structures from which the walks of package mcmc draw sites and compute their
// probabilities: integer weights, lists of sites with equal weights, sums over blocks of
// weights, the weights of whole layers, and products of many probabilities.
//
// Weights are integers, so that sums of them are exact in any order. A total is updated by differences
// without error, and so is the normaliser of a reversed walk. The probability of drawing a site is
// exactly its weight divided by the total.
//
// Rounding the weights does not bias the chain. Any positive function of the state is a
// valid weight, as long as the probabilities of the walk and of its reverse are computed with the same
// function.
//
// A flip in an RBM changes the weights of a whole layer. Type Dense recomputes
// these weights in one pass, by vector instructions if the processor has them. Its results are identical to
// those of plain Go.
package walk

import (
	"math/bits"
	"math/rand/v2"

	"gorbm/rbm"
)

// Below draws an integer from 0 to n − 1, n > 0, each with exactly the same
// probability (Lemire 2019).
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

// A Product is a product of many probabilities that cannot underflow. It computes few logarithms. Start
// with One.
type Product struct {
	P   float64 // product of the latest factors
	log float64 // logarithm of the product of the earlier factors
}

// One is the empty product.
var One = Product{P: 1}

// small is the value below which P is folded into the logarithm. A factor is at least 2⁻⁶², the ratio
// of the smallest weight to the largest total, so P stays above 2⁻⁹⁶², a normal number.
const small = 0x1p-900

// Times multiplies p by weight/total.
func (p *Product) Times(weight, total uint64) {
	p.P *= float64(weight) / float64(total)
	if p.P < small {
		p.fold()
	}
}

// fold adds the logarithm of P to log. It is not inlined, so
// that Times is.
//
//go:noinline
func (p *Product) fold() {
	p.log += rbm.Log(p.P)
	p.P = 1
}

// Log returns the natural logarithm of the product.
func (p *Product) Log() float64 { return p.log + rbm.Log(p.P) }
