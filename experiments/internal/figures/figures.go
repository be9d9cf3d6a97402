// Package figures runs the experiments that reproduce figures of papers, and compares the papers' claims with the results.
//
// An Experiment is a paper, or a set of questions of ours, and has a Figure for each picture. A Figure has jobs, which yield
// points. All points of a figure are in one CSV file, from which the picture is drawn, and the block of the figure on the page
// README.md is written: the verdict, the claims, a table and the command. The rest of the page is written by hand; see page.go.
// An interrupted experiment resumes with the jobs that the file lacks.
package figures

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

// An Experiment is a command with its figures.
type Experiment struct {
	Name    string // name of the command and of its folder in experiments
	Title   string
	Ours    bool // the figures are no paper's, and have no verdict
	Figures []Figure
}

// A Figure is a picture with its claims.
type Figure struct {
	Name  string // "2", "A.3", or a word for a figure of ours
	Flags string // flags that the command needs in full size; "": none
	// Jobs returns the jobs, the most important first. It must be fast: a job loads its data
	// when it runs. Jobs with different settings must have different names.
	Jobs   func(o Options) []Job
	Claims func(t *Table) []Claim // nil: none
	Table  func(t *Table) string  // Markdown below the claims; nil: none
	Draw   func(w io.Writer, t *Table) error
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
	Name   string
	Repeat int                                      // repetition of the points
	Run    func(ctx context.Context, add Add) error // nil: the job cannot run now
	// Missing says why the job cannot run, such as a file that is not there; "": it was not asked for.
	Missing string
}

// Add adds the value y at x of a curve in a panel to the points of a job.
type Add func(panel, curve string, x, y float64)

// Points runs the job.
func (j Job) Points(ctx context.Context) (points []Point, err error) {
	err = j.Run(ctx, func(panel, curve string, x, y float64) {
		points = append(points, Point{panel, curve, j.Repeat, x, y})
	})
	return points, err
}

// file returns the path of a figure's file.
func (f Figure) file(out, ending string) string {
	return filepath.Join(out, "figure-"+strings.ToLower(strings.ReplaceAll(f.Name, ".", ""))+ending)
}

// claims returns the claims of the figure; none without points.
func (f Figure) claims(t *Table) []Claim {
	if f.Claims == nil || len(t.jobs) == 0 {
		return nil
	}
	return f.Claims(t)
}

// Unfinished returns the jobs of the full size that are missing in the table in the folder out, and
// the jobs of the table that are not planned.
func (f Figure) Unfinished(out string) (missing, other []string, err error) {
	t, err := ReadTable(f.file(out, ".csv"))
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

// Command returns the program of the experiment. addFlags may be nil.
func (e Experiment) Command(addFlags func(f *cli.Flags)) cli.Command {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		var names []string
		for _, f := range e.Figures {
			names = append(names, f.Name)
		}
		f := cli.NewFlags(e.Name, e.Title+".\nNumbers go to CSV files in the folder of results. Jobs with numbers there are not run\nagain, so that an interrupted experiment resumes. README.md there describes the figures.", e.Name+" [flags]")
		run := &running{experiment: e, flags: f}
		var name string
		var redraw bool
		f.StringVar(&name, "figure", "all", "figure to make: all, "+strings.Join(names, ", ")).Choice(append([]string{"all"}, names...)...)
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
		return run.all(ctx, name)
	}
}

// A running is one call of the command.
type running struct {
	experiment Experiment
	flags      *cli.Flags
	options    Options
	out        string
	jobs       int // 0: run none
}

// A claimLine is a claim as -json prints it.
type claimLine struct {
	Figure    string  `json:"figure"`
	Claim     string  `json:"claim"`
	Statistic string  `json:"statistic"`
	Value     float64 `json:"value"`
	Pass      bool    `json:"pass"`
}

// all makes the figure with this name, or all, and prints their blocks.
func (r *running) all(ctx context.Context, name string) error {
	if err := os.MkdirAll(r.out, 0o777); err != nil {
		return err
	}
	result := struct {
		Claims []claimLine `json:"claims"`
	}{[]claimLine{}}
	for _, f := range r.experiment.Figures {
		if name != "all" && name != f.Name {
			continue
		}
		t, err := r.figure(ctx, f)
		if err != nil {
			return fmt.Errorf("figure %s: %w", f.Name, err)
		}
		for _, c := range f.claims(t) {
			result.Claims = append(result.Claims, claimLine{f.Name, c.Text, c.Statistic, c.Value, c.Pass})
		}
		// The page is written after each figure, so that it agrees with the numbers of an interrupted experiment.
		if err := r.experiment.writePage(r.out, r.options); err != nil {
			return err
		}
		if !r.flags.JSON && !r.flags.Quiet {
			fmt.Fprintf(r.flags.Stdout, "Figure %s\n\n%s\n", f.Name, r.experiment.block(f, t, r.options))
		}
	}
	return r.flags.Print(result, func(w io.Writer) error {
		if r.flags.Quiet {
			return nil
		}
		_, err := fmt.Fprintf(w, "results in %s\n", r.out)
		return err
	})
}

// figure runs the missing jobs of a figure and draws it. It returns the jobs of the whole plan that the table has.
func (r *running) figure(ctx context.Context, f Figure) (*Table, error) {
	file := f.file(r.out, ".csv")
	t, err := ReadTable(file)
	if err != nil {
		return nil, err
	}
	if r.jobs > 0 {
		if err := r.measure(ctx, f, file, t, f.Jobs(r.options)); err != nil {
			return nil, err
		}
	}
	if t = t.only(f.Jobs(Options{Quick: r.options.Quick})); len(t.jobs) == 0 {
		return t, nil
	}
	return t, atomicfile.Write(f.file(r.out, ".png"), func(w io.Writer) error { return f.Draw(w, t) })
}

// measure runs the jobs of the plan that are not in t, and writes t after each.
func (r *running) measure(ctx context.Context, f Figure, file string, t *Table, plan []Job) error {
	defer cli.UseWorkers(r.jobs)()
	bar := r.flags.NewProgress("figure "+f.Name, "jobs", int64(len(plan)))
	defer bar.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue, missing := make(chan Job, len(plan)), []string(nil)
	for _, j := range plan {
		switch {
		case t.has(j.Name):
		case j.Run != nil:
			queue <- j
		case j.Missing != "" && !slices.Contains(missing, j.Missing):
			missing = append(missing, j.Missing)
		}
	}
	r.flags.Warn(missing...)
	close(queue)
	var wait sync.WaitGroup
	var mutex sync.Mutex
	for range r.jobs {
		wait.Go(func() {
			for j := range queue {
				if ctx.Err() != nil {
					return
				}
				begin := time.Now()
				points, err := j.Points(ctx)
				if err != nil {
					cancel(fmt.Errorf("%s: %w", j.Name, err))
					return
				}
				mutex.Lock()
				t.add(j.Name, points, time.Since(begin).Seconds())
				if err := t.write(file, plan); err != nil {
					cancel(err)
				}
				bar.Set(int64(len(t.jobs)), "")
				mutex.Unlock()
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}
