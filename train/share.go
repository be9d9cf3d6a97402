package train

import (
	"context"
	"errors"
	"fmt"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// ErrStopped is the error of Run on a rank where nothing is wrong, when another rank has
// ended the run.
var ErrStopped = fmt.Errorf("another rank has ended the run: %w", ranks.ErrAgreed)

// Share makes the ranks of g take the steps together, before the first call of Step. Each rank
// needs a trainer in the same state, and each reaches the same result as one process
// alone. They share the chains of the negative phase and, where they are large, the
// positive phase and the ascent. Each of them does the rest.
//
// Run then ends on all ranks together: if the context of one is done, or an observer
// of one returns an error. The ranks may have different observers. If a rank is lost, the error
// wraps ranks.ErrLost. The error of Share says that the negative phase cannot be shared
// out.
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

// shareWork is the smallest work of a positive phase, in multiply-adds, that is divided among ranks:
// some 80 µs of one core, as for threads (rbm/parallel), which is much longer than gathering the hidden
// means takes.
const shareWork = 1 << 23

// positiveMeans overwrites the hidden means of the minibatch.
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

// shareParticles is the number of particles of both phases from which an ascent is shared
// out. At 784 × 500 units a particle takes 1.7 µs of one core (Zen 4), and to gather the
// weights takes two ranks of one machine some 0.2 ms (experiments/scale): two ranks gain
// from some 250 particles on, and twice as many leave room for a slower network.
const shareParticles = 512

// climb moves m along rate · (pos − share·neg), together with the other ranks where that saves
// time.
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

// together returns an error if ctx is done, on this or on another rank.
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

// Leave tells the other ranks, which are in Run and wait for the next step, that this
// one ends the run, or cannot begin it. Run calls it where an observer fails.
func (t *Trainer) Leave(steps int) {
	if t.step < steps {
		t.group.Any(true) // an error changes nothing: this rank ends
	}
}
