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

	// Of the current quad:
	m       [4]float64 // for each state: m·2^e·e^logBase is exp(−E), summed over the other layer
	e       [4]int64
	valid   int // number of states: 4, or fewer if there are fewer units
	logBase float64
	on, off []float64
	product []float64 // product of the ratios of the base's units that are on, except for the units of the quad
	active  uint64    // units that are on in the first state
	lit     []int     // for each listed group: the unit that is on

	quad   uint64 // number of the quad; its Gray code is the states of the units from quadUnits on
	left   int    // quads to come
	linear float64
	a      []float64 // preactivations of the base
	class  []float64 // odds of the units of the summed groups in the base, the largest of each group 1
}

// within returns the number of units of the states of a quad.
func (q *grayWalk) within() int { return min(q.low, quadUnits) }

// start goes before the first quad of a part of the units' states, with state y of the
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
	q.left++ // next goes to the first quad
	q.quad--
}

// next goes to the next quad, and reports whether there is one in the block.
func (q *grayWalk) next() bool {
	if q.left--; q.left == 0 {
		return false
	}
	q.quad++
	within := q.within()
	if active := (q.quad ^ q.quad>>1) << within; active != q.active {
		l := bits.TrailingZeros64(active ^ q.active)
		q.active = active
		if l >= q.low { // a unit of the base itself
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
	above, _ := vec.Odds(q.on, q.off, q.a[:width]) // the products hold the rest
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

// state returns the number of the quad's first state among those of its base.
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

// classOdds returns the ratios of the units of a summed group in a state of the base.
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

// scaledSum is a sum of terms m·2^e·e^base. Consecutive terms with one base form
// a run, of which one logarithm is taken.
type scaledSum struct {
	base float64 // of the run
	top  int64   // the run's sum is in units of 2^top
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
		s.sum += float64(x * vec.Power(e[i]-s.top))
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
