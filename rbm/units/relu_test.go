package units

import (
	"fmt"
	"math"
	"testing"

	"gorbm/rbm/internal/vec"
)

// The expected values were computed with SciPy.
func TestHalfByNumbers(t *testing.T) {
	for _, c := range [][5]float64{
		{0, 1, .225791352645, .797884560803, .363380227632},
		{1, 2, .548256910140, .788978181373, .272002520004},
		{-3, .5, -1.147998099056, .303753689003, .085211562398},
		{-20, 1, -2.998216837893, .049753068528, .002463261615},
		{6, 1, 18.918938532218, 6.000000006076, .999999963545},
	} {
		h := halfOf(c[0], c[1])
		mean, square := h.moments()
		near(t, "log Z", ReLU.LogZ([]float64{c[0]}, &Distribution{Params: [][]float32{{float32(c[1])}}}, 0), c[2], 1e-12)
		near(t, "mean", mean, c[3], 1e-12)
		near(t, "variance", square-mean*mean, c[4], 2e-12) // error of the expected value, and rounding of a mean square of up to 36
	}
	for _, c := range [][9]float64{
		{0, 0, 1, 1, 0, .918938533205, 0, 1, .5},
		{-1, 1, 1, 2, .7, .350956730206, .390903169883, .465831125547, .705307772165},
		{.5, -.5, 2, .5, -3, 13.515512191954, -6.999999494676, 2.000003595441, 4.40019e-7},
		{-2, 2, 1, 1, 0, -.171098619917, 0, .253568934354, .5},
	} {
		right, left := sides{[2]float64{c[2], c[3]}, [2]float64{c[0], c[1]}}.halves(c[4])
		zUp, zDown, lift := paired(right, left, vec.Exp(lifts(right.a, left.a)))
		up, down := shares(zUp, zDown)
		plus, plus2 := right.moments()
		minus, minus2 := left.moments()
		mean := up*plus - down*minus
		near(t, "log Z", lift+math.Log(zUp+zDown), c[5], 1e-12)
		near(t, "mean", mean, c[6], 1e-12)
		near(t, "variance", up*plus2+down*minus2-mean*mean, c[7], 2e-12)
		near(t, "p+", up, c[8], 1e-12)
	}
}

// Log Z and both moments on a grid of inputs agree with the composite Simpson rule around the peak.
// With steps of 1/300 of a standard deviation its error is below 10⁻¹¹. For a at which moments does
// not use a series, cancellation makes its relative errors about a²ε and a⁴ε.
func TestHalfOnAGrid(t *testing.T) {
	const rule = 1e-11
	for _, gamma := range []float64{0.25, 1, 4} {
		for z := -40.0; z <= 40; z += 0.625 {
			sd := 1 / math.Sqrt(gamma)
			top := max(z/gamma, 0)
			if z < 0 {
				sd = min(sd, -1/z)
			}
			low, n := max(0, top-12*sd), 1<<14
			step := (top + 40*sd - low) / float64(n)
			var sum, first, second float64
			for k := range n + 1 {
				x := low + step*float64(k)
				w := math.Exp(z*(x-top)-gamma*(x*x-top*top)/2) * step / 3
				if k > 0 && k < n {
					w *= float64(2 + 2*(k%2))
				}
				sum, first, second = sum+w, first+w*x, second+w*x*x
			}
			h := halfOf(z, gamma)
			name := fmt.Sprintf("z %v, γ %v: ", z, gamma)
			factor, lift := h.z()
			near(t, name+"log Z", math.Log(factor)+lift, math.Log(sum)+z*top-gamma*top*top/2, rule+0x1p-50*(1+z*z/gamma))
			mean, square := h.moments()
			a2 := max(z*z/gamma, 1)
			near(t, name+"mean", mean, first/sum, (rule+a2*0x1p-50)*first/sum)
			near(t, name+"square", square, second/sum, (rule+min(a2*a2*0x1p-50, 8162/math.Pow(a2, 4)+0x1p-50*a2*a2))*second/sum)
		}
	}
}

// Moments at large a are those of the series, which continue those at smaller a.
func TestHalfFarOut(t *testing.T) {
	for _, a := range []float64{20, 49.99, 50.01, 300, 1e5} {
		h := halfOf(-a, 1)
		mean, square := h.moments()
		y := 1 / (a * a)
		want := (1 - 2*y + 10*y*y - 74*y*y*y + 706*y*y*y*y) / a
		near(t, fmt.Sprintf("mean at %v", a), mean, want, (8162*math.Pow(y, 5)+a*a*0x1p-52)*want)
		want = y * (2 - 10*y + 74*y*y - 706*y*y*y + 8162*y*y*y*y)
		near(t, fmt.Sprintf("square at %v", a), square, want, (1e5*math.Pow(y, 5)+a*a*a*a*0x1p-52)*want)
	}
}

