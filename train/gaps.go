package train

import (
	"fmt"

	"gorbm/data"
	"gorbm/negphase/sample"
	"gorbm/rbm"
)

// gaps holds a Markov chain over the missing cells of each row that has some. The gradient of log p(known
// cells) needs the positive phase under p(missing cells | known cells), which the chain samples. Chains
// persist between epochs, as in PCD, so that training is stochastic approximation. In a row with one
// missing cell, each state is an independent draw.
type gaps struct {
	moves    *sample.Gaps // moves the chains of one minibatch
	stateRow []int32      // by row of the set: its index in the field all, or −1 if no cell is missing
	all      rbm.Values   // inputs of the rows with missing cells, which have the chains' states
	key      rbm.Key
}

// checkMissing returns an error if set has missing cells and m cannot be trained on them with these
// settings.
func (s Settings) checkMissing(set *data.Set, m *rbm.RBM) error {
	switch {
	case set.Missing.Rows == 0:
		return nil
	case s.Objective != "" && s.Objective != Joint:
		return fmt.Errorf("%s has missing cells, which cannot go with the objective %s; train by %s", set.Name, s.Objective, Joint)
	case m.Constraint != nil:
		return fmt.Errorf("%s has missing cells, which cannot go with the constraint %v", set.Name, m.Constraint)
	case m.Classes() > 0 && set.Unlabelled() > 0:
		return fmt.Errorf("%s has missing cells and rows without a label; leave such rows out, or train without labels", set.Name)
	}
	return nil
}

func newGaps(s Settings, m *rbm.RBM, set *data.Set, key rbm.Key) *gaps {
	g := &gaps{moves: sample.NewGaps(m, s.Batch), stateRow: make([]int32, set.Len()), key: key.Child(gapsKey)}
	var rows []int32
	for r := range set.Len() {
		g.stateRow[r] = -1
		if set.MissesCells(int32(r)) {
			g.stateRow[r] = int32(len(rows))
			rows = append(rows, int32(r))
		}
	}
	g.all = set.Rows(rows, 0)
	return g
}

// states returns the chains' states for package binary, as words or as real numbers. If g is nil there are
// no chains.
func (g *gaps) states() any {
	switch {
	case g == nil:
		return []uint64(nil)
	case g.all.IsReal():
		return g.all.Real
	}
	return g.all.Words
}

// fill advances the chains of the minibatch's rows by one step and writes the completed rows to t.batch.V.
func (g *gaps) fill(t *Trainer) {
	g.moves.Set(t.set, t.rows, t.model.Classes())
	for r, row := range t.rows {
		if at := int(g.stateRow[row]); at >= 0 {
			g.moves.V.Merge(r, g.all, at, t.set.Missing.Row(int(row)))
		}
	}
	g.moves.Move(t.model, g.key.Child(uint64(t.step)))
	for r, row := range t.rows {
		if at := int(g.stateRow[row]); at >= 0 {
			g.all.Merge(at, g.moves.V, r, t.set.Missing.Row(int(row)))
		}
	}
	t.batch.V.CopyFrom(g.moves.V)
}
