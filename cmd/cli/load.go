package cli

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

	"golang.org/x/term"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/units"
	"gorbm/train"
	"gorbm/train/rundir"
)

// DataFlags holds the values of the flags that choose data.
type DataFlags struct {
	Flags                                                  *Flags // all flags of the command
	Spec, Dir, LabelColumn, Header, Binarize, Scale, Shape string
	Test, Unlabelled, Weights                              string
	Categorical, Ignore                                    string
	Numbers                                                string
	Separator, Missing, Unknown, Pivot                     string
	Levels                                                 int
	Holdout                                                float64 // fraction or number of training rows that the command will hold out, and the key by which it chooses them
	HoldoutKey                                             rbm.Key
	Reweight                                               float64
	schema                                                 *data.Schema // the schema by which files are read, or nil
	columns                                                []string     // names of the model's inputs, or nil
	ignoreKnown                                            bool         // Ignore comes from a model
	wasWeights                                             string       // weights of the model's training rows, which the rows of -data do not have
	wasReweight                                            float64      // the same of -reweight
	clip                                                   bool         // Scale comes from a model
	knownLabel                                             string       // name of the model's column of labels, which the rows may lack
	Redraw                                                 bool
	unlabelled                                             bool // rows may have no label

	Units           string    // one of UnitNames; "" is binary
	mean, deviation []float64 // means and standard deviations of the columns that a model's Gaussian units were trained on
}

// UnitNames are the values of -units.
var UnitNames = []string{"auto", "binary", "gaussian", LearnedPrecision, "spin"}

// LearnedPrecision is the value of -units for Gaussian units whose precisions are learned.
const LearnedPrecision = "gaussian:precision=learned"

func (d *DataFlags) gaussian() bool { return d.Units == "gaussian" || d.Units == LearnedPrecision }

// DataRows chooses the data flags that a command has.
type DataRows struct {
	Spec, Help string // default of -data, and end of its help text
	Main       string // line of -data in -h
	Test       string // end of the help text of -test; "": no such flag
	Unlabelled bool   // rows of files may have no label; adds -unlabelled
	Redraw     bool   // adds -redraw
	Undrawn    bool   // the command draws no pictures of rows, and the help of -shape says so
}

