package cli_test

import (
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	figures = flag.Bool("figures", false, "run the commands whose output the pages print, at full size, and compare")
	long    = flag.Bool("long", false, "run every command of the pages in a reduced form, half a minute")
	renew   = flag.Bool("renew", false, "with -figures: write the new output into the pages")
)

// A block of a page is what its commands print. The commands stand in a comment
// above it, separated by semicolons: <!-- output of: rbmtrain -negphase ins -->.
var outputs = regexp.MustCompile("(?s)<!-- output of: (.*?) -->\n+```\n(.*?)```")

// outputBlocks returns the blocks that show what commands print, each with its
// commands, and checks that every block without a language names them; those that show
// a file are marked as csv.
func outputBlocks(t *testing.T, page, text string) [][]string {
	t.Helper()
	named, bare, inside := outputs.FindAllStringSubmatch(text, -1), 0, false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			if inside = !inside; inside && line == "```\n" {
				bare++
			}
		}
	}
	if bare != len(named) {
		t.Errorf("%s: %d of %d blocks of output name their commands", page, len(named), bare)
	}
	return named
}

// TestFigures compares what the pages print with what the commands print. TestReadme
// checks the form of it alone.
func TestFigures(t *testing.T) {
	if !*figures {
		t.Skip("it runs the commands of the pages at full size, some minutes a page, with -figures")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := programs(t)
	for _, page := range pages {
		path := filepath.Join(root, page)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir() // later commands read what earlier ones wrote
		renewed := string(text)
		for _, b := range outputBlocks(t, page, string(text)) {
			var printed []string
			for _, c := range strings.Split(b[1], ";") {
				args := strings.Fields(c)
				cmd := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%q: %v: %s", args, err, out)
				}
				printed = append(printed, strings.Split(string(out), "\n")...)
			}
			if wrapped, ok := compared(t, page, b[2], printed); ok && *renew {
				renewed = strings.Replace(renewed, b[2], wrapped, 1)
			}
		}
		if renewed != string(text) {
			if err := os.WriteFile(path, []byte(renewed), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Where other figures of a page come from is said above their paragraph, list or table:
// <!-- figures from: experiments/objectives/README.md; not 3.39, 1.81 -->. A source is a
// file of the repository, or a command, which is run with -figures: one of gorbm's, or
// go run in the root of the repository. What follows "not" is compared with nothing:
// figures of papers, settings, times of a clock; "timed" alone stands for all of them.
var (
	froms   = regexp.MustCompile(`^<!-- figures from: (.*?) -->\n*`)
	blocks  = regexp.MustCompile("(?ms)(<!-- output of: [^\n]* -->\n+)?^```.*?^```$")
	between = regexp.MustCompile(`\n[ \t]*\n`)
	// measured is how a paragraph with figures is known.
	measured = regexp.MustCompile(`\d ± \d|\d\.\d+ (%|nats)|−\d+\.\d|−\d\d`)
	// unread are parts of a page in which numbers are no figures.
	unread = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)")
	// figure is a number with digits after its point, or with a unit. Times are no figures.
	figure = regexp.MustCompile(`(\d+\.\d+|\d+)( %| nats)?( (?:s|ms|µs|seconds|minutes)\b)?`)
	number = regexp.MustCompile(`\d+(\.\d+)?(e[-+]?\d+)?`)
)

// A provenance is a part of a page with the sources of its figures.
type provenance struct {
	text           string
	files, command []string
	not            []string // "": all
}

// provenances returns the parts of a page that have sources. Every part with measured
// figures must have some.
func provenances(t *testing.T, page, text string) (all []provenance) {
	t.Helper()
	sources := ""
	for _, part := range between.Split(blocks.ReplaceAllString(text, ""), -1) {
		part = strings.TrimLeft(part, "\n")
		if m := froms.FindStringSubmatch(part); m != nil {
			sources, part = m[1], part[len(m[0]):]
			if part == "" { // an empty line follows
				continue
			}
		}
		if sources == "" {
			if m := measured.FindString(unread.ReplaceAllString(part, "")); m != "" {
				t.Errorf("%s: %q is a figure; say above its paragraph where it is from: <!-- figures from: FILE or COMMAND -->\n%.200s", page, m, part)
			}
			continue
		}
		p := provenance{text: part}
		for _, source := range strings.Split(sources, ";") {
			source = strings.TrimSpace(source)
			switch first, rest, more := strings.Cut(source, " "); {
			case source == "timed":
				p.not = append(p.not, "")
			case first == "not":
				for _, n := range strings.Split(rest, ",") {
					p.not = append(p.not, strings.TrimSpace(n))
				}
			case more:
				p.command = append(p.command, source)
			default:
				p.files = append(p.files, source)
			}
		}
		if p.files == nil && p.command == nil {
			t.Errorf("%s: %q names no source", page, sources)
		}
		all, sources = append(all, p), ""
	}
	return all
}

// missing returns the figures of a part that its sources do not hold, rounded as in the
// part; shares may be of 1 or of 100.
func (p provenance) missing(sources string) (all []string) {
	percent := strings.Contains(p.text, " %")
	var have []float64
	for _, n := range number.FindAllString(sources, -1) {
		if x, err := strconv.ParseFloat(n, 64); err == nil {
			have = append(have, x)
		}
	}
	for _, m := range figure.FindAllStringSubmatch(unread.ReplaceAllString(p.text, ""), -1) {
		_, decimals, fraction := strings.Cut(m[1], ".")
		if !fraction && m[2] == "" || m[3] != "" || slices.Contains(p.not, m[1]) || slices.Contains(p.not, "") {
			continue
		}
		x, err := strconv.ParseFloat(m[1], 64)
		near := func(y float64) bool { return math.Abs(x-y) <= 0.5001*math.Pow10(-len(decimals)) }
		if err != nil || !slices.ContainsFunc(have, func(y float64) bool { return near(y) || percent && near(100*y) }) {
			all = append(all, strings.TrimSpace(m[1]+m[2]))
		}
	}
	return all
}

// TestFigureSources checks that each figure of the pages is in the files that it is said
// to be from, which programs write. So it tells which pages a new measurement changes.
func TestFigureSources(t *testing.T) {
	bin := ""
	if *figures {
		bin = programs(t)
	}
	for _, page := range pages {
		dir := t.TempDir() // later commands read what earlier ones wrote
		text, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range provenances(t, page, string(text)) {
			if p.command != nil && (!*figures || slices.Contains(p.not, "")) {
				continue
			}
			var have strings.Builder
			for _, file := range p.files {
				text, err := os.ReadFile(filepath.Join("../..", file))
				if err != nil {
					t.Errorf("%s: %v", page, err)
				}
				have.Write(text)
			}
			for _, c := range p.command {
				args := strings.Fields(c)
				cmd := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
				if cmd.Dir = dir; args[0] == "go" {
					cmd = exec.Command("go", args[1:]...)
					cmd.Dir = "../.."
				}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%s: %q: %v: %s", page, c, err, out)
				}
				have.Write(out)
			}
			for _, m := range p.missing(have.String()) {
				t.Errorf("%s: %s is not in %s %s any more:\n%s", page, m, strings.Join(p.files, " "), strings.Join(p.command, "; "), p.text)
			}
		}
	}
}

// TestProvenance checks the comparison itself.
func TestProvenance(t *testing.T) {
	const text = "It is 2.85 ± 0.13 % after 23 seconds, `-rate 0.3`, and −70.0 [here](a/0.7.csv), 5 % off 3.39 %.\n"
	const from = "<!-- figures from: a.csv; not 3.39 -->\n"
	silent := new(testing.T)
	if provenances(silent, "page", "Words.\n\n"+text); !silent.Failed() {
		t.Error("a figure without a source")
	}
	all := provenances(t, "page", "Words.\n\n"+from+text+"\nMore 7.5 words.\n\n```\n−3 %\n```\n\n"+from+"\n| 1.5 ± 2.5 |\n")
	if len(all) != 2 || !slices.Equal(all[0].files, []string{"a.csv"}) || all[1].text != "| 1.5 ± 2.5 |\n" {
		t.Fatalf("%+v", all)
	}
	for have, want := range map[string][]string{
		"2.8512 0.1345 -69.98 0.05": nil,
		"0.028512,0.1345,-69.98,5":  nil,
		"2.856 0.1345 -69.98 5":     {"2.85"},
		"2.85 0.13 -70.06 6":        {"70.0", "5 %"},
	} {
		if got := all[0].missing(have); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", have, got, want)
		}
	}
}

// programs builds the commands.
func programs(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if out, err := exec.Command("go", "build", "-o", folder, "gorbm/cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return folder
}

const (
	elided       = "    …" // stands for lines that are left out
	continuation = "    "  // begins what follows in a long line
	wide         = 114     // letters, where lines of pages end
)

var (
	spaces = regexp.MustCompile(`\s+`)
	timed  = regexp.MustCompile(`[0-9.]+ (s|steps/s)\b`) // what a clock says
	// chance are lines that a small run need not print.
	chance = regexp.MustCompile(`warning: |^log Z is at least|^of [0-9]+ samples`)
	begins = regexp.MustCompile(`^.*?(?:[:;,0-9(]|  |$)`) // up to the first value
)

// compared holds the lines of a block against those that were printed, and returns
// the block with those in place of its own.
func compared(t *testing.T, page, block string, printed []string) (renewed string, ok bool) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, continuation) && line != elided {
			lines[len(lines)-1] += " " + strings.TrimSpace(line)
		} else {
			lines = append(lines, line)
		}
	}
	ok = true
	at := 0 // where the lines that are not used yet begin
	for _, line := range lines {
		if line == elided {
			renewed += elided + "\n"
			continue
		}
		begin := beginning(line)
		if !*figures && (begin == "" || chance.MatchString(line)) {
			continue
		}
		found := -1
		for i := at; i < len(printed) && found < 0; i++ {
			if beginning(printed[i]) == begin && printed[i] != "" {
				found = i
			}
		}
		if found < 0 {
			t.Errorf("%s: no line begins with %q any more: %s", page, begin, strings.Join(printed, "\n"))
			return "", false
		}
		if *figures {
			same := func(s string) string { return timed.ReplaceAllString(spaces.ReplaceAllString(s, " "), "TIME $1") }
			if same(line) != same(printed[found]) && !*renew {
				t.Errorf("%s prints\n%s\nand the command now\n%s\ngo test ./cmd/cli -run TestFigures -figures -renew writes the new lines", page, line, printed[found])
			}
			at = found + 1
		}
		renewed += wrapped(printed[found])
	}
	return renewed, ok
}

