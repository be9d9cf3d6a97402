package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/memory"
	"gorbm/rbm/ranks"
	"gorbm/train"
	"gorbm/train/plots"
	"gorbm/train/rundir"
)

// run carries out the plan: it trains the model, writes the folder and prints the result.
func (p *plan) run(ctx context.Context, trainer *train.Trainer) (err error) {
	if !p.flags.JSON {
		p.flags.Warn(p.warnings...)
	}
	if p.opts.dryRun {
		return p.rehearse(trainer.Hash())
	}
	r := &runner{plan: p, trainer: trainer, begin: p.opts.called}
	r.ladder = ladder{p.settings.Negative, trainer.Ladder, &r.state.ladderState}
	defer r.close()
	if err := r.handOut(r.open()); err != nil {
		return err
	}
	defer func() {
		if r.trains() && !r.joined { // releases the other ranks, which wait in Run: in an array this process continues with the next run
			r.trainer.Leave(r.plan.steps)
		}
	}()
	if !p.flags.JSON && !p.flags.Quiet {
		fmt.Fprintln(p.flags.Stdout, p.describe())
	}
	if p.opts.cpuprofile != "" {
		stop, err := profile(p.opts.cpuprofile)
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
		return fmt.Errorf("stopped after step %d of %d; resume by: %s", trainer.Steps(), p.steps, r.resumption())
	}
	if r.final, err = r.evaluator.Final(ctx, trainer.Model(), trainer.Steps()); err == nil {
		err = r.draw(ctx)
	}
	if err == nil {
		err = r.dropPrevious()
	}
	if err == nil {
		total, _ := r.evaluator.Counts() // complete, because the last step was measured
		counted := p.settings.Negative.Warnings(total, r.last.Info, trainer.Steps())
		if len(counted) == 0 {
			counted = r.ladder.noTrips()
		}
		r.standing, r.withdrawn, err = r.health.Final(ctx, r.evaluator, counted...)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New(r.lost())
	}
	if err != nil {
		return fmt.Errorf("%w; finish by: %s", err, r.resumption())
	}
	return r.print()
}

// resumption returns the command that continues the run to the same end.
func (r *runner) resumption() string {
	if r.plan.opts.inArray {
		return "the same command again, which resumes this run and trains the others"
	}
	return "rbmtrain " + r.resumeFlags()
}

// resumeFlags returns the flags that continue the run alone. The number of steps is in config.json, unless
// -steps came with -resume.
func (r *runner) resumeFlags() string {
	flags := "-resume " + r.folder.Dir
	if r.plan.opts.extended {
		flags += " -steps " + strconv.Itoa(r.plan.steps)
	}
	return flags
}

// rehearse carries out -dry-run: it prints the plan and a bound on the memory.
func (p *plan) rehearse(hash string) error {
	if p.opts.out != "" {
		if _, err := rundir.Check(p.opts.out, p.opts.force); err != nil {
			return err
		}
	}
	c := p.config(hash)
	c.Memory = p.need
	return p.flags.Print(c, func(w io.Writer) error {
		fmt.Fprintln(w, p.describe())
		cli.WriteReadings(w, p.sets.Train.Readings)
		fmt.Fprintf(w, "up to %s of memory besides the data\n", memory.Size(p.need))
		return nil
	})
}

