package mcmc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gorbm/data"
)

// A moverKind is a sampler of the grammar: its keys, its settings by default,
// how a key is set in them and how they are written.
type moverKind struct {
	name     string
	keys     []string
	defaults func(o Order) Mover
	set      func(m Mover, key, value string) (Mover, error)
	get      func(m Mover, key string) string // "" where the key need not be written
}

// moverKinds is the table of all samplers; tests go through it.
var moverKinds = []moverKind{
	{"gibbs", []string{"order"}, func(o Order) Mover { return Gibbs{o} }, setOrder, getOrder},
	{"metropolis", []string{"order"}, func(o Order) Mover { return Metropolis{o} }, setOrder, getOrder},
	{"modified-metropolis", []string{"order"}, func(o Order) Mover { return ModifiedMetropolis{o} }, setOrder, getOrder},
	{"block-gibbs", nil, func(Order) Mover { return BlockGibbs{} }, nil, nil},
	{"flip", nil, func(Order) Mover { return FlipTheState{} }, nil, nil},
	{"exchange", nil, func(Order) Mover { return Exchange{} }, nil, nil},
	{"sw", nil, func(Order) Mover { return SwendsenWang{} }, nil, nil},
	{"sardonics", []string{"k", "gamma", "weights", "walks", "mix", "accept"}, func(Order) Mover { return DefaultSardonics() }, setSardonics, getSardonics},
	{"im", []string{"k", "gamma", "weights"}, func(Order) Mover { return DefaultIntracluster() }, setIntracluster, getIntracluster},
}

// MoverKinds returns the names of all samplers.
func MoverKinds() []string {
	names := make([]string, len(moverKinds))
	for i, k := range moverKinds {
		names[i] = k.name
	}
	return names
}

// MoverHas reports whether samplers of this kind have the setting that the
// grammar calls key.
func MoverHas(kind, key string) bool {
	for _, k := range moverKinds {
		if k.name == kind {
			return slices.Contains(k.keys, key)
		}
	}
	return false
}

// KeepsActive reports whether moves of m keep the number of units that differ
// from its reference: spins up, active units.
func KeepsActive(m Mover) bool {
	switch m.(type) {
	case Exchange, Intracluster:
		return true
	}
	return false
}

// ParseMover reads a sampler in the grammar name[:key=value]…:
//
//	gibbs:order=random                   order: linear, chessboard or random;
//	metropolis, modified-metropolis      as gibbs; what is not given is o
//	block-gibbs                          both layers of an RBM in turn
//	flip                                 flip-the-state, on both layers of an RBM
//	exchange
//	sw                                   Swendsen–Wang
//	sardonics:k=1-25:gamma=1.02          k: flips of a walk, one number or a range
//	sardonics:gamma=.95/1.05:mix=2/1/1   gamma: gamma1, or gamma1/gamma2, in units of β;
//	                                     mix: proportions of the types 11, 21, 12
//	sardonics:walks=3:weights=boltzmann  walks: of each half of a move, or single;
//	                                     weights: heatbath or boltzmann
//	sardonics:accept=type                accept: marginal, or type for OwnType
//	im:k=90:gamma=1/.9                   gamma: of both walks, or down/up; weights
//
// See Sardonics and Intracluster for what the settings mean. References of
// exchange and im are not part of the text. The error names the key, or the
// sampler, and what it may be.
func ParseMover(text string, o Order) (Mover, error) {
	parts := strings.Split(text, ":")
	at := slices.IndexFunc(moverKinds, func(k moverKind) bool { return k.name == parts[0] })
	if at < 0 {
		return nil, fmt.Errorf("unknown sampler %q%s; there are %s", parts[0], didYouMean(parts[0], MoverKinds()), strings.Join(MoverKinds(), ", "))
	}
	kind := moverKinds[at]
	m := kind.defaults(o)
	var seen []string
	for _, p := range parts[1:] {
		key, value, ok := strings.Cut(p, "=")
		switch {
		case !ok:
			return nil, fmt.Errorf("%s: %q is not of the form key=value", kind.name, p)
		case len(kind.keys) == 0:
			return nil, fmt.Errorf("%s has no settings, so no %q", kind.name, key)
		case !slices.Contains(kind.keys, key):
			return nil, fmt.Errorf("%s has no setting %q%s; it has %s", kind.name, key, didYouMean(key, kind.keys), strings.Join(kind.keys, ", "))
		case slices.Contains(seen, key):
			return nil, fmt.Errorf("%s: %s is given twice", kind.name, key)
		}
		seen = append(seen, key)
		var err error
		if m, err = kind.set(m, key, value); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", kind.name, key, err)
		}
	}
	switch m := m.(type) {
	case Sardonics:
		return m, m.Check()
	case Intracluster:
		return m, m.Check()
	}
	return m, nil
}

