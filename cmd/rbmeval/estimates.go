package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/partition"
)

// logZEstimates are log Z of a model, exact or estimated, and its bounds.
type logZEstimates struct {
	logz.Bracket
	logZ, stdErr float64     // exact, or the best estimate
	by           logz.Method // how; "" if there is no number
}

const byExact logz.Method = "exact"

// unknown is log Z without any number.
func unknown() logZEstimates {
	return logZEstimates{Bracket: logz.Bracket{LowerBound: math.Inf(-1)}}
}

// methods are the names of the ways to log Z in printed text.
var methods = map[logz.Method]string{
	byExact: "enumeration", logz.ByAIS: "AIS", logz.ByReverse: "reverse AIS", logz.ByBennett: "Bennett's ratio",
}

// find computes log Z of m, as the flags say: by enumeration, by estimates, or
// by both. The rows of parts bound log Z from below. The error is errNotFinite
// or wraps rbm.ErrDiverged if a number is not finite. The estimates are made by all ranks of the
// group; only rank 0 knows the bound and enumerates.
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
		if cli.Finite(truth) == nil {
			return unknown(), errNotFinite
		}
		p.logZ, p.stdErr, p.by = truth, 0, byExact
		p.warnOfMisses()
	}
	return p, nil
}

// estimators are the methods that estimate log Z, in the order of printing.
var estimators = []logz.Method{logz.ByAIS, logz.ByReverse, logz.ByBennett}

const (
	// missedBy is the number of standard errors beyond which an estimate is taken
	// to miss the exact log Z. Chance alone exceeds it once in 300 times or less.
	// Package logz compares two estimates by the same number.
	missedBy = 3
	// rounding bounds the relative error of log Z by rounding in float64, after
	// sums of some million terms. A smaller difference says nothing about an
	// estimate.
	rounding = 1e-9
)

// warnOfMisses warns of each estimate that misses the exact log Z by more than
// its error.
func (p *logZEstimates) warnOfMisses() {
	for _, m := range estimators {
		x, stdErr := p.By(m)
		off := math.Abs(x - p.logZ)
		if off > missedBy*stdErr+rounding*max(1, math.Abs(p.logZ)) {
			p.warn([]logz.Method{m}, "off by %.2g, %.0f of its standard errors, from the exact log Z", off, off/max(stdErr, rounding))
		}
	}
}

func (p *logZEstimates) warn(of []logz.Method, format string, args ...any) {
	p.Warnings = append(p.Warnings, logz.Warning{Of: of, Text: fmt.Sprintf(format, args...)})
}

// logLikelihood returns the mean log-likelihood of rows whose mean free energy
// is free. Where log Z is not known but has a lower bound, it returns an upper
// bound of it instead. The other result is nil, or both are.
func (p logZEstimates) logLikelihood(free float64) (mean, upperBound *float64) {
	switch {
	case p.by != "":
		x := -free - p.logZ
		return &x, nil
	case !math.IsInf(p.LowerBound, 0):
		x := -free - p.LowerBound
		return nil, &x
	}
	return nil, nil
}

// A logZResult is what -json prints of log Z.
type logZResult struct {
	LogZ       *float64        `json:"log_z,omitempty"`
	LogZBy     logz.Method     `json:"log_z_by,omitempty"`
	LogZStdErr *float64        `json:"log_z_std_err,omitempty"`
	LowerBound *float64        `json:"log_z_lower_bound,omitempty"`
	AIS        *estimateResult `json:"ais,omitempty"`
	ReverseAIS *estimateResult `json:"reverse_ais,omitempty"`
	Bennett    *estimateResult `json:"bennett,omitempty"`
	Warnings   []string        `json:"warnings,omitempty"`
}

// An estimateResult is what -json prints of one estimate. It has no log_z and no
// std_err if there is no number or an impossible one, and no std_err if there is
// one chain.
type estimateResult struct {
	LogZ         *float64 `json:"log_z,omitempty"`
	StdErr       *float64 `json:"std_err,omitempty"`
	Raised       bool     `json:"raised,omitempty"`     // to log_z_lower_bound, by no more than its error
	Impossible   bool     `json:"impossible,omitempty"` // below log_z_lower_bound
	Doubtful     bool     `json:"doubtful,omitempty"`   // a warning is about it
	ESS          *float64 `json:"ess,omitempty"`
	CESS         *float64 `json:"cess,omitempty"`
	Overlap      *float64 `json:"overlap,omitempty"`
	Chains       int      `json:"chains,omitempty"`
	Ladders      int      `json:"ladders,omitempty"`
	Temperatures int      `json:"temperatures"`
	RoundTrips   *int64   `json:"round_trips,omitempty"`
}

