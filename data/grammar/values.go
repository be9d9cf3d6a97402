package grammar

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Count returns a Key for a whole number from low to high.
func Count(name string, p *int, initial, low, high int, help string) Key {
	return Key{Name: name, Initial: strconv.Itoa(initial), Help: help,
		Set: func(text string) error {
			n, err := strconv.Atoi(text)
			if err != nil {
				return errors.New("it must be a whole number")
			}
			*p = n
			return nil
		},
		Text: func() string { return strconv.Itoa(*p) },
		Check: func() error {
			if *p < low || *p > high {
				return fmt.Errorf("%s is %d; it must lie in %d … %d", name, *p, low, high)
			}
			return nil
		},
	}
}

// Share returns a Key for a number above 0 and below 1.
func Share(name string, p *float64, initial float64, help string) Key {
	return Key{Name: name, Initial: FormatNumbers(initial), Help: help,
		Set: func(text string) error {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return errors.New("it must be a number from 0 to 1")
			}
			*p = x
			return nil
		},
		Text: func() string { return FormatNumbers(*p) },
		Check: func() error {
			if !(*p > 0 && *p < 1) {
				return fmt.Errorf("%s is %v; it must lie between 0 and 1", name, *p)
			}
			return nil
		},
	}
}

// Word returns a Key for one of a few words. If initial is empty, the key is optional.
func Word[T ~string](name string, p *T, initial T, help string, words ...T) Key {
	known := make([]string, len(words))
	for i, w := range words {
		known[i] = string(w)
	}
	return Key{Name: name, Initial: string(initial), Help: help,
		Set:  func(text string) error { *p = T(text); return nil },
		Text: func() string { return string(*p) },
		Check: func() error {
			if *p == "" && initial == "" {
				return nil
			}
			if err := OneOf(string(*p), known...); err != nil {
				return fmt.Errorf("%s is %w", name, err)
			}
			return nil
		},
	}
}

// OneOf returns nil if text is one of the known words, and otherwise an error that begins with text. There
// must be two words or more.
func OneOf(text string, known ...string) error {
	if slices.Contains(known, text) {
		return nil
	}
	return fmt.Errorf("%q%s", text, DidYouMeanOr(text, known, "it is "+List(known, "or")))
}

// List joins one or more words, as in "a, b or c". The parameter and is the last separator.
func List(words []string, and string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " " + and + " " + words[last]
}

// FormatNumbers returns numbers as text that reads back exactly, separated by slashes, with inf for +Inf.
func FormatNumbers(numbers ...float64) string {
	s := make([]string, len(numbers))
	for i, x := range numbers {
		if s[i] = strconv.FormatFloat(x, 'g', -1, 64); math.IsInf(x, 1) {
			s[i] = "inf"
		}
	}
	return strings.Join(s, "/")
}
