package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data/grammar"
	"gorbm/negphase/mcmc"
	"gorbm/negphase/tune"
	"gorbm/rbm"
	"gorbm/train/plots"
)

// A tuneFlag is the value of -tune, a flag whose value is optional.
type tuneFlag string

func (f *tuneFlag) String() string     { return string(*f) }
func (f *tuneFlag) Set(s string) error { *f = tuneFlag(s); return nil }
func (f *tuneFlag) IsBoolFlag() bool   { return true } // makes the flag package accept a bare -tune, with value "true"

// A tuning is a checked -tune, or the policy of -policy.
type tuning struct {
	at      int // index of the sampler in plan.movers
	options tune.Options
	space   *tune.Space
	policy  *tune.Policy

	result  *tune.Result // nil before tuning, and for a policy from a file
	seconds float64      // duration of tuning
}

// parseTune parses the value of -tune: settings, which may follow the name of the protocol.
func parseTune(text string) (o tune.Options, lengths [2]int, err error) {
	const protocol = "paper"
	parts := strings.Split(text, ":")
	switch {
	case parts[0] == "true" || parts[0] == protocol:
		parts = parts[1:]
	case !strings.Contains(parts[0], "="):
		return o, lengths, grammar.NoKind("method", parts[0], []string{protocol})
	}
	o = tune.DefaultOptions()
	keys := grammar.Keys{{Name: "evaluations", Set: whole(&o.Evaluations)}, {Name: "k", Set: pair(&lengths[0], &lengths[1])},
		{Name: "kernels", Set: whole(&o.Kernels)},
		{Name: "moves", Set: whole(&o.Moves)}}
	if err := keys.Parse(protocol, parts); err != nil {
		return o, lengths, err
	}
	return o, lengths, o.Check()
}

func whole(x *int) func(string) error {
	return func(text string) (err error) {
		if *x, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		return nil
	}
}

func pair(a, b *int) func(string) error {
	return func(text string) error {
		first, second, ok := strings.Cut(text, "-")
		if !ok {
			return fmt.Errorf("%q is not two numbers with \"-\" between them", text)
		}
		return errors.Join(whole(a)(first), whole(b)(second))
	}
}

// checkTune checks -tune and -policy.
func (p *plan) checkTune() error {
	tuning := p.flags.Given("tune")
	switch {
	case !tuning && !p.flags.Given("policy"):
		return nil
	case !tuning:
		return p.loadPolicy()
	}
	if err := p.flags.CheckNew("policy"); err != nil {
		return err
	}
	o, lengths, err := parseTune(string(p.tune))
	if err != nil {
		return cli.Usagef("-tune: %w", err)
	}
	t, err := p.newTuning(o, lengths)
	if err != nil {
		return cli.Usagef("-tune: %w", err)
	}
	if most := len(plots.Colors) - comparisons; p.out != "" && len(p.movers) > most {
		return cli.Usagef("-sampler names %d samplers; with -tune and -out, which shows %d more, at most %d run together", len(p.movers), comparisons, most)
	}
	p.tuning = t
	return nil
}

// comparisons is the number of samplers that -tune with -out adds.
const comparisons = 1

// newTuning returns a tuning of the only sampler that has settings to tune. It fails if there is none or
// several.
func (p *plan) newTuning(o tune.Options, lengths [2]int) (*tuning, error) {
	var found *tuning
	var first error
	for i, m := range p.movers {
		var fixed []string
		for _, setting := range strings.Split(m.name, ":")[1:] {
			key, _, _ := strings.Cut(setting, "=")
			fixed = append(fixed, key)
		}
		var space *tune.Space
		err := fmt.Errorf("%s has no numbers to tune; sardonics has", mcmc.FormatMover(m.Mover))
		if walks, ok := m.Mover.(mcmc.Sardonics); ok {
			space, err = tune.NewSpace(walks, fixed, p.units, lengths)
		}
		switch {
		case err != nil:
			if first == nil {
				first = err
			}
		case found != nil:
			return nil, fmt.Errorf("-sampler names two samplers with settings to tune, %s and %s; give all settings of one of them", p.movers[found.at].name, m.name)
		default:
			found = &tuning{at: i, options: o, space: space}
		}
	}
	if found == nil {
		return nil, first
	}
	return found, nil
}

// loadPolicy reads the file of -policy and replaces the sampler sardonics by the policy.
func (p *plan) loadPolicy() error {
	const kind = "sardonics"
	at := slices.IndexFunc(p.movers, func(m namedMover) bool { return kindOf(m.name) == kind })
	if at < 0 {
		return cli.Usagef("-policy is for sardonics, which -sampler %s does not name", p.samplers)
	}
	policy, err := tune.ReadPolicy(p.policy, p.units)
	if err != nil {
		return fmt.Errorf("-policy: %w", err)
	}
	if _, rest, given := strings.Cut(p.movers[at].name, ":"); given && p.flags.Given("sampler") {
		return cli.Usagef("-policy has the settings of %s, so -sampler must not give %s", kind, rest)
	}
	mixture, err := policy.Mixture()
	if err != nil {
		return fmt.Errorf("-policy: %s: %w", p.policy, err)
	}
	if _, err := mixture.Bind(p.newSystem(p.start(rbm.NewKey(p.seed).Child(startKey))), p.beta, nil); err != nil {
		return fmt.Errorf("-policy: %s: %w", p.policy, err)
	}
	p.tuning = &tuning{at: at, policy: policy}
	if math.Abs(policy.Beta-p.beta) > 1e-9*p.beta {
		p.policyWarning = fmt.Sprintf("-policy: %s was learned at β = %.6g and is used at %.6g; its settings may be poor there, so tune again", p.policy, policy.Beta, p.beta)
	}
	p.movers[at] = namedMover{mixture, kind + " by policy"}
	return nil
}