// A runner carries out a run and keeps its state.
type runner struct {
	plan      *plan
	trainer   *train.Trainer
	evaluator *train.Evaluator
	health    *train.Health
	folder    *rundir.Folder
	table     *rundir.Table
	pairs     *rundir.Table // ladder.csv; nil without a ladder
	bar       *cli.Progress // nil before training

	begin      time.Time
	state      progressState
	last       train.Evaluation // last evaluation during training
	final      train.Evaluation // evaluation at the end, on all rows
	samples    samples
	standing   []diag.Warning // warnings that hold at the end, from metrics and the likelihood
	reading    *reading       // nil without classes
	withdrawn  []diag.Warning // warnings that were printed and no longer hold
	begun      bool           // the evaluation of step 0 is in the table
	stopped    bool           // -stop-after ended the training
	times      string         // duration of the run in words; "" before the end
	joined     bool           // trainer.Run was called, as on the other ranks
	saver      saver
	ladder     ladder
	ladderPage *plots.Page    // ladder.png; nil: it is not drawn
	reported   time.Time      // time of the last report.html
	reportTook time.Duration  // duration of writing the last report.html
	events     *rundir.Events // nil without -tensorboard

	logZ, logZErr *float64 // log Z of the final model and its standard error, from the chains of training; nil if they give none
}

