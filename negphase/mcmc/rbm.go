package mcmc

import (
	"math/bits"

	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
)

// RBM is a System whose bits are the units of an RBM, visible units first, with the energy
//
//	E(v,h) = −vᵀWh − bᵀv − cᵀh.
//
// Turning a unit off costs its preactivation; turning it on costs minus its preactivation. A flip takes
// time proportional to the size of the other layer and allocates nothing. Preactivations and energy
// always equal the result of a recomputation from the state, without rounding error; see Parameters.
type RBM struct {
	parameters *Parameters
	state      []uint8
	field      [2][]int32 // [layer][unit] preactivations in quanta, padded
	energy     int64      // in quanta

	// Scratch of recompute and Parameters.Load.
	on  [2][]int32 // [layer] indices of the active units
	cut [2][]int32 // [layer][k] index in on of the first unit in word k of 64 units
}

// NewRBM returns a system with parameters c, in the state where all units are off.
func NewRBM(c *Parameters) *RBM {
	s := &RBM{parameters: c, state: make([]uint8, c.Len())}
	for l := range s.field {
		s.field[l] = make([]int32, c.size[l])
		s.on[l] = make([]int32, 0, c.units[l])
		s.cut[l] = make([]int32, words(c.units[l])+1)
	}
	s.recompute()
	return s
}

// SetState copies the given state into s, visible units first. Chains on s then need
// a Reset. It panics if the state has another length or an element is neither 0 nor 1.
func (s *RBM) SetState(state []uint8) {
	copyState(s.state, state)
	s.recompute()
}

// recompute computes all preactivations and the energy from the state.
func (s *RBM) recompute() {
	c := s.parameters
	for l := range s.field {
		copy(s.field[l], c.bias[l])
		s.on[l] = s.on[l][:0]
		for i, x := range s.layer(l) {
			if x != 0 {
				s.on[l] = append(s.on[l], int32(i))
			}
		}
	}
	for l := range s.field {
		s.add(l, s.on[l])
	}
	s.settle()
}

// unpack sets a layer's state from bits, lists its active units, and sets the
// layer's preactivations to the biases.
func (s *RBM) unpack(layer int, words []uint64) {
	copy(s.field[layer], s.parameters.bias[layer])
	state, on := s.layer(layer), s.on[layer][:0]
	clear(state)
	for k, w := range words {
		for ; w != 0; w &= w - 1 {
			i := 64*k + bits.TrailingZeros64(w)
			state[i] = 1
			on = append(on, int32(i))
		}
		s.cut[layer][k+1] = int32(len(on))
	}
	s.on[layer] = on
}

// words returns the number of 64-bit words for the given number of bits.
func words(bits int) int { return (bits + 63) / 64 }

// settle computes the energy from the lists of active units, the preactivations a_j of the hidden units
// and the visible biases b_i:
//
//	−E = Σ h_j a_j + Σ v_i b_i.
func (s *RBM) settle() {
	s.energy = 0
	for _, j := range s.on[hidden] {
		s.energy -= int64(s.field[hidden][j])
	}
	for _, i := range s.on[visible] {
		s.energy -= int64(s.parameters.bias[visible][i])
	}
}

func (s *RBM) layer(l int) []uint8 {
	c := s.parameters
	return s.state[c.first[l] : c.first[l]+c.units[l]]
}

// Store writes the state of s to the given row of v and h. It panics if their
// numbers of columns differ from the numbers of units.
func (s *RBM) Store(v, h rbm.Values, row int) {
	if v.Cols != s.parameters.units[visible] || h.Cols != s.parameters.units[hidden] {
		panic("mcmc: Store into states of another shape")
	}
	for l, words := range [2][]uint64{v.Row(row), h.Row(row)} {
		state := s.layer(l)
		for k := range words {
			var w uint64
			for i, x := range state[64*k : min(64*k+64, len(state))] {
				w |= uint64(x) << i
			}
			words[k] = w
		}
	}
}

// Len returns the number of units.
func (s *RBM) Len() int { return len(s.state) }

// State implements System.
func (s *RBM) State() []uint8 { return s.state }

// Energy returns E, computed with one rounding.
func (s *RBM) Energy() float64 { return float64(s.energy) * s.parameters.quantum }

// cost returns the cost of a flip of site i in quanta.
func (s *RBM) cost(i int) int32 {
	l, k := s.parameters.place(i)
	return spin(s.state[i]) * s.field[l][k]
}

// FlipCost implements System.
func (s *RBM) FlipCost(i int) float64 { return float64(s.cost(i)) * s.parameters.quantum }

// pairCost returns the cost of flipping sites i and j together.
func (s *RBM) pairCost(i, j int) float64 {
	c := s.parameters
	cost := int64(s.cost(i)) + int64(s.cost(j))
	k, a := c.place(i)
	l, b := c.place(j)
	if k != l {
		cost -= int64(spin(s.state[i]) * spin(s.state[j]) * c.rowOf(k, a)[b])
	}
	return float64(cost) * c.quantum
}

// Flip implements System.
func (s *RBM) Flip(i int) []int32 {
	s.energy += int64(s.cost(i))
	l, k := s.parameters.place(i)
	one := [1]int32{int32(k)}
	if s.state[i] == 0 {
		s.add(l, one[:])
	} else {
		s.subtract(l, one[:])
	}
	s.state[i] ^= 1
	return s.parameters.number[1-l]
}

// add adds the weights of the given units of a layer to the other layer's preactivations.
func (s *RBM) add(layer int, units []int32) {
	c := s.parameters
	walk.AddRows(s.field[1-layer], c.row[layer], c.stride[1-layer], units)
}

// subtract is the inverse of add.
func (s *RBM) subtract(layer int, units []int32) {
	c := s.parameters
	walk.SubtractRows(s.field[1-layer], c.row[layer], c.stride[1-layer], units)
}

var _ System = (*RBM)(nil)
