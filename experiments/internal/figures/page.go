package figures

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gorbm/rbm/atomicfile"
)

// The page README.md of an experiment is written by hand, except for the block of each figure, which is between two comments. A
// section of a page looks like this, and its sentences are the line of the figure in the index of all experiments:
//
//	## Figure 2
//
//	![alternative text](figure-2.png)
//
//	Title. **The result, a sentence with numbers from the block.**
//
//	The paper: its claim in a sentence. (Or "Question:", for a figure of ours.)
//
//	<!-- figure 2 -->
//	The block.
//	<!-- end of figure 2 -->
const (
	blockBegins = "<!-- figure %s -->\n"
	blockEnds   = "<!-- end of figure %s -->\n"
)

// block returns the block of a figure.
func (e Experiment) block(f Figure, t *Table, o Options) string {
	command := fmt.Sprintf("go run ./experiments/%s -figure %s", e.Name, f.Name)
	switch {
	case o.Quick:
		command += " -quick"
	case f.Flags != "":
		command += " " + f.Flags
	}
	if len(t.jobs) == 0 {
		return fmt.Sprintf("Not run yet. `%s`\n", command)
	}
	var b strings.Builder
	if claims := f.claims(t); len(claims) > 0 {
		if !e.Ours {
			fmt.Fprintf(&b, "*%s*\n\n", sentence(VerdictOf(claims)))
		}
		var rows [][]string
		for _, c := range claims {
			text, result := c.Text, "FAIL"
			if !e.Ours && c.Kind != Papers {
				text += fmt.Sprintf(" (%s)", c.Kind)
			}
			if c.Pass {
				result = "PASS"
			}
			rows = append(rows, []string{text, result, c.Statistic})
		}
		fmt.Fprintf(&b, "%s\n", Grid([]string{"claim", "", "statistic"}, rows))
	}
	if f.Table != nil {
		fmt.Fprintf(&b, "%s\n", f.Table(t))
	}
	planned := len(f.Jobs(Options{Quick: o.Quick}))
	done := fmt.Sprintf("all %d runs", planned)
	if len(t.jobs) < planned {
		done = fmt.Sprintf("%d of %d runs; the others are missing", len(t.jobs), planned)
	}
	fmt.Fprintf(&b, "`%s` (%s; %.0f s; %s; numbers in [%s](%[5]s))\n", command, done, math.Ceil(t.seconds()), t.seeds(), f.file("", ".csv"))
	return b.String()
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

// Page returns a page with the blocks of the figures from the tables in the folder out.
func (e Experiment) Page(page, out string, o Options) (string, error) {
	for _, f := range e.Figures {
		t, err := ReadTable(f.file(out, ".csv"))
		if err != nil {
			return "", err
		}
		block := e.block(f, t.only(f.Jobs(Options{Quick: o.Quick})), o)
		if page, err = replace(page, f.Name, block); err != nil {
			return "", err
		}
	}
	return page, nil
}

// replace replaces the block with this name.
func replace(page, name, block string) (string, error) {
	begin, end := fmt.Sprintf(blockBegins, name), fmt.Sprintf(blockEnds, name)
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("README.md has no lines %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + block + end + after, nil
}

// writePage writes the blocks of README.md in the folder out, and the index above a folder of experiments. Without a page it
// does nothing.
func (e Experiment) writePage(out string, o Options) error {
	file := filepath.Join(out, "README.md")
	old, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	page, err := e.Page(string(old), out, o)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(file, []byte(page)); err != nil {
		return err
	}
	dir, found := strings.CutSuffix(filepath.ToSlash(out), "/"+e.Name)
	if file = filepath.Join(dir, "README.md"); !found {
		return nil
	}
	if old, err = os.ReadFile(file); err != nil {
		return nil // the folder is not one of experiments
	}
	if page, err = index(string(old), dir); err != nil {
		return err
	}
	return atomicfile.WriteBytes(file, []byte(page))
}

var (
	sections = regexp.MustCompile(`(?s)\n## Figure (\S+)\n\n!\[([^\n]*)\]\(([^)]*)\)\n\n(.*?)<!-- figure \S+ -->\n(.*?)<!-- end of figure`)
	result   = regexp.MustCompile(`(?s)\*\*(.*?)\*\*`)
	question = regexp.MustCompile(`(?s)(?:The paper|Question): (.*?)\n\n`)
	verdict  = regexp.MustCompile(`^\*(.*)\*\n`)
	paper    = regexp.MustCompile(`(?m)^This page reproduces figures of (.*)\.$`)
	numbers  = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?`)
)

// index returns the index with the figures of the experiments in the folder dir: those of papers, then ours.
func index(page, dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "README.md"))
	if err != nil {
		return "", err
	}
	var papers, own strings.Builder
	counts := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		folder, author := filepath.Base(filepath.Dir(file)), paper.FindSubmatch(text)
		all := sections.FindAllStringSubmatch(string(text), -1)
		if author != nil {
			fmt.Fprintf(&papers, "\n## %s\n\n| figure | the paper | here | |\n| --- | --- | --- | --- |\n", author[1])
		}
		for _, s := range all {
			name, title, picture := s[1], s[2], s[3]
			says, found := question.FindStringSubmatch(s[4]), result.FindStringSubmatch(s[4])
			if says == nil || found == nil {
				return "", fmt.Errorf("%s: figure %s has no claim or question, or no result in bold type", file, name)
			}
			link := fmt.Sprintf("[<img src=\"%s/%s\" width=\"200\" alt=\"%s\">](%s/README.md#%s)", folder, picture, title, folder, Figure{Name: name}.file("", ""))
			flat := func(text string) string { return sentence(strings.ReplaceAll(text, "\n", " ")) }
			if author == nil {
				fmt.Fprintf(&own, "| %s<br>%s, %s | %s | %s |\n", link, folder, name, flat(says[1]), flat(found[1]))
				continue
			}
			word := verdict.FindStringSubmatch(s[5])
			if word == nil {
				return "", fmt.Errorf("%s: figure %s has no verdict", file, name)
			}
			fmt.Fprintf(&papers, "| %s<br>%s | %s | %s | **%s** |\n", link, name, flat(says[1]), flat(found[1]), strings.ToLower(word[1]))
			counts[strings.ToLower(word[1])]++
		}
	}
	var sum []string
	for _, word := range []string{Holding, PerStep, Unresolved, Contrary} {
		sum = append(sum, fmt.Sprintf("*%s* %d", word, counts[word]))
	}
	return replace(page, "index", fmt.Sprintf("\nNumbers of the papers' figures: %s.\n%s\n## Ours\n\n| figure | question | answer |\n| --- | --- | --- |\n%s\n", strings.Join(sum, ", "), papers.String(), own.String()))
}

// Unsourced returns the numbers in the results of a page, which are in bold type, that are not numbers of the blocks of their
// figures, rounded as in the result.
func Unsourced(page string) (missing []string) {
	for _, s := range sections.FindAllStringSubmatch(page, -1) {
		has := numbers.FindAllString(s[5], -1)
		found := result.FindStringSubmatch(s[4])
		if found == nil {
			missing = append(missing, "figure "+s[1]+" has no result in bold type")
			continue
		}
		for _, n := range numbers.FindAllString(found[1], -1) {
			_, decimals, _ := strings.Cut(n, ".")
			if !slices.ContainsFunc(has, func(text string) bool {
				x, err := strconv.ParseFloat(text, 64)
				return text == n || err == nil && strconv.FormatFloat(x, 'f', len(decimals), 64) == n
			}) {
				missing = append(missing, fmt.Sprintf("figure %s: %s", s[1], n))
			}
		}
	}
	return missing
}
