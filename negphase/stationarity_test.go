package negphase

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// exactGroups is the number of independent groups that start from the exact
// distribution. With it, a β that is wrong by a fifth gives z of at least 25.
const exactGroups = 8000

// Keys of separate random streams for the start and for the call.
var startFrom, callFrom = rbm.NewKey(1001), rbm.NewKey(1002)

// drawExactly returns hidden states. Row r is drawn from the distribution p[r mod len(p)] over
// the states all.
func drawExactly(all []state, p [][]float64, rows int) rbm.Values {
	b := rbm.NewBits(rows, len(all[0].h))
	for r := range rows {
		for j, h := range all[pick(p[r%len(p)], startFrom.Uniform(uint64(r)))].h {
			b.Set(r, j, h != 0)
		}
	}
	return b
}

// pick maps a uniform variate u to an index with distribution p.
func pick(p []float64, u float64) int {
	k := 0
	for ; k < len(p)-1 && u >= p[k]; k++ {
		u -= p[k]
	}
	return k
}

// A census counts the joint states of rows.
type census struct {
	all   []state
	index map[int]int
}

func newCensus(all []state) *census {
	c := &census{all, map[int]int{}}
	for x, s := range all {
		c.index[c.code(func(i int) bool { return s.v[i] != 0 }, func(j int) bool { return s.h[j] != 0 })] = x
	}
	return c
}

func (c *census) code(v, h func(i int) bool) (n int) {
	for i := range c.all[0].v {
		if v(i) {
			n |= 1 << i
		}
	}
	for j := range c.all[0].h {
		if h(j) {
			n |= 1 << (len(c.all[0].v) + j)
		}
	}
	return n
}

// state returns the number of the joint state in row r of s.
func (c *census) state(t *testing.T, s *rbm.States, r int) int {
	x, ok := c.index[c.code(func(i int) bool { return s.V.Get(r, i) }, func(j int) bool { return s.H.Get(r, j) })]
	if !ok {
		t.Fatalf("row %d is in a state that the model does not have", r)
	}
	return x
}

// z tests the states of the given rows of s against p.
func (c *census) z(t *testing.T, s *rbm.States, rows []int32, p []float64) float64 {
	t.Helper()
	counts := make([]int, len(c.all))
	for _, r := range rows {
		counts[c.state(t, s, int(r))]++
	}
	return diag.StationarityZ(counts, p)
}

// rowsAt returns the rows at temperature k.
func (l *ladder) rowsAt(k int) []int32 {
	var rows []int32
	for g := range l.groups {
		rows = append(rows, l.group(g)[k])
	}
	return rows
}

// sharp has small models of every kind. With parameters of standard deviation
// 2 their distributions are far from uniform.
var sharp = []shape{
	{4, 3, 0, rbm.Softmax},
	{3, 4, 0, rbm.Softmax},
	{5, 3, 3, rbm.Softmax},
	{4, 2, 2, rbm.Bernoulli},
}

const sharpSD = 2

// testTemperatures are the temperatures of these tests. Their inverses are exact in
// float32, unlike 1/3, and not equally spaced, so that exchanges with the β of another pair are
// detected.
var testTemperatures = []float64{1, 1.6, 16}

// An exactStart is a model with its distributions at all temperatures, and a positive phase.
type exactStart struct {
	m    *rbm.RBM
	base *rbm.Base
	all  []state
	p    [][]float64 // [temperature][state] probability
	c    *census
}

// newExactStart returns an exactStart on the path to the uniform distribution or, if base is set,
// to a random base.
func newExactStart(m *rbm.RBM, base bool) *exactStart {
	x := &exactStart{m: m, all: states(m)}
	if base {
		x.base = randomBase(m, 6)
		x.all = withBase(x.all, x.base)
	}
	for _, t := range testTemperatures {
		x.p = append(x.p, distribution(x.all, 1/t))
	}
	x.c = newCensus(x.all)
	return x
}

