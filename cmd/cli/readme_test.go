package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// pages are the pages whose commands are run, in this order. Later commands read files of
// earlier ones, as for a reader who follows the pages.
var pages = []string{
	"README.md", "cmd/README.md", "cmd/rbmtrain/README.md", "cmd/rbmeval/README.md", "cmd/rbmsample/README.md", "cmd/rbmexport/README.md",
	"cmd/python/README.md", // its examples are Python, and its own tests run them
	"cmd/isingmc/README.md", "negphase/README.md", "train/README.md",
}

// mostLines is the largest number of lines of the main page.
const mostLines = 150

// TestReadme runs every command of the pages in a reduced form: on small data, with
// few hidden units and steps. Links must lead to files.
func TestReadme(t *testing.T) {
	if !*long {
		t.Skip("it runs some forty commands, half a minute, with -long")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if found := pagesIn(t, root); !slices.Equal(found, sorted(pages)) {
		t.Errorf("the pages are %v, and those tested %v", found, sorted(pages))
	}
	bin, dir := programs(t), t.TempDir()
	writeOwnData(t, dir)
	printed := map[string][]string{} // by command
	run := func(page, line string) []string {
		if lines, done := printed[line]; done {
			return lines
		}
		printed[line] = nil
		args, ok := reduced(line)
		if !ok {
			t.Errorf("%s: no reduced form of %q", page, line)
		}
		if args == nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(bin, args[0]), args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %q, as %q: %v: %s", page, line, args, err, out)
		}
		t.Logf("%.2f s: %s", (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), line)
		printed[line] = strings.Split(string(out), "\n")
		return printed[line]
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); page == "README.md" && n > mostLines {
			t.Errorf("%s has %d lines; at most %d, the rest belongs to the pages", page, n, mostLines)
		}
		checkLinks(t, filepath.Dir(filepath.Join(root, page)), string(text))
		writeTables(t, dir, string(text))
		for _, line := range shellLines(string(text)) {
			run(page, line)
		}
		for _, b := range outputBlocks(t, page, string(text)) { // its lines must begin like the printed ones
			var lines []string
			for _, c := range strings.Split(b[1], ";") {
				lines = append(lines, run(page, "go run ./cmd/"+strings.TrimSpace(c))...)
			}
			compared(t, page, b[2], lines)
		}
	}
}

// A file of a page is a block that the reader saves. A comment above it has its name:
// <!-- file: days.csv -->.
var saved = regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n+```(\\w+)\n(.*?)```")

// writeTables writes the tables that a page tells its reader to save.
func writeTables(t *testing.T, dir, text string) {
	t.Helper()
	for _, m := range saved.FindAllStringSubmatch(text, -1) {
		if m[2] != "csv" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, m[1]), []byte(m[3]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPrograms builds the Go programs of the pages where the reader saves them. With -long it
// runs them too: the page has each line that they print.
func TestPrograms(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		bytes, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		text, programs := string(bytes), 0
		for _, m := range saved.FindAllStringSubmatch(text, -1) {
			if m[2] != "go" {
				continue
			}
			programs++
			out := runSaved(t, root, m[1], m[3])
			for line := range strings.Lines(out) {
				if line = strings.TrimSpace(line); !strings.Contains(text, "`"+line+"`") {
					t.Errorf("%s: %s prints %q, which the page does not say", page, m[1], line)
				}
			}
		}
		if n := strings.Count(text, "```go\n"); n != programs {
			t.Errorf("%s: %d of %d Go programs have a comment with their file", page, programs, n)
		}
	}
}

// runSaved builds a program as if it were saved under a name in the repository, and with -long
// returns what it prints.
func runSaved(t *testing.T, root, name, source string) (printed string) {
	t.Helper()
	dir := t.TempDir()
	file, overlay, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program")
	places, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, name): file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{file: []byte(source), overlay: places} {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if formatted, err := format.Source([]byte(source)); err != nil || string(formatted) != source {
		t.Errorf("%s is not formatted as by gofmt: %v", name, err)
	}
	build := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./"+filepath.ToSlash(filepath.Dir(name)))
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	if !*long {
		return ""
	}
	run := exec.Command(program)
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s", name, err, out)
	}
	return string(out)
}

