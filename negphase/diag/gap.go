package diag

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// An Operator is a transition matrix P by what it does to a distribution, so that chains of too
// many states to write P down have one.
type Operator interface {
	States() int
	// Step overwrites a row vector x of len States by xP. Where every x is at
	// least 0, it leaves an element at exactly 0 if no probability comes there.
	Step(x []float64)
}

// Matrix returns the elements of P, States × States.
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
	// stochastic is the tolerance, for each state, of the distribution's being
	// stationary. The rounding of a product of as many factors as a sweep has is far
	// smaller.
	stochastic = 1e-10
	// fewStates is the number of states up to which all eigenvalues are computed, and
	// denseStates that up to which they are where Arnoldi's iteration does not converge,
	// as where many eigenvalues are near 1: there it takes minutes and 128 MB.
	fewStates, denseStates = 256, 4096
)

// SpectralGap returns 1 − |λ₂|, the gap between the eigenvalue 1 of a
// transition matrix and the largest modulus of the others. After a time of order
// 1/gap the chain has forgotten its start; if the gap is 0 it never forgets some
// starts. pi is the stationary distribution, by which the eigenvalue 1 is
// removed exactly, once.
//
// A reversible chain (p and pi in detailed balance) has real eigenvalues, with
// errors of ~1e-14. Another chain, such as a sweep in fixed order, may have
// complex ones, with errors of ~1e-7 if its matrix lacks eigenvectors. The gap is
// exactly 0 if Period finds the chain reducible or periodic. Above 256 states the
// eigenvalue is found by Arnoldi's iteration, with errors of ~1e-12 if the
// eigenvector is good; it takes memory for some hundred vectors, at most 2 GB. If it does
// not converge, all eigenvalues are computed, of at most 4096 states.
//
// The error says that pi is not positive and stationary under p, or that nothing has
// converged, which the eigenvalues of a slow chain do last.
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
		// D^½ (P − 1 piᵀ) D^−½ has the eigenvalues of P but for one 1 made 0. Its transpose,
		// which has the same ones, takes a vector y to x = D^½y, then to xP − (Σx)·pi, then to
		// D^−½ of that.
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
			return 0, errors.New("no second eigenvalue found by Arnoldi's iteration; take a smaller system, or a higher temperature")
		}
	}
	// The same matrix, which is symmetric if the chain is reversible.
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

// denseRadius returns the largest modulus of an eigenvalue by way of all eigenvalues.
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

// checkStationary checks that pi is a positive distribution that p leaves as it is.
func checkStationary(p Operator, pi []float64) error {
	n := p.States()
	if n != len(pi) {
		return fmt.Errorf("an operator on %d states for a distribution of %d", n, len(pi))
	}
	sum := 0.0
	for i, w := range pi {
		if !(w > 0) {
			return fmt.Errorf("state %d has probability %v; every state must have some (at low temperature it underflows: raise it)", i, w)
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

// Period returns the period of a chain with a positive stationary distribution: 1
// if it is aperiodic, d > 1 if it returns to a state only after multiples of d steps,
// and 0 if it is reducible, so that some states cannot be reached from others.
// Only which probabilities are above 0 matters, however small they are.
func Period(p Operator) int {
	n := p.States()
	// Steps from state 0 by the shortest way. If all states can be reached from 0,
	// then 0 can be reached from all states, because the distribution is stationary.
	steps := make([]int32, n)
	for i := range steps {
		steps[i] = -1
	}
	steps[0] = 0
	x := make([]float64, n)
	// image sets x to a vector that is above 0 in the states that follow those of
	// this many steps.
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

// gcd returns the greatest common divisor of a ≥ 0 and b.
func gcd(a, b int) int {
	b = max(b, -b)
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
