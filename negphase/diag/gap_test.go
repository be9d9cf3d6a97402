package diag

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gorbm/rbm"
)

// A dense is an Operator that stores its matrix.
type dense struct{ *mat.Dense }

func (d dense) States() int { n, _ := d.Dims(); return n }

func (d dense) Step(x []float64) {
	before := slices.Clone(x)
	clear(x)
	for i, w := range before {
		for j := range x {
			x[j] += w * d.At(i, j)
		}
	}
}

// product returns the function that overwrites w with aw.
func product(a *mat.Dense) func(w []float64) {
	return func(w []float64) {
		mat.NewVecDense(len(w), w).MulVec(a, mat.NewVecDense(len(w), slices.Clone(w)))
	}
}

func uniform(n int) []float64 {
	pi := make([]float64, n)
	for i := range pi {
		pi[i] = 1 / float64(n)
	}
	return pi
}

// cycle moves to the next of n states on a circle with probability p, and otherwise stays.
func cycle(n int, p float64) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		m.Set(i, i, 1-p)
		m.Set(i, (i+1)%n, p)
	}
	return m
}

func TestSpectralGap(t *testing.T) {
	two := mat.NewDense(2, 2, []float64{0.9, 0.1, 0.3, 0.7})
	for _, c := range []struct {
		name string
		p    *mat.Dense
		pi   []float64
		gap  float64
	}{
		{"two states", two, []float64{0.75, 0.25}, 0.4},
		{"two states that alternate", mat.NewDense(2, 2, []float64{0, 1, 1, 0}), uniform(2), 0},
		{"identity", cycle(4, 0), uniform(4), 0},
		{"cyclic permutation", cycle(5, 1), uniform(5), 0},
		{"independent draws", mat.NewDense(3, 3, []float64{.2, .3, .5, .2, .3, .5, .2, .3, .5}), []float64{.2, .3, .5}, 1},
		// λ = 1 − p + p·e^{2πi/3} is complex, with modulus √(1 − 3p(1−p)).
		{"one way round", cycle(3, 0.4), uniform(3), 1 - math.Sqrt(1-3*0.4*0.6)},
		{"one state", mat.NewDense(1, 1, []float64{1}), []float64{1}, 1},
		// After two steps the start is forgotten, after one it is not: the matrix is not diagonalisable.
		{"nilpotent", mat.NewDense(4, 4, []float64{.5, .5, 0, 0, 0, 0, .5, .5, .5, .5, 0, 0, 0, 0, .5, .5}), uniform(4), 1},
	} {
		gap, err := SpectralGap(dense{c.p}, c.pi)
		tol := 1e-13
		if c.name == "nilpotent" {
			tol = 1e-7 // the error of its eigenvalues is the square root of the rounding error
		}
		if err != nil || math.Abs(gap-c.gap) > tol {
			t.Errorf("%s: gap %v, %v, want %v", c.name, gap, err, c.gap)
		}
	}
}

// TestSpectralGapOfReversibleChains compares the symmetric and the general computation of eigenvalues, on
// a random Metropolis chain, with each other and with the decay of powers of the matrix.
func TestSpectralGapOfReversibleChains(t *testing.T) {
	const n = 12
	r := rbm.NewKey(4).Rand()
	pi, sum := make([]float64, n), 0.0
	for i := range pi {
		pi[i] = 0.1 + r.Float64()
		sum += pi[i]
	}
	p := mat.NewDense(n, n, nil)
	for i := range n {
		pi[i] /= sum
	}
	for i := range n {
		stay := 1.0
		for j := range n {
			if i != j {
				p.Set(i, j, min(1, pi[j]/pi[i])/n)
				stay -= p.At(i, j)
			}
		}
		p.Set(i, i, stay)
	}
	gap, err := SpectralGap(dense{p}, pi)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := denseRadius(deflated(p, pi), false)
	if err != nil || math.Abs(1-plain-gap) > 1e-12 {
		t.Errorf("gap %v, by the general way %v, %v", gap, 1-plain, err)
	}
	// λ₂ᵏ is the largest eigenvalue of the symmetric
	// matrix D^½(Pᵏ − 1 piᵀ)D^−½, so the Frobenius norm of the matrix lies between λ₂ᵏ
	// and √n·λ₂ᵏ. The error of Pᵏ − 1 piᵀ is 10⁻¹⁶, so that it has five digits here.
	const k = 32
	var pk mat.Dense
	pk.Pow(p, k)
	d := deflated(&pk, pi)
	d.Apply(func(i, j int, v float64) float64 { return v * math.Sqrt(pi[i]/pi[j]) }, d)
	norm := mat.Norm(d, 2)
	lo, hi := math.Pow(norm/math.Sqrt(n), 1.0/k), math.Pow(norm, 1.0/k)
	if lambda := 1 - gap; lambda < lo-1e-5 || lambda > hi+1e-5 {
		t.Errorf("λ₂ is %v, but by the chain's decay it lies in %v … %v, want %v to %v", lambda, lo, hi, lo-1e-5, hi+1e-5)
	}
}

