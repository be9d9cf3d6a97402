package negphase

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// texts are settings in the grammar as String writes them.
var texts = []string{
	"cd:k=1",
	"cd:k=1000000",
	"pcd:k=3:chains=20:start=data",
	"pt:k=1:swaps=1:chains=10:start=uniform:tau=1/2/3/4/5",
	"pt:k=2:swaps=7:chains=1:start=uniform:tau=1/1.0000001",
	"ins:k=1:swaps=1:chains=10:start=data:tau=1/1.5/1e+30",
	"ucd:k=5:max=200:chains=20:start=data",
	"exact",
}

func TestParseReadsWhatStringWrites(t *testing.T) {
	for _, text := range texts {
		s, err := Parse(text, DefaultSettings("pt"))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.String(); got != text {
			t.Errorf("%q is read and written as %q", text, got)
		}
		again, err := Parse(s.String(), Settings{K: 1, Swaps: 1, Chains: 1, Start: Uniform, Temperatures: []float64{1, 2}, Max: 7})
		if err != nil || again.String() != text {
			t.Errorf("%q, over other defaults: %v, %v", text, again, err)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Settings
		if err := json.Unmarshal(b, &back); err != nil || back.String() != text {
			t.Errorf("%q in JSON is %s, and back %v, %v", text, b, back, err)
		}
	}
	for _, kind := range Kinds() {
		s := DefaultSettings(kind)
		if got, err := Parse(s.String(), s); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("the defaults of %s, %v, are read as %v, %v", kind, s, got, err)
		}
	}
}

func TestParseTakesTheRestFromDefaults(t *testing.T) {
	d := DefaultSettings("")
	d.Chains = 33
	got, err := Parse("pt:tau=1,1.5 /2:k=4", d)
	want := d
	want.Kind, want.K, want.Temperatures = "pt", 4, []float64{1, 1.5, 2}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if d.Kind != "" || d.K != 1 || len(d.Temperatures) != 5 {
		t.Errorf("the defaults are changed to %v", d)
	}
}

// rungs returns a list of n rising temperatures from 1.
func rungs(n int) string {
	var s []string
	for i := range n {
		s = append(s, strconv.Itoa(i+1))
	}
	return strings.Join(s, "/")
}

