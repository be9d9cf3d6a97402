package main

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/negphase/mcmc"
)

// A costly chain only uses time.
type costly struct {
	now  *time.Duration
	cost time.Duration
}

func (c costly) Move(*rand.Rand) mcmc.Info {
	*c.now += c.cost
	return mcmc.Info{Moves: 1}
}
func (c costly) Reset() {}

// costlyField returns samplers whose moves take the given times, and their clock.
func costlyField(t *testing.T, costs ...time.Duration) ([]*contestant, clock) {
	t.Helper()
	g, err := mcmc.NewGraph([]float64{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := new(time.Duration)
	var field []*contestant
	for _, c := range costs {
		field = append(field, &contestant{system: mcmc.NewIsing(g, nil), chain: costly{now, c}})
	}
	return field, func() time.Duration { return *now }
}

func TestRaceIsFair(t *testing.T) {
	costs := []time.Duration{10 * time.Microsecond, 130 * time.Nanosecond, 3 * time.Millisecond, 70 * time.Millisecond}
	for _, l := range []length{{moves: byTime, time: 200 * time.Millisecond}, {moves: 12_345, time: math.MaxInt64}} {
		field, now := costlyField(t, costs...)
		if err := race(context.Background(), field, l, now, func(float64) {}); err != nil {
			t.Fatal(err)
		}
		for i, c := range field {
			if want := time.Duration(c.Info.Moves) * costs[i]; c.Elapsed != want || c.Trace.Len() != c.Info.Moves {
				t.Errorf("%v a move: %d moves in %v, %d energies", costs[i], c.Info.Moves, c.Elapsed, c.Trace.Len())
			}
			// A sampler stops at the first reading of the clock after its time. This is
			// at most a batch of 4 clock intervals, or a move, too late.
			late := c.Elapsed - field[0].Elapsed
			if late < 0 || late > max(4*clockInterval, costs[i]) {
				t.Errorf("%v a move: %v more than the first", costs[i], late)
			}
		}
		if l.moves != byTime && field[0].Info.Moves != l.moves {
			t.Errorf("%d moves of the first, want %d", field[0].Info.Moves, l.moves)
		}
		if over := field[0].Elapsed - l.time; l.moves == byTime && (over < 0 || over > 4*clockInterval) {
			t.Errorf("the first ran for %v, want %v", field[0].Elapsed, l.time)
		}
	}
}

// TestRaceTakesTurns checks that no sampler runs for long before the others, so that all
// have about equal time if a race ends early.
func TestRaceTakesTurns(t *testing.T) {
	field, now := costlyField(t, 10*time.Microsecond, 20*time.Microsecond)
	ctx, cancel := context.WithCancel(context.Background())
	var dones []float64
	err := race(ctx, field, length{moves: byTime, time: 10 * time.Second}, now, func(done float64) {
		dones = append(dones, done)
		if late := field[1].Elapsed - field[0].Elapsed; late < 0 || late > 4*clockInterval {
			t.Errorf("after a round one is %v ahead", late)
		}
		if len(dones) == 20 {
			cancel()
		}
	})
	if err != context.Canceled || len(dones) != 20 {
		t.Fatalf("ends with %v after %d rounds", err, len(dones))
	}
	for i, d := range dones {
		want := float64(i+1) * timeSlice.Seconds() / 10
		if d < want || d > want+float64(i+1)*4*clockInterval.Seconds()/10 {
			t.Errorf("round %d: %v done, want %v", i, d, want)
		}
	}
	// A race discards earlier measurements.
	if err := race(context.Background(), field, length{moves: 50, time: math.MaxInt64}, now, func(float64) {}); err != nil || field[0].Info.Moves != 50 || field[0].Trace.Len() != 50 {
		t.Errorf("%v, %d moves, want 50", err, field[0].Info.Moves)
	}
}

func TestLengthScaled(t *testing.T) {
	for _, c := range []struct {
		l     length
		share float64
		want  length
	}{
		{length{moves: byTime, time: 10 * time.Second}, 0.2, length{moves: byTime, time: 2 * time.Second}},
		{length{moves: 10, time: math.MaxInt64}, 0.2, length{moves: 2, time: math.MaxInt64}},
		{length{moves: 11, time: math.MaxInt64}, 0.2, length{moves: 3, time: math.MaxInt64}},
		{length{moves: 1, time: math.MaxInt64}, 1e-9, length{moves: 1, time: math.MaxInt64}},
	} {
		if got := c.l.scaled(c.share); got != c.want {
			t.Errorf("%v of %v: %v, want %v", c.share, c.l, got, c.want)
		}
	}
}

// TestStop checks that an interrupted run prints and writes its results so far, or an
// error if there are none.
func TestStop(t *testing.T) {
	clitest.Isolate(t)
	stopAfter := func(looks int) (clitest.Result, string) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		tick := metronome(clockInterval)
		now := clock(func() time.Duration {
			if looks--; looks == 0 {
				cancel()
			}
			return tick()
		})
		name := filepath.Join(t.TempDir(), "e.csv")
		c := clitest.Command{Name: "isingmc", Run: clitest.Alone(now.runRanks)}
		return c.CallContext(ctx, strings.Fields("-lattice 6x6 -sampler gibbs,sw -seconds 10 -trace "+name)...), name
	}
	r, name := stopAfter(10000) // two readings per move, of which 4000 are burn-in of each sampler
	if r.Status != cli.Failed || !strings.Contains(r.Stdout, "\n  gibbs ") {
		t.Errorf("status %d, stdout %q", r.Status, r.Stdout)
	}
	last := r.Stderr[strings.LastIndex(strings.TrimSpace(r.Stderr), "\n")+1:]
	isingmc.OneLine(t, last, "stopped after 0.5 s of each sampler")
	if rows := table(t, name); len(rows) != 1+2*500 {
		t.Errorf("%d lines of energies, want 1000", len(rows)-1)
	}
	r, _ = stopAfter(100)
	isingmc.OneLine(t, r.Stderr, "stopped before the first measured move")
}
