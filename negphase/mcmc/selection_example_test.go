package mcmc_test

import (
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A selection is a System for variable selection in a linear regression. Bit i is on if variable i is in the model.
// The energy is minus the logarithm of the posterior probability of this set of variables, up to a constant.
type selection struct {
	rows  int
	gram  *mat.SymDense // XᵀX
	xy    *mat.VecDense // Xᵀy
	yy    float64       // yᵀy
	state []uint8
	known map[uint32]float64 // cache of energies by set
}

// energy computes the energy with Zellner's g-prior, g = n rows (Liang et al. 2008, equation 5), and a uniform prior
// over all sets.
func (s *selection) energy(set uint32) float64 {
	if e, ok := s.known[set]; ok {
		return e
	}
	var on []int
	for i := range s.Len() {
		if set>>i&1 == 1 {
			on = append(on, i)
		}
	}
	explained := 0. // R²
	if q := len(on); q > 0 {
		gram, xy := mat.NewSymDense(q, nil), mat.NewVecDense(q, nil)
		for k, i := range on {
			xy.SetVec(k, s.xy.AtVec(i))
			for l, j := range on[:k+1] {
				gram.SetSym(k, l, s.gram.At(i, j))
			}
		}
		var c mat.Cholesky
		var b mat.VecDense
		if !c.Factorize(gram) || c.SolveVecTo(&b, xy) != nil {
			panic("two variables are equal")
		}
		explained = mat.Dot(&b, xy) / s.yy
	}
	n := float64(s.rows)
	s.known[set] = ((n-1)*math.Log1p(n*(1-explained)) - (n-1-float64(len(on)))*math.Log1p(n)) / 2
	return s.known[set]
}

func (s *selection) set() (set uint32) {
	for i, on := range s.state {
		set |= uint32(on) << i
	}
	return set
}

// The methods of mcmc.System. A flip changes the costs of all other variables, so Flip returns nil.
func (s *selection) Len() int               { return len(s.state) }
func (s *selection) State() []uint8         { return s.state }
func (s *selection) Energy() float64        { return s.energy(s.set()) }
func (s *selection) FlipCost(i int) float64 { return s.energy(s.set()^1<<i) - s.Energy() }
func (s *selection) Flip(i int) []int32     { s.state[i] ^= 1; return nil }

// exact returns the probability that each variable is in the model, over the sets of size k, or over all sets if
// k < 0.
func (s *selection) exact(k int) (p []float64) {
	p = make([]float64, s.Len())
	total, least := 0., math.Inf(1)
	for set := range uint32(1) << s.Len() {
		least = min(least, s.energy(set))
	}
	for set := range uint32(1) << s.Len() {
		if k >= 0 && bits.OnesCount32(set) != k {
			continue
		}
		w := math.Exp(least - s.energy(set))
		total += w
		for i := range p {
			p[i] += w * float64(set>>i&1)
		}
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// run makes moves and returns the fraction of moves after which each variable was in the model.
func (s *selection) run(m mcmc.Mover, moves int, start []uint8) (p []float64) {
	s.state = append([]uint8{}, start...)
	chain, err := m.Bind(s, 1, nil)
	if err != nil {
		panic(err)
	}
	r := rbm.NewKey(2).Rand()
	p = make([]float64, s.Len())
	for range moves {
		chain.Move(r)
		for i, on := range s.state {
			p[i] += float64(on) / float64(moves)
		}
	}
	return p
}

// newSelection draws 1000 rows of 12 variables. Each of the last six variables is nearly a copy of one of the first
// six. Three of the first six have an effect. To exchange a variable for its copy, single flips must pass through an
// unlikely set with both or with neither.
func newSelection() *selection {
	const rows, variables, noise = 1000, 12, 0.05
	r := rbm.NewKey(1).Rand()
	x, y := mat.NewDense(rows, variables, nil), mat.NewVecDense(rows, nil)
	for n := range rows {
		for i := range variables / 2 {
			value := r.NormFloat64()
			x.Set(n, i, value)
			x.Set(n, i+variables/2, value+noise*r.NormFloat64())
		}
		y.SetVec(n, x.At(n, 0)+x.At(n, 1)-x.At(n, 2)+r.NormFloat64())
	}
	s := &selection{rows: rows, gram: mat.NewSymDense(variables, nil), xy: mat.NewVecDense(variables, nil), yy: mat.Dot(y, y), state: make([]uint8, variables), known: map[uint32]float64{}}
	s.gram.SymOuterK(1, x.T())
	s.xy.MulVec(x.T(), y)
	return s
}

func worst(a, b []float64) (d float64) {
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

// SARDONICS samples sets of variables of a linear regression, and intracluster moves sample sets of three variables.
// For up to 20 variables the probabilities can be computed exactly. With equal numbers of moves the error of SARDONICS
// is 0.016 here, and that of Gibbs 0.038.
func Example_variableSelection() {
	s := newSelection()
	const moves, tolerance = 5000, 0.05
	errs := func(m mcmc.Mover, start []uint8, exact []float64) string {
		if worst(s.run(m, moves, start), exact) < tolerance {
			return "agrees"
		}
		return "differs"
	}
	none, three := make([]uint8, s.Len()), []uint8{1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}

	exact := s.exact(-1)
	fmt.Printf("in the model with probability %.2f\n", exact)
	walks := mcmc.DefaultSardonics()
	walks.MaxLength = 4
	fmt.Println("SARDONICS", errs(walks, none, exact))
	fmt.Println("Gibbs", errs(mcmc.Gibbs{}, none, exact))

	exact = s.exact(3)
	fmt.Printf("in sets of three with probability %.2f\n", exact)
	within := mcmc.DefaultIntracluster()
	within.MaxLength = 3
	fmt.Println("intracluster", errs(within, three, exact))
	// Output:
	// in the model with probability [0.91 0.79 0.42 0.08 0.06 0.03 0.13 0.24 0.60 0.08 0.06 0.03]
	// SARDONICS agrees
	// Gibbs agrees
	// in sets of three with probability [0.90 0.78 0.41 0.00 0.00 0.00 0.10 0.22 0.59 0.00 0.00 0.00]
	// intracluster agrees
}
