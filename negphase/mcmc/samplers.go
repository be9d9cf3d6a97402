package mcmc

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorbm/data/grammar"
)

// A sampler is a kind of Mover: a row of the table of samplers.
type sampler struct {
	name        string
	help        string // one line for the help of commands
	keepsActive bool   // moves keep the number of active units
	zero        Mover  // the zero value of its type
	// edit copies m, which must have this type. It returns keys that change the copy, and a
	// function that returns the copy.
	edit func(m Mover) (keys grammar.Keys, edited func() Mover)
}

// samplers is the table of all samplers. To add one, write a file
// with its settings, their keys and its chain, and add a row here.
var samplers = []sampler{
	row("gibbs", "heat bath; a move is a sweep of all spins", false, func(m *Gibbs) grammar.Keys { return grammar.Keys{orderKey(&m.Order)} }),
	row("metropolis", "accepts a flip with probability min(1, exp(−βΔE)); a move is a sweep", false, func(m *Metropolis) grammar.Keys { return grammar.Keys{orderKey(&m.Order)} }),
	row("modified-metropolis", "like metropolis, but accepts a flip with ΔE = 0 with probability ½", false, func(m *ModifiedMetropolis) grammar.Keys { return grammar.Keys{orderKey(&m.Order)} }),
	row("sw", "Swendsen–Wang: a move divides the spins into clusters and flips each with probability ½", false, noKeys[SwendsenWang]),
	row("wolff", "Wolff: a move flips a cluster around a random spin", false, (*Wolff).keys),
	row("block-gibbs", "a move updates all hidden, then all visible units of an RBM", false, noKeys[BlockGibbs]),
	row("flip", "like block-gibbs, but accepts flips as modified-metropolis does (flip-the-state)", false, noKeys[FlipTheState]),
	row("sardonics", "self-avoiding walks in the space of states", false, (*Sardonics).keys),
	row("exchange", "swaps a spin that is up and one that is down; -active spins are up", true, noKeys[Exchange]),
	row("im", "intracluster moves: one walk flips spins that are up, and one flips as many that are down", true, (*Intracluster).keys),
}

func row[M Mover](name, help string, keepsActive bool, keys func(*M) grammar.Keys) sampler {
	return sampler{name, help, keepsActive, *new(M), func(m Mover) (grammar.Keys, func() Mover) {
		settings := m.(M)
		return keys(&settings), func() Mover { return settings }
	}}
}

func noKeys[M Mover](*M) grammar.Keys { return nil }

// keys returns the keys of the sampler.
func (s *sampler) keys() grammar.Keys {
	keys, _ := s.edit(s.zero)
	return keys
}

// samplerOf returns the row of the table for the type of m, or nil.
func samplerOf(m Mover) *sampler {
	at := slices.IndexFunc(samplers, func(s sampler) bool { return reflect.TypeOf(s.zero) == reflect.TypeOf(m) })
	if at < 0 {
		return nil
	}
	return &samplers[at]
}

func samplerNamed(name string) *sampler {
	at := slices.Index(MoverKinds(), name)
	if at < 0 {
		return nil
	}
	return &samplers[at]
}

// MoverKinds returns the names of all samplers.
func MoverKinds() []string {
	names := make([]string, len(samplers))
	for i, s := range samplers {
		names[i] = s.name
	}
	return names
}

// MoverKeys returns the names of the settings of samplers of this kind.
func MoverKeys(kind string) []string {
	if s := samplerNamed(kind); s != nil {
		return s.keys().Names()
	}
	return nil
}

// MoverHas reports whether samplers of this kind have the given key.
func MoverHas(kind, key string) bool { return slices.Contains(MoverKeys(kind), key) }

// CheckMover returns an error that names the setting of m that is out of range.
// Bind makes the checks that depend on a system.
func CheckMover(m Mover) error {
	if c, ok := m.(interface{ Check() error }); ok {
		return c.Check()
	}
	return nil
}

// KeepsActive reports whether moves of m keep the number of active units.
func KeepsActive(m Mover) bool {
	if t, ok := m.(Tempering); ok {
		return KeepsActive(t.Mover)
	}
	s := samplerOf(m)
	return s != nil && s.keepsActive
}

// Help returns the help texts of the samplers and of their keys, one per line.
func Help() (kinds, keys string) {
	owners := map[string][]string{} // samplers that have a key
	for _, s := range samplers {
		kinds += fmt.Sprintf("  %-21s %s\n", s.name, s.help)
		for _, k := range s.keys() {
			owners[k.Name] = append(owners[k.Name], s.name)
		}
	}
	for _, s := range samplers {
		for _, k := range s.keys() {
			switch o := owners[k.Name]; {
			case len(o) == 1:
				keys += fmt.Sprintf("  %-8s of %s: %s\n", k.Name, s.name, k.Help)
			case o[0] == s.name:
				keys += fmt.Sprintf("  %-8s %s\n", k.Name, k.Help)
			}
		}
	}
	return kinds, keys
}

// ParseMover parses a sampler in the grammar name[:key=value]…, such as
//
//	gibbs:order=random
//	sardonics:k=1-25:gamma=.95/1.05:mix=2/1/1:walks=3:weights=boltzmann
//	im:k=90:gamma=1/.9
//
// Help lists all names and keys. The default order is o. With k=auto the default gamma gives locally
// balanced weights: 1, or ½ with boltzmann. See the type of each sampler for the meaning of its settings.
// The error names the key or the sampler, and the values that it may have.
func ParseMover(text string, o Order) (Mover, error) {
	parts := strings.Split(text, ":")
	s := samplerNamed(parts[0])
	if s == nil {
		return nil, grammar.NoKind("sampler", parts[0], MoverKinds())
	}
	keys, mover := s.edit(s.zero)
	keys.Initialize()
	if order, ok := keys.Find("order"); ok {
		if err := order.Set(o.String()); err != nil {
			return nil, err
		}
	}
	if err := keys.Parse(s.name, parts[1:]); err != nil {
		return nil, err
	}
	m := mover()
	if b, ok := m.(interface{ balanced() Mover }); ok && !slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, "gamma=") }) {
		m = b.balanced()
	}
	return m, CheckMover(m)
}

// FormatMover returns m in the grammar of ParseMover, with every
// setting that has an effect. For a Mover that is not in the table it returns
// the name of its type.
func FormatMover(m Mover) string {
	if t, ok := m.(Tempering); ok {
		return t.format()
	}
	s := samplerOf(m)
	if s == nil {
		return fmt.Sprintf("%T", m)
	}
	text := s.name
	keys, _ := s.edit(m)
	for _, k := range keys {
		if value := k.Text(); value != "" {
			text += ":" + k.Name + "=" + value
		}
	}
	return text
}
