package diag

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// An Operator represents a transition matrix P by its product with a vector. It need not store P, which
// may have too many elements.
type Operator interface {
	States() int
	// Step overwrites a row vector x, which has States elements, with xP. If no element of x is
	// negative, element j of the result must be exactly 0 if P has no transition to j from a state i
	// with x_i > 0.
	Step(x []float64)
}

// Matrix returns the States × States elements of P.
func Matrix(p Operator) *mat.Dense {
	n := p.States()
	matrix := mat.NewDense(n, n, nil)
	for i := range n {
		row := matrix.RawRowView(i)
		row[i] = 1
		p.Step(row)
	}
	return matrix
}

const (
	// stochastic is the tolerance of the check that the distribution is
	// stationary. Rounding errors of a sweep are far smaller.
	stochastic = 1e-10
	// Up to fewStates states, all eigenvalues are computed. Up to denseStates states, all are computed
	// if Arnoldi's iteration does not converge, for example because many eigenvalues are near 1. All
	// eigenvalues take up to some minutes and 128 MB.
	fewStates, denseStates = 256, 4096
)

// SpectralGap returns 1 − |λ₂|, the gap between the eigenvalue 1 of a
// transition matrix and the largest modulus of the other eigenvalues. The distribution converges to pi in
// a time of order 1/gap; if the gap is 0, it does not converge from every start. pi is the stationary
// distribution.
//
// A reversible chain (p and pi in detailed balance) has real eigenvalues, with
// errors of ~1e-14. Another chain, such as a sweep in fixed order, may have
// complex eigenvalues, with errors of ~1e-7 if its matrix is not diagonalisable. The gap is
// exactly 0 if Period finds the chain reducible or periodic. Above 256 states
// Arnoldi's iteration computes the eigenvalue, with errors of ~1e-12 if it is well conditioned. It
// needs memory for some hundred vectors, at most 2 GB. If it does
// not converge, all eigenvalues are computed, for at most 4096 states.
//
// The error says that pi is not positive or not stationary under p, or that the computation did not
// converge, which is likeliest for slow chains.
func SpectralGap(p Operator, pi []float64) (float64, error) {
	if err := checkStationary(p, pi); err != nil {
		return 0, err
	}
	if Period(p) != 1 {
		return 0, nil
	}
	n := len(pi)
	root := make([]float64, n)
	for i, w := range pi {
		root[i] = math.Sqrt(w)
	}
	if n > fewStates {
		// D^½ (P − 1 piᵀ) D^−½ with D = diag(pi) has the eigenvalues of P, except that one
		// eigenvalue 1 becomes 0. Its transpose has the same eigenvalues. The product of the
		// transpose and y is D^−½(xP − (Σx)·pi) with x = D^½y.
		largest, ok := arnoldiRadius(n, func(y []float64) {
			sum := 0.0
			for i := range y {
				y[i] *= root[i]
				sum += y[i]
			}
			p.Step(y)
			for i := range y {
				y[i] = (y[i] - float64(sum*pi[i])) / root[i]
			}
		})
		switch {
		case ok:
			return max(0, 1-largest), nil
		case n > denseStates:
			return 0, errors.New("no second eigenvalue found by Arnoldi's iteration; use a smaller system, or a higher temperature")
		}
	}
	// The same matrix D^½ (P − 1 piᵀ) D^−½. It is symmetric if the chain is reversible.
	a := Matrix(p)
	asymmetry := 0.0
	for i := range n {
		for j := range n {
			a.Set(i, j, root[i]/root[j]*a.At(i, j)-float64(root[i]*root[j]))
			if j < i {
				asymmetry = max(asymmetry, math.Abs(a.At(i, j)-a.At(j, i)))
			}
		}
	}
	largest, err := denseRadius(a, asymmetry < stochastic)
	return max(0, 1-largest), err
}

// denseRadius returns the largest modulus of an eigenvalue of a. It computes all eigenvalues.
func denseRadius(a *mat.Dense, symmetric bool) (radius float64, err error) {
	noConvergence := errors.New("the eigenvalues of the transition matrix do not converge")
	if symmetric {
		n, _ := a.Dims()
		var e mat.EigenSym
		if !e.Factorize(mat.NewSymDense(n, a.RawMatrix().Data), false) {
			return 0, noConvergence
		}
		for _, v := range e.Values(nil) {
			radius = max(radius, math.Abs(v))
		}
		return radius, nil
	}
	var e mat.Eigen
	if !e.Factorize(a, mat.EigenNone) {
		return 0, noConvergence
	}
	for _, v := range e.Values(nil) {
		radius = max(radius, math.Hypot(real(v), imag(v)))
	}
	return radius, nil
}

// checkStationary checks that pi is a positive distribution that is stationary under p.
func checkStationary(p Operator, pi []float64) error {
	n := p.States()
	if n != len(pi) {
		return fmt.Errorf("an operator on %d states for a distribution of %d", n, len(pi))
	}
	sum := 0.0
	for i, w := range pi {
		if !(w > 0) {
			return fmt.Errorf("state %d has probability %v; it must be positive (it underflows at a low temperature: raise the temperature)", i, w)
		}
		sum += w
	}
	after := append([]float64(nil), pi...)
	p.Step(after)
	for i, w := range pi {
		if !(math.Abs(after[i]-w) <= stochastic*max(w, 1/float64(n))) {
			return fmt.Errorf("the distribution is not stationary: state %d has probability %v before a step and %v after", i, w, after[i])
		}
	}
	if !(math.Abs(sum-1) < stochastic) {
		return fmt.Errorf("the probabilities of the distribution sum to %v, not 1", sum)
	}
	return nil
}

// Period returns the period of a chain with a positive stationary distribution. This is 1 for an
// aperiodic chain, and d > 1 for a chain that returns to a state only after multiples of d steps.
// Period returns 0 for a reducible chain, where some states cannot be reached from others. Every
// positive probability counts as a transition, however small it is.
func Period(p Operator) int {
	n := p.States()
	// steps[i] is the least number of steps from state 0 to state i. If all states can be reached from
	// 0, then 0 can be reached from all states, because a positive distribution is stationary.
	steps := make([]int32, n)
	for i := range steps {
		steps[i] = -1
	}
	steps[0] = 0
	x := make([]float64, n)
	// image sets x to a vector that is positive in the states which one step reaches from a state with
	// the given number of steps.
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
	// For a transition from i to j, steps[i] + 1 − steps[j] is a multiple of the period. The period is
	// the greatest common divisor of these differences.
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

// gcd returns the greatest common divisor of a ≥ 0 and |b|.
func gcd(a, b int) int {
	b = max(b, -b)
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
