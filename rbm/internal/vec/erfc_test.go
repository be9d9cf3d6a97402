package vec

import (
	"math"
	"math/big"
	"testing"
)

const bigBits = 400

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(bigBits).SetFloat64(x) }

// bigScaledErfc returns e^(x²)·erfc(x). Up to 6 it is the series e^(x²) − 2/√π·Σ 2ⁿx²ⁿ⁺¹/(2n+1)!!,
// in which about 52 bits cancel, and beyond that Laplace's continued fraction.
func bigScaledErfc(x float64, bySeries bool) *big.Float {
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211707", 10, bigBits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	root := new(big.Float).SetPrec(bigBits).Sqrt(pi)
	at := bigOf(x)
	if !bySeries {
		f := bigOf(x)
		for n := 400; n > 0; n-- {
			f.Add(at, f.Quo(bigOf(float64(n)/2), f))
		}
		return f.Quo(bigOf(1), f.Mul(f, root))
	}
	square := bigOf(0).Mul(at, at)
	exp, term := bigOf(1), bigOf(1)
	sum, odd := bigOf(x), bigOf(x)
	for n := 1.0; n < 400; n++ {
		exp.Add(exp, term.Quo(term.Mul(term, square), bigOf(n)))
		odd.Quo(odd.Mul(odd, square), bigOf(n+0.5))
		sum.Add(sum, odd)
	}
	return exp.Sub(exp, sum.Quo(sum.Mul(sum, bigOf(2)), root))
}

func relativeError(got float64, want *big.Float) float64 {
	d := bigOf(got)
	e, _ := d.Quo(d.Sub(d, want), want).Float64()
	return math.Abs(e)
}

// ScaledErfc has its documented error, compared with numbers of a hundred digits. With a
// coefficient wrong by 10⁻¹⁴ it would not.
func TestScaledErfc(t *testing.T) {
	const promised = 6e-16
	for x := 5.5; x < 6.5; x += 0.125 {
		d := bigScaledErfc(x, true)
		if e, _ := d.Sub(d, bigScaledErfc(x, false)).Float64(); math.Abs(e) > 1e-40 {
			t.Fatalf("series and continued fraction of %v differ by %v", x, e)
		}
	}
	worst, off := 0.0, 0.0
	for i := range 1500 {
		x := 6 * float64(i) / 1500
		if i%3 == 0 {
			x = 6 * math.Exp(float64(i)/30) // up to 10²²
		}
		want := bigScaledErfc(x, x <= 6)
		got := ScaledErfc(x)
		worst, off = max(worst, relativeError(got, want)), max(off, relativeError(got+1e-14/(1+2*x), want))
	}
	if worst > promised || off < promised {
		t.Errorf("a relative error of %v, with a coefficient off of %v; want up to %v, and more", worst, off, promised)
	}
	t.Logf("largest relative error %.2g", worst)
	if x := ScaledErfc(math.NaN()); x == x {
		t.Errorf("of NaN it is %v", x)
	}
}

// All levels give the same results.
func TestScaledErfcs(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for n := Wide; n <= 5*Wide; n += Wide {
			x, got, want := fenced[float64](t, n, true), fenced[float64](t, n, false), make([]float64, n)
			for i := range x {
				x[i] = math.Exp(float64(i)/float64(n)*50-25) - math.Exp(-25)
			}
			atGo(func() { ScaledErfcs(want, x) })
			at(func() { ScaledErfcs(got, x) })
			same64(t, "scaled erfc", got, want)
			for i, x := range x {
				if want := bigScaledErfc(x, x <= 6); relativeError(got[i], want) > 6e-16 {
					t.Errorf("of %v it is %v, want %v", x, got[i], want)
				}
			}
		}
	})
}
