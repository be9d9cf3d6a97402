package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOverviews checks that the overview that go doc prints of a package names each of its
// runnable examples, which go doc does not list, and no others.
func TestOverviews(t *testing.T) {
	overviews, examples, all := map[string]string{}, map[string][]string{}, map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := filepath.Dir(path)
		if !strings.HasSuffix(path, "_test.go") {
			overviews[folder] += file.Doc.Text()
			return nil
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Example") {
				examples[folder] = append(examples[folder], f.Name.Name)
				all[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(examples) < 15 {
		t.Fatalf("%d packages have examples; this looks for the wrong thing, want at least 15", len(examples))
	}
	named := regexp.MustCompile(`\bExample(_?[A-Za-z]+)*\b`)
	for folder, names := range examples {
		in := map[string]bool{}
		for _, name := range named.FindAllString(overviews[folder], -1) {
			if in[name] = true; !all[name] {
				t.Errorf("%s: its overview names %s, and there is no such example", folder, name)
			}
		}
		for _, name := range names {
			if !in[name] {
				t.Errorf("%s: its overview does not name %s", folder, name)
			}
		}
	}
}
