// Defaults measures what rbmtrain reaches by default: it trains with infinite
// swapping, persistent chains and parallel tempering at equal numbers of
// particles, for several lengths and seeds, and holds errors and log-likelihoods
// against seconds.
//
//	go run ./experiments/defaults
//
// Each run is one of rbmtrain's own, on one core, evaluated by rbmeval. Its
// numbers are a row of results.csv. A row that is there already is not measured
// again, so that an interrupted experiment goes on. See defaults -h.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/experiments/internal/program"
	"gorbm/rbm/atomicfile"
	"gorbm/train"
)

func main() { cli.Main("defaults", run) }

const summary = `defaults measures what rbmtrain reaches by default, at equal numbers of particles:
classification error and log-likelihood of the test rows against seconds of one
core. It writes results.csv, with a row for each run, tables.txt, with the means of
all of its rows, and defaults.png. Rows that are in results.csv already are not
measured again.`

// A method is a way to train that is compared.
type method struct {
	name  string
	flags []string // of rbmtrain
	long  bool     // in the longest runs only
}

// methods are compared, the first with each of the others. All but the last have
// 50 particles. The last three are other settings for long runs.
var methods = []method{
	{name: "ins", flags: []string{"-negphase", "ins"}},
	{name: "pcd", flags: []string{"-negphase", "pcd"}},
	{name: "pt", flags: []string{"-negphase", "pt"}},
	{name: "ins, rate 0.03", flags: []string{"-negphase", "ins", "-rate", "0.03"}, long: true},
	{name: "pcd, rate 0.03", flags: []string{"-negphase", "pcd", "-rate", "0.03"}, long: true},
	{name: "pcd, 100 chains", flags: []string{"-negphase", "pcd", "-chains", "100"}, long: true},
}

// An experiment is what is measured, and how.
type experiment struct {
	flags   *cli.Flags
	data    string
	labels  string
	methods []method
	steps   []int
	seeds   int
	jobs    int
	hidden  int
	out     string
	redraw  bool

	programs string // folder of the commands
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	e := experiment{}
	e.flags = cli.NewFlags("defaults", summary, "defaults [flags]")
	e.flags.StringVar(&e.data, "data", "mnist", "data, as rbmtrain -data")
	e.flags.StringVar(&e.labels, "labels", "auto", "labels, as rbmtrain -labels")
	e.flags.IntVar(&e.hidden, "hidden", 500, "hidden units")
	names := e.flags.String("methods", "all", "methods to compare, separated by semicolons, or all: "+strings.Join(methodNames(), "; "))
	steps := e.flags.String("steps", "12000,48000,160000,280000", "lengths of the runs, separated by commas; 48000 is rbmtrain's default")
	e.flags.IntVar(&e.seeds, "seeds", 5, "runs of each method and length, with seeds 1 to so many")
	e.flags.IntVar(&e.jobs, "jobs", runtime.NumCPU(), "runs at a time, of one core each")
	e.flags.StringVar(&e.out, "out", "runs/defaults", "folder for the results")
	e.flags.BoolVar(&e.redraw, "redraw", false, "measure nothing: tables and picture of the rows that are there")
	quick := e.flags.Bool("quick", false, "a first look in some seconds: 500 font digits, 20 hidden units, 200 steps, two seeds")
	e.flags.AddOutput("print nothing but errors and warnings", "print the table as JSON")
	if err := e.flags.Parse(args, stdout, stderr); err != nil {
		return err
	}
	if *quick {
		for name, value := range map[string]string{"data": "fontdigits:500", "hidden": "20", "steps": "200", "seeds": "2"} {
			if !e.flags.Given(name) {
				if err := e.flags.Lookup(name).Value.Set(value); err != nil {
					return err
				}
			}
		}
	}
	if err := cmp.Or(cli.Between("seeds", e.seeds, 2, 1000), cli.Between("jobs", e.jobs, 1, 1000), e.parse(*names, *steps)); err != nil {
		return err
	}
	return e.run(ctx)
}

func methodNames() (names []string) {
	for _, m := range methods {
		names = append(names, m.name)
	}
	return names
}

// parse reads the lists of methods and of lengths.
func (e *experiment) parse(names, steps string) error {
	for _, text := range strings.Split(steps, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > train.MaxSteps {
			return cli.Usagef("-steps is %q; it must be numbers from 1 to %d, separated by commas", steps, train.MaxSteps)
		}
		e.steps = append(e.steps, n)
	}
	if names == "all" {
		e.methods = methods
		return nil
	}
	for _, name := range strings.Split(names, ";") {
		at := slices.Index(methodNames(), name)
		if at < 0 {
			return cli.Usagef("-methods: there is no %q%s", name, data.DidYouMean(name, methodNames()))
		}
		e.methods = append(e.methods, methods[at])
	}
	return nil
}

