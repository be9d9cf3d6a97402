package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// writePeak writes a model with two modes: with its first hidden unit off the inputs are fair coins,
// with it on all inputs are on. The second mode has e^30 times the weight of the first, but chains
// that start in the first hardly ever reach it. peak.csv has the state with all inputs on three times,
// and one other state. The function returns the logarithm of the weight of the two states.
func writePeak(t *testing.T) (bound float64) {
	t.Helper()
	const inputs, hidden, weight, above = 60, 40, 10.0, 30.0
	m := rbm.New(inputs, hidden, 0, rbm.Softmax) // too large to be enumerated by default
	w := rbm.NewMatrix(inputs, hidden)
	for i := range inputs {
		w.Row(i)[0] = weight
	}
	m.SetWeights(w)
	m.HiddenBias[0] = inputs*(math.Ln2-weight) + above
	clitest.Save(t, "peak.npz", m, modelfile.About{Data: "peak.csv"})
	full := strings.TrimSuffix(strings.Repeat("1,", inputs), ",") + "\n"
	clitest.Write(t, "peak.csv", full+strings.TrimSuffix(strings.Repeat("1,0,", inputs/2), ",")+"\n"+full+full)
	states := rbm.NewBits(2, inputs)
	for i := range inputs {
		states.Set(0, i, true)
		states.Set(1, i, i%2 == 0)
	}
	f := make([]float64, 2)
	m.FreeEnergy(f, states)
	return rbm.LogSumExp([]float64{-f[0], -f[1]})
}

const allEstimates = " -ais -reverse-ais -bennett -base uniform" + quick

// An estimate of log Z below the bound from the given rows is not printed: it is reported as
// impossible, and the bound takes its place. Reverse AIS is not used either, since its chains are
// those of the impossible Bennett ratio.
func TestImpossible(t *testing.T) {
	isolate(t)
	bound := writePeak(t)
	call := rbmeval.Call(strings.Fields("-model peak.npz -rows rows.csv -quiet" + allEstimates)...)
	if call.Status != cli.OK {
		t.Fatal(call.Stderr)
	}
	for _, w := range []string{
		"log Z by AIS               impossible (", "log Z by Bennett's ratio   impossible (",
		fmt.Sprintf("log Z is at least          %.3f (", bound), "mean log-likelihood        at most -",
	} {
		if !strings.Contains(call.Stdout, w) {
			t.Errorf("lacks %q:\n%s", w, call.Stdout)
		}
	}
	if !strings.HasPrefix(call.Stderr, "rbmeval: warning: AIS, Bennett: impossible: ") {
		t.Errorf("the first warning is another:\n%s", call.Stderr)
	}
	if header, _ := rows(t, "rows.csv"); slices.Contains(header, "log_likelihood") {
		t.Errorf("rows have a likelihood: %v", header)
	}
	// With -json: no estimate, and the same warning.
	both := rbmeval.Call(strings.Fields("-model peak.npz -json" + allEstimates)...)
	var object map[string]any
	if err := json.Unmarshal([]byte(both.Stdout), &object); err != nil {
		t.Fatal(err)
	}
	if got := object["log_z_lower_bound"].(float64); math.Abs(got-bound) > 1e-9*bound {
		t.Errorf("the bound is %v, want %v", got, bound)
	}
	if top := object["mean_log_likelihood_upper_bound"].(float64); math.Abs(top+object["free_energy"].(float64)+bound) > 1e-9*bound {
		t.Errorf("the likelihood is at most %v", top)
	}
	for _, key := range []string{"log_z", "log_z_by", "log_z_std_err", "mean_log_likelihood"} {
		if x, ok := object[key]; ok {
			t.Errorf("%s is %v", key, x)
		}
	}
	for _, key := range []string{"ais", "bennett"} {
		one := object[key].(map[string]any)
		if one["impossible"] != true || one["doubtful"] != true || one["log_z"] != nil || one["std_err"] != nil || one["ess"] == nil {
			t.Errorf("%s is %v", key, one)
		}
	}
	if both.Stderr != call.Stderr || strings.Count(both.Stderr, "\n") != len(object["warnings"].([]any)) {
		t.Errorf("with -json the warnings are\n%sof %v", both.Stderr, object["warnings"])
	}
	if one := object["reverse_ais"].(map[string]any); one["impossible"] != nil || one["doubtful"] != true || one["log_z"].(float64) < bound {
		t.Errorf("reverse AIS is %v", one)
	}
}

