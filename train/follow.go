package train

import (
	"context"

	"gorbm/rbm"
)

// Bounds on the work of continuing a copy of a run's chains on a fixed model. They count updates, not time,
// so that identical runs measure at the same steps.
const (
	// For every mixingShare updates of training the chains may be continued by one update, which has
	// neither a positive phase nor an ascent step. A measurement waits until leastContinued such updates
	// are due, and makes at most mostContinued. On 8 × 8 digits with 50 hidden units, trained at a rate of
	// 0.1, chains that lagged behind the model had caught up by half after 4 updates and by four fifths
	// after 16.
	mixingShare                   = 20
	leastContinued, mostContinued = 12, 50
	// tracePoints is the largest number of points in a trace of free energies.
	tracePoints = 8
	// leftEvery is the smallest number of updates between two comparisons of the chains' states.
	leftEvery = 1600
	// leastSpread is the number of chains below which the standard deviation of their free energies is
	// compared with that of spreadRows rows of data.
	leastSpread, spreadRows = 10, 40
)

// continuedUpdates returns the number of updates that the chains are continued for; 0 means that no
// measurement is due. since is the number of updates of training since the last measurement. At the end of
// a run the result is always mostContinued.
func continuedUpdates(since int, end bool) int {
	if end {
		return mostContinued
	}
	if n := min(since/mixingShare, mostContinued); n >= leastContinued {
		return n
	}
	return 0
}

// A continuation records a run's chains while they continued on a fixed model.
type continuation struct {
	trace  [][]float64 // [chain][point] free energies in nats; for a group, the weighted mean over its particles
	stride int         // number of updates between points
	start  rbm.Values  // visible states after the first update

	step, updates int // step of the run; number of updates of the copied chains
}

// watch sets the trainer whose chains the subject continues.
func (s *subject) watch(t *Trainer) { s.trainer, s.copy, s.followed = t, nil, nil }

// follow continues a copy of the run's chains for the given number of updates. A second call at the same
// step returns the same continuation.
func (s *subject) follow(ctx context.Context, updates int) (*continuation, error) {
	t, m := s.trainer, s.trainer.model
	if c := s.followed; c != nil && c.step == t.step && c.updates == updates {
		return c, nil
	}
	var err error
	if s.copy, err = t.copyNegative(s.copy); err != nil {
		return nil, err
	}
	chains, key := t.settings.Negative.Count("chains"), s.key.Child(followKey).Child(uint64(t.step))
	c := &continuation{step: t.step, updates: updates, trace: make([][]float64, chains), stride: (updates + tracePoints - 3) / (tracePoints - 1),
		start: m.NewVisible(chains)}
	for i := range updates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		phase, _, err := s.copy.Estimate(m, t.batch, key.Child(uint64(i)))
		if err != nil {
			return nil, err
		}
		if (updates-1-i)%c.stride == 0 || i == 0 {
			c.add(m, phase)
		}
		if i == 0 {
			coldest(c.start, phase)
		}
	}
	s.followed = c
	return c, nil
}

// add appends a point to the trace of each chain: its free energy, or the weighted mean over the particles
// of a group.
func (c *continuation) add(m *rbm.RBM, phase rbm.Phase) {
	v := phase.V
	chains, each := len(c.trace), v.Rows/len(c.trace)
	rows := make([]int, 0, v.Rows)
	for r := range v.Rows {
		if phase.Weight == nil || phase.Weight[r] > 0 {
			rows = append(rows, r)
		}
	}
	weighted := m.NewVisible(len(rows))
	for i, r := range rows {
		weighted.CopyRow(i, v, r)
	}
	free := make([]float64, len(rows))
	m.FreeEnergy(free, weighted)
	sums, weights := make([]float64, chains), make([]float64, chains)
	for i, r := range rows {
		w := phase.WeightOf(r)
		sums[r/each] += float64(w * free[i])
		weights[r/each] += w
	}
	for g := range sums {
		c.trace[g] = append(c.trace[g], sums[g]/weights[g])
	}
}

// coldest overwrites dst with the visible state of each chain. The state of a group is that of its particle
// with the largest weight.
func coldest(dst rbm.Values, phase rbm.Phase) {
	each := phase.V.Rows / dst.Rows
	for g := range dst.Rows {
		best := g * each
		for r := best; r < (g+1)*each && phase.Weight != nil; r++ {
			if phase.Weight[r] > phase.Weight[best] {
				best = r
			}
		}
		dst.CopyRow(g, phase.V, best)
	}
}
