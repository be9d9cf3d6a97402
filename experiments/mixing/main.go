// Mixing races estimators of the negative phase against each other on clustered data,
// where chains that cannot cross between clusters spoil training.
//
//	go run ./experiments/mixing -digits digits.npz
//
// Results are in README.md. See -h for the figures.
package main

import (
	"cmp"
	"context"
	"io"
	"iter"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
)

func main() { cli.Main("mixing", run) }

const about = `The data have clusters far apart: a chain that has sharpened one of them hardly leaves it. Each estimator of the
negative phase has the same computing time, that of its updates alone, on one processor. All train the same model by the
same rate, batches and centring; the settings are not tuned to an estimator. All models are small enough for the exact log-likelihood.
The metric ` + "`mixing`" + ` watches each run, at no charge.`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := &places{}
	return experiment(p).Command(func(f *cli.Flags) func() error {
		f.StringVar(&p.digits, "digits", "", "scikit-learn's 8×8 digits over 16, a file that -data of rbmtrain reads; those data come last")
		f.StringVar(&p.dir, "data-dir", "", "folder with the MNIST files (default: $GORBM_DATA/mnist, then the user's cache)")
		return func() error { return nil }
	})(ctx, args, stdout, stderr)
}

// places are where data are found.
type places struct{ digits, dir string }

// eachProblem yields the numbers of the problems with a seed, all of them in each
// repetition.
func eachProblem(o claims.Options) iter.Seq2[int, uint64] {
	return func(yield func(at int, seed uint64) bool) {
		for repeat := range cmp.Or(o.Repeats, claims.Size(o, 3, 5)) {
			for at := range problems[:claims.Size(o, 2, len(problems))] {
				if !yield(at, uint64(repeat+1)) {
					return
				}
			}
		}
	}
}

// experiment returns all figures.
func experiment(p *places) claims.Experiment {
	return claims.Experiment{
		Name:    "mixing",
		Title:   "Training where chains do not mix",
		Paper:   "ours",
		About:   about,
		Figures: []claims.Figure{race(p)},
	}
}
