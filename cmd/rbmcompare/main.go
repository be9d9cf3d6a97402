// Rbmcompare compares estimators of the negative phase on one model, or on the
// snapshots of a run: their distance from the exact negative phase, against Gibbs
// steps and seconds.
//
//	rbmcompare -model runs/toy-exact-1 -negphase pcd,pt,ins
//
// See rbmcompare -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/memory"
	"gorbm/rbm/ranks"
	"gorbm/train"
)

func main() { cli.MainRanks("rbmcompare", runRanks) }

const summary = `rbmcompare compares estimators of the negative phase on a fixed model.

Each estimator of -negphase makes -repeats independent runs. In a run each chain makes -steps
Gibbs steps; each replica of pt or ins is a chain. The estimate is the mean over all updates so
far, without a burn-in. Its distance is the Euclidean distance of ⟨vhᵀ⟩, ⟨v⟩ and ⟨h⟩ from the
exact negative phase, as in Figures 2 and 4 of the infinite-swapping paper (Hult, Nyquist &
Ringqvist 2020).

Models of at most 2^22 states are enumerated, which may take some minutes. For larger models a
long reference run replaces the exact negative phase; its error is printed. Ladders with tau=auto
are tuned on the model and then fixed. Steps and seconds do not include the tuning. The default
of tau is 1/2/3/4/5, as in the paper; that of rbmtrain is reach/5.

  distance   mean over the repeats at the last step, ± standard deviation
  bias       norm of the mean error; in brackets the norm that noise alone would give
  noise      square root of the sum of the variances of the estimate
  cosine     between the estimated and the true gradient if -data is given, otherwise
             between the negative phases, whose cosines are all near 1

Seconds are the computing time of the estimator on -workers processors.

mpirun -n N divides the repeats, and the runs of the reference, among N processes, with identical
results except for seconds. Build with MPI for it:
` + ranks.Build + `

-runs 'runs/*' compares whole runs of rbmtrain. It prints a table with the settings in which the
runs differ, the last and the best value of a metric, and the time; the best run is first. -runs
'runs/a*,runs/b' lists several patterns. -out FOLDER writes all settings and metrics, a picture
and a report; -out FILE writes a single .csv, .json or picture.`

type options struct {
	flags *cli.Flags
	model *cli.ModelFlags
	data  *cli.DataFlags

	run, negphase, reference      string
	runs, sort, over              string
	chains, batch, steps, repeats int
	referenceSteps                int
	seed                          uint64
	workers                       int
	out, pictures                 string
	group                         *ranks.Group
}

