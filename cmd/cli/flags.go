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

// MaxStates limits rows × hidden units of a batch, and chains × replicas × hidden
// units: their means take 2 GiB.
const MaxStates = 1 << 29

// StateBytes forecasts the memory of rows of states with their means, for this
// step and the one before.
func StateBytes(rows, visible, hidden int) float64 {
	return 2 * float64(rows) * (4*float64(hidden) + float64(hidden+visible)/8 + 16)
}

// ExchangeFloor is the rate of exchange between two neighbouring temperatures
// below which the commands warn of a ladder. At one exchange in a hundred
// attempts the hotter replicas do not help the coldest one.
const ExchangeFloor = 0.01

// Flags is a flag set with the flag -version, which every command has, and the
// streams that the command writes to.
type Flags struct {
	*flag.FlagSet
	Stdout, Stderr io.Writer // set by Parse
	Quiet, JSON    bool      // the flags of AddOutput
	Screen         Screen    // what -h prints
	Subject        string    // what warnings are about, such as a run of several; "" is left out

	summary, usage string
	progress       progressMode
	version        bool
	shell          string   // of -completion
	rows           []*Row   // in the order of their declaration
	groups         []string // their titles; rows declared next are in the last
}

// NewFlags returns the flags of a command. -h all prints summary, a description of the
// command; usage says how it is called.
func NewFlags(name, summary, usage string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), summary: summary, usage: usage}
	f.SetOutput(io.Discard)
	f.BoolVar(&f.version, "version", false, "print the version and exit")
	f.StringVar(&f.shell, "completion", "", "print the script that completes this command in a shell, bash, zsh or fish, and exit: source <(NAME -completion bash)").Choice("bash", "zsh", "fish")
	f.FlagSet.Usage = func() {}
	return f
}

// AddOutput adds the flags -quiet, -json and -progress, with these help texts for the first two and
// these tags for all. To the text of -json it adds the rule for numbers that JSON cannot express.
func (f *Flags) AddOutput(quiet, json string, tags ...string) {
	f.progress = bars
	f.Var(&f.progress, "progress", "auto: a bar if standard error is a terminal, otherwise a line of text every ten seconds; plain: always such lines").Offer(string(bars), string(plain)).Tag(tags...)
	f.BoolVar(&f.Quiet, "quiet", false, quiet).Tag(tags...)
	f.BoolVar(&f.JSON, "json", false, json+"; a number that is infinite, or unknown (NaN), is null").Tag(tags...)
}

// AddWorkers adds -workers, the number of processors to use, for UseWorkers.
func (f *Flags) AddWorkers(n *int) *Row {
	return f.IntVar(n, "workers", 0, "processors to use at most; 0: all. Results are bit-identical for any value").Between(0, math.MaxInt32)
}

// UseWorkers lowers GOMAXPROCS to n, unless n is 0 or larger than it, and returns
// a function that restores it. It limits all goroutines and the garbage
// collector.
func UseWorkers(n int) (restore func()) {
	if n == 0 {
		return func() {}
	}
	old := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(min(n, old))
	return func() { runtime.GOMAXPROCS(old) }
}

// Parse reads args. It returns flag.ErrHelp after printing help or the version
// on stdout, and a usage error for anything amiss.
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
		return Usagef("%s%s; see -h", strings.TrimSuffix(err.Error(), ": parse error"), f.suggest(err))
	case f.version:
		fmt.Fprintf(stdout, "%s %s\n", f.Name(), Version())
		return flag.ErrHelp
	case f.shell != "":
		if err := f.check(given); err != nil {
			return err
		}
		io.WriteString(stdout, f.completion(f.shell))
		return flag.ErrHelp
	case f.NArg() > 0:
		return Usagef("unexpected argument %q; settings are given by flags, see -h", f.Arg(0))
	}
	return cmp.Or(f.check(given), f.checkTogether())
}

// suggest names the flag that an unknown one is most like.
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

// FirstGiven returns the first of these flags that was on the command line, or
// "".
func (f *Flags) FirstGiven(names ...string) string {
	if i := slices.IndexFunc(names, f.Given); i >= 0 {
		return names[i]
	}
	return ""
}

// Warn prints warnings on standard error, a line each.
func (f *Flags) Warn(texts ...string) {
	for _, text := range texts {
		if f.Subject != "" {
			text = f.Subject + ": " + text
		}
		fmt.Fprintf(f.Stderr, "%s: warning: %s\n", f.Name(), text)
	}
}

// Print prints a result on standard output: with -json v as one line, and
// otherwise what text writes.
func (f *Flags) Print(v any, text func(w io.Writer) error) error {
	if f.JSON {
		return finitejson.Write(f.Stdout, v, "")
	}
	return text(f.Stdout)
}

// Choice checks that value, given to the flag, is one of known.
func Choice(flagName, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return Usagef("-%s is %q%s", flagName, value, grammar.DidYouMeanOr(value, known, "it is "+strings.Join(known, ", ")))
}

// Settings returns the given flags with their values, in alphabetical order, without those of the
// output.
func (f *Flags) Settings() (all Record) {
	f.Visit(func(g *flag.Flag) {
		if g.Name != "out" && g.Name != "quiet" && g.Name != "json" && g.Name != "progress" {
			all.Say("-"+g.Name, g.Value.String())
		}
	})
	return all
}
