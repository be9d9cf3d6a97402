package claims

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gorbm/rbm/atomicfile"
)

// findingsFile has the findings of an experiment, a line for each figure, for the index.
const findingsFile = "findings.csv"

var findingColumns = []string{"paper", "figure", "title", "says", "finding", "word"}

// ours is the name of the paper in findingsFile for figures of ours.
const ours = "ours"

// WritePages writes README.md and findings.csv of an experiment from the tables in
// the folder out.
func (e Experiment) WritePages(out string, o Options) error {
	o.Repeats = 0 // the page counts the missing runs of the whole plan
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\n", e.Title)
	if e.Paper != ours {
		fmt.Fprintf(&page, "This page reproduces figures of %s.\n", e.Paper)
	}
	fmt.Fprintf(&page, "`go run ./experiments/%s` writes this page from the CSV files next to it. [How it was run](#how-it-was-run) has the terms and the\nmeaning of PASS, FAIL and OPEN.\n", e.Name)
	summary := [][]string{findingColumns}
	for _, f := range e.Figures {
		t, err := readTable(f.file(out, ".csv"))
		if err != nil {
			return err
		}
		if f.Finding == nil {
			return fmt.Errorf("figure %s has no Finding, the sentence with its result", f.Name)
		}
		plan := f.Jobs(o)
		t = t.only(plan)
		command := fmt.Sprintf("go run ./experiments/%s -figure %s", e.Name, f.Name)
		switch {
		case o.Quick:
			command += " -quick"
		case f.Flags != "":
			command += " " + f.Flags
		}
		var claims []Claim
		if len(t.jobs) > 0 {
			claims = f.Claims(t)
		}
		f.section(&page, t, claims, len(plan), command)
		if len(claims) > 0 {
			paper, word := e.Paper, string(WordOf(claims))
			if f.Ours {
				paper, word = ours, ""
			}
			summary = append(summary, []string{paper, f.Name, f.Title, f.Says, f.Finding(t), word})
		}
	}
	fmt.Fprintf(&page, "\n## How it was run\n\n%s\n\n", e.About)
	fmt.Fprintf(&page, "A paired difference compares two results of the same repetition, and is positive if it favours the claim. ± is the standard error of\nits mean over repetitions. A claim that one side is better gets PASS if this mean is more than %[1]d standard errors above 0. A claim that\ntwo sides are equal, or that one is not worse, gets PASS unless a difference of more than %[1]d standard errors contradicts it. A claim about\nnumbers without noise gets PASS if it is true. FAIL means that the claim was not shown, and OPEN that there are too few repetitions. The\nseconds after a command are the sum over all runs, on a machine that other programs used too.\n", Errors)
	if !e.Figures[0].Ours {
		fmt.Fprintf(&page, "\nA claim marked (%s) is a claim of the paper in a unit of cost that the paper does not plot, such as seconds. A claim marked (%s)\nis not in the paper, and does not count in the verdict on the figure. The verdict is %q if all claims of the paper pass, in its unit\nand in others. It is %q if the claims in the paper's unit pass, and a claim in another unit does not. It is %q if the numbers\nshow the opposite of a claim of the paper in its unit, and otherwise %q.\n", OtherUnit, Own, Holding, PerStep, Contrary, Unresolved)
	}
	if err := atomicfile.WriteBytes(filepath.Join(out, "README.md"), []byte(page.String())); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(out, findingsFile), func(w io.Writer) error {
		return csv.NewWriter(w).WriteAll(summary)
	})
}

// section writes the section of README.md about a figure.
func (f Figure) section(w *strings.Builder, t *Table, claims []Claim, planned int, command string) {
	says := "The paper: "
	if f.Ours {
		says = "Question: "
	}
	fmt.Fprintf(w, "\n## Figure %s\n\n", f.Name)
	if len(t.jobs) == 0 {
		fmt.Fprintf(w, "%s%s\n\nNot run yet. `%s`\n", says, f.Says, command)
		return
	}
	fmt.Fprintf(w, "![%s](%s)\n\n", f.Title, f.file("", ".png"))
	title := sentence(f.Title) + "."
	if !f.Ours {
		title += fmt.Sprintf(" *%s*.", sentence(string(WordOf(claims))))
	}
	fmt.Fprintf(w, "%s **%s**\n\n%s%s\n\n", title, f.Finding(t), says, f.Says)
	if len(claims) > 0 {
		fmt.Fprint(w, "| claim | | statistic |\n| --- | --- | --- |\n")
		for _, c := range claims {
			whose := ""
			if !f.Ours && c.Kind != Papers {
				whose = " (" + string(c.Kind) + ")"
			}
			fmt.Fprintf(w, "| %s%s | %s | %s |\n", c.Text, whose, c.Verdict, c.Statistic)
		}
		fmt.Fprintln(w)
	}
	if f.Notes != nil {
		if notes := f.Notes(t); notes != "" {
			fmt.Fprintf(w, "%s\n\n", notes)
		}
	}
	done := fmt.Sprintf("all %d runs", planned)
	if len(t.jobs) < planned {
		done = fmt.Sprintf("%d of %d runs; the others are missing", len(t.jobs), planned)
	}
	fmt.Fprintf(w, "`%s` (%s; %.0f s; %s; numbers in [%s](%[5]s))\n", command, done, math.Ceil(t.Seconds()), t.seeds(), f.file("", ".csv"))
}

