// Speed compares the times of gorbm, scikit-learn, and hand-tuned loops over NumPy and
// PyTorch for the same work, in turn within one run.
//
//	go run ./experiments/speed
//
// See speed -h.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/train/rundir"
)

func main() {
	if os.Getenv(childVariable) != "" {
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(cli.Failed)
		}
		return
	}
	cli.Main("speed", run)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	if err := o.flags.Parse(args, stdout, stderr); err != nil {
		return err
	}
	run, err := o.check()
	if err != nil {
		return err
	}
	set, err := o.load(ctx)
	if err != nil {
		return err
	}
	to, err := rundir.New(o.out, "speed", false)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text := stdout
	if o.flags.JSON || o.flags.Quiet {
		text = io.Discard
	}
	result := &Result{Version: cli.Version(), Kernels: rbm.KernelLevel(), Processors: runtime.GOMAXPROCS(0), Data: set.Name, Programs: map[string]string{}}
	err = o.race(ctx, newFiles(ctx, dir, set, o.quick), run, result, text)
	if err != nil && len(result.Items) == 0 && ctx.Err() == nil {
		return err
	}
	if err := result.save(to); err != nil {
		return err
	}
	if err := o.flags.Print(result, func(io.Writer) error { return nil }); err != nil {
		return err
	}
	fmt.Fprintf(text, "\nresults in %s\n", to.Dir)
	o.flags.Warn(result.Warnings...)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted; the results above are complete")
	case err != nil:
		return fmt.Errorf("%w; what is shown was done before", err)
	}
	return nil
}

// race runs the sections and prints each result as soon as it is available.
func (o *options) race(ctx context.Context, f *files, run []string, result *Result, text io.Writer) error {
	const parts = 1000
	o.flags.Quiet = o.flags.Quiet || o.flags.JSON // -json has no progress bar
	bar := o.flags.NewProgress("", "‰", parts)
	defer bar.Done()
	most := itemSeconds * time.Second
	if o.quick {
		most = quickSeconds * time.Second
	}
	r := &race{
		turn: time.Duration(o.seconds * float64(time.Second)), most: most, rounds: o.rounds, pause: pause,
		progress: func(what string, done float64) { bar.Set(int64(parts*done), what) },
		children: map[string]*child{}, versions: result.Programs,
	}
	defer r.close()
	if err := o.enter(r, f.dir, result, text); err != nil {
		return err
	}
	result.Density = f.set.Density()
	fmt.Fprintf(text, "%s: %d rows of %d inputs, density %.3f; %d processors, kernels %s\n", f.set.Name, f.set.Len(), inputs, result.Density, result.Processors, result.Kernels)
	for _, section := range run {
		bar.Set(0, section+": models")
		err := o.section(ctx, r, f, section, result, bar, text)
		if err != nil {
			return err
		}
	}
	result.printPeers(text)
	return ctx.Err()
}

// section runs the races of a section.
func (o *options) section(ctx context.Context, r *race, f *files, section string, result *Result, bar *cli.Progress, text io.Writer) (err error) {
	items := f.items(section)
	for i := 0; i < len(items) && err == nil && f.err == nil; i++ {
		var done Item
		done, err = r.run(ctx, items[i])
		result.Warnings = append(result.Warnings, done.Warnings...)
		if len(done.Entries) > 0 {
			result.Items = append(result.Items, done)
		}
		bar.Clear()
		if section != scalingSection && section != recipesSection {
			err = cmp.Or(err, done.print(text))
		}
	}
	switch {
	case f.err != nil:
		return f.err
	case section == scalingSection:
		return cmp.Or(err, printScaling(text, result.items(scalingSection)))
	case section == recipesSection:
		return cmp.Or(err, printRecipes(text, result.items(recipesSection)))
	case section == memorySection:
		it := f.update("pcd", inputs, hidden, 100)
		if f.err != nil {
			return f.err
		}
		list, warnings := r.memory(ctx, it)
		result.Memory, result.Warnings = list, append(result.Warnings, warnings...)
		bar.Clear()
		return cmp.Or(ctx.Err(), printMemory(text, list))
	}
	return err
}

// enter finds the contestants, and prints which peers are missing.
func (o *options) enter(r *race, dir string, result *Result, text io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r.contestants = gorbms(self, result.Processors)
	script := filepath.Join(dir, "peers.py")
	if err := os.WriteFile(script, peersScript, 0o600); err != nil {
		return err
	}
	python := o.python
	if python == "" {
		python = findPython()
	}
	if python == "none" {
		return nil
	}
	list, missing := peers(python, script, result.Processors)
	r.contestants = append(r.contestants, list...)
	for _, line := range missing {
		fmt.Fprintln(text, line)
	}
	return nil
}

// items returns the items of a section.
func (r *Result) items(section string) (list []Item) {
	for _, it := range r.Items {
		if it.Section == section {
			list = append(list, it)
		}
	}
	return list
}

// printPeers prints the versions of the peers.
func (r *Result) printPeers(w io.Writer) {
	var names []string
	for name, version := range r.Programs {
		if name != gorbm {
			names = append(names, version)
		}
	}
	slices.Sort(names)
	if len(names) > 0 {
		fmt.Fprintf(w, "\nAgainst %s.\n", strings.Join(names, "; "))
	}
}

// save writes the files.
func (r *Result) save(to *rundir.Folder) error {
	plots := r.plots()
	if len(plots) > 0 { // without peers there may be none
		if err := atomicfile.Write(to.Path("speed.png"), func(w io.Writer) error { return picture(w, plots) }); err != nil {
			return err
		}
	}
	if err := to.WriteJSON("speed.json", r); err != nil {
		return err
	}
	return atomicfile.Write(to.Path("speed.csv"), cli.WriteCSV(r.lines()))
}
