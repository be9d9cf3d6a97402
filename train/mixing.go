package train

import (
	"context"
	"errors"
	"math"

	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/finitejson"
)

// Columns of the metric, in order.
const (
	driftValue = iota
	rHatValue
	tauValue
	leftValue
	mixingValues
)

// A mixing measures how well the chains of a run mix. It continues a copy of the chains on the fixed model.
// If the chains keep up with training, the distribution of their free energies stays the same. If they lag,
// their free energies drift at once. The copy does not affect training, because its random draws have
// separate keys.
type mixing struct {
	s   *subject
	key rbm.Key
	mixingState
}

// A mixingState is what the next measurement depends on in addition to the run.
type mixingState struct {
	Step   int                 `json:"step"`             // step of the last measurement
	Last   []finitejson.Number `json:"last,omitempty"`   // last values
	Window diag.Window         `json:"window,omitempty"` // last measurements, for the verdict
	Told   bool                `json:"told,omitempty"`   // there was a warning during the run
	Places pastStates          `json:"places,omitempty"` // states of the chains at step Placed
	Placed int                 `json:"placed,omitempty"`
}

func newMixing(s *subject, key rbm.Key) *mixing { return &mixing{s: s, key: key} }

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
	if len(c.trace) < leastSpread { // too few values for a standard deviation: use that of data
		d := x.s.parts[0]
		rows := pick(d.order, spreadRows, key.Child(dataKey))
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
	if x.Window = append(x.Window, p); len(x.Window) > diag.WindowLooks {
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

// Purposes of the keys of a measurement.
const (
	dataKey = 20 // the values of earlier purposes are not used again
	rowsKey = 2
)

// pick draws the given number of rows from the list from, with replacement.
func pick(from []int32, rows int, key rbm.Key) []int32 {
	p := make([]int32, rows)
	for r := range p {
		p[r] = from[int(key.Child(rowsKey).Uniform(uint64(r))*float64(len(from)))]
	}
	return p
}

// leastSD is the smallest standard deviation of free energies, in nats, that a drift is divided by. If
// chains hardly differ, a change of a tenth of a nat means nothing.
const leastSD = 0.1

// point returns the drift: the chains' mean free energy over the last third of the trace, minus their mean
// free energy after the first update. The particles after the first update are those that the next update
// of training would use. The drift is divided by the standard deviation of single values in the last third,
// or by sd if that is larger, because few chains may have too small a deviation.
func (c *continuation) point(sd float64) diag.Look {
	p := diag.Look{Chains: float64(len(c.trace))}
	var late []float64
	for _, x := range c.trace {
		last := x[len(x)-(len(x)+2)/3:]
		late = append(late, last...)
		mean, _ := diag.MeanVariance(last)
		p.Nats += (mean - x[0]) / p.Chains
	}
	_, variance := diag.MeanVariance(late)
	p.Drift = p.Nats / max(math.Sqrt(variance), sd, leastSD)
	return p
}

// warn returns a warning if the chains do not mix, one at most before the end of the run.
func (x *mixing) warn(end bool) *diag.Warning {
	if !end && x.Told {
		return nil
	}
	s := x.s.trainer.settings
	w, bad := x.Window.Judge(end, Ends(s.Schedule))
	if !bad {
		return nil
	}
	x.Told = x.Told || !end
	w.Help = advice(s, x.s.trainer.model)
	return &w
}
