package data

import (
	"archive/zip"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A test set from a separate file is read like the training set.
func TestLoadTest(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	words := []int32{'c', 'a', 't', 'a', 'n', 't'}
	writeFiles(t, dir, map[string][]byte{
		"train.csv":  []byte("a,b,c,d,label\n0,16,5,2,cat\n4,3,9,0,ant\n1,1,1,1,dog\n"),
		"test.csv":   []byte("a,b,c,d,label\n8,8,7,0,dog\n0,0,16,0,ant\n"), // no cat, another order
		"bare.csv":   []byte("8,8,7,0\n"),
		"over.csv":   []byte("8,17,7,0\n"),
		"cow.csv":    []byte("a,b,c,d,label\n8,8,7,0,dog\n0,0,16,0,cow\n"),
		"short.csv":  []byte("8,8,7\n"),
		"x.npy":      npyBytes("<i4", "1, 4", []int32{8, 8, 7, 0}),
		"words.npz":  zipped(zip.Store, "x", npyBytes("<i4", "2, 4", []int32{8, 8, 7, 0, 1, 1, 1, 1}), "y", npyBytes("<U3", "2,", words)),
		"both.npz":   zipped(zip.Store, "x", npyBytes("|u1", "1, 4", []byte{1, 1, 1, 1}), "x_test", npyBytes("|u1", "1, 4", []byte{8, 8, 7, 0})),
		"images.idx": idxBuild([]byte{8, 8, 7, 0}, 1, 2, 2),
	})
	opt := Options{Scale: "max", Binarize: None, Height: 1, Width: 4}
	train, _, err := Load(context.Background(), at("train.csv"), opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, name string
		y          []int32
	}{
		{"test.csv", "test.csv", []int32{2, 0}}, {"bare.csv", "bare.csv", nil}, {"x.npy", "x.npy", nil},
		{"words.npz", "words.npz", []int32{1, 0}}, {"both.npz", "both.npz test", nil}, {"images.idx", "images.idx", nil},
	} {
		s, err := LoadTest(context.Background(), at(c.file), train, opt)
		if err != nil {
			t.Error(err)
			continue
		}
		checkSet(t, s)
		if want := []float32{0.5, 0.5, 7.0 / 16, 0}; !slices.Equal(s.Grey.Row(0), want) {
			t.Errorf("%s: the first row is %v, want %v", c.file, s.Grey.Row(0), want)
		}
		if s.Name != at(c.name) || s.Scale != "0:16" || s.Height != 1 || s.Width != 4 || !slices.Equal(s.Y, c.y) {
			t.Errorf("%s: name %s, scale %s, %d × %d, labels %v", c.file, s.Name, s.Scale, s.Height, s.Width, s.Y)
		}
		if c.y != nil && !slices.Equal(s.Classes, []string{"ant", "cat", "dog"}) {
			t.Errorf("%s: classes %q, want %q", c.file, s.Classes, []string{"ant", "cat", "dog"})
		}
	}
	for _, c := range []struct{ file, want string }{
		{"cow.csv", `row 1 has the label "cow", which is none of the 3 classes "ant", "cat", "dog"; leave such rows out, or name the classes alike`},
		{"short.csv", "rows of 3 inputs, where those of " + at("train.csv") + " have 4"},
	} {
		_, err := LoadTest(context.Background(), at(c.file), train, opt)
		checkFormat(t, err, c.want)
	}
	over, err := LoadTest(context.Background(), at("over.csv"), train, opt)
	if err != nil || len(over.Notes) != 1 || !strings.HasPrefix(over.Notes[0], "1 of ") || slices.Max(over.Grey.Data) != 1 {
		t.Errorf("a value above the scale: %+v, %v", over, err)
	}
}

// Labels keep their names, and LogProb its values.
func TestWithClasses(t *testing.T) {
	s, _ := mustLoad(t, "toy:4,2,3,0.1")
	names := []string{s.Classes[3], "none", s.Classes[0], s.Classes[2], s.Classes[1]}
	got, err := s.WithClasses(names)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Classes, names) || slices.Equal(got.Y, s.Y) {
		t.Fatalf("classes %q, labels %v", got.Classes, got.Y)
	}
	for r := range s.Len() {
		y, was := int(got.Y[r]), int(s.Y[r])
		if names[y] != s.Classes[was] || got.LogProb(s.X.Row(r), y) != s.LogProb(s.X.Row(r), was) {
			t.Errorf("row %d: class %s, was %s", r, names[y], s.Classes[was])
		}
	}
	x := s.X.Row(0)
	if p := got.LogProb(x, 1); !math.IsInf(p, -1) {
		t.Errorf("a class without rows has log p = %g, want −∞", p)
	}
	if got.LogProb(x, -1) != s.LogProb(x, -1) {
		t.Error("the law of inputs alone differs")
	}
	if same, err := s.WithClasses(nil); same != s || err != nil {
		t.Errorf("without names: %v", err)
	}
	// A class that no row has may be missing.
	some, err := s.Take([]int32{0}).WithClasses([]string{s.Classes[s.Y[0]]})
	if err != nil || some.Y[0] != 0 {
		t.Errorf("%v, %v: got %v, want 0", some, err, some.Y[0])
	}
}

func TestTestBeside(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFiles(t, dir, map[string][]byte{"train.csv": nil, "test.csv": nil, "my-train.npz": nil, "other.csv": nil, "train-images.idx": nil, "t10k-images.idx": nil})
	for spec, want := range map[string]string{
		at("train.csv"): at("test.csv"), at("my-train.npz"): "", at("other.csv"): "", "mnist": "", "toy:4,4,100,0.2": "",
		at("train-images.idx"): at("t10k-images.idx"), at("train-images.idx") + ",y.idx": at("t10k-images.idx"),
	} {
		if got := TestBeside(spec); got != want {
			t.Errorf("beside %s: %q, want %q", spec, got, want)
		}
	}
}

// Classes that are numbers are matched by their values.
func TestSpellingsOfClasses(t *testing.T) {
	train, _, err := Load(t.Context(), writeFile(t, "train.csv", "a,class\n0,1.0\n1,2.0\n0,1\n"), Options{})
	if err != nil || !slices.Equal(train.Classes, []string{"1.0", "2.0"}) {
		t.Fatalf("%+v, %v", train, err)
	}
	test, err := LoadTest(t.Context(), writeFile(t, "test.csv", "a,class\n0,2\n1,1\n"), train, Options{})
	if err != nil || !slices.Equal(test.Y, []int32{1, 0}) {
		t.Errorf("%+v, %v", test, err)
	}
}
