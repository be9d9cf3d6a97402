package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/finitejson"
	"gorbm/rbm/partition"
)

// A Candidate is a choice of settings, with the score of a short training run. The model was scored on rows that it was not trained on.
type Candidate struct {
	Hidden int     `json:"hidden"`
	Rate   float64 `json:"rate"`
	L2     float64 `json:"l2"`
	Steps  int     `json:"steps"`

	// Score is the mean log-likelihood of the held-out rows in nats; for models with labels it is the mean
	// log p(y|x). It is −Inf if the run diverged. StdErr is the standard error of log Z.
	Score  finitejson.Number `json:"score"`
	StdErr finitejson.Number `json:"std_err"`
}

// bound returns the score less the standard error of log Z. AIS with few effective chains gives a log Z that
// is too low, so that the likelihood of a sharp model seems too high.
func (t Candidate) bound() float64 { return float64(t.Score - t.StdErr) }

// A Search chooses the number of hidden units, the learning rate, the L2 penalty and the number of steps for
// a data set, by trials that are judged on held-out rows. It is successive halving (Jamieson & Talwalkar,
// AISTATS 2016): all candidates are trained for Steps steps; the better half is trained again, from the
// start, for twice as many, and so on. A candidate that gets worse is dropped, because it overfits. At the
// end, neighbours of the best trial are tried. The search ends when Work is spent.
//
// The budget is counted in multiply-adds, not in seconds. So equal settings give identical trials on any
// machine.
type Search struct {
	Train, Held *data.Set
	// Base has the settings that all trials share. A trial replaces Rate, L2 and Horizon, and adapts Average
	// as Preset.Over does.
	Base Settings
	// NewModel returns the model that a trial starts from.
	NewModel func(hidden int) *rbm.RBM

	Hidden     []int     // candidates for the number of hidden units
	Rates      []float64 // candidates for the learning rate
	L2         []float64 // candidates for the penalty
	Steps      int       // number of steps of the first trials
	MostSteps  int       // the largest number of steps of a trial
	MostHidden int       // the largest number of hidden units of a trial

	// Known is what is used without a search, at its full length. It is tried after the candidates, so that
	// the choice is no worse; nil: there is none.
	Known *Candidate

	// Work is the number of multiply-adds that all trials may take together, judging and a run with the
	// settings of the last trial included. The first trial is done in any case.
	Work float64
	// Progress is called after each trial with the fraction of Work that is spent; it may be nil.
	Progress func(spent float64, trials int, best Candidate)

	spent  float64
	trials []Candidate
	held   measuredSet
}

// Trials with labels or with a log Z by enumeration need no annealing. Others are judged by AIS with these
// settings. On the sets nips, mushrooms and dna of experiments/benchmarks, standard errors of log Z were
// .02 to .3 nats, where the best and the median candidate are 5 to 40 nats apart.
const (
	judgeChains, judgeTemperatures = 100, 1000
	// judgeTerms bounds the terms of an enumeration in place of AIS.
	judgeTerms = 1 << 24
)

// FirstWork returns the multiply-adds of the first trials, one of each candidate.
func (s *Search) FirstWork() (sum float64) {
	for _, hidden := range s.Hidden {
		sum += float64(s.work(s.NewModel(hidden), s.Steps) * float64(len(s.Rates)*len(s.L2)))
	}
	return sum
}

// Run does the trials. It returns the best and all of them in order. The error is that of ctx, or of settings
// that no trial can have.
func (s *Search) Run(ctx context.Context) (best Candidate, all []Candidate, err error) {
	live, err := s.first(ctx)
	for len(live) > 0 && err == nil {
		live, err = s.promote(ctx, live)
	}
	if err == nil && s.Known != nil {
		_, _, err = s.try(ctx, *s.Known)
	}
	if err == nil {
		err = s.refine(ctx)
	}
	if err != nil {
		return Candidate{}, s.trials, err
	}
	best = s.best()
	if math.IsInf(float64(best.Score), -1) {
		return best, s.trials, fmt.Errorf("%w in all %d trials", rbm.ErrDiverged, len(s.trials))
	}
	return best, s.trials, nil
}

// first trains all candidates for Steps steps.
func (s *Search) first(ctx context.Context) (live []Candidate, err error) {
	for _, hidden := range s.Hidden {
		for _, rate := range s.Rates {
			for _, l2 := range s.L2 {
				t, ok, err := s.try(ctx, Candidate{Hidden: hidden, Rate: rate, L2: l2, Steps: s.Steps})
				if err != nil {
					return nil, err
				}
				if ok {
					live = append(live, t)
				}
			}
		}
	}
	return live, nil
}

// promote trains the better half of live for twice as many steps. It returns the trials that improved.
func (s *Search) promote(ctx context.Context, live []Candidate) (improved []Candidate, err error) {
	sortCandidates(live)
	for _, t := range live[:(len(live)+1)/2] {
		longer := t
		if longer.Steps *= 2; longer.Steps > s.MostSteps {
			continue
		}
		longer, ok, err := s.try(ctx, longer)
		if err != nil {
			return nil, err
		}
		if ok && longer.bound() > t.bound()+float64(worthwhile*math.Abs(float64(t.Score))) {
			improved = append(improved, longer)
		}
	}
	return improved, nil
}

