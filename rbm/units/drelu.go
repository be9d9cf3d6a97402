package units

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// DReLU units, double ReLU, are real and independent given the other layer, with another half of a
// normal distribution on each side of zero (Tubiana, Cocco and Monasson, Learning protein
// constitutive motifs from sequence data, eLife 2019, equation 6):
//
//	U(x) = γ⁺x²/2 − θ⁺x for x ≥ 0,  γ⁻x²/2 − θ⁻x for x < 0
//
// They are kept in coordinates that are free, but for γ > 0: the field θ, the precision γ, the gap
// Δ and the skew ξ, with η = ξ/(1+|ξ|):
//
//	γ⁺ = γ/(1+η),  γ⁻ = γ/(1−η),  θ⁺ = θ + Δ/(1+η),  θ⁻ = θ − Δ/(1−η)
//
// With Δ = ξ = 0 a unit is Gaussian. Δ > 0 pushes it away from zero, to either side, and Δ < 0 holds
// small inputs at zero. On the path from a base γ± and θ± are blended, in which energies are linear.
var DReLU LearnedKind = drelu{}

type drelu struct{}

func (drelu) String() string   { return "drelu" }
func (drelu) Support() Support { return Real }
func (drelu) Params() []Param  { return freeSides }

// freeSides are the parameters of dReLU units in free coordinates.
var freeSides = []Param{precision[0], {Name: "gap", Learned: true}, {Name: "skew", Learned: true}}

// sides are the parameters of the two sides of a unit, besides its field: γ± and the rest of θ±.
type sides struct{ gamma, theta [2]float64 } // of x ≥ 0, then of x < 0

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

// blend returns the sides at β on the path to s from base.
func (s sides) blend(base sides, beta float64) sides {
	for k := range s.gamma {
		s.gamma[k] = float64(beta*s.gamma[k]) + float64((1-beta)*base.gamma[k])
		s.theta[k] = float64(beta*s.theta[k]) + float64((1-beta)*base.theta[k])
	}
	return s
}

// A pair is the distribution of a unit: those of its sides, the other one mirrored, with their log Z.
type pair struct {
	half [2]half
	logZ [2]float64
}

// at returns the distribution of a unit of these sides with the input z, field included.
func (s sides) at(z float64) (p pair) {
	p.half = [2]half{{z + s.theta[0], s.gamma[0]}, {-z - s.theta[1], s.gamma[1]}}
	p.logZ = [2]float64{p.half[0].logZ(), p.half[1].logZ()}
	return p
}

// sum returns the log Z of both sides.
func (p *pair) sum() float64 {
	return p.logZ[0] + vec.Softplus(p.logZ[1]-p.logZ[0])
}

// shares returns the probabilities of the sides.
func (p *pair) shares() (up, down float64) {
	d := p.logZ[0] - p.logZ[1]
	e := vec.Exp(-math.Abs(d))
	up, down = 1/(1+e), e/(1+e)
	if d < 0 {
		up, down = down, up
	}
	return up, down
}

// A blockSides is the sides of a block's units, of the model and of the base.
type blockSides struct{ model, base [vec.Block]sides }

func (k drelu) sidesOf(b *Block) (s blockSides) {
	for c := b.From; c < b.Width; c++ {
		s.model[c] = k.sides(b.Model, b.First+c)
		if b.Base != nil {
			s.base[c] = k.sides(b.Base, b.First+c)
		}
	}
	return s
}

// at returns the distribution of unit c of row r at β.
func (s *blockSides) at(b *Block, r, c int, beta float64) pair {
	z := float64(b.In[r*b.Stride+c])
	if beta == 1 {
		return s.model[c].at(z)
	}
	return s.model[c].blend(s.base[c], beta).at(float64(beta*z) + float64((1-beta)*b.Base.At(b.First+c)))
}

