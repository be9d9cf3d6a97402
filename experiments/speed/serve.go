package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/experiments/speed/internal/ports"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/partition"
)

// A runner is a job that is ready to run.
type runner interface {
	run(n int) error                      // n times
	answer(ask request, out *reply) error // for the checks
}

// serve is gorbm's side of the race, twin to peers.py: it answers a request a
// line until the input ends.
func serve(in io.Reader, out io.Writer) error {
	signal.Ignore(os.Interrupt) // Ctrl-C is for the race, which then ends its children
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	to := json.NewEncoder(out)
	var s server
	for lines.Scan() {
		var ask request
		var r reply
		err := json.Unmarshal(lines.Bytes(), &ask)
		if err == nil {
			err = s.reply(ask, &r)
		}
		if err != nil {
			r = reply{Error: err.Error()}
		}
		if err := to.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

// A server holds the job that was prepared last.
type server struct {
	job job
	run runner
}

func (s *server) reply(ask request, out *reply) (err error) {
	switch ask.Do {
	case "hello":
		out.Version = fmt.Sprintf("gorbm %s, kernels %s", cli.Version(), rbm.KernelLevel())
		return nil
	case "prepare":
		s.run = nil
		if ask.Job == nil {
			return errors.New("prepare without a job")
		}
		s.job = *ask.Job
		s.run, err = newRunner(s.job)
		return err
	case "peak":
		out.Bytes, err = peak()
		return err
	case "rates":
		out.Rates = measureRates()
		return nil
	}
	if s.run == nil {
		return errors.New("there is no job")
	}
	switch ask.Do {
	case "run":
		start := time.Now()
		err = s.run.run(ask.N)
		out.Seconds = time.Since(start).Seconds()
		return err
	case "answer":
		return s.run.answer(ask, out)
	case "densities":
		out.Densities, err = measureDensities(s.job)
		return err
	}
	return fmt.Errorf("unknown request %q", ask.Do)
}

func newRunner(j job) (runner, error) {
	switch j.Kind {
	case "pcd", "pt", "ins":
		return newTrainerJob(j)
	case "loops":
		return newLoopsJob(j)
	case "classify":
		return newClassJob(j)
	case "ais":
		return newAISJob(j)
	case "exact":
		return newExactJob(j)
	}
	return nil, fmt.Errorf("unknown job %q", j.Kind)
}

// model reads the model of the job.
func (j job) model() (*rbm.RBM, error) {
	if min(j.Visible, j.Hidden) < 1 || j.Classes < 0 || j.Classes >= j.Visible {
		return nil, fmt.Errorf("no model of %d × %d units, %d of them labels", j.Visible, j.Hidden, j.Classes)
	}
	m := rbm.New(j.Visible, j.Hidden, j.Classes, rbm.Softmax)
	b, err := os.ReadFile(j.Model)
	if err != nil {
		return nil, err
	}
	if len(b) != m.ParameterBytes() {
		return nil, fmt.Errorf("%s has %d bytes; the parameters take %d", j.Model, len(b), m.ParameterBytes())
	}
	m.SetParameters(b)
	return m, nil
}

// set reads the rows of the job, inputs alone.
func (j job) set() (*data.Set, error) {
	b, err := os.ReadFile(j.Data)
	if err != nil {
		return nil, err
	}
	inputs := j.Visible - j.Classes
	stride := (inputs + 63) / 64
	if j.Rows < 1 || len(b) != 8*stride*j.Rows {
		return nil, fmt.Errorf("%s has %d bytes; %d rows of %d inputs take %d", j.Data, len(b), j.Rows, inputs, 8*stride*j.Rows)
	}
	x := rbm.NewBits(j.Rows, inputs)
	for i := range x.Words {
		x.Words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	s := &data.Set{Name: "race", X: x, Binarize: data.Threshold}
	s.Height, s.Width = data.NearSquare(inputs)
	return s, nil
}

// load reads the model and the rows.
func (j job) load() (*rbm.RBM, *data.Set, error) {
	m, err := j.model()
	if err != nil {
		return nil, nil, err
	}
	set, err := j.set()
	return m, set, err
}

// A classJob is p(y|x) of all rows.
type classJob struct {
	m    *rbm.RBM
	v    rbm.Bits
	logp []float64
}

func newClassJob(j job) (*classJob, error) {
	m, set, err := j.load()
	if err != nil {
		return nil, err
	}
	c := &classJob{m: m, v: rbm.NewBits(set.Len(), m.Visible()), logp: make([]float64, set.Len()*m.Classes())}
	for r := range set.Len() {
		copy(c.v.Row(r), set.X.Row(r))
	}
	return c, nil
}

func (c *classJob) run(n int) error {
	for range n {
		c.m.ClassLogProb(c.logp, c.v.Input())
	}
	return nil
}

func (c *classJob) answer(ask request, out *reply) error {
	err := c.run(1)
	out.Values = c.logp[:min(ask.Rows*c.m.Classes(), len(c.logp))]
	return err
}

// An aisJob is a run of annealed importance sampling, each with its own seed.
type aisJob struct {
	job
	m    *rbm.RBM
	s    partition.Annealing
	last partition.Annealed
}

func newAISJob(j job) (*aisJob, error) {
	m, err := j.model()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(j.Base)
	if err != nil {
		return nil, err
	}
	if len(b) != 4*m.Visible() {
		return nil, fmt.Errorf("%s has %d bytes; the biases take %d", j.Base, len(b), 4*m.Visible())
	}
	base := &rbm.Base{VisibleBias: make([]float32, m.Visible()), HiddenBias: make([]float32, m.Hidden())}
	for i := range base.VisibleBias {
		base.VisibleBias[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return &aisJob{job: j, m: m, s: partition.Annealing{Chains: j.Chains, Temperatures: j.Temperatures, Base: base}}, nil
}

func (a *aisJob) run(n int) (err error) {
	for range n {
		a.Seed++
		if a.last, err = partition.AIS(context.Background(), a.m, a.s, rbm.NewKey(a.Seed), nil); err != nil {
			return err
		}
	}
	return nil
}

func (a *aisJob) answer(_ request, out *reply) error {
	err := a.run(1)
	out.Values = []float64{a.last.LogZ, a.last.StdErr}
	return err
}

// An exactJob is log Z by enumeration.
type exactJob struct {
	e    *exact.Enumeration
	logZ float64
}

func newExactJob(j job) (*exactJob, error) {
	m, err := j.model()
	if err != nil {
		return nil, err
	}
	e, err := exact.New(m, exact.EvaluationLimit)
	return &exactJob{e: e}, err
}

func (e *exactJob) run(n int) (err error) {
	for range n {
		if e.logZ, err = e.e.LogZ(context.Background(), nil); err != nil {
			return err
		}
	}
	return nil
}

func (e *exactJob) answer(_ request, out *reply) error {
	err := e.run(1)
	out.Values = []float64{e.logZ}
	return err
}

// measureRates measures the rates of this machine: of the ports, if they can
// be measured, and of gorbm's own draws.
func measureRates() *rates {
	const samples = 20
	var r rates
	r.Rates, _ = ports.Measure(samples)
	const rows, cols = 100, 784
	p, dst := rbm.NewMatrix(rows, cols), rbm.NewBits(rows, cols)
	for i := range p.Data {
		p.Data[i] = 0.19 // of MNIST
	}
	for i := range samples {
		start := time.Now()
		rbm.DrawBits(dst, p, rbm.NewKey(uint64(i)))
		r.Draw = max(r.Draw, rows*cols/time.Since(start).Seconds())
	}
	return &r
}

// peak returns the most memory that this process has held, in bytes.
func peak() (int64, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("no VmHWM in /proc/self/status")
}
