package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
	"gorbm/train/rundir"
)

// adopt sets flags to those of the run that -resume names. Flags that were given with
// -resume keep their values.
func (o *options) adopt() error {
	folder := rundir.Folder{Dir: o.resume}
	text, err := o.readConfig(&folder)
	if err != nil {
		return fmt.Errorf("-resume: %s is not the folder of a run: %w", o.resume, err)
	}
	o.extended, o.slowed = o.flags.Given("steps"), o.flags.Given("rate")
	o.moved = slices.ContainsFunc(movable, o.flags.Given)
	c := struct {
		Version string            `json:"version"`
		Flags   map[string]string `json:"flags"`
		Preset  *presetChoice     `json:"preset"`
		Steps   int               `json:"steps"`
		Command []string          `json:"command"`
		Metrics []string          `json:"metrics"`
		Data    configData        `json:"data"`
		Model   configModel       `json:"model"`
		Rates   []rateChange      `json:"rates"`
	}{}
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("-resume: %s is damaged: %w", folder.Path(rundir.ConfigFile), err)
	}
	o.build = c.Version
	if c.Preset == nil {
		return fmt.Errorf("-resume: %s names no preset: it is damaged", folder.Path(rundir.ConfigFile))
	}
	notKept := o.flags.Tagged(tagCall)
	for _, flags := range []map[string]string{c.Flags, c.Preset.Flags} {
		for name := range flags { // the file may come from elsewhere
			if o.flags.Lookup(name) != nil && slices.Contains(notKept, name) {
				return fmt.Errorf("-resume: %s sets -%s, which is no setting of a run; remove it", folder.Path(rundir.ConfigFile), name)
			}
		}
	}
	for name, value := range c.Flags {
		if o.flags.Given(name) || name == "epochs" && o.extended {
			continue
		}
		if err := o.flags.Set(name, value); err != nil {
			return fmt.Errorf("-resume: %s: -%s %q: %w", folder.Path(rundir.ConfigFile), name, value, err)
		}
		delete(c.Preset.Flags, name)
	}
	for _, name := range []string{"steps", "rate"} {
		if o.flags.Given(name) {
			delete(c.Preset.Flags, name)
		}
	}
	if o.metrics == "auto" && c.Metrics != nil { // auto may mean more metrics now than when the run began
		o.metrics = cmp.Or(strings.Join(c.Metrics, ","), "none")
	}
	o.chosen, o.before, o.command = *c.Preset, c.Steps, c.Command
	o.rates, o.began, o.testHash = c.Rates, &c.Model, c.Data.TestHash
	return nil
}

// model returns a model of the run's shape, into which the checkpoint is read.
func (b *configModel) model(inputs int) (*rbm.RBM, error) {
	m, err := b.Shape.New()
	if err == nil && (m.Inputs() != inputs || len(b.ClassNames) != m.Classes()) {
		err = fmt.Errorf("the model of the run has %d inputs and %d classes, the data have %d and %d", m.Inputs(), m.Classes(), inputs, len(b.ClassNames))
	}
	return m, err
}

// A rateChange is a -rate that was given with -resume.
type rateChange struct {
	Step int     `json:"step"` // the rate applies after this step
	Rate float64 `json:"rate"`
}

// given returns the flags for config.json: those that were given and belong to the run, with
// their values. Paths are absolute, so that the run can be resumed from any folder.
func (p *plan) given() map[string]string {
	m, notKept := map[string]string{"eval-every": strconv.Itoa(p.evalEvery)}, p.flags.Tagged(tagCall)
	p.flags.Visit(func(f *flag.Flag) {
		if slices.Contains(notKept, f.Name) || f.Name == "eval-every" {
			return
		}
		switch f.Name {
		case "data":
			m[f.Name] = data.Absolute(p.sets.Train.Name)
		case "test":
			m[f.Name] = data.Absolute(p.opts.data.Test)
		case "data-dir":
			m[f.Name] = cli.Abs(f.Value.String())
		case "init":
			if m[f.Name] = p.opts.init; !slices.Contains(train.Starts, p.opts.init) {
				m[f.Name] = cli.Abs(p.opts.init)
			}
		default:
			m[f.Name] = f.Value.String()
		}
	})
	return m
}

