package mcmc

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gorbm/negphase/internal/grammar"
)

// A sampler is a kind of Mover, as commands name it.
type sampler struct {
	name        string
	help        string              // one line for the help of commands
	settings    Mover               // of the type that holds the settings
	keys        grammar.Keys[Mover] // of the settings
	keepsActive bool                // moves keep the number of units that differ from a reference
}

// samplers is the table of all samplers. A new one is a row here and a file
// with its settings and its chain.
var samplers = []sampler{
	{"gibbs", "heat bath, a sweep of all spins a move", Gibbs{}, keysOf(gibbsKeys), false},
	{"metropolis", "accepts by min(1, exp(−βΔE)), a sweep a move", Metropolis{}, keysOf(metropolisKeys), false},
	{"modified-metropolis", "the same, but flips that cost nothing by chance ½", ModifiedMetropolis{}, keysOf(modifiedMetropolisKeys), false},
	{"sw", "Swendsen–Wang: clusters of all spins a move", SwendsenWang{}, nil, false},
	{"block-gibbs", "all hidden, then all visible units of an RBM a move", BlockGibbs{}, nil, false},
	{"flip", "the same by flip-the-state: to the more probable value always", FlipTheState{}, nil, false},
	{"sardonics", "self-avoiding walks in the space of states", Sardonics{}, keysOf(sardonicsKeys), false},
	{"exchange", "on states of -active spins up: swaps an up and a down spin", Exchange{}, nil, true},
	{"im", "the same by intracluster moves: walks out and back", Intracluster{}, keysOf(intraclusterKeys), true},
}

// keysOf returns the keys of a Mover from those of its type M.
func keysOf[M Mover](keys grammar.Keys[M]) grammar.Keys[Mover] {
	all := make(grammar.Keys[Mover], len(keys))
	for i, k := range keys {
		all[i] = grammar.Key[Mover]{
			Name: k.Name, Default: k.Default, Help: k.Help,
			Parse: func(m *Mover, text string) error {
				settings := (*m).(M)
				err := k.Parse(&settings, text)
				*m = settings
				return err
			},
			Format: func(m *Mover) string {
				settings := (*m).(M)
				return k.Format(&settings)
			},
		}
	}
	return all
}

