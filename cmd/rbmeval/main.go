// Rbmeval evaluates a restricted Boltzmann machine on data: the likelihood, by
// enumeration or by estimates from above and below, the exact pseudo-likelihood,
// classification, and the values of each row; or the likelihood along a run.
//
//	rbmeval -model runs/fontdigits-ins-1/model.safetensors
//	rbmeval -run runs/fontdigits-ins-1
//
// See rbmeval -h.
package main

import (
	"cmp"
	"context"
	"errors"
	"io"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/ranks"
)

func main() { cli.MainRanks("rbmeval", runRanks) }

const summary = `rbmeval evaluates a restricted Boltzmann machine on data.

Without -exact, -ais, -reverse-ais, -bennett, -pl or -classify it does what
applies: log Z by exact enumeration if that takes no longer than some seconds,
else by AIS, which is too low on average, by reverse AIS, which is too high, and
Bennett's ratio, which leans to neither side; pseudo-likelihood; classification.
With -rows log Z is not estimated unless one of these asks for it, and with
-features alone nothing else is computed.
Chains at the model come from ten ladders of temperatures that are tuned to it,
never from data. They run until they have made ten round trips each and the standard
error is at most 0.2 nats, or for some two minutes of a core.

An estimate is printed as x ± s, its standard error. s comes from the spread
between the ten ladders, or between the chains of AIS, and is widened by Student's
t for their number. On 232 models small enough to enumerate, log Z lay between
x − 1.96s and x + 1.96s for 96 to 97 % of the estimates that no warning named.
No spread shows what all chains have missed, such as a mode of 4 % of Z: then log Z
may lie outside without a warning. Warnings go to standard error even with -quiet.
With -exact, they also name each estimate that is off by more than 3s.
log Z is at least log Σ exp(−F) over the distinct rows at hand, training rows
included. An estimate that is below this bound by chance is raised to it; any
other below is impossible and not printed. If none is left, the bound takes their
place.

All numbers are in nats, means over the rows, and computed in float64. In a
model with labels the likelihood is that of inputs and label together; of data
without labels, that of the inputs with the label summed out. Of grey inputs it
is the score −F − log Z, which is no likelihood.
Classification has the calibration of p(y|x) besides: the expected calibration
error (ECE) in 15 bins of equal width, and one temperature T, for p(y|x) ∝
p(y|x)^(1/T), of the largest likelihood on a random half of the rows. The scores
without it and with it are those of the other half. Rows without a label, of files
where others have one, are left out.
Features are the hidden means given the inputs alone, p(h|x). In a model with
labels, softmax or bernoulli, the label is summed out over the classes, one label
unit on at a time: Σ_y p(y|x) p(h|x,y). So a row has the same features with its
label and without. The file has the array y of the labels besides, if the data have
labels, and can be the data of another model. -label-in-features writes p(h|x,y)
instead, which gives the row's label away: do not test a classifier by such features.
Rows without a label, of files where others have one, are in -rows and -features as
well, in their place: their free energy has the label summed out, and their label is
empty in -rows. In y it is -1, or empty where classes have names.
A model with a constraint is evaluated under it; one on all units, all=K, has log Z
by enumeration alone.

With -json, log_z, log_z_by, log_z_std_err and mean_log_likelihood are what to go
by; without an estimate that will do they are absent, and
mean_log_likelihood_upper_bound is there. log_z_lower_bound is the bound.
The objects ais, reverse_ais and bennett have their own log_z, std_err, which is
s, and ess, the number of independent draws that theirs are worth; "doubtful" if
a warning names them; "raised" if log_z is the bound; "impossible", without log_z;
"bound", below or above, if AIS or its reverse is only a bound of log Z, because few of
its chains have all the weight.

Under mpirun -n N the ranks share out the chains of AIS and reverse AIS and the replicas
of the ladders, to the same bits; the rest is done by rank 0. Build it by
` + ranks.Build + `

-run evaluates all snapshots of a run, ended or under way: the log-likelihood of
test rows and of up to 10000 training rows, step by step. A snapshot that has
diverged is shown without numbers, and a warning names it.`

type options struct {
	flags *cli.Flags
	model *cli.ModelFlags
	data  *cli.DataFlags
	*logZFlags

	run, out, part, rows, features string
	pl, classify                   bool
	labelIn                        bool // features are those of the row with its label
	workers                        int
	group                          *ranks.Group

	train, test labelSplit // by labelledRows
}

