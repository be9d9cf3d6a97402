package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gorbm/data"
	"gorbm/rbm"
)

// status runs a command that returns err, and returns the exit status and stderr.
func status(ctx context.Context, err error) (int, string) {
	var stderr bytes.Buffer
	s := Run(ctx, "prog", func(context.Context, []string, io.Writer, io.Writer) error { return err }, nil, io.Discard, &stderr)
	return s, stderr.String()
}

func TestRunStatus(t *testing.T) {
	signal := func(status int) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(signalled{status})
		return ctx
	}
	plain, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		err    error
		status int
		stderr string
	}{
		{"nothing wrong", context.Background(), nil, OK, ""},
		{"help", context.Background(), flag.ErrHelp, OK, ""},
		{"failure", context.Background(), errors.New("it broke"), Failed, "prog: it broke\n"},
		{"usage", context.Background(), Usagef("-k is %d", 3), Usage, "prog: -k is 3\n"},
		{"wrapped usage", context.Background(), fmt.Errorf("so: %w", Usagef("-k")), Usage, "prog: so: -k\n"},
		{"several lines", context.Background(), errors.Join(errors.New("one\n\ttwo"), errors.New("three")), Failed, "prog: one two three\n"},
		{"Ctrl-C", signal(Interrupted), context.Canceled, Interrupted, ""},
		{"Ctrl-C with a message", signal(Interrupted), errors.New("stopped after step 3"), Interrupted, "prog: stopped after step 3\n"},
		{"Ctrl-C, wrapped", signal(Interrupted), fmt.Errorf("step 3: %w", context.Canceled), Interrupted, "prog: step 3: context canceled\n"},
		{"SIGTERM", signal(Terminated), context.Canceled, Terminated, ""},
		{"Ctrl-C too late", signal(Interrupted), nil, OK, ""},
		{"cancelled by the caller", plain, context.Canceled, Failed, "prog: context canceled\n"},
	} {
		if s, stderr := status(c.ctx, c.err); s != c.status || stderr != c.stderr {
			t.Errorf("%s: status %d and %q, want %d and %q", c.name, s, stderr, c.status, c.stderr)
		}
	}
	if Interrupted != 128+int(syscall.SIGINT) || Terminated != 128+int(syscall.SIGTERM) {
		t.Error("the statuses of signals are not 128 + their numbers")
	}
}

func TestUsagefWraps(t *testing.T) {
	if err := Usagef("-data: %w", io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("a usage error hides what it wraps")
	}
}

// parse parses args with one int flag, -hidden.
func parse(args ...string) (f *Flags, hidden int, stdout string, err error) {
	var out bytes.Buffer
	f = NewFlags("prog", "prog does this.", "prog [flags]")
	f.IntVar(&hidden, "hidden", 7, "hidden units")
	err = f.Parse(args, &out, io.Discard)
	return f, hidden, out.String(), err
}

func TestFlags(t *testing.T) {
	f, n, out, err := parse("-hidden", "3")
	if err != nil || n != 3 || out != "" || !f.Given("hidden") || f.Given("version") {
		t.Errorf("-hidden 3: %d, %v, stdout %q", n, err, out)
	}
	if f, n, _, err := parse(); err != nil || n != 7 || f.Given("hidden") {
		t.Errorf("no flags: %d, %v", n, err)
	}
	_, _, out, err = parse("-h")
	if !errors.Is(err, flag.ErrHelp) || !strings.Contains(out, "prog does this.\n\nUsage: prog [flags]\n\nFlags:\n  -completion string\n") {
		t.Errorf("-h: %v, stdout %q", err, out)
	}
	if _, _, out, err := parse("-version"); !errors.Is(err, flag.ErrHelp) || out != "prog "+Version()+"\n" {
		t.Errorf("-version: %v, stdout %q", err, out)
	}
	for _, c := range []struct{ arg, want string }{
		{"-hiden=3", "flag provided but not defined: -hiden; did you mean -hidden?; see -h"},
		{"-zzzzzz", "flag provided but not defined: -zzzzzz; see -h"},
		{"-hidden=x", `invalid value "x" for flag -hidden: it must be a whole number, such as 10000 or 1e4; see -h`},
		{"-hidden", "flag needs an argument: -hidden; see -h"},
		{"file", `unexpected argument "file"; settings are given by flags, see -h`},
	} {
		_, _, out, err := parse(c.arg)
		var usage usageError
		if err == nil || err.Error() != c.want || !errors.As(err, &usage) || out != "" {
			t.Errorf("%s: %v, want %s", c.arg, err, c.want)
		}
	}
}

