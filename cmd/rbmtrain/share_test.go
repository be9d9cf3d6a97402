package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/rbm/ranks"
	"gorbm/train"
	"gorbm/train/rundir"
)

// inRanks runs rbmtrain in n ranks of this process.
func inRanks(t *testing.T, ctx context.Context, n int, args func(rank int) []string) clitest.Result {
	t.Helper()
	return clitest.InRanks(t, ctx, "rbmtrain", runRanks, n, args)
}

// trained runs rbmtrain in n ranks and returns the bytes of the model.
func trained(t *testing.T, n int, out string, args ...string) string {
	t.Helper()
	args = append(args, "-quiet")
	if n == 1 {
		rbmtrain.OK(t, args...)
	} else if r := inRanks(t, context.Background(), n, clitest.Same(args...)); r.Status != cli.OK {
		t.Fatalf("%d ranks, %q: %s, got %v, want %v", n, args, r.Stderr, r.Status, cli.OK)
	}
	b, err := os.ReadFile(filepath.Join(out, rundir.ModelFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Several ranks write the model of one process, whatever the negative phase.
func TestRanksWriteTheSameModel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	for i, negative := range []string{"pcd:chains=5", "pt:chains=3:tau=1/2/4", "ins:chains=3:tau=reach/4", "pins:chains=3:tau=auto", "ptt:chains=5:sweeps=4", "sardonics:chains=5"} {
		args := func(n int) (string, []string) {
			out := fmt.Sprintf("%d-%d", i, n)
			return out, small("-negphase", negative, "-metrics", "mixing,classification", "-eval-every", "20", "-snapshots", "0", "-out", out)
		}
		out, a := args(1)
		want := trained(t, 1, out, a...)
		if out, a := args(3); trained(t, 3, out, a...) != want {
			t.Errorf("%s: 3 ranks write another model", negative)
		}
	}
}

// A run that was saved on four ranks goes on with any number to the bits of one process.
func TestRanksResume(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	args := func(steps, out string) []string {
		return small("-negphase", "pins:chains=3:tau=auto", "-metrics", "classification", "-eval-every", "10", "-snapshots", "3", "-steps", steps, "-out", out)
	}
	want := trained(t, 1, "whole", args("70", "whole")...)
	for _, n := range []int{1, 2, 7} {
		out := fmt.Sprint("part", n)
		trained(t, 4, out, args("55", out)...)
		if trained(t, n, out, "-resume", out, "-steps", "70") != want {
			t.Errorf("resumed on %d ranks, the run ends at another model", n)
		}
	}
}

// Rank 0 alone prints, and one line says what is wrong.
func TestRanksFail(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	rbmtrain.OK(t, small("-negphase", "pcd", "-out", "taken", "-quiet")...)
	before := clitest.Tree(t, ".")
	for _, c := range []struct {
		name   string
		args   func(rank int) []string
		status int
		words  []string
	}{
		{"no such flag", clitest.Same("-no-such-flag"), cli.Usage, []string{"no-such-flag"}},
		{"exact", clitest.Same(small("-negphase", "exact", "-out", "new")...), cli.Failed, []string{"exact works in one process", "without mpirun"}},
		{"no data", clitest.Same("-data", "none.csv"), cli.Failed, []string{"none.csv"}},
		{"the folder is taken", clitest.Same(small("-negphase", "pcd", "-out", "taken")...), cli.Failed, []string{"taken"}},
		{"no run to go on with", clitest.Same("-resume", "nowhere"), cli.Failed, []string{"nowhere"}},
		{"another command line", func(rank int) []string {
			return small("-negphase", "pcd", "-out", "new", "-seed", fmt.Sprint(1+rank/2))
		}, cli.Failed, []string{"rank 2 on ", "another command line than rank 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := inRanks(t, context.Background(), 3, c.args)
			if r.Status != c.status || r.Stdout != "" {
				t.Errorf("exits with %d, and prints %q, want %d and nothing", r.Status, r.Stdout, c.status)
			}
			rbmtrain.OneLine(t, r.Stderr, c.words...)
		})
	}
	if after := clitest.Tree(t, "."); after != before {
		t.Errorf("files have changed.\nbefore:\n%safter:\n%s", before, after)
	}
}

// Rows that differ are found where the command lines are equal: the file may be another
// one on each machine.
func TestRanksWithOtherData(t *testing.T) {
	clitest.Isolate(t)
	var all sync.WaitGroup
	errs := make([]error, 2)
	for r, g := range ranks.Goroutines(2) {
		all.Go(func() {
			args := small("-negphase", "pcd", "-out", "new", "-quiet")
			args[1] = fmt.Sprintf("%s:seed=%d", clitest.Toy, r+3)
			var out bytes.Buffer
			errs[r] = runRanks(context.Background(), g, args, &out, &out)
			g.Close()
		})
	}
	all.Wait()
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "rank 1 on ") || !strings.Contains(errs[0].Error(), "another data set than rank 0") || !errors.Is(errs[1], ranks.ErrAgreed) {
		t.Errorf("the ranks say %v", errs)
	}
	if _, err := os.Stat("new"); err == nil {
		t.Error("a folder is there")
	}
}

// If a rank is lost, rank 0 says where to go on.
func TestRankLost(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	var stdout, stderr bytes.Buffer
	var all sync.WaitGroup
	for r, g := range ranks.Goroutines(3) {
		all.Go(func() {
			args := small("-negphase", "pcd", "-out", "run", "-quiet", "-steps", "1000000", "-checkpoint-every", "10")
			if r == 0 {
				if status := cli.RunRanks(context.Background(), g, "rbmtrain", runRanks, args, &stdout, &stderr); status != cli.Failed {
					t.Errorf("exits with %d, want %d", status, cli.Failed)
				}
				return
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if r == 2 {
				go func() {
					for ctx.Err() == nil {
						if _, err := os.Stat("run/checkpoint"); err == nil {
							g.Close() // the goroutine of the rank sees no more of the others
							return
						}
					}
				}()
			}
			var out bytes.Buffer
			cli.RunRanks(ctx, g, "rbmtrain", runRanks, args, &out, &out)
			g.Close()
		})
	}
	all.Wait()
	rbmtrain.OneLine(t, stderr.String(), "a rank of the group is lost", "resume from the checkpoint, of step", "rbmtrain -resume run")
	rbmtrain.OK(t, "-resume", "run", "-steps", "1000", "-quiet")
}

// One rank that is told to stop stops them all, and the checkpoint is kept.
func TestRanksAreInterrupted(t *testing.T) {
	clitest.Isolate(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat("run/checkpoint"); err == nil {
				cancel()
			}
		}
	}()
	r := inRanks(t, ctx, 3, clitest.Same(small("-negphase", "pcd", "-out", "run", "-quiet", "-steps", "1000000", "-checkpoint-every", "10")...))
	if r.Status != cli.Failed {
		t.Errorf("exits with %d, want %d", r.Status, cli.Failed)
	}
	rbmtrain.OneLine(t, r.Stderr, "stopped after step", "rbmtrain -resume run")
}

// A run that rank 0 cannot begin leaves all ranks ready for another, as in an array.
func TestRanksGoOnAfterAFailure(t *testing.T) {
	clitest.Isolate(t)
	pprof.StartCPUProfile(io.Discard) // so that rank 0 cannot
	defer pprof.StopCPUProfile()
	var all sync.WaitGroup
	for r, g := range ranks.Goroutines(3) {
		all.Go(func() {
			defer g.Close()
			for _, more := range [][]string{{"-out", "first", "-cpuprofile", "profile"}, {"-out", "second"}} {
				err := runRanks(context.Background(), g, append(small("-quiet"), more...), io.Discard, io.Discard)
				if failed := len(more) > 2; (err != nil) != failed || failed && r > 0 && !errors.Is(err, train.ErrStopped) {
					t.Errorf("rank %d, %q: %v", r, more, err)
				}
			}
		})
	}
	all.Wait()
}
