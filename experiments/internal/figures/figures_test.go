package figures

import (
	"context"
	"fmt"
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
		pass  bool
		value float64
	}{
		{"larger", Larger("", a, b), true, 2 * math.Sqrt(3)},
		{"the other way", Larger("", b, a), false, -2 * math.Sqrt(3)},
		{"smaller", Smaller("", b, a), true, 2 * math.Sqrt(3)},
		{"alike", Alike("", a, b), false, 2 * math.Sqrt(3)},
		{"alike itself", Alike("", a, a), true, 0},
		{"not larger than itself", Larger("", a, a), false, 0},
		// Differences of 0.9, 2 and 3.1: the ratio is 2/(1.1/√3) = 3.15; with 0.8 and
		// 3.2 it is 2.89.
		{"just", Larger("", Repeats{1: 0.9, 2: 2, 3: 3.1}, Repeats{1: 0, 2: 0, 3: 0}), true, 2 * math.Sqrt(3) / 1.1},
		{"just not", Larger("", Repeats{1: 0.8, 2: 2, 3: 3.2}, Repeats{1: 0, 2: 0, 3: 0}), false, 2 * math.Sqrt(3) / 1.2},
		{"no spread", Larger("", Repeats{1: 1, 2: 2, 3: 3}, Repeats{1: 0, 2: 1, 3: 2}), true, math.Inf(1)},
		{"two pairs", Larger("", Repeats{1: 1, 2: 2}, Repeats{1: 0, 2: 0}), false, 3},
		{"two alike pairs", Alike("", Repeats{1: 1, 2: 2}, Repeats{1: 1, 2: 2}), false, 0},
		{"nothing", Alike("", nil, nil), false, 0},
		{"holds", Holds("", true, 1, ""), true, 1},
		{"does not", Holds("", false, 1, ""), false, 1},
	} {
		if c.claim.Pass != c.pass || math.Abs(c.claim.Value-c.value) > 1e-12 {
			t.Errorf("%s: %v with %v, want %v with %v", c.name, c.claim.Pass, c.claim.Value, c.pass, c.value)
		}
	}
	if c := Larger("", Repeats{1: 1, 2: 2, 3: 3}.Logs(), Repeats{1: 0.5, 2: 1, 3: 1.5}.Logs()).Times(); !strings.HasSuffix(c.Statistic, "; a factor of 2") {
		t.Errorf("%s, want a factor of 2", c.Statistic)
	}
}

// Claims of ours do not count in the verdict on a figure. Claims in other units separate "holds" from "holds per step".
func TestVerdictOf(t *testing.T) {
	big, small := Repeats{1: 11, 2: 22, 3: 33}, Repeats{1: 10, 2: 20, 3: 30}
	pass, unsettled, contrary := Larger("", big, small), Larger("", small, small), Larger("", small, big)
	for _, c := range []struct {
		want   string
		claims []Claim
	}{
		{Holding, []Claim{pass, contrary.Aside()}},
		{PerStep, []Claim{contrary.InOtherUnit(), pass}},
		{Unresolved, []Claim{pass, unsettled, contrary.InOtherUnit()}},
		{Contrary, []Claim{unsettled, contrary, pass}},
		{Contrary, []Claim{Alike("", big, small)}},
		{Contrary, []Claim{Holds("", false, 0, "")}},
		{Unresolved, []Claim{Holds("", false, 0, "").Unsettled()}},
		{Contrary, []Claim{NotLess("", small, big)}},
		{Unresolved, []Claim{Larger("", Repeats{1: 1}, Repeats{1: 2})}},
	} {
		if got := VerdictOf(c.claims); got != c.want {
			t.Errorf("got %q, want %q of %+v", got, c.want, c.claims)
		}
	}
}

// Not to be smaller passes if three standard errors exclude a loss by a factor of 1.5.
func TestNotLess(t *testing.T) {
	a := Repeats{1: 1, 2: 2, 3: 3}
	for _, c := range []struct {
		name string
		b    Repeats
		pass bool
		says string
	}{
		// Differences of -0.1, 0.1 and 0: the standard error is 0.1/√3, and
		// exp(0.3/√3) = 1.19.
		{"alike", Repeats{1: 1.1, 2: 1.9, 3: 3}, true, "a factor of 1.2 is excluded"},
		{"smaller", Repeats{1: 0, 2: 0.9, 3: 2.1}, true, "a factor of 1 is excluded"},
		{"scattered", Repeats{1: 1.3, 2: 1.7, 3: 3}, false, "a factor of 1.7 is excluded"}, // exp(0.9/√3)
		{"larger", Repeats{1: 2, 2: 3.1, 3: 3.9}, false, "below -3 is a loss"},
		{"too few", Repeats{1: 1, 2: 2}, false, "over 2 repetitions"},
		{"one", Repeats{1: 2}, false, "pairs of repetitions: 1, at least 3 needed"},
	} {
		if got := NotLess("", a, c.b); got.Pass != c.pass || !strings.Contains(got.Statistic, c.says) {
			t.Errorf("%s: %+v, want %v and %q", c.name, got, c.pass, c.says)
		}
	}
}

