package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// How much work the metric of mixing may take. It is bounded by counts of updates,
// not by time, so that equal runs measure at equal steps.
const (
	// The chains are continued for one update in mixingShare of those since the last
	// measurement, without the positive phase and the ascent that an update of
	// training has besides. If that is fewer than leastContinued, there is no
	// measurement yet: where training at a rate of 0.1 had driven chains away from
	// the model, of 8 × 8 digits with 50 hidden units, they had come back halfway
	// after some 4 updates, and by four fifths after 16. More than mostContinued are
	// not needed.
	mixingShare                   = 14
	leastContinued, mostContinued = 14, 50
	// tracePoints is the largest number of updates after which free energies are
	// computed.
	tracePoints = 8
	// Fresh chains are for the test of whether chains are stuck, which needs no
	// haste: there are two kinds of them, each as much work as single chains that
	// are continued, after freshEvery updates at least.
	freshEvery = 1600
	// leastFresh and mostFresh bound the number of fresh chains of a kind.
	leastFresh, mostFresh = 10, 40
)

// Columns of the metric, in order.
const (
	driftValue = iota
	rHatValue
	tauValue
	leftValue
	fromDataZ
	fromBaseZ
	mixingValues
)

// A mixing measures how the chains of a run mix. It continues a copy of them on
// the model as it is: on a model that stands still, chains that keep up with
// training go on as they were, and chains that do not keep up move away at once.
// Training never sees the copy, and all draws have keys of their own.
type mixing struct {
	s       *subject
	key     rbm.Key
	trainer *Trainer
	base    *rbm.Base
	copy    negphase.Estimator
	mixingState
}

// A mixingState is what the next measurement depends on, beside the run.
type mixingState struct {
	Step   int           `json:"step"`             // of the last measurement
	Fresh  int           `json:"fresh"`            // step of the last one with fresh chains
	Last   []string      `json:"last,omitempty"`   // its values: JSON has no NaN
	Window []mixingPoint `json:"window,omitempty"` // the last measurements, for the verdict
	Warned string        `json:"warned,omitempty"` // the first warning
}

func newMixing(s *subject, key rbm.Key) *mixing { return &mixing{s: s, key: key} }

// watch gives the metric the run whose chains it measures.
func (x *mixing) watch(t *Trainer) {
	x.trainer, x.base = t, Base(t.model, t.set)
	x.copy = nil
}

// measure returns the values of the columns; NaN where there are too few updates
// since the last measurement, or where a value needs more chains. With whole it
// returns the last values that were measured.
func (x *mixing) measure(ctx context.Context, _ *rbm.RBM, whole bool) ([]float64, error) {
	if x.trainer == nil {
		return nil, errors.New("mixing is measured of the chains of a run; give its trainer to Watch")
	}
	if whole {
		return parseValues(x.Last), nil
	}
	updates := min((x.trainer.step-x.Step)/mixingShare, mostContinued)
	if updates < leastContinued {
		return parseValues(nil), nil
	}
	key := x.key.Child(uint64(x.trainer.step))
	c, err := x.follow(ctx, updates, key)
	if err != nil {
		return nil, err
	}
	x.Step = x.trainer.step
	sd := 0.0
	if len(c.trace) < leastFresh { // too few values for a standard deviation: take that of data
		d := x.s.parts[0]
		rows := pick(d.order, mostFresh, key.Child(dataKey))
		free := make([]float64, len(rows))
		m := x.trainer.model
		m.FreeEnergy(free, d.set.Rows(rows, m.Classes()))
		_, variance := diag.MeanVariance(free)
		sd = math.Sqrt(variance)
	}
	p := c.point(sd)
	p.Step, p.Updates = x.Step, updates
	values := make([]float64, mixingValues)
	agreement := diag.Compare(c.trace)
	values[driftValue], values[rHatValue] = p.Drift, agreement.RHat
	values[tauValue], values[leftValue] = agreement.Tau*float64(c.stride), c.left()
	values[fromDataZ], values[fromBaseZ] = math.NaN(), math.NaN()
	if x.trainer.model.Constraint == nil && c.end.Rows > 1 && x.Step-x.Fresh >= freshEvery {
		x.Fresh = x.Step
		fresh := x.freshChains(&c, key)
		p.Data, p.Base = apart(c.end, fresh[fromData], key.Child(testKey)), apart(c.end, fresh[fromBase], key.Child(testKey+1))
		p.Fresh = apart(fresh[fromData], fresh[fromBase], key.Child(testKey+2))
		p.Compared = true
		values[fromDataZ], values[fromBaseZ] = p.Data, p.Base
	}
	if x.Window = append(x.Window, p); len(x.Window) > windowPoints {
		x.Window = x.Window[1:]
	}
	x.Last = nil
	for _, v := range values {
		x.Last = append(x.Last, fmt.Sprint(v))
	}
	return values, nil
}

