package train

import (
	"context"
	"errors"
	"math"

	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/finitejson"
)

// A liveLikelihood estimates the log-likelihood of models that are too large to enumerate, during a run. If
// the run's ladder ends at β = 0, where log Z is known, a copy of the ladder gives log Z: it continues on
// the fixed model until its chains are in equilibrium. Other runs get a separate ladder, whose chains and
// temperatures persist from one measurement to the next.
//
// The chains of a run lag behind its model. With such chains, estimates of log Z are too low and estimates
// of the likelihood are too high. logz.Tally therefore tests whether the chains have settled, and gives no
// number if they have not.
type liveLikelihood struct {
	s     *subject
	key   rbm.Key
	ofRun bool               // the ladder is a copy of the run's
	copy  negphase.Estimator // copy of the run's estimator
	liveState
}

// A liveState is what the next measurement depends on in addition to the run.
type liveState struct {
	Step     int                `json:"step"`             // step of the last measurement
	Rounds   int                `json:"rounds,omitempty"` // number of rounds of the run's ladder in the next estimate
	Owed     int                `json:"owed,omitempty"`   // number of rounds by which the last estimate exceeded its Rounds
	LogZ     finitejson.Number  `json:"log_z"`            // last estimate; NaN: none
	StdErr   finitejson.Number  `json:"error"`            // standard error of LogZ
	Doubt    *diag.Warning      `json:"why,omitempty"`    // why the last measurement has no number; nil if it has one
	Warned   bool               `json:"warned"`           // a Doubt was reported during the run
	Follower logz.FollowerState `json:"follower"`
}

// The number of rounds for which the run's ladder continues in a measurement.
const (
	// For every likelihoodShare updates since the last measurement, the next may make one round. A round
	// has neither the positive phase nor the ascent of an update, so that measurements cost less than a
	// tenth of the time of training.
	likelihoodShare = 12
	// The first measurement makes roundsOf rounds for each temperature, but at least leastRounds and at
	// most mostRounds. On MNIST (see logz.Tally) ladders of 16 to 30 temperatures settled within 100 to 800
	// rounds.
	roundsOf                = 16
	leastRounds, mostRounds = 100, 2000
	// The first 1/settleShare of the rounds is discarded. If the chains have not settled by the end, the
	// ladder continues for as many rounds again, and the next measurement is postponed accordingly.
	settleShare = 4
	// The next measurement makes as many rounds as would give each group an effective sample size of
	// enoughDraws, but at most twice and at least half as many as this measurement.
	enoughDraws = 30
)

// ownLadder reports whether the ladder of a run with these settings can give log Z: it has at least two
// groups, and temperatures that end at β = 0. It is false if parameters are averaged, because the chains
// are not those of the averaged model.
func ownLadder(s Settings) bool {
	l := s.Negative.Ladder()
	t := l.Temperatures
	known := t.Auto && !t.Reach && l.Hottest == 0 || len(t.List) > 0 && math.IsInf(t.List[len(t.List)-1], 1)
	return known && s.Negative.Count("chains") >= 2 && s.Average == 0
}

// measure returns the mean log-likelihood of each part, and their common standard error, which is that of
// log Z. They are NaN if there is no estimate, or if too few updates have been made since the last
// measurement. If whole is set, it uses all rows, and the run's ladder continues for longer.
func (x *liveLikelihood) measure(ctx context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
	t := x.s.trainer
	if t == nil {
		return nil, errors.New("log_likelihood of a large model is estimated along a run; give its trainer to Watch")
	}
	nan := make([]float64, len(x.s.parts)+1)
	for i := range nan {
		nan[i] = math.NaN()
	}
	var logZ, stdErr float64
	if whole && x.Step == t.step && !math.IsNaN(float64(x.LogZ)) {
		logZ, stdErr = float64(x.LogZ), float64(x.StdErr)
	} else {
		rounds := x.rounds()
		if whole {
			rounds = clampRounds(max(rounds, t.step/likelihoodShare))
		} else if x.ofRun && (rounds+x.Owed)*likelihoodShare > t.step-x.Step {
			return nan, nil
		}
		b, err := x.bracket(ctx, m, rounds)
		if ctx.Err() != nil || errors.Is(err, rbm.ErrDiverged) {
			return nil, err
		}
		logZ, stdErr, _ = b.Best()
		x.Step, x.LogZ, x.StdErr, x.Doubt = t.step, finitejson.Number(logZ), finitejson.Number(stdErr), nil
		if math.IsNaN(logZ) {
			x.Doubt = &diag.Warning{Kind: NoLikelihoodKind, Numbers: diag.Numbers{"step": float64(t.step)}, Cause: reason(b, err)}
		}
	}
	if math.IsNaN(logZ) {
		return nan, nil
	}
	work := rowWork
	if whole {
		work = 0
	}
	values, err := x.s.logLikelihoods(ctx, m, work, logZ)
	if err != nil {
		return nil, err
	}
	return append(values, stdErr), nil
}

