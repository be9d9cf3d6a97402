package negphase

import (
	"strings"
	"testing"
)

// FuzzParse checks that Parse panics on no text, and that it parses the String of
// each result to the same settings.
func FuzzParse(f *testing.F) {
	for _, kind := range Kinds() {
		f.Add(kind)
	}
	f.Add("pt:k=1:swaps=1:tau=1/2/3")
	f.Add("pins:tau=auto/20:path=data:sardonics:k=1-20:gamma=1.02")
	f.Add("pt:tau=reach/5:im:k=3:gamma=0.9/1.1")
	f.Fuzz(func(t *testing.T, text string) {
		kind, _, _ := strings.Cut(text, ":")
		s, err := Parse(text, DefaultSettings(kind))
		if err != nil {
			return
		}
		written := s.String()
		again, err := Parse(written, DefaultSettings(s.Kind))
		if err != nil || again.String() != written {
			t.Errorf("%q is written %q, which becomes %q, %v", text, written, again.String(), err)
		}
	})
}
