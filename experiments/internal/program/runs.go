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

// Runs are runs of rbmtrain, tested by rbmeval. Both are built once.
type Runs struct {
	// Dir is the folder in which runs are kept, so that one that was interrupted
	// resumes; "": each has a temporary folder.
	Dir string
	// Commands are those that Call runs; nil: rbmtrain and rbmeval.
	Commands []string

	build sync.Once
	dir   string // of the commands
	err   error
}

// Command returns the command of an experiment whose jobs are runs.
func Command(experiment func(r *Runs) claims.Experiment) func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		r := &Runs{}
		defer r.Remove()
		return experiment(r).Command(func(f *cli.Flags) {
			f.StringVar(&r.Dir, "runs", "", "folder in which runs are kept, so that one that was interrupted resumes (default: a temporary one)")
		})(ctx, args, stdout, stderr)
	}
}

// Remove removes the commands.
func (r *Runs) Remove() { os.RemoveAll(r.dir) }

// Folder returns the folder of the run of a name, and what removes it if it is
// temporary.
func (r *Runs) Folder(name string) (folder string, remove func(), err error) {
	name = strings.ReplaceAll(name, " ", "-")
	if r.Dir != "" {
		return filepath.Join(r.Dir, name), func() {}, nil
	}
	dir, err := os.MkdirTemp("", "gorbm-runs")
	return filepath.Join(dir, name), func() { os.RemoveAll(dir) }, err
}

// Call runs a command and reads what it prints into v. Interrupted, the command saves
// what it has. It returns the processor time that was used.
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

// An Evaluation is the test of a model by the three estimates of log Z of rbmeval.
type Evaluation struct {
	FreeEnergy float64  `json:"free_energy"` // mean
	AIS        Estimate `json:"ais"`
	Reverse    Estimate `json:"reverse_ais"`
	Bennett    Estimate `json:"bennett"`
}

// An Estimate is one of log Z. An impossible one has no value.
type Estimate struct {
	LogZ       *float64 `json:"log_z"`
	StdErr     float64  `json:"std_err"`
	ESS        float64  `json:"ess"`
	Doubtful   bool     `json:"doubtful"`
	RoundTrips int      `json:"round_trips"` // of the ladder
}

// Likelihood returns the mean log-likelihood by an estimate of log Z; NaN without one.
func (t Evaluation) Likelihood(e Estimate) float64 {
	if e.LogZ == nil {
		return math.NaN()
	}
	return -t.FreeEnergy - *e.LogZ
}

// Evaluate runs rbmeval on one core with the flags of the three estimates and args.
func (r *Runs) Evaluate(ctx context.Context, args ...string) (t Evaluation, err error) {
	_, err = r.Call(ctx, &t, "rbmeval", append([]string{"-workers", "1", "-json", "-quiet", "-ais", "-reverse-ais", "-bennett"}, args...)...)
	return t, err
}

// switches are the flags of rbmtrain without a value.
var switches = []string{"redraw"}

// Flags returns the flags of a command line by name. Later ones count.
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

// FlagsOf returns the flags of a run by name: those that all runs of an experiment share, its own, its seed and, of a
// quick one, those that make it small.
func FlagsOf(common, own string, seed int, quick bool, small string) map[string]string {
	if !quick {
		small = ""
	}
	return Flags(fmt.Sprint(common, " ", own, " -seed ", seed, " ", small))
}

// TimeFile is next to the files of a run. It holds the processor time of its parts,
// in seconds.
const TimeFile = "processor_seconds"

// Measured returns a column of the metrics.csv of a run, which has at least one row.
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

// LastMeasured returns the last number of a column.
func LastMeasured(folder, column string) (float64, error) {
	x, err := Measured(folder, column)
	if err != nil {
		return 0, err
	}
	return x[len(x)-1], nil
}

// Train runs rbmtrain, or what is left of an interrupted run, and returns the
// processor time of all parts.
func (r *Runs) Train(ctx context.Context, folder string, flags map[string]string) (float64, error) {
	var line strings.Builder // of an array: so rbmtrain finds out how far the run is, and whether the folder has another one
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
	part, err := r.Call(ctx, &before, "rbmtrain", "-array", array, "-array-index", "0", "-workers", "1", "-quiet", "-json")
	if err == nil && before.Runs[0].State == "finished" {
		return seconds, nil
	}
	seconds += part
	if _, stat := os.Stat(folder); stat == nil {
		err = errors.Join(err, os.WriteFile(file, []byte(strconv.FormatFloat(seconds, 'f', 2, 64)+"\n"), 0o644))
	}
	return seconds, err
}
