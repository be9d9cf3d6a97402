package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/finitejson"
	"gorbm/rbm/ranks"
)

// maxChains is the largest value of -chains. The measurements of a chain take some megabytes.
const maxChains = 1 << 12

// A chainRun has the measurements of all samplers in one of the chains of -chains.
type chainRun struct {
	Samplers []*measured
	Stopped  bool // the context ended before the run did
}

// sampleChains runs the samplers once for each chain, each time in a separate race. Chains are
// divided among the ranks. If the context ends, sampleChains keeps all measurements made so far and returns
// context.Canceled.
func (p *plan) sampleChains(ctx context.Context, now clock) error {
	mine := (p.chains + p.group.Size() - 1) / p.group.Size() // largest number of chains of this rank
	done := 0
	return ranks.Deal(p.group, p.chains, func(chain int) (r chainRun, err error) {
		field := p.contestants
		if chain > 0 {
			if field, err = p.newContestants(chain); err != nil {
				return r, err
			}
		}
		err = p.sample(ctx, field, now, float64(done)/float64(mine), 1/float64(mine))
		r.Stopped = errors.Is(err, context.Canceled)
		done++
		for _, c := range field {
			r.Samplers = append(r.Samplers, &c.measured)
		}
		if r.Stopped {
			err = nil
		}
		return r, err
	}, func(_ int, r chainRun) error {
		if r.Samplers[0].Info.Moves > 0 {
			p.runs = append(p.runs, r.Samplers)
		}
		if r.Stopped {
			return context.Canceled
		}
		return nil
	})
}

// keyOf returns the key of a chain. The key of the first chain does not depend on -chains.
func (p *plan) keyOf(chain int) rbm.Key {
	key := rbm.NewKey(p.seed)
	if chain > 0 {
		key = key.Child(chainKey).Child(uint64(chain))
	}
	return key
}

// pool combines the summaries of independent series with the same distribution.
func pool(parts []diag.Summary) diag.Summary {
	if len(parts) == 1 {
		return parts[0]
	}
	var all diag.Summary
	for _, s := range parts {
		all.N += s.N
		all.Effective += s.Effective
		all.Slow = all.Slow || s.Slow
		all.Time.Window = max(all.Time.Window, s.Time.Window)
	}
	for _, s := range parts {
		all.Mean += float64(float64(s.N) / float64(all.N) * s.Mean)
	}
	var mean, tau float64 // squared standard errors
	for _, s := range parts {
		w := float64(s.N) / float64(all.N)
		d := s.Mean - all.Mean
		all.Variance += float64(w * (s.Variance + float64(d*d)))
		all.Time.Tau += float64(w * s.Time.Tau)
		mean += float64(float64(w*s.StdErr) * float64(w*s.StdErr))
		tau += float64(float64(w*s.Time.StdErr) * float64(w*s.Time.StdErr))
	}
	all.StdErr, all.Time.StdErr = math.Sqrt(mean), math.Sqrt(tau)
	return all
}

// summary combines the summaries of a trace over the chains. trace selects it.
func (r row) summary(trace func(m *measured) *diag.Trace) diag.Summary {
	parts := make([]diag.Summary, len(r.runs))
	for i, m := range r.runs {
		parts[i] = trace(m).Summary()
	}
	return pool(parts)
}

// statesSummary converts s, the summary of a series of means over the states of each move, into the summary
// of the states. The variance of the states is larger by within, the mean variance within a move. The error
// of the mean does not change. Effective, the number of independent states with that error, grows by the same
// ratio as the variance, and τ falls by that ratio.
func statesSummary(s diag.Summary, within float64) diag.Summary {
	if !(within > 0) || !(s.Variance > 0) {
		return s
	}
	ratio := 1 + within/s.Variance
	s.Variance *= ratio
	s.Effective *= ratio
	s.Time.Tau /= ratio
	s.Time.StdErr /= ratio
	return s
}

// mean returns the mean of an estimate over the chains, weighted by their numbers of moves. value computes
// the estimate of a chain.
func (r row) mean(value func(o *observables) estimate) estimate {
	if len(r.runs) == 1 {
		return value(r.runs[0].Observables)
	}
	var x estimate
	squares := 0.0
	for _, m := range r.runs {
		w := float64(m.Trace.Len()) / float64(r.N)
		e := value(m.Observables)
		x.mean += float64(w * e.mean)
		squares += float64(float64(w*e.err) * float64(w*e.err))
	}
	x.err = math.Sqrt(squares)
	return x
}

// agreement returns the p-value of the differences between the mean energies of the chains, by a χ² test, or
// NaN if there is one chain or an error is unknown.
func (r row) agreement() float64 {
	if len(r.runs) < 2 {
		return math.NaN()
	}
	var weights, mean, chi float64
	parts := make([]diag.Summary, len(r.runs))
	for i, m := range r.runs {
		parts[i] = m.Trace.Summary()
		w := 1 / float64(parts[i].StdErr*parts[i].StdErr)
		weights += w
		mean += float64(w * parts[i].Mean)
	}
	mean /= weights
	for _, s := range parts {
		d := (s.Mean - mean) / s.StdErr
		chi += float64(d * d)
	}
	if math.IsNaN(chi) || math.IsInf(chi, 0) {
		return math.NaN()
	}
	return distuv.ChiSquared{K: float64(len(parts) - 1)}.Survival(chi)
}

// agree checks that no rank has failed, and that all ranks have the same system and policy, which may come
// from files. failed is the error of this rank or nil.
func (p *plan) agree(g *ranks.Group, failed error) error {
	if g.Size() == 1 || failed != nil {
		return g.Agree(failed)
	}
	system, policy := sha256.New(), sha256.New()
	for _, c := range p.contestants {
		fmt.Fprint(system, c.system.Energy(), c.shift)
		for i := range c.system.Len() {
			fmt.Fprint(system, " ", c.system.FlipCost(i))
		}
	}
	if p.tuning != nil {
		if err := finitejson.Write(policy, p.tuning.policy, ""); err != nil {
			return g.Agree(err)
		}
	}
	return g.Agree(nil, ranks.Fact{Name: "system", Sum: [32]byte(system.Sum(nil))}, ranks.Fact{Name: "policy", Sum: [32]byte(policy.Sum(nil))})
}
