// Rbmeval judges a restricted Boltzmann machine on data: exact likelihood by
// enumeration, exact pseudo-likelihood, classification, and what each row gets.
//
//	rbmeval -model runs/fontdigits-ins-1/model.safetensors
//
// See rbmeval -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"gorbm/cmd/internal/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/npz"
	"gorbm/train"
)

func main() { cli.Main("rbmeval", run) }

const summary = `rbmeval judges a restricted Boltzmann machine on data.

Without -exact, -pl or -classify it does all three where they apply; exact
enumeration only if it takes no longer than some seconds. All numbers are in
nats, means over the rows, and computed in float64. In a model with labels the
likelihood is that of inputs and label together; of data without labels, that of
the inputs with the label summed out. Of grey inputs it is the score −F − log Z,
which is no likelihood. Features of rows without labels leave the label units of
the model off.`

type options struct {
	flags *cli.Flags
	model *cli.ModelFlags
	data  *cli.DataFlags

	part     string
	exact    bool
	pl       bool
	classify bool
	rows     string
	features string
	quiet    bool
	json     bool
}

func newOptions() *options {
	f := cli.NewFlags("rbmeval", summary, "rbmeval -model FILE [flags]")
	o := &options{flags: f, model: cli.AddModelFlags(f), data: cli.AddDataFlags(f, "", " (default: the data that the model was trained on)")}
	f.StringVar(&o.part, "part", "auto", "rows to judge by: train, test, or auto, which is test if there is one")
	f.BoolVar(&o.exact, "exact", false, "exact log Z and log-likelihood, however long it takes (at most 2^28 states)")
	f.BoolVar(&o.pl, "pl", false, "exact pseudo-log-likelihood: every unit of every row is scored")
	f.BoolVar(&o.classify, "classify", false, "error rate and mean log p(y|x)")
	f.StringVar(&o.rows, "rows", "", "write a .csv with a line a row: free energy, and where they apply log-likelihood, pseudo-log-likelihood, label, prediction, p(y|x)")
	f.StringVar(&o.features, "features", "", "write an .npz with p(h|v) of every row, the array features [rows, hidden] (what scikit-learn calls transform)")
	f.BoolVar(&o.quiet, "quiet", false, "no progress bar")
	f.BoolVar(&o.json, "json", false, "print one JSON object and nothing else on standard output")
	return o
}

// A judge is a model with the rows that it is judged on.
type judge struct {
	options
	m     *rbm.RBM
	about rbm.About
	set   *data.Set
	v     rbm.Bits   // visible states of all rows; label units empty if the data have no labels
	grey  rbm.Matrix // in their place, if the inputs are grey
	enum  *rbm.Enumeration
	auto  bool // what to do was left to us

	stderr io.Writer
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	if err := o.flags.Parse(args, stdout); err != nil {
		return err
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

// autoWork bounds the terms of the enumeration that is done unasked, some ten
// seconds of one core.
const autoWork = 1 << 30

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
	switch {
	case o.part == "test" && test == nil:
		return nil, cli.Usagef("-part is test, but %s has no test rows", trainSet.Name)
	case o.part == "train" || test == nil:
		j.set = trainSet
	default:
		j.set = test
	}
	if err := j.fit(); err != nil {
		return nil, err
	}
	return j, j.choose()
}

// fit lays out the rows as visible states.
func (j *judge) fit() error {
	if err := train.Fits(j.m, j.set); err != nil && !(j.set.Y == nil && j.m.Inputs() == j.set.X.Cols) {
		return fmt.Errorf("%s does not fit the data: %w", j.model.Path, err)
	}
	if j.labelled() && j.about.ClassNames != nil {
		for y, name := range j.set.Classes {
			if j.about.ClassNames[y] != name {
				return fmt.Errorf("class %d is %q in %s but %q in the model; the data must name the classes alike", y, name, j.set.Name, j.about.ClassNames[y])
			}
		}
	}
	rows := make([]int32, j.set.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	bare := j.m.Classes > 0 && !j.labelled() // label units stay empty
	if j.set.Grey.Rows > 0 {
		j.grey = rbm.NewMatrix(len(rows), j.m.Visible())
		if !bare {
			j.set.GreyRows(j.grey, rows, j.m.Classes)
			return nil
		}
		for r := range rows {
			copy(j.grey.Row(r), j.set.Grey.Row(r))
		}
		return nil
	}
	j.v = rbm.NewBits(len(rows), j.m.Visible())
	if !bare {
		j.set.Visible(j.v, rows, j.m.Classes)
		return nil
	}
	for r := range rows {
		copy(j.v.Row(r), j.set.X.Row(r))
	}
	return nil
}

// isGrey reports whether the inputs are grey.
func (j *judge) isGrey() bool { return j.grey.Rows > 0 }

// freeEnergy overwrites dst with F of rows lo …
func (j *judge) freeEnergy(dst []float64, lo int) {
	if j.isGrey() {
		j.m.FreeEnergyGrey(dst, j.grey.Slice(lo, lo+len(dst)))
		return
	}
	j.m.FreeEnergy(dst, j.v.Slice(lo, lo+len(dst)))
}

// classLogProb overwrites dst with log p(y|x) of rows lo …
func (j *judge) classLogProb(dst []float64, lo int) {
	hi := lo + len(dst)/j.m.Classes
	if j.isGrey() {
		j.m.ClassLogProbGrey(dst, j.grey.Slice(lo, hi))
		return
	}
	j.m.ClassLogProb(dst, j.v.Slice(lo, hi))
}

// hiddenMean overwrites dst with p(h|v) of all rows.
func (j *judge) hiddenMean(dst rbm.Matrix) {
	if j.isGrey() {
		j.m.HiddenMeanGrey(dst, j.grey)
		return
	}
	j.m.HiddenMean(dst, j.v)
}

// labelled reports whether the rows have their labels in v.
func (j *judge) labelled() bool { return j.m.Classes > 0 && j.set.Y != nil }

// likely reports whether rows have a likelihood: not with Bernoulli labels that
// the data lack, whose sum over all label states is out of reach.
func (j *judge) likely() bool {
	return j.m.Classes == 0 || j.set.Y != nil || j.m.Labels == rbm.Softmax
}

// choose settles what to do.
func (j *judge) choose() error {
	enum, err := rbm.NewEnumeration(j.m, rbm.EvaluationLimit)
	j.auto = !j.exact && !j.pl && !j.classify
	switch {
	case j.exact && err != nil:
		return fmt.Errorf("-exact: %w", err)
	case j.exact && !j.likely():
		return cli.Usagef("-exact needs rows with labels for a model with bernoulli labels; %s has none", j.set.Name)
	case j.classify && !j.labelled():
		return cli.Usagef("-classify needs labels, of the model and of the data; the model has %d and %s %d", j.m.Classes, j.set.Name, len(j.set.Classes))
	case j.pl && j.isGrey():
		return cli.Usagef("-pl needs binary inputs; those of %s are grey", j.set.Name)
	case j.pl && j.m.Classes > 0 && !j.labelled():
		return cli.Usagef("-pl needs rows with labels for a model with labels; %s has none", j.set.Name)
	}
	if j.auto {
		j.exact = err == nil && enum.Work() <= autoWork && j.likely()
		j.pl = !j.isGrey() && (j.m.Classes == 0 || j.labelled())
		j.classify = j.labelled()
	}
	if j.exact {
		j.enum = enum
	}
	return nil
}

// chunk is the number of rows between two looks at the context.
const chunk = 256

// eachChunk calls f for parts of the rows, with a bar.
func (j *judge) eachChunk(ctx context.Context, what string, f func(lo, hi int)) error {
	bar := cli.NewProgress(j.stderr, j.quiet, what, "rows", int64(j.set.Len()))
	defer bar.Done()
	for lo := 0; lo < j.set.Len(); lo += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+chunk, j.set.Len())
		f(lo, hi)
		bar.Set(int64(hi), "")
	}
	return nil
}

