package tune

import (
	"errors"
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"gorbm/data/oracle"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

var long = flag.Bool("long", false, "read 2000 damaged policies, not 400")

// TestPolicyMeans compares ReadPolicy, and the samplers of the kernels, with a second
// parser on damaged files. Such a file may be rejected; if it is accepted, both parsers must agree.
func TestPolicyMeans(t *testing.T) {
	seeds := []string{
		`{
 "format": "gorbm policy",
 "version": 1,
 "sampler": "sardonics",
 "system": "a 3×3 \"glass\" of spins, whose couplings are 1 and -1 with equal probability",
 "units": 9,
 "beta": 0.5,
 "best": "sardonics:k=1-3:gamma=1.1:mix=2/1/1:walks=3:weights=boltzmann",
 "kernels": [
  "sardonics:k=1-3:gamma=1.1",
  "sardonics:k=2-9:gamma=0.95/1.05:mix=2/1/1:walks=3",
  "sardonics:k=2-3:weights=boltzmann"
 ]
}
`,
		`{"kernels":["sardonics:k=4-6:gamma=1/0.9:mix=1/1/0","sardonics:k=7-8"],"best":"sardonics:k=7-8","beta":1e0,"units":9,"system":"","sampler":"sardonics","version":1,"format":"gorbm policy"}`,
	}
	words := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "0", ".", "e", "_", "0x", "+", " ", "\n", "1", "2", "0", "-", "/", "a", "é", ":k=2-5", ":walks=2", ":gamma=1_1", `\u0031`, `\n`,
		`"`, ",", "null", "\x00", "\xff", `"beta"`, `"Beta"`, `"beta": 2,`, `"kernels": [],`, "sardonics"}
	n := 400
	if *long {
		n = 2000
	}
	path := filepath.Join(t.TempDir(), "p.json")
	for _, seed := range seeds {
		if err := os.WriteFile(path, []byte(seed), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := ReadPolicy(path, 9)
		if err != nil {
			t.Fatal(err)
		}
		if err := samePolicy(p, seed); err != nil {
			t.Error(err)
		}
	}
	taken := 0
	oracle.Each(n, rbm.NewKey(34).Child(8), seeds, words, func(i int, file []byte) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := ReadPolicy(path, 9)
		if err != nil {
			if text := strings.ReplaceAll(err.Error(), path, ""); strings.ContainsAny(text, "\n\r") {
				t.Errorf("file %d: the error has several lines: %q", i, err)
			}
			return
		}
		taken++
		if err := samePolicy(p, string(file)); err != nil {
			t.Errorf("file %d: %v\n%s", i, err, file)
		}
	})
	if taken < n/20 {
		t.Errorf("%d files are taken, too few to compare, want at least %d", taken, n/20)
	}
}

// samePolicy returns an error unless p agrees with the text by the second parser.
func samePolicy(p *Policy, text string) error {
	said, err := policyEntries(text)
	if err != nil {
		return fmt.Errorf("taken, though %w", err)
	}
	m, err := p.Mixture()
	if err != nil {
		return err
	}
	var kernels []string
	for _, k := range said["kernels"].([]any) {
		kernels = append(kernels, k.(string))
	}
	want := Policy{Kernels: kernels}
	var ok [7]bool
	want.Format, ok[0] = said["format"].(string)
	want.Sampler, ok[1] = said["sampler"].(string)
	want.System, ok[2] = said["system"].(string)
	want.Best, ok[3] = said["best"].(string)
	version, o4 := said["version"].(*big.Rat)
	units, o5 := said["units"].(*big.Rat)
	beta, o6 := said["beta"].(*big.Rat)
	ok[4], ok[5], ok[6] = o4, o5, o6
	if ok != [7]bool{true, true, true, true, true, true, true} || len(said) != 8 || !version.IsInt() || !units.IsInt() {
		return fmt.Errorf("taken, though its entries are %v", said)
	}
	want.Version, want.Units = int(version.Num().Int64()), int(units.Num().Int64())
	want.Beta, _ = beta.Float64()
	if !reflect.DeepEqual(*p, want) {
		return fmt.Errorf("%+v, and the bytes say %+v", *p, want)
	}
	for i, k := range append(kernels, want.Best) {
		var mover mcmc.Mover
		if i < len(m) {
			mover = m[i]
		} else if mover, err = mcmc.ParseMover(k, mcmc.Linear); err != nil {
			return err
		}
		if err := sameSettings(k, mcmc.FormatMover(mover)); err != nil {
			return err
		}
	}
	return nil
}

