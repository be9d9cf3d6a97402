package mcmc

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorbm/data"
)

// A sampler is a kind of Mover: a row of the table of samplers.
type sampler struct {
	name        string
	help        string // one line for the help of commands
	keepsActive bool   // moves keep the number of units that differ from a reference
	zero        Mover  // a zero value of its type
	// edit returns the keys of a copy of a Mover of this type, and the copy.
	edit func(m Mover) (keys []key, edited func() Mover)
}

// samplers is the table of all samplers. A new one is a row here and a file
// with its settings, their keys and its chain.
var samplers = []sampler{
	row("gibbs", "heat bath, a sweep of all spins a move", false, func(m *Gibbs) []key { return []key{orderKey(&m.Order)} }),
	row("metropolis", "accepts by min(1, exp(−βΔE)), a sweep a move", false, func(m *Metropolis) []key { return []key{orderKey(&m.Order)} }),
	row("modified-metropolis", "the same, but flips that cost nothing by chance ½", false, func(m *ModifiedMetropolis) []key { return []key{orderKey(&m.Order)} }),
	row("sw", "Swendsen–Wang: clusters of all spins a move", false, noKeys[SwendsenWang]),
	row("block-gibbs", "all hidden, then all visible units of an RBM a move", false, noKeys[BlockGibbs]),
	row("flip", "like block-gibbs, but always flips to the likelier value", false, noKeys[FlipTheState]),
	row("sardonics", "self-avoiding walks in the space of states", false, (*Sardonics).keys),
	row("exchange", "on states of -active spins up: swaps an up and a down spin", true, noKeys[Exchange]),
	row("im", "the same by intracluster moves: walks out and back", true, (*Intracluster).keys),
}

func row[M Mover](name, help string, keepsActive bool, keys func(*M) []key) sampler {
	return sampler{name, help, keepsActive, *new(M), func(m Mover) ([]key, func() Mover) {
		settings := m.(M)
		return keys(&settings), func() Mover { return settings }
	}}
}

func noKeys[M Mover](*M) []key { return nil }

// keys returns the keys of the sampler, of zero settings.
func (s *sampler) keys() []key {
	keys, _ := s.edit(s.zero)
	return keys
}

// samplerOf returns the row of the table for a Mover, or nil.
func samplerOf(m Mover) *sampler {
	at := slices.IndexFunc(samplers, func(s sampler) bool { return reflect.TypeOf(s.zero) == reflect.TypeOf(m) })
	if at < 0 {
		return nil
	}
	return &samplers[at]
}

// samplerNamed returns the row of the table of the given name, or nil.
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
		return names(s.keys())
	}
	return nil
}

// MoverHas reports whether samplers of this kind have the setting that the
// grammar calls key.
func MoverHas(kind, key string) bool { return slices.Contains(MoverKeys(kind), key) }

// CheckMover returns an error that names the setting of m that is out of range,
// as far as that does not depend on a system.
func CheckMover(m Mover) error {
	if c, ok := m.(interface{ Check() error }); ok {
		return c.Check()
	}
	return nil
}

// KeepsActive reports whether moves of m keep the number of units that differ
// from its reference: spins up, active units.
func KeepsActive(m Mover) bool {
	s := samplerOf(m)
	return s != nil && s.keepsActive
}

// Help returns what the help of commands says of the samplers and of their
// keys, one a line.
func Help() (kinds, keys string) {
	owners := map[string][]string{} // samplers that have a key
	for _, s := range samplers {
		kinds += fmt.Sprintf("  %-21s %s\n", s.name, s.help)
		for _, k := range s.keys() {
			owners[k.name] = append(owners[k.name], s.name)
		}
	}
	for _, s := range samplers {
		for _, k := range s.keys() {
			switch o := owners[k.name]; {
			case len(o) == 1:
				keys += fmt.Sprintf("  %-8s of %s: %s\n", k.name, s.name, k.help)
			case o[0] == s.name:
				keys += fmt.Sprintf("  %-8s %s\n", k.name, k.help)
			}
		}
	}
	return kinds, keys
}

// ParseMover reads a sampler in the grammar name[:key=value]…, such as
//
//	gibbs:order=random
//	sardonics:k=1-25:gamma=.95/1.05:mix=2/1/1:walks=3:weights=boltzmann:accept=type
//	im:k=90:gamma=1/.9
//
// The table of samplers has all names and keys; Help lists them. An order that
// is not given is o. See Sardonics and Intracluster for what their settings
// mean. References of exchange and im are not part of the text. The error names
// the key, or the sampler, and what it may be.
func ParseMover(text string, o Order) (Mover, error) {
	parts := strings.Split(text, ":")
	s := samplerNamed(parts[0])
	if s == nil {
		return nil, fmt.Errorf("unknown sampler %q%s; there are %s", parts[0], data.DidYouMean(parts[0], MoverKinds()), strings.Join(MoverKinds(), ", "))
	}
	keys, mover := s.edit(s.zero)
	initialize(keys)
	if at := slices.Index(names(keys), "order"); at >= 0 {
		if err := keys[at].set(o.String()); err != nil {
			return nil, err
		}
	}
	for i, part := range parts[1:] {
		name, value, ok := strings.Cut(part, "=")
		at := slices.Index(names(keys), name)
		switch {
		case !ok:
			return nil, fmt.Errorf("%s: %q is not of the form key=value", s.name, part)
		case len(keys) == 0:
			return nil, fmt.Errorf("%s has no settings, so no %q", s.name, name)
		case at < 0:
			return nil, fmt.Errorf("%s has no setting %q%s; it has %s", s.name, name, data.DidYouMean(name, names(keys)), strings.Join(names(keys), ", "))
		case slices.ContainsFunc(parts[1:][:i], func(p string) bool { return strings.HasPrefix(p, name+"=") }):
			return nil, fmt.Errorf("%s: %s is given twice", s.name, name)
		}
		if err := keys[at].set(value); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.name, name, err)
		}
	}
	return mover(), CheckMover(mover())
}

// FormatMover returns m in the grammar that ParseMover reads, with every
// setting that is in force. For a Mover that is not in the table it returns
// the name of its type.
func FormatMover(m Mover) string {
	s := samplerOf(m)
	if s == nil {
		return fmt.Sprintf("%T", m)
	}
	text := s.name
	keys, _ := s.edit(m)
	for _, k := range keys {
		if value := k.text(); value != "" {
			text += ":" + k.name + "=" + value
		}
	}
	return text
}