// parseValues returns the numbers of texts; NaN for all if there are none.
func parseValues(texts []string) []float64 {
	values := make([]float64, mixingValues)
	for i := range values {
		values[i] = math.NaN()
		if i < len(texts) {
			fmt.Sscan(texts[i], &values[i])
		}
	}
	return values
}

// Purposes of the keys of a measurement. The updates have the keys from 0 on.
const (
	freshKey = 1 << 32
	testKey  = 2 << 32
	dataKey  = 3 << 32
)

// Where fresh chains start.
const (
	fromData = iota
	fromBase
)

// A continuation is what chains did while the model stood still.
type continuation struct {
	trace      [][]float64 // free energies of each chain, or of each group's particles at β = 1
	stride     int         // updates between them
	start, end rbm.Bits    // visible states after the first and the last update
	steps      int         // Gibbs steps of a particle
}

// follow continues a copy of the chains for so many updates.
func (x *mixing) follow(ctx context.Context, updates int, key rbm.Key) (c continuation, err error) {
	t, m := x.trainer, x.trainer.model
	if x.copy, err = t.copyNegative(x.copy); err != nil {
		return c, err
	}
	chains := t.settings.Negative.Count("chains")
	c = continuation{trace: make([][]float64, chains), stride: (updates + tracePoints - 3) / (tracePoints - 1),
		start: rbm.NewBits(chains, m.Visible()), end: rbm.NewBits(chains, m.Visible())}
	for i := range updates {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		phase, info, err := x.copy.Estimate(m, t.batch, key.Child(uint64(i)))
		if err != nil {
			return c, err
		}
		c.steps += int(info.Updates) / phase.V.Rows()
		if (updates-1-i)%c.stride == 0 || i == 0 {
			c.add(m, phase)
		}
		if i == 0 {
			coldest(c.start, phase)
		}
		coldest(c.end, phase)
	}
	return c, nil
}

// add appends the free energy of each chain to its trace: that of its particles
// by their weights.
func (c *continuation) add(m *rbm.RBM, phase rbm.Phase) {
	v := phase.V.Bits
	rows := make([]int, 0, v.Rows)
	for r := range v.Rows {
		if phase.Weight == nil || phase.Weight[r] > 0 {
			rows = append(rows, r)
		}
	}
	weighted := rbm.NewBits(len(rows), v.Cols)
	for i, r := range rows {
		copy(weighted.Row(i), v.Row(r))
	}
	free := make([]float64, len(rows))
	m.FreeEnergy(free, weighted.Input())
	chains, each := len(c.trace), v.Rows/len(c.trace)
	sums, weights := make([]float64, chains), make([]float64, chains)
	for i, r := range rows {
		w := 1.0
		if phase.Weight != nil {
			w = float64(phase.Weight[r])
		}
		sums[r/each] += float64(w * free[i])
		weights[r/each] += w
	}
	for g := range sums {
		c.trace[g] = append(c.trace[g], sums[g]/weights[g])
	}
}

// coldest overwrites dst with the visible state of each chain: of a group of
// particles, that with the largest weight.
func coldest(dst rbm.Bits, phase rbm.Phase) {
	each := phase.V.Rows() / dst.Rows
	for g := range dst.Rows {
		best := g * each
		for r := best; r < (g+1)*each && phase.Weight != nil; r++ {
			if phase.Weight[r] > phase.Weight[best] {
				best = r
			}
		}
		copy(dst.Row(g), phase.V.Bits.Row(best))
	}
}

// freshChains returns the visible states of chains that start at random training
// rows, and of others that start at draws from the base rates of the data, after as
// many Gibbs steps as those of c have taken.
func (x *mixing) freshChains(c *continuation, key rbm.Key) (v [2]rbm.Bits) {
	m := x.trainer.model
	rows := min(max(c.end.Rows, leastFresh), mostFresh)
	for from := range v {
		s, key := rbm.NewStates(m, rows), key.Child(uint64(freshKey+from))
		if from == fromBase {
			x.base.Draw(m, s.V, s.H, key.Child(sampleStart))
		} else {
			p := x.s.parts[0]
			b := rbm.Batch{V: p.set.Rows(pick(p.order, rows, key), m.Classes()), H: rbm.NewMatrix(rows, m.Hidden())}
			m.HiddenMean(b.H, b.V)
			m.HiddenSample(s.H, b, key.Child(sampleStart))
		}
		m.Step(s, nil, c.steps, key.Child(sampleWalk))
		v[from] = s.V
	}
	return v
}

// left returns the share of chains whose state at the end is nearer to where
// another chain began than to where it began itself: chains that have forgotten
// their place. It is 1 − 1/chains where all have, and NaN for a single chain.
func (c *continuation) left() float64 {
	if c.start.Rows < 2 {
		return math.NaN()
	}
	gone := 0.0
	for g := range c.end.Rows {
		own := differ(c.end.Row(g), c.start.Row(g))
		for other := range c.start.Rows {
			if other != g && differ(c.end.Row(g), c.start.Row(other)) < own {
				gone++
				break
			}
		}
	}
	return gone / float64(c.end.Rows)
}
