package claims

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"gorbm/cmd/cli"
	"gorbm/rbm/atomicfile"
)

// An Experiment is a paper, or a set of questions of ours, with its figures.
type Experiment struct {
	Name    string // name of the command and of its folder in experiments
	Title   string
	Paper   string // authors and year, or "ours"
	About   string // text of the section "How it was run"
	Figures []Figure
}

// A Figure is a picture with its claims.
type Figure struct {
	Name  string // "2", "A.3", or a word for a figure of ours
	Title string
	// Says is the paper's claim in one sentence, or the question that a figure
	// of ours asks.
	Says string
	Ours bool
	// Flags are the flags that the command needs in full size; "": none.
	Flags string
	// Jobs returns the jobs, the most important first. It must be fast: a job loads its data
	// when it runs. Jobs with different settings must have different names.
	Jobs   func(o Options) []Job
	Claims func(t *Table) []Claim
	Draw   func(w io.Writer, t *Table) error
	// Finding returns the result, a sentence with a number.
	Finding func(t *Table) string
	Notes   func(t *Table) string // text below the claims in README.md; nil: none
}

// Options set the size of an experiment.
type Options struct {
	Quick   bool
	Repeats int // largest number of repetitions; 0: no limit
}

// Seeds returns the number of repetitions of a figure, which has quick or full repetitions in the two sizes. It is at most o.Repeats.
func (o Options) Seeds(quick, full int) int {
	n := Size(o, quick, full)
	if o.Repeats > 0 {
		n = min(n, o.Repeats)
	}
	return n
}

// Size returns quick or full.
func Size[T any](o Options, quick, full T) T {
	if o.Quick {
		return quick
	}
	return full
}

// A Job computes points. Jobs run concurrently.
type Job struct {
	Name string
	Run  func(ctx context.Context) ([]Point, error)
}

// file returns the path of a figure's file.
func (f Figure) file(out, ending string) string {
	return filepath.Join(out, "figure-"+strings.ToLower(strings.ReplaceAll(f.Name, ".", ""))+ending)
}

// Command returns the program of the experiment. addFlags may be nil.
func (e Experiment) Command(addFlags func(f *cli.Flags)) cli.Command {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		f := cli.NewFlags(e.Name, e.Title+".\n"+e.figureHelp(), e.Name+" [flags]")
		run := &running{experiment: e, flags: f}
		var name string
		var redraw bool
		f.StringVar(&name, "figure", "all", "figure to make: all, "+strings.Join(e.names(), ", ")).Choice(append([]string{"all"}, e.names()...)...)
		f.BoolVar(&run.options.Quick, "quick", false, "run small sizes, in seconds, with the same code and claims")
		f.IntVar(&run.options.Repeats, "repeats", 0, "repetitions, at most as many as the figure has; 0: all").Between(0, 1000)
		f.StringVar(&run.out, "out", "", "folder for the results (default: experiments/"+e.Name+", or runs/"+e.Name+"-quick with -quick)")
		f.IntVar(&run.jobs, "jobs", runtime.NumCPU(), "number of jobs that run at the same time").Between(1, 1000)
		f.BoolVar(&redraw, "redraw", false, "run no jobs; make pictures and pages from the tables that exist")
		f.AddOutput("print nothing but errors and warnings", "print the claims as JSON")
		if addFlags != nil {
			addFlags(f)
		}
		if err := f.Parse(args, stdout, stderr); err != nil {
			return err
		}
		figures := e.Figures
		if at := slices.Index(e.names(), name); at >= 0 {
			figures = e.Figures[at : at+1]
		}
		switch {
		case run.out == "" && run.options.Quick:
			run.out = filepath.Join("runs", e.Name+"-quick")
		case run.out == "":
			run.out = filepath.Join("experiments", e.Name)
			if _, err := os.Stat(run.out); err != nil {
				return fmt.Errorf("there is no folder %s here: run this in the root of the repository, or give -out", run.out)
			}
		}
		if redraw {
			run.jobs = 0
		}
		return run.all(ctx, figures)
	}
}

func (e Experiment) names() (names []string) {
	for _, f := range e.Figures {
		names = append(names, f.Name)
	}
	return names
}

func (e Experiment) figureHelp() string {
	var b strings.Builder
	b.WriteString("Figures:")
	for _, f := range e.Figures {
		fmt.Fprintf(&b, "\n  %-14s %s", f.Name, f.Title)
	}
	b.WriteString("\n\nNumbers go to CSV files in the folder of results. Jobs with numbers there are not run\nagain, so that an interrupted experiment resumes.")
	return b.String()
}