func newOptions() *options {
	f := cli.NewFlags("rbmeval", summary, "rbmeval -model FILE [flags]\n       rbmeval -run FOLDER [flags]")
	f.Screen = screen
	o := &options{flags: f}
	f.Group("model")
	o.model = f.AddModel()
	for _, name := range []string{"model", "classes", "labels"} {
		f.Row(name).Not("run")
	}
	f.StringVar(&o.run, "run", "", "folder of a run: its snapshots in models/ are evaluated").Main("FOLDER  a run: every snapshot of it").Mode("evaluates all snapshots of a run")
	f.Group("rows")
	o.data = f.AddData(cli.DataRows{Help: " (default: the data that the model was trained on)", Main: "NAME  rows; by default those of the model's training",
		Test: "(default: those that the model was tested on)", Unlabelled: true, Undrawn: true})
	f.StringVar(&o.part, "part", "auto", "rows to evaluate on: train, test, or auto, which is test if there is one").Choice("auto", "train", "test").Not("run")
	f.Group("log Z")
	o.logZFlags = addLogZFlags(f)
	f.Group("other numbers")
	f.BoolVar(&o.classify, "classify", false, "error rate, mean log p(y|x) and calibration").Main("  error and calibration").Not("run")
	f.BoolVar(&o.pl, "pl", false, "exact pseudo-log-likelihood: every unit of every row is scored").Main("  pseudo-log-likelihood").Not("run")
	f.Group("files")
	f.StringVar(&o.rows, "rows", "", "write a .csv with a line a row: its number from 0, free energy, and where they apply log-likelihood, pseudo-log-likelihood, label, prediction, p(y|x)").
		Main("FILE  a .csv with a line a row: free energy, likelihood, prediction").New().Not("run")
	f.StringVar(&o.features, "features", "", "write an .npz with p(h|x) of every row, a label summed out: the array features [rows, hidden] (what scikit-learn calls transform)").
		Main("FILE  an .npz with p(h|x) of every row").New(".npz").Not("run")
	f.BoolVar(&o.labelIn, "label-in-features", false, "of -features: p(h|x,y) with the row's own label instead, which leaks it into the features").For("features")
	f.StringVar(&o.out, "out", "", "of -run: folder to make for likelihood.csv and likelihood.png, or a .csv or a picture (.png, .svg, .pdf) for one of them alone").
		Main("FILE  of -run: the table and the picture").New().For("run")
	f.Group("the run")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the estimates: equal seeds give equal bits")
	f.AddWorkers(&o.workers)
	f.AddOutput("no progress bar", "print one JSON object and nothing else on standard output")
	return o
}

// screen is what -h prints.
var screen = cli.Screen{
	Purpose: "rbmeval says how good a model is: its log-likelihood with errors that can be trusted, its\nclassification error and calibration, and what each row gets.",
	Examples: []string{
		"rbmeval -model runs/mnist-ins-1  # log Z in three ways, log-likelihood",
		"rbmeval -model runs/mnist-ins-1 -classify  # error, log p(y|x), calibration",
		"rbmeval -run runs/mnist-ins-1 -out runs/likelihood  # along all snapshots of a run",
	},
}

// An evaluation is of a model on rows of data.
type evaluation struct {
	options
	scored            // the rows; of a model with labels, those that have one
	split  labelSplit // of the rows
	bare   *scored    // rows without a label, for -rows and -features; nil: none
	about  modelfile.About
	all    *data.Set   // the training rows, whose means are the base
	atHand []*examples // the training rows and those that the model is evaluated on
	auto   bool        // no flag says what to compute

	// What evaluate computes.
	logZEstimates
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return runRanks(ctx, nil, args, stdout, stderr)
}

// runRanks is run of one rank of a group. All ranks load the model and the rows and estimate
// log Z. The rest is for rank 0.
func runRanks(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	o.group = g
	if err := o.flags.Parse(args, stdout, stderr); err != nil {
		return err
	}
	defer cli.UseWorkers(o.workers)()
	if err := o.flags.CheckNew(); err != nil {
		return cli.AgreeOn(g, err, nil, nil)
	}
	if o.flags.Given("run") {
		return o.evaluateRun(ctx)
	}
	e, err := o.load(ctx)
	if err != nil {
		return cli.AgreeOn(g, err, nil, nil)
	}
	if err := cli.AgreeOn(g, nil, []*data.Set{e.all, e.set}, []*rbm.RBM{e.m}); err != nil {
		return err
	}
	if err := e.evaluate(ctx); err != nil || g.Rank() > 0 {
		return err
	}
	return e.print()
}

