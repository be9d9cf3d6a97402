package exact

import (
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
	"gorbm/rbm/internal/vec"
)

// A grayWalk visits the quads of a block in Gray-code order: call start, then next
// until it returns false.
type grayWalk struct {
	*grayStates

	// The current quad and its base:
	m       [4]float64 // for each state: Σ exp(−E) over the summed layer is m·2^e·e^logBase
	e       [4]int64
	valid   int // number of states: 4, or fewer if there are fewer units
	logBase float64
	on, off []float64
	product []float64 // product of e^w over the base units that are on, without those of the quad
	active  uint64    // units that are on in the first state
	lit     []int     // for each listed group: the unit that is on

	quad   uint64    // number of the quad; its Gray code is the state of the units from quadUnits on
	left   int       // number of remaining quads
	linear float64   // sum of the biases of listed units that are on, without the base units
	a      []float64 // preactivations of the base
	class  []float64 // odds of the units of the summed groups in the base, relative to the largest of the group
}

// within returns the number of units in which states of a quad differ.
func (q *grayWalk) within() int { return min(q.low, quadUnits) }

// start moves to just before the first quad of a part of the units' states, with joint state y of the
// groups.
func (q *grayWalk) start(y, part int) {
	first := uint64(part) * uint64(q.blockSize())
	q.linear = 0
	copy(q.a, q.base)
	if !q.hidden {
		for k, g := range q.groups {
			l := q.units + g.First + y%g.Units
			y /= g.Units
			q.lit[k] = l
			q.linear += q.bias[l]
			vec.AddSigned(q.a, q.rows[l], 1)
		}
	}
	within := q.within()
	q.valid = 1 << within
	q.left = q.blockSize() >> within
	q.quad = first >> within
	q.active = (q.quad ^ q.quad>>1) << within
	for w := q.active >> q.low << q.low; w != 0; w &= w - 1 {
		l := bits.TrailingZeros64(w)
		q.linear += q.bias[l]
		vec.AddSigned(q.a, q.rows[l], 1)
	}
	q.rebase()
	q.left++ // the first call of next moves to the first quad
	q.quad--
}

// next moves to the next quad, and reports whether there is one in the block.
func (q *grayWalk) next() bool {
	if q.left--; q.left == 0 {
		return false
	}
	q.quad++
	within := q.within()
	if active := (q.quad ^ q.quad>>1) << within; active != q.active {
		l := bits.TrailingZeros64(active ^ q.active)
		q.active = active
		if l >= q.low { // the base changes
			sign := -1.0
			if active>>l&1 != 0 {
				sign = 1
			}
			q.linear += float64(sign * q.bias[l])
			vec.AddSigned(q.a, q.rows[l], sign)
			q.rebase()
		}
	}
	u := 0
	if q.low > quadUnits {
		u = int(q.active >> quadUnits & (1<<(q.low-quadUnits) - 1))
	}
	q.product = q.upper[u*q.width():][:q.width()]
	return true
}

// rebase computes the odds and the log weight of a new base from a.
func (q *grayWalk) rebase() {
	width := q.width()
	above, _ := vec.Odds(q.on, q.off, q.a[:width])
	q.logBase = q.linear + above
	if len(q.class) == 0 {
		return
	}
	for _, g := range q.groups {
		inputs, odds := q.a[width+g.First:][:g.Units], q.class[g.First:][:g.Units]
		top := floats.Max(inputs)
		for k, x := range inputs {
			odds[k] = vec.Exp(x - top)
		}
		q.logBase += top
	}
}

// state returns the number of the first state of the quad among the states of its base.
func (q *grayWalk) state() int { return int(q.active & (1<<q.low - 1)) }

// weigh computes m and e of the quad.
func (q *grayWalk) weigh() {
	first := q.state()
	q.m, q.e = [4]float64{1, 1, 1, 1}, [4]int64{}
	for s := range q.valid {
		q.m[s], q.e[s] = q.biases[first+s].M, q.biases[first+s].E
	}
	vec.QuadProducts(&q.m, &q.e, q.on, q.off, q.product, q.first, q.second, q.span)
	if len(q.class) == 0 {
		return
	}
	for s := range q.valid {
		p := vec.Scaled{M: q.m[s], E: q.e[s]}
		for i := range q.groups {
			p.Times(q.classSum(first+s, &q.groups[i]))
		}
		q.m[s], q.e[s] = p.M, p.E
	}
}

// classOdds returns the part of odds for a summed group in a state of the base.
func (q *grayWalk) classOdds(state int, g *rbm.Group) []float64 {
	return q.odds[state*len(q.class)+g.First:][:g.Units]
}

// classSum returns the sum of the odds of the units of a summed group in a state of the base.
func (q *grayWalk) classSum(state int, g *rbm.Group) float64 {
	sum := 0.0
	base := q.class[g.First:][:g.Units]
	for k, r := range q.classOdds(state, g) {
		sum += float64(base[k] * r)
	}
	return sum
}

// scaledSum is a sum of terms m·2^e·e^base. Consecutive terms with the same base form
// a run, which needs one logarithm.
type scaledSum struct {
	base float64
	top  int64
	sum  float64 // the sum of the current run is sum·2^top·e^base; zero if there is no run
	part float64
	high float64 // the sum of the earlier runs is part·e^high
}

func (s *scaledSum) add(m []float64, e []int64, base float64) {
	if s.sum != 0 && base != s.base {
		s.close()
	}
	if s.sum == 0 {
		s.base, s.top = base, e[0]
	}
	for i, x := range m {
		if e[i] > s.top+900 { // keeps sum below 2⁹⁶⁰
			s.sum *= vec.Power(s.top - e[i])
			s.top = e[i]
		}
		s.sum += float64(x * vec.Power(e[i]-s.top))
	}
}

// close adds the current run to the earlier runs.
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
