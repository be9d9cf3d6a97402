package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/units"
	"gorbm/train"
)

// trained trains a model of a table with these settings and number of steps, and writes it to
// m.safetensors.
func trained(t *testing.T, path string, hidden, steps int, change func(*train.Settings)) {
	t.Helper()
	set, _, err := data.Load(context.Background(), path, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := train.DefaultSettings("pcd")
	change(&s)
	tr, err := train.New(s, set, train.NewModel(set, hidden, false, rbm.Softmax, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Run(context.Background(), steps); err != nil {
		t.Fatal(err)
	}
	clitest.Save(t, "m.safetensors", tr.Model(), modelfile.About{Data: path, Schema: set.Schema.Text()})
}

// A table whose numbers are Gaussian units: missing kinds and heights, which depend on the kind, are
// filled by means, draws and quantiles in the units of the table. Samples have the same columns and
// words, with and without -clamp. The fill has a smaller error than the mean of the column.
func TestFillNumbers(t *testing.T) {
	clitest.Isolate(t)
	r := rand.New(rand.NewPCG(3, 4))
	text, holes := "kind,height,age\n", "age,id,height,kind\n"
	var heights []float64
	for i := range 600 {
		k := r.IntN(2)
		height, age := 1000+100*float64(k)+20*r.NormFloat64(), 40+10*r.NormFloat64()
		if i < 400 {
			text += fmt.Sprintf("%s,%.6g,%.6g\n", []string{"low", "high"}[k], height, age)
			continue
		}
		heights = append(heights, height)
		holes += fmt.Sprintf("%.6g,%d,,%s\n", age, i, []string{"low", "high"}[k])
	}
	holes += "40,600,1003,\n,601,,\n"
	clitest.Write(t, "t.csv", text)
	clitest.Write(t, "holes.csv", holes)
	set, _, err := data.Load(context.Background(), "t.csv", data.Options{Numbers: data.NumbersGaussian})
	if err != nil {
		t.Fatal(err)
	}
	s := train.DefaultSettings("exact")
	s.Batch, s.Rate, s.LearnPrecision = 50, 0.1, true
	tr, err := train.New(s, set, train.NewModel(set, 4, false, rbm.Softmax, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Run(context.Background(), 3000); err != nil {
		t.Fatal(err)
	}
	clitest.Save(t, "m.safetensors", tr.Model(), modelfile.About{Data: "t.csv", Schema: set.Schema.Text(), Means: set.Means, Deviations: set.Deviations})
	table := func(name string) (rows [][]string) {
		for _, line := range strings.Split(strings.TrimSpace(clitest.Read(t, name)), "\n") {
			rows = append(rows, strings.Split(line, ","))
		}
		return rows
	}
	number := func(text string) float64 {
		t.Helper()
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "holes.csv", "-out", "filled.csv")
	filled := table("filled.csv")
	if got := filled[201]; strings.Join(got, ",") != "40,600,1003,low" {
		t.Errorf("the missing kind is filled as %q", got)
	}
	squares, apart := 0.0, 0.0
	for i, height := range heights {
		d, mean := number(filled[i+1][2])-height, set.Means[1]-height
		squares, apart = squares+d*d/200, apart+mean*mean/200
	}
	if rms, all := math.Sqrt(squares), math.Sqrt(apart); rms > 26 || all < 45 { // 20 within a kind, and 54 overall
		t.Errorf("heights are off by %.1f, their mean by %.1f", rms, all)
	}
	within := map[string]int{}
	for _, line := range table("filled.probabilities.csv")[1:] {
		if row := int(number(line[0])); line[1] == "height" && row < 200 {
			below, found := strings.CutPrefix(line[2], "<= ")
			if found && heights[row] <= number(below) {
				within[line[3]]++
			}
		}
	}
	for p, n := range within { // six standard errors for 200 rows, and a margin for the training
		if want := 200 * number(p); math.Abs(float64(n)-want) > 6*math.Sqrt(want*(1-number(p)))+10 {
			t.Errorf("%d of 200 heights are below the value of p = %s", n, p)
		}
	}
	if len(within) != 5 {
		t.Errorf("quantiles %v, want 5 of them", within)
	}
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "holes.csv", "-fill-by", "draw", "-out", "drawn.csv")
	sum, square := 0.0, 0.0
	for i := range heights {
		x := number(table("drawn.csv")[i+1][2])
		sum, square = sum+x/200, square+x*x/200
	}
	if deviation := math.Sqrt(square - sum*sum); deviation < 40 || deviation > 70 {
		t.Errorf("draws have the deviation %.1f, want 40 to 70", deviation)
	}
	rbmsample.OK(t, "-model", "m.safetensors", "-n", "300", "-out", "samples.csv")
	samples := table("samples.csv")
	means, counts := map[string]float64{}, map[string]float64{}
	for _, row := range samples[1:] {
		means[row[0]] += number(row[1])
		counts[row[0]]++
	}
	if strings.Join(samples[0], ",") != "kind,height,age" || math.Abs(means["low"]/counts["low"]-1000) > 30 || math.Abs(means["high"]/counts["high"]-1100) > 30 {
		t.Errorf("samples have the columns %q and the means %v of %v", samples[0], means, counts)
	}
	clitest.Write(t, "clamp.csv", "kind,height,age\nhigh,,40\n,1000,40\n")
	rbmsample.OK(t, "-model", "m.safetensors", "-clamp", "clamp.csv", "-n", "50", "-out", "clamped.csv", "-negphase", "exact")
	clamped, high := table("clamped.csv"), 0.0
	for _, row := range clamped[1:51] {
		if high += number(row[1]) / 50; row[0] != "high" || row[2] != "40" {
			t.Fatalf("a given cell has changed: %q", row)
		}
	}
	if len(clamped) != 101 || math.Abs(high-1100) > 30 || clamped[60][1] != "1000" {
		t.Errorf("%d lines; of high ones the mean height is %v", len(clamped), high)
	}
}

// -clamp works for Gaussian hidden units too: with one of weights w the cells have the precision
// matrix I − wwᵀ. -fill needs densities and is refused.
func TestClampRealHidden(t *testing.T) {
	clitest.Isolate(t)
	text := "a,b\n"
	for i := range 50 {
		text += fmt.Sprintf("%v,%v\n", float64(i)/8, 100-float64(i*i)/16)
	}
	clitest.Write(t, "t.csv", text)
	set, _, err := data.Load(context.Background(), "t.csv", data.Options{Numbers: data.NumbersGaussian})
	if err != nil {
		t.Fatal(err)
	}
	m := rbm.NewLayers(rbm.Group{Kind: units.Gaussian, Units: 1}, set.InputGroups()...)
	const w0, w1, n = 0.6, 0.5, 2000
	m.SetWeights(rbm.Matrix{Rows: 2, Cols: 1, Data: []float32{w0, w1}})
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: "t.csv", Schema: set.Schema.Text(), Means: set.Means, Deviations: set.Deviations})
	clitest.Write(t, "clamp.csv", "a,b\n6,\n")
	rbmsample.OK(t, "-model", "m.safetensors", "-clamp", "clamp.csv", "-n", strconv.Itoa(n), "-out", "clamped.csv")
	sum, square := 0.0, 0.0
	for _, line := range strings.Split(strings.TrimSpace(clitest.Read(t, "clamped.csv")), "\n")[1:] {
		cells := strings.Split(line, ",") // the last cell is the row of -clamp
		v, err := strconv.ParseFloat(cells[1], 64)
		if err != nil || cells[0] != "6" {
			t.Fatalf("line %q: %v", line, err)
		}
		v = (v - set.Means[1]) / set.Deviations[1]
		sum, square = sum+v/n, square+v*v/n
	}
	wantMean, wantVariance := w0*w1/(1-w1*w1)*(6-set.Means[0])/set.Deviations[0], 1/(1-w1*w1)
	if z := (sum - wantMean) / math.Sqrt(wantVariance/n); math.Abs(z) > 5 {
		t.Errorf("the mean is %v, want %v: %.1f standard errors", sum, wantMean, z)
	}
	if z := (square - sum*sum - wantVariance) / (wantVariance * math.Sqrt(2./n)); math.Abs(z) > 5 {
		t.Errorf("the variance is %v, want %v: %.1f standard errors", square-sum*sum, wantVariance, z)
	}
	rbmsample.Fails(t, 2, []string{"-model", "m.safetensors", "-fill", "clamp.csv", "-out", "filled.csv"}, "-fill: real visible and real hidden units have no densities")
}

// Known cells are copied byte for byte, also those that look like formulas, have control characters or
// blanks, and stand in quotes; so the same model reads the filled table.
func TestFillCopiesKnownCells(t *testing.T) {
	clitest.Isolate(t)
	const missing = "§"
	words := [][2]string{{"=1+1", `"-a b"`}, {`"+x, ""y"""`, "@b"}, {" \x1b[2Jred", "'quoted'"}}
	text := "\ufeffkind, note\r\n"
	for i := range 60 {
		w := words[i%3]
		if i%5 == 4 {
			w[i%2] = missing
		}
		text += w[0] + "," + w[1] + "\r\n"
	}
	clitest.Write(t, "t.csv", strings.ReplaceAll(text, missing, "NA"))
	trained(t, "t.csv", 6, 1000, func(s *train.Settings) { s.Batch, s.Rate, s.Seed = 30, 0.2, 1 })
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "t.csv", "-out", "filled.csv")
	filled := clitest.Read(t, "filled.csv")
	for piece := range strings.SplitSeq(text, missing) {
		at := strings.Index(filled, piece)
		if at < 0 {
			t.Fatalf("the filled table %q… does not go on with %q", filled[:min(len(filled), 80)], piece)
		}
		filled = filled[at+len(piece):]
	}
	if filled != "" {
		t.Errorf("the filled table ends in %q", filled)
	}
	out := rbmsample.OK(t, "-model", "m.safetensors", "-fill", "filled.csv", "-out", "again.csv", "-quiet=false")
	if !strings.HasPrefix(out, "0 missing cells of 60 rows") || clitest.Read(t, "again.csv") != clitest.Read(t, "filled.csv") {
		t.Errorf("a table without missing cells is not copied: %s", out)
	}
}

// A table with missing cells: a colour, the fruit that goes with it, and a number.
func TestFill(t *testing.T) {
	clitest.Isolate(t)
	var b strings.Builder
	b.WriteString("colour,note,fruit,size\n")
	for i := range 300 {
		k := i % 3
		cells := []string{[]string{"red", "yellow", "green"}[k], "", []string{"cherry", "lemon", "lime"}[k], strconv.Itoa(10*k + i%4)}
		cells[1] = "n" + strconv.Itoa(i/3%2)
		if i%7 == 0 {
			cells[0] = "?"
		} else if i%11 == 0 {
			cells[2] = "NA"
		}
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	clitest.Write(t, "fruit.csv", b.String())
	trained(t, "fruit.csv", 8, 3000, func(s *train.Settings) { s.Batch, s.Rate, s.Seed = 30, 0.2, 1 })
	clitest.Write(t, "holes.csv", "size, fruit ,colour,id,note\n21.0,lime,,7,n0\n0,,,8,n1\n11,lemon,yellow,9,n0\n")
	clitest.Write(t, "holes.tsv", "size\tfruit\tcolour\tid\tnote\n21.0\tlime\t\t7\tn0\n0\t\t\t8\tn1\n11\tlemon\tyellow\t9\tn0\n")
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "holes.tsv", "-out", "tabs.csv")
	out := rbmsample.OK(t, "-model", "m.safetensors", "-fill", "holes.csv", "-out", "filled.csv", "-quiet=false")
	if tabs, commas := clitest.Read(t, "tabs.csv"), clitest.Read(t, "filled.csv"); strings.NewReplacer(" ", "", ",", "\t").Replace(commas) != tabs {
		t.Errorf("with tabs the table is %q, with commas %q", tabs, commas)
	}
	// Files are written in the notation of the input: semicolons and decimal commas only.
	clitest.Write(t, "semicolons.csv", "size;fruit;colour;id;note\n21,50;lime;;-7,1;n0\n;lemon;yellow;8.2;n1\n")
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "semicolons.csv", "-out", "semicolons-filled.csv")
	lines := strings.Split(clitest.Read(t, "semicolons-filled.csv"), "\n")
	if size, rest, _ := strings.Cut(lines[2], ";"); lines[0] != "size;fruit;colour;id;note" || lines[1] != "21,50;lime;green;-7,1;n0" || rest != "lemon;yellow;8.2;n1" || !strings.Contains(size, ",") || strings.Contains(size, ".") {
		t.Errorf("with semicolons and decimal commas it writes %q", lines)
	}
	if text := clitest.Read(t, "semicolons-filled.probabilities.csv"); !strings.HasPrefix(text, "row;column;level;p\n0;colour;green;0,") || strings.Contains(text, ".") {
		t.Errorf("with semicolons and decimal commas the probabilities are %q", text)
	}
	const filledText = "3 missing cells of 3 rows are filled (mean of numbers in 1 column, most probable level in 3) in filled.csv; filled.probabilities.csv has the probabilities"
	if !strings.Contains(out, filledText) {
		t.Errorf("prints %q, want %q in it", out, filledText)
	}
	if got := clitest.Read(t, "filled.csv"); got != "size, fruit ,colour,id,note\n21.0,lime,green,7,n0\n0,cherry,red,8,n1\n11,lemon,yellow,9,n0\n" {
		t.Errorf("the filled table is\n%s", got)
	}
	sums := map[string]float64{}
	for _, line := range strings.Split(strings.TrimSpace(clitest.Read(t, "filled.probabilities.csv")), "\n")[1:] {
		f := strings.Split(line, ",")
		p, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[f[0]+f[1]] += p
	}
	if len(sums) != 3 || math.Abs(sums["0colour"]-1) > 1e-5 || math.Abs(sums["1fruit"]-1) > 1e-5 {
		t.Errorf("probabilities sum to %v", sums)
	}
	checkMeans(t)
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "holes.csv", "-fill-by", "draw", "-out", "a.csv", "-quiet")
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "holes.csv", "-fill-by", "draw", "-out", "b.csv", "-quiet")
	if clitest.Read(t, "a.csv") != clitest.Read(t, "b.csv") {
		t.Error("equal seeds draw other cells")
	}
	// Samples are rows of the same format.
	rbmsample.OK(t, "-model", "m.safetensors", "-out", "samples.csv", "-n", "5", "-quiet")
	if lines := strings.Split(strings.TrimSpace(clitest.Read(t, "samples.csv")), "\n"); len(lines) != 6 || lines[0] != "colour,note,fruit,size" {
		t.Errorf("samples %q", lines)
	}
	clitest.Write(t, "blue.csv", "colour,note,fruit,size\nblue,n0,,1\n")
	rbmsample.Fails(t, 1, []string{"-model", "m.safetensors", "-fill", "blue.csv", "-out", "c.csv"}, `blue.csv:2: column 1 ("colour"): "blue" is no level that the model knows`)
	rbmsample.Fails(t, 2, []string{"-model", "m.safetensors", "-fill", "-", "-out", "c.csv"}, "-fill reads a table from a file, not from a pipe")
	rbmsample.Fails(t, 2, []string{"-model", "m.safetensors", "-fill", "holes.csv", "-out", "c.png"}, "-fill writes a .csv")
	rbmsample.Fails(t, 1, []string{"-model", "m.safetensors", "-fill", "holes.csv", "-out", "filled.csv"}, "filled.csv is there already")
}

