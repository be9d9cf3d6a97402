package data

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// one returns the only set of a source.
func one(sets []*Set, err error) (*Set, error) {
	if err != nil {
		return nil, err
	}
	return sets[0], nil
}

// readCSV loads CSV text under the name t.csv.
func readCSV(text, labels string) (*Set, error) {
	return one(readText(strings.NewReader(text), "t.csv", Options{LabelColumn: labels}))
}

func TestCSV(t *testing.T) {
	for _, c := range []struct {
		name, text, labels string
		rows               []string
		y                  []int32
		classes            []string
		binarize           string
	}{
		{"plain", "0,1,1\n1,0,0\n", "auto", []string{"011", "100"}, nil, nil, Binary},
		{"no last newline, CRLF, blanks", "0, 1 ,1\r\n1,0,0", "auto", []string{"011", "100"}, nil, nil, Binary},
		{"byte order mark", "\xef\xbb\xbf0,1\n", "auto", []string{"01"}, nil, nil, Binary},
		{"empty lines", "\n0,1\n\n1,1\n\n", "auto", []string{"01", "11"}, nil, nil, Binary},
		{"header", "a,b\n0,1\n", "auto", []string{"01"}, nil, nil, Binary},
		{"header, one column", "a\n0\n1\n", "auto", []string{"0", "1"}, nil, nil, Binary},
		{"0.0 and 1.0", "0.0,1.0\n1e0,0\n", "auto", []string{"01", "10"}, nil, nil, Binary},
		{"grey", "0.5,0.49,0.999\n", "auto", []string{"101"}, nil, nil, Threshold},
		{"y", "a,b,Y\n0,1,10\n1,1,9\n0,0,10\n", "auto", []string{"01", "11", "00"}, []int32{1, 0, 1}, []string{"9", "10"}, Binary},
		{"column numbers and target", "0,1,target\n0,1,cat\n", "auto", []string{"01"}, []int32{0}, []string{"cat"}, Binary},
		{"label, ignored", "a,b,label\n0,1,1\n", "none", []string{"011"}, nil, nil, Binary},
		{"class, sorted as words", "a,class\n0,b\n1,10\n1,9\n", "auto", []string{"0", "1", "1"}, []int32{2, 0, 1}, []string{"10", "9", "b"}, Binary},
		{"last without a header", "0,1,7\n1,1,-3\n", "last", []string{"01", "11"}, []int32{1, 0}, []string{"-3", "7"}, Binary},
		{"last, words", "0,1,cat\n1,1,ant\n", "last", []string{"01", "11"}, []int32{1, 0}, []string{"ant", "cat"}, Binary},
		{"last, header of other words", "a,b,kind\n1,1,ant\n", "last", []string{"11"}, []int32{0}, []string{"ant"}, Binary},
		{"quotes", "0,\"1\",\"a, \"\"b\"\"\"\n", "last", []string{"01"}, []int32{0}, []string{`a, "b"`}, Binary},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := readCSV(c.text, c.labels)
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for r := range s.Len() {
				rows = append(rows, rowText(s.X, r))
			}
			if !slices.Equal(rows, c.rows) || !slices.Equal(s.Y, c.y) || !slices.Equal(s.Classes, c.classes) || s.Binarize != c.binarize || s.Name != "t.csv" {
				t.Errorf("got rows %v, y %v, classes %q, %s", rows, s.Y, s.Classes, s.Binarize)
			}
		})
	}
}

func TestCSVWide(t *testing.T) {
	// Rows of more than a word, which end within words.
	var text strings.Builder
	want := randomSet(9, 150, 3)
	for r := range want.Len() {
		text.WriteString(strings.Join(strings.Split(rowText(want.X, r), ""), ",") + "," + strconv.Itoa(int(want.Y[r])) + "\n")
	}
	s, err := readCSV(text.String(), "last")
	if err != nil {
		t.Fatal(err)
	}
	if s.Hash() != want.Hash() {
		t.Error("the rows differ from those written")
	}
	if s.Height != 10 || s.Width != 15 {
		t.Errorf("shape %d × %d, want 10 × 15", s.Height, s.Width)
	}
}

