package main

import (
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
)

// logWeight returns the logarithm of the sum of exp(−E(v,h)) over all hidden states of m, where v has
// one RNA letter at each site.
func logWeight(m *rbm.RBM, letters string) float64 {
	var terms []float64
	for h := range 1 << m.Hidden() {
		x := 0.0
		for j := range m.Hidden() {
			if h>>j&1 == 1 {
				x += float64(m.HiddenBias[j])
			}
		}
		for i, c := range letters {
			unit := 5*i + strings.IndexRune("-ACGU", c)
			x += float64(m.VisibleBias[unit])
			for j := range m.Hidden() {
				if h>>j&1 == 1 {
					x += float64(m.Weight(unit, j))
				}
			}
		}
		terms = append(terms, x)
	}
	return rbm.LogSumExp(terms)
}

// Scores of mutants agree with a sum over all hidden states, for each notation and numbering of the
// wild type. They differ from the scores by a wrong numbering, by visible biases alone and by the sum
// of single mutations.
func TestMutants(t *testing.T) {
	clitest.Isolate(t)
	m := touchingModel(t)
	const wild = "ACGUAC-UACGU" // with the insertions in wild.fasta: letters 1 to 14, of which 4 and 9 are insertions
	clitest.Write(t, "wild.fasta", ">other\nAAAAAAAAAAAA\n>w/5-17 of a family\nACGuUAC-.UaACGU\n")
	clitest.Write(t, "w.fasta", ">w/5-17\nACGuUAC-.UaACGU\n")
	change := func(letters string, site int, to byte) string { return letters[:site] + string(to) + letters[site+1:] }
	want := func(letters string) float64 { return logWeight(m, letters) - logWeight(m, wild) }
	score := func(file string, row int, column string) float64 {
		lines := linesOf(t, file)
		x, err := strconv.ParseFloat(lines[row+1][slices.Index(lines[0], column)], 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	// The wild type is given by the name of a sequence in the file of the rows, and by a file. The range
	// 5-17 in the name covers its thirteen letters.
	clitest.Write(t, "list.csv", ",mutant,sequence,score\n0,A5U,x,1\n1,U9A:A10G,y,3\n2,\"A5U,U17A\",z,2\n3,wt,x,\n")
	for k, args := range [][]string{{"-data", "wild.fasta", "-wildtype", "w/5-17"}, {"-wildtype", "w.fasta"}} {
		out := fmt.Sprintf("%d.csv", k)
		text := rbmeval.OK(t, append([]string{"-model", "m.safetensors", "-mutants", "list.csv", "-out", out, "-quiet"}, args...)...)
		for _, part := range []string{"letters numbered 5 to 17; 2 insertions have a number and no site; 1 gap has no number\n", "  with score  ", "(3 mutants)", "mutants written to " + out} {
			if !strings.Contains(text, part) {
				t.Errorf("no %q in %s", part, text)
			}
		}
		first, second, third := change(wild, 0, 'U'), change(change(wild, 3, 'A'), 4, 'G'), change(change(wild, 0, 'U'), 11, 'A')
		for r, letters := range []string{first, second, third, wild} {
			if got := score(out, r, "score"); math.Abs(got-want(letters)) > 1e-7 {
				t.Errorf("%v: row %d has score %v, want %v", args, r, got, want(letters))
			}
		}
		apart := func(what string, x, y float64) {
			if math.Abs(x-y) < 0.01 {
				t.Errorf("%s gives %v, as is right", what, y)
			}
		}
		sum := want(change(wild, 0, 'U')) + want(change(wild, 11, 'A'))
		if got := score(out, 2, "sum_of_singles"); math.Abs(got-sum) > 1e-7 {
			t.Errorf("the sum of single mutations is %v, want %v", got, sum)
		}
		apart("a sum of single mutations", score(out, 2, "score"), score(out, 2, "sum_of_singles"))
		apart("a count without insertions", score(out, 1, "score"), want(change(change(wild, 4, 'A'), 5, 'G')))
		bias := 0.0
		for i, c := range first {
			bias += float64(m.VisibleBias[5*i+strings.IndexRune("-ACGU", c)] - m.VisibleBias[5*i+strings.IndexByte("-ACGU", wild[i])])
		}
		apart("a score of visible biases", score(out, 0, "score"), bias)
		if lines := linesOf(t, out); strings.Join(lines[0], ",") != "mutant,sites,score,sum_of_singles,measured_score" || lines[2][1] != "4:5" || lines[2][4] != "3" || lines[4][4] != "" {
			t.Errorf("lines %v", lines)
		}
	}
	// The same mutants in plain lines, counted from 1, and as whole sequences.
	clitest.Write(t, "list.txt", "A1U\nU5A,A6G\nA1U:U13A\nWT\n")
	whole := ""
	for k, letters := range []string{change(wild, 0, 'U'), change(change(wild, 3, 'A'), 4, 'G'), change(change(wild, 0, 'U'), 11, 'A'), wild} {
		whole += fmt.Sprintf(">m%d of four\n%sa.\n", k, letters)
	}
	clitest.Write(t, "whole.fa", whole)
	rbmeval.OK(t, "-model", "m.safetensors", "-mutants", "list.txt", "-wildtype", "w.fasta", "-first-position", "1", "-out", "2.csv")
	rbmeval.OK(t, "-model", "m.safetensors", "-mutants", "whole.fa", "-wildtype", "w.fasta", "-out", "3.csv")
	for r := range 4 {
		for _, file := range []string{"2.csv", "3.csv"} {
			if got, want := score(file, r, "score"), score("0.csv", r, "score"); got != want {
				t.Errorf("%s: row %d has score %v, want %v", file, r, got, want)
			}
		}
	}
	if lines := linesOf(t, "3.csv"); lines[2][0] != "m1" || lines[2][1] != "4:5" {
		t.Errorf("a whole mutant has the line %v", lines[2])
	}
}

// All single mutations of the first sequence of the rows, as a table and as a picture.
func TestAllMutants(t *testing.T) {
	clitest.Isolate(t)
	m := touchingModel(t)
	var first string
	for line := range strings.Lines(clitest.Read(t, "t.fasta")) {
		if !strings.HasPrefix(line, ">") {
			first = strings.TrimSpace(line)
			break
		}
	}
	rbmeval.OK(t, "-model", "m.safetensors", "-mutants", "all", "-out", "all")
	lines, n := linesOf(t, "all/mutants.csv"), 0
	for i, number := 0, 0; i < len(first); i++ {
		if first[i] == '-' {
			continue
		}
		number++
		for _, c := range "ACGU" {
			if byte(c) == first[i] {
				continue
			}
			n++
			got, err := strconv.ParseFloat(lines[n][2], 64)
			want := logWeight(m, first[:i]+string(c)+first[i+1:]) - logWeight(m, first)
			if name := fmt.Sprintf("%c%d%c", first[i], number, c); lines[n][0] != name || lines[n][1] != fmt.Sprint(i+1) || err != nil || math.Abs(got-want) > 1e-7 {
				t.Errorf("line %v, want %s at site %d with %v", lines[n], name, i+1, want)
			}
		}
	}
	if len(lines) != n+1 {
		t.Errorf("%d mutants, want %d", len(lines)-1, n)
	}
	f, err := os.Open("all/mutants.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := png.Decode(f); err != nil {
		t.Error(err)
	}
	var rec struct {
		Mutants struct {
			N      int
			Scores []struct {
				Mutant string
				Score  float64
			}
		}
		WildType struct {
			Name string
			Last int `json:"last_position"`
		} `json:"wild_type"`
	}
	if err := json.Unmarshal([]byte(rbmeval.OK(t, "-model", "m.safetensors", "-mutants", "all", "-json")), &rec); err != nil {
		t.Fatal(err)
	}
	if got := rec.Mutants.Scores[n-1]; rec.Mutants.N != n || got.Mutant != lines[n][0] || strconv.FormatFloat(got.Score, 'g', 9, 64) != lines[n][2] || rec.WildType.Name != "0" || rec.WildType.Last != len(first)-strings.Count(first, "-") {
		t.Errorf("-json has %d mutants, the last %v, of %v", rec.Mutants.N, got, rec.WildType)
	}
}

// For every fault in a list of mutants there is an error message with the line and a remedy.
func TestBadMutants(t *testing.T) {
	clitest.Isolate(t)
	touchingModel(t)
	clitest.Write(t, "w.fasta", ">w\nACGUaACGUACGU\n")
	clitest.Write(t, "short.fasta", ">w\nACGU\n")
	clitest.Write(t, "odd.fasta", ">w\nACGUACGUACGX\n")
	for _, c := range []struct {
		list, want string
		args       []string
	}{
		{"A1C\nC1A\n", `list.csv: row 2 of the mutants, "C1A": the wild type w has A at position 1, counted from 1; -wildtype chooses the sequence`, nil},
		{"mutant,y\nA1C,2\nU14A,1\n", `row 2 of the mutants, "U14A": there is no position 14 in the wild type w, whose letters are numbered 1 to 13`, nil},
		{"A0C\n", `there is no position 0 in the wild type`, nil},
		{"A99999999999999999999C\n", `there is no position 99999999999999999999 in the wild type`, nil},
		{"A5C\n", `position 5 of the wild type w is an insertion, which is no site of the model`, nil},
		{"A1X\n", `"X" is no letter of the alphabet -ACGU`, nil},
		{"A1é\n", `"é" is no letter of the alphabet -ACGU`, nil},
		{"A1C:A1G\n", `position 1 occurs twice`, nil},
		{"A1C\n1C\n", `row 2 of the mutants, "1C": "1C" is no mutation such as A23G; several are joined by : or by commas, and files of whole sequences end in .fasta`, nil},
		{"mutant\nA1C\n\" \"\n", `row 2 of the mutants, " ": the mutant is missing; write one such as A23G, or WT`, nil},
		{"mutant\n", `list.csv has no mutants; write one per line`, nil},
		{"", `list.csv has no mutants; write one per line`, nil},
		{"mutant,y\nA1C\n", `row 1 of the mutants, "A1C": 1 fields where the first line has 2`, nil},
		{"mutant,y,z\nA1C,1,q\n", `-measured: list.csv has no column "x"; its other columns are y, z`, []string{"-measured", "x"}},
		{"mutant,y,z\nA1C,1,q\n", `row 1 of the mutants, "A1C": z is "q", which is no number`, []string{"-measured", "z"}},
		{"A1C\n", `-wildtype: there is no file absent, and no sequence of w.fasta has this name`, []string{"-data", "w.fasta", "-wildtype", "absent"}},
		{"A1C\n", `wild type w of short.fasta: 4 sites where the model has 12; align it as the family is`, []string{"-wildtype", "short.fasta"}},
		{"A1C\n", `wild type w of odd.fasta: letter 12 is "X", which is not of the alphabet -ACGU`, []string{"-wildtype", "odd.fasta"}},
		{"mutant,y,z\nA1C,q,1\nA1G,q,inf\n", `row 2 of the mutants, "A1G": z is "inf", which is not finite; leave it empty`, nil},
		{"mutant,y,z\nA1C,q,1\nA1G,q,-Inf\n", `row 2 of the mutants, "A1G": z is "-Inf", which is not finite; leave it empty`, []string{"-measured", "z"}},
		{"A1C\n", `-out: the picture x.png needs 2 mutants with measured effects, and list.csv has 0; name a .csv`, []string{"-out", "x.png"}},
		{"mutant,y\nA1C,2\nA1G,\n", `-out: the picture x.png needs 2 mutants with measured effects, and list.csv has 1; name a .csv`, []string{"-out", "x.png"}},
		{"A1C\n", `-out is "x.jpg"; a file ends in .csv, .png, .svg, .pdf, and a folder has no ending`, []string{"-out", "x.jpg"}},
		{"A1C\n", `absent.csv`, []string{"-mutants", "absent.csv"}},
		{"A1C\n", `odd.fasta:1: sequence 1, "w": letter 12 is "X"`, []string{"-mutants", "odd.fasta"}},
		{"A1C\n", `-measured names a column of the file of -mutants, which is all`, []string{"-mutants", "all", "-measured", "x"}},
	} {
		clitest.Write(t, "list.csv", c.list)
		got := rbmeval.Call(append([]string{"-model", "m.safetensors", "-mutants", "list.csv", "-wildtype", "w.fasta", "-quiet"}, c.args...)...)
		if got.Status == 0 || strings.Count(got.Stderr, "\n") != 1 || !strings.Contains(got.Stderr, c.want) {
			t.Errorf("%q %v: exits with %d: %s\nwant %s", c.list, c.args, got.Status, got.Stderr, c.want)
		}
	}
	rbmeval.Fails(t, 2, []string{"-model", "m.safetensors", "-out", "x.csv"}, "-out is for -run and -mutants, and neither is given")
	rbmeval.Fails(t, 2, []string{"-model", "m.safetensors", "-first-position", "3"}, "-first-position is for -mutants, which is not given")
}

// Equal values have the mean of their ranks, so a list with constant values has no rank correlation,
// and the correlation with the reversed list is −1.
func TestRankings(t *testing.T) {
	if got, want := rankings([]float64{3, 1, 3, -2, 3}), []float64{4, 2, 4, 1, 4}; !slices.Equal(got, want) {
		t.Errorf("ranks %v, want %v", got, want)
	}
	u := mutants{all: []mutant{{score: 1, effect: -1}, {score: 5, effect: -70}, {score: 2, effect: math.NaN()}, {score: 3, effect: -2}}}
	if c := u.correlate(func(m mutant) float64 { return m.effect }); c.N != 3 || c.Spearman != -1 {
		t.Errorf("%d, %v", c.N, c.Spearman)
	}
	if c := u.correlate(func(m mutant) float64 { return 7 }); !math.IsNaN(c.Spearman) {
		t.Errorf("equal values have the correlation %v", c.Spearman)
	}
}

// Rows of a sequence file are listed with their names. Rows of weight 0 are left out.
func TestSequenceNames(t *testing.T) {
	clitest.Isolate(t)
	m := touchingModel(t)
	clitest.Write(t, "r.fasta", ">sp|P1|A a protein\nACGUACGUACGU\n>b\nAAAAAAAAAAAA\n>c/1-12\nCCCCCCCCCCCC\n")
	clitest.Write(t, "w.txt", "1\n0\n2\n")
	rbmeval.OK(t, "-model", "m.safetensors", "-data", "r.fasta", "-weights", "w.txt", "-rows", "rows.csv", "-quiet")
	lines := linesOf(t, "rows.csv")
	if len(lines) != 3 || strings.Join(lines[0][:3], " ") != "name row free_energy" || strings.Join(lines[1][:2], " ") != "sp|P1|A 0" || strings.Join(lines[2][:2], " ") != "c/1-12 2" {
		t.Fatalf("%v", lines)
	}
	for r, letters := range []string{"ACGUACGUACGU", "CCCCCCCCCCCC"} {
		if f, err := strconv.ParseFloat(lines[r+1][2], 64); err != nil || math.Abs(f+logWeight(m, letters)) > 1e-7 {
			t.Errorf("row %d: free energy %v, want %v", r, f, -logWeight(m, letters))
		}
	}
}
