package logz

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// The bracket is identical for any number of ranks.
func TestRanksBracket(t *testing.T) {
	c := models(t)[2]
	want, err := Estimate(t.Context(), c.m, small(c.base), rbm.NewKey(3), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 3, 7} {
		if err := ranks.Each(n, func(g *ranks.Group) error {
			s := small(c.base)
			s.Annealing.Group = g
			b, err := Estimate(t.Context(), c.m, s, rbm.NewKey(3), nil)
			if d := cmp.Diff(want, b); err == nil && d != "" {
				err = errors.New(d)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

// If the context of one rank ends, all ranks stop, in each of the stages.
func TestRanksStop(t *testing.T) {
	c := models(t)[2]
	for _, at := range []string{Annealing, Ladder, Reversing} {
		err := ranks.Each(3, func(g *ranks.Group) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := small(c.base)
			s.Annealing.Group = g
			_, err := Estimate(ctx, c.m, s, rbm.NewKey(3), func(stage string, _ float64) {
				if stage == at && g.Rank() == 1 {
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) || errors.Is(err, ranks.ErrAgreed) != (g.Rank() > 0) {
				return errors.Join(errors.New("does not stop"), err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
}