// Every error is one line that names the kind and the thing.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // what the message says
	}{
		{"", []string{"unknown negative phase", "cd, pcd, pt, ins, ucd, exact"}},
		{"pdc", []string{`unknown negative phase "pdc"`, "did you mean pcd?"}},
		{"exakt", []string{`"exakt"`, "did you mean exact?"}},
		{"PT", []string{`"PT"`, "did you mean pt?"}},
		{"sardonics:k=1", []string{`"sardonics"`, "there are cd, pcd"}},
		{"pt=1", []string{`"pt=1"`}},

		{"pcd:", []string{"pcd", `""`, "key=value"}},
		{"pcd:k", []string{"pcd", `"k"`, "key=value"}},
		{"pcd::k=1", []string{"pcd", "key=value"}},
		{"pcd:chain=1", []string{"pcd", `"chain"`, "did you mean chains?", "k, chains, start"}},
		{"pt:swap=1", []string{"pt", `"swap"`, "did you mean swaps?"}},
		{"pcd:K=1", []string{"pcd", `"K"`}},
		{"cd:chains=10", []string{"cd has no setting", `"chains"`}},
		{"pcd:swaps=1", []string{"pcd has no setting", `"swaps"`}},
		{"pcd:tau=1/2", []string{"pcd has no setting", `"tau"`}},
		{"exact:k=1", []string{"exact has no settings", `"k"`}},

		{"cd:k=0", []string{"cd: k is 0", "1 … 1000000"}},
		{"pcd:k=-1", []string{"pcd: k is -1"}},
		{"pcd:k=1000001", []string{"pcd: k is 1000001"}},
		{"pcd:k=1.5", []string{"pcd: k", `"1.5"`, "whole number"}},
		{"pcd:k=", []string{"pcd: k", "whole number"}},
		{"pcd:k=99999999999999999999", []string{"pcd: k", "whole number"}},
		{"pcd:k=1=2", []string{"pcd: k", `"1=2"`}},
		{"pt:swaps=0", []string{"pt: swaps is 0"}},
		{"ins:swaps=-3", []string{"ins: swaps is -3"}},
		{"ins:swaps=2000000", []string{"ins: swaps is 2000000"}},
		{"pcd:chains=0", []string{"pcd: chains is 0"}},
		{"pt:chains=-5", []string{"pt: chains is -5"}},
		{"ins:chains=1000001", []string{"ins: chains is 1000001", "1000000"}},
		{"pcd:chains=many", []string{"pcd: chains", `"many"`}},
		{"pcd:start=zero", []string{"pcd: start", `"zero"`, "uniform or data"}},
		{"pt:start=", []string{"pt: start", `""`}},

		{"ucd:max=0", []string{"ucd: max is 0", "k … 1000000"}},
		{"ucd:k=5:max=4", []string{"ucd: max is 4", "k is 5"}},
		{"ucd:max=1000001", []string{"ucd: max is 1000001"}},
		{"ucd:max=soon", []string{"ucd: max", `"soon"`, "whole number"}},
		{"ucd:chains=10000:max=10000", []string{"ucd: 10000 chains", "max = 10000", "16777216 particles"}},
		{"ucd:swaps=1", []string{"ucd has no setting", `"swaps"`}},

		{"pt:tau=", []string{"pt: temperatures", "at least two"}},
		{"pt:tau=1", []string{"pt: temperatures 1:", "at least two", "pcd"}},
		{"pt:tau=2/3", []string{"pt: temperatures 2/3", "first must be 1"}},
		{"pt:tau=-1/2", []string{"pt: temperatures -1/2", "first must be 1"}},
		{"ins:tau=1/1", []string{"ins: temperatures 1/1", "rise", "1 follows 1"}},
		{"ins:tau=1/3/2", []string{"ins: temperatures 1/3/2", "2 follows 3"}},
		{"ins:tau=1/-2", []string{"ins: temperatures", "rise"}},
		{"pt:tau=1/NaN", []string{"pt: temperatures", "finite"}},
		{"pt:tau=NaN/2", []string{"pt: temperatures", "first must be 1"}},
		{"pt:tau=1/Inf", []string{"pt: temperatures", "finite"}},
		{"pt:tau=1/2/1e999", []string{"temperature", "1e999"}},
		{"pt:tau=1/hot", []string{"temperature", `"hot"`, "not a number"}},
		{"ins:tau=" + rungs(maxINS+1), []string{"ins: temperatures", "at most 16", "pt"}},
		{"pt:tau=" + rungs(maxRungs+1), []string{"pt: temperatures", "at most 256"}},
	} {
		_, err := Parse(c.text, DefaultSettings(""))
		if err == nil {
			t.Errorf("%q is accepted", c.text)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: the message does not say %q: %v", c.text, w, err)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the message has several lines: %v", c.text, err)
		}
	}
	for _, text := range []string{"ins:chains=1:tau=" + rungs(maxINS), "pt:chains=1:tau=" + rungs(maxRungs)} {
		if _, err := Parse(text, DefaultSettings("")); err != nil {
			t.Error(err)
		}
	}
}

// New checks what a kind has and nothing else.
func TestNewChecksWhatTheKindHas(t *testing.T) {
	for _, kind := range Kinds() {
		for key, spoil := range map[string]func(s *Settings){
			"k":      func(s *Settings) { s.K = 0 },
			"swaps":  func(s *Settings) { s.Swaps = 0 },
			"chains": func(s *Settings) { s.Chains = -1 },
			"start":  func(s *Settings) { s.Start = "" },
			"tau":    func(s *Settings) { s.Temperatures = nil },
			"max":    func(s *Settings) { s.Max = 0 },
		} {
			s := DefaultSettings(kind)
			spoil(&s)
			e, err := New(s)
			if Has(kind, key) != (err != nil) || (e == nil) != (err != nil) {
				t.Errorf("%s with a bad %s: %v, %v", kind, key, e, err)
			}
		}
	}
	if _, err := New(Settings{}); err == nil {
		t.Error("settings without a kind are accepted")
	}
	if Has("nonsense", "k") || Has("cd", "nonsense") {
		t.Error("Has knows what is not there")
	}
}
