package mcmc

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// second returns the second largest modulus of the eigenvalues of a transition
// matrix, which is 1 minus the spectral gap.
func second(t *testing.T, k mat.Matrix) float64 {
	t.Helper()
	var e mat.Eigen
	if !e.Factorize(k, mat.EigenNone) {
		t.Fatal("no eigenvalues")
	}
	var moduli []float64
	for _, v := range e.Values(nil) {
		moduli = append(moduli, cmplx.Abs(v))
	}
	slices.Sort(moduli)
	return moduli[len(moduli)-2]
}

// class returns a vector with 1 for states that can be reached from state 0, and 0 for others.
func class(k *mat.Dense) *mat.VecDense {
	n, _ := k.Dims()
	reached := mat.NewVecDense(n, nil)
	reached.SetVec(0, 1)
	for stack := []int{0}; len(stack) > 0; {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for y, p := range k.RawRowView(x) {
			if p > 0 && reached.AtVec(y) == 0 {
				reached.SetVec(y, 1)
				stack = append(stack, y)
			}
		}
	}
	return reached
}

// Fixed-order Metropolis on the 3×3 periodic ferromagnet has gap 0 at every J:
// besides the constant vector, the indicator of a set of states that it never leaves or enters is an
// eigenvector with eigenvalue 1 (Brügge, Fischer & Igel
// 2020, Section 4 and Figure 2). The modified operator reaches every state.
func TestFixedOrderMetropolisIsReducible(t *testing.T) {
	for _, order := range []Order{Linear, Chessboard} {
		for _, j := range []float64{0.02, 0.1, 0.3, 0.44, 1, -0.3} {
			g := lattice(t, "3x3", Uniform(j), 0)
			k := sweepMatrix(t, g, Metropolis{order}, 1)
			c := class(k)
			if size := mat.Sum(c); size == 512 {
				t.Errorf("J = %g, %v: every state is reached", j, order)
			}
			var image, diff mat.VecDense
			image.MulVec(k, c)
			diff.SubVec(&image, c)
			if d := mat.Norm(&diff, math.Inf(1)); d > 1e-10 {
				t.Errorf("J = %g, %v: the states reached are left or entered with probability %g, want at most 1e-10", j, order, d)
			}
			if size := mat.Sum(class(sweepMatrix(t, g, ModifiedMetropolis{order}, 1))); size != 512 {
				t.Errorf("J = %g, %v: the modified operator reaches %g of 512 states", j, order, size)
			}
		}
	}
}

func TestSpectralGaps(t *testing.T) {
	for _, c := range []struct {
		mover   Mover
		j, size string
		zero    bool
	}{
		{Metropolis{}, "0.4", "3x2", false}, // with a side of 2 there are no flips with ΔE = 0
		{ModifiedMetropolis{}, "0.4", "3x2", false},
		{Metropolis{Chessboard}, "0.4", "2x2", true}, // stripes
		{ModifiedMetropolis{Chessboard}, "0.4", "2x2", false},
		{Metropolis{}, "0.3", "3x3", true},
		{ModifiedMetropolis{}, "0.3", "3x3", false},
	} {
		if testing.Short() && c.size == "3x3" {
			continue // each takes a second
		}
		var j float64
		fmt.Sscan(c.j, &j)
		k := sweepMatrix(t, lattice(t, c.size, Uniform(j), 0), c.mover, 1)
		modulus := second(t, k)
		if zero := math.Abs(modulus-1) < 1e-10; zero != c.zero {
			t.Errorf("%T %+v, %s, J = %s: second modulus %.12f, want gap 0: %v", c.mover, c.mover, c.size, c.j, modulus, c.zero)
		}
	}
}

// If rounding noise hides flips with ΔE = 0, the modified operator equals the classic one.
func TestNoiseOnTiesIsFound(t *testing.T) {
	g := lattice(t, "3x3", Uniform(0.1), 0)
	s := NewIsing(g, nil)
	c := must(newSweep(s, 1, nil, noisy{}))(t)
	p, _ := flipChances(s, c)
	k := identity(512)
	for x := range 512 {
		for _, i := range c.sites {
			update(k.RawRowView(x), p[i], 1<<i)
		}
	}
	if size := mat.Sum(class(k)); size == 512 {
		t.Error("with noise every state is reached: the exact test of ties shows nothing")
	}
}

// noisy is the modified operator for costs with an error of 2⁻⁶⁰.
type noisy struct{ ModifiedMetropolis }

func (noisy) flip(x float64) float64 { return ModifiedMetropolis{}.flip(x + 0x1p-60) }

