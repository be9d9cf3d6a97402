package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/program"
)

// Flags that all runs share, of rbmtrain and of rbmeval.
const (
	common      = "-data mnist -holdout 10000 -eval-every 5000"
	quickCommon = "-data shifter:6 -holdout 20 -steps 100 -eval-every 50 -hidden 10 -batch 5"
	always      = "-binarize none -init random -metrics classification -snapshots 0 -workers 1"
)

// programs are the commands, built once, and the folder of their runs.
type programs struct {
	runs string // "": a temporary folder

	build sync.Once
	dir   string // of the commands
	err   error
}

func (p *programs) remove() { os.RemoveAll(p.dir) }

// call runs a command and reads what it prints into v. Interrupted, the command saves
// what it has. It returns the processor time that was used.
func (p *programs) call(ctx context.Context, v any, name string, args ...string) (seconds float64, err error) {
	p.build.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "objectives"); p.err == nil {
			p.err = program.Build(ctx, p.dir, "rbmtrain", "rbmeval")
		}
	})
	if p.err != nil {
		return 0, p.err
	}
	c := program.New(ctx, filepath.Join(p.dir, name), args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	err = c.Run(v)
	if c.ProcessState != nil {
		seconds = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	}
	return seconds, err
}

// flagsOf returns the flags of rbmtrain for a row, by name. Later ones count.
func flagsOf(r row, seed int, quick bool) map[string]string {
	words := append(strings.Fields(always+" "+common+" "+r.flags), "-seed", strconv.Itoa(seed))
	if quick {
		words = append(words, strings.Fields(quickCommon)...)
	}
	flags := map[string]string{}
	for i := 0; i < len(words); i += 2 {
		flags[strings.TrimPrefix(words[i], "-")] = words[i+1]
	}
	return flags
}

// measure trains row number at with a seed, or goes on with the run, and tests the
// model that is best on the rows held out.
func (p *programs) measure(ctx context.Context, at, seed int, quick bool) ([]claims.Point, error) {
	r := rows[at]
	flags := flagsOf(r, seed, quick)
	runs := p.runs
	if runs == "" {
		dir, err := os.MkdirTemp("", "objectives")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		runs = dir
	}
	folder := filepath.Join(runs, fmt.Sprintf("%s-%d", strings.ReplaceAll(r.name, " ", "-"), seed))
	seconds, err := p.train(ctx, folder, flags)
	if err != nil {
		return nil, err
	}
	steps, err := strconv.Atoi(flags["steps"])
	if err != nil {
		return nil, err
	}
	step, holdout, _, err := least(filepath.Join(folder, "metrics.csv"))
	if err != nil {
		return nil, err
	}
	var tested struct {
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
	if _, err := p.call(ctx, &tested, "rbmeval", "-model", filepath.Join(folder, "best.safetensors"), "-data", flags["data"], "-binarize", flags["binarize"], "-classify", "-workers", "1", "-json"); err != nil {
		return nil, err
	}
	c := tested.Classification
	var points []claims.Point
	add := func(panel, curve string, y float64) {
		points = append(points, claims.Point{Panel: panel, Curve: curve, Repeat: seed, X: float64(at), Y: y})
	}
	add(errorPanel, published, r.published)
	add(errorPanel, here, 100*c.Error)
	add(errorPanel, heldOut, 100*holdout)
	add(rowsPanel, here, c.Rows)
	add(nllPanel, here, c.NLL)
	add(ecePanel, here, 100*c.Calibration.After.ECE)
	add(temperaturePanel, here, c.Calibration.Temperature)
	add(timePanel, here, seconds)
	add(stepPanel, here, float64(step))
	add(stepsPanel, here, float64(steps))
	return points, nil
}

// timeFile is beside the files of a run. It holds the processor time of its parts,
// in seconds.
const timeFile = "processor_seconds"

// train runs rbmtrain, or what is left of an interrupted run, and returns the
// processor time of all parts.
func (p *programs) train(ctx context.Context, folder string, flags map[string]string) (float64, error) {
	file := filepath.Join(folder, timeFile)
	seconds := 0.0
	var args []string
	if b, err := os.ReadFile(filepath.Join(folder, "config.json")); err == nil {
		if err := sameFlags(b, flags); err != nil {
			return 0, fmt.Errorf("%s: %w; give another -runs", folder, err)
		}
		if b, err = os.ReadFile(file); err == nil {
			seconds, err = strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
		} else if errors.Is(err, fs.ErrNotExist) { // killed before it was written
			seconds, err = clock(filepath.Join(folder, "metrics.csv"))
		}
		if err != nil {
			return 0, err
		}
		_, _, last, err := least(filepath.Join(folder, "metrics.csv"))
		if err != nil || strconv.Itoa(last) == flags["steps"] {
			return seconds, err
		}
		args = []string{"-resume", folder, "-workers", "1"}
	} else if errors.Is(err, fs.ErrNotExist) {
		for _, name := range slices.Sorted(maps.Keys(flags)) {
			args = append(args, "-"+name, flags[name])
		}
		args = append(args, "-out", folder)
	} else {
		return 0, err
	}
	part, err := p.call(ctx, nil, "rbmtrain", append(args, "-quiet")...)
	seconds += part
	if _, stat := os.Stat(folder); stat == nil {
		err = errors.Join(err, os.WriteFile(file, []byte(strconv.FormatFloat(seconds, 'f', 2, 64)+"\n"), 0o644))
	}
	return seconds, err
}

// clock returns the seconds of training by the clock as far as it was measured.
func clock(metrics string) (float64, error) {
	b, err := os.ReadFile(metrics)
	if err != nil {
		return 0, err
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	_, rest, _ := strings.Cut(lines[len(lines)-1], ",")
	text, _, _ := strings.Cut(rest, ",")
	return strconv.ParseFloat(text, 64)
}

// sameFlags returns an error that names a flag of a run's config.json that differs.
func sameFlags(config []byte, flags map[string]string) error {
	var c struct {
		Flags map[string]string `json:"flags"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return err
	}
	for name, value := range c.Flags {
		if flags[name] != value {
			return fmt.Errorf("the run has -%s %s, not %q", name, value, flags[name])
		}
	}
	for name, value := range flags {
		if _, ok := c.Flags[name]; !ok && name != "metrics" && name != "workers" {
			return fmt.Errorf("the run has no -%s %s", name, value)
		}
	}
	return nil
}

// least returns the step with the least error on the rows held out, that error, and
// the last step that was measured.
func least(metrics string) (step int, least float64, last int, err error) {
	f, err := os.Open(metrics)
	if err != nil {
		return 0, 0, 0, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return 0, 0, 0, fmt.Errorf("%s: %w", metrics, err)
	}
	if len(lines) < 2 || slices.Index(lines[0], "error_holdout") < 0 {
		return 0, 0, 0, fmt.Errorf("%s: no errors of rows held out", metrics)
	}
	at := slices.Index(lines[0], "error_holdout")
	for i, line := range lines[1:] {
		x, err := strconv.ParseFloat(line[at], 64)
		if err != nil {
			return 0, 0, 0, fmt.Errorf("%s, line %d: %w", metrics, i+2, err)
		}
		if last, err = strconv.Atoi(line[0]); err != nil {
			return 0, 0, 0, fmt.Errorf("%s, line %d: %w", metrics, i+2, err)
		}
		if i == 0 || x < least {
			step, least = last, x
		}
	}
	return step, least, last, nil
}