// Where the rows are all states of the model, the bound equals log Z. Every estimate below it by
// chance is raised to it, without a warning.
func TestRaised(t *testing.T) {
	isolate(t)
	clitest.Save(t, "all.npz", clitest.Model(3, 4, 0, rbm.Softmax), modelfile.About{Data: "all.csv"})
	clitest.Write(t, "all.csv", "0,0,0\n0,0,1\n0,1,0\n0,1,1\n1,0,0\n1,0,1\n1,1,0\n1,1,1\n")
	m, _ := clitest.Load(t, "all.npz")
	want, raised := logZ(m), 0
	const seeds = 8
	for seed := range seeds {
		args := fmt.Sprintf("-model all.npz -ais -ais-temperatures 10 -seed %d", seed)
		r, _ := evaluate(t, args)
		if r.LogZ == nil || math.Abs(*r.LowerBound-want) > 1e-9*want || *r.LogZ < *r.LowerBound || r.Warnings != nil || r.AIS.Raised != (*r.LogZ == *r.LowerBound) {
			t.Fatalf("%s: %+v", args, r)
		}
		text := rbmeval.OK(t, strings.Fields(args)...)
		for _, w := range []string{", raised to the bound (", fmt.Sprintf("log Z is at least          %.3f (", want)} {
			if strings.Contains(text, w) != r.AIS.Raised {
				t.Errorf("%s: %q is there or not:\n%s", args, w, text)
			}
		}
		if r.AIS.Raised {
			raised++
		}
	}
	if raised == 0 || raised == seeds {
		t.Errorf("%d of %d estimates are raised", raised, seeds)
	}
}

// The same with -run: the table shows the bound, and the file, -json and the plot omit the estimates.
func TestImpossibleInRun(t *testing.T) {
	isolate(t)
	bound := writePeak(t)
	m, _ := clitest.Load(t, "peak.npz")
	about := modelfile.About{Data: "peak.csv"}
	clitest.Write(t, "run/config.json", "{}")
	clitest.Write(t, "run/models/notes.txt", "not a model")
	clitest.Save(t, filepath.Join("run/models", leftPad(100)), m, about)
	flat := rbm.New(60, 40, 0, rbm.Softmax)
	clitest.Save(t, filepath.Join("run/models", leftPad(1)), flat, about)
	call := rbmeval.Call(strings.Fields("-run run -out out" + allEstimates)...)
	if call.Status != cli.OK {
		t.Fatal(call.Stderr)
	}
	lines := strings.Split(call.Stdout, "\n")
	for _, w := range []string{fmt.Sprintf("≥ %.3f", bound), "bound", "≤ -", "!"} {
		if !strings.Contains(lines[4], w) || strings.Contains(lines[3], w) {
			t.Errorf("%q in the wrong lines:\n%s", w, call.Stdout)
		}
	}
	rbmeval.OneLine(t, call.Stderr, "1 snapshots", "step 100", "AIS, Bennett: impossible: ")
	decodes(t, "out/likelihood.png")
	_, column := rows(t, "out/likelihood.csv")
	for _, c := range []string{"log_likelihood_train", "log_z", "ais", "ais_std_err", "bennett", "bennett_std_err"} {
		if column[c][0] == "" || column[c][1] != "" {
			t.Errorf("%s is %q", c, column[c])
		}
	}
	if got := number(t, column["log_z_lower_bound"][1]); math.Abs(got-bound) > 1e-9*bound {
		t.Errorf("the bound is %v, want %v", got, bound)
	}
	both := rbmeval.Call(strings.Fields("-run run -json" + allEstimates)...)
	var r historyResult
	if err := json.Unmarshal([]byte(both.Stdout), &r); err != nil {
		t.Fatal(err)
	}
	if s := r.Snapshots[1]; s.LogZ != nil || s.Train != nil || s.AIS.LogZ != nil || !s.AIS.Impossible || s.LowerBound == nil || s.TrainBound == nil || *s.TrainBound > 0 || both.Stderr != call.Stderr {
		t.Errorf("-json says %s and %s", both.Stdout, both.Stderr)
	}
}

// The bound counts the distinct evaluated rows and training rows: with their labels, without labels
// where the data have none, and with grey values binarised by a threshold.
func TestBoundOfRows(t *testing.T) {
	isolate(t)
	writeParts(t)
	clitest.Save(t, "parts.npz", clitest.Model(4, 30, 0, rbm.Softmax), modelfile.About{Data: "rows.npz"})
	greyRows(t, "grey.csv")
	for _, c := range []struct{ model, data string }{
		{"softmax.safetensors", clitest.Toy}, {"bernoulli.safetensors", clitest.Toy}, {"plain.npz", clitest.Toy + ":plain"},
		{"softmax.safetensors", clitest.Toy + ":plain"}, {"parts.npz", "rows.npz"}, {"plain.npz", "grey.csv"},
	} {
		m, _ := clitest.Load(t, c.model)
		train, test, err := data.Load(t.Context(), c.data, data.Options{Binarize: data.Threshold})
		if err != nil {
			t.Fatal(err)
		}
		seen, sum := map[string]bool{}, 0.0
		for _, set := range []*data.Set{train, test} {
			for r := range max(0, rowsOf(set)) {
				v := make([]int, m.Visible())
				set.X.Each(r, func(i int) { v[i] = 1 })
				classes := []int{}
				switch {
				case set.Y != nil:
					classes = append(classes, int(set.Y[r]))
				default:
					for y := range m.Classes() {
						classes = append(classes, y)
					}
				}
				key := fmt.Sprint(v, classes)
				if seen[key] {
					continue
				}
				seen[key] = true
				if m.Classes() == 0 {
					sum += math.Exp(-free(m, v))
				}
				for _, y := range classes {
					if m.Classes() > 0 {
						v[m.Inputs()+y] = 1
						sum += math.Exp(-free(m, v))
						v[m.Inputs()+y] = 0
					}
				}
			}
		}
		args := "-model " + c.model + " -data " + c.data + " -ais -ais-temperatures 50"
		if c.data == "grey.csv" {
			args += " -binarize none"
		}
		r, _ := evaluate(t, args)
		if r.LowerBound == nil || math.Abs(*r.LowerBound-math.Log(sum)) > 1e-9*math.Abs(math.Log(sum)) {
			t.Errorf("%s: the bound is %v, want %v", args, r.LowerBound, math.Log(sum))
		}
	}
	// Without estimates there is no bound.
	if r, _ := evaluate(t, "-model plain.npz -exact"); r.LowerBound != nil {
		t.Errorf("an exact log Z has the bound %v", *r.LowerBound)
	}
}

