package tune

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"gorbm/rbm"
)

// LatinHypercube returns n points in the unit cube of the given dimension. For each coordinate, each of n
// equal intervals contains one point (McKay, Beckman & Conover 1979).
func LatinHypercube(n, dims int, key rbm.Key) [][]float64 {
	r := key.Rand()
	points := make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, dims)
	}
	for d := range dims {
		for i, slice := range r.Perm(n) {
			points[i][d] = (float64(slice) + r.Float64()) / float64(n)
		}
	}
	return points
}

// ExpectedImprovement returns E max(0, y − best) for a normal y with the given mean
// and standard deviation (Močkus 1982; Hamze, Wang & de Freitas 2012, section 4.1).
func ExpectedImprovement(mean, sd, best float64) float64 {
	rise := mean - best
	if !(sd > 0) {
		return max(0, rise)
	}
	z := rise / sd
	return rise*distuv.UnitNormal.CDF(z) + sd*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
}