// AddData adds the flags that choose data, such as -data and -scale.
func (f *Flags) AddData(rows DataRows) *DataFlags {
	d := &DataFlags{Flags: f, unlabelled: rows.Unlabelled}
	f.data = d
	f.StringVar(&d.Spec, "data", rows.Spec, "data: a name with settings after a colon, or a file; -data help lists them\n"+data.Help()+rows.Help).Offer(append(data.Names(), "help")...).Main(rows.Main)
	if rows.Test != "" {
		f.StringVar(&d.Test, "test", "", "rows to test on: a file or a name as in -data. Its test rows are used, or all rows if it has none. They are read like those of -data; classes are matched by name "+rows.Test)
	}
	f.StringVar(&d.Dir, "data-dir", "", "folder in which to look for MNIST first (then $GORBM_DATA/mnist, the folder of the Go module GoMNIST, the user's cache; then it is downloaded)")
	f.StringVar(&d.Scale, "scale", "auto", "which two values of a file become 0 and 1: max (0 and the largest), minmax (the smallest and the largest), spins (−1 and +1), presence (0 and everything above it), a number such as 255 (0 and this number), LOW:HIGH, a list with one of these for each column, separated by commas, or auto. With max and minmax each column of a .csv file has its own two values; with -shape, and in other files, all columns have the same two. auto means 0 and 1; −1 and +1 if there are no other values; 0 and 255 for bytes above 1").Offer("auto", "max", "minmax", "spins", "presence", "255")
	f.StringVar(&d.Binarize, "binarize", data.Threshold, "how to read values between 0 and 1: threshold (1 from ½ up), sample (1 with the value as probability, drawn once), none (kept as probabilities), or standard (any numbers; each column is standardised, for Gaussian units)").Choice(data.Threshold, data.Sample, data.None, data.Standard)
	if rows.Redraw {
		f.BoolVar(&d.Redraw, "redraw", false, "with -binarize sample: redraw the bits of each minibatch from the grey values, so that the model cannot overfit one draw; rows of metrics and test rows are drawn once")
	}
	f.StringVar(&d.LabelColumn, "label-column", "auto", "column of labels in a .csv file: last, first, a name, none, or auto: the column of labels that the model's file records, or else the last column if it is named y, label, class or target").Offer("auto", "last", "first", "none")
	f.StringVar(&d.Header, "header", "auto", "whether the first line of a .csv file names the columns: yes, no, or auto: yes if it has words, or numbers that look like names of columns: 0, 1, 2, … or 1, 2, 3, …, or whole numbers unlike all other rows").Choice("auto", data.HeaderYes, data.HeaderNo)
	f.StringVar(&d.Separator, "separator", "auto", "what separates the columns of a text file: comma, semicolon, tab, bar, blank (any number of blanks), none (each character is a column), another character, or auto: it follows from the first rows").Offer("auto", "comma", "semicolon", "tab", "bar", "blank", "none")
	f.Var(names{&d.Missing, ""}, "missing", "`values` that also mark missing cells of a text file, separated by commas, such as -1 or 9,unknown. Always missing are an empty cell, NA, N/A, n/a, NaN, nan, null, NULL, None and ?, and a dash among numbers")
	f.StringVar(&d.Pivot, "pivot", "", "columns of a list with a row for each cell, such as user,item,rating: it becomes a table with a row for each user and a column for each item. Without the third a cell is whether the pair is there. none: the rows are no list")
	f.StringVar(&d.Unknown, "unknown", "error", "what a word is that the model does not know: error, or missing, so that the cell counts as missing").Choice("error", "missing")
	if rows.Unlabelled {
		f.StringVar(&d.Unlabelled, "unlabelled", "", "mark, such as -1 or ?, of rows without a label, in files where only some rows have one; an empty label always means none")
	}
	d.Categorical = "auto"
	f.Var(names{&d.Categorical, "auto"}, "categorical", "columns of a .csv file that are categories: `names` separated by commas, or several such flags, or all; auto: the columns that have words. A column of categories makes the file a table: -numbers decides how to read its numbers, and cells may be missing (empty, NA, N/A, n/a, NaN, nan, null, NULL, None or ?)").Offer("auto", "all")
	f.StringVar(&d.Numbers, "numbers", "auto", "how to read the numbers of a table: levels (cut into -levels intervals with about as many rows each), gaussian (standardised, for Gaussian units next to the units of the categories; their precisions are learned unless -units gaussian fixes them at 1), or auto: gaussian if -units names Gaussian units, otherwise levels. levels and gaussian make a .csv file a table").Choice("auto", data.NumbersLevels, data.NumbersGaussian)
	f.IntVar(&d.Levels, "levels", 0, "number of intervals into which -numbers levels cuts each column (default 8). A column with that many different numbers or fewer is categories in any case. The flag makes a .csv file a table").Between(2, 1000).OrZero()
	f.Var(names{&d.Ignore, ""}, "ignore", "columns of a .csv file to leave out, such as names of the rows: `names` separated by commas, or several such flags. A name with a comma stands in double quotes. Without a header the columns are c1, c2, …. Columns that name the rows, dates, and columns of one value in tables are left out in any case, unless the names have none")
	f.StringVar(&d.Weights, "weights", "", "weights of the rows, numbers from 0 up, where 2 counts a row twice: a column of a .csv file, or a file with one line for each row of -data; rows of weight 0 are left out")
	f.Float64Var(&d.Reweight, "reweight", 0, "weigh each row of aligned sequences by 1/n, where n is the number of rows, itself included, that agree with it at this fraction of the sites or more, such as 0.8; 0: no weights").Between(0, 1).Not("weights")
	f.Row("weights").Mode("gives the weights")
	shape := "shape of the rows as pictures, such as 28x28 (default: the shape that the data have, or one as square as possible)"
	if rows.Undrawn {
		shape = "shape of the rows as pictures, such as 28x28; it must fit the rows, and has no other effect here"
	}
	f.StringVar(&d.Shape, "shape", "", shape)
	return d
}

