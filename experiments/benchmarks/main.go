// Benchmarks trains models by rbmtrain's defaults, and by the best settings that were found by hand, on public data sets for which others
// published results.
//
//	go run ./experiments/benchmarks -data-dir FOLDER
//	go run ./experiments/benchmarks -sets nips,dna -repeats 1
//
// Results are in README.md, which describes the files of the folder. A set without its files is named and left out.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
)

func main() { cli.Main("benchmarks", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b := &bench{dir: os.Getenv("GORBM_DATA")}
	return training.Command(b.experiment, func(f *cli.Flags) {
		f.StringVar(&b.dir, "data-dir", b.dir, "folder with the files of the sets (default: $GORBM_DATA)")
		f.StringVar(&b.only, "sets", "", "sets to run, separated by commas: "+strings.Join(names(), ", ")+" (default: all)")
	})(ctx, args, stdout, stderr)
}

// A bench has the values of the flags.
type bench struct{ dir, only string }

// A set is a data set with its files, which are in the folder of the sets.
type set struct {
	name         string
	inputs, rows int
	train, test  string // files of the training and the test rows; equal if one file has both
	picked       string // flags of rbmtrain that were the best ones found by hand; "": none
	published    []result
	model        string // file of a published model, which is only evaluated; "": none
}

// A result is a published mean test log-likelihood in nats.
type result struct {
	model  string
	nats   float64
	source string
}

// Sources of published results.
const (
	recalled = "recalled"
	larRBM   = "recalled from Larochelle & Murray 2011"
	chowLiu  = "Chow–Liu tree"
)

// debd returns a set of the binary density-estimation sets of Lowd & Davis 2010 and Van Haaren & Davis 2012, as in the repository arranger1044/DEBD.
func debd(name string, inputs, rows int, picked string, published ...result) set {
	return set{name, inputs, rows, "debd/" + name + ".train.csv.gz", "debd/" + name + ".test.csv.gz", picked, published, ""}
}

// tractable returns the best result that we know of a tractable model, and that of a Chow–Liu tree.
func tractable(best, tree float64) []result {
	return []result{{"best tractable model", best, recalled}, {chowLiu, tree, "read"}}
}

var sets = []set{
	debd("nltcs", 16, 16181, "", tractable(-5.99, -6.76)...),
	debd("plants", 69, 17412, "", tractable(-12.54, -16.52)...),
	debd("baudio", 100, 15000, "", tractable(-39.77, -44.37)...),
	debd("jester", 100, 9000, "", tractable(-52.46, -58.23)...),
	debd("bnetflix", 100, 15000, "", tractable(-56.27, -60.25)...),
	debd("accidents", 111, 12758, "", tractable(-26.74, -33.19)...),
	debd("mushrooms", 112, 2000, "-hidden 200 -steps 8000 -l2 1e-4", result{"NADE", -9.8, larRBM}, result{"RBM, 23 hidden units", -15.15, larRBM}),
	debd("dna", 180, 1600, "-steps 4000 -l2 1e-3", result{"best tractable model", -79.05, recalled}, result{"NADE", -84.8, larRBM}, result{"RBM, 23 hidden units", -96.9, larRBM}),
	debd("bbc", 1058, 1670, "", result{"best tractable model", -248.3, recalled}),
	debd("nips", 500, 400, "-hidden 100 -l2 0.02", result{"NADE", -273.1, larRBM}, result{"RBM, 23 hidden units", -277.37, larRBM}),
	{"mnist-2008", 784, 60000, "mnist-binarised-2008.npz", "mnist-binarised-2008.npz", "", []result{{"DBM, two layers", -84.62, "recalled from Salakhutdinov & Hinton 2009"}, {"DBN", -86.22, "recalled from Salakhutdinov & Murray 2008"}, {"RBM, 500 hidden units, CD-25", -86.34, "Salakhutdinov & Murray 2008"}, {"NADE", -88.33, larRBM}}, "rbm-cd25-2008.npz"},
	{"lattice-proteins", 27, 36265, "lattice-proteins.train.fasta.gz", "lattice-proteins.test.fasta.gz", "", []result{{"100 dReLU units, PCD-5", -48.96, "the notebook of jertubiana/PGM"}}, ""},
	{"RF00379", 136, 3282, "RF00379.train.fasta.gz", "RF00379.test.fasta.gz", "", nil, ""},
}

func names() (all []string) {
	for _, s := range sets {
		all = append(all, s.name)
	}
	return all
}

// Curves and panels. X is the index of the set.
const (
	byDefault = "default"
	byHand    = "hand-picked"
	theirs    = "published model"

	testPanel     = "test log-likelihood"
	gainPanel     = "above the best published result"
	stdErrPanel   = "standard error of log Z"
	doubtPanel    = "doubtful"
	trainingPanel = "processor seconds of training"
	stepsPanel    = "updates"
)

const seeds = 5

// judge are the flags of rbmeval.
const judge = "-bennett -ladder-rounds 5000"

func (b *bench) experiment(c *training.Commands) figures.Experiment {
	words := names()
	for i := range words {
		words[i] = strings.Repeat("\n", i%3) + words[i] // neighbours are at different heights
	}
	return figures.Experiment{Name: "benchmarks", Title: "Public data sets with published results", Ours: true, Figures: []figures.Figure{{
		Name: "sets",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for seed := 1; seed <= o.Seeds(1, seeds); seed++ {
				for at, s := range sets {
					jobs = append(jobs, b.job(c, o, at, byDefault, "", seed))
					if s.picked != "" {
						jobs = append(jobs, b.job(c, o, at, byHand, s.picked, seed))
					}
					if s.model != "" && seed == 1 {
						jobs = append(jobs, b.job(c, o, at, theirs, "", seed))
					}
				}
			}
			return jobs
		},
		Draw:  figures.Curves(1, []string{byDefault, byHand, theirs}, figures.Panel{Name: gainPanel, Title: "test log-likelihood minus the best published one", Y: "nats", Words: words}),
		Table: table,
	}}}
}

