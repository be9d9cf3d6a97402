package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/modelfile"
	"gorbm/train"
)

// -rows of a model of columns: in a complete row the cells sum to the pseudo-log-likelihood. In a row
// with a missing cell the likelihood is the sum over the levels of that cell, and the cell has no
// number.
func TestCells(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "t.csv", "a,b,c\nx,1,p\ny,0,q\nz,1,\nx,0,p\n,,q\n")
	set, _, err := data.Load(context.Background(), "t.csv", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := train.NewModel(set, 3, false, rbm.Softmax, 1)
	m.Randomize(1, rbm.NewKey(2))
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: "t.csv", Schema: set.Schema.Text()})
	rbmeval.OK(t, "-model", "m.safetensors", "-exact", "-pl", "-rows", "rows.csv", "-cells", "-quiet")
	lines, err := csv.NewReader(strings.NewReader(clitest.Read(t, "rows.csv"))).ReadAll()
	if err != nil || len(lines) != 6 || strings.Join(lines[0], ",") != "row,free_energy,log_likelihood,pseudo_log_likelihood,log_p(a),log_p(b),log_p(c)" {
		t.Fatalf("%v: %v", lines, err)
	}
	number := func(row, column int) float64 {
		x, err := strconv.ParseFloat(lines[row+1][column], 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if sum, pl := number(0, 4)+number(0, 5)+number(0, 6), number(0, 3); math.Abs(sum-pl) > 1e-5 {
		t.Errorf("cells sum to %v, and the pseudo-log-likelihood is %v", sum, pl)
	}
	logZ, err := exact.LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	v, f := rbm.NewBits(2, set.X.Cols), make([]float64, 2)
	for k := range 2 {
		copy(v.Row(k), set.X.Row(2))
		v.Set(k, set.X.Cols-1, k == 1)
	}
	m.FreeEnergy(f, v)
	if want, got := rbm.LogSumExp([]float64{-f[0], -f[1]})-logZ, number(2, 2); math.Abs(got-want) > 1e-6 { // the conditional model has biases in float32
		t.Errorf("the row with a gap has log-likelihood %v, want %v", got, want)
	}
	if lines[3][6] != "" || lines[5][4] != "" || lines[5][5] != "" || lines[5][6] == "" {
		t.Errorf("missing cells have the numbers %q and %q", lines[3][6], lines[5][4])
	}
}

// -rows of a model of a number and categories: in a complete row the cells sum to the
// pseudo-log-likelihood, with a density in the units of the number. Where the number is missing, the
// likelihood is the integral over it, which equals the likelihood of the other cells.
func TestNumberCells(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "t.csv", "a,b,c\nx,10,p\ny,20.5,q\nz,30,p\nx,11,p\ny,,q\nz,33,\n")
	set, _, err := data.Load(context.Background(), "t.csv", data.Options{Numbers: data.NumbersGaussian, Levels: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := train.NewModel(set, 3, false, rbm.Softmax, 1)
	m.Randomize(1, rbm.NewKey(2))
	m.VisibleParams()[0][3] = 2
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: "t.csv", Binarize: set.Binarize, Schema: set.Schema.Text(), Means: set.Means, Deviations: set.Deviations})
	rbmeval.OK(t, "-model", "m.safetensors", "-exact", "-pl", "-rows", "rows.csv", "-cells", "-quiet")
	lines, err := csv.NewReader(strings.NewReader(clitest.Read(t, "rows.csv"))).ReadAll()
	if err != nil || len(lines) != 7 {
		t.Fatalf("%v: %v, want 7 of them", lines, err)
	}
	number := func(row, column int) float64 {
		x, err := strconv.ParseFloat(lines[row+1][column], 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, row := range []int{0, 1, 2, 3} {
		if sum, pl := number(row, 4)+number(row, 5)+number(row, 6), number(row, 3); math.Abs(sum-pl) > 1e-5 {
			t.Errorf("row %d: cells sum to %v, and the pseudo-log-likelihood is %v", row, sum, pl)
		}
	}
	logZ, err := exact.LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	// The density of b in row 0, and p(a, c) in row 4, as sums over b in its own units.
	integral := func(row int) (sum, own float64) {
		scale := set.Schema.Columns[1].Number
		const step = 0.25
		var logs []float64
		v, f := m.NewVisible(1), make([]float64, 1)
		v.CopyRow(0, set.Grey.Values(), row)
		m.FreeEnergy(f, v)
		own = -f[0]
		for x := -300.0; x < 300; x += step {
			v.Put(0, 3, scale.Standard(x))
			m.FreeEnergy(f, v)
			logs = append(logs, -f[0]+math.Log(step/scale.Deviation))
		}
		return rbm.LogSumExp(logs), own - math.Log(scale.Deviation)
	}
	sum, own := integral(0)
	if got := number(0, 5); math.Abs(got-(own-sum)) > 1e-5 {
		t.Errorf("log p of a number is %v, want %v", got, own-sum)
	}
	if got := number(0, 2); math.Abs(got-(own-logZ)) > 1e-9 {
		t.Errorf("the log-likelihood of a row is %v, want %v", got, own-logZ)
	}
	sum, _ = integral(4)
	if got := number(4, 2); math.Abs(got-(sum-logZ)) > 1e-5 || lines[5][5] != "" {
		t.Errorf("the row with a gap has log-likelihood %v, want %v; its cell is %q", got, sum-logZ, lines[5][5])
	}
}

// -samples with the training rows themselves gives perfect agreement, and a set with other columns is
// refused.
func TestSamples(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "t.fasta", ">1\nACD\n>2\nYCD\n>3\nA-D\n>4\nYWE\n")
	clitest.Write(t, "short.fasta", ">1\nAC\n>2\nYC\n")
	set, _, err := data.Load(context.Background(), "t.fasta", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := train.NewModel(set, 3, false, rbm.Softmax, 1)
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: "t.fasta", Schema: set.Schema.Text()})
	out := rbmeval.OK(t, "-model", "m.safetensors", "-pl", "-samples", "t.fasta")
	const want = "frequencies: Pearson 1.0000, slope 1.0000; of pairs: Pearson 1.0000, slope 1.0000; connected correlations of pairs: Pearson 1.0000, slope 1.0000\n"
	if !strings.Contains(out, want) {
		t.Errorf("prints %q, want %q in it", out, want)
	}
	rbmeval.Fails(t, 1, []string{"-model", "m.safetensors", "-pl", "-samples", "short.fasta"}, "do not have the same columns of levels")
}

