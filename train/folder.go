package train

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	LadderFile  = "ladder.png"
)

// A Folder holds what a run leaves behind.
type Folder struct {
	Dir string
}

// maxRuns bounds the search for a free number.
const maxRuns = 1_000_000

// NewFolder makes the folder dir for a new run. If dir is empty it is the first
// free of runs/<stem>-1, runs/<stem>-2 … Nothing is overwritten: a folder that
// has anything in it is an error, unless force is set and it is that of an
// earlier run, whose files are then removed.
func NewFolder(dir, stem string, force bool) (*Folder, error) {
	if dir != "" {
		f, err := CheckFolder(dir, force)
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

// CheckFolder checks, and changes nothing, that dir may take a new run.
func CheckFolder(dir string, force bool) (*Folder, error) {
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
	for _, name := range []string{MetricsFile, ModelFile, BestFile, CheckpointFile, previousFile, freshFile, FiltersFile, SamplesFile, CurvesFile, LaddersFile, LadderFile,
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

// A Table is a growing file such as metrics.csv: a header, then rows that
// begin with the step. Each row is on disk when Add returns, short of a crash
// of the machine.
type Table struct {
	file *os.File
	csv  *csv.Writer
	cols int
}

// NewTable makes the table of this name with these columns.
func (f *Folder) NewTable(name string, columns []string) (*Table, error) {
	file, err := os.Create(f.Path(name))
	if err != nil {
		return nil, fmt.Errorf("cannot write the metrics: %w", err)
	}
	t := &Table{file: file, csv: csv.NewWriter(file), cols: len(columns)}
	return t, t.write(columns)
}

// ContinueTable opens the table of this name of a run that goes on after step:
// its rows up to there are kept, later ones are cut off. The error says so if
// its columns are not these.
func (f *Folder) ContinueTable(name string, columns []string, step int) (*Table, error) {
	path := f.Path(name)
	was, rows, err := ReadTable(path)
	if err != nil {
		return nil, fmt.Errorf("cannot go on with the metrics: %w", err)
	}
	if !slices.Equal(was, columns) {
		return nil, fmt.Errorf("cannot go on with the metrics: %s has columns %v, not %v", path, was, columns)
	}
	for i, row := range rows {
		if row[0] > float64(step) {
			rows = rows[:i]
			break
		}
	}
	err = atomicfile.Write(path, func(w io.Writer) error {
		t := &Table{csv: csv.NewWriter(w), cols: len(columns)}
		if err := t.write(columns); err != nil {
			return err
		}
		for _, row := range rows {
			if err := t.Add(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot go on with the metrics: %w", err)
	}
	return &Table{file: file, csv: csv.NewWriter(file), cols: len(columns)}, nil
}

func (t *Table) write(row []string) error {
	if err := t.csv.Write(row); err != nil {
		return fmt.Errorf("cannot write the metrics: %w", err)
	}
	t.csv.Flush()
	if err := t.csv.Error(); err != nil {
		return fmt.Errorf("cannot write the metrics: %w", err)
	}
	return nil
}

// Add appends a row. It panics if the number of values is not that of the
// columns.
func (t *Table) Add(values []float64) error {
	if len(values) != t.cols {
		panic("train: a row of another width than the table")
	}
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = strconv.FormatFloat(v, 'g', 10, 64)
	}
	return t.write(row)
}

// Close closes the file.
func (t *Table) Close() error { return t.file.Close() }
