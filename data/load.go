package data

import (
	"bufio"
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

	// LabelColumn says which labels of a file are used. "auto", or "": the last column of a CSV file if its
	// header is y, label, class or target, and the array y of an npz file if there is one. "first", "last":
	// that column of a CSV file, whatever its name. Any other text: the column of a CSV file with this
	// name. "none": no labels, so that every column is an input. Labels of IDX images are in a separate
	// file; with "last" it is an error if that file is missing. Named data sets ignore LabelColumn.
	LabelColumn string

	// Header says whether the first line of a CSV file has the names of the columns: "yes" or "no". With
	// "auto", or "", the line is a header in three cases: it has no numbers; its last field is the name of
	// a column of labels; or its fields are different whole numbers, and these are 0, 1, 2, … or
	// 1, 2, 3, …, or no other row consists of different whole numbers. Set.Header records which.
	// Other sources ignore Header.
	Header string

	// Unlabelled allows rows without a label, which get the class NoClass. An empty label counts as
	// missing, and so does NoLabel if it is not "". Without Unlabelled an empty label is an error.
	Unlabelled bool
	NoLabel    string

	// Binarize says what happens to values between 0 and 1. Threshold, or "": values of ½ and more become
	// 1. Sample: each becomes 1 with its value as the probability, in one draw that is the same in every
	// run. None: they are kept, in Set.Grey. These three do not change binary data. Standard: values may be
	// any real numbers, and are standardised into Set.Grey, by Means and Deviations, as in Set. If these
	// are nil, the means and deviations of the training rows are used.
	Binarize          string
	Means, Deviations []float64

	// With Real a file that has values outside [0,1], some of them negative or not whole, is read as if
	// Binarize were Standard. Real has an effect only if Binarize is Threshold or None and Scale is not set.
	// Set.Found records whether it had one.
	Real bool

	// Categorical says which columns of a CSV file are categories: "all", or names of columns, separated by
	// commas. The file is then read as a table. With "auto", or "", it is a table if a column has words in
	// place of numbers, or if Levels is not 0. Levels is the number of levels into which numbers are cut,
	// with about equal numbers of rows; 0 means 8.
	Categorical string
	Levels      int

	// Numbers says what becomes of the numbers of a table's column that has more than Levels different
	// numbers. NumbersLevels: levels. NumbersGaussian: Gaussian units, standardised as with Binarize
	// Standard. "" means NumbersGaussian if Binarize is Standard, and NumbersLevels otherwise. If Numbers
	// is not "" a CSV file is a table.
	Numbers string

	// Ignore names columns of a CSV file that are not read, as ParseNames reads them. A name that the file
	// lacks is an error, unless IgnoreKnown is set. Columns without a header are named c1, c2, …. The name
	// none means that no column is left out unless it is named; otherwise columns that name the rows, dates
	// and columns of one value are left out.
	Ignore      string
	IgnoreKnown bool

	// Columns are the names of a model's inputs. A CSV file with a header may have further columns, which are
	// not used. nil means that there is no model, or that it has no names.
	Columns []string

	// Separator separates the columns of a text file: comma, semicolon, tab, bar (|), blank (any number of
	// blanks), none (each character is a column), or another character. With "auto", or "", it follows from
	// the first rows.
	Separator string

	// Missing lists further words that mean in a text file that a value is missing, besides those of
	// IsMissing, such as -1,unknown. A number stands for all its spellings.
	Missing string

	// Unknown says what becomes of words that Schema does not have. "missing": the cell counts as missing.
	// "" means that they are errors.
	Unknown string

	// KnownLabel is the name of the column of labels that LabelColumn auto uses if a CSV file has it.
	KnownLabel string

	// Pivot turns a list with a row for each cell, such as user,item,rating, into a table with a row for
	// each user and a column for each item. It names the three columns, or the first two if a row means that
	// a bit is on.
	Pivot string

	// Schema has the levels of the columns of a CSV file, or the alphabet of sequences. Columns are found
	// by their names. If Schema is nil, levels are derived from the file, and the alphabet is that of the
	// spec, or protein.
	Schema *Schema

	// Weights names the weights of the rows, which are numbers from 0 up: a column of a CSV file, or else a
	// file with a line for each row of the training set. Rows of weight 0 are left out. "" means no
	// weights.
	Weights string

	// Reweight, if it is not 0, gives each row of aligned sequences the weight 1/n. n is the number of
	// rows, itself included, that agree with the row at this fraction of the sites or more.
	Reweight float64

	// Holdout and HoldoutKey are the arguments by which the caller will split the training set: see
	// Set.Split. The means, deviations and levels of columns are those of the other rows, by their
	// weights. The words of a column of categories are levels in either part. 0 means that no row is held out.
	Holdout    float64
	HoldoutKey rbm.Key
	rowWeights func() ([]float64, error) // reads the file Weights

	// Redraw also keeps the values of the training set, in Set.Chances, so that its rows can be redrawn.
	// Binarize must be Sample, and some value must lie between 0 and 1.
	Redraw bool

	// Scale says which values of a file stand for 0 and 1:
	//
	//   - "auto", or "": 0 and 1. In npz, npy and IDX files of bytes, 0 and 255 if some byte is above 1. In
	//     sources of −1 and +1 only, −1 and +1: see Set.Spins.
	//   - "max": 0 and the largest value
	//   - "minmax": the smallest and the largest value
	//   - "spins": −1 and +1; other values are errors
	//   - "presence": 0 and everything above it
	//   - a number, such as 255: 0 and this number
	//   - LOW:HIGH: these two
	//   - LOW:HIGH,LOW:HIGH,…: these two for each column, with LOW at most HIGH
	//
	// For max and minmax, each column of a CSV file has its own smallest and largest value. With Height,
	// and in other files, the extremes are those of all values. Named data sets ignore Scale.
	Scale string

	// Clip replaces a value outside a given Scale by the nearest value on the scale, and Set.Notes counts
	// such values. Without Clip they are errors.
	Clip bool

	// Height and Width, if they are not 0, are the shape of a row as a picture, in place of the source's
	// shape or a guessed one. Their product must be the number of inputs. See ParseShape.
	Height, Width int

	// Stdin is read for the data set "-", as CSV, NPZ or NPY. If it is nil there is no such data set.
	Stdin io.Reader
	piped *bufio.Reader // Stdin
	all   []byte        // all bytes of Stdin, if they are arrays

	// Progress is called when long work begins, with what is done, the unit of its steps and their number.
	// The unit is "B" for the bytes of a download, whose number is −1 if unknown, or else pictures or rows.
	// For each step one byte is written to the Writer that Progress returns, by one goroutine at a time. If
	// Progress is nil nothing is reported.
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

// Load returns the data set that a spec names; [Help] lists the specs. test is nil if the source has no
// test set. MNIST comes from the folder of the Go module GoMNIST, or is downloaded if no folder has it. Cancelling ctx ends downloads, the generation of
// data, and the reading of files and pipes.
//
// An error is one line. It wraps [ErrFormat] if the spec or a file is malformed, and [fs.ErrNotExist] if a
// file is missing.
func Load(ctx context.Context, spec string, opt Options) (train, test *Set, err error) {
	opt.LabelColumn, opt.Binarize, opt.Header = cmp.Or(opt.LabelColumn, "auto"), cmp.Or(opt.Binarize, Threshold), cmp.Or(opt.Header, "auto")
	opt.rowWeights = func() ([]float64, error) { return readWeights(ctx, opt.Weights) }
	var sets []*Set
	switch err = CheckScale(opt.Scale); {
	case err != nil:
	case !slices.Contains([]string{"auto", "last", "none"}, opt.LabelColumn) && !IsPipe(spec) && !hasEnding(spec, csvEndings):
		err = specErrorf("-label-column %s%s", quote(opt.LabelColumn), grammar.DidYouMeanOr(opt.LabelColumn, []string{"auto", "last", "none"}, "of "+quote(spec)+" it is auto, last or none, as first and names are for .csv files"))
	case checkSeparator(opt.Separator) != nil:
		err = checkSeparator(opt.Separator)
	case opt.Unknown != "" && opt.Unknown != "missing":
		err = specErrorf("unknown words %s: they can only become missing", quote(opt.Unknown))
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
			var done func()
			if done, err = opt.openPipe(ctx); err != nil {
				break
			}
			defer done()
		}
		sets, err = load(ctx, spec, opt)
		if isFormat := errors.Is(err, ErrFormat) && !errors.Is(err, ErrSpec); isFormat && !opt.isText(spec) {
			if opt.scaling().rule == "auto" {
				sets, err = loadSpins(ctx, spec, opt, err)
			}
			if err != nil && opt.canBeReal() {
				sets, err = loadReal(ctx, spec, opt, err)
			}
		}
		if err == nil {
			err = opt.weigh(ctx, sets)
		}
		if err == nil && (opt.Binarize == Standard || sets[0].Found) {
			err = opt.standardise(sets)
		}
	}
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		err = ended // the file is not at fault
	}
	if err != nil {
		return nil, nil, err
	}
	if opt.Redraw {
		if sets[0].Grey.Rows == 0 {
			return nil, nil, specErrorf("%s has no values between 0 and 1, from which rows could be redrawn", sets[0].Name)
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
			return nil, nil, specErrorf("%s: a row of %d inputs is not a picture of %d × %d; give sizes whose product is %d",
				s.Name, s.X.Cols, opt.Height, opt.Width, s.X.Cols)
		}
		s.Height, s.Width, s.guessed = opt.Height, opt.Width, false
	}
	if len(sets) > 1 {
		test = sets[1]
	}
	return sets[0], test, nil
}

