package main

import (
	"context"
	"fmt"
	"image"
	"image/color"
	_ "image/png"
	"math"
	"os"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/potts"
	"gorbm/rbm/units"
)

var rbmexport = clitest.Command{Name: "rbmexport", Run: run}

var about = modelfile.About{ClassNames: []string{"a", "b"}, Data: "digits.csv", Binarize: "threshold", Height: 2, Width: 5, Seed: 3}

// isolate changes to an empty folder with a model of 2 × 5 inputs, 2 labels and 7 hidden units.
func isolate(t *testing.T) {
	t.Helper()
	clitest.Isolate(t)
	clitest.Save(t, "m.safetensors", clitest.Model(12, 7, 2, rbm.Bernoulli), about)
}

func TestHelp(t *testing.T) {
	rbmexport.Help(t, "classes", "labels", "model", "out", "sklearn", "spins", "zero-sum")
}

func TestGolden(t *testing.T) {
	isolate(t)
	var out strings.Builder
	for _, args := range []string{"-out a.npz", "-out b.safetensors", "-out c.png", "-out e.PNG"} {
		fmt.Fprintf(&out, "$ rbmexport -model m.safetensors %s\n%s", args, rbmexport.OK(t, append([]string{"-model", "m.safetensors"}, strings.Fields(args)...)...))
	}
	clitest.Golden(t, "export.txt", out.String())
}

// -zero-sum brings a model of softmax groups to the zero-sum gauge. Without it the model is unchanged.
func TestZeroSum(t *testing.T) {
	clitest.Isolate(t)
	m := rbm.NewGroups(3, rbm.Group{Kind: rbm.Softmax, Units: 4}, rbm.Group{Kind: rbm.Bernoulli, Units: 1}, rbm.Group{Kind: rbm.Softmax, Units: 2})
	m.Randomize(1, rbm.NewKey(1))
	clitest.Save(t, "m.safetensors", m, modelfile.About{})
	rbmexport.OK(t, "-model", "m.safetensors", "-out", "same.npz")
	if same, _ := clitest.Load(t, "same.npz"); !same.Equal(m) {
		t.Error("the model is changed")
	}
	out := rbmexport.OK(t, "-model", "m.safetensors", "-zero-sum", "-out", "zero.npz")
	zero, _ := clitest.Load(t, "zero.npz")
	fall := m.ZeroSum()
	if !zero.Equal(m) || !strings.Contains(out, fmt.Sprintf("in the zero-sum gauge, where log Z changes by %+.6g nats", -fall)) {
		t.Errorf("another gauge: %s", out)
	}
}

// -spins writes the parameters for spins, and reading them restores the model up to rounding. Models
// with units other than binary ones are refused.
func TestSpins(t *testing.T) {
	isolate(t)
	out := rbmexport.OK(t, "-model", "m.safetensors", "-spins", "-out", "s.npz")
	want, _ := clitest.Load(t, "m.safetensors")
	got, from := clitest.Load(t, "s.npz")
	_, k, err := want.Spins()
	if err != nil || !strings.Contains(out, fmt.Sprintf("in spins, where log Z changes by %+.6g nats", -k)) {
		t.Errorf("%s, %v", out, err)
	}
	for i := range want.Visible() {
		for j := range want.Hidden() {
			if got.Weight(i, j) != want.Weight(i, j) { // exact, since the factor is a power of two
				t.Errorf("weight %d,%d is %v, want %v", i, j, got.Weight(i, j), want.Weight(i, j))
			}
		}
		if x := got.VisibleBias[i] - want.VisibleBias[i]; math.Abs(float64(x)) > 1e-5 {
			t.Errorf("visible bias %d is off by %v", i, x)
		}
	}
	for j, c := range want.HiddenBias {
		if math.Abs(float64(got.HiddenBias[j]-c)) > 1e-5 {
			t.Errorf("hidden bias %d is %v, want %v", j, got.HiddenBias[j], c)
		}
	}
	if from.Height != 2 || got.Classes() != 2 {
		t.Errorf("the file says %+v of %d classes", from, got.Classes())
	}
	rbmexport.Fails(t, 2, []string{"-model", "m.safetensors", "-spins", "-out", "s.safetensors"}, "-spins is for .npz files")
	rbmexport.Fails(t, 2, []string{"-model", "m.safetensors", "-spins", "-sklearn", "-out", "t.npz"}, "-spins")
	clitest.Save(t, "soft.safetensors", clitest.Model(12, 7, 2, rbm.Softmax), about)
	rbmexport.Fails(t, 2, []string{"-model", "soft.safetensors", "-spins", "-out", "t.npz"}, "units are not binary: visible units 10 … 11 are softmax units")
	clitest.Save(t, "relu.safetensors", rbm.NewLayers(rbm.Group{Kind: units.ReLU, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 4}), modelfile.About{})
	for _, flag := range []string{"-spins", "-sklearn"} {
		rbmexport.Fails(t, 2, []string{"-model", "relu.safetensors", flag, "-out", "t.npz"}, "units are not binary: the hidden units are relu units")
	}
}

