package mcmc

// Ising is a System on a Graph: the spins s = 2x − 1 and their local fields
//
//	h_i + Σ_j J_ij s_j.
//
// A flip of spin i costs 2 s_i times its local field. It takes time
// proportional to the number of neighbours and allocates nothing. Fields and
// energy are at all times exactly what a recomputation gives.
type Ising struct {
	graph  *Graph
	state  []uint8
	energy int64 // in quanta

	local []int32   // local fields in quanta, if the graph is of integers
	real  []float64 // local fields, if it is not
	scale float64   // 1/quantum of another graph, a power of two
}

// NewIsing returns a system on g in the given state, all zeros (spins down) if
// nil. The state is copied. It panics if the state's length is not that of g
// or if it holds anything but 0 and 1.
func NewIsing(g *Graph, state []uint8) *Ising {
	n := g.Len()
	s := &Ising{graph: g, state: make([]uint8, n)}
	if g.weight != nil {
		s.local = make([]int32, n)
	} else {
		s.real = make([]float64, n)
	}
	if state == nil {
		s.recompute()
	} else {
		s.SetState(state)
	}
	return s
}

// SetState copies the given state into s; chains on s need a Reset then. It
// panics as NewIsing does.
func (s *Ising) SetState(state []uint8) {
	copyState(s.state, state)
	s.recompute()
}

// spin returns 2x − 1.
func spin(x uint8) int32 { return 2*int32(x) - 1 }

// recompute sets local fields and energy from the state. The energy follows from
// the local fields f: Σ s_i (h_i + f_i) = −2E, and all sums are exact.
func (s *Ising) recompute() {
	if g := s.graph; s.local != nil {
		s.energy = -sumFields(g, s.state, s.local, g.bias, g.weight, 1) / 2
	} else {
		s.scale = 1 / g.quantum
		s.energy = -sumFields(g, s.state, s.real, g.field, g.coupling, s.scale) / 2
	}
}

// sumFields sets the local fields of a state from the fields and couplings of g
// and returns −2E in quanta, of which scale is the inverse.
func sumFields[T int32 | float64](g *Graph, state []uint8, local, field, coupling []T, scale T) (twice int64) {
	lo := g.start[0]
	for i, x := range state {
		hi := g.start[i+1]
		nb, coupling := g.neighbor[lo:hi], coupling[lo:hi]
		sum := field[i]
		for k, j := range nb {
			sum += T(coupling[k] * T(spin(state[j])))
		}
		local[i] = sum
		twice += int64(spin(x)) * int64((sum+field[i])*scale)
		lo = hi
	}
	return twice
}

// FlipCost returns the cost of a flip of spin i.
func (s *Ising) FlipCost(i int) float64 {
	if s.local != nil {
		return s.graph.cost(int64(s.halfCost(i)))
	}
	return 2 * float64(spin(s.state[i])) * s.real[i]
}

// halfCost returns half the cost of a flip of spin i, s_i times its local field,
// in quanta. Integer graphs only.
func (s *Ising) halfCost(i int) int32 { return spin(s.state[i]) * s.local[i] }

// Len returns the number of spins.
func (s *Ising) Len() int { return len(s.state) }

// State returns the bits; see System.
func (s *Ising) State() []uint8 { return s.state }

// Energy returns E, exact up to one rounding.
func (s *Ising) Energy() float64 { return float64(s.energy) * s.graph.quantum }

// Flip flips bit i; see System.
func (s *Ising) Flip(i int) []int32 {
	if s.local != nil {
		s.flipInteger(i)
	} else {
		s.flipReal(i)
	}
	g := s.graph
	return g.neighbor[g.start[i]:g.start[i+1]]
}

// flipInteger flips bit i of a system on an integer graph.
func (s *Ising) flipInteger(i int) {
	g := s.graph
	up := spin(s.state[i])
	s.energy += 2 * int64(up*s.local[i])
	s.state[i] ^= 1
	lo, hi := g.start[i], g.start[i+1]
	nb := g.neighbor[lo:hi]
	for k, w := range g.weight[lo:hi] {
		s.local[nb[k]] -= 2 * up * w
	}
}

// flipReal is flipInteger for the other graphs.
func (s *Ising) flipReal(i int) {
	g := s.graph
	twice := 2 * float64(spin(s.state[i]))
	s.energy += int64(twice * s.real[i] * s.scale)
	s.state[i] ^= 1
	lo, hi := g.start[i], g.start[i+1]
	nb := g.neighbor[lo:hi]
	for k, c := range g.coupling[lo:hi] {
		s.real[nb[k]] -= float64(twice * c)
	}
}

var _ System = (*Ising)(nil)
