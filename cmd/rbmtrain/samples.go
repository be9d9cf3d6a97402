package main

import (
	"context"
	"fmt"
	"image"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/train"
	"gorbm/train/plots"
)

// samples has the samples of the final model, for samples.png or the report.
type samples struct {
	missing   string // reason why there are none; "": there are samples
	drawn     sample.Sheet
	sheet     image.Image       // samples.png, if the data are pictures
	columns   bool              // the data are not pictures
	classes   string            // note if not all classes are drawn; "" otherwise
	any       bool              // samples of any class, because a line for each class would take too long
	agreement *sample.Agreement // agreement of samples with their classes; nil without labels
	mixed     bool              // the chains have mixed
	verdict   string            // whether the chains have mixed, in words
	fromData  bool              // some samples are from chains that started at training rows
}

// drawSamples draws samples of m after the given number of steps: some of each class, or of any class if
// there are no labels or the work for all classes would be too large. It draws none if p(x) was not trained
// or if samples would take too long. folder is the folder of the run.
func drawSamples(ctx context.Context, m *rbm.RBM, set *data.Set, settings train.Settings, steps int, folder string, progress func(done float64)) (samples, error) {
	if settings.Objective == train.Discriminative {
		return samples{missing: "p(x) was not trained"}, nil
	}
	queries, s, why := queriesOf(m, set.IsPicture(), settings, steps)
	if why != "" {
		return samples{missing: fmt.Sprintf("%s; %s draws them", why, sampleCommand(folder, set))}, nil
	}
	key := rbm.NewKey(settings.Seed).Child(samplesKey)
	drawn, err := sample.DrawEach(ctx, m, set, queries, s, key, progress)
	if err != nil {
		return samples{}, err
	}
	out := samples{drawn: drawn, mixed: drawn.Mixed(), verdict: cli.Mixed(drawn), fromData: drawn.FromData()}
	if !out.mixed && s.Rounds < min(mostSamplesRounds, steps) {
		out.verdict += fmt.Sprintf(" (after %d rounds, the limit in a run of %s; longer chains by: %s)", s.Rounds, cli.Count(steps, "step"), sampleCommand(folder, set))
	}
	if out.columns = !set.IsPicture(); out.columns {
		return out, nil
	}
	classes := drawnClasses(m)
	if out.any = m.Classes() > 0 && queries[0].Class == rbm.Free; out.any {
		classes = nil
		out.classes = fmt.Sprintf("%d of any class; ", s.Samples)
	} else if len(classes) < m.Classes() {
		out.classes = fmt.Sprintf("%d of %d classes are drawn; ", len(classes), m.Classes())
	}
	if set.Y != nil && !m.Real() && len(classes) > 0 { // rows are compared as bits
		out.agreement = sample.Compare(set, drawn.Means, drawn.Asked, drawn.Start, key).Classes
	}
	rows := drawn.Means
	var names []string
	if len(classes) > 0 { // a class that a constraint makes impossible has an empty line
		rows = rbm.NewMatrix(len(classes)*samplesPerClass, m.Inputs())
		for i, y := range drawn.Asked {
			copy(rows.Row(slices.Index(classes, int(y))*samplesPerClass+i%samplesPerClass), drawn.Means.Row(i))
		}
		for _, y := range classes {
			names = append(names, set.Classes[y])
		}
	}
	tiles := plots.Tiles(rows, set.Height, set.Width, samplesPerClass, plots.InkOf(m))
	out.sheet, err = plots.Caption(tiles, names, out.classes+cli.SamplesCaption(drawn, out.agreement))
	return out, err
}

// sampleCommand returns the command line that draws samples of a model trained on set. The samples are a
// picture, a file of sequences or a table, as the rows of set are.
func sampleCommand(model string, set *data.Set) string {
	file := "samples.csv"
	switch {
	case set.IsPicture() && max(10, len(set.Classes))*samplesPerClass*set.X.Cols <= plots.MaxValues:
		file = "samples.png"
	case set.Schema != nil && set.Schema.Alphabet != "":
		file = "samples.fasta"
	}
	return fmt.Sprintf("rbmsample -model %s -out %s", model, file)
}

