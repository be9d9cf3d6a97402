package negphase

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/data/grammar"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// maxFit is the largest length of walks by default. On an RBM of 784 × 500
// units that was trained on MNIST, 85 % of pairs of walks of 1 to 20 flips are
// accepted. Hamze, Wang & de Freitas 2012, section 4.3, also learned 1 to 20 for such a model.
const maxFit = 20

// samplerSettings configure the sampler of binary systems that moves chains.
type samplerSettings struct {
	mover mcmc.Mover // nil: none
	// fit limits the walks of the sampler to 1 to maxFit flips, or to fewer if the model
	// has too few units.
	fit  bool
	only string // name of the only sampler that the kind allows; "" if it allows any
	// gibbs is the number of block Gibbs steps before the moves. 0 is one step for samplers
	// that keep the number of active units, if the model has no constraint, and for models with
	// both Gaussian and other visible units; otherwise it is none.
	gibbs int
}

// samplerKey is the key of the sampler in the table of settings. The grammar names the sampler without it.
const samplerKey = "sampler"

// gibbsKey returns the row of the table for the block Gibbs steps before the moves.
func (m *samplerSettings) gibbsKey() grammar.Key {
	k := grammar.Count("gibbs", &m.gibbs, 0, 0, maxSteps, "number of block Gibbs steps before the moves of a sampler (default: 1 for moves that keep the number of active units, unless a constraint requires that number; otherwise 0)")
	k.Initial, k.Example, k.Check = "", "1", m.checkGibbs
	return k
}

func (m *samplerSettings) checkGibbs() error {
	switch {
	case m.gibbs < 0 || m.gibbs > maxSteps:
		return fmt.Errorf("gibbs is %d; it must lie in 0 … %d, and 0 is as many as the sampler needs", m.gibbs, maxSteps)
	case m.gibbs > 0 && m.mover == nil:
		return errors.New("gibbs is for ladders with a sampler, such as pt:gibbs=1:im; k counts the Gibbs steps between swaps")
	}
	return nil
}

// checkMover checks the sampler's settings as far as is possible without a model.
func (m *samplerSettings) checkMover() error { return mcmc.CheckMover(m.mover) }

// sampler returns the settings of the sampler; nil if the kind has none.
func (s Settings) sampler() *samplerSettings {
	if m, ok := s.specific.(interface{ ofSampler() *samplerSettings }); ok {
		return m.ofSampler()
	}
	return nil
}

func (m *samplerSettings) ofSampler() *samplerSettings { return m }

// Sampler returns the name of the sampler of binary systems that moves the chains, such as sardonics;
// "" if block Gibbs steps move them.
func (s Settings) Sampler() string {
	name, _, _ := strings.Cut(s.Get(samplerKey), ":")
	return name
}

// String returns the sampler in the grammar; "" if there is none.
func (m *samplerSettings) String() string {
	if m.mover == nil {
		return ""
	}
	parts := strings.Split(mcmc.FormatMover(m.mover), ":")
	for i, p := range parts {
		if m.fit && strings.HasPrefix(p, "k=") {
			parts[i] = "k=fit"
		}
	}
	return strings.Join(parts, ":")
}

// Set reads the sampler in the grammar.
func (m *samplerSettings) Set(text string) error {
	parts := strings.Split(text, ":")
	name := parts[0]
	if m.only != "" && name != m.only {
		return fmt.Errorf("its sampler is %s; use walk:%s", name, name)
	}
	given := slices.DeleteFunc(parts, func(p string) bool { return p == "k=fit" })
	fit := mcmc.MoverHas(name, "k") && !slices.ContainsFunc(given, func(p string) bool { return strings.HasPrefix(p, "k=") })
	if fit {
		given = append(given, fmt.Sprintf("k=1-%d", maxFit))
	}
	mover, err := mcmc.ParseMover(strings.Join(given, ":"), mcmc.Linear)
	if err == nil {
		m.mover, m.fit = mover, fit
	}
	return err
}

// checkName returns an error unless part, which is text without '=', names a sampler that s can have.
// sampler has the earlier parts of the text that configure a sampler.
func (s Settings) checkName(part string, sampler []string) error {
	m := s.sampler()
	_, err := strconv.Atoi(part)
	switch {
	case err == nil:
		return fmt.Errorf("%s: %q is not of the form key=value; within settings numbers of a list follow a slash, as in tau=reach/5", s.Kind, part)
	case m == nil || m.only != "":
		return fmt.Errorf("%s: %q is not of the form key=value", s.Kind, part)
	case !slices.Contains(mcmc.MoverKinds(), part):
		return fmt.Errorf("%s: %q is not of the form key=value, nor a sampler%s",
			s.Kind, part, grammar.DidYouMeanOr(part, mcmc.MoverKinds(), "there are "+strings.Join(mcmc.MoverKinds(), ", ")))
	case len(sampler) > 0:
		return fmt.Errorf("%s: the samplers %s and %s are given; leave one out", s.Kind, sampler[0], part)
	}
	return nil
}

