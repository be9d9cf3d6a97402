package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/partition"
	"gorbm/train"
)

// quick are flags with which estimates of small models take some hundredths of a second.
const quick = " -ais-temperatures 100 -ladder-rounds 600"

// estimates holds the estimates of log Z in the output of -json.
type estimates struct {
	AIS        estimate
	ReverseAIS estimate `json:"reverse_ais"`
	Bennett    estimate
}

type estimate struct {
	LogZ    *float64 `json:"log_z"`
	StdErr  *float64 `json:"std_err"`
	ESS     float64
	Overlap float64
}

// holds checks that an estimate is within six standard errors of the true value. The standard error
// comes from ten groups, so the ratio follows Student's t with nine degrees of freedom, which exceeds
// 6 once in 5000 times.
func (e estimate) holds(t *testing.T, what string, want float64) {
	t.Helper()
	if e.LogZ == nil || e.StdErr == nil || !(math.Abs(*e.LogZ-want) < 6**e.StdErr) {
		t.Errorf("%s is %+v, want %v", what, e, want)
	}
}

// evaluate runs the command with -json.
func evaluate(t *testing.T, args string) (r jsonResult, e estimates) {
	t.Helper()
	out := []byte(rbmeval.OK(t, append(strings.Fields(args), "-json")...))
	if err := errors.Join(json.Unmarshal(out, &r), json.Unmarshal(out, &e)); err != nil {
		t.Fatal(err)
	}
	return r, e
}

// Estimates from both ends of the path agree with the sum over all states.
func TestEstimates(t *testing.T) {
	isolate(t)
	for _, c := range []string{"-model softmax.safetensors", "-model bernoulli.safetensors", "-model plain.npz", "-model plain.npz -base uniform",
		"-model softmax.safetensors -data " + clitest.Toy + ":plain"} {
		m, _ := clitest.Load(t, strings.Fields(c)[1])
		want := logZ(m)
		r, e := evaluate(t, c+" -ais -reverse-ais -bennett"+quick)
		e.AIS.holds(t, c+": AIS", want)
		e.ReverseAIS.holds(t, c+": reverse AIS", want)
		e.Bennett.holds(t, c+": Bennett", want)
		estimate{LogZ: r.LogZ, StdErr: r.LogZStdErr}.holds(t, c+": the best", want)
		if e.AIS.ESS < 10 || e.ReverseAIS.ESS < 10 || e.Bennett.Overlap < 0.1 {
			t.Errorf("%s: %+v", c, e)
		}
		if got := *r.MeanLogLikelihood; math.Abs(got+*r.FreeEnergy+*r.LogZ) > 1e-9 {
			t.Errorf("%s: mean log-likelihood %v", c, got)
		}
		if r.LogZBy != "bennett" || r.Classification != nil {
			t.Errorf("%s: by %s, %+v, want %s", c, r.LogZBy, r, "bennett")
		}
	}
	// Enumeration takes precedence over estimates.
	r, _ := evaluate(t, "-model plain.npz -exact -ais"+" -ais-temperatures 100")
	m, _ := clitest.Load(t, "plain.npz")
	if r.LogZBy != "exact" || r.LogZStdErr != nil || math.Abs(*r.LogZ-logZ(m)) > 1e-9 || r.AIS == nil || r.ReverseAIS != nil {
		t.Errorf("%+v", r)
	}
}

