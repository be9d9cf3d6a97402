package exact

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm/internal/vec"
)

const (
	// baseUnits is the largest number of listed units whose states share a
	// base: 64 states share its exponentials, some ten times the work of a
	// state.
	baseUnits = 6
	// quadUnits is the number of units of the states of a quad.
	quadUnits = 2
	// ratioLimit is the largest sum of the sizes of a summed unit's weights to
	// the units of a base: the product of four factors of up to 2e^ratioLimit
	// is within float64. Models beyond it have fewer units in a base, or none: that
	// takes longer.
	ratioLimit = 170
	// baseBias bounds the sizes of the biases of these units, so that their
	// powers of two can be counted.
	baseBias = 1e6
)

// baseTables are what the states of a base have in common in all bases.
type baseTables struct {
	low     int          // units of a base's states
	span    int          // summed units that may be multiplied at once
	first   []float64    // ratios e^w of the first listed unit, ones if it is not in the base's states
	second  []float64    // of the second
	upper   []float64    // of each state of the rest of the base's units: the product of their ratios
	bias    []vec.Scaled // of each state of the base's units: e to the sum of the biases
	classes []float64    // of each such state: the ratios of the classes
	row     [][]float64  // e^w of each of the base's units
}

func (e *Enumeration) newTables() {
	low := min(e.units, baseUnits)
	t := &e.baseTables
	t.row = e.newRows(low)
	t.first, t.second = make([]float64, e.width()), make([]float64, e.width())
	t.upper = make([]float64, e.width()<<max(low-quadUnits, 0))
	t.bias = make([]vec.Scaled, 1<<low)
	t.classes = make([]float64, (e.other-e.soft)<<low)
}

// setTables makes the tables of the model.
func (e *Enumeration) setTables() {
	t := &e.baseTables
	var largest float64
	t.low, largest = e.tableUnits()
	t.span = vec.Span(largest)
	for l := range t.low {
		vec.Exps(t.row[l], e.rows[l])
	}
	for k, dst := range [quadUnits][]float64{t.first, t.second} {
		if k < t.low {
			copy(dst, t.row[k])
			continue
		}
		for i := range dst {
			dst[i] = 1
		}
	}
	width := e.width()
	for u := range 1 << max(t.low-quadUnits, 0) {
		row := t.upper[u*width:][:width]
		if u == 0 {
			for i := range row {
				row[i] = 1
			}
			continue
		}
		top := bits.Len(uint(u)) - 1 // the row without its last unit is there
		floats.MulTo(row, t.upper[(u^1<<top)*width:][:width], t.row[quadUnits+top][:width])
	}
	n := e.other - e.soft
	for s := range 1 << t.low {
		sum := 0.0
		row := t.classes[s*n:][:n]
		for i := range row {
			row[i] = 1
		}
		for w := uint(s); w != 0; w &= w - 1 {
			l := bits.TrailingZeros(w)
			sum += e.bias[l]
			floats.Mul(row, t.row[l][width:])
		}
		t.bias[s] = vec.ScaledExp(sum)
	}
}

// tableUnits returns the number of units of a base's states, and the largest
// sum of sizes of their weights to a summed unit.
func (e *Enumeration) tableUnits() (low int, largest float64) {
	var sums [vec.Block]float64
	for low < min(e.units, baseUnits) {
		top := 0.0
		for lo := 0; lo < len(e.rows[0]); lo += len(sums) {
			hi := min(lo+len(sums), len(e.rows[0]))
			clear(sums[:])
			for l := range low + 1 {
				for i, w := range e.rows[l][lo:hi] {
					sums[i] += math.Abs(w)
				}
			}
			top = max(top, vec.LargestSize(sums[:hi-lo]))
		}
		if !(top <= ratioLimit) || !(math.Abs(e.bias[low]) <= baseBias) {
			break
		}
		low, largest = low+1, top
	}
	return low, largest
}

// A grayWalk goes through the states of a block in Gray-code order, a quad at a time: start, then next
// until it is false. Fields before the space are valid in a quad.
type grayWalk struct {
	m       [4]float64 // of each state: m·2^e times e^logBase is exp(−E) summed out
	e       [4]int64
	valid   int     // states of a quad that there are
	logBase float64 // see m
	on, off []float64
	upper   []float64 // ratios of the units that the quad shares beside its base
	units   uint64    // units that are on in the quad's first state
	y       int       // label state, 0 if none are listed

	enum   *Enumeration
	quad   uint64 // number of the quad, whose Gray code are the units from quadUnits on
	left   int
	linear float64 // log weight of the label and the units that are on in the base
	a      []float64
	class  []float64 // odds of the classes in the base, the largest 1
	sum    scaledSum
}

func (e *Enumeration) newGrayWalk() *grayWalk {
	return &grayWalk{
		enum: e,
		a:    make([]float64, len(e.base[0])),
		on:   make([]float64, e.width()), off: make([]float64, e.width()),
		class: make([]float64, e.other-e.soft),
	}
}