// Theorem 1: on every model of up to three units with energies in {0,1,2} the
// modified operator is irreducible and aperiodic, that is, some power of its
// matrix is positive. Corollary 1: so is the classic operator if no flip has ΔE = 0.
func TestModifiedMetropolisIsErgodicOnAllSmallModels(t *testing.T) {
	stuck := 0
	for n := 1; n <= 3; n++ {
		size := 1 << n
		models := int(math.Pow(3, float64(size)))
		for model := range models {
			energy := make([]float64, size)
			rest := model
			for x := range energy {
				energy[x] = float64(rest % 3)
				rest /= 3
			}
			ties := false
			for x := range energy {
				for i := range n {
					ties = ties || energy[x] == energy[x^1<<i]
				}
			}
			if !ergodic(energy, n, ModifiedMetropolis{}) {
				t.Fatalf("modified Metropolis on energies %v is not ergodic", energy)
			}
			if !ergodic(energy, n, Metropolis{}) {
				stuck++
				if !ties {
					t.Fatalf("Metropolis on energies %v without ties is not ergodic", energy)
				}
			}
		}
	}
	if stuck == 0 {
		t.Error("Metropolis is ergodic on all models: the test shows nothing")
	}
}

// ergodic reports whether the transition matrix of a sweep of m on a system of n bits with the
// given energies has a power without zeros.
func ergodic(energy []float64, n int, m singleSite) bool {
	s := newTable(energy, n)
	c, err := newSweep(s, 1, nil, m)
	if err != nil {
		panic(err)
	}
	size := len(energy)
	reach := make([]uint8, size) // bit y of reach[x]: y can be reached from x
	for x := range reach {
		row := make([]float64, size)
		row[x] = 1
		for i := range n {
			p := make([]float64, size)
			for y := range p {
				s.set(y)
				p[y] = float64(c.chance(i)) * 0x1p-53
			}
			update(row, p, 1<<i)
		}
		for y, w := range row {
			if w > 0 {
				reach[x] |= 1 << y
			}
		}
	}
	// All powers from (8−1)²+1 = 50 on of a primitive matrix of 8 states are
	// positive (Wielandt). Six squarings give the 64th power.
	for range 6 {
		next := make([]uint8, size)
		for x := range next {
			for y := range size {
				if reach[x]>>y&1 == 1 {
					next[x] |= reach[y]
				}
			}
		}
		reach = next
	}
	for _, r := range reach {
		if int(r) != 1<<size-1 {
			return false
		}
	}
	return true
}

// The two locked patterns of the paper's appendix: stripes in
// chessboard order (Figure A.3), and a triangle in linear order (A.4).
func TestLockedPatterns(t *testing.T) {
	stripes := func(row, column int) bool { return row%2 == 0 }
	triangle := func(row, column int) bool { return column > row }
	for _, c := range []struct {
		name          string
		order         Order
		up            func(row, column int) bool
		rows, columns int
	}{{"stripes", Chessboard, stripes, 4, 4}, {"stripes", Chessboard, stripes, 6, 4}, {"triangle", Linear, triangle, 5, 5}, {"triangle", Linear, triangle, 6, 6}} {
		g := lattice(t, fmt.Sprintf("%dx%d", c.columns, c.rows), Uniform(1), 0)
		start := make([]uint8, g.Len())
		for i := range start {
			if c.up(i/c.columns, i%c.columns) {
				start[i] = 1
			}
		}
		s := NewIsing(g, start)
		chain := must(Metropolis{c.order}.Bind(s, 0.3, nil))(t)
		r := rbm.NewKey(1).Rand()
		seen := map[string]bool{}
		for range 1000 {
			chain.Move(r)
			seen[fmt.Sprint(s.State())] = true
		}
		if len(seen) != 2 || !seen[fmt.Sprint(start)] {
			t.Errorf("%s: %d states in 1000 sweeps, want 2", c.name, len(seen))
		}
		if w := chain.(Warner).Warning(); !strings.Contains(w, "modified-metropolis") {
			t.Errorf("%s: warning %q, want %q in it", c.name, w, "modified-metropolis")
		}
		chain = must(ModifiedMetropolis{c.order}.Bind(s, 0.3, nil))(t)
		for range 1000 {
			chain.Move(r)
			seen[fmt.Sprint(s.State())] = true
		}
		if len(seen) < 100 {
			t.Errorf("%s: the modified operator saw %d states in 1000 sweeps, want at least 100", c.name, len(seen))
		}
	}
}

