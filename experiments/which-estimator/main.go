// Which-estimator trains the same RBM by every estimator of the negative phase for as
// much computing time, and shows which one wins where.
//
//	go run ./experiments/which-estimator -figure map
//
// Results are in README.md. See -h for the figures.
package main

import (
	"context"
	"io"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
)

func main() { cli.Main("which-estimator", run) }

const about = `Each estimator of the negative phase has the same computing time, that of its updates alone, on one core. All train the
same model from the same start with the same rate, batches and centring, which are not tuned to an estimator. The
log-likelihood is exact. "Below the law" is the mean over the rows of log p of the law that the data were drawn from less that of the
model, in nats: 0 is a perfect model. The law of the digits of fonts is not known, and for them it is minus the log-likelihood.
Modes of data are codes of bits, each repeated as often as the distance says; a bit of a row differs from its mode with probability
0.02, so that a chain has to climb over some four nats a bit. All modes have the same weight, but for the unequal ones, with 8, 4, 2 and 1
of 15: contrastive divergence (cd), whose chains start at the data and hardly leave their mode, cannot see such weights. For MNIST and the digits of scikit-learn see [mixing](../mixing/README.md).`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return experiment().Command(nil)(ctx, args, stdout, stderr)
}

// experiment returns all figures.
func experiment() claims.Experiment {
	return claims.Experiment{
		Name:  "which-estimator",
		Title: "Which estimator of the negative phase?",
		Paper: "ours",
		About: about,
		Figures: []claims.Figure{
			race("map", "the best estimator by the distance of the modes and the computing time", "for which barrier and which budget does which estimator win?", clusters, true),
			race("sets", "bars and stripes, and digits of fonts", "what does an estimator gain or cost on bars and stripes, where chains do not mix, and on digits of fonts, where they do?", pictures, false),
		},
	}
}
