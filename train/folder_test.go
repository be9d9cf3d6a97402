package train

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
	} {
		if got := Stem(name); got != want {
			t.Errorf("Stem(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"empty", "foreign", "run"} {
		if err := os.Mkdir(in(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, in("file"), nil)
	put(t, in("foreign/thesis.tex"), nil)
	put(t, in("run/"+ConfigFile), nil)
	for _, c := range []struct {
		name  string
		force bool
		want  string // of the error; "" for none
	}{
		{"new", false, ""},
		{"new/deep", false, ""},
		{"empty", false, ""},
		{"empty", true, ""},
		{"foreign", false, "in use, and not by a run"},
		{"foreign", true, "in use, and not by a run"},
		{"run", false, "holds an earlier run; choose another by -out, go on with it by -resume, or replace it by -force"},
		{"run", true, ""},
		{"file", true, "not a directory"},
		{"file/run", false, "not a directory"},
	} {
		f, err := CheckFolder(in(c.name), c.force)
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

// TestNewFolder checks that a run is replaced whole, and nothing else with it.
func TestNewFolder(t *testing.T) {
	dir := t.TempDir()
	ours := []string{ConfigFile, MetricsFile, ModelFile, BestFile, CheckpointFile, previousFile, FiltersFile, SamplesFile, CurvesFile, LaddersFile, LadderFile, SnapshotFile(7)}
	if err := os.Mkdir(filepath.Join(dir, SnapshotsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{"notes.txt", SnapshotsDir + "/notes.txt"}, ours...) {
		put(t, filepath.Join(dir, name), []byte("x"))
	}
	if _, err := NewFolder(dir, "", false); err == nil {
		t.Error("a run is replaced without force")
	}
	f, err := NewFolder(dir, "", true)
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
		if f, err := NewFolder("", "a", false); err != nil || f.Dir != filepath.FromSlash(want) {
			t.Errorf("%v, %v, want %s", f, err, want)
		}
	}
}

// tableOf writes a table.
func tableOf(t testing.TB, f *Folder, columns []string, rows [][]float64) {
	t.Helper()
	table, err := f.NewTable(MetricsFile, columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := table.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestContinueTable checks which rows are kept, and that the table grows on.
func TestContinueTable(t *testing.T) {
	columns := []string{"step", "seconds", "x"}
	rows := [][]float64{{0, 0, 1. / 3}, {5, 0.1, -2e300}, {10, 0.2, 5e-324}, {15, 0.3, math.Inf(-1)}}
	for _, c := range []struct{ step, keep int }{{-1, 0}, {0, 1}, {4, 1}, {5, 2}, {12, 3}, {15, 4}, {1000, 4}} {
		for _, torn := range []string{"", "20", "20,0.4", "20,0.4,1e-", "20,0.4,1", "\x00"} {
			f := folder(t)
			tableOf(t, f, columns, rows)
			text := string(content(t, f.Path(MetricsFile)))
			put(t, f.Path(MetricsFile), []byte(text+torn))
			table, err := f.ContinueTable(MetricsFile, columns, c.step)
			if err != nil {
				t.Errorf("step %d, torn %q: %v", c.step, torn, err)
				continue
			}
			if err := errors.Join(table.Add([]float64{99, 1, 2}), table.Close()); err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(text, "\n")
			want := strings.Join(lines[:1+c.keep], "") + "99,1,2\n"
			if got := string(content(t, f.Path(MetricsFile))); got != want {
				t.Errorf("step %d, torn %q: the table is\n%s, want\n%s", c.step, torn, got, want)
			}
		}
	}
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"step,seconds", "empty"}, // not even its first line is whole
		{"step,seconds,y\n", "columns"},
		{"step,seconds\n", "columns"},
		{"step,seconds,x\n0,0,1\n5,one,1\n", `line 3: "one" is not a number`},
		{"step,seconds,x\n0,0\n5,1,1\n", "line 2 has 2 values for 3 columns"},
		{"step,seconds,x\n0,0,1,2\n", "line 2 has 4 values"},
		{"step,seconds,x\n0,\"0,1\n", "cannot go on with the metrics"},
	} {
		f := folder(t)
		put(t, f.Path(MetricsFile), []byte(c.text))
		if _, err := f.ContinueTable(MetricsFile, columns, 5); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
		if string(content(t, f.Path(MetricsFile))) != c.text {
			t.Errorf("%q was changed", c.text)
		}
	}
	if _, err := folder(t).ContinueTable(MetricsFile, columns, 5); err == nil || !strings.Contains(err.Error(), MetricsFile) {
		t.Errorf("no table: %v", err)
	}
}

// TestReadTable checks that what Table writes is read back, to the ten digits
// that it writes.
func TestReadTable(t *testing.T) {
	f := folder(t)
	columns := []string{"step", "a, b", `"c"`}
	rows := [][]float64{{0, 1.0000000003, -1e-300}, {1 << 31, math.Inf(1), 0}}
	tableOf(t, f, columns, rows)
	gotColumns, got, err := ReadTable(f.Path(MetricsFile))
	if err != nil || !slices.Equal(gotColumns, columns) || len(got) != 2 {
		t.Fatalf("%v, %v, %v", gotColumns, got, err)
	}
	near(t, "a, b", got[0][1], 1.0000000003, 5e-10) // half a unit of the tenth digit
	got[0][1] = rows[0][1]
	if !reflect.DeepEqual(got, rows) {
		t.Errorf("read %v, want %v", got, rows)
	}
}

// FuzzReadTable reads anything: a table that is read has rows as wide as its
// header, and can be gone on with without a change of what it says.
func FuzzReadTable(f *testing.F) {
	for _, s := range []string{"", "\n", "step\n", "step,x\n0,1\n", "step,x\n0,NaN\n1e999,2\n", "step,x\n0,1\n2", "a\n\"", "step\r\n1\r\n", "\"st\nep\",x\n0x1p-2,_1\n", "a,b\n1\n1,2\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := folder(t)
		path := dir.Path(MetricsFile)
		put(t, path, text)
		columns, rows, err := ReadTable(path)
		if err != nil {
			if columns != nil || rows != nil || strings.Contains(strings.ReplaceAll(err.Error(), dir.Dir, ""), "\n") {
				t.Fatalf("an error with columns %q, rows %v, or of two lines: %v", columns, rows, err)
			}
			return
		}
		for _, row := range rows {
			if len(row) != len(columns) {
				t.Fatalf("a row of %d under %d columns", len(row), len(columns))
			}
		}
		table, err := dir.ContinueTable(MetricsFile, columns, math.MaxInt64)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		_, again, err := ReadTable(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if row[0] > math.MaxInt64 {
				rows = rows[:i]
				break
			}
		}
		if len(again) != len(rows) {
			t.Fatalf("%d rows become %d", len(rows), len(again))
		}
		for i, row := range again {
			for c, x := range row {
				if was := rows[i][c]; x != was && !(math.IsNaN(x) && math.IsNaN(was)) && !(math.Abs(x-was) <= 1e-9*math.Abs(was)) && math.Abs(was) > 1e-300 {
					t.Fatalf("%v becomes %v", was, x)
				}
			}
		}
	})
}
