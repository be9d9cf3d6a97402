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
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/memory"
	"gorbm/rbm/modelfile"
	"gorbm/train"
	"gorbm/train/rundir"
)

const (
	maxHidden     = 1 << 20
	maxParameters = 1 << 30 // 4 GiB of weights
	maxSnapshots  = 10000
)

// A plan is a checked command line with its data loaded.
type plan struct {
	options
	sets    train.Sets
	rows    *data.Set       // those of sets.Train and sets.Holdout, before they were split
	keep    *rbm.Constraint // of -constraint, without its reference
	model   *rbm.RBM
	every   interval // between checkpoints
	metrics []train.Metric
	need    float64 // bytes of memory beside the data, at most

	initNames      []string // of the classes, in the order of the model of -init
	samplerWarning string   // of the negative phase
}

// check checks every flag, before and after the data are known, and loads the
// data.
func (o *options) check(ctx context.Context) (*plan, error) {
	if err := o.choosePreset(); err != nil {
		return nil, err
	}
	every, err := parseInterval(o.checkpoint)
	if err := cmp.Or(o.flags.Check(), err); err != nil {
		return nil, err
	}
	if err := o.checkSettings(); err != nil {
		return nil, err
	}
	keep, err := o.parseConstraint()
	if err != nil {
		return nil, err
	}
	if o.stopAfter > 0 && o.holdout == 0 {
		return nil, cli.Usagef("-stop-after looks at rows held out; say how many by -holdout, such as 0.1")
	}
	var sets train.Sets
	if sets.Train, sets.Test, err = o.data.Load(ctx); err != nil {
		return nil, err
	}
	if err := o.fitPreset(sets.Train); err != nil {
		return nil, err
	}
	p := &plan{options: *o, every: every, keep: keep, sets: sets, rows: sets.Train}
	if o.flags.Given("holdout") {
		key := rbm.NewKey(o.settings.Seed).Child(holdoutKey)
		if p.sets.Train, p.sets.Holdout, err = p.sets.Train.Split(o.holdout, key); err != nil {
			return nil, cli.Usagef("-holdout: %w", err)
		}
	}
	return p, p.fit()
}

// holdoutKey is the key that chooses the rows held out. Package train has smaller
// ones.
const holdoutKey = 1 << 32

// fit checks the flags against the data, and makes the model.
func (p *plan) fit() (err error) {
	set := p.sets.Train
	if err := p.fitObjective(); err != nil {
		return err
	}
	rows := p.settings.Rows(set)
	p.fitBatch(rows)
	if p.settings.Batch > rows {
		return cli.Usagef("-batch is %d, but %s has only %d rows%s", p.settings.Batch, set.Name, rows, p.ofClasses())
	}
	if p.flags.Given("epochs") {
		steps := math.Ceil(p.epochs * float64(rows) / float64(p.settings.Batch))
		if steps > train.MaxSteps {
			return cli.Usagef("-epochs is %v, which is %.3g steps; at most %d are allowed", p.epochs, steps, train.MaxSteps)
		}
		p.steps = int(steps)
	}
	p.settings.Horizon = p.steps
	if !p.flags.Given("eval-every") {
		p.evalEvery = max(1, p.steps/20)
	}
	kind, labelled := rbm.Softmax, set.Y != nil && p.labels != "none"
	if p.labels == "bernoulli" {
		kind = rbm.Bernoulli
	}
	if set.Y == nil && p.labels != "auto" && p.labels != "none" {
		return cli.Usagef("-labels is %s, but %s has no labels", p.labels, set.Name)
	}
	if n := (set.X.Cols + len(set.Classes)) * p.hidden; n > maxParameters {
		return cli.Usagef("-hidden is %d, which makes %d weights; at most %d are allowed", p.hidden, n, maxParameters)
	}
	if err := p.checkStates(p.settings.Negative, set.X.Cols+len(set.Classes)); err != nil {
		return err
	}
	if err := p.forecast(labelled); err != nil {
		return err
	}
	if err := p.start(labelled, kind); err != nil {
		return err
	}
	if err := p.constrain(); err != nil {
		return err
	}
	if p.samplerWarning, err = p.settings.Negative.CheckModel(p.model); err != nil {
		return cli.Usagef("-negphase: %w", err)
	}
	for _, set := range []*data.Set{p.rows, p.sets.Test} {
		if set == nil {
			continue
		}
		if err := train.Fits(p.model, set); err != nil {
			return fmt.Errorf("%w; give both files labels in the same way, or train with -labels none", err)
		}
		if err := train.Allows(p.model, set); err != nil {
			return err
		}
	}
	if p.settings.Negative.Kind == "exact" {
		if _, err := exact.New(p.model, exact.GradientLimit); err != nil {
			return cli.Usagef("-negphase exact: %w", err)
		}
	}
	if p.metrics, err = train.NewRunMetrics(strings.Split(p.metricNames(), ","), p.model, p.sets, p.settings); err != nil {
		return cli.Usagef("-metrics: %w", err)
	}
	if p.sets.Holdout != nil && p.choice().Name == "" && p.stopAfter > 0 {
		return cli.Usagef("-stop-after needs a metric of the rows held out; -metrics %s has none", p.options.metrics)
	}
	return nil
}

