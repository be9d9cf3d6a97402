package main

import (
	"fmt"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/negphase/mcmc"
	"gorbm/train/plots"
)

// defaultSamplers returns the default of -sampler for the system.
func (p *plan) defaultSamplers() string {
	const paper, long, onRBM = 90, 25, 20 // numbers of flips of a walk in the papers: on 60x60, on 9x9x9, and on RBMs
	n := p.units
	if p.flags.FirstGiven("tune", "policy") != "" && n > 2 {
		if p.fixed() {
			return "im"
		}
		return "sardonics"
	}
	if p.graph == nil {
		switch {
		case p.fixed():
			return fmt.Sprintf("exchange,im:k=1-%d", max(1, min(onRBM, p.active, n-p.active)))
		case n > 2:
			return fmt.Sprintf("block-gibbs,flip,sardonics:k=1-%d:gamma=1", min(onRBM, n-1))
		}
		return "block-gibbs,flip"
	}
	switch {
	case p.gap:
		return "gibbs,metropolis,modified-metropolis"
	case p.flags.Given("model") && !p.flags.Given("active") && n > 2: // no sw: with the couplings of an RBM a cluster has all units
		return fmt.Sprintf("gibbs,metropolis,sardonics:k=1-%d:gamma=1", min(onRBM, n-1))
	case p.flags.Given("active"):
		if room := min(p.active, n-p.active); room < paper {
			return fmt.Sprintf("exchange,im:k=1-%d", max(1, min(long, room)))
		}
		return fmt.Sprintf("exchange,im:k=%d", paper)
	case n >= 20*paper:
		return fmt.Sprintf("gibbs,sw,sardonics:k=%d-%d:gamma=1.02", paper-1, paper) // walks of one length cannot reach all states
	case n > 2:
		return fmt.Sprintf("gibbs,sw,sardonics:k=1-%d", min(long, n-1))
	}
	return "gibbs,sw"
}

// A namedMover is a sampler with its name.
type namedMover struct {
	mcmc.Mover
	name string // as in -sampler, with the order of -order
}

// parseSamplers reads -sampler and -order.
func (p *plan) parseSamplers() error {
	taken := p.order == ""
	var kinds [2]string // the last sampler of all states, and the last that fixes the number of spins up; "": none
	for _, text := range strings.Split(p.samplers, ",") {
		m, text, err := p.parseTempering(text, &taken)
		if err != nil {
			return cli.Usagef("-sampler: %w", err)
		}
		if name, rest, _ := strings.Cut(text, ":"); m == nil && p.order != "" && mcmc.MoverHas(name, "order") && !strings.Contains(":"+rest, ":order=") {
			text += ":order=" + p.order
			taken = true
		}
		if m == nil {
			if m, err = mcmc.ParseMover(text, mcmc.Linear); err != nil {
				return cli.Usagef("-sampler: %w", err)
			}
		}
		if !strings.Contains(text, ":k=") {
			m = p.fit(m)
		}
		p.movers = append(p.movers, namedMover{m, text})
		kind := 0
		if mcmc.KeepsActive(m) {
			kind = 1
		}
		kinds[kind] = text
	}
	switch {
	case !taken:
		return cli.Usagef("-order is for gibbs, metropolis and modified-metropolis without order= in -sampler; -sampler %s has none of these", p.samplers)
	case kinds[0] != "" && kinds[1] != "":
		return cli.Usagef("-sampler: %s keeps the number of spins up, %s does not: they sample different distributions, so give them in separate runs", kinds[1], kinds[0])
	case len(p.movers) > len(plots.Colors):
		return cli.Usagef("-sampler names %d samplers; at most %d run together", len(p.movers), len(plots.Colors))
	}
	p.keepsUp = kinds[1] != ""
	return nil
}

// parseTempering parses pt or ins, and returns a nil Mover if text names another sampler. It sets
// ordered if -order applies to the sampler of the replicas. In a scan the temperatures are those of -scan.
func (p *plan) parseTempering(text string, ordered *bool) (mcmc.Mover, string, error) {
	if !slices.Contains(mcmc.SwappingKinds(), kindOf(text)) {
		return nil, text, nil
	}
	standard := "gibbs"
	switch {
	case p.fixed():
		standard = "exchange"
	case p.graph == nil:
		standard = "block-gibbs"
	}
	order := mcmc.Linear
	if at := slices.Index(mcmc.Orders(), p.order); at >= 0 {
		order = mcmc.Order(at)
	}
	t, given, err := mcmc.ParseTempering(text, standard, order)
	if err != nil {
		return nil, text, err
	}
	if p.scan != nil && given != nil {
		return nil, text, fmt.Errorf("%s: the temperatures are those of -scan; leave out %s", t.Swapping, strings.Join(given, " and "))
	}
	if kind := kindOf(mcmc.FormatMover(t.Mover)); p.order != "" && mcmc.MoverHas(kind, "order") && !strings.Contains(text, ":order=") {
		*ordered = true
		if !strings.Contains(text, kind) {
			text += ":" + kind
		}
		text += ":order=" + p.order
	}
	return t, text, nil
}

// fit limits the default length of walks to the number of flips that the system allows.
func (p *plan) fit(m mcmc.Mover) mcmc.Mover {
	n := p.units
	switch w := m.(type) {
	case mcmc.Sardonics:
		w.MaxLength = min(w.MaxLength, max(1, n-1))
		return w
	case mcmc.Tempering:
		w.Mover = p.fit(w.Mover)
		return w
	case mcmc.Intracluster:
		active := n / 2
		if p.fixed() {
			active = p.active
		}
		w.MaxLength = min(w.MaxLength, max(1, min(active, n-active)))
		return w
	}
	return m
}
