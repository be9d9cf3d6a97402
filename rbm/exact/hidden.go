package exact

import (
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"
)

// RealHiddenLimit is the largest number of visible states of a model with real hidden units. For
// each state LogZ computes log Z of every hidden unit, which takes about 30 ns to 200 ns.
const RealHiddenLimit = 1 << 22

// logZTerms is the cost of log Z of one unit, in terms of Enumeration.Work.
const logZTerms = 200

// hiddenStates enumerates the visible states of a model with real hidden units. For each joint state of
// the softmax groups it visits the states of the binary units in Gray-code order. Each hidden unit is
// integrated out separately.
type hiddenStates struct {
	layers
	kind  rbm.Kind           // kind of the hidden units
	dist  units.Distribution // parameters of the hidden units
	joint int                // number of joint states of the softmax groups

	bias  []float64   // biases of the listed units
	rows  [][]float64 // weights of each listed unit
	base  []float64   // hidden biases
	walks []*hiddenWalk
}

// A hiddenWalk visits the states of a block. Call start, then next until it returns false.
type hiddenWalk struct {
	*hiddenStates
	left   int
	number int       // number of the current state
	active uint64    // binary units that are on
	joint  int       // joint state of the groups
	lit    []int     // for each group: the listed unit that is on
	linear float64   // sum of the biases of the listed units that are on
	z      []float64 // inputs of the hidden units

	// The states of a block, for moments:
	logs   []float64
	inputs []float32                        // inputs of the hidden units: block by block of units, state by state
	weight []float64                        // probabilities
	states []uint64                         // active
	groups []int                            // joint
	to     [1 + units.MaxParams]units.Means // means, then slopes, of a block of hidden units
	part   units.Distribution               // dist from that block on
	block  units.Block
}

// newHidden plans the enumeration of m. It lists the visible layer.
func newHidden(m *rbm.RBM, limit int) (*hiddenStates, error) {
	if m.Real() {
		return nil, fmt.Errorf("%w: the units of both layers are real", ErrTooLarge)
	}
	s := &hiddenStates{layers: newLayers(m, false), kind: m.HiddenKind(), joint: 1}
	n := float64(s.units)
	for _, g := range s.groups {
		n += math.Log2(float64(g.Units))
	}
	if limit = min(limit, RealHiddenLimit); n > math.Log2(float64(limit)) {
		return nil, fmt.Errorf("%w: the visible layer is listed, as the hidden units are %v units, and it has 2^%.4g states; the limit is 2^%.4g",
			ErrTooLarge, s.kind, n, math.Log2(float64(limit)))
	}
	for _, g := range s.groups {
		s.joint *= g.Units
	}
	s.bias, s.rows, s.base = make([]float64, s.units+s.classes), s.newRows(s.units+s.classes), make([]float64, s.other)
	for range min(s.blocks(), logGroups) {
		s.walks = append(s.walks, &hiddenWalk{hiddenStates: s, z: make([]float64, s.other)})
	}
	s.set(m)
	return s, nil
}

func (s *hiddenStates) count() int     { return s.joint << s.units }
func (s *hiddenStates) work() float64  { return logZTerms * float64(s.count()) * float64(s.other) }
func (s *hiddenStates) blockSize() int { return min(1<<blockBits, s.count()) }
func (s *hiddenStates) blocks() int    { return (s.count() + s.blockSize() - 1) / s.blockSize() }

func (s *hiddenStates) set(m *rbm.RBM) {
	s.m, s.dist = m, units.Distribution{Field: m.HiddenBias, Params: m.HiddenParams()}
	for l, row := range s.rows {
		s.bias[l] = s.listedBias(l)
		for j := range row {
			row[j] = s.weight(l, j)
		}
	}
	for j := range s.base {
		s.base[j] = s.summedBias(j)
	}
}

// start moves to just before the first state of block b.
func (q *hiddenWalk) start(b int) {
	q.number = b*q.blockSize() - 1
	q.left = min(q.blockSize(), q.count()-q.number-1) + 1
	q.joint = -1
}

// next moves to the next state, and reports whether there is one in the block.
func (q *hiddenWalk) next() bool {
	if q.left--; q.left == 0 {
		return false
	}
	q.number++
	n := uint64(q.number) & (1<<q.units - 1)
	active, joint := n^n>>1, q.number>>q.units
	if joint == q.joint {
		q.flip(bits.TrailingZeros64(active ^ q.active))
		return true
	}
	q.joint, q.active, q.linear = joint, 0, 0
	q.lit = q.lit[:0]
	copy(q.z, q.base)
	for _, g := range q.hiddenStates.layers.groups {
		q.lit = append(q.lit, q.units+g.First+joint%g.Units)
		joint /= g.Units
	}
	for _, l := range q.lit {
		q.linear += q.bias[l]
		floats.Add(q.z, q.rows[l])
	}
	for w := active; w != 0; w &= w - 1 {
		q.flip(bits.TrailingZeros64(w))
	}
	return true
}

