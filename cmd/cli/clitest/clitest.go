// Package clitest is shared by the tests of the commands.
package clitest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"gorbm/cmd/cli"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Toy is a small data set: 8 inputs, 4 classes, 200 rows.
const Toy = "toy:4,4,50,0.2"

// Isolate changes to a new empty folder for the rest of the test, and returns it. The home and cache
// folders are empty too, and downloads fail at once.
func Isolate(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LocalAppData", "GORBM_DATA"} {
		t.Setenv(name, t.TempDir())
	}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	dir := t.TempDir()
	t.Chdir(dir)
	return dir
}

// A Command is a command under test.
type Command struct {
	Name string
	Run  cli.Command
}

// Alone returns a command of one process.
func Alone(run cli.RanksCommand) cli.Command {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		return run(ctx, nil, args, stdout, stderr)
	}
}

// A Result is the exit status and output of a call.
type Result struct {
	Status         int
	Stdout, Stderr string
}

// Call runs the command.
func (c Command) Call(args ...string) Result { return c.CallContext(context.Background(), args...) }

// CallContext runs the command under ctx.
func (c Command) CallContext(ctx context.Context, args ...string) Result {
	var stdout, stderr bytes.Buffer
	status := cli.Run(ctx, c.Name, c.Run, args, &stdout, &stderr)
	return Result{status, stdout.String(), stderr.String()}
}

// OK runs the command and returns its stdout. The command must succeed and print
// nothing but warnings on stderr.
func (c Command) OK(t *testing.T, args ...string) string {
	t.Helper()
	r := c.Call(args...)
	if r.Status != cli.OK {
		t.Fatalf("%s %q exits with %d: %s", c.Name, args, r.Status, r.Stderr)
	}
	for line := range strings.Lines(r.Stderr) {
		if !strings.HasPrefix(line, c.Name+": warning: ") {
			t.Errorf("%s %q prints on stderr: %s", c.Name, args, line)
		}
	}
	return r.Stdout
}

// Fails runs the command, which must exit with the status and print nothing on
// stdout. On stderr it must print one line that begins with its name and contains
// each of words. It must not change the working folder.
func (c Command) Fails(t *testing.T, status int, args []string, words ...string) {
	t.Helper()
	before := Tree(t, ".")
	r := c.Call(args...)
	if r.Status != status {
		t.Errorf("%q exits with %d, want %d", args, r.Status, status)
	}
	if r.Stdout != "" {
		t.Errorf("%q prints on stdout: %s", args, r.Stdout)
	}
	c.OneLine(t, r.Stderr, words...)
	if after := Tree(t, "."); after != before {
		t.Errorf("%q changed files.\nbefore:\n%safter:\n%s", args, before, after)
	}
}

// OneLine checks that stderr is one line that begins with the command's name and contains words.
func (c Command) OneLine(t *testing.T, stderr string, words ...string) {
	t.Helper()
	line, end := strings.CutSuffix(stderr, "\n")
	if !strings.HasPrefix(line, c.Name+": ") || !end || strings.ContainsAny(line, "\n\r") {
		t.Errorf("stderr is not one line that begins with %q: %q", c.Name+": ", stderr)
	}
	for _, bad := range []string{"panic", "goroutine", "%!", "runtime error"} {
		if strings.Contains(line, bad) {
			t.Errorf("stderr holds %q: %s", bad, line)
		}
	}
	for _, w := range words {
		if !strings.Contains(line, w) {
			t.Errorf("stderr lacks %q: %s", w, line)
		}
	}
}

// The size of a screen.
const screenLines, screenColumns = 40, 100

