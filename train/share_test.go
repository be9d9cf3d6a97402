package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// shared returns the trainer of one rank.
func shared(t testing.TB, s Settings, g *ranks.Group) (*Trainer, error) {
	set := toy(t, "toy:4,200,50,0.2")
	tr, err := New(s, set, NewModel(set, 300, true, rbm.Softmax, s.Seed))
	if err != nil {
		return nil, err
	}
	return tr, tr.Share(g)
}

// Any number of ranks reaches the same checkpoint as one process, and continues identically from a
// checkpoint of another number of ranks.
func TestRanksTrainToEqualBits(t *testing.T) {
	for _, kind := range negphase.Kinds() {
		if kind == "exact" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			s := settingsOf(t, negatives[kind])
			s.Batch, s.Momentum, s.Center = 150, 0.5, 0.01
			if s.Batch*204*300 < shareWork {
				t.Fatalf("the positive phase is not shared out: got %v, want at least %v", s.Batch*204*300, shareWork)
			}
			one, err := shared(t, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			run(t, one, 3)
			middle := save(t, one)
			run(t, one, 5)
			want := save(t, one)
			for _, n := range []int{2, 3, 7} {
				if err := ranks.Each(n, func(g *ranks.Group) error {
					tr, err := shared(t, s, g)
					if err != nil {
						return err
					}
					if n == 3 {
						if _, err := tr.Load(bytes.NewReader(middle)); err != nil {
							return err
						}
					}
					return endsAs(tr, 5, want)
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// endsAs runs tr to a step, where its checkpoint must be want.
func endsAs(tr *Trainer, step int, want []byte) error {
	if err := tr.Run(context.Background(), step); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := tr.Save(&b, nil); err != nil {
		return err
	}
	if !bytes.Equal(b.Bytes(), want) {
		return errors.New("another checkpoint than that of one process")
	}
	return nil
}

// Ascents with many particles are also divided among ranks, for every way in which the optimizer makes
// them.
func TestRanksShareTheAscent(t *testing.T) {
	for name, set := range map[string]func(s *Settings){
		"plain": func(*Settings) {}, "momentum": func(s *Settings) { s.Momentum = 0.5 }, "centred": func(s *Settings) { s.Center = 0.01 },
		"vetoes": func(s *Settings) { s.Negative = settingsOf(t, "ptt:chains=400:sweeps=2").Negative; s.Rate = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := settingsOf(t, "pcd:chains=400")
			s.Batch = shareParticles - 400
			set(&s)
			one, err := shared(t, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			vetoes := int64(0)
			run(t, one, 3, func(_ context.Context, e Event) error { vetoes += int64(e.Info.Get("Vetoes")); return nil })
			if (vetoes > 0) != (name == "vetoes") {
				t.Errorf("%d vetoes", vetoes)
			}
			want := save(t, one)
			if err := ranks.Each(3, func(g *ranks.Group) error {
				tr, err := shared(t, s, g)
				if err != nil {
					return err
				}
				return endsAs(tr, 3, want)
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// All ranks end at the same step if one of them ends.
func TestRanksEndTogether(t *testing.T) {
	s := settingsOf(t, "pcd:chains=5")
	full := errors.New("the disk is full")
	for _, c := range []struct {
		name string
		end  func(cancel func()) error // what ends the run, on rank 1 after step 3
		own  error                     // error of rank 1
	}{
		{"context", func(cancel func()) error { cancel(); return nil }, context.Canceled},
		{"error", func(func()) error { return full }, full},
		{"stop", func(func()) error { return ErrStop }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := ranks.Each(3, func(g *ranks.Group) error {
				tr, err := shared(t, s, g)
				if err != nil {
					return err
				}
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				err = tr.Run(ctx, 10, func(_ context.Context, e Event) error {
					if g.Rank() == 1 && e.Step == 3 {
						return c.end(cancel)
					}
					return nil
				})
				want := ErrStopped
				if g.Rank() == 1 {
					want = c.own
				}
				if tr.Steps() != 3 || !errors.Is(err, want) {
					return fmt.Errorf("ended after step %d with %v, not %v", tr.Steps(), err, want)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	// After the last step an observer's error ends its rank alone.
	if err := ranks.Each(2, func(g *ranks.Group) error {
		tr, err := shared(t, s, g)
		if err != nil {
			return err
		}
		err = tr.Run(context.Background(), 2, func(_ context.Context, e Event) error {
			if g.Rank() == 0 && e.Last {
				return full
			}
			return nil
		})
		if g.Rank() == 0 && err != full || g.Rank() == 1 && err != nil {
			return fmt.Errorf("ended with %v", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// What cannot be divided among ranks is an error.
func TestShareRefuses(t *testing.T) {
	for negative, want := range map[string]string{"exact": "exact works in one process", "": "discriminative objective has no chains"} {
		s := settingsOf(t, "cd")
		if negative == "" {
			s.Objective = Discriminative
		} else {
			s.Negative = settingsOf(t, negative).Negative
		}
		for _, g := range append(ranks.Goroutines(2), nil) {
			tr := newTrainer(t, s, toy(t, smallToy), 5, true, rbm.Softmax)
			err := tr.Share(g)
			if (err != nil) != (g != nil) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q in %d ranks: %v, want %q in it", negative, g.Size(), err, want)
			}
		}
	}
}