func newOptions() *options {
	f := cli.NewFlags("rbmcompare", summary, "rbmcompare -model FILE [flags]\n       rbmcompare -run FOLDER [flags]\n       rbmcompare -runs 'runs/*' [flags]")
	f.Screen = screen
	o := &options{flags: f}
	f.Group("model")
	o.model = f.AddModel()
	f.StringVar(&o.run, "run", "", "folder of a run: compare the estimators on every snapshot in its models/").Main("FOLDER  every snapshot of a run")
	f.StringVar(&o.runs, "runs", "", "compare finished runs instead of estimators: a pattern of folders such as 'runs/*', or several separated by commas. Prints a table of the settings in which the runs differ, their metrics and times").
		Main("'runs/*'  whole runs, in one table").Alone("reads finished runs")
	f.StringVar(&o.sort, "sort", "", "with -runs: column of metrics.csv to sort by, the best first, or path or seconds (default: the main metric, on test rows if there are any)").For("runs").Tag("runs")
	f.StringVar(&o.over, "over", "", "with -runs: setting, such as seed, over which to average. Finished runs that differ only in this setting become one line, mean ± standard deviation").For("runs").Tag("runs")
	f.Group("estimators")
	f.StringVar(&o.negphase, "negphase", "pcd,pt,ins", "estimators, separated by commas: "+strings.Join(negphase.Kinds(), ", ")+"; settings may follow each, as in pt:k=1:tau=1/2/3. The default of tau is 1/2/3/4/5, as in the paper; that of rbmtrain is reach/5").
		Main("LIST  such as pcd,ins:tau=reach/5; rbmtrain -negphase help lists them")
	f.IntVar(&o.steps, "steps", 10000, "number of Gibbs steps, or moves of a sampler, of each chain").Main("N  Gibbs steps of each chain (10000)").Between(1, train.MaxSteps)
	f.IntVar(&o.repeats, "repeats", 20, "number of independent runs of each estimator; the paper has 20").Main("N  independent runs of each estimator (20)").Between(1, maxRepeats)
	f.IntVar(&o.chains, "chains", negphase.DefaultSettings("pcd").Count("chains"), negphase.KeyHelp("chains")+", where -negphase does not set chains").Between(1, negphase.MaxChains)
	f.IntVar(&o.batch, "batch", train.PaperSettings("cd").Batch, "number of rows of -data in a minibatch, at which the chains of cd and start=data start").Between(1, math.MaxInt32)
	f.Group("the truth")
	f.StringVar(&o.reference, "reference", "", "estimator of the reference run, also for small models (default: enumeration of a small model, otherwise pt with a ladder tuned to the model)")
	f.IntVar(&o.referenceSteps, "reference-steps", 10000, "number of updates of each of the 20 independent runs of the reference; only the second half is measured").Between(2, train.MaxSteps)
	f.Group("rows")
	o.data = f.AddData(cli.DataRows{Help: " (default: no rows; chains then start uniformly)", Main: "NAME  rows of the positive phase; by default none", Undrawn: true})
	f.Group("the run")
	f.StringVar(&o.out, "out", "", "folder to make for curves.csv, compare.json and pictures; with -runs it can also be a .csv, .json or picture file").Main("FOLDER  for curves.csv, compare.json and pictures").New().Tag("runs")
	f.Uint64Var(&o.seed, "seed", 1, "seed of all random numbers: equal seeds give identical results, except for seconds").Main("N  equal seeds give identical results, except for seconds (1)")
	f.AddPictures(&o.pictures).For("out").Tag("runs")
	f.IntVar(&o.workers, "workers", 1, "largest number of processors for the estimators, on which seconds depend; 0: all").Between(0, math.MaxInt32)
	f.AddOutput("no progress bar", "print one JSON object and nothing else on standard output", "runs")
	return o
}

// screen is what -h prints.
var screen = cli.Screen{
	Purpose: "rbmcompare compares estimators of the negative phase with the exact negative phase of a fixed\nmodel, and shows their errors against Gibbs steps and against seconds.",
	Examples: []string{
		"rbmcompare -model runs/toy -negphase pcd,pt,ins -out runs/compared  # curves, pictures",
		"rbmcompare -model runs/toy -data toy:4,4,2500,0.2 -negphase cd,pcd,exact  # gradients too",
		"rbmcompare -run runs/toy -negphase pcd,ins -steps 1000  # on every snapshot",
	},
}

// runRanks runs the command as one rank of g, or as a single process if g is nil. All ranks load the models and the
// rows and compare. Only rank 0 writes and prints.
func runRanks(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	o.group = g
	if err := o.flags.Parse(args, stdout, stderr); err != nil {
		return err
	}
	if o.runs != "" {
		if g.Rank() > 0 { // rank 0 compares runs
			return nil
		}
		return o.compareRuns()
	}
	p, err := o.check(ctx)
	if err := cli.AgreeOn(g, err, func() ([]*data.Set, []*rbm.RBM) { return []*data.Set{p.set}, p.parameters() }); err != nil {
		return err
	}
	results, err := p.compare(ctx)
	if g.Rank() > 0 || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if len(results) > 0 { // what was completed is kept even if interrupted
		if e := p.report(results); e != nil {
			return errors.Join(err, e)
		}
	}
	if err != nil {
		return fmt.Errorf("stopped early: %d of %d models, the last after %d of %d repeats", len(results), len(p.models), completed(results), o.repeats)
	}
	return nil
}