// TestRoundTrip checks that conversion between the formats loses nothing.
func TestRoundTrip(t *testing.T) {
	isolate(t)
	for _, step := range [][2]string{{"m.safetensors", "a.npz"}, {"a.npz", "b.safetensors"}, {"b.safetensors", "c.npz"}} {
		rbmexport.OK(t, "-model", step[0], "-out", step[1])
	}
	if clitest.Read(t, "m.safetensors") != clitest.Read(t, "b.safetensors") {
		t.Error("safetensors → npz → safetensors changes the file")
	}
	want, _ := clitest.Load(t, "m.safetensors")
	for _, path := range []string{"a.npz", "b.safetensors", "c.npz"} {
		m, got := clitest.Load(t, path)
		if !m.Equal(want) {
			t.Errorf("%s holds another model", path)
		}
		got.Described = false
		if fmt.Sprint(got) != fmt.Sprint(about) {
			t.Errorf("%s says of itself %v, want %v", path, got, about)
		}
	}
}

func picture(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, format, err := image.Decode(f)
	if err != nil || format != "png" {
		t.Fatalf("%s: %s, %v", path, format, err)
	}
	return img
}

func colours(img image.Image) int {
	seen := map[color.Color]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			seen[img.At(x, y)] = true
		}
	}
	return len(seen)
}

// TestPictures checks the sizes of pictures, and that they are not blank.
func TestPictures(t *testing.T) {
	isolate(t)
	clitest.Save(t, "unshaped.npz", clitest.Model(12, 7, 0, rbm.Softmax), modelfile.About{})
	draw := func(args ...string) image.Image {
		path := fmt.Sprintf("%s/x.png", t.TempDir())
		rbmexport.OK(t, append(args, "-out", path)...)
		return picture(t, path)
	}
	for _, c := range []struct {
		args string
		size image.Point
	}{
		// 2 × 5 values of 12 × 12 pixels, with gaps of 2 pixels: 7 filters in 3 columns.
		{"-model m.safetensors", image.Pt(3*62+2, 3*26+2)},
		// 12 inputs of unknown shape are drawn as 3 × 4, 14 × 14 pixels each.
		{"-model unshaped.npz", image.Pt(3*58+2, 3*44+2)},
	} {
		img := draw(strings.Fields(c.args)...)
		if img.Bounds().Size() != c.size {
			t.Errorf("%s: %v, want %v", c.args, img.Bounds().Size(), c.size)
		}
		if n := colours(img); n < 10 {
			t.Errorf("%s: %d colours only", c.args, n)
		}
	}
}

