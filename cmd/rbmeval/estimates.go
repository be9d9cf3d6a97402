package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/partition"
)

// logZEstimates has the exact log Z of a model or its estimates, and a lower bound.
type logZEstimates struct {
	logz.Bracket
	logZ, stdErr float64     // exact value, or best estimate with its standard error
	by           logz.Method // method of logZ; "" if there is no value
}

const byExact logz.Method = "exact"

// unknown returns logZEstimates without any value.
func unknown() logZEstimates {
	return logZEstimates{Bracket: logz.Bracket{LowerBound: math.Inf(-1)}}
}

// methods are the names of the methods for log Z in text.
var methods = map[logz.Method]string{
	byExact: "enumeration", logz.ByAIS: "AIS", logz.ByReverse: "reverse AIS", logz.ByBennett: "Bennett's ratio",
}

// find computes log Z of m by enumeration, by estimates or by both, as the flags
// say. The rows of parts bound log Z from below. If a number is not finite the error is
// errNotFinite or wraps rbm.ErrDiverged. All ranks of the group take part in estimates;
// only rank 0 computes the bound and enumerates.
func (o *options) find(ctx context.Context, m *rbm.RBM, base *rbm.Base, parts []*examples, progress func(stage string, done float64)) (p logZEstimates, err error) {
	p = unknown()
	if o.estimated() {
		s := o.settings(base)
		s.Annealing.Group = o.group
		if o.group.Rank() == 0 {
			if s.LowerBound, err = lowerBound(ctx, parts); err != nil {
				return unknown(), err
			}
		}
		if p.Bracket, err = logz.Estimate(ctx, m, s, rbm.NewKey(o.seed), progress); err != nil {
			return unknown(), err
		}
		p.logZ, p.stdErr, p.by = p.Best()
	}
	if o.exact && o.group.Rank() == 0 {
		enum, err := exact.New(m, exact.EvaluationLimit)
		if err != nil {
			return unknown(), err
		}
		truth, err := enum.LogZ(ctx, func(done float64) { progress("exact log Z", done) })
		if err != nil {
			return unknown(), err
		}
		if !cli.Finite(truth) {
			return unknown(), errNotFinite
		}
		p.logZ, p.stdErr, p.by = truth, 0, byExact
		p.warnOfMisses()
	}
	return p, nil
}

// estimators are the methods that estimate log Z, in the order of output.
var estimators = []logz.Method{logz.ByAIS, logz.ByReverse, logz.ByBennett}

// rounding is an upper bound on the relative rounding error of log Z in float64, after sums of some million
// terms. Smaller differences mean nothing.
const rounding = 1e-9

// warnOfMisses adds a warning for each estimate that differs from the exact log Z by more
// than its error.
func (p *logZEstimates) warnOfMisses() {
	for _, m := range estimators {
		x, stdErr := p.By(m)
		off := math.Abs(x - p.logZ)
		if off > diag.Significant*stdErr+rounding*max(1, math.Abs(p.logZ)) {
			p.Warnings = append(p.Warnings, diag.Warning{Kind: logz.OffExact, Of: []string{m.Name()}, Numbers: diag.Numbers{"off": off, "errors": off / max(stdErr, rounding)}})
		}
	}
}

// logLikelihood returns the mean log-likelihood of rows with mean free energy free, or
// an upper bound of it if log Z has only a lower bound. The other result is NaN. Both are
// NaN if nothing is known.
func (p logZEstimates) logLikelihood(free float64) (mean, upperBound float64) {
	switch {
	case p.by != "":
		return -free - p.logZ, math.NaN()
	case !math.IsInf(p.LowerBound, 0):
		return math.NaN(), -free - p.LowerBound
	}
	return math.NaN(), math.NaN()
}

