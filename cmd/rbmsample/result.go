package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase/sample"
	"gorbm/rbm"
)

// result is the JSON object on standard output. tau, r_hat and ess are those of the
// worst of the laws.
type result struct {
	N        int               `json:"n"`
	Class    string            `json:"class,omitempty"`
	Mixed    bool              `json:"mixed"`
	Tau      *float64          `json:"tau"`
	ESS      *float64          `json:"ess"`
	RHat     *float64          `json:"r_hat"`
	Laws     []law             `json:"laws"`
	Nearest  *nearest          `json:"nearest,omitempty"`
	Classes  *sample.Agreement `json:"samples_of_class,omitempty"`
	Seconds  float64           `json:"seconds"`
	Means    bool              `json:"means"`
	Seed     uint64            `json:"seed"`
	Model    string            `json:"model"`
	Warnings []string          `json:"warnings,omitempty"`
	Out      string            `json:"out"`
}

// law is the proof of one law.
type law struct {
	Of        string     `json:"of,omitempty"` // "class 3", "row 0"
	NegPhase  string     `json:"negphase"`
	Start     string     `json:"start"` // of the chains of the samples
	Mixed     bool       `json:"mixed"`
	Why       string     `json:"why,omitempty"` // not mixed
	Rounds    int        `json:"rounds"`
	BurnIn    int        `json:"burn_in"`
	Chains    int        `json:"chains"`
	Tau       *float64   `json:"tau"`
	TauStdErr *float64   `json:"tau_std_err"`
	TauOf     string     `json:"tau_of,omitempty"` // the quantity that forgets slowest
	ESS       *float64   `json:"ess"`
	RHat      *float64   `json:"r_hat"`
	Samples   *twoSample `json:"two_sample,omitempty"`
	Trips     *int64     `json:"round_trips,omitempty"`
}

// twoSample is the comparison of chains from random states and from training rows.
type twoSample struct {
	FreeEnergy [2]float64 `json:"free_energy"` // means of the two
	Z          *float64   `json:"z"`
	P          float64    `json:"p"`
	PicturesP  float64    `json:"pictures_p"`
}

// nearest is the comparison with the nearest training rows.
type nearest struct {
	Distance    float64 `json:"distance"`
	RowDistance float64 `json:"row_distance"`
	Copies      int     `json:"copies"`
}

// name names law i.
func (p *plan) name(i int) string {
	switch q := p.queries[i]; {
	case p.given != nil && q.Class != rbm.Free:
		return fmt.Sprintf("row %d of class %s", i, p.classes[q.Class])
	case p.given != nil:
		return fmt.Sprintf("row %d", i)
	case q.Class != rbm.Free:
		return "class " + p.classes[q.Class]
	}
	return ""
}

// nearestKey is the purpose of the key of the training rows to compare with.
const nearestKey = 1 << 32

func (p *plan) newResult(s sample.Sheet, took time.Duration) *result {
	r := &result{N: s.Means.Rows, Mixed: s.Mixed(), Seconds: took.Seconds(), Means: p.means, Seed: p.seed,
		Model: p.model.Path, Warnings: p.warnings, Out: p.out}
	if len(p.queries) == 1 && p.queries[0].Class != rbm.Free {
		r.Class = p.classes[p.queries[0].Class]
	}
	tau, ess, rhat := math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i, d := range s.Draws {
		l := law{Of: p.name(i), NegPhase: d.Sampler, Start: d.Start, Mixed: d.Mixed, Why: d.Why, Rounds: d.Rounds, BurnIn: d.BurnIn,
			Chains: d.Chains, Tau: cli.Finite(d.Tau), TauStdErr: cli.Finite(d.TauErr), TauOf: d.TauOf, ESS: cli.Finite(d.Effective), RHat: cli.Finite(d.RHat)}
		if !math.IsNaN(d.P) {
			l.Samples = &twoSample{[2]float64{d.FreeEnergy, d.FreeEnergyData}, cli.Finite(d.Z), d.P, d.PicturesP}
		}
		if d.Ladders > 0 {
			l.Trips = &d.RoundTrips
		}
		r.Laws = append(r.Laws, l)
		tau, ess, rhat = math.Max(tau, d.Tau), math.Min(ess, d.Effective), math.Max(rhat, d.RHat)
	}
	r.Tau, r.ESS, r.RHat = cli.Finite(tau), cli.Finite(ess), cli.Finite(rhat)
	if w := notMixed(r.Laws); w != "" {
		r.Warnings = append(slices.Clip(r.Warnings), w)
	}
	if p.set == nil {
		return r
	}
	c := sample.Compare(p.set, p.values(s), s.Asked, s.Start, rbm.NewKey(p.seed).Child(nearestKey))
	if c.Of > 0 {
		r.Nearest = &nearest{c.Distance, c.RowDistance, c.Copies}
	}
	if r.Classes = c.Classes; c.Classes != nil && c.Classes.Leave() {
		r.Warnings = append(slices.Clip(r.Warnings), leaves(*c.Classes, r.Mixed))
	}
	return r
}

