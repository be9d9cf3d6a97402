package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/train/rundir"
)

// A history is the likelihood along a run.
type history struct {
	options
	all       *data.Set   // training rows
	parts     []*examples // training rows, and test rows if there are any
	snapshots []snapshot
}

// A snapshot is a model of a run with its log Z and mean free energies.
type snapshot struct {
	rundir.Snapshot
	logZEstimates
	free []float64 // mean free energy of each of history.parts; nil if the model has diverged
}

// sampleRows is the largest number of training rows on which snapshots are evaluated. All snapshots use the
// same rows. The standard error of a mean over them is a hundredth of the standard deviation of the rows:
// some tenths of a nat on MNIST.
const sampleRows = 10_000

// sampleKey derives the random stream that draws the training rows. Package logz uses smaller numbers.
const sampleKey = 1 << 32

// evaluateRun evaluates the snapshots of -run.
func (o *options) evaluateRun(ctx context.Context) error {
	h := &history{options: *o}
	if err := cli.AgreeOn(o.group, h.load(ctx), h.loaded); err != nil {
		return err
	}
	err := h.evaluate(ctx)
	if o.group.Rank() > 0 || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if len(h.snapshots) > 0 { // what was completed is kept even if interrupted
		if e := h.report(); e != nil {
			return errors.Join(err, e)
		}
	}
	if err != nil && len(h.snapshots) > 0 {
		return fmt.Errorf("stopped after step %d", h.snapshots[len(h.snapshots)-1].Step)
	}
	return err
}

// load loads the snapshots and the rows.
func (h *history) load(ctx context.Context) error {
	snapshots, err := rundir.ReadSnapshots(h.run, 0)
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		h.snapshots = append(h.snapshots, snapshot{Snapshot: s})
	}
	if err := h.loadRows(ctx); err != nil {
		return err
	}
	return h.choose()
}

// loaded returns the sets and models that must be equal on all ranks.
func (h *history) loaded() (sets []*data.Set, models []*rbm.RBM) {
	for _, p := range h.parts {
		sets = append(sets, p.set)
	}
	for _, s := range h.snapshots {
		if s.Err == nil {
			models = append(models, s.Model)
		}
	}
	return sets, models
}

// loadRows loads the rows that the snapshots are evaluated on.
func (h *history) loadRows(ctx context.Context) error {
	// All snapshots have the same units and the same constraint.
	s := h.snapshots[slices.IndexFunc(h.snapshots, func(s snapshot) bool { return s.Err == nil })]
	all, test, err := h.loadData(ctx, s.Model, s.Path, s.About)
	if err != nil {
		return err
	}
	silent := *h.flags // no bars for rows, as the progress bar counts snapshots
	silent.Quiet = true
	for _, set := range []*data.Set{all, test} {
		if set == nil {
			continue
		}
		first := set == all
		if set, err = fitSet(s.Model, set, s.Path, s.About); err != nil {
			return err
		}
		if first {
			all = set
		}
		rows := rbm.NewKey(h.seed).Child(sampleKey).Rand().Perm(set.Len())
		if first && len(rows) > sampleRows {
			rows = rows[:sampleRows]
		}
		slices.Sort(rows)
		chosen := make([]int32, len(rows))
		for i, r := range rows {
			chosen[i] = int32(r)
		}
		h.parts = append(h.parts, newExamples(&silent, s.Model, set, chosen))
	}
	h.all = all
	return nil
}

// choose decides how to compute log Z of all snapshots.
func (h *history) choose() error {
	p := h.parts[0]
	if !p.likely() {
		return cli.Usagef("-run: rows without labels have no likelihood under bernoulli labels; %s has none", p.set.Name)
	}
	if err := h.checkLogZ(p.m); err != nil {
		return err
	}
	if p.m.Constraint.OnAll() { // only enumeration is possible
		if _, err := exact.New(p.m, exact.EvaluationLimit); err != nil {
			return fmt.Errorf("-run: %w", err)
		}
		h.exact = true
	}
	if !h.asked() {
		h.chooseLogZ(p.m, len(h.snapshots))
	}
	if !h.flags.Given("ais-temperatures") {
		h.temperatures /= historyShare
	}
	if !h.flags.Given("ladder-rounds") {
		h.rounds /= historyShare
	}
	if err := h.idle(h.flags); err != nil {
		return err
	}
	h.longest = historyLonger * h.rounds // twenty snapshots of two minutes would take too long
	return nil
}

// evaluate evaluates the snapshots. If the context ends, it drops those that are not done. A snapshot that
// has diverged gets a warning in place of numbers. If all snapshots have diverged, evaluate returns the error
// of the first.
func (h *history) evaluate(ctx context.Context) error {
	bar := h.flags.NewProgress("snapshots", "models", int64(len(h.snapshots)))
	defer bar.Done()
	var diverged error // error of the first diverged snapshot
	failed := 0
	for i := range h.snapshots {
		s := &h.snapshots[i]
		err := h.evaluateOne(ctx, s, func(stage string, _ float64) { bar.Set(int64(i), fmt.Sprintf("step %d: %s", s.Step, stage)) })
		switch {
		case errors.Is(err, context.Canceled):
			h.snapshots = h.snapshots[:i]
			return err
		case errors.Is(err, errNotFinite), errors.Is(err, rbm.ErrDiverged):
			s.logZEstimates, s.free = unknown(), nil
			s.Warnings = []diag.Warning{diag.Failed(err)}
			if s.Err == nil { // otherwise the error has the path
				err = fmt.Errorf("%s: %w", s.Path, err)
			}
			diverged = cmp.Or(diverged, err)
			failed++
		case err != nil:
			return fmt.Errorf("%s: %w", s.Path, err)
		}
		bar.Set(int64(i+1), "")
	}
	if failed == len(h.snapshots) {
		return diverged
	}
	return nil
}

// evaluateOne evaluates a snapshot. The error is errNotFinite or wraps
// rbm.ErrDiverged if the model has diverged.
func (h *history) evaluateOne(ctx context.Context, s *snapshot, progress func(stage string, done float64)) (err error) {
	if s.Err != nil {
		return s.Err
	}
	for _, part := range h.parts {
		part.m = s.Model
	}
	if s.logZEstimates, err = h.find(ctx, s.Model, h.baseOf(s.Model, h.all), h.parts, progress); err != nil {
		return err
	}
	if h.group.Rank() > 0 {
		return nil
	}
	for _, part := range h.parts {
		free, err := part.summedEnergies(ctx, "", nil)
		if err != nil {
			return err
		}
		f := part.set.Mean(part.index, free)
		if !cli.Finite(f) {
			return errNotFinite
		}
		s.free = append(s.free, f)
	}
	return nil
}