// record returns log Z, its estimates, its bound and warnings.
func (p logZEstimates) record() (rec cli.Record) {
	if p.by == byExact {
		rec.Show("log_z", "exact log Z", p.logZ, fmt.Sprintf("%.6f", p.logZ))
		rec.Add("log_z_by", p.by)
	} else if p.by != "" {
		rec.Add("log_z", p.logZ)
		rec.Add("log_z_by", p.by)
		rec.Add("log_z_std_err", cli.Known(p.stdErr))
	}
	rec.Add("log_z_lower_bound", cli.Known(p.LowerBound))
	for _, a := range []struct {
		key string
		m   logz.Method
		*partition.Annealed
	}{{"ais", logz.ByAIS, p.AIS}, {"reverse_ais", logz.ByReverse, p.Reverse}} {
		if a.Annealed == nil {
			continue
		}
		e, number := p.estimate(a.m, a.LogZ, a.StdErr)
		e.Add("ess", a.ESS)
		e.Add("cess", a.CESS)
		e.Add("chains", len(a.LogWeights))
		e.Add("temperatures", len(a.Path))
		rec.Show(a.key, "log Z by "+methods[a.m], e, fmt.Sprintf("%s (%d chains, %d temperatures; ESS %.1f, smallest CESS %.1f %%)", number, len(a.LogWeights), len(a.Path), a.ESS, 100*a.CESS))
	}
	if b := p.Bennett; b != nil {
		e, number := p.estimate(logz.ByBennett, b.LogZ, b.StdErr)
		ess := ""
		if p.Impossible(logz.ByBennett) || !math.IsNaN(b.LogZ) {
			e.Add("ess", b.ESS)
			ess = fmt.Sprintf("ESS %.0f, ", b.ESS)
		}
		e.Add("overlap", b.Overlap)
		e.Add("ladders", b.Groups)
		e.Add("temperatures", b.Temperatures)
		e.Add("round_trips", p.RoundTrips)
		e.Add("rounds", p.Rounds)
		rec.Show("bennett", "log Z by "+methods[logz.ByBennett], e, fmt.Sprintf("%s (%d ladders of %d temperatures, %d rounds; %ssmallest overlap %s %%, %s)",
			number, b.Groups, b.Temperatures, p.Rounds, ess, cli.TwoDigits(100*b.Overlap), cli.Count(p.RoundTrips, "round trip")))
	}
	if cli.Finite(p.LowerBound) && (p.by == "" || len(p.Raised) > 0 || slices.ContainsFunc(estimators, p.Impossible)) {
		rec.Say("log Z is at least", fmt.Sprintf("%.3f (by the distinct rows)", p.LowerBound))
	}
	rec.Add("warnings", cli.Sentences(p.Warnings))
	return rec
}

// estimate returns the estimate of method m as a record e and as text. If the estimate is impossible or
// missing, e has neither log_z nor std_err. A bound and the estimate of a single chain have no std_err.
func (p logZEstimates) estimate(m logz.Method, logZ, stdErr float64) (e cli.Record, text string) {
	text = "no number"
	impossible, raised := p.Impossible(m), slices.Contains(p.Raised, m)
	switch {
	case impossible:
		text = "impossible"
	case p.Bound(m):
		e.Add("log_z", logZ)
		side := "below"
		if m == logz.ByReverse {
			side = "above"
		}
		e.Add("bound", side)
		text = fmt.Sprintf("%.3f, a bound from %s on average", logZ, side)
	case !math.IsNaN(logZ):
		e.Add("log_z", logZ)
		e.Add("std_err", cli.Known(stdErr))
		if !cli.Finite(stdErr) {
			stdErr = math.Inf(1)
		}
		text = cli.PlusMinus(logZ, stdErr, 3)
	}
	if raised {
		text += ", raised to the bound"
	}
	if p.Doubtful(m) && !impossible && !math.IsNaN(logZ) {
		text += doubtful
	}
	e.AddSome("raised", raised)         // raised to log_z_lower_bound, by at most the error of the estimate
	e.AddSome("impossible", impossible) // below log_z_lower_bound by more than the error of the estimate
	e.AddSome("doubtful", p.Doubtful(m))
	return e, text
}

// doubtful follows a number that has a warning.
const doubtful = ", doubtful"
