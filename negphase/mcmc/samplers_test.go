package mcmc

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseMoverReadsWhatFormatMoverWrites(t *testing.T) {
	sardonics := DefaultSardonics()
	sardonics.MinLength, sardonics.MaxLength, sardonics.Gamma1, sardonics.Gamma2 = 89, 90, .95, 1.05
	sardonics.Mix, sardonics.Walks = [3]float64{2, 1, 1}, 3
	single := DefaultSardonics()
	single.Single, single.Weights, single.Gamma1, single.Gamma2 = true, Boltzmann, .5, .5
	im := DefaultIntracluster()
	im.MinLength, im.MaxLength, im.GammaUp = 90, 90, .9
	for text, want := range map[string]Mover{
		"gibbs:order=random":                   Gibbs{Random},
		"metropolis:order=chessboard":          Metropolis{Chessboard},
		"modified-metropolis:order=linear":     ModifiedMetropolis{Linear},
		"exchange":                             Exchange{},
		"sw":                                   SwendsenWang{},
		"wolff:clusters=5":                     Wolff{5},
		"im:k=90:gamma=1/0.9:weights=heatbath": im,
		"sardonics:k=1-25:gamma=0.5:weights=boltzmann:walks=single":            single,
		"sardonics:k=89-90:gamma=0.95/1.05:weights=heatbath:walks=3:mix=2/1/1": sardonics,
	} {
		m, err := ParseMover(text, Linear)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !reflect.DeepEqual(m, want) {
			t.Errorf("%s is read as %+v, want %+v", text, m, want)
		}
		if back := FormatMover(m); back != text {
			t.Errorf("%s is written as %s", text, back)
		}
	}
	for _, kind := range MoverKinds() {
		m, err := ParseMover(kind, Random)
		if err != nil {
			t.Errorf("%s alone: %v", kind, err)
			continue
		}
		text := FormatMover(m)
		if again, err := ParseMover(text, Linear); err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%s is read as %+v (%v), want %+v", text, again, err, m)
		}
		if has := strings.Contains(text, "order=random"); has != MoverHas(kind, "order") {
			t.Errorf("%s: its order is in its text: %v", text, has)
		}
	}
	if MoverHas("nothing", "k") || !MoverHas("im", "k") || FormatMover(nil) != "<nil>" {
		t.Error("unknown kinds")
	}
}

func TestParseMoverErrorsNameTheKey(t *testing.T) {
	for text, want := range map[string]string{
		"":                           `unknown sampler ""; there are gibbs`,
		"sardonic":                   "did you mean sardonics?",
		"sw:k=1":                     `sw has no settings, so no "k"`,
		"gibbs:ordre=random":         "did you mean order?",
		"gibbs:order=randon":         "gibbs: order: \"randon\"; did you mean random?",
		"gibbs:order":                "not of the form key=value",
		"sardonics:k=1:k=2":          "k is given twice",
		"sardonics:k=x":              `k: "x" is not a whole number`,
		"sardonics:k=0-3":            "k is 0-3; lengths must lie in",
		"sardonics:k=5-3":            "must not exceed",
		"sardonics:k=4":              "even number of flips",
		"sardonics:k=5":              "such as k=4-5",
		"sardonics:walks=single:k=4": "half of all states can never be reached",
		"sardonics:walks=0":          "walks is 0",
		"sardonics:walks=two":        `walks: "two"`,
		"sardonics:gamma=NaN":        "gamma is NaN",
		"sardonics:gamma=1/x":        `gamma: "1/x"`,
		"sardonics:gamma=-1":         "0 or more",
		"sardonics:mix=1/1":          "three numbers",
		"sardonics:mix=1/x/1":        `"x" is not a number`,
		"sardonics:mix=1/-1/1":       "must not be negative",
		"sardonics:mix=0/0/0":        "no type",
		"sardonics:weights=heatbth":  "did you mean heatbath?",
		"im:gama=1":                  "did you mean gamma?",
		"wolff:clusters=0":           "clusters",
		"im:k=0":                     "im: k is 0",
		"im:weights=gibbs":           "heatbath or boltzmann",
	} {
		_, err := ParseMover(text, Linear)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want …%s…", text, err, want)
		}
	}
}

// TestSamplersTable checks that all rows have a line of help, and that settings with the
// defaults of their keys can be formatted and parsed.
func TestSamplersTable(t *testing.T) {
	kinds, keys := Help()
	for _, s := range samplers {
		if s.help == "" || !strings.Contains(kinds, "  "+s.name+" ") {
			t.Errorf("%s: no help", s.name)
		}
		for _, k := range s.keys() {
			if k.Help == "" || strings.Count(keys, "  "+k.Name+" ") != 1 || k.Initial == "" {
				t.Errorf("%s: %s has help %q and default %q", s.name, k.Name, k.Help, k.Initial)
			}
			text := s.name + ":" + k.Name + "=" + k.Initial
			if m, err := ParseMover(text, Linear); err != nil || FormatMover(m) != FormatMover(must(ParseMover(s.name, Linear))(t)) {
				t.Errorf("%s is not the default: %v, %v", text, m, err)
			}
		}
		if m, err := ParseMover(s.name, Linear); err != nil || samplerOf(m).name != s.name {
			t.Errorf("%s: %v, %v", s.name, m, err)
		}
	}
}

func FuzzParseMover(f *testing.F) {
	for _, kind := range MoverKinds() {
		f.Add(kind)
	}
	f.Add("sardonics:k=1-20:gamma=1.02/.9:mix=1/2/3:walks=2:weights=boltzmann")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMover(text, Linear)
		if err != nil {
			return
		}
		written := FormatMover(m)
		again, err := ParseMover(written, Random)
		if err != nil || FormatMover(again) != written {
			t.Errorf("%q is written as %q and that as %q (%v)", text, written, FormatMover(again), err)
		}
	})
}
