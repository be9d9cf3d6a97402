// Rbmtrain trains a restricted Boltzmann machine. The user chooses the estimator of
// the negative phase. It writes a folder with the model, its metrics and pictures.
//
//	rbmtrain -negphase ins -data mnist -hidden 500
//
// See rbmtrain -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase"
	"gorbm/rbm/ranks"
	"gorbm/train"
	"gorbm/train/rundir"
)

func main() { cli.MainRanks("rbmtrain", runRanks) }

var summary = `rbmtrain trains a restricted Boltzmann machine.

-negphase chooses the estimator of the negative phase, the expectation under the model
in the gradient of the log-likelihood:

` + negphase.KindsHelp() + `

Settings may follow the name, as in -negphase pt:k=1:swaps=1:tau=1/2/3. The flags -k,
-swaps, -chains, -start and -temperatures set k, swaps, chains, start and tau. Other
settings have no flag:

` + negphase.KeysHelp("k", "swaps", "chains", "start", "tau") + `
  k=1-20 gamma=1.02 weights=boltzmann walks=1 mix=2/1/1
                  sardonics: k is the number of flips of a walk (default fit: 1 to 20,
                  fewer in a small model; auto tunes it to an acceptance of 0.574);
                  isingmc -h all explains all five. im has k, weights, and gamma=1
                  or gamma=DOWN/UP

In pt, ins and pins another sampler may replace the Gibbs steps between swaps, as in
-negphase pt:tau=1/1.5/2:sardonics:k=1-20; -k then counts its moves.

-temperatures auto tunes the ladder during training, so that all neighbours exchange
equally often. The number of temperatures follows from the measured rejection rates (at
most 64; for ins 16); auto:20 fixes it at 20 (at most 256; for ins 16). -temperatures
reach:5 has five temperatures and tunes the hottest, so that neighbours swap at a rate of
0.6. It suits many short ladders: all their particles count in the estimate of ins and
pins.

-objective discriminative maximises log p(y|x), by its exact gradient and without
sampling; -objective hybrid maximises log p(y|x) + α log p(x,y), where -alpha sets α
(Larochelle, Mandel, Pascanu & Bengio 2012). For rows without a label the objective is
log p(x), with the label summed out; discriminative leaves these rows out.

-metrics log_likelihood is exact in small models: the number of states of the smaller
layer, times the number of units of the other, must be at most 2^28. If you name the metric,
the states alone may be 2^28. In larger models it is an estimate with a standard error. A run
whose ladder ends at temperature inf makes this estimate from the ladder's particles, for a
few per cent of its time. Other runs make it only if you name the metric, from a separate
ladder. The estimate is missing while its chains have not equilibrated.

-metrics mixing tests whether the chains of the negative phase follow the model: a copy of
them continues while the model is fixed. It adds at most about 10 % to the run time.

Results go to a folder, with report.html, a page about the run. Ctrl-C saves and stops;
-resume continues a run, with results identical to an uninterrupted one.

mpirun -n 4 rbmtrain … divides one run among four processes, on one machine or many, with
results identical to those of one process. Build with MPI for it:
CC=mpicc go build -tags mpi ./cmd/...

-array FILE runs a sweep. Each line of the file has the flags of a run, which are added to
those of the command line. Finished runs are skipped; interrupted ones are resumed.
-array-index N, or the number of a job in an array of Slurm, Kubernetes or PBS, chooses
run N, counted from 0.

Flags that are not given take the values of a preset, which depends on the data:
classifier, generative, small or gaussian. -preset discriminative and -preset hybrid give
the lowest classification error, and -preset ins-paper has the values of the
infinite-swapping paper (Hult, Nyquist & Ringqvist 2020). -preset help lists all presets.

cmd/rbmtrain/README.md explains metrics, warnings, data files, sweeps and constraints.

Examples:

  rbmtrain                                        # infinite swapping on font digits
  rbmtrain -data mnist -negphase pcd -chains 100 -batch 100 -rate 0.01 -center 0.01 -epochs 20
  rbmtrain -data mnist -preset discriminative -holdout 10000 -eval-every 5000
  rbmtrain -data mnist -labels none -negphase pins:path=data -temperatures auto
  rbmtrain -data mnist -hidden 100 -constraint hidden=20 -negphase pcd -chains 100 -batch 100
  rbmtrain -data rows.csv -label-column last -hidden 50 -holdout 0.1 -stop-after 5
  rbmtrain -resume runs/mnist-pcd-1 -steps 20000`