// dataHelp returns the text of -data help.
func (f *Flags) dataHelp() string {
	return "The values of -data: the name of a data set, with settings after a colon, or the path of a file.\n\n" + data.Help() + `

Other flags set how a .csv file is read: -separator and -header for its lines, -label-column, -ignore and -weights for its
columns, -categorical, -numbers, -levels, -missing and -unknown for words and missing values; -scale and -binarize are for numbers outside [0,1], -shape for
pictures and -reweight for sequences. ` + f.Name() + " -h all explains them.\n"
}

// names is the value of a flag that lists names, separated by commas. A repeated flag adds names.
type names struct {
	list *string
	none string // default, which the first names replace
}

func (n names) String() string {
	if n.list == nil {
		return ""
	}
	return *n.list
}

func (n names) Set(text string) error {
	if *n.list == n.none {
		*n.list = ""
	}
	*n.list = data.JoinNames(append(data.ParseNames(*n.list), data.ParseNames(text)...)...)
	return nil
}

// options returns how the data are read. bar is the progress bar of the current work, if there is one.
func (d *DataFlags) options(bar **Progress) (opt data.Options, err error) {
	opt = data.Options{Dir: d.Dir, LabelColumn: d.LabelColumn, KnownLabel: d.knownLabel, Unlabelled: d.unlabelled, NoLabel: d.Unlabelled,
		Separator: d.Separator, Header: d.Header, Ignore: d.Ignore, IgnoreKnown: d.ignoreKnown, Columns: d.columns, Pivot: d.Pivot,
		Categorical: d.Categorical, Levels: d.Levels, Numbers: strings.TrimPrefix(d.Numbers, "auto"), Missing: d.Missing, Unknown: strings.TrimPrefix(d.Unknown, "error"), Schema: d.schema,
		Binarize: d.Binarize, Scale: d.Scale, Clip: d.clip, Redraw: d.Redraw, Means: d.mean, Deviations: d.deviation, Real: d.Units == "auto" && !d.Flags.Given("binarize"),
		Weights: d.Weights, Reweight: d.Reweight, Holdout: d.Holdout, HoldoutKey: d.HoldoutKey}
	switch {
	case d.gaussian() && d.Flags.Given("binarize") && d.Binarize != data.Standard, d.Units == "binary" && d.Binarize == data.Standard:
		return opt, Usagef("-units %s and -binarize %s do not go together; leave one of them out", d.Units, d.Binarize)
	case d.gaussian() && d.Numbers == data.NumbersLevels, (d.Units == "binary" || d.Units == "spin") && d.Numbers == data.NumbersGaussian:
		return opt, Usagef("-units %s and -numbers %s do not go together; leave one of them out", d.Units, d.Numbers)
	case d.gaussian():
		opt.Binarize = data.Standard
	case d.Units == "spin" && (d.Scale != "auto" && d.Scale != "spins" || d.Binarize == data.Standard):
		return opt, Usagef("-units spin takes values of −1 and +1; leave -scale and -binarize out")
	case d.Units == "spin":
		opt.Scale = "spins"
	}
	if d.Redraw && d.Binarize != data.Sample {
		return opt, Usagef("-redraw goes with -binarize sample, not %s", d.Binarize)
	}
	if err := data.CheckScale(d.Scale); err != nil {
		return opt, Usagef("-scale: %w", err)
	}
	if d.Shape != "" {
		if opt.Height, opt.Width, err = data.ParseShape(d.Shape); err != nil {
			return opt, Usagef("-shape: %w", err)
		}
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) { // on a terminal the command would wait without a message
		opt.Stdin = os.Stdin
	}
	opt.Progress = func(what, unit string, total int64) io.Writer {
		(*bar).Done()
		*bar = d.Flags.NewProgress(what, unit, total)
		return *bar
	}
	return opt, nil
}

