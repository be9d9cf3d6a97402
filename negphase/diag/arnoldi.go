package diag

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// krylovSteps is the largest number of steps of Arnoldi's iteration, and so of vectors in memory and
	// of rows of the projected matrix. Extreme eigenvalues converge after some
	// tens of steps.
	krylovSteps = 400
	krylovCheck = 25 // steps between computations of the eigenvalues
	// krylovMemory is the largest memory of these vectors, in bytes.
	krylovMemory = 2 << 30
	// krylovResidual is the residual ‖Ax − λx‖ below which an eigenvalue λ of a matrix A with unit
	// eigenvector x counts as converged.
	krylovResidual = 1e-12
)

// arnoldiRadius returns the largest modulus of an eigenvalue of an n × n matrix A
// by Arnoldi's iteration (1951). It projects A on the space spanned by v, Av, A²v, …
// for a random v. The eigenvalues of the projection approach those of A, the largest first. apply
// overwrites a vector w with Aw. ok is false if the iteration has not converged, for example
// because all eigenvalues have the same modulus. It computes some hundred products of
// A and a vector.
func arnoldiRadius(n int, apply func(w []float64)) (radius float64, ok bool) {
	steps := max(1, min(krylovSteps, n-1, krylovMemory/(8*n)))
	r := rand.New(rand.NewPCG(uint64(n), krylovSteps)) // a fixed seed, so that the result is reproducible
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	space := [][]float64{v}
	h := mat.NewDense(steps+1, steps, nil)
	for j := range steps {
		w := slices.Clone(space[j])
		apply(w)
		for range 2 { // the second pass removes rounding errors of the first
			for i, q := range space {
				c := floats.Dot(q, w)
				h.Set(i, j, h.At(i, j)+c)
				floats.AddScaled(w, -c, q)
			}
		}
		rest := floats.Norm(w, 2)
		if closed := rest < krylovResidual; closed || (j+1)%krylovCheck == 0 {
			radius, last, solved := largestRitz(h.Slice(0, j+1, 0, j+1))
			if solved && (closed || rest*last < krylovResidual) {
				return radius, true
			} else if closed {
				return 0, false
			}
		}
		h.Set(j+1, j, rest)
		floats.Scale(1/rest, w)
		space = append(space, w)
	}
	return 0, false
}

// largestRitz returns the largest modulus of an eigenvalue of h. last is the largest modulus of the
// last component among the unit eigenvectors of the eigenvalues with this modulus.
func largestRitz(h mat.Matrix) (radius, last float64, ok bool) {
	var e mat.Eigen
	if !e.Factorize(h, mat.EigenRight) {
		return 0, 0, false
	}
	var vectors mat.CDense
	e.VectorsTo(&vectors)
	values := e.Values(nil)
	for _, v := range values {
		radius = max(radius, cmplx.Abs(v))
	}
	for k, v := range values {
		if cmplx.Abs(v) < radius*(1-krylovResidual) {
			continue
		}
		norm := 0.0
		for i := range values {
			norm = math.Hypot(norm, cmplx.Abs(vectors.At(i, k)))
		}
		last = max(last, cmplx.Abs(vectors.At(len(values)-1, k))/norm)
	}
	return radius, last, true
}
