package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/data/grammar"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/memory"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/ranks"
	"gorbm/rbm/units"
	"gorbm/train"
	"gorbm/train/rundir"
)

const (
	maxHidden    = 1 << 20
	maxSnapshots = 10000
)

// A plan is the checked settings of a run, its data and its model.
type plan struct {
	opts      *options // with values from the preset and the data where flags were not given
	flags     *cli.Flags
	group     *ranks.Group
	settings  train.Settings
	steps     int
	evalEvery int      // steps between measurements
	every     interval // time or steps between checkpoints
	sets      train.Sets
	rows      *data.Set // all rows of sets.Train and sets.Holdout
	model     *rbm.RBM
	metrics   []train.Metric
	choice    train.Column // selects the best model on the rows held out; Name "": no column does
	goal      train.Column // the metric that training should improve; Name "": none
	need      float64      // upper bound on the memory without the data, in bytes

	initNames []string // names of the classes, in the order of the model of -init
	warnings  []string // warnings about settings
}

// check checks all flags, loads the data and makes the plan. Errors in a single flag come first,
// then those that depend on the data, then those that depend on the model.
func (o *options) check(ctx context.Context) (*plan, error) {
	if err := o.choosePreset(); err != nil {
		return nil, err
	}
	every, err := parseInterval(o.checkpoint)
	if err := cmp.Or(o.flags.Check(), err, o.checkSettings()); err != nil {
		return nil, err
	}
	keep, err := o.parseConstraint()
	if err != nil {
		return nil, err
	}
	if o.stopAfter > 0 && o.holdout == 0 && o.holdoutFile == "" {
		return nil, cli.Usagef("-stop-after needs rows held out; choose their number by -holdout, such as 0.1")
	}

	sets, rows, err := o.load(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{opts: o, flags: o.flags, group: o.group, every: every}
	if p.settings, p.steps, err = o.fit(sets.Train); err != nil {
		return nil, err
	}
	label, err := o.label(sets.Train)
	if err != nil {
		return nil, err
	}
	if p.need, err = checkSize(p.settings, o.hidden, sets.Train, label.on, o.realHidden()); err != nil {
		return nil, err
	}

	if p.model, p.initNames, err = o.start(&sets, &rows, label); err != nil {
		return nil, err
	}
	if err := o.constrain(p.model, keep); err != nil {
		return nil, err
	}
	if p.warnings, err = checkModel(p.model, p.settings, rows, sets.Test); err != nil {
		return nil, err
	}
	if unused := o.unusedNegative(); unused != "" {
		p.warnings = append([]string{unused}, p.warnings...)
	}
	p.sets, p.rows = sets, rows
	if p.metrics, err = train.NewRunMetrics(strings.Split(o.metricNames(), ","), p.model, sets, p.settings); err != nil {
		return nil, cli.Usagef("-metrics: %w", err)
	}
	if p.evalEvery = o.evalEvery; !o.flags.Given("eval-every") {
		p.evalEvery = p.measureEvery()
	}
	gaps := slices.ContainsFunc([]*data.Set{sets.Train, sets.Holdout, sets.Test}, func(d *data.Set) bool { return d != nil && d.Missing.Rows > 0 })
	if gaps {
		p.warnings = append(p.warnings, "cells are missing: pseudo_likelihood, reconstruction and active_hidden are means over the rows without missing cells, and are left out where these are fewer than a hundred; rbmeval -pl sums missing cells out")
	}
	p.choice, p.goal = choice(p.metrics, byClass(p.settings), train.Skewed(sets.Train)), goal(p.metrics, discriminative(p.settings))
	if sets.Holdout != nil && p.choice.Name == "" && o.stopAfter > 0 {
		if gaps && o.metrics == "auto" {
			return nil, cli.Usagef("-stop-after needs a metric of the rows held out; as cells are missing, it can use the exact log_likelihood, for which -hidden %d is too large, or the classification error of a model with labels", o.hidden)
		}
		return nil, cli.Usagef("-stop-after needs a metric of the rows held out; -metrics %s has none", o.metrics)
	}
	return p, nil
}

// holdout is the value of -holdout: a number, or a file's name.
type holdout struct {
	rows *float64
	file *string
}

func (h holdout) String() string {
	switch {
	case h.rows == nil:
		return "0"
	case *h.file != "":
		return *h.file
	}
	return strconv.FormatFloat(*h.rows, 'g', -1, 64)
}

func (h holdout) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		x = 0
		*h.file = text
	} else {
		*h.file = ""
	}
	*h.rows = x
	return nil
}

