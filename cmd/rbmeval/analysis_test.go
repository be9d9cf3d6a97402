package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/potts"
	"gorbm/train"
)

// touchingModel writes a FASTA file of RNA sequences of 12 sites. It returns a model in which hidden
// units, two for each pair, couple sites 1 and 12, and 2 and 11, to have the same letter.
func touchingModel(t *testing.T) *rbm.RBM {
	t.Helper()
	var b strings.Builder
	key := rbm.NewKey(4)
	for r := range 40 {
		fmt.Fprintf(&b, ">%d\n", r)
		for i := range 12 {
			b.WriteByte("-ACGU"[int(5*key.Uniform(uint64(12*r+i)))])
		}
		b.WriteByte('\n')
	}
	clitest.Write(t, "t.fasta", b.String())
	set, _, err := data.Load(context.Background(), "t.fasta:alphabet=rna", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := train.NewModel(set, 5, false, rbm.Softmax, 1)
	w := rbm.NewMatrix(m.Visible(), m.Hidden())
	for j, sites := range [][2]int{{0, 11}, {0, 11}, {1, 10}, {1, 10}, {5, 7}} { // the last pair is too close to be a contact
		for _, site := range sites {
			for c := range 4 {
				w.Row(5*site + 1 + c)[j] = []float32{2, -2, 1, -1}[(c+2*j)%4]
			}
		}
	}
	m.SetWeights(w)
	clear(m.HiddenBias)
	clitest.Save(t, "m.safetensors", m, modelfile.About{Data: "t.fasta:alphabet=rna", Schema: set.Schema.Text()})
	return m
}

func linesOf(t *testing.T, path string) [][]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(clitest.Read(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// -contacts finds the two contacts of the model, computes the precision from a file of distances and
// writes all files.
func TestAnalysis(t *testing.T) {
	clitest.Isolate(t)
	m := touchingModel(t)
	clitest.Write(t, "s.fasta", clitest.Read(t, "t.fasta"))
	var distances strings.Builder
	for i := 1; i <= 12; i++ {
		for j := i + 1; j <= 12; j++ {
			d := 20
			switch {
			case i+j == 13: // three of these contacts are missing from the model
				d = 7
			case i == 2 && j == 9:
				continue // distance unknown
			}
			fmt.Fprintln(&distances, i, j, d)
		}
	}
	clitest.Write(t, "d.txt", distances.String())
	p, err := potts.Effective(context.Background(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create("p.dat")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(f, "-ACGU"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	args := []string{"-model", "m.safetensors", "-samples", "s.fasta", "-exact", "-distances", "d.txt", "-potts", "p.dat"}
	out := rbmeval.OK(t, append(args, "-analysis", "text")...)
	for _, want := range []string{
		"frequencies: Pearson 1.0000, slope 1.0000", "\n  training rows            -test FILE compares them with test rows", "\n  per site ", "(of uniform letters -1.6094)",
		"contacts predicted         1–12, 2–11, ", "\n  precision                1.000 of 1 (L/10), 1.000 of 2 (L/5), ", " of 6 (L/2; at most 0.667), ", " of 12 (L; at most 0.333); 4 of the pairs",
		"; 4 of the pairs at 4 sites or more are in contact (d.txt)", "model of p.dat             Pearson of couplings 1.0000, of scores 1.0000, of log weights with −F ",
		"written: contacts.csv, contacts.png, logo.png, pca.csv, pca.png, statistics.png in text\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("prints %s\nwithout %q", out, want)
		}
	}
	var got struct {
		Site     float64 `json:"log_likelihood_per_site"`
		Mean     float64 `json:"mean_log_likelihood"`
		Analysis string
		Contacts struct {
			Top       [][2]int
			Known     string
			Threshold float64
			Contacts  int
			Precision []precision
			Pairwise  float64 `json:"pairwise_pearson"`
		}
		Potts comparison
	}
	if err := json.Unmarshal([]byte(rbmeval.OK(t, append(args, "-analysis", "json", "-json", "-contact-distance", "7.5")...)), &got); err != nil {
		t.Fatal(err)
	}
	logZ, err := exact.LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := data.Load(context.Background(), "t.fasta:alphabet=rna", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	free := make([]float64, set.Len())
	m.FreeEnergy(free, set.X)
	mean := 0.0
	for _, x := range free {
		mean -= x / float64(len(free))
	}
	if math.Abs(got.Mean-(mean-logZ)) > 1e-9 || math.Abs(got.Site-got.Mean/12) > 1e-12 {
		t.Errorf("log-likelihood %v, per site %v, want %v", got.Mean, got.Site, mean-logZ)
	}
	c := got.Contacts
	if len(c.Top) != 12 || c.Top[0] != [2]int{1, 12} || c.Top[1] != [2]int{2, 11} || c.Contacts != 4 || c.Threshold != 7.5 || c.Known != "d.txt" || got.Analysis != "json" {
		t.Errorf("contacts %+v", c)
	}
	if len(c.Precision) != 4 || c.Precision[3].N != 12 || !slices.Equal(c.Precision, got.Potts.Precision) || c.Pairwise < 0.99 || got.Potts.CouplingsPearson < 1-1e-9 {
		t.Errorf("precision %+v, Pearson %v; of the Potts model %+v", c.Precision, c.Pairwise, got.Potts)
	}
	lines := linesOf(t, "text/contacts.csv")
	if !slices.Equal(lines[0], []string{"i", "j", "score", "norm", "contact", "distance"}) || len(lines) != 1+36 || lines[1][0] != "1" || lines[1][1] != "12" || lines[1][4] != "1" || lines[1][5] != "7" {
		t.Errorf("contacts.csv: %v", lines[:3])
	}
	for _, line := range lines[1:] {
		if line[0] == "2" && line[1] == "9" && (line[4] != "" || line[5] != "") {
			t.Errorf("the pair of unknown distance is %v", line)
		}
		if i, _ := strconv.Atoi(line[0]); line[1] < "1" || i > 8 {
			t.Errorf("pair %v is nearer than %d", line, contactApart)
		}
	}
	if lines := linesOf(t, "text/pca.csv"); len(lines) != 1+80 || lines[41][0] != "samples" || !slices.Equal(lines[1][2:], lines[41][2:]) {
		t.Errorf("pca.csv: %d lines; the rows and the same rows as samples are at %v and %v", len(lines), lines[1], lines[41])
	}
	for _, name := range []string{"contacts.png", "logo.png", "pca.png", "statistics.png"} {
		f, err := os.Open(filepath.Join("text", name))
		if err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(f); err != nil || img.Bounds().Dx() < 600 {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
}

// Without distances or samples the output is shorter. Components and statistics work for a table.
// Impossible requests are refused.
func TestAnalysisOfLess(t *testing.T) {
	clitest.Isolate(t)
	touchingModel(t)
	out := rbmeval.OK(t, "-model", "m.safetensors", "-analysis", "a", "-logo-units", "4, 0")
	if strings.Contains(out, "precision") || strings.Contains(out, "log Z") || !strings.Contains(out, "written: contacts.csv, contacts.png, logo.png, pca.csv, pca.png in a\n") {
		t.Errorf("prints %s", out)
	}
	if got := linesOf(t, "a/contacts.csv")[0]; len(got) != 4 {
		t.Errorf("contacts.csv has the columns %v, want 4 of them", got)
	}
	base := []string{"-model", "m.safetensors", "-analysis", "b"}
	clitest.Write(t, "near.txt", "1 12 3\n")
	clitest.Write(t, "bad.txt", "1 13 3\n")
	clitest.Write(t, "bad.dat", "h 0 Z 1\n")
	for _, c := range []struct {
		exit int
		args []string
		want string
	}{
		{1, []string{"-distances", "near.txt"}, "no pair of near.txt is 8 Å apart or more; list the distances of all pairs"},
		{1, []string{"-distances", "bad.txt"}, "bad.txt:1: sites 1 and 13; write two different sites from 1 to 12"},
		{1, []string{"-distances", "none.txt"}, "none.txt"},
		{1, []string{"-potts", "bad.dat"}, `bad.dat:1: state "Z"; it is a letter of -ACGU, or a number from 0 to 4`},
		{2, []string{"-logo-units", "5"}, `-logo-units: "5"; the model has the hidden units 0 to 4`},
		{2, []string{"-contact-distance", "0", "-distances", "near.txt"}, "-contact-distance"},
		{2, []string{"-contact-distance", "6"}, "-contact-distance"},
	} {
		rbmeval.Fails(t, c.exit, append(base, c.args...), c.want)
	}
	rbmeval.Fails(t, 2, []string{"-model", "m.safetensors", "-distances", "d.txt"}, "-analysis")
	if _, err := os.Stat("b"); err == nil {
		t.Error("a refused analysis leaves its folder")
	}

	clitest.Write(t, "t.csv", "a,b,c\nx,u,1\ny,v,2\nz,u,1\nx,v,1\n")
	table, _, err := data.Load(context.Background(), "t.csv", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	clitest.Save(t, "t.safetensors", train.NewModel(table, 3, false, rbm.Softmax, 1), modelfile.About{Data: "t.csv", Schema: table.Schema.Text()})
	if out := rbmeval.OK(t, "-model", "t.safetensors", "-samples", "t.csv", "-analysis", "table"); !strings.Contains(out, "written: pca.csv, pca.png, statistics.png in table\n") {
		t.Errorf("of a table: %s, want %q in it", out, "written: pca.csv, pca.png, statistics.png in table\n")
	}
	rbmeval.Fails(t, 2, []string{"-model", "t.safetensors", "-distances", "d.txt", "-analysis", "c"}, "-distances is for models of sequences; t.csv is a table")
	clitest.Write(t, "gaps.csv", "a,b,c\nx,,1\ny,v,2\n")
	rbmeval.Fails(t, 2, []string{"-model", "t.safetensors", "-data", "gaps.csv", "-analysis", "c", "-quiet"}, "fill them by rbmsample -fill")
	clitest.Save(t, "bits.safetensors", rbm.New(8, 2, 0, rbm.Softmax), modelfile.About{Data: clitest.Toy})
	rbmeval.Fails(t, 2, []string{"-model", "bits.safetensors", "-analysis", "c"}, "-analysis is for models of sequences and tables")
}

// Logos show weights in the zero-sum gauge, whatever the gauge of the model.
func TestSiteWeights(t *testing.T) {
	two := rbm.Group{Kind: rbm.Softmax, Units: 2}
	m := rbm.NewGroups(2, two, two)
	w := rbm.NewMatrix(4, 2)
	for i, x := range []float32{5, 3, -1, 0} { // hidden unit 1
		w.Row(i)[1] = x
	}
	m.SetWeights(w)
	got, norm := siteWeights(m, 1)
	want := [][]float64{{1, -1}, {-0.5, 0.5}}
	if !slices.EqualFunc(got, want, slices.Equal) || math.Abs(norm-math.Sqrt(2.5)) > 1e-15 {
		t.Errorf("weights %v of norm %v, want %v", got, norm, want)
	}
}
