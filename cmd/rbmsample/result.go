package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase/sample"
	"gorbm/rbm"
)

// name returns the name of query i, such as "class 3" or "row 0", or "".
func (p *plan) name(i int) string {
	switch q := p.queries[i]; {
	case p.given != nil && q.Class != rbm.Free:
		return fmt.Sprintf("row %d of class %s", p.given.open[i], p.classes[q.Class])
	case p.given != nil:
		return fmt.Sprintf("row %d", p.given.open[i])
	case q.Class != rbm.Free:
		return "class " + p.classes[q.Class]
	}
	return ""
}

// nearestKey derives from the seed the random stream that chooses training rows for comparison.
const nearestKey = 1 << 32

// A result has the samples and their comparison with the training rows.
type result struct {
	sample.Sheet
	nearest  sample.Comparison // empty without training rows
	warnings []string
	took     time.Duration
}

func (p *plan) newResult(s sample.Sheet, took time.Duration) *result {
	r := &result{Sheet: s, warnings: slices.Clip(p.warnings), took: took}
	if w := p.notMixed(s); w != "" {
		r.warnings = append(r.warnings, w)
	}
	if p.set != nil && !p.m.Real() { // rows are compared as bits
		x := p.values(s)
		if p.schema != nil { // compare samples, where each group has exactly one active unit
			x = s.Values.Dense()
		}
		r.nearest = sample.Compare(p.set, x, s.Asked, s.Start, rbm.NewKey(p.seed).Child(nearestKey))
	}
	if c := r.nearest.Classes; c != nil && c.Leave() {
		r.warnings = append(r.warnings, leaves(*c, s.Mixed()))
	}
	return r
}

// record returns the results. tau, r_hat and ess are those of the worst query.
func (p *plan) record(r *result) (rec cli.Record) {
	rec.Add("n", r.Means.Rows)
	if len(p.queries) == 1 && p.queries[0].Class != rbm.Free {
		rec.Add("class", p.classes[p.queries[0].Class])
	}
	tau, ess, rhat := math.Inf(-1), math.Inf(1), math.Inf(-1)
	described, mixed := len(r.Draws), 0
	if described > describedDraws+1 {
		described = describedDraws
	}
	var verdicts []cli.Record
	for i, d := range r.Draws {
		verdicts = append(verdicts, p.verdict(i, d))
		if i < described {
			rec.Say(label(p.name(i)), describe(d))
		} else if d.Mixed {
			mixed++
		}
		tau, ess, rhat = math.Max(tau, d.Tau), math.Min(ess, d.Effective), math.Max(rhat, d.RHat)
	}
	if n := len(r.Draws) - described; n > 0 {
		rec.Say("", fmt.Sprintf("… and %d others, of which %d have mixed; -json has them all", n, mixed))
	}
	rec.Add("mixed", r.Mixed())
	rec.Add("tau", tau)
	rec.Add("ess", ess)
	rec.Add("r_hat", rhat)
	rec.Add("queries", verdicts)
	if c := r.nearest; c.Of > 0 {
		var nearest cli.Record // comparison with the nearest training rows
		nearest.Add("distance", c.Distance)
		nearest.Add("row_distance", c.RowDistance)
		nearest.Add("copies", c.Copies)
		rec.Show("nearest", "nearest training rows:", nearest, fmt.Sprintf("%.1f %s differ on average (training rows from each other: %.1f); %s nearer than any of as many training rows",
			c.Distance, p.variables(), c.RowDistance, are(c.Copies, r.Means.Rows)))
	}
	if a := r.nearest.Classes; a != nil {
		rec.Show("samples_of_class", "classes:", a, fmt.Sprintf("of %d samples, %d are nearest to a training row of their class (of training rows, %d)", a.Of, a.Same, a.Rows))
	}
	if p.given != nil {
		if n := len(p.given.queries) - len(p.given.open); n > 0 {
			rec.Show("complete", "complete rows:", n, fmt.Sprintf("%d of %d of %s, which are written as they were read", n, len(p.given.queries), p.clamp))
		}
	}
	rec.Add("seconds", r.took.Seconds())
	rec.Add("means", p.means)
	rec.Add("seed", p.seed)
	rec.Add("model", p.model.Path)
	rec.AddSome("warnings", r.warnings)
	what := cli.Count(r.Means.Rows, "sample")
	if p.means && slices.Contains([]string{".csv", ".tsv"}, strings.ToLower(filepath.Ext(p.out))) && p.schema == nil {
		what = "means p(x|h) of " + what
	}
	rec.Show("out", p.out+":", p.out, fmt.Sprintf("%s in %.3g s", what, r.took.Seconds()))
	return rec
}