func TestPeriod(t *testing.T) {
	blocks := mat.NewDense(4, 4, []float64{.5, .5, 0, 0, .5, .5, 0, 0, 0, 0, .5, .5, 0, 0, .5, .5})
	both := mat.NewDense(4, 4, []float64{0, .5, 0, .5, .5, 0, .5, 0, 0, .5, 0, .5, .5, 0, .5, 0})
	for _, c := range []struct {
		name string
		p    *mat.Dense
		want int
	}{
		{"identity", cycle(3, 0), 0},
		{"two blocks", blocks, 0},
		{"round in five", cycle(5, 1), 5},
		{"round in five, or stay", cycle(5, 1e-300), 1},
		{"to and fro on a ring of four", both, 2},
		{"one state", cycle(1, 0), 1},
	} {
		if got := Period(dense{c.p}); got != c.want {
			t.Errorf("%s: period %d, want %d", c.name, got, c.want)
		}
	}
	// A gap far below the rounding error is not 0, and a gap of 0 is exactly 0.
	if gap, err := SpectralGap(dense{cycle(3, 1)}, uniform(3)); gap != 0 || err != nil {
		t.Errorf("gap %v, %v, want 0", gap, err)
	}
}

// TestArnoldi compares Arnoldi's iteration with all eigenvalues, on matrices
// like those of lattices: a product of steps with one stationary distribution, which has
// complex eigenvalues, and a reversible matrix.
func TestArnoldi(t *testing.T) {
	const n = 200
	r := rbm.NewKey(8).Rand()
	lazy := func() *mat.Dense { // exchanges random pairs of states with random probabilities
		m := mat.NewDense(n, n, nil)
		at := r.Perm(n)
		for k := 0; k < n; k += 2 {
			i, j, p := at[k], at[k+1], r.Float64()
			m.Set(i, i, 1-p)
			m.Set(i, j, p)
			m.Set(j, i, p)
			m.Set(j, j, 1-p)
		}
		return m
	}
	var steps, reversible mat.Dense
	steps.CloneFrom(lazy())
	for range 3 {
		steps.Mul(&steps, lazy())
	}
	reversible.Mul(&steps, steps.T())
	for _, c := range []struct {
		name      string
		p         *mat.Dense
		symmetric bool
	}{{"product", &steps, false}, {"reversible", &reversible, true}} {
		a := deflated(c.p, uniform(n))
		got, ok := arnoldiRadius(n, product(a))
		want, err := denseRadius(a, c.symmetric)
		// A residual of 1e-12 for a simple eigenvalue with condition number ~10.
		if err != nil || !ok || math.Abs(got-want) > 1e-10 {
			t.Errorf("%s: radius %v, %v, by all eigenvalues %v, %v", c.name, got, ok, want, err)
		}
	}
	// All eigenvalues of a permutation have modulus 1. The iteration cannot find them in a small space,
	// and must not report convergence.
	if radius, ok := arnoldiRadius(100, product(cycle(100, 1))); ok && math.Abs(radius-1) > 1e-10 {
		t.Errorf("of a permutation the radius is %v, want 1 ± 1e-10", radius)
	}
	// With an absorbing state, eigenvalue 1 is double, so deflation leaves one.
	stuck := mat.DenseCopyOf(&reversible)
	for i := range n {
		stuck.Set(0, i, 0)
		stuck.Set(i, 0, 0)
	}
	stuck.Set(0, 0, 1)
	if radius, ok := arnoldiRadius(n, product(stuck)); !ok || math.Abs(radius-1) > 1e-10 {
		t.Errorf("with a state never left the radius is %v, %v", radius, ok)
	}
}

// deflated returns P − 1 piᵀ.
func deflated(p *mat.Dense, pi []float64) *mat.Dense {
	d := mat.DenseCopyOf(p)
	d.Apply(func(_, j int, v float64) float64 { return v - pi[j] }, d)
	return d
}

func TestSpectralGapRefuses(t *testing.T) {
	for _, c := range []struct {
		p    *mat.Dense
		pi   []float64
		want string
	}{
		{cycle(3, .5), uniform(2), "3 states for a distribution of 2"},
		{mat.NewDense(2, 2, []float64{0.9, 0.2, 0.3, 0.7}), uniform(2), "not stationary"},
		{mat.NewDense(2, 2, []float64{math.NaN(), 1, 0, 1}), uniform(2), "not stationary"},
		{mat.NewDense(2, 2, []float64{0.9, 0.1, 0.3, 0.7}), uniform(2), "not stationary"},
		{cycle(2, .5), []float64{1, 0}, "state 1 has probability 0"},
		{cycle(2, .5), []float64{math.NaN(), 0.5}, "state 0 has probability NaN"},
		{cycle(2, .5), []float64{1, 1}, "sum to 2"},
	} {
		if gap, err := SpectralGap(dense{c.p}, c.pi); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("gap %v, %v, want %s", gap, err, c.want)
		}
	}
}

func ExampleSpectralGap() {
	// A coin that is turned over with probability 0.1 if it shows heads, and 0.3 if it shows tails.
	p := mat.NewDense(2, 2, []float64{0.9, 0.1, 0.3, 0.7})
	gap, err := SpectralGap(dense{p}, []float64{0.75, 0.25})
	fmt.Printf("%.3f %v\n", gap, err)
	// Output: 0.400 <nil>
}