// At x = 1 and 2 distances from the medians 5 and 10 are 1, 0, 1, 0, 1 and 7, 3, 0, 6, 8, at 2 twice as many. Other x do not
// count. The standard deviations differ by √(38.7/0.7) = 7.44 at both.
func TestSteadier(t *testing.T) {
	var points []Point
	for x, factor := range map[float64]float64{1: 1, 2: 2} {
		for r, y := range []float64{4, 5, 6, 5, 6} {
			points = append(points, Point{"p", "a", r + 1, x, factor * y}, Point{"p", "b", r + 1, x, factor * []float64{3, 7, 10, 16, 18}[r]}, Point{"p", "a", r + 1, 9, float64(r * r)})
		}
	}
	table := TableOf(points...)
	want := Larger("", Repeats{1: 7, 2: 3, 3: 0, 4: 6, 5: 8}, Repeats{1: 1, 2: 0, 3: 1, 4: 0, 5: 1})
	c := Steadier("", table, "p", "a", "b", 1, 2)
	if math.Abs(c.Value-want.Value) > 1e-9 || math.Abs(c.Mean-1.5*want.Mean) > 1e-9 || c.Pass != want.Pass || !strings.HasPrefix(c.Statistic, "7.44 times the standard deviation, geometric mean over 2 steps;") {
		t.Errorf("%+v, want %v and %v", c, 1.5*want.Mean, want.Value)
	}
	if c := Steadier("", table, "p", "b", "a", 1, 2); c.Pass || math.Abs(c.Value+want.Value) > 1e-9 {
		t.Errorf("the other way: %+v", c)
	}
}

func TestTable(t *testing.T) {
	var table Table
	table.add("one", []Point{{"p", "a", 1, 0, 1}, {"p", "a", 1, 2, 3}, {"q", "b", 1, 0, 7}}, 1.5)
	table.add("thirds", []Point{{"r", "a", 1, 1. / 3, 2. / 3}}, 0)
	table.add("two", []Point{{"p", "a", 2, 0, 5}, {"p", "a", 2, 2, 9}}, 2)
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := table.write(path, nil); err != nil {
		t.Fatal(err)
	}
	// A job without its last line, the seconds, is left out.
	text := clitest.Read(t, path)
	clitest.Write(t, path, text+"three,p,a,3,0,100\n")
	read, err := ReadTable(path)
	if err != nil || read.has("three") || !read.has("one") || read.seconds() != 3.5 {
		t.Fatalf("%+v, %v", read, err)
	}
	if !slices.Equal(slices.Collect(table.All), slices.Collect(read.All)) {
		t.Error("a file has other points than the table")
	}
	if m := read.Mean("p", "a", 1, 5); len(m) != 2 || m[1] != 3 || m[2] != 9 {
		t.Errorf("means %v", m)
	}
	if m := read.After("p", "a", 0); m[1] != 2 || m[2] != 7 {
		t.Errorf("means of all %v", m)
	}
	if l := read.Last("p", "a"); l[1] != 3 || l[2] != 9 || len(read.Last("p", "none")) != 0 {
		t.Errorf("last %v", l)
	}
	if mean, sd := read.At("p", "a", 0).Average(); mean != 3 || math.Abs(sd-math.Sqrt(8)) > 1e-15 {
		t.Errorf("%v ± %v", mean, sd)
	}
	for _, broken := range []string{"a,b\n", "", strings.Replace(text, "one,p,a,1,0,1", "one,p,a,x,0,1", 1)} {
		clitest.Write(t, path, broken)
		if _, err := ReadTable(path); err == nil || !strings.Contains(err.Error(), "t.csv") {
			t.Errorf("of %q: %v, want %q in it", broken, err, "t.csv")
		}
	}
}

// A line without numbers is left out, and a cell without a number has a dash.
func TestMarkdown(t *testing.T) {
	table := TableOf(Point{"s: p", "a", 1, 0, 1}, Point{"s: p", "a", 2, 0, 100}, Point{"s: q", "c", 1, 0, 0.5})
	got := table.Markdown([]string{"x"}, []Line{{Words: []string{"one"}, Prefix: "s: ", Curve: "a"}, {Words: []string{"none"}, Prefix: "s: ", Curve: "b"}},
		[]Column{{Title: "f", Panel: "p", Write: Factor}, {Title: "n", Panel: "p", Write: Count}, {Title: "d", Panel: "q", Write: Short}, {Title: "m", Panel: "p", Write: Spread(1)}})
	// The logarithms of 1 and 100 have the mean ln 10 and a standard error of ln 100/2.
	if want := "| x | f | n | d | m |\n| --- | --- | --- | --- | --- |\n| one | 10 ×/÷ 10.00 | 2 | – | 50.5 ± 70.0 |\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if a, b := Digits(1234.5), Digits(0.012345); a != "1234" || b != "0.0123" {
		t.Errorf("got %s and %s, want 1234 and 0.0123", a, b)
	}
}

