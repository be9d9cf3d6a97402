package vec

// scaledErfcFold is the value of x at which t of ScaledErfc is 0.
const scaledErfcFold = 3.5

// ScaledErfcs overwrites dst with ScaledErfc of each x. It panics if len(x) is not a multiple
// of Wide or dst is shorter.
func ScaledErfcs(dst, x []float64) {
	if len(x)%Wide != 0 {
		panic("vec: ScaledErfcs of a number of values that is not a multiple of eight")
	}
	dst = dst[:len(x)]
	for len(x) > 0 {
		n := min(len(x), wideWork)
		scaledErfcs(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
	}
}

func scaledErfcsGo(dst, x []float64) {
	for i, x := range x {
		dst[i] = ScaledErfc(x)
	}
}

// ScaledErfc returns e^(x²)·erfc(x) for a finite x ≥ 0, with a relative error below 6·10⁻¹⁶. Following
// Shepherd and Laframboise (Mathematics of Computation 36, 1981) it is a polynomial in
// t = (x−3.5)/(x+3.5), divided by 1+2x. The polynomial is the minimax approximation of degree 23, with an
// error of 2·10⁻¹⁷, computed by iteratively reweighted least squares. Its even and odd powers are
// summed separately.
func ScaledErfc(x float64) float64 {
	t := (x - scaledErfcFold) / (x + scaledErfcFold)
	s := float64(t * t)
	a := float64(6.7286839617396933402e-11*s) + 6.282931772710337298e-10
	a = float64(a*s) - 8.5263366504581709775e-9
	a = float64(a*s) - 4.320339350192934862e-8
	a = float64(a*s) + 2.3274205147655029905e-6
	a = float64(a*s) - 4.2781786238223952289e-5
	a = float64(a*s) + 5.6438428217798895967e-4
	a = float64(a*s) - 4.2150198829190586036e-3
	a = float64(a*s) - 4.882332583050867275e-2
	a = float64(a*s) - 1.1508959816005362021e-1
	a = float64(a*s) - 1.0555596332221129174e-2
	a = float64(a*s) + 1.2423492448711543891
	b := float64(-1.1382974279300369022e-9*s) + 1.3470714893276956264e-8
	b = float64(b*s) - 9.6025792117025857103e-8
	b = float64(b*s) + 6.0096318207186360192e-7
	b = float64(b*s) - 3.8135619726372495825e-6
	b = float64(b*s) + 2.426004679242802958e-5
	b = float64(b*s) - 1.2151202726720064474e-4
	b = float64(b*s) - 3.0226797549792346617e-4
	b = float64(b*s) + 1.9099330956430970304e-2
	b = float64(b*s) + 8.7983153823786919662e-2
	b = float64(b*s) + 9.751909515329611058e-2
	b = float64(b*s) - 1.4000918013761979948e-1
	return (a + float64(b*t)) / (float64(2*x) + 1)
}
