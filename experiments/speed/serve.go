package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/partition"
)

// A runner is a job that is ready to run.
type runner struct {
	once   func() error                        // runs the job once
	answer func(ask request, out *reply) error // answers a request of the checks
}

// serve runs gorbm as a contestant, as peers.py runs the peers. It answers one
// request per line until the input ends.
func serve(in io.Reader, out io.Writer) error {
	signal.Ignore(os.Interrupt) // Ctrl-C ends the race, which then ends its children
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

// A server has the job that was prepared last.
type server struct {
	job job
	run *runner
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
		newRunner := runners[s.job.Kind]
		if newRunner == nil {
			return fmt.Errorf("unknown job %q", s.job.Kind)
		}
		s.run, err = newRunner(s.job)
		return err
	case "peak":
		out.Bytes, err = peak()
		return err
	}
	if s.run == nil {
		return errors.New("there is no job")
	}
	switch ask.Do {
	case "run":
		start := time.Now()
		for n := 0; n < ask.N && err == nil; n++ {
			err = s.run.once()
		}
		out.Seconds = time.Since(start).Seconds()
		return err
	case "answer":
		return s.run.answer(ask, out)
	}
	return fmt.Errorf("unknown request %q", ask.Do)
}

// runners has the constructors of runners, by kind of job.
var runners = map[string]func(job) (*runner, error){
	"pcd": newTrainer, "pt": newTrainer, "ins": newTrainer, "discriminative": newTrainer,
	"classify": newClassifier, "ais": newAIS, "exact": newExact,
}

// read returns the content of a file. Another size than the given one is an error.
func read(path string, size int, what string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err == nil && len(b) != size {
		err = fmt.Errorf("%s has %d bytes; %s take %d", path, len(b), what, size)
	}
	return b, err
}

func (j job) model() (*rbm.RBM, error) {
	if min(j.Visible, j.Hidden) < 1 || j.Classes < 0 || j.Classes >= j.Visible {
		return nil, fmt.Errorf("no model of %d × %d units, %d of them labels", j.Visible, j.Hidden, j.Classes)
	}
	m := rbm.New(j.Visible, j.Hidden, j.Classes, rbm.Softmax)
	if j.groups() != nil {
		m = rbm.NewGroups(j.Hidden, j.groups()...)
	}
	b, err := read(j.Model, m.Parameters().Bytes(), "the parameters")
	if err != nil {
		return nil, err
	}
	m.Parameters().SetFrom(b)
	return m, nil
}

// groups returns the groups of Gaussian or softmax units of the inputs; nil if the inputs are bits.
func (j job) groups() (groups []rbm.Group) {
	if j.Gaussian {
		return []rbm.Group{{Kind: rbm.Gaussian, Units: j.Visible}}
	}
	for n := 0; j.States > 0 && n < j.Visible; n += j.States {
		groups = append(groups, rbm.Group{Kind: rbm.Softmax, Units: j.States})
	}
	return groups
}

// set reads the rows of the job, with their labels if it has any.
func (j job) set() (*data.Set, error) {
	inputs := j.Visible - j.Classes
	if j.Rows < 1 {
		return nil, fmt.Errorf("%d rows", j.Rows)
	}
	size := 8 * ((inputs + 63) / 64)
	if j.Gaussian {
		size = 4 * inputs
	}
	b, err := read(j.Data, size*j.Rows, fmt.Sprintf("%d rows of %d inputs", j.Rows, inputs))
	if err != nil {
		return nil, err
	}
	s := &data.Set{Name: "race", X: rbm.NewBits(j.Rows, inputs), Groups: j.groups(), Binarize: data.Threshold}
	s.Height, s.Width = data.NearSquare(inputs)
	if j.Gaussian {
		s.Grey, s.Binarize = rbm.NewMatrix(j.Rows, inputs), data.Standard
		s.Means, s.Deviations = make([]float64, inputs), slices.Repeat([]float64{1}, inputs)
		_, err := binary.Decode(b, binary.LittleEndian, s.Grey.Data)
		return s, err
	}
	if _, err = binary.Decode(b, binary.LittleEndian, s.X.Words); err != nil || j.Labels == "" {
		return s, err
	}
	if b, err = read(j.Labels, j.Rows, "the labels"); err != nil {
		return nil, err
	}
	for k := range j.Classes {
		s.Classes = append(s.Classes, strconv.Itoa(k))
	}
	for r, y := range b {
		if int(y) >= j.Classes {
			return nil, fmt.Errorf("row %d has the class %d of %d", r, y, j.Classes)
		}
		s.Y = append(s.Y, int32(y))
	}
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

// newClassifier computes p(y|x) of all rows.
func newClassifier(j job) (*runner, error) {
	m, set, err := j.load()
	if err != nil {
		return nil, err
	}
	v, logp := rbm.NewBits(set.Len(), m.Visible()), make([]float64, set.Len()*m.Classes())
	set.Inputs(v, data.RowNumbers(0, set.Len()))
	return valuesOf(func() error {
		m.ClassLogProb(logp, v)
		return nil
	}, func(rows int) []float64 { return logp[:min(rows*m.Classes(), len(logp))] }), nil
}

// newAIS runs annealed importance sampling, with another seed in each run.
func newAIS(j job) (*runner, error) {
	m, err := j.model()
	if err != nil {
		return nil, err
	}
	b, err := read(j.Base, 4*m.Visible(), "the biases")
	if err != nil {
		return nil, err
	}
	base := &rbm.Base{VisibleBias: make([]float32, m.Visible()), HiddenBias: make([]float32, m.Hidden())}
	if _, err := binary.Decode(b, binary.LittleEndian, base.VisibleBias); err != nil {
		return nil, err
	}
	s, seed := partition.Annealing{Chains: j.Chains, Temperatures: j.Temperatures, Base: base}, j.Seed
	var last partition.Annealed
	return valuesOf(func() (err error) {
		seed++
		last, err = partition.AIS(context.Background(), m, s, rbm.NewKey(seed), nil)
		return err
	}, func(int) []float64 { return []float64{last.LogZ, last.StdErr} }), nil
}

// newExact computes log Z by enumeration.
func newExact(j job) (*runner, error) {
	m, err := j.model()
	if err != nil {
		return nil, err
	}
	e, err := exact.New(m, exact.EvaluationLimit)
	if err != nil {
		return nil, err
	}
	var logZ float64
	return valuesOf(func() (err error) {
		logZ, err = e.LogZ(context.Background(), nil)
		return err
	}, func(int) []float64 { return []float64{logZ} }), nil
}

// valuesOf returns the runner of a job that computes values for a number of rows, and answers
// with the values of the first rows.
func valuesOf(once func() error, values func(rows int) []float64) *runner {
	return &runner{once, func(ask request, out *reply) error {
		err := once()
		out.Values = values(ask.Rows)
		return err
	}}
}

// peak returns the peak memory of this process in bytes.
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
