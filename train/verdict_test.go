package train

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// judgedEvery is the number of steps between the evaluations of a judged run, which has 100 of them.
const judgedEvery = 20

// judged returns the Health of a run of 100 evaluations with the exact negative phase. Its log-likelihood
// is an estimate or exact, with or without a test set.
func judged(t *testing.T, estimate, test bool) *Health {
	t.Helper()
	set := toy(t, smallToy)
	tr := newTrainer(t, settingsOf(t, "exact"), set, 2, false, rbm.Softmax)
	sets := Sets{Train: set}
	if test {
		sets.Test = set
	}
	h := NewHealth(tr.settings, sets, tr.Model(), Column{})
	h.truth = func() (float64, bool) { return 0, false }
	m := Metric{Name: "log_likelihood"}
	if estimate {
		m.Watch = func(*Trainer) {}
	}
	h.Watch(tr, []Metric{{Name: "mixing"}, m}, 100*judgedEvery)
	return h
}

// mixingEvaluator has a metric that warns that chains do not mix.
func mixingEvaluator() *Evaluator {
	return &Evaluator{Metrics: []Metric{{Name: "mixing", Warning: func(bool) *diag.Warning { return &diag.Warning{Kind: diag.Lagging} }}}}
}

// A likelihood that falls by more than a nat is reported once, after a thirtieth of the run. At the end the
// warning holds or is withdrawn. If the gap to the test rows grows too, the model overfits.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		train, test []float64 // one value for each evaluation; test nil: no test rows
		stdErr      float64   // of an estimate; 0: exact
		told        map[int]diag.Kind
		standing    diag.Kind
		withdrawn   bool
	}{
		"rises":     {train: []float64{-9, -8, -7, -7.9, -7.9, -7.9, -7.9, -7.9, -7.9, -7.9, -7.9}},
		"falls":     {train: []float64{-9, -8, -9.1, -9.1, -9.1, -9.1, -9.1, -9.1, -9.1, -9.1}, told: map[int]diag.Kind{6: FallKind}, standing: FallKind},
		"too late":  {train: []float64{-9, -8, -8, -8, -8, -9.1}, standing: FallKind},
		"dips":      {train: []float64{-9, -8, -9.1, -9.1, -9.1, -8.9, -9.1, -9.1, -9.1, -8}},
		"recovers":  {train: []float64{-9, -8, -9.1, -9.1, -9.1, -9.1, -9.1, -9.1, -8}, told: map[int]diag.Kind{6: FallKind}, withdrawn: true},
		"uncertain": {train: []float64{-9, -8, -9.2, -9.2, -9.2, -9.2, -9.2, -9.2, -9.2}, stdErr: 0.1},
		"certain":   {train: []float64{-9, -8, -9.3, -9.3, -9.3, -9.3, -9.3, -9.3, -9.3}, stdErr: 0.1, told: map[int]diag.Kind{6: FallKind}, standing: FallKind},
		"overfits": {train: []float64{-9, -8, -7, -7, -7, -7, -7, -7, -7}, test: []float64{-9, -8, -9.1, -9.1, -9.1, -9.1, -9.1, -9.1, -9.1},
			told: map[int]diag.Kind{6: OverfitKind}, standing: OverfitKind},
		"both fall": {train: []float64{-9, -8, -9.5, -9.5, -9.5, -9.5, -9.5, -9.5, -9.5}, test: []float64{-9, -8, -9.5, -9.5, -9.5, -9.5, -9.5, -9.5, -9.5},
			told: map[int]diag.Kind{6: FallKind}, standing: FallKind},
	} {
		h := judged(t, c.stdErr > 0, c.test != nil)
		v := mixingEvaluator()
		for i, x := range c.train {
			e := Evaluation{Step: judgedEvery * i, Values: []Value{{"log_likelihood_train", x}, {"log_likelihood_std_err", c.stdErr}}}
			if c.test != nil {
				e.Values = append(e.Values, Value{"log_likelihood_test", c.test[i]})
			}
			h.trainer.step = judgedEvery * i
			state, err := json.Marshal(h.HealthState) // as in a run that is resumed
			if err != nil {
				t.Fatal(err)
			}
			h.HealthState = HealthState{}
			if err := json.Unmarshal(state, &h.HealthState); err != nil {
				t.Fatal(err)
			}
			all, err := h.Early(context.Background(), e, v)
			if err != nil {
				t.Fatal(err)
			}
			kind := diag.Kind("")
			for _, w := range all {
				if w.Kind != diag.Lagging || i > 1 { // a single value does not decide yet
					kind += w.Kind
				}
			}
			if kind != c.told[i] {
				t.Errorf("%s: step %d says %q, want %q", name, i, kind, c.told[i])
			}
		}
		h.Open = h.Open[min(1, len(h.Open)):] // without the warning about mixing
		standing, withdrawn, err := h.Final(context.Background(), v)
		if err != nil {
			t.Fatal(err)
		}
		kind := diag.Kind("")
		for _, w := range standing {
			kind += w.Kind
		}
		if kind != c.standing || len(withdrawn) > 0 != c.withdrawn {
			t.Errorf("%s: at the end %v stands, want %q; withdrawn %v", name, standing, c.standing, withdrawn)
		}
	}
}

