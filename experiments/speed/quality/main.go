// Quality trains RBMs of 500 hidden units on MNIST by gorbm and by loops over NumPy and PyTorch, with
// equal processor time, and measures how soon each reaches a given likelihood. Each program has the best
// settings that a search of equal effort found.
//
//	go run ./experiments/speed/quality -figure search
//	go run ./experiments/speed/quality -figure quality
//
// Results are in README.md. The peers need Python 3 with NumPy and PyTorch.
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
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/program"
	"gorbm/rbm/finitejson"
	"gorbm/rbm/modelfile"
)

func main() { cli.Main("quality", run) }

const about = `How soon does a program reach a given likelihood on one core? Each program trains 784 × 500 units on the 60000 rows of
MNIST, thresholded at ½, without labels. gorbm has its default recipe: what ` + "`rbmtrain -data mnist -labels none -steps N`" + ` does. The loops over
NumPy and PyTorch are tuned by hand (persistent contrastive divergence in float32; no step allocates a matrix, and centring adds two rows to one
of the products). They have the best settings of their own search. All rates fall to 0 along half a cosine, so each time needs a separate run.

Seconds are the processor time of training alone, as the operating system counts it. The loops count from their first update. From the time of a run
of gorbm we subtract that of a run with a single step. The runs were on one of two cores, one after another. Other programs
used the machine, and in figure quality that core too, which makes updates slower on all sides. ` + "`rbmeval -bennett`" + ` evaluates all models on
the same rows.`

//go:embed loops.py
var loops []byte

// The programs, in the order of the tables.
const (
	gorbm   = "gorbm"
	numpy   = "NumPy"
	pytorch = "PyTorch"
)

var (
	contestants = []string{gorbm, numpy, pytorch}
	loopsOfRace = contestants[1:]
)

// libraries are the names that loops.py has for the peers.
var libraries = map[string]string{numpy: "numpy", pytorch: "torch"}

// A recipe is the settings of training. Chains counts the chains at all temperatures.
type recipe struct {
	Rate    float64 `json:"rate"`
	Batch   int     `json:"batch"`
	Chains  int     `json:"chains"`
	Center  float64 `json:"center"`
	L2      float64 `json:"l2"`
	Average float64 `json:"average"`
	Start   string  `json:"start"` // as -init of rbmtrain; "": log-odds
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

// flags are the flags that rbmtrain gets. A group of its default negative phase has five chains.
func (r recipe) flags() []string {
	const ladder = 5
	return []string{"-rate", fmt.Sprint(r.Rate), "-batch", strconv.Itoa(r.Batch), "-chains", strconv.Itoa(r.Chains / ladder),
		"-init", cmp.Or(r.Start, "log-odds"), "-center", fmt.Sprint(r.Center), "-l2", fmt.Sprint(r.L2), "-average", fmt.Sprint(r.Average)}
}

// preset is the default recipe of rbmtrain for images without labels.
var preset = recipe{Rate: 0.2, Batch: 50, Chains: 200, Center: 0.01, Start: "sparse"}

// recipes are the recipes of the search, the same for all programs.
var recipes = []recipe{
	preset,
	{Rate: 0.2, Batch: 50, Chains: 100, Center: 0.01, Start: "sparse"},
	{Rate: 0.2, Batch: 20, Chains: 100, Center: 0.01, Start: "sparse"},
	{Rate: 0.4, Batch: 50, Chains: 100, Center: 0.01, Start: "sparse"},
	{Rate: 0.2, Batch: 50, Chains: 200, Center: 0.01},
	{Rate: 0.2, Batch: 50, Chains: 100, Center: 0.01},
	{Rate: 0.2, Batch: 20, Chains: 100, Center: 0.01},
	{Rate: 0.2, Batch: 20, Chains: 50, Center: 0.01},
	{Rate: 0.4, Batch: 50, Chains: 100, Center: 0.01},
	{Rate: 0.4, Batch: 20, Chains: 100, Center: 0.01},
	{Rate: 0.1, Batch: 20, Chains: 50},
	{Rate: 0.2, Batch: 20, Chains: 50, Center: 0.01, Average: 0.999},
}

// Panels.
const (
	heldPanel    = "held-out log-likelihood"
	testPanel    = "test log-likelihood"
	trainPanel   = "training log-likelihood"
	stdErrPanel  = "standard error"
	tripsPanel   = "round trips"
	doubtPanel   = "doubtful"
	updatesPanel = "updates"
	secondsPanel = "processor seconds"
)

// A quality is the experiment.
type quality struct {
	runs   program.Runs
	python string
	only   string

	once  sync.Once
	start float64 // processor seconds of a run of one step
	err   error
	step  sync.Map // processor seconds of a step in the last run of a recipe, by the text of the recipe
}

var run = command(&quality{})

func command(q *quality) cli.Command {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		defer q.runs.Remove()
		return q.experiment().Command(func(f *cli.Flags) {
			f.StringVar(&q.python, "python", "python3", "Python that has NumPy and PyTorch")
			f.StringVar(&q.only, "only", "", "run only the jobs whose name contains this text, such as \"NumPy, 60\"")
		})(ctx, args, stdout, stderr)
	}
}

