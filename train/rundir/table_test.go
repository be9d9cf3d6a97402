package rundir

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

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

// TestContinueTable checks which rows are kept, and that rows can be added.
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
		{"step,seconds", "empty"}, // the first line is cut short
		{"step,seconds,y\n", "columns"},
		{"step,seconds\n", "columns"},
		{"step,seconds,x\n0,0,1\n5,one,1\n", `line 3: "one" is not a number`},
		{"step,seconds,x\n0,0\n5,1,1\n", "line 2 has 2 values for 3 columns"},
		{"step,seconds,x\n0,0,1,2\n", "line 2 has 4 values"},
		{"step,seconds,x\n0,\"0,1\n", "cannot continue the metrics"},
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
		t.Errorf("no table: %v, want %q in it", err, MetricsFile)
	}
}

// TestReadTable checks that ReadTable returns what Table wrote, to the ten digits that it writes.
func TestReadTable(t *testing.T) {
	f := folder(t)
	columns := []string{"step", "a, b", `"c"`}
	rows := [][]float64{{0, 1.0000000003, -1e-300}, {1 << 31, math.Inf(1), 0}}
	tableOf(t, f, columns, rows)
	gotColumns, got, err := ReadTable(f.Path(MetricsFile))
	if err != nil || !slices.Equal(gotColumns, columns) || len(got) != 2 {
		t.Fatalf("%v, %v, %v", gotColumns, got, err)
	}
	if off := math.Abs(got[0][1] - 1.0000000003); !(off <= 5e-10) { // half a unit of the tenth digit
		t.Errorf("off by %v, want at most 5e-10", off)
	}
	got[0][1] = rows[0][1]
	if !reflect.DeepEqual(got, rows) {
		t.Errorf("read %v, want %v", got, rows)
	}
}

func TestReadTableErrors(t *testing.T) {
	f := folder(t)
	if _, _, err := ReadTable(f.Path(MetricsFile)); err == nil {
		t.Error("a table that does not exist is read")
	}
	for text, want := range map[string]string{
		"":                           "is empty",
		"step,error_train\n0,much\n": `"much" is not a number`,
		"step,error_train\n0\n":      "1 values for 2 columns",
	} {
		put(t, f.Path(MetricsFile), []byte(text))
		if _, _, err := ReadTable(f.Path(MetricsFile)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzReadTable reads any bytes. If they are a table, its rows are as wide as its header, and continuing it
// changes nothing.
func FuzzReadTable(f *testing.F) {
	for _, s := range []string{"", "\n", "step\n", "step,x\n0,1\n", "step,x\n0,NaN\n1e999,2\n", "step,x\n0,1\n2", "a\n\"", "step\r\n1\r\n", "\"st\nep\",x\n0x1p-2,_1\n", "a,b\n1\n1,2\n", "\"\"\n0\n"} {
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
