package data

import (
	"cmp"
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

	"gorbm/data/grammar"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
)

// Options say where to look for data and how to read them. The zero value is
// usable.
type Options struct {
	// Dir is a folder searched first for the files of named data sets (the
	// commands' -data-dir); "" means none.
	Dir string

	// LabelColumn says whether a file's labels are used. "auto", or "": a CSV
	// file's last column if its header says y, label, class or target, an npz
	// file's y if it has one. "last", "first": that column of a CSV file in any case.
	// The name of a column in its header: that column.
	// "none": no labels, every column is an input. The labels of IDX images are
	// in a file next to them: "last" is an error if there is none. Named data
	// sets ignore it.
	LabelColumn string

	// Header says whether the first line of a CSV file is names of columns. "yes" and
	// "no" say so. "auto", or "": it is if it holds no numbers, or a label's name in the
	// last column, or whole numbers that count the columns or that no other row is like;
	// Set.Header says which. Other sources ignore it.
	Header string

	// Unlabelled takes files in which some rows have no label: their class is
	// NoClass. An empty label is none, and so is NoLabel if it is not "". Without
	// it an empty label is an error.
	Unlabelled bool
	NoLabel    string

	// Binarize says what becomes of values between 0 and 1. Threshold, or "":
	// those of ½ and more become 1. Sample: each becomes 1 with its value as
	// probability, in one draw that is the same for everybody. None: they stay,
	// in Set.Grey. Data that are binary already ignore it. Standard: values are any numbers, and are
	// standardised into Set.Grey. They are standardised by Means and Deviations, which are as in Set,
	// or if these are nil by the means and deviations of the training rows.
	Binarize          string
	Means, Deviations []float64

	// Real reads a file with values outside of [0,1], some of them below zero or not whole, as Binarize Standard does, if Binarize
	// is Threshold or None and Scale leaves it open. Set.Found says so.
	Real bool

	// Categorical makes a table of a CSV file: "all" columns are categories, or these, by their
	// names with commas. "auto", or "": a file is a table if a column has words in place of
	// numbers. Levels, if it is not 0, does so too: it is the number of levels into which
	// numbers are cut, of about as many rows each; tables have 8 otherwise.
	Categorical string
	Levels      int

	// Numbers says what the numbers of a table become that have more different values than Levels:
	// NumbersLevels, or "", levels; NumbersGaussian, or "" with Binarize Standard, Gaussian units on the scale of
	// the rows that are read, as with Binarize Standard. If it is not "" a CSV file is a table.
	Numbers string

	// Ignore names columns of a CSV file, with commas, that are read as if they were not there. It
	// is an error if the file lacks one, but with IgnoreKnown.
	Ignore      string
	IgnoreKnown bool

	// Schema has the levels of the columns of a CSV file, which are found by their names, or the
	// alphabet of sequences; nil: they follow from the file.
	Schema *Schema

	// Weights names the weights of the rows, numbers from 0 up: a column of a CSV file, or else a
	// file of a line for each row of the training set. Rows of weight 0 are left out. "": none.
	Weights string

	// Reweight, if it is not 0, weighs each row of aligned sequences by 1/n, where n counts the
	// rows that are equal to it at this fraction of the sites or more, itself among them.
	Reweight float64

	// Redraw keeps the values of the training set besides, in Set.Chances, so that
	// its rows can be redrawn. Binarize must be Sample, and some value must lie
	// between 0 and 1.
	Redraw bool

	// Scale says which values of a file stand for 0 and 1. "auto", or "": 0 and 1
	// do, or 255 stands for 1 in bytes of npz, npy and IDX files that have any
	// above 1. "max": 0, and the largest value. "minmax": the smallest and the largest. In a CSV file
	// without Height each column has its own largest and smallest value; elsewhere they are
	// those of the whole file. "spins": −1 and +1, and there are no other values; "auto"
	// finds that by itself, see Set.Spins. A number, such as 255: 0, and this one.
	// LOW:HIGH: these two. LOW:HIGH,LOW:HIGH,…: these of each column, where LOW is at most
	// HIGH. Named data sets ignore it.
	Scale string

	// Clip takes values outside of a given Scale for the nearest one on it, and Set.Notes counts
	// them; otherwise they are errors.
	Clip bool

	// Height and Width, if they are not 0, are the shape of a row as a picture,
	// instead of the one that the source has or that is guessed. Their product
	// must be the number of inputs. See ParseShape.
	Height, Width int

	// Stdin is where the rows of the data set "-" come from, as CSV, NPZ or NPY. Nil
	// means nowhere.
	Stdin io.Reader
	piped []byte // what came

	// Progress is called at the start of what takes long, with its unit and their number: bytes of a
	// download, "B" (−1 if unknown), or pictures and rows. A byte for each is written to the
	// writer it returns, by one goroutine at a time. Nil means silence.
	Progress func(what, unit string, total int64) io.Writer
}