// A model too large to be enumerated by default gets all three estimates by default, except with -rows
// or -features alone. -rows uses the best estimate.
func TestBracketUnasked(t *testing.T) {
	isolate(t)
	clitest.Save(t, "large.npz", clitest.Model(32, 40, 0, rbm.Softmax), modelfile.About{Data: "toy:2,32,5,0:plain"})
	for _, c := range []struct{ args, has string }{
		{"-rows none.csv", "pseudo"}, {"-features h.npz", "features p(h|x) written"}, {"-rows both.csv -features both.npz", "pseudo"},
	} {
		out := rbmeval.OK(t, strings.Fields("-model large.npz "+c.args)...)
		if strings.Contains(out, "log Z by") || strings.Contains(out, "mean log-likelihood") || !strings.Contains(out, c.has) ||
			strings.Contains(c.args, "-rows") != strings.Contains(out, "-bennett estimates it") {
			t.Errorf("%s prints %s", c.args, out)
		}
	}
	rbmeval.Fails(t, 2, strings.Fields("-model large.npz -features g.npz -seed 2"), "-seed is for -ais, -reverse-ais and -bennett, none of which is computed")
	out := rbmeval.OK(t, strings.Fields("-model large.npz"+quick)...)
	for _, w := range []string{"log Z by AIS ", "log Z by reverse AIS ", "log Z by Bennett's ratio ", "mean log-likelihood ", " by Bennett's ratio; ", " by AIS (or less); ", " by reverse AIS (or more)\n", "a bound from below on average (", "a bound from above on average (", "pseudo"} {
		if !strings.Contains(out, w) {
			t.Errorf("lacks %q:\n%s", w, out)
		}
	}
	if strings.Contains(out, "exact") {
		t.Errorf("2^32 states cannot be enumerated: %s, want no %q in it", out, "exact")
	}
	rbmeval.OK(t, strings.Fields("-model large.npz -rows rows.csv -ais -reverse-ais -bennett"+quick)...)
	r, _ := evaluate(t, "-model large.npz"+quick)
	_, column := rows(t, "rows.csv")
	sum := 0.0
	for _, x := range column["log_likelihood"] {
		sum += number(t, x) / float64(len(column["log_likelihood"]))
	}
	if math.Abs(sum-*r.MeanLogLikelihood) > 1e-8*math.Abs(sum) { // -rows writes twelve digits
		t.Errorf("rows have the mean log-likelihood %v, not %v", sum, *r.MeanLogLikelihood)
	}
}

// One chain has no standard error, and a ladder stopped too early gives no estimate. -json is valid in
// both cases, and a warning reports the second.
func TestWithoutNumber(t *testing.T) {
	isolate(t)
	r, e := evaluate(t, "-model plain.npz -ais -ais-chains 1 -ais-temperatures 50 -seed 2")
	if r.LogZ == nil || r.LogZStdErr != nil || e.AIS.LogZ == nil || e.AIS.StdErr != nil {
		t.Errorf("of one chain: %+v", e.AIS)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "AIS: its 1 weights are worth 1.0") {
		t.Errorf("warnings %q", r.Warnings)
	}
	sharp := rbm.New(80, 40, 0, rbm.Softmax)
	sharp.Randomize(5, rbm.NewKey(1))
	clitest.Save(t, "sharp.npz", sharp, modelfile.About{Data: "toy:2,80,5,0:plain"})
	const args = "-model sharp.npz -bennett -ladder-rounds 60 -base uniform"
	r, e = evaluate(t, args)
	if r.LogZ != nil || r.LogZBy != "" || r.MeanLogLikelihood != nil || e.Bennett.LogZ != nil {
		t.Errorf("%+v: got %q, want nothing", r, r.LogZBy)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "there is no estimate") {
		t.Errorf("warnings %q", r.Warnings)
	}
	call := rbmeval.Call(strings.Fields(args)...)
	if !strings.Contains(call.Stdout, "no number (") || !strings.Contains(call.Stdout, "log Z is at least ") || !strings.Contains(call.Stdout, "mean log-likelihood        at most ") {
		t.Errorf("prints %s", call.Stdout)
	}
	if strings.Count(call.Stderr, "rbmeval: warning: ") != len(r.Warnings) {
		t.Errorf("%d warnings, on stderr:\n%s", len(r.Warnings), call.Stderr)
	}
}

