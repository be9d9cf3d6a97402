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

// samples are those of samples.png.
type samples struct {
	missing   string // why there are none; "" if there are
	drawn     sample.Sheet
	sheet     image.Image       // of data that are pictures
	columns   bool              // the data are no pictures
	rounds    int               // largest number of rounds of a chain
	classes   string            // a line where only some classes are drawn
	agreement *sample.Agreement // with their classes; nil without labels
	mixed     bool              // the chains have
	verdict   string            // on the samples, in words
	fromData  bool              // some come from chains that started at training rows
}

// drawSamples draws samples of m after these steps: some of each class, or without labels of
// the whole model. There are none if p(x) was not trained or if they would take too long. The
// run is in folder.
func drawSamples(ctx context.Context, m *rbm.RBM, set *data.Set, settings train.Settings, steps int, folder string, progress func(done float64)) (samples, error) {
	rounds, why := samplesRounds(m, settings, steps)
	switch {
	case settings.Objective == train.Discriminative:
		return samples{missing: "p(x) was not trained"}, nil
	case why != "":
		return samples{missing: fmt.Sprintf("%s; rbmsample -model %s draws them", why, folder)}, nil
	}
	var queries []sample.Query
	s := sample.Settings{Samples: samplesPerClass, Rounds: rounds}
	classes := drawnClasses(m)
	for _, y := range classes {
		if m.HasClass(y) {
			queries = append(queries, sample.Query{Class: y})
		}
	}
	switch {
	case !set.IsPicture():
		queries, s.Samples = []sample.Query{{Class: rbm.Free}}, columnsSamples
	case m.Classes() == 0:
		queries, s.Samples = []sample.Query{{Class: rbm.Free}}, 10*samplesPerClass
	}
	key := rbm.NewKey(settings.Seed).Child(samplesKey)
	drawn, err := sample.DrawEach(ctx, m, set, queries, s, key, progress)
	if err != nil {
		return samples{}, err
	}
	out := samples{drawn: drawn, rounds: rounds, mixed: drawn.Mixed(), verdict: drawn.Verdict(), fromData: drawn.FromData()}
	if rounds < min(mostSamplesRounds, steps) {
		out.verdict += fmt.Sprintf(" (after %d rounds; more would take too long here: rbmsample -model %s)", rounds, folder)
	}
	if out.columns = !set.IsPicture(); out.columns {
		return out, nil
	}
	if len(classes) < m.Classes() {
		out.classes = fmt.Sprintf("%d of %d classes are drawn; ", len(classes), m.Classes())
	}
	if set.Y != nil && !m.Real() { // rows are compared as bits
		out.agreement = sample.Compare(set, drawn.Means, drawn.Asked, drawn.Start, key).Classes
	}
	rows := drawn.Means
	var names []string
	if m.Classes() > 0 { // a class that a constraint makes impossible has an empty line
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

// describe says how many samples of a model with this number of classes are of their class, by the
// nearest training row, and whether their chains have mixed. With doubted there is a warning of the model.
func (s samples) describe(classes int, doubted bool) string {
	if s.missing != "" {
		return "no samples: " + s.missing
	}
	text := "samples: " + s.classes
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

// judgement says whether the chains have mixed. With doubted there is a warning of the model.
func (s samples) judgement(doubted bool) string {
	if s.mixed && doubted {
		return s.verdict + ", so they show the model of the warning"
	}
	return s.verdict
}

// samplesRounds returns how many rounds the chains of samples.png may take after a training of
// that many steps, or why there is to be no such picture.
func samplesRounds(m *rbm.RBM, s train.Settings, steps int) (rounds int, why string) {
	lines := len(drawnClasses(m))
	if lines == 0 {
		lines = 10
	}
	pictures := samplesPerClass * lines
	perRound := float64(pictures) * float64(m.Visible()) * float64(m.Hidden())
	round := float64(6 * pictures) // in the unit of work: two sets of chains down and up, and their checks
	if m.Constraint != nil {
		perRound *= constrainedRound
		steps /= 8 // a round takes some five times as long as a step
	}
	few := max(samplesFree/perRound, samplesShare*work(s, steps)/round)
	rounds = int(min(mostSamplesRounds, max(leastSamplesRounds, min(float64(steps), few))))
	switch {
	case pictures*m.Inputs() > plots.MaxValues:
		return 0, fmt.Sprintf("%d pictures of %d inputs are too large for a sheet", pictures, m.Inputs())
	case leastSamplesRounds*perRound > samplesWork:
		return 0, fmt.Sprintf("their chains would take too long with %d × %d units", m.Visible(), m.Hidden())
	}
	return int(min(float64(rounds), samplesWork/perRound)), ""
}

// work returns the work of that many training steps, as the number of rows that are multiplied by the
// weights. In a step these are the batch (up), the particles (down and up), and both in the ascent.
func work(s train.Settings, steps int) float64 {
	particles := max(s.Batch, s.Negative.Count("chains")) * s.Negative.Ladder().MaxTemperatures()
	return float64(steps) * float64(2*s.Batch+3*particles)
}

const (
	// mostSamplesRounds bounds the chains of samples.png: some seconds at 784 × 500
	// units and ten classes. After a short run the chains make at most as many rounds as the run
	// had steps, and at most the fraction samplesShare of its work, but at least leastSamplesRounds.
	mostSamplesRounds, leastSamplesRounds = 1024, 64
	samplesShare                          = 0.1
	// samplesWork bounds rounds · pictures · visible · hidden units, at three times the work for
	// 784 × 500 units. Chains of larger models have fewer rounds. samplesFree is work in the same
	// unit that takes a fraction of a second.
	samplesFree = 1 << 31
	samplesWork = 1 << 37
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
