package train

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// folder returns an empty folder.
func folder(t testing.TB) *Folder { return &Folder{Dir: t.TempDir()} }

// trainerAt returns a trainer after some steps of pcd.
func trainerAt(t *testing.T, steps int) *Trainer {
	t.Helper()
	s := settingsOf(t, negatives["pcd"])
	s.Momentum = 0.5
	tr := newTrainer(t, s, toy(t, smallToy), 4, true, rbm.Softmax)
	run(t, tr, steps)
	return tr
}

// content returns a file's bytes; nil if there is none.
func content(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b
}

func put(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func drop(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// checkpoints returns a folder with a checkpoint of step 10, extra "new", and
// the previous of step 5, extra "old"; and what Save writes at these steps.
func checkpoints(t *testing.T) (f *Folder, atTen, atFive []byte) {
	t.Helper()
	f = folder(t)
	tr := trainerAt(t, 5)
	atFive = save(t, tr)
	if err := f.SaveCheckpoint(tr, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.Path(previousFile)); err == nil {
		t.Error("the first checkpoint has a previous one")
	}
	run(t, tr, 10)
	atTen = save(t, tr)
	if err := f.SaveCheckpoint(tr, []byte("new")); err != nil {
		t.Fatal(err)
	}
	return f, atTen, atFive
}

// TestCheckpoint checks what is loaded from a whole folder, and that saving
// leaves two files.
func TestCheckpoint(t *testing.T) {
	f, atTen, _ := checkpoints(t)
	tr := trainerAt(t, 0)
	extra, warning, err := f.LoadCheckpoint(tr)
	if err != nil || warning != "" || string(extra) != "new" {
		t.Fatalf("loads %q, warning %q, %v", extra, warning, err)
	}
	if !bytes.Equal(save(t, tr), atTen) {
		t.Error("the trainer is not the one that was saved")
	}
	entries, err := os.ReadDir(f.Dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

// TestCheckpointDamaged damages the checkpoint in every way: the previous one
// is taken, which then is the checkpoint, or none at all.
func TestCheckpointDamaged(t *testing.T) {
	f, _, atFive := checkpoints(t)
	newer, older := content(t, f.Path(CheckpointFile)), content(t, f.Path(previousFile))
	damaged := [][]byte{nil, {}, []byte("not a checkpoint"), append(slices.Clone(newer), 0)[1:]}
	for _, n := range []int{1, 8, 20, 40, len(newer) / 2, len(newer) - 32, len(newer) - 1} {
		damaged = append(damaged, newer[:n])
	}
	for _, at := range []int{0, 9, 44, len(newer) / 2, len(newer) - 33, len(newer) - 1} {
		b := slices.Clone(newer)
		b[at] ^= 0x10
		damaged = append(damaged, b)
	}
	for i, b := range damaged {
		reset := func(previous []byte) {
			drop(t, f.Path(CheckpointFile))
			if b != nil { // nil: it is missing
				put(t, f.Path(CheckpointFile), b)
			}
			drop(t, f.Path(previousFile))
			if previous != nil {
				put(t, f.Path(previousFile), previous)
			}
		}
		reset(older)
		tr := trainerAt(t, 0)
		extra, warning, err := f.LoadCheckpoint(tr)
		if err != nil || string(extra) != "old" || !strings.Contains(warning, f.Path(CheckpointFile)) ||
			!strings.HasSuffix(warning, "; going on from the previous checkpoint, of step 5") || strings.Contains(warning, "\n") {
			t.Errorf("damage %d: loads %q, warning %q, %v", i, extra, warning, err)
			continue
		}
		if !bytes.Equal(save(t, tr), atFive) {
			t.Errorf("damage %d: the trainer is not that of the previous checkpoint", i)
		}
		// The next checkpoint must not push a damaged one into its place.
		if err := f.SaveCheckpoint(tr, nil); err != nil || !bytes.Equal(content(t, f.Path(previousFile)), older) {
			t.Errorf("damage %d: the good checkpoint is not kept as the previous (%v)", i, err)
		}

		for _, previous := range [][]byte{nil, older[:30]} {
			reset(previous)
			tr := trainerAt(t, 3)
			before := save(t, tr)
			extra, warning, err := f.LoadCheckpoint(tr)
			if err == nil || extra != nil || warning != "" || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "start anew") {
				t.Errorf("damage %d: with nothing to fall back on it loads %q, warning %q, %v", i, extra, warning, err)
			}
			if !bytes.Equal(save(t, tr), before) {
				t.Errorf("damage %d: the trainer is changed by what could not be loaded", i)
			}
		}
	}
}

// TestCheckpointOfAnotherRun checks that a whole checkpoint that does not fit is
// an error at once: the previous one is no remedy.
func TestCheckpointOfAnotherRun(t *testing.T) {
	f, _, _ := checkpoints(t)
	before := content(t, f.Path(CheckpointFile))
	s := settingsOf(t, negatives["pcd"])
	for _, c := range []struct {
		change func(s *Settings)
		spec   string
		want   string
	}{
		{func(s *Settings) { s.Momentum = 0.5 }, "toy:4,4,100,0.2:seed=2", "other data"},
		{func(s *Settings) { s.Momentum = 0.4 }, smallToy, "other settings"},
		{func(s *Settings) { s.Momentum, s.Average = 0.5, 0.9 }, smallToy, "other settings"},
	} {
		s := s
		c.change(&s)
		tr := newTrainer(t, s, toy(t, c.spec), 4, true, rbm.Softmax)
		if _, warning, err := f.LoadCheckpoint(tr); err == nil || warning != "" || !strings.Contains(err.Error(), c.want) || errors.Is(err, rbm.ErrFormat) {
			t.Errorf("want %q, got warning %q, %v", c.want, warning, err)
		}
	}
	s.Momentum = 0.5
	tr := newTrainer(t, s, toy(t, smallToy), 5, true, rbm.Softmax)
	if _, _, err := f.LoadCheckpoint(tr); err == nil || !strings.Contains(err.Error(), "5") {
		t.Errorf("a model of another size: %v", err)
	}
	if !bytes.Equal(content(t, f.Path(CheckpointFile)), before) {
		t.Error("the checkpoint was changed")
	}
	if err := (&Folder{Dir: filepath.Join(f.Dir, "nowhere")}).SaveCheckpoint(tr, nil); err == nil {
		t.Error("a checkpoint can be written to no folder")
	}
}

func TestSnapshotSteps(t *testing.T) {
	for _, c := range []struct {
		total, n int
		want     []int
	}{
		{1000, 4, []int{1, 10, 100, 1000}},
		{120, 6, []int{1, 3, 7, 18, 46, 120}},
		{10, 0, nil},
		{10, 1, []int{10}},
		{10, 2, []int{1, 10}},
		{1, 20, []int{1}},
		{3, 20, []int{1, 2, 3}},
	} {
		if got := SnapshotSteps(c.total, c.n); !slices.Equal(got, c.want) {
			t.Errorf("SnapshotSteps(%d, %d) = %v, want %v", c.total, c.n, got, c.want)
		}
	}
	for _, total := range []int{1, 2, 7, 10000, 12345, MaxSteps} {
		for _, n := range []int{2, 3, 20, 10000} {
			s := SnapshotSteps(total, n)
			if len(s) > n || s[0] != 1 || s[len(s)-1] != total {
				t.Errorf("SnapshotSteps(%d, %d): %d steps from %d to %d", total, n, len(s), s[0], s[len(s)-1])
			}
			for i := 1; i < len(s); i++ {
				if s[i] <= s[i-1] {
					t.Fatalf("SnapshotSteps(%d, %d): %d follows %d", total, n, s[i], s[i-1])
				}
			}
		}
	}
}

// TestSnapshots checks that models are written where they are due, and none
// that is not finite.
func TestSnapshots(t *testing.T) {
	f := folder(t)
	observe, err := f.Snapshots([]int{2, 5}, modelfile.About{Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	tr := trainerAt(t, 0)
	for step := 1; step <= 6; step++ {
		run(t, tr, step)
		if err := observe(Event{Step: step, Model: tr.Model()}); err != nil {
			t.Fatal(err)
		}
		path := f.Path(SnapshotFile(step))
		m, about, err := modelfile.Read(path)
		switch due := step == 2 || step == 5; {
		case due && (err != nil || !m.Equal(tr.Model()) || about.Seed != 9):
			t.Errorf("step %d: %v", step, err)
		case !due && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("step %d was not due: %v", step, err)
		}
	}
	spoil(tr.Model(), 0, 0, float32(math.NaN()))
	drop(t, f.Path(SnapshotFile(5)))
	if err := observe(Event{Step: 5, Model: tr.Model()}); err == nil || content(t, f.Path(SnapshotFile(5))) != nil {
		t.Errorf("a model that is not finite is kept: %v", err)
	}

	f = folder(t)
	if _, err := f.Snapshots(nil, modelfile.About{}); err != nil || content(t, f.Path("x")) != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.Path(SnapshotsDir)); err == nil {
		t.Error("a folder is made for no snapshots")
	}
	put(t, f.Path(SnapshotsDir), nil)
	if _, err := f.Snapshots([]int{1}, modelfile.About{}); err == nil || !strings.Contains(err.Error(), "snapshots") {
		t.Errorf("a file in the place of the folder: %v", err)
	}
}
