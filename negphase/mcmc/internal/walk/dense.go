package walk

// chunk is the number of units whose weights one set of Lanes sums holds. A sum
// of 64 weights of up to 2²⁴ fits 32 bits. Finding a leaf scans the sums and then
// the units of one sum. That is fastest if both are about as many: there are 49
// units to a sum in a layer of 784.
const chunk = 64 * Lanes

// Sums are sums of the weights of a layer: in each chunk one sum over the units
// of each number modulo Lanes, and the total. All are exact.
type Sums struct {
	Sum   [][Lanes]uint32 // for each chunk
	Total uint64
}

// NewSums returns the sums of n zero weights.
func NewSums(units int) Sums { return Sums{Sum: make([][Lanes]uint32, (units+chunk-1)/chunk)} }

// add sets the total from the other sums.
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

// Change updates the sums for a change of the weight of unit i.
func (s *Sums) Change(i int, from, to uint32) {
	s.Sum[i/chunk][i%Lanes] += to - from // modulo 2³²
	s.Total += uint64(to) - uint64(from)
}

// lane returns the first unit of the sum into which x < Total falls, and x minus
// the sums before it.
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

// A Dense layer has the weight of each unit of a layer of an RBM, and sums of
// them, by which walks draw a unit. All slices have the layer's size, padded to a
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

// FindOn is Find among the units of one side, for which side ^ flip has all bits
// set. s are the sums of that side.
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

// Weigh adds row to field, or subtracts it if down, and renews the weights, Heat
// of each unit, and their sums. If field is shorter than the layer, all weights
// beyond it count as 0.
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

// WeighSides is Weigh with sums for each of two sides. side has all bits set for
// units on the second side, and none for units on the first.
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
