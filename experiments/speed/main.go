// Speed races gorbm against scikit-learn and against loops over NumPy and
// PyTorch that are tuned by hand, on the same data and sizes, in turn within
// one run, and says how much of the processor's limit gorbm reaches.
//
//	go run ./experiments/speed
//
// See speed -h.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gorbm/data"
	"gorbm/internal/cli"
	"gorbm/rbm"
	"gorbm/train"
)

func main() {
	if os.Getenv(childVariable) != "" {
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(cli.Failed)
		}
		return
	}
	cli.Main("speed", run)
}

const summary = `speed races gorbm against its peers, on the same data and sizes, and prints by how
many times it is faster.

All run as processes of their own and take turns, round by round, so that what
slows the machine slows all of them. Imports, set-up and the first runs are not
counted. Each peer runs with one thread and with all, in every way it has, and the
best counts; so does gorbm. Numbers are float32. Before a race each peer shows that
it does the same work: its updates move the parameters as gorbm's do, its p(y|x) and
log Z agree. One that does other work is left out, with a warning.

  update    PCD-1 of 784 × 500 units, batches of 10 and 100
  pt        parallel tempering, 5 temperatures × 10 chains
  ins       infinite swapping of the same
  classify  p(y|x) of 10000 images
  ais       annealed importance sampling, 100 chains × 1000 temperatures
  exact     log Z of 784 × 20 units by enumeration
  scaling   PCD-1 with batches from 1 to 1000 and up to 16384 hidden units
  twin      gorbm without assembly against simple loops in Go
  memory    the most memory that each holds while it trains

Peers are scikit-learn's BernoulliRBM.fit, and loops over NumPy and PyTorch as an
engineer tunes them who knows both well: results in place, random numbers of
float32, one matrix product for the gradient, the quicker of two ways wherever
there are two (experiments/speed/peers.py). gorbm's side is what its users run.
They need a python3 with these packages; on Debian

  apt-get install python3-numpy python3-torch python3-sklearn libopenblas0-pthread

Those that are not there are left out. So is DsysDML/rbms, which Debian does not
have and whose releases are made for graphics processors.

The limit of the ports is the least time in which this processor could do what an
update must do: the rates of its vector operations are measured in the same run,
and the operations are counted from the parts of the units that are on. It takes
AVX-512.

Times depend on what else the machine does: let it do nothing else.

Examples:

  speed -quick
  speed -only update,pt -rounds 21 -out runs/race
  speed -python /opt/env/bin/python3 -json`

// options are the flags.
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
	quiet   bool
	json    bool
}

const (
	defaultRounds  = 9
	defaultSeconds = 0.2
	// itemSeconds and quickSeconds are about how long a race may take that is
	// slow: those get fewer rounds.
	itemSeconds  = 60
	quickSeconds = 4
	// pause lets the threads of the last one go to sleep: OpenBLAS's spin for
	// 2²⁶ cycles, some 20 ms.
	pause = 30 * time.Millisecond
)

func newOptions() *options {
	f := cli.NewFlags("speed", summary, "speed [flags]")
	o := &options{flags: f}
	f.StringVar(&o.data, "data", "", "data set with labels, of 784 inputs: mnist, fontdigits … (default: mnist if it is on disk, else fontdigits)")
	f.StringVar(&o.dataDir, "data-dir", "", "folder in which to look for MNIST first (then $GORBM_DATA/mnist, then the user's cache)")
	f.StringVar(&o.only, "only", "", "sections to run, separated by commas (default: all)")
	f.IntVar(&o.rounds, "rounds", defaultRounds, "turns of each contestant; fewer where that would take over a minute")
	f.Float64Var(&o.seconds, "seconds", defaultSeconds, "length of a turn")
	f.BoolVar(&o.quick, "quick", false, "short turns, few rounds and small sizes: one or two minutes, for a first look")
	f.StringVar(&o.python, "python", "", "python3 of the peers, or none (default: the first one found that has NumPy)")
	f.StringVar(&o.out, "out", "", "new folder for speed.json, speed.csv and speed.png (default: runs/speed-1, or the next that is free)")
	f.BoolVar(&o.quiet, "quiet", false, "no progress bar and no tables; errors and warnings remain")
	f.BoolVar(&o.json, "json", false, "print the result as one JSON object and nothing else on standard output")
	return o
}

