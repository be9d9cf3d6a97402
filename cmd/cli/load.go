package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/train"
)

// DataFlags are the flags that choose data.
type DataFlags struct {
	Spec, Dir, LabelColumn, Binarize, Shape string
}

// AddDataFlags adds the flags to f.
func AddDataFlags(f *Flags, spec, specHelp string) *DataFlags {
	d := new(DataFlags)
	f.StringVar(&d.Spec, "data", spec, "data: a name with settings after a colon, or a file\n"+data.Help()+specHelp)
	f.StringVar(&d.Dir, "data-dir", "", "folder in which to look for MNIST first (then $GORBM_DATA/mnist, then the user's cache)")
	f.StringVar(&d.LabelColumn, "label-column", "auto", "labels of a .csv file: last, none, or auto, which takes a last column named y, label, class or target")
	f.StringVar(&d.Binarize, "binarize", data.Threshold, "grey values: threshold (1 from ½ up), sample (1 with the value as probability, drawn once), or none (kept as probabilities)")
	f.StringVar(&d.Shape, "shape", "", "shape of the rows as pictures, such as 28x28 (default: the data's own, or as square as can be)")
	return d
}

// Load loads the data, with a bar on stderr for what takes long.
func (d *DataFlags) Load(ctx context.Context, stderr io.Writer, quiet bool) (train, test *data.Set, err error) {
	if err := Choice("label-column", d.LabelColumn, "auto", "last", "none"); err != nil {
		return nil, nil, err
	}
	if err := Choice("binarize", d.Binarize, data.Threshold, data.Sample, data.None); err != nil {
		return nil, nil, err
	}
	opt := data.Options{Dir: d.Dir, LabelColumn: d.LabelColumn, Binarize: d.Binarize}
	if d.Shape != "" {
		if opt.Height, opt.Width, err = data.ParseShape(d.Shape); err != nil {
			return nil, nil, Usagef("-shape: %w", err)
		}
	}
	var bar *Progress
	opt.Progress = func(what string, total int64) io.Writer {
		bar.Done()
		bar = NewProgress(stderr, quiet, what, "B", total)
		return bar
	}
	train, test, err = data.Load(ctx, d.Spec, opt)
	bar.Done()
	if errors.Is(err, data.ErrSpec) {
		err = Usagef("-data: %w", err)
	}
	return train, test, err
}

// Source returns a spec that means the same data from any folder: paths are
// made absolute.
func (d *DataFlags) Source(set *data.Set) string {
	if name, _, _ := strings.Cut(d.Spec, ":"); data.Known(name) {
		return set.Name
	}
	if _, err := os.Stat(d.Spec); err == nil { // one file, even with a comma in its name
		return Abs(d.Spec)
	}
	parts := strings.Split(d.Spec, ",")
	for i, p := range parts {
		parts[i] = Abs(p)
	}
	return strings.Join(parts, ",")
}

// Describe notes in about what the data were.
func (d *DataFlags) Describe(about *rbm.About, set *data.Set) {
	about.Data, about.Binarize = d.Source(set), set.Binarize
	about.Height, about.Width = set.Height, set.Width
	if d.LabelColumn != "auto" {
		about.LabelColumn = d.LabelColumn
	}
}

// Follow takes what the flags do not say from what a model's file says.
func (d *DataFlags) Follow(f *Flags, about rbm.About) {
	if !f.Given("binarize") && (about.Binarize == data.Sample || about.Binarize == data.None) {
		d.Binarize = about.Binarize
	}
	if f.Given("data") {
		return
	}
	d.Spec = about.Data
	if !f.Given("label-column") && about.LabelColumn != "" {
		d.LabelColumn = about.LabelColumn
	}
	if !f.Given("shape") && about.Height > 0 {
		d.Shape = fmt.Sprintf("%dx%d", about.Height, about.Width)
	}
}

// Abs returns path made absolute, or as it is where that cannot be done.
func Abs(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		return abs
	}
	return path
}

// ReadModel reads the model that a file holds, or the folder of a run, of which
// path becomes the file.
func ReadModel(path *string) (*rbm.RBM, rbm.About, error) {
	if info, err := os.Stat(*path); err == nil && info.IsDir() {
		dir := *path
		*path = filepath.Join(dir, train.ModelFile)
		if _, err := os.Stat(*path); errors.Is(err, fs.ErrNotExist) {
			return nil, rbm.About{}, fmt.Errorf("model %s is a folder without %s; name a file, or the folder of a run that has ended", dir, train.ModelFile)
		}
	}
	m, about, err := rbm.ReadFile(*path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("model %s does not exist", *path)
	}
	return m, about, err
}

// ModelFlags are the flags that choose a model that a file holds.
type ModelFlags struct {
	Path, Labels string
	Classes      int
}

// AddModelFlags adds -model, -classes and -labels to f.
func AddModelFlags(f *Flags) *ModelFlags {
	m := new(ModelFlags)
	f.StringVar(&m.Path, "model", "", "model: a .safetensors or .npz file, or the folder of a run")
	f.IntVar(&m.Classes, "classes", 0, "label units of a model whose file does not say: its last visible units")
	f.StringVar(&m.Labels, "labels", "softmax", "kind of the label units of -classes, softmax or bernoulli")
	return m
}

// Load reads the model.
func (f *ModelFlags) Load(flags *Flags) (*rbm.RBM, rbm.About, error) {
	fail := func(err error) (*rbm.RBM, rbm.About, error) { return nil, rbm.About{}, err }
	if f.Path == "" {
		return fail(Usagef("-model is missing; name a .safetensors or .npz file, or the folder of a run"))
	}
	kind, err := rbm.ParseKind(f.Labels)
	if err != nil {
		return fail(Usagef("-labels: %w", err))
	}
	m, about, err := ReadModel(&f.Path)
	if err != nil {
		return fail(err)
	}
	switch given := flags.Given("classes") || flags.Given("labels"); {
	case given && about.Described:
		return fail(Usagef("-classes and -labels are for models whose file does not say; %s has %d classes", f.Path, m.Classes()))
	case f.Classes < 0 || f.Classes >= m.Visible():
		return fail(Usagef("-classes is %d; it must lie in 0 … %d, for the model has %d visible units", f.Classes, m.Visible()-1, m.Visible()))
	case given:
		m.SetLabel(f.Classes, kind)
	}
	if m.Inputs() == 0 {
		return fail(fmt.Errorf("model %s has labels but no inputs; take one that has both", f.Path))
	}
	return m, about, nil
}

// Constrained returns a clause that says how m is constrained, to go after its
// numbers of units; "" if it is not.
func Constrained(m *rbm.RBM) string {
	c := m.Constraint
	if c == nil {
		return ""
	}
	what := "hidden units"
	if c.On == rbm.AllUnits {
		what = "units of all"
	}
	if c.Reference != nil {
		return fmt.Sprintf(", %d %s away from a reference", c.Active, what)
	}
	return fmt.Sprintf(", %d %s on", c.Active, what)
}
