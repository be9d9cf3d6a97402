package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

var rbmcompare = clitest.Command{Name: "rbmcompare", Run: clitest.Alone(runRanks)}

// isolate changes to an empty folder with two models, with softmax labels and without labels, and a
// run of three snapshots.
func isolate(t *testing.T) {
	t.Helper()
	clitest.Isolate(t)
	about := modelfile.About{ClassNames: []string{"11", "10", "01", "00"}, Data: clitest.Toy + ":seed=1", Binarize: "binary", Height: 2, Width: 4, Seed: 1}
	clitest.Save(t, "softmax.safetensors", clitest.Model(12, 5, 4, rbm.Softmax), about)
	clitest.Save(t, "plain.npz", clitest.Model(8, 5, 0, rbm.Softmax), modelfile.About{})
	if err := os.MkdirAll("run/models", 0o755); err != nil {
		t.Fatal(err)
	}
	for i, step := range []int{1, 10, 100} {
		m := rbm.New(12, 5, 4, rbm.Softmax)
		m.Randomize(0.5*float64(i), rbm.NewKey(5))
		clitest.Save(t, fmt.Sprintf("run/models/%07d.safetensors", step), m, about)
	}
}

// small returns the arguments of a quick comparison, followed by more.
func small(more ...string) []string {
	return append(more, "-steps", "30", "-repeats", "4")
}

func TestHelp(t *testing.T) {
	rbmcompare.Help(t, "batch", "binarize", "chains", "classes", "data", "data-dir", "json", "label-column", "labels", "model", "negphase", "out", "over", "pictures", "quiet",
		"reference", "reference-steps", "repeats", "run", "runs", "seed", "shape", "sort", "steps", "workers")
	out := rbmcompare.OK(t, "-h", "all")
	for _, kind := range negphase.Kinds() {
		if !strings.Contains(out, kind) {
			t.Errorf("-h all does not name %s", kind)
		}
	}
}

// Columns and values that depend on the machine.
var (
	timed  = regexp.MustCompile(`(?m)(\d\.\d{6}|cosine) +\S+ +\S+$`)
	kernel = regexp.MustCompile(`\((avx512|avx2|go)\)`)
	jsonOf = regexp.MustCompile(`(?m)^( *"(?:seconds|seconds_per_step|kernels)": ).*?(,?)$`)
)

// everyKind lists all estimators.
const everyKind = "cd:k=2,pcd:chains=5,pt:tau=1/1.5/3,ins:tau=1/1.5/3,sardonics:chains=5,im:moves=2,walk:gibbs,pt:tau=1/3:sardonics:k=1-4,exact"

// TestGolden compares text, JSON and the table, except for times, with golden files.
func TestGolden(t *testing.T) {
	isolate(t)
	for _, c := range []struct{ name, args string }{
		{"softmax", "-model softmax.safetensors -data " + clitest.Toy + " -negphase " + everyKind},
		{"plain", "-model plain.npz -negphase pcd,ins -seed 3"},
		{"reference", "-model plain.npz -negphase pcd -reference pt:chains=3:tau=1/2/4 -reference-steps 50"},
		{"run", "-run run -negphase pcd,pt"},
	} {
		args := small(strings.Fields(c.args)...)
		out := rbmcompare.OK(t, append(args, "-out", "of-"+c.name)...)
		out = kernel.ReplaceAllString(timed.ReplaceAllString(out, "$1 TIMES"), "(KERNELS)")
		clitest.Golden(t, c.name+".txt", out)

		object := rbmcompare.OK(t, append(args, "-json")...)
		mask := func(text string) string { return jsonOf.ReplaceAllString(clitest.JSON(t, text), `${1}"MASKED"$2`) }
		clitest.Golden(t, c.name+".json", mask(object))
		if written := mask(clitest.Read(t, "of-"+c.name+"/compare.json")); written != mask(object) {
			t.Errorf("%s: compare.json is not what -json prints:\n%s", c.name, written)
		}
	}
}

