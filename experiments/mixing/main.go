// Mixing races estimators of the negative phase against each other on clustered data,
// where chains that cannot cross between clusters spoil training.
//
//	go run ./experiments/mixing -digits digits.npz
//
// Results are in README.md. See -h for the figures.
package main

import (
	"context"
	"io"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/race"
)

func main() { cli.Main("mixing", run) }

const about = `The data have clusters far apart: a chain that has sharpened one of them hardly leaves it. Each estimator of the
negative phase has the same computing time, that of its updates alone, on one processor. All train the same model by the
same rate, batches and centring; the settings are not tuned to an estimator. All models are small enough for the exact log-likelihood.
The metric ` + "`mixing`" + ` watches each run, at no charge.`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := &race.Places{}
	return experiment(p).Command(p.Flags("; those data come last", " (default: $GORBM_DATA/mnist, then the user's cache)"))(ctx, args, stdout, stderr)
}

// experiment returns all figures.
func experiment(p *race.Places) claims.Experiment {
	return claims.Experiment{
		Name:    "mixing",
		Title:   "Training where chains do not mix",
		Paper:   "ours",
		About:   about,
		Figures: []claims.Figure{figure(p), battery()},
	}
}