// sentence returns text with a capital letter first.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// seeds describes the seeds of the repetitions. Repetition 0 has no seed.
func (t *Table) seeds() string {
	lo, hi := math.MaxInt, 0
	for p := range t.All {
		if p.Repeat > 0 {
			lo, hi = min(lo, p.Repeat), max(hi, p.Repeat)
		}
	}
	switch {
	case hi == 0:
		return "no random numbers"
	case lo == hi:
		return fmt.Sprintf("seed %d", lo)
	}
	return fmt.Sprintf("seeds %d to %d", lo, hi)
}

const indexHead = `# Experiments

We reproduced figures of papers at the papers' sizes, and made figures of our own. ` + "`go run ./experiments/NAME`" + ` runs an experiment, and writes
its page and this one. Each picture links to its page, which has the claims, their standard errors and the command.

A figure **holds** if every claim of the paper passes. A claim that one side is better passes if the mean paired difference over
repetitions is more than three standard errors above 0. A figure **holds per step** if its claims pass in the paper's unit of cost, mostly moves,
but not in another unit, such as seconds. It **does not hold** if our numbers show the opposite of a claim. Otherwise it is **not resolved**.

Abbreviations: τ is the integrated autocorrelation time, usually of the energy. INS is infinite swapping, PT parallel tempering, PTT parallel
trajectory tempering, PINS partial infinite swapping, CD and PCD are contrastive divergence and its persistent form. IM is an intracluster move,
and "exchange" swaps an active and an inactive bit.

There are more measurements: [speed](speed/README.md) compares training programs, [scale](scale/README.md) is about MPI, and
[sweeps](sweeps/README.md) has files for ` + "`rbmtrain -array`" + `.

Removed, with their programs (commit cc149625 has them): comparisons of locally balanced proposals (path auxiliary samplers, DMALA, DLMC). On RBMs of
16 to 200 hidden units that were trained on digits, block Gibbs gave 3.8 to 6.8 times as many independent values per second as the best of
them. On a 50×50 Ising lattice, Metropolis gave 17 times as many at β = 0.3 and 2.4 times as many at 0.6, and Wolff's clusters 36 times as many at the critical point.
`

// WriteIndex writes README.md of the folder of all experiments, from the
// findings.csv in its folders.
func WriteIndex(dir string) error {
	page, err := index(dir)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, "README.md"), []byte(page))
}

// index returns the text of WriteIndex: the figures of each paper, then ours.
func index(dir string) (string, error) {
	var files []string
	for _, deep := range []string{"*", "*/*"} {
		more, err := filepath.Glob(filepath.Join(dir, deep, findingsFile))
		if err != nil {
			return "", err
		}
		files = append(files, more...)
	}
	var papers, own strings.Builder
	counts := map[string]int{}
	for _, file := range files {
		lines, err := readCSV(file)
		if err != nil {
			return "", err
		}
		if !slices.Equal(lines[0], findingColumns) {
			return "", fmt.Errorf("%s has other columns than findings; run the experiment again", file)
		}
		folder, err := filepath.Rel(dir, filepath.Dir(file))
		if err != nil {
			return "", err
		}
		before := ""
		for _, l := range lines[1:] {
			paper, figure, title, says, finding, word := l[0], l[1], l[2], l[3], l[4], l[5]
			picture := fmt.Sprintf("[<img src=\"%s\" width=\"200\" alt=\"%s\">](%s/README.md#%s)", Figure{Name: figure}.file(folder, ".png"), title, folder, Figure{Name: figure}.file("", ""))
			if paper == ours {
				fmt.Fprintf(&own, "| %s<br>%s, %s | %s | %s |\n", picture, folder, figure, sentence(says), finding)
				continue
			}
			if paper != before {
				fmt.Fprintf(&papers, "\n## %s\n\n| figure | the paper | here | |\n| --- | --- | --- | --- |\n", paper)
				before = paper
			}
			fmt.Fprintf(&papers, "| %s<br>%s | %s | %s | **%s** |\n", picture, figure, sentence(says), finding, word)
			counts[word]++
		}
	}
	sum := "\nNumbers of the papers' figures"
	for i, w := range []Word{Holding, PerStep, Unresolved, Contrary} {
		sum += fmt.Sprintf("%s *%s* %d", map[bool]string{true: ",", false: ":"}[i > 0], w, counts[string(w)])
	}
	page := indexHead + sum + ".\n" + papers.String()
	if own.Len() > 0 {
		page += "\n## Ours\n\n| figure | question | answer |\n| --- | --- | --- |\n" + own.String()
	}
	return page, nil
}

// readCSV reads a file of at least one line.
func readCSV(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s: empty; run the experiment again", path)
	}
	return lines, nil
}