// forecast returns an error if the machine has not the memory that training needs
// beside the data. It counts what grows with the model and the chains.
func (p *plan) forecast(labelled bool) error {
	visible, s := p.sets.Train.X.Cols, p.settings
	if labelled {
		visible += len(p.sets.Train.Classes)
	}
	parameters := 4 * float64(visible) * float64(p.hidden)
	copies := 2.0 // the model, and what rounding leaves of small steps
	if s.Momentum > 0 {
		copies++
	}
	if s.Average > 0 {
		copies += 2
	}
	// A checkpoint is put together in memory, in a slice that grows as it is filled.
	need := parameters * copies * 2
	defer func() { p.need = need }()
	if s.Objective != train.Joint || s.Negative.Kind == "exact" {
		need += parameters // of dense moments
	}
	rows := s.Negative.Count("chains")*s.Negative.Ladder().MaxTemperatures()*max(1, 2*s.Negative.Count("max")) + 2*s.Batch
	need += cli.StateBytes(rows, visible, p.hidden)
	if err := memory.Check(fmt.Sprintf("training %d hidden units on %d visible ones", p.hidden, visible), need); err != nil {
		return fmt.Errorf("%w; take a smaller -hidden or fewer -chains", err)
	}
	return nil
}

// start makes the model that training starts from.
func (p *plan) start(labelled bool, kind rbm.Kind) error {
	set := p.sets.Train
	if p.init == "" || p.init == "random" || p.init == "log-odds" {
		p.model = train.NewModel(set, p.hidden, labelled, kind, p.settings.Seed)
		if p.init == "log-odds" {
			train.SetLogOdds(p.model, set)
		}
		return nil
	}
	if info, err := os.Stat(p.init); err == nil && info.IsDir() { // the folder of a run
		p.init = filepath.Join(p.init, rundir.ModelFile)
	}
	m, about, err := p.initial()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("-init: there is no file %s%s; give a model file, log-odds or random", p.init, data.DidYouMean(p.init, []string{"log-odds", "random"}))
	}
	if err != nil {
		return fmt.Errorf("-init: %w", err)
	}
	if !about.Described && labelled { // a file of bare tensors: the labels are those of the data
		m.SetLabel(min(len(set.Classes), m.Visible()), kind)
	}
	for _, set := range []**data.Set{&p.rows, &p.sets.Train, &p.sets.Holdout, &p.sets.Test} {
		if *set == nil || !labelled || m.Inputs() != (*set).X.Cols {
			continue
		}
		if *set, err = (*set).WithClasses(about.ClassNames); err != nil {
			return fmt.Errorf("-init: %s does not fit the data: %w", p.init, err)
		}
	}
	set = p.sets.Train
	switch {
	case labelled != (m.Classes() > 0):
		return cli.Usagef("-init: %s has %d label units, which does not go with -labels %s on %s", p.init, m.Classes(), p.labels, set.Name)
	case p.flags.Given("hidden") && m.Hidden() != p.hidden:
		return cli.Usagef("-hidden is %d, but %s has %d hidden units; leave -hidden out", p.hidden, p.init, m.Hidden())
	case p.labels == "bernoulli" && m.LabelKind() != rbm.Bernoulli || p.labels == "softmax" && m.LabelKind() != rbm.Softmax:
		return cli.Usagef("-labels is %s, but those of %s are %s", p.labels, p.init, m.LabelKind())
	}
	if err := train.Fits(m, set); err != nil {
		return fmt.Errorf("-init: %s does not fit the data: %w", p.init, err)
	}
	p.model, p.hidden = m, m.Hidden()
	if p.initNames = set.Classes; !labelled {
		p.initNames = nil
	}
	return nil
}

// initial returns the model of the file of -init, or one of its shape for a run
// that goes on.
func (p *plan) initial() (*rbm.RBM, modelfile.About, error) {
	if p.began != nil {
		if m := p.began.model(p.sets.Train.X.Cols); m != nil {
			return m, modelfile.About{Described: true, ClassNames: p.began.ClassNames}, nil
		}
	}
	return modelfile.Read(p.init)
}

