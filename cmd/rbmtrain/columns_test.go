package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/negphase/diag"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/train/report"
	"gorbm/train/rundir"
)

// Frequencies of levels use the weights of rows, and skip missing cells. For samples they use the means
// of units. Real values are counted in bins.
func TestFrequencies(t *testing.T) {
	near := func(got, want []float64) bool {
		for k := range want {
			if math.Abs(got[k]-want[k]) > 1e-6 {
				return false
			}
		}
		return len(got) == len(want)
	}
	schema := &data.Schema{Columns: []data.Column{{Name: "a", Levels: []string{"no", "yes"}, Bit: true}, {Name: "b", Levels: []string{"x", "y", "z"}}}}
	set := &data.Set{X: rbm.NewBits(3, 4), Schema: schema, Groups: schema.Groups(), Weights: []float64{1, 2, 1}, Missing: rbm.NewBits(3, 4)}
	for r, levels := range [][]int32{{0, 0}, {1, 1}, {1, 2}} {
		schema.Put(set.X, r, levels)
	}
	set.Missing.Set(2, 0, true)
	vars := variablesOf(set)
	if got := setFrequencies(vars, set); !near(got[0], []float64{1. / 3, 2. / 3}) || !near(got[1], []float64{0.25, 0.5, 0.25}) {
		t.Errorf("the rows have %v", got)
	}
	means := rbm.NewMatrix(2, 4)
	copy(means.Data, []float32{0.5, 0.25, 0.25, 0.5, 1, 0.75, 0.25, 0})
	s := sample.Sheet{Means: means, Values: rbm.NewBits(2, 4)}
	if got := sheetFrequencies(vars, s); !near(got[0], []float64{0.25, 0.75}) || !near(got[1], []float64{0.5, 0.25, 0.25}) {
		t.Errorf("the samples have %v", got)
	}

	real := &data.Set{X: rbm.NewBits(4, 1), Grey: rbm.NewMatrix(4, 1), Means: []float64{10}, Deviations: []float64{2}, Columns: []string{"size"}}
	copy(real.Grey.Data, []float32{-9, -1.5, 0.2, 3})
	vars = variablesOf(real)
	if got := setFrequencies(vars, real); !near(got[0], []float64{0.25, 0.25, 0, 0, 0.25, 0, 0, 0.25}) {
		t.Errorf("real values have %v", got)
	}
	if l := vars[0].levels; vars[0].name != "size" || l[0] != "below 7" || l[1] != "7 to 8" || l[7] != "above 13" {
		t.Errorf("the bins are %q", l)
	}
}

// If there is a warning, the note on the samples in the report says so.
func TestDoubtedBars(t *testing.T) {
	set := &data.Set{X: rbm.NewBits(2, 1)}
	for _, doubted := range []bool{false, true} {
		r := &runner{plan: &plan{}, samples: samples{columns: true, mixed: true, verdict: "their chains have mixed",
			drawn: sample.Sheet{Means: rbm.NewMatrix(2, 1), Values: rbm.NewBits(2, 1)}}}
		r.plan.sets.Train = set
		if doubted {
			r.standing = []diag.Warning{{Kind: diag.Lagging}}
		}
		var page report.Report
		if err := r.addSamples(&page); err != nil {
			t.Fatal(err)
		}
		if note := page.Bars[0].Note; strings.Contains(note, "mixed, so they show the model of the warning") != doubted {
			t.Errorf("with a warning: %v; the note is %q", doubted, note)
		}
	}
}

