// Rbmeval evaluates a restricted Boltzmann machine on data: the likelihood, by
// enumeration or by estimates, the exact pseudo-likelihood, classification, and scores
// of each row; or the likelihood along a run.
//
//	rbmeval -model runs/mnist-ins-1/model.safetensors
//	rbmeval -run runs/mnist-ins-1
//
// See rbmeval -h.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/ranks"
	"gorbm/train"
)

func main() { cli.MainRanks("rbmeval", runRanks) }

const summary = `rbmeval evaluates a restricted Boltzmann machine on data.

Without -exact, -ais, -reverse-ais, -bennett, -pl or -classify it measures all that apply:
log Z, pseudo-likelihood and classification. log Z is computed by enumeration if that takes a
few seconds. Otherwise it is estimated by annealed importance sampling (AIS), which is too low
on average, by reverse AIS, which is too high, and by Bennett's ratio, which is neither. With
-rows, log Z is estimated only if you give one of these flags. With only -features, -analysis
or -mutants, nothing else is computed.

Likelihoods and energies are in nats, means over the rows, and computed in float64. An estimate
is printed as x ± s, where s is its standard error. In a test on 58 models small enough to
enumerate, the exact log Z was within ±1.96s for 93 to 98 % of the estimates without a warning.
A standard error does not include parts of the distribution that all chains have missed, such as
a mode. Warnings go to standard error even with -quiet. The likelihood of a row with a label is
p(x,y); that of a row without one is p(x), with the label summed out. Grey inputs have the
score −F − log Z, where F is the free energy.

Features are the hidden means p(h|x) given the inputs x, with the label summed out; the labels
are in the array y. -label-in-features writes p(h|x,y), which reveals the row's label: do not
test a classifier on such features.

With -json, log_z, log_z_by, log_z_std_err and mean_log_likelihood are those of the best
estimate. If there is none, there is mean_log_likelihood_upper_bound instead, from
log_z_lower_bound. The objects ais, reverse_ais and bennett have log_z, std_err and ess, the
effective number of independent draws. Further keys mark an estimate: "doubtful" if a warning
names it; "raised" if it was raised to the lower bound; "impossible" if it was left out because
it was below that bound; "bound" (below or above) if AIS or reverse AIS only bounds log Z, on
average. With -mutants, wild_type has the numbers of its first and last letter, and mutants has
the scores with the names of the mutants.

-run evaluates all snapshots of a run, finished or not. mpirun -n N divides the chains among N
processes, with identical results. Build with MPI for it:
` + ranks.Build + `

cmd/rbmeval/README.md explains how the estimates work and how far they can be trusted.`

