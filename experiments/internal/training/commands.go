package training

import (
	"bytes"
	"context"
	"encoding/json"
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
)

// Commands builds rbmtrain, rbmeval and isingmc when they are first called.
type Commands struct {
	mutex sync.Mutex
	built string // folder of the commands
}

// Command returns the command of an experiment whose jobs call commands. addFlags may be nil.
func Command(experiment func(c *Commands) figures.Experiment, addFlags func(f *cli.Flags)) cli.Command {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		c := &Commands{}
		defer c.Remove()
		return experiment(c).Command(addFlags)(ctx, args, stdout, stderr)
	}
}

// Remove removes the commands.
func (c *Commands) Remove() { os.RemoveAll(c.built) }

// Path returns the path of a command of gorbm, which it builds if necessary.
func (c *Commands) Path(ctx context.Context, name string) (path string, err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.built == "" {
		if c.built, err = os.MkdirTemp("", "gorbm-commands"); err != nil {
			return "", err
		}
	}
	path = filepath.Join(c.built, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	_, err = Run(exec.CommandContext(ctx, "go", "build", "-o", path, "gorbm/cmd/"+name), nil)
	return path, err
}

// Call runs a command of gorbm, decodes its JSON output into v, unless v is nil, and returns its processor time in
// seconds.
func (c *Commands) Call(ctx context.Context, v any, name string, args ...string) (seconds float64, err error) {
	path, err := c.Path(ctx, name)
	if err != nil {
		return 0, err
	}
	return Run(exec.CommandContext(ctx, path, args...), v)
}

// Run runs any command as Call does. An error ends with the last two lines of its standard error.
func Run(c *exec.Cmd, v any) (seconds float64, err error) {
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err = c.Run()
	if c.ProcessState != nil {
		seconds = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	}
	switch {
	case err != nil:
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return seconds, fmt.Errorf("%s: %w: %s", filepath.Base(c.Path), err, strings.Join(lines[max(0, len(lines)-2):], "; "))
	case v == nil:
		return seconds, nil
	}
	return seconds, json.Unmarshal(stdout.Bytes(), v)
}

// A Trained has the numbers of a training run, which rbmtrain prints, that experiments read.
type Trained struct {
	Processor float64             `json:"-"`       // seconds of processor time, measurements included
	Steps     float64             `json:"steps"`   // updates
	Seconds   float64             `json:"seconds"` // of training alone, without measurements, by the clock
	InAll     float64             `json:"seconds_in_all"`
	Metrics   map[string]*float64 `json:"metrics"`   // last values
	BestStep  float64             `json:"best_step"` // of the model that is best on the rows held out
	Ladder    struct {
		Beta []float64 `json:"beta"`
	} `json:"ladder"`
}

// Train runs rbmtrain on one core with the flags of the given lines, of which later ones override earlier ones. It calls look with
// the results and the folder of the run, which is temporary.
func (c *Commands) Train(ctx context.Context, look func(folder string, t Trained) error, lines ...string) error {
	dir, err := os.MkdirTemp("", "gorbm-run")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var t Trained
	folder := filepath.Join(dir, "run")
	t.Processor, err = c.Call(ctx, &t, "rbmtrain", append(strings.Fields(strings.Join(lines, " ")), "-workers", "1", "-quiet", "-json", "-out", folder)...)
	if err != nil {
		return err
	}
	return look(folder, t)
}

// An Evaluation has the results of rbmeval.
type Evaluation struct {
	LogLikelihood  *float64 `json:"mean_log_likelihood"` // by the best estimate of log Z; nil if there is none
	StdErr         *float64 `json:"log_z_std_err"`
	FreeEnergy     float64  `json:"free_energy"` // mean over the rows
	AIS            Estimate `json:"ais"`
	Reverse        Estimate `json:"reverse_ais"`
	Bennett        Estimate `json:"bennett"`
	Classification struct {
		Error       float64 `json:"error"`
		NLL         float64 `json:"negative_log_likelihood"`
		Rows        float64 `json:"n"`
		Calibration struct {
			Temperature float64 `json:"temperature"`
			After       struct {
				ECE float64 `json:"ece"`
			} `json:"after"`
		} `json:"calibration"`
	} `json:"classification"`
}

// An Estimate is an estimate of log Z. LogZ is nil if it is impossible.
type Estimate struct {
	LogZ       *float64 `json:"log_z"`
	StdErr     float64  `json:"std_err"`
	ESS        float64  `json:"ess"`
	Doubtful   bool     `json:"doubtful"`
	RoundTrips float64  `json:"round_trips"` // of the ladder
}

// Likelihood returns the mean log-likelihood by an estimate of log Z; NaN without one.
func (t Evaluation) Likelihood(e Estimate) float64 {
	if e.LogZ == nil {
		return math.NaN()
	}
	return -t.FreeEnergy - *e.LogZ
}

// Evaluate runs rbmeval on one core.
func (c *Commands) Evaluate(ctx context.Context, args ...string) (t Evaluation, err error) {
	_, err = c.Call(ctx, &t, "rbmeval", append([]string{"-workers", "1", "-json", "-quiet"}, args...)...)
	return t, err
}
