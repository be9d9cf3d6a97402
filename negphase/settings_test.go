package negphase

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// texts has settings in the form of String.
var texts = []string{
	"cd:k=1",
	"cd:k=1000000",
	"pcd:k=3:chains=20:start=data",
	"pt:k=1:swaps=1:chains=10:start=uniform:tau=1/2/3/4/5",
	"pt:k=2:swaps=7:chains=1:start=uniform:tau=1/1.0000001",
	"ins:k=1:swaps=1:chains=10:start=data:tau=1/1.5/1e+30",
	"pt:k=1:swaps=1:chains=10:start=uniform:tau=1/2:order=sweep",
	"pt:k=1:swaps=1:chains=10:start=uniform:tau=1/2:order=evenodd",
	"pins:k=1:swaps=1:chains=10:start=uniform:tau=1/2/3:block=2",
	"pt:k=1:swaps=1:chains=10:start=uniform:tau=1/2/inf",
	"pt:k=1:swaps=1:chains=10:start=uniform:tau=auto:order=sweep:path=data",
	"pt:k=1:swaps=1:chains=10:start=uniform:tau=auto/256:hottest=5",
	"ins:k=1:swaps=1:chains=10:start=uniform:tau=auto/16:hottest=inf:path=uniform",
	"pins:k=1:swaps=1:chains=10:start=uniform:tau=auto:hottest=1.01:block=4",
	"ptt:k=1:chains=20:rungs=4:freeze=0.25:sweeps=20:reservoir=2:path=uniform",
	"sardonics:k=fit:gamma=1.02:weights=heatbath:walks=1:chains=10:start=uniform:moves=1",
	"sardonics:k=auto:gamma=1:weights=heatbath:walks=1:chains=10:start=uniform:moves=1",
	"sardonics:k=1-30:gamma=0.95/1.05:weights=heatbath:walks=3:mix=2/1/1:chains=10:start=data:moves=1:gibbs=2",
	"sardonics:k=3:gamma=1:weights=heatbath:walks=single:chains=10:start=uniform:moves=7",
	"im:k=1-9:gamma=1/0.9:weights=heatbath:chains=3:start=uniform:moves=2",
	"im:k=fit:gamma=1:weights=heatbath:chains=10:start=uniform:moves=1:gibbs=3",
	"walk:gibbs:order=random:chains=10:start=uniform:moves=1",
	"walk:exchange:chains=10:start=uniform:moves=1:gibbs=1",
	"pt:k=1:swaps=1:chains=10:start=uniform:tau=1/2:order=evenodd:gibbs:order=chessboard",
	"pt:k=4:swaps=1:chains=10:start=uniform:tau=auto/5:path=uniform:gibbs=1:im:k=1-4:gamma=1:weights=heatbath",
	"ins:k=1:swaps=1:chains=10:start=uniform:tau=1/2:sardonics:k=fit:gamma=1.02:weights=heatbath:walks=1",
	"pins:k=1:swaps=1:chains=10:start=uniform:tau=1/2:block=2:exchange",
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
		again, err := Parse(s.String(), set(t, "pins", "block", 7, "chains", 1))
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
	for _, defaults := range []string{"pt", "ins", "pcd", "pins:block=9"} {
		d := set(t, defaults, "chains", 33, "start", "data")
		before := d.String()
		got, err := Parse("pt:tau=1,1.5 /2:k=4", d)
		if want := "pt:k=4:swaps=1:chains=33:start=data:tau=1/1.5/2"; err != nil || got.String() != want {
			t.Errorf("over %s: got %v, %v, want %v", defaults, got, err, want)
		}
		if d.String() != before {
			t.Errorf("the defaults %s are changed to %v", before, d)
		}
	}
}