// checkMeans fills a number and a word by default: the number gets its expectation, the word its most
// probable level.
func checkMeans(t *testing.T) {
	t.Helper()
	clitest.Write(t, "two.csv", "size,fruit,colour,note\n,lime,green,n0\n11,,yellow,n0\n")
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "two.csv", "-out", "means.csv", "-quiet")
	mean, levels := 0.0, 0
	for _, line := range strings.Split(strings.TrimSpace(clitest.Read(t, "means.probabilities.csv")), "\n")[1:] {
		f := strings.Split(line, ",")
		if f[1] != "size" {
			continue
		}
		level, err := strconv.ParseFloat(f[2], 64)
		p, err2 := strconv.ParseFloat(f[3], 64)
		if err != nil || err2 != nil {
			t.Fatal(line)
		}
		mean, levels = mean+p*level, levels+1
	}
	lines := strings.Split(clitest.Read(t, "means.csv"), "\n")
	got, err := strconv.ParseFloat(strings.Split(lines[1], ",")[0], 64)
	if err != nil || levels < 3 || math.Abs(got-mean) > 1e-3 || got < 12 {
		t.Errorf("the size of a green lime is filled by %v, want the mean of its %d levels, %v, well above 10", got, levels, mean)
	}
	if lines[2] != "11,lemon,yellow,n0" {
		t.Errorf("the fruit is filled as %q, want lemon", lines[2])
	}
}

