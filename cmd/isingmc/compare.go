package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
)

// comparable returns the observables that all samplers have measured. symmetric is set if
// a flip of all spins leaves the energy unchanged. Then the mean of m is 0 and is not
// compared: observablesWarnings checks it.
func comparable(rows []row, symmetric bool) []observable {
	all := []observable{{name: "the energy", value: func(r row) estimate { return estimate{r.Mean, r.StdErr} }}}
	for _, o := range rows[0].Observables.all() {
		if !symmetric || o.name != "m" {
			all = append(all, o)
		}
	}
	return all
}

// A difference is the difference of an observable between two samplers.
type difference struct {
	a, b, name string  // names of the samplers and of the observable
	z          float64 // absolute difference in standard errors
}

// A comparison has the differences between all pairs of samplers in all observables.
type comparison struct {
	differences []difference // in descending order of z, without those of unknown error
	what        []string     // names of the observables
}

// compare compares samplers of the same distribution.
func compare(rows []row, symmetric bool) (c comparison) {
	c.add(rows, symmetric, "")
	c.sort()
	return c
}

// add compares more samplers of the same distribution. It appends where, such as " at T = 2", to the names
// of observables.
func (c *comparison) add(rows []row, symmetric bool, where string) {
	for _, o := range comparable(rows, symmetric) {
		if name := o.name + where; len(rows) > 1 {
			c.what = append(c.what, name)
		}
		found := make([]estimate, len(rows))
		for i, r := range rows {
			found[i] = o.value(r)
			for j := range i {
				z := math.Abs(found[j].mean-found[i].mean) / math.Hypot(found[j].err, found[i].err)
				if !math.IsNaN(z) && found[j].err > 0 && found[i].err > 0 { // otherwise an error is 0 or unknown, as for an observable that never changed; other warnings report this
					c.differences = append(c.differences, difference{rows[j].name, r.name, o.name + where, z})
				}
			}
		}
	}
}

func (c *comparison) sort() {
	slices.SortStableFunc(c.differences, func(a, b difference) int { return cmp.Compare(b.z, a.z) })
}

// chance returns Bonferroni's bound on the probability that chance makes any difference as large as d. It
// holds for any dependence between the observables.
func (c comparison) chance(d difference) float64 {
	return min(1, float64(len(c.differences))*2*distuv.UnitNormal.Survival(d.z))
}

// apart returns the differences that are too large for chance. With a single comparison these are
// differences of more than four standard errors.
func (c comparison) apart() []difference {
	at := slices.IndexFunc(c.differences, func(d difference) bool { return !(c.chance(d) < diag.ChanceOfMany) })
	if at < 0 {
		at = len(c.differences)
	}
	return c.differences[:at]
}

// among returns the number of comparisons in words, or "" if there was one.
func (c comparison) among() string {
	if len(c.differences) == 1 {
		return ""
	}
	return fmt.Sprintf(" in %d comparisons", len(c.differences))
}

// hardlyChance is the p-value below which samplers hardly agree. Below diag.ChanceOfMany there is a warning.
const hardlyChance = 0.01

// agreement returns a line on how well the samplers agree, or nil if they do not: see warning.
func (c comparison) agreement() []string {
	if len(c.differences) == 0 || len(c.apart()) > 0 {
		return nil
	}
	d := c.differences[0]
	found := fmt.Sprintf("differ by %.1f standard errors (p = %s%s)", d.z, cli.Number(c.chance(d)), c.among())
	switch {
	case c.chance(d) < hardlyChance:
		return []string{fmt.Sprintf("The samplers hardly agree: the farthest apart, %s of %s and %s, %s; run longer to tell.", d.name, d.a, d.b, found)}
	case len(c.what) == 1:
		return []string{fmt.Sprintf("The mean energies agree: %s and %s, the farthest apart, %s.", d.a, d.b, found)}
	}
	return []string{fmt.Sprintf("All observables agree: the farthest apart, %s of %s and %s, %s.", d.name, d.a, d.b, found)}
}

// record returns the differences for JSON.
func (c comparison) record() (all []cli.Record) {
	for _, d := range c.differences {
		var rec cli.Record
		rec.Add("a", d.a)
		rec.Add("b", d.b)
		rec.Add("observable", d.name)
		rec.Add("z", d.z)
		rec.Add("p", c.chance(d)) // bound on the probability that chance makes any difference as large
		all = append(all, rec)
	}
	return all
}

// tauText writes τ, or its lower bound if the run is too short to measure it. per is the length of a move
// in the unit of the text.
func tauText(s diag.Summary, per float64) string {
	switch bound := s.TauBound(); {
	case s.Trusted():
		return withError(s.Time.Tau*per, s.Time.StdErr*per)
	case bound > 0 && !math.IsInf(bound, 1):
		return "> " + cli.Number(bound*per)
	}
	return "not measured"
}
