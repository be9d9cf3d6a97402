// Rbmtrain trains a restricted Boltzmann machine with a negative phase of
// choice and leaves a folder with the model, its metrics and pictures.
//
//	rbmtrain -negphase ins -data mnist -hidden 500
//
// See rbmtrain -h.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gorbm/cmd/internal/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

func main() { cli.Main("rbmtrain", run) }

const summary = `rbmtrain trains a restricted Boltzmann machine.

The negative phase, the expectation under the model in the likelihood gradient,
is chosen by -negphase:

  cd     contrastive divergence: short chains from the batch
  pcd    persistent chains
  pt     parallel tempering: replicas at several temperatures swap
  ins    infinite swapping: all permutations of the temperatures at once
  exact  enumeration, where a layer has at most 18 units

Settings may follow the name, as in -negphase pt:k=1:swaps=1:tau=1/2/3; the
flags -k -swaps -chains -start -temperatures say the same. Results go to a
folder: config.json, metrics.csv, model.safetensors, filters.png, samples.png.
Defaults are those of the infinite-swapping paper (Hult, Nyquist & Ringqvist
2020), where it has them.`

// options are the flags.
type options struct {
	flags *cli.Flags
	data  *cli.DataFlags

	labels       string
	hidden       int
	negphase     string
	k            int
	swaps        int
	chains       int
	start        string
	temperatures string
	rate         float64
	batch        int
	steps        int
	epochs       float64
	seed         uint64
	metrics      string
	evalEvery    int
	out          string
	force        bool
	dryRun       bool
	quiet        bool
	json         bool
	cpuprofile   string
}

func newOptions() *options {
	f := cli.NewFlags("rbmtrain", summary, "rbmtrain [flags]")
	o := &options{flags: f, data: cli.AddDataFlags(f, "fontdigits", "")}
	d := train.DefaultSettings("ins")
	f.StringVar(&o.labels, "labels", "auto", "label layer: softmax, bernoulli (the infinite-swapping paper's), none, or auto, which is softmax for labelled data")
	f.IntVar(&o.hidden, "hidden", defaultHidden, "hidden units")
	f.StringVar(&o.negphase, "negphase", "ins", "negative phase: "+strings.Join(negphase.Kinds(), ", ")+"; settings may follow, as in pt:k=1:tau=1/2/3")
	f.IntVar(&o.k, "k", d.Negative.K, "Gibbs steps between swaps, and of cd and pcd an update")
	f.IntVar(&o.swaps, "swaps", d.Negative.Swaps, "rounds of Gibbs steps and a swap an update (pt, ins)")
	f.IntVar(&o.chains, "chains", 0, "chains, of pt and ins groups of replicas (default: as many as rows in a batch)")
	f.StringVar(&o.start, "start", string(d.Negative.Start), "where chains start: uniform or data")
	f.StringVar(&o.temperatures, "temperatures", "1,2,3,4,5", "temperatures of pt and ins, rising from 1")
	f.Float64Var(&o.rate, "rate", d.Rate, "learning rate")
	f.IntVar(&o.batch, "batch", d.Batch, "rows of a minibatch")
	f.IntVar(&o.steps, "steps", 10000, "training steps")
	f.Float64Var(&o.epochs, "epochs", 0, "passes over the data, instead of -steps")
	f.Uint64Var(&o.seed, "seed", d.Seed, "seed of all that is random but the data: equal seeds give equal bits")
	f.StringVar(&o.metrics, "metrics", "auto", "what to measure: "+strings.Join(train.MetricNames, ", ")+", separated by commas; auto or none")
	f.IntVar(&o.evalEvery, "eval-every", 0, "steps between measurements (default: a twentieth of the steps)")
	f.StringVar(&o.out, "out", "", "folder for the results (default: runs/DATA-NEGPHASE-N, the first free N)")
	f.BoolVar(&o.force, "force", false, "let -out replace an earlier run")
	f.BoolVar(&o.dryRun, "dry-run", false, "check everything, say what would run, write nothing")
	f.BoolVar(&o.quiet, "quiet", false, "no progress bar and no report; errors and warnings remain")
	f.BoolVar(&o.json, "json", false, "print the result as one JSON object and nothing else on standard output")
	f.StringVar(&o.cpuprofile, "cpuprofile", "", "write a CPU profile of the training to this file")
	return o
}

// defaultHidden is the number of hidden units of the paper's MNIST experiment
// (section 4.5).
const defaultHidden = 500

const (
	maxHidden     = 1 << 20
	maxParameters = 1 << 30 // 4 GiB of weights
	maxStates     = 1 << 29 // of hidden units in all rows or chains: 2 GiB of means
)

// A plan is a checked command line with its data loaded.
type plan struct {
	options
	command     []string // as it was called
	train, test *data.Set
	settings    train.Settings
	model       *rbm.RBM
	steps       int
	metrics     []train.Metric
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	if err := o.flags.Parse(args, stdout); err != nil {
		return err
	}
	p, err := o.check(ctx, stderr)
	if err != nil {
		return err
	}
	p.command = append([]string{o.flags.Name()}, args...)
	return p.run(ctx, stdout, stderr)
}

