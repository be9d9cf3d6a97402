// Package race trains RBMs by several estimators of the negative phase for as much computing time
// each, that of their updates alone.
package race

import (
	"context"
	"errors"
	"sync"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/experiments/internal/clock"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// An Estimator is a curve of a figure with its settings.
type Estimator struct{ Name, Settings string }

// Names returns the names of estimators.
func Names(list []Estimator) (all []string) {
	for _, e := range list {
		all = append(all, e.Name)
	}
	return all
}

// A Problem is data with the settings of the models that are trained on it.
type Problem struct {
	Name   string
	Hidden int
	Batch  int
	Rate   float64
	Load   Loader
}

// A Loader returns data.
type Loader func(ctx context.Context, p *Places) (*data.Set, error)

// Places are where files are found. They keep the data that were loaded.
type Places struct {
	digits, dir string

	mutex sync.Mutex
	sets  map[string]*data.Set
}

// Flags adds the flags that name the places, with more on the files.
func (p *Places) Flags(digits, dir string) func(f *cli.Flags) func() error {
	return func(f *cli.Flags) func() error {
		f.StringVar(&p.digits, "digits", "", "scikit-learn's 8×8 digits over 16, a file that -data of rbmtrain reads"+digits)
		f.StringVar(&p.dir, "data-dir", "", "folder with the MNIST files"+dir)
		return func() error { return nil }
	}
}

// Set returns the data of a problem.
func (p *Places) Set(ctx context.Context, d Problem) (*data.Set, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if set := p.sets[d.Name]; set != nil {
		return set, nil
	}
	set, err := d.Load(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.sets == nil {
		p.sets = map[string]*data.Set{}
	}
	p.sets[d.Name] = set
	return set, nil
}

// BuiltIn loads data by their spec.
func BuiltIn(spec string) Loader {
	return func(ctx context.Context, p *Places) (*data.Set, error) {
		set, _, err := data.Load(ctx, spec, data.Options{Dir: p.dir})
		return set, err
	}
}

// ScikitDigits loads scikit-learn's digits.
func ScikitDigits(ctx context.Context, p *Places) (*data.Set, error) {
	if p.digits == "" {
		return nil, errors.New("give the file of the digits by -digits")
	}
	return BuiltIn(p.digits)(ctx, p)
}

// ZerosAndOnes loads the rows of MNIST that are a 0 or a 1.
func ZerosAndOnes(ctx context.Context, p *Places) (*data.Set, error) {
	all, err := BuiltIn("mnist")(ctx, p)
	if err != nil {
		return nil, err
	}
	var rows []int32
	for r, y := range all.Y {
		if y <= 1 {
			rows = append(rows, int32(r))
		}
	}
	set := &data.Set{Name: "0 and 1 of mnist", X: rbm.NewBits(len(rows), all.X.Cols), Height: all.Height, Width: all.Width, Binarize: all.Binarize}
	for i, r := range rows {
		copy(set.X.Row(i), all.X.Row(int(r)))
	}
	return set, nil
}

// A Run is the training of a model on the data of a problem, without labels. It measures the time
// of the thread, to which its caller is locked (clock).
type Run struct {
	*train.Trainer
	Set      *data.Set
	Settings train.Settings
	Spent    time.Duration // in updates
}

// Start returns a run from the log-odds of the data. horizon, if it is not 0, is the number of
// updates over which the rate falls to 0.
func (d Problem) Start(ctx context.Context, p *Places, negative negphase.Settings, seed uint64, horizon int) (*Run, error) {
	set, err := p.Set(ctx, d)
	if err != nil {
		return nil, err
	}
	s := train.DefaultSettings("pcd")
	s.Negative, s.Rate, s.Batch, s.Center, s.Seed = negative, d.Rate, d.Batch, 0.01, seed
	if horizon > 0 {
		s.Horizon, s.Schedule = horizon, "linear"
	}
	m := train.NewModel(set, d.Hidden, false, rbm.Softmax, seed)
	train.SetLogOdds(m, set)
	t, err := train.New(s, set, m)
	return &Run{Trainer: t, Set: set, Settings: s}, err
}

// Advance makes updates until so many seconds of them are spent, and calls after, if it is not
// nil, after each.
func (r *Run) Advance(ctx context.Context, seconds float64, after func(negphase.Info) error) error {
	for r.Spent.Seconds() < seconds {
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := clock.Now()
		info, err := r.Step()
		r.Spent += clock.Now() - begin
		if err == nil && after != nil {
			err = after(info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Rows are rows of data on which models are measured.
type Rows struct {
	Numbers []int32
	rbm.Values
	Free []float64 // energies, by MeanFreeEnergy
}

// Evenly returns n rows of the data, or all, evenly, as they may be in order.
func Evenly(set *data.Set, n int) *Rows {
	some := make([]int32, min(n, set.Len()))
	for i := range some {
		some[i] = int32(i * set.Len() / len(some))
	}
	return &Rows{some, set.Rows(some, 0), make([]float64, len(some))}
}

// MeanFreeEnergy returns the mean free energy of the rows.
func (r *Rows) MeanFreeEnergy(m *rbm.RBM) float64 {
	m.FreeEnergy(r.Free, r.Values)
	return train.Mean(r.Free)
}