// Load loads the data, with progress bars for downloads and other long work. It prints
// notes on how the data were read, and warns of a test set that it does not use.
func (d *DataFlags) Load(ctx context.Context) (train, test *data.Set, err error) {
	var bar *Progress
	defer func() { bar.Done() }()
	opt, err := d.options(&bar)
	if err != nil {
		return nil, nil, err
	}
	train, test, err = data.Load(ctx, d.Spec, opt)
	if err != nil {
		return nil, nil, asUsage("data", err)
	}
	if train.Dropped != nil { // later files have the dropped columns too
		d.Ignore = data.JoinNames(append(data.ParseNames(opt.Ignore), train.Dropped...)...)
	}
	switch path := data.TestBeside(train.Name); {
	case d.Test != "":
		unused := test
		if test, err = d.loadLike(ctx, "test", d.Test, train); err != nil {
			return nil, nil, err
		}
		if unused != nil && unused.Name != test.Name {
			d.Flags.Warn(fmt.Sprintf("%s, %d rows, is not used: the test rows are those of -test", unused.Name, unused.Len()))
		}
	case d.Flags.Lookup("test") != nil && test == nil && path != "":
		d.Flags.Warn(fmt.Sprintf("%s lies next to %s but is not used; -test %s evaluates on it", path, train.Name, path))
	}
	if err := train.CheckColumns(d.columns, "the data of the model"); err != nil { // an error comes before the notes
		return nil, nil, err
	}
	without, err := d.unused(train, test)
	if err != nil {
		return nil, nil, err
	}
	for _, text := range without {
		d.note("%s", text)
	}
	for _, s := range []*data.Set{train, test} {
		if s != nil {
			d.describe(s)
		}
	}
	return train, test, nil
}

// LoadLike loads further rows, which the flag names, as the training rows were read. It prints notes on them.
func (d *DataFlags) LoadLike(ctx context.Context, flagName, spec string, train *data.Set) (*data.Set, error) {
	s, err := d.loadLike(ctx, flagName, spec, train)
	if err == nil {
		d.describe(s)
	}
	return s, err
}

func (d *DataFlags) loadLike(ctx context.Context, flagName, spec string, train *data.Set) (*data.Set, error) {
	var bar *Progress
	defer func() { bar.Done() }()
	opt, err := d.options(&bar)
	if err != nil {
		return nil, err
	}
	s, err := data.LoadTest(ctx, spec, train, opt)
	if err != nil {
		return nil, asUsage(flagName, err)
	}
	return s, nil
}

// note prints a note on the data, unless the command is quiet.
func (d *DataFlags) note(format string, args ...any) {
	if !d.Flags.Quiet {
		fmt.Fprintf(d.Flags.Stderr, d.Flags.Name()+": "+format+"\n", args...)
	}
}

// describe prints what was not obvious when a set was read.
func (d *DataFlags) describe(s *data.Set) {
	if d.wasReweight > 0 && s.Values() == "sequences" {
		d.note("%s: its rows have equal weights; the model's training rows were weighted by -reweight %g", s.Name, d.wasReweight)
	}
	if s.Header == data.HeaderNumbers {
		d.note("%s: the first line is numbers and is read as names of the columns; -header no reads it as a row", s.Name)
	}
	for _, text := range s.Notes {
		d.note("%s: %s", s.Name, text)
	}
	if len(s.Unused) > 0 {
		hint := ""
		if slices.Contains(s.Unused, d.wasWeights) {
			hint = "; the model's training rows were weighted by -weights " + d.wasWeights
		}
		d.note("%s: columns that the model lacks are not used: %s%s", s.Name, strings.Join(s.Unused, ", "), hint)
	}
	if s.Found {
		d.note("%s holds real numbers: its columns are standardised, for Gaussian units (-scale minmax reads them as grey values in [0,1])", s.Name)
	}
	if s.Spins {
		d.note("%s has only values −1 and +1, which are read as 0 and 1", s.Name)
	}
}