// Draws invert the distribution function on both sides of the change of method, in the far tail and
// without truncation. Draws without the Newton steps do not.
func TestHalfDraws(t *testing.T) {
	tail := func(x float64) float64 { // log Q
		if x > 0 {
			return math.Log(vec.ScaledErfc(x/math.Sqrt2)/2) - x*x/2
		}
		return math.Log(math.Erfc(x/math.Sqrt2) / 2)
	}
	for _, a := range []float64{-40, -8, -1, 0, 2, 5.999, 6.001, 12, 40, 1000} {
		for _, u := range []float64{0x1p-48, 1e-6, 0.1, 0.5, 0.9, 1 - 1e-6} {
			h := halfOf(-a*2, 4)
			x := a + 2*h.draw(u)
			want := math.Log(u)
			if a <= farDeviations {
				// Q(a+x) = u·Q(a), compared in the smaller of the two tails
				p := u * math.Exp(tail(a))
				below := 1 - u + u*math.Exp(tail(-a))
				if x > 0 {
					near(t, fmt.Sprintf("a %v, u %v", a, u), math.Exp(tail(x)), p, 1e-13*p*(1+x*x))
				} else {
					near(t, fmt.Sprintf("a %v, u %v", a, u), math.Exp(tail(-x)), below, 1e-13*below*(1+x*x))
				}
				continue
			}
			d := 2 * h.draw(u)
			got := math.Log(vec.ScaledErfc((a+d)/math.Sqrt2)/vec.ScaledErfc(a/math.Sqrt2)) - d*(a+d/2)
			near(t, fmt.Sprintf("a %v, log u", a), got, want, 1e-7*math.Abs(want)) // two steps from a start with a relative error of 1/a²
			start := -2 * want / (a + math.Sqrt(a*a-2*want))
			if rough := math.Log(vec.ScaledErfc((a+start)/math.Sqrt2)/vec.ScaledErfc(a/math.Sqrt2)) - start*(a+start/2); a < 20 && math.Abs(rough-want) < 1e-4*math.Abs(want) {
				t.Errorf("a %v, u %v: the start is as good as the draw", a, u)
			}
		}
	}
}

// realBlock is a block of equal rows of units of a layer of a hidden kind, on a path from a base.
func realBlock(k Kind, rows int) (b Block) {
	d, base := &Distribution{Field: make([]float32, layer)}, &Distribution{Field: make([]float32, layer)}
	for p := range k.Params() {
		d.Params, base.Params = append(d.Params, make([]float32, layer)), append(base.Params, make([]float32, layer))
		for i := range layer {
			if p == 0 {
				d.Params[p][i], base.Params[p][i] = 0.25+float32(i%5)*0.75, 1+float32(i%2)
			} else {
				d.Params[p][i], base.Params[p][i] = float32(i%7)/2-1.5, float32(i%3)/4-0.25
			}
		}
	}
	for i := range layer {
		base.Field[i] = float32(i%3) - 1
	}
	b = Block{First: first, From: 6, Width: 11, Rows: rows, Row: 3, Stride: vec.Block, Model: d, Base: base, In: make([]float32, rows*vec.Block)}
	for r := range rows {
		for i := range 11 {
			b.In[r*vec.Block+i] = []float32{-40, -3, 0.2, 0, 2, 40}[i%6]
		}
	}
	return b
}

