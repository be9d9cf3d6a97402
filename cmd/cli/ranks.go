package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// A RanksCommand is a Command that several processes, the ranks of g, run together. Only
// rank 0 prints and writes files.
type RanksCommand func(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error

// MainRanks is like Main, for a command that mpirun may start as several processes.
func MainRanks(name string, run RanksCommand) {
	g, silent, err := ranks.Start()
	stdout, stderr := io.Writer(os.Stdout), io.Writer(os.Stderr)
	if silent {
		stdout, stderr = io.Discard, io.Discard
	}
	if err != nil && silent { // rank 0 prints the error; a failure here might make mpirun kill it first
		os.Exit(OK)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %s\n", name, oneLine(err))
		os.Exit(Failed)
	}
	status := RunRanks(watchSignals(name, stderr), g, name, run, os.Args[1:], stdout, stderr)
	if status == OK {
		g.Any(false) // waits for the others and leaves them the core, unlike Close
		g.Close()
	}
	os.Exit(status) // without Close: mpirun ends the other ranks
}

// RunRanks is like Run, for one rank of g. It fails unless all ranks have the same binary and arguments.
func RunRanks(ctx context.Context, g *ranks.Group, name string, run RanksCommand, args []string, stdout, stderr io.Writer) int {
	return Run(ctx, name, func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		if err := sameProgram(g, args); err != nil {
			return unreported(g, err)
		}
		return unreported(g, run(ctx, g, args, stdout, stderr))
	}, args, stdout, stderr)
}

// AgreeOn checks that no rank has failed, and that all have loaded the same rows and models, since files
// may differ between machines. failed is the error of this rank or nil. On rank 0 the returned error names
// the rank that differs. All ranks must call AgreeOn.
func AgreeOn(g *ranks.Group, failed error, loaded func() (sets []*data.Set, models []*rbm.RBM)) error {
	if g.Size() == 1 {
		return failed
	}
	if failed != nil {
		return g.Agree(failed)
	}
	sets, models := loaded()
	rows, parameters := sha256.New(), sha256.New()
	for _, s := range sets {
		if s != nil {
			io.WriteString(rows, s.Hash())
		}
	}
	for _, m := range models {
		fmt.Fprintln(parameters, m.Shape())
		parameters.Write(m.Parameters().AppendTo(nil))
	}
	return g.Agree(nil, ranks.Fact{Name: "data set", Sum: [32]byte(rows.Sum(nil))}, ranks.Fact{Name: "model", Sum: [32]byte(parameters.Sum(nil))})
}

// unreported returns err, or nil if rank 0 reports err.
func unreported(g *ranks.Group, err error) error {
	if g.Rank() > 0 && errors.Is(err, ranks.ErrAgreed) {
		return nil
	}
	return err
}

// sameProgram checks that all ranks run the same binary with the same arguments.
func sameProgram(g *ranks.Group, args []string) error {
	if g.Size() == 1 {
		return nil
	}
	binary, err := sumOfProgram()
	return g.Agree(err, ranks.Fact{Name: "program (a file of other bytes)", Sum: binary},
		ranks.Fact{Name: "command line", Sum: sha256.Sum256([]byte(strings.Join(args, "\x00")))})
}

// sumOfProgram returns the SHA-256 of the program's file.
var sumOfProgram = sync.OnceValues(func() (sum [32]byte, err error) {
	path, err := os.Executable()
	if err != nil {
		return sum, err
	}
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return [32]byte(h.Sum(nil)), err
})
