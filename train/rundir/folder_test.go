package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStem(t *testing.T) {
	for name, want := range map[string]string{
		"fontdigits":                "fontdigits",
		"mnist:55000":               "mnist_55000",
		"toy:4,4,50,0.2:seed=1":     "toy_4_4_50_0.2",
		"toy:4,4,50,0.2:seed=12":    "toy_4_4_50_0.2_seed_12",
		"bars:4:distinct":           "bars_4_distinct",
		"rows.csv":                  "rows",
		"/data/of mine/rows v2.npz": "rows_v2",
		"some-images-idx3-ubyte":    "some-images-idx3-ubyte",
		"Zahlen_größer.csv":         "Zahlen_größer",
		"a;b|c$(d).csv":             "a_b_c__d_",
		"..":                        "..",
		"x.csv.npz":                 "x.csv",
		"x.csv.gz":                  "x",
		"family.fasta":              "family",
	} {
		if got := Stem(name); got != want {
			t.Errorf("Stem(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"empty", "foreign", "run", "early"} {
		if err := os.Mkdir(in(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, in("file"), nil)
	put(t, in("foreign/thesis.tex"), nil)
	put(t, in("run/"+ConfigFile), nil)
	put(t, in("run/"+CheckpointFile), nil)
	put(t, in("early/"+ConfigFile), nil)
	for _, c := range []struct {
		name  string
		force bool
		want  string // part of the error; "": none
	}{
		{"new", false, ""},
		{"new/deep", false, ""},
		{"empty", false, ""},
		{"empty", true, ""},
		{"foreign", false, "in use, and not by a run"},
		{"foreign", true, "in use, and not by a run"},
		{"run", false, "holds an earlier run; choose another by -out, resume it by -resume, or replace it by -force"},
		{"run", true, ""},
		{"early", false, "holds a run that ended before its first checkpoint; choose another by -out, or replace it by -force"},
		{"early", true, ""},
		{"file", true, "not a directory"},
		{"file/run", false, "not a directory"},
	} {
		f, err := Check(in(c.name), c.force)
		switch {
		case c.want == "" && (err != nil || f.Dir != in(c.name)):
			t.Errorf("%s, force %v: %v", c.name, c.force, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s, force %v: %v, want %s", c.name, c.force, err, c.want)
		}
	}
	for _, name := range []string{"new", "new/deep"} {
		if _, err := os.Stat(in(name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	if content(t, in("run/"+ConfigFile)) == nil {
		t.Error("the earlier run was touched")
	}
}

// TestNew checks that a run is replaced completely, and that other files stay.
func TestNew(t *testing.T) {
	dir := t.TempDir()
	ours := []string{ConfigFile, MetricsFile, ModelFile, BestFile, CheckpointFile, previousFile, FiltersFile, SamplesFile, CurvesFile, LaddersFile, LadderFile, SnapshotFile(7)}
	if err := os.Mkdir(filepath.Join(dir, SnapshotsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{"notes.txt", SnapshotsDir + "/notes.txt"}, ours...) {
		put(t, filepath.Join(dir, name), []byte("x"))
	}
	if _, err := New(dir, "", false); err == nil {
		t.Error("a run is replaced without force")
	}
	f, err := New(dir, "", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range ours {
		if content(t, f.Path(name)) != nil {
			t.Errorf("%s is left", name)
		}
	}
	for _, name := range []string{"notes.txt", SnapshotsDir + "/notes.txt"} {
		if content(t, f.Path(name)) == nil {
			t.Errorf("%s is gone", name)
		}
	}
	t.Chdir(t.TempDir())
	for _, want := range []string{"runs/a-1", "runs/a-2"} {
		if f, err := New("", "a", false); err != nil || f.Dir != filepath.FromSlash(want) {
			t.Errorf("%v, %v, want %s", f, err, want)
		}
	}
}
