// Rbmtrain trains a restricted Boltzmann machine with a negative phase of
// choice and leaves a folder with the model, its metrics and pictures.
//
//	rbmtrain -negphase ins -data mnist -hidden 500
//
// See rbmtrain -h.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	"gorbm/train"
)

func main() { cli.Main("rbmtrain", run) }

var summary = `rbmtrain trains a restricted Boltzmann machine.

The negative phase, the expectation under the model in the likelihood gradient,
is chosen by -negphase:

` + negphase.KindsHelp() + `

Settings may follow the name, as in -negphase pt:k=1:swaps=1:tau=1/2/3; the
flags -k -swaps -chains -start -temperatures say the same. Others have no flag:

` + negphase.KeysHelp("k", "swaps", "chains", "start", "tau") + `
  k=1-20 gamma=1.02 weights=boltzmann walks=1 mix=2/1/1 accept=type   of sardonics:
                  flips of a walk (default auto: 1 to 20, or what the model has
                  room for), bias, and as isingmc -h says; of im k, weights and
                  gamma=1 or gamma=DOWN/UP

In pt, ins and pins a sampler may take the place of Gibbs steps between swaps:
-negphase pt:tau=1/1.5/2:sardonics:k=1-20; -k then counts its moves.

-temperatures auto tunes the ladder while the model sharpens: temperatures stand
where neighbours exchange equally often, as many as the measured barrier asks
for (at most 64; ins 16), or 20 of them by auto:20 (at most 256; ins 16). Within
-negphase it is tau=auto or tau=auto/20. metrics.csv, ladder.csv and ladder.png
show how it exchanges.

Results go to a folder: config.json, metrics.csv, model.safetensors, a
checkpoint, snapshots in models/, and the pictures filters.png, samples.png,
curves.png and ladder.png. Ctrl-C saves
and stops; -resume goes on to the same bits as if nothing had happened.
Defaults are those of the infinite-swapping paper (Hult, Nyquist & Ringqvist
2020), where it has them.

Examples:

  rbmtrain                                        # infinite swapping on font digits
  rbmtrain -data mnist -negphase pcd -chains 100 -batch 100 -rate 0.01 -center 0.01 -epochs 20
  rbmtrain -data mnist -labels none -negphase pins:path=data -temperatures auto
  rbmtrain -data mnist -hidden 100 -constraint hidden=20 -negphase pcd -chains 100 -batch 100
  rbmtrain -data bars:4 -hidden 16 -negphase pt -schedule linear -steps 50000
  rbmtrain -data rows.csv -label-column last -hidden 50 -holdout 0.1 -stop-after 5
  rbmtrain -resume runs/mnist-pcd-1 -steps 20000`

// options are the flags.
type options struct {
	flags *cli.Flags
	data  *cli.DataFlags

	labels, init, metrics            string
	constraint, reference            string
	negphase, start, temperatures    string
	hidden, k, swaps, chains         int
	schedule                         string
	rate, momentum, l1, l2           float64
	center, average, epochs, holdout float64
	batch, steps                     int
	evalEvery, stopAfter, snapshots  int
	seed                             uint64
	checkpoint                       string
	resume, out, cpuprofile          string
	force, dryRun                    bool
	workers                          *int

	extended bool // -steps came with -resume
}

