package negphase

import (
	"fmt"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// A Sharer is an Estimator whose chains several ranks advance together.
type Sharer interface {
	Estimator
	// Share makes this rank advance its part of the chains: those of the rows that
	// Group.Rows gives it. Every rank needs an estimator in the same state, must
	// call Estimate (and Veto) as the others do, and gets the results of one
	// process alone. After each call every rank has the states of all chains. If a rank is
	// lost, Estimate returns an error that wraps ranks.ErrLost.
	Share(g *ranks.Group)
}

// Share makes the ranks of g advance the chains of e together; see Sharer. The error says
// that e, of these settings, cannot be divided among ranks.
func Share(e Estimator, s Settings, g *ranks.Group) error {
	if g.Size() == 1 {
		return nil
	}
	if shared, ok := e.(Sharer); ok {
		shared.Share(g)
		return nil
	}
	return fmt.Errorf("%s works in one process; start it without mpirun, or take cd, pcd, pt, ins or pins", s.Kind)
}

// A team is the ranks that advance the chains of an estimator together. Its methods
// advance the rows of this rank and gather those of all. The zero value is one process.
type team struct {
	group  *ranks.Group
	ends   []int     // scratch of gatherMeans
	packed []float32 // and the means of all rows with weight
}

// Share implements Sharer.
func (t *team) Share(g *ranks.Group) { t.group = g }

// step is RBM.Step. The hidden means of other ranks' rows are not known after it: see
// gatherMeans.
func (t *team) step(m *rbm.RBM, s *rbm.States, beta []float32, steps int, key rbm.Key) error {
	lo, hi := t.group.Rows(s.H.Rows)
	m.StepRows(s, lo, hi, beta, steps, key)
	if err := t.gatherStates(s); err != nil {
		return err
	}
	return finite(s.Energy)
}

// gatherVisibleHidden gathers the states of all rows without their energies.
func (t *team) gatherVisibleHidden(s *rbm.States) error {
	for _, x := range [...][]uint64{s.V.Words, s.H.Words} {
		if err := ranks.GatherRows(t.group, x, s.H.Rows); err != nil {
			return err
		}
	}
	for _, x := range [...][]float32{s.V.Real, s.H.Real} {
		if err := ranks.GatherRows(t.group, x, s.H.Rows); err != nil {
			return err
		}
	}
	return nil
}

// gatherStates gathers the states and energies of all rows.
func (t *team) gatherStates(s *rbm.States) error {
	rows := s.H.Rows
	if err := t.gatherVisibleHidden(s); err != nil {
		return err
	}
	for _, x := range [...][]float64{s.Energy, s.BaseEnergy} {
		if err := ranks.GatherRows(t.group, x, rows); err != nil {
			return err
		}
	}
	return nil
}

// sumMoves returns what all ranks have counted.
func (t *team) sumMoves(mine mcmc.Info) (sum mcmc.Info, err error) {
	if t.group.Size() == 1 {
		return mine, nil
	}
	counts := make([]int64, 5*t.group.Size())
	copy(counts[5*t.group.Rank():], []int64{mine.Moves, mine.Updates, mine.Proposals, mine.Accepted, mine.Flips})
	err = ranks.GatherRows(t.group, counts, t.group.Size())
	for ; len(counts) > 0; counts = counts[5:] {
		sum.Add(mcmc.Info{Moves: counts[0], Updates: counts[1], Proposals: counts[2], Accepted: counts[3], Flips: counts[4]})
	}
	return sum, err
}

// gatherMeans gathers the hidden means of the rows whose weight is not zero: of all, if
// weight is nil.
func (t *team) gatherMeans(mean rbm.Matrix, weight []float32) error {
	if t.group.Size() == 1 {
		return nil
	}
	if weight == nil {
		return ranks.GatherRows(t.group, mean.Data, mean.Rows)
	}
	counts := func(row int) bool { return weight[row] != 0 }
	t.ends, t.packed = t.ends[:0], t.packed[:0]
	row := 0
	for rank := range t.group.Size() {
		for end := (rank + 1) * mean.Rows / t.group.Size(); row < end; row++ {
			if counts(row) {
				t.packed = append(t.packed, mean.Row(row)...)
			}
		}
		t.ends = append(t.ends, len(t.packed))
	}
	if err := ranks.Gather(t.group, t.packed, t.ends); err != nil {
		return err
	}
	packed := t.packed
	for row := range mean.Rows {
		if counts(row) {
			copy(mean.Row(row), packed)
			packed = packed[mean.Cols:]
		}
	}
	return nil
}

// hiddenMean is RBM.HiddenMean of the rows whose weight is not zero: of all, if weight is
// nil.
func (t *team) hiddenMean(m *rbm.RBM, mean rbm.Matrix, v rbm.Values, weight []float32) error {
	lo, hi := t.group.Rows(v.Rows)
	m.HiddenMean(mean.Slice(lo, hi), v.Slice(lo, hi))
	return t.gatherMeans(mean, weight)
}

// hiddenMeanFree is RBM.HiddenMeanFree.
func (t *team) hiddenMeanFree(m *rbm.RBM, mean rbm.Matrix, free []float64, v rbm.Values) error {
	lo, hi := t.group.Rows(v.Rows)
	m.HiddenMeanFree(mean.Slice(lo, hi), free[lo:hi], v.Slice(lo, hi))
	return t.gatherMeanFree(mean, free)
}

func (t *team) gatherMeanFree(mean rbm.Matrix, free []float64) error {
	if err := t.gatherMeans(mean, nil); err != nil {
		return err
	}
	return ranks.GatherRows(t.group, free, len(free))
}

// stepFree is RBM.StepFreeRows of all rows.
func (t *team) stepFree(m *rbm.RBM, s *rbm.States, free []float64, steps int, key rbm.Key) error {
	lo, hi := t.group.Rows(s.H.Rows)
	m.StepFreeRows(s, lo, hi, free, steps, key)
	if err := t.gatherVisibleHidden(s); err != nil {
		return err
	}
	return t.gatherMeanFree(s.Mean, free)
}
