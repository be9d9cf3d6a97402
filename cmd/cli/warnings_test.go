package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/negphase/logz"
	"gorbm/negphase/sample"
	"gorbm/train"
)

// constants returns the string constants of a type, such as "Kind", that packages declare, by name.
func constants(t *testing.T, of string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, folder := range []string{"negphase", "negphase/diag", "negphase/logz", "negphase/sample", "train"} {
		files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok || spec.Type == nil {
					return true
				}
				typed := ""
				switch x := spec.Type.(type) {
				case *ast.Ident:
					typed = x.Name
				case *ast.SelectorExpr:
					typed = x.Sel.Name
				}
				if typed != of || len(spec.Values) != 1 {
					return true
				}
				if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
					text, _ := strconv.Unquote(lit.Value)
					found[folder+"."+spec.Names[0].Name] = text
				}
				return true
			})
		}
	}
	return found
}

// Each kind of warning has a sentence, and each remedy has words. No sentence names a flag, because packages
// other than commands use it too.
func TestEachWarningHasWords(t *testing.T) {
	kinds, remedies := constants(t, "Kind"), constants(t, "Remedy")
	if len(kinds) < 40 || len(remedies) < 25 {
		t.Fatalf("got %d kinds and %d remedies; the test looks in the wrong place", len(kinds), len(remedies))
	}
	for name, kind := range kinds {
		if kind != string(logz.Disagree) && sentences[diag.Kind(kind)] == "" {
			t.Errorf("%s = %q has no sentence", name, kind)
		}
	}
	for name, remedy := range remedies {
		if flagRemedies[diag.Remedy(remedy)] == "" {
			t.Errorf("%s = %q has no words", name, remedy)
		}
	}
	flagName := regexp.MustCompile(`(^|[ (])-[a-z]`)
	for kind, text := range sentences {
		if flagName.MatchString(text) {
			t.Errorf("%s: %q names a flag", kind, text)
		}
	}
}

// A sentence has the numbers, what it is about, the cause and the remedies.
func TestSentence(t *testing.T) {
	cause := diag.Warning{Kind: train.LagCause, Numbers: diag.Numbers{"updates": 100, "trial_step": 2000, "from": -9.5, "to": -8}}
	for _, c := range []struct {
		w    diag.Warning
		want string
	}{
		{diag.Warning{Kind: train.FallKind, Of: []string{"log_likelihood_train"}, Cause: &cause, Help: []diag.Remedy{train.SmallerRate, train.MoreChains},
			Numbers: diag.Numbers{"last": -9.25, "step": 2000, "best": -8, "best_step": 100}},
			"log_likelihood_train is -9.25 at step 2000 and was -8 at step 100: the chains lag behind the model, as 100 updates from step 2000 with the exact negative phase raised the mean from -9.5 to -8 nats; try a smaller -rate or more -chains"},
		{diag.Warning{Kind: logz.NoOverlap, Of: []string{"Bennett"}, Numbers: diag.Numbers{"overlap": 0.002}},
			"Bennett: neighbouring temperatures overlap by 0.2 %, and below 1 % there is no estimate"},
		{diag.Warning{Kind: train.DeadKind}, "? of ? hidden units are dead at step ?: "}, // from a checkpoint of an earlier version
		{diag.Warning{Kind: "mixing"}, "mixing"},
	} {
		if got := Sentence(c.w); got != c.want && !(c.w.Numbers == nil && strings.HasPrefix(got, c.want)) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The caption of samples counts the queries whose chains have mixed.
func TestSamplesCaption(t *testing.T) {
	mixed, stuck := sample.Draw{Proof: sample.Proof{Mixed: true}}, sample.Draw{}
	for _, c := range []struct {
		draws []sample.Draw
		want  string
	}{
		{[]sample.Draw{mixed, mixed}, "their chains have mixed"},
		{[]sample.Draw{mixed, stuck}, "their chains have mixed in 1 of 2 lines"},
		{[]sample.Draw{stuck}, "their chains have not mixed"},
	} {
		s := sample.Sheet{Draws: c.draws}
		if got := SamplesCaption(s, nil); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		if got, want := SamplesCaption(s, &sample.Agreement{Same: 3, Of: 4}), "of 4 samples, 3 are nearest to a row of their class; "+c.want; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