// fillPeer removes cells and compares methods that fill them.
const fillPeer = `
import json, sys
import numpy as np, pandas as pd
from sklearn.datasets import load_wine
d = load_wine(as_frame=True)
full = d.frame.drop(columns="target").rename(columns=lambda c: c.replace("/", "_"))
full["kind"] = np.array(["barolo", "grignolino", "barbera"])[d.target]
gaps = np.random.RandomState(0).rand(*full.shape) < 0.2
table = full.mask(gaps)
if sys.argv[1] == "write":
    table.to_csv("wine.csv", index=False)
    sys.exit()
from sklearn.experimental import enable_iterative_imputer
from sklearn.impute import IterativeImputer
schema = json.load(open("schema.json"))
p = pd.read_csv("filled.probabilities.csv", dtype={"level": str})
p = {k: dict(zip(g.level, g.p)) for k, g in p.groupby(["row", "column"])}
numbers = [c for c in full.columns if c != "kind"]
x = table[numbers].to_numpy(float)
regressed = IterativeImputer(max_iter=20, random_state=0).fit_transform(x)
draws = [IterativeImputer(max_iter=10, random_state=s, sample_posterior=True).fit_transform(x) for s in range(25)]
error = {"rbm": [], "sklearn": [], "mode": []}
loss = {"rbm": [], "sklearn": [], "mode": []}
inside, claimed = [], []
for c in schema["columns"]:
    name, levels, edges = c["name"], c["levels"], c.get("edges")
    at = lambda v: levels.index(v) if edges is None else int(np.searchsorted(edges, v, side="right"))
    known = table[name].dropna()
    counts = np.bincount([at(v) for v in known], minlength=len(levels)) + 0.5
    for r in np.flatnonzero(gaps[:, full.columns.get_loc(name)]):
        q = np.array([p[r, name][l] for l in levels])
        k = at(full[name][r])
        loss["rbm"].append(-np.log(max(q[k], 1e-6)))
        loss["mode"].append(-np.log(counts[k] / counts.sum()))
        order = np.argsort(-q)
        size = int(np.searchsorted(np.cumsum(q[order]), 0.8)) + 1
        inside.append(k in order[:size]); claimed.append(q[order[:size]].sum())
        if edges is not None:
            j, sd, truth = numbers.index(name), full[name].std(), full[name][r]
            own = np.bincount([at(z[r, j]) for z in draws], minlength=len(levels)) + 0.5
            loss["sklearn"].append(-np.log(own[k] / own.sum()))
            error["rbm"].append(((q @ np.array(levels, float)) - truth) / sd)
            error["sklearn"].append((regressed[r, j] - truth) / sd)
            error["mode"].append((known.median() - truth) / sd)
print(json.dumps({"cells": len(inside), "rmse": {k: float(np.sqrt(np.mean(np.square(v)))) for k, v in error.items()},
    "log_loss": {k: float(np.mean(v)) for k, v in loss.items()}, "inside": float(np.mean(inside)), "claimed": float(np.mean(claimed))}))
`

