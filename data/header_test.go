package data

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

// digitsLike returns rows of whole numbers from 0 to 16, many of them 0, as in scikit-learn's digits.
func digitsLike(rows, cols int) (lines []string) {
	var r rng
	r.seed(rbm.NewKey(1))
	for range rows {
		fields := make([]string, cols)
		for j := range fields {
			fields[j] = fmt.Sprint(max(0, r.intn(34)-17))
		}
		lines = append(lines, strings.Join(fields, ","))
	}
	return lines
}

// count returns n numbers from, from+1, …, separated by commas.
func count(from, n int) string {
	fields := make([]string, n)
	for j := range fields {
		fields[j] = fmt.Sprint(from + j)
	}
	return strings.Join(fields, ",")
}

// TestHeader checks which first lines are headers, and that -header overrides it.
func TestHeader(t *testing.T) {
	digits := digitsLike(120, 64)
	ranks := strings.Split("2,0,1 1,2,0 0,1,2 2,1,0", " ")
	long := slices.Repeat([]string{"5,0,0,5"}, lookAhead)
	for name, c := range map[string]struct {
		first, labels string
		rows          []string
		want          string
	}{
		"pandas counts columns":        {count(0, 64), "auto", digits, HeaderNumbers},
		"of few rows":                  {count(0, 64), "auto", digits[:1], HeaderNumbers},
		"from 1":                       {count(1, 64), "auto", digits[:3], HeaderNumbers},
		"with spaces and a decimal":    {"0, 1 ,2.0,3", "auto", []string{"5,0,0,5"}, HeaderNumbers},
		"before a last label":          {count(0, 64) + ",64", "last", digits[:3], HeaderNumbers},
		"before a label with a name":   {count(0, 64) + ",kind", "last", digits[:3], HeaderNumbers},
		"before a column of labels":    {count(0, 64) + ",target", "auto", digits[:3], HeaderYes},
		"three columns":                {"0,1,2", "auto", []string{"5,0,5", "3,3,3"}, HeaderNumbers},
		"ranks of three":               {"0,1,2", "auto", ranks, HeaderNo},
		"ranks of five":                {"0,1,2,3,4", "auto", []string{"4,3,2,1,0", "1,0,2,4,3"}, HeaderNumbers},
		"chosen columns":               {"3,17,41,40", "auto", long, HeaderNumbers},
		"chosen columns, fewer rows":   {"3,17,41,40", "auto", long[1:], HeaderNumbers},
		"within the range of few rows": {"3,17,41,40", "auto", append([]string{"9,0,0,9", "0,90,90,90"}, long[3:]...), HeaderNo},
		"one row like it":              {"3,17,41,40", "auto", append(long[1:], "1,2,3,4"), HeaderNo},
		"a number twice":               {"3,17,41,3", "auto", long, HeaderNo},
		"a fraction":                   {"3,17,41,4.5", "auto", long, HeaderNo},
		"two columns of bits":          {"0,1", "auto", []string{"1,1", "0,0"}, HeaderNo},
		"the only row":                 {count(0, 64), "auto", nil, HeaderNo},
		"words":                        {"a,b,c", "auto", ranks, HeaderYes},
		"ragged later":                 {"3,17,41,40", "auto", append([]string{"1"}, long...), ""},
	} {
		width := len(strings.Split(c.first, ","))
		lines := slices.Clone(c.rows)
		for i := range lines {
			if strings.Count(lines[i], ",") < width-1 && name != "ragged later" {
				lines[i] += ",7"
			}
		}
		text := strings.Join(append([]string{c.first}, lines...), "\n") + "\n"
		for _, asked := range []string{"", "yes", "no"} {
			path := filepath.Join(t.TempDir(), "t.csv")
			writeFiles(t, filepath.Dir(path), map[string][]byte{"t.csv": []byte(text)})
			s, _, err := Load(context.Background(), path, Options{LabelColumn: c.labels, Scale: "max", Header: asked})
			if name == "ragged later" {
				checkFormat(t, err, "columns where the first row has")
				continue
			}
			words := strings.ContainsAny(c.first, "abcdefghijklmnopqrstuvwxyz")
			want := asked
			if asked == "" {
				want = c.want
			}
			rows := len(lines)
			switch {
			case want == HeaderNo && words && !strings.HasSuffix(c.first, "kind"):
				checkFormat(t, err, "is not a number")
				continue
			case want == HeaderNo:
				rows++
			case rows == 0:
				checkFormat(t, err, "no examples")
				continue
			}
			if err != nil || s.Header != want || s.Len() != rows {
				t.Errorf("%s, -header %q: %v, want %q and %d rows", name, asked, summarize(s, err), want, rows)
			}
		}
	}
}