// The path starts at the means of the training rows, whatever rows are evaluated.
func TestBaseOfTrainingRows(t *testing.T) {
	isolate(t)
	writeParts(t)
	m := clitest.Model(4, 2, 0, rbm.Softmax)
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: "rows.npz"})
	args := "-model m.safetensors -ais -ais-temperatures 20"
	trained, _ := evaluate(t, args+" -part train")
	test, _ := evaluate(t, args+" -part test")
	uniform, _ := evaluate(t, args+" -base uniform")
	if *trained.LogZ != *test.LogZ || *trained.LogZ == *uniform.LogZ {
		t.Errorf("AIS says %v, %v and from the uniform distribution %v", *trained.LogZ, *test.LogZ, *uniform.LogZ)
	}
	set, _, err := data.Load(t.Context(), "rows.npz", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := partition.DefaultAnnealing()
	s.Temperatures = 20
	s.Base = train.ModelBase(m, set)
	want, err := partition.AIS(context.Background(), m, s, rbm.NewKey(1).Child(0), nil)
	if err != nil || want.LogZ != *trained.LogZ {
		t.Errorf("AIS says %v, the library %v (%v)", *trained.LogZ, want.LogZ, err)
	}
}

func TestEqualSeedsAtAnyGOMAXPROCS(t *testing.T) {
	isolate(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	args := append(strings.Fields("-model softmax.safetensors -ais -reverse-ais -bennett -json"+quick), "-seed")
	runtime.GOMAXPROCS(1)
	one, other := rbmeval.OK(t, append(args, "7")...), rbmeval.OK(t, append(args, "8")...)
	runtime.GOMAXPROCS(4)
	if four := rbmeval.OK(t, append(args, "7")...); one != four || one == other {
		t.Errorf("seed 7:\n%s%sseed 8:\n%s", one, four, other)
	}
}

// The same log Z gives the score of grey inputs.
func TestEstimatesGrey(t *testing.T) {
	isolate(t)
	greyRows(t, "grey.csv")
	const args = "-model plain.npz -data grey.csv -binarize none -ais -ais-temperatures 100"
	r, _ := evaluate(t, args)
	if math.Abs(*r.MeanLogLikelihood+*r.FreeEnergy+*r.LogZ) > 1e-9 {
		t.Errorf("%+v", r)
	}
	if out := rbmeval.OK(t, strings.Fields(args)...); !strings.Contains(out, "mean score −F − log Z") || strings.Contains(out, "likelihood") {
		t.Errorf("prints %s", out)
	}
}

// decodes checks that a file is a picture with some content.
func decodes(t *testing.T, path string) {
	t.Helper()
	img, err := png.Decode(strings.NewReader(clitest.Read(t, path)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	colours := map[[3]uint32]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r, g, b}] = true
		}
	}
	if len(colours) < 10 { // a curve and its smoothed edges
		t.Errorf("%s has %d colours, want at least 10", path, len(colours))
	}
}

func TestLadderPicture(t *testing.T) {
	isolate(t)
	out := rbmeval.OK(t, strings.Fields("-model plain.npz -bennett -ladder-rounds 600 -ladder ladder.png")...)
	if !strings.Contains(out, "ladder drawn in ladder.png") {
		t.Errorf("prints %s, want %q in it", out, "ladder drawn in ladder.png")
	}
	decodes(t, "ladder.png")
}

// makeRun makes the folder of an unfinished run, with five snapshots and other kinds of files. The
// fifth snapshot is the model of softmax.safetensors.
func makeRun(t *testing.T) {
	t.Helper()
	clitest.Write(t, "run/config.json", "{}")
	clitest.Write(t, "run/models/.0000099.safetensors.tmp", "being written")
	clitest.Write(t, "run/models/notes.txt", "not a model")
	for step, sd := range map[int]float64{1: 0.01, 10: 0.2, 100: 0.4, 1000: 0.6} {
		m := rbm.New(12, 5, 4, rbm.Softmax)
		m.Randomize(sd, rbm.NewKey(uint64(step)))
		clitest.Save(t, filepath.Join("run/models", leftPad(step)), m, toy)
	}
	clitest.Write(t, "run/models/"+leftPad(12345678), clitest.Read(t, "softmax.safetensors"))
}