// reopen opens the folder of -resume and restores the state of its checkpoint.
func (r *runner) reopen() (err error) {
	if r.folder, err = rundir.Open(r.plan.opts.resume); err != nil {
		return fmt.Errorf("-resume: %w", err)
	}
	extra, warning, err := r.folder.LoadCheckpoint(r.trainer)
	if err != nil {
		return fmt.Errorf("-resume: %w", err)
	}
	if warning != "" {
		r.plan.flags.Warn(warning)
	}
	if r.state, err = readState(extra); err != nil {
		return fmt.Errorf("-resume: the checkpoint of %s: %w", r.plan.opts.resume, err)
	}
	at := r.trainer.Steps()
	if err := r.checkState(at); err != nil {
		return fmt.Errorf("-resume: the checkpoint of %s: %w: %w", r.plan.opts.resume, rbm.ErrFormat, err)
	}
	if at > r.plan.steps {
		return cli.Usagef("-resume: %s has taken %d steps already; give -steps from %d up", r.plan.opts.resume, at, at)
	}
	if at == r.plan.steps && !r.plan.flags.JSON && !r.plan.flags.Quiet {
		fmt.Fprintf(r.plan.flags.Stdout, "%s has taken all of its %d steps: nothing is left to train, and the results are written again; give more -steps to continue\n", r.plan.opts.resume, at)
	}
	if at == 0 { // the evaluation of step 0 is repeated: see reopenTables
		r.state = progressState{Seconds: r.state.Seconds, All: r.state.All}
	}
	r.stopped = r.stoppedEarly() && !r.plan.opts.extended
	r.saver.begin(r.plan.every, at)
	if r.plan.opts.extended && r.plan.steps != r.plan.opts.before && train.Ends(r.plan.settings.Schedule) {
		r.plan.flags.Warn(fmt.Sprintf("the schedule %s was to end at step %d and now ends at step %d: after step %d the rates are those of the longer run", r.plan.settings.Schedule, r.plan.opts.before, r.plan.steps, at))
	}
	r.warnOfTest()
	r.evaluator.Restore(r.state.Before, r.state.Since)
	r.health.HealthState = r.state.Health
	if err := r.evaluator.SetMemory(r.state.Memory); err != nil {
		return fmt.Errorf("-resume: the checkpoint of %s: %w", r.plan.opts.resume, err)
	}
	if err := cmp.Or(r.restoreBest(), r.folder.DropSnapshots(at)); err != nil {
		return fmt.Errorf("-resume: %w", err)
	}
	if err := r.reopenTables(at); err != nil {
		return err
	}
	if r.plan.opts.slowed {
		r.plan.opts.rates = append(r.plan.opts.rates, rateChange{at, r.plan.settings.Rate})
	}
	if r.trains() {
		for _, name := range []string{rundir.ResultFile, rundir.DivergedFile} {
			if err := ignoreMissing(os.Remove(r.folder.Path(name))); err != nil {
				return err
			}
		}
	}
	if !r.plan.opts.extended && !r.plan.opts.slowed && !r.plan.opts.moved {
		return nil
	}
	return r.folder.WriteJSON(rundir.ConfigFile, r.plan.config(r.trainer.Hash())) // with the new number of steps, rate or place of the data
}

// reopenTables opens the tables of a run that resumes after step at.
func (r *runner) reopenTables(at int) (err error) {
	keep := at
	if r.begun = at > 0; !r.begun {
		keep = -1 // the evaluation of step 0 may be incomplete: it is repeated
	}
	if tempered(r.plan.settings.Negative) {
		if r.pairs, err = r.folder.ContinueTable(rundir.LaddersFile, pairColumns, keep); err != nil {
			return err
		}
	}
	if r.table, err = r.folder.ContinueTable(rundir.MetricsFile, r.plan.columns(), keep); err != nil {
		return err
	}
	if lost := r.state.Rows - r.table.Rows(); lost > 0 {
		r.plan.flags.Warn(fmt.Sprintf("%s has lost %s of the %d that the run had written up to step %d", r.folder.Path(rundir.MetricsFile), cli.Count(lost, "row"), r.state.Rows, at))
	}
	return nil
}

