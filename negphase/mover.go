package negphase

import (
	"fmt"
	"slices"
	"strings"

	"gorbm/negphase/mcmc"
)

// walkKeys are the keys of estimators that move by a sampler of binary systems
// alone.
var walkKeys = []string{"chains", "start", "moves", "gibbs"}

// maxFit is the largest length of walks by default. On an RBM of 784 × 500
// units that was trained on MNIST, pairs of walks of 1 to 20 flips are accepted
// in 85 % of moves (Hamze, Wang & de Freitas 2012, section 4.3, learned 1 to 20
// there too).
const maxFit = 20

// walks reports whether the chains move by a Mover alone.
func (s Settings) walks() bool { return Has(s.Kind, "moves") }

// defaultMover returns the sampler that a kind has by default, and whether its
// lengths are fitted.
func defaultMover(kind string) (m mcmc.Mover, fit bool) {
	switch kind {
	case "sardonics":
		return withLengths(mcmc.DefaultSardonics(), 1, maxFit), true
	case "im":
		return withLengths(mcmc.DefaultIntracluster(), 1, maxFit), true
	case "walk":
		return mcmc.Gibbs{}, false
	}
	return nil, false
}

// Sampler returns the name of the sampler of binary systems that the chains
// move by, such as sardonics; "" if they take Gibbs steps.
func (s Settings) Sampler() string {
	name, _, _ := strings.Cut(s.mover(), ":")
	return name
}

// acceptanceFloor is the share of accepted walks below which chains are called
// stuck: as with exchanges of a ladder, one in a hundred.
const acceptanceFloor = 0.01

// acceptanceTries is the least number of walks that tell of such a rate: at
// five times the floor a hundred fail all by a chance of 0.6 %.
const acceptanceTries = 1 / acceptanceFloor

// AcceptanceWarning says in words that hardly any walk is accepted by the
// counts of i; empty if enough are, or chains do not move by walks.
func (s Settings) AcceptanceWarning(i Info) string {
	rate, ok := i.Moves.Acceptance()
	switch s.Mover.(type) {
	case mcmc.Sardonics, mcmc.Intracluster:
	default:
		return ""
	}
	if !ok || i.Moves.Proposals < acceptanceTries || rate >= acceptanceFloor {
		return ""
	}
	return fmt.Sprintf("the chains hardly move: %.2g %% of the walks of %s are accepted; take shorter walks, such as k=1-5, or gamma nearer to 1", 100*rate, s.Sampler())
}

// withLengths returns m with walks of low … high flips, if it has walks.
func withLengths(m mcmc.Mover, low, high int) mcmc.Mover {
	switch w := m.(type) {
	case mcmc.Sardonics:
		w.MinLength, w.MaxLength = low, high
		return w
	case mcmc.Intracluster:
		w.MinLength, w.MaxLength = low, high
		return w
	}
	return m
}

// moverName returns the name of m in the grammar.
func moverName(m mcmc.Mover) string {
	name, _, _ := strings.Cut(mcmc.FormatMover(m), ":")
	return name
}

// mover returns the sampler in the grammar; "" if there is none.
func (s Settings) mover() string {
	if s.Mover == nil || !s.walks() && !Has(s.Kind, "tau") {
		return ""
	}
	parts := strings.Split(mcmc.FormatMover(s.Mover), ":")
	for i, p := range parts {
		if s.Fit && strings.HasPrefix(p, "k=") {
			parts[i] = "k=auto"
		}
	}
	return strings.Join(parts, ":")
}

// setMover sets the sampler from its name and settings; what they do not say
// stays if the sampler is of that name already.
func (s *Settings) setMover(parts []string) error {
	name, given := parts[0], parts[1:]
	if s.Mover == nil || moverName(s.Mover) != name {
		m, err := mcmc.ParseMover(name, mcmc.Linear)
		if err != nil {
			return err
		}
		if s.Mover, s.Fit = m, mcmc.MoverHas(name, "k"); s.Fit {
			s.Mover = withLengths(m, 1, maxFit)
		}
	}
	text := []string{name}
	for _, old := range strings.Split(mcmc.FormatMover(s.Mover), ":")[1:] {
		key, _, _ := strings.Cut(old, "=")
		if !slices.ContainsFunc(given, func(p string) bool { return strings.HasPrefix(p, key+"=") }) {
			text = append(text, old)
		}
	}
	for _, p := range given {
		if p == "k=auto" {
			s.Fit = true
			p = fmt.Sprintf("k=1-%d", maxFit)
		} else if strings.HasPrefix(p, "k=") {
			s.Fit = false
		}
		text = append(text, p)
	}
	m, err := mcmc.ParseMover(strings.Join(text, ":"), mcmc.Linear)
	if err == nil {
		s.Mover = m
	}
	return err
}