// load loads the data, applies the preset that suits them, and holds rows out. rows are all
// training rows, including those held out.
func (o *options) load(ctx context.Context) (sets train.Sets, rows *data.Set, err error) {
	if o.flags.Given("holdout") && o.holdoutFile == "" {
		o.data.Holdout, o.data.HoldoutKey = o.holdout, data.HoldoutKey(o.settings.Seed)
	}
	if sets.Train, sets.Test, err = o.data.Load(ctx); err != nil {
		return sets, nil, err
	}
	rows = sets.Train
	if err := o.fitPreset(rows); err != nil {
		return sets, nil, err
	}
	switch {
	case o.holdoutFile != "":
		if sets.Holdout, err = o.data.LoadLike(ctx, "holdout", o.holdoutFile, rows); err != nil {
			return sets, nil, err
		}
	case o.flags.Given("holdout"):
		if sets.Train, sets.Holdout, err = rows.Split(o.holdout, o.data.HoldoutKey); err != nil {
			return sets, nil, cli.Usagef("-holdout: %w", err)
		}
	}
	return sets, rows, o.tune(ctx, sets)
}

// fit returns the settings and the number of steps for training on set.
func (o *options) fit(set *data.Set) (s train.Settings, steps int, err error) {
	s, steps = o.settings, o.steps
	if s.Objective == train.Joint { // saved runs have "" for the joint objective
		s.Objective = ""
	}
	rows := s.Rows(set)
	if _, chosen := o.chosen.Flags["batch"]; chosen && s.Batch > rows { // by a preset
		s.Batch = rows
		o.chosen.Flags["batch"] = strconv.Itoa(rows)
	}
	switch {
	case byClass(s) && set.Y == nil:
		return s, 0, cli.Usagef("-objective %s needs labels, and %s has none; see -label-column", s.Objective, set.Name)
	case s.Batch > rows:
		return s, 0, cli.Usagef("-batch is %d, but %s has only %d rows%s", s.Batch, set.Name, rows, withLabel(s, set))
	}
	if o.flags.Given("epochs") {
		n := math.Ceil(o.epochs * float64(rows) / float64(s.Batch))
		if n > train.MaxSteps {
			return s, 0, cli.Usagef("-epochs is %v, which is %.3g steps; at most %d are allowed", o.epochs, n, train.MaxSteps)
		}
		steps = int(n)
	}
	s.Horizon, s.LearnPrecision = steps, o.data.Units == cli.LearnedPrecision
	if o.data.Units == "auto" && set.Schema != nil && set.Schema.Numbers() && !byClass(s) {
		s.LearnPrecision = true
	}
	if _, chosen := o.chosen.Flags["average"]; chosen && !o.flags.Given("resume") {
		at := slices.IndexFunc(presets, func(p train.Preset) bool { return p.Name == o.chosen.Name })
		s.Average = presets[at].Over(steps).Common.Average
		o.chosen.Flags["average"] = fmt.Sprint(s.Average)
	}
	return s, steps, nil
}

const (
	mostMeasured = 20
	// The default metrics take the work of measureRows passes for each row of the data, but at most
	// measureWork, as they use a limited number of rows.
	measureRows = 24
	measureWork = measureRows << 30
)

// measureEvery returns the default number of steps between measurements. It depends on the work of training.
func (p *plan) measureEvery() int {
	set := p.sets.Train
	inputs, hidden := set.X.Cols, p.opts.hidden
	weights := inputs * hidden
	measurement := min(measureWork, passes(measureRows*set.Len(), weights))
	for _, m := range p.metrics {
		measurement += passes(freeEnergyWork*m.Rows, weights) + float64(termWork*m.Terms)
	}
	n := int(min(mostMeasured, 1+(measureFree+float64(measureShare*p.settings.Work(p.steps, inputs, hidden)))/measurement))
	return p.interval(n)
}

// interval returns the number of steps between n measurements. It is rounded up, as a last interval of a few steps
// would have counts of a few steps.
func (p *plan) interval(n int) int { return (p.steps + n - 1) / n }

// A labelling records whether the model has label units, and their kind.
type labelling struct {
	on   bool
	kind rbm.Kind
}

