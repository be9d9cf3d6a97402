package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
	"gorbm/train/rundir"
)

// Runs makes runs of rbmtrain and evaluates them by rbmeval. It builds both commands once.
type Runs struct {
	// Dir is the folder in which runs are kept, so that interrupted runs
	// resume; "": each run has a temporary folder.
	Dir string
	// Commands are the commands that Call can run; nil: rbmtrain and rbmeval.
	Commands []string

	build sync.Once
	dir   string // folder of the commands
	err   error
}

// Command returns the command of an experiment whose jobs are runs.
func Command(experiment func(r *Runs) claims.Experiment) func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		r := &Runs{}
		defer r.Remove()
		return experiment(r).Command(func(f *cli.Flags) {
			f.StringVar(&r.Dir, "runs", "", "folder in which runs are kept, so that interrupted runs resume (default: a temporary one)")
		})(ctx, args, stdout, stderr)
	}
}

// Remove removes the commands.
func (r *Runs) Remove() { os.RemoveAll(r.dir) }

// Folder returns the folder of the run with this name. remove removes it if it is
// temporary.
func (r *Runs) Folder(name string) (folder string, remove func(), err error) {
	name = strings.ReplaceAll(name, " ", "-")
	if r.Dir != "" {
		return filepath.Join(r.Dir, name), func() {}, nil
	}
	dir, err := os.MkdirTemp("", "gorbm-runs")
	return filepath.Join(dir, name), func() { os.RemoveAll(dir) }, err
}

// Call runs a command, decodes its JSON output into v, and returns its processor time in
// seconds. When ctx ends, the command is interrupted and saves its state.
func (r *Runs) Call(ctx context.Context, v any, name string, args ...string) (seconds float64, err error) {
	r.build.Do(func() {
		if r.dir, r.err = os.MkdirTemp("", "gorbm-commands"); r.err == nil {
			commands := r.Commands
			if commands == nil {
				commands = []string{"rbmtrain", "rbmeval"}
			}
			r.err = Build(ctx, r.dir, commands...)
		}
	})
	if r.err != nil {
		return 0, r.err
	}
	c := New(ctx, filepath.Join(r.dir, name), args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	err = c.Run(v)
	if c.ProcessState != nil {
		seconds = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	}
	return seconds, err
}

// An Evaluation has the three estimates of log Z by rbmeval.
type Evaluation struct {
	FreeEnergy float64  `json:"free_energy"` // mean over the rows
	AIS        Estimate `json:"ais"`
	Reverse    Estimate `json:"reverse_ais"`
	Bennett    Estimate `json:"bennett"`
}

// An Estimate is an estimate of log Z. LogZ is nil if it is impossible.
type Estimate struct {
	LogZ       *float64 `json:"log_z"`
	StdErr     float64  `json:"std_err"`
	ESS        float64  `json:"ess"`
	Doubtful   bool     `json:"doubtful"`
	RoundTrips int      `json:"round_trips"` // round trips of the ladder
}

// Likelihood returns the mean log-likelihood by an estimate of log Z; NaN without one.
func (t Evaluation) Likelihood(e Estimate) float64 {
	if e.LogZ == nil {
		return math.NaN()
	}
	return -t.FreeEnergy - *e.LogZ
}

// Evaluate runs rbmeval on one core with args and the flags of the three estimates.
func (r *Runs) Evaluate(ctx context.Context, args ...string) (t Evaluation, err error) {
	_, err = r.Call(ctx, &t, "rbmeval", append([]string{"-workers", "1", "-json", "-quiet", "-ais", "-reverse-ais", "-bennett"}, args...)...)
	return t, err
}

// switches are the flags of rbmtrain without a value.
var switches = []string{"redraw"}

// Flags returns the flags of a command line by name. Later flags override earlier ones.
func Flags(line string) map[string]string {
	flags := map[string]string{}
	words := strings.Fields(line)
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

// FlagsOf returns the flags of a run by name. common are the flags of all runs of an experiment, specific the flags of this
// run, and small the flags that are added if quick is true.
func FlagsOf(common, specific string, seed int, quick bool, small string) map[string]string {
	if !quick {
		small = ""
	}
	return Flags(fmt.Sprint(common, " ", specific, " -seed ", seed, " ", small))
}

// TimeFile is the file in the folder of a run that has its processor time in seconds, over
// all interruptions.
const TimeFile = "processor_seconds"

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

// LastMeasured returns the last number of a column of metrics.csv.
func LastMeasured(folder, column string) (float64, error) {
	x, err := Measured(folder, column)
	if err != nil {
		return 0, err
	}
	return x[len(x)-1], nil
}

// Train runs rbmtrain, resumes an interrupted run, and returns the processor time in
// seconds over all interruptions.
func (r *Runs) Train(ctx context.Context, folder string, flags map[string]string) (float64, error) {
	var line strings.Builder // -array lets rbmtrain find out how far the run is, and whether the folder has another run
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		fmt.Fprintf(&line, "-%s='%s' ", name, flags[name])
	}
	fmt.Fprintf(&line, "-out='%s'\n", folder)
	array := folder + ".array"
	if err := errors.Join(os.MkdirAll(filepath.Dir(folder), 0o777), os.WriteFile(array, []byte(line.String()), 0o666)); err != nil {
		return 0, err
	}
	defer os.Remove(array)
	file := filepath.Join(folder, TimeFile)
	seconds := 0.0
	if b, err := os.ReadFile(file); err == nil {
		if seconds, err = strconv.ParseFloat(strings.TrimSpace(string(b)), 64); err != nil {
			return 0, err
		}
	} else if measured, err := LastMeasured(folder, "seconds"); err == nil { // killed before it was written
		seconds = measured
	}
	var before struct{ Runs []struct{ State string } }
	added, err := r.Call(ctx, &before, "rbmtrain", "-array", array, "-array-index", "0", "-workers", "1", "-quiet", "-json")
	if err == nil && before.Runs[0].State == "finished" {
		return seconds, nil
	}
	seconds += added
	if _, stat := os.Stat(folder); stat == nil {
		err = errors.Join(err, os.WriteFile(file, []byte(strconv.FormatFloat(seconds, 'f', 2, 64)+"\n"), 0o644))
	}
	return seconds, err
}
