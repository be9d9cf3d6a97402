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

	"gorbm/rbm/atomicfile"
)

// summaryFile holds the claims of an experiment for the table of all.
const summaryFile = "claims.csv"

var summaryColumns = []string{"paper", "figure", "claim", "result", "verdict", "seconds", "command"}

// WritePages writes README.md and claims.csv of an experiment from the tables in
// the folder out. Figures without numbers are named as such.
func (e Experiment) WritePages(out string, o Options) error {
	o.Repeats = 0 // the page names what the whole plan lacks
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\n%s\n\n%s\n\n", e.Title, e.Paper, e.About)
	fmt.Fprintf(&page, "This page is written by `go run ./experiments/%s` from the numbers in the CSV files next to it.\n", e.Name)
	fmt.Fprintf(&page, "PASS means that a claim holds here: one side is better by more than %d standard errors of the paired\ndifference over repetitions, or a statement about numbers without noise is true. FAIL means that this was\nnot seen. OPEN means that there are too few repetitions to say. A paired difference is above 0 where it favours the\nclaim. Seconds are those of the runs, added up, on a\nmachine that other programs used too.\n", Errors)
	summary := [][]string{summaryColumns}
	for _, f := range e.Figures {
		t, err := readTable(f.file(out, ".csv"))
		if err != nil {
			return err
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
		for _, c := range claims {
			summary = append(summary, []string{e.Paper, f.Name, c.Text, c.Statistic, string(c.Verdict), fmt.Sprintf("%.0f", math.Ceil(t.Seconds())), command})
		}
	}
	if err := atomicfile.Write(filepath.Join(out, "README.md"), func(w io.Writer) error {
		_, err := io.WriteString(w, page.String())
		return err
	}); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(out, summaryFile), func(w io.Writer) error {
		return csv.NewWriter(w).WriteAll(summary)
	})
}

// section writes the part of README.md about a figure.
func (f Figure) section(w *strings.Builder, t *Table, claims []Claim, planned int, command string) {
	says, name := "The paper: ", "Figure "+f.Name
	if f.Ours {
		says, name = "Asked: ", "Figure of ours, "+f.Name
	}
	fmt.Fprintf(w, "\n## %s: %s\n\n%s%s\n\n", name, f.Title, says, f.Says)
	if len(t.jobs) == 0 {
		fmt.Fprintf(w, "Not run yet. `%s`\n", command)
		return
	}
	fmt.Fprintf(w, "![%s](%s)\n\n", f.Title, f.file("", ".png"))
	if len(claims) > 0 {
		fmt.Fprint(w, "| claim | | statistic |\n| --- | --- | --- |\n")
		for _, c := range claims {
			fmt.Fprintf(w, "| %s | %s | %s |\n", c.Text, c.Verdict, c.Statistic)
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

Figures of papers, made again at the papers' sizes, and figures of ours. Each folder has a page with the pictures and
the claims. This table is written by the commands themselves, from the numbers beside the pictures. PASS and FAIL are computed:
a claim that one side is better passes if the paired difference over repetitions exceeds three standard errors,
which chance alone does once in 270 claims with 20 repetitions, once in 130 with 10 and once in 50 with 5.
A FAIL is a finding. OPEN means too few repetitions to say. FILE in a command is explained on the page.
` + "`go run ./experiments/NAME` also measures `speed` and `speed/quality`; [scale](scale/README.md) has what was measured of ranks, and [sweeps](sweeps/README.md) files for `rbmtrain -array`" + `.
The pictures in ` + "`ising` and `tour`" + ` are those of the commands on the pages that show them.
`

const tableHead = `
| paper | figure | PASS | FAIL | OPEN | time | command |
| --- | --- | --- | --- | --- | --- | --- |
`

// WriteIndex writes README.md of the folder of all experiments, from the
// claims.csv in its folders.
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

// index returns what WriteIndex writes.
func index(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", summaryFile))
	if err != nil {
		return "", err
	}
	var page strings.Builder
	counts := map[string]int{}
	for _, file := range files {
		lines, err := readCSV(file)
		if err != nil {
			return "", err
		}
		if !slices.Equal(lines[0], summaryColumns) {
			return "", fmt.Errorf("%s: the columns are not those of claims; run the experiment again", file)
		}
		folder := filepath.Base(filepath.Dir(file))
		for lines = lines[1:]; len(lines) > 0; {
			first, own := lines[0], map[string]int{}
			for ; len(lines) > 0 && lines[0][1] == first[1]; lines = lines[1:] {
				own[lines[0][4]]++
				counts[lines[0][4]]++
			}
			fmt.Fprintf(&page, "| %s | [%s](%s/README.md) | %d | %d | %d | %s s | `%s` |\n", first[0], first[1], folder,
				own[string(Pass)], own[string(Fail)], own[string(Open)], first[5], first[6])
		}
	}
	sum := fmt.Sprintf("\n%d claims pass, %d fail and %d are open.\n", counts[string(Pass)], counts[string(Fail)], counts[string(Open)])
	return indexHead + sum + tableHead + page.String(), nil
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
