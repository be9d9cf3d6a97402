// Quality trains RBMs of 500 hidden units on MNIST for as much processor time by gorbm, by
// loops over NumPy and PyTorch with the same settings, and by scikit-learn, and brackets
// their test log-likelihood.
//
//	go run ./experiments/speed/quality
//
// Results are in README.md. The peers need Python 3 with NumPy, PyTorch and scikit-learn.
package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/program"
)

func main() { cli.Main("quality", run) }

const about = `How good a model does so much processor time of one core buy? Each program trains 784 × 500 units on the 60000 rows of
MNIST, thresholded at ½, without labels. gorbm and the loops over
NumPy and PyTorch have the same settings: persistent contrastive divergence, 50 chains, batches of 20, a rate that falls from
0.05 to 0 on a line, visible biases that start from the data. The rate of a loop falls with its processor time, that of gorbm with the number
of updates, as many as the time allowed in a run before; the table has what it took. scikit-learn trains by its own fit, of float32,
stopped at its time. All models
are tested by ` + "`rbmeval`" + `.`

//go:embed loops.py
var loops []byte

// budgets are the processor seconds of training.
var budgets = []float64{60, 180}

// The programs, in the order of the tables.
const (
	gorbm   = "gorbm"
	numpy   = "NumPy"
	pytorch = "PyTorch"
	sklearn = "scikit-learn"
)

var contestants = []string{gorbm, numpy, pytorch, sklearn}

// libraries are the names that loops.py has for the peers.
var libraries = map[string]string{numpy: "numpy", pytorch: "torch", sklearn: "sklearn"}

// Panels. X is the number of processor seconds that were to be used.
const (
	testPanel    = "test log-likelihood" // by Bennett's ratio
	highPanel    = "by AIS"
	lowPanel     = "by reverse AIS"
	stdErrPanel  = "standard error"
	updatesPanel = "updates"
	secondsPanel = "processor seconds"
)

// A quality is the experiment.
type quality struct {
	runs   program.Runs
	python string
	only   string
}

var run = command(&quality{})

func command(q *quality) cli.Command {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		defer q.runs.Remove()
		return q.experiment().Command(func(f *cli.Flags) func() error {
			f.StringVar(&q.python, "python", "python3", "Python that has NumPy, PyTorch and scikit-learn")
			f.StringVar(&q.only, "only", "", "run the jobs alone whose name has this in it, such as \"NumPy 60\"")
			return func() error { return nil }
		})(ctx, args, stdout, stderr)
	}
}

func (q *quality) experiment() claims.Experiment {
	return claims.Experiment{
		Name:  "speed/quality",
		Title: "What a minute of training buys",
		Paper: "ours",
		About: about,
		Figures: []claims.Figure{{
			Name: "quality", Ours: true,
			Title: "test log-likelihood after equal processor time",
			Says:  "which program has the better model after one minute, and after three?",
			Jobs:  q.jobs, Claims: qualityClaims, Draw: drawQuality, Notes: qualityNotes,
		}},
	}
}

// jobs are a run of each contestant and budget, the seeds in turn: gorbm's three and one of
// each peer.
func (q *quality) jobs(o claims.Options) (jobs []claims.Job) {
	for _, seconds := range claims.Size(o, []float64{0.2, 0.4}, budgets) {
		for _, name := range contestants {
			seeds := 1
			if name == gorbm {
				seeds = max(o.Repeats, claims.Size(o, 1, 3))
			}
			for seed := 1; seed <= seeds; seed++ {
				job := fmt.Sprintf("%s %v s, seed %d", name, seconds, seed)
				if !strings.Contains(job, q.only) {
					continue
				}
				jobs = append(jobs, claims.Job{Name: job, Run: func(ctx context.Context) ([]claims.Point, error) {
					return q.measure(ctx, name, seconds, seed, o.Quick)
				}})
			}
		}
	}
	return jobs
}

