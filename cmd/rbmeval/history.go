package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// A history is the likelihood along a run.
type history struct {
	options
	first     *evaluation // of the first snapshot: what all have in common
	base      *rbm.Base
	parts     []*evaluation // on training rows, and on test rows if there are any
	states    []*evaluation // on the same rows as binary states
	snapshots []snapshot
}

// A snapshot is a model of a run with its log Z and mean free energies.
type snapshot struct {
	cli.Snapshot
	logZEstimates
	free []float64 // mean F of each part
}

// sampleRows is the number of training rows that a snapshot is evaluated on,
// the same for all snapshots. The error of their mean is a hundredth of the
// spread of the rows, some tenths of a nat on MNIST.
const sampleRows = 10_000

// sampleKey is the key that draws them. Package logz has smaller ones.
const sampleKey = 1 << 32

// evaluateRun evaluates the snapshots of -run.
func (o *options) evaluateRun(ctx context.Context) error {
	if name := o.flags.FirstGiven("model", "classes", "labels", "part", "pl", "classify", "rows", "features", "ladder"); name != "" {
		return cli.Usagef("-%s is for a single model; -run judges the likelihood of all snapshots", name)
	}
	if err := o.flags.CheckNew("out"); err != nil {
		return err
	}
	snapshots, err := cli.ReadSnapshots(o.run)
	if err != nil {
		return err
	}
	h := &history{options: *o}
	for _, s := range snapshots {
		h.snapshots = append(h.snapshots, snapshot{Snapshot: s})
	}
	if err := h.loadRows(ctx); err != nil {
		return err
	}
	if err := h.choose(); err != nil {
		return err
	}
	err = h.evaluate(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
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

// loadRows loads the rows that the snapshots are evaluated on.
func (h *history) loadRows(ctx context.Context) error {
	s := h.snapshots[0]
	h.model.Path = s.Path
	h.first = &evaluation{options: h.options, m: s.Model, about: s.About}
	trainSet, test, err := h.first.loadData(ctx)
	if err != nil {
		return err
	}
	silent := *h.flags // the progress bar counts snapshots, not rows
	silent.Quiet = true
	for _, set := range []*data.Set{trainSet, test} {
		if set == nil {
			continue
		}
		part := *h.first
		part.all, part.set, part.flags = trainSet, set, &silent
		if err := part.checkSet(); err != nil {
			return err
		}
		rows := rbm.NewKey(h.seed).Child(sampleKey).Rand().Perm(set.Len())
		if set == trainSet && len(rows) > sampleRows {
			rows = rows[:sampleRows]
		}
		slices.Sort(rows)
		chosen := make([]int32, len(rows))
		for i, r := range rows {
			chosen[i] = int32(r)
		}
		part.fit(chosen)
		h.parts = append(h.parts, &part)
		states := &part
		if part.v.IsGrey() {
			states = part.binary(set, chosen)
		}
		h.states = append(h.states, states)
	}
	h.base = h.baseOf(s.Model, trainSet)
	return nil
}

// choose decides how log Z is found. If no flag says how, it is enumerated if
// that takes some seconds at most for all snapshots, and else estimated.
func (h *history) choose() error {
	p := h.parts[0]
	if !p.likely() {
		return cli.Usagef("-run: rows without labels have no likelihood under bernoulli labels; %s has none", p.set.Name)
	}
	enum, err := exact.New(h.first.m, exact.EvaluationLimit)
	if h.exact && err != nil {
		return fmt.Errorf("-exact: %w", err)
	}
	switch {
	case !p.constrainsAll():
	case h.estimated():
		return p.constrainsAllError()
	case err != nil:
		return fmt.Errorf("-run: %w", err)
	default:
		h.exact = true
	}
	if !h.asked() {
		h.exact = err == nil && enum.Work()*float64(len(h.snapshots)) <= autoWork
		if !h.exact {
			h.estimate()
		}
	}
	if !h.flags.Given("ais-temperatures") {
		h.temperatures /= historyShare
	}
	if !h.flags.Given("ladder-rounds") {
		h.rounds /= historyShare
	}
	return h.idle(h.flags)
}

// evaluate evaluates the snapshots. If it ends early, those that are done remain.
func (h *history) evaluate(ctx context.Context) error {
	bar := h.flags.NewProgress("snapshots", "models", int64(len(h.snapshots)))
	defer bar.Done()
	for i := range h.snapshots {
		s := &h.snapshots[i]
		if err := h.evaluateOne(ctx, s, func(stage string, _ float64) { bar.Set(int64(i), fmt.Sprintf("step %d: %s", s.Step, stage)) }); err != nil {
			h.snapshots = h.snapshots[:i]
			if errors.Is(err, context.Canceled) {
				return err
			}
			return fmt.Errorf("%s: %w", s.Path, err)
		}
		bar.Set(int64(i+1), "")
	}
	return nil
}

func (h *history) evaluateOne(ctx context.Context, s *snapshot, progress func(stage string, done float64)) (err error) {
	var enum *exact.Enumeration
	if h.exact {
		if enum, err = exact.New(s.Model, exact.EvaluationLimit); err != nil {
			return err
		}
	}
	bound := math.Inf(-1)
	if h.estimated() {
		if bound, err = lowerBound(ctx, s.Model, h.states); err != nil {
			return err
		}
	}
	if s.logZEstimates, err = h.find(ctx, s.Model, enum, h.base, bound, progress); err != nil {
		return err
	}
	for _, part := range h.parts {
		part.m = s.Model
		free, _, err := part.freeEnergies(ctx)
		if err != nil {
			return err
		}
		f := mean(free)
		if cli.Finite(f) == nil {
			return errNotFinite
		}
		s.free = append(s.free, f)
	}
	return nil
}

// likelihood returns the mean log-likelihood of a part, if there is one, where
// log Z is logZ.
func (s *snapshot) likelihood(part int, logZ float64) *float64 {
	if part >= len(s.free) {
		return nil
	}
	x := -s.free[part] - logZ
	return &x
}