// warnOfTest warns if the test rows have changed since the run began.
func (r *runner) warnOfTest() {
	if was := r.plan.opts.testHash; r.plan.sets.Test != nil && was != "" && was != r.plan.sets.Test.Hash() {
		r.plan.flags.Warn(fmt.Sprintf("the test rows, %s, have changed since the run began: what was measured on them before and after step %d cannot be compared", r.plan.sets.Test.Name, r.trainer.Steps()))
	}
}

// stoppedEarly reports whether -stop-after has ended the run.
func (r *runner) stoppedEarly() bool {
	b := r.state.Best
	return b != nil && r.plan.opts.stopAfter > 0 && b.Since >= r.plan.opts.stopAfter
}

// checkState returns an error if the state of the checkpoint at step at does not fit the run.
func (r *runner) checkState(at int) error {
	s := &r.state
	l, ladder := r.trainer.Ladder()
	for _, c := range []struct {
		name string
		info negphase.Info
	}{{"before", s.Before}, {"since", s.Since}} {
		pairs, tuned := len(l.Beta)-1, l.Tuned
		if !ladder { // the models of ptt: one, and one more for each tuning
			pairs, tuned = int(c.info.Tuned)+1, c.info.Tuned
		}
		if err := c.info.Check(pairs, tuned); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if s.FirstLadder != nil {
		if err := s.FirstLadder.Check(); err != nil {
			return fmt.Errorf("first_ladder: %w", err)
		}
	}
	if s.Measured < 0 || s.Measured > at || s.Still < 0 || s.Rows < 0 || s.Best != nil && (s.Best.Step < 0 || s.Best.Step > at || s.Best.Since < 0) {
		return fmt.Errorf("it is of step %d, but its last measurement is of step %d", at, s.Measured)
	}
	return nil
}

func readState(text []byte) (s progressState, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%w: %v", rbm.ErrFormat, err)
	}
	return s, nil
}

// progressState is the part of a checkpoint besides the state of the trainer. With it a resumed run reports
// the same as an uninterrupted one.
type progressState struct {
	Seconds float64       `json:"seconds"` // time in training steps
	All     float64       `json:"all"`     // total time of the command
	Before  negphase.Info `json:"before"`  // counts up to the last evaluation
	Since   negphase.Info `json:"since"`   // counts since the last evaluation
	Best    *bestState    `json:"best,omitempty"`
	First   *float64      `json:"first,omitempty"` // value of plan.goal before the first step

	Memory map[string]json.RawMessage `json:"memory,omitempty"` // state of the metrics
	Health train.HealthState          `json:"health"`

	Rows     int `json:"rows,omitempty"` // number of rows of metrics.csv
	Measured int `json:"measured"`       // step of the last evaluation
	ladderState
}

// bestState describes the best model so far on the rows held out.
type bestState struct {
	Value float64 `json:"value"` // value of plan.choice, negated if smaller is better
	Step  int     `json:"step"`
	Since int     `json:"since"` // number of evaluations after Step
	Sum   string  `json:"sum"`   // SHA-256 of the file of the best model
}

// An interval is a time or a number of steps.
type interval struct {
	time  time.Duration
	steps int
}

// parseInterval parses a value of -checkpoint-every, such as 5m, 1h30m or 1000.
func parseInterval(s string) (interval, error) {
	if n, err := strconv.Atoi(s); err == nil && (n < 1 || n > train.MaxSteps) {
		return interval{}, cli.Usagef("-checkpoint-every is %d; it must lie in 1 … %d", n, train.MaxSteps)
	} else if err == nil {
		return interval{steps: n}, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return interval{}, cli.Usagef("-checkpoint-every is %q; it must be a time such as 5m, or a number of steps", s)
	}
	return interval{time: d}, nil
}
