// Rbmexport converts a model between file formats and draws its filters.
//
//	rbmexport -model runs/mnist-ins-1/model.safetensors -out model.npz
//
// See rbmexport -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/potts"
	"gorbm/train/plots"
)

func main() { cli.Main("rbmexport", run) }

const summary = `rbmexport converts a model, or draws it.

The ending of -out decides the format. A .safetensors or .npz file has the
arrays weights [visible, hidden], visible_bias and hidden_bias. -sklearn writes
the .npz with the names of scikit-learn's BernoulliRBM instead: components_
[hidden, visible], intercept_hidden_ and intercept_visible_. -spins writes the
parameters for visible spins s and hidden spins t of −1 and +1, with
E(s,t) = −sᵀWt − aᵀs − bᵀt, as the arrays spin_weights (W), spin_visible_bias (a) and
spin_hidden_bias (b). -model reads all three kinds of .npz.

A .dat file has the Potts model that approximates a model of sequences, in the format of
adabmDCA: a line "J i j a b value" for each coupling and "h i a value" for each field; sites
count from 0. The fields and couplings are the terms in one and in two sites of the expansion
of −F, the negative free energy, in the zero-sum gauge. Terms in three or more sites are lost.

A .png, .svg or .pdf file has a sheet of filters: the weights of hidden units as pictures.
rbmsample draws samples.`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := cli.NewFlags("rbmexport", summary, "rbmexport -model FILE -out FILE [flags]")
	f.Screen = screen
	f.Group("model")
	model := f.AddModel()
	f.Group("file")
	var out string
	var sklearn, spins, zeroSum bool
	f.StringVar(&out, "out", "", "file to write: .safetensors, .npz, .dat (for a model of sequences) or a picture (.png, .svg, .pdf)").
		Main("FILE  .safetensors, .npz, .dat or a picture (.png, .svg, .pdf)").New(append([]string{".safetensors", ".npz", pottsEnding}, cli.Pictures...)...)
	f.BoolVar(&sklearn, "sklearn", false, "write the .npz with scikit-learn's names").Main("  scikit-learn's names in the .npz")
	f.BoolVar(&spins, "spins", false, "write the .npz with the parameters for spins of −1 and +1: spin_weights, spin_visible_bias, spin_hidden_bias").Main("  parameters of spins −1 and +1 in the .npz").Not("sklearn")
	f.BoolVar(&zeroSum, "zero-sum", false, "bring softmax groups of inputs to the zero-sum gauge: the biases of a group, and its weights to each hidden unit, sum to zero. The distribution does not change").Main("  parameters of softmax groups, shifted to sum to zero")
	f.Group("others")
	if err := f.Parse(args, stdout, stderr); err != nil {
		return err
	}
	if out == "" {
		return cli.Usagef("-out is missing; name a .safetensors, .npz, .dat or picture file (.png, .svg, .pdf)")
	}
	if err := f.CheckNew(); err != nil {
		return err
	}
	ext := strings.ToLower(filepath.Ext(out))
	for name, given := range map[string]bool{"sklearn": sklearn, "spins": spins} {
		if given && ext != ".npz" {
			return cli.Usagef("-%s is for .npz files, not %s", name, ext)
		}
	}
	m, about, err := model.Load()
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d visible and %d hidden units", m.Visible(), m.Hidden())
	if zeroSum {
		what += fmt.Sprintf(", in the zero-sum gauge, where log Z changes by %+.6g nats", -m.ZeroSum())
	}
	switch {
	case sklearn:
		err = atomicfile.Write(out, func(w io.Writer) error { return modelfile.WriteSklearnNPZ(w, m, about) })
	case spins:
		var k float64
		err = atomicfile.Write(out, func(w io.Writer) (err error) { k, err = modelfile.WriteSpinsNPZ(w, m, about); return err })
		what += fmt.Sprintf(", in spins, where log Z changes by %+.6g nats", -k)
	case ext == pottsEnding:
		what, err = writePotts(ctx, f, out, m, model.Path, about)
	case slices.Contains(cli.Pictures, ext):
		img := draw(m, about)
		what = fmt.Sprintf("a sheet of %d×%d pixels", img.Bounds().Dx(), img.Bounds().Dy())
		err = cli.WritePicture(out, plots.Sheet(img))
	default:
		err = modelfile.Write(out, m, about)
	}
	if errors.Is(err, rbm.ErrUnits) || errors.Is(err, rbm.ErrConstraint) {
		return cli.Usagef("-out: %w", err)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %s\n", out, what)
	return err
}

// pottsEnding is the ending of files of adabmDCA.
const pottsEnding = ".dat"

// writePotts writes the Potts model that approximates m to the file out, and returns its description. path and
// about are m's file and metadata.
func writePotts(ctx context.Context, f *cli.Flags, out string, m *rbm.RBM, path string, about modelfile.About) (what string, err error) {
	schema, err := cli.SchemaOf(m, about)
	if err != nil {
		return "", fmt.Errorf("model %s: %w", path, err)
	}
	if schema == nil || schema.Alphabet == "" {
		return "", cli.Usagef("-out: a %s file is for models of sequences, and %s is none", pottsEnding, path)
	}
	bar := f.NewProgress("effective couplings", "hidden units", int64(m.Hidden()))
	p, err := potts.Effective(ctx, m, func(done int) { bar.Set(int64(done), "") })
	bar.Done()
	if err != nil {
		return "", fmt.Errorf("model %s: %w", path, err)
	}
	err = atomicfile.Write(out, func(w io.Writer) error { return p.Write(w, schema.Alphabet) })
	return fmt.Sprintf("the Potts model of %v nearest to the model", schema), err
}

// draw returns the sheet of m's filters.
func draw(m *rbm.RBM, about modelfile.About) image.Image {
	height, width := about.Height, about.Width
	if height == 0 {
		height, width = data.NearSquare(m.Inputs())
	}
	return plots.Filters(m, height, width)
}

// screen is what -h prints.
var screen = cli.Screen{
	Purpose: "rbmexport writes the weights of a model for other programs, or draws them.",
	Examples: []string{
		"rbmexport -model runs/mnist-ins-1 -out model.npz  # arrays for NumPy and PyTorch",
		"rbmexport -model runs/mnist-ins-1 -sklearn -out sklearn.npz  # with scikit-learn's names",
		"rbmexport -model runs/mnist-ins-1 -out filters.png  # weights as pictures",
	},
}