// checkStates bounds the memory of the batch and of the chains.
func (o *options) checkStates(s negphase.Settings, inputs int) error {
	if n := o.settings.Batch * o.hidden; n > cli.MaxStates {
		return cli.Usagef("-batch %d with -hidden %d makes %d hidden states; at most %d are allowed", o.settings.Batch, o.hidden, n, cli.MaxStates)
	}
	replicas := s.Ladder().MaxTemperatures()
	units := o.hidden + inputs
	chains, most := s.Count("chains"), s.Count("max")
	if n := chains * replicas * units; s.Sampler() != "" && n > negphase.MaxSites {
		return cli.Usagef("-chains %d at %d temperatures of %d units make %d units to move; at most %d are allowed", chains, replicas, units, n, negphase.MaxSites)
	}
	if n := chains * replicas * o.hidden; n > cli.MaxStates {
		return cli.Usagef("-chains %d at %d temperatures with -hidden %d makes %d hidden states; at most %d are allowed", chains, replicas, o.hidden, n, cli.MaxStates)
	}
	if n := chains * 2 * most * o.hidden; n > cli.MaxStates {
		return cli.Usagef("-chains %d of up to max = %d steps with -hidden %d makes %d hidden states; at most %d are allowed", chains, most, o.hidden, n, cli.MaxStates)
	}
	return nil
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
	name, rest, _ := strings.Cut(o.negphase, ":")
	s := negphase.DefaultSettings(name)
	for _, key := range flagKeys {
		value := o.flags.Lookup(key.flag).Value.String()
		if key.flag == "chains" && value == "0" && !o.flags.Given("chains") { // as in runs that are older than presets
			value = strconv.Itoa(o.settings.Batch)
		}
		if !negphase.Has(name, key.name) {
			continue
		}
		if err := s.Set(key.name, value); err != nil {
			return s, cli.Usagef("-%s: %w", key.flag, err)
		}
	}
	parsed, err := negphase.Parse(o.negphase, s)
	if err != nil {
		return s, cli.Usagef("-negphase: %w", err)
	}
	if l := parsed.Ladder(); l.Temperatures.Auto && !l.Temperatures.Reach && l.Path == "" && parsed.Sampler() == "" {
		// The path to the data is the shorter one.
		if err := parsed.Set("path", negphase.ToData); err != nil {
			return s, err
		}
	}
	for _, key := range flagKeys {
		flagName, key := key.flag, key.name
		if !o.flags.Given(flagName) {
			continue
		}
		if flagName == "k" && negphase.Has(name, "moves") {
			return s, cli.Usagef("-k counts Gibbs steps, and -negphase %s takes moves; say how many by moves=2, and how long its walks are by k=1-20, both in -negphase", name)
		}
		if !negphase.Has(name, key) {
			return s, cli.Usagef("-%s has no meaning for -negphase %s; leave it out", flagName, name)
		}
		if saysKey(rest, key) {
			return s, cli.Usagef("-%s and %s= in -negphase say the same; give one of them", flagName, key)
		}
	}
	return parsed, nil
}

// flagKeys are the flags that stand for keys in the grammar of -negphase.
var flagKeys = []struct{ flag, name string }{{"k", "k"}, {"swaps", "swaps"}, {"chains", "chains"}, {"start", "start"}, {"temperatures", "tau"}}

// saysKey reports whether settings in the grammar give key to the estimator. A
// key after the name of a sampler may be the sampler's.
func saysKey(settings, key string) bool {
	sampler := ""
	for _, part := range strings.Split(settings, ":") {
		name, _, given := strings.Cut(part, "=")
		switch {
		case !given:
			sampler = part
		case name == key && !mcmc.MoverHas(sampler, key):
			return true
		}
	}
	return false
}

// describe returns two or three lines: the data, and the model with its
// training.
func (p *plan) describe() string {
	set := p.sets.Train
	d := fmt.Sprintf("%s: %d rows of %d inputs (%s), density %.3f", set.Name, set.Len(), set.X.Cols, set.Binarize, set.Density())
	if p.sets.Holdout != nil {
		d += fmt.Sprintf("; %d rows held out", p.sets.Holdout.Len())
	}
	if p.sets.Test != nil {
		d += fmt.Sprintf("; %d test rows", p.sets.Test.Len())
	}
	switch set.Header {
	case data.HeaderNo:
		d += "; no header"
	case data.HeaderYes:
		d += "; the first line names the columns"
	case data.HeaderNumbers:
		d += "; the first line is numbers and names the columns (-header no: it is a row)"
	}
	d += p.describeUnlabelled()
	if constant := set.DescribeConstantColumns(); constant != "" {
		d += "\n" + constant
	}
	s := p.settings
	m := fmt.Sprintf("RBM: %s; %s, rate %v", cli.Units(p.model), p.method(), s.Rate)
	if s.Schedule != "constant" {
		m += " " + s.Schedule
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
