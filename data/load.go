package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	// "none": no labels, every column is an input. IDX images have theirs in a
	// file beside them: "last" is an error if there is none. Named sets ignore
	// it.
	LabelColumn string

	// Binarize says what becomes of values between 0 and 1. Threshold, or "":
	// those of ½ and more become 1. Sample: each becomes 1 with its value as
	// probability, in one draw that is the same for everybody. None: they stay,
	// in Set.Grey. Data that are binary already, as toy, bars, shifter and
	// desjardins are, ignore it.
	Binarize string

	// Height and Width, if they are not 0, are the shape of a row as a picture,
	// instead of the one that the source has or that is guessed. Their product
	// must be the number of inputs. See ParseShape.
	Height, Width int

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
	switch opt.Binarize {
	case "", Threshold, Sample, None:
	default:
		return nil, nil, specErrorf("binarization %s: it must be threshold, sample or none", quote(opt.Binarize))
	}
	if opt.Height < 0 || opt.Width < 0 || (opt.Height == 0) != (opt.Width == 0) {
		return nil, nil, specErrorf("pictures of %d × %d: give both sizes, as in 28x28", opt.Height, opt.Width)
	}
	if strings.ContainsAny(spec, "\n\r\x00") {
		return nil, nil, specErrorf("data set %s: a name is a single line", quote(spec))
	}
	if train, test, err = load(ctx, spec, opt); err != nil {
		return nil, nil, err
	}
	for _, s := range []*Set{train, test} {
		if s == nil || opt.Height == 0 {
			continue
		}
		if s.X.Cols%opt.Height != 0 || s.X.Cols/opt.Height != opt.Width {
			return nil, nil, specErrorf("%s: a row of %d inputs is no picture of %d × %d; give sizes whose product is %d",
				s.Name, s.X.Cols, opt.Height, opt.Width, s.X.Cols)
		}
		s.Height, s.Width = opt.Height, opt.Width
	}
	return train, test, nil
}

// load is Load for options that make sense, before the shape is applied.
func load(ctx context.Context, spec string, opt Options) (train, test *Set, err error) {
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
	if isIDX(spec) {
		return loadIDX(ctx, spec, opt)
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
		return specErrorf("no data set named: use %s, or a .csv, .npz or IDX file", strings.Join(Names(), ", "))
	case err == nil && info.IsDir():
		return specErrorf("%s is a folder; name a .csv, .npz or IDX file in it", spec)
	case err == nil:
		return specErrorf("%s: data files must end in .csv, .npz, -ubyte, -ubyte.gz, .idx or .idx.gz; convert or rename it", spec)
	case strings.ContainsRune(spec, filepath.Separator) || filepath.Ext(spec) != "" && !strings.Contains(spec, ":"):
		return notFound(spec)
	}
	if near := Nearest(name, Names()); near != "" {
		return specErrorf("unknown data set %s; did you mean %s?", quote(name), near)
	}
	return specErrorf("unknown data set %s; known are %s, and .csv, .npz and IDX files", quote(name), strings.Join(Names(), ", "))
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
	return fmt.Errorf("%s: %w; name a .csv, .npz or IDX file, or one of %s", path, fs.ErrNotExist, strings.Join(Names(), ", "))
}

// loadFile opens a file for a reader of one format.
func loadFile(ctx context.Context, path string, opt Options,
	read func(f io.ReaderAt, size int64, path string, opt Options) (train, test *Set, err error),
) (train, test *Set, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	f, size, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if opt.LabelColumn == "" {
		opt.LabelColumn = "auto"
	}
	return read(f, size, path, opt)
}

// open opens a regular file of data and returns its size.
func open(path string) (f *os.File, size int64, err error) {
	f, err = os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, notFound(path)
	}
	if err != nil {
		return nil, 0, err // the system's text names the path
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = formatErrorf("%s is not a regular file; write the data to one first", path)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// ParseShape reads the shape of a picture, height x width as in 28x28; "" is
// 0, 0, the shape to be guessed. What is neither is an [ErrSpec].
func ParseShape(text string) (height, width int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	a, b, _ := strings.Cut(strings.ToLower(text), "x")
	height, err = strconv.Atoi(a)
	if err == nil {
		width, err = strconv.Atoi(b)
	}
	if err != nil || height < 1 || width < 1 {
		return 0, 0, specErrorf("picture shape %s: write height x width, as in 28x28", quote(text))
	}
	return height, width, nil
}

// Known reports whether name, without settings, is that of a data set that
// [Load] knows.
func Known(name string) bool { return slices.Contains(Names(), name) }