// flip flips listed unit l.
func (q *hiddenWalk) flip(l int) {
	sign := 1.0
	if q.active>>l&1 != 0 {
		sign = -1
	}
	q.active ^= 1 << l
	q.linear += float64(sign * q.bias[l])
	vec.AddSigned(q.z, q.rows[l], sign)
}

// logWeight returns log ∫ exp(−E) dh of the current state.
func (q *hiddenWalk) logWeight() float64 { return q.linear + q.kind.LogZ(q.z, &q.dist, 0) }

func (s *hiddenStates) logBlock(g, b int) float64 {
	q := s.walks[g]
	q.logs = q.logs[:0]
	for q.start(b); q.next(); {
		q.logs = append(q.logs, q.logWeight())
	}
	return vec.LogSumExp(q.logs)
}

func (s *hiddenStates) newSums() *sums {
	n := s.units + s.classes
	rows := s.newRows(n + 1)
	x := &sums{listed: make([]float64, n), cross: rows[:n], summed: rows[n]}
	if _, ok := s.kind.(units.LearnedKind); ok {
		x.slopes = s.newRows(units.MaxParams)
	}
	return x
}

// addBlocks computes means and slopes of the hidden units from float32 inputs, as training does.
func (s *hiddenStates) addBlocks(g, lo, hi int, sums *sums, logZ float64) {
	q := s.walks[g]
	for b := lo; b < hi; b++ {
		q.list(b, logZ)
		for k := range vec.Blocks(s.other) {
			q.means(k)
			width := min(vec.Block, s.other-k*vec.Block)
			for r, p := range q.weight {
				for i, mean := range q.to {
					dst := sums.summed
					if i > 0 {
						if sums.slopes == nil || !s.kind.Params()[i-1].Learned {
							continue
						}
						dst = sums.slopes[i-1]
					}
					for j, x := range mean.Data[r*vec.Block:][:width] {
						dst[k*vec.Block+j] += float64(p * float64(x))
					}
				}
				add := func(l int) {
					row := sums.cross[l][k*vec.Block:]
					for j, x := range q.to[0].Data[r*vec.Block:][:width] {
						row[j] += float64(p * float64(x))
					}
					if k == 0 {
						sums.listed[l] += p
					}
				}
				for w := q.states[r]; w != 0; w &= w - 1 {
					add(bits.TrailingZeros64(w))
				}
				y := q.groups[r]
				for _, g := range s.layers.groups {
					add(s.units + g.First + y%g.Units)
					y /= g.Units
				}
			}
		}
	}
}

// list stores the states of block b with their probabilities and inputs.
func (q *hiddenWalk) list(b int, logZ float64) {
	q.weight, q.states, q.groups = q.weight[:0], q.states[:0], q.groups[:0]
	const size = 1 << blockBits * vec.Block
	if q.inputs == nil {
		q.inputs = make([]float32, vec.Blocks(q.other)*size)
		for i := range q.to {
			q.to[i] = units.Means{Data: make([]float32, size), Cols: vec.Block}
		}
	}
	for q.start(b); q.next(); {
		r := len(q.weight)
		q.weight = append(q.weight, vec.Exp(q.logWeight()-logZ))
		q.states, q.groups = append(q.states, q.active), append(q.groups, q.joint)
		for j, x := range q.z {
			q.inputs[j/vec.Block*size+r*vec.Block+j%vec.Block] = float32(x)
		}
	}
}

// means computes means and slopes of block k of hidden units in the listed states.
func (q *hiddenWalk) means(k int) {
	const size = 1 << blockBits * vec.Block
	lo := k * vec.Block
	d, b := &q.part, &q.block
	d.Field, d.Params = q.dist.Field[lo:], d.Params[:0]
	for _, p := range q.dist.Params {
		d.Params = append(d.Params, p[lo:])
	}
	*b = units.Block{Width: min(vec.Block, q.other-lo), In: q.inputs[k*size:], Stride: vec.Block, Rows: len(q.weight), Model: d}
	q.kind.Means(q.to[0], b)
	if kind, ok := q.kind.(units.LearnedKind); ok {
		kind.Slopes([units.MaxParams]units.Means(q.to[1:]), b)
	}
}
