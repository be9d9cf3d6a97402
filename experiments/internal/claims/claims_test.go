package claims

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
)

// Differences of 1, 2 and 3 have the mean 2 and the standard error 1/√3: the ratio is
// 3.46. Repetitions that one side lacks do not count.
func TestLarger(t *testing.T) {
	a, b := Repeats{1: 11, 2: 22, 3: 33, 4: 5}, Repeats{3: 30, 2: 20, 1: 10, 7: 1}
	for _, c := range []struct {
		name  string
		claim Claim
		want  Verdict
		value float64
	}{
		{"larger", Larger("", a, b), Pass, 2 * math.Sqrt(3)},
		{"the other way", Larger("", b, a), Fail, -2 * math.Sqrt(3)},
		{"smaller", Smaller("", b, a), Pass, 2 * math.Sqrt(3)},
		{"alike", Alike("", a, b), Fail, 2 * math.Sqrt(3)},
		{"alike itself", Alike("", a, a), Pass, 0},
		{"not larger than itself", Larger("", a, a), Fail, 0},
		// Differences of 0.9, 2 and 3.1: the ratio is 2/(1.1/√3) = 3.15; with 0.8 and
		// 3.2 it is 2.89.
		{"just", Larger("", Repeats{1: 0.9, 2: 2, 3: 3.1}, Repeats{1: 0, 2: 0, 3: 0}), Pass, 2 * math.Sqrt(3) / 1.1},
		{"just not", Larger("", Repeats{1: 0.8, 2: 2, 3: 3.2}, Repeats{1: 0, 2: 0, 3: 0}), Fail, 2 * math.Sqrt(3) / 1.2},
		{"no spread", Larger("", Repeats{1: 1, 2: 2, 3: 3}, Repeats{1: 0, 2: 1, 3: 2}), Pass, math.Inf(1)},
		{"two pairs", Larger("", Repeats{1: 1, 2: 2}, Repeats{1: 0, 2: 0}), Open, 3},
		{"nothing", Alike("", nil, nil), Open, 0},
		{"holds", Holds("", true, 1, ""), Pass, 1},
		{"does not", Holds("", false, 1, ""), Fail, 1},
	} {
		if c.claim.Verdict != c.want || math.Abs(c.claim.Value-c.value) > 1e-12 {
			t.Errorf("%s: %s with %v, want %s with %v", c.name, c.claim.Verdict, c.claim.Value, c.want, c.value)
		}
	}
}

// Claims of ours do not count in the outcome of a figure. Claims in other units separate "holds" from "holds per step".
func TestWordOf(t *testing.T) {
	big, small := Repeats{1: 11, 2: 22, 3: 33}, Repeats{1: 10, 2: 20, 3: 30}
	pass, unsettled, contrary := Larger("", big, small), Larger("", small, small), Larger("", small, big)
	for _, c := range []struct {
		want   Word
		claims []Claim
	}{
		{Holding, []Claim{pass, contrary.Aside()}},
		{PerStep, []Claim{contrary.InOtherUnit(), pass}},
		{Unresolved, []Claim{pass, unsettled, contrary.InOtherUnit()}},
		{Contrary, []Claim{unsettled, contrary, pass}},
		{Contrary, []Claim{Alike("", big, small)}},
		{Contrary, []Claim{Holds("", false, 0, "")}},
		{Unresolved, []Claim{Holds("", false, 0, "").Unsettled()}},
		{Contrary, []Claim{NotLess("", small, big, Factor)}},
		{Unresolved, []Claim{Larger("", Repeats{1: 1}, Repeats{1: 2})}},
	} {
		if got := WordOf(c.claims); got != c.want {
			t.Errorf("got %q, want %q of %+v", got, c.want, c.claims)
		}
	}
}

// Not to be smaller passes unless the other is larger by three standard errors.
func TestNotLess(t *testing.T) {
	a := Repeats{1: 1, 2: 2, 3: 3}
	for _, c := range []struct {
		name string
		b    Repeats
		want Verdict
		says string
	}{
		// Differences of -0.1, 0.1 and 0: the standard error is 0.1/√3, and
		// exp(0.3/√3) = 1.19.
		{"alike", Repeats{1: 1.1, 2: 1.9, 3: 3}, Pass, "a factor of 1.2 is excluded"},
		{"smaller", Repeats{1: 0, 2: 0.9, 3: 2.1}, Pass, "a factor of 1 is excluded"},
		{"larger", Repeats{1: 2, 2: 3.1, 3: 3.9}, Fail, "below -3 is a loss"},
		{"too few", Repeats{1: 2, 2: 3.1}, Open, "over 2 repetitions"},
		{"one", Repeats{1: 2}, Open, "pairs of repetitions: 1, at least 3 needed"},
	} {
		if got := NotLess("", a, c.b, Factor); got.Verdict != c.want || !strings.Contains(got.Statistic, c.says) {
			t.Errorf("%s: %+v, want %s and %q", c.name, got, c.want, c.says)
		}
	}
}

