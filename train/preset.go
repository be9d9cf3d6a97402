package train

import (
	"cmp"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
)

// A Preset is a set of values that were tuned together for a kind of data. Settings returns the settings of
// training, and NewModel the model to start from.
type Preset struct {
	Name   string
	For    string // the data that it suits
	Expect string // what it reaches

	Common       Settings // all but Seed and Negative; Horizon is the number of steps
	Hidden       int      // number of hidden units; 0: two per input, at most MostHidden
	RealRate     float64  // learning rate for real numbers; 0: that of Common
	Passes       int      // largest number of passes over the rows; 0: no bound. See Fit
	LeastSteps   int      // smallest number of steps to which Passes may cut a run; 0: 1000
	Groups       int      // number of groups of chains, for estimators with a ladder of temperatures
	Chains       int      // number of chains, for other estimators
	Temperatures string   // temperatures of a ladder, in the syntax of rbmtrain -temperatures
	Init         string   // one of Starts; "" for random
	Labels       rbm.Kind // kind of the label units of a model with labels
	Negative     string   // kind of the negative phase; "": the caller chooses
	Binarize     string   // of data.Options; "" for its default
}

// ManyInputs is the number of inputs below which the preset small applies.
const ManyInputs = 100

// MostHidden is the number of hidden units of presets for many inputs, as in the MNIST experiment of the
// infinite-swapping paper (section 4.5). Presets for few inputs have two hidden units per input. With 500
// units, the chains of ins lag behind models of bars:4, shifter and desjardins. With two units per input
// the log-likelihood ends within 0.15 nats of the best of 8 to 500 units. On digits of 64 pixels, models of
// 128 units err no more often than models of 500.
const MostHidden = 500

// Presets returns all presets, the default first. The values of the first three presets were found by
// trials on MNIST, font digits and four toys, at equal time. experiments/defaults measures what these
// presets reach, and experiments/objectives what the next two reach.
func Presets() []Preset {
	classifier := Preset{
		Name: "classifier", For: fmt.Sprintf("data with labels (the default from %d inputs on)", ManyInputs),
		Expect: "MNIST, 500 hidden units: 2.85 % test error after 23 s of one core, 2.46 % with -steps 160000 (74 s)",
		Common: Settings{Rate: 0.1, Schedule: "linear", Horizon: 48000, Batch: 20},
		Hidden: MostHidden, Passes: 50, Groups: 10, Chains: 50, // as many chains as the ladders have particles
		Temperatures: "reach:5", Init: "log-odds", Labels: rbm.Softmax,
	}
	// The preset generative has fewer steps, more rows in a batch, more chains and a centred gradient. On
	// MNIST, at equal time, it is better than the classifier's values at rate 0.05 by five nats with pcd
	// and by twelve with ins. The ladders of such models exchange, so that log Z can be estimated.
	generative := classifier
	generative.Name, generative.For = "generative", fmt.Sprintf("data without labels (the default from %d inputs on)", ManyInputs)
	generative.Expect = "thresholded MNIST, 500 hidden units: test log-likelihood -69.9 nats with ins, -70.2 with pcd, after 18 s of one core; -67.7 with ins and -steps 31000 (55 s)"
	generative.Common = Settings{Rate: 0.2, Schedule: "cosine", Horizon: 10000, Batch: 50, Center: 0.01}
	generative.Groups, generative.Chains, generative.Init = 40, 200, "sparse"

	small := classifier
	small.Name, small.For = "small", fmt.Sprintf("rows of fewer than %d inputs, with or without labels (the default for such data)", ManyInputs)
	small.Hidden, small.Passes = 0, 200
	small.Expect = "bars:4, 16 hidden units: exact log-likelihood -3.42 nats after 1 s, where the distribution of the data has -3.38"

	gaussian := generative
	gaussian.Name, gaussian.For = "gaussian", "real numbers, in Gaussian visible units (the default for such data)"
	gaussian.Expect = "wine of scikit-learn, 13 columns, 16 hidden units, pcd, 10000 steps: exact test log-likelihood -20.85 nats over five splits, -18.97 with -units gaussian:precision=learned, where a Gaussian of full covariance has -19.54"
	gaussian.Common.Rate, gaussian.Common.Horizon, gaussian.Init = 0.02, 20000, "log-odds"
	gaussian.Hidden, gaussian.LeastSteps = 0, leastRealSteps

	discriminative := Preset{
		Name: "discriminative", For: "classification alone: maximises log p(y|x), without sampling",
		Expect: "MNIST, 500 hidden units, -holdout 10000 -eval-every 5000: 1.90 % test error after 40 s of one core",
		Common: Settings{Objective: Discriminative, Rate: 0.3, Schedule: "constant", Average: 0.9998, Horizon: 150000, Batch: 10},
		Hidden: classifier.Hidden, Passes: classifier.Passes, Groups: classifier.Groups, Chains: classifier.Chains, Temperatures: classifier.Temperatures,
		Init: "random", Labels: rbm.Softmax, Binarize: data.None,
	}
	hybrid := discriminative
	hybrid.Name, hybrid.For = "hybrid", "the lowest error: maximises log p(y|x) + 0.01 log p(x,y), with sparse hidden units"
	hybrid.Expect = "MNIST, 3000 hidden units, -holdout 10000 -eval-every 5000: 1.29 % test error after 805 s of one core"
	hybrid.Negative, hybrid.Common.Objective, hybrid.Common.Alpha = "cd", Hybrid, 0.01
	hybrid.Common.Rate, hybrid.Common.Sparse = 0.4, 1e-5
	// On 1200 rows of 8 standardised columns in three classes, rate 0.4 diverges within 200 steps, and 0.2
	// has a larger error than rates from 0.1 to 0.02.
	hybrid.RealRate = 0.04

	return []Preset{classifier, generative, small, discriminative, hybrid, gaussian, {
		Name: "ins-paper", For: "the figures of the infinite-swapping paper (Hult, Nyquist & Ringqvist 2020, sections 4.2 and 4.5)",
		Expect: "built-in digits, 500 hidden units: 8.5 % test error after some 10 s; it is this high because chains at neighbouring temperatures hardly ever swap",
		Common: PaperSettings(""), Hidden: MostHidden, Groups: 10, Chains: 10, Temperatures: "1,2,3,4,5", Init: "random", Labels: rbm.Bernoulli,
	}}
}

