// Package cli is what the commands share: how they start and end, read flags,
// load data and models, and show progress.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"gorbm/data"
	"gorbm/rbm"
)

// Exit statuses.
const (
	OK          = 0
	Failed      = 1
	Usage       = 2
	Interrupted = 130 // 128 + SIGINT
	Terminated  = 143 // 128 + SIGTERM
)

// A usageError is a mistake in the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Usagef returns an error for which the program exits with status Usage.
func Usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// A signalled is the cause of a context that a signal ended.
type signalled struct{ status int }

func (s signalled) Error() string { return "interrupted" }

// A Command runs with its arguments; what it returns decides the exit status.
type Command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// Main runs the command of this name and exits.
func Main(name string, run Command) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		status := func(s os.Signal) int {
			if s == syscall.SIGTERM {
				return Terminated
			}
			return Interrupted
		}
		cancel(signalled{status(<-signals)})
		os.Exit(status(<-signals)) // a second one leaves at once
	}()
	os.Exit(Run(ctx, name, run, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs the command and returns the exit status. An error is printed on
// stderr as one line that begins with the name.
func Run(ctx context.Context, name string, run Command, args []string, stdout, stderr io.Writer) int {
	err := run(ctx, args, stdout, stderr)
	var stop signalled
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return OK
	case errors.As(context.Cause(ctx), &stop):
		if !errors.Is(err, ctx.Err()) || err.Error() != ctx.Err().Error() {
			fmt.Fprintf(stderr, "%s: %s\n", name, oneLine(err))
		}
		return stop.status
	}
	fmt.Fprintf(stderr, "%s: %s\n", name, oneLine(err))
	if errors.As(err, &usage) {
		return Usage
	}
	return Failed
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}

// Flags is a flag set with the two flags that every command has.
type Flags struct {
	*flag.FlagSet
	version bool
}

// NewFlags returns the flags of a command. summary says what it is for and
// usage how it is called, for -h.
func NewFlags(name, summary, usage string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError)}
	f.SetOutput(io.Discard)
	f.BoolVar(&f.version, "version", false, "print the version and exit")
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "%s\n\nUsage: %s\n\nFlags:\n", summary, usage)
		f.PrintDefaults()
		fmt.Fprintf(f.Output(), "\nKernels on this machine: %s (avx512, avx2 and go give the same bits)\n", rbm.KernelLevel())
	}
	return f
}

// Parse reads args. It returns flag.ErrHelp after printing help or the version
// on stdout, and a usage error for anything amiss.
func (f *Flags) Parse(args []string, stdout io.Writer) error {
	err := f.FlagSet.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.SetOutput(stdout)
		f.Usage()
		return err
	case err != nil:
		return Usagef("%s%s; see -h", flagError(err), f.suggest(err))
	case f.version:
		fmt.Fprintf(stdout, "%s %s\n", f.Name(), Version())
		return flag.ErrHelp
	case f.NArg() > 0:
		return Usagef("unexpected argument %q; settings are given by flags, see -h", f.Arg(0))
	}
	return nil
}

func flagError(err error) string {
	return strings.TrimSuffix(err.Error(), ": parse error")
}

// suggest names the flag that an unknown one is most like.
func (f *Flags) suggest(err error) string {
	const unknown = "flag provided but not defined: -"
	name, ok := strings.CutPrefix(err.Error(), unknown)
	if !ok {
		return ""
	}
	return DidYouMean("-", name, f.names())
}

func (f *Flags) names() (names []string) {
	f.VisitAll(func(g *flag.Flag) { names = append(names, g.Name) })
	return names
}

// Given reports whether the flag was on the command line.
func (f *Flags) Given(name string) bool {
	given := false
	f.Visit(func(g *flag.Flag) { given = given || g.Name == name })
	return given
}

// DidYouMean returns "; did you mean …?" if one of the known names is like
// name, with prefix before it.
func DidYouMean(prefix, name string, known []string) string {
	if near := data.Nearest(name, known); near != "" {
		return "; did you mean " + prefix + near + "?"
	}
	return ""
}

// Version returns the version that the program was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += " " + s.Value[:12]
		}
	}
	return strings.TrimSpace(v + " " + info.GoVersion)
}

// Choice checks that value, given to the flag, is one of known.
func Choice(flagName, value string, known ...string) error {
	for _, k := range known {
		if value == k {
			return nil
		}
	}
	return Usagef("-%s is %q%s; it is %s", flagName, value, DidYouMean("", value, known), strings.Join(known, ", "))
}

// Between checks that n, given to the flag, lies in lo … hi.
func Between(flagName string, n, lo, hi int) error {
	if n < lo || n > hi {
		return Usagef("-%s is %d; it must lie in %d … %d", flagName, n, lo, hi)
	}
	return nil
}

// Absent checks that there is no file at path, which the flag asks to write,
// but a folder to put it in.
func Absent(flagName, path string) error {
	if dir := filepath.Dir(path); !isDir(dir) {
		return fmt.Errorf("-%s: there is no folder %s for %s; make it first", flagName, dir, filepath.Base(path))
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("-%s: %s is there already; remove it or choose another name", flagName, path)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// TimeUnit returns the unit, in seconds, in which a time of so many seconds is
// read best, and its name.
func TimeUnit(seconds float64) (unit float64, name string) {
	switch {
	case seconds < 1e-3:
		return 1e-6, "µs"
	case seconds < 1:
		return 1e-3, "ms"
	}
	return 1, "s"
}