// unused returns an error for a flag that does not apply to this kind of data, and notes on flags
// that have no effect on the values. test may be nil.
func (d *DataFlags) unused(train, test *data.Set) (lines []string, err error) {
	sets := []*data.Set{train}
	if test != nil {
		sets = append(sets, test)
	}
	anySet := func(does func(s *data.Set) bool) bool { return slices.ContainsFunc(sets, does) }
	file := func(s *data.Set) bool {
		name, _, _ := strings.Cut(s.Name, ":")
		return !data.Known(name) || name == data.Stdin
	}
	csv := func(s *data.Set) bool { return s.Header != "" }
	numbers := func(s *data.Set) bool { return s.Schema == nil }
	for _, c := range []struct {
		flag, idle, what string
		takes            func(s *data.Set) bool
	}{
		{"header", "", "is for .csv files", csv},
		{"categorical", "auto", "is for .csv files", csv},
		{"levels", "0", "is for .csv files", csv},
		{"numbers", "auto", "is for .csv files", csv},
		{"ignore", "", "is for .csv files", csv},
		{"separator", "auto", "is for .csv files", csv},
		{"missing", "", "is for .csv files", csv},
		{"pivot", "", "is for .csv files", csv},
		{"scale", "auto", "is for files of numbers", func(s *data.Set) bool { return file(s) && numbers(s) }},
		{"binarize", "", "is for numbers from 0 to 1", numbers},
		{"label-column", "auto", "is for files that may hold labels", func(s *data.Set) bool { return file(s) && s.Values() != "sequences" }},
		{"unlabelled", "", "is for files that may hold labels", func(s *data.Set) bool { return file(s) && s.Values() != "sequences" }},
	} {
		f := d.Flags.Lookup(c.flag)
		if f != nil && d.Flags.Given(c.flag) && f.Value.String() != c.idle && !anySet(c.takes) {
			return nil, Usagef("-%s %s, and %s is none; leave it out", c.flag, c.what, train.Name)
		}
	}
	// Flags for values between 0 and 1 have no effect if the data have no such values.
	bits := !anySet(func(s *data.Set) bool { return s.Binarize != data.Binary })
	for _, name := range []string{"binarize", "scale"} {
		if bits && d.Flags.Given(name) && !slices.Contains([]string{"spins", "presence"}, d.Flags.Lookup(name).Value.String()) {
			lines = append(lines, fmt.Sprintf("-%s has no effect on %s, all of whose values are 0 and 1", name, train.Name))
		}
	}
	if d.Unlabelled != "" && d.Flags.Given("unlabelled") && !anySet(func(s *data.Set) bool { return s.Unlabelled() > 0 }) {
		lines = append(lines, fmt.Sprintf("-unlabelled: no row of %s has the label %q", train.Name, d.Unlabelled))
	}
	return lines, nil
}

// asUsage returns err as a usage error of the flag if it is about the flag's value and not about a
// file.
func asUsage(flagName string, err error) error {
	if errors.Is(err, data.ErrSpec) {
		return Usagef("-%s: %w", flagName, err)
	}
	return err
}

// Describe records in about which data were loaded and how they were read.
func (d *DataFlags) Describe(about *modelfile.About, set *data.Set) {
	about.Data, about.Binarize = data.Absolute(set.Name), set.Binarize
	about.Height, about.Width, about.Pictures = set.Height, set.Width, set.Pictures
	about.Scale, about.Unlabelled = set.Scale, d.Unlabelled
	if set.Spins {
		about.Scale = "spins"
	}
	about.Reweight, about.Ignore, about.Missing = d.Reweight, d.Ignore, d.Missing
	about.Separator, about.Pivot = strings.TrimPrefix(d.Separator, "auto"), d.Pivot
	if set.Schema != nil {
		about.Schema = set.Schema.Text()
	}
	about.Columns = set.Columns
	if about.Weights = d.Weights; d.Weights != "" && !set.WeightColumn {
		about.Weights = Abs(d.Weights)
	}
	about.Means, about.Deviations = set.Means, set.Deviations
	if d.Test != "" {
		about.Test = data.Absolute(d.Test)
	}
	if d.LabelColumn != "auto" {
		about.LabelColumn = d.LabelColumn
	}
	if d.Header != "auto" {
		about.Header = d.Header
	}
}

