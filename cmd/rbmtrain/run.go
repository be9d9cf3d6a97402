package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"gorbm/cmd/internal/cli"
	"gorbm/rbm"
	"gorbm/train"
	"gorbm/train/sheet"
)

// config is config.json: every setting of the run and where it came from.
type config struct {
	Version   string         `json:"version"`
	Command   []string       `json:"command"`
	Kernels   string         `json:"kernels"`
	Processor string         `json:"processor"`
	Data      configData     `json:"data"`
	Model     configModel    `json:"model"`
	Training  train.Settings `json:"training"`
	Steps     int            `json:"steps"`
	EvalEvery int            `json:"eval_every"`
	Metrics   []string       `json:"metrics"`
}

type configData struct {
	Name     string  `json:"name"`
	Hash     string  `json:"hash"`
	TestHash string  `json:"test_hash,omitempty"`
	Rows     int     `json:"rows"`
	TestRows int     `json:"test_rows"`
	Inputs   int     `json:"inputs"`
	Density  float64 `json:"density"`
	Binarize string  `json:"binarize"`
}

type configModel struct {
	Visible int    `json:"visible"`
	Hidden  int    `json:"hidden"`
	Classes int    `json:"classes"`
	Labels  string `json:"labels,omitempty"`
}

func (p *plan) config() config {
	c := config{
		Version: cli.Version(), Command: p.command, Kernels: rbm.KernelLevel(), Processor: runtime.GOOS + "/" + runtime.GOARCH,
		Data: configData{Name: p.train.Name, Hash: p.train.Hash(), Rows: p.train.Len(), Inputs: p.train.X.Cols,
			Density: p.train.Density(), Binarize: p.train.Binarize},
		Model:    configModel{Visible: p.model.Visible(), Hidden: p.model.Hidden(), Classes: p.model.Classes},
		Training: p.settings, Steps: p.steps, EvalEvery: p.evalEvery, Metrics: []string{},
	}
	if p.test != nil {
		c.Data.TestHash, c.Data.TestRows = p.test.Hash(), p.test.Len()
	}
	if p.model.Classes > 0 {
		c.Model.Labels = p.model.Labels.String()
	}
	for _, m := range p.metrics {
		c.Metrics = append(c.Metrics, m.Name)
	}
	return c
}

// about is what the model file says beside the parameters.
func (p *plan) about() rbm.About {
	a := rbm.About{Data: p.train.Name, Binarize: p.train.Binarize, Height: p.train.Height, Width: p.train.Width, Seed: p.settings.Seed}
	if p.model.Classes > 0 {
		a.ClassNames = p.train.Classes
	}
	return a
}

// run trains and writes the folder.
func (p *plan) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	trainer, err := train.New(p.settings, p.train, p.model)
	if err != nil {
		return err
	}
	describe := func() {
		if !p.json && !p.quiet {
			fmt.Fprintln(stdout, p.describe())
		}
	}
	if p.dryRun {
		describe()
		return nil
	}
	if p.cpuprofile != "" {
		if err := cli.Absent("cpuprofile", p.cpuprofile); err != nil {
			return err
		}
	}
	stem := strings.Map(func(r rune) rune {
		if r == ':' || r == ',' {
			return '_'
		}
		return r
	}, p.train.Name)
	folder, err := train.NewFolder(p.out, stem+"-"+p.settings.Negative.Kind, p.force)
	if err != nil {
		return err
	}
	describe()
	if err := folder.WriteJSON(train.ConfigFile, p.config()); err != nil {
		return err
	}
	if p.cpuprofile != "" {
		stop, err := profile(p.cpuprofile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	result, err := p.steer(ctx, trainer, folder, stderr)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	// What was learnt is kept even if the run was interrupted.
	if e := p.write(folder); e != nil {
		return errors.Join(err, e)
	}
	if err != nil {
		return fmt.Errorf("stopped after step %d of %d; the model as it was then is in %s", trainer.Steps(), p.steps, folder.Dir)
	}
	return result.print(p, folder, stdout, stderr)
}

// steer runs the training steps, measuring and showing progress on the way.
func (p *plan) steer(ctx context.Context, trainer *train.Trainer, folder *train.Folder, stderr io.Writer) (*result, error) {
	table, err := folder.NewTable(p.columns())
	if err != nil {
		return nil, err
	}
	defer table.Close()
	bar := cli.NewProgress(stderr, p.quiet, "training", "steps", int64(p.steps))
	defer bar.Done()
	r := &result{}
	latest := "training"
	evaluator := &train.Evaluator{Metrics: p.metrics, Every: p.evalEvery, Report: func(e train.Evaluation) error {
		r.last = e
		latest = p.latest(e)
		return table.Add(p.row(e, trainer.Elapsed()))
	}}
	if err := evaluator.Begin(ctx, p.model); err != nil {
		return nil, err
	}
	var shown time.Time
	progress := func(_ context.Context, e train.Event) error {
		if now := time.Now(); e.Last || now.Sub(shown) > 100*time.Millisecond {
			shown = now
			bar.Set(int64(e.Step), latest)
		}
		return nil
	}
	err = trainer.Run(ctx, p.steps, evaluator.Observe, progress)
	r.steps, r.elapsed, r.total = trainer.Steps(), trainer.Elapsed(), evaluator.Total
	if errors.Is(err, rbm.ErrDiverged) {
		err = fmt.Errorf("training %w; try a smaller -rate; metrics up to then are in %s", err, folder.Dir)
	}
	return r, err
}

// write writes the model and the pictures.
func (p *plan) write(folder *train.Folder) error {
	if err := p.model.CheckFinite(); err != nil {
		return err
	}
	if err := p.model.WriteFile(folder.Path(train.ModelFile), p.about()); err != nil {
		return err
	}
	h, w := p.train.Height, p.train.Width
	samples := train.Samples(p.model, samplesPerClass, p.settings.Seed)
	for name, img := range map[string]image.Image{
		train.FiltersFile: sheet.Filters(p.model, h, w),
		train.SamplesFile: sheet.Tiles(samples, h, w, samplesPerClass, sheet.Ink),
	} {
		if err := rbm.ReplaceFile(folder.Path(name), func(w io.Writer) error { return sheet.Encode(w, img) }); err != nil {
			return err
		}
	}
	return nil
}

// samplesPerClass is the number of samples in a line of samples.png, a line
// for each class.
const samplesPerClass = 10

// profile starts a CPU profile and returns what ends it.
func profile(path string) (stop func() error, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("-cpuprofile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("-cpuprofile: %w", err)
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
