// Rbmeval judges a restricted Boltzmann machine on data: likelihood, by
// enumeration or within a bracket of estimates, exact pseudo-likelihood,
// classification, and what each row gets; or the likelihood along a run.
//
//	rbmeval -model runs/fontdigits-ins-1/model.safetensors
//	rbmeval -run runs/fontdigits-ins-1
//
// See rbmeval -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/npz"
)

func main() { cli.Main("rbmeval", run) }

const summary = `rbmeval judges a restricted Boltzmann machine on data.

Without -exact, -ais, -reverse-ais, -bennett, -pl or -classify it does what
applies: log Z by exact enumeration if that takes no longer than some seconds,
else between AIS, which is too low on average, and reverse AIS, which is too high,
with Bennett's ratio in between; pseudo-likelihood; classification. Chains at
the model come from ten ladders of temperatures that are tuned to it, never from
data.

An estimate is printed as x ± s: log Z lies between x − 2s and x + 2s in 95 cases
of 100, if no warning names the estimate. s comes from the spread between the ten
ladders, or between the chains of AIS, and is widened by Student's t for their
number. What all chains have missed it does not show; warnings, which go to
standard error even with -quiet, say what speaks for that. log Z is at least
log Σ exp(−F) over the distinct rows at hand, training rows included. An estimate
that is below this bound by chance is raised to it; any other below is impossible
and not printed. If none is left, the bound takes their place.

All numbers are in nats, means over the rows, and computed in float64. In a
model with labels the likelihood is that of inputs and label together; of data
without labels, that of the inputs with the label summed out. Of grey inputs it
is the score −F − log Z, which is no likelihood.
Features are the hidden means given the inputs alone, p(h|x). In a model with
labels, softmax or bernoulli, the label is summed out over the classes, one label
unit on at a time: Σ_y p(y|x) p(h|x,y). So a row has the same features with its
label and without. -label-in-features writes p(h|x,y) instead, which gives the
row's label away: do not judge a classifier by such features.
A model with a constraint is judged under it; one on all units, all=K, has log Z by
enumeration alone.

With -json, log_z, log_z_by, log_z_std_err and mean_log_likelihood are what to go
by; without an estimate that will do they are absent, and
mean_log_likelihood_upper_bound is there. log_z_lower_bound is the bound.
The objects ais, reverse_ais and bennett have their own log_z, std_err, which is
s, and ess, the number of independent draws that theirs are worth; "doubtful" if
a warning names them; "raised" if log_z is the bound; "impossible", without log_z.

-run judges all snapshots of a run, ended or under way: the log-likelihood of
test rows and of up to 10000 training rows, step by step.`

type options struct {
	flags *cli.Flags
	model *cli.ModelFlags
	data  *cli.DataFlags
	*logZFlags

	run      string
	out      string
	part     string
	pl       bool
	classify bool
	rows     string
	features string
	labelIn  bool // features are those of the row with its label
	quiet    bool
	json     bool
	workers  *int
}

func newOptions() *options {
	f := cli.NewFlags("rbmeval", summary, "rbmeval -model FILE [flags]\n       rbmeval -run FOLDER [flags]")
	o := &options{flags: f, model: cli.AddModelFlags(f), data: cli.AddDataFlags(f, "", " (default: the data that the model was trained on)")}
	f.StringVar(&o.part, "part", "auto", "rows to judge by: train, test, or auto, which is test if there is one")
	o.logZFlags = addLogZFlags(f)
	f.StringVar(&o.run, "run", "", "folder of a run: its snapshots in models/ are judged")
	f.StringVar(&o.out, "out", "", "of -run: folder to make for likelihood.csv and likelihood.png, or a .csv or .png for one of them alone")
	f.BoolVar(&o.pl, "pl", false, "exact pseudo-log-likelihood: every unit of every row is scored")
	f.BoolVar(&o.classify, "classify", false, "error rate and mean log p(y|x)")
	f.StringVar(&o.rows, "rows", "", "write a .csv with a line a row: free energy, and where they apply log-likelihood, pseudo-log-likelihood, label, prediction, p(y|x)")
	f.StringVar(&o.features, "features", "", "write an .npz with p(h|x) of every row, a label summed out: the array features [rows, hidden] (what scikit-learn calls transform)")
	f.BoolVar(&o.labelIn, "label-in-features", false, "of -features: p(h|x,y) with the row's own label instead, which leaks it into the features")
	f.BoolVar(&o.quiet, "quiet", false, "no progress bar")
	f.BoolVar(&o.json, "json", false, "print one JSON object and nothing else on standard output")
	o.workers = cli.AddWorkersFlag(f)
	return o
}

