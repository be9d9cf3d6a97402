package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// newSearch returns a search on two parts of spec. Models have at most 16 hidden units, so that log Z is exact.
func newSearch(t *testing.T, spec string, work float64) *Search {
	t.Helper()
	set, _, err := data.Load(context.Background(), spec, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, held, err := set.Split(0.25, data.HoldoutKey(1))
	if err != nil {
		t.Fatal(err)
	}
	p := PresetFor(set, false)
	base := p.Settings("pcd")
	return &Search{Train: rows, Held: held, Base: base,
		NewModel: func(hidden int) *rbm.RBM { return p.NewModel(rows, hidden, false, 1) },
		Hidden:   []int{12, 3}, Rates: []float64{0.1, 0.025}, L2: []float64{2e-4, 5e-3}, Steps: 200, MostSteps: 1 << 20, MostHidden: 16, Work: work}
}

// The choice has a higher exact likelihood on fresh rows than the first candidate, equal searches have
// identical trials, and the work stays within the budget.
func TestSearch(t *testing.T) {
	ctx := context.Background()
	s := newSearch(t, "toy:4,4,600,0.1", 1e11)
	best, all, err := s.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := newSearch(t, "toy:4,4,600,0.1", 1e11).Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, again); diff != "" {
		t.Errorf("two equal searches differ (-first +second):\n%s", diff)
	}
	if s.spent > s.Work {
		t.Errorf("the trials took %g multiply-adds, want at most %g", s.spent, s.Work)
	}
	seen := map[Candidate]bool{}
	longest := 0
	for _, c := range all {
		if c.StdErr != 0 {
			t.Errorf("log Z of %+v has an error, though it can be enumerated", c)
		}
		key := c
		key.Score = 0
		if seen[key] {
			t.Errorf("%+v was tried twice", key)
		}
		seen[key] = true
		longest = max(longest, c.Steps)
		if c.bound() > best.bound() {
			t.Errorf("the best is %+v, but %+v is better", best, c)
		}
	}
	if longest < 800 {
		t.Errorf("the longest trial has %d steps, want 800 or more: the toy is not learnt in 200", longest)
	}
	fresh, _, err := data.Load(ctx, "toy:4,4,4000,0.1:seed=2", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	likelihood := func(c Candidate) float64 {
		m := s.NewModel(c.Hidden)
		settings := s.Base
		settings.Rate, settings.L2, settings.Horizon = c.Rate, c.L2, c.Steps
		trainer, err := New(settings, s.Train, m)
		if err != nil {
			t.Fatal(err)
		}
		if err := trainer.Run(ctx, c.Steps); err != nil {
			t.Fatal(err)
		}
		logZ, err := exact.LogZ(ctx, trainer.Model())
		if err != nil {
			t.Fatal(err)
		}
		free := make([]float64, fresh.Len())
		trainer.Model().FreeEnergy(free, fresh.X)
		return -fresh.Mean(data.RowNumbers(0, fresh.Len()), free) - logZ
	}
	if chosen, first := likelihood(best), likelihood(all[0]); chosen <= first {
		t.Errorf("the log-likelihood of fresh rows is %.4f with the choice %+v, and %.4f with the first candidate", chosen, best, first)
	}
	// The score is the likelihood of the held-out rows: recomputed here for the best trial.
	fresh = s.Held
	if got, want := float64(best.Score), likelihood(best); math.Abs(got-want) > 1e-9 {
		t.Errorf("the score of the best trial is %v, want %v", got, want)
	}
}

// On rows of fair bits no trial that memorises the training rows wins. Twelve frequencies that are estimated
// from 60 rows lose 12/(2·60) = 0.1 nats on average, with a standard deviation of √(12/2)/60 = 0.04: the choice
// loses at most 0.1 + 5·0.04, and there are trials that lose more.
func TestSearchOfNoise(t *testing.T) {
	var b strings.Builder
	r := rbm.NewKey(3).Rand()
	for range 80 {
		for j := range 12 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, r.IntN(2))
		}
		b.WriteByte('\n')
	}
	path := t.TempDir() + "/noise.csv"
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s := newSearch(t, path, 1e11)
	s.Rates, s.L2, s.Steps = []float64{0.5, 0.02}, []float64{0, 0.05}, 2000
	best, all, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var worst float64
	for _, c := range all {
		worst = min(worst, float64(c.Score))
	}
	if noise := -12 * math.Ln2; float64(best.Score) < noise-0.3 {
		t.Errorf("the best score is %v, want about %v", best.Score, noise)
	} else if worst > noise-0.3 { // else there was nothing to choose
		t.Errorf("the worst of the trials has %v: none overfits", worst)
	}
}

// A rate at which training diverges loses, and if all trials diverge the error says so.
func TestSearchDiverges(t *testing.T) {
	s := newSearch(t, "toy:4,4,200,0.1", 2e10)
	s.NewModel = func(hidden int) *rbm.RBM {
		m := PresetFor(s.Train, false).NewModel(s.Train, hidden, false, 1)
		if hidden == 12 {
			m.HiddenBias[0] = float32(math.Inf(1))
		}
		return m
	}
	best, all, err := s.Run(context.Background())
	if err != nil || best.Hidden == 12 {
		t.Errorf("the best is %+v, error %v; want 3 hidden units", best, err)
	}
	if !math.IsInf(float64(all[0].Score), -1) {
		t.Errorf("the first trial has the score %v, want -Inf", all[0].Score)
	}
	s = newSearch(t, "toy:4,4,200,0.1", 2e9)
	s.NewModel = func(hidden int) *rbm.RBM {
		m := PresetFor(s.Train, false).NewModel(s.Train, hidden, false, 1)
		m.HiddenBias[0] = float32(math.NaN())
		return m
	}
	if _, _, err := s.Run(context.Background()); !errors.Is(err, rbm.ErrDiverged) {
		t.Errorf("the error is %v, want ErrDiverged", err)
	}
}

// Values that are given stay, the first trial is done on any budget, and a cancelled search ends.
func TestSearchKeeps(t *testing.T) {
	ctx := context.Background()
	s := newSearch(t, "toy:4,4,200,0.1", 2e10)
	s.Hidden, s.Rates, s.L2, s.MostSteps = []int{5}, []float64{0.05}, []float64{0.001}, s.Steps
	if _, all, err := s.Run(ctx); err != nil || len(all) != 1 || all[0].Hidden != 5 || all[0].Rate != 0.05 || all[0].L2 != 0.001 || all[0].Steps != 200 {
		t.Errorf("trials %+v, error %v; want the given values alone", all, err)
	}
	s = newSearch(t, "toy:4,4,200,0.1", 0)
	if _, all, err := s.Run(ctx); err != nil || len(all) != 1 {
		t.Errorf("%d trials without a budget, error %v; want 1", len(all), err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	s = newSearch(t, "toy:4,4,200,0.1", 2e10)
	s.Progress = func(float64, int, Candidate) { cancel() }
	if _, all, err := s.Run(cancelled); !errors.Is(err, context.Canceled) || len(all) != 1 {
		t.Errorf("%d trials, error %v; want one and the error of the context", len(all), err)
	}
}