func newOptions() *options {
	f := cli.NewFlags("rbmtrain", summary, "rbmtrain [flags]")
	o := &options{flags: f, data: f.AddData("fontdigits", "")}
	d := train.DefaultSettings("ins")
	f.StringVar(&o.labels, "labels", "auto", "label layer: softmax, bernoulli (the infinite-swapping paper's), none, or auto, which is softmax for labelled data")
	f.IntVar(&o.hidden, "hidden", defaultHidden, "hidden units")
	f.StringVar(&o.constraint, "constraint", "", "keep a number of units active: hidden=20, so many hidden units whatever the input, or all=120, so many of all units, labels included (default: none)")
	f.StringVar(&o.reference, "constraint-reference", "", "file of 0 and 1, one for each unit of -constraint, visible ones first: a unit is active if it differs (default: all 0, active is on)")
	f.StringVar(&o.negphase, "negphase", "ins", "negative phase: "+strings.Join(negphase.Kinds(), ", ")+"; settings may follow, as in pt:k=1:tau=1/2/3")
	f.IntVar(&o.k, "k", d.Negative.Count("k"), negphase.KeyHelp("k"))
	f.IntVar(&o.swaps, "swaps", d.Negative.Count("swaps"), negphase.KeyHelp("swaps"))
	f.IntVar(&o.chains, "chains", 0, negphase.KeyHelp("chains")+" (default: as many as rows in a batch)")
	f.StringVar(&o.start, "start", d.Negative.Get("start"), negphase.KeyHelp("start"))
	f.StringVar(&o.temperatures, "temperatures", "1,2,3,4,5", negphase.KeyHelp("tau"))
	f.Float64Var(&o.rate, "rate", d.Rate, "learning rate")
	f.StringVar(&o.schedule, "schedule", d.Schedule, "learning-rate schedule: constant, inverse or inverse:STEPS (halved after so many steps, a tenth of all by default), linear or cosine (to zero)")
	f.Float64Var(&o.momentum, "momentum", 0, "share of the last change that is repeated, 0 to below 1")
	f.Float64Var(&o.l1, "l1", 0, "penalty on the sum of |weight|, per row in nats")
	f.Float64Var(&o.l2, "l2", 0, "penalty on half the sum of weight², per row in nats")
	f.Float64Var(&o.center, "center", 0, "centred gradient: step of the offsets' moving averages, such as 0.01; 0: not centred")
	f.Float64Var(&o.average, "average", 0, "share of the old in a moving average of the parameters, such as 0.999, which becomes the model; 0: none")
	f.StringVar(&o.init, "init", "", "start from log-odds (visible biases from the data's frequencies), a model file or the folder of a run (default: small random parameters)")
	f.IntVar(&o.batch, "batch", d.Batch, "rows of a minibatch")
	f.IntVar(&o.steps, "steps", 10000, "training steps")
	f.Float64Var(&o.epochs, "epochs", 0, "passes over the data, instead of -steps")
	f.Uint64Var(&o.seed, "seed", d.Seed, "seed of all that is random but the data: equal seeds give equal bits")
	f.StringVar(&o.metrics, "metrics", "auto", "what to measure: "+strings.Join(train.MetricNames(), ", ")+", separated by commas; auto or none")
	f.IntVar(&o.evalEvery, "eval-every", 0, "steps between measurements (default: a twentieth of the steps)")
	f.Float64Var(&o.holdout, "holdout", 0, "training rows to hold out, as a fraction below 1 or a number: the model that is best on them is kept as best.safetensors")
	f.IntVar(&o.stopAfter, "stop-after", 0, "stop after so many measurements without a better one on the rows held out; 0: never")
	f.StringVar(&o.checkpoint, "checkpoint-every", "5m", "time (5m, 1h) or number of steps between checkpoints")
	f.IntVar(&o.snapshots, "snapshots", 20, "models to keep in models/, at steps spaced evenly on a logarithmic scale; 0: none")
	f.StringVar(&o.resume, "resume", "", "folder of a run to go on with: all settings are its own; -steps -workers -quiet -json may be given besides")
	f.StringVar(&o.out, "out", "", "folder for the results (default: runs/DATA-NEGPHASE-N, the first free N)")
	f.BoolVar(&o.force, "force", false, "let -out replace an earlier run")
	f.BoolVar(&o.dryRun, "dry-run", false, "check everything, say what would run, write nothing")
	f.AddOutput("no progress bar and no report; errors and warnings remain", "print the result as one JSON object and nothing else on standard output")
	f.StringVar(&o.cpuprofile, "cpuprofile", "", "write a CPU profile of the training to this file")
	o.workers = f.AddWorkers()
	return o
}

// defaultHidden is the number of hidden units of the paper's MNIST experiment
// (section 4.5).
const defaultHidden = 500

const (
	maxHidden     = 1 << 20
	maxParameters = 1 << 30 // 4 GiB of weights
	maxSnapshots  = 10000
)