// The JSON of settings must not change, because checkpoints of earlier versions are compared with it.
func TestJSONOfSettings(t *testing.T) {
	for text, want := range map[string]string{
		"exact":                                    `{"kind":"exact"}`,
		"pt:tau=1/1e6/inf:order=evenodd":           `{"chains":10,"k":1,"kind":"pt","order":"evenodd","start":"uniform","swaps":1,"temperatures":[1,1000000,"inf"]}`,
		"pins:tau=auto/9:hottest=inf":              `{"block":8,"chains":10,"hottest":"inf","k":1,"kind":"pins","start":"uniform","swaps":1,"temperatures":"auto/9"}`,
		"ins:tau=reach/6:chains=2":                 `{"chains":2,"k":1,"kind":"ins","start":"uniform","swaps":1,"temperatures":"reach/6"}`,
		"sardonics:gamma=.9/1.1:mix=1/1/1:gibbs=2": `{"chains":10,"gibbs":2,"kind":"sardonics","mover":"sardonics:k=fit:gamma=0.9/1.1:weights=heatbath:walks=1:mix=1/1/1","moves":1,"start":"uniform"}`,
	} {
		b, err := json.Marshal(parse(t, text))
		if err != nil || string(b) != want {
			t.Errorf("%s: got %s, %v, want %s", text, b, err, want)
		}
	}
	s := DefaultSettings("pcd")
	for _, bad := range []string{`{"kind":"pt","k":"many"}`, `{"kind":"pt","temperatures":[1,"hot"]}`, `{"kind":"walk","mover":"nothing"}`, `[1]`} {
		if err := json.Unmarshal([]byte(bad), &s); err == nil || s.Kind != "pcd" {
			t.Errorf("%s is read as %v, %v", bad, s, err)
		}
	}
}