func (p logZEstimates) result() logZResult {
	r := logZResult{LogZBy: p.by, LowerBound: cli.Finite(p.LowerBound)}
	if p.by != "" {
		r.LogZ = &p.logZ
		if p.by != byExact {
			r.LogZStdErr = cli.Finite(p.stdErr)
		}
	}
	annealed := func(m logz.Method, a *partition.Annealed) *estimateResult {
		if a == nil {
			return nil
		}
		return p.estimateResult(m, a.LogZ, a.StdErr, estimateResult{ESS: &a.ESS, CESS: &a.CESS, Chains: len(a.LogWeights), Temperatures: len(a.Path)})
	}
	r.AIS, r.ReverseAIS = annealed(logz.ByAIS, p.AIS), annealed(logz.ByReverse, p.Reverse)
	if b := p.Bennett; b != nil {
		r.Bennett = p.estimateResult(logz.ByBennett, b.LogZ, b.StdErr, estimateResult{Overlap: &b.Overlap, Ladders: b.Groups, Temperatures: b.Temperatures, RoundTrips: &p.RoundTrips})
		if r.Bennett.LogZ != nil || r.Bennett.Impossible {
			r.Bennett.ESS = &b.ESS
		}
	}
	for _, w := range p.Warnings {
		r.Warnings = append(r.Warnings, w.String())
	}
	return r
}

// estimateResult completes r by the estimate of method m and by how far it can
// be trusted.
func (p logZEstimates) estimateResult(m logz.Method, logZ, stdErr float64, r estimateResult) *estimateResult {
	r.Impossible, r.Doubtful, r.Raised = p.Impossible(m), p.Doubtful(m), slices.Contains(p.Raised, m)
	if !r.Impossible && !math.IsNaN(logZ) {
		r.LogZ, r.StdErr = &logZ, cli.Finite(stdErr)
	}
	return &r
}

// doubtful marks a number that a warning is about.
const doubtful = ", doubtful"

// print prints a line for each way to log Z that was taken.
func (r logZResult) print(w io.Writer) {
	if r.LogZBy == byExact {
		fmt.Fprintf(w, "%-26s %.6f\n", "exact log Z", *r.LogZ)
	}
	bounded := r.LogZBy == ""
	line := func(m logz.Method, x *estimateResult, format string, details ...any) {
		number := "no number"
		switch {
		case x.Impossible:
			number = "impossible"
		case x.LogZ != nil && x.StdErr == nil:
			number = cli.PlusMinus(*x.LogZ, math.Inf(1), 3)
		case x.LogZ != nil:
			number = cli.PlusMinus(*x.LogZ, *x.StdErr, 3)
		}
		if x.Raised {
			number += ", raised to the bound"
		}
		if x.Doubtful && x.LogZ != nil {
			number += doubtful
		}
		bounded = bounded || x.Impossible || x.Raised
		fmt.Fprintf(w, "%-26s %s (%s)\n", "log Z by "+methods[m], number, fmt.Sprintf(format, details...))
	}
	const annealed = "%d chains, %d temperatures; ESS %.1f, smallest CESS %.1f %%"
	if x := r.AIS; x != nil {
		line(logz.ByAIS, x, annealed, x.Chains, x.Temperatures, *x.ESS, 100**x.CESS)
	}
	if x := r.ReverseAIS; x != nil {
		line(logz.ByReverse, x, annealed, x.Chains, x.Temperatures, *x.ESS, 100**x.CESS)
	}
	if x := r.Bennett; x != nil {
		ess := ""
		if x.ESS != nil {
			ess = fmt.Sprintf("ESS %.0f, ", *x.ESS)
		}
		line(logz.ByBennett, x, "%d ladders of %d temperatures; %ssmallest overlap %.2g %%, %s", x.Ladders, x.Temperatures, ess, 100**x.Overlap, cli.Count(*x.RoundTrips, "round trip"))
	}
	if r.LowerBound != nil && bounded {
		fmt.Fprintf(w, "%-26s %.3f (by the distinct rows at hand)\n", "log Z is at least", *r.LowerBound)
	}
}