func leftPad(step int) string {
	s := strconv.Itoa(step)
	return strings.Repeat("0", max(0, 7-len(s))) + s + ".safetensors"
}

// TestRun compares the table of -run with its golden file and with a single model.
func TestRun(t *testing.T) {
	isolate(t)
	makeRun(t)
	clitest.Golden(t, "run.txt", rbmeval.OK(t, "-run", "run"))
	rbmeval.OK(t, "-run", "run", "-out", "out", "-quiet")
	clitest.Golden(t, "run.csv", nineDigits(t, "out/likelihood.csv"))
	decodes(t, "out/likelihood.png")
	// -out with a file name writes only the table or only the plot.
	rbmeval.OK(t, "-run", "run", "-out", "one.csv", "-quiet")
	rbmeval.OK(t, "-run", "run", "-out", "one.png", "-quiet")
	decodes(t, "one.png")
	if clitest.Read(t, "one.csv") != clitest.Read(t, "out/likelihood.csv") {
		t.Error("the table alone is another")
	}

	var r historyResult
	if err := json.Unmarshal([]byte(rbmeval.OK(t, "-run", "run", "-json")), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Snapshots) != 5 || r.NTrain != 200 || r.NTest != 0 {
		t.Fatalf("%+v", r)
	}
	last := r.Snapshots[4]
	single, _ := evaluate(t, "-model softmax.safetensors")
	if last.Step != 12345678 || last.LogZBy != "exact" || last.Test != nil || math.Abs(*last.Train-*single.MeanLogLikelihood) > 1e-9 {
		t.Errorf("the last snapshot %+v, alone %+v", last, single)
	}
}

