package grammar

import (
	"strconv"
	"strings"
	"testing"
)

// table returns keys bound to two numbers, the second of which is optional.
func table(a, b *int) Keys {
	row := func(name, initial string, p *int) Key {
		return Key{Name: name, Initial: initial,
			Set:  func(text string) (err error) { *p, err = strconv.Atoi(text); return err },
			Text: func() string { return strconv.Itoa(*p) },
			Check: func() error {
				if *p < 0 {
					return strconv.ErrRange
				}
				return nil
			}}
	}
	return Keys{row("steps", "7", a), row("gibbs", "", b)}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                "",
		"steps=3":         "",
		"gibbs=2:steps=3": "",
		"steps":           `x: "steps" is not of the form key=value`,
		"setps=3":         `x has no setting "setps"; did you mean steps? (it has steps, gibbs)`,
		"steps=3:steps=4": "x: steps is given twice",
		"steps=many":      `x: steps: strconv.Atoi: parsing "many": invalid syntax`,
	} {
		var a, b int
		keys := table(&a, &b)
		keys.Initialize()
		if a != 7 || b != 0 || keys[0].Written() != "7" || keys[1].Written() != "" {
			t.Fatalf("defaults are %d and %d", a, b)
		}
		var parts []string
		if text != "" {
			parts = strings.Split(text, ":")
		}
		err := keys.Parse("x", parts)
		if got := errorText(err); got != want {
			t.Errorf("%q: error %q, want %q", text, got, want)
		}
		if want == "" && text != "" && (a != 3 || strings.Contains(text, "gibbs") != (keys[1].Written() == "2")) {
			t.Errorf("%q: sets %d and %d", text, a, b)
		}
	}
	if got := errorText(Keys(nil).Parse("x", []string{"k=1"})); got != `x has no settings, so no "k"` {
		t.Errorf("got %q, want %q", got, `x has no settings, so no "k"`)
	}
	a, b := 1, -1
	if got := errorText(table(&a, &b).Check("x")); got != "x: "+strconv.ErrRange.Error() {
		t.Error(got)
	}
	if got := errorText(NoKind("sampler", "gibs", []string{"gibbs", "sw"})); got != `unknown sampler "gibs"; did you mean gibbs? (there are gibbs, sw)` {
		t.Errorf("got %q, want %q", got, `unknown sampler "gibs"; did you mean gibbs? (there are gibbs, sw)`)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