type options struct {
	flags *cli.Flags
	model *cli.ModelFlags
	data  *cli.DataFlags
	*logZFlags
	analysis *analysis
	mutants  *mutants

	run, out, part, rows, features string
	samples                        string
	sampled                        *data.Set             // rows of -samples; nil without the flag
	sites                          *train.SiteStatistics // sampled against the rows
	trainingSites                  *train.SiteStatistics // training rows against the rows, where the differences are noise
	pl, classify                   bool
	labelIn                        bool // features are p(h|x,y)
	eachCell                       bool // -rows has log p of each cell
	workers                        int
	group                          *ranks.Group

	train, test labelSplit // how the training and test rows are divided
	held        *data.Set  // rows that the model's run held out, or nil
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
	f.StringVar(&o.run, "run", "", "folder of a run: evaluate its snapshots in models/").Main("FOLDER  every snapshot of a run").Mode("evaluates all snapshots of a run")
	f.Group("rows")
	o.data = f.AddData(cli.DataRows{Help: " (default: the data that the model was trained on)", Main: "NAME  rows to evaluate; by default the data of the training",
		Test: "(default: those that the model was tested on)", Unlabelled: true, Undrawn: true})
	f.StringVar(&o.part, "part", "auto", "rows to evaluate: train, holdout (rows that the run held out), test, or auto: test rows if there are any, then rows held out, then training rows").Choice("auto", "train", "holdout", "test").Not("run")
	f.Group("log Z")
	o.logZFlags = addLogZFlags(f)
	f.Group("other numbers")
	f.BoolVar(&o.classify, "classify", false, "error rate, confusion matrix with the recall of each class, mean log p(y|x) and calibration; -rows writes the predictions").Main("  error, confusion matrix and calibration").Not("run")
	f.BoolVar(&o.pl, "pl", false, "exact pseudo-log-likelihood, over all units of all rows").Main("  pseudo-log-likelihood").Not("run")
	f.StringVar(&o.samples, "samples", "", "samples of a model of sequences or of a table, a file that rbmsample wrote (.fasta or .csv). Compare their frequencies of single levels, of pairs of levels, and their connected correlations with those of the rows").
		Main("FILE  compares statistics of samples with those of the rows").Not("run")
	o.analysis = addAnalysisFlags(f)
	o.mutants = addMutantFlags(f)
	f.Group("files")
	f.StringVar(&o.rows, "rows", "", "write a .csv with a line for each row: the row's number from 0, the name of a sequence, free energy, and where they apply log-likelihood (for grey values the score −F − log Z), pseudo-log-likelihood, label, prediction and p(y|x)").
		Main("FILE  a .csv, one line per row from 0: free energy, likelihood, class").New().Not("run")
	f.BoolVar(&o.eachCell, "cells", false, "with -rows of a table or of sequences: add the log-probability of each cell given the rest of its row").Main("  log p of each cell of these rows").For("rows")
	f.StringVar(&o.features, "features", "", "write an .npz with the array features [rows, hidden]: p(h|x) of every row, or the means of real hidden units, with a label summed out (the result of transform in scikit-learn)").
		Main("FILE  an .npz with p(h|x) of every row").New(".npz").Not("run")
	f.BoolVar(&o.labelIn, "label-in-features", false, "with -features: write p(h|x,y), which also depends on the row's label and reveals it").For("features")
	f.StringVar(&o.out, "out", "", "with -run or -mutants: folder to make for likelihood.csv and likelihood.png, or for mutants.csv and mutants.png; or a single .csv or picture (.png, .svg, .pdf)").
		Main("FILE  table and picture of -run or -mutants").New()
	f.Group("the run")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the estimates: equal seeds give identical results")
	f.AddWorkers(&o.workers)
	f.AddOutput("no progress bar", "print one JSON object and nothing else on standard output")
	return o
}

// screen is what -h prints.
var screen = cli.Screen{
	Purpose: "rbmeval measures how good a model is: its log-likelihood with standard errors, its\nclassification error and calibration, and scores of each row.",
	Examples: []string{
		"rbmeval -model runs/mnist-ins-1  # log Z in three ways, log-likelihood",
		"rbmeval -model runs/mnist-ins-1 -classify  # error, log p(y|x), calibration",
		"rbmeval -run runs/mnist-ins-1 -out runs/likelihood  # along all snapshots of a run",
	},
}

// An evaluation scores a model on rows of data.
type evaluation struct {
	options
	scored            // the rows; if the model has labels, only rows that have one
	split  labelSplit // divides the rows by whether they have a label
	bare   *scored    // rows without a label, for -rows and -features, or nil
	about  modelfile.About
	all    *data.Set   // training rows, whose means are the base distribution
	atHand []*examples // training rows and evaluated rows, which bound log Z
	auto   bool        // no flag chooses what to compute

	logZEstimates // computed by evaluate
}