// A jsonResult is the -json output for one model.
type jsonResult struct {
	Model, Data  string
	Exact        bool
	Norm         float64
	GradientNorm *float64 `json:"gradient_norm"`
	Reference    *struct {
		NegPhase  string
		StdErr    float64   `json:"std_err"`
		SwapRates []float64 `json:"swap_rates"`
	}
	Estimators []struct {
		Name, NegPhase string
		Repeats        int
		Updates        int
		Steps, Seconds float64
		GibbsSteps     float64  `json:"gibbs_steps"`
		SecondsPerStep *float64 `json:"seconds_per_step"`
		DistanceMean   float64  `json:"distance_mean"`
		DistanceSD     *float64 `json:"distance_sd"`
		BiasNorm       float64  `json:"bias_norm"`
		BiasFloor      *float64 `json:"bias_floor"`
		Bias, Variance *float64
		CosineMean     *float64  `json:"cosine_mean"`
		CosineSD       *float64  `json:"cosine_sd"`
		SwapRates      []float64 `json:"swap_rates"`
		Acceptance     *float64
	}
}

// estimators returns the -json output for one model.
func estimators(t *testing.T, args ...string) jsonResult {
	t.Helper()
	var r jsonResult
	if err := json.Unmarshal([]byte(rbmcompare.OK(t, append(args, "-json")...)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// The files hold the results of package compare: curves.csv has all points, and the plots are not
// blank.
func TestFiles(t *testing.T) {
	isolate(t)
	rbmcompare.OK(t, small("-model", "softmax.safetensors", "-negphase", "pcd,ins", "-out", "out")...)
	m, _ := clitest.Load(t, "softmax.safetensors")
	truth, err := compare.Enumerate(m)
	if err != nil {
		t.Fatal(err)
	}
	curves, err := compare.Run(context.Background(), m, truth,
		[]negphase.Settings{negphase.DefaultSettings("pcd"), negphase.DefaultSettings("ins")}, compare.Settings{Steps: 30, Repeats: 4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(strings.NewReader(clitest.Read(t, "out/curves.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := 1
	for i, name := range []string{"pcd", "ins"} {
		for _, p := range curves[i].Points {
			row := table[at]
			at++
			number := func(k int) float64 {
				x, err := strconv.ParseFloat(row[k], 64)
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
			if row[0] != "softmax.safetensors" || row[1] != name || row[2] != "4" || number(3) != float64(p.Updates) || number(4) != p.Steps ||
				number(5) != p.GibbsSteps || number(6) <= 0 || math.Abs(number(7)/p.Distance.Mean-1) > 1e-9 || math.Abs(number(8)/p.Distance.SD-1) > 1e-9 {
				t.Fatalf("row %d is %v, want %+v of %s", at, row, p, name)
			}
		}
	}
	if at != len(table) {
		t.Errorf("%d rows, want %d", len(table), at)
	}
	rbmcompare.OK(t, small("-run", "run", "-negphase", "pcd,exact", "-out", "along", "-pictures", "pdf")...)
	for _, name := range []string{"out/curves.png", "along/curves-0000001.png", "along/curves-0000010.png", "along/curves-0000100.png", "along/run.png"} {
		inked(t, name)
	}
	for _, name := range []string{"along/curves-0000010.pdf", "along/run.pdf"} {
		if text := clitest.Read(t, name); !strings.HasPrefix(text, "%PDF-") {
			t.Errorf("%s begins with %.9q, want %q at its start", name, text, "%PDF-")
		}
	}
	// One step, one repeat, or the exact statistics alone leave nothing to draw, which is no error.
	rbmcompare.OK(t, "-model", "plain.npz", "-negphase", "exact", "-repeats", "1", "-out", "bare")
	rbmcompare.OK(t, "-model", "plain.npz", "-steps", "1", "-repeats", "1", "-out", "point")
	inked(t, "point/curves.png")
}

// inked fails if the picture has no line of the first colour.
func inked(t *testing.T, path string) {
	t.Helper()
	img, err := png.Decode(strings.NewReader(clitest.Read(t, path)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	b := img.Bounds()
	for x := b.Min.X; x < b.Max.X; x++ {
		for y := b.Min.Y; y < b.Max.Y; y++ {
			if r, g, bl, _ := img.At(x, y).RGBA(); r>>8 == 0 && g>>8 == 0x72 && bl>>8 == 0xB2 {
				return
			}
		}
	}
	t.Errorf("%s is blank", path)
}

// With data the cosine compares gradients, with the positive phase of all rows.
func TestCosineWithData(t *testing.T) {
	isolate(t)
	args := small("-model", "softmax.safetensors", "-negphase", "pcd")
	without, with := estimators(t, args...), estimators(t, append(args, "-data", clitest.Toy)...)
	if without.GradientNorm != nil || with.GradientNorm == nil || with.Data != clitest.Toy+":seed=1" {
		t.Errorf("gradient norms %v and %v, data %q, want %q", without.GradientNorm, with.GradientNorm, with.Data, clitest.Toy+":seed=1")
	}
	a, b := without.Estimators[0], with.Estimators[0]
	if a.DistanceMean != b.DistanceMean || *a.CosineMean == *b.CosineMean {
		t.Errorf("data change the distance, %v and %v, or not the cosine, %v", a.DistanceMean, b.DistanceMean, *a.CosineMean)
	}
	m, _ := clitest.Load(t, "softmax.safetensors")
	truth, err := compare.Enumerate(m)
	if err != nil {
		t.Fatal(err)
	}
	set := load(t, clitest.Toy)
	v, rows := rbm.NewBits(set.Len(), 12), make([]int32, set.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	set.Visible(v, rows, 4)
	h := rbm.NewMatrix(set.Len(), 5)
	m.HiddenMean(h, v)
	mean := compare.NewMean(m)
	mean.Add(rbm.Phase{Batch: rbm.Batch{V: v, H: h}})
	if want := mean.Distance(truth.Negative); math.Abs(*with.GradientNorm-want) > 1e-6 {
		t.Errorf("gradient of length %v, want %v", *with.GradientNorm, want)
	}
}

// Other chains, seeds and batches give other results; -workers does not.
func TestOptionsMatter(t *testing.T) {
	isolate(t)
	args := small("-model", "softmax.safetensors", "-negphase", "pcd,cd", "-data", clitest.Toy)
	figures := func(more ...string) []float64 {
		var x []float64
		for _, e := range estimators(t, append(args, more...)...).Estimators {
			x = append(x, e.DistanceMean, *e.DistanceSD)
		}
		return x
	}
	base := figures()
	if !slices.Equal(figures("-workers", "0"), base) || !slices.Equal(figures("-workers", "3"), base) {
		t.Error("-workers changes the figures")
	}
	seeded := figures("-seed", "2")
	chains, batch := figures("-chains", "20"), figures("-batch", "20")
	for i := range base {
		isPCD := i < 2
		if seeded[i] == base[i] || (chains[i] != base[i]) != isPCD || (batch[i] != base[i]) == isPCD {
			t.Errorf("figure %d: %v; %v by seed, %v by chains, %v by batch", i, base[i], seeded[i], chains[i], batch[i])
		}
	}
}

// Warnings, such as those for ladders without exchanges.
func TestWarnings(t *testing.T) {
	isolate(t)
	m := clitest.Model(64, 5, 0, rbm.Softmax)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = 40
	}
	clitest.Save(t, "cold.npz", m, modelfile.About{})
	r := rbmcompare.Call(small("-model", "cold.npz", "-negphase", "pt:tau=1/30")...)
	if r.Status != cli.OK || !strings.Contains(r.Stderr, "warning: pt:tau=1/30: the ladder does not exchange") {
		t.Errorf("%d: %s", r.Status, r.Stderr)
	}
	// A short reference and a long estimator of the same kind: the measured distance is the error of the
	// reference.
	r = rbmcompare.Call(small("-model", "plain.npz", "-negphase", "pcd:chains=400", "-steps", "200", "-reference", "pcd:chains=1", "-reference-steps", "4")...)
	if r.Status != cli.OK || !strings.Contains(r.Stderr, "warning: pcd:chains=400: its distance is less than twice the error of the reference (1 model)") {
		t.Errorf("%d: %s", r.Status, r.Stderr)
	}
	if r := rbmcompare.Call(small("-model", "plain.npz")...); r.Stderr != "" {
		t.Errorf("a warning without reason: %s, want nothing", r.Stderr)
	}
}

// Snapshots are in the order of their steps, also beyond seven digits.
func TestLongRun(t *testing.T) {
	isolate(t)
	clitest.Write(t, "long/models/.tmp", "")
	for _, step := range []string{"0000001", "9999999", "10000000"} {
		clitest.Save(t, "long/models/"+step+".safetensors", clitest.Model(4, 3, 0, rbm.Softmax), modelfile.About{})
	}
	var got struct{ Models []struct{ Step int } }
	if err := json.Unmarshal([]byte(rbmcompare.OK(t, small("-run", "long", "-negphase", "pcd", "-json")...)), &got); err != nil {
		t.Fatal(err)
	}
	if m := got.Models; len(m) != 3 || m[0].Step != 1 || m[1].Step != 9999999 || m[2].Step != 10000000 {
		t.Errorf("%+v", m)
	}
}

// A ladder without tau differs from that of rbmtrain, and a note says so. Other ladders have no note.
func TestLadderNotes(t *testing.T) {
	isolate(t)
	out := rbmcompare.OK(t, small("-model", "plain.npz", "-negphase", "pcd,pins,pt:tau=1/2,ins:k=2,ins:tau=reach/5")...)
	for _, line := range []string{"pins has the default ladder tau=1/2/3/4/5; rbmtrain has pins:tau=reach/5\n", "ins:k=2 has the default ladder tau=1/2/3/4/5; rbmtrain has ins:k=2:tau=reach/5\n"} {
		if !strings.Contains(out, line) {
			t.Errorf("there is no line %q in\n%s", line, out)
		}
	}
	if n := strings.Count(out, "has the default ladder"); n != 2 {
		t.Errorf("%d estimators have another ladder than rbmtrain, not 2:\n%s", n, out)
	}
}

// Ladders that are tuned to each snapshot differ in length, so their exchanges are not added up.
func TestTunedLaddersOfARun(t *testing.T) {
	isolate(t)
	for step, scale := range map[string]float64{"0000010": 2, "0000100": 8} {
		m := rbm.New(12, 5, 4, rbm.Softmax)
		m.Randomize(scale, rbm.NewKey(5))
		clitest.Save(t, "run/models/"+step+".safetensors", m, modelfile.About{})
	}
	var got struct{ Models []jsonResult }
	r := rbmcompare.Call("-run", "run", "-negphase", "pins:tau=auto", "-steps", "50", "-repeats", "2", "-reference", "pt:chains=2:tau=auto", "-reference-steps", "50", "-json", "-out", "out")
	if err := json.Unmarshal([]byte(r.Stdout), &got); r.Status != cli.OK || err != nil {
		t.Fatalf("%d, %v: %s, want %d", r.Status, err, r.Stderr, cli.OK)
	}
	pairs := map[string]map[int]bool{"reference": {}, "estimator": {}}
	for _, m := range got.Models {
		pairs["reference"][len(m.Reference.SwapRates)] = true
		pairs["estimator"][len(m.Estimators[0].SwapRates)] = true
	}
	for what, lengths := range pairs {
		if len(lengths) < 2 {
			t.Errorf("all ladders of the %s have %v pairs: the test tests nothing, want at least 2 of them", what, lengths)
		}
	}
}