func (q *quality) experiment() claims.Experiment {
	return claims.Experiment{
		Name:  "speed/quality",
		Title: "How soon a likelihood is reached",
		Paper: "ours",
		About: about,
		Figures: []claims.Figure{{
			Name: "quality", Ours: true,
			Title: "log-likelihood against processor time",
			Says:  "which program has the better model after equal time, and how soon does each reach a given likelihood?",
			Jobs:  q.raceJobs, Claims: qualityClaims, Draw: drawQuality, Finding: qualityFinding, Notes: qualityNotes,
		}, {
			Name: "search", Ours: true,
			Title: "settings for the race",
			Says:  "which settings have the best held-out likelihood after twelve seconds of a core?",
			Jobs:  q.searchJobs, Claims: searchClaims, Draw: drawSearch, Finding: searchFinding, Notes: searchNotes,
		}},
	}
}

// searchSeconds is the processor time of a run of the search. searchRounds and raceRounds are the
// -ladder-rounds of the rbmeval that evaluates the models.
const (
	searchSeconds = 12
	searchRounds  = 2000
	raceRounds    = 5000
)

// searchJobs are a run of every recipe by each contestant. They train without the first 5000
// rows, on which they are judged.
func (q *quality) searchJobs(o claims.Options) (jobs []claims.Job) {
	t := task{data: "mnist:55000", all: "mnist", hidden: 500, seed: 1, seconds: searchSeconds, judge: []string{"-ladder-rounds", strconv.Itoa(searchRounds)}}
	t.quick(o, 0.2)
	for at, r := range claims.Size(o, recipes[:2], recipes) {
		for _, name := range contestants {
			jobs = q.add(jobs, fmt.Sprintf("%s, %v", name, r), func(ctx context.Context) ([]claims.Point, error) {
				t := t
				t.contestant, t.recipe, t.x = name, &r, float64(at)
				return q.measure(ctx, t)
			})
		}
	}
	return jobs
}

// chosen are the recipes of the loops in the race: each one's best of the search.
var chosen = map[string]recipe{
	pytorch: {Rate: 0.2, Batch: 50, Chains: 100, Center: 0.01, Start: "sparse"},
	numpy:   {Rate: 0.2, Batch: 20, Chains: 100, Center: 0.01, Start: "sparse"},
}

// raceJobs are runs of each contestant and budget. gorbm has a shorter one too, because in 6 s it passes two of the likelihoods that are timed.
func (q *quality) raceJobs(o claims.Options) (jobs []claims.Job) {
	add := func(seed int, name string, budgets ...float64) {
		for _, seconds := range budgets {
			t := task{contestant: name, data: "mnist", all: "mnist", hidden: 500, seed: seed, seconds: seconds, x: seconds, judge: []string{"-ladder-rounds", strconv.Itoa(raceRounds)}}
			t.quick(o, seconds)
			if r, ok := chosen[name]; ok {
				t.recipe = &r
			}
			jobs = q.add(jobs, fmt.Sprintf("%s, %v s, seed %d", name, seconds, seed), func(ctx context.Context) ([]claims.Point, error) {
				return q.measure(ctx, t)
			})
		}
	}
	if o.Quick {
		for _, name := range contestants {
			add(1, name, 0.2, 0.4)
		}
		return jobs
	}
	for seed := 1; seed <= 3; seed++ {
		add(seed, gorbm, 3, 6, 20, late)
		add(seed, numpy, 6, 20, late)
		add(seed, pytorch, 6, 20, late)
	}
	return jobs
}

// add adds a job, unless -only leaves it out.
func (q *quality) add(jobs []claims.Job, name string, run func(ctx context.Context) ([]claims.Point, error)) []claims.Job {
	if !strings.Contains(name, q.only) {
		return jobs
	}
	return append(jobs, claims.Job{Name: name, Run: run})
}

// A task is a model to be trained and judged.
type task struct {
	contestant string
	data, all  string // names of the training rows, and of the held-out rows followed by the training rows
	hidden     int
	seed       int
	seconds    float64
	recipe     *recipe // nil: the default of gorbm
	x          float64 // x of the points
	judge      []string
}

// quick makes the task small.
func (t *task) quick(o claims.Options, seconds float64) {
	if o.Quick {
		t.data, t.all, t.hidden, t.seconds = "fontdigits:500", "fontdigits:500", 10, seconds
		t.judge = []string{"-ladder-rounds", "300"}
	}
}

