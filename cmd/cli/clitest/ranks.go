package clitest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/rbm/ranks"
)

// InRanks runs a command in n ranks, goroutines of this process, with the arguments args(rank).
// It returns the result of rank 0. If rank 0 succeeds, the others must succeed too.
func InRanks(t *testing.T, ctx context.Context, name string, run cli.RanksCommand, n int, args func(rank int) []string) Result {
	t.Helper()
	var all sync.WaitGroup
	stdout, stderr, status := make([]bytes.Buffer, n), make([]bytes.Buffer, n), make([]int, n)
	for r, g := range ranks.Goroutines(n) {
		all.Go(func() {
			status[r] = cli.RunRanks(ctx, g, name, run, args(r), &stdout[r], &stderr[r])
			g.Close()
		})
	}
	all.Wait()
	for r := 1; r < n && status[0] == cli.OK; r++ {
		if status[r] != cli.OK {
			t.Errorf("rank %d exits with %d: %s", r, status[r], &stderr[r])
		}
	}
	return Result{Status: status[0], Stdout: stdout[0].String(), Stderr: stderr[0].String()}
}

// Same returns the argument of InRanks that gives all ranks the same args.
func Same(args ...string) func(int) []string { return func(int) []string { return args } }

// EqualInRanks checks that two and five ranks print the same as one process, and write the same
// files. Names of the files must begin with "out". mask removes parts of a text that depend on
// the machine, such as times.
func EqualInRanks(t *testing.T, name string, run cli.RanksCommand, mask func(text string) string, args ...string) {
	t.Helper()
	type outcome struct {
		Result
		files map[string]string
	}
	call := func(n int) outcome {
		t.Helper()
		x := outcome{Result: InRanks(t, context.Background(), name, run, n, Same(args...)), files: map[string]string{}}
		x.Stdout, x.Stderr = mask(x.Stdout), mask(x.Stderr)
		paths, _ := filepath.Glob("out*")
		inside, _ := filepath.Glob("out*/*")
		for _, path := range append(paths, inside...) {
			if b, err := os.ReadFile(path); err == nil {
				x.files[path] = mask(string(b))
			}
		}
		for _, path := range paths {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
		return x
	}
	want := call(1)
	if want.Status != cli.OK {
		t.Fatalf("%q: %s", args, want.Stderr)
	}
	for _, n := range []int{2, 5} {
		got := call(n)
		if got.Result != want.Result {
			t.Errorf("%q: %d ranks print\n%s%snot\n%s%s", args, n, got.Stdout, got.Stderr, want.Stdout, want.Stderr)
		}
		for path, text := range want.files {
			if got.files[path] != text {
				t.Errorf("%q: %d ranks write another %s", args, n, path)
			}
		}
		if len(got.files) != len(want.files) {
			t.Errorf("%q: %d ranks write %d files, not %d", args, n, len(got.files), len(want.files))
		}
	}
}
