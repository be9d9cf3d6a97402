// Package grammar parses and prints settings of the form
//
//	name[:key=value]…
//
// Data sets, estimators, samplers and tuning share this grammar. Each name, such as pcd, is a kind. A kind
// has a table of keys, which gives their syntax, defaults, range checks and help.
//
// # Where to begin
//
// Read Key and Keys. ExampleKeys_Parse, in example_test.go, reads settings and shows two
// errors.
package grammar

import (
	"fmt"
	"slices"
	"strings"
)

// A Key is one setting of a kind. Set and Text are closures over the variable that has its value.
type Key struct {
	Name    string
	Initial string                  // text of the default; "" for an optional key, which is not written while it is zero
	Help    string                  // one line
	Example string                  // for the help, where the default tells little
	Set     func(text string) error // parses the text; its error does not name the key
	Text    func() string           // the value as Set parses it; "" if it need not be written
	Check   func() error            // checks the range; its error names the key; nil if Set accepts no value out of range
}

// Like returns a copy of the key with an example for the help.
func (k Key) Like(example string) Key {
	k.Example = example
	return k
}

// Written returns the value as text, or "" if the key is optional and its value is zero.
func (k Key) Written() string {
	text := k.Text()
	if k.Initial == "" && text == "0" {
		return ""
	}
	return text
}

// Keys is the table of a kind.
type Keys []Key

// Names returns the names of all keys.
func (k Keys) Names() []string {
	names := make([]string, len(k))
	for i, key := range k {
		names[i] = key.Name
	}
	return names
}

// Find returns the key of this name, and whether there is one.
func (k Keys) Find(name string) (Key, bool) {
	at := slices.IndexFunc(k, func(key Key) bool { return key.Name == name })
	if at < 0 {
		return Key{}, false
	}
	return k[at], true
}

// Initialize sets all keys to their defaults, except for optional ones. It panics if a default cannot be
// read.
func (k Keys) Initialize() {
	for _, key := range k {
		if key.Initial == "" {
			continue
		}
		if err := key.Set(key.Initial); err != nil {
			panic(fmt.Sprintf("grammar: the default of %s: %v", key.Name, err))
		}
	}
}

// Check returns the error of the first key that is out of range, prefixed by the name of the kind.
func (k Keys) Check(kind string) error {
	for _, key := range k {
		if key.Check == nil {
			continue
		}
		if err := key.Check(); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// Parse sets the keys of parts, each of the form key=value and given once.
func (k Keys) Parse(kind string, parts []string) error {
	var seen []string
	for _, part := range parts {
		name, value, given := strings.Cut(part, "=")
		key, ok := k.Find(name)
		switch {
		case !given:
			return fmt.Errorf("%s: %q is not of the form key=value", kind, part)
		case !ok:
			return NoKey(kind, name, k.Names())
		case slices.Contains(seen, name):
			return fmt.Errorf("%s: %s is given twice", kind, name)
		}
		seen = append(seen, name)
		if err := key.Set(value); err != nil {
			return fmt.Errorf("%s: %s: %w", kind, name, err)
		}
	}
	return nil
}

// NoKey returns the error for a key that the kind does not have.
func NoKey(kind, name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("%s has no settings, so no %q", kind, name)
	}
	return fmt.Errorf("%s has no setting %q%s", kind, name, DidYouMeanOr(name, known, "it has "+strings.Join(known, ", ")))
}

// NoKind returns the error for an unknown name. what is the kind of thing that name should name, such as
// "sampler".
func NoKind(what, name string, known []string) error {
	return fmt.Errorf("unknown %s %q%s", what, name, DidYouMeanOr(name, known, "there are "+strings.Join(known, ", ")))
}