// Every setting has a help text, and an example that is valid.
func TestHelpOfSettings(t *testing.T) {
	help := KeysHelp("hottest")
	for _, kind := range Kinds() {
		s := DefaultSettings(kind)
		if !strings.Contains(KindsHelp(), "  "+kind+" ") {
			t.Errorf("the help does not say what %s is", kind)
		}
		for _, k := range s.keys() {
			if k.Help == "" && k.Name != samplerKey {
				t.Errorf("%s: %s has no help", kind, k.Name)
			}
			if k.Name == samplerKey {
				continue
			}
			example := cmp.Or(k.Example, k.Initial)
			if err := s.Set(k.Name, example); err != nil {
				t.Error(err)
			}
			if strings.Contains(help, "  "+k.Name+"="+example+" ") != (k.Name != "hottest") {
				t.Errorf("%s is missing, or is there although it is left out:\n%s", k.Name, help)
			}
		}
	}
	for _, line := range strings.Split(help, "\n") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	if got, want := KeyHelp("chains"), "pcd, ptt, sardonics, im, walk: chains; pt, ins, pins: groups of replicas"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// temperatures returns a list of n rising temperatures that starts at 1, in the grammar.
func temperatures(n int) string {
	var s []string
	for i := range n {
		s = append(s, strconv.Itoa(i+1))
	}
	return strings.Join(s, "/")
}

// Every error is one line that names the kind and the setting.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // parts of the message
	}{
		{"", []string{"unknown negative phase", "cd, pcd, pt, ins, pins, ptt, sardonics, im, walk, exact"}},
		{"pdc", []string{`unknown negative phase "pdc"`, "did you mean pcd?"}},
		{"exakt", []string{`"exakt"`, "did you mean exact?"}},
		{"PT", []string{`"PT"`, "did you mean pt?"}},
		{"sardonic:k=1", []string{`"sardonic"`, "did you mean sardonics?"}},
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

		{"pt:order=even", []string{"pt: order", `"even"`, "sweep or evenodd"}},
		{"ins:order=sweep", []string{"ins has no setting", `"order"`}},
		{"ins:block=4", []string{"ins has no setting", `"block"`}},
		{"pins:block=1", []string{"pins: block is 1", "2 … 16"}},
		{"pins:block=17", []string{"pins: block is 17", "2 … 16"}},
		{"pins:block=half", []string{"pins: block", `"half"`, "whole number"}},

		{"pt:tau=", []string{"pt: temperatures", "at least two"}},
		{"pt:tau=1", []string{"pt: temperatures 1:", "at least two", "pcd"}},
		{"sardonics:k=0-3", []string{"sardonics: k is 0-3"}},
		{"pt:sardonics:k=auto", []string{"pt: k=auto is for walks at one temperature", "k=fit"}},
		{"sardonics:k=2", []string{"sardonics: 2 walks, all of 2 flips", "let the length vary"}},
		{"sardonics:k=many", []string{"sardonics: k", `"many"`, "a range"}},
		{"sardonics:k=1:k=2", []string{"sardonics", "k is given twice"}},
		{"sardonics:gama=1", []string{`sardonics has no setting "gama"`, "did you mean gamma?", "moves, gibbs, k, gamma"}},
		{"sardonics:weights=gibbs", []string{"sardonics: weights", `"gibbs"`, "heatbath or boltzmann"}},
		{"sardonics:order=random", []string{`sardonics has no setting "order"`}},
		{"sardonics:moves=0", []string{"sardonics: moves is 0", "1 … 1000000"}},
		{"sardonics:moves=few", []string{"sardonics: moves", `"few"`, "whole number"}},
		{"sardonics:im", []string{`sardonics: "im"`, "key=value"}},
		{"sardonics:tau=1/2", []string{`sardonics has no setting "tau"`}},
		{"im:gibbs=-1", []string{"im: gibbs is -1", "0 … 1000000"}},
		{"im:walks=3", []string{`im has no setting "walks"`}},
		{"walk:gibs", []string{`walk: "gibs"`, "did you mean gibbs?", "there are gibbs, metropolis"}},
		{"walk:gibbs:im", []string{"walk: the samplers gibbs and im"}},
		{"walk:gibbs:order=up", []string{"walk: gibbs: order", `"up"`, "random"}},
		{"walk:im:k=0", []string{"walk: im: k is 0"}},
		{"pt:im:k=0", []string{"pt: im: k is 0"}},
		{"pt:gibbs=2", []string{"pt: gibbs is for ladders with a sampler", "k counts"}},
		{"pt:path=data:im", []string{"pt: path=data", "the sampler im", "leave path out"}},
		{"pcd:sardonics", []string{`pcd: "sardonics"`, "key=value"}},
		{"pt:tau=2/3", []string{"pt: temperatures 2/3", "first must be 1"}},
		{"pt:tau=-1/2", []string{"pt: temperatures -1/2", "first must be 1"}},
		{"ins:tau=1/1", []string{"ins: temperatures 1/1", "rise", "1 follows 1"}},
		{"ins:tau=1/3/2", []string{"ins: temperatures 1/3/2", "2 follows 3"}},
		{"ins:tau=1/-2", []string{"ins: temperatures", "rise"}},
		{"pt:tau=1/NaN", []string{"pt: temperatures", "numbers"}},
		{"pt:tau=NaN/2", []string{"pt: temperatures", "first must be 1"}},
		{"pt:tau=1/inf/inf", []string{"pt: temperatures 1/inf/inf", "rise"}},
		{"pt:tau=1/-inf", []string{"pt: temperatures", "rise"}},
		{"pt:tau=inf/2", []string{"pt: temperatures inf/2", "first must be 1"}},
		{"pt:tau=auto/", []string{"auto/", "auto/20"}},
		{"pt:tau=auto20", []string{"auto20", "auto/20"}},
		{"pt:tau=auto/0", []string{"auto/0", "auto/20"}},
		{"pt:tau=auto/many", []string{"auto/many", "auto/20"}},
		{"pt:tau=auto/1", []string{"pt: tau is auto/1", "2 … 256"}},
		{"pins:tau=auto/257", []string{"pins: tau is auto/257", "2 … 256"}},
		{"ins:tau=auto/17", []string{"ins: tau is auto/17", "2 … 16"}},
		{"pt:chains=1000000:tau=auto", []string{"1000000 chains", "64 temperatures", "16777216"}},
		{"pt:hottest=3", []string{"pt: hottest is for tau=auto"}},
		{"pt:tau=auto:hottest=1", []string{"pt: hottest is 1", "at least 1.01"}},
		{"pt:tau=auto:hottest=0", []string{"pt: hottest", `"0"`, "at least 1.01"}},
		{"pt:tau=auto:hottest=NaN", []string{"pt: hottest", "at least 1.01"}},
		{"pt:tau=auto:hottest=warm", []string{"pt: hottest", `"warm"`, "a number, or inf"}},
		{"pt:path=there", []string{"pt: path", `"there"`, "uniform or data"}},
		{"pcd:path=data", []string{"pcd has no setting", `"path"`}},
		{"pt:tau=1/2/1e999", []string{"temperature", "1e999"}},
		{"pt:tau=1/hot", []string{"temperature", `"hot"`, "not a number"}},
		{"ins:tau=" + temperatures(maxBlock+1), []string{"ins: temperatures", "at most 16", "use pt or pins"}},
		{"pt:tau=" + temperatures(maxTemperatures+1), []string{"pt: temperatures", "at most 256"}},
		{"pins:tau=" + temperatures(maxTemperatures+1), []string{"pins: temperatures", "at most 256"}},
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
	for _, text := range []string{"ins:chains=1:tau=" + temperatures(maxBlock), "pt:chains=1:tau=" + temperatures(maxTemperatures), "pins:chains=1:tau=" + temperatures(maxTemperatures)} {
		if _, err := Parse(text, DefaultSettings("")); err != nil {
			t.Error(err)
		}
	}
}