// If there are very many columns, the bars show those that differ most. The longest bar of a column has the full width.
func TestSampleBars(t *testing.T) {
	const columns = 20_000
	set := &data.Set{X: rbm.NewBits(2, columns)}
	means := rbm.NewMatrix(2, columns)
	for i := range columns {
		set.X.Set(0, i, true) // half of the rows
		means.Row(0)[i], means.Row(1)[i] = 0.5, 0.5
	}
	means.Row(0)[777] = 1
	b := sampleBars(set, sample.Sheet{Means: means, Values: rbm.NewBits(2, columns)}, "their chains have mixed")
	if len(b.Panels) != columnsShown || b.Panels[0].Title != "column 778" || !strings.Contains(b.Note, "the 40 of 20000 columns that differ most") {
		t.Fatalf("%d panels, the first of %s: %s", len(b.Panels), b.Panels[0].Title, b.Note)
	}
	one := b.Panels[0].Bars[1]
	if one.Values[1] != 1 || math.Abs(one.Values[0]-0.5/0.75) > 1e-6 || one.Text != "50 / 75 %" {
		t.Errorf("the bars are %+v", one)
	}
}

// The report of a table has bars, that of sequences has letters, and neither has a picture. A report of 20000 columns
// takes less than 2 MB, and also if the rows are pictures.
func TestReportOfColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	clitest.Isolate(t)
	var table, wide strings.Builder
	table.WriteString("size,colour,label\n")
	for i := range 60 {
		fmt.Fprintf(&table, "%d,%s,%s\n", i, []string{"red", "green", "blue"}[i%3], []string{"a", "b"}[i%2])
	}
	for i := range 12 {
		for j := range 20_000 {
			fmt.Fprintf(&wide, "%d,", (i*i+j*j/7+i*j)/5%2)
		}
		fmt.Fprintf(&wide, "%d\n", i%2)
	}
	clitest.Write(t, "table.csv", table.String())
	clitest.Write(t, "wide.csv", wide.String())
	for name, c := range map[string]struct {
		args       string
		want, lack []string
	}{
		"table":     {"-data table.csv -hidden 4 -steps 50", []string{"Samples of the model, column by column", `<p class="name">colour</p>`, ">green</span>", `<p class="name">label</p>`, "Weights of hidden units"}, []string{"<img", "samples.png"}},
		"sequences": {"-data sequences -hidden 4 -steps 20 -metrics none", []string{"Letters at sites", "site 1 = "}, []string{"<img"}},
		"wide":      {"-data wide.csv -label-column last -hidden 6 -steps 20 -metrics classification -holdout 2", []string{"40 of 20000 columns"}, []string{"<img"}},
		"pictures":  {"-data wide.csv -label-column last -hidden 6 -steps 20 -metrics classification -shape 100x200", []string{"<img"}, nil},
	} {
		rbmtrain.OK(t, append(strings.Fields(c.args), "-negphase", "pcd", "-quiet", "-out", name)...)
		page := clitest.Read(t, filepath.Join(name, rundir.ReportFile))
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the report lacks %q", name, want)
			}
		}
		for _, lack := range c.lack {
			if strings.Contains(page, lack) {
				t.Errorf("%s: the report has %q", name, lack)
			}
		}
		if len(page) > 2<<20 {
			t.Errorf("%s: the report has %d bytes, want at most %d", name, len(page), 2<<20)
		}
		if _, err := os.Stat(filepath.Join(name, rundir.SamplesFile)); (err == nil) != (c.lack == nil) {
			t.Errorf("%s: samples.png: %v", name, err)
		}
	}
}

// A model without labels of rows with labels that are not pictures ends with a normal report.
func TestSamplesOfRowsWhoseLabelsAreLeftOut(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "rows.csv", "a,b,label\n"+strings.Repeat("1.5,2.5,x\n2.5,0.25,y\n", 10))
	for i, args := range []string{"-labels none", "-hidden-units relu"} {
		out := fmt.Sprint("run", i)
		r := rbmtrain.Call(append(strings.Fields(args), "-data", "rows.csv", "-hidden", "2", "-steps", "100", "-out", out)...)
		page, err := os.ReadFile(filepath.Join(out, "report.html"))
		if r.Status != 0 || err != nil || !strings.Contains(string(page), "column by column") {
			t.Errorf("%s: status %d, report %v: %s", args, r.Status, err, r.Stderr)
		}
	}
}