func TestCSVErrors(t *testing.T) {
	many := "a,y\n"
	for i := range maxClasses + 1 {
		many += "0," + strconv.Itoa(i) + "\n"
	}
	for _, c := range []struct{ text, labels, want string }{
		{"", "auto", "t.csv: no examples"},
		{"\n\n", "auto", "t.csv: no examples"},
		{"a,b\n", "auto", "t.csv: no examples"},
		{"0,1\n0\n", "auto", "t.csv:2: 1 columns where the first row has 2"},
		{"0,1\n0,1\n\n0,1,1\n", "auto", "t.csv:4: 3 columns"},
		{"0,1\n0,cat\n", "auto", `t.csv:2: column 2: "cat" is not a number, as most of the column are; correct it, leave the cell empty (or NA) if it is missing, or name the column in -categorical; or if the column holds labels, say so by -label-column last`},
		{"0,1,1\n0,cat,1\n", "auto", `t.csv:2: column 2: "cat" is not a number, as most of the column are; correct it, leave the cell empty (or NA) if it is missing, or name the column in -categorical`},
		{"0,cat,1\n0,1,1\n", "auto", `t.csv:1: column 2: "cat"`},
		{"a,b\n0,NaN\n1,0.5\n", "auto", `t.csv:2: column 2 ("b"): "NaN" is not a number; fill it in, or take -numbers gaussian`},
		{"nan\n", "auto", `t.csv: column 1 would be left out, like all columns: no cell is known`},
		{"0,2\n", "auto", `"2" is outside [0,1]`},
		{"0,-0.1\n", "auto", `"-0.1" is outside [0,1]`},
		{"0,inf\n", "auto", `t.csv:1: column 2: "inf" is not finite`},
		{"0,1e999\n", "auto", `t.csv:1: column 2: "1e999" is not finite`},
		{"0,1\n0.5,\n", "auto", "t.csv:2: column 2: a value is missing; fill it in, or take -numbers gaussian (real numbers) or -numbers levels"},
		{"0,1,y\n0,1,\n", "auto", "the label is missing"},
		{"y\n0\n", "auto", "only column"},
		{"0\n1\n", "last", "only column"},
		{"label,a\n5,1\n", "auto", "say so by -label-column first"},
		{"0,\"1\n", "auto", "t.csv:"},
		{"0,1\"1\n", "auto", "quotes must enclose"},
		{"a,label\n1,b\nS\xfcd,a\n", "auto", `t.csv:3: column 1: "S\xfcd" is not UTF-8; save the file as UTF-8, such as by iconv -f latin1 -t utf-8`},
		{"a,Stra\xdfe\n0,1\n", "auto", `t.csv:1: column 2: "Stra\xdfe" is not UTF-8`},
		{"\xff\xfea\x00\n", "auto", `t.csv: the text is UTF-16; save it as UTF-8, such as by iconv -f utf-16 -t utf-8`},
		{many, "auto", "more than 4096 different labels"},
	} {
		_, err := readCSV(c.text, c.labels)
		checkFormat(t, err, c.want)
	}
}

func TestCSVFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.CSV")
	if err := os.WriteFile(path, []byte("a,b,y\n1,0,x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, _ := mustLoad(t, path)
	if s.Name != path || rowText(s.X, 0) != "10" || s.Classes[0] != "x" {
		t.Errorf("got %q, %v, %q", s.Name, s.X, s.Classes)
	}
}

// checkSet fails if a set breaks what the documentation of Set promises.
func checkSet(t *testing.T, s *Set) {
	t.Helper()
	if s.Len() == 0 || s.X.Cols == 0 || s.Height*s.Width != s.X.Cols || len(s.X.Words) != s.X.Rows*s.X.Stride {
		t.Fatalf("a set of shape %d × %d as %d × %d", s.Len(), s.X.Cols, s.Height, s.Width)
	}
	if (s.Y == nil) != (s.Classes == nil) || s.Y != nil && len(s.Y) != s.Len() {
		t.Fatalf("%d labels of %d classes for %d rows", len(s.Y), len(s.Classes), s.Len())
	}
	if (s.Grey.Rows > 0) != (s.Binarize == None) {
		t.Fatalf("%d rows of grey values, %s", s.Grey.Rows, s.Binarize)
	}
	if s.Grey.Rows > 0 {
		if s.Grey.Rows != s.Len() || s.Grey.Cols != s.X.Cols || len(s.Grey.Data) != s.Len()*s.X.Cols {
			t.Fatalf("grey values of %d × %d, %d in all, for %d × %d", s.Grey.Rows, s.Grey.Cols, len(s.Grey.Data), s.Len(), s.X.Cols)
		}
		for i, v := range s.Grey.Data {
			if !(v >= 0 && v <= 1) || s.X.Get(i/s.X.Cols, i%s.X.Cols) != (v >= 0.5) {
				t.Fatalf("grey value %g is bit %v", v, s.X.Get(i/s.X.Cols, i%s.X.Cols))
			}
		}
	}
	for _, y := range s.Y {
		if int(y) >= len(s.Classes) || y < 0 {
			t.Fatalf("class %d of %d", y, len(s.Classes))
		}
	}
	pad := rbmPad(s.X.Cols)
	for r := range s.Len() {
		if s.X.Row(r)[s.X.Stride-1]&pad != 0 {
			t.Fatalf("row %d has bits past its end", r)
		}
	}
}

// rbmPad returns the bits of a row's last word that must be 0.
func rbmPad(cols int) uint64 {
	if cols%64 == 0 {
		return 0
	}
	return ^uint64(0) << (cols % 64)
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"0,1\n1,0\n", "a,b,y\n0,0.5,x\n", "\"0\",1\n", "0,1\n0\n", "\xef\xbb\xbf1", "nan\n", ""} {
		for mode := range 9 {
			f.Add([]byte(s), uint8(mode))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, mode uint8) {
		opt := Options{
			LabelColumn: []string{"auto", "last", "none"}[mode%3],
			Binarize:    []string{Threshold, Sample, None}[mode/3%3],
		}
		s, err := one(readText(bytes.NewReader(text), "t.csv", opt))
		if err != nil {
			checkFormat(t, err, "t.csv")
			return
		}
		checkSet(t, s)
	})
}

