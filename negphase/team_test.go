package negphase

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// course makes calls of an estimator with these settings, under models that
// change from call to call. It returns all bits of the phases and counts, without the
// hidden means of rows that have no weight, and the final state of the estimator.
func course(settings string, calls int, m *rbm.RBM, pos rbm.Batch, g *ranks.Group) ([]uint64, []byte, error) {
	s, err := Parse(settings, DefaultSettings(""))
	if err != nil {
		return nil, nil, err
	}
	if s.Ladder().Path == ToData {
		mean := make([]float32, m.Visible())
		for i := range mean {
			mean[i] = float32(i+1) / float32(m.Visible()+1)
		}
		s.SetBase(rbm.NewBase(m, mean, 100))
	}
	e, err := New(s)
	if err != nil {
		return nil, nil, err
	}
	if err := Share(e, s, g); err != nil {
		return nil, nil, err
	}
	m = m.Clone()
	var w []uint64
	for n := range calls {
		phase, info, err := e.Estimate(m, pos, rbm.NewKey(77).Child(uint64(n)))
		if err != nil {
			return nil, nil, err
		}
		mean := rbm.NewMatrix(phase.H.Rows, phase.H.Cols)
		for r := range mean.Rows {
			if phase.Weight == nil || phase.Weight[r] != 0 {
				copy(mean.Row(r), phase.H.Row(r))
			}
		}
		seen := phase
		seen.H = mean
		w = append(w, words(seen, info)...)
		new(rbm.Ascent).Step(m, 0.3, 1, rbm.Phase{Batch: pos}, phase)
		if v, ok := e.(Vetoer); ok && v.Veto(m) {
			new(rbm.Ascent).Step(m, -0.15, 1, rbm.Phase{Batch: pos}, phase)
			for range 5 {
				if !v.Veto(m) {
					break
				}
				new(rbm.Ascent).Step(m, -0.03, 1, rbm.Phase{Batch: pos}, phase)
			}
		}
	}
	b, err := e.MarshalBinary()
	return w, b, err
}

// TestEqualBitsOnAnyNumberOfRanks also covers more ranks than chains, and a ladder that is tuned
// during the run.
func TestEqualBitsOnAnyNumberOfRanks(t *testing.T) {
	check := func(t *testing.T, settings string) {
		kind, _, _ := strings.Cut(settings, ":")
		calls := 5
		if strings.Contains(settings, "=auto") {
			calls = FirstTuning + 3
		}
		for _, s := range fewer(modest[:3]) {
			m := s.random(3, 0.5)
			pos := positive(m, 11, 4)
			want, chains, err := course(settings, calls, m, pos, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{1, 2, 3, 7} {
				err := ranks.Each(n, func(g *ranks.Group) error {
					got, b, err := course(settings, calls, m, pos, g)
					switch {
					case err != nil:
						return err
					case !slices.Equal(got, want):
						return errors.New("the phases have other bits")
					case !bytes.Equal(b, chains):
						return errors.New("the chains have other bits")
					}
					return nil
				})
				if kind == "exact" && n > 1 {
					if err == nil || !strings.Contains(err.Error(), kind+" works in one process") {
						t.Errorf("%d ranks: %v, want %q in it", n, err, kind+" works in one process")
					}
					continue
				}
				if err != nil {
					t.Errorf("%v: %v", s, err)
				}
			}
		}
	}
	eachKind(t, check)
	for _, settings := range []string{"pt:chains=5:tau=1/2/inf:path=data", "pins:chains=3:tau=auto/4:path=data",
		// Each rank draws the permutations of its groups in the following cases.
		"pins:chains=70:tau=auto/8:block=3", "ins:chains=130:tau=1/1.5/2/4", "pt:chains=130:tau=1/1.5/2/4"} {
		t.Run(settings, func(t *testing.T) { check(t, settings) })
	}
}

// TestLostRank checks that the other ranks get an error when a rank has left.
func TestLostRank(t *testing.T) {
	for _, settings := range []string{"pcd", "pins:chains=2:tau=1/2/3", "ptt:sweeps=2", "sardonics"} {
		m := modest[0].random(3, 0.5)
		pos := positive(m, 11, 4)
		err := ranks.Each(3, func(g *ranks.Group) error {
			calls := 4
			if g.Rank() == 1 {
				calls = 2
				defer g.Close()
			}
			_, _, err := course(settings, calls, m, pos, g)
			if g.Rank() != 1 && !errors.Is(err, ranks.ErrLost) {
				return fmt.Errorf("got %v", err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", settings, err)
		}
	}
}
