// Package rundir is the folder of a run: its files by name, its tables such as
// metrics.csv, its checkpoints and the snapshots of its model.
package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"gorbm/rbm/atomicfile"
)

// The files of a run's folder.
const (
	ConfigFile  = "config.json"
	MetricsFile = "metrics.csv"
	ModelFile   = "model.safetensors"
	BestFile    = "best.safetensors"
	FiltersFile = "filters.png"
	CurvesFile  = "curves.png"
	SamplesFile = "samples.png"
	LaddersFile = "ladder.csv" // how the temperatures exchange, at each measurement
	ReportFile  = "report.html"
	LadderFile  = "ladder.png"
)

// A Folder holds what a run leaves behind.
type Folder struct {
	Dir string
}

// maxRuns bounds the search for a free number.
const maxRuns = 1_000_000

// New makes the folder dir for a new run. If dir is empty it is the first
// free of runs/<stem>-1, runs/<stem>-2 … Nothing is overwritten: a folder that
// has anything in it is an error, unless force is set and it is that of an
// earlier run, whose files are then removed.
func New(dir, stem string, force bool) (*Folder, error) {
	if dir != "" {
		f, err := Check(dir, force)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("cannot make the folder of the run: %w; choose another by -out", err)
		}
		return f, f.clear()
	}
	if err := os.MkdirAll("runs", 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the folder for runs: %w; choose another by -out", err)
	}
	for n := 1; n < maxRuns; n++ {
		dir := filepath.Join("runs", stem+"-"+strconv.Itoa(n))
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return &Folder{dir}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("cannot make the folder of the run: %w; choose another by -out", err)
		}
	}
	return nil, fmt.Errorf("runs holds %d runs named %s; choose a folder by -out", maxRuns, stem)
}

// Check checks that dir may take a new run. It changes nothing.
func Check(dir string, force bool) (*Folder, error) {
	f := &Folder{dir}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("cannot look into the folder of the run: %w; choose another by -out", err)
	case len(entries) == 0:
		return f, nil
	}
	_, err = os.Stat(f.Path(ConfigFile))
	switch {
	case err != nil:
		return nil, fmt.Errorf("output folder %s is in use, and not by a run; choose another by -out", dir)
	case !force:
		return nil, fmt.Errorf("output folder %s holds an earlier run; choose another by -out, go on with it by -resume, or replace it by -force", dir)
	}
	return f, nil
}

// clear removes the files of an earlier run.
func (f *Folder) clear() error {
	snapshots, err := filepath.Glob(f.Path(SnapshotsDir + "/*.safetensors"))
	if err != nil {
		return fmt.Errorf("cannot replace the earlier run: %w", err)
	}
	for _, path := range snapshots {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("cannot replace the earlier run: %w", err)
		}
	}
	for _, name := range []string{MetricsFile, ModelFile, BestFile, CheckpointFile, previousFile, freshFile, FiltersFile, SamplesFile, CurvesFile, LaddersFile, LadderFile, ReportFile,
		ConfigFile /* last: what is left by an interruption is still a run's */} {
		if err := os.Remove(f.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot replace the earlier run: %w", err)
		}
	}
	return nil
}

// Stem returns the name of a folder for runs on a data set: its name, of a file
// without path and ending, without the default seed, in letters that need no
// quoting.
func Stem(name string) string {
	name = strings.TrimSuffix(name, ":seed=1")
	if ext := filepath.Ext(name); ext == ".csv" || ext == ".npz" {
		name = strings.TrimSuffix(name, ext)
	}
	name = filepath.Base(name)
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || unicode.IsLetter(r) {
			return r
		}
		return '_'
	}, name)
}

// Path returns the path of a file of the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// WriteJSON writes v, indented, to a file of the folder.
func (f *Folder) WriteJSON(name string, v any) error {
	return atomicfile.Write(f.Path(name), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(v)
	})
}