// notMixed is the warning of laws that have not mixed, or "".
func notMixed(laws []law) string {
	var names []string
	why, data := "", false
	for _, l := range laws {
		if l.Mixed {
			continue
		}
		if names = append(names, l.Of); why == "" {
			why = l.Why
		}
		data = data || l.Start == sample.FromData
	}
	if len(names) == 0 {
		return ""
	}
	text := "the chains have not mixed"
	if len(laws) > 1 {
		const most = 5
		list := strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			list += ", …"
		}
		text += fmt.Sprintf(" for %d of %d (%s); of the first", len(names), len(laws), list)
	}
	text += ": " + why
	if data {
		text += "; their samples are from chains that started at training rows, and may still resemble these"
	}
	return text + "; more -rounds may help"
}

// leaves is the warning that samples are not of their class.
func leaves(a sample.Agreement, mixed bool) string {
	text := fmt.Sprintf("of %d samples, %d are nearest to a training row of their class (of training rows, %d)", a.Of, a.Same, a.Rows)
	if mixed {
		return text + ": the chains have mixed, so this is the model; train it for longer, with more -chains, or, if that was by -objective discriminative, by joint or hybrid"
	}
	return text
}

// print prints the result as JSON or in words, and the warnings.
func (p *plan) print(r *result) error {
	if !p.flags.JSON {
		p.flags.Warn(r.Warnings...)
		if p.flags.Quiet {
			return nil
		}
	}
	return p.flags.Print(r, func(w io.Writer) error {
		for _, l := range r.Laws {
			describe(w, l)
		}
		if n := r.Nearest; n != nil {
			fmt.Fprintf(w, "nearest training rows: %.1f inputs differ on average (training rows from each other: %.1f); %s nearer than any of as many training rows\n",
				n.Distance, n.RowDistance, are(n.Copies, r.N))
		}
		if a := r.Classes; a != nil {
			fmt.Fprintf(w, "classes: of %d samples, %d are nearest to a training row of their class (of training rows, %d)\n", a.Of, a.Same, a.Rows)
		}
		_, err := fmt.Fprintf(w, "%s: %s in %.3g s\n", r.Out, cli.Count(r.N, "sample"), r.Seconds)
		return err
	})
}

func are(n, of int) string {
	if n == 1 {
		return fmt.Sprintf("1 of %d is", of)
	}
	return fmt.Sprintf("%d of %d are", n, of)
}

// short returns a sampler in the grammar without the list of its temperatures.
func short(negphase string) string {
	parts := strings.Split(negphase, ":")
	for i, p := range parts {
		if list := strings.Split(p, "/"); strings.HasPrefix(p, "tau=") && len(list) > 5 {
			parts[i] = fmt.Sprintf("tau=%d temperatures", len(list))
		}
	}
	return strings.Join(parts, ":")
}

// describe prints the proof of a law in a line or two.
func describe(w io.Writer, l law) {
	if l.Of != "" {
		fmt.Fprintf(w, "%s: ", l.Of)
	}
	fmt.Fprint(w, map[bool]string{true: "mixed", false: "not mixed"}[l.Mixed])
	number := func(x *float64) string {
		if x == nil {
			return "–"
		}
		return cli.Number(*x)
	}
	atLeast, atMost := "", ""
	if l.Tau != nil && l.TauStdErr == nil { // its end is not in sight
		atLeast, atMost = "≥ ", "≤ "
	}
	of := ""
	if l.TauOf != "" {
		of = " (" + l.TauOf + ")"
	}
	fmt.Fprintf(w, "; %d chains of %s, %d rounds; τ %s%s rounds%s, effective size %s%s, R̂ %s", l.Chains, short(l.NegPhase), l.Rounds, atLeast, number(l.Tau), of, atMost, number(l.ESS), number(l.RHat))
	if s := l.Samples; s != nil {
		fmt.Fprintf(w, "; random against data starts: z %s, p %.3g, pictures p %.3g", number(s.Z), s.P, s.PicturesP)
	}
	if l.Trips != nil {
		fmt.Fprintf(w, "; %s", cli.Count(*l.Trips, "round trip"))
	}
	fmt.Fprintf(w, "; samples from %s starts\n", l.Start)
}
