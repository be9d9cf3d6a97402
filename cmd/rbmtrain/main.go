// Rbmtrain trains a restricted Boltzmann machine with a negative phase of
// choice. It writes a folder with the model, its metrics and pictures.
//
//	rbmtrain -negphase ins -data mnist -hidden 500
//
// See rbmtrain -h.
package main

import (
	"context"
	"io"
	"math"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/negphase"
	"gorbm/rbm/ranks"
	"gorbm/train"
	"gorbm/train/rundir"
)

func main() { cli.MainRanks("rbmtrain", runRanks) }

var summary = `rbmtrain trains a restricted Boltzmann machine.

The negative phase, the expectation under the model in the likelihood gradient,
is chosen by -negphase:

` + negphase.KindsHelp() + `

Settings may follow the name, as in -negphase pt:k=1:swaps=1:tau=1/2/3; the
flags -k -swaps -chains -start -temperatures say the same. Others have no flag:

` + negphase.KeysHelp("k", "swaps", "chains", "start", "tau") + `
  k=1-20 gamma=1.02 weights=boltzmann walks=1 mix=2/1/1   of sardonics:
                  flips of a walk (default fit: 1 to 20, or what the model has
                  room for; auto drives it to an acceptance of 0.574), bias, and the
                  others as isingmc -h all says; of im: k, weights, and
                  gamma=1 or gamma=DOWN/UP

In pt, ins and pins a sampler may take the place of Gibbs steps between swaps:
-negphase pt:tau=1/1.5/2:sardonics:k=1-20; -k then counts its moves.

-temperatures auto tunes the ladder while the model sharpens: neighbours exchange
equally often, at as many temperatures as the measured barrier needs (at most 64;
ins 16), or at 20 by auto:20 (at most 256; ins 16). -temperatures reach:5 takes five
and tunes how hot the hottest is, so that neighbours swap at a rate of 0.6: for many
short ladders, all of whose particles count in the estimate of ins and pins.

-objective discriminative maximises log p(y|x), by its exact gradient and without
sampling; -objective hybrid maximises log p(y|x) + α log p(x,y) with α of -alpha
(Larochelle, Mandel, Pascanu & Bengio 2012). Rows of files without a label are trained
on by log p(x), the label summed out; discriminative leaves them out.

-metrics: log_likelihood is exact where states of the smaller layer times units of the
other are at most 2^28 (asked for by name: up to 2^28 states). Else it is an estimate with
its standard error. A run whose ladder ends at temperature inf estimates it from the
particles of this ladder, for a few per cent of its time. Other runs estimate it only if
asked by name, from a separate ladder. It is missing where chains have not settled on the
model. mixing tests whether the chains of the negative phase follow the model: a copy of
them continues while the model is fixed. It adds at most about 10 % to the run time.

Results go to a folder, with report.html, a page about the run. Ctrl-C saves and stops;
-resume continues a run, with results identical to an uninterrupted one.

mpirun -n 4 rbmtrain … runs one training by four processes, on one machine or many, with
the result of one. Build with MPI for it: CC=mpicc go build -tags mpi ./cmd/...

-array FILE runs a sweep: one run a line of flags, which follow those of the command line.
Finished runs are skipped; interrupted ones are resumed. -array-index N, or the number of a
job in an array of Slurm, Kubernetes or PBS, chooses line N, from 0.

Flags that are not given have the values of a preset: classifier, generative or
small, by the data. -preset discriminative and -preset hybrid are for the least error,
and -preset ins-paper has the values of the infinite-swapping paper (Hult, Nyquist &
Ringqvist 2020). -preset help lists them.

cmd/rbmtrain/README.md explains metrics, warnings, data files, sweeps and constraints.

Examples:

  rbmtrain                                        # infinite swapping on font digits
  rbmtrain -data mnist -negphase pcd -chains 100 -batch 100 -rate 0.01 -center 0.01 -epochs 20
  rbmtrain -data mnist -preset discriminative -holdout 10000 -eval-every 5000
  rbmtrain -data mnist -labels none -negphase pins:path=data -temperatures auto
  rbmtrain -data mnist -hidden 100 -constraint hidden=20 -negphase pcd -chains 100 -batch 100
  rbmtrain -data rows.csv -label-column last -hidden 50 -holdout 0.1 -stop-after 5
  rbmtrain -resume runs/mnist-pcd-1 -steps 20000`

