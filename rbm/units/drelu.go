package units

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// DReLU units (double ReLU) are real and independent given the other layer. On each side of zero
// their distribution is a part of a normal distribution (Tubiana, Cocco and Monasson, Learning protein
// constitutive motifs from sequence data, eLife 2019, equation 6). The energy of a unit by itself is
//
//	U(x) = γ⁺x²/2 − θ⁺x for x ≥ 0,  γ⁻x²/2 − θ⁻x for x < 0
//
// The parameters are the field θ, the precision γ > 0, the gap Δ and the skew ξ. With η = ξ/(1+|ξ|),
//
//	γ⁺ = γ/(1+η),  γ⁻ = γ/(1−η),  θ⁺ = θ + Δ/(1+η),  θ⁻ = θ − Δ/(1−η)
//
// With Δ = ξ = 0 a unit is Gaussian. Δ > 0 pushes it away from zero, and Δ < 0 keeps it
// near zero for small inputs. On the path from a base, γ± and θ± are interpolated, because the energy is
// linear in them.
var DReLU LearnedKind = drelu{}

type drelu struct{}

func (drelu) String() string   { return "drelu" }
func (drelu) Support() Support { return Real }
func (drelu) Params() []Param  { return freeSides }

// freeSides are the parameters γ, Δ and ξ of dReLU units.
var freeSides = []Param{precision[0], {Name: "gap", Learned: true}, {Name: "skew", Learned: true}}

// sides has γ± and θ±−θ of a unit. Index 0 is for x ≥ 0, index 1 for x < 0.
type sides struct{ gamma, theta [2]float64 }

// sides returns the sides of unit i under d.
func (drelu) sides(d *Distribution, i int) sides {
	gamma, gap, skew := d.Param(0, i), d.Param(1, i), d.Param(2, i)
	up, down := widths(skew)
	return sides{[2]float64{gamma / up, gamma / down}, [2]float64{gap / up, -gap / down}}
}

// widths returns 1+η and 1−η, without cancellation.
func widths(skew float64) (up, down float64) {
	size := 1 + math.Abs(skew)
	up, down = (size+skew)/size, (size-skew)/size
	return up, down
}

// blend returns the sides at inverse temperature β on the path from base to s.
func (s sides) blend(base sides, beta float64) sides {
	for k := range s.gamma {
		s.gamma[k] = float64(beta*s.gamma[k]) + float64((1-beta)*base.gamma[k])
		s.theta[k] = float64(beta*s.theta[k]) + float64((1-beta)*base.theta[k])
	}
	return s
}

// paired returns the partition functions plus·e^lift and minus·e^lift of x ≥ 0 and of x < 0. less is
// exp(lifts(up.a, down.a)).
func paired(up, down half, less float64) (plus, minus, lift float64) {
	plus, lift = up.z()
	minus, other := down.z()
	if other > lift {
		return float64(plus * less), minus, other
	}
	return plus, float64(minus * less), lift
}

// lifts returns minus the absolute difference between the lifts of two halves, but at least −700. up and down
// are the values a of the halves: see half.
func lifts(up, down float64) float64 {
	above, below := min(up, 0), min(down, 0)
	return max(-math.Abs(float64(above*above)-float64(below*below))/2, -700)
}

// halves returns the parts of the distribution of a unit on x ≥ 0 and, mirrored, on x < 0. The input z
// includes the field.
func (s sides) halves(z float64) (up, down half) {
	return halfOf(z+s.theta[0], s.gamma[0]), halfOf(-z-s.theta[1], s.gamma[1])
}

// shares returns the probabilities of x ≥ 0 and of x < 0 from the results of paired.
func shares(plus, minus float64) (up, down float64) {
	z := 1 / (plus + minus)
	return float64(plus * z), float64(minus * z)
}

// pairs holds the distributions of the units of a block for one row, and their parameters in the
// model and in the base.
type pairs struct {
	model, base [vec.Block]sides
	up, down    halves

	// In separate arrays, because copying pairs would take as long as computing them:
	plus, minus, lift [vec.Block]float64
}

// begin reads the parameters of the units of b.
func (s *pairs) begin(k drelu, b *Block) {
	for c := b.From; c < b.Width; c++ {
		s.model[c] = k.sides(b.Model, b.First+c)
		if b.Base != nil {
			s.base[c] = k.sides(b.Base, b.First+c)
		}
	}
}

// compute computes the distributions of row r at inverse temperature β.
func (s *pairs) compute(b *Block, r int, beta float64) {
	for c := b.From; c < b.Width; c++ {
		x, z := s.model[c], float64(b.In[r*b.Stride+c])
		if beta != 1 {
			x, z = x.blend(s.base[c], beta), float64(beta*z)+float64((1-beta)*b.Base.At(b.First+c))
		}
		s.up.set(c, z+x.theta[0], x.gamma[0])
		s.down.set(c, -z-x.theta[1], x.gamma[1])
		s.lift[c] = lifts(s.up.a[c], s.down.a[c])
	}
	s.up.compute()
	s.down.compute()
	vec.Exps(s.lift[:], s.lift[:])
	for c := b.From; c < b.Width; c++ {
		s.plus[c], s.minus[c], s.lift[c] = paired(s.up.at(c), s.down.at(c), s.lift[c])
	}
}

// sum returns z and lift of unit c of the block, whose partition function is z·e^lift.
func (s *pairs) sum(c int) (z, lift float64) { return s.plus[c] + s.minus[c], s.lift[c] }

