package units

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// ReLU units are real numbers ≥ 0, independent given the other layer: U(x) = γx²/2 − θx, of field θ
// and precision γ > 0. The mean is about z/γ for large inputs z, and about −1/z for very negative ones.
// On the path from a base γ is blended like the field.
var ReLU RealKind = relu{}

type relu struct{}

func (relu) String() string   { return "relu" }
func (relu) Support() Support { return Real }
func (relu) Params() []Param  { return precision }

// at returns the distribution of unit c of row r at β.
func (relu) at(b *Block, r, c int, beta float64) half {
	z, gamma := b.blend(r, c, beta)
	return half{z, gamma}
}

func (k relu) Means(dst Means, b *Block) {
	for r := range b.Rows {
		for c := b.From; c < b.Width; c++ {
			mean, _ := half{float64(b.In[r*b.Stride+c]), b.Model.Param(0, b.First+c)}.moments()
			dst.Data[r*dst.Cols+b.First+c] = float32(mean)
		}
	}
}

// Draw inverts the distribution function at a uniform of 48 bits, as that of Gaussian units.
func (k relu) Draw(x States, b *Block, s vec.Stream) {
	var u fineUniforms
	for r := range b.Rows {
		beta := float64(b.BetaOf(r))
		u.fill(s, b, r)
		to := x.Real[r*x.Stride+b.First:][:b.Width]
		for c := b.From; c < b.Width; c++ {
			to[c] = float32(k.at(b, r, c, beta).draw(u.at(c)))
		}
	}
}

func (k relu) LogZs(sum, product []float64, stride int, _ Means, b *Block) {
	for r := range b.Rows {
		sum[r*stride], product[r*stride] = 0, 1
		for c := b.From; c < b.Width; c++ {
			sum[r*stride] += k.at(b, r, c, 1).logZ()
		}
	}
}

func (k relu) Rises(sum, product []float64, b *Block, from, to float64) {
	for r := range b.Rows {
		sum[r], product[r] = 0, 1
		for c := b.From; c < b.Width; c++ {
			sum[r] += k.at(b, r, c, to).logZ() - k.at(b, r, c, from).logZ()
		}
	}
}

func (relu) LogZ(z []float64, d *Distribution, first int) float64 {
	sum := 0.0
	for i, z := range z {
		sum += half{z, d.Param(0, first+i)}.logZ()
	}
	return sum
}

func (relu) Rest(x []float32, d *Distribution, first int) float64 { return quadratic(x, d, first) }

func (relu) Curvature(d *Distribution, i int) float64 { return d.Param(0, i) }

// FieldOf bisects: the mean rises with the field. A mean of 0 or less has the field of a very small one.
func (relu) FieldOf(mean, precision float64) float64 {
	scaled := max(float64(mean*math.Sqrt(precision)), 1e-3) // that of precision 1, whose field z is below it and above −1/mean
	low, high := -1/scaled, scaled
	for range 60 {
		z := (low + high) / 2
		if m, _ := (half{z, 1}).moments(); m < scaled {
			low = z
		} else {
			high = z
		}
	}
	return float64(low * math.Sqrt(precision))
}
