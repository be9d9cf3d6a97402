package mcmc

// Ising is a System on a Graph. It keeps the spins s = 2x − 1 and their local fields
//
//	h_i + Σ_j J_ij s_j.
//
// A flip of spin i costs 2 s_i times its local field. A flip takes time
// proportional to the number of neighbours and allocates nothing. Fields and
// energy always equal the result of a recomputation from the state, without rounding error.
type Ising struct {
	graph  *Graph
	state  []uint8
	energy int64 // in quanta

	// An integer graph has local; another graph has real and scale.
	local []int32   // local fields in quanta
	real  []float64 // local fields
	scale float64   // 1/quantum, a power of two
}

// NewIsing returns a system on g with a copy of the given state; all zeros (spins down) if state is
// nil. It panics if the state's length differs from that of g or an element is neither 0 nor 1.
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

// SetState copies the given state into s. Chains on s then need a Reset. It
// panics like NewIsing.
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

// sumFields computes the local fields of a state from the fields and couplings of g. It returns −2E in
// quanta. scale is the inverse of the quantum in the units of the fields.
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

// halfCost returns half the cost of a flip of spin i in quanta of an integer graph: s_i times its local
// field.
func (s *Ising) halfCost(i int) int32 { return spin(s.state[i]) * s.local[i] }

// Len returns the number of spins.
func (s *Ising) Len() int { return len(s.state) }

// State implements System.
func (s *Ising) State() []uint8 { return s.state }

// Energy returns E, computed with one rounding.
func (s *Ising) Energy() float64 { return float64(s.energy) * s.graph.quantum }

// Flip implements System.
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

// flipReal is flipInteger for a graph that is not an integer graph.
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