// At x = 1 and 2 distances from the medians 5 and 10 are 1, 0, 1, 0, 1 and 7, 3, 0, 6, 8, at 2 twice as many. Other x do not
// count. The standard deviations differ by √(38.7/0.7) = 7.44 at both.
func TestSteadier(t *testing.T) {
	var table Table
	for x, factor := range map[float64]float64{1: 1, 2: 2} {
		for r, y := range []float64{4, 5, 6, 5, 6} {
			table.add("a"+string(rune('a'+r))+string(rune('0'+int(x))), []Point{{"p", "a", r + 1, x, factor * y}, {"p", "b", r + 1, x, factor * []float64{3, 7, 10, 16, 18}[r]}, {"p", "a", r + 1, 9, float64(r * r)}}, 0)
		}
	}
	_, want, _, ratio := paired(Repeats{1: 7, 2: 3, 3: 0, 4: 6, 5: 8}, Repeats{1: 1, 2: 0, 3: 1, 4: 0, 5: 1})
	c := Steadier("", &table, "p", "a", "b", 1, 2)
	if math.Abs(c.Value-ratio) > 1e-9 || math.Abs(c.Mean-1.5*want) > 1e-9 || (c.Verdict == Pass) != (ratio > 3) || !strings.HasPrefix(c.Statistic, "7.44 times the standard deviation, geometric mean over 2 steps;") {
		t.Errorf("%+v, want %v and %v", c, 1.5*want, ratio)
	}
	if c := Steadier("", &table, "p", "b", "a", 1, 2); c.Verdict != Fail || math.Abs(c.Value+ratio) > 1e-9 {
		t.Errorf("the other way: %+v", c)
	}
}

// With two repetitions a side, t = 3.5 has p = 0.07 by Student's distribution with 2 degrees of freedom, and
// t = 70 has p = 0.0002.
func TestDiffer(t *testing.T) {
	few, far := Repeats{1: 0, 2: 2}, Repeats{1: 5, 2: 7}
	if errs, yes := Differ(few, far); yes || math.Abs(errs-5/math.Sqrt2) > 1e-12 {
		t.Errorf("%g standard errors, %v", errs, yes)
	}
	if errs, yes := Differ(Repeats{1: 0, 2: 2}, Repeats{1: 99, 2: 101}); !yes || math.Abs(errs-99/math.Sqrt2) > 1e-12 {
		t.Errorf("%g standard errors, %v", errs, yes)
	}
	if _, yes := Differ(few, Repeats{1: 1e9}); yes {
		t.Error("one repetition is enough")
	}
}

func TestTable(t *testing.T) {
	var table Table
	table.add("one", []Point{{"p", "a", 1, 0, 1}, {"p", "a", 1, 2, 3}, {"q", "b", 1, 0, 7}}, 1.5)
	table.add("thirds", []Point{{"r", "a", 1, 1. / 3, 2. / 3}}, 0)
	table.add("two", []Point{{"p", "a", 2, 0, 5}, {"p", "a", 2, 2, 9}}, 2)
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := table.write(path); err != nil {
		t.Fatal(err)
	}
	// A job without its last line, the seconds, is left out.
	text := clitest.Read(t, path)
	clitest.Write(t, path, text+"three,p,a,3,0,100\n")
	read, err := readTable(path)
	if err != nil || read.has("three") || !read.has("one") || read.Seconds() != 3.5 {
		t.Fatalf("%+v, %v", read, err)
	}
	if !slices.Equal(slices.Collect(table.All), slices.Collect(read.All)) {
		t.Error("a file has other points than the table")
	}
	if m := read.Mean("p", "a", 1, 5); len(m) != 2 || m[1] != 3 || m[2] != 9 {
		t.Errorf("means %v", m)
	}
	if m := read.Mean("p", "a", 0, 5); m[1] != 2 || m[2] != 7 {
		t.Errorf("means of all %v", m)
	}
	if l := read.Last("p", "a"); l[1] != 3 || l[2] != 9 || read.Last("p", "none") != nil {
		t.Errorf("last %v", l)
	}
	if mean, sd := read.At("p", "a", 0).Average(); mean != 3 || math.Abs(sd-math.Sqrt(8)) > 1e-15 {
		t.Errorf("%v ± %v", mean, sd)
	}
	for _, broken := range []string{"a,b\n", strings.Replace(text, "one,p,a,1,0,1", "one,p,a,x,0,1", 1)} {
		clitest.Write(t, path, broken)
		if _, err := readTable(path); err == nil || !strings.Contains(err.Error(), "t.csv") {
			t.Errorf("of %q: %v, want %q in it", broken, err, "t.csv")
		}
	}
}