// A judge is a model with the rows that it is judged on.
type judge struct {
	options
	m     *rbm.RBM
	about rbm.About
	all   *data.Set // the training rows, whose means are the base
	set   *data.Set // with the rows that it is judged on
	n     int       // of these rows
	v     rbm.Input // all rows; label units empty if the data have no labels
	enum  *rbm.Enumeration
	auto  bool // what to do was left to us

	stderr io.Writer
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	if err := o.flags.Parse(args, stdout); err != nil {
		return err
	}
	if err := o.logZFlags.check(); err != nil {
		return err
	}
	restore, err := cli.UseWorkers(*o.workers)
	if err != nil {
		return err
	}
	defer restore()
	if o.labelIn && o.features == "" {
		return cli.Usagef("-label-in-features says what -features writes; give -features a file, or leave it out")
	}
	if o.flags.Given("run") {
		return o.judgeRun(ctx, stdout, stderr)
	}
	if o.flags.Given("out") {
		return cli.Usagef("-out is for the table and the picture of -run; of a single model -rows writes a table")
	}
	j, err := o.load(ctx, stderr)
	if err != nil {
		return err
	}
	v, err := j.judge(ctx)
	if err != nil {
		return err
	}
	return v.print(j, stdout)
}

// autoWork bounds the terms of the enumeration that is done unasked: 0.6 s of
// one core with AVX-512, eleven in plain Go.
const autoWork = 1 << 32