// reason returns why there is no estimate of log Z, or nil if that is unknown.
func reason(b logz.Bracket, err error) *diag.Warning {
	var w diag.Warning
	switch {
	case err != nil:
		w = diag.Failed(err)
	case len(b.Warnings) > 0:
		w = b.Warnings[0].Finite()
	default:
		return nil
	}
	return &w
}

// bracket estimates log Z of m. rounds is the length of the estimate if the ladder is the run's.
func (x *liveLikelihood) bracket(ctx context.Context, m *rbm.RBM, rounds int) (logz.Bracket, error) {
	t := x.s.trainer
	bound := math.Inf(-1)
	if p := x.s.parts[0]; !x.s.isGrey() {
		rows := p.set.Rows(p.rows(m, rowWork), m.Classes())
		free := make([]float64, rows.Rows)
		m.FreeEnergy(free, rows)
		bound = logz.LowerBound(free, rows)
	}
	if !x.ofRun {
		f := logz.NewFollower(ModelBase(m, t.set))
		f.FollowerState = x.Follower
		b, err := f.Estimate(ctx, m, bound, x.key.Child(uint64(t.step)))
		x.Follower = f.FollowerState
		return b, err
	}
	return x.settle(ctx, m, rounds, bound)
}

// rounds returns the number of rounds of the next measurement.
func (x *liveLikelihood) rounds() int {
	if l, ok := x.s.trainer.negative.(negphase.Tempered); ok && x.Rounds == 0 {
		return clampRounds(roundsOf * len(l.Ladder().Beta))
	}
	return x.Rounds
}

func clampRounds(n int) int { return min(max(n, leastRounds), mostRounds) }

// settle continues a copy of the run's ladder on m for the given number of rounds, or for twice as many if
// the chains have not settled, and estimates log Z from it.
func (x *liveLikelihood) settle(ctx context.Context, m *rbm.RBM, rounds int, bound float64) (logz.Bracket, error) {
	t := x.s.trainer
	var err error
	if x.copy, err = t.copyNegative(x.copy); err != nil {
		return logz.Bracket{}, err
	}
	ladder := x.copy.(negphase.Tempered) // see ownLadder
	groups, key := t.settings.Negative.Count("chains"), x.key.Child(uint64(t.step))
	var tally *logz.Tally
	var b logz.Bracket
	done := 0
	for again := range 2 {
		for end := rounds * (1 + again); done < end; done++ {
			if err := ctx.Err(); err != nil {
				return logz.Bracket{}, err
			}
			if _, _, err := ladder.Estimate(m, t.batch, key.Child(uint64(done))); err != nil {
				return logz.Bracket{}, err
			}
			if tally == nil {
				tally = logz.NewTally(ladder, groups)
			}
			tally.Add()
		}
		tally.Drop(rounds / settleShare) // a quarter of the rounds so far, both times
		if b, err = tally.LogZ(m, t.settings.Negative.Ladder().Base, nil, bound); err != nil {
			return logz.Bracket{}, err
		}
		if logZ, _, _ := b.Best(); !math.IsNaN(logZ) {
			break
		}
	}
	x.Owed = done - rounds
	need := float64(enoughDraws*groups) / max(1, b.Bennett.ESS) * float64(done)
	x.Rounds = clampRounds(min(2*rounds, max(rounds/2, int(need))))
	return b, nil
}

// NoLikelihoodKind is the kind of a warning that a measurement of the log-likelihood has no number.
const NoLikelihoodKind diag.Kind = "no_likelihood"

// warn returns why the last measurement has no number, or nil if it has one. During training it returns
// only the first such warning.
func (x *liveLikelihood) warn(end bool) *diag.Warning {
	if x.Doubt == nil || !end && x.Warned {
		return nil
	}
	x.Warned = x.Warned || !end
	return x.Doubt
}

// liveMetric completes the metric log_likelihood of a model that is not enumerated.
func liveMetric(s *subject, m *Metric) {
	x := &liveLikelihood{s: s, key: s.key.Child(likelihoodKey), ofRun: ownLadder(s.run)}
	x.LogZ = finitejson.Number(math.NaN())
	m.Columns = []Column{
		{Name: "log_likelihood", Label: "estimated log-likelihood", Format: "%.5g", First: true, Estimate: true, Axis: "log-likelihood, estimated / nats", Rank: 1,
			Good: "Higher is better. The band is twice the standard error of log Z; there is no point where the chains had not settled.",
			Unit: " nats (" + s.train().Binarize + "; log Z from " + x.source() + ")"},
		{Name: "log_likelihood_std_err", Single: true, Label: "standard error of the log-likelihood", Format: "%.2g", Unit: " nats, from log Z"},
	}
	if s.isGrey() {
		m.Columns[0].Label, m.Columns[0].Axis = "estimated score −F − log Z", "score −F − log Z, estimated / nats"
		m.Columns[0].Unit = " nats (grey values kept: no likelihood; log Z from " + x.source() + ")"
	}
	m.Watch = s.watch
	m.Measure, m.Warning, m.Memory = x.measure, x.warn, &x.liveState
}

// source says where log Z comes from.
func (x *liveLikelihood) source() string {
	if x.ofRun {
		return "the ladder of the run"
	}
	return "a separate ladder"
}
