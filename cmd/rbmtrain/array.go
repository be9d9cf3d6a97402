package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/ranks"
	"gorbm/train/rundir"
)

// An array is the list of runs in the file of -array, numbered from 0.
type array struct {
	flags   *cli.Flags
	group   *ranks.Group
	dryRun  bool
	workers int
	file    string
	runs    []arrayRun
}

// An arrayRun is a run of the file.
type arrayRun struct {
	Number int    `json:"number"`
	Folder string `json:"folder"`
	State  string `json:"state"` // one of the constants below, before this command
	Error  string `json:"error,omitempty"`

	Result json.RawMessage `json:"result,omitempty"` // JSON result of the run, with -json
	line   int             // number of the run's line in the file, from 1
	args   []string        // arguments of rbmtrain, with -out
}

// The states of a run.
const (
	newRun         = "new"
	finishedRun    = "finished"
	interruptedRun = "interrupted" // with a checkpoint
	emptyRun       = "empty"       // interrupted before the first checkpoint
	heldRun        = "held"        // another process trains it
)

// taskVariables are the environment variables in which Slurm, Kubernetes and PBS pass the
// number of a job in an array.
var taskVariables = []string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "PBS_ARRAY_INDEX"}

// maxArray is the largest size of the file of -array, in bytes.
const maxArray = 1 << 26

// runArray carries out the run of the file of -array that -array-index or a scheduler chooses,
// or all runs if neither does. It checks all lines before the first run starts.
func (o *options) runArray(ctx context.Context) error {
	if name := o.flags.FirstGiven("out", "force", "cpuprofile"); name != "" {
		remedy := map[string]string{"out": "give it in its lines", "force": "remove the folders of runs to repeat", "cpuprofile": "give it to a single run"}[name]
		return cli.Usagef("-%s cannot go with -array; %s", name, remedy)
	}
	var text []byte
	var err error
	if o.group.Rank() == 0 {
		text, err = atomicfile.Read(o.arrayFile, maxArray)
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("there is no file %s; write one, with the flags of a run in each line", o.arrayFile)
		}
	}
	if text, err = o.group.Broadcast(text, err); err != nil {
		return fmt.Errorf("-array: %w", err)
	}
	a := &array{flags: o.flags, group: o.group, dryRun: o.dryRun, workers: o.workers, file: o.arrayFile}
	if err := a.parse(string(text)); err != nil {
		return err
	}
	if err := a.choose(o.arrayIndex); err != nil {
		return err
	}
	if err := a.examine(ctx); err != nil || o.dryRun {
		return err
	}
	return a.run(ctx)
}

// parse reads the lines of the file. Each line has the flags of a run or of a grid of runs (see expandGrid).
// parse adds them to the flags of the command line. # begins a comment.
func (a *array) parse(text string) error {
	var common []string
	notInLines := a.flags.Tagged(tagArray)
	a.flags.Visit(func(f *flag.Flag) {
		if !slices.Contains(notInLines, f.Name) {
			common = append(common, "-"+f.Name+"="+f.Value.String())
		}
	})
	at, n := map[string]int{}, 0
	for line := range strings.Lines(text) {
		n++
		words, err := splitWords(line)
		if err != nil {
			return cli.Usagef("%s:%d: %w", a.file, n, err)
		}
		if len(words) == 0 {
			continue
		}
		grid, err := expandGrid(words)
		if err != nil {
			return cli.Usagef("%s:%d: %w", a.file, n, err)
		}
		for _, words := range grid {
			if err := a.add(n, common, words, at); err != nil {
				return err
			}
		}
	}
	if len(a.runs) == 0 {
		return cli.Usagef("-array: %s has no lines of flags", a.file)
	}
	return nil
}

// add adds a run with the flags common and words; words are from line n. at maps the folder of
// each earlier run to its line.
func (a *array) add(n int, common, words []string, at map[string]int) error {
	r := arrayRun{Number: len(a.runs), line: n, args: slices.Concat(common, words)}
	o := newOptions()
	err := o.flags.Parse(r.args, io.Discard, io.Discard)
	if name := o.flags.FirstGiven(o.flags.Tagged(tagArray)...); name != "" {
		return cli.Usagef("%s:%d: a line of an array cannot have -%s", a.file, n, name)
	}
	if errors.Is(err, flag.ErrHelp) {
		return cli.Usagef("%s:%d: a line of an array cannot ask for help", a.file, n)
	}
	if err != nil {
		return cli.Usagef("%s:%d: %w", a.file, n, err)
	}
	if r.Folder = o.out; r.Folder == "" {
		stem := strings.TrimSuffix(filepath.Base(a.file), filepath.Ext(a.file))
		r.Folder = filepath.Join("runs", rundir.Stem(stem)+"-"+strconv.Itoa(r.Number))
		r.args = append(r.args, "-out="+r.Folder)
	}
	folder := filepath.Clean(r.Folder)
	switch other, ok := at[folder]; {
	case ok && other == n:
		return cli.Usagef("%s:%d: several runs of this line have -out %s; leave it out, or put braces into it too", a.file, n, r.Folder)
	case ok:
		return cli.Usagef("%s:%d: -out %s is already the folder of line %d", a.file, n, r.Folder, other)
	}
	at[folder] = n
	a.runs = append(a.runs, r)
	return nil
}