func moverName(m mcmc.Mover) string {
	name, _, _ := strings.Cut(mcmc.FormatMover(m), ":")
	return name
}

// withLengths returns m with walks of low … high flips, if it has walks.
func withLengths(m mcmc.Mover, low, high int) mcmc.Mover {
	switch w := m.(type) {
	case mcmc.Sardonics:
		w.MinLength, w.MaxLength, w.Auto = low, high, false
		return w
	case mcmc.Intracluster:
		w.MinLength, w.MaxLength, w.Auto = low, high, false
		return w
	}
	return m
}

// Fitted replaces k=fit in s by the lengths of walks that an estimator uses on m.
func (s Settings) Fitted(m *rbm.RBM) Settings {
	if set := s.sampler(); set != nil && set.mover != nil && set.fit {
		if sites, err := sitesOf(m, set.mover); err == nil {
			s.specific = copyOf(s.specific)
			s.sampler().mover, s.sampler().fit = sites.fitted(set.mover, true), false
		}
	}
	return s
}

// CheckModel returns an error that says why estimators with these settings cannot sample m: they cannot
// keep its constraint, or their sampler cannot move it. Otherwise warning is what the sampler warns of,
// such as that it may never reach some states; "" if there is no warning.
func (s Settings) CheckModel(m *rbm.RBM) (warning string, err error) {
	set := s.sampler()
	if err := s.suits(m); err != nil || set == nil || set.mover == nil {
		return "", err
	}
	beta := coldest
	if l := s.ladder(); l != nil {
		beta = l.firstBeta()
	}
	w := newMoves(*set, 1)
	if err := w.prepare(m, beta, 1); err != nil {
		return "", err
	}
	for _, p := range w.replicas {
		c, ok := p.chain.(mcmc.Warner)
		switch {
		case !ok || c.Warning() == "":
		case p.beta == 1:
			return c.Warning(), nil
		default:
			return fmt.Sprintf("at inverse temperature %v: %s", p.beta, c.Warning()), nil
		}
	}
	return "", nil
}

// Moves returns the counts of a sampler of binary systems, summed over all chains and replicas.
func (i Info) Moves() mcmc.Info {
	n := func(name string) int64 { return int64(i.Get("Moves." + name)) }
	return mcmc.Info{Moves: n("Moves"), Updates: n("Updates"), Proposals: n("Proposals"), Accepted: n("Accepted"), Flips: n("Flips")}
}

func (i *Info) countMoves(m mcmc.Info) {
	i.Count("Moves.Moves", float64(m.Moves))
	i.Count("Moves.Updates", float64(m.Updates))
	i.Count("Moves.Proposals", float64(m.Proposals))
	i.Count("Moves.Accepted", float64(m.Accepted))
	i.Count("Moves.Flips", float64(m.Flips))
}

// Figures implements Reporter.
func (m *samplerSettings) Figures(i Info, updates int) []Figure {
	if m.mover == nil {
		return nil
	}
	moves := i.Moves()
	acceptance, flips, accepted := math.NaN(), 0.0, ""
	if rate, ok := moves.Acceptance(); ok {
		acceptance, accepted = rate, percent(rate)+" of proposals accepted, "
	}
	if updates > 0 {
		flips = float64(moves.Flips) / float64(updates)
	}
	return []Figure{
		{Key: "acceptance", Value: acceptance, Column: true},
		{Key: "flips_per_update", Value: flips, Column: true, Text: fmt.Sprintf("%s: %s%.4g flips an update", moverName(m.mover), accepted, flips)},
	}
}

// Warnings implements Warner. It warns if hardly any walk is accepted.
func (m *samplerSettings) Warnings(_, recent Info, _ int) []diag.Warning {
	moves := recent.Moves()
	rate, ok := moves.Acceptance()
	if m.mover == nil || !mcmc.MoverHas(moverName(m.mover), "gamma") || !ok || moves.Proposals < diag.LeastAttempts || rate >= diag.LeastExchange {
		return nil
	}
	return []diag.Warning{{Kind: diag.FewAccepted, Of: []string{moverName(m.mover)}, Numbers: diag.Numbers{"rate": rate}, Help: []diag.Remedy{ShorterWalks}}}
}
