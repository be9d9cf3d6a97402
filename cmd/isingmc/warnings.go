package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/rbm/partition"
)

// warnings returns the warnings about the settings and the run.
func (p *plan) warnings(rows []row) (texts []string) {
	if p.policyWarning != "" {
		texts = append(texts, p.policyWarning)
	}
	var all []diag.Warning
	for _, r := range rows {
		all = slices.Concat(all, r.doubt("the energy", r.Summary), r.exchangeWarning(), r.chainsWarning(), r.observablesWarnings(p.symmetric))
	}
	return slices.Concat(texts, p.samplerWarnings, cli.Sentences(append(all, compare(rows, p.symmetric).warning()...)))
}

// doubt returns the warning that s, the summary of a quantity, cannot be trusted, or none.
func (r row) doubt(quantity string, s diag.Summary) []diag.Warning {
	kind := s.Doubt()
	if kind == "" {
		return nil
	}
	w := diag.Warning{Kind: kind, Of: []string{r.name, quantity}, Numbers: diag.Numbers{"batches": diag.Batches, "limit": diag.LeastEffective}, Help: []diag.Remedy{diag.RunLonger}}
	if s.Effective < diag.LeastEffective { // otherwise it is not known
		w.Numbers["worth"] = s.Effective
	}
	return []diag.Warning{w}
}

// exchangeWarning returns the warning that two neighbouring temperatures hardly swap replicas, or none.
func (r row) exchangeWarning() []diag.Warning {
	if r.ladder == nil {
		return nil
	}
	n := len(r.ladder.Betas())
	tries, made := make([]int64, n-1), make([]int64, n-1)
	for _, m := range r.runs {
		for k, x := range m.Exchanges.Tries {
			tries[k], made[k] = tries[k]+x, made[k]+m.Exchanges.Made[k]
		}
	}
	pair, rate := diag.WorstExchange(tries, made)
	if !(rate < diag.LeastExchange) {
		return nil
	}
	return []diag.Warning{{Kind: diag.FewSwaps, Of: []string{r.name}, Help: []diag.Remedy{diag.MoreReplicas},
		Numbers: diag.Numbers{"rate": rate, "colder": float64(pair + 1), "hotter": float64(pair + 2), "temperatures": float64(n)}}}
}

// chainsWarning returns the warning that the chains of a sampler do not agree, or none.
func (r row) chainsWarning() []diag.Warning {
	p := r.agreement()
	if !(p < diag.ChanceOfMany) {
		return nil
	}
	return []diag.Warning{{Kind: diag.ChainsDiffer, Of: []string{r.name}, Numbers: diag.Numbers{"chains": float64(len(r.runs)), "p": p}, Help: []diag.Remedy{diag.RunLonger}}}
}

// observablesWarnings returns warnings about observables for which the run was too short. symmetric
// is set if a flip of all spins leaves the energy unchanged, so that the mean of m is 0.
func (r row) observablesWarnings(symmetric bool) (all []diag.Warning) {
	o := r.Observables
	if o == nil {
		return nil
	}
	if o.Spins != nil {
		switch s := r.summary(func(m *measured) *diag.Trace { return m.Observables.Spins.Value }); {
		case s.Variance == 0:
		case symmetric && !(math.Abs(s.Mean) <= diag.SignificantOfMany*s.StdErr && s.Trusted()):
			w := diag.Warning{Kind: diag.SignKept, Of: []string{r.name}, Numbers: diag.Numbers{"mean": s.Mean, "error": s.StdErr}}
			all = append(all, w)
		case !symmetric:
			all = append(all, r.doubt("m", s)...)
		}
	}
	for _, x := range []struct {
		moments pick
		name    string
	}{{spins, "m²"}, {overlap, "q²"}} {
		if x.moments(o) == nil {
			continue
		}
		if s := r.summary(func(m *measured) *diag.Trace { return x.moments(m.Observables).Square }); s.Variance > 0 {
			all = append(all, r.doubt(x.name, s)...)
		}
	}
	return all
}

// warning returns the warning that names the samplers that do not agree, or none.
func (c comparison) warning() []diag.Warning {
	far := c.apart()
	if len(far) == 0 {
		return nil
	}
	w := diag.Warning{Kind: diag.SamplersDiffer, Help: []diag.Remedy{diag.RunLonger},
		Numbers: diag.Numbers{"z": far[0].z, "far": float64(len(far)), "comparisons": float64(len(c.differences))}}
	for _, d := range far {
		if d.a == far[0].a && d.b == far[0].b {
			w.Of = append(w.Of, d.name)
		}
	}
	last := &w.Of[len(w.Of)-1]
	*last = fmt.Sprintf("%s of %s and %s", *last, far[0].a, far[0].b)
	return []diag.Warning{w}
}