// judge computes what was asked for.
func (j *judge) judge(ctx context.Context) (*verdict, error) {
	v := &verdict{n: j.set.Len(), logZ: math.NaN()}
	if j.exact {
		bar := cli.NewProgress(j.stderr, j.quiet, "exact log Z", "‰", 1000)
		z, err := j.enum.LogZ(ctx, func(done float64) { bar.Set(int64(1000*done), "") })
		bar.Done()
		if err != nil {
			return nil, err
		}
		v.logZ = z
	}
	classes := j.m.Classes
	v.logp = make([]float64, v.n*classes)
	v.free = make([]float64, v.n)
	err := j.eachChunk(ctx, "free energies", func(lo, hi int) {
		if classes > 0 {
			j.classLogProb(v.logp[lo*classes:hi*classes], lo)
		}
		if classes > 0 && !j.labelled() {
			j.sumOutLabels(v.free[lo:hi], v.logp[lo*classes:hi*classes], lo)
			return
		}
		j.freeEnergy(v.free[lo:hi], lo)
	})
	if err == nil && j.pl {
		v.pseudo = make([]float64, v.n)
		err = j.eachChunk(ctx, "pseudo-likelihood", func(lo, hi int) {
			j.m.PseudoLogLikelihood(v.pseudo[lo:hi], j.v.Slice(lo, hi))
		})
	}
	if err == nil && j.rows != "" {
		err = v.writeRows(j)
	}
	if err == nil && j.features != "" {
		err = j.writeFeatures()
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// sumOutLabels overwrites free with F(x) = −log Σ_y exp(−F(x,y)) of rows lo …
// without labels, by way of p(y|x) of the first class: F(x) = F(x,0) + log
// p(0|x). Bernoulli labels have no such F; theirs is NaN.
func (j *judge) sumOutLabels(free, logp []float64, lo int) {
	if !j.likely() {
		for i := range free {
			free[i] = math.NaN()
		}
		return
	}
	first := j.m.Inputs()
	for r := lo; r < lo+len(free); r++ {
		if j.isGrey() {
			j.grey.Row(r)[first] = 1
		} else {
			j.v.Set(r, first, true)
		}
	}
	j.freeEnergy(free, lo)
	for i := range free {
		free[i] += logp[i*j.m.Classes]
		if j.isGrey() {
			j.grey.Row(lo + i)[first] = 0
		} else {
			j.v.Set(lo+i, first, false)
		}
	}
}

// writeFeatures writes the array of -features.
func (j *judge) writeFeatures() error {
	h := rbm.NewMatrix(j.set.Len(), j.m.Hidden())
	j.hiddenMean(h)
	return rbm.ReplaceFile(j.features, func(w io.Writer) error {
		return npz.Write(w, []npz.Named{{Name: "features", Data: npz.Matrix(h.Rows, h.Cols, h.Data)}})
	})
}

var errNotFinite = errors.New("a result is not finite: the model's parameters are too large to judge")