// labeller returns a collector of labels.
func (o Options) labeller() labeller { return labeller{partly: o.Unlabelled, none: o.NoLabel} }

// progress returns a writer that is never nil.
func (o Options) progress(what, unit string, total int64) io.Writer {
	if o.Progress != nil {
		if w := o.Progress(what, unit, total); w != nil {
			return w
		}
	}
	return io.Discard
}

// Load returns the data set that a spec names; [Help] lists the specs. The test
// set is nil where the source has none. MNIST is downloaded if it is nowhere on
// disk. Cancelling ctx ends downloads, long drawings and the reading of files and pipes.
//
// Errors are one line. They are [ErrFormat] where the spec or a file is
// malformed, and wrap [fs.ErrNotExist] where a file is missing.
func Load(ctx context.Context, spec string, opt Options) (train, test *Set, err error) {
	opt.LabelColumn, opt.Binarize, opt.Header = cmp.Or(opt.LabelColumn, "auto"), cmp.Or(opt.Binarize, Threshold), cmp.Or(opt.Header, "auto")
	var sets []*Set
	switch err = CheckScale(opt.Scale); {
	case err != nil:
	case !slices.Contains([]string{"auto", "last", "none"}, opt.LabelColumn) && !IsPipe(spec) && !hasEnding(spec, csvEndings):
		err = specErrorf("-label-column %s%s", quote(opt.LabelColumn), grammar.DidYouMeanOr(opt.LabelColumn, []string{"auto", "last", "none"}, "of "+quote(spec)+" it is auto, last or none, as first and names are for .csv files"))
	case !slices.Contains([]string{"auto", HeaderYes, HeaderNo}, opt.Header):
		err = specErrorf("header %s: it must be auto, yes or no", quote(opt.Header))
	case !slices.Contains([]string{Threshold, Sample, None, Standard}, opt.Binarize):
		err = specErrorf("binarization %s: it must be threshold, sample, none or standard", quote(opt.Binarize))
	case opt.Binarize == Standard && !slices.Contains([]string{"", "auto"}, opt.Scale):
		err = specErrorf("scale %s: real values are standardised and have no scale; leave one of the two out", opt.Scale)
	case opt.Redraw && opt.Binarize != Sample:
		err = specErrorf("rows are redrawn only with binarization sample, not %s", opt.Binarize)
	case !slices.Contains([]string{"", NumbersLevels, NumbersGaussian}, opt.Numbers):
		err = specErrorf("numbers %s: it must be levels or gaussian", quote(opt.Numbers))
	case opt.Levels != 0 && (opt.Levels < 2 || opt.Levels > maxLevels):
		err = specErrorf("%d levels; give 2 to %d", opt.Levels, maxLevels)
	case !(opt.Reweight >= 0 && opt.Reweight <= 1):
		err = specErrorf("reweighting at %v; it must be an identity from 0 to 1", opt.Reweight)
	case opt.Reweight > 0 && opt.Weights != "":
		err = specErrorf("weights of %s and by neighbours; give one of them", quote(opt.Weights))
	case opt.Height < 0 || opt.Width < 0 || (opt.Height == 0) != (opt.Width == 0):
		err = specErrorf("pictures of %d × %d: give both sizes, as in 28x28", opt.Height, opt.Width)
	case strings.ContainsAny(spec, "\n\r\x00"):
		err = specErrorf("data set %s: a name is a single line", quote(spec))
	default:
		if IsPipe(spec) {
			spec = Stdin
			if err = opt.readPipe(ctx); err != nil {
				break
			}
		}
		sets, err = load(ctx, spec, opt)
		if errors.Is(err, ErrFormat) && !errors.Is(err, ErrSpec) && opt.scaling().rule == "auto" {
			sets, err = loadSpins(ctx, spec, opt, err)
		}
		if opt.canBeReal(err) {
			sets, err = loadReal(ctx, spec, opt, err)
		}
		if err == nil {
			err = opt.weigh(ctx, sets)
		}
		if err == nil && (opt.Binarize == Standard || sets[0].Found) {
			err = standardise(sets, opt.Means, opt.Deviations)
		}
	}
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		err = ended // and no fault of a file
	}
	if err != nil {
		return nil, nil, err
	}
	if opt.Redraw {
		if sets[0].Grey.Rows == 0 {
			return nil, nil, specErrorf("%s has no values between 0 and 1, by which rows could be redrawn", sets[0].Name)
		}
		sets[0].Chances = sets[0].Grey
		for _, s := range sets {
			s.Grey = rbm.Matrix{}
		}
	}
	for _, s := range sets {
		if opt.Height == 0 {
			break
		}
		if s.X.Cols%opt.Height != 0 || s.X.Cols/opt.Height != opt.Width {
			return nil, nil, specErrorf("%s: a row of %d inputs is no picture of %d × %d; give sizes whose product is %d",
				s.Name, s.X.Cols, opt.Height, opt.Width, s.X.Cols)
		}
		s.Height, s.Width, s.guessed = opt.Height, opt.Width, false
	}
	if len(sets) > 1 {
		test = sets[1]
	}
	return sets[0], test, nil
}