// A fifth of the cells of scikit-learn's wine table is removed. The model's fills are compared with
// scikit-learn's IterativeImputer, and with the median or most frequent value of a column.
func TestFillBesideSklearn(t *testing.T) {
	if testing.Short() {
		t.Skip("trains and runs scikit-learn for some seconds")
	}
	python := ""
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import sklearn, pandas").Run() == nil {
			python = name
		}
	}
	if python == "" {
		t.Skip("there is no Python with scikit-learn and pandas")
	}
	clitest.Isolate(t)
	clitest.Write(t, "fill.py", fillPeer)
	peer := func(what string) []byte {
		out, err := exec.Command(python, "fill.py", what).Output()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return out
	}
	peer("write")
	trained(t, "wine.csv", 30, 6000, func(s *train.Settings) { s.Batch, s.Rate, s.L2 = 20, 0.05, 0.005 })
	_, about := clitest.Load(t, "m.safetensors")
	clitest.Write(t, "schema.json", about.Schema)
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "wine.csv", "-out", "filled.csv")
	var r struct {
		Cells           int
		RMSE            map[string]float64 `json:"rmse"`
		LogLoss         map[string]float64 `json:"log_loss"`
		Inside, Claimed float64
	}
	if err := json.Unmarshal(peer("compare"), &r); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%d cells; error in standard deviations: RBM %.3f, IterativeImputer %.3f, median %.3f; log-loss in nats: RBM %.3f, IterativeImputer's draws %.3f, frequencies %.3f; sets of 80 %% claim %.3f and hold %.3f",
		r.Cells, r.RMSE["rbm"], r.RMSE["sklearn"], r.RMSE["mode"], r.LogLoss["rbm"], r.LogLoss["sklearn"], r.LogLoss["mode"], r.Claimed, r.Inside)
	t.Log(text)
	if !(r.RMSE["rbm"] < 0.9*r.RMSE["mode"]) || !(r.LogLoss["rbm"] < r.LogLoss["mode"]-0.1) {
		t.Error("the model fills hardly better than each column by itself")
	}
	// Cells of the same row are dependent: allow twice the binomial error.
	if se := math.Sqrt(r.Claimed * (1 - r.Claimed) / float64(r.Cells)); math.Abs(r.Inside-r.Claimed) > 6*2*se {
		t.Errorf("the sets hold %.3f of the cells, and claim %.3f", r.Inside, r.Claimed)
	}
}