// A plan is a checked command line with its data loaded.
type plan struct {
	options
	command  []string // as it was called
	sets     train.Sets
	rows     *data.Set // those of sets.Train and sets.Holdout, before they were split
	settings train.Settings
	keep     *rbm.Constraint // of -constraint, without its reference
	model    *rbm.RBM
	steps    int
	every    interval // between checkpoints
	metrics  []train.Metric
	doubt    string // what the sampler of the negative phase warns of
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	if err := o.flags.Parse(args, stdout, stderr); err != nil {
		return err
	}
	if o.flags.Given("resume") {
		if err := o.adopt(); err != nil {
			return err
		}
	}
	restore, err := cli.UseWorkers(*o.workers)
	if err != nil {
		return err
	}
	defer restore()
	p, err := o.check(ctx)
	if err != nil {
		return err
	}
	p.command = append([]string{o.flags.Name()}, args...)
	return p.run(ctx)
}

// check checks every flag, before and after the data are known, and loads the
// data.
func (o *options) check(ctx context.Context) (*plan, error) {
	every, everyErr := parseInterval(o.checkpoint)
	if err := cmp.Or(
		cli.Choice("labels", o.labels, "auto", "softmax", "bernoulli", "none"),
		cli.Between("hidden", o.hidden, 1, maxHidden),
		cli.Between("batch", o.batch, 1, math.MaxInt32),
		cli.Between("stop-after", o.stopAfter, 0, math.MaxInt32),
		cli.Between("snapshots", o.snapshots, 0, maxSnapshots),
		everyErr,
		o.checkSteps(),
	); err != nil {
		return nil, err
	}
	negative, err := o.negative()
	if err != nil {
		return nil, err
	}
	s := train.Settings{Rate: o.rate, Schedule: o.schedule, Momentum: o.momentum, L1: o.l1, L2: o.l2,
		Center: o.center, Average: o.average, Batch: o.batch, Seed: o.seed, Negative: negative}
	p := &plan{options: *o, settings: s, every: every}
	if p.keep, err = o.parseConstraint(); err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, cli.Usagef("-%w", err)
	}
	if o.stopAfter > 0 && o.holdout == 0 {
		return nil, cli.Usagef("-stop-after looks at rows held out; say how many by -holdout, such as 0.1")
	}
	if p.sets.Train, p.sets.Test, err = o.data.Load(ctx); err != nil {
		return nil, err
	}
	p.rows = p.sets.Train
	if o.flags.Given("holdout") {
		key := rbm.NewKey(o.seed).Child(holdoutKey)
		if p.sets.Train, p.sets.Holdout, err = p.sets.Train.Split(o.holdout, key); err != nil {
			return nil, cli.Usagef("-holdout: %w", err)
		}
	}
	return p, p.fit()
}

// holdoutKey is the purpose of the key that chooses the rows held out, beyond
// those of package train.
const holdoutKey = 1 << 32

// fit checks the flags against the data, and makes the model.
func (p *plan) fit() (err error) {
	set := p.sets.Train
	if p.batch > set.Len() {
		return cli.Usagef("-batch is %d, but %s has only %d rows", p.batch, set.Name, set.Len())
	}
	if p.steps = p.options.steps; p.flags.Given("epochs") {
		steps := math.Ceil(p.epochs * float64(set.Len()) / float64(p.batch))
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
	if err := p.start(labelled, kind); err != nil {
		return err
	}
	if err := p.constrain(); err != nil {
		return err
	}
	if p.doubt, err = p.settings.Negative.CheckModel(p.model); err != nil {
		return cli.Usagef("-negphase: %w", err)
	}
	for _, set := range []*data.Set{p.rows, p.sets.Test} {
		if set == nil {
			continue
		}
		if err := train.Allows(p.model, set); err != nil {
			return err
		}
	}
	if p.settings.Negative.Kind == "exact" {
		if _, err := rbm.NewEnumeration(p.model, rbm.GradientLimit); err != nil {
			return cli.Usagef("-negphase exact: %w", err)
		}
	}
	if p.metrics, err = train.NewMetrics(strings.Split(p.options.metrics, ","), p.model, p.sets, p.seed); err != nil {
		return cli.Usagef("-metrics: %w", err)
	}
	if p.sets.Holdout != nil && p.choice() == "" && p.stopAfter > 0 {
		return cli.Usagef("-stop-after needs a metric of the rows held out; -metrics %s has none", p.options.metrics)
	}
	return nil
}

// start makes the model that training starts from.
func (p *plan) start(labelled bool, kind rbm.Kind) error {
	set := p.sets.Train
	if p.init == "" || p.init == "log-odds" {
		p.model = train.NewModel(set, p.hidden, labelled, kind, p.seed)
		if p.init != "" {
			train.SetLogOdds(p.model, set)
		}
		return nil
	}
	if info, err := os.Stat(p.init); err == nil && info.IsDir() { // the folder of a run
		p.init = filepath.Join(p.init, train.ModelFile)
	}
	m, about, err := rbm.ReadFile(p.init)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("-init: there is no file %s%s; give a model file or log-odds", p.init, cli.DidYouMean("", p.init, []string{"log-odds"}))
	}
	if err != nil {
		return fmt.Errorf("-init: %w", err)
	}
	if !about.Described && labelled { // a file of bare tensors: the labels are those of the data
		m.SetLabel(min(len(set.Classes), m.Visible()), kind)
	}
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
	return nil
}