// runRanks runs the command as one rank of g, or as a single process if g is nil. All ranks load the model and the
// rows and estimate log Z. Only rank 0 computes the other results and prints.
func runRanks(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	o.group = g
	if err := o.flags.Parse(args, stdout, stderr); err != nil {
		return err
	}
	defer cli.UseWorkers(o.workers)()
	if err := cmp.Or(checkOut(o.out), o.flags.CheckNew()); err != nil {
		return cli.AgreeOn(g, err, nil)
	}
	if o.flags.Given("run") {
		return o.evaluateRun(ctx)
	}
	e, err := o.load(ctx)
	if err := cli.AgreeOn(g, err, func() ([]*data.Set, []*rbm.RBM) { return []*data.Set{e.all, e.set}, []*rbm.RBM{e.m} }); err != nil {
		return err
	}
	if err := e.evaluate(ctx); err != nil || g.Rank() > 0 {
		return err
	}
	return e.print()
}

// load loads the model and the rows to evaluate.
func (o *options) load(ctx context.Context) (*evaluation, error) {
	if o.out != "" && o.mutants.file == "" {
		return nil, cli.Usagef("-out is for -run and -mutants, and neither is given")
	}
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
	case o.part == "holdout" && o.held == nil:
		return nil, cli.Usagef("-part is holdout, but no rows of %s are known to be held out", all.Name)
	case o.part == "holdout" || o.part == "auto" && test == nil && o.held != nil:
		set, split = o.labelledRows(m, o.held)
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
	e.budget(e.flags, o.model.Path, m)
	if err := cmp.Or(e.choose(), e.addBare(o.model.Path), e.mutants.prepare(ctx, e)); err != nil || !e.estimated() {
		return e, err
	}
	e.atHand = []*examples{e.examples}
	if !same {
		e.atHand = append(e.atHand, newExamples(o.flags, m, all, data.RowNumbers(0, all.Len())))
	}
	return e, nil
}

// loadData loads the rows of -data, or the training data of the model m of path. For a
// model with labels it leaves out rows without a label.
func (o *options) loadData(ctx context.Context, m *rbm.RBM, path string, about modelfile.About) (all, test *data.Set, err error) {
	if !o.flags.Given("data") && about.Data == "" {
		return nil, nil, cli.Usagef("-data is missing, and %s does not record its training data", path)
	}
	o.data.Follow(about)
	all, test, err = o.data.Load(ctx)
	if err == nil && !o.flags.Given("data") {
		all = o.holdOut(ctx, all, path)
	}
	all, o.train = o.labelledRows(m, all)
	test, o.test = o.labelledRows(m, test)
	return all, test, err
}

// choose decides what to compute, and checks that it can be computed.
func (e *evaluation) choose() error {
	e.auto = !e.asked() && !e.pl && !e.classify && (e.features == "" && e.analysis.folder == "" && e.mutants.file == "" || e.rows != "")
	if err := cmp.Or(e.checkLogZ(e.m), e.analysis.prepare(e)); err != nil {
		return err
	}
	if e.auto {
		e.chooseAll()
	}
	for _, c := range []struct {
		asked bool
		check func() error
	}{{e.labelIn, e.checkLabelIn}, {e.asked(), e.checkLikely}, {e.classify, e.checkClassify}, {e.pl, e.checkPL}, {e.features != "", e.checkFeatures}, {e.eachCell, e.checkCells}} {
		if !c.asked {
			continue
		}
		if err := c.check(); err != nil {
			return err
		}
	}
	return e.idle(e.flags)
}

// chooseAll chooses what can be computed, if no flag does.
func (e *evaluation) chooseAll() {
	if e.likely() {
		e.chooseLogZ(e.m, 1)
	}
	if e.rows != "" { // log Z is estimated only if a flag requests it
		e.ais, e.reverse, e.bennett = false, false, false
	}
	e.pl = e.checkPL() == nil && !e.gappy() && // with missing cells it is slow
		(!e.v.IsReal() || e.set.Schema != nil) && !e.m.RealHidden()
	e.classify = e.labelled()
}

// checkLikely returns an error if rows have no log-likelihood.
func (e *evaluation) checkLikely() error {
	if !e.likely() {
		return cli.Usagef("-exact, -ais, -reverse-ais and -bennett need rows with labels for a model with bernoulli labels; %s has none", e.set.Name)
	}
	return nil
}

