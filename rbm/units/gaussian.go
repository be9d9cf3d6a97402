package units

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// Gaussian units are real numbers, independent given the other layer. The energy of a unit by itself is
// U(x) = γx²/2 − θx, with field θ and precision γ > 0. Given the input z its mean is z/γ and its variance
// 1/γ. On the path from a base, the precision is γ_β = β·γ + (1−β)·γ₀, where γ₀ is that of the base.
var Gaussian RealKind = gaussian{}

// precision is the parameter γ of real units, the curvature of their energy.
var precision = []Param{{Name: "precision", Initial: 1, Positive: true}}

type gaussian struct{}

func (gaussian) String() string   { return "gaussian" }
func (gaussian) Support() Support { return Real }
func (gaussian) Params() []Param  { return precision }

func (gaussian) Means(dst Means, b *Block) {
	for r := range b.Rows {
		in := b.In[r*b.Stride:][:b.Width]
		mean := dst.Data[r*dst.Cols+b.First:][:b.Width]
		for c := b.From; c < b.Width; c++ {
			mean[c] = float32(float64(in[c]) / b.Model.Param(0, b.First+c))
		}
	}
}

// Squares adds the variance to the square of the mean.
func (gaussian) Squares(dst Means, b *Block) {
	for r := range b.Rows {
		for c := b.From; c < b.Width; c++ {
			z, precision := b.blend(r, c, 1)
			mean := z / precision
			dst.Data[r*dst.Cols+b.First+c] = float32(float64(mean*mean) + 1/precision)
		}
	}
}

// blend returns the input and the precision of unit c of row r at inverse temperature β.
func (b *Block) blend(r, c int, beta float64) (z, precision float64) {
	i := b.First + c
	z = float64(beta*float64(b.In[r*b.Stride+c])) + float64((1-beta)*b.Base.At(i))
	return z, float64(beta*b.Model.Param(0, i)) + float64((1-beta)*b.Base.Param(0, i))
}

// moreUniforms plus the number of a block of units selects the second uniforms of a draw. No layer has so
// many blocks.
const moreUniforms = 1 << 20

// fineUniforms holds uniform numbers of 48 bits, one for each unit of a block in one row. Each combines
// two uniforms of 24 bits.
type fineUniforms struct{ high, low [vec.Block]float32 }

// fill draws the uniforms of row r of b from s.
func (u *fineUniforms) fill(s vec.Stream, b *Block, r int) {
	k := uint32(b.First / vec.Block)
	s.Uniforms(&u.high, b.Row+uint32(r), k)
	s.Uniforms(&u.low, b.Row+uint32(r), k+moreUniforms)
}

// at returns the uniform of unit c, between 0 and 1. high is an odd number below 2²⁴, the centre of an
// interval of width 2; low chooses the point in the interval. The uniform u and 1−u are exact.
func (u *fineUniforms) at(c int) float64 {
	return float64((float64(u.high[c]) - 1 + float64(float64(u.low[c])*0x1p-23)) * 0x1p-24)
}

// fillAt overwrites at with the uniforms of all units.
func (u *fineUniforms) fillAt(at *[vec.Block]float64) {
	for c := range at {
		at[c] = u.at(c)
	}
}

// Draw inverts the distribution function at a uniform number of 48 bits.
func (g gaussian) Draw(x States, b *Block, s vec.Stream) {
	var u fineUniforms
	var p, normals [vec.Block]float64
	for r := range b.Rows {
		beta := float64(b.BetaOf(r))
		u.fill(s, b, r)
		u.fillAt(&p)
		vec.CentralNormals(normals[:], p[:])
		to := x.Real[r*x.Stride+b.First:][:b.Width]
		for c := b.From; c < b.Width; c++ {
			if math.Abs(p[c]-0.5) > vec.CentralHalf {
				normals[c] = tailNormal(p[c], 1-p[c])
			}
		}
		if in := b.In[r*b.Stride:][:b.Width]; beta == 1 && b.allOnes() {
			for c := b.From; c < b.Width; c++ {
				to[c] = float32(float64(in[c]) + normals[c]) // the same as below without divisions by 1
			}
			continue
		}
		for c := b.From; c < b.Width; c++ {
			z, precision := b.blend(r, c, beta)
			to[c] = float32(z/precision + normals[c]/math.Sqrt(precision))
		}
	}
}

