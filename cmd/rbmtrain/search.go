package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/train"
)

// tuneWork is the number of multiply-adds of -tune 1, some 30 s of one core with AVX-512.
const tuneWork = 60 * freeWork

// maxTune is the largest -tune, some eight hours of one core.
const maxTune = 1000

// A tuning is what the trials of a run chose.
type tuning struct {
	best   train.Candidate
	trials []train.Candidate
	held   int    // number of rows that judged the trials
	left   string // why there were no trials though the data are a file; ""
}

const (
	// Trials are judged on a tenth of the rows, but at least on leastJudges if those are at most a third.
	leastJudges = 100
	// fewestRows is the smallest number of rows for trials.
	fewestRows = 50
)

// tune chooses -hidden, -rate, -l2 and -steps by trials, as far as they are not given, and sets the flags. Without
// -tune it does so only for data whose distribution is unknown, and if no flag names a recipe or the length of
// the run. A resumed run has what its trials chose in config.json.
func (o *options) tune(ctx context.Context, sets train.Sets) error {
	given := o.flags.Given
	fixed := given("steps") || given("epochs") || given("stop-after") || given("preset") || given("init")
	file := sets.Train.LogProb == nil && sets.Train.Len() >= fewestRows
	impossible := o.constraint != "" || o.realHidden()
	if given("resume") || o.inArray || o.tuneFactor == 0 || !given("tune") && (fixed || !file || impossible) {
		return nil
	}
	if impossible {
		return cli.Usagef("-tune has no trials for -constraint and for -hidden-units other than bernoulli; leave one of them out")
	}
	if o.init != "" && !slices.Contains(train.Starts, o.init) {
		return cli.Usagef("-tune begins trials at new models; it cannot go with -init %s", o.init)
	}
	settings, steps, err := o.fit(sets.Train)
	if err != nil {
		return err
	}
	label, err := o.label(sets.Train)
	if err != nil {
		return err
	}
	s := train.Search{Train: sets.Train, Held: sets.Holdout, Base: settings, Work: o.tuneFactor * tuneWork,
		Hidden: []int{o.hidden}, Rates: []float64{settings.Rate}, L2: []float64{settings.L2}, Steps: steps, MostSteps: steps, MostHidden: train.MostHidden,
		Known:    &train.Candidate{Hidden: o.hidden, Rate: settings.Rate, L2: settings.L2, Steps: steps},
		NewModel: func(hidden int) *rbm.RBM { return o.newModel(sets.Train, hidden, label) }}
	if s.Held == nil {
		n := sets.Train.Len()
		if s.Train, s.Held, err = sets.Train.Split(float64(max(n/10, min(leastJudges, n/3))), data.HoldoutKey(settings.Seed)); err != nil {
			return err
		}
	}
	if !given("hidden") {
		s.Hidden = append(s.Hidden, max(1, o.hidden/4))
	}
	if !given("rate") {
		s.Rates = append(s.Rates, settings.Rate/4)
	}
	if !given("l2") {
		s.L2 = []float64{2e-4, 5e-3}
	}
	if !given("steps") && !given("epochs") {
		s.Steps, s.MostSteps = max(shortTrial, steps/8), train.MaxSteps
	}
	o.tuned = &tuning{held: s.Held.Len()}
	if first := s.FirstWork(); !given("tune") && first > s.Work/2 {
		enough := math.Ceil(4 * first / tuneWork)
		o.tuned.left = fmt.Sprintf("no trials choose -hidden, -rate, -l2 and -steps, as they would take some %.2g s of a core; do them by -tune %.2g", 30*enough, enough)
		if _, err := os.Stat(sets.Train.Name); err != nil { // the presets were chosen for named data, such as mnist
			o.tuned = nil
		}
		return nil
	}
	if o.dryRun {
		o.tuned.left = fmt.Sprintf("the run will choose -hidden, -rate, -l2 and -steps by trials, for some %.2g s of one core; -tune 0 leaves them to the preset", 30*o.tuneFactor)
		return nil
	}
	bar := o.flags.NewProgress("choosing length, width and decay", "‰", 1000)
	defer bar.Done()
	s.Progress = func(spent float64, trials int, best train.Candidate) {
		bar.Set(int64(1000*spent), fmt.Sprintf("trial %d, best %.5g nats", trials, float64(best.Score)))
	}
	if o.tuned.best, o.tuned.trials, err = s.Run(ctx); err != nil {
		return err
	}
	b := o.tuned.best
	for flag, value := range map[string]any{"hidden": b.Hidden, "rate": b.Rate, "l2": b.L2, "steps": b.Steps} {
		if !given(flag) && !(flag == "steps" && given("epochs")) {
			o.chosen.Flags[flag] = fmt.Sprint(value)
		}
	}
	if err := o.applyChoice(o.chosen); err != nil {
		return err
	}
	return o.checkSettings()
}

// shortTrial is the length of the first trials, unless an eighth of the preset's length is longer.
const shortTrial = 1000

// chose reports whether trials chose the settings of the run.
func (t *tuning) chose() bool { return t != nil && t.trials != nil }

// String says what the trials chose.
func (t *tuning) String() string {
	if t.left != "" {
		return t.left
	}
	first := t.trials[0]
	return fmt.Sprintf("chosen by %s on %s held out: %d hidden units, %d steps, rate %v, l2 %v (%.5g nats; the first trial, with %d units and %d steps at rate %v, had %.5g); -tune 0 leaves them to the preset",
		cli.Count(len(t.trials), "trial"), cli.Count(t.held, "row"), t.best.Hidden, t.best.Steps, t.best.Rate, t.best.L2, float64(t.best.Score), first.Hidden, first.Steps, first.Rate, float64(first.Score))
}