// Help checks -h, -h all and -version. They must exit with 0 and print on stdout only, and
// both helps must name all of flags. -h must fit a screen and have three examples.
func (c Command) Help(t *testing.T, flags ...string) {
	t.Helper()
	Isolate(t)
	if slices.Contains(flags, "quiet") {
		flags = append(flags, "progress")
	}
	script := c.OK(t, "-completion", "bash")
	for _, f := range flags {
		if !regexp.MustCompile(`[' ]-` + f + `[' ]`).MatchString(script) {
			t.Errorf("the script of -completion lacks the flag -%s", f)
		}
	}
	for _, arg := range []string{"-h", "-help", "--help"} {
		out := c.OK(t, arg)
		if n := strings.Count(out, "\n"); n > screenLines {
			t.Errorf("%s has %d lines; a screen has %d", arg, n, screenLines)
		}
		if n := strings.Count(out, "\n  "+c.Name); n != 3 {
			t.Errorf("%s has %d examples, want 3", arg, n)
		}
		_, groups, _ := strings.Cut(out, "\nUsage: "+c.Name+" ")
		words := strings.Fields(groups)
		for _, f := range append(flags, "version", "completion") {
			n := 0
			for _, w := range words {
				if w == "-"+f {
					n++
				}
			}
			if n == 0 {
				t.Errorf("%s lacks the flag -%s", arg, f)
			}
		}
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(line) - 1; n > screenColumns {
				t.Errorf("%s: a line of %d columns, where a screen has %d: %s", arg, n, screenColumns, line)
			}
		}
		out = c.OK(t, arg, "all")
		if !strings.HasPrefix(out, c.Name+" ") || !strings.Contains(out, "\nUsage: "+c.Name+" ") {
			t.Errorf("%s does not begin with what the command is for, or lacks its usage:\n%s", arg, out)
		}
		for _, f := range append(flags, "version", "completion") {
			if !strings.Contains(out, "\n  -"+f+"\n") && !strings.Contains(out, "\n  -"+f+" ") {
				t.Errorf("%s lacks the flag -%s", arg, f)
			}
		}
		for line := range strings.Lines(out) {
			if strings.HasSuffix(line, " \n") {
				t.Errorf("%s: a line ends in a space: %q", arg, line)
			}
		}
	}
	if out := c.OK(t, "-version"); !strings.HasPrefix(out, c.Name+" ") || !strings.Contains(out, "go1.") || strings.Count(out, "\n") != 1 {
		t.Errorf("-version prints %q", out)
	}
	if tree := Tree(t, "."); tree != "" {
		t.Errorf("help left files behind:\n%s", tree)
	}
}

// Tree lists the paths in dir and the SHA-256 of each file.
func Tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		fmt.Fprint(&out, path)
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %x", sha256.Sum256(b))
		}
		fmt.Fprintln(&out)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// testdata is the folder of golden files. Tests start in the folder of their package.
var testdata, _ = filepath.Abs("testdata")

// Golden compares got with a golden file, which -update rewrites.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		Write(t, filepath.Join(testdata, name), got)
		return
	}
	want, err := os.ReadFile(filepath.Join(testdata, name))
	if err != nil {
		t.Fatalf("%v; -update makes it", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; -update accepts it.\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// number matches a number in indented JSON, alone in a line or after its key.
var number = regexp.MustCompile(`(?m)(^|": ) *(-?[0-9][-+.0-9e]*)(,?)$`)

// JSON indents an object for a golden file and rounds its numbers to nine digits,
// because further digits may depend on the machine. Numbers in lists lose their indent.
func JSON(t *testing.T, object string) string {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(object), "", "  "); err != nil {
		t.Fatal(err)
	}
	return number.ReplaceAllStringFunc(indented.String(), func(text string) string {
		part := number.FindStringSubmatch(text)
		x, err := strconv.ParseFloat(part[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		return part[1] + strconv.FormatFloat(x, 'g', 9, 64) + part[3]
	})
}

// Write writes a file, and makes its folder if there is none.
func Write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Read returns the content of a file.
func Read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Model returns a model with random parameters of standard deviation 0.7.
func Model(visible, hidden, classes int, labels rbm.Kind) *rbm.RBM {
	m := rbm.New(visible, hidden, classes, labels)
	m.Randomize(0.7, rbm.NewKey(5))
	return m
}

// Save writes a model file.
func Save(t *testing.T, path string, m *rbm.RBM, about modelfile.About) {
	t.Helper()
	if err := modelfile.Write(path, m, about); err != nil {
		t.Fatal(err)
	}
}

// Load reads a model file.
func Load(t *testing.T, path string) (*rbm.RBM, modelfile.About) {
	t.Helper()
	m, about, err := modelfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return m, about
}