func (o *options) load(ctx context.Context, stderr io.Writer) (*judge, error) {
	if err := cli.Choice("part", o.part, "auto", "train", "test"); err != nil {
		return nil, err
	}
	for name, path := range map[string]string{"rows": o.rows, "features": o.features} {
		if path == "" {
			continue
		}
		if err := cli.Absent(name, path); err != nil {
			return nil, err
		}
	}
	if o.features != "" && filepath.Ext(o.features) != ".npz" {
		return nil, cli.Usagef("-features is %q; it must end in .npz", o.features)
	}
	m, about, err := o.model.Load(o.flags)
	if err != nil {
		return nil, err
	}
	if !o.flags.Given("data") && about.Data == "" {
		return nil, cli.Usagef("-data is missing, and %s does not say what it was trained on", o.model.Path)
	}
	o.data.Follow(o.flags, about)
	j := &judge{options: *o, m: m, about: about, stderr: stderr}
	trainSet, test, err := o.data.Load(ctx, stderr, o.quiet)
	if err != nil {
		return nil, err
	}
	j.all = trainSet
	switch {
	case o.part == "test" && test == nil:
		return nil, cli.Usagef("-part is test, but %s has no test rows", trainSet.Name)
	case o.part == "train" || test == nil:
		j.set = trainSet
	default:
		j.set = test
	}
	rows := make([]int32, j.set.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	if err := j.fit(rows); err != nil {
		return nil, err
	}
	return j, j.choose()
}

// choose settles what to do.
func (j *judge) choose() error {
	enum, err := rbm.NewEnumeration(j.m, rbm.EvaluationLimit)
	j.auto = !j.asked() && !j.pl && !j.classify
	switch {
	case j.exact && err != nil:
		return fmt.Errorf("-exact: %w", err)
	case j.estimated() && j.shell():
		return cli.Usagef("-ais, -reverse-ais and -bennett take block Gibbs steps, which never change the number of visible units that are active under the constraint %v; -exact enumerates small models", j.m.Constraint)
	case j.labelIn && !j.labelled():
		return cli.Usagef("-label-in-features needs labels, of the model and of the data; the model has %d classes and %s %d", j.m.Classes(), j.set.Name, len(j.set.Classes))
	case j.asked() && !j.likely():
		return cli.Usagef("-exact, -ais, -reverse-ais and -bennett need rows with labels for a model with bernoulli labels; %s has none", j.set.Name)
	case j.classify && !j.labelled():
		return cli.Usagef("-classify needs labels, of the model and of the data; the model has %d and %s %d", j.m.Classes(), j.set.Name, len(j.set.Classes))
	case j.pl && j.v.IsGrey():
		return cli.Usagef("-pl needs binary inputs; those of %s are grey", j.set.Name)
	case j.pl && j.m.Classes() > 0 && !j.labelled():
		return cli.Usagef("-pl needs rows with labels for a model with labels; %s has none", j.set.Name)
	}
	if j.auto {
		j.exact = err == nil && enum.Work() <= autoWork && j.likely()
		if !j.exact && j.likely() && !j.shell() {
			j.estimate()
		}
		j.pl = !j.v.IsGrey() && (j.m.Classes() == 0 || j.labelled())
		j.classify = j.labelled()
	}
	if j.exact {
		j.enum = enum
	}
	return j.idle(j.flags)
}

// shell reports whether the model has a constraint on all units.
func (j *judge) shell() bool {
	return j.m.Constraint != nil && j.m.Constraint.On == rbm.AllUnits
}

// judge computes what was asked for.
func (j *judge) judge(ctx context.Context) (*verdict, error) {
	v := &verdict{partition: unknown()}
	if j.asked() {
		bound, err := j.lowerBound(ctx)
		if err != nil {
			return nil, err
		}
		var bar *cli.Progress
		stage := ""
		part, err := j.find(ctx, j.m, j.enum, j.baseOf(j.m, j.all), bound, func(now string, done float64) {
			if now != stage {
				bar.Done()
				bar, stage = cli.NewProgress(j.stderr, j.quiet, now, "‰", 1000), now
			}
			bar.Set(int64(1000*done), "")
		})
		bar.Done()
		if err != nil && !(j.auto && errors.Is(err, rbm.ErrDiverged)) {
			return nil, err
		}
		if err != nil { // nobody asked for it: the rest is judged without
			part.Warnings = []logz.Warning{{Text: fmt.Sprintf("log Z was not estimated: %v", err)}}
		}
		v.partition = part
	}
	var err error
	v.free, v.logp, err = j.freeEnergies(ctx)
	if err == nil && j.pl {
		v.pseudo = make([]float64, j.n)
		err = j.eachChunk(ctx, "pseudo-likelihood", func(lo, hi int) {
			j.m.PseudoLogLikelihood(v.pseudo[lo:hi], j.v.Bits.Slice(lo, hi))
		})
	}
	if err == nil && j.rows != "" {
		err = v.writeRows(j)
	}
	if err == nil && j.features != "" {
		err = j.writeFeatures(ctx)
	}
	if err == nil {
		err = j.drawLadder(v.Bracket)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// featuresLaw names the means that -features writes; it is empty without it.
func (j *judge) featuresLaw() string {
	switch {
	case j.features == "":
		return ""
	case j.labelIn:
		return "p(h|x,y)"
	}
	return "p(h|x)"
}

// writeFeatures writes the array of -features.
func (j *judge) writeFeatures(ctx context.Context) error {
	h := rbm.NewMatrix(j.n, j.m.Hidden())
	err := j.eachChunk(ctx, "features", func(lo, hi int) { j.hiddenMean(h.Slice(lo, hi), lo) })
	if err != nil {
		return err
	}
	if slices.ContainsFunc(h.Data, func(x float32) bool { return x != x }) {
		return errNotFinite
	}
	return rbm.ReplaceFile(j.features, func(w io.Writer) error {
		return npz.Write(w, []npz.Named{{Name: "features", Shape: []int{h.Rows, h.Cols}, Data: h.Data}})
	})
}
