package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Options say where and how to look for data. The zero value is usable.
type Options struct {
	// Dir is a folder searched first for the files of named data sets (the
	// commands' -data-dir); "" means none.
	Dir string

	// LabelColumn says whether a file's labels are used. "auto", or "": a CSV
	// file's last column if its header says y, label, class or target, an npz
	// file's y if it has one. "last": a CSV file's last column in any case.
	// "none": no labels, every column is an input. Named sets ignore it.
	LabelColumn string

	// Progress is asked for a writer at the start of each download, with the
	// number of bytes (−1 if unknown), and of each long drawing, with the
	// number of pictures; as many bytes are written to it, by one goroutine at
	// a time. Nil means silence.
	Progress func(what string, total int64) io.Writer
}

// progress returns a writer that is never nil.
func (o Options) progress(what string, total int64) io.Writer {
	if o.Progress != nil {
		if w := o.Progress(what, total); w != nil {
			return w
		}
	}
	return io.Discard
}

// A source makes the sets of one name out of the settings after it.
type source struct {
	name string
	load func(ctx context.Context, sp spec, opt Options) (train, test *Set, err error)
}

// sources lists what Load knows by name, in the order of its messages.
func sources() []source {
	return []source{
		{"fontdigits", loadFontDigits},
		{"mnist", loadMNIST},
		{"toy", loadToy},
		{"bars", loadBars},
		{"shifter", loadShifter},
		{"desjardins", loadDesjardins},
	}
}

// Names returns the names of the data sets that [Load] knows, which settings
// may follow after a colon.
func Names() []string {
	var names []string
	for _, s := range sources() {
		names = append(names, s.name)
	}
	return names
}

// Load returns the data set that a spec names; the package comment lists the
// specs. The test set is nil where the source has none. MNIST is downloaded if
// it is nowhere on disk; ctx ends that, and long drawings, early.
//
// Errors are of one line. They are [ErrFormat] where the spec or a file is
// malformed, and wrap [fs.ErrNotExist] where a file is missing.
func Load(ctx context.Context, spec string, opt Options) (train, test *Set, err error) {
	switch opt.LabelColumn {
	case "", "auto", "last", "none":
	default:
		return nil, nil, specErrorf("label column %s: it must be auto, last or none", quote(opt.LabelColumn))
	}
	if strings.ContainsAny(spec, "\n\r\x00") {
		return nil, nil, specErrorf("data set %s: a name is a single line", quote(spec))
	}
	name, _, _ := strings.Cut(spec, ":")
	for _, s := range sources() {
		if s.name == name {
			sp, err := parseSpec(spec)
			if err != nil {
				return nil, nil, err
			}
			return s.load(ctx, sp, opt)
		}
	}
	switch strings.ToLower(filepath.Ext(spec)) {
	case ".csv":
		return loadFile(ctx, spec, opt, loadCSV)
	case ".npz":
		return loadFile(ctx, spec, opt, loadNPZ)
	}
	return nil, nil, unknown(spec, name)
}

// unknown is the error for a spec that is neither a known name nor a path with
// a known ending.
func unknown(spec, name string) error {
	info, err := os.Stat(spec)
	switch {
	case spec == "":
		return specErrorf("no data set named: use %s, or a .csv or .npz file", strings.Join(Names(), ", "))
	case err == nil && info.IsDir():
		return specErrorf("%s is a folder; name a .csv or .npz file in it", spec)
	case err == nil:
		return specErrorf("%s: data files must end in .csv or .npz; convert or rename it", spec)
	case strings.ContainsRune(spec, filepath.Separator) || filepath.Ext(spec) != "" && !strings.Contains(spec, ":"):
		return notFound(spec)
	}
	if near := Nearest(name, Names()); near != "" {
		return specErrorf("unknown data set %s; did you mean %s?", quote(name), near)
	}
	return specErrorf("unknown data set %s; known are %s, and .csv and .npz files", quote(name), strings.Join(Names(), ", "))
}

// notFound is the error for a path without a file; it suggests a neighbour of
// like name, or a data set's name.
func notFound(path string) error {
	var files []string
	if entries, err := os.ReadDir(filepath.Dir(path)); err == nil {
		for _, e := range entries {
			files = append(files, e.Name())
		}
	}
	if near := Nearest(filepath.Base(path), files); near != "" {
		near = filepath.Join(filepath.Dir(path), near)
		return fmt.Errorf("%s: %w; did you mean %s?", path, fs.ErrNotExist, near)
	}
	return fmt.Errorf("%s: %w; name a .csv or .npz file, or one of %s", path, fs.ErrNotExist, strings.Join(Names(), ", "))
}

// loadFile opens a file for a reader of one format.
func loadFile(ctx context.Context, path string, opt Options,
	read func(f io.ReaderAt, size int64, path, labels string) (train, test *Set, err error),
) (train, test *Set, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, notFound(path)
	}
	if err != nil {
		return nil, nil, err // the system's text names the path
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, formatErrorf("%s is not a regular file; write the data to one first", path)
	}
	labels := opt.LabelColumn
	if labels == "" {
		labels = "auto"
	}
	return read(f, info.Size(), path, labels)
}
