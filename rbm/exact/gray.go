package exact

import (
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
	"gorbm/rbm/internal/vec"
)

const (
	// baseUnits is the largest number of listed units whose states share a
	// base: 64 states share its exponentials, which take some ten times the work
	// of a state.
	baseUnits = 6
	// quadUnits is the number of units in which the states of a quad differ.
	quadUnits = 2
	// ratioLimit is the largest sum of the absolute weights of a summed unit to
	// the units of a base: the product of four factors of up to 2e^ratioLimit
	// is within the range of float64. Models with larger weights have fewer units in a
	// base, or none, and take longer.
	ratioLimit = 170
	// baseBias bounds the absolute biases of these units, so that the exponents
	// of their powers of two are small integers.
	baseBias = 1e6
)

// grayStates are the states of a model without a constraint, in Gray-code order.
//
// They are summed in quads: four states that differ in the first two listed
// units. Quads that differ only in the first few units share a base: the
// preactivations a of the summed layer when these units are off. From one base to
// the next, one row of W is added or subtracted. Let S be the sum of the weights of
// the base's units that are on. Then
//
//	Σ log(1+e^(a+S)) = Σ max(a,0) + log Π (off + on·e^S),  on = e^min(a,0), off = e^min(−a,0)
//
// so that a state needs no exponential, but two multiplications and an addition for
// each summed unit. A factor takes up to seven exponentials with a relative error of
// 4·10⁻¹⁶, and ten roundings. So the error of log Z is at most n·4·10⁻¹⁵ nats for n
// summed units, in addition to the rounding of the result.
type grayStates struct {
	layers
	joint int // number of joint states of the listed softmax groups; 1 if there are none

	bias []float64   // of the listed units, then of those of the groups
	rows [][]float64 // weights of each of them to the summed layer, padded to a multiple of vec.Wide
	base []float64   // preactivations of the summed layer with no unit on, padded with −Inf

	// Values that all bases share:
	low    int          // units of a base's states
	span   int          // number of summed units that vec.QuadProducts may take at once
	first  []float64    // ratios e^w of the first listed unit, ones if it is none of the base's units
	second []float64    // of the second
	upper  []float64    // for each state of the other units of the base: the product of their ratios
	biases []vec.Scaled // for each state of the base's units: e to the sum of the biases
	odds   []float64    // for each such state: the ratios of the units of the groups that are summed out
	ratios [][]float64  // e^w of each of the base's units

	walks []*grayWalk // working memory of each group
}

// newGray plans the enumeration of m, listing the layer with fewer states.
func newGray(m *rbm.RBM, limit int) (*grayStates, error) {
	s := &grayStates{layers: newLayers(m, false)}
	hidden, visible := float64(m.Hidden()), float64(s.units)
	for _, g := range s.groups {
		visible += math.Log2(float64(g.Units))
	}
	if n := min(hidden, visible); n > math.Log2(float64(limit)) {
		return nil, fmt.Errorf("%w: the smaller layer has 2^%.4g states, the limit is 2^%.4g; take a model of at most %d hidden units",
			ErrTooLarge, n, math.Log2(float64(limit)), bits.Len(uint(limit))-1)
	}
	if hidden <= visible {
		s.layers = newLayers(m, true)
	}
	s.joint, s.padding = 1, s.width()-s.soft
	if !s.hidden {
		for _, g := range s.groups {
			s.joint *= g.Units
		}
	}
	s.bias = make([]float64, s.units+s.classes)
	s.rows, s.base = s.newRows(s.units+s.classes), s.newRows(1)[0]
	low := min(s.units, baseUnits)
	s.ratios = s.newRows(low)
	s.first, s.second = make([]float64, s.width()), make([]float64, s.width())
	s.upper = make([]float64, s.width()<<max(low-quadUnits, 0))
	s.biases = make([]vec.Scaled, 1<<low)
	s.odds = make([]float64, (s.other-s.soft)<<low)
	for range min(s.blocks(), logGroups) {
		s.walks = append(s.walks, &grayWalk{
			grayStates: s,
			a:          make([]float64, len(s.base)),
			on:         make([]float64, s.width()), off: make([]float64, s.width()),
			class: make([]float64, s.other-s.soft),
			lit:   make([]int, len(s.groups)),
		})
	}
	s.set(m)
	return s, nil
}

// width is the number of binary units of the summed layer, padded.
func (s *grayStates) width() int { return vec.RoundUp(s.soft) }