// loadSpins reads a source whose values are not in [0,1] as one of spins. If it has
// other values than −1 and +1, or is no source of values, it returns the error of the
// first reading, cause.
func loadSpins(ctx context.Context, spec string, opt Options, cause error) ([]*Set, error) {
	opt.Scale = "spins"
	sets, err := load(ctx, spec, opt)
	if err != nil {
		return nil, cause
	}
	for _, s := range sets {
		s.Scale, s.Spins = "", true
	}
	return sets, nil
}

// load is Load for options that make sense, before the shape is applied.
func load(ctx context.Context, text string, opt Options) ([]*Set, error) {
	name, _, _ := strings.Cut(text, ":")
	path, _ := splitSettings(text)
	for _, s := range sources() {
		switch {
		case s.endings != nil && hasEnding(text, s.endings), s.name == sequenceFiles && IsSequenceFile(path):
			return s.load(ctx, spec{text: text}, opt)
		case s.endings == nil && s.name == name:
			sp, err := parseSpec(text)
			if err == nil && sp.hasSeed && !s.seeded {
				err = specErrorf("%s: %s is not generated at random; leave the seed away", text, name)
			}
			if err != nil {
				return nil, err
			}
			return s.load(ctx, sp, opt)
		}
	}
	return nil, unknown(text, name)
}

// unknown is the error for a spec that is neither a known name nor a path with
// a known ending.
func unknown(spec, name string) error {
	sets, kinds, endings := sourceNames()
	info, err := os.Stat(spec)
	switch {
	case spec == "":
		return specErrorf("no data set named: use %s, or a %s file", strings.Join(sets, ", "), grammar.List(kinds, "or"))
	case err == nil && info.IsDir():
		return specErrorf("%s is a folder; name a %s file in it", spec, grammar.List(kinds, "or"))
	case err == nil:
		return specErrorf("%s: data files must end in %s; convert or rename it", spec, grammar.List(endings, "or"))
	case strings.ContainsRune(spec, filepath.Separator) || filepath.Ext(spec) != "" && !strings.Contains(spec, ":"):
		return notFound(spec)
	}
	if near := grammar.Nearest(name, sets); near != "" {
		return specErrorf("unknown data set %s; did you mean %s?", quote(name), near)
	}
	return specErrorf("unknown data set %s; known are %s, and %s files", quote(name), strings.Join(sets, ", "), grammar.List(kinds, "and"))
}

// notFound is the error for a path without a file. It suggests a file of a
// similar name next to it, or lists the data sets.
func notFound(path string) error {
	var files []string
	if entries, err := os.ReadDir(filepath.Dir(path)); err == nil {
		for _, e := range entries {
			files = append(files, e.Name())
		}
	}
	if near := grammar.Nearest(filepath.Base(path), files); near != "" {
		near = filepath.Join(filepath.Dir(path), near)
		return fmt.Errorf("%s: %w; did you mean %s?", path, fs.ErrNotExist, near)
	}
	sets, kinds, _ := sourceNames()
	return fmt.Errorf("%s: %w; name a %s file, or one of %s", path, fs.ErrNotExist, grammar.List(kinds, "or"), strings.Join(sets, ", "))
}

// open opens a regular file of data and returns its size.
func open(ctx context.Context, path string) (f *os.File, size int64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	f, size, err = atomicfile.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, notFound(path)
	case errors.Is(err, atomicfile.ErrNotRegular):
		return nil, 0, formatErrorf("%s is not a regular file; write the data to one first", path)
	}
	return f, size, err // the system's text names the path
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