// allOnes reports whether all units of b have precision 1.
func (b *Block) allOnes() bool {
	for _, p := range b.Model.Params[0][b.First+b.From : b.First+b.Width] {
		if p != 1 {
			return false
		}
	}
	return true
}

// normal returns the quantile of the standard normal distribution. below and above are the
// probabilities below and above the quantile; both must have a small relative error.
func normal(below, above float64) float64 {
	if math.Abs(below-0.5) <= vec.CentralHalf {
		return vec.CentralNormal(below)
	}
	return tailNormal(below, above)
}

// tailNormal is normal for the tails, where the formula for the centre does not apply.
func tailNormal(below, above float64) float64 {
	tail, sign := below, -1.0
	if below > 0.5 {
		tail, sign = above, 1
	}
	r := math.Sqrt(-vec.Log(tail))
	if r <= 5 {
		return sign * ratio(r-1.6, &middle)
	}
	return sign * ratio(r-5, &far)
}

// ratio returns the ratio of two polynomials in x. c has their coefficients, highest power first.
func ratio(x float64, c *[2][8]float64) float64 {
	a, b := c[0][0], c[1][0]
	for i := 1; i < len(c[0]); i++ {
		a, b = float64(a*x)+c[0][i], float64(b*x)+c[1][i]
	}
	return a / b
}

// Wichura, Algorithm AS 241 (Applied Statistics 37, 1988): relative error 10⁻¹⁶.
var (
	middle = [2][8]float64{
		{7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734},
		{1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1},
	}
	far = [2][8]float64{
		{2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772},
		{2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1},
	}
)

// logZ returns log Z of one unit with input z and precision p.
func (gaussian) logZ(z, p float64) float64 {
	return float64(z*z)/(2*p) + float64(vec.Log(2*math.Pi/p)/2)
}

func (g gaussian) LogZs(sum, product []float64, stride int, _ Means, b *Block) {
	for r := range b.Rows {
		sum[r*stride], product[r*stride] = 0, 1
		for c := b.From; c < b.Width; c++ {
			sum[r*stride] += g.logZ(b.blend(r, c, 1))
		}
	}
}

func (g gaussian) Rises(sum, product []float64, b *Block, from, to float64) {
	for r := range b.Rows {
		sum[r], product[r] = 0, 1
		for c := b.From; c < b.Width; c++ {
			sum[r] += g.logZ(b.blend(r, c, to)) - g.logZ(b.blend(r, c, from))
		}
	}
}

func (g gaussian) LogZ(z []float64, d *Distribution, first int) float64 {
	sum := 0.0
	for i, z := range z {
		sum += g.logZ(z, d.Param(0, first+i))
	}
	return sum
}

// Field returns the fields for precision 1.
func (gaussian) Field(dst, mean []float32, _ float64) { copy(dst, mean) }

func (gaussian) Rest(x []float32, d *Distribution, first int) float64 {
	return quadratic(x, d, first)
}

func (gaussian) Curvature(d *Distribution, i int) float64 { return d.Param(0, i) }

func (gaussian) FieldOf(mean, precision float64) float64 { return float64(mean * precision) }

// quadratic returns Σ γx²/2 over the values x, with the precisions γ of the units from index first on.
func quadratic(x []float32, d *Distribution, first int) float64 {
	sum := 0.0
	for i, x := range x {
		sum += float64(float64(float64(x)*float64(x)) * d.Param(0, first+i) / 2)
	}
	return sum
}