// integrate returns log ∫, mean and variance of a unit at β on the path, by the composite Simpson
// rule on each side of zero, around the peak of that side. Energies are those of Rest.
func integrate(k RealKind, b *Block, c int, beta float64) (logZ, mean, variance float64) {
	i := b.First + c
	z := beta*float64(b.In[c]) + (1-beta)*float64(b.Base.Field[i])
	exponent := func(x float64) float64 {
		one := []float32{float32(x)}
		return z*float64(one[0]) - beta*k.Rest(one, b.Model, i) - (1-beta)*k.Rest(one, b.Base, i)
	}
	var logs, values []float64
	signs := []float64{1, -1}
	if k == ReLU {
		signs = signs[:1]
	}
	for _, sign := range signs {
		// Three values determine the curvature and the slope at zero of the side.
		at := func(x float64) float64 { return exponent(sign * x) }
		curvature := -(at(2) - 2*at(1) + at(0)) // at x = 0, 1, 2
		slope := at(1) - at(0) + curvature/2
		sd := 1 / math.Sqrt(curvature)
		if slope < 0 {
			sd = min(sd, -1/slope)
		}
		top := max(slope/curvature, 0)
		low, high := max(0, top-12*sd), top+40*sd
		const n = 1 << 14
		step := (high - low) / n
		for j := 0; j <= n; j++ {
			w := 2.0
			if j%2 == 1 {
				w = 4
			}
			if j == 0 || j == n {
				w = 1
			}
			x := float64(float32(low + step*float64(j)))
			logs = append(logs, math.Log(w*step/3)+at(x))
			values = append(values, sign*x)
		}
	}
	logZ = vec.LogSumExp(logs)
	square := 0.0
	for j, x := range values {
		p := math.Exp(logs[j] - logZ)
		mean, square = mean+p*x, square+p*x*x
	}
	return logZ, mean, square - mean*mean
}

var halved = []RealKind{ReLU, DReLU}

// Log Z, means and rises agree with quadrature. Without the precision in the constant, or with the
// precision of the model at each β, they do not.
func TestHalvesAgainstQuadrature(t *testing.T) {
	const tol = 1e-6 // points of the rule are float32
	for _, k := range halved {
		b := realBlock(k, 1)
		mean := Means{Data: make([]float32, layer), Cols: layer}
		k.Means(mean, &b)
		square := Means{Data: make([]float32, layer), Cols: layer}
		k.Squares(square, &b)
		sum, product := make([]float64, 1), make([]float64, 1)
		want, rise, fixed := 0.0, 0.0, 0.0
		for c := b.From; c < b.Width; c++ {
			logZ, m, variance := integrate(k, &b, c, 1)
			want += logZ
			name := fmt.Sprintf("%v %d: ", k, c)
			near(t, name+"log Z", k.LogZ([]float64{float64(b.In[c])}, b.Model, first+c), logZ, tol*(1+math.Abs(logZ)))
			near(t, name+"mean", float64(mean.Data[first+c]), m, tol*(1e-3+math.Abs(m)))
			near(t, name+"mean square", float64(square.Data[first+c]), variance+m*m, tol*(1e-3+variance+m*m))
			for beta, sign := range map[float64]float64{0.75: 1, 0.25: -1} {
				logZ, _, _ := integrate(k, &b, c, beta)
				rise += sign * logZ
				still := b
				still.Base = &Distribution{b.Base.Field, b.Model.Params}
				logZ, _, _ = integrate(k, &still, c, beta)
				fixed += sign * logZ
			}
		}
		k.LogZs(sum, product, 1, mean, &b)
		near(t, k.String()+": log Z of the block", sum[0]-math.Log(product[0]), want, 1e-5*math.Abs(want))
		k.Rises(sum, product, &b, 0.25, 0.75)
		near(t, k.String()+": rise", sum[0]+math.Log(product[0]), rise, 1e-5*math.Abs(rise))
		if math.Abs(sum[0]-fixed) < 0.01 {
			t.Errorf("%v: the rise %v is that of fixed parameters", k, rise)
		}
	}
}

// Draws have the mean and the variance of the distribution at β, and units outside of the block do
// not change. The test rejects draws at another β.
func TestHalvesDraws(t *testing.T) {
	const rows = 20000
	for _, k := range halved {
		worst := 0.0
		for _, beta := range []float32{0, 0.6, 1} {
			b := realBlock(k, rows)
			b.Beta = make([]float32, rows)
			fillWith(b.Beta, beta)
			x := States{Real: make([]float32, rows*layer), Stride: layer}
			fillWith(x.Real, 7)
			k.Draw(x, &b, vec.Stream{K0: 1, K1: 2})
			for c := range b.Width {
				if c < b.From {
					if x.Real[first+c] != 7 {
						t.Fatalf("unit %d is drawn", c)
					}
					continue
				}
				z := func(beta float64) float64 {
					_, mean, variance := integrate(k, &b, c, beta)
					var s1, s2, s4 float64
					for r := range rows {
						d := float64(x.Real[r*layer+first+c]) - mean
						s1, s2, s4 = s1+d, s2+d*d, s4+d*d*d*d
					}
					n := float64(rows)
					return max(math.Abs(s1)/math.Sqrt(n*variance), math.Abs(s2-n*variance)/math.Sqrt(s4-s2*s2/n))
				}
				if z := z(float64(beta)); z > 6 {
					t.Errorf("%v, β %v, unit %d: mean or variance is off by %.1f standard errors", k, beta, c, z)
				}
				if beta == 0.6 {
					worst = max(worst, z(1))
				}
			}
		}
		if worst < 6 {
			t.Errorf("%v: draws at β 0.6 pass for those at 1", k)
		}
	}
}