// sameSettings returns an error unless each setting of a kernel in the text given has the same numbers or word in the
// text force, which has the settings with an effect. If all moves have the first bias, the second bias and mix have
// no effect.
func sameSettings(given, force string) error {
	values := map[string]string{}
	for _, part := range strings.Split(force, ":")[1:] {
		name, value, _ := strings.Cut(part, "=")
		values[name] = value
	}
	parts := strings.Split(given, ":")
	if parts[0] != strings.Split(force, ":")[0] {
		return fmt.Errorf("%s became %s", given, force)
	}
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(part, "=")
		if _, there := values[name]; !there && name == "mix" {
			continue
		}
		a, errA := numbers(name, value)
		b, errB := numbers(name, values[name])
		// One number may replace several equal ones; two equal numbers are written as one.
		for len(a) > 0 && len(a) < len(b) {
			a = append(a, a[0])
		}
		if _, mixed := values["mix"]; name == "gamma" && !mixed && len(b) > 0 {
			a = a[:min(len(a), len(b))]
		}
		for len(b) > 0 && len(b) < len(a) {
			b = append(b, b[0])
		}
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
			return fmt.Errorf("%s of %q is %q in force (%v, %v)", part, given, force, errA, errB)
		}
	}
	return nil
}

var plain = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`)

// numbers returns the numbers of a setting, or its word.
func numbers(name, text string) (all []string, err error) {
	if name == "weights" {
		return []string{text}, nil
	}
	separator := "/"
	if name == "k" {
		separator = "-"
	}
	for _, f := range strings.Split(text, separator) {
		r, ok := new(big.Rat).SetString(f)
		if !ok || !plain.MatchString(f) {
			return nil, fmt.Errorf("%q is no decimal number", f)
		}
		v, _ := r.Float64()
		all = append(all, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return all, nil
}

// policyEntries is a small parser of JSON for one object of strings, numbers and lists of
// strings, without repeated names.
func policyEntries(text string) (entries map[string]any, err error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is no UTF-8")
	}
	defer func() {
		if r := recover(); r != nil { // the text has ended, or is no such object
			err = fmt.Errorf("it is no policy: %v", r)
		}
	}()
	space := func() { text = strings.TrimLeft(text, " \t\r\n") }
	take := func(c byte) bool {
		space()
		if text != "" && text[0] == c {
			text = text[1:]
			return true
		}
		return false
	}
	must := func(c byte) {
		if !take(c) {
			panic(fmt.Sprintf("no %q before %.10q", c, text))
		}
	}
	quoted := func() string {
		must('"')
		var s strings.Builder
		for text[0] != '"' {
			c := text[0]
			switch {
			case c < ' ':
				panic("a control character")
			case c != '\\':
				s.WriteByte(c)
				text = text[1:]
			case text[1] == 'u':
				n, err := strconv.ParseUint(text[2:6], 16, 32)
				if err != nil || n >= 0xd800 && n < 0xe000 {
					panic("an escape")
				}
				s.WriteRune(rune(n))
				text = text[6:]
			default:
				at := strings.IndexByte(`"\/bfnrt`, text[1])
				s.WriteByte("\"\\/\b\f\n\r\t"[at])
				text = text[2:]
			}
		}
		text = text[1:]
		return s.String()
	}
	entries = map[string]any{}
	must('{')
	for more := !take('}'); more; more = take(',') || func() bool { must('}'); return false }() {
		name := quoted()
		must(':')
		if _, there := entries[name]; there {
			panic(name + " is there twice")
		}
		space()
		switch {
		case text[0] == '"':
			entries[name] = quoted()
		case take('['):
			list := []any{}
			for more := !take(']'); more; more = take(',') || func() bool { must(']'); return false }() {
				list = append(list, quoted())
			}
			entries[name] = list
		default:
			end := strings.IndexAny(text, ",} \t\r\n")
			number := text[:end]
			r, ok := new(big.Rat).SetString(number)
			if !ok || !plain.MatchString(number) {
				panic("no number " + number)
			}
			entries[name], text = r, text[end:]
		}
	}
	if space(); text != "" {
		panic("something follows")
	}
	return entries, nil
}