// options holds the values of the flags, except those in flagKeys, which negative reads.
type options struct {
	flags    *cli.Flags
	data     *cli.DataFlags
	settings train.Settings

	alpha                           float64
	labels, init, metrics           string
	preset                          string
	chosen                          presetChoice // values of the preset for flags that are not given
	constraint                      string
	hiddenUnits                     string
	negphase                        string
	hidden, steps                   int
	tuneFactor                      float64
	tuned                           *tuning // nil: there were no trials
	epochs, holdout                 float64
	holdoutFile                     string
	evalEvery, stopAfter, snapshots int
	checkpoint                      string
	resume, out, cpuprofile         string
	force, dryRun                   bool
	tensorboard                     bool
	pictures                        string
	workers                         int
	arrayFile                       string
	arrayIndex                      int

	called   time.Time    // when the command began; reading data and trials count as time of the run
	inArray  bool         // the run is one of -array
	extended bool         // -steps came with -resume
	slowed   bool         // -rate came with -resume
	moved    bool         // a flag of movable came with -resume
	began    *configModel // the model of the resumed run, nil without -resume; the checkpoint has its parameters, so no file of -init is needed
	testHash string       // hash of the test rows of the resumed run
	rates    []rateChange
	before   int      // number of steps that the resumed run had planned
	build    string   // version of the program that began the resumed run
	command  []string // the command line that started the run

	group *ranks.Group
}

// Tags of flags. A flag with the tag "resume" can be combined with -resume.
const (
	tagCall  = "call"  // the flag concerns this call, not the run: config.json omits it
	tagArray = "array" // the flag concerns a whole array: its lines cannot have it
)