// checkClassify returns an error unless the rows can be classified and have labels.
func (e *evaluation) checkClassify() error {
	if e.labelled() {
		return nil
	}
	predicts := ""
	if e.m.Classes() > 0 {
		predicts = "; -rows FILE writes predictions for rows without labels"
	}
	return cli.Usagef("-classify needs labels, of the model and of the data; the model has %d and %s %d%s", e.m.Classes(), e.set.Name, len(e.set.Classes), predicts)
}

// checkPL returns an error if the rows have no pseudo-log-likelihood.
func (e *evaluation) checkPL() error {
	labels := e.m.Classes() > 0
	switch {
	case e.v.IsReal() && !e.m.Real():
		return cli.Usagef("-pl needs binary inputs; those of %s are grey", e.set.Name)
	case e.m.CheckSites() != nil:
		return cli.Usagef("-pl: %v", e.m.CheckSites())
	case e.gappy() && labels && e.m.LabelKind() == rbm.Bernoulli:
		return cli.Usagef("-pl of rows with missing cells needs softmax labels; those of the model are bernoulli, and %s has missing cells", e.set.Name)
	case labels && !e.labelled():
		return cli.Usagef("-pl needs rows with labels for a model with labels; %s has none", e.set.Name)
	}
	return nil
}

// checkCells returns an error if cells have no log-probabilities.
func (e *evaluation) checkCells() error {
	switch {
	case e.set.Schema == nil:
		return cli.Usagef("-cells is for models of sequences and tables; %s is neither", e.set.Name)
	case e.m.Constraint != nil:
		return cli.Usagef("-cells cannot be used with the constraint %v of the model", e.m.Constraint)
	case e.m.CheckSites() != nil:
		return cli.Usagef("-cells: %v", e.m.CheckSites())
	}
	return nil
}

// checkFeatures returns an error if rows have missing cells.
func (e *evaluation) checkFeatures() error {
	if e.gappy() || e.split.bare != nil && e.split.bare.Missing.Rows > 0 {
		return cli.Usagef("-features needs whole rows, and %s has missing cells; fill them by rbmsample -fill", e.set.Name)
	}
	return nil
}

// checkLabelIn returns an error if features cannot include the label.
func (e *evaluation) checkLabelIn() error {
	if !e.labelled() {
		return cli.Usagef("-label-in-features needs labels, of the model and of the data; the model has %d classes and %s %d", e.m.Classes(), e.set.Name, len(e.set.Classes))
	}
	return nil
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
		if err != nil { // no flag requests log Z, so continue without it
			e.Warnings = append(e.Warnings, diag.Failed(fmt.Errorf("log Z was not estimated: %w", err)))
		}
	}
	if e.group.Rank() > 0 {
		return nil
	}
	if e.classify || e.rows != "" || e.pl && e.gappy() {
		e.logp = make([]float64, e.n*e.m.Classes())
	}
	scoreMutants := func(ctx context.Context) error { return e.mutants.score(ctx, e) }
	for _, step := range []func(context.Context) error{e.scoreRows, e.compareSamples, e.analyse, scoreMutants, e.scoreBare, e.scoreCells, e.writeFiles} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// scoreRows computes the free energies of the rows and, for -pl, their pseudo-log-likelihoods.
func (e *evaluation) scoreRows(ctx context.Context) (err error) {
	if e.free, err = e.summedEnergies(ctx, "free energies", e.logp); err != nil || !e.pl {
		return err
	}
	e.pseudo = make([]float64, e.n)
	return e.eachChunk(ctx, "pseudo-likelihood", func(lo, hi int) {
		e.m.PseudoLogLikelihood(e.pseudo[lo:hi], e.v.Slice(lo, hi))
		e.rescale(e.pseudo, -1, lo, hi)
	})
}

// writeFiles writes the files of -out, -rows, -features and -ladder.
func (e *evaluation) writeFiles(ctx context.Context) error {
	err := e.mutants.write(e.out)
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
