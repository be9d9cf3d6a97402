package mcmc

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gorbm/negphase/diag"
)

// exact is the largest residual of exact kernels. Probabilities have rounding errors of 2⁻⁵³ and are
// summed over at most 2⁶ states.
const exact = 1e-12

// broken is the residual that broken movers must exceed. It is far above exact, and
// below the residuals of all mistakes tested here (4e-4 and more).
const broken = 1e-4

var singleSites = []Mover{
	Gibbs{}, Gibbs{Random}, Metropolis{}, Metropolis{Random}, ModifiedMetropolis{}, ModifiedMetropolis{Random},
}

// imbalance returns the largest |π_x K_xy − π_y K_yx|.
func imbalance(pi []float64, k mat.Matrix) (worst float64) {
	for x := range pi {
		for y := range x {
			worst = max(worst, math.Abs(pi[x]*k.At(x, y)-pi[y]*k.At(y, x)))
		}
	}
	return worst
}

// drift returns the largest of |(πK)_y − π_y| and |sum of a row − 1|.
func drift(pi []float64, k mat.Matrix) (worst float64) {
	n := len(pi)
	var next, ones mat.VecDense
	next.MulVec(k.T(), mat.NewVecDense(n, pi))
	ones.MulVec(k, mat.NewVecDense(n, slices.Repeat([]float64{1}, n)))
	for x := range pi {
		worst = max(worst, math.Abs(next.AtVec(x)-pi[x]), math.Abs(ones.AtVec(x)-1))
	}
	return worst
}

func TestSweepsLeaveTheLaw(t *testing.T) {
	const beta = 0.7
	for name, g := range graphs(t) {
		pi := boltzmann(energies(g), beta)
		movers := singleSites
		if g.parity != nil {
			movers = append(slices.Clone(movers), Gibbs{Chessboard}, Metropolis{Chessboard}, ModifiedMetropolis{Chessboard})
		}
		for _, m := range movers {
			k := sweepMatrix(t, g, m, beta)
			if d := drift(pi, k); d > exact {
				t.Errorf("%s, %T %+v: the distribution moves by %g, want at most %g", name, m, m, d, exact)
			}
		}
		// With a β that is wrong by a tenth it is not invariant, unless the distribution is uniform.
		if d := drift(pi, sweepMatrix(t, g, Gibbs{}, 1.1*beta)); d < broken && g.maxField > 0 {
			t.Errorf("%s: a wrong temperature moves the distribution by %g only", name, d)
		}
	}
}

// The matrix is the product of the sites' matrices by the papers' formulas.
func TestSweepMatrixIsTheProduct(t *testing.T) {
	const beta = 0.9
	probabilities := map[string]func(d float64) float64{
		"gibbs":      func(d float64) float64 { return 1 / (1 + math.Exp(beta*d)) },
		"metropolis": func(d float64) float64 { return math.Min(1, math.Exp(-beta*d)) },
		"modified": func(d float64) float64 {
			if math.Abs(d) < 1e-9 {
				return 0.5
			}
			return math.Min(1, math.Exp(-beta*d))
		},
	}
	for name, g := range map[string]*Graph{"real": realGraph(t, 4), "torus": lattice(t, "2x2", Uniform(0.5), 0)} {
		n, energy := g.Len(), energies(g)
		size := 1 << n
		for kind, m := range map[string]func(Order) Mover{
			"gibbs":      func(o Order) Mover { return Gibbs{o} },
			"metropolis": func(o Order) Mover { return Metropolis{o} },
			"modified":   func(o Order) Mover { return ModifiedMetropolis{o} },
		} {
			product, sum := identity(size), mat.NewDense(size, size, nil)
			for i := range n {
				site := mat.NewDense(size, size, nil)
				for x := range size {
					p := probabilities[kind](energy[x^1<<i] - energy[x])
					site.Set(x, x^1<<i, p)
					site.Set(x, x, 1-p)
				}
				product.Mul(mat.DenseCopyOf(product), site)
				sum.Add(sum, site)
			}
			sum.Scale(1/float64(n), sum)
			var random mat.Dense
			random.Pow(sum, n)
			for order, want := range map[Order]*mat.Dense{Linear: product, Random: &random} {
				if got := sweepMatrix(t, g, m(order), beta); !mat.EqualApprox(got, want, exact) {
					t.Errorf("%s, %s in %v order: not the product", name, kind, order)
				}
			}
		}
	}
}

func identity(n int) *mat.Dense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
	}
	return d
}

// sweepMatrix returns the transition matrix of a sweep of m on g.
func sweepMatrix(t *testing.T, g *Graph, m Mover, beta float64) *mat.Dense {
	t.Helper()
	return diag.Matrix(must(NewSweepOperator(NewIsing(g, nil), m, beta, nil))(t))
}

// A sweep over some of the sites leaves the distribution invariant too.
func TestSitesLeaveTheLaw(t *testing.T) {
	g := integerGraph(t, 5, 1)
	const beta = 0.4
	pi := boltzmann(energies(g), beta)
	for _, m := range []singleSite{Gibbs{}, Metropolis{}, ModifiedMetropolis{}} {
		s := NewIsing(g, nil)
		c := must(newSweep(s, beta, []int32{3, 1}, m))(t)
		p, _ := flipChances(s, c)
		k := identity(len(pi))
		for x := range pi {
			for _, i := range c.sites {
				update(k.RawRowView(x), p[i], 1<<i)
			}
			for y := range pi {
				if (x^y)&^0b01010 != 0 && k.At(x, y) != 0 {
					t.Fatalf("%T moves other sites: %b to %b", m, x, y)
				}
			}
		}
		if d := drift(pi, k); d > exact {
			t.Errorf("%T: the distribution moves by %g, want at most %g", m, d, exact)
		}
	}
}

func ExampleSweepOperator() {
	// Two uncoupled spins: Metropolis in a fixed order always flips both
	// (the minimal example of Brügge, Fischer & Igel 2020, A.1).
	l, _ := Grid([]int{2}, false)
	g, _ := l.Graph(Uniform(0), 0)
	for _, m := range []Mover{Metropolis{}, ModifiedMetropolis{}} {
		o, _ := NewSweepOperator(NewIsing(g, nil), m, 1, nil)
		row := []float64{1, 0, 0, 0} // the state 00
		o.Step(row)
		fmt.Printf("%T from 00: %v\n", m, row)
	}
	// Output:
	// mcmc.Metropolis from 00: [0 0 0 1]
	// mcmc.ModifiedMetropolis from 00: [0.25 0.25 0.25 0.25]
}
