package main

import (
	"context"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
)

const summary = `speed races gorbm against its peers, on the same data and sizes, and prints by how
many times it is faster.

Each program runs in a separate process. All take turns, round by round, so that what
slows the machine slows all of them. Imports, set-up and the first runs are not
counted. gorbm and each peer run with one thread and with all threads, in every way
that they have, and the best time counts. Numbers are float32. Before a race each peer
shows that it does the same work: its updates move the parameters as gorbm's do, and
its p(y|x) and log Z agree. A peer that does other work is left out, with a warning.

  update    PCD-1 of 784 × 500 units, batches of 10 and 100
  pt        parallel tempering, 5 temperatures × 10 chains
  ins       infinite swapping of the same
  states    PCD-1 of 100 groups of 21 states × 200 units, batch 500
  gaussian  PCD-1 of 784 Gaussian units × 500, batches of 10 and 100
  labels    log p(y|x), its exact gradient, 784 × 500 units, 10 classes, batch 10
  classify  p(y|x) of 10000 images
  ais       annealed importance sampling, 100 chains × 1000 temperatures
  exact     log Z of 784 × 20 units by enumeration
  scaling   PCD-1 with batches from 1 to 1000 and up to 16384 hidden units
  recipes   PCD-1 of gorbm with centring, momentum, weight decay, an average, a constraint
  memory    peak memory of each program while it trains

Peers are scikit-learn's BernoulliRBM.fit, and loops over NumPy and PyTorch as an
engineer who knows both well tunes them: results in place, random numbers of
float32, one matrix product for the gradient, the quicker of two ways wherever
there are two (experiments/speed/peers.py). gorbm's side is what its users run.
The peers need a python3 with these packages; on Debian

  apt-get install python3-numpy python3-torch python3-sklearn libopenblas0-pthread

A peer that is not installed is left out. DsysDML/rbms, an RBM library in PyTorch,
is not among the peers: Debian has no package of it.

Times depend on what else the machine does: let it do nothing else.

Examples:

  speed -quick
  speed -only update,pt -rounds 21 -out runs/race
  speed -python /opt/env/bin/python3 -json`

// options are the values of the flags.
type options struct {
	flags   *cli.Flags
	data    string
	dataDir string
	only    string
	rounds  int
	seconds float64
	quick   bool
	python  string
	out     string
}

const (
	defaultRounds  = 9
	defaultSeconds = 0.2
	// itemSeconds and quickSeconds are the approximate time limits of a race. Slow races get
	// fewer rounds.
	itemSeconds  = 60
	quickSeconds = 4
	// pause is the time between turns, in which the threads of the last contestant go to sleep. The threads of OpenBLAS spin
	// for 2²⁶ cycles, some 20 ms. But after 30 ms the next contestant with two threads took up to twice as long in
	// some rounds, and after 150 ms none did.
	pause = 150 * time.Millisecond
)

func newOptions() *options {
	f := cli.NewFlags("speed", summary, "speed [flags]")
	o := &options{flags: f}
	f.Screen = screen
	f.Group("what")
	f.StringVar(&o.only, "only", "", "sections to run, separated by commas (default: all)").Main("LIST  sections to run; -h all lists them")
	f.StringVar(&o.data, "data", "", "data set with labels, of 784 inputs: mnist, fontdigits … (default: mnist if it is on disk, else fontdigits)").Main("NAME  rows, mnist by default if it is on disk")
	f.StringVar(&o.dataDir, "data-dir", "", "folder in which to look for MNIST first (then $GORBM_DATA/mnist, the folder of the Go module GoMNIST, the user's cache)")
	f.StringVar(&o.python, "python", "", "python3 of the peers, or none (default: the first one found that has NumPy)")
	f.Group("how long")
	f.BoolVar(&o.quick, "quick", false, "short turns, few rounds and small sizes, for a first look in one or two minutes").Main("  small sizes and short turns")
	f.IntVar(&o.rounds, "rounds", defaultRounds, "turns of each contestant; fewer if they would take more than a minute").Between(1, 10000)
	f.Float64Var(&o.seconds, "seconds", defaultSeconds, "length of a turn").Between(0.001, 60)
	f.Group("results")
	f.StringVar(&o.out, "out", "", "new folder for speed.json, speed.csv and speed.png (default: runs/speed-1, or the next that is free)").Main("FOLDER  speed.json, speed.csv and speed.png (runs/speed-1)")
	f.AddOutput("no progress bar and no tables; errors and warnings remain", "print the result as one JSON object and nothing else on standard output")
	return o
}

// screen is what -h prints.
var screen = cli.Screen{
	Purpose: "speed compares the times of gorbm, scikit-learn, NumPy and PyTorch for the same work. Nothing\nelse should run on the machine.",
	Examples: []string{
		"speed  # some 20 minutes",
		"speed -quick  # a first look, one or two minutes",
		"speed -only update,labels -python none  # some sections, gorbm alone",
	},
}

// check returns the sections to run.
func (o *options) check() (run []string, err error) {
	if o.quick && !o.flags.Given("rounds") {
		o.rounds = 3
	}
	if o.quick && !o.flags.Given("seconds") {
		o.seconds = 0.05
	}
	if o.python != "" && o.python != "none" && len(modules(o.python)) == 0 {
		return nil, cli.Usagef("-python: %s cannot be run, or has none of NumPy, PyTorch and scikit-learn; give another python3, or none", o.python)
	}
	if o.only == "" {
		return sections, nil
	}
	for _, s := range strings.Split(o.only, ",") {
		if err := cli.Choice("only", s, sections...); err != nil {
			return nil, err
		}
		run = append(run, s)
	}
	return run, nil
}

// load loads the data.
func (o *options) load(ctx context.Context) (*data.Set, error) {
	d := cli.DataFlags{Flags: o.flags, Spec: o.data, Dir: o.dataDir, LabelColumn: "auto", Header: "auto", Binarize: data.Threshold}
	if d.Spec == "" {
		d.Spec = "fontdigits"
		if data.HasMNIST(o.dataDir) {
			d.Spec = "mnist"
		}
	}
	set, _, err := d.Load(ctx)
	if err != nil {
		return nil, err
	}
	if set.X.Cols != inputs || set.Y == nil || set.Len() < 1000 {
		return nil, cli.Usagef("-data: %s has %d rows of %d inputs; at least 1000 rows of %d inputs with labels are needed", set.Name, set.Len(), set.X.Cols, inputs)
	}
	return set, nil
}
