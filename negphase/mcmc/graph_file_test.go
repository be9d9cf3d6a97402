package mcmc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadGraph(t *testing.T) {
	g := must(ReadGraph(strings.NewReader("# a triangle in a field\n0 1 1\n\n1\t2 -0.5 # antiferromagnetic\r\n2 0 2e0\n0 0.25\n 3 -1\n")))(t)
	if g.Len() != 4 || g.Edges() != 3 {
		t.Fatalf("%d spins, %d edges, want 4 and 3", g.Len(), g.Edges())
	}
	if g.Coupling(0, 1) != 1 || g.Coupling(2, 1) != -0.5 || g.Coupling(0, 2) != 2 || g.Field(0) != 0.25 || g.Field(1) != 0 || g.Field(3) != -1 {
		t.Error("wrong numbers")
	}
	if g.parity != nil {
		t.Error("a file has a parity")
	}
}

// A first line may have the number of spins, alone or with the number of couplings, and spins may be
// numbered from 1. A first line that can be a field is one.
func TestReadGraphHeaders(t *testing.T) {
	for _, c := range []struct {
		text         string
		spins, edges int
		want         func(g *Graph) bool
	}{
		{"4 3\n0 1 1\n1 2 -1\n2 3 .5\n", 4, 3, func(g *Graph) bool { return g.Coupling(2, 3) == .5 && g.Field(3) == 0 }},
		{"# Gset\n10 3\n1 2 1\n2 3 -1\n9 10 7\n", 10, 3, func(g *Graph) bool { return g.Coupling(8, 9) == 7 && g.Coupling(0, 1) == 1 && g.Field(9) == 0 }},
		{"10\n1 2 0.3\n9 10 1\n1 0.4\n10 -0.2\n", 10, 2, func(g *Graph) bool { return g.Field(0) == .4 && g.Field(9) == -.2 }},
		{"3 3\n1 2 1\n2 3 1\n3 1 1\n3 9\n", 3, 3, func(g *Graph) bool { return g.Field(2) == 9 }},
		{"7 1\n0 1 1\n", 7, 1, func(g *Graph) bool { return g.Field(6) == 0 }},
		{"1 2 1\n2 3 1\n", 3, 2, func(g *Graph) bool { return g.Coupling(0, 1) == 1 }},
		{"1 1\n0 1 1\n", 2, 1, func(g *Graph) bool { return g.Field(1) == 1 }},        // a field, as spin 0 is there
		{"2 5\n0 1 1\n1 2 1\n", 3, 2, func(g *Graph) bool { return g.Field(2) == 5 }}, // a field, as there are not five couplings
		{"1 0.5\n0 1 1\n", 2, 1, func(g *Graph) bool { return g.Field(1) == .5 }},
		{"1 0.5\n", 1, 0, func(g *Graph) bool { return g.Field(0) == .5 }},
	} {
		g, err := ReadGraph(strings.NewReader(c.text))
		if err != nil || g.Len() != c.spins || g.Edges() != c.edges || !c.want(g) {
			t.Errorf("%q: %+v, %v, want %d spins and %d couplings", c.text, g, err, c.spins, c.edges)
		}
	}
}

func TestReadGraphErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "no couplings",
		"# nothing\n\n":                        "no couplings",
		"0 1 1\n1 1 1":                         "line 2: edge 1 1 couples a spin to itself",
		"0 1 1\n# x\n1 0 2":                    "line 3: edge 1 0 was given on line 1",
		"0 1 1\n0 2\n0 2":                      "line 3: the field of spin 0 was given on line 2",
		"0 1 NaN":                              `line 1: "NaN": want a finite number`,
		"0 1 -inf":                             "want a finite number",
		"0 1 1e999":                            "want a finite number",
		"0 1 one":                              `"one": want a finite number`,
		"0 2 1":                                "no line names spin 1, but spin 2 is there",
		"1 3 1":                                "no line names spin 2",
		"0 1 1\n-1 0 1":                        "line 2: spin -1: spins are numbered from 0",
		"0 16777216 1":                         "line 1: spin 16777216: at most 16777215",
		"0 99999999999999999 1":                "at most 16777215",
		"0 1.0 1":                              `spin "1.0": want a whole number from 0`,
		"5":                                    "no couplings",
		"0 1 1\n5":                             "line 2: 1 items",
		"3\n0 1 1\n3 0 1":                      "spin 3 is there, but the first line gives 3 spins, numbered from 0",
		"0 1 1 1":                              "line 1: 4 items",
		"0 1 1\n16777215 1":                    "no line names spin 2",
		"0 1 1\n" + strings.Repeat("x", 1<<17): "line 2: longer than 65536 bytes",
	} {
		if _, err := ReadGraph(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: error %v, want one with %q", text, err, want)
		}
	}
}

func TestReadGraphFileNamesTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "glass.txt")
	if _, err := ReadGraphFile(name); err == nil || !strings.Contains(err.Error(), "glass.txt") {
		t.Errorf("missing file: %v, want %q in it", err, "glass.txt")
	}
	if err := os.WriteFile(name, []byte("0 0 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadGraphFile(name); err == nil || !strings.Contains(err.Error(), "glass.txt: line 1: ") {
		t.Errorf("bad file: %v, want %q in it", err, "glass.txt: line 1: ")
	}
}

// Flips on every graph that ReadGraph accepts are exact.
func FuzzReadGraph(f *testing.F) {
	for _, seed := range []string{"0 1 1\n1 2 -0.5\n0 0.25\n", "0 1 1e-300\n", "0 0.1\n1 0.2\n0 1 0.3", "0 1 1\n0 1 1", "# \n0 1 5e-324", "0 1 1e150\n1 2 1e-9", "0 16777215 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ReadGraph(strings.NewReader(text))
		if err != nil {
			return
		}
		s := NewIsing(g, nil)
		for i := range min(s.Len(), 100) {
			s.Flip(i)
		}
		if fresh := NewIsing(g, s.State()); s.energy != fresh.energy || !finite(s.Energy()) {
			t.Errorf("energy %g after flips, %g afresh", s.Energy(), fresh.Energy())
		}
	})
}

// A field on the first line is no header, unless it names a spin without couplings and their number.
func TestFirstLineIsAField(t *testing.T) {
	for text, want := range map[string]string{"2 3\n0 1 1\n1 2 1\n2 0 1\n": "[0 0 3]", "3 2\n0 1 1\n1 2 1\n2 0 1\n": "[0 0 0 2]"} {
		g, err := ReadGraph(strings.NewReader(text))
		if err != nil || fmt.Sprint(g.field) != want {
			t.Errorf("%q: %v, want the fields %s", text, err, want)
		}
	}
}