// A moverText gathers what a text says of the sampler.
type moverText struct {
	kind  string   // of the estimator
	name  string   // of the sampler, if the text names it
	parts []string // its settings
}

// sampler returns the name of the sampler whose keys are read: sardonics and
// im are their own, others are named.
func (t *moverText) sampler() string {
	if t.name == "" && (t.kind == "sardonics" || t.kind == "im") {
		return t.kind
	}
	return t.name
}

// begin takes a part without '='.
func (t *moverText) begin(part string) error {
	switch {
	case t.kind != "walk" && !Has(t.kind, "tau"):
		return fmt.Errorf("%s: %q is not of the form key=value", t.kind, part)
	case !slices.Contains(mcmc.MoverKinds(), part):
		return fmt.Errorf("%s: %q is not of the form key=value, nor a sampler%s; there are %s",
			t.kind, part, didYouMean(part, mcmc.MoverKinds()), strings.Join(mcmc.MoverKinds(), ", "))
	case t.name != "":
		return fmt.Errorf("%s: the samplers %s and %s are given; leave one out", t.kind, t.name, part)
	}
	t.name = part
	return nil
}

// has reports whether key is one of the sampler's.
func (t *moverText) has(key string) bool { return mcmc.MoverHas(t.sampler(), key) }

// keys returns the keys of the sampler.
func (t *moverText) keys() (keys []string) {
	for _, key := range []string{"order", "k", "gamma", "weights", "walks", "mix", "accept"} {
		if t.has(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// set sets the sampler of s, whose defaults are those of an estimator of the
// given kind.
func (t *moverText) set(s *Settings, defaults string) error {
	name := t.sampler()
	switch {
	case Has(s.Kind, "tau"):
		if !Has(defaults, "tau") {
			s.Mover, s.Fit = nil, false
		}
	case !s.walks():
		s.Mover, s.Fit = nil, false
	case name == "" && defaults != "walk":
		s.Mover, s.Fit = defaultMover("walk")
	}
	if name == "" {
		return nil
	}
	if err := s.setMover(append([]string{name}, t.parts...)); err != nil {
		return t.named(err)
	}
	if s.Kind == "walk" && (name == "sardonics" || name == "im") {
		s.Kind = name
	}
	return nil
}

// named returns err with the name of the estimator before that of the sampler.
func (t *moverText) named(err error) error {
	if t.kind == t.sampler() {
		return err
	}
	return fmt.Errorf("%s: %w", t.kind, err)
}

// checkMover checks the sampler as far as is possible without a model.
func (s Settings) checkMover() error {
	ladder := Has(s.Kind, "tau")
	if !s.walks() && !ladder || ladder && s.Mover == nil {
		return nil
	}
	_, sardonics := s.Mover.(mcmc.Sardonics)
	_, im := s.Mover.(mcmc.Intracluster)
	switch {
	case s.Mover == nil:
		return fmt.Errorf("%s: there is no sampler; DefaultSettings has one", s.Kind)
	case s.Kind == "sardonics" && !sardonics, s.Kind == "im" && !im:
		return fmt.Errorf("%s: its sampler is %s; take walk:%s", s.Kind, moverName(s.Mover), moverName(s.Mover))
	case ladder && s.Path == ToData:
		return fmt.Errorf("%s: path=data is for block Gibbs steps; with the sampler %s the temperatures lead to the uniform law, so leave path out", s.Kind, moverName(s.Mover))
	}
	switch m := s.Mover.(type) {
	case mcmc.Sardonics:
		return m.Check()
	case mcmc.Intracluster:
		return m.Check()
	}
	return nil
}

// checkGibbs checks the number of block Gibbs steps beside the moves.
func (s Settings) checkGibbs() error {
	switch {
	case s.Gibbs < 0 || s.Gibbs > maxSteps:
		return fmt.Errorf("%s: gibbs is %d; it must lie in 0 … %d, and 0 is as many as the sampler needs", s.Kind, s.Gibbs, maxSteps)
	case s.Gibbs > 0 && s.Mover == nil:
		return fmt.Errorf("%s: gibbs is for ladders with a sampler, such as %s:gibbs=1:im; k counts the Gibbs steps between swaps", s.Kind, s.Kind)
	}
	return nil
}