func (k drelu) Means(dst Means, b *Block) {
	var s pairs
	s.begin(k, b)
	for r := range b.Rows {
		s.compute(b, r, 1)
		for c := b.From; c < b.Width; c++ {
			up, down := shares(s.plus[c], s.minus[c])
			plus, _ := s.up.at(c).moments()
			minus, _ := s.down.at(c).moments()
			dst.Data[r*dst.Cols+b.First+c] = float32(float64(up*plus) - float64(down*minus))
		}
	}
}

func (k drelu) Squares(dst Means, b *Block) {
	var s pairs
	s.begin(k, b)
	for r := range b.Rows {
		s.compute(b, r, 1)
		for c := b.From; c < b.Width; c++ {
			up, down := shares(s.plus[c], s.minus[c])
			_, plus := s.up.at(c).moments()
			_, minus := s.down.at(c).moments()
			dst.Data[r*dst.Cols+b.First+c] = float32(float64(up*plus) + float64(down*minus))
		}
	}
}

// Draw chooses both the side and the value on it by one uniform number of 48 bits.
func (k drelu) Draw(x States, b *Block, stream vec.Stream) {
	var u fineUniforms
	var at places
	var half [vec.Block]half
	var sign, rest [vec.Block]float64
	var s pairs
	s.begin(k, b)
	for r := range b.Rows {
		u.fill(stream, b, r)
		s.compute(b, r, float64(b.BetaOf(r)))
		for c := b.From; c < b.Width; c++ {
			up, down := shares(s.plus[c], s.minus[c])
			if u := u.at(c); u < up {
				half[c], sign[c], rest[c] = s.up.at(c), 1, u/up
			} else {
				half[c], sign[c], rest[c] = s.down.at(c), -1, (u-up)/down
			}
			rest[c] = min(max(rest[c], 0x1p-60), 1-0x1p-53) // rounding may give 0 or 1
			at.set(c, half[c], rest[c])
		}
		at.compute(b.From, b.Width)
		to := x.Real[r*x.Stride+b.First:][:b.Width]
		for c := b.From; c < b.Width; c++ {
			to[c] = float32(float64(sign[c] * at.draw(c, half[c], rest[c])))
		}
	}
}

func (k drelu) LogZs(sum, product []float64, stride int, _ Means, b *Block) {
	var s pairs
	s.begin(k, b)
	for r := range b.Rows {
		s.compute(b, r, 1)
		z := one
		for c := b.From; c < b.Width; c++ {
			z.multiply(s.sum(c))
		}
		sum[r*stride], product[r*stride] = z.log(), 1
	}
}

func (k drelu) Rises(sum, product []float64, b *Block, from, to float64) {
	var s pairs
	s.begin(k, b)
	for r := range b.Rows {
		ratio := one
		s.compute(b, r, to)
		for c := b.From; c < b.Width; c++ {
			ratio.multiply(s.sum(c))
		}
		s.compute(b, r, from)
		for c := b.From; c < b.Width; c++ {
			ratio.divide(s.sum(c))
		}
		sum[r], product[r] = ratio.log(), 1
	}
}

func (k drelu) LogZ(z []float64, d *Distribution, first int) float64 {
	all := one
	for i, z := range z {
		up, down := k.sides(d, first+i).halves(z)
		plus, minus, lift := paired(up, down, vec.Exp(lifts(up.a, down.a)))
		all.multiply(plus+minus, lift)
	}
	return all.log()
}

func (k drelu) Rest(x []float32, d *Distribution, first int) float64 {
	sum := 0.0
	for i, x := range x {
		s, side := k.sides(d, first+i), 0
		if x < 0 {
			side = 1
		}
		sum += float64(float64(x) * (float64(float64(x)*s.gamma[side]/2) - s.theta[side]))
	}
	return sum
}

// FieldOf uses that a dReLU unit without gap and skew is Gaussian.
func (drelu) FieldOf(mean, precision float64) float64 { return Gaussian.FieldOf(mean, precision) }

func (k drelu) Curvature(d *Distribution, i int) float64 {
	s := k.sides(d, i)
	return min(s.gamma[0], s.gamma[1])
}

// Slopes computes
//
//	∂log Z/∂Δ = p⁺⟨x⟩⁺/(1+η) + p⁻⟨|x|⟩⁻/(1−η)
//	∂log Z/∂ξ = (p⁺(½γ⟨x²⟩⁺ − Δ⟨x⟩⁺)/(1+η)² − p⁻(½γ⟨x²⟩⁻ − Δ⟨|x|⟩⁻)/(1−η)²)/(1+|ξ|)²
//
// where p⁺ and p⁻ are the probabilities of x ≥ 0 and x < 0, and ⟨·⟩⁺ and ⟨·⟩⁻ are means given the side.
func (k drelu) Slopes(dst [MaxParams]Means, b *Block) {
	var s pairs
	s.begin(k, b)
	for r := range b.Rows {
		s.compute(b, r, 1)
		for c := b.From; c < b.Width; c++ {
			i := b.First + c
			gamma, gap, skew := b.Model.Param(0, i), b.Model.Param(1, i), b.Model.Param(2, i)
			var share, width [2]float64
			share[0], share[1] = shares(s.plus[c], s.minus[c])
			width[0], width[1] = widths(skew)
			var byGap, bySkew [2]float64
			for k, h := range [...]*halves{&s.up, &s.down} {
				mean, square := h.at(c).moments()
				byGap[k] = share[k] * mean / width[k]
				bySkew[k] = share[k] * (float64(gamma*square/2) - float64(gap*mean)) / float64(width[k]*width[k])
			}
			size := 1 + math.Abs(skew)
			dst[1].Data[r*dst[1].Cols+i] = float32(byGap[0] + byGap[1])
			dst[2].Data[r*dst[2].Cols+i] = float32((bySkew[0] - bySkew[1]) / float64(size*size))
		}
	}
}