// check returns the sections to run.
func (o *options) check() (run []string, err error) {
	if o.quick && !o.flags.Given("rounds") {
		o.rounds = 3
	}
	if o.quick && !o.flags.Given("seconds") {
		o.seconds = 0.05
	}
	if err := cli.Between("rounds", o.rounds, 1, 10000); err != nil {
		return nil, err
	}
	if !(o.seconds >= 0.001 && o.seconds <= 60) {
		return nil, cli.Usagef("-seconds is %v; it must lie in 0.001 … 60", o.seconds)
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
func (o *options) load(ctx context.Context, stderr io.Writer) (*data.Set, error) {
	d := cli.DataFlags{Spec: o.data, Dir: o.dataDir, LabelColumn: "auto", Binarize: data.Threshold}
	if d.Spec == "" {
		d.Spec = "fontdigits"
		if mnistIsThere(o.dataDir) {
			d.Spec = "mnist"
		}
	}
	set, _, err := d.Load(ctx, stderr, o.quiet)
	if err != nil {
		return nil, err
	}
	if set.X.Cols != inputs || set.Y == nil || set.Len() < 1000 {
		return nil, cli.Usagef("-data: %s has %d rows of %d inputs; the race takes 1000 or more rows of %d, with labels", set.Name, set.Len(), set.X.Cols, inputs)
	}
	return set, nil
}

// mnistIsThere reports whether MNIST can be loaded without a download, as far
// as its first file tells.
func mnistIsThere(dir string) bool {
	folders := []string{dir}
	if env := os.Getenv("GORBM_DATA"); env != "" {
		folders = append(folders, filepath.Join(env, "mnist"))
	}
	if cache, err := os.UserCacheDir(); err == nil {
		folders = append(folders, filepath.Join(cache, "gorbm", "mnist"))
	}
	for _, f := range folders {
		for _, ending := range []string{"", ".gz"} {
			if _, err := os.Stat(filepath.Join(f, "train-images-idx3-ubyte"+ending)); f != "" && err == nil {
				return true
			}
		}
	}
	return false
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	if err := o.flags.Parse(args, stdout); err != nil {
		return err
	}
	run, err := o.check()
	if err != nil {
		return err
	}
	set, err := o.load(ctx, stderr)
	if err != nil {
		return err
	}
	to, err := train.NewFolder(o.out, "speed", false)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text := stdout
	if o.json || o.quiet {
		text = io.Discard
	}
	result := &Result{Version: cli.Version(), Kernels: rbm.KernelLevel(), Processors: runtime.GOMAXPROCS(0), Data: set.Name, Programs: map[string]string{}}
	err = o.race(ctx, newFiles(ctx, dir, set, o.quick), run, result, text, stderr)
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return err
	}
	if err := result.save(to); err != nil {
		return err
	}
	if o.json {
		if err := json.NewEncoder(stdout).Encode(result); err != nil {
			return err
		}
	}
	fmt.Fprintf(text, "\nresults in %s\n", to.Dir)
	for _, w := range result.Warnings {
		fmt.Fprintf(stderr, "speed: warning: %s\n", w)
	}
	if stopped {
		return errors.New("stopped; what is shown was done before")
	}
	return nil
}

// race runs the sections and prints what comes out as soon as it is there.
func (o *options) race(ctx context.Context, f *files, run []string, result *Result, text, stderr io.Writer) error {
	const parts = 1000
	bar := cli.NewProgress(stderr, o.quiet || o.json, "", "‰", parts)
	defer bar.Done()
	most := itemSeconds * time.Second
	if o.quick {
		most = quickSeconds * time.Second
	}
	r := &race{
		turn: time.Duration(o.seconds * float64(time.Second)), most: most, rounds: o.rounds, pause: pause,
		progress: func(what string, done float64) { bar.Set(int64(parts*done), what) },
		children: map[string]*child{}, versions: result.Programs,
	}
	defer r.close()
	if err := o.enter(ctx, r, f.dir, run, result, text); err != nil {
		return err
	}
	result.Density = f.set.Density()
	fmt.Fprintf(text, "%s: %d rows of %d inputs, density %.3f; %d processors, kernels %s\n", f.set.Name, f.set.Len(), inputs, result.Density, result.Processors, result.Kernels)
	for _, section := range run {
		bar.Set(0, section+": models")
		items := f.items(section)
		if f.err != nil {
			return f.err
		}
		for _, it := range items {
			done, err := r.run(ctx, it)
			result.Warnings = append(result.Warnings, done.Warnings...)
			if len(done.Entries) > 0 {
				result.Items = append(result.Items, done)
			}
			if r.best != nil {
				result.Rates = r.best
			}
			bar.Clear()
			if section != scalingSection {
				if err := done.print(text); err != nil {
					return err
				}
			}
			if err != nil {
				return err
			}
		}
		if section == scalingSection {
			if err := printScaling(text, result.of(scalingSection)); err != nil {
				return err
			}
		}
		if section == memorySection {
			it := f.update("pcd", inputs, hidden, 100)
			if f.err != nil {
				return f.err
			}
			list, warnings := r.memory(ctx, it)
			result.Memory, result.Warnings = list, append(result.Warnings, warnings...)
			bar.Clear()
			if err := printMemory(text, list); err != nil {
				return err
			}
		}
	}
	result.printRates(text)
	return ctx.Err()
}

// enter finds the contestants, and says which are missing.
func (o *options) enter(ctx context.Context, r *race, dir string, run []string, result *Result, text io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r.contestants = gorbms(self, result.Processors)
	if slices.Contains(run, twinSection) {
		plain, err := buildPlain(ctx, dir)
		if err != nil {
			result.Warnings = append(result.Warnings, "twin is left out: "+err.Error())
		} else {
			for _, n := range counts(result.Processors) {
				r.contestants = append(r.contestants, goContestant(plainGo, plain, n))
			}
			r.contestants = append(r.contestants, goContestant(loopsGo, self, 1))
		}
	}
	script := filepath.Join(dir, "peers.py")
	if err := os.WriteFile(script, peersScript, 0o600); err != nil {
		return err
	}
	python := o.python
	if python == "" {
		python = findPython()
	}
	if python == "none" {
		return nil
	}
	list, missing := peers(python, script, result.Processors)
	r.contestants = append(r.contestants, list...)
	for _, line := range missing {
		fmt.Fprintln(text, line)
	}
	return nil
}

// of returns the items of a section.
func (r *Result) of(section string) (list []Item) {
	for _, it := range r.Items {
		if it.Section == section {
			list = append(list, it)
		}
	}
	return list
}

// printRates prints what the limits rest on.
func (r *Result) printRates(w io.Writer) {
	switch {
	case r.Rates == nil:
	case r.Rates.LoadAdd == 0:
		fmt.Fprintln(w, "\nThis processor, or this build, has no AVX-512: the limits of its ports are left out.")
	default:
		fmt.Fprintf(w, "\nOne core does, in 10⁹ vectors of 16 a second: %.2f additions from the cache, %.2f of registers, %.2f multiply-adds, %.2f permutations with additions; and %.2f · 10⁹ draws.\n",
			r.Rates.LoadAdd/1e9, r.Rates.Add/1e9, r.Rates.FMA/1e9, r.Rates.PermuteAdd/1e9, r.Rates.Draw/1e9)
	}
	var names []string
	for name, version := range r.Programs {
		if name != gorbm && name != plainGo && name != loopsGo {
			names = append(names, version)
		}
	}
	slices.Sort(names)
	if len(names) > 0 {
		fmt.Fprintf(w, "Against %s.\n", strings.Join(names, "; "))
	}
}

// save writes the files.
func (r *Result) save(to *train.Folder) error {
	if len(r.Items) > 0 {
		if err := rbm.ReplaceFile(to.Path("speed.png"), func(w io.Writer) error { return picture(w, r) }); err != nil {
			return err
		}
	}
	if err := to.WriteJSON("speed.json", r); err != nil {
		return err
	}
	return rbm.ReplaceFile(to.Path("speed.csv"), func(w io.Writer) error { return writeCSV(w, r) })
}