// pagesIn returns the pages in a tree, except for those that experiments write.
func pagesIn(t *testing.T, root string) (found []string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "README.md" {
			return err
		}
		page, err := filepath.Rel(root, path)
		page = filepath.ToSlash(page)
		if !strings.HasPrefix(page, "experiments/") {
			found = append(found, page)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sorted(found)
}

func sorted(all []string) []string { return slices.Sorted(slices.Values(all)) }

// shellLines returns the commands of the blocks marked sh, without comments.
func shellLines(text string) (lines []string) {
	in := false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\n"), "    #")
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "```"):
			in = line == "```sh"
		case in && line != "":
			line, _, _ = strings.Cut(line, "  #")
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

var links = regexp.MustCompile(`\]\(([^)#]+)\)`)

// checkLinks checks that relative links of a text lead to files.
func checkLinks(t *testing.T, dir, text string) {
	for _, m := range links.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil && !strings.Contains(m[1], "://") {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
}

// reduced returns the command with smaller numbers, or nil if other tests run the command.
// It returns false for unknown commands.
func reduced(line string) (args []string, ok bool) {
	if line == "go test ./..." || line == "go install ./cmd/..." || strings.HasPrefix(line, "go run ./experiments/") ||
		strings.HasPrefix(line, "CC=mpicc go build ") || line == "go run ./cmd/mine" || line == "go run ./cmd/toy" || strings.HasPrefix(line, "mpirun ") {
		return nil, true
	}
	rest, ok := strings.CutPrefix(line, "go run ./cmd/")
	if !ok {
		return nil, false
	}
	args = strings.Fields(rest)
	// Flags of the page get these values; flags of more are added.
	given := map[string]map[string]string{
		"rbmtrain":   {"-steps": "12", "-epochs": "1", "-holdout": "20"},
		"isingmc":    {"-seconds": "0.05", "-moves": "200", "-tune": "", "-lattice": ""},
		"rbmeval":    {},
		"rbmsample":  {},
		"rbmcompare": {},
		"rbmexport":  {},
	}[args[0]]
	if given == nil {
		return nil, false
	}
	for i := 1; i < len(args)-1; i++ {
		switch value := given[args[i]]; {
		case args[i] == "-hidden" && len(args[i+1]) > 2: // hundreds
			args[i+1] = "30"
		case value != "":
			args[i+1] = value
		case args[i] == "-data":
			args[i+1] = smallData(args[i+1])
		}
	}
	add := func(name string, value ...string) {
		if !slices.Contains(args, name) {
			args = append(append(args, name), value...)
		}
	}
	switch has := func(name string) bool { return slices.Contains(args, name) }; args[0] {
	case "rbmtrain":
		if has("-resume") {
			return append(args, "-steps", "18"), true // more than the 12 steps above
		}
		if line == "go run ./cmd/rbmtrain -negphase ins -data mnist" {
			add("-out", "runs/mnist-ins-1") // the default, which other commands use
		}
		add("-data", fewDigits)
		if !has("-epochs") {
			add("-steps", "12")
		}
		add("-eval-every", "6") // because measurements take most of a short run
		add("-hidden", "30")    // beyond enumeration
	case "rbmeval":
		if !has("-rows") && !has("-features") && !has("-classify") && !has("-analysis") && !has("-mutants") && !has("runs/days") { // the model of days is small enough to enumerate
			args = append(args, "-ladder-rounds", "200", "-ais-temperatures", "50", "-ais-chains", "5")
		}
	case "rbmsample":
		if !has("-fill") {
			args = append(args, "-rounds", "200", "-n", "4")
		}
	case "rbmcompare":
		if has("-runs") {
			for i, arg := range args {
				args[i] = strings.Trim(arg, "'") // like the shell
			}
			return args, true
		}
		args = append(args, "-steps", "50", "-repeats", "2")
	case "isingmc":
		for i, arg := range args {
			if arg == "-tune" {
				args[i] = "-tune=paper:evaluations=8"
			}
		}
		if !has("-gap") && !has("-moves") {
			add("-seconds", "0.05")
		}
	}
	return args, true
}

const fewDigits = "fontdigits:100"

// smallData returns a small data set of the same kind.
func smallData(spec string) string {
	switch {
	case strings.HasPrefix(spec, "mnist"):
		return "mnist:100"
	case spec == "fontdigits":
		return fewDigits
	case spec == "sequences":
		return "sequences:200"
	}
	return spec
}

// writeOwnData writes the files that on the pages are the reader's data.
func writeOwnData(t *testing.T, dir string) {
	t.Helper()
	var rows, holes, table, reals, spins strings.Builder
	table.WriteString("colour,age,ill,city\n")
	for i := range 40 {
		fmt.Fprintf(&rows, "%d,%d,1,0\n", i%2, 1-i%2)
		fmt.Fprintf(&reals, "%g,%g,%g\n", 0.1*float64(i), 1.5*float64(i%7), 20-0.3*float64(i%11))
		fmt.Fprintf(&spins, "%d,%d,%d\n", 2*(i%2)-1, 1-2*(i/2%2), 2*(i/4%2)-1)
		fmt.Fprintf(&table, "%s,%d,%d,%s\n", []string{"red", "green", "blue", ""}[i%4], 20+i, i%2, []string{"Bonn", "Lyon", "NA", "Turin", "Lyon"}[i%5])
	}
	holes.WriteString(strings.TrimSuffix(strings.Repeat("0,", 300)+strings.Repeat(",", 484), ",") + "\n")
	for name, text := range map[string]string{
		"sweep.txt": "-negphase {pcd,ins} -seed {1..2}\n-negphase ins -rate 0.1 -out runs/best\n", "mine.csv": rows.String(), "table.csv": table.String(), "real.csv": reals.String(), "spins.csv": spins.String(), "holes.csv": holes.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