// isText reports whether spec is a text of rows, which is read in one pass.
func (o Options) isText(spec string) bool {
	return hasEnding(spec, csvEndings) || spec == Stdin && o.all == nil
}

// loadSpins reads a source again as spins, after its values were found not to be in [0,1]. If that fails
// too, as with values other than −1 and +1, it returns the first error, cause.
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

// load is Load with checked options, before the shape is applied.
func load(ctx context.Context, text string, opt Options) ([]*Set, error) {
	name, _, _ := strings.Cut(text, ":")
	path, _ := splitSettings(text)
	for _, s := range sources() {
		switch {
		case s.endings != nil && path == text && hasEnding(text, s.endings), s.name == sequenceFiles && IsSequenceFile(path):
			return s.load(ctx, spec{text: text}, opt)
		case s.endings == nil && s.name == name:
			sp, err := parseSpec(text)
			if err == nil && sp.hasSeed && !s.seeded {
				err = specErrorf("%s: %s is not generated at random; leave the seed out", text, name)
			}
			if err != nil {
				return nil, err
			}
			return s.load(ctx, sp, opt)
		}
	}
	return nil, unknown(text, name)
}

// unknown returns the error for a spec that is neither a known name nor a path with a known ending.
func unknown(spec, name string) error {
	sets, kinds, endings := sourceNames()
	info, err := os.Stat(spec)
	switch {
	case spec == "":
		return specErrorf("no data set named: use %s, or a %s file", strings.Join(sets, ", "), grammar.List(kinds, "or"))
	case err == nil && info.IsDir():
		return specErrorf("%s is a folder; name a %s file in it", spec, grammar.List(kinds, "or"))
	case err == nil && conversion(spec) != "":
		return specErrorf("%s: such files are not read; convert it by: %s", spec, conversion(spec))
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

// notFound returns the error for a path without a file. It suggests a file of a similar name in the same
// folder, or lists the data sets.
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
	return f, size, err // the system's error names the path
}

// ParseShape reads the shape of a picture: height x width, as in 28x28. For "" it returns 0, 0, so that the
// shape is guessed. Other texts are an [ErrSpec].
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
