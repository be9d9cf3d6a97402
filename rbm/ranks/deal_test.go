package ranks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

type result struct {
	Number int
	Value  float64
	List   []float64
}

// Every rank receives the bit-identical results of all tasks, in order.
func TestDeal(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 7} {
		for _, n := range []int{0, 1, 3, 20} {
			err := Each(ranks, func(g *Group) error {
				next := 0
				err := Deal(g, n, func(i int) (result, error) {
					if i%g.Size() != g.Rank() {
						return result{}, fmt.Errorf("task %d is not for rank %d", i, g.Rank())
					}
					return result{i, math.Nextafter(float64(i), 9), []float64{math.NaN(), math.Inf(1)}[:i%3]}, nil
				}, func(i int, x result) error {
					if i != next || x.Number != i || x.Value != math.Nextafter(float64(i), 9) || len(x.List) != i%3 || len(x.List) > 1 && !math.IsInf(x.List[1], 1) {
						return fmt.Errorf("result %d of %d is %d, %+v", next, n, i, x)
					}
					next++
					return nil
				})
				if err == nil && next != n {
					err = fmt.Errorf("%d of %d tasks are done", next, n)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// All ranks stop at the first task that fails, after the results of earlier tasks.
func TestDealFails(t *testing.T) {
	bad := errors.New("bad")
	for _, c := range []struct {
		name   string
		errs   map[int]error
		taken  int
		is     error  // error of rank 0
		prefix string // start of its text
	}{
		{"of rank 0", map[int]error{3: bad, 4: errors.New("worse")}, 3, bad, "bad"},
		{"of another rank", map[int]error{4: bad, 5: errors.New("worse")}, 4, nil, "rank 1: bad"},
		{"stopped", map[int]error{1: fmt.Errorf("now: %w", context.Canceled)}, 1, context.Canceled, ""},
		{"take", map[int]error{100: bad}, 2, bad, "bad"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(3, func(g *Group) {
				taken := 0
				err := Deal(g, 8, func(i int) (int, error) { return i, c.errs[i] }, func(i, x int) error {
					if c.errs[100] != nil && i == c.taken {
						return c.errs[100]
					}
					taken++
					return nil
				})
				switch {
				case taken != c.taken:
					t.Errorf("rank %d took %d results", g.Rank(), taken)
				case g.Rank() > 0:
					if !errors.Is(err, ErrAgreed) {
						t.Errorf("rank %d: %v, want %v", g.Rank(), err, ErrAgreed)
					}
				case err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.HasPrefix(err.Error(), c.prefix):
					t.Error(err)
				}
			})
		})
	}
}

// If one rank is cancelled, all ranks stop.
func TestDone(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for _, stopped := range []int{-1, 0, 2} {
		each(3, func(g *Group) {
			ctx := context.Background()
			if g.Rank() == stopped {
				ctx = over
			}
			err := g.Done(ctx)
			if errors.Is(err, context.Canceled) != (stopped >= 0) || errors.Is(err, ErrAgreed) != (stopped >= 0 && g.Rank() > 0) {
				t.Errorf("rank %d, of which %d is to stop: %v", g.Rank(), stopped, err)
			}
		})
	}
	var alone *Group
	if alone.Done(context.Background()) != nil || alone.Done(over) != context.Canceled {
		t.Error("one process alone has its own context")
	}
}