// start goes before the first quad of block b.
func (q *grayWalk) start(e *Enumeration, b int) {
	first := uint64(b) * uint64(e.blockSize())
	q.y = int(first >> e.units)
	first &= 1<<e.units - 1
	within := min(e.low, quadUnits)
	q.valid = 1 << within
	q.left = e.blockSize() >> within
	q.quad = first >> within
	q.units = (q.quad ^ q.quad>>1) << within
	q.sum = scaledSum{}
	q.linear = e.shift[q.y]
	copy(q.a, e.base[q.y])
	for w := q.units >> e.low << e.low; w != 0; w &= w - 1 {
		l := bits.TrailingZeros64(w)
		q.linear += e.bias[l]
		vec.AddSigned(q.a, e.rows[l], 1)
	}
	q.rebase()
	q.left++ // next comes before the first quad
	q.quad--
}

// next goes to the next quad, if there is one in the block.
func (q *grayWalk) next() bool {
	e := q.enum
	if q.left--; q.left == 0 {
		return false
	}
	q.quad++
	within := min(e.low, quadUnits)
	if units := (q.quad ^ q.quad>>1) << within; units != q.units {
		l := bits.TrailingZeros64(units ^ q.units)
		q.units = units
		if l >= e.low {
			q.step(l, units>>l&1 != 0)
		}
	}
	u := 0
	if e.low > quadUnits {
		u = int(q.units >> quadUnits & (1<<(e.low-quadUnits) - 1))
	}
	q.upper = e.upper[u*e.width():][:e.width()]
	return true
}

// step turns unit l, none of the base's states, on or off.
func (q *grayWalk) step(l int, on bool) {
	e := q.enum
	if on {
		q.linear += e.bias[l]
		vec.AddSigned(q.a, e.rows[l], 1)
	} else {
		q.linear -= e.bias[l]
		vec.AddSigned(q.a, e.rows[l], -1)
	}
	q.rebase()
}

// rebase takes from a what the states of a base are made of.
func (q *grayWalk) rebase() {
	width := q.enum.width()
	above, _ := vec.Odds(q.on, q.off, q.a[:width]) // the rest is in the products
	q.logBase = q.linear + above
	if classes := q.a[width:]; len(classes) > 0 {
		top := floats.Max(classes)
		for k, x := range classes {
			q.class[k] = vec.Exp(x - top)
		}
		q.logBase += top
	}
}

// state returns the number of the quad's first state among those of its base.
func (q *grayWalk) state() int { return int(q.units & (1<<q.enum.low - 1)) }

// weigh makes m and e of the quad.
func (q *grayWalk) weigh() {
	e := q.enum
	first := q.state()
	for s := range q.valid {
		q.m[s], q.e[s] = e.baseTables.bias[first+s].M, e.baseTables.bias[first+s].E
	}
	for s := q.valid; s < len(q.m); s++ {
		q.m[s], q.e[s] = 1, 0
	}
	vec.QuadProducts(&q.m, &q.e, q.on, q.off, q.upper, e.first, e.second, e.span)
	if len(q.class) == 0 {
		return
	}
	for s := range q.valid {
		p := vec.Scaled{M: q.m[s], E: q.e[s]}
		p.Times(q.classSum(first + s))
		q.m[s], q.e[s] = p.M, p.E
	}
}

// classSum returns the sum of the odds of the classes in a state of the base.
func (q *grayWalk) classSum(state int) float64 {
	sum := 0.0
	for k, r := range q.enum.classes[state*len(q.class):][:len(q.class)] {
		sum += float64(q.class[k] * r)
	}
	return sum
}

// scaledSum is a sum of terms m·2^e·e^base that come in runs of one base, each
// run taken together before its logarithm is.
type scaledSum struct {
	base float64 // of the run
	top  int64   // the power of two that the run's sum is in units of
	sum  float64 // of the run; zero if there is none
	part float64 // sum of the earlier runs, in units of e^high
	high float64
}

// add adds terms to the sum.
func (s *scaledSum) add(m []float64, e []int64, base float64) {
	if s.sum != 0 && base != s.base {
		s.close()
	}
	if s.sum == 0 {
		s.base, s.top = base, e[0]
	}
	for i, x := range m {
		if e[i] > s.top+900 { // the run's sum stays below 2⁹⁶⁰
			s.sum *= vec.Power(s.top - e[i])
			s.top = e[i]
		}
		s.sum += x * vec.Power(e[i]-s.top)
	}
}

// close adds the run to the earlier ones.
func (s *scaledSum) close() {
	l := s.base + vec.LogSplit(s.sum, s.top)
	switch {
	case s.part == 0:
		s.part, s.high = 1, l
	case l > s.high:
		s.part = float64(s.part*vec.Exp(s.high-l)) + 1
		s.high = l
	default:
		s.part += vec.Exp(l - s.high)
	}
	s.sum = 0
}

// log returns the logarithm of the sum of at least one term.
func (s *scaledSum) log() float64 {
	if s.sum != 0 {
		s.close()
	}
	return s.high + vec.Log(s.part)
}