const maxRepeats = 1 << 20

// A plan is a checked command line with its models and data loaded.
type plan struct {
	options
	models     []*subject
	set        *data.Set        // rows of -data, or nil
	base       func() *rbm.Base // distribution at β = 0 for set, computed at the first call
	names      []string         // the estimators as in -negphase
	estimators []negphase.Settings
	reference  *negphase.Settings // value of -reference, or nil

	samplerWarnings []string // warnings about the settings of estimators
}

func (o *options) check(ctx context.Context) (*plan, error) {
	p := &plan{options: *o}
	if err := p.parseEstimators(); err != nil {
		return nil, err
	}
	if ext := strings.ToLower(filepath.Ext(o.out)); ext == ".csv" || ext == ".json" || slices.Contains(cli.Pictures, ext) {
		return nil, cli.Usagef("-out is %q; it is a folder, for curves.csv, compare.json and pictures; leave the %s out", o.out, ext)
	}
	if err := o.flags.CheckNew(); err != nil {
		return nil, err
	}
	if err := p.loadModels(); err != nil {
		return nil, err
	}
	if err := p.loadData(ctx); err != nil {
		return nil, err
	}
	if err := p.checkEstimators(); err != nil || p.set == nil {
		return p, err
	}
	return p, train.Allows(p.models[0].Model, p.set)
}

// parseEstimators parses -negphase and -reference.
func (p *plan) parseEstimators() error {
	defaults := negphase.DefaultSettings("pcd")
	if err := defaults.Set("chains", p.chains); err != nil {
		return err
	}
	for _, text := range strings.Split(p.negphase, ",") {
		text = strings.TrimSpace(text)
		s, err := negphase.Parse(text, defaults)
		if err != nil {
			return cli.Usagef("-negphase: %w", err)
		}
		for i, other := range p.estimators {
			if other.String() == s.String() {
				return cli.Usagef("-negphase: %s and %s are the same; give one of them", p.names[i], text)
			}
		}
		if compare.NeedsData(s) && !p.flags.Given("data") {
			return cli.Usagef("-negphase: %s starts at the data, but there is no -data; give it, or leave %[1]s out", text)
		}
		if s.Ladder().Path == negphase.ToData && !p.flags.Given("data") {
			return cli.Usagef("-negphase: %s needs the frequencies of the data, but there is no -data; give it, or leave path=data out", text)
		}
		p.names, p.estimators = append(p.names, text), append(p.estimators, s)
	}
	if p.options.reference == "" {
		return nil
	}
	s, err := negphase.Parse(p.options.reference, compare.DefaultReference())
	if err != nil {
		return cli.Usagef("-reference: %w", err)
	}
	if compare.NeedsData(s) || s.Traits().Moments || s.Ladder().Path == negphase.ToData {
		return cli.Usagef("-reference is %s; it must be a sampler that starts uniformly", p.options.reference)
	}
	p.reference = &s
	return nil
}

