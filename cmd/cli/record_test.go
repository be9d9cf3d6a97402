package cli

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

func exampleRecord(mean float64, err *float64) Record {
	var inner, r Record
	inner.Add("log_z", mean/2)
	inner.AddSome("raised", false)
	r.Show("sampler", "sampler", "a<b", "a<b")
	r.Show("mean", "mean energy", mean, Number(mean))
	r.Add("std_err", err)
	r.Show("ais", "AIS", inner, "")
	r.Say("seconds", "3 s")
	r.AddSome("cuts", 0)
	r.AddSome("steps", 7)
	r.Add("rates", []float64(nil))
	r.Add("none", nil)
	r.Add("warnings", []string{"x", "y"})
	r.Say("", "the end")
	return r
}

// JSON has the keys in order, without keys that have no value. Numbers that are not finite are
// null.
func TestRecordJSON(t *testing.T) {
	half := 0.5
	for _, c := range []struct {
		r    Record
		want string
	}{
		{nil, `{}`},
		{Record{{Label: "only", Text: "text"}}, `{}`},
		{exampleRecord(2, &half), `{"sampler":"a\u003cb","mean":2,"std_err":0.5,"ais":{"log_z":1},"steps":7,"warnings":["x","y"]}`},
		{exampleRecord(math.NaN(), nil), `{"sampler":"a\u003cb","mean":null,"ais":{"log_z":null},"steps":7,"warnings":["x","y"]}`},
		{exampleRecord(math.Inf(-1), nil), `{"sampler":"a\u003cb","mean":null,"ais":{"log_z":null},"steps":7,"warnings":["x","y"]}`},
	} {
		got, err := json.Marshal(c.r)
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
	if _, err := json.Marshal(Record{{Key: "f", Value: func() {}}}); err == nil || !strings.Contains(err.Error(), "f: ") {
		t.Errorf("a value that JSON cannot hold gives %v, want an error that names its key", err)
	}
}

// Text, tables and CSV files each have the fields that belong to them.
func TestRecordText(t *testing.T) {
	half := 0.5
	r, empty := exampleRecord(1.0/3, &half), exampleRecord(math.NaN(), nil)
	var b strings.Builder
	r.Print(&b, 12)
	if got, want := b.String(), "sampler      a<b\nmean energy  0.333\nseconds      3 s\nthe end\n"; got != want {
		t.Errorf("text: got %q, want %q", got, want)
	}
	table := Table([]Record{r, empty})
	if want := [][]string{{"sampler", "mean energy", "AIS", "seconds", ""}, {"a<b", "0.333", "", "3 s", "the end"}, {"a<b", "–", "", "3 s", "the end"}}; !reflect.DeepEqual(table, want) {
		t.Errorf("table: got %q, want %q", table, want)
	}
	b.Reset()
	if err := PrintTable(&b, [][]string{{"τ", "n"}, {"longer", "10"}}, true); err != nil || b.String() != "  τ        n\n  longer  10\n" {
		t.Errorf("table: %v, got %q, want %q", err, b.String(), "  τ        n\n  longer  10\n")
	}
	csv := Columns([]Record{r, empty}, 4, "mean", "std_err", "z=ais.log_z", "cuts", "steps", "warnings")
	if want := [][]string{{"mean", "std_err", "z", "cuts", "steps", "warnings"}, {"0.3333", "0.5", "0.1667", "", "7", "x; y"}, {"", "", "", "", "7", "x; y"}}; !reflect.DeepEqual(csv, want) {
		t.Errorf("CSV: got %q, want %q", csv, want)
	}
	if got, want := Columns([]Record{r}, 4)[0], []string{"sampler", "mean", "std_err", "ais", "steps", "rates", "none", "warnings"}; !reflect.DeepEqual(got, want) {
		t.Errorf("columns: got %q, want %q", got, want)
	}
	if got, want := (Record{{Label: "seed", Text: "7"}, {Key: "k", Value: 1}}).Lines(), [][]string{{"what", "value"}, {"seed", "7"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("lines: got %q, want %q", got, want)
	}
}