// load loads the model and its rows.
func (o *options) load(ctx context.Context) (*evaluation, error) {
	if o.part == "train" && o.flags.Given("test") {
		return nil, cli.Usagef("-part train leaves the rows of -test unused; leave one of the two out")
	}
	m, about, err := o.model.Load()
	if err != nil {
		return nil, err
	}
	all, test, err := o.loadData(ctx, m, o.model.Path, about)
	if err != nil {
		return nil, err
	}
	set, split := test, o.test
	switch {
	case o.part == "test" && test == nil:
		return nil, cli.Usagef("-part is test, but %s has no test rows; name some by -test", all.Name)
	case o.part == "train" || test == nil:
		set, split = all, o.train
	}
	same := set == all
	for _, s := range []**data.Set{&all, &set} {
		if *s, err = fitSet(m, *s, o.model.Path, about); err != nil {
			return nil, err
		}
	}
	e := &evaluation{options: *o, scored: scored{examples: newExamples(o.flags, m, set, data.RowNumbers(0, set.Len()))}, split: split, about: about, all: all, logZEstimates: unknown()}
	if err := cmp.Or(e.choose(), e.addBare(o.model.Path)); err != nil || !e.estimated() {
		return e, err
	}
	e.atHand = []*examples{e.examples}
	if !same {
		e.atHand = append(e.atHand, newExamples(o.flags, m, all, data.RowNumbers(0, all.Len())))
	}
	return e, nil
}

// loadData loads the data that the model m of path was trained on, or that -data
// names: of a model with labels, the rows that have one.
func (o *options) loadData(ctx context.Context, m *rbm.RBM, path string, about modelfile.About) (all, test *data.Set, err error) {
	if !o.flags.Given("data") && about.Data == "" {
		return nil, nil, cli.Usagef("-data is missing, and %s does not say what it was trained on", path)
	}
	o.data.Follow(about)
	all, test, err = o.data.Load(ctx)
	all, o.train = o.labelledRows(m, all)
	test, o.test = o.labelledRows(m, test)
	return all, test, err
}

// choose decides what to compute.
func (e *evaluation) choose() error {
	e.auto = !e.asked() && !e.pl && !e.classify && (e.features == "" || e.rows != "")
	if err := e.checkLogZ(e.m); err != nil {
		return err
	}
	switch {
	case e.labelIn && !e.labelled():
		return cli.Usagef("-label-in-features needs labels, of the model and of the data; the model has %d classes and %s %d", e.m.Classes(), e.set.Name, len(e.set.Classes))
	case e.asked() && !e.likely():
		return cli.Usagef("-exact, -ais, -reverse-ais and -bennett need rows with labels for a model with bernoulli labels; %s has none", e.set.Name)
	case e.classify && !e.labelled():
		return cli.Usagef("-classify needs labels, of the model and of the data; the model has %d and %s %d", e.m.Classes(), e.set.Name, len(e.set.Classes))
	case e.pl && e.v.IsReal():
		return cli.Usagef("-pl needs binary inputs; those of %s are grey", e.set.Name)
	case e.pl && e.m.CheckBinary() != nil:
		return cli.Usagef("-pl: %v", e.m.CheckBinary())
	case e.pl && e.m.Classes() > 0 && !e.labelled():
		return cli.Usagef("-pl needs rows with labels for a model with labels; %s has none", e.set.Name)
	}
	if e.auto {
		if e.likely() {
			e.chooseLogZ(e.m, 1)
		}
		if e.rows != "" { // a table of rows does not wait for estimates
			e.ais, e.reverse, e.bennett = false, false, false
		}
		e.pl = !e.v.IsReal() && e.m.CheckBinary() == nil && (e.m.Classes() == 0 || e.labelled())
		e.classify = e.labelled()
	}
	return e.idle(e.flags)
}

// evaluate computes what the flags ask for.
func (e *evaluation) evaluate(ctx context.Context) (err error) {
	if e.asked() {
		var bar *cli.Progress
		stage := ""
		e.logZEstimates, err = e.find(ctx, e.m, e.baseOf(e.m, e.all), e.atHand, func(now string, done float64) {
			if now != stage {
				bar.Done()
				bar, stage = e.flags.NewProgress(now, "‰", 1000), now
			}
			bar.Set(int64(1000*done), "")
		})
		bar.Done()
		if err != nil && !(e.auto && errors.Is(err, rbm.ErrDiverged)) {
			return err
		}
		if err != nil { // no flag asks for log Z: the rest is computed without it
			e.warn(nil, "log Z was not estimated: %v", err)
		}
	}
	if e.group.Rank() > 0 {
		return nil
	}
	if e.classify || e.rows != "" {
		e.logp = make([]float64, e.n*e.m.Classes())
	}
	e.free, err = e.freeEnergies(ctx, "free energies", e.logp)
	if err == nil && e.pl {
		e.pseudo = make([]float64, e.n)
		err = e.eachChunk(ctx, "pseudo-likelihood", func(lo, hi int) {
			e.m.PseudoLogLikelihood(e.pseudo[lo:hi], e.v.Slice(lo, hi))
		})
	}
	if err == nil {
		err = e.scoreBare(ctx)
	}
	if err == nil && e.rows != "" {
		err = atomicfile.Write(e.rows, cli.WriteCSV(e.rowLines()))
	}
	if err == nil && e.features != "" {
		err = e.writeFeatures(ctx)
	}
	if err == nil {
		err = e.drawLadder(e.Bracket)
	}
	return err
}