func kindOf(sampler string) string {
	kind, _, _ := strings.Cut(sampler, ":")
	return kind
}

// tuneSampler tunes the sampler and replaces it by the policy. With -out it adds the
// sampler with its settings before tuning, for comparison.
func (p *plan) tuneSampler(ctx context.Context) error {
	t := p.tuning
	if t == nil || t.space == nil {
		return nil
	}
	problem := &tune.Problem{
		Space: t.space, Beta: p.beta, Start: p.relaxed(rbm.NewKey(p.seed).Child(startKey)), Key: rbm.NewKey(p.seed).Child(tuneKey),
		NewSystem: func(state []uint8) mcmc.System { return p.newSystem(state) },
	}
	const parts = 1000
	bar := p.flags.NewProgress("", "‰", parts)
	defer bar.Done()
	start := time.Now()
	result, err := problem.Tune(ctx, t.options, func(done float64) { bar.Set(int64(parts*done), "tuning") })
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("stopped while tuning; there is nothing to show")
	case err != nil:
		return fmt.Errorf("-tune: %w", err)
	}
	t.result, t.seconds = result, time.Since(start).Seconds()
	kind := kindOf(p.movers[t.at].name)
	t.policy = tune.NewPolicy(result, t.space, p.model, p.units, p.beta)
	untuned := p.movers[t.at]
	p.movers[t.at] = namedMover{mcmc.Mixture(result.Kernels), kind + " tuned"}
	if p.out != "" {
		p.references = comparisons
		p.movers = append(p.movers, namedMover{untuned.Mover, untuned.name + " untuned"})
	}
	p.samplerWarnings = nil
	if err := p.bind(); err != nil || p.policy == "" {
		return err
	}
	return t.policy.Write(p.policy) // before sampling, which may be stopped
}

// record returns the policy and its tuning for -json, or nil without a policy. file is the name of the
// policy's file, or "" if it has none.
func (t *tuning) record(file string) (rec cli.Record) {
	if t == nil || t.policy == nil {
		return nil
	}
	var policy cli.Record
	policy.AddSome("file", file)
	policy.Add("sampler", t.policy.Sampler)
	policy.Add("kernels", len(t.policy.Kernels))
	policy.Add("best", t.policy.Best)
	policy.Add("mean", means(t.policy)) // mean of each setting over the kernels
	rec.Add("policy", policy)
	if t.result != nil {
		rec.Add("evaluations", len(t.result.Trials))
		rec.Add("seconds_tuning", t.seconds)
		rec.Add("seconds_model", t.result.ModelSeconds) // part of seconds_tuning: the Gaussian process and the maximisation over it
	}
	return rec
}

// means returns the means of the settings over the kernels, under the names of Hamze et al. (2012).
// "single" is the fraction of kernels whose moves are single walks. n and the frequencies p are means over
// the other kernels, and gamma_h over the kernels that use it.
func means(p *tune.Policy) map[string]float64 {
	m := map[string]float64{}
	kernels, err := p.Mixture()
	if err != nil {
		return nil // cannot happen: package tune has made or checked the policy
	}
	pairs, mixed := 0, 0 // number of kernels that are not single walks, and of those with a second bias
	add := func(name string, x float64) { m[name] += x / float64(len(kernels)) }
	for _, k := range kernels {
		add("k_l", float64(k.MinLength))
		add("k_u", float64(k.MaxLength))
		add("gamma_l", k.Gamma1)
		if k.Single {
			add("single", 1)
			continue
		}
		pairs++
		m["n"] += float64(k.Walks)
		sum := k.Mix[0] + k.Mix[1] + k.Mix[2]
		m["p_ll"] += k.Mix[0] / sum
		m["p_hl"] += k.Mix[1] / sum
		m["p_lh"] += k.Mix[2] / sum
		if sum > k.Mix[0] {
			mixed++
			m["gamma_h"] += k.Gamma2
		}
	}
	for _, name := range []string{"n", "p_ll", "p_hl", "p_lh"} {
		if x, ok := m[name]; ok {
			m[name] = x / float64(pairs)
		}
	}
	if mixed > 0 {
		m["gamma_h"] /= float64(mixed)
	} else {
		for _, name := range []string{"p_ll", "p_hl", "p_lh"} {
			delete(m, name) // all moves have the first bias
		}
	}
	return m
}

// meanNames is the order in which lines prints means.
var meanNames = []string{"k_l", "k_u", "gamma_l", "gamma_h", "p_ll", "p_hl", "p_lh", "n", "single"}

// lines returns lines about the tuning and the policy, or nil without a policy.
func (t *tuning) lines() (lines []string) {
	if t == nil || t.policy == nil {
		return nil
	}
	if r := t.result; r != nil {
		lines = append(lines, fmt.Sprintf("Tuned in %.3g s by %d trials; the model took %.2g s.", t.seconds, len(r.Trials), r.ModelSeconds))
	}
	m := means(t.policy)
	var mean []string
	for _, name := range meanNames {
		if x, ok := m[name]; ok {
			mean = append(mean, fmt.Sprintf("%s %s", name, strconv.FormatFloat(x, 'g', int(min(6, max(3, 1+math.Ceil(math.Log10(max(1, x)))))), 64)))
		}
	}
	return append(lines, fmt.Sprintf("The policy draws one of %d kernels for every %d moves; on average %s.", len(t.policy.Kernels), mcmc.HeldMoves, strings.Join(mean, ", ")))
}