// label returns the labelling that -labels chooses for set.
func (o *options) label(set *data.Set) (labelling, error) {
	if set.Y == nil && o.labels != "auto" && o.labels != "none" {
		return labelling{}, cli.Usagef("-labels is %s, but %s has no labels", o.labels, set.Name)
	}
	if o.realHidden() {
		if o.flags.Given("labels") && o.labels != "auto" && o.labels != "none" {
			return labelling{}, cli.Usagef("-labels %s needs binary hidden units, and -hidden-units is %s; leave one of them out", o.labels, o.hiddenUnits)
		}
		return labelling{kind: rbm.Softmax}, nil
	}
	l := labelling{set.Y != nil && o.labels != "none", rbm.Softmax}
	if o.labels == "bernoulli" {
		l.kind = rbm.Bernoulli
	}
	return l, nil
}

// checkSize returns an upper bound on the memory of the model and the chains, in bytes. It returns an error
// if there are too many parameters or states, or if this machine has too little memory.
func checkSize(s train.Settings, hidden int, set *data.Set, labelled, realHidden bool) (need float64, err error) {
	units := set.X.Cols + len(set.Classes)
	replicas, chains := s.Negative.Ladder().MaxTemperatures(), s.Negative.Count("chains")
	states := func(n int, format string, args ...any) error {
		if n <= cli.MaxStates {
			return nil
		}
		return cli.Usagef(format+" with -hidden %d makes %d hidden states; at most %d are allowed", append(args, hidden, n, cli.MaxStates)...)
	}
	if n := units * hidden; n > rbm.MaxParameters {
		return 0, cli.Usagef("-hidden is %d, which makes %d weights; at most %d are allowed", hidden, n, rbm.MaxParameters)
	}
	if err := states(s.Batch*hidden, "-batch %d", s.Batch); err != nil {
		return 0, err
	}
	if n := chains * replicas * (hidden + units); s.Negative.Sampler() != "" && n > negphase.MaxSites {
		return 0, cli.Usagef("-chains %d at %d temperatures of %d units make %d units to move; at most %d are allowed", chains, replicas, hidden+units, n, negphase.MaxSites)
	}
	if err := states(chains*replicas*hidden, "-chains %d at %d temperatures", chains, replicas); err != nil {
		return 0, err
	}
	visible := set.X.Cols
	if labelled {
		visible = units
	}
	parameters := 4 * float64(visible) * float64(hidden)
	copies := 2.0 // the model, and the sums of the rounding errors of small steps
	if s.Momentum > 0 {
		copies++
	}
	if s.Average > 0 {
		copies += 2
	}
	// A checkpoint is built in memory, in a slice that grows by doubling.
	need = parameters * copies * 2
	if s.Objective != "" || s.Negative.Traits().Moments {
		need += parameters // moments of the size of the weights
	}
	rows := chains*replicas + 2*s.Batch
	if need += cli.StateBytes(rows, visible, hidden); realHidden {
		need += 2 * 4 * float64(rows) * float64(hidden)
	}
	if err := memory.Check(fmt.Sprintf("training %d hidden units on %d visible ones", hidden, visible), need); err != nil {
		return 0, fmt.Errorf("%w; use a smaller -hidden or fewer -chains", err)
	}
	return need, nil
}

// hiddenUnits are the values of -hidden-units.
var hiddenUnits = []string{"bernoulli", "relu", "drelu", "gaussian"}

func (o *options) hiddenKind() rbm.Kind {
	kind, err := units.ParseHidden(o.hiddenUnits)
	if err != nil {
		panic("rbmtrain: unknown kind of hidden units") // Parse has checked it
	}
	return kind
}

func (o *options) realHidden() bool { return o.hiddenKind() != rbm.Bernoulli }

