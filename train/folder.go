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
	"strconv"
	"strings"

	"gorbm/rbm"
)

// The files of a run's folder.
const (
	ConfigFile  = "config.json"
	MetricsFile = "metrics.csv"
	ModelFile   = "model.safetensors"
	FiltersFile = "filters.png"
	SamplesFile = "samples.png"
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
// earlier run, whose files are then removed as this run writes its own.
func NewFolder(dir, stem string, force bool) (*Folder, error) {
	if dir != "" {
		return openFolder(dir, force)
	}
	stem = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '_'
		}
		return r
	}, stem)
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

func openFolder(dir string, force bool) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the folder of the run: %w; choose another by -out", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot look into the folder of the run: %w", err)
	}
	if len(entries) == 0 {
		return &Folder{dir}, nil
	}
	_, err = os.Stat(filepath.Join(dir, ConfigFile))
	switch {
	case err != nil:
		return nil, fmt.Errorf("output folder %s is in use, and not by a run; choose another by -out", dir)
	case !force:
		return nil, fmt.Errorf("output folder %s holds an earlier run; choose another by -out, or replace it by -force", dir)
	}
	f := &Folder{dir}
	for _, name := range []string{ConfigFile, MetricsFile, ModelFile, FiltersFile, SamplesFile} {
		if err := os.Remove(f.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot replace the earlier run: %w", err)
		}
	}
	return f, nil
}

// Path returns the path of a file of the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// WriteJSON writes v, indented, to a file of the folder.
func (f *Folder) WriteJSON(name string, v any) error {
	return rbm.ReplaceFile(f.Path(name), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(v)
	})
}

// A Table is the growing file metrics.csv: a header, then one row an
// evaluation. Each row is on disk when Add returns, short of a crash of the
// machine.
type Table struct {
	file *os.File
	csv  *csv.Writer
	cols int
}

// NewTable makes the table with these columns.
func (f *Folder) NewTable(columns []string) (*Table, error) {
	file, err := os.Create(f.Path(MetricsFile))
	if err != nil {
		return nil, fmt.Errorf("cannot write the metrics: %w", err)
	}
	t := &Table{file: file, csv: csv.NewWriter(file), cols: len(columns)}
	return t, t.write(columns)
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