// If the distribution of the data is known, it decides. A run that ends within a nat of it has no warning
// about its likelihood; one that ends further below and no longer rises has one.
func TestJudgeByDistribution(t *testing.T) {
	for name, c := range map[string]struct {
		train     []float64
		stdErr    float64
		told      int // step of a warning during training; 0: none
		standing  diag.Kind
		withdrawn bool
	}{
		"reaches it":       {train: []float64{-9, -6, -5.5, -5, -5, -5, -5}},
		"falls to it":      {train: []float64{-3, -2, -3.5, -4.9, -4.9, -4.9, -4.9, -4.9, -4.9, -4.9}},
		"falls and learns": {train: []float64{-9, -4, -5.5, -5.5, -5.5, -5.5, -5.5, -5.5, -5.5, -5}, told: 70, withdrawn: true},
		"falls below it":   {train: []float64{-9, -4, -5.5, -5.5, -5.5, -5.5, -5.5, -5.5, -5.5, -5.5}, told: 70, standing: FallKind},
		"short of it":      {train: []float64{-9, -8, -7, -7, -6.5, -6.5, -6.5, -6.5, -6.5}, standing: ShortKind},
		"short, rising":    {train: []float64{-9, -8, -7, -6.9, -6.8, -6.7, -6.6, -6.5}},
		"uncertain":        {train: []float64{-9, -8, -7, -5.2, -5.2, -5.2, -5.2, -5.2}, stdErr: 0.2},
	} {
		h := judged(t, c.stdErr > 0, false)
		h.steps = shortSteps
		h.truth = func() (float64, bool) { return -4, true }
		v, told := &Evaluator{}, 0
		for i, x := range c.train {
			i *= shortSteps / 100
			h.trainer.step = i
			all, err := h.Early(context.Background(), Evaluation{Step: i, Values: []Value{{"log_likelihood_train", x}, {"log_likelihood_std_err", c.stdErr}}}, v)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) > 0 {
				told = i
			}
		}
		standing, withdrawn, err := h.Final(context.Background(), v)
		if err != nil {
			t.Fatal(err)
		}
		kind := diag.Kind("")
		for _, w := range standing {
			kind += w.Kind
		}
		if told != c.told || kind != c.standing || len(withdrawn) > 0 != c.withdrawn {
			t.Errorf("%s: told at step %d, want %d; at the end %v stands, want %q; withdrawn %v", name, told, c.told, standing, c.standing, withdrawn)
		}
	}
}

