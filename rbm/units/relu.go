package units

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// ReLU units are real numbers x ≥ 0, independent given the other layer. The energy of a unit by itself is
// U(x) = γx²/2 − θx, with field θ and precision γ > 0. Its mean is about z/γ for a large input z, and about
// −1/z for a very negative one. On the path from a base to the model, γ is interpolated linearly in β.
var ReLU RealKind = relu{}

type relu struct{}

func (relu) String() string   { return "relu" }
func (relu) Support() Support { return Real }
func (relu) Params() []Param  { return precision }

// halves overwrites h with the distributions of the block's units in row r at inverse temperature β.
func (b *Block) halves(h *halves, r int, beta float64) {
	for c := b.From; c < b.Width; c++ {
		z, gamma := b.blend(r, c, beta)
		h.set(c, z, gamma)
	}
	h.compute()
}

func (relu) Means(dst Means, b *Block) {
	var h halves
	for r := range b.Rows {
		b.halves(&h, r, 1)
		for c := b.From; c < b.Width; c++ {
			mean, _ := h.at(c).moments()
			dst.Data[r*dst.Cols+b.First+c] = float32(mean)
		}
	}
}

func (relu) Squares(dst Means, b *Block) {
	var h halves
	for r := range b.Rows {
		b.halves(&h, r, 1)
		for c := b.From; c < b.Width; c++ {
			_, square := h.at(c).moments()
			dst.Data[r*dst.Cols+b.First+c] = float32(square)
		}
	}
}

// Draw inverts the distribution function at a uniform number of 48 bits.
func (relu) Draw(x States, b *Block, s vec.Stream) {
	var u fineUniforms
	var h halves
	var at places
	for r := range b.Rows {
		u.fill(s, b, r)
		b.halves(&h, r, float64(b.BetaOf(r)))
		for c := b.From; c < b.Width; c++ {
			at.set(c, h.at(c), u.at(c))
		}
		at.compute(b.From, b.Width)
		to := x.Real[r*x.Stride+b.First:][:b.Width]
		for c := b.From; c < b.Width; c++ {
			to[c] = float32(at.draw(c, h.at(c), u.at(c)))
		}
	}
}

func (relu) LogZs(sum, product []float64, stride int, _ Means, b *Block) {
	var h halves
	for r := range b.Rows {
		b.halves(&h, r, 1)
		z := one
		for c := b.From; c < b.Width; c++ {
			z.multiply(h.at(c).z())
		}
		sum[r*stride], product[r*stride] = z.log(), 1
	}
}

func (relu) Rises(sum, product []float64, b *Block, from, to float64) {
	var start, end halves
	for r := range b.Rows {
		b.halves(&start, r, from)
		b.halves(&end, r, to)
		ratio := one
		for c := b.From; c < b.Width; c++ {
			ratio.multiply(end.at(c).z())
			ratio.divide(start.at(c).z())
		}
		sum[r], product[r] = ratio.log(), 1
	}
}

func (relu) LogZ(z []float64, d *Distribution, first int) float64 {
	all := one
	for i, z := range z {
		all.multiply(halfOf(z, d.Param(0, first+i)).z())
	}
	return all.log()
}

func (relu) Rest(x []float32, d *Distribution, first int) float64 { return quadratic(x, d, first) }

func (relu) Curvature(d *Distribution, i int) float64 { return d.Param(0, i) }

// FieldOf finds the field by bisection, because the mean rises with the field. No field gives a mean of 0, so
// FieldOf raises a mean below 10⁻³/√precision to that value.
func (relu) FieldOf(mean, precision float64) float64 {
	scaled := max(float64(mean*math.Sqrt(precision)), 1e-3) // the mean at precision 1
	low, high := -1/scaled, scaled                          // bounds of the field at precision 1
	for range 60 {
		z := (low + high) / 2
		if m, _ := halfOf(z, 1).moments(); m < scaled {
			low = z
		} else {
			high = z
		}
	}
	return float64(low * math.Sqrt(precision))
}
