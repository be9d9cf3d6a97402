package ranks

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
)

// Done returns an error on all ranks if the context of any rank is done, so that no rank waits for
// one that has stopped. The error is ctx.Err(), or context.Canceled if only the context of another rank
// is done. All ranks must call Done together. The errors of ranks other than 0 also wrap ErrAgreed.
func (g *Group) Done(ctx context.Context) error {
	if g.Size() == 1 {
		return ctx.Err()
	}
	any, err := g.Any(ctx.Err() != nil)
	switch {
	case err != nil:
		return errors.Join(ctx.Err(), err)
	case !any:
		return nil
	}
	return g.agreed(context.Canceled)
}

// agreed marks an error that all ranks have, so that only rank 0 reports it.
func (g *Group) agreed(err error) error {
	if g.Rank() == 0 || errors.Is(err, ErrAgreed) {
		return err
	}
	return fmt.Errorf("%w: %w", err, ErrAgreed)
}

// The outcomes of a task.
const (
	taskDone = iota
	taskFailed
	taskStopped // its context was done
)

// Deal divides n independent tasks among the ranks: rank i modulo g.Size() does task i. Every rank calls
// take with the results of all tasks, in order. take must do the same on all ranks. Results are
// sent by encoding/gob, which needs exported fields. Numbers arrive unchanged, except that a field
// with the value −0 arrives as 0.
//
// Deal stops at the first error: that of take, or of the failed task with the smallest number. take has
// then been called for all tasks before it. All ranks return the error. An error of another rank
// arrives as text, or as context.Canceled. The errors of ranks other than 0 also wrap ErrAgreed.
func Deal[T any](g *Group, n int, do func(i int) (T, error), take func(i int, x T) error) error {
	for first := 0; first < n; first += g.Size() {
		mine := first + g.Rank()
		var x T
		var err error
		if mine < n {
			x, err = do(mine)
		}
		if g.Size() == 1 {
			if err == nil {
				err = take(mine, x)
			}
			if err != nil {
				return err
			}
			continue
		}
		if err := g.takeAll(min(n-first, g.Size()), mine < n, x, err, func(r int, d *gob.Decoder) error {
			if r == g.Rank() {
				return take(first+r, x)
			}
			var y T
			if err := d.Decode(&y); err != nil {
				return err
			}
			return take(first+r, y)
		}); err != nil {
			return err
		}
	}
	return nil
}

// takeAll exchanges the results x of the ranks, or their errors, and calls take for the results of the
// first count ranks.
func (g *Group) takeAll(count int, has bool, x any, failed error, take func(rank int, d *gob.Decoder) error) error {
	var b bytes.Buffer
	state := int64(taskDone)
	switch {
	case errors.Is(failed, context.Canceled):
		state = taskStopped
	case failed != nil:
		state = taskFailed
		b.WriteString(failed.Error())
	case has:
		if err := gob.NewEncoder(&b).Encode(x); err != nil {
			return err // a bug of the caller, on all ranks
		}
	}
	heads := make([]int64, 2*g.size)
	heads[2*g.rank], heads[2*g.rank+1] = state, int64(b.Len())
	if err := GatherRows(g, heads, g.size); err != nil {
		return errors.Join(failed, err)
	}
	ends, total := make([]int, g.size), 0
	for r := range ends {
		total += int(heads[2*r+1])
		ends[r] = total
	}
	table := make([]byte, total)
	copy(table[ends[g.rank]-b.Len():], b.Bytes())
	if err := Gather(g, table, ends); err != nil {
		return errors.Join(failed, err)
	}
	for r := range count {
		its := table[ends[r]-int(heads[2*r+1]) : ends[r]]
		switch {
		case heads[2*r] == taskDone:
			if err := take(r, gob.NewDecoder(bytes.NewReader(its))); err != nil {
				return g.agreed(err)
			}
		case r == g.rank:
			return g.agreed(failed)
		case heads[2*r] == taskStopped:
			return g.agreed(context.Canceled)
		default:
			return g.agreed(fmt.Errorf("rank %d: %s", r, its))
		}
	}
	return nil
}
