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

// childVariable is set in the environment of children of this program, which
// then serve.
const childVariable = "GORBM_SPEED_CHILD"

// A contestant is a program with a number of threads, in a separate process.
type contestant struct {
	program string // gorbm, NumPy …
	threads string // as the table says it
	count   int    // threads in all
	command []string
	env     []string // beyond the race's own
	kinds   []string // jobs that it does
	pool    bool     // divides jobs that fall into parts among Python threads
}

// cleared are the variables of the environment that must not reach children:
// numbers of threads, and the core that OpenBLAS then takes this one for.
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

// start starts the contestant's process, which lives until close or until ctx
// is done, and asks who it is.
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

// died says why there is no answer: by the last line on stderr.
func (p *child) died(err error) error {
	if errors.Is(err, io.EOF) {
		p.close() // all that it wrote is there then
	}
	lines := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Errorf("%s has ended: %s", p.program, last)
	}
	return fmt.Errorf("%s has ended: %w", p.program, err)
}

// close ends the process: without input it has nothing left to do.
func (p *child) close() {
	p.in.Close()
	_ = p.process.Wait() // its result no longer matters
}
