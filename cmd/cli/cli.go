// Package cli is what the commands share: how they start and end, read flags,
// load data, models and the snapshots of a run, show progress, and write
// numbers, tables, JSON and warnings.
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

// A signalled is the cause of a context that a signal ended.
type signalled struct{ status int }

func (s signalled) Error() string { return "interrupted" }

// A Command runs with its arguments. The error that it returns decides the exit
// status.
type Command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// Main runs the command of this name and exits. It is for one process: under mpirun it
// fails.
func Main(name string, run Command) {
	if rank, size := ranks.Launched(); size > 1 {
		if rank > 0 { // rank 0 says it; a failure here might end it before
			os.Exit(OK)
		}
		fmt.Fprintf(os.Stderr, "%s: started as %d ranks, but it works in one process; start it without mpirun\n", name, size)
		os.Exit(Usage)
	}
	os.Exit(Run(watchSignals(name, os.Stderr), name, run, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs the command and returns the exit status. An error is printed on
// stderr as one line that begins with the name. That stdout could not be written is
// an error at the end.
func Run(ctx context.Context, name string, run Command, args []string, stdout, stderr io.Writer) int {
	out := &output{Writer: stdout}
	stdout, stderr = out, &output{Writer: stderr}
	err := run(ctx, args, stdout, stderr)
	if failed := out.failed(); failed != nil && (err == nil || errors.Is(err, flag.ErrHelp)) {
		err = fmt.Errorf("the output is not whole: %w", failed)
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
