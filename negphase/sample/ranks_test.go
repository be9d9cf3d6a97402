package sample

import (
	"errors"
	"fmt"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// Ranks move the chains together: a single rank cannot continue alone. A test of the command checks that the results
// are identical to those of one process.
func TestRanksShareTheChains(t *testing.T) {
	m := rbm.New(6, 4, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(1))
	l := &Target{Model: m, Data: rbm.NewBits(0, 6)}
	if err := ranks.Each(2, func(g *ranks.Group) error {
		x, err := newSide(l, g, Defaults("pcd", 20), nil, 1, rbm.NewKey(2))
		if err != nil || g.Rank() > 0 {
			return err
		}
		if _, _, err := x.e.Estimate(m, x.pos, rbm.NewKey(3)); !errors.Is(err, ranks.ErrLost) {
			return fmt.Errorf("a side whose other rank has left: %v", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
