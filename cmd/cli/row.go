package cli

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Row is a flag with all that -h, -h all, completion and checks need to know about it. A
// method of Flags, such as IntVar, declares it; methods of Row add the rest.
type Row struct {
	*flag.Flag
	group, main string
	offers      []string
	choices     bool         // only offers are allowed
	ranges      func() error // checks the value
	file        bool         // the value names a file or folder to make
	endings     []string     // allowed endings of that name
	tags        []string     // see Tag
	needs, not  []string     // names of flags: see For and Not
	same        string       // see Same
	alone       string       // see Alone; "": the flag can be combined with others
	mode        string       // see Mode
}

// Main gives the flag a line in -h, such as "N  hidden units". -h only names other flags.
func (r *Row) Main(line string) *Row { r.main = line; return r }

// Offer lists values for completion in a shell.
func (r *Row) Offer(values ...string) *Row { r.offers = values; return r }

// Choice is like Offer, and no other values are allowed.
func (r *Row) Choice(values ...string) *Row { r.offers, r.choices = values, true; return r }

// Between makes Check demand a number from lo to hi.
func (r *Row) Between(lo, hi float64) *Row {
	return r.bound(func(x float64) bool { return x >= lo && x <= hi }, "lie in "+decimal(lo)+" … "+decimal(hi))
}

// OrZero also allows 0, whatever the range.
func (r *Row) OrZero() *Row {
	ranges := r.ranges
	r.ranges = func() error {
		if r.Value.String() == "0" {
			return nil
		}
		return ranges()
	}
	return r
}

// Above makes Check demand a number above lo and at most hi, or any finite one above lo if hi is
// +Inf.
func (r *Row) Above(lo, hi float64) *Row {
	text := "be above " + decimal(lo) + " and at most " + decimal(hi)
	if math.IsInf(hi, 1) {
		text = "be a finite number above " + decimal(lo)
	}
	return r.bound(func(x float64) bool { return x > lo && x <= hi && !math.IsInf(x, 0) }, text)
}

// Finite makes Check refuse NaN and infinite numbers.
func (r *Row) Finite() *Row {
	return r.bound(Finite, "be a finite number")
}