// ladderSettings returns settings of pt, ins or pins for the exact start. Blocks
// are shorter than the ladder.
func ladderSettings(kind string) Settings {
	s := DefaultSettings(kind)
	l := s.ladder()
	l.swaps, l.chains, l.Temperatures.List = 2, exactGroups, testTemperatures
	if p, ok := s.specific.(*pinsSettings); ok {
		p.block = 2
	}
	return s
}

// pt returns parallel tempering at the exact start: particle k of each group is
// drawn at temperature k.
func (x *exactStart) pt(order string) *pt {
	s := ladderSettings("pt")
	p := build[*pt](s)
	p.order = order
	p.base = x.base
	p.saved = savedChains{h: drawExactly(x.all, x.p, p.rows)}
	return p
}

// ins returns infinite swapping, or pins, at the exact start. That of pt is a
// draw from the joint distribution of particles and assignment, given one assignment.
func (x *exactStart) ins(kind string) *ins {
	n := build[*ins](ladderSettings(kind))
	n.base = x.base
	n.saved = savedChains{h: drawExactly(x.all, x.p, n.rows)}
	return n
}

// worst returns the largest z of the particles by temperature.
func (x *exactStart) worst(t *testing.T, l *ladder) float64 {
	t.Helper()
	worst := math.Inf(-1)
	for k, p := range x.p {
		worst = max(worst, x.c.z(t, l.states, l.rowsAt(k), p))
	}
	return worst
}

func eachExactStart(t *testing.T, shapes []shape, f func(t *testing.T, x *exactStart)) {
	for _, s := range shapes {
		t.Run(s.String(), func(t *testing.T) { f(t, newExactStart(s.random(31, sharpSD), false)) })
	}
}

// eachExactStartAndGroups is eachExactStart with one more model, which has softmax groups. Walks do not support these.
func eachExactStartAndGroups(t *testing.T, shapes []shape, f func(t *testing.T, x *exactStart)) {
	eachExactStart(t, shapes, f)
	t.Run("groups", func(t *testing.T) { f(t, newExactStart(sharpGroups(31, sharpSD), false)) })
}

// On the path to a base, ladders leave the distributions invariant and their
// estimates have the exact mean. With swaps by E instead of E − E₀ they do not.
func TestPathToABase(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for _, s := range sharp {
		x := newExactStart(s.random(31, sharpSD), true)
		want := expectation(x.m, x.all, x.p[0])
		pt, evenodd, ins, pins := x.pt(Sweep), x.pt(EvenOdd), x.ins("ins"), x.ins("pins")
		for _, c := range []struct {
			name string
			e    Estimator
			l    *ladder
		}{{"pt", pt, &pt.ladder}, {"pt, evenodd", evenodd, &evenodd.ladder}, {"ins", ins, &ins.ladder}, {"pins", pins, &pins.ladder}} {
			phase, _, err := c.e.Estimate(x.m, rbm.Batch{}, callFrom)
			if err != nil {
				t.Fatal(err)
			}
			z, d := x.worst(t, c.l), deviation(groupEstimates(phase, exactGroups), want)
			t.Logf("%v: %s: z = %.1f, %.2f of the tolerance", s, c.name, z, d)
			if z > 6 || d > 1 {
				t.Errorf("%v: %s: z = %.1f, the mean is off by %.2f tolerances", s, c.name, z, d)
			}
		}
		broken := x.pt(Sweep)
		if err := broken.prepare(x.m, rbm.Batch{}, callFrom); err != nil {
			t.Fatal(err)
		}
		for round := range 2 {
			if err := broken.advance(x.m, callFrom.Child(uint64(round))); err != nil {
				t.Fatal(err)
			}
			broken.base = nil // in swaps only
			broken.swap(callFrom.Child(uint64(10 + round)))
			broken.base = x.base
		}
		z := x.worst(t, &broken.ladder)
		t.Logf("%v: swaps by E: z = %.1f", s, z)
		if z < 6 {
			t.Errorf("%v: swaps by E instead of E − E₀ are not seen: z = %.1f", s, z)
		}
	}
}