// samplerOf returns the row of the table for a Mover, or nil.
func samplerOf(m Mover) *sampler {
	at := slices.IndexFunc(samplers, func(s sampler) bool { return reflect.TypeOf(s.settings) == reflect.TypeOf(m) })
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

// MoverHas reports whether samplers of this kind have the setting that the
// grammar calls key.
func MoverHas(kind, key string) bool {
	s := samplerNamed(kind)
	return s != nil && s.keys.Has(key)
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
		for _, k := range s.keys {
			owners[k.Name] = append(owners[k.Name], s.name)
		}
	}
	for _, s := range samplers {
		for _, k := range s.keys {
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
		return nil, fmt.Errorf("unknown sampler %q%s; there are %s", parts[0], grammar.DidYouMean(parts[0], MoverKinds()), strings.Join(MoverKinds(), ", "))
	}
	m := s.settings
	s.keys.Default(&m)
	if s.keys.Has("order") {
		if err := s.keys.Parse(s.name, &m, []string{"order=" + o.String()}); err != nil {
			return nil, err
		}
	}
	if err := s.keys.Parse(s.name, &m, parts[1:]); err != nil {
		return nil, err
	}
	if c, ok := m.(interface{ Check() error }); ok {
		return m, c.Check()
	}
	return m, nil
}

// FormatMover returns m in the grammar that ParseMover reads, with every
// setting that is in force. For a Mover that is not in the table it returns
// the name of its type.
func FormatMover(m Mover) string {
	s := samplerOf(m)
	if s == nil {
		return fmt.Sprintf("%T", m)
	}
	return s.name + s.keys.Format(&m)
}

// orderKey is the key of the order of a sweep.
func orderKey[M Mover](of func(*M) *Order) grammar.Key[M] {
	return grammar.Key[M]{
		Name: "order", Default: "linear", Help: "linear, chessboard or random: of the first three; -order is short for it",
		Parse: func(m *M, text string) error {
			if err := grammar.OneOf(text, orderNames...); err != nil {
				return err
			}
			*of(m) = Order(slices.Index(orderNames, text))
			return nil
		},
		Format: func(m *M) string { return of(m).String() },
	}
}

// lengthsKey is the key of the least and the largest length of a walk.
func lengthsKey[M Mover](of func(*M) (low, high *int)) grammar.Key[M] {
	return grammar.Key[M]{
		Name: "k", Default: "1-25", Help: "flips of a walk: a number, or a range to draw from at each walk",
		Parse: func(m *M, text string) error {
			low, high := of(m)
			first, second, isRange := strings.Cut(text, "-")
			if !isRange {
				second = first
			}
			var err1, err2 error
			*low, err1 = strconv.Atoi(first)
			*high, err2 = strconv.Atoi(second)
			if err1 != nil || err2 != nil {
				return fmt.Errorf("%q is not a whole number, nor a range such as 1-25", text)
			}
			return nil
		},
		Format: func(m *M) string {
			low, high := of(m)
			return lengths(*low, *high)
		},
		Check: func(m *M) error {
			switch low, high := of(m); {
			case *low < 1 || *high > MaxLength:
				return fmt.Errorf("k is %s; lengths must lie in 1 … %d", lengths(*low, *high), MaxLength)
			case *low > *high:
				return fmt.Errorf("k is %d-%d; the first length must not exceed the second", *low, *high)
			}
			return nil
		},
	}
}

// lengths returns "90" or "1-25".
func lengths(low, high int) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

// gammaKey is the key of two biases. They are written as one number unless
// both tells otherwise.
func gammaKey[M Mover](byDefault string, of func(*M) (first, second *float64), both func(*M) bool) grammar.Key[M] {
	return grammar.Key[M]{
		Name: "gamma", Default: byDefault, Help: "biases of the walks in units of β: one, or two as in .95/1.05",
		Parse: func(m *M, text string) error {
			x, err := parseNumbers(text)
			if err != nil || len(x) > 2 {
				return fmt.Errorf("%q is not a number, nor two such as .95/1.05", text)
			}
			first, second := of(m)
			*first, *second = x[0], x[len(x)-1]
			return nil
		},
		Format: func(m *M) string {
			first, second := of(m)
			if both(m) {
				return formatNumbers(*first, *second)
			}
			return formatNumbers(*first)
		},
		Check: func(m *M) error {
			first, second := of(m)
			for _, g := range []float64{*first, *second} {
				if !(g >= 0) || !finite(g) {
					return fmt.Errorf("gamma is %v; it must be a finite number, 0 or more", g)
				}
			}
			return nil
		},
	}
}

// weightsKey is the key of the weights of flips.
func weightsKey[M Mover](of func(*M) *Weights) grammar.Key[M] {
	return grammar.Key[M]{
		Name: "weights", Default: string(HeatBath), Help: "of a flip of cost Δ: heatbath, 1/(1+exp(γβΔ)), or boltzmann, exp(−γβΔ)",
		Parse: func(m *M, text string) error {
			*of(m) = Weights(text)
			return grammar.OneOf(text, string(HeatBath), string(Boltzmann))
		},
		Format: func(m *M) string { return string(*of(m)) },
		Check: func(m *M) error {
			if w := *of(m); w != HeatBath && w != Boltzmann {
				return fmt.Errorf("weights is %q; it is heatbath or boltzmann", w)
			}
			return nil
		},
	}
}

// parseNumbers reads numbers separated by slashes.
func parseNumbers(text string) (x []float64, err error) {
	for field := range strings.SplitSeq(text, "/") {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", field)
		}
		x = append(x, v)
	}
	return x, nil
}

// formatNumbers is the inverse of parseNumbers.
func formatNumbers(x ...float64) string {
	s := make([]string, len(x))
	for i, v := range x {
		s[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.Join(s, "/")
}
