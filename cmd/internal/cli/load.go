package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"gorbm/data"
	"gorbm/rbm"
)

// DataFlags are the flags that choose data.
type DataFlags struct {
	Spec, Dir, LabelColumn string
}

// AddDataFlags adds -data, -data-dir and -label-column to f.
func AddDataFlags(f *Flags, spec, specHelp string) *DataFlags {
	d := new(DataFlags)
	f.StringVar(&d.Spec, "data", spec, "data: fontdigits, mnist, mnist:55000, toy:4,4,2500,0.2, or a .csv or .npz file"+specHelp)
	f.StringVar(&d.Dir, "data-dir", "", "folder in which to look for MNIST first (then $GORBM_DATA/mnist, then the user's cache)")
	f.StringVar(&d.LabelColumn, "label-column", "auto", "labels of a .csv file: last, none, or auto, which takes a last column named y, label, class or target")
	return d
}

// Load loads the data, with a bar on stderr for what takes long.
func (d *DataFlags) Load(ctx context.Context, stderr io.Writer, quiet bool) (train, test *data.Set, err error) {
	if err := Choice("label-column", d.LabelColumn, "auto", "last", "none"); err != nil {
		return nil, nil, err
	}
	var bar *Progress
	train, test, err = data.Load(ctx, d.Spec, data.Options{
		Dir:         d.Dir,
		LabelColumn: d.LabelColumn,
		Progress: func(what string, total int64) io.Writer {
			bar.Done()
			bar = NewProgress(stderr, quiet, what, "B", total)
			return bar
		},
	})
	bar.Done()
	if errors.Is(err, data.ErrSpec) {
		err = Usagef("-data: %w", err)
	}
	return train, test, err
}

// ModelFlags are the flags that choose a model that a file holds.
type ModelFlags struct {
	Path, Labels string
	Classes      int
}

// AddModelFlags adds -model, -classes and -labels to f.
func AddModelFlags(f *Flags) *ModelFlags {
	m := new(ModelFlags)
	f.StringVar(&m.Path, "model", "", "model file, .safetensors or .npz")
	f.IntVar(&m.Classes, "classes", 0, "label units of a model whose file does not say: its last visible units")
	f.StringVar(&m.Labels, "labels", "softmax", "kind of the label units of -classes, softmax or bernoulli")
	return m
}

// Load reads the model.
func (f *ModelFlags) Load(flags *Flags) (*rbm.RBM, rbm.About, error) {
	fail := func(err error) (*rbm.RBM, rbm.About, error) { return nil, rbm.About{}, err }
	if f.Path == "" {
		return fail(Usagef("-model is missing; name a .safetensors or .npz file, such as runs/NAME/model.safetensors"))
	}
	kind, err := rbm.ParseLabelKind(f.Labels)
	if err != nil {
		return fail(Usagef("-labels: %w", err))
	}
	m, about, err := rbm.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(fmt.Errorf("model %s does not exist", f.Path))
	}
	if err != nil {
		return fail(err)
	}
	switch given := flags.Given("classes") || flags.Given("labels"); {
	case given && about.Described:
		return fail(Usagef("-classes and -labels are for models whose file does not say; %s has %d classes", f.Path, m.Classes))
	case f.Classes < 0 || f.Classes >= m.Visible():
		return fail(Usagef("-classes is %d; it must lie in 0 … %d, for the model has %d visible units", f.Classes, m.Visible()-1, m.Visible()))
	case given:
		m.Classes, m.Labels = f.Classes, kind
	}
	if m.Inputs() == 0 {
		return fail(fmt.Errorf("model %s has labels but no inputs; take one that has both", f.Path))
	}
	return m, about, nil
}
