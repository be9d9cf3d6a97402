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
same model from the same start with the same batches of 20 rows, rate 0.05 and centring, which are not tuned to an estimator. (A sweep over batches of 5, 20 and 100 and rates of 0.01, 0.05 and 0.2, removed since, had the same winners.)
"Below the truth" is the mean over 1000 rows of log p of the distribution that the data were drawn from less that of the
model, in nats: 0 is a perfect model. Where that distribution is unknown, numbers are minus the log-likelihood of 1000 rows of the data. It is exact but for
the large models, which have a bracket.

Modes of data are codes of bits, each repeated as often as the distance says; a bit of a row differs from its mode with probability
0.02, so that a chain has to climb over some four nats a bit. All modes have the same weight, except for the unequal ones, with 8, 4, 2 and 1
of 15: contrastive divergence (cd), whose chains start at the data and hardly leave their mode, cannot see such weights. "pcd, as many chains as pt" has
ten for each temperature that the tuned ladder of pt comes to have: 100 for some 10 temperatures (6 to 12 were seen), on digits of fonts 350, on MNIST 0/1 400 and on
MNIST 430. The ladder of the paper, ten of each of five temperatures, has as many chains as "pcd".
Where chains of pcd are said to mix, on digits of fonts and MNIST, it is asked whether an estimator loses to pcd, and elsewhere whether it wins.
See [mixing](../mixing/README.md) for warnings of runs whose chains do not mix. The figure hidden compares hidden layers in place of
estimators, each at a rate of its own.`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := &files{}
	return experiment(p).Command(p.flags)(ctx, args, stdout, stderr)
}

// experiment returns all figures.
func experiment(p *files) claims.Experiment {
	moments := []float64{1. / 16, 1. / 8, 1. / 4, 1. / 2, 1}
	return claims.Experiment{
		Name:  "which-estimator",
		Title: "Which estimator of the negative phase?",
		Paper: "ours",
		About: about,
		Figures: []claims.Figure{
			contest{
				name: "map", title: "the best estimator by the distance of the modes and the computing time",
				says:       "for which barrier and which budget does which estimator win?",
				estimators: estimators, problems: clusters, seconds: 1, moments: moments, chart: true, notes: func(*claims.Table) string { return "\n" + cells },
			}.figure(p),
			contest{
				name: "sets", title: "bars and stripes, four far modes, and digits", flags: "-digits FILE",
				says:       "what does an estimator gain on data whose modes chains of pcd are said not to cross, and cost on digits of fonts, where they do well?",
				estimators: estimators, problems: pictures, seconds: 1, moments: moments,
			}.figure(p),
			contest{
				name: "large", title: "MNIST with 100 hidden units, log Z in a bracket",
				says:       "what does an estimator cost on data of practice, where chains of pcd do well?",
				estimators: estimators, problems: larges, seconds: largeSeconds, moments: []float64{1. / 4, 1}, apart: true, short: shortened, notes: brackets,
			}.figure(p),
			gaussianFigure(),
			contest{
				name: "informed", title: "locally balanced proposals as negative phases", says: "do the samplers of experiments/informed train an RBM as well as persistent chains of block Gibbs?",
				estimators: proposals(), problems: briefly(modes(4, 4), modes(4, 16), bars, fonts), seconds: 0.5, moments: []float64{1. / 8, 1. / 4, 1. / 2, 1}, notes: func(*claims.Table) string { return whyProposals },
			}.figure(p),
			hiddenFigure(p),
		},
	}
}