// From an exact start every estimator leaves the distribution of the particles at each
// temperature invariant.
func TestEstimateIsStationary(t *testing.T) {
	eachExactStartAndGroups(t, sharp, func(t *testing.T, x *exactStart) {
		check := func(name string, z float64) {
			t.Helper()
			t.Logf("%s: z = %.1f", name, z)
			if z > 6 {
				t.Errorf("%s: z = %.1f, want at most 6", name, z)
			}
		}
		run := func(e Estimator, pos rbm.Batch) rbm.Phase {
			t.Helper()
			phase, _, err := e.Estimate(x.m, pos, callFrom)
			if err != nil {
				t.Fatal(err)
			}
			return phase
		}
		p := build[*pcd](set(t, "pcd:k=2", "chains", exactGroups))
		p.saved = savedChains{h: drawExactly(x.all, x.p[:1], p.rows)}
		run(p, rbm.Batch{})
		check("pcd", x.c.z(t, p.states, numbers(p.rows), x.p[0]))

		for _, order := range []string{Sweep, EvenOdd} {
			pt := x.pt(order)
			run(pt, rbm.Batch{})
			check("pt, "+order, x.worst(t, &pt.ladder))
		}
		for _, kind := range []string{"ins", "pins"} {
			ins := x.ins(kind)
			run(ins, rbm.Batch{})
			check(kind, x.worst(t, &ins.ladder))
		}
		hot := x.ins("pins")
		hot.swaps, hot.rounds = 1, 1 // the round of the hot pair, without a Gibbs step after it
		run(hot, rbm.Batch{})
		check("pins, the hot pair", x.worst(t, &hot.ladder))

		// cd with a batch drawn from the model leaves its distribution invariant.
		pos := rbm.Batch{V: rbm.NewBits(exactGroups, x.m.Visible()), H: rbm.NewMatrix(exactGroups, x.m.Hidden())}
		for r := range exactGroups {
			for i, v := range x.all[pick(x.p[0], startFrom.Uniform(uint64(r)))].v {
				pos.V.Set(r, i, v != 0)
			}
		}
		x.m.HiddenMean(pos.H, pos.V)
		c := build[*cd](set(t, "cd", "k", 2))
		run(c, pos)
		check("cd", x.c.z(t, c.states, numbers(exactGroups), x.p[0]))
	})
}

