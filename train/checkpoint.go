package train

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/modelfile"
)

// The checkpoint of a run's folder, and the one before it.
const (
	CheckpointFile = "checkpoint"
	previousFile   = "checkpoint.previous"
	freshFile      = "checkpoint.new" // on its way to become the checkpoint
)

// SaveCheckpoint writes the folder's checkpoint, with extra bytes that
// LoadCheckpoint gives back. The one that was there is kept as the previous;
// at every moment one of the two is whole.
func (f *Folder) SaveCheckpoint(t *Trainer, extra []byte) error {
	fresh := f.Path(freshFile)
	if err := atomicfile.Write(fresh, func(w io.Writer) error { return t.Save(w, extra) }); err != nil {
		return err
	}
	if err := os.Rename(f.Path(CheckpointFile), f.Path(previousFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot keep the previous checkpoint: %w", err)
	}
	if err := os.Rename(fresh, f.Path(CheckpointFile)); err != nil {
		return fmt.Errorf("cannot write the checkpoint: %w", err)
	}
	return nil
}

// LoadCheckpoint restores the folder's checkpoint into t and returns its extra
// bytes. If it is missing or damaged the previous one is taken, and warning
// says so. The error is that of the newer one if neither can be used.
func (f *Folder) LoadCheckpoint(t *Trainer) (extra []byte, warning string, err error) {
	extra, err = f.load(CheckpointFile, t)
	if err == nil {
		return extra, "", nil
	}
	if !errors.Is(err, rbm.ErrFormat) && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err // another run's, or other data: the previous will be no better
	}
	extra, err2 := f.load(previousFile, t)
	switch {
	case err2 == nil:
		// The good one takes the place of the damaged, which must not become
		// the previous when the next is saved.
		if e := os.Rename(f.Path(previousFile), f.Path(CheckpointFile)); e != nil {
			return nil, "", fmt.Errorf("cannot put the previous checkpoint in place: %w", e)
		}
		return extra, fmt.Sprintf("%v; going on from the previous checkpoint, of step %d", err, t.Steps()), nil
	case errors.Is(err, fs.ErrNotExist) && errors.Is(err2, fs.ErrNotExist):
		return nil, "", fmt.Errorf("%s has no checkpoint to go on from; start anew", f.Dir)
	}
	return nil, "", fmt.Errorf("%w; the previous checkpoint is of no use either: start anew", err)
}

func (f *Folder) load(name string, t *Trainer) ([]byte, error) {
	file, err := os.Open(f.Path(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	extra, err := t.Load(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path(name), err)
	}
	return extra, nil
}

// SnapshotSteps returns at most n steps from 1 to total, evenly spaced on a
// logarithmic scale: what a model learns, it learns mostly early. The last is
// total.
func SnapshotSteps(total, n int) []int {
	var steps []int
	for k := 1; k <= n; k++ {
		s := total
		if k < n {
			s = int(math.Round(math.Pow(float64(total), float64(k-1)/float64(n-1))))
		}
		if len(steps) == 0 || s > steps[len(steps)-1] {
			steps = append(steps, s)
		}
	}
	return steps
}

// SnapshotsDir is the folder of the snapshots in a run's folder.
const SnapshotsDir = "models"

// SnapshotFile is the path of the snapshot of a step within a run's folder.
func SnapshotFile(step int) string {
	return fmt.Sprintf("%s/%07d.safetensors", SnapshotsDir, step)
}

// Snapshots returns an observer that writes the model at the given steps.
func (f *Folder) Snapshots(steps []int, about modelfile.About) (func(e Event) error, error) {
	if len(steps) > 0 {
		if err := os.MkdirAll(f.Path(SnapshotsDir), 0o755); err != nil {
			return nil, fmt.Errorf("cannot make the folder of the snapshots: %w", err)
		}
	}
	return func(e Event) error {
		if _, due := slices.BinarySearch(steps, e.Step); !due {
			return nil
		}
		if err := e.Model.CheckFinite(); err != nil {
			return fmt.Errorf("step %d: %w", e.Step, err)
		}
		return modelfile.Write(f.Path(SnapshotFile(e.Step)), e.Model, about)
	}, nil
}