func (e *experiment) run(ctx context.Context) error {
	if err := os.MkdirAll(e.out, 0o777); err != nil {
		return err
	}
	file := filepath.Join(e.out, "results.csv")
	rows, err := readRows(file)
	if err != nil {
		return err
	}
	if !e.redraw {
		if rows, err = e.measure(ctx, file, rows); err != nil {
			return err
		}
	}
	var mine []row
	asked := map[string]bool{}
	for _, j := range e.plan() {
		asked[e.row(j).key()] = true
	}
	for _, r := range rows {
		if asked[r.key()] {
			mine = append(mine, r)
		}
	}
	table := summarize(mine)
	picture, tables := filepath.Join(e.out, "defaults.png"), filepath.Join(e.out, "tables.txt")
	if len(mine) == 0 {
		return fmt.Errorf("%s has no rows of %s; leave -redraw out to measure them", file, e.data)
	}
	if err := cmp.Or(
		atomicfile.Write(picture, func(w io.Writer) error { return draw(w, mine) }),
		atomicfile.Write(tables, func(w io.Writer) error { printAll(w, rows); return nil }),
	); err != nil {
		return err
	}
	return e.flags.Print(table, func(w io.Writer) error {
		if e.flags.Quiet {
			return nil
		}
		table.print(w)
		_, err := fmt.Fprintf(w, "results in %s, %s and %s\n", file, tables, picture)
		return err
	})
}

// A job is a run to be measured.
type job struct {
	method method
	steps  int
	seed   int
}

// plan returns all runs, those of a seed together.
func (e *experiment) plan() (all []job) {
	for seed := range e.seeds {
		for _, steps := range e.steps {
			for _, m := range e.methods {
				if !m.long || steps == e.steps[len(e.steps)-1] {
					all = append(all, job{m, steps, seed + 1})
				}
			}
		}
	}
	return all
}

// measure runs all jobs whose rows are not there yet, and adds their rows to the
// file.
func (e *experiment) measure(ctx context.Context, file string, rows []row) ([]row, error) {
	known := map[string]bool{}
	for _, r := range rows {
		known[r.key()] = true
	}
	var todo []job
	work := 0
	for _, j := range e.plan() {
		if !known[e.row(j).key()] {
			todo = append(todo, j)
			work += j.steps
		}
	}
	if len(todo) == 0 {
		return rows, nil
	}
	dir, err := os.MkdirTemp("", "defaults")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	e.programs = dir
	if err := program.Build(ctx, dir, "rbmtrain", "rbmeval"); err != nil {
		return nil, err
	}
	bar := e.flags.NewProgress("measuring", "steps", int64(work))
	defer bar.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan job)
	var wait sync.WaitGroup
	var mutex sync.Mutex
	done := 0
	for range e.jobs {
		wait.Go(func() {
			for j := range queue {
				r, err := e.one(ctx, j)
				if err != nil {
					cancel(err)
					continue
				}
				mutex.Lock()
				rows = append(rows, r)
				err = appendRow(file, r)
				done += j.steps
				bar.Set(int64(done), j.method.name)
				mutex.Unlock()
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, j := range todo {
		select {
		case queue <- j:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(queue)
	wait.Wait()
	return rows, context.Cause(ctx)
}

// row returns the row of a job, without numbers.
func (e *experiment) row(j job) row {
	return row{Data: e.data, Labels: e.labels, Method: j.method.name, Hidden: e.hidden, Steps: j.steps, Seed: j.seed}
}

// one trains and evaluates a model.
func (e *experiment) one(ctx context.Context, j job) (row, error) {
	dir, err := os.MkdirTemp(e.programs, "run")
	if err != nil {
		return row{}, err
	}
	defer os.RemoveAll(dir)
	folder := filepath.Join(dir, "run")
	args := append([]string{"-data", e.data, "-labels", e.labels, "-hidden", strconv.Itoa(e.hidden), "-steps", strconv.Itoa(j.steps), "-seed", strconv.Itoa(j.seed),
		"-eval-every", strconv.Itoa(j.steps), "-snapshots", "0", "-workers", "1", "-json", "-out", folder}, j.method.flags...)
	r := e.row(j)
	var trained struct {
		Seconds float64             `json:"seconds"`
		Metrics map[string]*float64 `json:"metrics"`
		Ladder  *struct {
			Beta []float64 `json:"beta"`
		} `json:"ladder"`
	}
	begin := time.Now()
	training := program.New(ctx, filepath.Join(e.programs, "rbmtrain"), args...)
	if err := training.Run(&trained); err != nil {
		return r, err
	}
	busy := (training.ProcessState.UserTime() + training.ProcessState.SystemTime()).Seconds() / time.Since(begin).Seconds()
	r.Seconds = trained.Seconds * min(busy, 1) // without the time that other programs had the core
	r.Error, r.LogP = known(trained.Metrics["error_test"]), known(trained.Metrics["accuracy_mean"])
	if l := trained.Ladder; l != nil {
		r.Hottest = 1 / l.Beta[len(l.Beta)-1]
	}
	for _, name := range []string{"log_likelihood_test", "log_likelihood_train"} { // of small models, exactly
		if x := trained.Metrics[name]; x != nil {
			r.LogLikelihood, r.StdErr = *x, 0
			return r, nil
		}
	}
	var evaluated struct {
		LogLikelihood *float64 `json:"mean_log_likelihood"`
		Error         *float64 `json:"log_z_std_err"`
	}
	// One estimate, that of Bennett's ratio, is enough: rbmeval names it impossible
	// where the rows at hand refute it.
	err = program.New(ctx, filepath.Join(e.programs, "rbmeval"), "-model", folder, "-bennett", "-workers", "1", "-json", "-seed", strconv.Itoa(j.seed)).Run(&evaluated)
	r.LogLikelihood, r.StdErr = known(evaluated.LogLikelihood), known(evaluated.Error)
	return r, err
}