func (k drelu) Means(dst Means, b *Block) {
	s := k.sidesOf(b)
	for r := range b.Rows {
		for c := b.From; c < b.Width; c++ {
			p := s.at(b, r, c, 1)
			up, down := p.shares()
			plus, _ := p.half[0].moments()
			minus, _ := p.half[1].moments()
			dst.Data[r*dst.Cols+b.First+c] = float32(float64(up*plus) - float64(down*minus))
		}
	}
}

// Draw takes the side and the place on it by one uniform of 48 bits.
func (k drelu) Draw(x States, b *Block, stream vec.Stream) {
	var u fineUniforms
	s := k.sidesOf(b)
	for r := range b.Rows {
		beta := float64(b.BetaOf(r))
		u.fill(stream, b, r)
		to := x.Real[r*x.Stride+b.First:][:b.Width]
		for c := b.From; c < b.Width; c++ {
			p := s.at(b, r, c, beta)
			up, down := p.shares()
			if at := u.at(c); at < up {
				to[c] = float32(p.half[0].draw(at / up))
			} else {
				to[c] = -float32(p.half[1].draw((at - up) / down))
			}
		}
	}
}

func (k drelu) LogZs(sum, product []float64, stride int, _ Means, b *Block) {
	s := k.sidesOf(b)
	for r := range b.Rows {
		sum[r*stride], product[r*stride] = 0, 1
		for c := b.From; c < b.Width; c++ {
			p := s.at(b, r, c, 1)
			sum[r*stride] += p.sum()
		}
	}
}

func (k drelu) Rises(sum, product []float64, b *Block, from, to float64) {
	s := k.sidesOf(b)
	for r := range b.Rows {
		sum[r], product[r] = 0, 1
		for c := b.From; c < b.Width; c++ {
			end, start := s.at(b, r, c, to), s.at(b, r, c, from)
			sum[r] += end.sum() - start.sum()
		}
	}
}

func (k drelu) LogZ(z []float64, d *Distribution, first int) float64 {
	sum := 0.0
	for i, z := range z {
		p := k.sides(d, first+i).at(z)
		sum += p.sum()
	}
	return sum
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

// FieldOf is that of Gaussian units, which dReLU units without gap and skew are.
func (drelu) FieldOf(mean, precision float64) float64 { return Gaussian.FieldOf(mean, precision) }

func (k drelu) Curvature(d *Distribution, i int) float64 {
	s := k.sides(d, i)
	return min(s.gamma[0], s.gamma[1])
}

// Slopes are
//
//	∂Γ/∂Δ = p⁺⟨x⟩⁺/(1+η) + p⁻⟨|x|⟩⁻/(1−η)
//	∂Γ/∂ξ = (p⁺(½γ⟨x²⟩⁺ − Δ⟨x⟩⁺)/(1+η)² − p⁻(½γ⟨x²⟩⁻ − Δ⟨|x|⟩⁻)/(1−η)²)/(1+|ξ|)²
func (k drelu) Slopes(dst [MaxParams]Means, b *Block) {
	s := k.sidesOf(b)
	for r := range b.Rows {
		for c := b.From; c < b.Width; c++ {
			i := b.First + c
			gamma, gap, skew := b.Model.Param(0, i), b.Model.Param(1, i), b.Model.Param(2, i)
			p := s.at(b, r, c, 1)
			var share, width [2]float64
			share[0], share[1] = p.shares()
			width[0], width[1] = widths(skew)
			var byGap, bySkew [2]float64
			for k, h := range p.half {
				mean, square := h.moments()
				byGap[k] = share[k] * mean / width[k]
				bySkew[k] = share[k] * (float64(gamma*square/2) - float64(gap*mean)) / float64(width[k]*width[k])
			}
			size := 1 + math.Abs(skew)
			dst[1].Data[r*dst[1].Cols+i] = float32(byGap[0] + byGap[1])
			dst[2].Data[r*dst[2].Cols+i] = float32((bySkew[0] - bySkew[1]) / float64(size*size))
		}
	}
}
