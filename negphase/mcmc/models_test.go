package mcmc

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorbm/rbm"
)

// general hides that a system is an Ising, so that movers use their general
// path.
type general struct{ System }

// must returns x and ends the test if there is an error.
func must[T any](x T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// lattice returns the graph of a lattice.
func lattice(t testing.TB, spec string, c Couplings, field float64) *Graph {
	t.Helper()
	l := must(ParseLattice(spec, true))(t)
	return must(l.Graph(c, field))(t)
}

// complete returns a complete graph of n spins with couplings and fields drawn
// by draw.
func complete(t testing.TB, n int, draw func() float64) *Graph {
	t.Helper()
	var edges []Edge
	field := make([]float64, n)
	for i := range n {
		field[i] = draw()
		for j := range i {
			edges = append(edges, Edge{int32(i), int32(j), draw()})
		}
	}
	return must(NewGraph(field, edges))(t)
}

// realGraph and integerGraph return complete graphs with random couplings and
// fields: normal variates, or −2…2 quanta.
func realGraph(t testing.TB, n int) *Graph {
	r := rbm.NewKey(uint64(100 + n)).Rand()
	return complete(t, n, func() float64 { return 0.5 * r.NormFloat64() })
}

func integerGraph(t testing.TB, n int, quantum float64) *Graph {
	r := rbm.NewKey(uint64(200 + n)).Rand()
	return complete(t, n, func() float64 { return quantum * float64(r.IntN(5)-2) })
}

// graphs returns small graphs of every kind.
func graphs(t testing.TB) map[string]*Graph {
	return map[string]*Graph{
		"real":     realGraph(t, 5),
		"integer":  integerGraph(t, 5, 1),
		"tenths":   integerGraph(t, 6, 0.1),
		"torus":    lattice(t, "3x2", PlusMinus(1, rbm.NewKey(5)), 0),
		"field":    lattice(t, "2x2", Uniform(-0.5), 0.25),
		"uncouple": lattice(t, "4", Uniform(0), 0),
	}
}

// stateOf returns the bits of x, n of them.
func stateOf(x, n int) []uint8 {
	s := make([]uint8, n)
	for i := range s {
		s[i] = uint8(x >> i & 1)
	}
	return s
}

// codeOf is the inverse of stateOf.
func codeOf(state []uint8) (x int) {
	for i, b := range state {
		x |= int(b) << i
	}
	return x
}

// energyOf returns the energy of a state from the definition.
func energyOf(g *Graph, state []uint8) (e float64) {
	for i := range state {
		si := float64(spin(state[i]))
		e -= g.Field(i) * si
		for j := range i {
			e -= g.Coupling(i, j) * si * float64(spin(state[j]))
		}
	}
	return e
}

// energies returns the energy of every state, by its code.
func energies(g *Graph) []float64 {
	e := make([]float64, 1<<g.Len())
	for x := range e {
		e[x] = energyOf(g, stateOf(x, g.Len()))
	}
	return e
}

// boltzmann returns the distribution ∝ exp(−βE).
func boltzmann(energy []float64, beta float64) []float64 {
	least := math.Inf(1)
	for _, e := range energy {
		least = min(least, e)
	}
	p := make([]float64, len(energy))
	var z float64
	for x, e := range energy {
		p[x] = math.Exp(-beta * (e - least))
		z += p[x]
	}
	for x := range p {
		p[x] /= z
	}
	return p
}

// cumulated returns the sums p₀, p₀+p₁, …
func cumulated(p []float64) []float64 {
	sums := slices.Clone(p)
	for x := range sums[1:] {
		sums[x+1] += sums[x]
	}
	return sums
}

// pick draws a state from the distribution with the given cumulative sums.
func pick(sums []float64, r *rand.Rand) int {
	x, _ := slices.BinarySearch(sums, r.Float64()*sums[len(sums)-1])
	return x
}

// A tableSystem has arbitrary energies, indexed by the code of the state.
type tableSystem struct {
	energy []float64
	state  []uint8
}

func newTable(energy []float64, n int) *tableSystem {
	return &tableSystem{energy, make([]uint8, n)}
}

func (s *tableSystem) set(x int) { copy(s.state, stateOf(x, len(s.state))) }

func (s *tableSystem) Len() int        { return len(s.state) }
func (s *tableSystem) State() []uint8  { return s.state }
func (s *tableSystem) Energy() float64 { return s.energy[codeOf(s.state)] }
func (s *tableSystem) FlipCost(i int) float64 {
	x := codeOf(s.state)
	return s.energy[x^1<<i] - s.energy[x]
}
func (s *tableSystem) Flip(i int) []int32 {
	s.state[i] ^= 1
	return nil
}

// flipCosts returns the costs of all flips of s.
func flipCosts(s System) []float64 {
	costs := make([]float64, s.Len())
	for i := range costs {
		costs[i] = s.FlipCost(i)
	}
	return costs
}

// Coupling returns J_ij, 0 if there is no edge.
func (g *Graph) Coupling(i, j int) float64 {
	lo := g.start[i]
	if k, ok := slices.BinarySearch(g.neighbor[lo:g.start[i+1]], int32(j)); ok {
		return g.coupling[int(lo)+k]
	}
	return 0
}

// RandomState returns n independent fair bits.
func RandomState(n int, key rbm.Key) []uint8 {
	x := make([]uint8, n)
	for i := range x {
		if key.Uniform(uint64(i)) < 0.5 {
			x[i] = 1
		}
	}
	return x
}

// Integer returns the quantum, and whether the graph is an integer graph.
func (g *Graph) Integer() (quantum float64, ok bool) { return g.quantum, g.weight != nil }

// shellState returns a state of n bits, uniform among those in which active bits are on.
func shellState(n, active int, key rbm.Key) []uint8 {
	x := make([]uint8, n)
	for _, i := range key.Rand().Perm(n)[:active] {
		x[i] = 1
	}
	return x
}