// check checks every flag, before and after the data are known, and loads the
// data.
func (o *options) check(ctx context.Context, stderr io.Writer) (*plan, error) {
	for _, err := range []error{
		cli.Choice("labels", o.labels, "auto", "softmax", "bernoulli", "none"),
		cli.Between("hidden", o.hidden, 1, maxHidden),
		cli.Between("batch", o.batch, 1, math.MaxInt32),
		o.checkSteps(),
	} {
		if err != nil {
			return nil, err
		}
	}
	negative, err := o.negative()
	if err != nil {
		return nil, err
	}
	s := train.Settings{Rate: o.rate, Batch: o.batch, Seed: o.seed, Negative: negative}
	if err := s.CheckRate(); err != nil {
		return nil, cli.Usagef("-%w", err)
	}
	p := &plan{options: *o, settings: s}
	if p.train, p.test, err = o.data.Load(ctx, stderr, o.quiet); err != nil {
		return nil, err
	}
	if o.batch > p.train.Len() {
		return nil, cli.Usagef("-batch is %d, but %s has only %d rows", o.batch, p.train.Name, p.train.Len())
	}
	if p.steps = o.steps; o.flags.Given("epochs") {
		steps := math.Ceil(o.epochs * float64(p.train.Len()) / float64(o.batch))
		if steps > train.MaxSteps {
			return nil, cli.Usagef("-epochs is %v, which is %.3g steps; at most %d are allowed", o.epochs, steps, train.MaxSteps)
		}
		p.steps = int(steps)
	}
	if !o.flags.Given("eval-every") {
		p.evalEvery = max(1, p.steps/20)
	}
	kind, labelled := rbm.Softmax, p.train.Y != nil && o.labels != "none"
	if o.labels == "bernoulli" {
		kind = rbm.Bernoulli
	}
	if p.train.Y == nil && o.labels != "auto" && o.labels != "none" {
		return nil, cli.Usagef("-labels is %s, but %s has no labels", o.labels, p.train.Name)
	}
	if n := (p.train.X.Cols + len(p.train.Classes)) * o.hidden; n > maxParameters {
		return nil, cli.Usagef("-hidden is %d, which makes %d weights; at most %d are allowed", o.hidden, n, maxParameters)
	}
	if err := o.checkStates(negative); err != nil {
		return nil, err
	}
	p.model = train.NewModel(p.train, o.hidden, labelled, kind, o.seed)
	if negative.Kind == "exact" {
		if _, err := rbm.NewEnumeration(p.model, rbm.GradientLimit); err != nil {
			return nil, cli.Usagef("-negphase exact: %w", err)
		}
	}
	if p.metrics, err = train.NewMetrics(strings.Split(o.metrics, ","), p.model, p.train, p.test, o.seed); err != nil {
		return nil, cli.Usagef("-metrics: %w", err)
	}
	return p, nil
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
func (o *options) checkStates(s negphase.Settings) error {
	if n := o.batch * o.hidden; n > maxStates {
		return cli.Usagef("-batch %d with -hidden %d makes %d hidden states; at most %d are allowed", o.batch, o.hidden, n, maxStates)
	}
	replicas := 1
	if negphase.Has(s.Kind, "tau") {
		replicas = len(s.Temperatures)
	}
	if n := s.Chains * replicas * o.hidden; negphase.Has(s.Kind, "chains") && n > maxStates {
		return cli.Usagef("-chains %d at %d temperatures with -hidden %d makes %d hidden states; at most %d are allowed", s.Chains, replicas, o.hidden, n, maxStates)
	}
	return nil
}

// negative returns the settings of the negative phase: the flags are short for
// the keys of the grammar, and neither may contradict the other.
func (o *options) negative() (negphase.Settings, error) {
	name, rest, _ := strings.Cut(o.negphase, ":")
	s := negphase.DefaultSettings(name)
	s.K, s.Swaps, s.Start = o.k, o.swaps, negphase.Start(o.start)
	if s.Chains = o.batch; o.flags.Given("chains") {
		s.Chains = o.chains
	}
	temperatures, err := negphase.ParseTemperatures(o.temperatures)
	if err != nil {
		return s, cli.Usagef("-temperatures: %w", err)
	}
	s.Temperatures = temperatures
	parsed, err := negphase.Parse(o.negphase, s)
	if err != nil {
		return s, cli.Usagef("-negphase %w", err)
	}
	for _, pair := range [][2]string{{"k", "k"}, {"swaps", "swaps"}, {"chains", "chains"}, {"start", "start"}, {"temperatures", "tau"}} {
		flagName, key := pair[0], pair[1]
		if !o.flags.Given(flagName) {
			continue
		}
		if !negphase.Has(name, key) {
			return s, cli.Usagef("-%s has no meaning for -negphase %s; leave it out", flagName, name)
		}
		if strings.Contains(":"+rest, ":"+key+"=") {
			return s, cli.Usagef("-%s and %s= in -negphase say the same; give one of them", flagName, key)
		}
	}
	return parsed, nil
}

// describe says in two lines what is trained on what.
func (p *plan) describe() string {
	d := fmt.Sprintf("%s: %d rows of %d binary inputs (%s), density %.3f", p.train.Name, p.train.Len(), p.train.X.Cols, p.train.Binarize, p.train.Density())
	if p.test != nil {
		d += fmt.Sprintf("; %d test rows", p.test.Len())
	}
	m := fmt.Sprintf("RBM: %d inputs", p.model.Inputs())
	if p.model.Classes > 0 {
		m += fmt.Sprintf(" + %d %s labels", p.model.Classes, p.model.Labels)
	}
	return fmt.Sprintf("%s\n%s, %d hidden units; %s, rate %v, batch %d, %d steps", d, m, p.model.Hidden(), p.settings.Negative, p.settings.Rate, p.settings.Batch, p.steps)
}