func (o *options) checkSteps() error {
	if o.flags.Given("epochs") {
		if o.flags.Given("steps") {
			return cli.Usagef("-steps and -epochs say the same; give one of them")
		}
		if math.IsNaN(o.epochs) || o.epochs <= 0 {
			return cli.Usagef("-epochs is %v; it must be above 0", o.epochs)
		}
	}
	if err := cli.Between("steps", o.steps, 1, train.MaxSteps); err != nil {
		return err
	}
	if o.flags.Given("eval-every") {
		return cli.Between("eval-every", o.evalEvery, 1, train.MaxSteps)
	}
	return nil
}

// checkStates bounds the memory that batch and chains take beside the model.
func (o *options) checkStates(s negphase.Settings, inputs int) error {
	if n := o.batch * o.hidden; n > cli.MaxStates {
		return cli.Usagef("-batch %d with -hidden %d makes %d hidden states; at most %d are allowed", o.batch, o.hidden, n, cli.MaxStates)
	}
	replicas := s.MaxTemperatures()
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

// negative returns the settings of the negative phase: the flags are short for
// the keys of the grammar, and neither may contradict the other.
func (o *options) negative() (negphase.Settings, error) {
	name, rest, _ := strings.Cut(o.negphase, ":")
	s := negphase.DefaultSettings(name)
	for _, key := range flagKeys {
		value := o.flags.Lookup(key.flag).Value.String()
		if key.flag == "chains" && !o.flags.Given("chains") {
			value = strconv.Itoa(o.batch)
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
	if l := parsed.Ladder(); l.Temperatures.Auto && l.Path == "" && parsed.Sampler() == "" {
		// The path to the data is shorter, and the data are known here.
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

// flagKeys are the flags that are short for keys of the grammar.
var flagKeys = []struct{ flag, name string }{{"k", "k"}, {"swaps", "swaps"}, {"chains", "chains"}, {"start", "start"}, {"temperatures", "tau"}}

// saysKey reports whether settings in the grammar give key, other than to the
// sampler that they name.
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

// describe says in two lines, or three, what is trained on what.
func (p *plan) describe() string {
	set := p.sets.Train
	d := fmt.Sprintf("%s: %d rows of %d inputs (%s), density %.3f", set.Name, set.Len(), set.X.Cols, set.Binarize, set.Density())
	if p.sets.Holdout != nil {
		d += fmt.Sprintf("; %d rows held out", p.sets.Holdout.Len())
	}
	if p.sets.Test != nil {
		d += fmt.Sprintf("; %d test rows", p.sets.Test.Len())
	}
	if constant := set.DescribeConstantColumns(); constant != "" {
		d += "\n" + constant
	}
	s := p.settings
	m := fmt.Sprintf("RBM: %s; %s, rate %v", cli.Units(p.model), s.Negative.Fitted(p.model), s.Rate)
	if s.Schedule != "constant" {
		m += " " + s.Schedule
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"momentum", s.Momentum}, {"l1", s.L1}, {"l2", s.L2}, {"center", s.Center}, {"average", s.Average}} {
		if x.value > 0 {
			m += fmt.Sprintf(", %s %v", x.name, x.value)
		}
	}
	return fmt.Sprintf("%s\n%s, batch %d, %d steps", d, m, s.Batch, p.steps)
}
