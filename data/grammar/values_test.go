package grammar

import (
	"math"
	"strings"
	"testing"
)

// Each kind of value reads what it writes, starts at its default, and refuses values out of range.
func TestValues(t *testing.T) {
	var n int
	var x float64
	var w, optional string
	keys := Keys{Count("n", &n, 3, 1, 9, ""), Share("x", &x, 0.25, ""), Word("w", &w, "red", "", "red", "green"), Word("o", &optional, "", "", "up", "down")}
	keys.Initialize()
	if n != 3 || x != 0.25 || w != "red" || optional != "" || keys.Check("it") != nil {
		t.Errorf("got %v %v %q %q, %v; want the defaults", n, x, w, optional, keys.Check("it"))
	}
	if err := keys.Parse("it", []string{"n=9", "x=0.5", "w=green", "o=down"}); err != nil || keys.Check("it") != nil {
		t.Fatal(err, keys.Check("it"))
	}
	for at, want := range []string{"9", "0.5", "green", "down"} {
		if got := keys[at].Written(); got != want {
			t.Errorf("%s: got %q, want %q", keys[at].Name, got, want)
		}
	}
	for _, c := range []struct{ part, want string }{
		{"n=10", "n is 10; it must lie in 1 … 9"}, {"n=two", "whole number"}, {"x=1", "x is 1; it must lie between 0 and 1"}, {"x=a", "number from 0 to 1"},
		{"x=NaN", "x is NaN"}, {"w=rde", `w is "rde"; did you mean red? (it is red or green)`}, {"o=left", `o is "left"; it is up or down`},
	} {
		keys.Initialize()
		optional = ""
		err := keys.Parse("it", []string{c.part})
		if err == nil {
			err = keys.Check("it")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.part, err, c.want)
		}
	}
	if got := FormatNumbers(1, 0.5, math.Inf(1)); got != "1/0.5/inf" {
		t.Errorf("got %s, want 1/0.5/inf", got)
	}
}