// A warning advises what the negative phase supports and the run does not do yet.
func TestRemedies(t *testing.T) {
	for kind, want := range map[string][]diag.Remedy{
		"cd":            {MoreGibbs, PersistentChains},
		"pcd":           {MoreGibbs, MoreChains, TunedLadder},
		"pins:tau=auto": {MoreSwaps, MoreChains},
		"exact":         nil,
	} {
		s := settingsOf(t, kind)
		m := rbm.New(4, 3, 0, rbm.Softmax)
		if got := Remedies(s, m); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	// With real inputs the ladder comes first, even before the rate.
	real := rbm.NewGroups(3, rbm.Group{Kind: rbm.Gaussian, Units: 4})
	s := settingsOf(t, "pcd")
	if got, want := advice(s, real), []diag.Remedy{TunedLadder, SmallerRate, LinearSchedule, MoreGibbs, MoreChains}; !slices.Equal(got, want) {
		t.Errorf("of real inputs: %q, want %q", got, want)
	}
	s.Schedule = "linear"
	m := rbm.New(4, 3, 0, rbm.Softmax)
	if got, want := advice(s, m), []diag.Remedy{SmallerRate, MoreGibbs, MoreChains, TunedLadder}; !slices.Equal(got, want) {
		t.Errorf("of bits: %q, want %q", got, want)
	}
	s = settingsOf(t, "im")
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 3}
	if got := Remedies(s, m); slices.Contains(got, TunedLadder) {
		t.Errorf("im under a constraint that pins refuses: %q", got)
	}
}

// A run with held-out rows is advised to use the best model. A run that stops there gets no such advice.
func TestOverfitAdvice(t *testing.T) {
	for _, c := range []struct {
		part  string
		stops bool
		best  int
		want  []diag.Remedy
	}{
		{"test", false, 0, []diag.Remedy{HoldOut, MoreRows}},
		{"holdout", false, 9, []diag.Remedy{UseBest, StopAfter, MoreRows}},
		{"holdout", true, 9, []diag.Remedy{UseBest, MoreRows}},
		{"holdout", true, 0, []diag.Remedy{MoreRows}},
	} {
		h := judged(t, false, true)
		h.parts[1].name, h.Stops = c.part, c.stops
		h.Other.BestStep, h.Pseudo.BestStep = c.best, c.best
		if got := h.overfit().Help; !slices.Equal(got[:len(c.want)], c.want) {
			t.Errorf("%+v: got %q, want %q first", c, got, c.want)
		}
	}
}

// Without a recent likelihood the warnings of metrics count, and the pseudo-likelihood of test rows shows
// overfitting.
func TestJudgeWithoutLikelihood(t *testing.T) {
	h := judged(t, true, true)
	v := mixingEvaluator()
	kinds := diag.Kind("")
	for i := range 40 {
		h.trainer.step = judgedEvery * i
		e := Evaluation{Step: judgedEvery * i, Values: []Value{{"pseudo_likelihood_train", -5}, {"pseudo_likelihood_test", -6}, {"free_energy_gap", 1}}}
		if i < 2 {
			e.Values = append(e.Values, Value{"log_likelihood_train", -9}, Value{"log_likelihood_std_err", 0.1})
		}
		if i >= 30 {
			e.Values[1].Value, e.Values[2].Value = -7.1, 2.1
		}
		all, err := h.Early(context.Background(), e, v)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range all {
			if w.Kind == OverfitKind {
				kinds += w.Kind
				want := diag.Numbers{"last": -7.1, "step": 680, "best": -6, "best_step": 0, "gap": 2.1 - 1}
				if i != 34 || w.Of[0] != "pseudo_likelihood_test" || !maps.Equal(w.Numbers, want) {
					t.Errorf("step %d: %v, want %v", i, w, want)
				}
			}
		}
		if heard := len(all) > 0 && all[len(all)-1].Kind == diag.Lagging; heard != (i == 0 || i > 21) { // at step 21 the last number is a fifth of the run old
			t.Errorf("step %d: mixing is heard: %v, want %v", i, heard, i == 0 || i > 21)
		}
	}
	if kinds != OverfitKind {
		t.Errorf("overfitting is told %q, want %q", kinds, OverfitKind)
	}
}