// start returns the model that training starts from. If -init names a model, start also returns
// the names of its classes, and renumbers the classes of the sets and rows like those of the model.
func (o *options) start(sets *train.Sets, rows **data.Set, label labelling) (m *rbm.RBM, names []string, err error) {
	set := sets.Train
	if o.init == "sparse" && o.realHidden() && o.flags.Given("init") {
		return nil, nil, cli.Usagef("-init sparse needs hidden bits, and -hidden-units is %s; use -init log-odds", o.hiddenUnits)
	}
	if o.init == "" || slices.Contains(train.Starts, o.init) {
		return o.newModel(set, o.hidden, label), nil, nil
	}
	if info, err := os.Stat(o.init); err == nil && info.IsDir() { // the folder of a run
		o.init = filepath.Join(o.init, rundir.ModelFile)
	}
	m, about, err := o.initial(set.X.Cols)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("-init: there is no file %s%s", o.init, grammar.DidYouMeanOr(o.init, train.Starts, "give a model file, "+grammar.List(train.Starts, "or")))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("-init: %w", err)
	}
	if !about.Described && label.on { // a file without metadata: the data decide on the labels
		m.SetLabel(min(len(set.Classes), m.Visible()), label.kind)
	}
	for _, set := range []**data.Set{rows, &sets.Train, &sets.Holdout, &sets.Test} {
		if *set == nil || !label.on || m.Inputs() != (*set).X.Cols {
			continue
		}
		if *set, err = (*set).WithClasses(about.ClassNames); err != nil {
			return nil, nil, fmt.Errorf("-init: %s does not fit the data: %w", o.init, err)
		}
	}
	set = sets.Train
	switch {
	case m.HiddenKind() != o.hiddenKind():
		return nil, nil, cli.Usagef("-hidden-units is %s, but those of %s are %[3]s; give -hidden-units %[3]s", o.hiddenUnits, o.init, m.HiddenKind())
	case label.on != (m.Classes() > 0):
		return nil, nil, cli.Usagef("-init: %s has %d label units, which does not fit -labels %s on %s", o.init, m.Classes(), o.labels, set.Name)
	case o.flags.Given("hidden") && m.Hidden() != o.hidden:
		return nil, nil, cli.Usagef("-hidden is %d, but %s has %d hidden units; leave -hidden out", o.hidden, o.init, m.Hidden())
	case o.labels == "bernoulli" && m.LabelKind() != rbm.Bernoulli || o.labels == "softmax" && m.LabelKind() != rbm.Softmax:
		return nil, nil, cli.Usagef("-labels is %s, but those of %s are %s", o.labels, o.init, m.LabelKind())
	}
	if err := train.Fits(m, set); err != nil {
		return nil, nil, fmt.Errorf("-init: %s does not fit the data: %w", o.init, err)
	}
	if label.on {
		names = set.Classes
	}
	return m, names, nil
}

// newModel returns a model of set with the given number of hidden units, whose -init is one of train.Starts or "".
func (o *options) newModel(set *data.Set, hidden int, label labelling) *rbm.RBM {
	m := train.NewModelOf(set, rbm.Group{Kind: o.hiddenKind(), Units: hidden}, label.on, label.kind, o.settings.Seed)
	train.SetBiases(m, set, o.init)
	return m
}

// initial reads the model file of -init. For a resumed run it returns a model of the same
// shape instead.
func (o *options) initial(inputs int) (*rbm.RBM, modelfile.About, error) {
	if o.began != nil {
		m, err := o.began.model(inputs)
		return m, modelfile.About{Described: true, ClassNames: o.began.ClassNames}, err
	}
	return modelfile.Read(o.init)
}

// checkModel checks that the estimator can run on m, that m fits the sets, and that m gives every row a
// probability above zero. Sets may be nil.
func checkModel(m *rbm.RBM, s train.Settings, sets ...*data.Set) (warnings []string, err error) {
	warning, err := s.Negative.CheckModel(m)
	if err != nil {
		return nil, cli.Usagef("-negphase: %w", err)
	}
	if warning != "" {
		warnings = []string{warning}
	}
	for _, set := range sets {
		if set == nil {
			continue
		}
		if err := train.Fits(m, set); errors.Is(err, train.ErrNoLabels) {
			return nil, fmt.Errorf("%w; give both files labels in the same way, or train with -labels none", err)
		} else if err != nil {
			return nil, err
		}
		if err := train.Allows(m, set); err != nil {
			return nil, err
		}
	}
	if s.Negative.Traits().Moments {
		if _, err := exact.New(m, exact.GradientLimit); err != nil {
			return nil, cli.Usagef("-negphase exact: %w", err)
		}
	}
	return warnings, nil
}

// checkSettings sets the negative phase from its flags, and checks the settings
// of training.
func (o *options) checkSettings() (err error) {
	if o.settings.Negative, err = o.negative(); err != nil {
		return err
	}
	if err := o.checkObjective(); err != nil {
		return err
	}
	if err := o.settings.Check(); err != nil {
		return cli.Usagef("-%w", err)
	}
	return nil
}