// measure trains a model and judges it.
func (q *quality) measure(ctx context.Context, t task) ([]claims.Point, error) {
	dir, err := os.MkdirTemp("", "gorbm-quality")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var file string
	var updates, used float64
	if libraries[t.contestant] == "" {
		folder := filepath.Join(dir, "run")
		file = filepath.Join(folder, "model.safetensors")
		updates, used, err = q.train(ctx, t, folder)
	} else {
		file = filepath.Join(dir, "model.npz")
		updates, used, err = q.peer(ctx, t, file)
	}
	if err != nil {
		return nil, err
	}
	var judged program.Evaluation
	if _, err := q.runs.Call(ctx, &judged, "rbmeval", append([]string{"-model", file, "-data", t.all, "-bennett", "-workers", "1", "-json", "-quiet"}, t.judge...)...); err != nil {
		return nil, err
	}
	var points []claims.Point
	point := func(panel string, y float64) {
		points = append(points, claims.Point{Panel: panel, Curve: t.contestant, Repeat: t.seed, X: t.x, Y: y})
	}
	point(updatesPanel, updates)
	point(secondsPanel, used)
	m, _, err := modelfile.Read(file)
	if err != nil {
		return nil, err
	}
	all, _, err := data.Load(ctx, t.all, data.Options{})
	if err != nil {
		return nil, err
	}
	part, _, err := data.Load(ctx, t.data, data.Options{})
	if err != nil {
		return nil, err
	}
	likelihood := func(panel string, rows []int32) {
		free := make([]float64, len(rows))
		m.FreeEnergy(free, all.Rows(rows, 0))
		sum := 0.0
		for _, f := range free {
			sum -= f
		}
		point(panel, sum/float64(len(rows))-*judged.Bennett.LogZ)
	}
	if judged.Bennett.LogZ != nil {
		point(testPanel, judged.Likelihood(judged.Bennett))
		held := all.Len() - part.Len()
		if held > 0 {
			likelihood(heldPanel, data.RowNumbers(0, held))
		}
		likelihood(trainPanel, data.RowNumbers(held, all.Len()))
	}
	point(stdErrPanel, judged.Bennett.StdErr)
	point(tripsPanel, float64(judged.Bennett.RoundTrips))
	doubtful := 0.0
	if judged.Bennett.Doubtful {
		doubtful = 1
	}
	point(doubtPanel, doubtful)
	return points, nil
}

// pilot is the number of steps of the first run of a recipe. Its time gives the number of steps that fit
// into the time of the task. A run that misses this time by more than the fraction off is repeated.
const (
	pilot = 300
	off   = 0.2
)

// train runs rbmtrain for as many steps as the time allows.
func (q *quality) train(ctx context.Context, t task, folder string) (updates, used float64, err error) {
	call := func(steps int) (float64, error) {
		if err := os.RemoveAll(folder); err != nil {
			return 0, err
		}
		args := []string{"-data", t.data, "-labels", "none", "-hidden", strconv.Itoa(t.hidden), "-steps", strconv.Itoa(steps), "-seed", strconv.Itoa(t.seed),
			"-metrics", "none", "-snapshots", "0", "-pictures", "none", "-workers", "1", "-quiet", "-out", folder}
		if t.recipe != nil {
			args = append(args, t.recipe.flags()...)
		}
		return q.runs.Call(ctx, nil, "rbmtrain", args...)
	}
	q.once.Do(func() { q.start, q.err = call(1) })
	if q.err != nil {
		return 0, 0, q.err
	}
	steps, name := pilot, fmt.Sprint(t.recipe)
	if s, ok := q.step.Load(name); ok {
		steps = max(1, int(t.seconds/s.(float64)))
	}
	for try := 0; ; try++ {
		if used, err = call(steps); err != nil {
			return 0, 0, err
		}
		used = max(used-q.start, 1e-3)
		q.step.Store(name, used/float64(steps))
		if math.Abs(used-t.seconds) < off*t.seconds || try == 2 {
			return float64(steps), used, nil
		}
		steps = max(1, int(t.seconds/used*float64(steps)))
	}
}

// peer runs a loop of loops.py.
func (q *quality) peer(ctx context.Context, t task, model string) (updates, used float64, err error) {
	set, _, err := data.Load(ctx, t.data, data.Options{})
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
	r := preset
	if t.recipe != nil {
		r = *t.recipe
	}
	settings, err := finitejson.Marshal(r)
	if err != nil {
		return 0, 0, err
	}
	c := program.New(ctx, q.python, script, libraries[t.contestant], fmt.Sprint(t.seconds), strconv.Itoa(t.seed), rows,
		strconv.Itoa(set.Len()), strconv.Itoa(set.X.Cols), strconv.Itoa(t.hidden), string(settings), model)
	for _, name := range []string{"OMP", "OPENBLAS", "MKL"} {
		c.Env = append(c.Env, name+"_NUM_THREADS=1")
	}
	c.Env = append(os.Environ(), c.Env...)
	var said struct{ Updates, Seconds float64 }
	err = c.Run(&said)
	return said.Updates, said.Seconds, err
}