// rowsOf returns the number of rows of a set, 0 for nil.
func rowsOf(set *data.Set) int {
	if set == nil {
		return 0
	}
	return set.Len()
}

// With -run the bound counts the rows of all parts, grey values binarised by a threshold.
func TestRunBoundOfGreyRows(t *testing.T) {
	isolate(t)
	greyRows(t, "grey.csv")
	m, _ := clitest.Load(t, "plain.npz")
	clitest.Write(t, "run/models/.keep", "")
	clitest.Save(t, "run/models/"+leftPad(7), m, modelfile.About{Data: "grey.csv", Binarize: data.None})
	var r historyResult
	if err := json.Unmarshal([]byte(rbmeval.OK(t, strings.Fields("-run run -ais -ais-temperatures 50 -json")...)), &r); err != nil {
		t.Fatal(err)
	}
	set, _, err := data.Load(t.Context(), "grey.csv", data.Options{Binarize: data.Threshold})
	if err != nil {
		t.Fatal(err)
	}
	seen, sum := map[string]bool{}, 0.0
	for r := range set.Len() {
		v, key := make([]int, m.Visible()), []byte("00000000")
		set.X.Each(r, func(i int) { v[i], key[i] = 1, '1' })
		if !seen[string(key)] {
			sum += math.Exp(-free(m, v))
		}
		seen[string(key)] = true
	}
	s, want := r.Snapshots[0], math.Log(sum)
	if r.Binarize != data.None || s.LowerBound == nil || math.Abs(*s.LowerBound-want) > 1e-9*want { // the sums are in float64
		t.Errorf("the bound of rows (%s) is %v, want %v", r.Binarize, s.LowerBound, want)
	}
}

// An estimate that misses the exact log Z by more than three standard errors is reported with its
// deviation, for a single model and with -run. A single state of the inputs has 4 % of Z here, and no
// chain finds it.
func TestMissedExact(t *testing.T) {
	isolate(t)
	const inputs, weight = 40, 10.0
	m := rbm.New(inputs, 4, 0, rbm.Softmax)
	w := rbm.NewMatrix(inputs, 4)
	for i := range inputs {
		w.Row(i)[0] = weight
	}
	m.SetWeights(w)
	m.HiddenBias[0] = float32(inputs*(math.Ln2-weight) + math.Log(0.04/0.96))
	clitest.Write(t, "rows.csv", strings.Repeat("1,0,", inputs/2-1)+"1,0\n")
	clitest.Write(t, "run/models/.keep", "")
	clitest.Save(t, "run/models/"+leftPad(9), m, modelfile.About{Data: "rows.csv"})
	const flags = " -exact -ais -base uniform -ais-temperatures 100"
	r, _ := evaluate(t, "-model run/models/"+leftPad(9)+flags)
	off := math.Abs(*r.AIS.LogZ - *r.LogZ)
	want := fmt.Sprintf("AIS: off by %.2g, %.0f of its standard errors, from the exact log Z", off, off / *r.AIS.StdErr)
	if r.LogZBy != byExact || !r.AIS.Doubtful || !slices.Equal(r.Warnings, []string{want}) || off < 3**r.AIS.StdErr {
		t.Errorf("%+v: warns %q, want %q", r.AIS, r.Warnings, want)
	}
	call := rbmeval.Call(strings.Fields("-run run" + flags)...)
	rbmeval.OneLine(t, call.Stderr, "marked by !", "step 9", want)
	// No warning for correct estimates.
	if r, _ := evaluate(t, "-model plain.npz -exact -ais -reverse-ais -bennett"+quick); r.Warnings != nil || r.Bennett == nil {
		t.Errorf("warns %q", r.Warnings)
	}
}
