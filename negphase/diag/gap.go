package diag

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// stochastic is the tolerance, for each state, of the sum of a row of a
// transition matrix and of the law's being stationary. The rounding of a product
// of as many factors as a sweep has is far smaller.
const stochastic = 1e-10

// SpectralGap returns 1 − |λ₂|, the gap between the eigenvalue 1 of a
// transition matrix (states × states, rows sum to 1) and the largest modulus of
// the others. After a time of order 1/gap the chain has forgotten its start; if
// the gap is 0 it never forgets some starts. law is the stationary law, by which
// the eigenvalue 1 is removed exactly, once.
//
// A reversible chain (p and law in detailed balance) has real eigenvalues, with
// errors of ~1e-14. Another chain, such as a sweep in fixed order, may have
// complex ones, with errors of ~1e-7 if its matrix lacks eigenvectors. The gap is
// exactly 0 if Period finds the chain reducible or periodic. Above 512 states the
// eigenvalue is found by Arnoldi's iteration, with errors of ~1e-12 if the
// eigenvector is good. If that does not converge, all eigenvalues are computed,
// in a time that grows as states³.
//
// It returns an error if p is not square, not stochastic, or law not positive
// and stationary under p; neither is changed.
func SpectralGap(p mat.Matrix, law []float64) (float64, error) {
	if err := checkStationary(p, law); err != nil {
		return 0, err
	}
	if Period(p) != 1 {
		return 0, nil
	}
	// D^½ (P − 1 lawᵀ) D^−½ has the eigenvalues of P but for one 1 made 0, and
	// is symmetric if the chain is reversible.
	n := len(law)
	root := make([]float64, n)
	for i, w := range law {
		root[i] = math.Sqrt(w)
	}
	a := mat.NewDense(n, n, nil)
	asymmetry := 0.0
	for i := range n {
		for j := range n {
			a.Set(i, j, root[i]/root[j]*p.At(i, j)-float64(root[i]*root[j]))
			if j < i {
				asymmetry = max(asymmetry, math.Abs(a.At(i, j)-a.At(j, i)))
			}
		}
	}
	largest, err := spectralRadius(a, asymmetry < stochastic)
	if err != nil {
		return 0, err
	}
	return max(0, 1-largest), nil
}

// denseStates is the number of states up to which all eigenvalues are
// computed: about a second's work.
const denseStates = 512

// spectralRadius returns the largest modulus of an eigenvalue.
func spectralRadius(a *mat.Dense, symmetric bool) (radius float64, err error) {
	if n, _ := a.Dims(); n > denseStates {
		if radius, ok := arnoldiRadius(n, product(a)); ok {
			return radius, nil
		}
	}
	return denseRadius(a, symmetric)
}

// denseRadius is spectralRadius by way of all eigenvalues.
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

// checkStationary checks that p is a transition matrix and law its law.
func checkStationary(p mat.Matrix, law []float64) error {
	n, cols := p.Dims()
	if n != cols || n != len(law) {
		return fmt.Errorf("a transition matrix of %d × %d for a law of %d states; it must be square, a row a state", n, cols, len(law))
	}
	sum := 0.0
	after := make([]float64, n) // law after a step
	for i, w := range law {
		if !(w > 0) {
			return fmt.Errorf("state %d has probability %v; every state must have some (at low temperature it underflows: raise it)", i, w)
		}
		sum += w
		row := 0.0
		for j := range n {
			x := p.At(i, j)
			if !(x >= 0) {
				return fmt.Errorf("the probability of going from state %d to %d is %v; it must not be negative", i, j, x)
			}
			row += x
			after[j] += float64(w * x)
		}
		if !(math.Abs(row-1) < stochastic) {
			return fmt.Errorf("the probabilities of leaving state %d sum to %v, not 1", i, row)
		}
	}
	if !(math.Abs(sum-1) < stochastic) {
		return fmt.Errorf("the probabilities of the law sum to %v, not 1", sum)
	}
	for j, w := range law {
		if math.Abs(after[j]-w) > stochastic*max(w, 1/float64(n)) {
			return fmt.Errorf("the law is not stationary: state %d has probability %v before a step and %v after", j, w, after[j])
		}
	}
	return nil
}

// Period returns the period of the chain of a transition matrix with a positive
// stationary law: 1 if it is aperiodic, d > 1 if it returns to a state only after
// multiples of d steps, and 0 if it is reducible, so that some states cannot be
// reached from others. Only which probabilities are above 0 matters, however
// small they are. It panics if p is not square.
func Period(p mat.Matrix) int {
	n, cols := p.Dims()
	if n != cols {
		panic("diag: a transition matrix that is not square")
	}
	// Steps from state 0 by the shortest way. If all states can be reached from 0,
	// then 0 can be reached from all states, because the law is stationary.
	steps := make([]int, n)
	for i := range steps {
		steps[i] = -1
	}
	steps[0] = 0
	reached := []int{0}
	for k := 0; k < len(reached); k++ {
		i := reached[k]
		for j := range n {
			if steps[j] < 0 && p.At(i, j) > 0 {
				steps[j] = steps[i] + 1
				reached = append(reached, j)
			}
		}
	}
	if len(reached) < n {
		return 0
	}
	// Every step that is not on a shortest way closes a loop. Its length is a
	// multiple of the period.
	period := 0
	for i := range n {
		for j := range n {
			if p.At(i, j) > 0 {
				period = gcd(period, steps[i]+1-steps[j])
			}
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
