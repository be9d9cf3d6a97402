package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/train"
)

// Rows without labels fit models with and without labels, unless something else is wrong.
func TestFitSetWithoutLabels(t *testing.T) {
	bits := &data.Set{Name: "bits", X: rbm.NewBits(2, 6)}
	for r := range 2 {
		bits.X.Set(r, 1, true)
		bits.X.Set(r, 5, true)
	}
	groups, real := *bits, *bits
	groups.Groups = []rbm.Group{{Kind: rbm.Softmax, Units: 3}, {Kind: rbm.Softmax, Units: 3}}
	real.Groups = []rbm.Group{{Kind: rbm.Gaussian, Units: 6}}
	standard := real
	standard.Grey = rbm.NewMatrix(2, 6)
	none := *bits
	none.X = rbm.NewBits(2, 6)
	for _, labelled := range []bool{false, true} {
		model := func(set *data.Set) *rbm.RBM {
			named := *set
			if labelled {
				named.Y, named.Classes = make([]int32, 2), []string{"a", "b"}
			}
			return train.NewModel(&named, 3, labelled, rbm.Softmax, 1)
		}
		for _, c := range []struct {
			model, rows *data.Set
			want        string // of the error
		}{
			{bits, bits, ""},
			{&groups, &groups, ""},
			{&groups, bits, ""},
			{&standard, &standard, ""},
			{&groups, &none, "of units 0 … 2 on; a softmax group has one"},
			{bits, &groups, "the inputs of the model are bernoulli:6, but those of bits are softmax:3 softmax:3"},
			{&standard, bits, "the model has real inputs, and bits is not standardised"},
			{&standard, &real, "the model has real inputs, and bits is not standardised"},
		} {
			_, err := FitSet(model(c.model), c.rows, "m", modelfile.About{})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("labels %v, %v and %v: got %v, want %q", labelled, c.model.Groups, c.rows.Groups, err, c.want)
			}
		}
	}
}

// The units of a model represent letters in a certain order. Rows with another order fit neither the
// model nor its training rows.
func TestFitSetOfAnotherAlphabet(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"one": "-ABC\n", "two": "-CBA\n", "rows.fa": ">x\nABCA\n>y\nACCA\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec := func(letters string) string {
		return filepath.Join(dir, "rows.fa") + ":alphabet=" + filepath.Join(dir, letters)
	}
	load := func(letters string) *data.Set {
		set, _, err := data.Load(t.Context(), spec(letters), data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	one := load("one")
	m := train.NewModel(one, 3, false, rbm.Softmax, 1)
	for letters, want := range map[string]string{"one": "", "two": ": the alphabet is -CBA, where "} {
		_, fit := FitSet(m, load(letters), "m", modelfile.About{Schema: one.Schema.Text()})
		_, test := data.LoadTest(t.Context(), spec(letters), one, data.Options{})
		for _, err := range []error{fit, test} {
			if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", letters, err, want)
			}
		}
	}
	sites := data.NewSequenceSchema("-ABC", 2)
	table := &data.Set{Name: "table", Schema: &data.Schema{Columns: sites.Columns, Label: "y"}}
	if err := table.CheckSchema(&data.Schema{Columns: data.NewSequenceSchema("-ABC", 2).Columns}, "other"); err != nil {
		t.Errorf("the name of the labels: %v", err)
	}
	for _, other := range []*data.Schema{sites, {Columns: sites.Columns[:1]}, {Columns: data.NewSequenceSchema("-ACB", 2).Columns}} {
		if err := table.CheckSchema(other, "other"); !errors.Is(err, data.ErrFormat) {
			t.Errorf("%v: got %v, want %v", other, err, data.ErrFormat)
		}
	}
}
