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

// A Row is a flag, declared once: the method of Flags that returns it takes its name,
// value, default and help, and its own methods take the rest. Both helps, completion, checks
// and what a command asks of its flags follow from it.
type Row struct {
	*flag.Flag
	group, main string
	offers      []string
	choices     bool         // there are no other values than offers
	ranges      func() error // of the value
	file        bool         // a file or folder to make
	endings     []string     // of its name
	tags        []string     // see Tag
	needs, not  []string     // names of other flags
	same        string       // name of another flag that says the same
	alone       string       // why others cannot go with it; "" if they can
	mode        string       // why those that say Not cannot
}

// Main gives the flag a line in the short help, such as "N  hidden units". Others are only
// named there.
func (r *Row) Main(line string) *Row { r.main = line; return r }

// Offer names values for completion in a shell.
func (r *Row) Offer(values ...string) *Row { r.offers = values; return r }

// Choice is Offer of all values that there are.
func (r *Row) Choice(values ...string) *Row { r.offers, r.choices = values, true; return r }

// Between bounds a number: it must lie in lo … hi.
func (r *Row) Between(lo, hi float64) *Row {
	return r.bound(func(x float64) bool { return x >= lo && x <= hi }, "lie in "+decimal(lo)+" … "+decimal(hi))
}

// OrZero takes 0 too, whatever the range.
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

// Above bounds a number: it must be above lo and at most hi, or finite if hi is +Inf.
func (r *Row) Above(lo, hi float64) *Row {
	text := "be above " + decimal(lo) + " and at most " + decimal(hi)
	if math.IsInf(hi, 1) {
		text = "be a finite number above " + decimal(lo)
	}
	return r.bound(func(x float64) bool { return x > lo && x <= hi && !math.IsInf(x, 0) }, text)
}

// Finite takes all numbers but NaN and the infinite ones.
func (r *Row) Finite() *Row {
	return r.bound(func(x float64) bool { return Finite(x) != nil }, "be a finite number")
}

func (r *Row) bound(ok func(x float64) bool, must string) *Row {
	r.ranges = func() error {
		// All digits of a number below 2⁵³ are in its float64, and no bound is larger.
		if x, err := strconv.ParseFloat(r.Value.String(), 64); err != nil || !ok(x) {
			return Usagef("-%s is %s; it must %s", r.Name, r.Value, must)
		}
		return nil
	}
	return r
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// New says that the flag names a file or folder to make, for Flags.CheckNew. A file's name
// must have one of these endings.
func (r *Row) New(endings ...string) *Row { r.file, r.endings = true, endings; return r }

// Tag gives the flag tags of the command's own, for Flags.Tagged, or the name of a flag
// that is Alone but for it.
func (r *Row) Tag(tags ...string) *Row { r.tags = append(r.tags, tags...); return r }

// For names a flag without which this one means nothing.
func (r *Row) For(flagName string) *Row { r.needs = append(r.needs, flagName); return r }

// Not names flags that this one cannot go with. They say why by Mode.
func (r *Row) Not(flagNames ...string) *Row { r.not = append(r.not, flagNames...); return r }

// Same names a flag that says the same, so that only one of the two can be given.
func (r *Row) Same(flagName string) *Row { r.same = flagName; return r }

// Mode describes the command with this flag, such as "runs no chain". Messages give it as the reason
// why flags that name this one in Not cannot be combined with it.
func (r *Row) Mode(does string) *Row { r.mode = does; return r }

// Alone is Mode for a flag that can be combined only with flags that have its name as a tag.
func (r *Row) Alone(does string) *Row { r.alone = does; return r }

// on reports whether the flag is given, and not -flag=false.
func (f *Flags) on(name string) bool {
	return f.Given(name) && f.Lookup(name).Value.String() != "false"
}

// add puts the flag of this name, which the flag package knows, into the current group.
func (f *Flags) add(name string) *Row {
	r := &Row{Flag: f.Lookup(name)}
	if n := len(f.groups); n > 0 {
		r.group = f.groups[n-1]
	}
	f.rows = append(f.rows, r)
	return r
}

// Group begins a group of flags, for the short help. Those declared next are in it, and in the
// last one also those declared before any.
func (f *Flags) Group(title string) { f.groups = append(f.groups, title) }

// Row returns the row of a flag. Those declared by the flag package's own methods have
// none before.
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

// BoolVar and the others are those of the flag package, but return a row to say more on.
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

// IntVar is like IntVar of the flag package, but also accepts 1e4.
func (f *Flags) IntVar(p *int, name string, value int, help string) *Row {
	*p = value
	return f.Var(integer[int]{p}, name, help)
}

// Int64Var is like Int64Var of the flag package, but also accepts 1e4.
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

// Check checks the values of flags against their ranges, except for those that nobody has set.
// Parse checks those that were given; what sets others later calls it again.
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

// checkTogether checks which flags were given together.
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
			return Usagef("-%s and -%s say the same; give one of them", r.Name, r.same)
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

// CheckNew checks the given flags that name a file or folder to make, or only those in flagNames. The
// name must have one of its endings, its folder must exist, and the file or folder itself must not.
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
