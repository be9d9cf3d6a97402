// Package grammar reads, writes and checks settings by tables of their keys.
// The text of a setting is key=value; several are joined by colons, after the
// name of what they are the settings of, as in pt:k=1:swaps=2.
package grammar

import (
	"fmt"
	"slices"
	"strings"

	"gorbm/data"
)

// A Key is one setting of a T.
type Key[T any] struct {
	Name    string
	Default string // as Parse reads it
	Help    string // one line for the help of commands
	// Parse sets the value that a text says. Its error does not name the key.
	Parse func(t *T, text string) error
	// Format returns the text that Parse reads; "" if the key need not be
	// written.
	Format func(t *T) string
	// Check returns an error, which names the key, if the value is out of
	// range. It is nil if Parse refuses all such values.
	Check func(t *T) error
}

// Keys are all settings of a T, in the order in which they are written and
// checked.
type Keys[T any] []Key[T]

// Names returns the names of the keys.
func (k Keys[T]) Names() []string {
	names := make([]string, len(k))
	for i := range k {
		names[i] = k[i].Name
	}
	return names
}

// Has reports whether there is a key of that name.
func (k Keys[T]) Has(name string) bool { return slices.Contains(k.Names(), name) }

// Default sets all keys of t to their defaults. It panics if a default cannot
// be parsed.
func (k Keys[T]) Default(t *T) {
	for _, key := range k {
		if err := key.Parse(t, key.Default); err != nil {
			panic(fmt.Sprintf("grammar: the default of %s: %v", key.Name, err))
		}
	}
}

// Parse sets the keys that parts, each key=value, name. kind is the name of
// what t holds the settings of, for errors.
func (k Keys[T]) Parse(kind string, t *T, parts []string) error {
	var seen []string
	for _, part := range parts {
		name, value, ok := strings.Cut(part, "=")
		at := slices.IndexFunc(k, func(key Key[T]) bool { return key.Name == name })
		switch {
		case !ok:
			return fmt.Errorf("%s: %q is not of the form key=value", kind, part)
		case len(k) == 0:
			return fmt.Errorf("%s has no settings, so no %q", kind, name)
		case at < 0:
			return fmt.Errorf("%s has no setting %q%s; it has %s", kind, name, DidYouMean(name, k.Names()), strings.Join(k.Names(), ", "))
		case slices.Contains(seen, name):
			return fmt.Errorf("%s: %s is given twice", kind, name)
		}
		seen = append(seen, name)
		if err := k[at].Parse(t, value); err != nil {
			return fmt.Errorf("%s: %s: %w", kind, name, err)
		}
	}
	return nil
}

// Format returns the text of all keys that need to be written, each with a
// colon before it.
func (k Keys[T]) Format(t *T) string {
	text := ""
	for _, key := range k {
		if value := key.Format(t); value != "" {
			text += ":" + key.Name + "=" + value
		}
	}
	return text
}

// Check returns the error of the first key whose value is out of range, after
// the name kind.
func (k Keys[T]) Check(kind string, t *T) error {
	for _, key := range k {
		if key.Check == nil {
			continue
		}
		if err := key.Check(t); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// OneOf returns an error if text is none of the known ones.
func OneOf(text string, known ...string) error {
	if slices.Contains(known, text) {
		return nil
	}
	last := len(known) - 1
	return fmt.Errorf("%q%s; it is %s or %s", text, DidYouMean(text, known), strings.Join(known[:last], ", "), known[last])
}

// DidYouMean returns "; did you mean …?" if a known name is like name, else "".
func DidYouMean(name string, known []string) string {
	if near := data.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
