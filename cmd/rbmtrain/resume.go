package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/train"
	"gorbm/train/plots"
	"gorbm/train/rundir"
)

// adopt sets the flags to those of the run that -resume names, except the few
// that may be given beside -resume.
func (o *options) adopt() error {
	var other []string
	o.flags.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"resume", "steps", "workers", "quiet", "json"}, f.Name) {
			other = append(other, "-"+f.Name)
		}
	})
	if len(other) > 0 {
		return cli.Usagef("%s cannot go with -resume, which takes all settings from the run; only -steps -workers -quiet -json can", strings.Join(other, " "))
	}
	folder := rundir.Folder{Dir: o.resume}
	text, err := os.ReadFile(folder.Path(rundir.ConfigFile))
	if err != nil {
		return fmt.Errorf("-resume: %s is not the folder of a run: %w", o.resume, err)
	}
	o.extended = o.flags.Given("steps")
	c := struct {
		Flags   map[string]string `json:"flags"`
		Preset  *presetChoice     `json:"preset"`
		Steps   int               `json:"steps"`
		Command []string          `json:"command"`
		Metrics []string          `json:"metrics"`
	}{}
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("-resume: %s is damaged: %w", folder.Path(rundir.ConfigFile), err)
	}
	if c.Preset == nil {
		c.Preset = beforePresets()
	}
	for name, value := range c.Flags {
		if o.flags.Given(name) || name == "steps" && o.flags.Given("steps") || name == "epochs" && o.flags.Given("steps") {
			continue
		}
		if err := o.flags.Set(name, value); err != nil {
			return fmt.Errorf("-resume: %s: -%s %q: %w", folder.Path(rundir.ConfigFile), name, value, err)
		}
		delete(c.Preset.Flags, name)
	}
	if o.extended {
		delete(c.Preset.Flags, "steps")
	}
	if o.metrics == "auto" && c.Metrics != nil { // auto may stand for more than it did
		o.metrics = cmp.Or(strings.Join(c.Metrics, ","), "none")
	}
	o.chosen, o.before, o.command = *c.Preset, c.Steps, c.Command
	return nil
}

// given returns the flags for config.json that say what to train and how. Paths
// are absolute, so that the run can be resumed from any folder.
func (p *plan) given() map[string]string {
	m := map[string]string{"eval-every": strconv.Itoa(p.evalEvery)}
	p.flags.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "out", "force", "preset", "resume", "dry-run", "quiet", "json", "cpuprofile", "workers", "eval-every":
		case "data":
			m[f.Name] = data.Absolute(p.sets.Train.Name)
		case "test":
			m[f.Name] = data.Absolute(p.data.Test)
		case "data-dir", "constraint-reference":
			m[f.Name] = cli.Abs(f.Value.String())
		case "init":
			if m[f.Name] = p.init; p.init != "log-odds" && p.init != "random" {
				m[f.Name] = cli.Abs(p.init)
			}
		default:
			m[f.Name] = f.Value.String()
		}
	})
	return m
}

// progressState is what a checkpoint holds beside the trainer, so that a resumed
// run reports as if it had never stopped.
type progressState struct {
	Seconds float64       `json:"seconds"`
	All     float64       `json:"all"`    // with all that is not training
	Before  negphase.Info `json:"before"` // counts up to the last evaluation
	Since   negphase.Info `json:"since"`  // and since
	Best    *bestState    `json:"best,omitempty"`
	First   *float64      `json:"first,omitempty"` // the goal before the first step

	Memory map[string]json.RawMessage `json:"memory,omitempty"` // of the metrics
	Early  []string                   `json:"early,omitempty"`  // warnings of the metrics while training

	Measured    int                `json:"measured"`               // step of the last evaluation
	Still       int64              `json:"still,omitempty"`        // rounds since the last evaluation that saw a round trip
	FirstLadder *plots.NamedLadder `json:"first_ladder,omitempty"` // as it was first measured
}

// bestState is the value and the step of the best model on the rows held out.
type bestState struct {
	Value float64 `json:"value"`
	Step  int     `json:"step"`
	Since int     `json:"since"` // evaluations since
}

// An interval is a time or a number of steps.
type interval struct {
	time  time.Duration
	steps int
}

// parseInterval reads 5m, 1h30m or 1000.
func parseInterval(s string) (interval, error) {
	if n, err := strconv.Atoi(s); err == nil {
		return interval{steps: n}, cli.Between("checkpoint-every", n, 1, train.MaxSteps)
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return interval{}, cli.Usagef("-checkpoint-every is %q; it must be a time such as 5m, or a number of steps", s)
	}
	return interval{time: d}, nil
}

// due reports whether the interval has passed since lastStep or last.
func (i interval) due(step, lastStep int, last time.Time) bool {
	if i.steps > 0 {
		return step-lastStep >= i.steps
	}
	return time.Since(last) >= i.time
}