// PresetFor returns the preset that rbmtrain uses for set by default, after Fit. It depends on the kind and
// the number of inputs, and on labelled: whether the model has labels. labelled is ignored if set has no
// labels.
func PresetFor(set *data.Set, labelled bool) Preset {
	all := Presets()
	p := all[0]
	switch {
	case set.Means != nil:
		p = all[5]
	case set.X.Cols < ManyInputs:
		p = all[2]
	case set.Y == nil || !labelled:
		p = all[1]
	}
	return p.Fit(set)
}

// leastSteps is the smallest number of steps to which Fit cuts a preset. leastRealSteps is this number for
// the preset gaussian, whose rate is low. After 1000, 3000 and 10000 steps the reconstruction error of test
// rows is 0.423, 0.359 and 0.328 on breast cancer (426 training rows) and 0.655, 0.585 and 0.539 on wine
// (133 training rows). Both data sets are scikit-learn's.
const (
	leastSteps     = 1000
	leastRealSteps = 10000
)

// sequencePasses bounds the passes over sequences. On the 10000 rows of -data sequences, the
// pseudo-log-likelihood of test rows is best after 15 passes of pcd with 500 hidden units (−131.5 nats),
// and after 20 passes with 200 units (−131.9). After 50 passes both numbers of units have −133.6. A
// schedule that ends after 20 passes gives −131.5 with 500 units.
const sequencePasses = 20

// numberRate is the learning rate of the preset gaussian for tables, whose Gaussian units have learned
// precisions. On 1000 test rows of survey (experiments/sweeps/table.py) the log-likelihood after 8000 steps
// is −13.65 nats at 0.02, and −13.38 at 0.05; the distribution of the data has −13.17. With precisions
// fixed at 1 it is −14.61. At 0.1, columns with heavy tails diverge.
const numberRate = 0.05

