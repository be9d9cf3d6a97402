package rundir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// folder returns an empty folder.
func folder(t testing.TB) *Folder { return &Folder{Dir: t.TempDir()} }

const smallToy = "toy:4,4,100,0.2"

// newTrainer returns a trainer of pcd with momentum on the data of a spec.
func newTrainer(t *testing.T, spec string, hidden int, change func(s *train.Settings)) *train.Trainer {
	t.Helper()
	set, _, err := data.Load(t.Context(), spec, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	negative, err := negphase.Parse("pcd:k=1:chains=8", negphase.DefaultSettings(""))
	if err != nil {
		t.Fatal(err)
	}
	s := train.PaperSettings("pcd")
	s.Negative, s.Momentum = negative, 0.5
	change(&s)
	tr, err := train.New(s, set, train.NewModel(set, hidden, true, rbm.Softmax, s.Seed))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// run trains until the trainer has taken that many steps in all.
func run(t *testing.T, tr *train.Trainer, steps int) {
	t.Helper()
	if err := tr.Run(t.Context(), steps); err != nil {
		t.Fatal(err)
	}
}

// trainerAt returns a trainer after some steps.
func trainerAt(t *testing.T, steps int) *train.Trainer {
	t.Helper()
	tr := newTrainer(t, smallToy, 4, func(*train.Settings) {})
	run(t, tr, steps)
	return tr
}

// save returns what Save writes.
func save(t *testing.T, tr *train.Trainer) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tr.Save(&b, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
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

// checkpoints returns a folder with a checkpoint of step 10 and extra "new", and a previous one of step 5
// and extra "old". It also returns what Save writes at these steps.
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

// TestCheckpoint checks what LoadCheckpoint reads from an undamaged folder, and that saving leaves two
// files.
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
		t.Errorf("the folder holds %v, %v, want 2 of them", entries, err)
	}
}

// TestCheckpointDamaged damages the checkpoint in every way. The previous one, if it is undamaged, is
// loaded and becomes the checkpoint.
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
			if b != nil { // nil: the file is missing
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
			!strings.HasSuffix(warning, "; resuming from the previous checkpoint, of step 5") || strings.Contains(warning, "\n") {
			t.Errorf("damage %d: loads %q, warning %q, %v", i, extra, warning, err)
			continue
		}
		if !bytes.Equal(save(t, tr), atFive) {
			t.Errorf("damage %d: the trainer is not that of the previous checkpoint", i)
		}
		// The next save must not make a damaged checkpoint the previous one.
		if err := f.SaveCheckpoint(tr, nil); err != nil || !bytes.Equal(content(t, f.Path(previousFile)), older) {
			t.Errorf("damage %d: the good checkpoint is not kept as the previous (%v)", i, err)
		}

		for _, previous := range [][]byte{nil, older[:30]} {
			reset(previous)
			tr := trainerAt(t, 3)
			before := save(t, tr)
			extra, warning, err := f.LoadCheckpoint(tr)
			if err == nil || extra != nil || warning != "" || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "start a new run") {
				t.Errorf("damage %d: with nothing to fall back on it loads %q, warning %q, %v", i, extra, warning, err)
			}
			if !bytes.Equal(save(t, tr), before) {
				t.Errorf("damage %d: the trainer is changed by what could not be loaded", i)
			}
		}
	}
}

// TestCheckpointOfAnotherRun checks that an undamaged checkpoint of another run is an error at once,
// without a look at the previous one.
func TestCheckpointOfAnotherRun(t *testing.T) {
	f, _, _ := checkpoints(t)
	before := content(t, f.Path(CheckpointFile))
	for _, c := range []struct {
		change func(s *train.Settings)
		spec   string
		want   string
	}{
		{func(s *train.Settings) {}, "toy:4,4,100,0.2:seed=2", "other data"},
		{func(s *train.Settings) { s.Momentum = 0.4 }, smallToy, "other settings"},
		{func(s *train.Settings) { s.Average = 0.9 }, smallToy, "other settings"},
	} {
		tr := newTrainer(t, c.spec, 4, c.change)
		if _, warning, err := f.LoadCheckpoint(tr); err == nil || warning != "" || !strings.Contains(err.Error(), c.want) || errors.Is(err, rbm.ErrFormat) {
			t.Errorf("want %q, got warning %q, %v", c.want, warning, err)
		}
	}
	tr := newTrainer(t, smallToy, 5, func(*train.Settings) {})
	if _, _, err := f.LoadCheckpoint(tr); err == nil || !strings.Contains(err.Error(), "5") {
		t.Errorf("a model of another size: %v, want %q in it", err, "5")
	}
	if !bytes.Equal(content(t, f.Path(CheckpointFile)), before) {
		t.Error("the checkpoint was changed")
	}
	if err := (&Folder{Dir: filepath.Join(f.Dir, "nowhere")}).SaveCheckpoint(tr, nil); err == nil {
		t.Error("a checkpoint can be written to no folder")
	}
}
