package train

import (
	"context"
	"errors"
	"fmt"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// ErrStopped is the error of Run on a rank that has no fault itself, after another rank has ended the run.
var ErrStopped = fmt.Errorf("another rank has ended the run: %w", ranks.ErrAgreed)

// Share makes the ranks of g, processes that train one model, compute each step together. Call it before
// the first Step, on each rank with a trainer in the same state. Each rank then gets the same result as a
// single process. The ranks divide the chains of the negative phase among them, and the positive phase and
// the ascent if these are large. Each rank computes the rest.
//
// Run then ends on all ranks together if the context of one rank is done or an observer of one rank returns
// an error. The ranks may have different observers. If a rank is lost, the error of Run wraps
// ranks.ErrLost. Share returns an error if the negative phase cannot be divided.
func (t *Trainer) Share(g *ranks.Group) error {
	if t.negative != nil {
		if err := negphase.Share(t.negative, t.settings.Negative, g); err != nil {
			return err
		}
	} else if g.Size() > 1 {
		return fmt.Errorf("the %s objective has no chains to distribute; start it without mpirun", Discriminative)
	}
	t.group, t.optimizer.group = g, g
	return nil
}

// shareWork is the smallest work of a positive phase, in multiply-adds, that is divided among ranks. Such a
// phase takes some 80 µs of one core, which is the bound for threads too (rbm/parallel). Gathering the
// hidden means takes much less.
const shareWork = 1 << 23

// positiveMeans computes the hidden means of the minibatch, with the other ranks if that saves time.
func (t *Trainer) positiveMeans() error {
	rows := t.batch.Rows()
	if t.group.Size() == 1 || rows*t.model.Visible()*t.model.Hidden() < shareWork {
		t.model.HiddenMean(t.batch.H, t.batch.V)
		return nil
	}
	lo, hi := t.group.Rows(rows)
	t.model.HiddenMean(t.batch.H.Slice(lo, hi), t.batch.V.Slice(lo, hi))
	return ranks.GatherRows(t.group, t.batch.H.Data, rows)
}

// shareParticles is the smallest number of particles, of both phases, for which the ascent is divided among ranks. At
// 784 × 500 units a particle takes 1.7 µs of one core (Zen 4), and two ranks of one machine gather the
// weights in some 0.2 ms (experiments/scale). Two ranks save time from some 250 particles on; twice as many
// leave room for a slower network.
const shareParticles = 512

// climb moves m along rate · (pos − share·neg), with the other ranks if that saves time.
func (o *optimizer) climb(m *rbm.RBM, rate, share float32, pos, neg rbm.Phase) error {
	o.ascent.Group = nil
	if o.group.Size() > 1 && neg.Moments == nil && particles(pos)+particles(neg) >= shareParticles {
		o.ascent.Group = o.group
	}
	return o.ascent.Step(m, rate, share, pos, neg)
}

// particles returns the number of rows whose weight is not zero.
func particles(p rbm.Phase) int {
	n := p.Rows()
	for _, w := range p.Weight {
		if w == 0 {
			n--
		}
	}
	return n
}

// together returns an error if ctx is done, on this rank or another.
func (t *Trainer) together(ctx context.Context) error {
	if t.group.Size() == 1 {
		return ctx.Err()
	}
	failure := ctx.Err()
	any, err := t.group.Any(failure != nil)
	switch {
	case err != nil:
		return errors.Join(failure, fmt.Errorf("step %d: %w", t.step+1, err))
	case any && failure == nil:
		return ErrStopped
	}
	return failure
}

// Leave tells the other ranks, which wait in Run for the next step, that this rank ends the run or cannot
// begin it. Run calls it if an observer fails. steps is the length of the run; after its last step Leave
// does nothing.
func (t *Trainer) Leave(steps int) {
	if t.step < steps {
		t.group.Any(true) // an error does not matter: this rank ends
	}
}
