package train

import (
	"fmt"

	"gorbm/data"
	"gorbm/rbm"
)

// Objectives of training (Larochelle, Mandel, Pascanu & Bengio, JMLR 13, 2012). For a row without a class,
// Joint and Hybrid replace log p(x,y) by log p(x); Discriminative leaves such rows out.
const (
	Joint          = "joint"          // log p(x,y), or log p(x) of a model without labels
	Discriminative = "discriminative" // log p(y|x), whose gradient is exact
	Hybrid         = "hybrid"         // log p(y|x) + α log p(x,y)
)

// Objectives returns the names of all objectives.
func Objectives() []string { return []string{Joint, Discriminative, Hybrid} }

// maxAlpha is the largest weight of the generative part of Hybrid. At this weight the discriminative part
// contributes about a hundredth of the gradient.
const maxAlpha = 100

// checkObjective returns an error if Objective is unknown or Alpha is out of range.
func (s Settings) checkObjective() error {
	switch s.Objective {
	case "", Joint, Discriminative:
		if s.Alpha != 0 {
			return fmt.Errorf("alpha is %v, but only the objective %s has it; leave it out", s.Alpha, Hybrid)
		}
	case Hybrid:
		if !(s.Alpha > 0 && s.Alpha <= maxAlpha) {
			return fmt.Errorf("alpha is %v; it must be above 0 and at most %d", s.Alpha, maxAlpha)
		}
	default:
		return fmt.Errorf("objective is %q; there are %s, %s and %s", s.Objective, Joint, Discriminative, Hybrid)
	}
	return nil
}

// parts returns the weights of the discriminative and the generative part of the objective.
func (s Settings) parts() rbm.Objective {
	switch s.Objective {
	case Discriminative:
		return rbm.Objective{Discriminative: 1}
	case Hybrid:
		return rbm.Objective{Discriminative: 1, Generative: s.Alpha}
	}
	return rbm.Objective{Generative: 1}
}

// checkClasses returns an error if m cannot be trained on set with this objective.
func (s Settings) checkClasses(set *data.Set, m *rbm.RBM) error {
	byClass := s.Objective == Discriminative || s.Objective == Hybrid
	switch {
	case byClass && m.Classes() == 0:
		return fmt.Errorf("the objective %s needs a model with labels", s.Objective)
	case byClass && m.Constraint != nil:
		return fmt.Errorf("the objective %s cannot go with the constraint %v; train by %s", s.Objective, m.Constraint, Joint)
	case m.Classes() > 0 && m.Constraint != nil && set.Unlabelled() > 0:
		return fmt.Errorf("%d rows of %s have no class, which cannot go with the constraint %v", set.Unlabelled(), set.Name, m.Constraint)
	case m.Classes() > 0 && set.Unlabelled() == set.Len():
		return fmt.Errorf("no row of %s has a class; leave the labels out", set.Name)
	case s.Batch > s.Rows(set):
		return fmt.Errorf("batch is %d; it must lie in 1 … %d, the rows of %s that have a class", s.Batch, s.Rows(set), set.Name)
	}
	return nil
}

// Rows returns the number of rows of set that the objective trains on: for Discriminative those that have a
// class, otherwise all.
func (s Settings) Rows(set *data.Set) int {
	if s.Objective == Discriminative {
		return set.Len() - set.Unlabelled()
	}
	return set.Len()
}

// rows returns the numbers of the rows that Rows counts.
func (s Settings) rows(set *data.Set) []int32 {
	if s.Objective == Discriminative {
		return set.Labelled()
	}
	return data.RowNumbers(0, set.Len())
}

// An objective turns a minibatch into the positive phase of the objective's gradient.
type objective struct {
	parts   rbm.Objective
	rows    []int32 // numbers of the rows to train on; nil: all
	y       []int32 // classes of the minibatch
	phase   *rbm.ObjectivePhase
	key     rbm.Key
	means   bool      // the hidden means of the minibatch are needed
	nothing rbm.Phase // a negative phase without particles, for Discriminative
}

// newObjective returns the objective of training m on set. It is nil for the plain log-likelihood: every
// row has a class, or the model has no labels.
func newObjective(s Settings, m *rbm.RBM, set *data.Set, key rbm.Key) *objective {
	o := &objective{parts: s.parts(), key: key.Child(classKey)}
	if m.Classes() == 0 || o.parts.Discriminative == 0 && set.Unlabelled() == 0 {
		return nil
	}
	if s.Objective == Discriminative {
		o.rows = s.rows(set)
	}
	o.y = make([]int32, s.Batch)
	o.phase = rbm.NewObjectivePhase(m, s.Batch, set.Grey.Rows > 0)
	o.means = o.parts.Generative > 0 || s.Center > 0
	o.nothing = rbm.Phase{Batch: rbm.Batch{V: rbm.NewBits(0, m.Visible()), H: rbm.NewMatrix(0, m.Hidden())}}
	return o
}

// positive returns the positive phase of the minibatch t.rows, and the factor of the negative phase. It
// writes the rows with their classes to t.batch, where chains may start. There, a row without a class gets
// a draw from p(y|x), whereas the gradient averages over p(y|x).
func (o *objective) positive(t *Trainer) (rbm.Batch, float64) {
	for i, r := range t.rows {
		if o.rows != nil {
			t.rows[i] = o.rows[r]
		}
		o.y[i] = t.set.Y[t.rows[i]]
	}
	t.set.Inputs(o.phase.Inputs(), t.rows)
	t.set.Redraw(o.phase.Inputs(), t.rows, t.redraws())
	o.phase.Set(t.model, o.parts, o.y)
	if o.means {
		t.set.Visible(t.batch.V, t.rows, t.model.Classes())
		t.set.Redraw(t.batch.V, t.rows, t.redraws())
		for i, y := range o.y {
			if y == data.NoClass {
				t.batch.V.Set(i, t.model.Inputs()+o.draw(t.step, i, t.model.Classes()), true)
			}
		}
		t.model.HiddenMean(t.batch.H, t.batch.V)
	}
	return o.phase.Batch, o.parts.Generative
}

// draw returns a draw from p(y|x) for row i of the minibatch.
func (o *objective) draw(step, i, classes int) int {
	u := o.key.Child(uint64(step)).Uniform(uint64(i))
	for k, lp := range o.phase.LogProb[i*classes:][:classes-1] {
		if u -= rbm.Exp(lp); u < 0 {
			return k
		}
	}
	return classes - 1
}
