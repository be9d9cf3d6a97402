// Speed compares gorbm with scikit-learn, and with loops over NumPy and PyTorch that are tuned by hand: the processor time of an
// update, and how soon each program reaches a given likelihood on MNIST.
//
//	go run ./experiments/speed -figure times
//	go run ./experiments/speed -figure search
//	go run ./experiments/speed -figure quality
//
// Results are in README.md. The peers need Python 3 with NumPy, and PyTorch and scikit-learn where they are compared.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
	"gorbm/rbm/finitejson"
)

func main() { cli.Main("speed", run) }

//go:embed loops.py
var loops []byte

// The programs, in the order of the tables.
const (
	gorbm   = "gorbm"
	numpy   = "NumPy"
	pytorch = "PyTorch"
	sklearn = "scikit-learn"
)

var contestants = []string{gorbm, numpy, pytorch}

// libraries are the names that loops.py has for the peers.
var libraries = map[string]string{numpy: "numpy", pytorch: "torch", sklearn: "sklearn"}

// A recipe is the settings of training, for all programs. Chains counts the chains at all temperatures.
type recipe struct {
	Rate    float64   `json:"rate"`
	Batch   int       `json:"batch"`
	Chains  int       `json:"chains"`
	Center  float64   `json:"center"`
	L2      float64   `json:"l2"`
	Average float64   `json:"average"`
	Start   string    `json:"start"`           // as -init of rbmtrain; "": log-odds
	Betas   []float64 `json:"betas,omitempty"` // inverse temperatures of parallel tempering; nil: all chains are at 1
}

func (r recipe) String() string {
	text := fmt.Sprintf("rate %v, batch %d, %d chains", r.Rate, r.Batch, r.Chains)
	if r.Center > 0 {
		text += ", centred"
	}
	if r.L2 > 0 {
		text += fmt.Sprintf(", L2 %v", r.L2)
	}
	if r.Average > 0 {
		text += fmt.Sprintf(", average %v", r.Average)
	}
	if r.Start != "" {
		text += ", " + r.Start + " start"
	}
	return text
}

// flags are the flags that rbmtrain gets, in addition to the negative phase. A group of its default negative phase has five chains.
func (r recipe) flags() string {
	return fmt.Sprintf("-rate %v -batch %d -init %s -center %v -l2 %v -average %v", r.Rate, r.Batch, cmp.Or(r.Start, "log-odds"), r.Center, r.L2, r.Average)
}

// preset is the default recipe of rbmtrain for images without labels.
var preset = recipe{Rate: 0.2, Batch: 50, Chains: 200, Center: 0.01, Start: "sparse"}

// Panels of all figures.
const (
	updatesPanel = "updates"
	secondsPanel = "processor seconds"
)

// A speed has what the jobs share.
type speed struct {
	training.Commands
	python string

	start struct { // processor seconds of a run of one step, by the data and number of hidden units
		sync.Mutex
		seconds map[string]float64
	}
	step sync.Map // processor seconds of a step in the last run, by the data, hidden units and flags
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	q := &speed{}
	defer q.Remove()
	return q.experiment().Command(func(f *cli.Flags) {
		f.StringVar(&q.python, "python", "python3", "Python that has NumPy, and PyTorch and scikit-learn for their figures")
	})(ctx, args, stdout, stderr)
}

func (q *speed) experiment() figures.Experiment {
	return figures.Experiment{Name: "speed", Title: "How fast?", Ours: true, Figures: []figures.Figure{q.times(), q.quality(), q.search()}}
}

// A task is a model to be trained for some processor time.
type task struct {
	contestant string
	data       string
	hidden     int
	seed       int
	seconds    float64
	flags      string // of rbmtrain, in addition to those of every run
	recipe     recipe // of the peers
}

// pilot is the number of steps of the first run with some flags. Its time gives the number of steps that fit
// into the time of the task. A run that misses this time by more than the fraction off is repeated.
const (
	pilot = 300
	off   = 0.2
)

// train trains a model, and returns the number of updates, their processor seconds, and the file of the model in the folder dir. A peer
// that is not installed makes no updates.
func (q *speed) train(ctx context.Context, t task, dir string) (updates, used float64, model string, err error) {
	if t.contestant != gorbm {
		model = filepath.Join(dir, "model.npz")
		updates, used, err = q.peer(ctx, t, model)
		return updates, used, model, err
	}
	folder := filepath.Join(dir, "run")
	model = filepath.Join(folder, "model.safetensors")
	call := func(steps int) (float64, error) {
		if err := os.RemoveAll(folder); err != nil {
			return 0, err
		}
		return q.Call(ctx, nil, "rbmtrain", strings.Fields(fmt.Sprintf("-data %s -labels none -hidden %d -steps %d -seed %d -metrics none -snapshots 0 -pictures none -workers 1 -quiet -out %s %s", t.data, t.hidden, steps, t.seed, folder, t.flags))...)
	}
	start, err := q.startOf(fmt.Sprint(t.data, t.hidden), call)
	if err != nil {
		return 0, 0, "", err
	}
	steps, name := pilot, fmt.Sprint(t.data, t.hidden, t.flags)
	if s, ok := q.step.Load(name); ok {
		steps = max(1, int(t.seconds/s.(float64)))
	}
	for try := 0; ; try++ {
		if used, err = call(steps); err != nil {
			return 0, 0, "", err
		}
		used = max(used-start, 1e-3)
		q.step.Store(name, used/float64(steps))
		if math.Abs(used-t.seconds) < off*t.seconds || try == 2 {
			return float64(steps), used, model, nil
		}
		steps = max(1, int(t.seconds/used*float64(steps)))
	}
}

// startOf returns the processor seconds of a run of one step.
func (q *speed) startOf(name string, call func(steps int) (float64, error)) (float64, error) {
	q.start.Lock()
	defer q.start.Unlock()
	if s, ok := q.start.seconds[name]; ok {
		return s, nil
	}
	s, err := call(1)
	if q.start.seconds == nil {
		q.start.seconds = map[string]float64{}
	}
	if err == nil {
		q.start.seconds[name] = s
	}
	return s, err
}

// peer runs a loop of loops.py.
func (q *speed) peer(ctx context.Context, t task, model string) (updates, used float64, err error) {
	set, err := training.Load(ctx, t.data, "")
	if err != nil {
		return 0, 0, err
	}
	words, err := binary.Append(nil, binary.LittleEndian, set.X.Words)
	if err != nil {
		return 0, 0, err
	}
	rows, script := filepath.Join(filepath.Dir(model), "rows"), filepath.Join(filepath.Dir(model), "loops.py")
	for path, b := range map[string][]byte{rows: words, script: loops} {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			return 0, 0, err
		}
	}
	settings, err := finitejson.Marshal(t.recipe)
	if err != nil {
		return 0, 0, err
	}
	c := exec.CommandContext(ctx, q.python, script, libraries[t.contestant], fmt.Sprint(t.seconds), fmt.Sprint(t.seed), rows, fmt.Sprint(set.Len()), fmt.Sprint(set.X.Cols), fmt.Sprint(t.hidden), string(settings), model)
	c.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1")
	var said struct{ Updates, Seconds float64 }
	_, err = training.Run(c, &said)
	return said.Updates, said.Seconds, err
}
