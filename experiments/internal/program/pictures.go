package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/rbm/atomicfile"
)

// A Figure is pictures that one call of a command of this repository makes.
type Figure struct {
	Name    string
	Command string   // rbmtrain
	Flags   []string // of the call. The word OUT stands for a path of its own
	Quick   []string // flags that follow these with -quick
	// Pictures are copied from OUT. A picture that is OUT itself has OUT's name.
	Out      string // the last part of OUT
	Pictures []string
}

// Pictures returns the program of an experiment that is pictures of commands alone.
func Pictures(name, summary string, figures []Figure) cli.Command {
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
		summary += fmt.Sprintf("\n  %-8s %s %s", f.Name, f.Command, strings.Join(f.Flags, " "))
	}
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		f := cli.NewFlags(name, summary, name+" [flags]")
		figure := f.String("figure", "all", "figure to make: all, "+strings.Join(names, ", "))
		quick := f.Bool("quick", false, "small sizes, in seconds")
		out := f.String("out", "", "folder for the pictures (default: experiments/"+name+", or runs/"+name+"-quick with -quick)")
		f.AddOutput("print nothing but errors and warnings", "print the names of the pictures as JSON")
		if err := f.Parse(args, stdout, stderr); err != nil {
			return err
		}
		if err := cli.Choice("figure", *figure, append([]string{"all"}, names...)...); err != nil {
			return err
		}
		switch {
		case *out == "" && *quick:
			*out = filepath.Join("runs", name+"-quick")
		case *out == "":
			*out = filepath.Join("experiments", name)
		}
		if err := os.MkdirAll(*out, 0o777); err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", name)
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		var made []string
		for _, one := range figures {
			if *figure != "all" && *figure != one.Name {
				continue
			}
			bar := f.NewProgress("figure "+one.Name, "pictures", int64(len(one.Pictures)))
			pictures, err := one.make(ctx, dir, *out, *quick)
			bar.Done()
			if err != nil {
				return fmt.Errorf("figure %s: %w", one.Name, err)
			}
			made = append(made, pictures...)
		}
		return f.Print(made, func(w io.Writer) error {
			if f.Quiet {
				return nil
			}
			_, err := fmt.Fprintln(w, "pictures: "+strings.Join(made, ", "))
			return err
		})
	}
}

// make calls the command, which it builds in dir if it is not there, and copies its
// pictures to a folder.
func (f Figure) make(ctx context.Context, dir, folder string, quick bool) (made []string, err error) {
	if _, err := os.Stat(filepath.Join(dir, f.Command)); err != nil {
		if err := Build(ctx, dir, f.Command); err != nil {
			return nil, err
		}
	}
	out := filepath.Join(dir, f.Out)
	var args []string
	for _, a := range f.Flags {
		if a == "OUT" {
			a = out
		}
		args = append(args, a)
	}
	if quick {
		args = append(args, f.Quick...)
	}
	if err := New(ctx, filepath.Join(dir, f.Command), args...).Run(nil); err != nil {
		return nil, err
	}
	for _, name := range f.Pictures {
		from := filepath.Join(out, name)
		if name == f.Out {
			from = out
		}
		picture, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		to := filepath.Join(folder, name)
		if err := atomicfile.Write(to, func(w io.Writer) error {
			_, err := w.Write(picture)
			return err
		}); err != nil {
			return nil, err
		}
		made = append(made, to)
	}
	return made, nil
}