// options are the flags, except for those of flagKeys, which negative reads.
type options struct {
	flags    *cli.Flags
	data     *cli.DataFlags
	settings train.Settings

	alpha                           float64
	labels, init, metrics           string
	preset                          string
	chosen                          presetChoice // what the preset says where flags do not
	constraint                      string
	hiddenUnits                     string
	negphase                        string
	hidden, steps                   int
	epochs, holdout                 float64
	evalEvery, stopAfter, snapshots int
	checkpoint                      string
	resume, out, cpuprofile         string
	force, dryRun                   bool
	tensorboard                     bool
	pictures                        string
	workers                         int
	arrayFile                       string
	arrayIndex                      int

	extended bool   // -steps came with -resume
	slowed   bool   // -rate came with -resume
	began    *begun // with -resume
	rates    []rateChange
	before   int      // steps of the run so far, with -resume
	command  []string // the command line that began the run

	group *ranks.Group
}

// Tags of flags. A flag with the tag "resume" may be given together with it.
const (
	ofCall  = "call"  // of this call and not of the run: not in config.json
	ofArray = "array" // of a whole array: not in its lines
)

func newOptions() *options {
	f := cli.NewFlags("rbmtrain", summary, "rbmtrain [flags]")
	f.Screen = screen
	o := &options{flags: f, settings: train.PaperSettings("ins")}
	s := &o.settings
	f.Group("data")
	o.data = f.AddData(cli.DataRows{Spec: "fontdigits", Main: "NAME  fontdigits, mnist, bars:4, …, or a file: .csv .npz .npy, IDX",
		Test: "(default: the test rows of -data, if it has any)", Unlabelled: true, Redraw: true})
	f.Float64Var(&o.holdout, "holdout", 0, "training rows to hold out, as a fraction below 1 or a number: the model that is best on them is kept as best.safetensors")
	f.Group("model")
	f.IntVar(&o.hidden, "hidden", train.MostHidden, "hidden units; by default two per input for rows of fewer than 100 inputs and for real numbers").Main("N  hidden units (500; below 100 inputs two per input)").Between(1, maxHidden)
	f.StringVar(&o.data.Units, "units", "auto", "visible units of the inputs: binary; gaussian (for real numbers: columns are standardised, and the precision given the hidden units is 1); gaussian:precision=learned; spin (for −1 and +1); or auto: spin for a file of −1 and +1, gaussian for other numbers outside [0,1], and else binary").Choice(cli.UnitNames...)
	f.StringVar(&o.hiddenUnits, "hidden-units", "bernoulli", "kind of hidden units: bernoulli (0 or 1); relu (numbers from 0 on); drelu (numbers whose distribution on each side of 0 is half of a normal one, with shapes that are learned); or gaussian. With the last three a preset takes a tenth of its rate, and there are no labels; help lists them").Choice(append(hiddenUnits, "help")...)
	f.StringVar(&o.labels, "labels", "auto", "label layer: softmax, bernoulli (the infinite-swapping paper's), none, or auto, which is softmax for labelled data, or none with real hidden units").Choice("auto", "softmax", "bernoulli", "none")
	f.StringVar(&o.init, "init", "", "start: random (small parameters); log-odds (random, with visible biases from the frequencies of the data); or a model file or the folder of a run")
	f.StringVar(&o.constraint, "constraint", "", "keep a number of units active: hidden=20, twenty hidden units whatever the input, or all=120, that many of all units, labels included (default: none)")
	f.Group("negative phase")
	f.StringVar(&o.negphase, "negphase", "ins", "negative phase: "+strings.Join(negphase.Kinds(), ", ")+"; settings may follow, as in pt:k=1:tau=1/2/3").
		Main("NAME  ins, pcd, pt, exact, …; -negphase help lists them with costs").Offer(append(negphase.Kinds(), "help")...)
	f.StringVar(new(string), "temperatures", "", negphase.KeyHelp("tau")).Main("T  reach:5 (5, hottest tuned), auto, or a list such as 1,1.1,1.3")
	f.IntVar(new(int), "chains", 0, negphase.KeyHelp("chains")+" (default: 10 groups, or 50 chains; the preset generative: 40 and 200)").Main("N  chains; with a ladder, groups of one chain per temperature")
	f.IntVar(new(int), "k", s.Negative.Count("k"), negphase.KeyHelp("k"))
	f.IntVar(new(int), "swaps", s.Negative.Count("swaps"), negphase.KeyHelp("swaps"))
	f.StringVar(new(string), "start", s.Negative.Get("start"), negphase.KeyHelp("start")).Offer("uniform", "data")
	f.Group("training")
	f.IntVar(&o.steps, "steps", 0, "training steps; the preset generative takes 10000. A small file takes fewer: 50 passes over its rows (200 if they have fewer than 100 inputs, 20 over sequences), but at least 1000 steps").Main("N  training steps (48000; images without labels 10000)").Between(1, train.MaxSteps).Same("epochs").Tag("resume")
	f.Float64Var(&s.Rate, "rate", s.Rate, "learning rate; the preset generative has 0.2, on a cosine, and centres by 0.01").Main("X  learning rate (0.1; images without labels 0.2)").Tag("resume")
	f.IntVar(&s.Batch, "batch", s.Batch, "rows of a minibatch; the preset generative has 50").Main("N  rows of a minibatch (20; images without labels 50)").Between(1, math.MaxInt32)
	f.StringVar(&o.preset, "preset", "auto", "values for flags that are not given: "+strings.Join(presetNames()[1:], ", ")+"; auto chooses by the data; help lists them").
		Main("NAME  values of the other flags; -preset help lists them").Choice(append(presetNames(), "help")...).Tag(ofCall)
	f.Float64Var(&o.epochs, "epochs", 0, "passes over the data, instead of -steps").Above(0, math.Inf(1))
	f.StringVar(&s.Schedule, "schedule", s.Schedule, "learning-rate schedule: constant, inverse or inverse:STEPS (halved after STEPS, by default a tenth of all steps), linear or cosine (to zero)").Offer("constant", "inverse", "linear", "cosine")
	f.Float64Var(&s.Momentum, "momentum", 0, "momentum coefficient, 0 to below 0.9999")
	f.Float64Var(&s.L1, "l1", 0, "penalty on the sum of |weight|, per row in nats")
	f.Float64Var(&s.L2, "l2", 0, "penalty on half the sum of weight², per row in nats")
	f.Float64Var(&s.Center, "center", 0, "centred gradient: step of the offsets' moving averages, such as 0.01; 0: not centred")
	f.Float64Var(&s.Average, "average", 0, "decay of an exponential moving average of the parameters, such as 0.999; the average becomes the model; 0: none; a preset chooses it by the length of the run")
	f.Float64Var(&s.Sparse, "sparse", 0, "subtract this from every hidden bias after each step, such as 0.0001, which leaves fewer hidden units on; -schedule lowers it as it lowers the rate")
	f.StringVar(&s.Objective, "objective", train.Joint, "what to maximise: joint, log p(x,y); discriminative, log p(y|x); or hybrid, log p(y|x) + alpha log p(x,y)").Choice(train.Objectives()...)
	f.Float64Var(&o.alpha, "alpha", defaultAlpha, "weight of the generative part of -objective hybrid")
	f.Group("measuring")
	f.StringVar(&o.metrics, "metrics", "auto", "what to measure: "+strings.Join(train.MetricNames(), ", ")+", separated by commas; auto or none").Offer(append(train.MetricNames(), "auto", "none")...)
	f.IntVar(&o.evalEvery, "eval-every", 0, "steps between measurements (default: a twentieth of the steps; more in a short run of a large model)").Between(1, train.MaxSteps)
	f.IntVar(&o.stopAfter, "stop-after", 0, "stop after this many measurements without a better one on the rows held out; 0: never").Between(0, math.MaxInt32)
	f.IntVar(&o.snapshots, "snapshots", 20, "models to keep in models/, at steps spaced evenly on a logarithmic scale; 0: none").Between(0, maxSnapshots)
	f.AddPictures(&o.pictures, "none")
	f.BoolVar(&o.tensorboard, "tensorboard", false, "write the metrics for TensorBoard too, to the folder tensorboard of the run: tensorboard --logdir runs")
	f.Group("the run")
	f.StringVar(&o.out, "out", "", "folder for the results (default: runs/DATA-NEGPHASE-N, the first free N)").Main("FOLDER  where results go (runs/DATA-NEGPHASE-N)").Tag(ofCall)
	f.StringVar(&o.resume, "resume", "", "folder of a run to resume with its own settings; only -steps -rate -workers -progress -quiet -json may be given too").
		Main("FOLDER  resume a run; results are as without the interruption").Alone("takes all settings from the run").Tag(ofCall, ofArray)
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of all that is random but the data: equal seeds give identical results").Main("N  equal seeds give identical results (1)")
	f.StringVar(&o.arrayFile, "array", "", "file of runs: each line has the flags of a run, or of a grid of runs such as -negphase {pcd,ins} -seed {1..5}, and they follow the flags given here. The unfinished runs are run one after another, or only the one that -array-index or a job of an array names").Tag(ofCall, ofArray)
	f.IntVar(&o.arrayIndex, "array-index", 0, "number of the line of -array to run, from 0 (default: that of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or PBS_ARRAY_INDEX; else all)").For("array").Tag(ofCall, ofArray)
	f.AddWorkers(&o.workers).Tag("resume", ofCall)
	f.BoolVar(&o.dryRun, "dry-run", false, "check everything, say what would run and what it takes; write nothing").Tag(ofCall, ofArray)
	f.BoolVar(&o.force, "force", false, "let -out replace an earlier run").Tag(ofCall, ofArray)
	f.StringVar(&o.checkpoint, "checkpoint-every", "5m", "time (5m, 1h) or number of steps between checkpoints")
	f.AddOutput("no progress bar and no report; errors and warnings remain", "print the result as one JSON object and nothing else on standard output", "resume", ofCall, ofArray)
	f.StringVar(&o.cpuprofile, "cpuprofile", "", "write a CPU profile of the training to this file").New().Tag(ofCall, ofArray)
	for _, s := range presetFlags(presets[0], "") {
		f.Lookup(s.flag).DefValue = s.value // for -h
	}
	return o
}

