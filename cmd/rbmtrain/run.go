package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/ranks"
	"gorbm/train"
	"gorbm/train/plots"
	"gorbm/train/rundir"
)

// run trains and writes the folder.
func (p *plan) run(ctx context.Context, trainer *train.Trainer) (err error) {
	for _, w := range []string{p.samplerWarning, p.unusedNegative()} {
		if w != "" && !p.flags.JSON {
			p.flags.Warn(w)
		}
	}
	if p.dryRun {
		return p.rehearse(trainer.Hash())
	}
	r := &runner{plan: p, trainer: trainer, begin: time.Now()}
	defer r.close()
	if err := r.handOut(r.open()); err != nil {
		return err
	}
	defer func() {
		if r.trains() && !r.joined { // as in an array, where another run comes next
			r.trainer.Leave(r.steps)
		}
	}()
	if !p.flags.JSON && !p.flags.Quiet {
		fmt.Fprintln(p.flags.Stdout, p.describe())
	}
	if p.cpuprofile != "" {
		stop, err := profile(p.cpuprofile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	if r.trains() {
		err = r.train(ctx)
	}
	interrupted := errors.Is(err, context.Canceled) || errors.Is(err, train.ErrStopped)
	if err != nil && !interrupted {
		return err
	}
	// The model is kept even if the run was interrupted.
	if e := r.write(ctx); e != nil {
		return errors.Join(err, e)
	}
	if interrupted {
		return fmt.Errorf("stopped after step %d of %d; go on by: rbmtrain %s", trainer.Steps(), p.steps, r.resumption())
	}
	if r.final, err = r.evaluator.Final(ctx, trainer.Model(), trainer.Steps()); err == nil {
		err = r.draw(ctx)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New(r.lost())
	}
	if err != nil {
		return fmt.Errorf("%w; finish by: rbmtrain %s", err, r.resumption())
	}
	if err := r.dropPrevious(); err != nil {
		return err
	}
	if r.standing, r.withdrawn, err = r.health.Final(ctx, r.evaluator); err != nil {
		return fmt.Errorf("%w; finish by: rbmtrain %s", err, r.resumption())
	}
	return r.print()
}

// resumption returns the flags that continue the run to the same end. The
// number of steps is in config.json, unless -steps came with -resume.
func (r *runner) resumption() string {
	flags := "-resume " + r.folder.Dir
	if r.extended {
		flags += " -steps " + strconv.Itoa(r.steps)
	}
	return flags
}

// rehearse is -dry-run: it prints what would run.
func (p *plan) rehearse(hash string) error {
	if p.out != "" {
		if _, err := rundir.Check(p.out, p.force); err != nil {
			return err
		}
	}
	c := p.config(hash)
	var err error
	if c.Forecast, err = p.tryout(); err != nil {
		return err
	}
	return p.flags.Print(c, func(w io.Writer) error {
		fmt.Fprintln(w, p.describe())
		c.Forecast.write(w)
		return nil
	})
}

// A runner is a run under way.
type runner struct {
	*plan
	trainer   *train.Trainer
	evaluator *train.Evaluator
	health    *train.Health
	folder    *rundir.Folder
	table     *rundir.Table
	pairs     *rundir.Table // ladder.csv; nil without a ladder
	bar       *cli.Progress // nil before training

	begin      time.Time
	state      progressState
	last       train.Evaluation  // while training
	final      train.Evaluation  // of all rows
	samples    *sample.Agreement // with their classes; nil without labels
	mixed      *bool             // whether the chains of samples.png have mixed; nil before
	verdict    string            // on them, in words
	standing   []train.Warning   // of metrics and of the likelihood, at the end
	withdrawn  []train.Warning   // that were told and do not stand any more
	fromData   bool              // some of the samples are of chains that started at training rows
	begun      bool              // the evaluation of step 0 is in the table
	warned     bool              // that the ladder does not exchange
	stopped    bool              // by -stop-after
	joined     bool              // the steps of the other ranks
	saver      saver
	reported   time.Time      // the report so far
	reportTook time.Duration  // to write
	unsampled  string         // why there is no picture of samples; "" where there is one
	events     *rundir.Events // nil without -tensorboard
	lines      *rundir.Lines  // nil without -jsonl

	logZ, logZErr *float64 // of the model, by the chains; nil: there is none
}

// open makes the folder of the run, or opens the folder of -resume.
func (r *runner) open() (err error) {
	r.evaluator = &train.Evaluator{Metrics: r.metrics, Every: r.evalEvery, Report: r.report}
	r.evaluator.Watch(r.trainer)
	r.health = train.NewHealth(r.settings, r.sets, r.model, r.goal())
	r.health.Watch(r.trainer, r.metrics, r.steps)
	if !r.flags.Given("resume") {
		if r.folder, err = rundir.New(r.out, rundir.Stem(r.sets.Train.Name)+"-"+r.stem(), r.force); err != nil {
			return err
		}
		if err := r.folder.WriteJSON(rundir.ConfigFile, r.config(r.trainer.Hash())); err != nil {
			return err
		}
		if r.tempered() {
			if r.pairs, err = r.folder.NewTable(rundir.LaddersFile, pairColumns); err != nil {
				return err
			}
		}
		r.table, err = r.folder.NewTable(rundir.MetricsFile, r.columns())
		return err
	}
	return r.reopen()
}

func (r *runner) close() {
	for _, t := range []*rundir.Table{r.table, r.pairs} {
		if t != nil {
			t.Close()
		}
	}
	if r.events != nil {
		r.events.Close()
	}
	if r.lines != nil {
		r.lines.Close()
	}
	if r.folder != nil {
		r.folder.Close()
	}
}

// seconds returns the time spent in steps, over all parts of the run.
func (r *runner) seconds() float64 { return r.state.Seconds + r.trainer.Elapsed().Seconds() }

// train takes the steps, with evaluations and checkpoints.
func (r *runner) train(ctx context.Context) error {
	if err := r.openLogs(); err != nil {
		return err
	}
	if !r.begun {
		if err := r.evaluator.Begin(ctx, r.trainer.Model()); err != nil {
			return err
		}
	}
	start := r.trainer.Steps()
	bar := r.flags.NewProgress("training", "steps", int64(r.steps-start))
	defer bar.Done()
	r.bar = bar
	snapshot, err := r.folder.Snapshots(rundir.SnapshotSteps(r.steps, r.snapshots), r.about())
	if err != nil {
		return err
	}
	r.saver.begin(r.every, start)
	var shown time.Time
	// A step may take long. Between two of them nothing may be cut off.
	release := cli.Protect(ctx, r.lost)
	defer func() { release() }()
	began := func(context.Context, train.Event) error {
		release = cli.Protect(ctx, nil)
		r.saver.took = time.Since(r.saver.stepped)
		return nil
	}
	watched := func(ctx context.Context, e train.Event) error {
		judged, err := r.health.Observe(context.WithoutCancel(ctx), e.Step, r.evalEvery)
		for _, w := range judged {
			r.warnEarly(w.Text)
		}
		return err
	}
	ended := func(_ context.Context, e train.Event) error {
		if err := r.tolerate(snapshot(e)); err != nil {
			return err
		}
		r.keepFirst(e.Step)
		if now := time.Now(); e.Last || now.Sub(shown) > 100*time.Millisecond {
			shown = now
			bar.Set(int64(e.Step-start), r.latest())
		}
		if r.stopped {
			return train.ErrStop
		}
		if r.saver.due(e.Step) {
			if err := r.tolerate(r.save()); err != nil {
				return err
			}
		}
		r.saver.next(e.Step)
		release()
		return nil
	}
	release()
	r.joined = true
	err = r.trainer.Run(ctx, r.steps, began, watched, r.evaluator.Observe, ended)
	switch {
	case errors.Is(err, rbm.ErrDiverged):
		return r.diverged(err)
	case errors.Is(err, ranks.ErrLost):
		return fmt.Errorf("%w; %s", err, r.lost())
	}
	return err
}

// report writes an evaluation to the tables and keeps the best model. It warns
// early if the ladder does not exchange.
func (r *runner) report(e train.Evaluation) error {
	r.last = e
	if e.Step == 0 {
		if v, ok := e.Value(r.goal().Name + "_train"); ok {
			r.state.First = cli.Finite(v)
		}
	}
	if w := r.exchangeWarning(e.Info, fmt.Sprintf(" up to step %d", e.Step)); w != "" && e.Step < r.steps && !r.settling(e.Info) && !r.warned {
		r.warned = true
		r.warn(w)
	}
	for _, w := range r.health.Warnings(e, r.trainer.Model(), e.Step == r.steps) {
		r.warnEarly(w)
	}
	judged, err := r.health.Early(context.Background(), e, r.evaluator)
	if err != nil {
		return err
	}
	for _, w := range judged {
		r.warnEarly(w.Text)
	}
	row := r.row(e)
	if err := cmp.Or(r.tolerate(r.table.Add(row)), r.tolerate(r.recordLadder(e)), r.tolerate(r.log(row))); err != nil {
		return err
	}
	r.countStill(e)
	r.state.Measured = e.Step
	if err := r.choose(e); err != nil {
		return err
	}
	r.reportSoFar()
	return nil
}

// choose keeps the model if it is the best so far on the rows held out.
func (r *runner) choose(e train.Evaluation) error {
	c := r.choice()
	v, ok := e.Value(c.Name + "_holdout")
	if !ok {
		return nil
	}
	if math.IsNaN(v) || math.IsInf(v, 0) { // it cannot be compared with
		return nil
	}
	if c.Smaller {
		v = -v
	}
	b := r.state.Best
	if b == nil || v > b.Value {
		return r.keepBest(bestState{Value: v, Step: e.Step})
	}
	b.Since++
	r.stopped = r.stoppedEarly()
	return nil
}

// pictures is false in tests that look at no picture: a small run spends most of its
// time on drawing.
var pictures = true

// draw writes the pictures.
func (r *runner) draw(ctx context.Context) error {
	if !pictures {
		r.unsampled = "no pictures are drawn"
		return nil
	}
	set, file := r.sets.Train, func(name string, write func(w io.Writer) error) error {
		return atomicfile.Write(r.folder.Path(name), write)
	}
	filters := plots.Filters(r.trainer.Model(), set.Height, set.Width)
	if err := cmp.Or(
		file(rundir.FiltersFile, func(w io.Writer) error { return png.Encode(w, filters) }),
		r.drawSamples(ctx, file),
		r.drawLadder(),
	); err != nil || !r.measures() {
		return err
	}
	return r.drawCurves()
}

// draws writes a chart to the folder, as PNG and in the format of -pictures.
func (r *runner) draws(name string, page *plots.Page) error {
	return cli.WritePictures(r.folder.Dir, strings.TrimSuffix(name, ".png"), r.pictures, page)
}

// drawSamples writes the picture of samples, unless p(x) was not trained or they
// would take too long.
func (r *runner) drawSamples(ctx context.Context, file func(name string, write func(w io.Writer) error) error) error {
	rounds, why := samplesRounds(r.trainer.Model(), r.trainer.Steps())
	switch {
	case r.discriminative():
		r.unsampled = "p(x) was not trained"
		return nil
	case why != "":
		r.unsampled = fmt.Sprintf("%s; rbmsample -model %s draws them", why, r.folder.Dir)
		return nil
	}
	samples, err := r.sample(ctx, rounds)
	if err != nil {
		return err
	}
	sheet, err := r.sheet(samples)
	if err != nil {
		return err
	}
	if rounds < min(mostSamplesRounds, r.trainer.Steps()) {
		r.verdict += fmt.Sprintf(" (after %d rounds; more would take too long)", rounds)
	}
	return file(rundir.SamplesFile, func(w io.Writer) error { return png.Encode(w, sheet) })
}

// samplesRounds returns how many rounds the chains of samples.png may take after so
// many steps, or why there is to be no such picture.
func samplesRounds(m *rbm.RBM, steps int) (rounds int, why string) {
	lines := len(drawnClasses(m))
	if lines == 0 {
		lines = 10
	}
	pictures := samplesPerClass * lines
	perRound := float64(pictures) * float64(m.Visible()) * float64(m.Hidden())
	if m.Constraint != nil {
		perRound *= constrainedRound
		steps /= 8 // a round takes some five times as long as a step
	}
	rounds = min(mostSamplesRounds, max(leastSamplesRounds, steps))
	switch {
	case pictures*m.Inputs() > plots.MaxValues:
		return 0, fmt.Sprintf("%d pictures of %d inputs are too large for a sheet", pictures, m.Inputs())
	case leastSamplesRounds*perRound > samplesWork:
		return 0, fmt.Sprintf("their chains would take too long with %d × %d units", m.Visible(), m.Hidden())
	}
	return int(min(float64(rounds), samplesWork/perRound)), ""
}

// drawnClasses returns the classes that samples.png shows: all, or mostDrawn of them,
// evenly spread.
func drawnClasses(m *rbm.RBM) []int {
	classes := make([]int, min(m.Classes(), mostDrawn))
	for i := range classes {
		classes[i] = i * m.Classes() / len(classes)
	}
	return classes
}

// sample draws the samples of samples.png: some of each class that it shows, or without labels
// of the whole model.
func (r *runner) sample(ctx context.Context, rounds int) (sample.Sheet, error) {
	m := r.trainer.Model()
	var queries []sample.Query
	s := sample.Settings{Samples: samplesPerClass, Rounds: rounds}
	for _, y := range drawnClasses(m) {
		if m.HasClass(y) {
			queries = append(queries, sample.Query{Class: y})
		}
	}
	if m.Classes() == 0 {
		queries, s.Samples = []sample.Query{{Class: rbm.Free}}, 10*samplesPerClass
	}
	bar := r.flags.NewProgress("samples", "‰", 1000)
	defer bar.Done()
	return sample.DrawEach(ctx, m, r.sets.Train, queries, s, rbm.NewKey(r.settings.Seed).Child(samplesKey), func(done float64) { bar.Set(int64(1000*done), "") })
}

// sheet returns the picture of the samples, with their classes, how many are of
// their class, and whether the chains have mixed.
func (r *runner) sheet(samples sample.Sheet) (image.Image, error) {
	set, m := r.sets.Train, r.trainer.Model()
	mixed := samples.Mixed()
	r.mixed, r.verdict, r.fromData = &mixed, samples.Verdict(), samples.FromData()
	rows, classes := samples.Means, drawnClasses(m)
	if m.Classes() > 0 { // a class that a constraint makes impossible has an empty line
		rows = rbm.NewMatrix(len(classes)*samplesPerClass, m.Inputs())
		for i, y := range samples.Asked {
			copy(rows.Row(slices.Index(classes, int(y))*samplesPerClass+i%samplesPerClass), samples.Means.Row(i))
		}
	}
	tiles := plots.Tiles(rows, set.Height, set.Width, samplesPerClass, plots.Ink)
	if set.Y != nil {
		r.samples = sample.Compare(set, samples.Means, samples.Asked, samples.Start, rbm.NewKey(r.settings.Seed).Child(samplesKey)).Classes
	}
	var names []string
	for _, y := range classes {
		names = append(names, set.Classes[y])
	}
	return plots.Caption(tiles, names, r.ofClasses()+samples.Caption(r.samples))
}

const (
	// mostSamplesRounds bounds the chains of samples.png: some seconds at 784 × 500
	// units and ten classes. Those of a short run are as long as the run, or
	// leastSamplesRounds.
	mostSamplesRounds, leastSamplesRounds = 1024, 64
	// samplesWork bounds rounds · pictures · visible · hidden units: three times what
	// these 784 × 500 units take. Chains of larger models have fewer rounds.
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

// ofClasses says that samples are drawn of some classes alone, if so.
func (r *runner) ofClasses() string {
	drawn, all := len(drawnClasses(r.model)), r.model.Classes()
	if drawn == all {
		return ""
	}
	return fmt.Sprintf("%d of %d classes are drawn; ", drawn, all)
}

// profile starts a CPU profile and returns the function that ends it.
func profile(path string) (stop func() error, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("-cpuprofile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("-cpuprofile: %w", err)
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