// Rows with several missing cells, in a model with labels: the likelihood and p(y|x) agree with
// enumeration of the missing cells, and differ clearly from those of the filled rows. The
// pseudo-likelihood includes the label's term.
func TestLabelledGaps(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "t.csv", "a,b,c,d,label\nx,x,x,x,k\ny,y,y,y,l\nz,z,z,z,k\nx,,,,k\n,y,,y,l\n,,,,k\n")
	set, _, err := data.Load(context.Background(), "t.csv", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if set.Y == nil {
		t.Fatal("no labels")
	}
	m := train.NewModel(set, 4, true, rbm.Softmax, 1)
	m.Randomize(2, rbm.NewKey(2))
	clear(m.VisibleBias)
	clear(m.HiddenBias)
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: "t.csv", Schema: set.Schema.Text(), ClassNames: set.Classes})
	rbmeval.OK(t, "-model", "m.safetensors", "-exact", "-pl", "-classify", "-rows", "rows.csv", "-cells", "-quiet")
	lines, err := csv.NewReader(strings.NewReader(clitest.Read(t, "rows.csv"))).ReadAll()
	if err != nil || len(lines) != 7 {
		t.Fatalf("%v: %v, want 7 of them", lines, err)
	}
	number := func(row int, name string) float64 {
		x, err := strconv.ParseFloat(lines[row+1][slices.Index(lines[0], name)], 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	logZ, err := exact.LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	v, f := rbm.NewBits(1, m.Visible()), make([]float64, 1)
	worst := 0.0 // largest error of the filled rows
	for _, row := range []int{3, 4, 5} {
		var sum [2]float64
		for s := range 81 {
			clear(v.Words)
			allowed := true
			for j, rest := 0, s; j < 4; j, rest = j+1, rest/3 {
				unit := 3*j + rest%3
				v.Set(0, unit, true)
				allowed = allowed && (set.Missing.Get(row, unit) || set.X.Get(row, unit))
			}
			for y := range sum {
				v.Set(0, m.Inputs()+y, true)
				if m.FreeEnergy(f, v); allowed {
					sum[y] += math.Exp(-f[0] - logZ)
				}
				v.Set(0, m.Inputs()+y, false)
			}
		}
		y := int(set.Y[row])
		if got, want := number(row, "log_likelihood"), math.Log(sum[y]); math.Abs(got-want) > 1e-6 {
			t.Errorf("row %d: log-likelihood %v, want %v", row, got, want)
		}
		p := sum[0] / (sum[0] + sum[1])
		if got := number(row, "p_"+set.Classes[0]); math.Abs(got-p) > 1e-6 {
			t.Errorf("row %d: p(y|x) is %v, want %v", row, got, p)
		}
		logp := make([]float64, 2)
		m.ClassLogProb(logp, set.Rows([]int32{int32(row)}, 2))
		worst = max(worst, math.Abs(logp[0]-math.Log(p)))
		pl := math.Log(sum[y] / (sum[0] + sum[1]))
		for j, name := range []string{"a", "b", "c", "d"} {
			if !set.Missing.Get(row, 3*j) {
				pl += number(row, "log_p("+name+")")
			}
		}
		if got := number(row, "pseudo_log_likelihood"); math.Abs(got-pl) > 1e-6 {
			t.Errorf("row %d: pseudo-log-likelihood %v, want %v", row, got, pl)
		}
	}
	if worst < 0.1 {
		t.Errorf("log p(y|x) of the fills is off by %v at most, want at least 0.1", worst)
	}
	rbmeval.Fails(t, 2, []string{"-model", "m.safetensors", "-features", "f.npz", "-quiet"}, "fill them by rbmsample -fill")
}

// Rows of weight 0 are left out, and the others keep their numbers in the file. The output says that
// means are weighted.
func TestWeightedRows(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "t.csv", "a,b,w,label\n0,1,0,k\n1,1,3,l\n0,0,0,k\n1,0,1,k\n")
	clitest.Save(t, "m.safetensors", clitest.Model(4, 3, 2, rbm.Softmax), modelfile.About{Data: "t.csv", ClassNames: []string{"k", "l"}, Weights: "w"})
	got := rbmeval.Call("-model", "m.safetensors", "-classify", "-rows", "rows.csv")
	out := got.Stdout
	if got.Status != 0 || !strings.Contains(got.Stderr, "2 of 4 rows have weight 0 and are left out") {
		t.Fatalf("exits with %d: %s", got.Status, got.Stderr)
	}
	if !strings.Contains(out, "t.csv: 2 rows (binary); means are weighted, of sum 4, as precise as 1.6 equal rows\n") {
		t.Errorf("prints %s, want %q in it", out, "t.csv: 2 rows (binary); means are weighted, of sum 4, as precise as 1.6 equal rows\n")
	}
	lines, err := csv.NewReader(strings.NewReader(clitest.Read(t, "rows.csv"))).ReadAll()
	if err != nil || len(lines) != 3 || lines[1][0] != "1" || lines[2][0] != "3" {
		t.Fatalf("%v: %v", lines, err)
	}
	wrong := 0.0 // weight that is classified wrongly
	for i, w := range []float64{3, 1} {
		label, predicted := slices.Index(lines[0], "label"), slices.Index(lines[0], "predicted")
		if lines[i+1][label] != lines[i+1][predicted] {
			wrong += w / 4
		}
	}
	if want := fmt.Sprintf("%.3f %% of 2 rows", 100*wrong); !strings.Contains(out, want) {
		t.Errorf("no %q in %s", want, out)
	}
}