// FormatMover returns m in the grammar that ParseMover reads, with every
// setting that is in force; the settings of a kind that is not in the table by
// the name of their type.
func FormatMover(m Mover) string {
	for _, kind := range moverKinds {
		if fmt.Sprintf("%T", m) != fmt.Sprintf("%T", kind.defaults(Linear)) {
			continue
		}
		text := kind.name
		for _, key := range kind.keys {
			if value := kind.get(m, key); value != "" {
				text += ":" + key + "=" + value
			}
		}
		return text
	}
	return fmt.Sprintf("%T", m)
}

// didYouMean returns "; did you mean …?" if a known name is like name.
func didYouMean(name string, known []string) string {
	if near := data.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

func setOrder(m Mover, _, value string) (Mover, error) {
	k := slices.Index(orderNames, value)
	if k < 0 {
		return m, fmt.Errorf("%q%s; it is linear, chessboard or random", value, didYouMean(value, orderNames))
	}
	switch m.(type) {
	case Gibbs:
		return Gibbs{Order(k)}, nil
	case Metropolis:
		return Metropolis{Order(k)}, nil
	}
	return ModifiedMetropolis{Order(k)}, nil
}

func getOrder(m Mover, _ string) string { return m.(interface{ order() Order }).order().String() }

func setSardonics(mover Mover, key, value string) (Mover, error) {
	m := mover.(Sardonics)
	var err error
	switch key {
	case "k":
		m.MinLength, m.MaxLength, err = parseLengths(value)
	case "gamma":
		m.Gamma1, m.Gamma2, err = parseBiases(value)
	case "weights":
		m.Weights, err = parseWeights(value)
	case "walks":
		m.Single = value == "single"
		if !m.Single {
			if m.Walks, err = strconv.Atoi(value); err != nil {
				err = fmt.Errorf("%q is not a whole number, nor single", value)
			}
		}
	case "mix":
		fields := strings.Split(value, "/")
		if len(fields) != len(m.Mix) {
			return m, fmt.Errorf("%q is not three numbers, as 2/1/1: the proportions of the types 11, 21 and 12", value)
		}
		for t, f := range fields {
			if m.Mix[t], err = strconv.ParseFloat(f, 64); err != nil {
				return m, fmt.Errorf("%q is not a number", f)
			}
		}
	case "accept":
		rules := []string{"marginal", "type"}
		if !slices.Contains(rules, value) {
			return m, fmt.Errorf("%q%s; it is marginal or type", value, didYouMean(value, rules))
		}
		m.OwnType = value == "type"
	}
	return m, err
}

func getSardonics(mover Mover, key string) string {
	m := mover.(Sardonics)
	switch key {
	case "k":
		return lengths(m.MinLength, m.MaxLength)
	case "gamma":
		if m.mixed() {
			return formatNumbers(m.Gamma1, m.Gamma2)
		}
		return formatNumbers(m.Gamma1)
	case "weights":
		return string(m.Weights)
	case "walks":
		if m.Single {
			return "single"
		}
		return strconv.Itoa(m.Walks)
	case "mix":
		if m.mixed() {
			return formatNumbers(m.Mix[:]...)
		}
	case "accept":
		if m.mixed() && m.OwnType {
			return "type"
		}
	}
	return ""
}

func setIntracluster(mover Mover, key, value string) (Mover, error) {
	m := mover.(Intracluster)
	var err error
	switch key {
	case "k":
		m.MinLength, m.MaxLength, err = parseLengths(value)
	case "gamma":
		m.GammaDown, m.GammaUp, err = parseBiases(value)
	case "weights":
		m.Weights, err = parseWeights(value)
	}
	return m, err
}

func getIntracluster(mover Mover, key string) string {
	m := mover.(Intracluster)
	switch key {
	case "k":
		return lengths(m.MinLength, m.MaxLength)
	case "gamma":
		if m.GammaDown != m.GammaUp {
			return formatNumbers(m.GammaDown, m.GammaUp)
		}
		return formatNumbers(m.GammaDown)
	case "weights":
		return string(m.Weights)
	}
	return ""
}

// parseLengths reads "90" or "1-25".
func parseLengths(text string) (low, high int, err error) {
	first, second, isRange := strings.Cut(text, "-")
	if !isRange {
		second = first
	}
	low, err1 := strconv.Atoi(first)
	high, err2 := strconv.Atoi(second)
	if err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("%q is not a whole number, nor a range such as 1-25", text)
	}
	return low, high, nil
}

// parseBiases reads "1.02", for both, or ".95/1.05".
func parseBiases(text string) (first, second float64, err error) {
	a, b, both := strings.Cut(text, "/")
	if !both {
		b = a
	}
	first, err1 := strconv.ParseFloat(a, 64)
	second, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("%q is not a number, nor two such as .95/1.05", text)
	}
	return first, second, nil
}

func parseWeights(text string) (Weights, error) {
	known := []string{string(HeatBath), string(Boltzmann)}
	if !slices.Contains(known, text) {
		return "", fmt.Errorf("%q%s; it is heatbath or boltzmann", text, didYouMean(text, known))
	}
	return Weights(text), nil
}

func formatNumbers(x ...float64) string {
	s := make([]string, len(x))
	for i, v := range x {
		s[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.Join(s, "/")
}