// open makes the folder of the run, or opens the folder of -resume.
func (r *runner) open() (err error) {
	r.evaluator = &train.Evaluator{Metrics: r.plan.metrics, Every: r.plan.evalEvery, Report: r.report}
	r.evaluator.Watch(r.trainer)
	r.health = train.NewHealth(r.plan.settings, r.plan.sets, r.plan.model, r.plan.goal)
	r.health.Stops, r.health.TrialTerms = r.plan.opts.stopAfter > 0, trialTerms(r.plan)
	r.health.Watch(r.trainer, r.plan.metrics, r.plan.steps)
	if !r.plan.flags.Given("resume") {
		if r.folder, err = rundir.New(r.plan.opts.out, rundir.Stem(r.plan.sets.Train.Name)+"-"+stem(r.plan.settings), r.plan.opts.force); err != nil {
			return err
		}
		if err := r.folder.WriteJSON(rundir.ConfigFile, r.plan.config(r.trainer.Hash())); err != nil {
			return err
		}
		if tempered(r.plan.settings.Negative) {
			if r.pairs, err = r.folder.NewTable(rundir.LaddersFile, pairColumns); err != nil {
				return err
			}
		}
		r.table, err = r.folder.NewTable(rundir.MetricsFile, r.plan.columns())
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
	if r.folder != nil {
		r.folder.Close()
	}
}

// seconds returns the time spent in steps, including those before each -resume.
func (r *runner) seconds() float64 { return r.state.Seconds + r.trainer.Elapsed().Seconds() }

// train takes the steps, with evaluations and checkpoints.
func (r *runner) train(ctx context.Context) error {
	if err := r.openEvents(); err != nil {
		return err
	}
	if !r.begun {
		if err := r.evaluator.Begin(ctx, r.trainer.Model()); err != nil {
			return err
		}
	}
	start := r.trainer.Steps()
	bar := r.plan.flags.NewProgress("training", "steps", int64(r.plan.steps-start))
	defer bar.Done()
	r.bar = bar
	snapshot, err := r.folder.Snapshots(rundir.SnapshotSteps(r.plan.steps, r.plan.opts.snapshots), r.plan.about())
	if err != nil {
		return err
	}
	r.saver.begin(r.plan.every, start)
	var shown time.Time
	// A signal may end the process during a step, which may take long, but not while the observers run.
	release := cli.Protect(ctx, r.lost)
	defer func() { release() }()
	began := func(_ context.Context, e train.Event) error {
		release = cli.Protect(ctx, nil)
		r.saver.took = time.Since(r.saver.stepped)
		if e.Step == start+1 {
			r.warnOfCost(r.saver.took, r.plan.steps-start)
		}
		return nil
	}
	watched := func(ctx context.Context, e train.Event) error {
		judged, err := r.health.Observe(context.WithoutCancel(ctx), e.Step, r.plan.evalEvery)
		r.warnOf(judged)
		return err
	}
	ended := func(_ context.Context, e train.Event) error {
		if err := r.tolerate(snapshot(e)); err != nil {
			return err
		}
		r.ladder.keepFirst(e.Step)
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
	err = r.trainer.Run(ctx, r.plan.steps, began, watched, r.evaluator.Observe, ended)
	switch {
	case errors.Is(err, rbm.ErrDiverged):
		return r.diverged(err)
	case errors.Is(err, ranks.ErrLost):
		return fmt.Errorf("%w; %s", err, r.lost())
	}
	return err
}

// report records an evaluation: it writes the tables and the report, keeps the best
// model, and prints warnings that arise during training.
func (r *runner) report(e train.Evaluation) error {
	r.last = e
	if e.Step == 0 {
		if v, ok := e.Value(r.plan.goal.Name + "_train"); ok && cli.Finite(v) {
			r.state.First = &v
		}
	}
	if e.Step < r.plan.steps {
		r.warnOf(r.health.Report(r.ladder.early(e.Info)...))
	}
	r.warnOf(r.health.Warnings(e, r.trainer.Model(), e.Step == r.plan.steps))
	judged, err := r.health.Early(context.Background(), e, r.evaluator)
	if err != nil {
		return err
	}
	r.warnOf(judged)
	row := r.row(e)
	if err := cmp.Or(r.tolerate(r.table.Add(row)), r.tolerate(r.ladder.record(e, r.pairs))); err != nil {
		return err
	}
	if r.events != nil {
		if err := r.tolerate(r.events.Add(row)); err != nil {
			return err
		}
	}
	r.ladder.countStill(e.Info, e.Step-r.state.Measured)
	r.state.Measured = e.Step
	if err := r.choose(e); err != nil {
		return err
	}
	r.reportSoFar()
	return nil
}

// choose saves the model if it is the best so far on the rows held out.
func (r *runner) choose(e train.Evaluation) error {
	c := r.plan.choice
	v, ok := e.Value(c.Name + "_holdout")
	if !ok || !cli.Finite(v) {
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

// pictures is false in tests without pictures, because a small run spends most of its time on
// drawing.
var pictures = true

// draw draws samples and writes all pictures of the final model and the run.
func (r *runner) draw(ctx context.Context) error {
	if !pictures || r.plan.opts.pictures == "none" {
		r.samples.missing = fmt.Sprintf("-pictures none; %s draws them", sampleCommand(r.folder.Dir, r.plan.sets.Train))
		return nil
	}
	set, m := r.plan.sets.Train, r.trainer.Model()
	file := func(name string, img image.Image) error {
		return cli.WritePicture(r.folder.Path(name), plots.Sheet(plots.Compact(img)))
	}
	if set.IsPicture() || set.Schema != nil && set.Schema.Alphabet != "" {
		if err := file(rundir.FiltersFile, plots.Filters(m, set.Height, set.Width)); err != nil {
			return err
		}
	}
	bar := r.plan.flags.NewProgress("samples", "‰", 1000)
	var err error
	r.samples, err = drawSamples(ctx, m, set, r.plan.settings, r.trainer.Steps(), r.folder.Dir, func(done float64) { bar.Set(int64(1000*done), "") })
	bar.Done()
	if err == nil && r.samples.sheet != nil {
		err = file(rundir.SamplesFile, r.samples.sheet)
	}
	if r.ladderPage = r.ladder.picture(r.trainer.Steps()); err == nil && r.ladderPage != nil {
		err = r.draws(rundir.LadderFile, r.ladderPage)
	}
	if err != nil || !r.plan.measures() {
		return err
	}
	columns, rows, err := rundir.ReadTable(r.folder.Path(rundir.MetricsFile))
	if err != nil {
		return err
	}
	if page := curves(r.plan.metrics, columns, rows); page != nil {
		return r.draws(rundir.CurvesFile, page)
	}
	return nil
}

// draws writes a chart to the folder, as PNG and in the format of -pictures. name ends in .png.
func (r *runner) draws(name string, page *plots.Page) error {
	return cli.WritePictures(r.folder.Dir, strings.TrimSuffix(name, ".png"), r.plan.opts.pictures, page)
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
