package main

import (
	"context"
	"fmt"
	"image"
	"slices"

	"gorbm/data"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/train"
	"gorbm/train/plots"
)

// samples holds the samples of samples.png.
type samples struct {
	missing   string // why there are none; "" if there are
	drawn     sample.Sheet
	sheet     image.Image       // of data that are pictures
	columns   bool              // the data are no pictures
	rounds    int               // largest number of rounds of a chain
	classes   string            // a line where only some classes are drawn, or any
	any       bool              // of any class, not some of each
	agreement *sample.Agreement // with their classes; nil without labels
	mixed     bool              // the chains have
	verdict   string            // on the samples, in words
	fromData  bool              // some come from chains that started at training rows
}

// drawSamples draws samples of m after these steps: some of each class, or of the whole model
// without labels and where the budget does not reach for a line of each. There are none if p(x) was
// not trained or if they would take too long. The run is in folder.
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
	out := samples{drawn: drawn, rounds: s.Rounds, mixed: drawn.Mixed(), verdict: drawn.Verdict(), fromData: drawn.FromData()}
	if !out.mixed && s.Rounds < min(mostSamplesRounds, steps) {
		out.verdict += fmt.Sprintf(" (after %d rounds; more would take too long here: %s)", s.Rounds, sampleCommand(folder, set))
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
	out.sheet, err = plots.Caption(tiles, names, out.classes+drawn.Caption(out.agreement))
	return out, err
}

// sampleCommand returns the command that draws samples of a model of rows like those of set: a sheet of pictures that it has
// room for, letters of sequences, or rows.
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

// describe says how many samples of a model with this number of classes are of their class, by the
// nearest training row, and whether their chains have mixed. With doubted there is a warning of the model.
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
		text += " (so they are of chains that started at training rows)"
	}
	return text
}

// judgement says whether the chains have mixed. doubted is set if there is a warning about the model.
func (s samples) judgement(doubted bool) string {
	if s.mixed && doubted {
		return s.verdict + ", so they show the model of the warning"
	}
	return s.verdict
}

// queriesOf returns what samples.png is to show after a training of that many steps, or why there is to
// be no such picture: a line for each class, or one of any class where the work that samples may take is
// too small for all of them.
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
	may := samplesFree + float64(samplesShare*work(s, steps, weights))
	if m.Constraint != nil {
		may /= constrainedRound
	}
	rounds := func() float64 {
		return may / passes(chainRows*len(queries)*2*sample.Defaults("pcd", to.Samples).Count("chains"), weights)
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

const (
	// Chains of samples.png are as long as the run, or as their work allows, within these bounds.
	mostSamplesRounds, leastSamplesRounds = 1024, 32
	// chainRows is what a round of a chain takes, in rows: a few chains at a time go down and up, and their
	// free energies are taken.
	chainRows = 10
	// constrainedRound is what a round takes under a constraint, where the hidden units
	// of each chain take a recursion: some ten to twenty times as long.
	constrainedRound = 16
	// samplesKey is the purpose of their key.
	samplesKey = 1 << 33
)

const (
	// samplesPerClass is the number of samples in a line of samples.png. There is
	// a line for each class, or for mostDrawn of many.
	samplesPerClass = 10
	// mostDrawn is the number of lines that a page has room for.
	mostDrawn = 40
)

// drawnClasses returns the classes that samples.png shows: all, or mostDrawn of them,
// evenly spread.
func drawnClasses(m *rbm.RBM) []int {
	classes := make([]int, min(m.Classes(), mostDrawn))
	for i := range classes {
		classes[i] = i * m.Classes() / len(classes)
	}
	return classes
}
