// Package rundir reads and writes the folder of a run: files by name, tables such as metrics.csv,
// checkpoints and snapshots of the model.
package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gorbm/rbm/atomicfile"
	"gorbm/rbm/finitejson"
)

// The files of a run's folder.
const (
	ConfigFile  = "config.json" // see ReadConfig
	MetricsFile = "metrics.csv"
	ModelFile   = "model.safetensors"
	BestFile    = "best.safetensors"
	// PreviousBestFile is the best model as of the last checkpoint, if a better one has been found since.
	PreviousBestFile = "best.previous.safetensors"
	FiltersFile      = "filters.png"
	CurvesFile       = "curves.png"
	SamplesFile      = "samples.png"
	LaddersFile      = "ladder.csv" // how the temperatures exchange, at each measurement
	ReportFile       = "report.html"
	ResultFile       = "result.json"  // what rbmtrain -json prints; a run that has it is finished
	DivergedFile     = "diverged.txt" // why training stopped: parameters became too large or not finite
	LadderFile       = "ladder.png"   // this and CurvesFile may also be .svg or .pdf
)

// A Folder is the folder of one run.
type Folder struct {
	Dir  string
	held *os.File // the locked lockFile; nil: this process does not write the folder
}

// files are the files of a run's folder, without snapshots. They are removed in this order: ConfigFile,
// which marks the folder as that of a run, is last.
var files = []string{MetricsFile, ModelFile, BestFile, PreviousBestFile, CheckpointFile, previousFile, freshFile, FiltersFile, SamplesFile, CurvesFile, LaddersFile, LadderFile, ReportFile, ResultFile, DivergedFile, ConfigFile}

// charts are the files that may have other endings too.
var charts, chartEndings = []string{CurvesFile, LadderFile}, []string{".svg", ".pdf"}

// maxRuns bounds the search for an unused number.
const maxRuns = 1_000_000

// New makes the folder dir for a new run. If dir is "", the folder is the first unused one of
// runs/<stem>-1, runs/<stem>-2 … A folder with files is an error. With force, the files may be those of an
// earlier run that has ended; New removes them. The caller is the folder's only writer until Close.
func New(dir, stem string, force bool) (*Folder, error) {
	if dir != "" {
		f, err := Check(dir, force)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, fmt.Errorf("cannot make the folder of the run: %w; choose another by -out", err)
		}
		if err := f.lock(); err != nil {
			return nil, err
		}
		if _, err = check(dir, force); err == nil { // no other process has started a run there since
			err = cmp.Or(f.removeTemporary(), f.clear())
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
	if err := os.MkdirAll("runs", 0o777); err != nil {
		return nil, fmt.Errorf("cannot make the folder for runs: %w; choose another by -out", err)
	}
	for n := 1; n < maxRuns; n++ {
		dir := filepath.Join("runs", stem+"-"+strconv.Itoa(n))
		err := os.Mkdir(dir, 0o777)
		if err == nil {
			f := &Folder{Dir: dir}
			return f, f.lock()
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("cannot make the folder of the run: %w; choose another by -out", err)
		}
	}
	return nil, fmt.Errorf("runs holds %d runs named %s; choose a folder by -out", maxRuns, stem)
}

// Check checks that New can make a run in dir. It changes nothing.
func Check(dir string, force bool) (*Folder, error) {
	f, err := check(dir, force)
	if err != nil {
		return nil, err
	}
	return f, f.Free()
}

// check is Check, but does not look at the lock.
func check(dir string, force bool) (*Folder, error) {
	f := &Folder{Dir: dir}
	entries, err := os.ReadDir(dir)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == lockFile || isTemporary(e) })
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
	case !force && !f.hasCheckpoint():
		return nil, fmt.Errorf("output folder %s holds a run that ended before its first checkpoint; choose another by -out, or replace it by -force", dir)
	case !force:
		return nil, fmt.Errorf("output folder %s holds an earlier run; choose another by -out, resume it by -resume, or replace it by -force", dir)
	}
	return f, nil
}

// hasCheckpoint reports whether a run can be resumed from the folder.
func (f *Folder) hasCheckpoint() bool {
	return slices.ContainsFunc([]string{CheckpointFile, previousFile}, func(name string) bool {
		_, err := os.Lstat(f.Path(name))
		return err == nil
	})
}

// Gone reports whether the folder is no longer where it was: it was removed or renamed.
func (f *Folder) Gone() bool {
	_, err := os.Stat(f.Dir)
	return errors.Is(err, fs.ErrNotExist)
}

// clear removes the files of an earlier run.
func (f *Folder) clear() error {
	if err := f.DropSnapshots(-1); err != nil {
		return fmt.Errorf("cannot replace the earlier run: %w", err)
	}
	events, _ := filepath.Glob(f.Path(filepath.Join(EventsDir, eventsPrefix+"*"))) // the pattern is well formed
	for _, path := range append(events, f.Path(EventsDir)) {
		os.Remove(path) // this fails for a folder that has other files
	}
	for _, chart := range charts {
		for _, ending := range chartEndings {
			os.Remove(f.Path(strings.TrimSuffix(chart, ".png") + ending))
		}
	}
	for _, name := range files {
		if err := os.Remove(f.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot replace the earlier run: %w", err)
		}
	}
	return nil
}

// isTemporary reports whether e is a temporary file that atomicfile writes before it renames it to one of
// the run's files.
func isTemporary(e fs.DirEntry) bool {
	base, ok := atomicfile.Temporary(e.Name())
	return ok && e.Type().IsRegular() && (slices.Contains(files, base) || filepath.Ext(base) == ".safetensors" || strings.HasPrefix(base, eventsPrefix))
}

// removeTemporary removes the temporary files of killed processes. The folder must be locked.
func (f *Folder) removeTemporary() error {
	for _, dir := range []string{f.Dir, f.Path(SnapshotsDir), f.Path(EventsDir)} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if isTemporary(e) {
				if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
					return fmt.Errorf("cannot remove what a killed run has left: %w", err)
				}
			}
		}
	}
	return nil
}

// Stem returns the part of a run folder's name that identifies the data: the name of the set without the
// default seed, or the name of a file without path and ending. Characters that a shell would need quoted
// become underscores.
func Stem(name string) string {
	name = strings.TrimSuffix(name, ":seed=1")
	name = strings.TrimSuffix(name, ".gz")
	switch ext := filepath.Ext(name); strings.ToLower(ext) {
	case ".csv", ".tsv", ".npz", ".npy", ".fasta", ".fa", ".sto":
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

// Path returns the path of a file in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// WriteJSON writes v as indented JSON to a file in the folder.
func (f *Folder) WriteJSON(name string, v any) error {
	return atomicfile.Write(f.Path(name), finitejson.Writer(v, "  "))
}