// beginning returns the words of a line before its first value.
func beginning(line string) string {
	return strings.TrimRight(begins.FindString(line), " :;,(0123456789")
}

// wrapped breaks a line as pages do.
func wrapped(line string) (text string) {
	for utf8.RuneCountInString(line) > wide {
		letters := []rune(line)
		cut := wide
		for cut > len(continuation) && letters[cut] != ' ' {
			cut--
		}
		if cut <= len(continuation) {
			break
		}
		text += string(letters[:cut]) + "\n"
		line = continuation + strings.TrimSpace(string(letters[cut:]))
	}
	return text + line + "\n"
}

// TestCompared checks the comparison itself: lines are found by how they begin, times
// do not count, other numbers do, and new lines are broken as pages are.
func TestCompared(t *testing.T) {
	const block = "error: train 1.5 %,\n    test 2 %\n40 steps in 3.2 s, 12 steps/s\n    …\nladder: good; 5 temperatures\n"
	printed := []string{"toy: 4 rows", "error: train 1.5 %, test 2 %", "40 steps in 9.9 s, 4 steps/s", "results in runs/x", "ladder: good; 5 temperatures"}
	was := *figures
	defer func() { *figures = was }()
	*figures = true
	for _, c := range []struct {
		line int
		text string
		ok   bool
	}{
		{0, "toy: 4 rows", true},
		{1, "error: train 1.6 %, test 2 %", false},
		{4, "ladder: good; 6 temperatures", false},
		{4, "steps of a ladder: 5 temperatures", false},
	} {
		lines := slices.Clone(printed)
		lines[c.line] = c.text
		silent := new(testing.T) // which keeps what is wrong
		text, _ := compared(silent, "page", block, lines)
		if silent.Failed() == c.ok {
			t.Errorf("%q: taken for right: %v", c.text, !c.ok)
		}
		if c.line == 0 && text != "error: train 1.5 %, test 2 %\n40 steps in 9.9 s, 4 steps/s\n    …\nladder: good; 5 temperatures\n" {
			t.Errorf("the new block is %q", text)
		}
	}
	long := strings.Repeat("word ", 40)
	if got := wrapped(strings.TrimSpace(long)); strings.Count(got, "\n    ") != 1 || strings.Join(strings.Fields(got), " ") != strings.TrimSpace(long) {
		t.Errorf("a long line is broken as %q", got)
	}
}
