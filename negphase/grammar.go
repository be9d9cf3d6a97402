package negphase

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// String returns s in the grammar that Parse reads.
func (s Settings) String() string {
	k, err := find(s.Kind)
	if err != nil {
		return s.Kind
	}
	out := s.Kind
	if s.Kind == "walk" {
		out += ":" + s.mover()
	} else if _, settings, ok := strings.Cut(s.mover(), ":"); ok && s.walks() {
		out += ":" + settings
	}
	for _, key := range k.keys {
		switch key {
		case "k":
			out += fmt.Sprintf(":k=%d", s.K)
		case "swaps":
			out += fmt.Sprintf(":swaps=%d", s.Swaps)
		case "chains":
			out += fmt.Sprintf(":chains=%d", s.Chains)
		case "start":
			out += ":start=" + string(s.Start)
		case "tau":
			out += ":tau=" + s.tau()
		case "hottest":
			if s.Hottest != 0 {
				out += ":hottest=" + number(s.Hottest)
			}
		case "path":
			if s.Path != "" {
				out += ":path=" + string(s.Path)
			}
		case "order":
			if s.Order != "" {
				out += ":order=" + string(s.Order)
			}
		case "block":
			out += fmt.Sprintf(":block=%d", s.Block)
		case "max":
			out += fmt.Sprintf(":max=%d", s.Max)
		case "moves":
			out += fmt.Sprintf(":moves=%d", s.Moves)
		case "gibbs":
			if s.Gibbs != 0 {
				out += fmt.Sprintf(":gibbs=%d", s.Gibbs)
			}
		}
	}
	if Has(s.Kind, "tau") && s.Mover != nil {
		out += ":" + s.mover()
	}
	return out
}

// Parse reads settings in the grammar name[:key=value]…, such as
// "pt:k=1:tau=1/2/3/4/5"; keys are k, swaps, chains, start, tau, hottest, order,
// block, path, max, moves and gibbs, and lists are separated by '/'; tau is also
// auto or auto/n.
//
// In walk, and in pt, ins and pins, a part without '=' names a sampler of
// mcmc.ParseMover, and keys after it that the sampler has are its own:
// "walk:gibbs:order=random:chains=20", "pt:tau=1/2:sardonics:k=1-20". The kinds
// sardonics and im are short for walk:sardonics and walk:im. Lengths k=auto are
// the default: 1 to 20 flips, or as many as the model has room for.
//
// What the text does not mention is taken from defaults. The settings are
// checked by Check.
func Parse(text string, defaults Settings) (Settings, error) {
	parts := strings.Split(text, ":")
	s := defaults
	s.Kind = parts[0]
	k, err := find(s.Kind)
	if err != nil {
		return s, err
	}
	m := moverText{kind: s.Kind}
	var seen []string
	for _, p := range parts[1:] {
		key, value, ok := strings.Cut(p, "=")
		switch {
		case !ok:
			if err := m.begin(p); err != nil {
				return s, err
			}
			continue
		case m.has(key):
			m.parts = append(m.parts, p)
			continue
		case !slices.Contains(k.keys, key):
			known := slices.Concat(k.keys, m.keys())
			if len(known) == 0 {
				return s, fmt.Errorf("%s has no settings, so no %q", s.Kind, key)
			}
			return s, fmt.Errorf("%s has no setting %q%s; it has %s",
				s.Kind, key, didYouMean(key, known), strings.Join(known, ", "))
		case slices.Contains(seen, key):
			return s, fmt.Errorf("%s: %s is given twice", s.Kind, key)
		}
		seen = append(seen, key)
		if err := s.set(key, value); err != nil {
			return s, err
		}
	}
	if err := m.set(&s, defaults.Kind); err != nil {
		return s, err
	}
	return s, s.Check()
}

func (s *Settings) set(key, value string) (err error) {
	switch key {
	case "k":
		s.K, err = strconv.Atoi(value)
	case "swaps":
		s.Swaps, err = strconv.Atoi(value)
	case "chains":
		s.Chains, err = strconv.Atoi(value)
	case "start":
		s.Start = Start(value)
	case "order":
		s.Order = Order(value)
	case "block":
		s.Block, err = strconv.Atoi(value)
	case "max":
		s.Max, err = strconv.Atoi(value)
	case "moves":
		s.Moves, err = strconv.Atoi(value)
	case "gibbs":
		s.Gibbs, err = strconv.Atoi(value)
	case "path":
		s.Path = Path(value)
	case "hottest":
		if s.Hottest, err = strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("%s: hottest is %q; it must be a number, or inf", s.Kind, value)
		}
		if s.Hottest == 0 || math.IsNaN(s.Hottest) {
			return fmt.Errorf("%s: hottest is %q; it must be at least %v, or inf", s.Kind, value, leastHottest)
		}
	case "tau":
		return s.SetTemperatures(value)
	}
	if err != nil {
		return fmt.Errorf("%s: %s is %q; it must be a whole number", s.Kind, key, value)
	}
	return nil
}

// ParseTemperatures reads a list of numbers separated by '/' or ','.
func ParseTemperatures(text string) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	fields := strings.Split(strings.ReplaceAll(text, ",", "/"), "/")
	t := make([]float64, len(fields))
	for i, f := range fields {
		x, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		if err != nil {
			return nil, fmt.Errorf("temperature %q is not a number", f)
		}
		t[i] = x
	}
	return t, nil
}

// SetTemperatures reads a list as ParseTemperatures does, or "auto", or "auto"
// and a number, as in "auto/20" or "auto:20".
func (s *Settings) SetTemperatures(text string) (err error) {
	rest, auto := strings.CutPrefix(strings.TrimSpace(text), "auto")
	if !auto {
		s.Auto, s.Rungs = false, 0
		s.Temperatures, err = ParseTemperatures(text)
		return err
	}
	s.Auto, s.Rungs, s.Temperatures = true, 0, nil
	if rest == "" {
		return nil
	}
	if s.Rungs, err = strconv.Atoi(rest[1:]); err != nil || !strings.ContainsAny(rest[:1], "/:") || s.Rungs == 0 {
		return fmt.Errorf("temperatures %q; a ladder to be tuned is auto, or auto/20 with a number", text)
	}
	return nil
}

// tau returns the text that SetTemperatures reads.
func (s Settings) tau() string {
	switch {
	case !s.Auto:
		return join(s.Temperatures)
	case s.Rungs == 0:
		return "auto"
	}
	return fmt.Sprintf("auto/%d", s.Rungs)
}

func join(t []float64) string {
	s := make([]string, len(t))
	for i, x := range t {
		s[i] = number(x)
	}
	return strings.Join(s, "/")
}

// number returns x as it is read back, without the sign of +Inf.
func number(x float64) string {
	if math.IsInf(x, 1) {
		return "inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