func TestBadInput(t *testing.T) {
	isolate(t)
	whole := clitest.Read(t, "m.safetensors")
	clitest.Write(t, "there.npz", "a file")
	clitest.Write(t, "short.safetensors", whole[:len(whole)-4])
	clitest.Write(t, "words.npz", "no archive")
	clitest.Write(t, "words.txt", "no model")
	clitest.Write(t, "bare.safetensors", bare(whole))
	const m = "-model m.safetensors "
	for _, c := range []struct {
		status int
		args   string
		want   []string
	}{
		{cli.Usage, "", []string{"-out is missing", ".safetensors, .npz, .dat or picture file"}},
		{cli.Usage, m, []string{"-out is missing"}},
		{cli.Usage, "-out a.npz", []string{"-model is missing", ".safetensors or .npz file, or the folder of a run"}},
		{cli.Usage, m + "-out a.txt", []string{`-out is "a.txt"`, ".safetensors, .npz, .dat, .png, .svg or .pdf"}},
		{cli.Usage, m + "-out a", []string{`-out is "a"`}},
		{cli.Failed, m + "-out there.npz", []string{"-out", "there.npz is there already", "choose another name"}},
		{cli.Failed, m + "-out m.safetensors", []string{"-out", "m.safetensors is there already"}},
		{cli.Failed, m + "-out no/a.npz", []string{"-out", "no folder no", "make it first"}},
		{cli.Failed, m + "-out there.npz/a.npz", []string{"-out", "no folder there.npz"}},
		{cli.Failed, "-model nothing.npz -out a.npz", []string{"nothing.npz does not exist"}},
		{cli.Failed, "-model short.safetensors -out a.npz", []string{"short.safetensors", "cut short or damaged"}},
		{cli.Failed, "-model words.npz -out a.npz", []string{"words.npz"}},
		{cli.Failed, "-model words.txt -out a.npz", []string{"words.txt", ".safetensors or .npz"}},
		{cli.Usage, m + "-classes 2 -out a.npz", []string{"-classes and -labels", "2 classes"}},
		{cli.Usage, "-model bare.safetensors -classes 12 -out a.png", []string{"-classes is 12", "0 … 11"}},
		{cli.Usage, "-model bare.safetensors -classes -1 -out a.png", []string{"-classes is -1"}},
		{cli.Usage, "-model bare.safetensors -classes 2 -labels zzz -out a.png", []string{"-labels", `"zzz"`, "bernoulli or softmax"}},
		{cli.Usage, m + "-samples -out a.png", []string{"-samples"}},
		{cli.Usage, m + "-ouy a.png", []string{"-ouy", "did you mean -out?"}},
		{cli.Usage, m + "-out a.png b.png", []string{`unexpected argument "b.png"`}},
	} {
		t.Run(c.args, func(t *testing.T) {
			rbmexport.Fails(t, c.status, strings.Fields(c.args), c.want...)
		})
	}
}

// bare renames the key of the metadata in a model file, so that readers ignore them.
func bare(file string) string {
	return strings.Replace(file, `"format":"gorbm"`, `"format":"other"`, 1)
}

// TestUndescribed checks that -classes and -labels complete a model file without a description.
func TestUndescribed(t *testing.T) {
	isolate(t)
	clitest.Write(t, "bare.safetensors", bare(clitest.Read(t, "m.safetensors")))
	rbmexport.OK(t, "-model", "bare.safetensors", "-classes", "2", "-labels", "bernoulli", "-out", "told.npz")
	m, got := clitest.Load(t, "told.npz")
	want, _ := clitest.Load(t, "m.safetensors")
	if !m.Equal(want) || !got.Described {
		t.Errorf("%d %s labels, described: %v", m.Classes(), m.LabelKind(), got.Described)
	}
}

// A .dat file holds the Potts model nearest to a model of sequences.
func TestPotts(t *testing.T) {
	isolate(t)
	three := rbm.Group{Kind: rbm.Softmax, Units: 3}
	m := rbm.NewGroups(4, three, three, three)
	m.Randomize(1, rbm.NewKey(1))
	clitest.Save(t, "s.safetensors", m, modelfile.About{Schema: data.NewSequenceSchema("-AC", 3).Text()})
	if out := rbmexport.OK(t, "-model", "s.safetensors", "-out", "s.dat"); out != "s.dat: the Potts model of 3 sites of 3 letters nearest to the model\n" {
		t.Errorf("prints %q", out)
	}
	want, err := potts.Effective(context.Background(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := potts.Read(strings.NewReader(clitest.Read(t, "s.dat")), "s.dat", 3, "-AC")
	if err != nil {
		t.Fatal(err)
	}
	for k, x := range got.Pair(0, 2) {
		if math.Abs(x-want.Pair(0, 2)[k]) > 1e-8 {
			t.Errorf("coupling %d of sites 0 and 2 is %v, want %v", k, x, want.Pair(0, 2)[k])
		}
	}
	rbmexport.Fails(t, 2, []string{"-model", "m.safetensors", "-out", "m.dat"}, "-out: a .dat file is for models of sequences, and m.safetensors is none")
}
