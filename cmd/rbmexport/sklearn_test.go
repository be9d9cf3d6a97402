package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/rbm/npz"
)

// array reads an array from an archive.
func array(t *testing.T, path, name string) (shape []int64, values []float64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := npz.Open(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.Array(name)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	rows, cols := 1, int(a.Shape[0])
	if len(a.Shape) == 2 {
		rows, cols = cols, int(a.Shape[1])
	}
	if err := a.Rows(rows, cols, func(_ int, v []float64) error { values = append(values, v...); return nil }); err != nil {
		t.Fatal(err)
	}
	return a.Shape, values
}

// TestSklearn compares the archive with scikit-learn's names with the model, and checks that
// conversion there and back loses nothing.
func TestSklearn(t *testing.T) {
	isolate(t)
	if out := rbmexport.OK(t, "-model", "m.safetensors", "-sklearn", "-out", "sk.npz"); out != "sk.npz: 12 visible and 7 hidden units\n" {
		t.Errorf("prints %q, want %q", out, "sk.npz: 12 visible and 7 hidden units\n")
	}
	m, _ := clitest.Load(t, "m.safetensors")
	shape, weights := array(t, "sk.npz", "components_")
	if !slices.Equal(shape, []int64{7, 12}) {
		t.Fatalf("components_ is %v, want hidden × visible", shape)
	}
	for j := range 7 {
		for i := range 12 {
			if weights[j*12+i] != float64(m.Weight(i, j)) {
				t.Fatalf("components_[%d,%d] is %v, want %v", j, i, weights[j*12+i], m.Weight(i, j))
			}
		}
	}
	for name, want := range map[string][]float32{"intercept_visible_": m.VisibleBias, "intercept_hidden_": m.HiddenBias} {
		shape, got := array(t, "sk.npz", name)
		if !slices.Equal(shape, []int64{int64(len(want))}) || !slices.EqualFunc(got, want, func(a float64, b float32) bool { return a == float64(b) }) {
			t.Errorf("%s is %v %v, want %v", name, shape, got, want)
		}
	}

	rbmexport.OK(t, "-model", "sk.npz", "-out", "back.safetensors")
	if clitest.Read(t, "back.safetensors") != clitest.Read(t, "m.safetensors") {
		t.Error("safetensors → scikit-learn → safetensors changes the file")
	}
	rbmexport.OK(t, "-model", "back.safetensors", "-sklearn", "-out", "again.npz")
	a, aboutA := clitest.Load(t, "sk.npz")
	b, aboutB := clitest.Load(t, "again.npz")
	if !a.Equal(b) || !a.Equal(m) || fmt.Sprint(aboutA) != fmt.Sprint(aboutB) {
		t.Error("the second archive differs from the first")
	}
	for _, ext := range []string{".safetensors", ".png"} {
		rbmexport.Fails(t, cli.Usage, []string{"-model", "m.safetensors", "-sklearn", "-out", "x" + ext}, "-sklearn is for .npz files, not "+ext)
	}
}

// TestFolderOfRun checks -model with a folder.
func TestFolderOfRun(t *testing.T) {
	isolate(t)
	clitest.Write(t, "run/model.safetensors", clitest.Read(t, "m.safetensors"))
	rbmexport.OK(t, "-model", "run", "-out", "a.safetensors")
	if clitest.Read(t, "a.safetensors") != clitest.Read(t, "m.safetensors") {
		t.Error("the folder's model is another")
	}
	clitest.Write(t, "empty/notes.txt", "no run")
	rbmexport.Fails(t, cli.Failed, strings.Fields("-model empty -out b.npz"), "model empty is a folder without model.safetensors")
}
