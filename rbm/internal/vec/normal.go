package vec

// CentralHalf is the largest distance from ½ of the probabilities of CentralNormals.
const CentralHalf = 0.425

// CentralNormals overwrites dst with the quantiles of the standard normal distribution at probabilities p within
// CentralHalf of ½. Results for other probabilities are undefined. It panics if len(p) is not a multiple of
// Wide or dst is shorter.
func CentralNormals(dst, p []float64) {
	if len(p)%Wide != 0 {
		panic("vec: CentralNormals of a number of probabilities that is not a multiple of eight")
	}
	dst = dst[:len(p)]
	for len(p) > 0 {
		n := min(len(p), wideWork)
		centralNormals(dst[:n], p[:n])
		dst, p = dst[n:], p[n:]
	}
}

func centralNormalsGo(dst, p []float64) {
	for i, p := range p {
		dst[i] = CentralNormal(p)
	}
}

// CentralNormal returns the quantile of the standard normal distribution at a probability p within
// CentralHalf of ½, with a relative error of 10⁻¹⁶ (Wichura, Algorithm AS 241, Applied Statistics 37, 1988).
func CentralNormal(p float64) float64 {
	q := p - 0.5
	x := 0.180625 - float64(q*q)
	a := float64(2509.0809287301226727*x) + 33430.575583588128105
	a = float64(a*x) + 67265.770927008700853
	a = float64(a*x) + 45921.953931549871457
	a = float64(a*x) + 13731.693765509461125
	a = float64(a*x) + 1971.5909503065514427
	a = float64(a*x) + 133.14166789178437745
	a = float64(a*x) + 3.387132872796366608
	b := float64(5226.495278852854561*x) + 28729.085735721942674
	b = float64(b*x) + 39307.89580009271061
	b = float64(b*x) + 21213.794301586595867
	b = float64(b*x) + 5394.1960214247511077
	b = float64(b*x) + 687.1870074920579083
	b = float64(b*x) + 42.313330701600911252
	b = float64(b*x) + 1
	return float64(a/b) * q
}