func summarize(s *Set, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%q and %d rows", s.Header, s.Len())
}

// TestHeaderScale checks pandas' header of 8 × 8 digits under -scale max: the maximum is 16, and the rows
// are those without the header.
func TestHeaderScale(t *testing.T) {
	rows := strings.Join(digitsLike(120, 64), "\n")
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{"pandas.csv": []byte(count(0, 64) + "\n" + rows), "bare.csv": []byte(rows)})
	load := func(name, header, scale string) *Set {
		t.Helper()
		s, _, err := Load(context.Background(), filepath.Join(dir, name), Options{Scale: scale, Binarize: None, Header: header, Height: 8, Width: 8})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, scale := range []string{"max", "minmax", "16"} {
		got, want := load("pandas.csv", "", scale), load("bare.csv", "", scale)
		if got.Hash() != want.Hash() || got.Scale != "0:16" || want.Header != HeaderNo || got.Header != HeaderNumbers {
			t.Errorf("%s: %d rows of scale %s, header %s; want %d", scale, got.Len(), got.Scale, got.Header, want.Len())
		}
	}
	if s := load("pandas.csv", "no", "max"); s.Len() != 121 || s.Scale != "0:63" {
		t.Errorf("without a header %d rows of scale %s, want 121 and %s", s.Len(), s.Scale, "0:63")
	}
	if s := load("bare.csv", "yes", "max"); s.Len() != 119 {
		t.Errorf("with a header %d rows, want 119", s.Len())
	}
	// Whether a test file has a header does not depend on the training file.
	for _, name := range []string{"pandas.csv", "bare.csv"} {
		test, err := LoadTest(context.Background(), filepath.Join(dir, name), load("pandas.csv", "", "max"), Options{Binarize: None})
		if err != nil || test.Len() != 120 {
			t.Errorf("as test rows %s: %s", name, summarize(test, err))
		}
	}
	_, _, err := Load(context.Background(), filepath.Join(dir, "bare.csv"), Options{Header: "maybe"})
	checkSpec(t, err, `header "maybe"`, "auto, yes or no")
	// Read as values in [0,1] the line is refused. The error names the remedy if the line may be a header.
	writeFiles(t, dir, map[string][]byte{"few.csv": []byte("3,17,41\n0,1,1\n")})
	_, _, err = Load(context.Background(), filepath.Join(dir, "few.csv"), Options{})
	checkFormat(t, err, "few.csv:1", "-header yes")
}

// TestParseNumber checks that numbers are decimal, and that other notations of Go are refused.
func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{"1": 1, "-0.5": -0.5, "+.5": 0.5, "1.": 1, "1e-3": 1e-3, "1E+2": 100} {
		if v, err := ParseNumber(text); err != nil || v != want {
			t.Errorf("%q is %v, %v, want %v", text, v, err, want)
		}
	}
	for _, text := range []string{"1_0", "0x1p-1", "0X1p-1", "0x1", "1e1_0", "", " 1", "1 ", "0b1", "0o7", "1,5", "--1", "1e", "١"} {
		if v, err := ParseNumber(text); err == nil {
			t.Errorf("%q is %v", text, v)
		}
		if text == "" || strings.ContainsAny(text, " ,") {
			continue
		}
		_, err := readCSV("0,1\n0,"+text+"\n", "auto")
		checkFormat(t, err, "t.csv:2: column 2", "is not a number")
	}
	for _, text := range []string{"0x1p-1,0x1p-2\n0,1\n", "0_0,0_1\n0,1\n"} { // Go's notation is refused as numbers, and is no header
		_, err := readCSV(text, "auto")
		checkFormat(t, err, "t.csv:1: column 1", "is not a number")
	}
}