// job returns the job that trains a model on a set on one core, unless it is a published one, and evaluates it on the test rows. Without the files of the set, or if -sets leaves
// it out, the job does not run.
func (b *bench) job(c *training.Commands, o figures.Options, at int, method, flags string, seed int) figures.Job {
	s := sets[at]
	j := figures.Job{Name: fmt.Sprintf("%s, %s, seed %d", s.name, method, seed), Repeat: seed}
	if b.only != "" && !slices.Contains(strings.Split(b.only, ","), s.name) {
		return j
	}
	train, test := filepath.Join(b.dir, s.train), filepath.Join(b.dir, s.test)
	if method == theirs {
		train = filepath.Join(b.dir, s.model)
	}
	for _, file := range []string{train, test} {
		if _, err := os.Stat(file); err != nil {
			j.Missing = fmt.Sprintf("%s is left out: there is no %s", s.name, file)
			return j
		}
	}
	quick, rounds := "", judge
	if o.Quick {
		quick, rounds = "-hidden 8 -steps 50", "-bennett -ladder-rounds 300"
	}
	line := fmt.Sprintf("-data %s -labels none -metrics none -snapshots 0 -pictures none -seed %d", train, seed)
	j.Run = func(ctx context.Context, add figures.Add) error {
		evaluate := func(model string) error {
			tested, err := c.Evaluate(ctx, strings.Fields(fmt.Sprintf("-model %s -data %s %s", model, test, rounds))...)
			if err == nil && tested.LogLikelihood == nil {
				err = errors.New("rbmeval has no estimate of log Z")
			}
			if err != nil {
				return err
			}
			x := float64(at)
			add(testPanel, method, x, *tested.LogLikelihood)
			if len(s.published) > 0 {
				add(gainPanel, method, x, *tested.LogLikelihood-s.published[0].nats)
			}
			if tested.StdErr != nil {
				add(stdErrPanel, method, x, *tested.StdErr)
			}
			add(doubtPanel, method, x, map[bool]float64{true: 1}[tested.Bennett.Doubtful])
			return nil
		}
		if method == theirs {
			return evaluate(train)
		}
		return c.Train(ctx, func(folder string, trained training.Trained) error {
			add(trainingPanel, method, float64(at), trained.Processor)
			add(stepsPanel, method, float64(at), trained.Steps)
			return evaluate(folder)
		}, line, flags, quick)
	}
	return j
}

// table has a line for each set: the results with the processor time of training, and the published results.
func table(t *figures.Table) string {
	var rows [][]string
	for at, s := range sets {
		x := float64(at)
		value := func(method string) string {
			r := t.At(testPanel, method, x)
			if len(r) == 0 {
				return ""
			}
			text := figures.Spread(2)(r) // the error of several runs is their spread, and that of one run the error of log Z
			if len(r) == 1 {
				text = fmt.Sprintf("%.2f ± %.2f", r.Mean(), t.At(stdErrPanel, method, x).Mean())
			}
			if t.At(doubtPanel, method, x).Mean() > 0 {
				text += " (doubtful)"
			}
			return text
		}
		seconds := func(method string) string {
			if r := t.At(trainingPanel, method, x); len(r) > 0 {
				return figures.Mean(1)(r)
			}
			return ""
		}
		var published []string
		for _, p := range s.published {
			published = append(published, fmt.Sprintf("%.2f %s (%s)", p.nats, p.model, p.source))
		}
		rows = append(rows, []string{s.name, fmt.Sprint(s.inputs), fmt.Sprint(s.rows), value(byDefault), seconds(byDefault), value(byHand), seconds(byHand), value(theirs),
			fmt.Sprint(len(t.At(testPanel, byDefault, x))), strings.Join(published, "; ")})
	}
	return figures.Grid([]string{"set", "inputs", "training rows", byDefault, "s of a core", byHand, "s of a core", theirs + ", measured here", "seeds", "published"}, rows)
}