// measure trains a model and tests it.
func (q *quality) measure(ctx context.Context, name string, seconds float64, seed int, quick bool) ([]claims.Point, error) {
	dir, err := os.MkdirTemp("", "gorbm-quality")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	source, hidden := "mnist", 500
	if quick {
		source, hidden = "fontdigits:500", 10
	}
	var model string
	var updates, used float64
	if name == gorbm {
		model = filepath.Join(dir, "run")
		updates, used, err = q.train(ctx, model, source, hidden, seconds, seed)
	} else {
		model = filepath.Join(dir, "model.npz")
		updates, used, err = q.peer(ctx, libraries[name], model, source, hidden, seconds, seed)
	}
	if err != nil {
		return nil, err
	}
	args := []string{"-model", model, "-data", source}
	if quick {
		args = append(args, "-ais-temperatures", "50", "-ladder-rounds", "300")
	}
	tested, err := q.runs.Evaluate(ctx, args...)
	if err != nil {
		return nil, err
	}
	point := func(panel string, y float64) claims.Point {
		return claims.Point{Panel: panel, Curve: name, Repeat: seed, X: seconds, Y: y}
	}
	points := []claims.Point{point(updatesPanel, updates), point(secondsPanel, used)}
	for i, e := range []program.Estimate{tested.Bennett, tested.AIS, tested.Reverse} {
		if e.LogZ != nil {
			points = append(points, point([]string{testPanel, highPanel, lowPanel}[i], tested.Likelihood(e)))
		}
	}
	return append(points, point(stdErrPanel, tested.Bennett.StdErr)), nil
}

// off is the share of the time by which a run may miss it.
const off = 0.15

// train runs rbmtrain for as many steps as take so long. Two short runs before it say what
// the start and a step take. On a busy machine they may be wrong: then the run itself says
// what a step takes, and another one follows.
func (q *quality) train(ctx context.Context, folder, source string, hidden int, seconds float64, seed int) (updates, used float64, err error) {
	const few, more = 500, 3500
	call := func(folder string, steps int) (float64, error) {
		return q.runs.Call(ctx, nil, "rbmtrain", "-data", source, "-labels", "none", "-hidden", strconv.Itoa(hidden), "-negphase", "pcd",
			"-chains", "50", "-batch", "20", "-rate", "0.05", "-schedule", "linear", "-center", "0", "-steps", strconv.Itoa(steps), "-seed", strconv.Itoa(seed), "-metrics", "none", "-snapshots", "0", "-workers", "1", "-quiet", "-out", folder)
	}
	short, err := call(folder+"-few", few)
	if err != nil {
		return 0, 0, err
	}
	long, err := call(folder+"-more", more)
	if err != nil {
		return 0, 0, err
	}
	step := max(long-short, 1e-3) / (more - few)
	start := max(0, short-few*step)
	for try := 0; ; try++ {
		steps := max(1, int(seconds/step))
		if used, err = call(folder, steps); err != nil {
			return 0, 0, err
		}
		used = max(used-start, 1e-3) // as the peers, whose start does not count
		if try == 1 || math.Abs(used-seconds) < off*seconds {
			return float64(steps), used, nil
		}
		step = used / float64(steps)
		if err := os.RemoveAll(folder); err != nil {
			return 0, 0, err
		}
	}
}

// peer runs a loop of loops.py.
func (q *quality) peer(ctx context.Context, library, model, source string, hidden int, seconds float64, seed int) (updates, used float64, err error) {
	set, _, err := data.Load(ctx, source, data.Options{})
	if err != nil {
		return 0, 0, err
	}
	words, err := binary.Append(nil, binary.LittleEndian, set.X.Words)
	if err != nil {
		return 0, 0, err
	}
	dir := filepath.Dir(model)
	rows, script := filepath.Join(dir, "rows"), filepath.Join(dir, "loops.py")
	for path, b := range map[string][]byte{rows: words, script: loops} {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			return 0, 0, err
		}
	}
	c := program.New(ctx, q.python, script, library, fmt.Sprint(seconds), strconv.Itoa(seed), rows,
		strconv.Itoa(set.Len()), strconv.Itoa(set.X.Cols), strconv.Itoa(hidden), model)
	for _, name := range []string{"OMP", "OPENBLAS", "MKL"} {
		c.Env = append(c.Env, name+"_NUM_THREADS=1")
	}
	c.Env = append(os.Environ(), c.Env...)
	var said struct{ Updates, Seconds float64 }
	err = c.Run(&said)
	return said.Updates, said.Seconds, err
}
