package diag

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// stochastic is how far a row of a transition matrix may sum from 1, and the
// law from being stationary, for each state: rounding of a product of as many
// factors as a sweep has stays far below.
const stochastic = 1e-10

// SpectralGap returns 1 − |λ₂|, the gap between the eigenvalue 1 of a
// transition matrix (states × states, rows sum to 1) and the largest modulus of
// the others. Times of order 1/gap forget the start; a gap of 0 means that some
// starts are never forgotten. law is the
// stationary law; it takes the eigenvalue 1 out exactly, once.
//
// A chain that is reversible (p balanced in detail under law) has real
// eigenvalues, exact to rounding, ~1e-14; another, such as a sweep in fixed
// order, may have complex ones, and where its matrix lacks eigenvectors they
// are exact to about the square root of that. A gap of a chain that Period
// finds reducible or periodic is 0 exactly. Above 512 states the eigenvalue
// is sought by Arnoldi's iteration, exact to ~1e-12 of a good eigenvector, and
// among all of them, work that grows as states³, only if that does not settle.
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
		if radius, ok := arnoldiRadius(a); ok {
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