// Slopes are the derivatives of log Z.
func TestSlopes(t *testing.T) {
	for _, rows := range []int{1, 20} {
		b := realBlock(DReLU, rows)
		var dst [MaxParams]Means
		for p := range dst {
			dst[p] = Means{Data: make([]float32, rows*layer), Cols: layer}
		}
		DReLU.Slopes(dst, &b)
		for p, param := range DReLU.Params() {
			for c := b.From; c < b.Width; c++ {
				i := first + c
				x := &b.Model.Params[p][i]
				was := *x
				const h = 0x1p-10
				at := func(shift float32) float64 {
					*x = was + shift
					return DReLU.LogZ([]float64{float64(b.In[c])}, b.Model, i)
				}
				slope := (at(h) - at(-h)) / (2 * h)
				curve := (at(2*h) - at(-2*h)) / (4 * h)
				slope += (slope - curve) / 3 // Richardson extrapolation
				*x = was
				if !param.Learned {
					slope = 0 // its element does not change
				}
				near(t, fmt.Sprintf("slope by %s of unit %d", param.Name, c), float64(dst[p].Data[(rows-1)*layer+i]), slope, 1e-6*(1+math.Abs(slope)))
			}
		}
	}
}

// A dReLU unit without gap and skew is Gaussian.
func TestDReLUIsGaussian(t *testing.T) {
	b := realBlock(DReLU, 1)
	clear(b.Model.Params[1])
	clear(b.Model.Params[2])
	for c := b.From; c < b.Width; c++ {
		z := []float64{float64(b.In[c])}
		want := Gaussian.LogZ(z, b.Model, first+c)
		near(t, "log Z", DReLU.LogZ(z, b.Model, first+c), want, 1e-13*(1+math.Abs(want)))
	}
}

func TestHalvesAllocateNothing(t *testing.T) {
	for _, k := range halved {
		b := realBlock(k, 20)
		mean := Means{Data: make([]float32, 20*layer), Cols: layer}
		slopes := [MaxParams]Means{mean, mean, mean}
		x := States{Real: make([]float32, 20*layer), Stride: layer}
		sum, product := make([]float64, 20), make([]float64, 20)
		if n := testing.AllocsPerRun(10, func() {
			k.Means(mean, &b)
			k.LogZs(sum, product, 1, mean, &b)
			k.Rises(sum, product, &b, 0.5, 1)
			k.Draw(x, &b, vec.Stream{})
			if k, ok := k.(LearnedKind); ok {
				k.Slopes(slopes, &b)
			}
		}); n > 0 {
			t.Errorf("%v: %v allocations", k, n)
		}
	}
}

func BenchmarkHalves(bench *testing.B) {
	for _, k := range []RealKind{Gaussian, ReLU, DReLU} {
		b := realBlock(k, 100)
		b.From, b.Width = 0, 11
		mean := Means{Data: make([]float32, 100*layer), Cols: layer}
		x := States{Real: make([]float32, 100*layer), Stride: layer}
		bench.Run(k.String()+"/means", func(bench *testing.B) {
			for bench.Loop() {
				k.Means(mean, &b)
			}
		})
		bench.Run(k.String()+"/draws", func(bench *testing.B) {
			for bench.Loop() {
				k.Draw(x, &b, vec.Stream{})
			}
		})
	}
}

// The field for a mean gives that mean.
func TestFieldOf(t *testing.T) {
	for _, k := range []RealKind{Gaussian, ReLU, DReLU} {
		for _, precision := range []float32{1, 2.5} {
			for _, mean := range []float64{0.002, 0.1, 0.8, 3, 40} {
				d := &Distribution{Field: []float32{0}, Params: [][]float32{{precision}, {0}, {0}}}
				dst := Means{Data: make([]float32, 1), Cols: 1}
				z := float32(k.FieldOf(mean, float64(precision)))
				k.Means(dst, &Block{Width: 1, In: []float32{z}, Stride: 1, Rows: 1, Model: d})
				near(t, k.String(), float64(dst.Data[0]), mean, 1e-5*mean)
			}
		}
	}
}