// screen is what -h prints.
var screen = cli.Screen{
	Purpose: "rbmtrain trains a restricted Boltzmann machine with the estimator of the negative phase that you\nchoose. Flags that you do not give take the values of a preset, chosen by the kind of data.",
	Examples: []string{
		"rbmtrain  # built-in digits, infinite swapping",
		"rbmtrain -data mnist -labels none -negphase pcd -steps 1e5  # without labels, persistent chains",
		"rbmtrain -resume runs/mnist-pcd-1 -steps 2e5  # for longer",
	},
}

// defaultAlpha is the weight that Larochelle et al. (2012, section 7.1) found best for
// MNIST.
const defaultAlpha = 0.01

// runRanks runs the command as one rank of a group, or alone if the group is nil. All ranks read the flags and the data, and take
// the steps. The rest is for rank 0.
func runRanks(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	return newOptions().run(ctx, g, args, stdout, stderr)
}

// run is runRanks with these options, which have not been parsed yet.
func (o *options) run(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	o.group = g
	if err := o.flags.Parse(args, stdout, stderr); err != nil {
		return err
	}
	if o.arrayFile != "" {
		return o.runArray(ctx)
	}
	if o.flags.Given("resume") {
		if err := o.adopt(); err != nil {
			return err
		}
	}
	if o.negphase == "help" {
		_, err := io.WriteString(stdout, negphaseHelp())
		return err
	}
	if o.hiddenUnits == "help" {
		_, err := io.WriteString(stdout, hiddenUnitsHelp)
		return err
	}
	if o.preset == "help" {
		_, err := io.WriteString(stdout, presetHelp())
		return err
	}
	defer cli.UseWorkers(o.workers)()
	if o.command == nil {
		o.command = append([]string{o.flags.Name()}, args...)
	}
	p, trainer, err := o.prepare(ctx)
	if err = g.Agree(err, facts(trainer)...); err != nil {
		return err
	}
	if g.Rank() > 0 {
		return p.follow(ctx, trainer)
	}
	return p.run(ctx, trainer)
}

// prepare checks all that can be checked before a run begins.
func (o *options) prepare(ctx context.Context) (*plan, *train.Trainer, error) {
	if o.group.Rank() == 0 {
		for _, dir := range []string{o.resume, o.out} { // at once, before data are loaded
			if dir != "" {
				if err := (&rundir.Folder{Dir: dir}).Free(); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	p, err := o.check(ctx)
	if err != nil {
		return nil, nil, err
	}
	trainer, err := train.New(p.settings, p.sets.Train, p.model)
	if err != nil {
		return nil, nil, err
	}
	if o.group.Rank() == 0 {
		if err := p.flags.CheckNew(); err != nil {
			return nil, nil, err
		}
	}
	return p, trainer, trainer.Share(o.group)
}
