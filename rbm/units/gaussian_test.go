package units

import (
	"math"
	"testing"

	"gorbm/rbm/internal/vec"
)

// gaussianBlock is a block of 20 rows of units of a layer, on a path from a base. Rows differ only
// in β.
func gaussianBlock(rows int) (b Block) {
	d := &Distribution{Field: make([]float32, layer), Params: [][]float32{make([]float32, layer)}}
	base := &Distribution{Field: make([]float32, layer), Params: [][]float32{make([]float32, layer)}}
	for i := range layer {
		d.Params[0][i] = 0.25 + float32(i%5)*0.75
		base.Field[i], base.Params[0][i] = float32(i%3)-1, 1+float32(i%2)
	}
	b = Block{First: first, From: 6, Width: 11, Rows: rows, Row: 3, Stride: vec.Block, Model: d, Base: base, In: make([]float32, rows*vec.Block)}
	for r := range rows {
		for i := range 11 {
			b.In[r*vec.Block+i] = []float32{-40, -3, 0.2, 0, 2, 40}[i%6]
		}
	}
	return b
}

// integrals returns log ∫, mean and variance of exp(zx − px²/2) by the trapezium rule around its
// peak, which is exact to rounding for such functions.
func integrals(z, p float64) (logZ, mean, variance float64) {
	sd := 1 / math.Sqrt(p)
	step := sd / 8
	var n, x1, x2 float64
	for k := -320; k <= 320; k++ {
		x := z/p + float64(k)*step
		w := math.Exp(z*x - p*x*x/2 - z*z/(2*p))
		n, x1, x2 = n+w, x1+w*x, x2+w*x*x
	}
	mean = x1 / n
	return z*z/(2*p) + math.Log(n*step), mean, x2/n - mean*mean
}

// Log Z and means agree with quadrature, at all β. Without the term ½log(2π/γ), or with the
// precision of the model at each β, they do not.
func TestGaussianAgainstQuadrature(t *testing.T) {
	b := gaussianBlock(1)
	mean := Means{Data: make([]float32, layer), Cols: layer}
	Gaussian.Means(mean, &b)
	square := Means{Data: make([]float32, layer), Cols: layer}
	Gaussian.Squares(square, &b)
	wants, sum, product := 0.0, make([]float64, 1), make([]float64, 1)
	at := func(c int, beta float64) (z, p float64) {
		i := first + c
		return beta*float64(b.In[c]) + (1-beta)*float64(b.Base.Field[i]), beta*float64(b.Model.Params[0][i]) + (1-beta)*float64(b.Base.Params[0][i])
	}
	for c := b.From; c < b.Width; c++ {
		z, p := at(c, 1)
		logZ, m, variance := integrals(z, p)
		wants += logZ
		near(t, "log Z", Gaussian.LogZ([]float64{z}, b.Model, first+c), logZ, 1e-12*(1+math.Abs(logZ)))
		near(t, "mean", float64(mean.Data[first+c]), m, 0x1p-23*(1e-7+math.Abs(m)))
		near(t, "mean square", float64(square.Data[first+c]), variance+m*m, 0x1p-22*(variance+m*m))
		if without := z * z / (2 * p); math.Abs(without-logZ) < 0.01 {
			t.Errorf("log Z %v is that without its constant", logZ)
		}
	}
	Gaussian.LogZs(sum, product, 1, mean, &b)
	near(t, "log Z of the block", sum[0]-math.Log(product[0]), wants, 1e-11*math.Abs(wants))
	rise, fixed := 0.0, 0.0
	for c := b.From; c < b.Width; c++ {
		for beta, sign := range map[float64]float64{0.75: 1, 0.25: -1} {
			z, p := at(c, beta)
			logZ, _, _ := integrals(z, p)
			rise += sign * logZ
			logZ, _, _ = integrals(z, float64(b.Model.Params[0][first+c]))
			fixed += sign * logZ
		}
	}
	Gaussian.Rises(sum, product, &b, 0.25, 0.75)
	near(t, "rise", sum[0]+math.Log(product[0]), rise, 1e-11*math.Abs(rise))
	if math.Abs(sum[0]-fixed) < 0.01 {
		t.Errorf("the rise %v is that of a fixed precision", rise)
	}
}