// Other rows are read without the columns that were left out of the training rows, whether they have
// these columns or not. A message names other columns that the model lacks, and the training weights
// if they are not used.
func TestColumnsNotUsed(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "t.csv", "id,a,b,w\n5,x,k,1\n3,y,l,2\n4,y,k,1\n")
	clitest.Write(t, "bare.csv", "b,a\nk,x\nl,y\n")
	set, _, err := data.Load(t.Context(), "t.csv", data.Options{Weights: "w", Ignore: "id"})
	if err != nil {
		t.Fatal(err)
	}
	clitest.Save(t, "m.safetensors", clitest.Model(2, 3, 0, rbm.Bernoulli), modelfile.About{Data: "t.csv", Schema: set.Schema.Text(), Weights: "w", Ignore: "id"})
	const lacks = "t.csv: columns that the model lacks are not used: "
	for _, c := range []struct{ args, want string }{
		{"", ""},
		{"-data bare.csv", ""},
		{"-data t.csv -weights w", ""},
		{"-data t.csv", lacks + "w; the model's training rows were weighted by -weights w\n"},
		{"-data t.csv -ignore w", lacks + "id\n"},
	} {
		got := rbmeval.Call(append([]string{"-model", "m.safetensors"}, strings.Fields(c.args)...)...)
		if got.Status != 0 || !strings.Contains(got.Stderr, c.want) || c.want == "" && strings.Contains(got.Stderr, "lacks") {
			t.Errorf("%s: exits with %d: %s", c.args, got.Status, got.Stderr)
		}
	}
	rbmeval.Fails(t, 2, []string{"-model", "m.safetensors", "-data", "t.csv", "-ignore", "ib"}, `has no column "ib" to ignore; its first line is`)
}