func (r *Row) bound(ok func(x float64) bool, must string) *Row {
	r.ranges = func() error {
		// float64 is exact for integers up to 2⁵³, and no bound is larger.
		if x, err := strconv.ParseFloat(r.Value.String(), 64); err != nil || !ok(x) {
			return Usagef("-%s is %s; it must %s", r.Name, r.Value, must)
		}
		return nil
	}
	return r
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// New marks a flag that names a file or folder to make, for Flags.CheckNew. A file's name
// must have one of the endings.
func (r *Row) New(endings ...string) *Row { r.file, r.endings = true, endings; return r }

// Tag adds tags, by which Flags.Tagged finds the flag. If a tag is the name of an Alone flag,
// the two can be combined.
func (r *Row) Tag(tags ...string) *Row { r.tags = append(r.tags, tags...); return r }

// For names a flag that must be given with this one.
func (r *Row) For(flagName string) *Row { r.needs = append(r.needs, flagName); return r }

// Not names flags that cannot be combined with this one. Their Mode is the reason.
func (r *Row) Not(flagNames ...string) *Row { r.not = append(r.not, flagNames...); return r }

// Same names a flag with the same meaning, so that only one of the two can be given.
func (r *Row) Same(flagName string) *Row { r.same = flagName; return r }

// Mode describes the command with this flag, such as "runs no chain". Messages give it as the reason
// why flags that name this one in Not cannot be combined with it.
func (r *Row) Mode(does string) *Row { r.mode = does; return r }

// Alone is like Mode, for a flag that can be combined only with flags tagged with its name.
func (r *Row) Alone(does string) *Row { r.alone = does; return r }

// on reports whether the flag was on the command line, but not as -flag=false.
func (f *Flags) on(name string) bool {
	return f.Given(name) && f.Lookup(name).Value.String() != "false"
}

// add makes a Row of a declared flag, in the current group.
func (f *Flags) add(name string) *Row {
	r := &Row{Flag: f.Lookup(name)}
	if n := len(f.groups); n > 0 {
		r.group = f.groups[n-1]
	}
	f.rows = append(f.rows, r)
	return r
}

// Group begins a group of flags for -h: the flags declared next. Flags declared before the first group are
// shown in the last group.
func (f *Flags) Group(title string) { f.groups = append(f.groups, title) }

// Row returns the row of a flag. It makes one if a method of flag.FlagSet declared the flag.
func (f *Flags) Row(name string) *Row {
	if at := slices.IndexFunc(f.rows, func(r *Row) bool { return r.Name == name }); at >= 0 {
		return f.rows[at]
	}
	return f.add(name)
}

// Tagged returns the names of the flags with a tag, in the order of their declaration.
func (f *Flags) Tagged(tag string) (names []string) {
	for _, r := range f.rows {
		if slices.Contains(r.tags, tag) {
			names = append(names, r.Name)
		}
	}
	return names
}

// BoolVar and the methods below are like those of flag.FlagSet, but return the Row.
func (f *Flags) BoolVar(p *bool, name string, value bool, help string) *Row {
	f.FlagSet.BoolVar(p, name, value, help)
	return f.add(name)
}

func (f *Flags) StringVar(p *string, name, value, help string) *Row {
	f.FlagSet.StringVar(p, name, value, help)
	return f.add(name)
}

func (f *Flags) Float64Var(p *float64, name string, value float64, help string) *Row {
	f.FlagSet.Float64Var(p, name, value, help)
	return f.add(name)
}

func (f *Flags) Uint64Var(p *uint64, name string, value uint64, help string) *Row {
	f.FlagSet.Uint64Var(p, name, value, help)
	return f.add(name)
}

func (f *Flags) Var(v flag.Value, name, help string) *Row {
	f.FlagSet.Var(v, name, help)
	return f.add(name)
}

// IntVar also accepts numbers such as 1e4.
func (f *Flags) IntVar(p *int, name string, value int, help string) *Row {
	*p = value
	return f.Var(integer[int]{p}, name, help)
}

// Int64Var also accepts numbers such as 1e4.
func (f *Flags) Int64Var(p *int64, name string, value int64, help string) *Row {
	*p = value
	return f.Var(integer[int64]{p}, name, help)
}

// SetDefault sets a flag without marking it as given.
func (f *Flags) SetDefault(name, value string) error {
	r := f.Lookup(name)
	if r == nil {
		return fmt.Errorf("there is no flag -%s", name)
	}
	if err := r.Value.Set(value); err != nil {
		return fmt.Errorf("-%s %s: %w", name, value, err)
	}
	return nil
}

// Check checks all values that differ from their defaults. Parse has checked the flags on the command line;
// code that sets other flags calls Check afterwards.
func (f *Flags) Check() error {
	return f.check(func(r *Row) bool { return f.Given(r.Name) || r.Value.String() != r.DefValue })
}

func (f *Flags) check(which func(r *Row) bool) error {
	for _, r := range f.rows {
		if !which(r) {
			continue
		}
		if r.choices {
			if err := Choice(r.Name, r.Value.String(), r.offers...); err != nil {
				return err
			}
		}
		if r.ranges != nil {
			if err := r.ranges(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTogether checks the rules of For, Not, Same and Alone.
func (f *Flags) checkTogether() error {
	for _, r := range f.rows {
		if !f.on(r.Name) {
			continue
		}
		if r.alone != "" {
			var other []string
			f.Visit(func(g *flag.Flag) {
				if g != r.Flag && !slices.Contains(f.Row(g.Name).tags, r.Name) {
					other = append(other, "-"+g.Name)
				}
			})
			if len(other) > 0 {
				return Usagef("%s cannot go with -%s, which %s; only -%s can", strings.Join(other, " "), r.Name, r.alone, strings.Join(f.Tagged(r.Name), " -"))
			}
		}
		if r.same != "" && f.on(r.same) {
			return Usagef("-%s and -%s mean the same; give one of them", r.Name, r.same)
		}
		for _, other := range r.not {
			if f.on(other) {
				return Usagef("-%s cannot go with -%s, which %s; leave one of them out", r.Name, other, f.Row(other).mode)
			}
		}
		for _, other := range r.needs {
			if !f.Given(other) {
				return Usagef("-%s is for -%s, which is not given", r.Name, other)
			}
		}
	}
	return nil
}

// CheckNew checks flags that were given and name a file or folder to make, or only those in flagNames.
// The name must have an allowed ending, its folder must exist, and the file or folder itself must not.
func (f *Flags) CheckNew(flagNames ...string) error {
	for _, r := range f.rows {
		if !r.file || !f.Given(r.Name) || flagNames != nil && !slices.Contains(flagNames, r.Name) {
			continue
		}
		path := r.Value.String()
		if n := len(r.endings) - 1; n >= 0 && !slices.Contains(r.endings, strings.ToLower(filepath.Ext(path))) {
			list := r.endings[n]
			if n > 0 {
				list = strings.Join(r.endings[:n], ", ") + " or " + list
			}
			return Usagef("-%s is %q; it must end in %s", r.Name, path, list)
		}
		dir := filepath.Dir(path)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("-%s: there is no folder %s for %s; make it first", r.Name, dir, filepath.Base(path))
		}
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("-%s: %s is there already; remove it or choose another name", r.Name, path)
		}
	}
	return nil
}