// -data help lists the data, whatever else is given.
func TestDataHelp(t *testing.T) {
	var out bytes.Buffer
	f := NewFlags("prog", "prog does this.", "prog [flags]")
	f.AddData(DataRows{Spec: "bars"})
	if err := f.Parse([]string{"-data", "help", "-shape", "2x2"}, &out, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v, want flag.ErrHelp", err)
	}
	for _, name := range append(slices.DeleteFunc(data.Names(), func(name string) bool { return name == data.Stdin }), ".csv", ".npz", "FILE.fasta", "-scale", "prog -h all explains them.\n") {
		if !strings.Contains(out.String(), name) {
			t.Errorf("-data help has no %s: %s", name, out.String())
		}
	}
}

// A whole number may be written with an exponent.
func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]int{"1e4": 10000, "2.5e3": 2500, "12": 12, "-3": -3, "0": 0, "1E2": 100} {
		if _, n, _, err := parse("-hidden", text); n != want || err != nil {
			t.Errorf("%s is %d, want %d: %v", text, n, want, err)
		}
	}
	for _, text := range []string{"1.5", "1e-1", "", "1e30", "nan", "inf", "1e4x", "99999999999999999999"} {
		if _, n, _, err := parse("-hidden", text); err == nil {
			t.Errorf("%q is taken for %d", text, n)
		}
	}
}

// The scripts of -completion complete flags and known values, in each shell that is
// installed.
func TestCompletion(t *testing.T) {
	script := func(shell string) string {
		var out bytes.Buffer
		f := NewFlags("prog", "prog does this.", "prog [flags]")
		f.IntVar(new(int), "hidden", 7, "hidden units, it's so: [many] of them; more")
		f.Bool("force", false, "overwrite")
		f.StringVar(new(string), "kind", "", "which one (of several)").Offer("first", "second")
		if err := f.Parse([]string{"-completion", shell}, &out, io.Discard); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("-completion %s: %v", shell, err)
		}
		return out.String()
	}
	path := func(shell string) string {
		p, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not on this machine", shell)
		}
		return p
	}
	if bash := path("bash"); bash != "" {
		for line, want := range map[string]string{"prog -h": "-hidden", "prog -kind ": "first second", "prog -kind s": "second", "prog -force -ki": "-kind"} {
			words := strings.Split(line, " ")
			test := fmt.Sprintf("%s\nCOMP_WORDS=(%s); COMP_WORDS[%d]='%s'; COMP_CWORD=%d; _prog; echo ${COMPREPLY[*]}",
				script("bash"), line, len(words)-1, words[len(words)-1], len(words)-1)
			out, err := exec.Command(bash, "-c", test).CombinedOutput()
			if got := strings.TrimSpace(string(out)); got != want || err != nil {
				t.Errorf("bash completes %q by %q, want %q: %v", line, got, want, err)
			}
		}
	}
	for _, shell := range []string{"zsh", "fish"} {
		text := script(shell)
		if !strings.Contains(text, "first second") || !strings.Contains(text, "hidden") {
			t.Errorf("%s: %s", shell, text)
		}
		if p := path(shell); p != "" {
			cmd := exec.Command(p, "-n")
			cmd.Stdin = strings.NewReader(text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s does not read its script: %s", shell, out)
			}
		}
	}
	var usage usageError
	if _, _, _, err := parse("-completion", "csh"); !errors.As(err, &usage) || !strings.Contains(err.Error(), "bash, zsh, fish") {
		t.Errorf("-completion csh: %v", err)
	}
}

