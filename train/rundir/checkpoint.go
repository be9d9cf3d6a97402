package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/train"
)

// The checkpoint in a run's folder, and the one before it.
const (
	CheckpointFile = "checkpoint"
	previousFile   = "checkpoint.previous"
	freshFile      = "checkpoint.new" // a checkpoint that is being written
)

// SaveCheckpoint writes the folder's checkpoint, with extra bytes that LoadCheckpoint returns. An earlier
// checkpoint becomes the previous checkpoint. At every moment one of the two files is complete.
func (f *Folder) SaveCheckpoint(t *train.Trainer, extra []byte) error {
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

// LoadCheckpoint restores the folder's checkpoint into t and returns its extra bytes. If the checkpoint is
// missing or damaged, the previous checkpoint is used, and warning says so. If neither can be used, the
// error is about the newer checkpoint.
func (f *Folder) LoadCheckpoint(t *train.Trainer) (extra []byte, warning string, err error) {
	extra, err = f.load(CheckpointFile, t)
	if err == nil {
		return extra, "", nil
	}
	if !errors.Is(err, rbm.ErrFormat) && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err // the checkpoint is of another run or other data, and so is the previous one
	}
	extra, err2 := f.load(previousFile, t)
	switch {
	case err2 == nil:
		// The good file replaces the damaged one, which would otherwise become the previous checkpoint at
		// the next save.
		if e := os.Rename(f.Path(previousFile), f.Path(CheckpointFile)); e != nil {
			return nil, "", fmt.Errorf("cannot put the previous checkpoint in place: %w", e)
		}
		return extra, fmt.Sprintf("%v; resuming from the previous checkpoint, of step %d", err, t.Steps()), nil
	case errors.Is(err, fs.ErrNotExist) && errors.Is(err2, fs.ErrNotExist):
		return nil, "", fmt.Errorf("%s has no checkpoint to resume from: the run ended before its first; start a new run with the same flags, -out %s and -force", f.Dir, f.Dir)
	}
	previous := "the previous checkpoint cannot be used either"
	if errors.Is(err2, fs.ErrNotExist) {
		previous = "there is no previous checkpoint"
	}
	return nil, "", fmt.Errorf("%w; %s; start a new run, from the model if there is one, by -init %s", err, previous, f.Dir)
}

func (f *Folder) load(name string, t *train.Trainer) ([]byte, error) {
	file, err := f.openFile(name, os.O_RDONLY)
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
