package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/rbm"
	"gorbm/train"
)

// Purposes of the keys that derive from the seed, beside those of compare.
const (
	referenceKey = 1<<32 + iota
	batchKey
)

// A subject is a model that estimators are compared on.
type subject struct {
	path      string
	step      int // of the run; 0 for a model of -model
	m         *rbm.RBM
	about     rbm.About
	reference negphase.Settings // of the reference run, if there was one
}

// loadModels loads the model of -model or the snapshots of -run.
func (p *plan) loadModels() error {
	switch given := p.flags.Given("model"); {
	case given && p.flags.Given("run"):
		return cli.Usagef("-model and -run exclude each other; give one of them")
	case !p.flags.Given("run"):
		if !given {
			return cli.Usagef("-model and -run are missing; name a .safetensors or .npz file by -model, or the folder of a run by either")
		}
		m, about, err := p.model.Load(p.flags)
		if err != nil {
			return err
		}
		p.models = []*subject{{path: p.model.Path, m: m, about: about}}
	default:
		if p.flags.Given("classes") || p.flags.Given("labels") {
			return cli.Usagef("-classes and -labels are for models whose file does not say; the snapshots of a run do")
		}
		if err := p.loadSnapshots(); err != nil {
			return err
		}
	}
	for _, s := range p.models {
		if err := s.m.CheckFinite(); err != nil {
			return fmt.Errorf("model %s has %w; there is no negative phase to compare with", s.path, err)
		}
	}
	return nil
}

func (p *plan) loadSnapshots() error {
	dir := filepath.Join(p.options.run, train.SnapshotsDir)
	paths, err := filepath.Glob(filepath.Join(escape(dir), "*.safetensors"))
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	if len(paths) == 0 {
		return fmt.Errorf("-run: %s holds no snapshots; name the folder of a run that rbmtrain made, with -snapshots above 0", dir)
	}
	for _, path := range paths {
		step, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".safetensors"))
		if err != nil {
			return fmt.Errorf("-run: %s is not named by a step, as the snapshots of a run are", path)
		}
		m, about, err := rbm.ReadFile(path)
		if err != nil {
			return err
		}
		p.models = append(p.models, &subject{path: path, step: step, m: m, about: about})
	}
	slices.SortFunc(p.models, func(a, b *subject) int { return a.step - b.step }) // names have seven digits or more
	first := p.models[0]
	for _, s := range p.models[1:] {
		if s.m.Visible() != first.m.Visible() || s.m.Hidden() != first.m.Hidden() || s.m.Classes() != first.m.Classes() {
			return fmt.Errorf("-run: %s is of another shape than %s; the folder holds models of several runs", s.path, first.path)
		}
	}
	return nil
}

// escape makes path match itself alone as a pattern.
func escape(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

// loadData loads the rows of -data, if it is given.
func (p *plan) loadData(ctx context.Context) error {
	if !p.flags.Given("data") {
		return nil
	}
	first := p.models[0]
	p.data.Follow(p.flags, first.about)
	set, _, err := p.data.Load(ctx, p.stderr, p.quiet)
	if err != nil {
		return err
	}
	if err := train.Fits(first.m, set); err != nil {
		return fmt.Errorf("%s does not fit the data: %w", first.path, err)
	}
	p.set = set
	for i := range p.estimators {
		if p.estimators[i].Path == negphase.ToData {
			p.estimators[i].Base = train.Base(first.m, set)
		}
	}
	return nil
}

// A page is room for rows of the data as a positive phase.
type page struct {
	set   *data.Set
	m     *rbm.RBM
	batch rbm.Batch
}

func newPage(set *data.Set, m *rbm.RBM, rows int) *page {
	g := &page{set: set, m: m, batch: rbm.Batch{H: rbm.NewMatrix(rows, m.Hidden())}}
	g.batch.V = set.NewRows(rows, m.Classes())
	return g
}

// fill makes the page these rows with their hidden means.
func (g *page) fill(rows []int32) rbm.Batch {
	g.set.Visible(g.batch.V, rows, g.m.Classes())
	g.m.HiddenMean(g.batch.H, g.batch.V)
	return g.batch
}

// batches returns the minibatches of a repeat.
func (p *plan) batches(m *rbm.RBM, repeat int) func(update int) rbm.Batch {
	deal := data.NewBatches(p.set.Len(), p.batch, rbm.NewKey(p.seed).Child(batchKey).Child(uint64(repeat)))
	rows := make([]int32, p.batch)
	g := newPage(p.set, m, p.batch)
	return func(update int) rbm.Batch {
		deal.Rows(rows, update)
		return g.fill(rows)
	}
}

// positive returns the positive phase of all rows.
func (p *plan) positive(m *rbm.RBM) []float64 {
	const rows = 256 // at once
	mean := compare.NewMean(m)
	total := p.set.Len()
	for lo := 0; lo < total; lo += rows {
		some := make([]int32, min(rows, total-lo))
		for i := range some {
			some[i] = int32(lo + i)
		}
		b := newPage(p.set, m, len(some)).fill(some)
		b.Weight = make([]float32, len(some))
		for i := range b.Weight {
			b.Weight[i] = 1 // the sum of the rows
		}
		mean.Add(rbm.Phase{Batch: b})
	}
	sum := mean.Sum()
	for i := range sum {
		sum[i] /= float64(total)
	}
	return sum
}