// A file with labels in the first column, or in a named one, gives the same set as with that column last.
// Errors name the column of the file.
func TestLabelColumnAnywhere(t *testing.T) {
	dir := t.TempDir()
	load := func(text, column string) (*Set, error) {
		path := filepath.Join(dir, "t.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		s, _, err := Load(t.Context(), path, Options{LabelColumn: column})
		return s, err
	}
	want, err := load("a,b,kind\n0,1,cat\n1,1,dog\n0,0,cat\n", "last")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, column string }{
		{"kind,a,b\ncat,0,1\ndog,1,1\ncat,0,0\n", "first"},
		{"kind,a,b\ncat,0,1\ndog,1,1\ncat,0,0\n", "kind"},
		{"a,kind,b\n0,cat,1\n1,dog,1\n0,cat,0\n", "kind"},
		{"a,b,kind\n0,1,cat\n1,1,dog\n0,0,cat\n", "kind"},
	} {
		got, err := load(c.text, c.column)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if got.Hash() != want.Hash() || !slices.Equal(got.Columns, []string{"a", "b"}) || !slices.Equal(got.Y, want.Y) {
			t.Errorf("%+v: columns %v, labels %v", c, got.Columns, got.Y)
		}
	}
	for _, c := range []struct{ text, column, want string }{
		{"a,kind,b,kind\n0,cat,1,0\n", "kind", `two columns are named "kind"; give them different names`},
		{"a,kind,b\n0,cat,1\n", "kin", `no column is named "kin", for the labels; did you mean kind?`},
		{"a,kind,b\n0,cat,7\n", "kind", `:2: column 3 ("b"): "7" is outside [0,1]`},
		{"a,kind,b\n9,cat,1\n", "kind", `:2: column 1 ("a"): "9" is outside [0,1]`},
		{"a,kind,b\n0,,1\n", "kind", `:2: column 2 ("kind"): the label is missing`},
	} {
		if _, err := load(c.text, c.column); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q in it", c, err, c.want)
		}
	}
}

// Test rows whose header has the columns in another order are refused, and constant columns are named.
func TestColumnsAreNamed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	train, _, err := Load(t.Context(), write("train.csv", "age,smokes\n0,1\n1,1\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := train.DescribeConstantColumns(); got != "1 of 2 columns is constant (smokes)" {
		t.Errorf("got %q, want %q", got, "1 of 2 columns is constant (smokes)")
	}
	for text, want := range map[string]string{
		"age,smokes\n1,0\n0,1\n": "",
		"1,0\n0,1\n0,1\n":        "", // without a header the order is unknown
		"smokes,age\n1,0\n0,1\n": `column 1 is "smokes", where ` + train.Name + ` has "age"`,
	} {
		_, err := LoadTest(t.Context(), write("test.csv", text), train, Options{})
		if want == "" && err != nil || want != "" && (err == nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// For real numbers with missing values, the error names the first missing value and the way to keep it, and
// not numbers outside [0,1].
func TestGapsOfRealNumbers(t *testing.T) {
	for rows, want := range map[string]string{
		"a,b\n6.5,-8.25\n,-4.5\n7.25,3.5\n":   `:3: column 1 ("a"): a value is missing; fill it in, or take -numbers gaussian`,
		"a,b\n6.5,-8.25\n6.5,NA\n7.25,3.5\n":  `:3: column 2 ("b"): "NA" is not a number; fill it in, or take -numbers gaussian`,
		"a,b\n6.5,-8.25\n6.5,nan\n7.25,3.5\n": `:3: column 2 ("b"): "nan" is not a number; fill it in, or take -numbers gaussian`,
	} {
		path := filepath.Join(t.TempDir(), "gaps.csv")
		if err := os.WriteFile(path, []byte(rows), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(context.Background(), path, Options{Real: true, Binarize: Threshold, Scale: "auto"}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", rows, err)
		}
		if _, _, err := Load(context.Background(), path, Options{Numbers: "gaussian"}); err != nil {
			t.Errorf("%q as a table: %v", rows, err)
		}
	}
}
