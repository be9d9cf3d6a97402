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

	"gorbm/cmd/internal/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/train"
)

func main() { cli.Main("rbmeval", run) }

const summary = `rbmeval judges a restricted Boltzmann machine on data.

Without -exact, -pl or -classify it does all three where they apply; exact
enumeration only if it takes no longer than some seconds. All numbers are in
nats, means over the rows, and computed in float64. In a model with labels the
likelihood is that of inputs and label together; of data without labels, that of
the inputs with the label summed out.`

type options struct {
	flags *cli.Flags
	model *cli.ModelFlags
	data  *cli.DataFlags

	part     string
	exact    bool
	pl       bool
	classify bool
	rows     string
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
	f.StringVar(&o.rows, "rows", "", "write a .csv with a line a row: free energy, log-likelihood, label, prediction, p(y|x)")
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
	v     rbm.Bits // visible states of all rows; label units empty if the data have no labels
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
	if o.rows != "" {
		if err := cli.Absent("rows", o.rows); err != nil {
			return nil, err
		}
	}
	m, about, err := o.model.Load(o.flags)
	if err != nil {
		return nil, err
	}
	if !o.flags.Given("data") {
		if about.Data == "" {
			return nil, cli.Usagef("-data is missing, and %s does not say what it was trained on", o.model.Path)
		}
		o.data.Spec = about.Data
	}
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
	j.v = rbm.NewBits(len(rows), j.m.Visible())
	if j.m.Classes > 0 && j.set.Y == nil {
		for i := range rows { // label units stay empty
			copy(j.v.Row(i), j.set.X.Row(i))
		}
		return nil
	}
	j.set.Visible(j.v, rows, j.m.Classes)
	return nil
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
	case j.pl && j.m.Classes > 0 && !j.labelled():
		return cli.Usagef("-pl needs rows with labels for a model with labels; %s has none", j.set.Name)
	}
	if j.auto {
		j.exact = err == nil && enum.Work() <= autoWork && j.likely()
		j.pl = j.m.Classes == 0 || j.labelled()
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
	bar := cli.NewProgress(j.stderr, j.quiet, what, "rows", int64(j.v.Rows))
	defer bar.Done()
	for lo := 0; lo < j.v.Rows; lo += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+chunk, j.v.Rows)
		f(lo, hi)
		bar.Set(int64(hi), "")
	}
	return nil
}

// judge computes what was asked for.
func (j *judge) judge(ctx context.Context) (*verdict, error) {
	v := &verdict{n: j.v.Rows, logZ: math.NaN()}
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
	v.logp = make([]float64, j.v.Rows*classes)
	v.free = make([]float64, j.v.Rows)
	err := j.eachChunk(ctx, "free energies", func(lo, hi int) {
		part := j.v.Slice(lo, hi)
		if classes > 0 {
			j.m.ClassLogProb(v.logp[lo*classes:hi*classes], part)
		}
		if classes > 0 && !j.labelled() {
			j.sumOutLabels(v.free[lo:hi], v.logp[lo*classes:hi*classes], part)
			return
		}
		j.m.FreeEnergy(v.free[lo:hi], part)
	})
	if err == nil && j.pl {
		v.pseudo = make([]float64, j.v.Rows)
		err = j.eachChunk(ctx, "pseudo-likelihood", func(lo, hi int) {
			j.m.PseudoLogLikelihood(v.pseudo[lo:hi], j.v.Slice(lo, hi))
		})
	}
	if err == nil && j.rows != "" {
		err = v.writeRows(j)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// sumOutLabels overwrites free with F(x) = −log Σ_y exp(−F(x,y)) of rows
// without labels, by way of p(y|x) of the first class. Bernoulli labels have
// no such F; theirs is NaN.
func (j *judge) sumOutLabels(free, logp []float64, v rbm.Bits) {
	if !j.likely() {
		for i := range free {
			free[i] = math.NaN()
		}
		return
	}
	with := rbm.NewBits(v.Rows, v.Cols)
	with.CopyFrom(v)
	for r := range with.Rows {
		with.Set(r, j.m.Inputs(), true)
	}
	j.m.FreeEnergy(free, with)
	for r := range free {
		free[r] += logp[r*j.m.Classes]
	}
}

var errNotFinite = errors.New("a result is not finite: the model's parameters are too large to judge")