// splitWords splits a line at white space outside quotes. A word that begins with # ends
// the line.
func splitWords(line string) (words []string, err error) {
	var word strings.Builder
	in, quote := false, rune(0)
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case strings.ContainsRune(" \t\r\n", c):
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		case c == '#' && !in:
			return words, nil
		default:
			word.WriteRune(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// choose drops all runs except the one that -array-index or the scheduler names, if either does.
func (a *array) choose(index int) error {
	from, text := "-array-index", strconv.Itoa(index)
	if !a.flags.Given("array-index") {
		from, text = "", ""
		for _, name := range taskVariables {
			if value := os.Getenv(name); value != "" {
				from, text = name, value
				break
			}
		}
	}
	if from == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= len(a.runs) {
		return cli.Usagef("%s is %s; %s has the runs 0 to %d", from, text, a.file, len(a.runs)-1)
	}
	a.runs = a.runs[n : n+1]
	return nil
}

// examine sets the state of each run and checks its settings and data. With -dry-run it
// prints the results. Rank 0 examines the runs and broadcasts their states.
func (a *array) examine(ctx context.Context) error {
	var states []string
	var err error
	if a.group.Rank() == 0 {
		err = a.examineAll(ctx)
		for _, r := range a.runs {
			states = append(states, r.State)
		}
	}
	text, err := a.group.Broadcast([]byte(strings.Join(states, " ")), err)
	if err == nil {
		for i, state := range strings.Fields(string(text)) {
			a.runs[i].State = state
		}
	}
	return err
}

func (a *array) examineAll(ctx context.Context) error {
	var out strings.Builder
	unfinished := 0
	for i := range a.runs {
		r := &a.runs[i]
		about, err := a.examineRun(ctx, r)
		if err != nil {
			return cli.Usagef("%s:%d: %w", a.file, r.line, err)
		}
		if a.dryRun {
			fmt.Fprintf(&out, "run %d, %s, %s: %s\n", r.Number, r.Folder, r.State, about)
			if r.State != finishedRun {
				unfinished++
			}
		}
	}
	if !a.dryRun {
		return nil
	}
	fmt.Fprintf(&out, "total: %s left\n", cli.Count(unfinished, "run"))
	return a.flags.Print(map[string]any{"runs": a.runs}, func(w io.Writer) error {
		_, err := io.WriteString(w, out.String())
		return err
	})
}

// examineRun sets the state of r. It returns a line that describes the run.
func (a *array) examineRun(ctx context.Context, r *arrayRun) (about string, err error) {
	o := newOptions()
	if err := o.flags.Parse(r.args, io.Discard, a.flags.Stderr); err != nil {
		return "", err
	}
	o.group, o.inArray = a.group, true
	p, _, err := o.prepare(ctx)
	if err != nil {
		return "", err
	}
	_, held := rundir.Check(r.Folder, true)
	if held != nil && !errors.Is(held, rundir.ErrHeld) {
		return "", held
	}
	if r.State, err = p.stateOf(&rundir.Folder{Dir: r.Folder}); err != nil {
		return "", err
	}
	if held != nil {
		r.State = heldRun
	}
	text := p.describe()
	return text[strings.LastIndexByte(text, '\n')+1:], nil // without the lines about the data
}

// stateOf returns the state of the run of p in a folder. It fails if the folder has a run
// with other settings.
func (p *plan) stateOf(folder *rundir.Folder) (string, error) {
	var c struct {
		Flags  map[string]string `json:"flags"`
		Preset presetChoice      `json:"preset"`
	}
	err := rundir.ReadConfig(folder.Dir, &c)
	if errors.Is(err, os.ErrNotExist) {
		return newRun, nil
	}
	if err == nil && c.Flags == nil {
		err = fmt.Errorf("%s: it has no flags", folder.Path(rundir.ConfigFile))
	}
	if err != nil {
		return "", fmt.Errorf("%w; remove the folder, or choose another -out", err)
	}
	now := p.given()
	now["preset"], c.Flags["preset"] = p.opts.chosen.Name, c.Preset.Name
	names := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(c.Flags)), slices.Collect(maps.Keys(now)))))
	names = append(names, "eval-every") // last: its default depends on the steps, so a difference in the steps is reported first
	for i, name := range names {
		if name == "eval-every" && i < len(names)-1 {
			continue
		}
		if was, is := c.Flags[name], now[name]; was != is {
			return "", fmt.Errorf("%s has another run: its -%s is %q, not %q; choose another -out, or remove it", folder.Dir, name, was, is)
		}
	}
	return filesOf(folder), nil
}

