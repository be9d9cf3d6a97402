package diag

import (
	"errors"
	"fmt"
	"math"
)

// An Operator is a transition matrix P by what it does to a law, for chains of too
// many states to write P down.
type Operator interface {
	States() int
	// Step overwrites a row vector x of len States by xP. Where every x is at
	// least 0, it leaves an element at exactly 0 if no probability comes there.
	Step(x []float64)
}

// OperatorGap is SpectralGap of an operator, by Arnoldi's iteration alone. It takes
// memory for some hundred vectors, at most 2 GB. The error says that law is not
// positive and stationary, or that the iteration has not converged, which the
// eigenvalues of a slow chain do last: at most 256 steps are taken at 2²⁰ states,
// and 400 up to 2¹⁹.
func OperatorGap(p Operator, law []float64) (float64, error) {
	n := p.States()
	if n != len(law) {
		return 0, fmt.Errorf("an operator on %d states for a law of %d", n, len(law))
	}
	after := append([]float64(nil), law...)
	p.Step(after)
	root := make([]float64, n)
	for i, w := range law {
		if !(w > 0) {
			return 0, fmt.Errorf("state %d has probability %v; every state must have some (at low temperature it underflows: raise it)", i, w)
		}
		if math.Abs(after[i]-w) > stochastic*max(w, 1/float64(n)) {
			return 0, fmt.Errorf("the law is not stationary: state %d has probability %v before a step and %v after", i, w, after[i])
		}
		root[i] = math.Sqrt(w)
	}
	if OperatorPeriod(p) != 1 {
		return 0, nil
	}
	if n == 1 {
		return 1, nil
	}
	// As in SpectralGap, D^½ (P − 1 lawᵀ) D^−½ has the eigenvalues of P but for one 1
	// made 0. Its transpose, which has the same ones, takes a vector y to x = D^½y,
	// then to xP − (Σx)·law, then to D^−½ of that.
	largest, ok := arnoldiRadius(n, func(y []float64) {
		sum := 0.0
		for i := range y {
			y[i] *= root[i]
			sum += y[i]
		}
		p.Step(y)
		for i := range y {
			y[i] = (y[i] - float64(sum*law[i])) / root[i]
		}
	})
	if !ok {
		return 0, errors.New("no second eigenvalue found by Arnoldi's iteration; take a smaller system, or a higher temperature")
	}
	return max(0, 1-largest), nil
}

// OperatorPeriod is Period of an operator.
func OperatorPeriod(p Operator) int {
	n := p.States()
	steps := make([]int32, n) // from state 0 by the shortest way
	for i := range steps {
		steps[i] = -1
	}
	steps[0] = 0
	x := make([]float64, n)
	// image sets x to a vector that is above 0 in the states that follow those of
	// so many steps.
	image := func(after int32) {
		for i, s := range steps {
			x[i] = 0
			if s == after {
				x[i] = 1
			}
		}
		p.Step(x)
	}
	reached, last := 1, int32(0)
	for more := true; more && reached < n; last++ {
		more = false
		image(last)
		for i, w := range x {
			if w > 0 && steps[i] < 0 {
				steps[i], more = last+1, true
				reached++
			}
		}
	}
	if reached < n {
		return 0
	}
	// Every step closes a loop, or is on a shortest way, for which the difference
	// is 0. Its length is a multiple of the period.
	period := 0
	for s := range last + 1 {
		image(s)
		for i, w := range x {
			if w > 0 {
				period = gcd(period, int(s+1-steps[i]))
			}
		}
		if period == 1 {
			break
		}
	}
	return max(1, period)
}