// Temperatures are parsed from the forms of the flag and of the grammar.
func TestSetTemperatures(t *testing.T) {
	for _, c := range []struct {
		text, tau string
		most      int
	}{
		{"auto", "auto", 64}, {"auto:20", "auto/20", 20}, {"auto/20", "auto/20", 20}, {" auto", "auto", 64},
		{"1,2,3", "1/2/3", 3}, {"1/ 2/+Inf", "1/2/inf", 3}, {"1,infinity", "1/inf", 2},
	} {
		s := DefaultSettings("pt")
		s.ladder().Temperatures.Auto, s.ladder().Temperatures.Number = true, 7 // earlier values, which Set must overwrite
		err := s.Set("tau", c.text)
		if err != nil || s.Get("tau") != c.tau || s.Ladder().MaxTemperatures() != c.most || s.Check() != nil {
			t.Errorf("%q is read as %q, at most %d temperatures, %v, %v", c.text, s.Get("tau"), s.Ladder().MaxTemperatures(), err, s.Check())
		}
	}
	for kind, want := range map[string]int{"cd": 1, "ins": 16, "pins": 64} {
		s := DefaultSettings(kind)
		if err := s.Set("tau", "auto"); (err == nil) != (kind != "cd") {
			t.Fatal(err)
		}
		if got := s.Ladder().MaxTemperatures(); got != want {
			t.Errorf("%s: at most %d temperatures, want %d", kind, got, want)
		}
	}
}

// New checks the settings that a kind has and no others.
func TestNewChecksWhatTheKindHas(t *testing.T) {
	for _, kind := range Kinds() {
		for key, bad := range map[string]string{
			"k": "0", "swaps": "0", "chains": "-1", "start": "", "tau": "", "order": "none", "path": "none",
			"hottest": "3", "block": "0", "moves": "0", "gibbs": "-1",
		} {
			s := DefaultSettings(kind)
			if err := s.Set(key, bad); Has(kind, key) != (err == nil) {
				t.Errorf("%s: setting %s: %v", kind, key, err)
			}
			e, err := New(s)
			if Has(kind, key) != (err != nil) || (e == nil) != (err != nil) {
				t.Errorf("%s with a bad %s: %v, %v", kind, key, e, err)
			}
		}
	}
	// path=data needs the data's base rates.
	for _, kind := range []string{"pt", "ins", "pins", "ptt"} {
		s := set(t, kind, "path", ToData)
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), kind+": path=data needs the base rates") {
			t.Errorf("%s without a base: %v", kind, err)
		}
	}
	both := DefaultSettings("pt")
	both.ladder().Temperatures.Auto = true
	if _, err := New(both); err == nil || !strings.Contains(err.Error(), "temperatures 1/2/3/4/5 are given and to be tuned") {
		t.Errorf("temperatures and auto: %v", err)
	}
	if _, err := New(Settings{}); err == nil {
		t.Error("settings without a kind are accepted")
	}
	if Has("nonsense", "k") || Has("cd", "nonsense") {
		t.Error("Has knows what is not there")
	}
}