// An experiment resumes where it was interrupted, and its pages name the missing runs.
func TestExperimentGoesOn(t *testing.T) {
	var ran atomic.Int32
	f := Figure{Name: "1", Title: "A figure", Says: "A is larger than B.",
		Jobs: func(o Options) (jobs []Job) {
			for seed := range Size(o, 3, 5) {
				jobs = append(jobs, Job{Name: "seed " + string(rune('a'+seed)), Run: func(context.Context) ([]Point, error) {
					ran.Add(1)
					x := float64(seed)
					return []Point{{"p", "A", seed + 1, 1, 10 + x}, {"p", "B", seed + 1, 1, 0.9 * x}, {"p", "A", seed + 1, 2, 10}}, nil
				}})
			}
			return jobs
		},
		Claims: func(t *Table) []Claim {
			return []Claim{Larger("A is larger", t.At("p", "A", 1), t.At("p", "B", 1))}
		},
		Draw: func(w io.Writer, t *Table) error {
			return Curves(w, t, 2, []Panel{{Name: "p", LogY: true}}, []string{"A", "B"})
		},
	}
	f.Finding = func(t *Table) string { return fmt.Sprintf("A is %.1f", t.At("p", "A", 1)[1]) }
	e := Experiment{Name: "probe", Title: "Probe", Paper: "Nobody", Figures: []Figure{f}}
	command := clitest.Command{Name: e.Name, Run: e.Command(nil)}
	dir := filepath.Join(clitest.Isolate(t), "experiments")
	out := filepath.Join(dir, "probe")
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	first := command.OK(t, "-json")
	file := filepath.Join(out, "figure-1.csv")
	if !strings.Contains(first, `"verdict":"PASS"`) || ran.Load() != 5 {
		t.Fatalf("%d jobs: %s", ran.Load(), first)
	}
	whole := clitest.Read(t, file)
	if page := clitest.Read(t, filepath.Join(out, "README.md")); !strings.Contains(page, "| A is larger | PASS | paired difference 10.200 ± 0.071") || !strings.Contains(page, "all 5 runs") || !strings.Contains(page, "seeds 1 to 5") {
		t.Error(page)
	}
	if page := clitest.Read(t, filepath.Join(dir, "README.md")); !strings.Contains(page, "| [<img src=\"probe/figure-1.png\" width=\"200\" alt=\"A figure\">](probe/README.md#figure-1)<br>1 | A is larger than B. | A is 10.0 | **holds** |") {
		t.Error(page)
	}
	// The table lacks the last job, and the end of the job before it.
	lines := strings.SplitAfter(whole, "\n")
	clitest.Write(t, file, strings.Join(lines[:1+3*4+1], ""))
	command.OK(t, "-redraw")
	if page := clitest.Read(t, filepath.Join(out, "README.md")); !strings.Contains(page, "3 of 5 runs; the others are missing") || ran.Load() != 5 {
		t.Error(page)
	}
	command.OK(t)
	again := clitest.Read(t, file)
	if ran.Load() != 7 || strings.Count(again, "\n") != strings.Count(whole, "\n") || !strings.HasPrefix(again, strings.Join(lines[:1+3*4], "")) {
		t.Errorf("%d jobs in all; the table is\n%s\nand was\n%s", ran.Load(), again, whole)
	}
	command.OK(t, "-quick")
	if ran.Load() != 10 {
		t.Errorf("%d jobs with -quick, want 10", ran.Load())
	}
	command.Fails(t, cli.Usage, []string{"-figure", "2"}, "-figure", `"2"`)
	command.Fails(t, cli.Usage, []string{"-jobs", "0"}, "-jobs is 0")
}

