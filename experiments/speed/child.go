package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// childVariable is set in the environment of child processes of this program, which
// then run as contestants.
const childVariable = "GORBM_SPEED_CHILD"

// A contestant is a program with a number of threads, in a separate process.
type contestant struct {
	program string // gorbm, NumPy …
	threads string // threads as the table describes them
	count   int    // number of all threads
	command []string
	env     []string // additional environment variables
	kinds   []string // kinds of jobs that it can do
	pool    bool     // divides jobs among Python threads where possible
}

// cleared are the environment variables that children must not inherit: numbers of
// threads, and the processor type that OpenBLAS assumes.
var cleared = []string{"OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS", "OMP_WAIT_POLICY", childVariable}

// A child is a contestant's process.
type child struct {
	contestant
	process *exec.Cmd
	to      *json.Encoder
	in      io.Closer
	from    *bufio.Reader
	stderr  bytes.Buffer
	version string
}

// start starts the contestant's process and asks for its version. The process runs until
// close or until ctx is done.
func (c contestant) start(ctx context.Context) (*child, error) {
	p := &child{contestant: c, process: exec.CommandContext(ctx, c.command[0], c.command[1:]...)}
	p.process.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(cleared, name)
	}), c.env...)
	p.process.Stderr = &p.stderr
	in, err := p.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.process.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", c.program, err)
	}
	p.to, p.in, p.from = json.NewEncoder(in), in, bufio.NewReader(out)
	hello, err := p.ask(request{Do: "hello"})
	if err != nil {
		p.close()
		return nil, err
	}
	p.version = hello.Version
	return p, nil
}

// ask sends a request and waits for the reply.
func (p *child) ask(r request) (out reply, err error) {
	if err := p.to.Encode(r); err != nil {
		return out, p.died(err)
	}
	line, err := p.from.ReadBytes('\n')
	if err != nil {
		return out, p.died(err)
	}
	if err := json.Unmarshal(line, &out); err != nil {
		return out, fmt.Errorf("%s answers %.80q: %w", p.program, line, err)
	}
	if out.Error != "" {
		return out, fmt.Errorf("%s: %s", p.program, out.Error)
	}
	return out, nil
}

// died returns the error of a process that does not answer, with the last line of its stderr.
func (p *child) died(err error) error {
	if errors.Is(err, io.EOF) {
		p.close() // afterwards its stderr is complete
	}
	lines := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Errorf("%s has ended: %s", p.program, last)
	}
	return fmt.Errorf("%s has ended: %w", p.program, err)
}

// close ends the process by closing its input.
func (p *child) close() {
	p.in.Close()
	_ = p.process.Wait() // its result no longer matters
}