// Draws have the mean and the variance of the distribution at β, and units outside of the block do
// not change. With another precision the moments are wrong.
func TestGaussianDraws(t *testing.T) {
	const rows = 40000
	for _, beta := range []float32{0, 0.6, 1} {
		b := gaussianBlock(rows)
		b.Beta = make([]float32, rows)
		fillWith(b.Beta, beta)
		x := States{Real: make([]float32, rows*layer), Stride: layer}
		fillWith(x.Real, 7)
		Gaussian.Draw(x, &b, vec.Stream{K0: 1, K1: 2})
		for c := range b.Width {
			i := first + c
			if c < b.From {
				if x.Real[i] != 7 {
					t.Fatalf("unit %d is drawn: got %v, want 7", i, x.Real[i])
				}
				continue
			}
			z := float64(beta)*float64(b.In[c]) + (1-float64(beta))*float64(b.Base.Field[i])
			p := float64(beta)*float64(b.Model.Params[0][i]) + (1-float64(beta))*float64(b.Base.Params[0][i])
			_, mean, variance := integrals(z, p)
			sum, squares := 0.0, 0.0
			for r := range rows {
				d := float64(x.Real[r*layer+i]) - mean
				sum, squares = sum+d, squares+d*d
			}
			zMean := sum / rows / math.Sqrt(variance/rows)
			zVariance := func(variance float64) float64 { return (squares/rows/variance - 1) / math.Sqrt(2.0/rows) }
			if math.Abs(zMean) > 6 || math.Abs(zVariance(variance)) > 6 {
				t.Errorf("β %v, unit %d: mean and variance are off by %.1f and %.1f standard errors", beta, i, zMean, zVariance(variance))
			}
			if other := 1 / float64(b.Model.Params[0][i]); beta < 1 && math.Abs(other-variance) > 0.2 && math.Abs(zVariance(other)) < 6 {
				t.Errorf("β %v, unit %d: the variance passes for that of the model, want at least 1", beta, i)
			}
		}
	}
}

func fillWith(x []float32, v float32) {
	for i := range x {
		x[i] = v
	}
}

// Quantiles agree with the error function, also in the far tail, and are symmetric.
func TestQuantile(t *testing.T) {
	for _, high := range []float64{1, 3, 101, 1<<20 & ^1 + 1, 1<<22 + 1, 1<<23 - 1, 1<<23 + 1, 1<<24 - 1} {
		for _, low := range []float64{1, 1<<23 + 1, 1<<24 - 1} {
			p := (high - 1 + low/(1<<23)) / (1 << 24)
			u := fineUniforms{high: [vec.Block]float32{float32(high), 1<<24 - float32(high)}, low: [vec.Block]float32{float32(low), 1<<24 - float32(low)}}
			x := normal(u.at(0), 1-u.at(0))
			near(t, "distribution function", math.Erfc(-x/math.Sqrt2)/2, p, 1e-15*(1+x*x)*p)
			mirrored := normal(u.at(1), 1-u.at(1))
			near(t, "mirror", mirrored, -x, 1e-9*math.Abs(x))
		}
	}
}

func TestGaussianAllocatesNothing(t *testing.T) {
	b := gaussianBlock(20)
	mean := Means{Data: make([]float32, 20*layer), Cols: layer}
	x := States{Real: make([]float32, 20*layer), Stride: layer}
	sum, product := make([]float64, 20), make([]float64, 20)
	if n := testing.AllocsPerRun(10, func() {
		Gaussian.Means(mean, &b)
		Gaussian.LogZs(sum, product, 1, mean, &b)
		Gaussian.Draw(x, &b, vec.Stream{})
	}); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// A draw of a unit does not depend on the precisions of the other units of its block: those of the block
// with the first unit's precision at 1 are those with another one.
func TestGaussianDrawsOfMixedPrecisions(t *testing.T) {
	draw := func(precision float32) []float32 {
		b := gaussianBlock(3)
		b.Base = nil
		b.Model.Params[0][first+b.From] = precision
		x := States{Real: make([]float32, 3*layer), Stride: layer}
		Gaussian.Draw(x, &b, vec.Stream{K0: 1, K1: 2})
		return x.Real
	}
	one, two := draw(1), draw(2)
	b := gaussianBlock(3)
	for r := range 3 {
		for c := b.From; c < b.Width; c++ {
			i := r*layer + first + c
			if same := one[i] == two[i]; same != (c > b.From) {
				t.Errorf("row %d, unit %d: drawn as %v and %v where the precision of unit %d is 1 and 2", r, c, one[i], two[i], b.From)
			}
		}
	}
}
