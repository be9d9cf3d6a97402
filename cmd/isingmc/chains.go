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

// maxChains bounds -chains: what a chain has measured takes some megabytes.
const maxChains = 1 << 12

// A chainRun is what the samplers have measured in one of the chains of -chains.
type chainRun struct {
	Samplers []*measured
	Stopped  bool // before its end
}

// sampleChains runs the samplers once for each chain, each in a separate race. Several ranks
// share the chains. The error is context.Canceled if one was stopped; those that measured
// something are kept.
func (p *plan) sampleChains(ctx context.Context, now clock) error {
	mine := (p.chains + p.group.Size() - 1) / p.group.Size() // at most
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

// pool returns the summary of independent series of one distribution.
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
	var mean, tau float64 // squares of errors
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

// summary returns the summary of a trace that each chain has.
func (r row) summary(of func(m *measured) *diag.Trace) diag.Summary {
	parts := make([]diag.Summary, len(r.runs))
	for i, m := range r.runs {
		parts[i] = of(m).Summary()
	}
	return pool(parts)
}

// ofStates turns the summary of a series, each value of which is a mean over the states of a move, into
// one of the states themselves. Their variance is larger by within, the mean variance within a move. The
// number of effective values is that of independent states with the same error, and τ follows from it.
func ofStates(s diag.Summary, within float64) diag.Summary {
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

// mean returns the mean of an estimate that each chain has, each with the weight of its moves.
func (r row) mean(of func(o *observables) estimate) estimate {
	if len(r.runs) == 1 {
		return of(r.runs[0].Observables)
	}
	var x estimate
	squares := 0.0
	for _, m := range r.runs {
		w := float64(m.Trace.Len()) / float64(r.N)
		e := of(m.Observables)
		x.mean += float64(w * e.mean)
		squares += float64(float64(w*e.err) * float64(w*e.err))
	}
	x.err = math.Sqrt(squares)
	return x
}

// leastAgreement is the probability below which chains are said to differ: that of four standard
// errors, as between two samplers.
const leastAgreement = 6e-5

// agreement returns the probability that the mean energies of chains of one distribution differ as much as
// these do, by their errors; NaN for one chain, or without errors.
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

// chainsWarning says that the chains of a sampler do not agree, or nothing.
func (r row) chainsWarning() []string {
	if p := r.agreement(); p < leastAgreement {
		return []string{fmt.Sprintf("%s: the mean energies of its %d chains differ by more than their errors (p = %.2g): they have not converged; run longer", r.name, len(r.runs), p)}
	}
	return nil
}

// agree returns an error if the command line cannot run, or if the system, which may be that of a
// file, or the policy is another on another rank.
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
