package mcmc

import "slices"

// Ising is a System on a Graph: the spins s = 2x − 1 and their local fields
//
//	h_i + Σ_j J_ij s_j,
//
// by which a flip of spin i costs 2 s_i times its field. A flip takes time
// proportional to the number of neighbours and allocates nothing. Fields and
// energy equal their recomputation exactly at all times.
type Ising struct {
	graph  *Graph
	state  []uint8
	energy int64 // in quanta

	local []int32   // fields in quanta, of an integer graph; else nil
	real  []float64 // fields, of the others; else nil
	scale float64   // 1/quantum, a power of two, of the others

	deltas  []float64 // nil until Deltas is called
	touched []int32
}

// NewIsing returns a system on g in the given state, all zeros (spins down) if
// nil. The state is copied. It panics if the state's length is not that of g
// or if it holds anything but 0 and 1.
func NewIsing(g *Graph, state []uint8) *Ising {
	n := g.Len()
	s := &Ising{graph: g, state: make([]uint8, n)}
	if _, ok := g.Integer(); ok {
		s.local = make([]int32, n)
	} else {
		s.real = make([]float64, n)
		s.scale = 1 / g.quantum
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

// recompute sets fields, energy and flip costs from the state. As
// Σ s_i (h_i + field_i) = −2E in exact steps, the fields give the energy.
func (s *Ising) recompute() {
	if s.local != nil {
		s.energy = -s.sumIntegers() / 2
	} else {
		s.energy = -s.sumReals() / 2
	}
	s.renewAll()
}

// sumIntegers sets the fields and returns −2E in quanta, on an integer graph.
func (s *Ising) sumIntegers() (twice int64) {
	g, state := s.graph, s.state
	lo := g.start[0]
	for i, x := range state {
		hi := g.start[i+1]
		nb, weight := g.neighbor[lo:hi], g.weight[lo:hi]
		sum := g.bias[i]
		for k, j := range nb {
			sum += weight[k] * spin(state[j])
		}
		s.local[i] = sum
		twice += int64(spin(x) * (sum + g.bias[i]))
		lo = hi
	}
	return twice
}

// sumReals is sumIntegers on another graph.
func (s *Ising) sumReals() (twice int64) {
	g, state := s.graph, s.state
	lo := g.start[0]
	for i, x := range state {
		hi := g.start[i+1]
		nb, coupling := g.neighbor[lo:hi], g.coupling[lo:hi]
		sum := g.field[i]
		for k, j := range nb {
			sum += float64(coupling[k] * float64(spin(state[j])))
		}
		s.real[i] = sum
		twice += int64(spin(x)) * (int64(sum*s.scale) + int64(g.field[i]*s.scale))
		lo = hi
	}
	return twice
}

// renewAll sets all flip costs, if Deltas was called.
func (s *Ising) renewAll() {
	for i := range s.deltas {
		s.deltas[i] = s.delta(i)
	}
}

// delta returns the cost of a flip of spin i.
func (s *Ising) delta(i int) float64 {
	if s.local != nil {
		return s.graph.cost(s.halfCost(i))
	}
	return 2 * float64(spin(s.state[i])) * s.real[i]
}

// halfCost returns s_i times the field of spin i in quanta: half of what its
// flip costs. Integer graphs only.
func (s *Ising) halfCost(i int) int32 { return spin(s.state[i]) * s.local[i] }

// Graph returns the graph that s lives on.
func (s *Ising) Graph() *Graph { return s.graph }

// Len returns the number of spins.
func (s *Ising) Len() int { return len(s.state) }

// State returns the bits; see System.
func (s *Ising) State() []uint8 { return s.state }

// Energy returns E, exact up to one rounding.
func (s *Ising) Energy() float64 { return float64(s.energy) * s.graph.quantum }

// Deltas returns the flip costs; see System.
func (s *Ising) Deltas() []float64 {
	if s.deltas == nil {
		s.deltas = make([]float64, len(s.state))
		for i := range s.deltas {
			s.deltas[i] = s.delta(i)
		}
	}
	return s.deltas
}

// Flip flips bit i; see System.
func (s *Ising) Flip(i int) []int32 {
	s.flip(i)
	g := s.graph
	s.touched = append(append(s.touched[:0], int32(i)), g.neighbor[g.start[i]:g.start[i+1]]...)
	return s.touched
}

// flip flips bit i.
func (s *Ising) flip(i int) {
	if s.local != nil {
		s.flipInteger(i)
	} else {
		s.flipReal(i)
	}
	if s.deltas != nil {
		s.renew(i)
	}
}

// renew sets the flip costs that a flip of bit i changed.
func (s *Ising) renew(i int) {
	g := s.graph
	s.deltas[i] = s.delta(i)
	for _, j := range g.neighbor[g.start[i]:g.start[i+1]] {
		s.deltas[j] = s.delta(int(j))
	}
}

// flipInteger flips bit i of a system on an integer graph and leaves Deltas
// behind.
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

// Clone returns an independent system in the same state on the same graph.
func (s *Ising) Clone() *Ising {
	c := *s
	c.state = slices.Clone(s.state)
	c.local = slices.Clone(s.local)
	c.real = slices.Clone(s.real)
	c.deltas = slices.Clone(s.deltas)
	c.touched = nil
	return &c
}

var _ System = (*Ising)(nil)