// Follow sets flags that were not given so that data are read as the model's training data
// were. Without -data it chooses the training data themselves. about comes from the model's
// file.
func (d *DataFlags) Follow(about modelfile.About) {
	follow := func(name string, dst *string, was string, known bool) {
		if known && !d.Flags.Given(name) {
			*dst = was
		}
	}
	follow("binarize", &d.Binarize, about.Binarize, about.Binarize == data.Sample || about.Binarize == data.None || about.Binarize == data.Standard)
	d.mean, d.deviation, d.columns = about.Means, about.Deviations, about.Columns
	follow("scale", &d.Scale, about.Scale, about.Scale != "")
	d.clip = about.Scale != "" && !d.Flags.Given("scale")
	if s, err := data.ParseSchema(about.Schema); err == nil {
		d.schema = s
	}
	follow("ignore", &d.Ignore, about.Ignore, true)
	follow("missing", &d.Missing, about.Missing, true)
	follow("pivot", &d.Pivot, about.Pivot, true)
	d.ignoreKnown = !d.Flags.Given("ignore")
	if d.Flags.Given("data") {
		switch given := d.Flags.Given("weights") || d.Flags.Given("reweight"); {
		case given:
		case data.Absolute(d.Spec) == about.Data:
			d.Weights, d.Reweight = about.Weights, about.Reweight
		default:
			d.wasWeights, d.wasReweight = about.Weights, about.Reweight
		}
		// The first or last column of new rows may be an input, so only a named column is followed.
		if about.LabelColumn != "first" && about.LabelColumn != "last" {
			follow("label-column", &d.knownLabel, about.LabelColumn, true)
		}
		return
	}
	if !d.Flags.Given("weights") && !d.Flags.Given("reweight") {
		d.Weights, d.Reweight = about.Weights, about.Reweight
	}
	d.Spec = about.Data
	follow("separator", &d.Separator, about.Separator, about.Separator != "")
	follow("test", &d.Test, about.Test, d.Flags.Lookup("test") != nil)
	follow("label-column", &d.LabelColumn, about.LabelColumn, about.LabelColumn != "")
	follow("header", &d.Header, about.Header, about.Header != "")
	follow("unlabelled", &d.Unlabelled, about.Unlabelled, true)
	follow("shape", &d.Shape, fmt.Sprintf("%dx%d", about.Height, about.Width), about.Height > 0)
}

// FitSet returns the set with its classes numbered as in m, matched by name. It fails unless the columns and
// units of the set are those of m. Labels may be missing. path is the model's file, and about is its
// metadata.
func FitSet(m *rbm.RBM, set *data.Set, path string, about modelfile.About) (_ *data.Set, err error) {
	if m.Classes() > 0 && m.Inputs() == set.X.Cols {
		set, err = set.WithClasses(about.ClassNames)
	}
	if err == nil {
		err = set.CheckColumns(about.Columns, "the data of the model")
	}
	if schema, e := data.ParseSchema(about.Schema); err == nil && e == nil {
		err = set.CheckSchema(schema, "the data of the model")
	}
	if err == nil {
		if err = train.Fits(m, set); errors.Is(err, train.ErrNoLabels) {
			err = nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not fit the data: %w", path, err)
	}
	return set, nil
}

// ClassLabels returns the class names of the rows y for an .npz file: numbers as []int32 if all
// names are numbers, otherwise []string. A row without a label has -1 among numbers and "" among
// names.
func ClassLabels(y []int32, classes []string) any {
	words, numbers := make([]string, len(y)), make([]int32, len(y))
	all := true
	for r, y := range y {
		if y == data.NoClass {
			numbers[r] = -1
			all = all && !slices.Contains(classes, "-1")
			continue
		}
		words[r] = classes[y]
		n, err := strconv.ParseInt(words[r], 10, 32)
		numbers[r] = int32(n)
		all = all && err == nil && strconv.FormatInt(n, 10) == words[r]
	}
	if all {
		return numbers
	}
	return words
}

// Abs returns path made absolute, or path itself if that fails.
func Abs(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		return abs
	}
	return path
}