func TestChecks(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string // "" for none
	}{
		{Choice("part", "test", "train", "test"), ""},
		{Choice("part", "tset", "train", "test"), `-part is "tset"; did you mean test? (it is train, test)`},
		{Choice("part", "qqqqqq", "train", "test"), `-part is "qqqqqq"; it is train, test`},
	} {
		got := ""
		if c.err != nil {
			got = c.err.Error()
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Without a terminal there is no bar: nothing is written to memory, and a file gets lines from
// ten seconds on.
func TestProgressOffTerminals(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var buf bytes.Buffer
	for _, w := range []io.Writer{&buf, file} {
		p := (&Flags{Stderr: w}).NewProgress("work", "rows", 10)
		p.Set(5, "half")
		if n, err := p.Write(make([]byte, 3)); n != 3 || err != nil {
			t.Errorf("Write returns %d, %v", n, err)
		}
		p.Done()
	}
	if info, err := file.Stat(); err != nil || info.Size() != 0 || buf.Len() != 0 {
		t.Errorf("a bar was drawn where there is no terminal: %q", buf.String())
	}
	p := (&Flags{Stderr: file}).NewProgress("work", "rows", 10)
	p.lines.set(2, "", p.lines.begin.Add(9*time.Second))
	p.lines.set(4, "", p.lines.begin.Add(10*time.Second))
	p.lines.set(5, "", p.lines.begin.Add(19*time.Second))
	if text, err := os.ReadFile(file.Name()); err != nil || string(text) != "work: 4 of 10 rows, 40.0 %, 2.5 s per row, 15s left\n" {
		t.Errorf("lines in a file: %q, %v", text, err)
	}
}

// With -progress plain a line is printed after two seconds and then every ten seconds. It has the
// remaining time at the rate so far.
func TestPlainProgress(t *testing.T) {
	var buf bytes.Buffer
	f := NewFlags("x", "x does.", "x [flags]")
	f.AddOutput("", "")
	if err := f.Parse([]string{"-progress", "plain"}, io.Discard, &buf); err != nil {
		t.Fatal(err)
	}
	p := f.NewProgress("training", "steps", 1000)
	begin := p.lines.begin
	for _, c := range []struct {
		n     int64
		after time.Duration
		text  string
		want  string
	}{
		{10, time.Second, "", ""},
		{100, 2 * time.Second, "", "training: 100 of 1000 steps, 10.0 %, 50 steps/s, 18s left\n"},
		{200, 11 * time.Second, "", ""},
		{240, 12 * time.Second, "error 0.1", "error 0.1: 240 of 1000 steps, 24.0 %, 20 steps/s, 38s left\n"},
		{1000, 40 * time.Second, "", ""}, // no line at the end
	} {
		buf.Reset()
		p.lines.set(c.n, c.text, begin.Add(c.after))
		if buf.String() != c.want {
			t.Errorf("%d after %v prints %q, want %q", c.n, c.after, buf.String(), c.want)
		}
	}
	p.Clear()
	p.Done()
	if n, err := p.Write(make([]byte, 3)); n != 3 || err != nil || p.lines.done != 1003 {
		t.Errorf("Write returns %d, %v; done are %d", n, err, p.lines.done)
	}
	p = f.NewProgress("", "‰", 1000)
	buf.Reset()
	p.lines.set(250, "AIS", p.lines.begin.Add(5*time.Second))
	if got := buf.String(); got != "AIS: 25.0 %, 15s left\n" {
		t.Errorf("parts of a thousand: %q", got)
	}
	if err := f.Parse([]string{"-progress", "bar"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "auto or plain") {
		t.Errorf("-progress bar: %v", err)
	}
	f.Quiet = true
	if f.NewProgress("training", "steps", 10) != nil {
		t.Error("-quiet shows progress")
	}
}

func TestCheckNew(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("there.png", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ arg, want string }{
		{"-version=false", ""}, // -out is not given
		{"-out=new.png", ""},
		{"-out=new.NPZ", ""},
		{"-out=", `-out is ""; it must end in .npz or .png`},
		{"-out=new.csv", `-out is "new.csv"; it must end in .npz or .png`},
		{"-out=there.png", "-out: there.png is there already; remove it or choose another name"},
		{"-folder=new", ""},
		{"-folder=there.png", "-folder: there.png is there already; remove it or choose another name"},
		{"-folder=.", "-folder: . is there already; remove it or choose another name"},
		{"-folder=no/new", "-folder: there is no folder no for new; make it first"},
		{"-folder=there.png/new", "-folder: there is no folder there.png for new; make it first"},
	} {
		f := NewFlags("prog", "", "")
		f.StringVar(new(string), "out", "", "").New(".npz", ".png")
		f.StringVar(new(string), "folder", "", "").New()
		if err := f.Parse([]string{c.arg}, io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := f.CheckNew(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.arg, got, c.want)
		}
	}
}

func TestFormats(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	if Finite(nan) || Finite(inf) || !Finite(2) || Known(nan) != nil || Known(2) != 2. {
		t.Error("Finite")
	}
	for _, c := range []struct{ got, want string }{
		{Number(0.12345), "0.123"}, {Number(nan), "–"}, {Percent(0.1234), "12.3 %"}, {Percent(nan), "–"},
		{PlusMinus(1.23456, 0.01, 3), "1.235 ± 0.010"}, {PlusMinus(1.23456, inf, 3), "1.235"},
		{PlusMinus(1.23456, 0.00012, 3), "1.23456 ± 0.00012"}, {PlusMinus(1.23456, 0.0005, 3), "1.235 ± 0.001"}, {PlusMinus(1.23456, 0, 3), "1.235 ± 0"},
		{Field(1.0/3, 4), "0.3333"}, {Field(nan, 4), ""},
		{Units(rbm.New(12, 5, 4, rbm.Bernoulli)), "8 inputs + 4 bernoulli labels, 5 hidden units"},
		{Units(rbm.New(8, 5, 0, rbm.Softmax)), "8 inputs, 5 hidden units"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	m := rbm.New(8, 5, 0, rbm.Softmax)
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 3}
	if got, want := Units(m), "8 inputs, 5 hidden units, 3 units of all on"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// -workers lowers GOMAXPROCS, never raises it, and the old value is restored.
func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct {
		args []string
		want int
	}{{nil, 4}, {[]string{"-workers", "0"}, 4}, {[]string{"-workers", "1"}, 1}, {[]string{"-workers=3"}, 3}, {[]string{"-workers", "9"}, 4}} {
		f := NewFlags("x", "", "")
		var n int
		f.AddWorkers(&n)
		if err := f.Parse(c.args, io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
		restore := UseWorkers(n)
		if got := runtime.GOMAXPROCS(0); got != c.want {
			t.Errorf("%v uses %d processors, want %d", c.args, got, c.want)
		}
		restore()
		if got := runtime.GOMAXPROCS(0); got != 4 {
			t.Fatalf("%v leaves %d processors, want 4", c.args, got)
		}
	}
}

// The settings of a row decide which command lines are accepted.
func TestRows(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", ""},
		{"-n 0", ""}, // equal to the default
		{"-n 4 -kind b -x 0.5 -y 0 -many 4503599627370496", ""},
		{"-n 2", ""},
		{"-n 5", ""},
		{"-n 1", "-n is 1; it must lie in 2 … 5"},
		{"-n 6", "-n is 6; it must lie in 2 … 5"},
		{"-w 0", "-w is 0; it must lie in 1 … 2147483647"}, // not its default, -1
		{"-many 4503599627370497", "-many is 4503599627370497; it must lie in 1 … 4503599627370496"},
		{"-kind bb", `-kind is "bb"; it is a, b`},
		{"-x 0", "-x is 0; it must be above 0 and at most 1"},
		{"-x nan", "-x is NaN; it must be above 0 and at most 1"},
		{"-y inf", "-y is +Inf; it must be a finite number"},
		{"-z inf", "-z is +Inf; it must be a finite number above 0"},
		{"-sort a", "-sort is for -runs, which is not given"},
		{"-sort a -runs r -json", ""},
		{"-runs r -kind a -n 3", "-kind -n cannot go with -runs, which reads finished runs; only -sort -progress -quiet -json can"},
		{"-gap -x 1", "-x cannot go with -gap, which runs no chain; leave one of them out"},
		{"-gap=false -x 1", ""},
		{"-y 1 -z 1", "-z and -y mean the same; give one of them"},
	} {
		f := NewFlags("prog", "", "")
		f.IntVar(new(int), "n", 0, "").Between(2, 5).OrZero()
		f.IntVar(new(int), "w", -1, "").Between(1, math.MaxInt32)
		f.Int64Var(new(int64), "many", 7, "").Between(1, 1<<52)
		f.StringVar(new(string), "kind", "", "").Choice("a", "b")
		f.Float64Var(new(float64), "x", 1, "").Above(0, 1).Not("gap")
		f.Float64Var(new(float64), "y", 1, "").Finite()
		f.Float64Var(new(float64), "z", 1, "").Above(0, math.Inf(1)).Same("y")
		f.BoolVar(new(bool), "gap", false, "").Mode("runs no chain")
		f.StringVar(new(string), "runs", "", "").Alone("reads finished runs")
		f.StringVar(new(string), "sort", "", "").For("runs").Tag("runs")
		f.AddOutput("", "", "runs")
		got := ""
		if err := f.Parse(strings.Fields(c.args), io.Discard, io.Discard); err != nil {
			got = err.Error()
			var usage usageError
			if !errors.As(err, &usage) {
				t.Errorf("%s: %v is no usage error", c.args, err)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
}

// A default that is set later, for example by a preset, is checked like a flag that is given, but
// not marked as given.
func TestSetDefault(t *testing.T) {
	f := NewFlags("prog", "", "")
	var n int
	f.IntVar(&n, "n", 0, "").Between(2, 5)
	if err := f.Parse(nil, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"3": "", "9": "-n is 9; it must lie in 2 … 5"} {
		got := ""
		if err := cmp.Or(f.SetDefault("n", value), f.Check()); err != nil {
			got = err.Error()
		}
		if got != want || f.Given("n") {
			t.Errorf("the default %s: %q, want %q; given: %v", value, got, want, f.Given("n"))
		}
	}
	if f.SetDefault("m", "1") == nil || f.SetDefault("n", "x") == nil {
		t.Error("a flag that is not there, or a value that is none, is taken")
	}
}

// A repeated flag of names collects all names, without duplicates.
func TestFlagsOfNames(t *testing.T) {
	for _, c := range []struct{ args, ignore, categorical string }{
		{"", "", "auto"},
		{"-ignore a", "a", "auto"},
		{"-ignore a -ignore b,c -ignore b", "a,b,c", "auto"},
		{"-categorical b -categorical a -ignore b", "b", "b,a"},
		{"-categorical auto -categorical a", "", "a"},
	} {
		f := NewFlags("prog", "", "")
		d := f.AddData(DataRows{})
		if err := f.Parse(strings.Fields(c.args), io.Discard, io.Discard); err != nil || d.Ignore != c.ignore || d.Categorical != c.categorical {
			t.Errorf("%s: -ignore %q, -categorical %q, %v", c.args, d.Ignore, d.Categorical, err)
		}
	}
}

// -h has the flags in their groups: first flags with a line each, then the names of the others. The
// last group has the flags of every command.
func TestScreen(t *testing.T) {
	f := NewFlags("prog", "", "prog [flags]")
	f.Screen = Screen{Purpose: "prog does.", Examples: []string{"prog -n 3  # three"}}
	f.Group("model")
	f.IntVar(new(int), "n", 0, "")
	f.StringVar(new(string), "model", "", "").Main("FILE  a model")
	f.Group("others")
	f.BoolVar(new(bool), "force", false, "").Main("  overwrite")
	var out strings.Builder
	if err := f.Parse([]string{"-h"}, &out, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	const want = `prog does.

  prog -n 3  # three

Usage: prog [flags]
  model   -model FILE      a model
          -n
  others  -force           overwrite
          -version -completion

prog -h all explains all of this and every flag.
`
	if out.String() != want {
		t.Errorf("got %q\nwant %q", out.String(), want)
	}
}

// Numbers from a hundred to a million have no exponents.
func TestNumberWithoutExponent(t *testing.T) {
	for x, want := range map[float64]string{2968.4: "2970", -1208: "-1210", 99.96: "100", 998.7: "999", 999.7: "1000", 234567: "235000", 1.234e6: "1.23e+06", 0.00012345: "0.000123", math.NaN(): "–"} {
		if got := Number(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{99.7: "100", 56.4: "56", 1234: "1200", 0: "0"} {
		if got := TwoDigits(x); got != want {
			t.Errorf("%v: %q in two digits, want %q", x, got, want)
		}
	}
}

func TestFourDigits(t *testing.T) {
	for x, want := range map[float64]string{16634.2: "16630", 817.26: "817.3", 999.96: "1000", 2: "2", 0.0012345: "0.001234", 0: "0", math.Inf(1): "+Inf"} {
		if got := FourDigits(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}
