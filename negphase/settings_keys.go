package negphase

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gorbm/data/grammar"
)

// A count is a whole number.
type count int

func (c *count) String() string { return strconv.Itoa(int(*c)) }

func (c *count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("it must be a whole number")
	}
	*c = count(n)
	return nil
}

// countKey returns the row of a number from low to high.
func countKey(name string, p *int, initial, low, high int, help string) grammar.Key {
	return grammar.Key{Name: name, Initial: strconv.Itoa(initial), Help: help, Set: (*count)(p).Set, Text: (*count)(p).String, Check: func() error {
		if *p < low || *p > high {
			return fmt.Errorf("%s is %d; it must lie in %d … %d", name, *p, low, high)
		}
		return nil
	}}
}

// A word is one of a few names.
type word string

func (w *word) String() string        { return string(*w) }
func (w *word) Set(text string) error { *w = word(text); return nil }

// wordKey returns the row of one of two words; if initial is empty, the key is
// optional.
func wordKey(name string, p *string, initial, help, first, second string) grammar.Key {
	return grammar.Key{Name: name, Initial: initial, Help: help, Set: (*word)(p).Set, Text: (*word)(p).String, Check: func() error {
		if *p != first && *p != second && (*p != "" || initial != "") {
			return fmt.Errorf("%s is %q; it is %s or %s", name, *p, first, second)
		}
		return nil
	}}
}

// A temperature is 0, which is none, or a number that may be +Inf.
type temperature float64

func (x *temperature) String() string { return formatNumber(float64(*x)) }

func (x *temperature) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return errors.New("it must be a number, or inf")
	case f == 0 || math.IsNaN(f):
		return fmt.Errorf("it must be at least %v, or inf", leastHottest)
	}
	*x = temperature(f)
	return nil
}

// formatNumber returns x as it is read back, without the sign of +Inf.
func formatNumber(x float64) string {
	if math.IsInf(x, 1) {
		return "inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// A share is a number from 0 to 1.
type share float64

func (x *share) String() string { return formatNumber(float64(*x)) }

func (x *share) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return errors.New("it must be a number from 0 to 1")
	}
	*x = share(f)
	return nil
}

// shareKey returns the row of a number above 0 and below 1.
func shareKey(name string, p *float64, initial float64, help string) grammar.Key {
	return grammar.Key{Name: name, Initial: formatNumber(initial), Help: help, Set: (*share)(p).Set, Text: (*share)(p).String, Check: func() error {
		if !(*p > 0 && *p < 1) {
			return fmt.Errorf("%s is %v; it must lie between 0 and 1", name, *p)
		}
		return nil
	}}
}

// KeyHelp returns what the setting of that name is in the estimators that have
// it, such as "cd, pcd: Gibbs steps per update; pt: …".
func KeyHelp(name string) string {
	var texts []string
	users := map[string][]string{} // the kinds by the text
	for _, kind := range kinds {
		k, ok := Settings{kind.name, kind.own}.keys().Find(name)
		if !ok {
			continue
		}
		if users[k.Help] == nil {
			texts = append(texts, k.Help)
		}
		users[k.Help] = append(users[k.Help], kind.name)
	}
	for i, text := range texts {
		texts[i] = strings.Join(users[text], ", ") + ": " + text
	}
	return strings.Join(texts, "; ")
}

// KindsHelp returns a line for each kind of estimator, with its name.
func KindsHelp() string {
	lines := make([]string, len(kinds))
	for i, k := range kinds {
		lines[i] = fmt.Sprintf("  %-9s  %s", k.name, k.help)
	}
	return strings.Join(lines, "\n")
}

// CostsHelp returns two lines for each kind of estimator: its name with what it is,
// and its cost.
func CostsHelp() string {
	var b strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&b, "  %-9s  %s\n             cost: %s\n", k.name, k.help, k.cost)
	}
	return b.String()
}

// KeysHelp returns the help of all settings but those named and those of
// samplers, each with an example of its value, in lines of at most 80 columns.
func KeysHelp(except ...string) string {
	var lines []string
	for _, kind := range kinds {
		for _, k := range kind.own.keys() {
			if k.Name == samplerKey || slices.Contains(except, k.Name) {
				continue
			}
			except = append(except, k.Name)
			line := fmt.Sprintf("  %-15s", k.Name+"="+cmp.Or(k.Example, k.Initial))
			for _, word := range strings.Fields(KeyHelp(k.Name)) {
				if utf8.RuneCountInString(line+" "+word) > 80 {
					lines, line = append(lines, line), strings.Repeat(" ", 17)
				}
				line += " " + word
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
