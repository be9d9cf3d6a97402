package cli_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	figures = flag.Bool("figures", false, "run the commands whose output the pages print, at full size, and compare")
	long    = flag.Bool("long", false, "run every command of the pages in a reduced form, half a minute")
	renew   = flag.Bool("renew", false, "with -figures: write the new output into the pages")
)

// A block of a page is the output of commands. A comment above it has the commands,
// separated by semicolons: <!-- output of: rbmtrain -negphase ins -->.
var outputs = regexp.MustCompile("(?s)<!-- output of: (.*?) -->\n+```\n(.*?)```")

// outputBlocks returns the blocks of output with their commands. It checks that every block
// without a language has commands. Blocks that show a file have the language csv.
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

// TestFigures compares the output on the pages with the output of the commands. TestReadme
// checks only its form.
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
		writeTables(t, dir, string(text))
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
	elided       = "    …" // replaces omitted lines
	continuation = "    "  // begins the rest of a long line
	wide         = 114     // width of lines of pages, in letters
)

var (
	spaces = regexp.MustCompile(`\s+`)
	timed  = regexp.MustCompile(`[0-9.]+ (s|steps/s)\b`) // times
	// chance matches lines that a small run may omit.
	chance = regexp.MustCompile(`warning: |^log Z is at least|^of [0-9]+ samples`)
	begins = regexp.MustCompile(`^.*?(?:[:;,0-9(]|  |$)`) // up to the first value
)

// compared compares the lines of a block with the printed lines, and returns the block with
// the printed lines.
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
	at := 0 // index of the first unused line
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

// wrapped breaks a line like those of pages.
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

// TestCompared checks the comparison: it finds lines by their beginning, ignores times but
// not other numbers, and breaks new lines like those of pages.
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
		silent := new(testing.T) // records failures
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