// describe returns a line about the samples: how many have their nearest training row in their class, and
// whether their chains have mixed. doubted is set if there is a warning about the model.
func (s samples) describe(classes int, doubted bool) string {
	if s.missing != "" {
		return "no samples: " + s.missing
	}
	text := "samples: " + s.classes
	if s.any {
		classes = 0
	}
	if s.columns {
		classes = 0
		text += fmt.Sprintf("%d rows; ", s.drawn.Means.Rows)
	}
	if a := s.agreement; a != nil {
		text = s.classes + fmt.Sprintf("of %d samples, %d are nearest to a row of their class (of training rows, %d)", a.Of, a.Same, a.Rows)
		if a.Leave() {
			text += ": samples leave their classes"
		}
		text += "; "
	} else if classes > 0 {
		text += "not counted by class, as training rows of different classes lie too near to each other; "
	}
	text += s.judgement(doubted)
	if !s.mixed && s.fromData {
		text += " (so the samples are from chains that started at training rows)"
	}
	return text
}

// judgement describes whether the chains have mixed. doubted is as in describe.
func (s samples) judgement(doubted bool) string {
	if s.mixed && doubted {
		return s.verdict + ", so they show the model of the warning"
	}
	return s.verdict
}

// queriesOf returns the queries and settings of the samples after a run of the given number of steps. There is a
// query for each class, or one query for any class if all classes would take too long. why is the reason if
// there are no queries.
func queriesOf(m *rbm.RBM, picture bool, s train.Settings, steps int) (queries []sample.Query, to sample.Settings, why string) {
	for _, y := range drawnClasses(m) {
		if m.HasClass(y) {
			queries = append(queries, sample.Query{Class: y})
		}
	}
	to.Samples = samplesPerClass
	any := []sample.Query{{Class: rbm.Free}}
	switch {
	case !picture:
		queries, to.Samples = any, columnsSamples
	case m.Classes() == 0:
		queries, to.Samples = any, 10*samplesPerClass
	}
	if pictures := len(queries) * to.Samples; pictures*m.Inputs() > plots.MaxValues {
		return nil, to, fmt.Sprintf("%d samples of %d inputs are too large for a sheet", pictures, m.Inputs())
	}
	weights := m.Visible() * m.Hidden()
	may := samplesFree + float64(samplesShare*s.Work(steps, m.Visible(), m.Hidden()))
	if m.Constraint != nil {
		may /= constrainedRound
	}
	rounds := func() float64 {
		chains := len(queries) * 2 * sample.Defaults("pcd", to.Samples).Count("chains")
		return may / chainRounds(chains, weights)
	}
	if few := rounds(); few < leastSamplesRounds && picture {
		queries, to.Samples = any, samplesPerClass
	}
	if rounds() < leastSamplesRounds {
		return nil, to, fmt.Sprintf("their chains would take too long for so short a run with %d × %d units", m.Visible(), m.Hidden())
	}
	to.Rounds = int(min(mostSamplesRounds, rounds(), max(leastSamplesRounds, float64(steps))))
	return queries, to, ""
}

// chainRounds returns the work of rounds of chains of a model with the given number of weights, including the
// tests whether the chains have mixed.
func chainRounds(rounds, weights int) float64 {
	return float64(rounds) * max(passes(chainRows, weights), testedRound)
}

const (
	// Chains have as many rounds as the run has steps, or as the work for samples allows, within these bounds.
	mostSamplesRounds, leastSamplesRounds = 1024, 32
	// chainRows is the work of a round of a chain, divided by the work of a row in passes. The chain goes
	// down and up, few chains run together, and the free energy of each is computed.
	chainRows = 10
	// testedRound is the least work of a round of a chain. In small models the tests whether the chains have
	// mixed are most of this work.
	testedRound = 4e5
	// constrainedRound is the time of a round with a constraint, divided by the time of a round without: with
	// a constraint the hidden units of each chain need a recursion. Ratios were ten to twenty.
	constrainedRound = 16
	// samplesKey derives the random stream of the samples from the seed.
	samplesKey = 1 << 33
)

const (
	// samplesPerClass is the number of samples in a line of samples.png, which has a
	// line for each drawn class.
	samplesPerClass = 10
	// mostDrawn is the largest number of drawn classes.
	mostDrawn = 40
)

// drawnClasses returns the classes that samples.png shows: all of them, or mostDrawn
// evenly spaced ones.
func drawnClasses(m *rbm.RBM) []int {
	classes := make([]int, min(m.Classes(), mostDrawn))
	for i := range classes {
		classes[i] = i * m.Classes() / len(classes)
	}
	return classes
}