// With labels, a missing label is filled like a cell. A table without labels is filled given its known
// inputs alone.
func TestFillLabels(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "t.csv", "a,b,kind\nx,u,k\ny,v,l\nx,u,k\ny,v,l\n")
	set, _, err := data.Load(context.Background(), "t.csv", data.Options{LabelColumn: "kind", Levels: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := train.NewModel(set, 1, true, rbm.Softmax, 1) // its hidden unit is on for y, v and l
	m.SetWeights(rbm.Matrix{Rows: 4, Cols: 1, Data: []float32{8, 8, 0, 8}})
	copy(m.VisibleBias, []float32{-4, -4, 4, 0})
	copy(m.HiddenBias, []float32{-12})
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: "t.csv", Schema: set.Schema.Text(), ClassNames: set.Classes, LabelColumn: "kind"})
	clitest.Write(t, "holes.csv", "kind,a,b\n,x,\nl,NA,\n?,,v\nNA,,u\n")
	clitest.Write(t, "bare.csv", "a,b\nx,\n,v\n")
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "holes.csv", "-out", "filled.csv", "-quiet")
	if got := clitest.Read(t, "filled.csv"); got != "kind,a,b\nk,x,u\nl,y,v\nl,y,v\nk,x,u\n" {
		t.Errorf("the filled table is\n%s", got)
	}
	if p := clitest.Read(t, "filled.probabilities.csv"); strings.Count(p, ",kind,") != 6 {
		t.Errorf("probabilities are\n%s", p)
	}
	rbmsample.OK(t, "-model", "m.safetensors", "-fill", "bare.csv", "-out", "b.csv", "-quiet")
	if got := clitest.Read(t, "b.csv"); got != "a,b\nx,u\ny,v\n" {
		t.Errorf("the filled table is\n%s", got)
	}
	// A table in which all labels are missing, to be predicted.
	for i, label := range []string{"", "NA"} {
		in, out := fmt.Sprintf("new%d.csv", i), fmt.Sprintf("predicted%d.csv", i)
		clitest.Write(t, in, strings.ReplaceAll("kind,a,b\n?,x,u\n?,y,\n", "?", label))
		rbmsample.OK(t, "-model", "m.safetensors", "-fill", in, "-out", out, "-quiet")
		if got := clitest.Read(t, out); got != "kind,a,b\nk,x,u\nl,y,v\n" {
			t.Errorf("with all labels %q the filled table is\n%s", label, got)
		}
	}
	clitest.Write(t, "other.csv", "a,b,kind\nx,,w\n")
	rbmsample.Fails(t, 1, []string{"-model", "m.safetensors", "-fill", "other.csv", "-out", "c.csv"}, "other.csv: ", `"w"`)
	rbmsample.Fails(t, 2, []string{"-model", "m.safetensors", "-fill", "/dev/stdin", "-out", "c.csv"}, "-fill reads a table from a file, not from a pipe")
}

