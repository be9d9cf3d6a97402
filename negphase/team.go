package negphase

import (
	"fmt"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// A Sharer is an Estimator whose chains may be divided among ranks, the processes of a group.
type Sharer interface {
	Estimator
	// Share makes this rank advance only the rows that Group.Rows gives it. Every rank must have an
	// estimator in the same state and make the same calls of Estimate and Veto. The results are
	// identical to those of one process. After each call every rank has the states of all chains. If a
	// rank is lost, Estimate returns an error that wraps ranks.ErrLost.
	Share(g *ranks.Group)
}

// Share divides the chains of e, which has the settings s, among the ranks of g; see Sharer. It returns
// an error if e is no Sharer and g has several ranks.
func Share(e Estimator, s Settings, g *ranks.Group) error {
	if g.Size() == 1 {
		return nil
	}
	if shared, ok := e.(Sharer); ok {
		shared.Share(g)
		return nil
	}
	return fmt.Errorf("%s works in one process; start it without mpirun, or use cd, pcd, pt, ins or pins", s.Kind)
}

// A team is the group of ranks among which the chains of an estimator are divided. Its methods
// advance the rows of this rank and then gather the results of all ranks. The zero value is one process.
type team struct {
	group  *ranks.Group
	ends   []int     // scratch of gatherMeans: end of each rank's means in packed
	packed []float32 // scratch of gatherMeans: hidden means of all rows with weight
}

// Share implements Sharer.
func (t *team) Share(g *ranks.Group) { t.group = g }

// step is RBM.Step, divided among the ranks. It does not gather hidden means; gatherMeans does.
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

// sumMoves returns the sum of the counts of all ranks.
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

// gatherMeans gathers the hidden means of the rows whose weight is not zero; of all rows if
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

// hiddenMean is RBM.HiddenMean, divided among the ranks. It gathers the same rows as gatherMeans.
func (t *team) hiddenMean(m *rbm.RBM, mean rbm.Matrix, v rbm.Values, weight []float32) error {
	lo, hi := t.group.Rows(v.Rows)
	m.HiddenMean(mean.Slice(lo, hi), v.Slice(lo, hi))
	return t.gatherMeans(mean, weight)
}

// hiddenMeanFree is RBM.HiddenMeanFree, divided among the ranks.
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

// stepFree is RBM.StepFreeRows for all rows, divided among the ranks.
func (t *team) stepFree(m *rbm.RBM, s *rbm.States, free []float64, steps int, key rbm.Key) error {
	lo, hi := t.group.Rows(s.H.Rows)
	m.StepFreeRows(s, lo, hi, free, steps, key)
	if err := t.gatherVisibleHidden(s); err != nil {
		return err
	}
	return t.gatherMeanFree(s.Mean, free)
}