// verdict returns whether the chains of query i have mixed, and the evidence.
func (p *plan) verdict(i int, d sample.Draw) (l cli.Record) {
	l.AddSome("of", p.name(i))
	l.Add("negphase", d.Sampler)
	l.Add("start", d.Start) // start of the chains that gave the samples
	l.Add("mixed", d.Mixed)
	if !d.Mixed {
		l.Add("why", cli.Sentence(d.Why))
	}
	l.Add("rounds", d.Rounds)
	l.Add("burn_in", d.BurnIn)
	l.Add("chains", d.Chains)
	l.Add("tau", d.Tau)
	l.Add("tau_std_err", d.TauErr)
	l.AddSome("tau_of", d.TauOf) // the quantity that decorrelates slowest
	l.Add("ess", d.Effective)
	l.Add("r_hat", d.RHat)
	if !math.IsNaN(d.P) {
		var two cli.Record // comparison of chains from random states and from training rows
		two.Add("free_energy", [2]float64{d.FreeEnergy, d.FreeEnergyData})
		two.Add("z", d.Z)
		two.Add("p", d.P)
		two.Add("pictures_p", d.PicturesP)
		l.Add("two_sample", two)
	}
	if d.Ladders > 0 {
		l.Add("round_trips", d.RoundTrips)
	}
	return l
}

// notMixed returns the warning that names the queries whose chains have not mixed, or "".
func (p *plan) notMixed(s sample.Sheet) string {
	var names []string
	why, data := "", false
	for i, d := range s.Draws {
		if d.Mixed {
			continue
		}
		if names = append(names, p.name(i)); why == "" {
			why = cli.Sentence(d.Why)
		}
		data = data || d.Start == sample.FromData
	}
	if len(names) == 0 {
		return ""
	}
	text := "the chains have not mixed"
	if len(s.Draws) > 1 {
		const most = 5 // names in the warning
		list := strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			list += ", …"
		}
		text += fmt.Sprintf(" for %d of %d (%s); of the first", len(names), len(s.Draws), list)
	}
	text += ": " + why
	if data {
		text += "; their samples are from chains that started at training rows, and may still resemble these"
	}
	return text + "; more -rounds may help"
}

// leaves returns the warning that samples are not of their class.
func leaves(a sample.Agreement, mixed bool) string {
	text := fmt.Sprintf("of %d samples, %d are nearest to a training row of their class (of training rows, %d)", a.Of, a.Same, a.Rows)
	if mixed {
		return text + ": the chains have mixed, so this is the model; train it for longer, with more -chains, or, if that was by -objective discriminative, by joint or hybrid"
	}
	return text
}

// print prints the result and the warnings.
func (p *plan) print(r *result) error {
	if !p.flags.JSON {
		p.flags.Warn(r.warnings...)
		if p.flags.Quiet {
			return nil
		}
	}
	rec := p.record(r)
	return p.flags.Print(rec, func(w io.Writer) error {
		rec.Print(w, 0)
		return nil
	})
}

// variables returns the word for the columns of the rows.
func (p *plan) variables() string {
	switch {
	case p.schema == nil:
		return "inputs"
	case p.schema.Alphabet != "":
		return "sites"
	}
	return "columns"
}

// describedDraws is the largest number of queries that each get a line of text.
const describedDraws = 20

func are(n, total int) string {
	if n == 1 {
		return fmt.Sprintf("1 of %d is", total)
	}
	return fmt.Sprintf("%d of %d are", n, total)
}

// short returns the sampler negphase with the number of its temperatures in place of a long list.
func short(negphase string) string {
	parts := strings.Split(negphase, ":")
	for i, p := range parts {
		if list := strings.Split(p, "/"); strings.HasPrefix(p, "tau=") && len(list) > 5 {
			parts[i] = fmt.Sprintf("tau=%d temperatures", len(list))
		}
	}
	return strings.Join(parts, ":")
}

// label returns the beginning of the line of a query.
func label(name string) string {
	if name == "" {
		return ""
	}
	return name + ":"
}

// describe returns the verdict on the chains of a query as text.
func describe(d sample.Draw) string {
	if d.Sampler == "exact" {
		return "independent draws, from a list of the hidden states"
	}
	number := func(x float64) string {
		if math.IsInf(x, 0) {
			x = math.NaN()
		}
		return cli.Number(x)
	}
	atLeast, atMost, of := "", "", ""
	if cli.Finite(d.Tau) && !cli.Finite(d.TauErr) { // τ is only a lower bound
		atLeast, atMost = "≥ ", "≤ "
	}
	if d.TauOf != "" {
		of = " (" + d.TauOf + ")"
	}
	text := fmt.Sprintf("%s; %d chains of %s, %d rounds; τ %s%s rounds%s, effective size %s%s, R̂ %s", map[bool]string{true: "mixed", false: "not mixed"}[d.Mixed],
		d.Chains, short(d.Sampler), d.Rounds, atLeast, number(d.Tau), of, atMost, number(d.Effective), number(d.RHat))
	if !math.IsNaN(d.P) {
		text += fmt.Sprintf("; random against data starts: z %s, p %.3g, pictures p %.3g", number(d.Z), d.P, d.PicturesP)
	}
	if d.Ladders > 0 {
		text += "; " + cli.Count(d.RoundTrips, "round trip")
	}
	return text + fmt.Sprintf("; samples from %s starts", d.Start)
}
