package walk

// chunk is the number of units whose weights are added to one set of Lanes sums. A sum of 64 weights of
// up to 2²⁴ fits 32 bits. Finding a unit scans the sums and then the units of one sum. This is fastest
// if there are about as many sums as units in a sum. In a layer of 784 units a sum has 49.
const chunk = 64 * Lanes

// Sums has sums of the weights of the units of a layer. In each chunk, sum l is over the units i with
// i mod Lanes = l. All sums are exact.
type Sums struct {
	Sum   [][Lanes]uint32 // [chunk][i mod Lanes]
	Total uint64
}

// NewSums returns the sums for the given number of units with weight zero.
func NewSums(units int) Sums { return Sums{Sum: make([][Lanes]uint32, (units+chunk-1)/chunk)} }

// add computes the total from the other sums.
func (s *Sums) add() {
	s.Total = 0
	for k := range s.Sum {
		q := &s.Sum[k]
		var even, odd uint64
		for l := 0; l < Lanes; l += 2 {
			even += uint64(q[l])
			odd += uint64(q[l+1])
		}
		s.Total += even + odd
	}
}

// Change updates the sums after a change of the weight of unit i.
func (s *Sums) Change(i int, from, to uint32) {
	s.Sum[i/chunk][i%Lanes] += to - from // modulo 2³²
	s.Total += uint64(to) - uint64(from)
}

// lane finds the first sum that, together with all sums before it, is more than x. It returns the first
// unit of this sum, and x minus the sums before it.
func (s *Sums) lane(x uint64) (i int, rest uint32) {
	for k := range s.Sum {
		for l, q := range &s.Sum[k] {
			if x < uint64(q) {
				return k*chunk + l, uint32(x)
			}
			x -= uint64(q)
		}
	}
	panic("walk: a draw beyond the total")
}

// A Dense has the weights of the units of an RBM layer with their sums, from which walks draw a unit. The
// number of units is padded to a multiple of Lanes with units of weight 0.
type Dense struct {
	Sums
	Leaf []uint32 // [unit] weight
}

// NewDense returns a Dense with zero weights.
func NewDense(units int) Dense { return Dense{NewSums(units), make([]uint32, units)} }

// Set sets the weight of unit i to w.
func (d *Dense) Set(i int, w uint32) {
	d.Change(i, d.Leaf[i], w)
	d.Leaf[i] = w
}

// Find maps x < Total to a unit. If x is uniform, the probability of a unit is proportional to its weight.
func (d *Dense) Find(x uint64) int {
	i, rest := d.lane(x)
	for {
		w := d.Leaf[i]
		if rest < w {
			return i
		}
		rest -= w
		i += Lanes
	}
}

// FindOn is Find among the units of one side, for which side ^ flip has all bits
// set. s has the sums over that side.
func (s *Sums) FindOn(leaf, side []uint32, flip uint32, x uint64) int {
	i, rest := s.lane(x)
	for {
		w := leaf[i] & (side[i] ^ flip)
		if rest < w {
			return i
		}
		rest -= w
		i += Lanes
	}
}

// Weigh adds row to field, or subtracts it if down is set. It then recomputes the weight of each unit by
// Heat, and the sums. If field is shorter than the layer, the sums exclude the units
// beyond it.
func (d *Dense) Weigh(field, row []int32, down bool, sign, unit []float32) {
	clear(d.Sum)
	for lo := 0; lo < len(field); lo += chunk {
		k, hi := lo/chunk, min(lo+chunk, len(field))
		weigh(field[lo:hi], row[lo:hi], down, sign[lo:hi], unit[lo:hi], d.Leaf[lo:hi], &d.Sum[k])
	}
	d.add()
}

// WeighTwo is Weigh for two sets of weights: those of d[b] are computed with sign times gamma[b].
func WeighTwo(d *[2]Dense, field, row []int32, down bool, sign, unit []float32, gamma *[2]float32) {
	a, b := &d[0], &d[1]
	clear(a.Sum)
	clear(b.Sum)
	for lo := 0; lo < len(field); lo += chunk {
		k, hi := lo/chunk, min(lo+chunk, len(field))
		weighTwo(field[lo:hi], row[lo:hi], down, sign[lo:hi], unit[lo:hi], gamma, a.Leaf[lo:hi], b.Leaf[lo:hi], &a.Sum[k], &b.Sum[k])
	}
	a.add()
	b.add()
}

// WeighSides is Weigh with separate sums for two sides. side has all bits set for
// units on the second side, and none for units on the first. It writes the weights to leaf.
func WeighSides(s *[2]Sums, field, row []int32, down bool, sign, unit []float32, side, leaf []uint32) {
	a, b := &s[0], &s[1]
	clear(a.Sum)
	clear(b.Sum)
	for lo := 0; lo < len(field); lo += chunk {
		k, hi := lo/chunk, min(lo+chunk, len(field))
		weighSides(field[lo:hi], row[lo:hi], down, sign[lo:hi], unit[lo:hi], side[lo:hi], leaf[lo:hi], &a.Sum[k], &b.Sum[k])
	}
	a.add()
	b.add()
}
