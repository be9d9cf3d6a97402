package walk

// chunk is the number of units whose weights one set of Lanes sums holds: 64
// weights of up to 2²⁴ to a sum leave a 32-bit number room. Finding a leaf
// scans the sums and then the units of one, which costs least where both are
// about as many: 49 units a sum in a layer of 784.
const chunk = 64 * Lanes

// Sums are the sums of a layer's weights over the units of each chunk whose
// numbers are equal mod Lanes, and in all. All are exact.
type Sums struct {
	Sum   [][Lanes]uint32 // of each chunk
	Total uint64
}

// NewSums returns the sums of so many zero weights.
func NewSums(units int) Sums { return Sums{Sum: make([][Lanes]uint32, (units+chunk-1)/chunk)} }

// add sums up the sums.
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

// Change counts a change of the weight of unit i.
func (s *Sums) Change(i int, from, to uint32) {
	s.Sum[i/chunk][i%Lanes] += to - from // wraps around, and back
	s.Total += uint64(to) - uint64(from)
}

// lane returns the first unit of the sum that x < Total falls into, and what
// of x is left there.
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

// A Dense layer is what walks draw units of one layer of an RBM by: the weight
// of each, and sums of them. All slices are of the layer's size, padded to a
// multiple of Lanes with units of weight 0.
type Dense struct {
	Sums
	Leaf []uint32
}

// NewDense returns weights that are all zero.
func NewDense(units int) Dense { return Dense{NewSums(units), make([]uint32, units)} }

// Set gives unit i the weight w.
func (d *Dense) Set(i int, w uint32) {
	d.Change(i, d.Leaf[i], w)
	d.Leaf[i] = w
}

// Find returns the unit into whose share x falls, x below Total.
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

// FindOn is Find among the units of one side, whose sums are given: those
// where side ^ flip has all bits set.
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

// Weigh adds row to field, or takes it off if down, and renews the weights
// and their sums: Heat of each unit. If field is shorter than the layer, that
// is all of it.
func (d *Dense) Weigh(field, row []int32, down bool, sign, unit []float32) {
	clear(d.Sum)
	for lo := 0; lo < len(field); lo += chunk {
		k, hi := lo/chunk, min(lo+chunk, len(field))
		weigh(field[lo:hi], row[lo:hi], down, sign[lo:hi], unit[lo:hi], d.Leaf[lo:hi], &d.Sum[k])
	}
	d.add()
}

// WeighTwo is Weigh of two sets of weights, of sign times each gamma.
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

// WeighSides is Weigh with sums for each of two sides: side has all bits of
// the units on the second one set, none of those on the first.
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