// filesOf returns the state of the run in a folder, by its files.
func filesOf(folder *rundir.Folder) string {
	exists := func(name string) bool {
		_, err := os.Stat(folder.Path(name))
		return err == nil
	}
	switch {
	case !exists(rundir.ConfigFile):
		return newRun
	case exists(rundir.ResultFile):
		return finishedRun
	case exists(rundir.CheckpointFile):
		return interruptedRun
	}
	return emptyRun
}

// look sets the state of r, which another process with the same file may have changed. Rank 0 decides.
func (a *array) look(r *arrayRun) error {
	if a.group.Rank() == 0 {
		folder := &rundir.Folder{Dir: r.Folder}
		if r.State = filesOf(folder); r.State != finishedRun && errors.Is(folder.Free(), rundir.ErrHeld) {
			r.State = heldRun
		}
	}
	state, err := a.group.Broadcast([]byte(r.State), nil)
	r.State = string(state)
	return err
}

// run completes the unfinished runs, one after another. If a run fails, it continues with the next. It
// leaves out those that another process trains.
func (a *array) run(ctx context.Context) error {
	var failed []string
	for i := range a.runs {
		r := &a.runs[i]
		args := r.args
		if err := a.look(r); err != nil {
			return err
		}
		switch r.State {
		case finishedRun, heldRun:
			a.leave(r)
			continue
		case interruptedRun:
			args = []string{"-resume=" + r.Folder, "-workers=" + strconv.Itoa(a.workers)}
		case emptyRun:
			args = append(slices.Clone(args), "-force")
		}
		for name, given := range map[string]bool{"-quiet": a.flags.Quiet, "-json": a.flags.JSON, "-progress=plain": a.flags.Lookup("progress").Value.String() == "plain"} {
			if given {
				args = append(slices.Clone(args), name)
			}
		}
		if !a.flags.JSON && !a.flags.Quiet {
			fmt.Fprintf(a.flags.Stdout, "run %d, %s, %s\n", r.Number, r.Folder, r.State)
		}
		var result bytes.Buffer
		stdout := a.flags.Stdout
		if a.flags.JSON {
			stdout = &result
		}
		o := newOptions()
		o.flags.Subject, o.inArray = r.Folder, true
		err := o.run(ctx, a.group, args, stdout, a.flags.Stderr)
		if err != nil && ctx.Err() == nil && !errors.Is(err, ranks.ErrLost) {
			was := r.State
			if err := a.look(r); err != nil {
				return err
			}
			if r.State == finishedRun || r.State == heldRun { // another process was faster
				a.leave(r)
				continue
			}
			r.State = was
		}
		switch {
		case ctx.Err() != nil || errors.Is(err, ranks.ErrLost):
			return cmp.Or(err, ctx.Err())
		case err != nil:
			r.Error = err.Error()
			failed = append(failed, strconv.Itoa(r.Number))
			a.flags.Warn(fmt.Sprintf("run %d, %s: %v", r.Number, r.Folder, err))
		case a.flags.JSON:
			r.Result = result.Bytes()
		}
	}
	var err error
	if a.flags.JSON {
		err = a.flags.Print(map[string]any{"runs": a.runs}, nil)
	}
	if len(failed) > 0 && a.group.Rank() == 0 {
		return errors.Join(err, fmt.Errorf("%s of %d failed: %s; repeat the command to try them again", cli.Count(len(failed), "run"), len(a.runs), strings.Join(failed, ", ")))
	}
	return err
}

// leave says why r is left out.
func (a *array) leave(r *arrayRun) {
	what := "is finished"
	if r.State == heldRun {
		what = "is left out: another process trains it"
	}
	if !a.flags.JSON && !a.flags.Quiet {
		fmt.Fprintf(a.flags.Stdout, "run %d, %s, %s\n", r.Number, r.Folder, what)
	}
}
