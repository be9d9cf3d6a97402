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
	// baseUnits is the largest number of listed units in which the states of a base differ (see grayStates). Up
	// to 64 states then share the exponentials of the base, which take about ten times the work of a state.
	baseUnits = 6
	// quadUnits is the number of units in which the states of a quad differ (see grayStates).
	quadUnits = 2
	// ratioLimit is the largest sum of the absolute weights between a summed unit and
	// the units of a base. The product of four factors of up to 2e^ratioLimit
	// is then within the range of float64. Models with larger weights have fewer units in a
	// base, or none, and take longer.
	ratioLimit = 170
	// baseBias is the largest absolute bias of the units of a base. The powers of two in exp(bias) then have
	// small integers as exponents.
	baseBias = 1e6
)

// grayStates enumerates a model of binary units without a constraint, in Gray-code order.
//
// It sums quads: four states that differ in the first two listed units. Quads that differ only in the
// first few units share a base: the preactivations a of the summed layer with these units off. From
// one base to the next, one row of W is added or subtracted. The base units are those in which states of
// the base differ. Let S be the sum of the weights between a summed unit and the base units that are on. Then
//
//	Σ log(1+e^(a+S)) = Σ max(a,0) + log Π (off + on·e^S),  on = e^min(a,0), off = e^min(−a,0)
//
// where sums and the product are over the summed units. A state needs no exponential, only two
// multiplications and an addition for each summed unit. A factor has the relative error of at most
// seven exponentials, of 4·10⁻¹⁶ each, and ten roundings. The error of log Z is therefore at most
// n·4·10⁻¹⁵ nats for n summed units, in addition to the rounding of the result.
type grayStates struct {
	layers
	joint int // number of joint states of the listed softmax groups; 1 if there are none

	bias []float64   // biases of the listed binary units, then of the units of listed groups
	rows [][]float64 // weights of each of these units, padded to a multiple of vec.Wide
	base []float64   // preactivations of the summed layer with no unit on, padded with −Inf

	// Values that are the same for all bases. The base units are listed units 0 … low−1.
	low    int          // number of units in which states of a base differ
	span   int          // number of summed units that vec.QuadProducts may multiply before it rescales
	first  []float64    // e^w of unit 0; ones if low is 0
	second []float64    // e^w of unit 1; ones if low is below 2
	upper  []float64    // for each state of the other base units: the product of e^w over those that are on
	biases []vec.Scaled // for each state of the base units: exp(sum of the biases of those that are on)
	odds   []float64    // for each state of the base units: the product of e^w for the units of summed groups
	ratios [][]float64  // e^w of each base unit

	walks []*grayWalk // one for each goroutine: see logGroups
}

// newGray plans the enumeration of m. It lists the layer with fewer states.
func newGray(m *rbm.RBM, limit int) (*grayStates, error) {
	s := &grayStates{layers: newLayers(m, false)}
	hidden, visible := float64(m.Hidden()), float64(s.units)
	for _, g := range s.groups {
		visible += math.Log2(float64(g.Units))
	}
	if n := min(hidden, visible); n > math.Log2(float64(limit)) {
		return nil, fmt.Errorf("%w: the smaller layer has 2^%.4g states, the limit is 2^%.4g; use a model of at most %d hidden units",
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

// width returns the number of binary units of the summed layer, rounded up to a multiple of vec.Wide.
func (s *grayStates) width() int { return vec.RoundUp(s.soft) }

func (s *grayStates) count() int    { return s.joint << s.units }
func (s *grayStates) work() float64 { return float64(s.count()) * float64(s.other) }

// jointBlocks is the number of joint states of the groups above which a block covers several of them.
// Otherwise the sums of up to 2²⁸ blocks would not fit in memory.
const jointBlocks = 1 << 16

// Blocks are ordered by the joint states of the groups, then by the states of the units. A block has
// perBlock joint states of the groups, and blockSize states of the units for each.
func (s *grayStates) perBlock() int  { return (s.joint + jointBlocks - 1) / jointBlocks }
func (s *grayStates) blockSize() int { return 1 << min(blockBits, s.units) }
func (s *grayStates) parts() int     { return 1 << (s.units - min(blockBits, s.units)) }
func (s *grayStates) blocks() int {
	return (s.joint + s.perBlock() - 1) / s.perBlock() * s.parts()
}

// block returns what block b combines: the joint states lo … hi−1 of the groups, and the part of the units'
// states with number part.
func (s *grayStates) block(b int) (lo, hi, part int) {
	lo = b / s.parts() * s.perBlock()
	return lo, min(lo+s.perBlock(), s.joint), b % s.parts()
}

func (s *grayStates) set(m *rbm.RBM) {
	s.m = m
	for l := range s.bias {
		s.bias[l] = s.listedBias(l)
		s.fill(s.rows[l], 0, func(i int) float64 { return s.weight(l, i) })
	}
	s.fill(s.base, math.Inf(-1), s.summedBias)
	s.setRatios()
}

// fill overwrites row with value(i) for each summed unit i, and the padding with rest.
func (s *grayStates) fill(row []float64, rest float64, value func(i int) float64) {
	for i := range s.other {
		row[s.place(i)] = value(i)
	}
	for i := s.soft; i < s.width(); i++ {
		row[i] = rest
	}
}

// setRatios computes the values that are the same for all bases.
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
		top := bits.Len(uint(u)) - 1 // the row of u without this unit is already computed
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

// chooseBase returns the number of base units, and the largest sum of the absolute weights between
// them and a summed unit.
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