// A row without a label has the values that sum over the labels: −F, p(y|x), and log p of each cell
// given the other known inputs. A table without the label column gives the same numbers.
func TestGapsWithoutLabels(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "t.csv", "a,b,c,label\nx,x,p,k\ny,y,q,l\nz,z,p,\nx,,,?\n,y,q,\n")
	clitest.Write(t, "bare.csv", "a,b,c\nx,x,p\ny,y,q\nz,z,p\nx,,\n,y,q\n")
	clitest.Write(t, "k.csv", "a,b,c,label\nx,x,p,k\ny,y,q,k\nz,z,p,k\nx,,,k\n,y,q,k\n")
	clitest.Write(t, "l.csv", "a,b,c,label\nx,x,p,l\ny,y,q,l\nz,z,p,l\nx,,,l\n,y,q,l\n")
	set, _, err := data.Load(context.Background(), "t.csv", data.Options{Unlabelled: true, NoLabel: "?"})
	if err != nil {
		t.Fatal(err)
	}
	m := train.NewModel(set, 4, true, rbm.Softmax, 1)
	m.Randomize(2, rbm.NewKey(2))
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: "t.csv", Schema: set.Schema.Text(), ClassNames: set.Classes, Unlabelled: "?"})
	table := func(file string) func(row int, name string) float64 {
		if got := rbmeval.Call("-model", "m.safetensors", "-data", file, "-rows", file+".rows", "-cells", "-quiet"); got.Status != 0 {
			t.Fatalf("%s: exits with %d: %s, want 0", file, got.Status, got.Stderr)
		}
		lines, err := csv.NewReader(strings.NewReader(clitest.Read(t, file+".rows"))).ReadAll()
		if err != nil || len(lines) != 6 {
			t.Fatalf("%v: %v, want 6 of them", lines, err)
		}
		return func(row int, name string) float64 {
			x, err := strconv.ParseFloat(lines[row+1][slices.Index(lines[0], name)], 64)
			if err != nil {
				return math.NaN()
			}
			return x
		}
	}
	clitest.Write(t, "mid.csv", "a,label,b,c\nx,k,x,p\ny,l,y,q\nz,,z,p\nx,?,,\n,,y,q\n")
	own, bare, k, l := table("t.csv"), table("bare.csv"), table("k.csv"), table("l.csv")
	if table("mid.csv"); clitest.Read(t, "mid.csv.rows") != clitest.Read(t, "t.csv.rows") {
		t.Error("labels in another column than the last make a difference")
	}
	near := func(what string, row int, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-6) {
			t.Errorf("row %d: %s is %v, want %v", row, what, got, want)
		}
	}
	for row := 2; row < 5; row++ {
		fk, fl := k(row, "free_energy"), l(row, "free_energy")
		sum := rbm.LogSumExp([]float64{-fk, -fl})
		near("free energy", row, own(row, "free_energy"), -sum)
		near("p_k", row, own(row, "p_k"), math.Exp(-fk-sum))
		for _, name := range []string{"log_p(a)", "log_p(b)", "log_p(c)"} {
			// p(cell | rest) = Σ_y p(cell, rest, y) / Σ_y p(rest, y), and p(rest, y) is p(cell, rest, y) / p(cell | rest, y).
			if math.IsNaN(k(row, name)) {
				if !math.IsNaN(own(row, name)) {
					t.Errorf("row %d: a missing cell has a number", row)
				}
				continue
			}
			rest := rbm.LogSumExp([]float64{-fk - k(row, name), -fl - l(row, name)})
			near(name, row, own(row, name), sum-rest)
		}
	}
	for row := range 5 {
		for _, name := range []string{"free_energy", "p_k", "log_p(c)"} {
			if x := own(row, name); row > 1 && !math.IsNaN(x) {
				near(name+" without labels", row, bare(row, name), x)
			}
		}
	}
}