// ReadModel reads the model file at *path. If *path is the folder of a run, ReadModel
// first replaces it by the path of the run's model.
func ReadModel(path *string) (*rbm.RBM, modelfile.About, error) {
	if info, err := os.Stat(*path); err == nil && info.IsDir() {
		dir := *path
		*path = filepath.Join(dir, rundir.ModelFile)
		if _, err := os.Stat(*path); errors.Is(err, fs.ErrNotExist) {
			return nil, modelfile.About{}, fmt.Errorf("model %s is a folder without %s; name a file, or the folder of a run that has ended", dir, rundir.ModelFile)
		}
	}
	m, about, err := modelfile.Read(*path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("model %s does not exist", *path)
	}
	return m, about, err
}

// SchemaOf returns the schema of a model's inputs, or nil if its file has none.
func SchemaOf(m *rbm.RBM, about modelfile.About) (*data.Schema, error) {
	if about.Schema == "" {
		return nil, nil
	}
	s, err := data.ParseSchema(about.Schema)
	if err == nil && s.Units() != m.Inputs() {
		err = fmt.Errorf("the schema has %d units, but the model has %d inputs", s.Units(), m.Inputs())
	}
	return s, err
}

// ModelFlags holds the values of the flags that choose a model file.
type ModelFlags struct {
	Path, Labels string
	Classes      int
	flags        *Flags
}

// AddModel adds -model, -classes and -labels.
func (f *Flags) AddModel() *ModelFlags {
	m := &ModelFlags{flags: f}
	f.StringVar(&m.Path, "model", "", "model: a .safetensors or .npz file, or the folder of a run").Main("FILE  a model, or the folder of a run")
	f.IntVar(&m.Classes, "classes", 0, "number of label units, the last of the visible units, if the file of the model does not record it")
	f.StringVar(&m.Labels, "labels", "softmax", "kind of the label units of -classes, softmax or bernoulli").Offer("softmax", "bernoulli")
	return m
}

// Load reads the model that the flags choose.
func (f *ModelFlags) Load() (*rbm.RBM, modelfile.About, error) {
	fail := func(err error) (*rbm.RBM, modelfile.About, error) { return nil, modelfile.About{}, err }
	if f.Path == "" {
		return fail(Usagef("-model is missing; name a .safetensors or .npz file, or the folder of a run"))
	}
	kind, err := units.ParseLabel(f.Labels)
	if err != nil {
		return fail(Usagef("-labels: %w", err))
	}
	m, about, err := ReadModel(&f.Path)
	if err != nil {
		return fail(err)
	}
	switch given := f.flags.FirstGiven("classes", "labels") != ""; {
	case given && about.Described:
		return fail(Usagef("-classes and -labels are for models whose file does not record them; %s has %d classes", f.Path, m.Classes()))
	case f.Classes < 0 || f.Classes >= m.Visible():
		return fail(Usagef("-classes is %d; it must lie in 0 … %d, because the model has %d visible units", f.Classes, m.Visible()-1, m.Visible()))
	case given:
		m.SetLabel(f.Classes, kind)
	}
	if m.Inputs() == 0 {
		return fail(fmt.Errorf("model %s has labels but no inputs; use one that has both", f.Path))
	}
	return m, about, nil
}
