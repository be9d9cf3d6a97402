package logz

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"gorbm/rbm"
)

// The standard errors of a Bracket are made for intervals of this confidence,
// which of the normal law so many of them on either side have.
const (
	confidence = 0.95
	normal95   = 1.959963984540054
)

// widened returns a standard error that was told from the spread of n
// independent values, made so much wider that 1.96 of it on either side are an
// interval of 95 %: Student's t with n − 1 degrees of freedom takes the place of
// the normal law. Of ten values it is 1.154 times as wide, of a hundred 1.012
// times.
func widened(stdErr float64, n int) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}
	return stdErr * t.Quantile((1+confidence)/2) / normal95
}

// groupedStdErr returns the standard error of the logarithm of the mean weight,
// to first order, where weight i is of group i mod groups and only groups are
// independent.
func groupedStdErr(logw []float64, groups int) float64 {
	top := math.Inf(-1)
	for _, w := range logw {
		top = max(top, w)
	}
	sums, total := make([]float64, groups), 0.0
	for i, w := range logw {
		e := rbm.Exp(w - top)
		sums[i%groups] += e
		total += e
	}
	n, squares := float64(groups), 0.0
	for _, x := range sums {
		d := x/total - 1/n
		squares += float64(d * d)
	}
	return math.Sqrt(squares * n / (n - 1))
}
