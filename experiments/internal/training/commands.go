package training

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
	"gorbm/train/rundir"
)

// Commands builds rbmtrain, rbmeval and isingmc when they are first called.
type Commands struct {
	// Dir is the folder in which training runs are kept, so that interrupted runs
	// resume; "": each run has a temporary folder.
	Dir string

	mutex sync.Mutex
	built string // folder of the commands
}

// Command returns the command of an experiment whose jobs call commands. addFlags may be nil.
func Command(experiment func(c *Commands) figures.Experiment, addFlags func(f *cli.Flags)) cli.Command {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		c := &Commands{}
		defer c.Remove()
		return experiment(c).Command(func(f *cli.Flags) {
			f.StringVar(&c.Dir, "runs", "", "folder in which runs are kept, so that interrupted runs resume (default: a temporary one)")
			if addFlags != nil {
				addFlags(f)
			}
		})(ctx, args, stdout, stderr)
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
// seconds. When ctx ends, the command is interrupted and saves its state.
func (c *Commands) Call(ctx context.Context, v any, name string, args ...string) (seconds float64, err error) {
	path, err := c.Path(ctx, name)
	if err != nil {
		return 0, err
	}
	command := exec.CommandContext(ctx, path, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	return Run(command, v)
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

// Folder returns the folder of the run with this name. remove removes it if it is
// temporary.
func (c *Commands) Folder(name string) (folder string, remove func(), err error) {
	name = strings.ReplaceAll(name, " ", "-")
	if c.Dir != "" {
		return filepath.Join(c.Dir, name), func() {}, nil
	}
	dir, err := os.MkdirTemp("", "gorbm-runs")
	return filepath.Join(dir, name), func() { os.RemoveAll(dir) }, err
}

// switches are the flags of rbmtrain without a value.
var switches = []string{"redraw"}

// Flags returns the flags of command lines by name. Later flags override earlier ones.
func Flags(lines ...string) map[string]string {
	flags := map[string]string{}
	words := strings.Fields(strings.Join(lines, " "))
	for i := 0; i < len(words); i++ {
		name := strings.TrimPrefix(words[i], "-")
		if slices.Contains(switches, name) {
			flags[name] = "true"
			continue
		}
		i++
		flags[name] = words[i]
	}
	return flags
}

// TimeFile is the file in the folder of a run that has its processor time in seconds, over
// all interruptions.
const TimeFile = "processor_seconds"

// A Trained has the numbers of a training run, which rbmtrain writes to its folder, that experiments read.
type Trained struct {
	Processor float64             `json:"-"`       // seconds of processor time over all interruptions, measurements included
	Steps     float64             `json:"steps"`   // updates
	Seconds   float64             `json:"seconds"` // of training alone, without measurements, by the clock
	InAll     float64             `json:"seconds_in_all"`
	Metrics   map[string]*float64 `json:"metrics"` // last values
	Ladder    struct {
		Beta []float64 `json:"beta"`
	} `json:"ladder"`
}

// Train runs rbmtrain on one core, or resumes an interrupted run. A finished run is not run again.
func (c *Commands) Train(ctx context.Context, folder string, flags map[string]string) (t Trained, err error) {
	var line strings.Builder // -array lets rbmtrain find out how far the run is, and whether the folder has another run
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		fmt.Fprintf(&line, "-%s='%s' ", name, flags[name])
	}
	fmt.Fprintf(&line, "-out='%s'\n", folder)
	array := folder + ".array"
	if err := errors.Join(os.MkdirAll(filepath.Dir(folder), 0o777), os.WriteFile(array, []byte(line.String()), 0o666)); err != nil {
		return t, err
	}
	defer os.Remove(array)
	file := filepath.Join(folder, TimeFile)
	seconds := 0.0
	if b, err := os.ReadFile(file); err == nil {
		if seconds, err = strconv.ParseFloat(strings.TrimSpace(string(b)), 64); err != nil {
			return t, err
		}
	} else if x, err := Measured(folder, "seconds"); err == nil { // killed before it was written
		seconds = x[len(x)-1]
	}
	var before struct{ Runs []struct{ State string } }
	added, err := c.Call(ctx, &before, "rbmtrain", "-array", array, "-array-index", "0", "-workers", "1", "-quiet", "-json")
	if err != nil || before.Runs[0].State != "finished" {
		seconds += added
		if _, stat := os.Stat(folder); stat == nil {
			err = errors.Join(err, os.WriteFile(file, []byte(strconv.FormatFloat(seconds, 'f', 2, 64)+"\n"), 0o644))
		}
	}
	if err != nil {
		return t, err
	}
	b, err := os.ReadFile(filepath.Join(folder, rundir.ResultFile))
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	t.Processor = seconds
	return t, err
}

// Measured returns a column of metrics.csv of a run. A file without rows is an error.
func Measured(folder, column string) (x []float64, err error) {
	file := filepath.Join(folder, rundir.MetricsFile)
	columns, rows, err := rundir.ReadTable(file)
	at := slices.Index(columns, column)
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return nil, fmt.Errorf("%s: there are no measurements", file)
	case at < 0:
		return nil, fmt.Errorf("%s: there is no column %s", file, column)
	}
	for _, row := range rows {
		x = append(x, row[at])
	}
	return x, nil
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