// Known cells stay as they are, also words that begin like formulas and control characters, so that the model
// reads the filled table. A table without a header is filled without one.
func TestFillKeepsCells(t *testing.T) {
	clitest.Isolate(t)
	words := []string{"=1+1", "+cmd", "@SUM(A1)", "-2+3", "\x1b[2Jred", "'quoted"}
	for _, head := range []string{"a,b,c\n", ""} {
		var whole, holes strings.Builder
		whole.WriteString(head)
		holes.WriteString(head)
		for i := range 300 {
			cells := []string{words[i%6], words[i/2%6], strconv.Itoa(i % 3)}
			whole.WriteString(strings.Join(cells, ",") + "\n")
			if i < 60 {
				cells[i%3] = ""
				holes.WriteString(strings.Join(cells, ",") + "\n")
			}
		}
		name := map[bool]string{true: "head", false: "bare"}[head != ""]
		clitest.Write(t, name+".csv", whole.String())
		clitest.Write(t, name+"-holes.csv", holes.String())
		trained(t, name+".csv", 3, 200, func(s *train.Settings) { s.Batch, s.Rate = 30, 0.1 })
		for _, out := range []string{name + "-filled.csv", name + "-again.csv"} {
			from := map[bool]string{true: name + "-filled.csv", false: name + "-holes.csv"}[strings.HasSuffix(out, "again.csv")]
			rbmsample.OK(t, "-model", "m.safetensors", "-fill", from, "-fill-by", "mode", "-out", out) // a mean of levels may be none
		}
		filled := strings.Split(clitest.Read(t, name+"-filled.csv"), "\n")
		for r, line := range strings.Split(holes.String(), "\n") {
			got, want := strings.Split(filled[r], ","), strings.Split(line, ",")
			for j := range want {
				if len(got) != len(want) || want[j] != "" && got[j] != want[j] || line != "" && got[j] == "" {
					t.Fatalf("%s, line %d: %q is filled as %q", name, r+1, line, filled[r])
				}
			}
		}
		if clitest.Read(t, name+"-again.csv") != clitest.Read(t, name+"-filled.csv") {
			t.Errorf("%s: a filled table changes", name)
		}
	}
}