// nineDigits rounds the numbers of a table to nine digits.
func nineDigits(t *testing.T, path string) string {
	t.Helper()
	table, err := csv.NewReader(strings.NewReader(clitest.Read(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table {
		for i, x := range row {
			if f, err := strconv.ParseFloat(x, 64); err == nil {
				row[i] = strconv.FormatFloat(f, 'g', 9, 64)
			}
		}
	}
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(table); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Estimates of -run agree with sums over all states.
func TestRunEstimates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	isolate(t)
	makeRun(t)
	args := strings.Fields("-run run -ais -reverse-ais -bennett -out out" + quick)
	if out := rbmeval.OK(t, args...); strings.Contains(out, "!") {
		t.Errorf("doubtful: %s, want no %q in it", out, "!")
	}
	decodes(t, "out/likelihood.png")
	var r struct {
		Snapshots []struct {
			Step int
			estimates
		}
	}
	args = strings.Fields("-run run -ais -reverse-ais -bennett -json" + quick)
	if err := json.Unmarshal([]byte(rbmeval.OK(t, args...)), &r); err != nil {
		t.Fatal(err)
	}
	_, column := rows(t, "out/likelihood.csv")
	for i, s := range r.Snapshots {
		m, _ := clitest.Load(t, "run/models/"+leftPad(s.Step))
		want := logZ(m)
		s.AIS.holds(t, "AIS", want)
		s.ReverseAIS.holds(t, "reverse AIS", want)
		s.Bennett.holds(t, "Bennett", want)
		if got := number(t, column["bennett"][i]); math.Abs(got-*s.Bennett.LogZ) > 1e-9 {
			t.Errorf("step %d: the table has %v for %v", s.Step, got, *s.Bennett.LogZ)
		}
	}
}

// Estimates from few chains are doubtful at every step: the table marks each, with a single warning.
func TestRunDoubts(t *testing.T) {
	isolate(t)
	makeRun(t)
	c := rbmeval.Call(strings.Fields("-run run -ais -ais-chains 5 -ais-temperatures 20 -out out")...)
	if c.Status != cli.OK || strings.Count(c.Stdout, "  !\n") != 5 {
		t.Errorf("exits with %d and prints\n%s", c.Status, c.Stdout)
	}
	rbmeval.OneLine(t, c.Stderr, "warning: the estimates of 5 snapshots, marked by !", "-json and -out", "AIS: its 5 weights")
	_, column := rows(t, "out/likelihood.csv")
	for _, w := range column["warnings"] {
		if !strings.Contains(w, "AIS: its 5 weights") {
			t.Errorf("the table says %q, want %q in it", w, "AIS: its 5 weights")
		}
	}
}

// A run with training and test rows has both likelihoods.
func TestRunParts(t *testing.T) {
	isolate(t)
	writeParts(t)
	if err := os.MkdirAll("run/models", 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.Save(t, "run/models/0000007.safetensors", clitest.Model(4, 2, 0, rbm.Softmax), modelfile.About{Data: "rows.npz"})
	var r historyResult
	if err := json.Unmarshal([]byte(rbmeval.OK(t, "-run", "run", "-json", "-out", "out")), &r); err != nil {
		t.Fatal(err)
	}
	decodes(t, "out/likelihood.png") // a single step
	for part, got := range map[string]*float64{"train": r.Snapshots[0].Train, "test": r.Snapshots[0].Test} {
		want, _ := evaluate(t, "-model run/models/0000007.safetensors -part "+part)
		if math.Abs(*got-*want.MeanLogLikelihood) > 1e-9 {
			t.Errorf("%s: %v, alone %v", part, *got, *want.MeanLogLikelihood)
		}
	}
}

// Of many training rows a random sample is evaluated, which depends on the seed.
func TestRunSample(t *testing.T) {
	isolate(t)
	makeRun(t)
	likelihood := func(seed string) float64 {
		var r historyResult
		args := strings.Fields("-run run -data toy:4,4,3000,0.2 -exact -ais -ais-temperatures 2 -json -seed " + seed)
		if err := json.Unmarshal([]byte(rbmeval.OK(t, args...)), &r); err != nil {
			t.Fatal(err)
		}
		if r.NTrain != 10000 {
			t.Errorf("%d of 12000 training rows, want 10000", r.NTrain)
		}
		return *r.Snapshots[4].Train
	}
	if a, b := likelihood("1"), likelihood("2"); a == b || a != likelihood("1") {
		t.Errorf("samples have the likelihoods %v and %v", a, b)
	}
}

// A fuse is a context that is cancelled after a number of calls to Err.
type fuse struct {
	context.Context
	left atomic.Int64
}

func (f *fuse) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A run that is interrupted between snapshots reports the finished ones.
func TestRunInterrupted(t *testing.T) {
	isolate(t)
	makeRun(t)
	partly := 0
	for n := int64(1); ; n += 3 {
		if err := os.RemoveAll("out"); err != nil {
			t.Fatal(err)
		}
		ctx := &fuse{Context: t.Context()}
		ctx.left.Store(n)
		r := rbmeval.CallContext(ctx, "-run", "run", "-out", "out")
		if r.Status == cli.OK {
			break
		}
		if r.Stdout == "" {
			continue
		}
		partly++
		_, column := rows(t, "out/likelihood.csv")
		steps := column["step"]
		rbmeval.OneLine(t, r.Stderr, "stopped after step "+steps[len(steps)-1])
		if len(steps) >= 5 {
			t.Errorf("stopped after all of %v", steps)
		}
	}
	if partly == 0 {
		t.Error("never stopped between two snapshots")
	}
}

// The command stops when the context ends and leaves no files.
func TestEstimatesCancelled(t *testing.T) {
	isolate(t)
	makeRun(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := clitest.Tree(t, ".")
	for _, args := range []string{"-run run -out out", "-run run -bennett", "-model plain.npz -ais", "-model plain.npz -reverse-ais -ladder x.png"} {
		r := rbmeval.CallContext(ctx, strings.Fields(args)...)
		if r.Status != cli.Failed || r.Stdout != "" {
			t.Errorf("%s exits with %d and prints %q, want %d and nothing", args, r.Status, r.Stdout, cli.Failed)
		}
		rbmeval.OneLine(t, r.Stderr)
	}
	if clitest.Tree(t, ".") != before {
		t.Error("a cancelled command left files")
	}
}