// Fit returns the preset adapted to the rows of set.
//
// A batch has at most all rows. A preset without a number of hidden units gets two for each input, at most
// MostHidden. That number does not depend on the number of rows. On 500 rows of MNIST, models of 50 or 100
// units err as often as models of 500, or more often. For sequences:1000, the pseudo-log-likelihoods of
// test rows after 1000 steps of pcd lie between −145.4 and −144.4 nats with 60, 120, 200 and 500 units.
//
// Over many passes, a model memorises a small set of rows. With 500 rows of MNIST the test error is flat
// after 32 passes, and the pseudo-likelihood of test rows is best after 48; with 1437 digits of 64 pixels
// it is best after 120. So there are at most Passes passes, but at least LeastSteps steps. Sequences have
// few rows for their number of states, and at most sequencePasses passes. All other sets whose distribution
// is known have no bound, because their rows represent the distribution well.
//
// Real numbers have the rate RealRate. In tables with numbers, the precisions of Gaussian units are
// learned.
func (p Preset) Fit(set *data.Set) Preset {
	p.Common.Batch = min(p.Common.Batch, set.Len())
	if p.Hidden == 0 {
		p.Hidden = min(2*set.X.Cols, MostHidden)
	}
	if set.Means != nil && p.RealRate > 0 {
		p.Common.Rate = p.RealRate
	}
	passes := p.Passes
	if set.Schema != nil && set.Schema.Numbers() && p.Common.Objective == "" {
		p.Common.LearnPrecision = true
		if p.Name == "gaussian" {
			p.Common.Rate = numberRate
		}
	}
	if set.Schema != nil && set.Schema.Alphabet != "" {
		passes = min(passes, sequencePasses)
	} else if set.LogProb != nil {
		passes = 0
	}
	if passes > 0 {
		p = p.Over(min(p.Common.Horizon, max(cmp.Or(p.LeastSteps, leastSteps), passes*set.Len()/max(1, p.Common.Batch))))
	}
	return p
}

// Over returns the preset for a run of the given number of steps. Its schedule ends there, and its moving
// average covers the same fraction of the run.
func (p Preset) Over(steps int) Preset {
	p.Common = p.Common.over(steps)
	return p
}

// over returns s for a run of the given number of steps: see Preset.Over.
func (s Settings) over(steps int) Settings {
	if a := s.Average; a > 0 {
		s.Average = max(0, math.Round((1-(1-a)*float64(s.Horizon)/float64(steps))*1e6)/1e6)
	}
	s.Horizon = steps
	return s
}

// RealHidden returns the preset for real hidden units. Their states have no bound, so the rate is a tenth
// of the preset's, as in PGM, the code of Tubiana, Cocco and Monasson (eLife 2019).
// The start "sparse" lowers the biases of bits, and becomes "log-odds".
func (p Preset) RealHidden() Preset {
	p.Common.Rate, p.RealRate = p.Common.Rate/10, p.RealRate/10
	if p.Init == "sparse" {
		p.Init = "log-odds"
	}
	return p
}

// Settings returns the settings of training with the given kind of negative phase, and seed 1. Run as many
// steps as Horizon says, because the schedule ends there.
func (p Preset) Settings(negative string) Settings {
	s := p.Common
	s.Seed, s.Negative = 1, negphase.DefaultSettings(negative)
	chains, ladder := p.Chains, negphase.Has(negative, "tau")
	if ladder {
		chains = p.Groups
	}
	set := func(key string, value any) {
		if err := s.Negative.Set(key, value); err != nil {
			panic(err) // train and negphase disagree about the keys of settings
		}
	}
	if negphase.Has(negative, "chains") {
		set("chains", chains)
	}
	if ladder {
		set("tau", p.Temperatures)
	}
	return s
}

// NewModel returns the model to start from: the result of the function NewModel, with biases from
// SetBiases. labelled adds label units, and is ignored if set has no labels.
func (p Preset) NewModel(set *data.Set, hidden int, labelled bool, seed uint64) *rbm.RBM {
	m := NewModel(set, hidden, labelled && set.Y != nil, p.Labels, seed)
	SetBiases(m, set, p.Init)
	return m
}

// DefaultSettings returns the settings of the first preset, which is for images with labels, with the given
// kind of negative phase. PresetFor chooses a preset for given data.
func DefaultSettings(negative string) Settings { return Presets()[0].Settings(negative) }

// PaperSettings returns the settings of the infinite-swapping paper (sections 4.2.1 and 4.2.4) with the
// given negative phase: rate 0.1, batches of 10, ten chains, 10000 steps. The paper's temperatures, 1 to 5,
// are too far apart to exchange on images.
func PaperSettings(negative string) Settings {
	return Settings{Rate: 0.1, Schedule: "constant", Horizon: 10000, Batch: 10, Seed: 1, Negative: negphase.DefaultSettings(negative)}
}
