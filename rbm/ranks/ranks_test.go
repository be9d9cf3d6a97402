package ranks

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// each calls f in every rank of a group of n.
func each(n int, f func(g *Group)) {
	var all sync.WaitGroup
	for _, g := range Goroutines(n) {
		all.Go(func() { f(g) })
	}
	all.Wait()
}

// Each rank computes its rows, and all ranks get the whole table, many times.
func TestGatherRows(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7} {
		for _, rows := range []int{0, 1, 3, 20} {
			each(n, func(g *Group) {
				for round := range 50 {
					x := make([]float64, 3*rows)
					lo, hi := g.Rows(rows)
					for i := 3 * lo; i < 3*hi; i++ {
						x[i] = float64(round*1000 + i + 1)
					}
					if err := GatherRows(g, x, rows); err != nil {
						t.Error(err)
					}
					for i, y := range x {
						if y != float64(round*1000+i+1) {
							t.Errorf("%d ranks, %d rows, round %d: number %d is %v on rank %d, want %v", n, rows, round, i, y, g.Rank(), float64(round*1000+i+1))
							return
						}
					}
				}
			})
		}
	}
}

// Rows assigns every row to one rank, evenly.
func TestRows(t *testing.T) {
	for n := 1; n < 9; n++ {
		for rows := range 30 {
			next := 0
			for _, g := range Goroutines(n) {
				lo, hi := g.Rows(rows)
				if lo != next || hi-lo < rows/n || hi-lo > (rows+n-1)/n {
					t.Errorf("rank %d of %d has rows %d to %d of %d", g.Rank(), n, lo, hi, rows)
				}
				next = hi
			}
			if next != rows {
				t.Errorf("%d of %d rows are dealt", next, rows)
			}
		}
	}
}

func TestGatherOfUnequalParts(t *testing.T) {
	each(3, func(g *Group) {
		x := []uint64{0, 0, 0, 0}
		switch g.Rank() {
		case 1:
			x[0] = 5
		case 2:
			copy(x[1:], []uint64{6, 7, 8})
		}
		if err := Gather(g, x, []int{0, 1, 4}); err != nil || !slices.Equal(x, []uint64{5, 6, 7, 8}) {
			t.Errorf("rank %d has %v, %v, want %v", g.Rank(), x, err, []uint64{5, 6, 7, 8})
		}
	})
}

func TestAny(t *testing.T) {
	for _, raised := range []int{-1, 0, 2} {
		each(3, func(g *Group) {
			if got, err := g.Any(g.Rank() == raised); got != (raised >= 0) || err != nil {
				t.Errorf("rank %d of which %d raises its hand: %v, %v, want %v", g.Rank(), raised, got, err, raised >= 0)
			}
		})
	}
}

func TestBroadcast(t *testing.T) {
	bad := errors.New("bad")
	each(3, func(g *Group) {
		b, err := g.Broadcast([]byte("of rank 0")[:9*(1-min(1, g.Rank()))], nil)
		if string(b) != "of rank 0" || err != nil {
			t.Errorf("rank %d has %q, %v, want %q", g.Rank(), b, err, "of rank 0")
		}
		var failed error
		if g.Rank() == 0 {
			failed = bad
		}
		_, err = g.Broadcast(nil, failed)
		if g.Rank() == 0 && err != bad || g.Rank() > 0 && !errors.Is(err, ErrAgreed) {
			t.Errorf("rank %d has the error %v", g.Rank(), err)
		}
	})
}

// Rank 0 reports the problem and its place. The others get an error that they need not report.
func TestAgree(t *testing.T) {
	fact := func(name, value string) Fact { return Fact{name, sha256.Sum256([]byte(value))} }
	for _, c := range []struct {
		name   string
		failed map[int]string
		data   map[int]string
		want   string // of rank 0; "": nil
	}{
		{"all well", nil, nil, ""},
		{"one has failed", map[int]string{2: "no data"}, nil, "rank 2 on "},
		{"all have failed", map[int]string{0: "no data", 1: "no data", 2: "no data"}, nil, "no data"},
		{"other data", nil, map[int]string{1: "x"}, "has another data hash than rank 0"},
		{"both", map[int]string{2: "no room"}, map[int]string{2: "x"}, ": no room"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(3, func(g *Group) {
				var failed error
				if s := c.failed[g.Rank()]; s != "" {
					failed = errors.New(s)
				}
				err := g.Agree(failed, fact("binary", "b"), fact("data hash", c.data[g.Rank()]))
				switch {
				case c.want == "":
					if err != nil {
						t.Error(err)
					}
				case g.Rank() > 0:
					if !errors.Is(err, ErrAgreed) {
						t.Errorf("rank %d: %v, want %v", g.Rank(), err, ErrAgreed)
					}
				case err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrAgreed):
					t.Error(err)
				}
			})
		})
	}
}

// One process needs no group.
func TestAlone(t *testing.T) {
	var g *Group
	x := []float32{1, 2}
	lo, hi := g.Rows(7)
	any, err1 := g.Any(true)
	b, err2 := g.Broadcast([]byte("b"), nil)
	if err := errors.Join(err1, err2, GatherRows(g, x, 2), Gather(g, x, []int{2}), g.Agree(nil, Fact{}), g.Close()); err != nil || g.Rank() != 0 || g.Size() != 1 || lo != 0 || hi != 7 || !any || string(b) != "b" {
		t.Errorf("rank %d of %d with rows %d … %d: %v %q %v", g.Rank(), g.Size(), lo, hi, any, b, err)
	}
	bad := errors.New("bad")
	if _, err := g.Broadcast(nil, bad); err != bad || g.Agree(bad) != bad {
		t.Error("one process alone keeps its errors")
	}
}

// A waiting rank gets an error when another one leaves.
func TestLost(t *testing.T) {
	each(4, func(g *Group) {
		if g.Rank() == 3 {
			g.Close()
			return
		}
		if err := GatherRows(g, make([]uint8, 4), 4); !errors.Is(err, ErrLost) {
			t.Errorf("rank %d: %v, want %v", g.Rank(), err, ErrLost)
		}
	})
}

func TestLaunched(t *testing.T) {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE"} {
		t.Setenv(name, "")
	}
	for _, c := range []struct {
		rank, size string // names of environment variables
		r, n       string
		want       string
	}{
		{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "", "", "0 of 1"},
		{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "2", "4", "2 of 4"},
		{"PMI_RANK", "PMI_SIZE", "0", "3", "0 of 3"},
		{"PMI_RANK", "PMI_SIZE", "3", "3", "0 of 1"},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Setenv(c.rank, c.r)
			t.Setenv(c.size, c.n)
			if rank, size := Launched(); fmt.Sprintf("%d of %d", rank, size) != c.want {
				t.Errorf("rank %d of %d, not %s", rank, size, c.want)
			}
		})
	}
}