func numbers(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

// Broken versions of the estimators must be detected.
func TestBrokenEstimatorsAreNotStationary(t *testing.T) {
	eachExactStartAndGroups(t, sharp[1:3], func(t *testing.T, x *exactStart) {
		check := func(name string, z float64) {
			t.Helper()
			t.Logf("%s: z = %.1f", name, z)
			if z < 6 {
				t.Errorf("a broken estimator is not seen: %s: z = %.1f, want at least 6", name, z)
			}
		}
		begin := func(l *ladder) {
			t.Helper()
			if err := l.begin(x.m, rbm.Batch{}, callFrom); err != nil {
				t.Fatal(err)
			}
		}
		advance := func(l *ladder, round int) {
			t.Helper()
			if err := l.advance(x.m, callFrom.Child(uint64(round))); err != nil {
				t.Fatal(err)
			}
		}
		swap := callFrom.Child(99)

		// The β of one row is wrong by a fifth.
		p := x.pt(Sweep)
		begin(&p.ladder)
		for t := range p.swaps {
			for k, beta := range p.beta {
				for _, row := range p.rowsAt(k) {
					p.rowBeta[row] = float32(1.2 * beta)
				}
			}
			x.m.Step(p.states, p.rowBeta, 1, callFrom.Child(uint64(t)))
			p.swap(swap.Child(uint64(t)))
		}
		check("pt, β off by a fifth", x.worst(t, &p.ladder))

		// The temperatures of a group are not the assigned ones.
		p = x.pt(Sweep)
		begin(&p.ladder)
		for t := range p.swaps {
			for r := range p.rowBeta {
				p.rowBeta[r] = float32(p.beta[r%len(p.beta)])
			}
			x.m.Step(p.states, p.rowBeta, 1, callFrom.Child(uint64(t)))
			p.swap(swap.Child(uint64(t)))
		}
		check("pt, β by row instead of by assignment", x.worst(t, &p.ladder))

		// Swaps have the wrong sign in the exponent: energies are negated.
		p = x.pt(Sweep)
		begin(&p.ladder)
		for t := range p.swaps {
			advance(&p.ladder, t)
			for r := range p.states.Energy {
				p.states.Energy[r] *= -1
			}
			p.swap(swap.Child(uint64(t)))
		}
		check("pt, sign of the swaps", x.worst(t, &p.ladder))

		reassign := func(n *ins, round int) { n.reassign(swap.Child(uint64(round)), false) }
		n := x.ins("ins")
		begin(&n.ladder)
		for t := range n.swaps {
			advance(&n.ladder, t)
			for r := range n.states.Energy {
				n.states.Energy[r] *= -1
			}
			reassign(n, t)
		}
		check("ins, sign of the energies", x.worst(t, &n.ladder))

		// Blocks have the β of the ladder's other half.
		n = x.ins("pins")
		n.swaps, n.rounds = 1, 1 // the round of the hot pair
		begin(&n.ladder)
		for t := range n.swaps {
			advance(&n.ladder, t)
			beta := n.beta
			n.beta = append(append([]float64(nil), beta[1:]...), 0)
			reassign(n, t)
			n.beta = beta
			n.finish()
		}
		check("pins, β of the next temperature", x.worst(t, &n.ladder))

		// The permutation is drawn from the energies before the last steps.
		n = x.ins("ins")
		begin(&n.ladder)
		advance(&n.ladder, 0)
		old := append([]float64(nil), n.states.Energy...)
		for t := range n.swaps {
			advance(&n.ladder, t+1)
			old, n.states.Energy = n.states.Energy, old
			reassign(n, t)
			old, n.states.Energy = n.states.Energy, old
			copy(old, n.states.Energy)
		}
		check("ins, energies before the steps", x.worst(t, &n.ladder))
	})
}

// groupEstimates returns the estimate from the rows of each group, in the form of terms.
func groupEstimates(phase rbm.Phase, groups int) [][]float64 {
	rows := phase.V.Rows / groups
	all := make([][]float64, groups)
	for r := range phase.V.Rows {
		w := 1 / float64(rows)
		if phase.Weight != nil {
			w = float64(phase.Weight[r]) * float64(groups)
		}
		var f []float64
		for i := range phase.V.Cols {
			for _, q := range phase.H.Row(r) {
				if !phase.V.Get(r, i) {
					q = 0
				}
				f = append(f, float64(q))
			}
		}
		for i := range phase.V.Cols {
			v := 0.0
			if phase.V.Get(r, i) {
				v = 1
			}
			f = append(f, v)
		}
		for _, q := range phase.H.Row(r) {
			f = append(f, float64(q))
		}
		all[r/rows] = addTo(all[r/rows], w, f)
	}
	return all
}

// deviation returns the largest |mean of the groups' estimates − want| divided by its tolerance. Estimates are in
// 0 … 1. The tolerance is six standard errors from the groups plus 42/(n−1), for estimates with hardly
// any variance. The second term is that of the empirical Bernstein bound (Maurer &
// Pontil 2009, theorem 4) at the same level.
func deviation(groups [][]float64, want []float64) float64 {
	n := float64(len(groups))
	worst := 0.0
	for i := range want {
		var sum, square float64
		for _, g := range groups {
			sum += g[i]
			square += g[i] * g[i]
		}
		mean := sum / n
		se := math.Sqrt(max(0, square/n-mean*mean) / n)
		worst = max(worst, math.Abs(mean-want[i])/(6*se+42/(n-1)))
	}
	return worst
}

// From an exact start the returned moments have the exact mean.
func TestEstimateIsUnbiased(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	eachExactStart(t, sharp, func(t *testing.T, x *exactStart) {
		want := expectation(x.m, x.all, x.p[0])
		run := func(e Estimator) rbm.Phase {
			t.Helper()
			phase, _, err := e.Estimate(x.m, rbm.Batch{}, callFrom)
			if err != nil {
				t.Fatal(err)
			}
			return phase
		}
		pt, evenodd, ins, pins := x.pt(Sweep), x.pt(EvenOdd), x.ins("ins"), x.ins("pins")
		p := build[*pcd](set(t, "pcd:k=2", "chains", exactGroups))
		p.saved = savedChains{h: drawExactly(x.all, x.p[:1], p.rows)}
		for _, c := range []struct {
			name  string
			phase rbm.Phase
		}{{"pcd", run(p)}, {"pt", run(pt)}, {"pt, evenodd", run(evenodd)}, {"ins", run(ins)}, {"pins", run(pins)}} {
			d := deviation(groupEstimates(c.phase, exactGroups), want)
			t.Logf("%s: %.2f of the tolerance", c.name, d)
			if d > 1 {
				t.Errorf("%s is biased: %.2f times the tolerance, want at most 1", c.name, d)
			}
			// With equal weights the particles do not have the exact mean.
			if c.name != "pcd" {
				c.phase.Weight = nil
				if d := deviation(groupEstimates(c.phase, exactGroups), want); d < 1 {
					t.Errorf("%s: equal weights are not seen: %.2f, want at least 1", c.name, d)
				}
			}
		}
		// Broken: the weights of ins on its particles one round later.
		weight := append([]float32(nil), ins.weight...)
		phase := run(ins)
		phase.Weight = weight
		d := deviation(groupEstimates(phase, exactGroups), want)
		t.Logf("ins, weights of other particles: %.2f", d)
		if d < 1 {
			t.Errorf("weights of other particles are not seen: %.2f, want at least 1", d)
		}
	})
}

// The moments of exact are exact.
func TestExactIsExact(t *testing.T) {
	eachExactStart(t, sharp, func(t *testing.T, x *exactStart) {
		phase, _, err := estimator(t, "exact").Estimate(x.m, rbm.Batch{}, callFrom)
		if err != nil {
			t.Fatal(err)
		}
		want := expectation(x.m, x.all, x.p[0])
		var got []float64
		for _, s := range [][]float32{phase.Moments.VH.Data, phase.Moments.V, phase.Moments.H} {
			for _, x := range s {
				got = append(got, float64(x))
			}
		}
		for i := range want {
			near(t, fmt.Sprint("moment ", i), got[i], want[i], 0x1p-24+1e-12) // moments are float32
		}
	})
}

// A base of another shape is an error. With a base of the model's shape, a saved run continues with identical
// results, which differ from those of the uniform path.
func TestBaseOfALadder(t *testing.T) {
	m := shape{9, 7, 3, rbm.Softmax}.random(5, 0.7)
	for _, kind := range []string{"pt:tau=auto", "ins:tau=auto", "pins:tau=auto", "ptt:freeze=0.9:sweeps=4"} {
		s := parse(t, kind+":path=data:chains=3")
		s.SetBase(randomBase(m, 2))
		run := func(saved []byte, from, to int) ([]uint64, []byte) {
			t.Helper()
			e, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.UnmarshalBinary(saved); saved != nil && err != nil {
				t.Fatal(err)
			}
			bits := call(t, e, m, rbm.Batch{}, from, to)
			b, _ := e.MarshalBinary()
			return bits, b
		}
		whole, _ := run(nil, 0, 70)
		first, saved := run(nil, 0, 45)
		second, _ := run(saved, 45, 70)
		if !slices.Equal(whole, slices.Concat(first, second)) {
			t.Errorf("%s goes on with other bits", kind)
		}
		if slices.Equal(call(t, estimator(t, kind+":chains=3"), m, rbm.Batch{}, 0, 70), whole) {
			t.Errorf("%s: the base changes nothing", kind)
		}
		s.SetBase(randomBase(shape{8, 7, 0, rbm.Softmax}.random(1, 1), 2))
		e, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(1)); err == nil {
			t.Errorf("%s takes a base of another shape", kind)
		}
	}
}
