// Which-estimator trains the same RBM by every estimator of the negative phase for equal
// computing time, and compares the models.
//
//	go run ./experiments/which-estimator -figure map
//
// Results are in README.md.
package main

import (
	"context"
	"io"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
)

func main() { cli.Main("which-estimator", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := &files{}
	return experiment(p).Command(func(f *cli.Flags) {
		f.StringVar(&p.digits, "digits", "", "file with scikit-learn's 8×8 digits divided by 16, for the figure sets; its runs come last")
		f.StringVar(&p.dir, "data-dir", "", "folder with the MNIST files, for the figures sets and large (default: $GORBM_DATA/mnist, then the folder of the Go module GoMNIST); -quick needs none")
	})(ctx, args, stdout, stderr)
}

// files has the paths of data.
type files struct{ digits, dir string }

// experiment returns all figures.
func experiment(p *files) figures.Experiment {
	moments := []float64{1. / 16, 1. / 8, 1. / 4, 1. / 2, 1}
	return figures.Experiment{Name: "which-estimator", Title: "Which estimator of the negative phase?", Ours: true, Figures: []figures.Figure{
		race{name: "map", problems: clusters, seconds: 1, moments: moments, chart: true}.figure(p),
		race{name: "sets", flags: "-digits FILE", problems: pictures, seconds: 1, moments: moments}.figure(p),
		race{name: "large", problems: larges, seconds: largeSeconds, moments: []float64{1. / 4, 1}, apart: true, quick: quickLarge, more: brackets}.figure(p),
		gaussianFigure(),
	}}
}
