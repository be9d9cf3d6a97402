// Which-estimator trains the same RBM by every estimator of the negative phase for equal
// computing time, and compares the models.
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

const about = `Each estimator of the negative phase has the same computing time on one core. Only updates count. All estimators train the same
model from the same start, with the same batches of 20 rows, at rate 0.05 and with centring. These settings are not tuned to an estimator. (An earlier
sweep over batches of 5, 20 and 100 and rates of 0.01, 0.05 and 0.2 had the same winners; it was removed.) "Below the truth" is the mean over 1000 rows
of log p under the distribution of the data minus that under the model, in nats: 0 is a perfect model. If that distribution is unknown, numbers are minus
the mean log-likelihood of 1000 rows of the data. Log-likelihoods are exact, except for those of the large models, which have a bracket.

Data sets named by modes and a distance d have modes that are codes of bits. Each bit is repeated d times, so that the nearest modes differ in d bits. A bit of
a row differs from its mode with probability 0.02, so a chain has to climb some four nats for each bit on its way to another mode. All modes have the same
weight, except for the unequal ones, whose weights are 8, 4, 2 and 1 of 15. Contrastive divergence (cd) does not learn such weights, because its chains start at
the data and hardly leave their mode.

"pcd, as many chains as pt" has ten chains for each temperature of the tuned ladder of pt: 100 chains for some 10 temperatures (6 to 12 were seen), 350 on
digits of fonts, 400 on MNIST 0/1 and 430 on MNIST. "pt, ladder of the paper" has ten chains at each of five temperatures, as many chains as "pcd". On digits of
fonts and MNIST the chains of pcd mix; there the claim is that an estimator is not worse than pcd, and on other data that it is better. See
[mixing](../mixing/README.md) for warnings of runs whose chains do not mix.

Two figures were removed with their programs, which commit cc149625 has.

- Estimators whose chains move by locally balanced proposals (path auxiliary samplers, DMALA, DLMC), in half a second: they were better than pcd on at
most 1 of 4 data sets, the corrected paths on bars, and worse on 2 to 4. A proposal computes the weights of all units for a few tens of flips.
- Hidden layers of dReLU units and of bits, trained by pcd for 4 s on 20000 sequences of a known Potts model, each at its best rate. The error is
‖C − C'‖/‖C'‖, where C are the connected correlations between sites in contact in 1000 samples, and C' those in 10000 other rows of the family. Means
± standard deviations over three seeds:

| hidden layer | rate | updates | error |
| --- | --- | --- | --- |
| 50 dReLU units | 0.2 | 949 ± 26 | 0.473 ± 0.010 |
| 50 bits | 0.8 | 4895 ± 169 | 0.445 ± 0.000 |
| 200 bits | 1.6 | 2429 ± 62 | 0.356 ± 0.004 |
| draws of the family | – | – | 0.329 ± 0.006 |`

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
				says:       "which estimator is best at which distance of the modes and which computing time?",
				estimators: estimators, problems: clusters, seconds: 1, moments: moments, chart: true, notes: func(*claims.Table) string { return "\n" + cells },
			}.figure(p),
			contest{
				name: "sets", title: "bars and stripes, four far modes, and digits", flags: "-digits FILE",
				says:       "what does an estimator gain on data where chains of pcd do not move between the modes, and lose on digits of fonts, where chains of pcd mix?",
				estimators: estimators, problems: pictures, seconds: 1, moments: moments,
			}.figure(p),
			contest{
				name: "large", title: "MNIST with 100 hidden units, log Z in a bracket",
				says:       "what does an estimator lose on MNIST, where chains of pcd mix?",
				estimators: estimators, problems: larges, seconds: largeSeconds, moments: []float64{1. / 4, 1}, apart: true, quick: quickLarge, notes: brackets,
			}.figure(p),
			gaussianFigure(),
		},
	}
}
