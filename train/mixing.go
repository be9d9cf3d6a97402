package train

import (
	"context"
	"errors"
	"math"

	"gorbm/negphase/diag"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/rbm/finitejson"
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

// A mixing measures how well the chains of a run mix. It continues a copy of the chains on the fixed model.
// If the chains keep up with training, the distribution of their free energies stays the same. If they lag,
// their free energies drift at once. The copy does not affect training, because its random draws have
// separate keys.
type mixing struct {
	s    *subject
	key  rbm.Key
	base *rbm.Base
	mixingState
}

// A mixingState is what the next measurement depends on in addition to the run.
type mixingState struct {
	Step   int                 `json:"step"`             // step of the last measurement
	Fresh  int                 `json:"fresh"`            // step of the last measurement with fresh chains
	Last   []finitejson.Number `json:"last,omitempty"`   // last values
	Window []mixingPoint       `json:"window,omitempty"` // last measurements, for the verdict
	Warned string              `json:"warned,omitempty"` // first warning
	Places pastStates          `json:"places,omitempty"` // states of the chains at step Placed
	Placed int                 `json:"placed,omitempty"`
}

func newMixing(s *subject, key rbm.Key) *mixing { return &mixing{s: s, key: key} }

// watch sets the trainer whose chains are measured.
func (x *mixing) watch(t *Trainer) {
	x.s.watch(t)
	x.base = Base(t.model, t.set)
}

// measure returns the values of the columns. All are NaN if too few updates have been made since the last
// measurement. A value that needs more chains is NaN too. If whole is set, it returns the last measured
// values.
func (x *mixing) measure(ctx context.Context, _ *rbm.RBM, whole bool) ([]float64, error) {
	t := x.s.trainer
	if t == nil {
		return nil, errors.New("mixing measures the chains of a run; give the trainer of the run to Watch")
	}
	if whole {
		return x.last(), nil
	}
	updates := continuedUpdates(t.step-x.Step, false)
	if updates == 0 {
		return (&mixing{}).last(), nil
	}
	key := x.key.Child(uint64(t.step))
	c, err := x.s.follow(ctx, updates)
	if err != nil {
		return nil, err
	}
	x.Step = t.step
	sd := 0.0
	if len(c.trace) < leastFresh { // too few values for a standard deviation: use that of data
		d := x.s.parts[0]
		rows := pick(d.order, mostFresh, key.Child(dataKey))
		free := make([]float64, len(rows))
		m := t.model
		m.FreeEnergy(free, d.set.Rows(rows, m.Classes()))
		_, variance := diag.MeanVariance(free)
		sd = math.Sqrt(variance)
	}
	p := c.point(sd)
	p.Step, p.Updates = x.Step, updates
	values := make([]float64, mixingValues)
	left := math.NaN()
	if x.Places == nil || x.Step-x.Placed >= leftEvery { // measurements may be closer than leftEvery
		now := placesOf(c.start)
		if left = x.Places.left(now); !math.IsNaN(left) {
			p.Left, p.Places, p.Since = left, len(now), x.Step-x.Placed
		}
		x.Places, x.Placed = now, x.Step
	}
	values[driftValue], values[leftValue] = p.Drift, left
	values[rHatValue], values[tauValue] = math.NaN(), math.NaN()
	if len(c.trace) > 1 && len(c.trace[0]) >= 4 {
		chains := diag.SummarizeChains(c.trace)
		values[rHatValue], values[tauValue] = chains.RHat, chains.Time.Tau*float64(c.stride)
	}
	values[fromDataZ], values[fromBaseZ] = math.NaN(), math.NaN()
	if end := c.end.Slice(0, min(c.end.Rows, mostCompared)); t.model.Constraint == nil && end.Rows > 1 && x.Step-x.Fresh >= freshEvery {
		x.Fresh = x.Step
		fresh := x.freshChains(c, key)
		p.Data, p.Base = apart(end, fresh[fromData], key.Child(testKey)), apart(end, fresh[fromBase], key.Child(testKey+1))
		p.Fresh = apart(fresh[fromData], fresh[fromBase], key.Child(testKey+2))
		p.Compared = true
		values[fromDataZ], values[fromBaseZ] = p.Data, p.Base
	}
	if x.Window = append(x.Window, p); len(x.Window) > windowPoints {
		x.Window = x.Window[1:]
	}
	x.Last = nil
	for _, v := range values {
		x.Last = append(x.Last, finitejson.Number(v))
	}
	return values, nil
}

// last returns the last measured values, or NaN for all columns if there are none.
func (x *mixing) last() []float64 {
	values := make([]float64, mixingValues)
	for i := range values {
		values[i] = math.NaN()
		if i < len(x.Last) {
			values[i] = float64(x.Last[i])
		}
	}
	return values
}

// Purposes of the keys of a measurement. freshKey is the first of two keys, testKey of three.
const (
	freshKey = 10 * iota
	testKey
	dataKey
)

// Purposes of the keys of fresh chains.
const (
	startKey = iota
	walkKey
	rowsKey
)

// Starts of fresh chains.
const (
	fromData = iota
	fromBase
)

// freshChains returns the visible states of two sets of chains after as many Gibbs steps as the continued
// chains of c made. One set starts at random training rows, the other at draws from the base rates of the
// data.
func (x *mixing) freshChains(c *continuation, key rbm.Key) (v [2]rbm.Values) {
	m := x.s.trainer.model
	rows := min(max(c.end.Rows, leastFresh), mostFresh)
	for from := range v {
		s, key := rbm.NewStates(m, rows), key.Child(uint64(freshKey+from))
		if from == fromBase {
			x.base.Draw(m, s.V, s.H, key.Child(startKey))
		} else {
			p := x.s.parts[0]
			b := rbm.Batch{V: p.set.Rows(pick(p.order, rows, key), m.Classes()), H: rbm.NewMatrix(rows, m.Hidden())}
			m.HiddenMean(b.H, b.V)
			m.HiddenSample(s.H, b, key.Child(startKey))
		}
		m.Step(s, nil, c.steps, key.Child(walkKey))
		v[from] = s.V
	}
	return v
}

// pick draws the given number of rows from the list from, with replacement.
func pick(from []int32, rows int, key rbm.Key) []int32 {
	p := make([]int32, rows)
	for r := range p {
		p[r] = from[int(key.Child(rowsKey).Uniform(uint64(r))*float64(len(from)))]
	}
	return p
}

// permutations is the number of random divisions of two samples' union that show how far apart samples are
// by chance. 40 of them give the standard deviation of the distance to 1/√80, some 11 %.
const permutations = 40

// apart returns how much farther apart two samples of states are than two random parts of their union, in
// standard deviations.
func apart(x, y rbm.Values, key rbm.Key) float64 {
	_, z := sample.StatesTest(x, y, permutations, key.Rand())
	return z
}