// negative returns the settings of the negative phase, from -negphase and the
// flags of flagKeys. A setting must not be given by both.
func (o *options) negative() (negphase.Settings, error) {
	name, rest, more := strings.Cut(o.negphase, ":")
	text, s := name, negphase.DefaultSettings(name)
	for _, key := range flagKeys {
		if !negphase.Has(name, key.name) {
			continue
		}
		value := o.flags.Lookup(key.flag).Value.String()
		if o.flags.Given(key.flag) {
			text += ":" + key.name + "=" + strings.ReplaceAll(value, ":", "/") // auto:8 is auto/8 in settings
		} else if key.flag == "chains" && value == "0" {
			value = strconv.Itoa(o.settings.Batch)
		}
		if err := s.Set(key.name, value); err != nil {
			return s, cli.Usagef("-%s: %w", key.flag, err)
		}
	}
	if more {
		text += ":" + rest
	}
	parsed, err := negphase.Parse(text, s)
	var twice *negphase.TwiceError
	if errors.As(err, &twice) {
		for _, key := range flagKeys {
			if key.name == twice.Key && o.flags.Given(key.flag) {
				return s, cli.Usagef("-%s and %s= in -negphase mean the same; give one of them", key.flag, key.name)
			}
		}
	}
	if err != nil {
		return s, cli.Usagef("-negphase: %w", err)
	}
	if l := parsed.Ladder(); l.Temperatures.Auto && !l.Temperatures.Reach && l.Path == "" && parsed.Sampler() == "" {
		// The path to the data needs fewer temperatures than the path to the uniform distribution.
		if err := parsed.Set("path", negphase.ToData); err != nil {
			return s, err
		}
	}
	for _, key := range flagKeys {
		switch {
		case !o.flags.Given(key.flag):
		case key.flag == "k" && negphase.Has(name, "moves"):
			return s, cli.Usagef("-k counts Gibbs steps, but -negphase %s moves by walks; give their number as moves=2 and their length as k=1-20, both in -negphase", name)
		case !negphase.Has(name, key.name):
			return s, cli.Usagef("-%s has no meaning for -negphase %s; leave it out", key.flag, name)
		}
	}
	return parsed, nil
}

// flagKeys are the flags that set a key of -negphase.
var flagKeys = []struct{ flag, name string }{{"k", "k"}, {"swaps", "swaps"}, {"chains", "chains"}, {"start", "start"}, {"temperatures", "tau"}}

// describe returns two or three lines about the data, and the model and its
// training.
func (p *plan) describe() string {
	set := p.sets.Train
	d := fmt.Sprintf("%s: %s of %s (%s)", set.Name, cli.Count(set.Len(), "row"), cli.Count(set.X.Cols, "input"), set.Binarize)
	if set.Means == nil {
		d += fmt.Sprintf(", density %.3f", set.Density())
	}
	if set.Schema != nil {
		d = fmt.Sprintf("%s: %s of %s (%s)", set.Name, cli.Count(set.Len(), "row"), set.Schema, cli.Count(set.X.Cols, "input"))
	}
	if weights := set.DescribeWeights(); weights != "" {
		d += "; " + weights
	}
	if p.sets.Holdout != nil {
		d += fmt.Sprintf("; %s held out", cli.Count(p.sets.Holdout.Len(), "row"))
	}
	if p.sets.Test != nil {
		d += "; " + cli.Count(p.sets.Test.Len(), "test row")
	}
	switch set.Header {
	case data.HeaderNo:
		d += "; no header"
	case data.HeaderYes:
		d += "; the first line names the columns"
	case data.HeaderNumbers:
		d += "; the first line is numbers and names the columns (-header no: it is a row)"
	}
	if set.Y != nil && p.opts.labels != "none" && p.model.RealHidden() {
		d += fmt.Sprintf("; labels are left out, as a model with %s hidden units has none", p.model.HiddenKind())
	}
	d += describeUnlabelled(p.settings, p.model, set)
	if constant := set.DescribeConstantColumns(); constant != "" {
		if set.Means != nil {
			constant += ", and held at their values"
		}
		d += "\n" + constant
	}
	for _, hint := range set.Hints() {
		d += "\n" + hint
	}
	if p.opts.tuned != nil {
		d += "\n" + p.opts.tuned.String()
	}
	s := p.settings
	m := fmt.Sprintf("RBM: %s; %s, rate %v", cli.Units(p.model), method(s, p.model), s.Rate)
	if s.Schedule != "constant" {
		m += " " + s.Schedule
	}
	if s.LearnPrecision {
		m += ", precisions learned"
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"momentum", s.Momentum}, {"l1", s.L1}, {"l2", s.L2}, {"center", s.Center}, {"average", s.Average}, {"sparse", s.Sparse}} {
		if x.value > 0 {
			m += fmt.Sprintf(", %s %v", x.name, x.value)
		}
	}
	return fmt.Sprintf("%s\n%s, batch %d, %d steps", d, m, s.Batch, p.steps)
}