func (s *grayStates) count() int    { return s.joint << s.units }
func (s *grayStates) work() float64 { return float64(s.count()) * float64(s.other) }

// jointBlocks is the number of blocks above which a block covers several states of the
// groups, because the sums of 2²⁸ blocks would not fit in memory.
const jointBlocks = 1 << 16

// Blocks are in order of the groups' states, and of the units' for each. A block has
// perBlock of the groups' states, and blockSize of the units' states for each.
func (s *grayStates) perBlock() int  { return (s.joint + jointBlocks - 1) / jointBlocks }
func (s *grayStates) blockSize() int { return 1 << min(blockBits, s.units) }
func (s *grayStates) parts() int     { return 1 << (s.units - min(blockBits, s.units)) }
func (s *grayStates) blocks() int {
	return (s.joint + s.perBlock() - 1) / s.perBlock() * s.parts()
}

// block returns which of the groups' states block b has, and which part of the units'.
func (s *grayStates) block(b int) (lo, hi, part int) {
	lo = b / s.parts() * s.perBlock()
	return lo, min(lo+s.perBlock(), s.joint), b % s.parts()
}

// set computes the tables of m.
func (s *grayStates) set(m *rbm.RBM) {
	s.m = m
	for l := range s.bias {
		s.bias[l] = s.listedBias(l)
		s.fill(s.rows[l], 0, func(i int) float64 { return s.weight(l, i) })
	}
	s.fill(s.base, math.Inf(-1), s.summedBias)
	s.setRatios()
}

// fill overwrites row with a value for each summed unit, and the padding between
// the binary units and the groups with rest.
func (s *grayStates) fill(row []float64, rest float64, value func(i int) float64) {
	for i := range s.other {
		row[s.place(i)] = value(i)
	}
	for i := s.soft; i < s.width(); i++ {
		row[i] = rest
	}
}

// setRatios computes what the states of a base have in common.
func (s *grayStates) setRatios() {
	var largest float64
	s.low, largest = s.chooseBase()
	s.span = vec.Span(largest)
	for l := range s.low {
		vec.Exps(s.ratios[l], s.rows[l])
	}
	for k, dst := range [quadUnits][]float64{s.first, s.second} {
		if k < s.low {
			copy(dst, s.ratios[k])
		} else {
			setOnes(dst)
		}
	}
	width := s.width()
	setOnes(s.upper[:width])
	for u := 1; u < 1<<max(s.low-quadUnits, 0); u++ {
		top := bits.Len(uint(u)) - 1 // the row of u without its last unit is there
		floats.MulTo(s.upper[u*width:][:width], s.upper[(u^1<<top)*width:][:width], s.ratios[quadUnits+top][:width])
	}
	n := s.other - s.soft
	for state := range 1 << s.low {
		sum := 0.0
		row := s.odds[state*n:][:n]
		setOnes(row)
		for w := uint(state); w != 0; w &= w - 1 {
			l := bits.TrailingZeros(w)
			sum += s.bias[l]
			floats.Mul(row, s.ratios[l][width:])
		}
		s.biases[state] = vec.ScaledExp(sum)
	}
}

func setOnes(x []float64) {
	for i := range x {
		x[i] = 1
	}
}

// chooseBase returns the number of units of a base's states, and the largest
// sum of their absolute weights to a summed unit.
func (s *grayStates) chooseBase() (low int, largest float64) {
	var sums [vec.Block]float64
	for low < min(s.units, baseUnits) {
		top := 0.0
		for lo := 0; lo < len(s.rows[0]); lo += len(sums) {
			hi := min(lo+len(sums), len(s.rows[0]))
			clear(sums[:])
			for l := range low + 1 {
				for i, w := range s.rows[l][lo:hi] {
					sums[i] += math.Abs(w)
				}
			}
			top = max(top, vec.LargestSize(sums[:hi-lo]))
		}
		if !(top <= ratioLimit) || !(math.Abs(s.bias[low]) <= baseBias) {
			break
		}
		low, largest = low+1, top
	}
	return low, largest
}

// logBlock sums block b.
func (s *grayStates) logBlock(g, b int) float64 {
	q := s.walks[g]
	var sum scaledSum
	lo, hi, part := s.block(b)
	for y := lo; y < hi; y++ {
		for q.start(y, part); q.next(); {
			q.weigh()
			sum.add(q.m[:q.valid], q.e[:q.valid], q.logBase)
		}
	}
	return sum.log()
}
