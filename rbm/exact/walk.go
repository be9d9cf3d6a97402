package exact

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
)

// A walk visits the quads of a block of bases in Gray-code order, and sums out the other layer. It has the
// working memory of one goroutine.
type walk struct {
	*plan

	// The current quad. Its states differ in the first within listed units. State s has the weight
	// m[s]·2^e[s]·e^log; m[s] is 0 if the state is excluded.
	within   int
	excluded [4]bool // by the constraint, or because it does not exist
	m        [4]float64
	e        [4]int64
	log      float64

	state    []int  // states of the high variables
	next     []int  // and those to move to
	active   int    // number of active units among them that count for the constraint
	low      uint64 // low units that are on in state 0 of the quad
	backward bool   // the low units are visited backward

	linear  float64       // log weight of the listed units in state 0, with couplings
	rise    []float64     // for each listed unit: the sum of its couplings to units that are on in state 0
	inner   [4]vec.Scaled // factor of the weight of state s from the units that are on in it, but not in state 0
	a       []float64     // inputs of the columns in state 0; without the ratio units for the finite columns
	stale   bool          // on, off and above do not belong to a
	on, off []float64     // odds of the bits; for groups on = e^(a − max a)
	above   float64       // logarithm of the factor that on and off leave out
	product []float64     // product of e^w over the ratio units that are on in state 0

	z     [4][]float64 // inputs of the columns from finite on, in each state of the quad
	mean  [4][]float64 // and their means, if they are wanted
	layer *bernoulli.Layer

	ref, sum float64 // the sum of the weights of the quads since the start of the block is sum·e^ref
	to       *sums   // moments, divided by e^ref; nil if only log Z is wanted
}

func newWalk(p *plan) *walk {
	rest, variables := len(p.columns)-p.finite, len(p.high)
	w := &walk{plan: p, state: make([]int, variables), next: make([]int, variables), rise: make([]float64, len(p.order)),
		a: make([]float64, len(p.columns)), on: make([]float64, p.finite), off: make([]float64, p.bits), ref: math.Inf(-1)}
	for s := range w.z {
		w.z[s], w.mean[s] = make([]float64, rest), make([]float64, rest)
	}
	if p.bound {
		w.layer = p.newLayer()
	}
	return w
}

// visit calls f for each quad of bases lo … hi−1 with an allowed state.
func (w *walk) visit(lo, hi int, f func()) {
	w.start()
	for n := lo; n < hi; n++ {
		w.enter(n)
		quads := 1 << (w.plan.low - w.within)
		for i := range quads {
			if w.backward {
				i = quads - 1 - i
			}
			w.turnLow(uint64(i^i>>1) << w.within)
			if w.weigh() {
				f()
			}
		}
	}
	w.eachOn(func(l int) {
		if w.to != nil {
			w.to.turn(l, 1)
		}
	})
}

// start switches all units off.
func (w *walk) start() {
	w.sum, w.within, w.low, w.stale = 0, min(w.ratios, quadUnits), 0, true
	copy(w.a, w.base)
	clear(w.rise)
	if w.linear = 0; w.coupled {
		w.linear = w.marginal.Shift
	}
	for k := range w.state {
		w.state[k] = -1
	}
	w.setInner()
}

// setInner computes inner.
func (w *walk) setInner() {
	var x [4]float64
	for s := 1; s < 1<<w.within; s++ {
		for l := range w.within {
			if s>>l&1 != 0 {
				x[s] += w.bias[l] + w.rise[l]
			}
		}
	}
	if w.within == quadUnits && w.coupled {
		x[3] += w.marginal.Row(0)[1]
	}
	for s := range x {
		w.inner[s] = vec.ScaledExp(x[s])
	}
}

// enter moves the high variables to base n.
func (w *walk) enter(n int) {
	w.active, w.backward = w.listing.base(w.next, n)
	for k, to := range w.next {
		from, v := w.state[k], w.high[k]
		if from == to {
			continue
		}
		if from >= 0 {
			w.turn(v.unit(from), -1)
		}
		w.turn(v.unit(to), 1)
		w.state[k] = to
	}
}

// turnLow switches the low units to the given states.
func (w *walk) turnLow(to uint64) {
	for x := to ^ w.low; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		w.turn(l, float64(2*int(to>>l&1)-1))
	}
	w.low = to
	ratio := 0
	if w.ratios > quadUnits {
		ratio = int(to & (1<<w.ratios - 1) >> quadUnits)
	}
	w.product = w.upper[ratio*w.finite:][:w.finite]
}

// turn switches listed unit l on if sign is 1, and off if sign is −1. It does nothing for l = −1.
func (w *walk) turn(l int, sign float64) {
	if l < 0 {
		return
	}
	w.linear += float64(sign * (w.bias[l] + w.rise[l]))
	first := 0
	if l < w.ratios {
		first = w.finite
	}
	floats.AddScaled(w.a[first:], sign, w.rows[l][first:])
	w.stale = w.stale || first == 0
	if w.coupled {
		floats.AddScaled(w.rise, sign, w.marginal.Row(l))
	}
	if w.to != nil {
		w.to.turn(l, -sign)
	}
}

// eachOn calls f for each listed unit that is on in state 0.
func (w *walk) eachOn(f func(l int)) {
	for x := w.low; x != 0; x &= x - 1 {
		f(bits.TrailingZeros64(x))
	}
	for k, d := range w.state {
		if l := w.high[k].unit(d); l >= 0 {
			f(l)
		}
	}
}

