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

// findingsFile holds the findings of an experiment, a line a figure, for the table of all.
const findingsFile = "findings.csv"

var findingColumns = []string{"paper", "figure", "title", "says", "finding", "word"}

// ours is the paper of a figure that no paper has.
const ours = "ours"

// WritePages writes README.md and findings.csv of an experiment from the tables in
// the folder out. Figures without numbers are named as such.
func (e Experiment) WritePages(out string, o Options) error {
	o.Repeats = 0 // the page names what the whole plan lacks
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n", e.Title)
	if e.Paper != ours {
		fmt.Fprintf(&page, "\n%s\n", e.Paper)
	}
	summary := [][]string{findingColumns}
	for _, f := range e.Figures {
		t, err := readTable(f.file(out, ".csv"))
		if err != nil {
			return err
		}
		if f.Finding == nil {
			return fmt.Errorf("figure %s has no Finding, the sentence that the page and the table of all begin with", f.Name)
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
	fmt.Fprintf(&page, "This page is written by `go run ./experiments/%s` from the numbers in the CSV files next to it.\n", e.Name)
	fmt.Fprintf(&page, "A paired difference is taken in each repetition. It is above 0 where it favours the claim. PASS means that the claim holds\nhere: the mean difference is more than %d standard errors above 0, or a statement about numbers without noise is true. FAIL\nmeans that this was not seen. OPEN means that there are too few repetitions to decide. Seconds are the sum over all runs,\non a machine that other programs used too.\n", Errors)
	if !e.Figures[0].Ours {
		fmt.Fprintf(&page, "A claim marked (%s) is a claim of the paper, on a clock that the paper does not plot. A claim marked (%s) is not in the paper.\n", Clock, Own)
		fmt.Fprintf(&page, "The verdict on a figure is %q if all claims of the paper pass and all claims on other clocks, such as seconds. It is %q\nif only claims on other clocks do not pass, %q if a claim of the paper lies within %d standard errors of 0, and\n%q if the numbers show the opposite.\n", Holding, PerStep, Unresolved, Errors, Contrary)
	}
	if err := atomicfile.Write(filepath.Join(out, "README.md"), func(w io.Writer) error {
		_, err := io.WriteString(w, page.String())
		return err
	}); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(out, findingsFile), func(w io.Writer) error {
		return csv.NewWriter(w).WriteAll(summary)
	})
}

// section writes the part of README.md about a figure.
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
		done = fmt.Sprintf("%d of %d runs, the others are still to be done", len(t.jobs), planned)
	}
	fmt.Fprintf(w, "`%s` (%s; %.0f s; %s; numbers in [%s](%[5]s))\n", command, done, math.Ceil(t.Seconds()), t.seeds(), f.file("", ".csv"))
}

// sentence returns text with a capital letter first.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// seeds says which seeds the repetitions had. Repetition 0 has none.
func (t *Table) seeds() string {
	lo, hi := math.MaxInt, 0
	for p := range t.All {
		if p.Repeat > 0 {
			lo, hi = min(lo, p.Repeat), max(hi, p.Repeat)
		}
	}
	switch {
	case hi == 0:
		return "nothing random"
	case lo == hi:
		return fmt.Sprintf("seed %d", lo)
	}
	return fmt.Sprintf("seeds %d to %d", lo, hi)
}

const indexHead = `# Experiments

Figures of papers, made again at the papers' sizes, and figures of ours. A picture leads to its page, which has the claims, their
standard errors and the command. The commands write this page from the numbers next to the pictures.

A figure **holds** if each claim of the paper passes: one side is better by more than three standard errors of the paired
difference over repetitions. It **holds per step** if so by the paper's clock, mostly moves, but not in another one, such as seconds.
It is **not resolved** if a claim lies within three standard errors, and it **does not hold** if our numbers show the opposite of a claim.

` + "`go run ./experiments/NAME` also measures [speed](speed/README.md); [scale](scale/README.md) has what was measured of ranks, and [sweeps](sweeps/README.md) files for `rbmtrain -array`" + `.
The pictures in ` + "`ising` and `tour`" + ` are those of the commands on the pages that show them.
`

// WriteIndex writes README.md of the folder of all experiments, from the
// findings.csv in its folders.
func WriteIndex(dir string) error {
	page, err := index(dir)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, "README.md"), func(w io.Writer) error {
		_, err := io.WriteString(w, page)
		return err
	})
}

// index returns what WriteIndex writes: the figures of papers, paper by paper, and ours.
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
			return "", fmt.Errorf("%s: the columns are not those of findings; run the experiment again", file)
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
	sum := "\nOf the papers' figures"
	for i, w := range []Word{Holding, PerStep, Unresolved, Contrary} {
		sum += fmt.Sprintf("%s %d: *%s*", map[bool]string{true: ",", false: ""}[i > 0], counts[string(w)], w)
	}
	page := indexHead + sum + ".\n" + papers.String()
	if own.Len() > 0 {
		page += "\n## Ours\n\n| figure | asked | answer |\n| --- | --- | --- |\n" + own.String()
	}
	return page, nil
}

// readCSV reads a file that has at least a line.
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
