//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/train"
	"gorbm/train/rundir"
)

// onFullDisk is set in the separate process of TestBestOnFullDisk.
const onFullDisk = "RBMTRAIN_TEST_ON_FULL_DISK"

// full calls f while files of this process cannot grow beyond 100 bytes, like on a full
// disk.
func full(t *testing.T, f func()) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	low := limit
	low.Cur = 100
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}

// If a better model cannot be written, the previous best model stays in its file and in the
// checkpoint. There is one warning about files that cannot be written.
func TestBestOnFullDisk(t *testing.T) {
	if os.Getenv(onFullDisk) == "" {
		// The limit is that of a whole process, and go test writes a log of the files
		// that a test reads: it must not be written under the limit.
		cmd := exec.Command(os.Args[0], "-test.run=^TestBestOnFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), onFullDisk+"=1")
		out, err := cmd.CombinedOutput()
		switch {
		case err != nil:
			t.Errorf("%v:\n%s", err, out)
		case bytes.Contains(out, []byte("--- SKIP: TestBestOnFullDisk")):
			t.Skipf("%s", out)
		case !bytes.Contains(out, []byte("--- PASS: TestBestOnFullDisk")):
			t.Errorf("the test did not run:\n%s", out)
		}
		return
	}
	clitest.Isolate(t)
	o, said := newOptions(), new(bytes.Buffer)
	if err := o.flags.Parse(small("-holdout", "0.2", "-out", "run", "-quiet"), new(bytes.Buffer), said); err != nil {
		t.Fatal(err)
	}
	p, err := o.check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := train.New(p.settings, p.sets.Train, p.model)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{plan: p, trainer: trainer}
	defer r.close()
	if err := r.open(); err != nil {
		t.Fatal(err)
	}
	const best, previous = "run/" + rundir.BestFile, "run/" + rundir.PreviousBestFile
	keep := func(step int) {
		t.Helper()
		if err := trainer.Run(context.Background(), step); err != nil {
			t.Fatal(err)
		}
		if err := r.keepBest(bestState{Value: float64(step), Step: step}); err != nil {
			t.Errorf("step %d: %v", step, err)
		}
	}
	is := func(when string, step int) {
		t.Helper()
		sum, err := r.sumOf(rundir.BestFile)
		if b := r.state.Best; err != nil || b == nil || b.Step != step || b.Sum != sum {
			t.Errorf("%s: the best model is %+v, want that of step %d; its file has the sum %s, %v", when, b, step, sum, err)
		}
	}

	full(t, func() { keep(1) })
	if _, err := os.Stat(best); r.state.Best != nil || err == nil {
		t.Errorf("a model that was not written is the best: %+v, %v", r.state.Best, err)
	}
	keep(2)
	is("with room again", 2)
	second := clitest.Read(t, best)

	r.saver.kept.Store(2) // the checkpoint names it
	full(t, func() { keep(3) })
	is("full", 2)
	keep(4)
	is("with room again", 4)
	fourth := clitest.Read(t, best)
	if clitest.Read(t, previous) != second {
		t.Error("the best model of the checkpoint is not kept")
	}
	full(t, func() { keep(5) })
	is("full again", 4)
	if n := strings.Count(said.String(), "file too large"); n != 1 {
		t.Errorf("%d warnings: %s, want 1", n, said)
	}

	// If nothing was ever written, there is nothing to resume.
	for kept, want := range map[int64]string{0: "; there is no checkpoint: make room, and begin again with -force", 4: "; make room, and finish by: rbmtrain -resume run"} {
		r.saver.kept.Store(kept)
		full(t, func() { err = r.write(context.Background()) })
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "file too large") != 2 {
			t.Errorf("%d steps kept: %v", kept, err)
		}
	}

	// At the end of the run only the last best model is left.
	for _, gone := range []bool{false, true} {
		if gone { // it was moved away and neither its successor nor itself could be put there
			if err := os.Rename(best, previous); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.dropPrevious(); err != nil {
			t.Error(err)
		}
		if clitest.Read(t, best) != fourth {
			t.Error("the best model is not left")
		}
		if _, err := os.Stat(previous); err == nil {
			t.Error("the one before is left too")
		}
	}
	if err := r.dropPrevious(); err != nil {
		t.Errorf("nothing to remove: %v", err)
	}
}
