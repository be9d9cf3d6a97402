package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/train"
)

// A history is the likelihood along a run.
type history struct {
	options
	first     *judge // of the first snapshot: what all have in common
	base      *rbm.Base
	parts     []*judge // the training rows, a sample if they are many, and the test rows if there are any
	states    []*judge // the same rows as binary states
	snapshots []snapshot
}

// A snapshot is a model of a run, and what was found of it.
type snapshot struct {
	step int
	path string
	m    *rbm.RBM

	partition
	free []float64 // mean F of each part
}

// sampleRows is the number of training rows that are judged: their mean is then
// known to a hundredth of the spread of the rows, some tenths of a nat on
// MNIST, and the same for all snapshots.
const sampleRows = 10_000

// sampleKey is the purpose of the key that draws them, beside those of logz.
const sampleKey = 1 << 32

// judgeRun judges the snapshots of -run.
func (o *options) judgeRun(ctx context.Context, stdout, stderr io.Writer) error {
	for _, name := range []string{"model", "classes", "labels", "part", "pl", "classify", "rows", "features", "ladder"} {
		if o.flags.Given(name) {
			return cli.Usagef("-%s is for a single model; -run judges the likelihood of all snapshots", name)
		}
	}
	if o.out != "" {
		if err := cli.Absent("out", o.out); err != nil {
			return err
		}
	}
	h := &history{options: *o}
	for _, load := range []func() error{h.loadSnapshots, func() error { return h.loadRows(ctx, stderr) }, h.choose} {
		if err := load(); err != nil {
			return err
		}
	}
	err := h.judge(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if len(h.snapshots) > 0 { // what was completed is kept even if interrupted
		if e := h.report(stdout); e != nil {
			return errors.Join(err, e)
		}
	}
	if err != nil && len(h.snapshots) > 0 {
		return fmt.Errorf("stopped after step %d", h.snapshots[len(h.snapshots)-1].step)
	}
	return err
}

// loadSnapshots reads the models that are there: of a run under way, the first
// ones.
func (h *history) loadSnapshots() error {
	dir := filepath.Join(h.run, train.SnapshotsDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("-run: %w", err)
	}
	var first rbm.About
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".safetensors")
		step, err := strconv.Atoi(name)
		if !ok || err != nil {
			continue
		}
		s := snapshot{step: step, path: filepath.Join(dir, e.Name())}
		var about rbm.About
		if s.m, about, err = rbm.ReadFile(s.path); err != nil {
			return err
		}
		if len(h.snapshots) == 0 {
			first = about
		} else if a, b := s.m, h.snapshots[0].m; a.Visible() != b.Visible() || a.Hidden() != b.Hidden() || a.Classes() != b.Classes() || a.LabelKind() != b.LabelKind() || !a.Constraint.Equal(b.Constraint) {
			return fmt.Errorf("-run: %s is of another shape than %s; the folder holds models of several runs", s.path, h.snapshots[0].path)
		}
		h.snapshots = append(h.snapshots, s)
	}
	if len(h.snapshots) == 0 {
		return fmt.Errorf("-run: %s holds no snapshots; name the folder of a run that rbmtrain made, with -snapshots above 0", dir)
	}
	slices.SortFunc(h.snapshots, func(a, b snapshot) int { return a.step - b.step })
	h.first = &judge{options: h.options, m: h.snapshots[0].m, about: first}
	h.first.model.Path = h.snapshots[0].path
	return nil
}

// loadRows loads the data that the run was trained on, or that -data names.
func (h *history) loadRows(ctx context.Context, stderr io.Writer) error {
	j := h.first
	j.stderr = stderr
	if !h.flags.Given("data") && j.about.Data == "" {
		return cli.Usagef("-data is missing, and %s does not say what it was trained on", j.model.Path)
	}
	h.data.Follow(h.flags, j.about)
	trainSet, test, err := h.data.Load(ctx, stderr, h.quiet)
	if err != nil {
		return err
	}
	for _, set := range []*data.Set{trainSet, test} {
		if set == nil {
			continue
		}
		part := *j
		part.all, part.set, part.quiet = trainSet, set, true
		rows := rbm.NewKey(h.seed).Child(sampleKey).Rand().Perm(set.Len())
		if set == trainSet && len(rows) > sampleRows {
			rows = rows[:sampleRows]
		}
		slices.Sort(rows)
		chosen := make([]int32, len(rows))
		for i, r := range rows {
			chosen[i] = int32(r)
		}
		if err := part.fit(chosen); err != nil {
			return err
		}
		h.parts = append(h.parts, &part)
		states := &part
		if part.v.IsGrey() {
			if states, err = part.binary(set, chosen); err != nil {
				return err
			}
		}
		h.states = append(h.states, states)
	}
	h.base = h.baseOf(j.m, trainSet)
	return nil
}

// choose settles how log Z is found: without a word by enumeration, if that of
// all snapshots takes no longer than some seconds.
func (h *history) choose() error {
	p := h.parts[0]
	if !p.likely() {
		return cli.Usagef("-run: rows without labels have no likelihood under bernoulli labels; %s has none", p.set.Name)
	}
	enum, err := rbm.NewEnumeration(h.first.m, rbm.EvaluationLimit)
	if h.exact && err != nil {
		return fmt.Errorf("-exact: %w", err)
	}
	switch {
	case !p.shell():
	case h.estimated():
		return cli.Usagef("-ais, -reverse-ais and -bennett take block Gibbs steps, which never change the number of visible units that are active under the constraint %v; -exact enumerates small models", h.first.m.Constraint)
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

// judge judges the snapshots, and leaves only those that it came to.
func (h *history) judge(ctx context.Context) error {
	bar := cli.NewProgress(h.first.stderr, h.quiet, "snapshots", "models", int64(len(h.snapshots)))
	defer bar.Done()
	for i := range h.snapshots {
		s := &h.snapshots[i]
		if err := h.judgeOne(ctx, s, func(stage string, _ float64) { bar.Set(int64(i), fmt.Sprintf("step %d: %s", s.step, stage)) }); err != nil {
			h.snapshots = h.snapshots[:i]
			if errors.Is(err, context.Canceled) {
				return err
			}
			return fmt.Errorf("%s: %w", s.path, err)
		}
		bar.Set(int64(i+1), "")
	}
	return nil
}

func (h *history) judgeOne(ctx context.Context, s *snapshot, progress func(stage string, done float64)) (err error) {
	var enum *rbm.Enumeration
	if h.exact {
		if enum, err = rbm.NewEnumeration(s.m, rbm.EvaluationLimit); err != nil {
			return err
		}
	}
	bound := math.Inf(-1)
	if h.estimated() {
		if bound, err = lowerBound(ctx, s.m, h.states); err != nil {
			return err
		}
	}
	if s.partition, err = h.find(ctx, s.m, enum, h.base, bound, progress); err != nil {
		return err
	}
	for _, part := range h.parts {
		part.m = s.m
		free, _, err := part.freeEnergies(ctx)
		if err != nil {
			return err
		}
		s.free = append(s.free, mean(free))
	}
	for _, f := range s.free {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return errNotFinite
		}
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