// checkEstimators checks that the estimators and the reference can run on the
// models, and that there is enough memory for their chains.
func (p *plan) checkEstimators() error {
	for i, s := range p.estimators {
		for _, model := range p.models {
			warning, err := s.CheckModel(model.Model)
			if err != nil {
				return cli.Usagef("-negphase %s on %s: %w", p.names[i], model.Path, err)
			}
			if text := p.names[i] + ": " + warning; warning != "" && !slices.Contains(p.samplerWarnings, text) {
				p.samplerWarnings = append(p.samplerWarnings, text)
			}
		}
		m := p.models[0].Model
		rows := max(1, s.Count("chains")) * s.Ladder().MaxTemperatures() // number of hidden states in memory
		if s.Traits().AtData {
			rows = p.batch
		}
		if n := rows * (m.Visible() + m.Hidden()); s.Sampler() != "" && n > negphase.MaxSites {
			return cli.Usagef("-negphase: %s makes %d units to move; at most %d are allowed", p.names[i], n, negphase.MaxSites)
		}
		if n := rows * m.Hidden(); n > cli.MaxStates {
			return cli.Usagef("-negphase: %s makes %d hidden states; at most %d are allowed", p.names[i], n, cli.MaxStates)
		}
		if err := memory.Check("-negphase "+p.names[i], cli.StateBytes(rows, m.Visible(), m.Hidden())); err != nil {
			return fmt.Errorf("%w; use fewer chains", err)
		}
	}
	if p.reference != nil {
		if _, err := p.reference.CheckModel(p.models[0].Model); err != nil {
			return cli.Usagef("-reference: %w", err)
		}
	}
	return nil
}

// compare compares the estimators on every model. With an error it also returns the
// results so far.
func (p *plan) compare(ctx context.Context) (results []result, err error) {
	for i, s := range p.models {
		truth, err := p.truth(ctx, s)
		if err != nil {
			return results, err
		}
		curves, err := p.measure(ctx, s, truth, i)
		if len(curves) > 0 && curves[0].Repeats > 0 {
			results = append(results, result{s, truth, curves})
		}
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// truth returns the negative phase that the estimators are compared with, and
// the positive phase of the data.
func (p *plan) truth(ctx context.Context, s *subject) (truth *compare.Truth, err error) {
	if p.reference == nil {
		truth, err = enumerate(ctx, s.Model)
	}
	if p.reference != nil || errors.Is(err, exact.ErrTooLarge) {
		settings := compare.ReferenceFor(s.Model)
		if p.reference != nil {
			settings = *p.reference
		} else if p.set != nil && settings.Sampler() == "" {
			settings.SetBase(p.base())
		}
		total := int64((compare.ReferenceGroups+p.group.Size()-1)/p.group.Size()) * int64(p.referenceSteps)
		bar := p.flags.NewProgress("reference run", "updates", total)
		done := int64(0)
		truth, err = compare.Reference(ctx, p.group, s.Model, settings, p.referenceSteps, rbm.NewKey(p.seed).Child(referenceKey), func() {
			done++
			bar.Set(done, "")
		})
		bar.Done()
		s.reference = settings
	}
	if err != nil {
		return nil, err
	}
	if p.set != nil {
		truth.Positive = p.positive(s.Model)
	}
	return truth, nil
}

// enumerate is like compare.Enumerate, but returns when the context ends. The enumeration
// then continues in the background until the program exits.
func enumerate(ctx context.Context, m *rbm.RBM) (*compare.Truth, error) {
	type outcome struct {
		truth *compare.Truth
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		truth, err := compare.Enumerate(m)
		done <- outcome{truth, err}
	}()
	select {
	case o := <-done:
		return o.truth, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// measure runs the estimators on s, which is model number i.
func (p *plan) measure(ctx context.Context, s *subject, truth *compare.Truth, i int) ([]compare.Curve, error) {
	defer cli.UseWorkers(p.workers)()
	what := "comparing"
	if len(p.models) > 1 {
		what = fmt.Sprintf("model %d of %d", i+1, len(p.models))
	}
	bar := p.flags.NewProgress(what, "‰", 1000)
	defer bar.Done()
	settings := compare.Settings{Group: p.group, Steps: p.steps, Repeats: p.repeats, Seed: p.seed,
		Progress: func(done float64) { bar.Set(int64(1000*done), "") }}
	if p.set != nil {
		settings.Batches = func(repeat int) func(int) rbm.Batch { return p.batches(s.Model, repeat) }
	}
	return compare.Run(ctx, s.Model, truth, p.estimators, settings)
}