// Couplings of 0.3 times whole numbers cancel if the whole numbers do, but their
// floating-point sums may not: 1.5 + 2.7 − 2.4 − 1.8.
func TestTiesAreFound(t *testing.T) {
	r := rbm.NewKey(3).Rand()
	found := 0
	for _, quantum := range []float64{0.1, 0.3, 0.7, 1. / 3} {
		for range 200 {
			n := 2 + r.IntN(5)
			var edges []Edge
			var multiple []int
			for i := range n {
				multiple = append(multiple, 1+r.IntN(9))
				edges = append(edges, Edge{0, int32(i + 1), quantum * float64(multiple[i])})
			}
			want := false
			for signs := range 1 << n {
				sum := 0
				for i, m := range multiple {
					sum += m * (2*(signs>>i&1) - 1)
				}
				want = want || sum == 0
			}
			if want {
				found++
			}
			g := must(NewGraph(make([]float64, n+1), edges))(t)
			if got := g.ties([]int32{0}); got != want {
				t.Errorf("%v times %v: ties %v, want %v", quantum, multiple, got, want)
			}
		}
	}
	if found == 0 || found == 800 {
		t.Errorf("%d of 800 graphs have ties", found)
	}
}

func TestWarnings(t *testing.T) {
	uniform := lattice(t, "4x4", Uniform(1), 0)
	for _, c := range []struct {
		name  string
		graph *Graph
		mover Mover
		beta  float64
		warns bool
	}{
		{"ties", uniform, Metropolis{}, 1, true},
		{"chessboard", uniform, Metropolis{Chessboard}, 1, true},
		{"random", uniform, Metropolis{Random}, 1, false},
		{"random, infinitely hot", uniform, Metropolis{Random}, 0, false},
		{"infinitely hot", uniform, Metropolis{}, 0, false},
		{"no ties", realGraph(t, 5), Metropolis{}, 1, false},
		{"a field", lattice(t, "4x4", Uniform(1), 0.3), Metropolis{}, 1, false},
		{"a field of two bonds", lattice(t, "4x4", Uniform(1), 2), Metropolis{}, 1, true},
		{"odd degree", must(must(Grid([]int{2, 1}, false))(t).Graph(Uniform(1), 0))(t), Metropolis{}, 1, false},
		{"signs", lattice(t, "3x3x3", PlusMinus(1, rbm.NewKey(1)), 0), Metropolis{}, 1, true},
		{"tenths", lattice(t, "3x3", Uniform(0.1), 0), Metropolis{}, 1, true},
	} {
		chain := must(c.mover.Bind(NewIsing(c.graph, nil), c.beta, nil))(t)
		w := ""
		if chain, ok := chain.(Warner); ok {
			w = chain.Warning()
		}
		if (w != "") != c.warns {
			t.Errorf("%s: warning %q, want one: %v", c.name, w, c.warns)
		}
	}
}

// Where every flip costs nothing, sweeps of Metropolis from one state reach all states alike. If all flips
// are accepted, the parity of the active sites is known after each sweep, and in a fixed order the state is.
func TestMetropolisWithoutCosts(t *testing.T) {
	const chains = 20000
	uniform := slices.Repeat([]float64{1. / 64}, 64)
	z := func(c Chain, s Settable) float64 {
		r, counts, start := rbm.NewKey(5).Rand(), make([]int, 64), make([]uint8, s.Len())
		for range chains {
			s.SetState(start)
			c.Reset()
			for range 12 { // in random order a site is not drawn with probability 2e-6
				c.Move(r)
			}
			x := 0
			for i, on := range s.State() {
				x |= int(on) << i
			}
			counts[x]++
		}
		return diag.StationarityZ(counts, uniform)
	}
	for name, c := range map[string]struct {
		s    Settable
		beta float64
	}{
		"integer graph, β = 0":   {NewIsing(lattice(t, "2x3", Uniform(1), 0), nil), 0},
		"real graph, β = 0":      {NewIsing(realGraph(t, 6), nil), 0},
		"graph without coupling": {NewIsing(lattice(t, "2x3", Uniform(0), 0), nil), 1},
		"RBM without parameters": {NewRBM(NewParameters(rbm.New(4, 2, 0, rbm.Softmax))), 1},
	} {
		orders := []Order{Linear, Random}
		if c.beta == 0 && name != "real graph, β = 0" {
			orders = append(orders, Chessboard)
		}
		for _, order := range orders {
			m := Metropolis{order}
			if got := z(must(m.Bind(c.s, c.beta, nil))(t), c.s); got > 6 {
				t.Errorf("%s, order %v: z = %.1f, want at most 6", name, order, got)
			}
			if got := z(must(newSweep(c.s, c.beta, nil, m))(t), c.s); got < 100 {
				t.Errorf("%s, order %v: z = %.1f if all flips are accepted, want above 100", name, order, got)
			}
		}
	}
}