// The cause of a fall is found by training with the exact negative phase. Too few chains lag, chains that
// start at the data are too short, and if the exact negative phase falls too the rate is too high.
func TestFallCause(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for _, c := range []struct {
		data, negative string
		rate           float64
		most, updates  float64 // largest number of updates that all trials may make; number that they make
		want           diag.Kind
	}{
		{"toy:8,6,100,0.05:plain", "pcd:chains=10", 0.3, 1000, 200, LagCause},
		{"toy:8,6,100,0.05:plain", "pcd:chains=10", 0.3, leastTrial, leastTrial, LagCause},
		{"toy:8,6,100,0.05:plain", "pcd:chains=10", 0.3, leastTrial - 1, 0, UntestedCause},
		{"desjardins:0.001", "cd", 0.1, 1000, 200, ShortCause},
		{"toy:8,6,100,0.05:plain", "exact", 3, 1000, 0, ExactRateCause},
		{"toy:8,6,100,0.05:plain", "cd:k=20", 3, 1000, 200, RateCause},
	} {
		set := toy(t, c.data)
		s := settingsOf(t, c.negative)
		s.Rate, s.Batch = c.rate, 20
		tr := newTrainer(t, s, set, 10, false, rbm.Softmax)
		metrics, err := NewRunMetrics([]string{"log_likelihood"}, tr.Model(), Sets{Train: set}, s)
		if err != nil {
			t.Fatal(err)
		}
		const steps = 4000
		h := NewHealth(s, Sets{Train: set}, tr.Model(), metrics[0].Columns[0])
		h.Watch(tr, metrics, steps)
		h.TrialTerms = c.most * h.enumeration
		v := &Evaluator{Metrics: metrics, Every: steps / 20}
		var told []diag.Warning
		hear := func(all []diag.Warning, err error) error {
			told = append(told, all...)
			return err
		}
		v.Report = func(e Evaluation) error { return hear(h.Early(context.Background(), e, v)) }
		run(t, tr, steps, func(ctx context.Context, e Event) error {
			return errors.Join(hear(h.Observe(ctx, e.Step, v.Every)), v.Observe(ctx, e))
		})
		if points := steps / h.every; points > watchPoints || h.Train.N < points {
			t.Errorf("%s: the likelihood is watched every %d steps, %d times", c.negative, h.every, h.Train.N)
		}
		if len(told) == 0 || told[0].Kind != FallKind || told[0].Cause.Kind != c.want {
			t.Errorf("%s, rate %v: %v, want a fall by %q", c.negative, c.rate, told, c.want)
		}
		if h.Terms != c.updates*h.enumeration {
			t.Errorf("%s, at most %v updates: there were %v, want %v: %v", c.negative, c.most, h.Terms/h.enumeration, c.updates, told)
		}
		if r := h.Trial; r != nil && (r.Step <= 0 || r.Lost <= 0 || r.From+r.Lost > h.Train.Best+1e-9 || r.From+r.Gain >= 0) {
			t.Errorf("%s, rate %v: got the trial %+v, want one of a loss from at most the best, %v", c.negative, c.rate, *r, h.Train.Best)
		}
	}
}

// A loss is reported when it has lasted for a thirtieth of the run, and for 50 steps in short runs.
func TestLasts(t *testing.T) {
	for _, c := range []struct {
		since, last, steps int
		want               bool
	}{{100, 149, 300, false}, {100, 150, 300, true}, {100, 299, 6000, false}, {100, 300, 6000, true}, {0, 300, 300, false}} {
		k := track{Since: c.since, LastStep: c.last}
		if got := k.lasts(c.steps); got != c.want {
			t.Errorf("a loss from step %d to %d of %d is reported: %v, want %v", c.since, c.last, c.steps, got, c.want)
		}
	}
}

// The error of the best value is that of its own measurement, and not that of the last.
func TestErrorOfTheBest(t *testing.T) {
	var k track
	for i, v := range []float64{-5, -3, -4} {
		k.add(10*(i+1), v, float64(i), float64(i+1)/10, func(*track) bool { return false })
	}
	if k.Best != -3 || k.BestErr != 0.2 || k.BestStep != 20 || k.BestGap != 1 || k.LastErr != 0.3 {
		t.Errorf("best %v ± %v at step %d with gap %v, last ± %v; want -3 ± 0.2 at step 20 with gap 1, last ± 0.3", k.Best, k.BestErr, k.BestStep, k.BestGap, k.LastErr)
	}
}