// The geometric mean of 1 and 100 is 10, with bars of equal factors in both directions:
// the standard deviation of ln 1 and ln 100 is ln 100/√2.
func TestGeometricMeans(t *testing.T) {
	var table Table
	table.add("one", []Point{{"p", "a", 1, 0, 1}, {"p", "a", 2, 0, 100}}, 1)
	l := Panel{Name: "p", LogY: true, Geometric: true}.line(&table, "a")
	factor := math.Exp(math.Log(100) / math.Sqrt2)
	if len(l.Y) != 1 || math.Abs(l.Y[0]-10) > 1e-12 || math.Abs(l.High[0]-10*factor) > 1e-10 || math.Abs(l.Low[0]-10/factor) > 1e-12 {
		t.Errorf("got %+v, want 10 times or divided by %v", l, factor)
	}
}

// Two curves over words are dots with bars, next to each other. With JoinFrom the first points are not joined.
func TestPanelChart(t *testing.T) {
	table := TableOf(Point{"p", "a", 1, 0, 1}, Point{"p", "a", 2, 0, 3}, Point{"p", "a", 1, 1, 5}, Point{"p", "b", 1, 0, 2})
	c := Panel{Name: "p", Words: []string{"one", "two"}}.chart(table, []string{"a", "none", "b"})
	if a, b := c.Lines[0], c.Lines[2]; !a.Apart || !a.Bars || a.X[0] != -0.09 || b.X[0] != 0.09 || b.Color != 3 || a.Y[0] != 2 || math.Abs(a.Low[0]-2+math.Sqrt2) > 1e-15 || len(c.Lines[1].X) != 0 {
		t.Errorf("got %+v", c.Lines)
	}
	if l := (Panel{Name: "p", Whole: true}).line(table, "a"); len(l.X) != 1 || l.X[0] != 0 {
		t.Errorf("got x %v, want 0 alone: one of two repetitions has nothing at 1", l.X)
	}
	c = Panel{Name: "p", JoinFrom: 0.5}.chart(table, []string{"a"})
	if first, rest := c.Lines[1], c.Lines[0]; !first.Apart || len(first.X) != 1 || rest.Apart || len(rest.X) != 1 || first.Color != rest.Color {
		t.Errorf("got %+v", c.Lines)
	}
}

// The index that is committed is what the program writes.
func TestCommittedIndex(t *testing.T) {
	dir := filepath.Join("..", "..")
	want, err := index(dir)
	if err != nil {
		t.Fatal(err)
	}
	if clitest.Read(t, filepath.Join(dir, "README.md")) != want {
		t.Error("experiments/README.md is not what the program writes: run an experiment with -redraw")
	}
}

// A verdict needs repetitions that resolve a factor of 1.5, or a difference of more than three standard errors. The first refusal stays.
func TestResolved(t *testing.T) {
	logs := func(ratios ...float64) Repeats {
		r := Repeats{}
		for i, x := range ratios {
			r[i] = math.Log(x)
		}
		return r
	}
	one := logs(1, 1, 1, 1)
	for _, c := range []struct {
		name    string
		a       Repeats
		verdict Verdict // of a not less than one
		refusal string
	}{
		{"equal", logs(1, 1.1, 0.9, 1), Pass, ""},
		{"lost", logs(0.1, 0.2, 0.1, 0.2), Fail, ""},
		{"won", logs(10, 20, 10, 20), Pass, ""},
		// The logarithms are ±ln 2, of which four have a standard error of ln 2/√3, and three of these are a factor of e^(√3 ln 2).
		{"scattered", logs(0.5, 2, 0.5, 2), Fail, "these runs resolve a factor of 3.32; a factor of 1.5 needs 9 times as many repetitions"},
		{"few", logs(0.5, 2), Open, ""},
	} {
		got := NotLess("", c.a, one, Factor).Resolved()
		if got.Verdict != c.verdict || got.Refusal != c.refusal || strings.HasSuffix(got.Statistic, "; no verdict: "+c.refusal) != (c.refusal != "") {
			t.Errorf("%s: %s, %s; want %s, %s", c.name, got.Verdict, got.Statistic, c.verdict, c.refusal)
		}
		if again := got.Refused("other"); c.refusal != "" && again.Statistic != got.Statistic {
			t.Errorf("%s is refused twice: %s", c.name, again.Statistic)
		}
	}
	if c := Smaller("", logs(10, 20, 10, 20), one).Refused("short"); c.contrary || WordOf([]Claim{c}) != Unresolved {
		t.Errorf("a refused claim is %s", WordOf([]Claim{c}))
	}
}