// refine tries neighbours of the best trial, until none is better by more than the error of log Z. It keeps
// what has a single candidate, and the number of steps if it cannot grow.
func (s *Search) refine(ctx context.Context) error {
	hidden, rates, l2, steps := len(s.Hidden) > 1, len(s.Rates) > 1, len(s.L2) > 1, s.MostSteps > s.Steps
	neighbours := []struct {
		free bool
		step func(t *Candidate)
	}{
		{l2, func(t *Candidate) { t.L2 *= 4 }},
		{l2, func(t *Candidate) { t.L2 /= 4 }},
		{rates, func(t *Candidate) { t.Rate /= 2 }},
		{steps, func(t *Candidate) { t.Steps /= 2 }},
		{rates, func(t *Candidate) { t.Rate *= 2 }},
		{hidden, func(t *Candidate) { t.Hidden = max(1, t.Hidden/2) }},
		{hidden, func(t *Candidate) { t.Hidden = min(2*t.Hidden, s.MostHidden) }},
	}
	for {
		best := s.best()
		for _, n := range neighbours {
			t := best
			if n.step(&t); !n.free || t.Steps < shortest {
				continue
			}
			if _, _, err := s.try(ctx, t); err != nil {
				return err
			}
		}
		if s.best().bound() <= best.bound()+float64(best.StdErr) {
			return nil
		}
	}
}

// worthwhile is the gain, as a fraction of the score, for which a trial of twice the length pays.
const worthwhile = 1e-3

// shortest is the least number of steps of a trial.
const shortest = 100

// try does the trial t, unless it was done before or the budget does not suffice for it.
func (s *Search) try(ctx context.Context, t Candidate) (Candidate, bool, error) {
	same := func(o Candidate) bool {
		return o.Hidden == t.Hidden && o.Rate == t.Rate && o.L2 == t.L2 && o.Steps == t.Steps
	}
	if slices.ContainsFunc(s.trials, same) {
		return t, false, nil
	}
	m := s.NewModel(t.Hidden)
	work := s.work(m, t.Steps)
	if s.spent+2*work > s.Work && len(s.trials) > 0 { // the trial, and a run of its length
		return t, false, nil
	}
	t.Score, t.StdErr = finitejson.Number(math.Inf(-1)), 0
	score, stdErr, err := s.score(ctx, m, t)
	switch {
	case errors.Is(err, rbm.ErrDiverged):
	case err != nil:
		return t, false, err
	default:
		t.Score, t.StdErr = finitejson.Number(score), finitejson.Number(stdErr)
	}
	s.spent += work
	s.trials = append(s.trials, t)
	if s.Progress != nil {
		s.Progress(min(1, s.spent/s.Work), len(s.trials), s.best())
	}
	return t, true, nil
}

// score trains m as t says, and scores it on the held-out rows.
func (s *Search) score(ctx context.Context, m *rbm.RBM, t Candidate) (score, stdErr float64, err error) {
	settings := s.Base.over(t.Steps)
	settings.Rate, settings.L2 = t.Rate, t.L2
	trainer, err := New(settings, s.Train, m)
	if err != nil {
		return 0, 0, err
	}
	if err := trainer.Run(ctx, t.Steps); err != nil {
		return 0, 0, err
	}
	m = trainer.Model()
	if m.Classes() > 0 {
		return Classify(m, s.Held, s.Held.Labelled()).MeanLogP, 0, nil
	}
	key := rbm.NewKey(s.Base.Seed).Child(searchKey)
	var logZ float64
	if e, enumErr := exact.New(m, exact.EvaluationLimit); enumErr == nil && e.Work() <= judgeTerms {
		logZ, err = e.LogZ(ctx, nil)
	} else {
		var a partition.Annealed
		a, err = partition.AIS(ctx, m, partition.Annealing{Chains: judgeChains, Temperatures: judgeTemperatures, Pilot: judgeChains / 2, Base: Base(m, s.Train)}, key, nil)
		logZ, stdErr = a.LogZ, a.StdErr
	}
	if err != nil {
		return 0, 0, err
	}
	if s.held.set == nil {
		s.held = newMeasuredSet("holdout", s.Held, m, key.Child(0))
	}
	free, err := s.held.freeEnergy(ctx, m, rowWork)
	return -free - logZ, stdErr, err
}

// searchKey is the purpose of the key of a search.
const searchKey = 1<<32 + 16

// work returns the multiply-adds of a trial.
func (s *Search) work(m *rbm.RBM, steps int) float64 {
	return s.Base.Work(steps, m.Visible(), m.Hidden()) + float64(2*judgeChains*(judgeTemperatures+judgeTemperatures/2)*float64(m.Visible()*m.Hidden()))
}

func (s *Search) best() Candidate {
	all := slices.Clone(s.trials)
	sortCandidates(all)
	return all[0]
}

// sortCandidates sorts the best trial first. Equal trials keep their order.
func sortCandidates(all []Candidate) {
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(b.bound(), a.bound()) })
}