const probePage = `# Probe

This page reproduces figures of Nobody.

## Figure 1

![A figure](figure-1.png)

A title. **A is 10.0
larger.**

The paper: A is larger
than B.

<!-- figure 1 -->
<!-- end of figure 1 -->

A note.
`

// An experiment resumes where it was interrupted, and its page names the missing runs. The page keeps what was written by hand.
func TestExperimentGoesOn(t *testing.T) {
	var ran atomic.Int32
	f := Figure{Name: "1",
		Jobs: func(o Options) (jobs []Job) {
			for seed := range Size(o, 3, 5) {
				jobs = append(jobs, Job{Name: "seed " + string(rune('a'+seed)), Repeat: seed + 1, Run: func(_ context.Context, add Add) error {
					ran.Add(1)
					x := float64(seed)
					add("p", "A", 1, 10+x)
					add("p", "B", 1, 0.9*x)
					add("p", "A", 2, 10)
					return nil
				}})
			}
			return jobs
		},
		Claims: func(t *Table) []Claim {
			return []Claim{Larger("A is larger", t.At("p", "A", 1), t.At("p", "B", 1))}
		},
		Table: func(t *Table) string { return fmt.Sprintf("A is %.2f.\n", t.At("p", "A", 1)[1]) },
		Draw:  Curves(2, []string{"A", "B"}, Panel{Name: "p", LogY: true}, Panel{Name: "none"}),
	}
	e := Experiment{Name: "probe", Title: "Probe", Figures: []Figure{f}}
	command := clitest.Command{Name: e.Name, Run: e.Command(nil)}
	dir := filepath.Join(clitest.Isolate(t), "experiments")
	out := filepath.Join(dir, "probe")
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.Write(t, filepath.Join(out, "README.md"), probePage)
	clitest.Write(t, filepath.Join(dir, "README.md"), "Head.\n<!-- figure index -->\n<!-- end of figure index -->\nFoot.\n")
	first := command.OK(t, "-json")
	file := filepath.Join(out, "figure-1.csv")
	if !strings.Contains(first, `"pass":true`) || ran.Load() != 5 {
		t.Fatalf("%d jobs: %s", ran.Load(), first)
	}
	whole := clitest.Read(t, file)
	page := clitest.Read(t, filepath.Join(out, "README.md"))
	for _, want := range []string{"A title. **A is 10.0\nlarger.**\n", "<!-- figure 1 -->\n*Holds*\n", "| A is larger | PASS | paired difference 10.200 ± 0.071", "A is 10.00.\n", "all 5 runs", "seeds 1 to 5", "<!-- end of figure 1 -->\n\nA note.\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if missing := Unsourced(page); missing != nil {
		t.Errorf("numbers without a source: %v", missing)
	}
	if missing := Unsourced(strings.Replace(page, "A is 10.0\n", "A is 11.0\n", 1)); len(missing) != 1 || missing[0] != "figure 1: 11.0" {
		t.Errorf("a number without a source: %v", missing)
	}
	index := clitest.Read(t, filepath.Join(dir, "README.md"))
	for _, want := range []string{"Head.\n", "*holds* 1, *holds per step* 0", "## Nobody\n", "| [<img src=\"probe/figure-1.png\" width=\"200\" alt=\"A figure\">](probe/README.md#figure-1)<br>1 | A is larger than B. | A is 10.0 larger. | **holds** |\n", "\nFoot.\n"} {
		if !strings.Contains(index, want) {
			t.Errorf("no %q in\n%s", want, index)
		}
	}
	// The table lacks the last job, and the end of the job before it.
	lines := strings.SplitAfter(whole, "\n")
	clitest.Write(t, file, strings.Join(lines[:1+3*4+1], ""))
	if text := command.OK(t, "-redraw"); !strings.Contains(text, "3 of 5 runs; the others are missing") || ran.Load() != 5 {
		t.Error(text)
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
	clitest.Write(t, filepath.Join(out, "README.md"), "# Probe\n")
	command.Fails(t, cli.Failed, nil, `README.md has no lines "<!-- figure 1 -->"`)
	command.Fails(t, cli.Usage, []string{"-figure", "2"}, "-figure", `"2"`)
	command.Fails(t, cli.Usage, []string{"-jobs", "0"}, "-jobs is 0")
}

// The geometric mean of 1 and 100 is 10, with bars of equal factors in both directions:
// the standard deviation of ln 1 and ln 100 is ln 100/√2.
func TestGeometricMeans(t *testing.T) {
	l := Panel{Name: "p", LogY: true, Geometric: true}.line(TableOf(Point{"p", "a", 1, 0, 1}, Point{"p", "a", 2, 0, 100}), "a")
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
	page := clitest.Read(t, filepath.Join(dir, "README.md"))
	want, err := index(page, dir)
	if err != nil {
		t.Fatal(err)
	}
	if page != want {
		t.Error("experiments/README.md is not what the program writes: run an experiment with -redraw")
	}
}
