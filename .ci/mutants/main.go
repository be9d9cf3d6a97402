// Mutants makes deliberate errors in the code, one at a time, and checks that a test
// fails for each. It works on a copy of the tree.
//
//	go run .ci/mutants/main.go [-check] [-match REGEXP] [-part N/M] [TABLE…]
//
// A table, by default .ci/mutants/*.txt, has mutants separated by empty lines:
//
//	rbm/energy.go ./rbm TestEnergy|TestFree
//	-old text, which occurs once in the file
//	+new text
//
// The first line has the file, the package to test and a regular expression of the tests
// to run, by default all. Tests with Golden in their name are skipped, because any change
// fails them. The program exits with 1 if a mutant survives or does not build. With -check
// it only checks that the old texts and the tests exist.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

type mutant struct {
	at             string // file and line of the table
	file, pkg, run string
	old, new       []string
}

func main() {
	check := flag.Bool("check", false, "check the tables alone")
	match := flag.String("match", "", "mutants whose file matches")
	part := flag.String("part", "1/1", "N/M: the N-th of M parts")
	limit := flag.Duration("timeout", 5*time.Minute, "time for the tests of a mutant")
	flag.Parse()
	if err := run(*check, *match, *part, *limit, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(check bool, match, part string, limit time.Duration, tables []string) error {
	var n, m int
	if _, err := fmt.Sscanf(part, "%d/%d", &n, &m); err != nil || n < 1 || n > m {
		return fmt.Errorf("-part is %q; it must be like 1/4", part)
	}
	wanted, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		tables, _ = filepath.Glob(".ci/mutants/*.txt")
	}
	var all []mutant
	for _, path := range tables {
		list, err := read(path)
		if err != nil {
			return err
		}
		for _, m := range list {
			if wanted.MatchString(m.file) {
				all = append(all, m)
			}
		}
	}
	if check {
		var wrong []error
		for _, m := range all {
			_, err := m.broken(".")
			wrong = append(wrong, err, m.tested())
		}
		if err := errors.Join(wrong...); err != nil {
			return err
		}
		fmt.Printf("%d mutants are where the tables say\n", len(all))
		return nil
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files, err := exec.Command("git", "ls-files", "-co", "--exclude-standard").Output()
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(files)) {
		if err := copyFile(filepath.Join(dir, name), name); err != nil {
			return err
		}
	}
	killed, survived := 0, 0
	for i, mu := range all {
		if i%m != n-1 {
			continue
		}
		verdict, err := try(dir, mu, limit)
		if err != nil {
			return err
		}
		if verdict == "killed" {
			killed++
		} else {
			survived++
		}
		fmt.Printf("%-9s %s %s: %s\n", verdict, mu.at, mu.file, strings.TrimSpace(mu.new[0]))
	}
	fmt.Printf("%d mutants killed, %d not\n", killed, survived)
	if survived > 0 {
		return fmt.Errorf("%d mutants were not killed", survived)
	}
	return nil
}

// broken returns the content of the mutant's file in dir, with the old text replaced by the new.
func (m mutant) broken(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, m.file))
	if err != nil {
		return nil, err
	}
	old := strings.Join(m.old, "\n")
	if n := strings.Count(string(text), old); n != 1 {
		return nil, fmt.Errorf("%s: %s has the old text %d times, not once", m.at, m.file, n)
	}
	return []byte(strings.Replace(string(text), old, strings.Join(m.new, "\n"), 1)), nil
}

var tests = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// tested checks that the package has a test for each alternative of m.run.
func (m mutant) tested() error {
	files, err := filepath.Glob(filepath.Join(m.pkg, "*_test.go"))
	if err != nil {
		return err
	}
	var names []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, t := range tests.FindAllStringSubmatch(string(text), -1) {
			names = append(names, t[1])
		}
	}
	for name := range strings.SplitSeq(m.run, "|") {
		wanted, err := regexp.Compile(name)
		if err != nil {
			return fmt.Errorf("%s: %w", m.at, err)
		}
		if !slices.ContainsFunc(names, wanted.MatchString) {
			return fmt.Errorf("%s: %s has no test %q", m.at, m.pkg, name)
		}
	}
	return nil
}

// try tests one mutant in the copy of the tree in dir, and restores the file.
func try(dir string, m mutant, limit time.Duration) (verdict string, err error) {
	path := filepath.Join(dir, m.file)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	broken, err := m.broken(dir)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, broken, 0o666); err != nil {
		return "", err
	}
	defer func() {
		if e := os.WriteFile(path, text, 0o666); err == nil {
			err = e
		}
	}()
	build := exec.Command("go", "vet", m.pkg)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Printf("%s", out)
		return "no build", nil
	}
	args := []string{"test", "-count=1", "-failfast", "-skip", "Golden", "-timeout", limit.String()}
	if m.run != "" {
		args = append(args, "-run", m.run)
	}
	test := exec.Command("go", append(args, m.pkg)...)
	test.Dir = dir
	if err := test.Run(); err != nil {
		return "killed", nil
	}
	return "SURVIVES", nil
}

func read(path string) (all []mutant, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m *mutant
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			m = nil
		case m == nil:
			f := strings.Fields(line)
			if len(f) < 2 || len(f) > 3 {
				return nil, fmt.Errorf("%s:%d: not a file, a package and tests: %q", path, i+1, line)
			}
			all = append(all, mutant{at: fmt.Sprintf("%s:%d", filepath.Base(path), i+1), file: f[0], pkg: f[1]})
			m = &all[len(all)-1]
			if len(f) == 3 {
				m.run = f[2]
			}
		case line[0] == '-':
			m.old = append(m.old, line[1:])
		case line[0] == '+':
			m.new = append(m.new, line[1:])
		default:
			return nil, fmt.Errorf("%s:%d: %q begins with neither - nor +", path, i+1, line)
		}
	}
	for _, m := range all {
		if len(m.old) == 0 || len(m.new) == 0 {
			return nil, fmt.Errorf("%s: a mutant without its old or new text", m.at)
		}
	}
	return all, nil
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o777)
}
