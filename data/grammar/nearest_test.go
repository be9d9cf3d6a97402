package grammar

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"fontdigits", "mnist", "toy", "cd"}
	for name, want := range map[string]string{
		"mnits": "mnist", "MNIST": "mnist", "fontdigit": "fontdigits", "font-digits": "fontdigits",
		"tyo": "toy", "": "", "x": "", "zzz": "", "completely": "", "cd": "cd", "ce": "", "pt": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := Nearest("a", nil); got != "" {
		t.Errorf("Nearest of nothing = %q, want nothing", got)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"abcd", "acbd", 1}, {"ca", "abc", 3}, {"µν", "ν", 1}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := editDistance(c.b, c.a); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