// warnings returns the warnings about the settings and the run.
func (s *scanResult) warnings() []string {
	var all []diag.Warning
	closer := diag.MoreTemperatures
	if s.scan.auto {
		closer = diag.NarrowerRange
	}
	if s.scan.capped {
		all = append(all, diag.Warning{Kind: diag.ScanCapped, Of: []string{"-scan"}, Numbers: diag.Numbers{"most": maxScan}, Help: []diag.Remedy{closer}})
	}
	for i, c := range s.contestants {
		var short, stuck, apart, rising []string
		worth, p := math.Inf(1), 1.
		for _, k := range s.inOrder() {
			r, at := s.rows[i][k], s.at(k)
			if d := s.scanDoubt(i, k); d != nil {
				short, worth = append(short, at), min(worth, d.Effective)
			}
			if s.overlap(i, k) < diag.LeastExchange {
				stuck = append(stuck, at)
			}
			if x := r.agreement(); x < diag.ChanceOfMany {
				apart, p = append(apart, at), min(p, x)
			}
			if s.rises(i, k) {
				rising = append(rising, fmt.Sprintf("%s against %s", at, s.at(k+1)))
			}
		}
		warn := func(kind diag.Kind, at []string, numbers diag.Numbers, help ...diag.Remedy) {
			if at != nil {
				of := fmt.Sprintf("%s at %s = %s", c.name, s.scan.name(), strings.Join(at, ", "))
				all = append(all, diag.Warning{Kind: kind, Of: []string{of}, Numbers: numbers, Help: help})
			}
		}
		few := diag.Numbers{"limit": diag.LeastEffective}
		if worth < diag.LeastEffective {
			few["worth"] = worth
		}
		q := s.scan.systems[s.scan.systemOf[i]]
		warn(diag.FewValues, short, few, s.longer(i, q.clustersHelp(), kindOf(q.movers[s.moverOf(i)].name))...)
		warn(diag.ScanStuck, stuck, diag.Numbers{"limit": diag.LeastExchange}, closer)
		warn(diag.ChainsDiffer, apart, diag.Numbers{"chains": float64(len(s.runs)), "p": p}, diag.RunLonger)
		warn(diag.OffCurve, s.offCurve(i), diag.Numbers{"limit": diag.SignificantOfMany}, s.longer(i, false, "")...)
		warn(diag.Rising, rising, diag.Numbers{"limit": diag.SignificantOfMany}, s.longer(i, false, "")...)
		if err := s.failed[i]; err != nil {
			text := err.Error()
			if errors.Is(err, partition.ErrOverlap) {
				text = strings.TrimPrefix(text, "reweighting: ")
			}
			all = append(all, diag.Failed(fmt.Errorf("%s: no curves between the temperatures: %s", c.name, text)))
		}
	}
	return slices.Concat(s.samplerWarnings, cli.Sentences(append(all, s.compared.warning()...)))
}

// scanDoubt returns the summary of the energy or of m² of contestant i at temperature k, if it cannot be
// trusted, or nil. At β = 0 energies may be constant.
func (s *scanResult) scanDoubt(i, k int) *diag.Summary {
	r := s.rows[i][k]
	if r.Variance == 0 && s.scan.betas[k] == 0 {
		return nil
	}
	if !r.Trusted() {
		return &r.Summary
	}
	if o := r.Observables.Spins; o != nil {
		m := r.summary(func(m *measured) *diag.Trace { return m.Observables.Spins.Square })
		if m.Variance > 0 && !m.Trusted() {
			return &m
		}
	}
	return nil
}

// longer returns the remedies of a run of contestant i that is too short: a longer run or, if i does not
// exchange replicas, another sampler. clusters is set if cluster samplers help; used is the sampler of i.
func (s *scanResult) longer(i int, clusters bool, used string) []diag.Remedy {
	help := []diag.Remedy{diag.RunLonger}
	switch {
	case !s.exchanges(i):
		help = append(help, diag.UsePT)
		for _, r := range []diag.Remedy{diag.UseSW, diag.UseWolff} {
			if clusters && string(r) != "use_"+used {
				help = append(help, r)
			}
		}
	case !s.scan.auto:
		help = append(help, diag.MoreTemperatures)
	}
	return help
}