// A running is one call of the command.
type running struct {
	experiment Experiment
	flags      *cli.Flags
	options    Options
	out        string
	jobs       int // 0: run none
}

// A verdictLine is a claim as -json prints it.
type verdictLine struct {
	Figure    string  `json:"figure"`
	Claim     string  `json:"claim"`
	Statistic string  `json:"statistic"`
	Value     float64 `json:"value"`
	Pass      bool    `json:"pass"`
	Verdict   Verdict `json:"verdict"`
}

func (r *running) all(ctx context.Context, figures []Figure) error {
	if err := os.MkdirAll(r.out, 0o777); err != nil {
		return err
	}
	lines := []verdictLine{}
	for _, f := range figures {
		t, err := r.figure(ctx, f)
		if err != nil {
			return fmt.Errorf("figure %s: %w", f.Name, err)
		}
		for _, c := range f.Claims(t) {
			lines = append(lines, verdictLine{f.Name, c.Text, c.Statistic, c.Value, c.Verdict == Pass, c.Verdict})
		}
		// Pages are written after each figure, so that those of an interrupted experiment
		// agree with its numbers.
		if err := r.experiment.WritePages(r.out, r.options); err != nil {
			return err
		}
	}
	if parent, ok := strings.CutSuffix(filepath.ToSlash(r.out), "/"+r.experiment.Name); ok && !r.options.Quick && filepath.Base(parent) == "experiments" {
		if err := WriteIndex(parent); err != nil {
			return err
		}
	}
	object := struct {
		Claims []verdictLine `json:"claims"`
	}{lines}
	return r.flags.Print(object, func(w io.Writer) error {
		if r.flags.Quiet {
			return nil
		}
		for _, l := range lines {
			fmt.Fprintf(w, "figure %s: %s: %s\n  %s\n", l.Figure, l.Verdict, l.Claim, l.Statistic)
		}
		_, err := fmt.Fprintf(w, "results in %s\n", r.out)
		return err
	})
}

// figure runs the missing jobs of a figure and draws it.
func (r *running) figure(ctx context.Context, f Figure) (*Table, error) {
	file := f.file(r.out, ".csv")
	t, err := readTable(file)
	if err != nil {
		return nil, err
	}
	plan := f.Jobs(r.options)
	if r.jobs > 0 {
		if err := r.measure(ctx, f, file, t, plan); err != nil {
			return nil, err
		}
	}
	// Claims and pictures use all jobs of the whole plan that the table has, as the pages do.
	if t = t.only(f.Jobs(Options{Quick: r.options.Quick})); len(t.jobs) == 0 {
		return t, nil
	}
	return t, atomicfile.Write(f.file(r.out, ".png"), func(w io.Writer) error { return f.Draw(w, t) })
}

// Unfinished returns the jobs of the full size that are missing in the table in the folder out, and
// the jobs of the table that are not planned.
func (f Figure) Unfinished(out string) (missing, other []string, err error) {
	t, err := readTable(f.file(out, ".csv"))
	planned := map[string]bool{}
	for _, j := range f.Jobs(Options{}) {
		if planned[j.Name] = true; !t.has(j.Name) {
			missing = append(missing, j.Name)
		}
	}
	for _, name := range t.jobs {
		if !planned[name] {
			other = append(other, name)
		}
	}
	return missing, other, err
}

// measure runs the jobs of the plan that are not in t, and writes t after each.
func (r *running) measure(ctx context.Context, f Figure, file string, t *Table, plan []Job) error {
	var todo []Job
	for _, j := range plan {
		if !t.has(j.Name) {
			todo = append(todo, j)
		}
	}
	defer cli.UseWorkers(r.jobs)()
	bar := r.flags.NewProgress("figure "+f.Name, "jobs", int64(len(plan)))
	defer bar.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan Job)
	var wait sync.WaitGroup
	var mutex sync.Mutex
	for range min(r.jobs, len(todo)) {
		wait.Go(func() {
			for j := range queue {
				begin := time.Now()
				points, err := j.Run(ctx)
				if err != nil {
					cancel(fmt.Errorf("%s: %w", j.Name, err))
					continue
				}
				mutex.Lock()
				t.add(j.Name, points, time.Since(begin).Seconds())
				err = t.sorted(plan).write(file)
				bar.Set(int64(len(t.jobs)), "")
				mutex.Unlock()
				if err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for _, j := range todo {
		select {
		case queue <- j:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	wait.Wait()
	return context.Cause(ctx)
}
