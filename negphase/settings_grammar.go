package negphase

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/data/grammar"
	"gorbm/negphase/mcmc"
	"gorbm/rbm/finitejson"
)

// String returns s in the grammar that Parse reads.
func (s Settings) String() string {
	out := s.Kind
	for _, k := range s.keys() {
		switch text := k.Written(); {
		case text == "":
		case k.Name == samplerKey:
			out += ":" + strings.TrimPrefix(text, s.Kind+":")
		default:
			out += ":" + k.Name + "=" + text
		}
	}
	return out
}

// Parse reads settings in the grammar name[:key=value]…, such as "pt:k=1:tau=1/2/3/4/5". KeysHelp lists
// the keys. The elements of a list are separated by '/'. tau may also be auto, auto/n or reach/n.
//
// In walk, pt, ins and pins, a part between colons without '=' names a sampler of mcmc.ParseMover. A
// key after this part belongs to the sampler if the sampler has it:
// "walk:gibbs:order=random:chains=20", "pt:tau=1/2:sardonics:k=1-20". The kinds sardonics and im are
// short for walk:sardonics and walk:im. For walks the default k=fit means 1 to 20 flips, or fewer if
// the model has too few units. With k=auto the length of walks adapts to their acceptance: see
// mcmc.Adaptive, Freezer and Tuned.
//
// A key that the text does not mention has the value in defaults, if their kind has this key;
// otherwise it has the default of the table. The sampler of defaults is used only if their kind is the
// same. Parse returns the error of Check for the result.
func Parse(text string, defaults Settings) (Settings, error) {
	parts := strings.Split(text, ":")
	s, err := defaultsFrom(parts[0], defaults)
	if err != nil {
		return s, err
	}
	kind := s.Kind
	var sampler, seen []string // the parts about the sampler, its name first
	if m := s.sampler(); m != nil && m.only != "" {
		sampler = []string{m.only}
	}
	for _, p := range parts[1:] {
		name, value, given := strings.Cut(p, "=")
		_, has := s.keys().Find(name)
		switch {
		case !given:
			if err := s.checkName(p, sampler); err != nil {
				return s, err
			}
			sampler = []string{p}
			continue
		case len(sampler) > 0 && mcmc.MoverHas(sampler[0], name):
			sampler = append(sampler, p)
			continue
		case !has || name == samplerKey:
			return s, s.unknownKey(name, sampler)
		case slices.Contains(seen, name):
			return s, &TwiceError{kind, name}
		}
		seen = append(seen, name)
		if err := s.Set(name, value); err != nil {
			return s, err
		}
	}
	if len(sampler) > 0 {
		if kind == "walk" && (sampler[0] == "sardonics" || sampler[0] == "im") {
			if s, err = defaultsFrom(sampler[0], s); err != nil {
				return s, err
			}
		}
		s.specific = copyOf(s.specific)
		if err := s.sampler().Set(strings.Join(sampler, ":")); err != nil {
			if kind == sampler[0] {
				return s, err
			}
			return s, fmt.Errorf("%s: %w", kind, err)
		}
	}
	return s, s.Check()
}

// A TwiceError reports a key that a text for Parse sets twice.
type TwiceError struct{ Kind, Key string }

func (e *TwiceError) Error() string { return e.Kind + ": " + e.Key + " is given twice" }

// defaultsFrom returns given if it is of this kind. Otherwise it returns the defaults of the kind, with
// the values of given for the keys that both kinds have, except the sampler.
func defaultsFrom(kind string, given Settings) (Settings, error) {
	if _, err := find(kind); err != nil || kind == given.Kind {
		return given, err
	}
	s := DefaultSettings(kind)
	for _, k := range given.keys() {
		if text := k.Written(); text != "" && k.Name != samplerKey && Has(kind, k.Name) {
			if err := s.Set(k.Name, text); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// unknownKey returns the error for a key that neither s nor the sampler named so far has.
func (s Settings) unknownKey(name string, sampler []string) error {
	var known []string
	for _, k := range s.keys() {
		if k.Name != samplerKey {
			known = append(known, k.Name)
		}
	}
	if len(sampler) > 0 {
		known = append(known, mcmc.MoverKeys(sampler[0])...)
	}
	return grammar.NoKey(s.Kind, name, known)
}

// MarshalJSON writes the kind and its keys, without optional keys that are
// not given. Temperatures are a list, or a string such as "auto" or "reach/5". The
// sampler is a string, and so are infinite numbers.
func (s Settings) MarshalJSON() ([]byte, error) {
	out := map[string]any{"kind": s.Kind}
	for _, k := range s.keys() {
		switch text := k.Written(); {
		case text == "":
		case k.Name == "tau" && text[0] >= '0' && text[0] <= '9':
			var list []any
			for _, field := range strings.Split(text, "/") {
				list = append(list, numberOrText(field))
			}
			out[jsonName(k)] = list
		default:
			out[jsonName(k)] = numberOrText(text)
		}
	}
	return finitejson.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes. Missing keys have their defaults. A key that the kind does not
// have is an error.
func (s *Settings) UnmarshalJSON(b []byte) error {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // numbers keep their text
	if err := d.Decode(&fields); err != nil {
		return err
	}
	kind, _ := fields["kind"].(string)
	read := DefaultSettings(kind)
	for _, k := range read.keys() {
		x, ok := fields[jsonName(k)]
		delete(fields, jsonName(k))
		if list, isList := x.([]any); isList {
			x = strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", "/")
		}
		if ok {
			if err := read.Set(k.Name, x); err != nil {
				return err
			}
		}
	}
	delete(fields, "kind")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		return fmt.Errorf("the negative phase %q has no setting %.40q", kind, name)
	}
	*s = read
	return nil
}

// jsonName returns the name of a key in JSON.
func jsonName(k grammar.Key) string {
	switch k.Name {
	case "tau":
		return "temperatures"
	case samplerKey:
		return "mover"
	}
	return k.Name
}

// numberOrText returns text as a number if it is a finite one, and otherwise text itself.
func numberOrText(text string) any {
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
		return x
	}
	return text
}
