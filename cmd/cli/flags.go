package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"gorbm/data/grammar"
	"gorbm/rbm/finitejson"
)

// MaxStates is the largest allowed rows × hidden units of a batch, and the largest
// allowed chains × replicas × hidden units. The float32 means of that many take 2 GiB.
const MaxStates = 1 << 29

// StateBytes forecasts the bytes for the states and the hidden means of the given number of rows, in this
// step and the step before.
func StateBytes(rows, visible, hidden int) float64 {
	return 2 * float64(rows) * (4*float64(hidden) + float64(hidden+visible)/8 + 16)
}

// Flags is the flag set of a command and the streams that it writes to.
type Flags struct {
	*flag.FlagSet
	Stdout, Stderr io.Writer // set by Parse
	Quiet, JSON    bool      // flags that AddOutput adds
	Screen         Screen    // what -h prints
	Subject        string    // prefix of warnings, such as the name of one run of several; "": none

	summary, usage string
	progress       progressMode
	version        bool
	shell          string // value of -completion
	data           *DataFlags
	rows           []*Row   // in the order of declaration
	groups         []string // titles of the groups; the next row joins the last group
}

// NewFlags returns the flags of a command, with -version and -completion. summary describes
// the command in -h all; usage shows how to call it.
func NewFlags(name, summary, usage string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), summary: summary, usage: usage}
	f.SetOutput(io.Discard)
	f.BoolVar(&f.version, "version", false, "print the version and exit")
	f.StringVar(&f.shell, "completion", "", "print the completion script for a shell (bash, zsh or fish) and exit; use it by source <(NAME -completion bash)").Choice("bash", "zsh", "fish")
	f.FlagSet.Usage = func() {}
	return f
}

// AddOutput adds the flags -quiet, -json and -progress. quiet and json are the help texts of the first
// two; all three get the tags.
func (f *Flags) AddOutput(quiet, json string, tags ...string) {
	f.progress = bars
	f.Var(&f.progress, "progress", "how to show progress: auto, a bar on a terminal and otherwise a line of text every ten seconds, or plain, always lines").Offer(string(bars), string(plain)).Tag(tags...)
	f.BoolVar(&f.Quiet, "quiet", false, quiet).Tag(tags...)
	f.BoolVar(&f.JSON, "json", false, json+"; infinite and unknown numbers (NaN) are null").Tag(tags...)
}

// AddWorkers adds the flag -workers. Its value is the argument of UseWorkers.
func (f *Flags) AddWorkers(n *int) *Row {
	return f.IntVar(n, "workers", 0, "largest number of processors to use; 0: all. Results are bit-identical for any value").Between(0, math.MaxInt32)
}

// UseWorkers lowers GOMAXPROCS to n, unless n is 0 or larger than GOMAXPROCS. The
// function that it returns restores the old value.
func UseWorkers(n int) (restore func()) {
	if n == 0 {
		return func() {}
	}
	old := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(min(n, old))
	return func() { runtime.GOMAXPROCS(old) }
}

// Parse reads and checks args. It returns a usage error for wrong arguments, and
// flag.ErrHelp after it has printed help, the kinds of data, the version or a completion script.
func (f *Flags) Parse(args []string, stdout, stderr io.Writer) error {
	f.Stdout, f.Stderr = stdout, stderr
	err := f.FlagSet.Parse(args)
	given := func(r *Row) bool { return f.Given(r.Name) }
	switch {
	case errors.Is(err, flag.ErrHelp):
		switch {
		case f.NArg() > 0 && f.Arg(0) == "all" || f.Screen.Purpose == "":
			f.printAll(stdout)
		default:
			f.printScreen(stdout)
		}
		return err
	case err != nil:
		return Usagef("%s%s; see -h", shorten(strings.TrimSuffix(err.Error(), ": parse error")), f.suggest(err))
	case f.version:
		fmt.Fprintf(stdout, "%s %s\n", f.Name(), Version())
		return flag.ErrHelp
	case f.shell != "":
		if err := f.check(given); err != nil {
			return err
		}
		io.WriteString(stdout, f.completion(f.shell))
		return flag.ErrHelp
	case f.data != nil && f.data.Spec == "help":
		io.WriteString(stdout, f.dataHelp())
		return flag.ErrHelp
	case f.NArg() > 0:
		return Usagef("unexpected argument %.200q; settings are given by flags, see -h", f.Arg(0))
	}
	return cmp.Or(f.check(given), f.checkTogether())
}

// shorten replaces the middle of a long message, which quotes a value of a flag.
func shorten(message string) string {
	const part = 200 // bytes of each end that are kept
	if len(message) <= 2*part {
		return message
	}
	return strings.ToValidUTF8(message[:part], "") + " … " + strings.ToValidUTF8(message[len(message)-part:], "")
}

// suggest names the flag that is most similar to an unknown one.
func (f *Flags) suggest(err error) string {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return ""
	}
	if near := grammar.Nearest(name, f.flagNames()); near != "" {
		return "; did you mean -" + near + "?"
	}
	return ""
}

// Given reports whether the flag was on the command line.
func (f *Flags) Given(name string) bool {
	given := false
	f.Visit(func(g *flag.Flag) { given = given || g.Name == name })
	return given
}

// FirstGiven returns the first of names that was on the command line, or "".
func (f *Flags) FirstGiven(names ...string) string {
	if i := slices.IndexFunc(names, f.Given); i >= 0 {
		return names[i]
	}
	return ""
}

// Warn prints each text as a warning on standard error.
func (f *Flags) Warn(texts ...string) {
	for _, text := range texts {
		if f.Subject != "" {
			text = f.Subject + ": " + text
		}
		fmt.Fprintf(f.Stderr, "%s: warning: %s\n", f.Name(), text)
	}
}

// Print prints a result on standard output: v as one line of JSON with -json,
// otherwise what text writes.
func (f *Flags) Print(v any, text func(w io.Writer) error) error {
	if f.JSON {
		return finitejson.Write(f.Stdout, v, "")
	}
	return text(f.Stdout)
}

// Choice returns a usage error for the flag unless value is one of known.
func Choice(flagName, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return Usagef("-%s is %q%s", flagName, value, grammar.DidYouMeanOr(value, known, "it is "+strings.Join(known, ", ")))
}

// Settings lists the flags that were on the command line and their values, in alphabetical
// order. It leaves out the flags about output.
func (f *Flags) Settings() (all Record) {
	f.Visit(func(g *flag.Flag) {
		if g.Name != "out" && g.Name != "quiet" && g.Name != "json" && g.Name != "progress" {
			all.Say("-"+g.Name, g.Value.String())
		}
	})
	return all
}
