package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gorbm/negphase/logz"
	"gorbm/rbm"
)

// A liveLikelihood estimates the log-likelihood of models that are too large to
// enumerate. Where the ladder of the run ends at β = 0, where log Z is known, its
// own particles give log Z: a copy of it goes on while the model stands still, the
// one that the metric mixing looks at. Other runs have a ladder for the purpose,
// whose chains and temperatures are kept from one measurement to the next.
//
// The standard error is that of chains that have settled. On MNIST with 500 hidden
// units, at a rate of 0.02, chains that lagged by a standard deviation of their free
// energy gave likelihoods that were too high by 4 to 14 nats, at errors below 1; a
// ladder beside a run of pcd, later in it, by 3 nats.
type liveLikelihood struct {
	s    *subject
	key  rbm.Key
	base *rbm.Base
	own  bool // the particles are those of the run
	liveState
}

// A liveState is what the next measurement depends on, beside the run.
type liveState struct {
	Step     int                `json:"step"`   // of the last measurement
	LogZ     string             `json:"log_z"`  // and what it said: JSON has no NaN
	StdErr   string             `json:"error"`  // of LogZ
	Doubt    string             `json:"doubt"`  // why there is no number
	Warned   bool               `json:"warned"` // of it
	Follower logz.FollowerState `json:"follower"`
}

// ownLadder reports whether the particles of a run of these settings give log Z:
// those of at least two groups at temperatures that end at β = 0. The moving average
// of parameters is another model than theirs.
func ownLadder(s Settings) bool {
	l := s.Negative.Ladder()
	t := l.Temperatures
	known := t.Auto && !t.Reach && l.Hottest == 0 || len(t.List) > 0 && math.IsInf(t.List[len(t.List)-1], 1)
	return known && s.Negative.Count("chains") >= 2 && s.Average == 0
}

// measure returns the mean log-likelihood of each part and the standard error that
// all have from log Z. They are NaN where there is no number, and where the run has
// taken too few updates since the last measurement. With whole the rows are all.
func (x *liveLikelihood) measure(ctx context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
	t := x.s.trainer
	if t == nil {
		return nil, errors.New("log_likelihood of a large model is estimated along a run; give its trainer to Watch")
	}
	nan := make([]float64, len(x.s.parts)+1)
	for i := range nan {
		nan[i] = math.NaN()
	}
	logZ, stdErr := math.NaN(), math.NaN()
	if whole && x.Step == t.step && x.LogZ != "" {
		fmt.Sscan(x.LogZ, &logZ)
		fmt.Sscan(x.StdErr, &stdErr)
	} else {
		updates := mostContinued
		if x.own {
			if updates = continuedUpdates(t.step-x.Step, whole); updates == 0 {
				return nan, nil
			}
		}
		b, err := x.bracket(ctx, m, updates)
		if ctx.Err() != nil || errors.Is(err, rbm.ErrDiverged) {
			return nil, err
		}
		logZ, stdErr, _ = b.Best()
		x.Step, x.LogZ, x.StdErr, x.Doubt = t.step, fmt.Sprint(logZ), fmt.Sprint(stdErr), ""
		if math.IsNaN(logZ) {
			x.Doubt = fmt.Sprintf("there is no log-likelihood at step %d: %s", t.step, reason(b, err))
		}
	}
	if math.IsNaN(logZ) {
		return nan, nil
	}
	work := rowWork
	if whole {
		work = 0
	}
	return append(x.s.each(func(p part) float64 { return -Mean(p.freeEnergies(m, work)) - logZ }), stdErr), nil
}

// reason says why a bracket has no number.
func reason(b logz.Bracket, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case len(b.Warnings) > 0:
		return b.Warnings[0].String()
	}
	return "log Z has no estimate"
}

// bracket estimates log Z of m.
func (x *liveLikelihood) bracket(ctx context.Context, m *rbm.RBM, updates int) (logz.Bracket, error) {
	t := x.s.trainer
	bound := math.Inf(-1)
	if p := x.s.parts[0]; !x.s.isGrey() {
		rows := p.set.Rows(p.rows(m, rowWork), m.Classes())
		free := make([]float64, rows.Rows())
		m.FreeEnergy(free, rows)
		bound = logz.LowerBound(free, rows.Bits)
	}
	if !x.own {
		f := logz.NewFollower(x.base)
		f.FollowerState = x.Follower
		b, err := f.Estimate(ctx, m, bound, x.key.Child(uint64(t.step)))
		x.Follower = f.FollowerState
		return b, err
	}
	c, err := x.s.follow(ctx, updates)
	if err != nil {
		return logz.Bracket{}, err
	}
	return c.tally.LogZ(m, t.settings.Negative.Ladder().Base, nil, bound)
}

// warn returns why the last measurement has no number, and "" if it has one. While
// training goes on, only the first is returned.
func (x *liveLikelihood) warn(end bool) string {
	if x.Doubt == "" || !end && x.Warned {
		return ""
	}
	x.Warned = x.Warned || !end
	return x.Doubt
}

// liveMetric completes the metric log_likelihood of a model that cannot be enumerated.
func liveMetric(s *subject, m *Metric) {
	x := &liveLikelihood{s: s, key: s.key.Child(likelihoodKey), own: ownLadder(s.run)}
	s.tallies = x.own
	m.Columns = []Column{
		{Name: "log_likelihood", Label: "estimated log-likelihood", Format: "%.5g", First: true, Estimate: true, Axis: "log-likelihood, estimated / nats", Rank: 1,
			Unit: " nats (" + s.train().Binarize + "; log Z from " + x.source() + ")"},
		{Name: "log_likelihood_std_err", Single: true, Label: "standard error of the log-likelihood", Format: "%.2g", Unit: " nats, from log Z"},
	}
	if s.isGrey() {
		m.Columns[0].Label, m.Columns[0].Axis = "estimated score −F − log Z", "score −F − log Z, estimated / nats"
		m.Columns[0].Unit = " nats (grey values kept: no likelihood; log Z from " + x.source() + ")"
	}
	m.Watch = func(t *Trainer) {
		s.watch(t)
		x.base = Base(t.model, t.set)
	}
	m.Measure, m.Warning, m.Memory = x.measure, x.warn, &x.liveState
}

// source says where log Z comes from.
func (x *liveLikelihood) source() string {
	if x.own {
		return "the ladder of the run"
	}
	return "a ladder beside the run"
}