func newOptions() *options {
	f := cli.NewFlags("rbmtrain", summary, "rbmtrain [flags]")
	f.Screen = screen
	o := &options{flags: f, settings: train.PaperSettings("ins")}
	s := &o.settings
	f.Group("data")
	o.data = f.AddData(cli.DataRows{Spec: "fontdigits", Main: "NAME  fontdigits, mnist, a .csv, .npz, …; -data help lists them",
		Test: "(default: the test rows of -data, if it has any)", Unlabelled: true, Redraw: true})
	for _, name := range movable {
		f.Row(name).Tag("resume")
	}
	f.Var(holdout{&o.holdout, &o.holdoutFile}, "holdout", "`rows` to hold out: a fraction of the training rows below 1, a number of them, or a file of further rows, which is read like -data. best.safetensors is the model that was best on them")
	f.Group("model")
	f.IntVar(&o.hidden, "hidden", train.MostHidden, "number of hidden units; by default two per input for rows of fewer than 100 inputs and for real numbers").Main("N  hidden units (500; below 100 inputs two per input)").Between(1, maxHidden)
	f.StringVar(&o.data.Units, "units", "auto", "kind of the visible units of the inputs: binary; gaussian (real numbers: columns are standardised, and the precision given the hidden units is 1); gaussian:precision=learned; spin (−1 and +1); or auto: spin for a file of −1 and +1, gaussian for other numbers outside [0,1], otherwise binary").Choice(cli.UnitNames...)
	f.StringVar(&o.hiddenUnits, "hidden-units", "bernoulli", "kind of hidden units: bernoulli (0 or 1); relu (numbers from 0 up); drelu (real numbers, with half a normal distribution on each side of 0, whose parameters are learned); or gaussian. With the last three the rate is a tenth of the preset's, and there are no labels; -hidden-units help lists them").Choice(append(hiddenUnits, "help")...)
	f.StringVar(&o.labels, "labels", "auto", "kind of label units: softmax, bernoulli (as in the infinite-swapping paper), none, or auto: softmax for labelled data, but none with real hidden units").Choice("auto", "softmax", "bernoulli", "none")
	f.StringVar(&o.init, "init", "", "initial parameters: random (small); log-odds (random, with visible biases from the frequencies of the data); sparse (log-odds, with hidden biases lower by 1, so that fewer hidden units are on and updates take less time); or a model file or the folder of a run")
	f.StringVar(&o.constraint, "constraint", "", "keep a fixed number of units active: hidden=20, twenty hidden units for any input, or all=120, that many of all units, labels included (default: none)")
	f.Group("negative phase")
	f.StringVar(&o.negphase, "negphase", "ins", "estimator of the negative phase: "+strings.Join(negphase.Kinds(), ", ")+"; settings may follow, as in pt:k=1:tau=1/2/3").
		Main("NAME  ins, pcd, pt, exact, …; -negphase help lists them with costs").Offer(append(negphase.Kinds(), "help")...)
	f.StringVar(new(string), "temperatures", "", negphase.KeyHelp("tau")).Main("T  reach:5 (five, the hottest tuned), auto, or a list: 1,1.1,1.3")
	f.IntVar(new(int), "chains", 0, negphase.KeyHelp("chains")+" (default: 10 groups, or 50 chains; the preset generative: 40 and 200)").Main("N  chains; with a ladder, groups of one chain per temperature")
	f.IntVar(new(int), "k", s.Negative.Count("k"), negphase.KeyHelp("k"))
	f.IntVar(new(int), "swaps", s.Negative.Count("swaps"), negphase.KeyHelp("swaps"))
	f.StringVar(new(string), "start", s.Negative.Get("start"), negphase.KeyHelp("start")).Offer("uniform", "data")
	f.Group("training")
	f.IntVar(&o.steps, "steps", 0, "number of training steps; the preset generative has 10000. Small files have fewer: 50 passes over their rows (200 if there are fewer than 100 inputs, 20 for sequences), but at least 1000 steps").Main("N  training steps (48000; images without labels 10000)").Between(1, train.MaxSteps).Same("epochs").Tag("resume")
	f.Float64Var(&s.Rate, "rate", s.Rate, "learning rate; the preset generative has 0.2, with -schedule cosine and -center 0.01").Main("X  learning rate (0.1; images without labels 0.2)").Tag("resume")
	f.IntVar(&s.Batch, "batch", s.Batch, "number of rows of a minibatch; the preset generative has 50").Main("N  rows of a minibatch (20; images without labels 50)").Between(1, math.MaxInt32)
	f.StringVar(&o.preset, "preset", "auto", "values for flags that are not given: "+strings.Join(presetNames()[1:], ", ")+"; auto chooses by the data; -preset help lists them").
		Main("NAME  values of the other flags; -preset help lists them").Choice(append(presetNames(), "help")...).Tag(tagCall)
	f.Float64Var(&o.tuneFactor, "tune", 1, "work of the trials that choose -hidden, -rate, -l2 and -steps, as far as they are not given, on held-out rows: 1 is some 30 s of one core, 0 is none. By default files have trials, unless -steps, -epochs, -preset, -init or -stop-after is given, in an array, and if trials would take too long").
		Main("X  work of the trials that choose the flags above for a file (1)").Between(0, maxTune).Tag(tagCall, tagArray)
	f.Float64Var(&o.epochs, "epochs", 0, "passes over the data, instead of -steps").Above(0, math.Inf(1))
	f.StringVar(&s.Schedule, "schedule", s.Schedule, "learning-rate schedule: constant, inverse or inverse:STEPS (halved after STEPS, by default a tenth of all steps), linear or cosine (to zero)").Offer("constant", "inverse", "linear", "cosine")
	f.Float64Var(&s.Momentum, "momentum", 0, "momentum coefficient, 0 to below 0.9999")
	f.Float64Var(&s.L1, "l1", 0, "factor of Σ|weight|; the product is subtracted from the mean log-likelihood of a row, in nats")
	f.Float64Var(&s.L2, "l2", 0, "factor of ½Σweight²; the product is subtracted from the mean log-likelihood of a row, in nats")
	f.Float64Var(&s.Center, "center", 0, "centred gradient: rate of the moving averages that are its offsets, such as 0.01; 0: not centred")
	f.Float64Var(&s.Average, "average", 0, "decay of an exponential moving average of the parameters, such as 0.999; the average becomes the model; 0: no average. Presets choose it by the number of steps")
	f.Float64Var(&s.Sparse, "sparse", 0, "number to subtract from every hidden bias after each step, such as 0.0001, so that fewer hidden units are on; -schedule lowers it together with the rate")
	f.StringVar(&s.Objective, "objective", train.Joint, "what to maximise: joint, log p(x,y); discriminative, log p(y|x); or hybrid, log p(y|x) + alpha log p(x,y)").Choice(train.Objectives()...)
	f.Float64Var(&o.alpha, "alpha", defaultAlpha, "weight of the generative part of -objective hybrid")
	f.Group("measuring")
	f.StringVar(&o.metrics, "metrics", "auto", "what to measure: "+strings.Join(train.MetricNames(), ", ")+", separated by commas; auto or none").Offer(append(train.MetricNames(), "auto", "none")...)
	f.IntVar(&o.evalEvery, "eval-every", 0, "number of steps between measurements (default: a twentieth of all steps; more in a short run of a large model)").Between(1, train.MaxSteps)
	f.IntVar(&o.stopAfter, "stop-after", 0, "number of measurements without an improvement on the rows held out after which to stop; 0: never stop early").Between(0, math.MaxInt32)
	f.IntVar(&o.snapshots, "snapshots", 20, "number of models to save in models/, at steps spaced evenly on a logarithmic scale; 0: none").Between(0, maxSnapshots)
	f.AddPictures(&o.pictures, "none")
	f.BoolVar(&o.tensorboard, "tensorboard", false, "also write the metrics for TensorBoard, into the folder tensorboard of the run; show them by tensorboard --logdir runs")
	f.Group("the run")
	f.StringVar(&o.out, "out", "", "folder for the results (default: runs/DATA-NEGPHASE-N, the first free N)").Main("FOLDER  where results go (runs/DATA-NEGPHASE-N)").Tag(tagCall)
	f.StringVar(&o.resume, "resume", "", "folder of a run to resume with its own settings; only -steps -rate -workers -progress -quiet -json may be given too, and -data -test -data-dir if files have moved; the rows must be the same").
		Main("FOLDER  resume a run; results are as without the interruption").Alone("takes all settings from the run").Tag(tagCall, tagArray)
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of all random numbers except those of generated data: equal seeds give identical results").Main("N  equal seeds give identical results (1)")
	f.StringVar(&o.arrayFile, "array", "", "file of runs. Each line has the flags of a run, or of a grid of runs such as -negphase {pcd,ins} -seed {1..5}; they are added to the flags given here. Unfinished runs are run one after another, or only the run of -array-index or of this job of an array").Tag(tagCall, tagArray)
	f.IntVar(&o.arrayIndex, "array-index", 0, "number of the run of -array to do, from 0 (default: the value of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or PBS_ARRAY_INDEX, otherwise all runs)").For("array").Tag(tagCall, tagArray)
	f.AddWorkers(&o.workers).Tag("resume", tagCall)
	f.BoolVar(&o.dryRun, "dry-run", false, "check all settings and data, and print them with the memory that the run needs; write nothing").Tag(tagCall, tagArray)
	f.BoolVar(&o.force, "force", false, "let -out replace an earlier run").Tag(tagCall, tagArray)
	f.StringVar(&o.checkpoint, "checkpoint-every", "5m", "time between checkpoints, such as 5m or 1h, or number of steps")
	f.AddOutput("no progress bar and no report; errors and warnings remain", "print the result as one JSON object and nothing else on standard output", "resume", tagCall, tagArray)
	f.StringVar(&o.cpuprofile, "cpuprofile", "", "write a CPU profile of the training to this file").New().Tag(tagCall, tagArray)
	for _, s := range presetFlags(presets[0], "") {
		f.Lookup(s.flag).DefValue = s.value // shown by -h all
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

// defaultAlpha is the weight of log p(x,y) that Larochelle et al. (2012, section 7.1)
// found best for MNIST.
const defaultAlpha = 0.01

// runRanks runs the command as one rank of g, or as a single process if g is nil. All ranks read the
// flags and the data, and take the steps. Only rank 0 measures, writes and prints.
func runRanks(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	return newOptions().run(ctx, g, args, stdout, stderr)
}

// run parses args into o and runs the command, as runRanks describes.
func (o *options) run(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	o.group, o.called = g, time.Now()
	if err := o.flags.Parse(args, stdout, stderr); err != nil {
		return err
	}
	if o.arrayFile != "" {
		return o.runArray(ctx)
	}
	if o.flags.Given("resume") {
		if err := o.adopt(); err != nil {
			return o.explain(err)
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
	if err = g.Agree(o.explain(err), facts(trainer)...); err != nil {
		return err
	}
	if g.Rank() > 0 {
		return p.follow(ctx, trainer)
	}
	return p.run(ctx, trainer)
}

// movable are the flags that name files of data. With -resume they name the new places of these files.
var movable = []string{"data", "test", "data-dir"}

// explain adds to an error of -resume that files may have moved, or that another build made the run.
func (o *options) explain(err error) error {
	if err != nil && o.began != nil && !o.moved && errors.Is(err, fs.ErrNotExist) { // config.json was read
		err = fmt.Errorf("%w; if the data have moved, -resume %s -data FILE names the new place", err, o.resume)
	}
	if err == nil || o.build == "" || o.build == cli.Version() {
		return err
	}
	return fmt.Errorf("%w; another build, %s, made the run in %s and can resume it", err, o.build, o.resume)
}

// prepare checks the settings, loads the data and returns the plan of the run and its trainer. It
// finds all errors that can be found before training.
func (o *options) prepare(ctx context.Context) (*plan, *train.Trainer, error) {
	if o.group.Rank() == 0 {
		for _, dir := range []string{o.resume, o.out} { // before loading data, which may take long
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
