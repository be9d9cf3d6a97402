// Package cli is shared by the commands. It starts and ends them, reads flags,
// loads data and models, shows progress, and writes numbers, tables, JSON and
// warnings.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"gorbm/rbm/ranks"
)

// Exit statuses.
const (
	OK          = 0
	Failed      = 1
	Usage       = 2
	Interrupted = 130 // 128 + SIGINT
	Terminated  = 143 // 128 + SIGTERM
	HungUp      = 129 // 128 + SIGHUP
)

// A usageError is a mistake in the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Usagef returns an error for which the program exits with status Usage.
func Usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// A signalled is the cause of a context that a signal cancelled; status is the
// exit status.
type signalled struct{ status int }

func (s signalled) Error() string { return "interrupted" }

// A Command runs with its arguments. Its error decides the exit status: see Run.
type Command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// Main runs the command called name and exits. It is for commands of one process: if
// mpirun started several, it prints an error and exits with Usage.
func Main(name string, run Command) {
	if rank, size := ranks.Launched(); size > 1 {
		if rank > 0 { // rank 0 prints the error; a failure here might make mpirun kill it first
			os.Exit(OK)
		}
		fmt.Fprintf(os.Stderr, "%s: started as %d ranks, but it works in one process; start it without mpirun\n", name, size)
		os.Exit(Usage)
	}
	os.Exit(Run(watchSignals(name, os.Stderr), name, run, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs the command and returns the exit status. It prints an error on stderr as
// one line that begins with name. It also fails if some output could not be written
// to stdout.
func Run(ctx context.Context, name string, run Command, args []string, stdout, stderr io.Writer) int {
	out := &output{Writer: stdout}
	stdout, stderr = out, &output{Writer: stderr}
	err := run(ctx, args, stdout, stderr)
	if failed := out.failed(); failed != nil && (err == nil || errors.Is(err, flag.ErrHelp)) {
		err = fmt.Errorf("not all output could be written: %w", failed)
	}
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

// Version returns the module's version, the commit and the Go version of the program.
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
