package walk

import "gorbm/rbm"

// A Product multiplies many probabilities and takes few logarithms. The zero
// value with P = 1 is the empty product; see One.
type Product struct {
	P   float64 // the factors since the last logarithm
	log float64
}

// One is the empty product.
var One = Product{P: 1}

// small is where P must be folded away: a factor is at least 2⁻⁶², the ratio
// of the smallest weight to the largest total, so that P stays above 2⁻⁹⁶²,
// a normal number.
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
