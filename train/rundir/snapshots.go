package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/train"
)

// SnapshotSteps returns at most n steps from 1 to total, spaced evenly on a logarithmic scale, because a
// model learns most at the beginning. The last one is total.
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

// SnapshotsDir is the subfolder of a run's folder with the snapshots.
const SnapshotsDir = "models"

// SnapshotFile returns the path of the snapshot at a step, relative to the run's folder.
func SnapshotFile(step int) string {
	return fmt.Sprintf("%s/%07d.safetensors", SnapshotsDir, step)
}

// Snapshots returns an observer that writes the model at the given steps.
func (f *Folder) Snapshots(steps []int, about modelfile.About) (func(e train.Event) error, error) {
	if len(steps) > 0 {
		if err := os.MkdirAll(f.Path(SnapshotsDir), 0o777); err != nil {
			return nil, fmt.Errorf("cannot make the folder of the snapshots: %w", err)
		}
	}
	return func(e train.Event) error {
		if _, due := slices.BinarySearch(steps, e.Step); !due {
			return nil
		}
		if err := cmp.Or(e.Model.CheckFinite(), e.Model.CheckNormalisable()); err != nil {
			return fmt.Errorf("step %d: %w", e.Step, err)
		}
		return modelfile.Write(f.Path(SnapshotFile(e.Step)), e.Model, about)
	}, nil
}

// DropSnapshots removes the snapshots of all steps above step. A run that is resumed after step writes them
// again.
func (f *Folder) DropSnapshots(step int) error {
	entries, err := os.ReadDir(f.Path(SnapshotsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		at, err := strconv.Atoi(strings.TrimSuffix(e.Name(), ".safetensors"))
		if !isSnapshot(e.Name()) || err != nil || at <= step {
			continue
		}
		if err := os.Remove(filepath.Join(f.Path(SnapshotsDir), e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// A Snapshot is a model that a run saved after Step training steps.
type Snapshot struct {
	Step  int
	Path  string
	Model *rbm.RBM // nil if there is an error
	About modelfile.About
	Err   error // wraps rbm.ErrDiverged if a parameter is not finite
}

// ReadSnapshots reads the snapshots in the folder of a run, in the order of their steps. If most is not 0
// and there are more snapshots, every second one is left out, again and again, until most or fewer remain.
// The last one is always read. At least one snapshot has a model, and all models have the same units and
// the same constraint. The run need not have ended. Errors name the flag -run, which names the folder.
func ReadSnapshots(run string, most int) ([]Snapshot, error) {
	if _, err := os.Stat(run); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("-run: there is no folder %s; name that of a run that rbmtrain made, with -snapshots above 0", run)
	}
	dir := filepath.Join(run, SnapshotsDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("-run: %w", err)
	}
	var all []Snapshot
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".safetensors")
		if !ok {
			continue
		}
		s := Snapshot{Path: filepath.Join(dir, e.Name())}
		if s.Step, err = strconv.Atoi(name); err != nil {
			return nil, fmt.Errorf("-run: %s is not named by a step, as the snapshots of a run are", s.Path)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("-run: %s holds no snapshots; name the folder of a run that rbmtrain made, with -snapshots above 0", dir)
	}
	slices.SortFunc(all, func(a, b Snapshot) int { return a.Step - b.Step }) // names have seven digits or more
	for most > 0 && len(all) > most {                                        // every second snapshot keeps the steps evenly spaced on a logarithmic scale
		last, n := len(all)-1, 0
		for i := last % 2; i <= last; i += 2 {
			all[n] = all[i]
			n++
		}
		all = all[:n]
	}
	for i := range all {
		s := &all[i]
		if s.Model, s.About, s.Err = modelfile.Read(s.Path); s.Err != nil && !errors.Is(s.Err, rbm.ErrDiverged) {
			return nil, s.Err
		}
	}
	first := slices.IndexFunc(all, func(s Snapshot) bool { return s.Err == nil })
	if first < 0 {
		return nil, all[0].Err
	}
	for _, s := range all[first+1:] {
		a, b := s.Model, all[first].Model
		switch {
		case s.Err != nil:
		case !a.SameShape(b):
			return nil, fmt.Errorf("-run: %s has other units than %s; the folder holds models of several runs", s.Path, all[first].Path)
		case !a.Constraint.Equal(b.Constraint):
			return nil, fmt.Errorf("-run: %s has another constraint than %s; the folder holds models of several runs", s.Path, all[first].Path)
		}
	}
	return all, nil
}