// weigh computes the weights of the quad, and reports whether the constraint allows one of its states.
func (w *walk) weigh() bool {
	none := true
	for s := range w.excluded {
		w.excluded[s] = s >= 1<<w.within || !w.allows(w.activeIn(s))
		none = none && w.excluded[s]
	}
	if none {
		return false
	}
	w.sumOut()
	for s, x := range w.excluded {
		if x {
			w.m[s] = 0
		}
	}
	return true
}

// activeIn returns the number of active listed units in state s that count for the constraint.
func (w *walk) activeIn(s int) int {
	return w.active + bits.OnesCount64(w.low) + bits.OnesCount(uint(s))
}

// sumOut sums out the other layer for the states of the quad.
func (w *walk) sumOut() {
	if w.stale {
		w.findOdds()
	}
	if w.coupled {
		w.setInner()
	}
	w.log = w.linear + w.above
	for s, x := range w.inner {
		w.m[s], w.e[s] = x.M, x.E
	}
	n := w.plan.bits
	vec.QuadProducts(&w.m, &w.e, w.on[:n], w.off, w.product[:n], w.first[:n], w.second[:n], w.span)
	for i := range w.classes {
		for s, x := range w.classSums(&w.classes[i]) {
			w.times(s, x)
		}
	}
	if w.rest != nil {
		w.sumRest()
	}
}

// times multiplies the weight of state s by x, a positive normal number.
func (w *walk) times(s int, x float64) {
	p := vec.Scaled{M: w.m[s], E: w.e[s]}
	p.Times(x)
	w.m[s], w.e[s] = p.M, p.E
}

// findOdds computes on, off and above.
func (w *walk) findOdds() {
	n := w.plan.bits
	w.above, _ = vec.Odds(w.on[:n], w.off, w.a[:n])
	for _, g := range w.classes {
		a, on := w.a[g.at:][:g.Units], w.on[g.at:][:g.Units]
		top := floats.Max(a)
		for c, x := range a {
			on[c] = x - top
		}
		vec.Exps(on, on)
		w.above += top
	}
	w.stale = false
}

// classOdds returns the unnormalised probability of column k, of a softmax group, in each state of the quad.
func (w *walk) classOdds(k int) (x [4]float64) {
	x[0] = float64(w.on[k] * w.product[k])
	x[1] = float64(x[0] * w.first[k])
	x[2] = float64(x[0] * w.second[k])
	x[3] = float64(x[1] * w.second[k])
	return x
}

// classSums returns the sum of classOdds over a group.
func (w *walk) classSums(g *part) [4]float64 {
	on, n := w.on[g.at:], g.Units
	product, first, second := w.product[g.at:][:n], w.first[g.at:][:n], w.second[g.at:][:n]
	var sum0, sum1, sum2, sum3 float64 // an array would be in memory, which takes three times as long
	for k, x := range on[:n] {
		x = float64(x * product[k])
		odd := float64(x * first[k])
		sum0, sum1 = sum0+x, sum1+odd
		sum2, sum3 = sum2+float64(x*second[k]), sum3+float64(odd*second[k])
	}
	return [...]float64{sum0, sum1, sum2, sum3}
}

// sumRest multiplies the weight of each state by that of the columns from finite on.
func (w *walk) sumRest() {
	for s := range w.z {
		if w.excluded[s] {
			clear(w.mean[s])
			continue
		}
		copy(w.z[s], w.a[w.finite:])
		for l := range w.within {
			if s>>l&1 != 0 {
				floats.Add(w.z[s], w.rows[l][w.finite:])
			}
		}
		log := 0.0
		switch {
		case w.bound:
			rest := w.model.Constraint.Active
			if w.filtered {
				rest -= w.activeIn(s)
			}
			var mean []float64
			if w.to != nil {
				mean = w.mean[s]
			}
			log = w.layer.LogWeight(0, w.z[s], rest, mean)
		default:
			for _, g := range w.rest {
				log += g.Kind.LogZ(w.z[s][g.at-w.finite:][:g.Units], &w.dist, g.First)
			}
		}
		switch {
		case math.Abs(log) < 1e9:
			x := vec.ScaledExp(log)
			w.times(s, x.M)
			w.e[s] += x.E
		case math.IsInf(log, -1):
			w.excluded[s] = true
			clear(w.mean[s])
		default:
			w.log = math.NaN()
		}
	}
}

// farAbove is the difference from which a larger weight replaces ref, in nats.
const farAbove = 300

// add adds the weights of the quad to the sum, and returns them divided by e^ref.
func (w *walk) add() (p [4]float64) {
	most := int64(math.MinInt64)
	for s, m := range w.m {
		if m > 0 {
			most = max(most, w.e[s])
		}
	}
	if most == math.MinInt64 {
		return p
	}
	top := w.log + float64(float64(most)*math.Ln2)
	if top > w.ref+farAbove {
		w.scale(vec.Exp(w.ref - top))
		w.ref = top
	}
	unit := vec.Exp(top - w.ref) // NaN if a parameter is
	for s, m := range w.m {
		if m > 0 {
			p[s] = float64(m*vec.Power(w.e[s]-most)) * unit
		}
		w.sum += p[s]
	}
	return p
}

// scale multiplies the sum and the moments by x.
func (w *walk) scale(x float64) {
	w.sum *= x
	if w.to != nil {
		w.to.scale(x)
	}
}
