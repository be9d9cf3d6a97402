package data

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/data/oracle"
	"gorbm/rbm"
)

// words returns the rows of a table as words, "." for a missing cell.
func words(s *Set) (rows []string) {
	levels := make([]int32, len(s.Schema.Columns))
	for r := range s.Len() {
		s.Schema.Levels(levels, s.X, r)
		var row []string
		unit := 0
		for i, k := range levels {
			c := &s.Schema.Columns[i]
			if s.Missing.Rows > 0 && s.Missing.Get(r, unit) {
				row = append(row, ".")
			} else {
				row = append(row, c.Levels[k])
			}
			unit += c.Units()
		}
		rows = append(rows, strings.Join(row, " "))
	}
	return rows
}

// Levels and labels that differ in case alone are kept apart, with a note.
func TestCaseTwins(t *testing.T) {
	path := writeFile(t, "a.csv", "colour,member,n,label\nred,yes,1,x\nblue,YES,2,y\nred,yes,1,X\nblue,no,2,x\n")
	s, _, err := Load(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`column 2 ("member"): "YES" and "yes" differ in case alone and are two levels; write them alike if they are one`,
		`the labels "X" and "x" differ in case alone and are two classes; write them alike if they are one`}
	if !slices.Equal(s.Notes, want) || len(s.Classes) != 3 {
		t.Errorf("classes %q, notes %q, want %q", s.Classes, s.Notes, want)
	}
}

// With a schema, the labels of a file are in the column that the schema names, wherever that is. Without a
// schema the column is an input unless it is last, and a note says so.
func TestLabelsOfSchema(t *testing.T) {
	load := func(text string, opt Options) *Set {
		t.Helper()
		s, _, err := Load(t.Context(), writeFile(t, "a.csv", text), opt)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, name := range []string{"target", "kind"} {
		last := "a,b," + name + "\nx,1,p\ny,2,q\nx,2,q\n"
		want := load(last, Options{LabelColumn: name})
		for _, text := range []string{last, "a," + name + ",b\nx,p,1\ny,q,2\nx,q,2\n", name + ",b,a\np,1,x\nq,2,y\nq,2,x\n"} {
			got := load(text, Options{Schema: want.Schema})
			if got.Hash() != want.Hash() || !slices.Equal(got.Y, want.Y) || len(got.Unused) > 0 || len(got.Notes) > 0 {
				t.Errorf("%q: labels %v, unused %q, notes %q", text, got.Y, got.Unused, got.Notes)
			}
			if got := load(text, Options{Schema: want.Schema, LabelColumn: "none"}); got.Y != nil || len(got.Unused) > 0 {
				t.Errorf("%q without labels: labels %v, unused %q", text, got.Y, got.Unused)
			}
		}
		if got := load("a,b\nx,1\ny,2\nx,2\n", Options{Schema: want.Schema}); got.Y != nil || !slices.Equal(got.X.Words, want.X.Words) {
			t.Errorf("a file without labels: labels %v", got.Y)
		}
	}
	const note = `column 2 ("target") is an input, as it is not the last column; if it holds the labels, say so by -label-column target`
	mid := "a,target,b\nx,p,1\ny,q,2\nx,q,2\n"
	for column, want := range map[string][]string{"auto": {note}, "none": nil, "target": nil, "last": nil} {
		if got := load(mid, Options{LabelColumn: column}).Notes; !slices.Equal(got, want) {
			t.Errorf("-label-column %s: notes %q, want %q", column, got, want)
		}
	}
	if got := load("a,y,b\nx,1,1\ny,2,2\nx,3,2\n", Options{Levels: 2}).Notes; len(got) > 0 {
		t.Errorf("numbers named y: notes %q", got)
	}
}

func TestTable(t *testing.T) {
	text := "colour,size,ill,age,label\nred,3,0,1.5,yes\n green ,1,1,,no\n?,2,0,7,no\nblue,1,NA,30,yes\nred,2,1,31.0,no\n"
	s, _, err := Load(context.Background(), writeFile(t, "a.csv", text), Options{Levels: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"red 3 0 1.5", "green 1 1 .", ". 2 0 7", "blue 1 . 30", "red 2 1 30"}
	if got := words(s); !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	if got := rbm.GroupsText(s.Groups); got != "softmax:3 softmax:3 bernoulli:1 softmax:3" || s.Schema.Label != "label" || s.Y[0] != 1 {
		t.Errorf("groups %s, label %q, classes %v", got, s.Schema.Label, s.Y)
	}
	if got := s.Notes; len(got) != 1 || got[0] != "3 of 20 cells are missing (15.0 %)" {
		t.Errorf("notes %q", got)
	}
	// Another file is read with the schema from a model file. Its columns are found by name, in any order.
	schema, err := ParseSchema(s.Schema.Text())
	if err != nil || schema.Text() != s.Schema.Text() {
		t.Fatalf("schema %s: %v", s.Schema.Text(), err)
	}
	other, _, err := Load(context.Background(), writeFile(t, "b.csv", "id,age,ill,size,colour\nx,29.99,1.0,3,blue\ny,-5,?,1,red\n"), Options{Schema: schema, LabelColumn: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if got := words(other); !slices.Equal(got, []string{"blue 3 1 7", "red 1 . 1.5"}) {
		t.Errorf("another file: %q", got)
	}
	if taken := s.Take([]int32{3, 1}); !slices.Equal(words(taken), []string{"blue 1 . 30", "green 1 1 ."}) {
		t.Errorf("some rows: %q", words(taken))
	}
	hash := s.Hash()
	if s.Missing.Set(0, 0, true); s.Hash() == hash {
		t.Error("the hash does not see missing cells")
	}
}

// Numbers as Gaussian units are standardised with the known cells. The schema has their scale, with which
// another file is read and rows are written. Bits and variables next to them stay 0 and 1.
func TestTableOfNumbers(t *testing.T) {
	text := "colour,height,ill,age,few\nred,1700000001.5,0,3,1\ngreen,1700000002.5,1,,2\n?,1700000003,0,7,2\nblue,1700000004,NA,35,1\nred,1700000004,1,35,3\n"
	path := writeFile(t, "a.csv", text)
	for _, opt := range []Options{{Numbers: NumbersGaussian, Levels: 3}, {Binarize: Standard, Levels: 3}, {Numbers: NumbersGaussian, Levels: 3, Categorical: "colour,ill"}} {
		s, _, err := Load(context.Background(), path, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := rbm.GroupsText(s.Groups); got != "softmax:3 gaussian:1 bernoulli:1 softmax:3 softmax:3" && got != "softmax:3 gaussian:1 bernoulli:1 gaussian:1 softmax:3" {
			t.Fatalf("groups %s", got)
		}
	}
	s, _, err := Load(context.Background(), path, Options{Numbers: NumbersGaussian, Levels: 3})
	if err != nil {
		t.Fatal(err)
	}
	// The heights have the mean 1700000003 and the deviation 0.9486833. The ages have three different
	// values and are levels.
	height := s.Schema.Columns[1].Number
	if s.Schema.Columns[3].Number != nil || height == nil || height.Mean != 1700000003 || math.Abs(height.Deviation-math.Sqrt(0.9)) > 1e-12 || s.Binarize != Standard {
		t.Fatalf("schema %s", s.Schema.Text())
	}
	want := [][]float32{{0, 0, 1, -1.5811388, 0}, {0, 1, 0, -0.5270463, 1}}
	for r, row := range want {
		if got := s.Grey.Row(r)[:5]; !slices.EqualFunc(got, row, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 }) {
			t.Errorf("row %d is %v, want %v", r, got, row)
		}
		if s.X.Get(r, 3) != (row[3] > 0) {
			t.Errorf("row %d: the bit of a number is %v", r, s.X.Get(r, 3))
		}
	}
	if x := s.Grey.Row(2); x[0]+x[1]+x[2] != 1 || !s.Missing.Get(2, 0) || !s.Missing.Get(2, 2) {
		t.Errorf("a missing variable is %v", x[:3])
	}
	if s.Means[3] != height.Mean || s.Deviations[3] != height.Deviation || s.Means[0] != 0 || s.Deviations[4] != 1 {
		t.Errorf("the inputs' scale is %v, %v", s.Means, s.Deviations)
	}
	if got := s.LogScale(0); math.Abs(got-math.Log(math.Sqrt(0.9))) > 1e-12 {
		t.Errorf("the log scale is %v", got)
	}
	schema, err := ParseSchema(s.Schema.Text())
	if err != nil || schema.Text() != s.Schema.Text() {
		t.Fatalf("schema %s: %v", s.Schema.Text(), err)
	}
	other, _, err := Load(context.Background(), writeFile(t, "b.csv", "ill,height,colour,few,age\n1,1700000003.25,blue,2,7\n0,NA,red,1,35\n"), Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if got := schema.Words(other.Grey.Values(), 0); !slices.Equal(got, []string{"blue", "1700000003.25", "1", "7", "2"}) {
		t.Errorf("another file: %q", got)
	}
	if other.LogScale(1) != 0 || other.LogScale(0) != s.LogScale(0) {
		t.Error("the log scale of a row counts missing cells")
	}
	if taken := s.Take([]int32{1}); !slices.Equal(taken.Grey.Row(0), s.Grey.Row(1)) || s.Hash() == taken.Hash() {
		t.Error("rows that are taken have other numbers")
	}
	for _, c := range []struct {
		text string
		opt  Options
		want string
	}{
		{"a,b\nx,1\ny,2\nx,3\ny,word\n", Options{Numbers: NumbersGaussian, Levels: 2}, `"word" is not a number, as most of the column are`},
		{"a,b\nx,1e300\ny,-1e300\nx,3\ny,2\n", Options{Numbers: NumbersGaussian, Levels: 2}, `column 2 ("b") has numbers whose standard deviation is +Inf`},
		{"colour,height,ill,age,few\nred,tall,0,3,1\n", Options{Schema: schema}, `"tall" is not a number, unlike the others of its column`},
		{"colour,height,ill,age,few\nred,1e300,0,3,1\n", Options{Schema: schema}, `"1e300" is too far from the mean of the column, 1.7e+09, to be standardised`},
		{"a,b\nx,y\nz,w\nz,y\n", Options{Binarize: Standard}, "holds categories alone, which cannot be standardised"},
		{"a,b\nx,1\ny,2\n", Options{Numbers: "real"}, "it must be levels or gaussian"},
	} {
		if _, _, err := Load(context.Background(), writeFile(t, "c.csv", c.text), c.opt); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want %s", c.text, err, c.want)
		}
	}
	for _, text := range []string{`{"columns":[{"name":"a","number":{"mean":1,"deviation":0}}]}`, `{"columns":[{"name":"a","levels":["x","y"],"number":{"mean":1,"deviation":2}}]}`} {
		if _, err := ParseSchema(text); err == nil {
			t.Errorf("%s is a schema", text)
		}
	}
}

// All spellings of a number are one level, with the first spelling. Words are levels as they are written.
func TestSpellingsOfNumbers(t *testing.T) {
	text := "a,b,c\n"
	for i, one := range []string{"1.0", "1", "01", "1e0", "1.00", "+1", "10e-1", "0.1e1", "1.", "1.000"} {
		text += fmt.Sprintf("%s,%s,%s\n%s,x1,2\n", one, []string{"x1", "x01"}[i%2], one, []string{"0", "-0"}[i%2])
	}
	for _, opt := range []Options{{Categorical: "a"}, {Categorical: "all"}, {Categorical: "b", Levels: 2}} {
		s, _, err := Load(context.Background(), writeFile(t, "a.csv", text), opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Schema.Columns[0].Levels; len(got) != 2 || !slices.Contains(got, "1.0") {
			t.Errorf("%+v: levels of numbers %q", opt, got)
		}
		if got := s.Schema.Columns[1].Levels; !slices.Equal(got, []string{"x01", "x1"}) {
			t.Errorf("%+v: levels of words %q", opt, got)
		}
		for r := range s.Len() {
			if s.X.Get(r, 0) != s.X.Get(r%2, 0) {
				t.Errorf("%+v: row %d is not as row %d", opt, r, r%2)
			}
		}
	}
	s, _, err := Load(context.Background(), writeFile(t, "b.csv", "a,b\n1,2\n1.0,3\n01,2\n"), Options{Categorical: "all"})
	if err != nil || !slices.Equal(s.Dropped, []string{"a"}) {
		t.Errorf("got %+v, %v, want a column of one number in three spellings dropped", s, err)
	}
}

// A column with one value is left out, next to others; missing cells are no value. One that has no name for -ignore, or that
// is named as categorical, is an error.
func TestConstantColumnsAreDropped(t *testing.T) {
	for _, c := range []struct {
		text, categorical string
		dropped           []string
		notes             []string
		err               string
	}{
		{"a,b,c\nx,1,q\nx,2,q\n,1,q\n", "", []string{"a", "c"}, []string{`column 1 ("a") is left out: one value, "x"`, `column 3 ("c") is left out: one value, "q"`}, ""},
		{"a,b\nx,1\ny,2\n", "", nil, nil, ""},
		{"a,b\nx,1\nx,2\n", "a", nil, nil, `column 1 ("a") has one value, "x"; leave it out by -ignore a`},
		{"\"a,c\",b\nx,1\nx,2\n", "", []string{"a,c"}, []string{`column 1 ("a,c") is left out: one value, "x"`}, ""},
		{"a,b\nx,1\nx,1\n", "", nil, nil, `column 1 ("a") has one value, "x"; leave it out by -ignore a`},
	} {
		s, _, err := Load(context.Background(), writeFile(t, "a.csv", c.text), Options{Categorical: c.categorical})
		if c.err != "" {
			if err == nil || !strings.HasSuffix(err.Error(), c.err) {
				t.Errorf("%q: got %v, want %s", c.text, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(s.Dropped, c.dropped) || len(s.Notes) < len(c.notes) || !slices.Equal(s.Notes[:len(c.notes)], c.notes) || len(s.Schema.Columns)+len(c.dropped) != len(ParseNames(c.text[:strings.Index(c.text, "\n")])) {
			t.Errorf("%q: got %q, %q, %v, want %q, %q", c.text, s.Dropped, s.Notes, err, c.dropped, c.notes)
		}
	}
}

// Numbers are cut into levels of equally many rows.
func TestQuantileLevels(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,zero\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "%d,%d\n", i*i, max(0, i-990))
	}
	s, _, err := Load(context.Background(), writeFile(t, "a.csv", b.String()), Options{Levels: 4})
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Schema.Columns[0]; !slices.Equal(c.Edges, []float64{62500, 250000, 562500}) || !slices.Equal(c.Levels, []string{"15376", "139876", "389376", "763876"}) {
		t.Errorf("edges %v, levels %v", c.Edges, c.Levels)
	}
	if c := s.Schema.Columns[1]; !slices.Equal(c.Edges, []float64{1}) || !slices.Equal(c.Levels, []string{"0", "5"}) || !c.Bit {
		t.Errorf("a column of zeros nearly: edges %v, levels %v", c.Edges, c.Levels)
	}
}

func TestBadTables(t *testing.T) {
	many := "id,x\n"
	for i := range 1500 {
		many += fmt.Sprintf("r%d,%d\nr%d,1\n", i, i%2, i)
	}
	known := &Schema{Columns: []Column{{Name: "a", Levels: []string{"x", "y", "z"}}, {Name: "b", Levels: []string{"1", "9"}, Edges: []float64{5}, Bit: true}}}
	for _, c := range []struct {
		text, want string
		opt        Options
	}{
		{many, `a.csv: column 1 ("id") has 1500 different words, more than the 1000 levels that are allowed; is it a name of the row? leave it out by -ignore id, or name it in -categorical, which allows 16384`, Options{}},
		{"a,b\nx,1\nx,1\nx,1\n", `a.csv: column 1 ("a") has one value, "x"; leave it out`, Options{}},
		{"a,b\nx,\ny,?\nx,NA\n", `a.csv: column 2 ("b") has no cell that is not missing; leave it out`, Options{Ignore: "none"}},
		{"a,b\nx,1\ny,2\nx,3\ny,O\n", `a.csv:5: column 2 ("b"): "O" is not a number, as most of the column are; correct it, leave the cell empty (or NA) if it is missing, or name the column in -categorical`, Options{}},
		{"a,b\nx,1\ny,2,3\nx,3\n", `a.csv:3: 3 columns where the first row has 2; give every row the same number`, Options{Levels: 4}},
		{"a,a\nx,1\ny,2\n", `a.csv:1: two columns are named "a"; give them different names`, Options{Levels: 4}},
		{"a,b\nx,1\ny,2\n", `a.csv has no column "B" to be categorical; did you mean b?`, Options{Categorical: "B"}},
		{"a,b\nx,1\nw,2\n", `a.csv:3: column 1 ("a"): "w" is no level that the model knows; it knows "x", "y", "z"; leave the cell empty (or NA) to have it missing`, Options{Schema: known}},
		{"a,b\nx,1\ny,q\n", `a.csv:3: column 2 ("b"): "q" is not a number, unlike the others of its column; correct it, or leave the cell empty (or NA) if it is missing`, Options{Schema: known}},
		{"a,c\nx,1\ny,2\n", `a.csv has no column "b", which the model has`, Options{Schema: known}},
		{"a,b,label\nx,1,\ny,2,p\n", `a.csv:2: column 3 ("label"): the label is missing; name a class`, Options{Levels: 4}},
		{"a,b\nS\xfcd,1\nx,2\n", `a.csv:2: column 1: "S\xfcd" is not UTF-8; save the file as UTF-8`, Options{Levels: 4}},
		{"a,b,label\nx,1,p\nS\xfcd,1,q\nx,2,p\n", `a.csv:3: column 1: "S\xfcd" is not UTF-8; save the file as UTF-8`, Options{}},
		{"a,b\n", `a.csv: no examples; write one a row`, Options{Levels: 4}},
		{"a,b\nx,1\ny,2\n", `1 levels; give 2 to 1000`, Options{Levels: 1}},
	} {
		path := writeFile(t, "a.csv", c.text)
		_, _, err := Load(context.Background(), path, c.opt)
		if err == nil {
			t.Errorf("%.40q is taken", c.text)
			continue
		}
		if got := strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", ""); !strings.HasPrefix(got, c.want) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	for _, text := range []string{"", "{}", "sequences x -A", "sequences 5 -", `{"columns":[{"name":"a","levels":["x"]}]}`, `{"columns":[{"name":"a","levels":["x","y","z"],"edges":[1]}]}`} {
		if _, err := ParseSchema(text); err == nil {
			t.Errorf("the schema %q is taken", text)
		}
	}
}

// oneValue reports whether all cells of column j that are not missing are the same word, or the same number.
func oneValue(lines [][]string, j int) bool {
	var values []string
	for _, line := range lines {
		word := strings.TrimSpace(line[j])
		if x, err := strconv.ParseFloat(word, 64); err == nil {
			word = strconv.FormatFloat(x, 'g', -1, 64)
		}
		if !IsMissing(word) && !slices.Contains(values, word) {
			values = append(values, word)
		}
	}
	return len(values) < 2
}

// TestDamagedTables reads damaged files. The result is an error of one line, or the words in the file without
// columns of one value.
func TestDamagedTables(t *testing.T) {
	seeds := []string{"a,b,c,label\nx,1,q,u\ny,2,?,v\nz,,r,u\nx,3,q,v\n", "a,b\r\n\"x, y\",0\r\nNA,1\r\nu,0\r\nw,1\r\n"}
	inserted := []string{",", "\n", "\"", "?", "NA", "x", "1", "1e3", "-", " ", "\x00", "inf", "0x1", "label", ";"}
	taken := 0
	oracle.Each(damaged(), rbm.NewKey(37).Child(2), seeds, inserted, func(i int, file []byte) {
		sets, err := readText(bytes.NewReader(file), "t.csv", Options{Categorical: "all", LabelColumn: "auto", Header: HeaderYes})
		if err != nil {
			checkFormat(t, err, "t.csv")
			return
		}
		taken++
		lines, err := oracle.CSV(string(file))
		s := sets[0]
		if err != nil || len(lines) != s.Len()+1 {
			t.Errorf("%q: %d rows; %v", file, s.Len(), err)
			return
		}
		var at []int // columns of the file that are in the table: those of one value are left out
		for j := 0; j < len(lines[0]) && len(at) < len(s.Schema.Columns); j++ {
			if !oneValue(lines[1:], j) {
				at = append(at, j)
			}
		}
		if len(at) < len(s.Schema.Columns) {
			t.Errorf("%q: %d columns of the table have more than one value, and the schema has %d", file, len(at), len(s.Schema.Columns))
			return
		}
		for r, row := range words(s) {
			var want []string
			for i, j := range at {
				c, word := &s.Schema.Columns[i], lines[r+1][j]
				if word = strings.TrimSpace(word); IsMissing(word) {
					word = "."
				} else if x, err := strconv.ParseFloat(word, 64); err == nil { // 01 is another spelling of 1
					for _, level := range c.Levels {
						if y, err := strconv.ParseFloat(level, 64); err == nil && x == y {
							word = level
						}
					}
				}
				want = append(want, word)
			}
			if row != strings.Join(want, " ") {
				t.Errorf("%q: row %d is %q, want %q", file, r, row, want)
			}
		}
	})
	if taken < damaged()/8 {
		t.Errorf("%d of %d files are taken, too few to compare", taken, damaged())
	}
}

// Words that mean a missing cell are recognised, and blanks around a word are ignored.
func TestMissingWords(t *testing.T) {
	for _, word := range []string{"", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None"} {
		path := writeFile(t, "a.csv", "a,b\nyes ,1\n no,2\nno , "+word+" \n"+word+",1\nyes,2\n")
		s, _, err := Load(context.Background(), path, Options{})
		if err != nil {
			t.Errorf("%q: %v", word, err)
			continue
		}
		if got := words(s); !slices.Equal(got, []string{"yes 1", "no 2", "no .", ". 1", "yes 2"}) || !slices.Equal(s.Schema.Columns[0].Levels, []string{"no", "yes"}) {
			t.Errorf("%q: %q, levels %q", word, got, s.Schema.Columns[0].Levels)
		}
	}
	if IsMissing("none") {
		t.Error("none is a word")
	}
}

// A gzipped file gives the rows of the plain one, and Lines returns its cells.
func TestGzippedCSV(t *testing.T) {
	text := "a;b;label\n0,5;x y;ant\n1;;bee\n0,25;z;ant\n1;x y;ant\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(text))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{"a.csv": []byte(text), "a.csv.gz": packed.Bytes(), "cut.csv.gz": packed.Bytes()[:packed.Len()-9], "bad.csv.gz": []byte("\x1f\x8b\x07 and more bytes")})
	want := [][]string{{"a", "b", "label"}, {"0.5", "x y", "ant"}, {"1", "", "bee"}, {"0.25", "z", "ant"}, {"1", "x y", "ant"}}
	var hash []string
	for _, name := range []string{"a.csv", "a.csv.gz"} {
		path := filepath.Join(dir, name)
		s, _, err := Load(context.Background(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkSet(t, s)
		hash = append(hash, s.Hash())
		lines, err := Lines(context.Background(), path)
		if err != nil || !slices.EqualFunc(lines, want, slices.Equal) {
			t.Errorf("%s: lines %q, want %q, %v", name, lines, want, err)
		}
	}
	if hash[0] != hash[1] {
		t.Error("the gzipped file has other rows")
	}
	for name, want := range map[string]string{"cut.csv.gz": "cut short; fetch it again", "bad.csv.gz": "damaged (gzip: invalid header)"} {
		_, _, err := Load(context.Background(), filepath.Join(dir, name), Options{})
		checkFormat(t, err, want)
	}
}

// A column with a different value in each row is noted if its values are words, or whole numbers that
// increase.
func TestRowNames(t *testing.T) {
	for _, c := range []struct {
		cell func(i int) string
		word string // a word in another column, which makes the file a table
		want bool
	}{
		{func(i int) string { return fmt.Sprint(100 + 7*i) }, "", true},
		{func(i int) string { return fmt.Sprint(100 + 7*i) }, "w", true},
		{func(i int) string { return fmt.Sprint(100 + 7*i%11) }, "", false},
		{func(i int) string { return fmt.Sprint(100 + 7*i%11) }, "w", false},
		{func(i int) string { return fmt.Sprint(0.5 + float64(i)) }, "", false},
		{func(i int) string { return fmt.Sprint(0.5 + float64(i)) }, "w", false},
		{func(i int) string { return fmt.Sprint(100 + i - i%2) }, "", false},
	} {
		var b strings.Builder
		b.WriteString("id,other\n")
		for i := range 12 {
			fmt.Fprintf(&b, "%s,%s%d\n", c.cell(i), c.word, i%3%2)
		}
		s, _, err := Load(context.Background(), writeFile(t, "a.csv", b.String()), Options{Real: true, Scale: map[string]string{"": "0:1000"}[c.word]})
		if err != nil {
			t.Fatal(err)
		}
		const note = `column 1 ("id") has another value in each row; if it names the rows, leave it out by -ignore id`
		if got := slices.Contains(s.Notes, note); got != c.want {
			t.Errorf("%s: notes %q, want the note %v", b.String(), s.Notes, c.want)
		}
	}
}

// Decimal commas are allowed in files with tabs, in weights too. In other files the error names them.
func TestDecimalCommas(t *testing.T) {
	dir := t.TempDir()
	points, commas, quoted := "size,kind,w\n", "size\tkind\tw\n", "size,kind\n"
	for i := range 40 {
		kind := "ab"[i%2 : i%2+1]
		points += fmt.Sprintf("%d.%d,%s,%d.5\n", 50+i, i%10, kind, i)
		commas += fmt.Sprintf("%d,%d\t%s\t%d,5\n", 50+i, i%10, kind, i)
		quoted += fmt.Sprintf("\"%d,%d\",%s\n", 50+i, i%10, kind)
	}
	writeFiles(t, dir, map[string][]byte{"points.csv": []byte(points), "commas.tsv": []byte(commas), "quoted.csv": []byte(quoted)})
	load := func(file string) *Set {
		s, _, err := Load(t.Context(), filepath.Join(dir, file), Options{Weights: "w"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want, got := load("points.csv"), load("commas.tsv")
	if got.Schema.Text() != want.Schema.Text() || got.Hash() != want.Hash() || !slices.Equal(got.Weights, want.Weights) || len(got.Schema.Columns[0].Edges) == 0 {
		t.Errorf("beside tabs: %s, weights %v", got.Schema.Text(), got.Weights)
	}
	_, _, err := Load(t.Context(), filepath.Join(dir, "quoted.csv"), Options{})
	checkFormat(t, err, `quoted.csv:2: column 1 ("size"): the words of the column look like numbers with a decimal comma, as "50,0"; write a decimal point, or name the column in -categorical`)
	if s, _, err := Load(t.Context(), filepath.Join(dir, "quoted.csv"), Options{Categorical: "size"}); err != nil || len(s.Schema.Columns[0].Levels) != 40 {
		t.Errorf("as categories: %v", err)
	}
}

// Ignored columns are not read, and messages count columns as in the file. The error about an unknown level
// advises to ignore a column of row names, and only such a column.
func TestUnseenNamesOfRows(t *testing.T) {
	text := func(from, repeats int) string {
		b := "customer,a,b\n"
		for i := range 12 {
			b += fmt.Sprintf("c%02d,%s,%d\n", from+i/repeats, "xyz"[i%3:i%3+1], i%2)
		}
		return b
	}
	train, _, err := Load(t.Context(), writeFile(t, "a.csv", text(0, 1)), Options{Levels: 4, Categorical: "customer"})
	if err != nil {
		t.Fatal(err)
	}
	for repeats, names := range map[int]bool{1: true, 2: false} {
		_, err := LoadTest(t.Context(), writeFile(t, "b.csv", text(50, repeats)), train, Options{Levels: 4})
		checkFormat(t, err, `b.csv:2: column 1 ("customer"): "c50" is no level that the model knows; it knows "c00", `)
		if got := strings.HasSuffix(err.Error(), "; most words of the column occur once; if they name the rows, leave it out by -ignore customer in training"); got != names {
			t.Errorf("%d rows each: %v", repeats, err)
		}
		if _, err := LoadTest(t.Context(), writeFile(t, "b.csv", text(50, repeats)), train, Options{Levels: 4, Ignore: "customer"}); err == nil {
			t.Error("a column of the model is left out")
		}
	}
}

func TestIgnore(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{
		"short.csv": []byte("a,kind,id\n1,x,7\n0,y\n"),
		"rest.csv":  []byte("id,a,w,kind\n7,1,1,x\n8,0,-1,y\n"),
		"bare.csv":  []byte("0,1\n1,0\n"),
		"many.csv":  []byte("my id,a\n"),
	}
	text := [4]string{"id,a,note,b,w,kind\n", "a,b,w,kind\n", "id,a,note,b,w\n", "a,b,w\n"}
	for i := range 20 {
		text[0] += fmt.Sprintf("n%d,%d,,%d,%d,%s\n", i, i%2, i/2%2, i+1, "xy"[i%2:i%2+1])
		text[1] += fmt.Sprintf("%d,%d,%d,%s\n", i%2, i/2%2, i+1, "xy"[i%2:i%2+1])
		text[2] += fmt.Sprintf("%d,%d,,%d,%d\n", i, i%2, i/2%2, i+1)
		text[3] += fmt.Sprintf("%d,%d,%d\n", i%2, i/2%2, i+1)
		files["many.csv"] = fmt.Appendf(files["many.csv"], "n%d,%d\n", i, i%2)
	}
	for i, name := range []string{"table.csv", "table-less.csv", "numbers.csv", "numbers-less.csv"} {
		files[name] = []byte(text[i])
	}
	writeFiles(t, dir, files)
	load := func(file string, opt Options) (*Set, error) {
		s, _, err := Load(t.Context(), filepath.Join(dir, file), opt)
		return s, err
	}
	for _, kind := range []string{"table", "numbers"} {
		opt := Options{Weights: "w", Ignore: "note, id"}
		got, err := load(kind+".csv", opt)
		want, errToo := load(kind+"-less.csv", Options{Weights: "w"})
		if err != nil || errToo != nil {
			t.Fatal(err, errToo)
		}
		if got.Hash() != want.Hash() || !slices.Equal(got.Columns, want.Columns) || !slices.Equal(got.Weights, want.Weights) || len(got.Notes) > 0 || (got.Schema == nil) != (kind == "numbers") {
			t.Errorf("%s: columns %q, weights %v, notes %q", kind, got.Columns, got.Weights, got.Notes)
		}
		for _, file := range []string{kind + ".csv", kind + "-less.csv"} {
			if test, err := LoadTest(t.Context(), filepath.Join(dir, file), got, opt); err != nil || test.Hash() != got.Hash() || len(test.Unused) > 0 {
				t.Errorf("%s as test rows: %v", file, err)
			}
		}
		opt.Ignore = ""
		if test, err := LoadTest(t.Context(), filepath.Join(dir, kind+".csv"), got, opt); kind == "table" && (err != nil || !slices.Equal(test.Unused, []string{"id", "note"})) {
			t.Errorf("unused: %v, %v", test, err)
		}
	}
	for _, c := range []struct {
		file string
		opt  Options
		want string
	}{
		{"table.csv", Options{Ignore: "nota"}, `has no column "nota" to ignore; did you mean note?`},
		{"table.csv", Options{Ignore: "id", Header: HeaderNo}, "its first line is a row, so that the columns are c1 to c6"},
		{"bare.csv", Options{Ignore: "id"}, `has no column "id" to ignore; its first line is a row, so that the columns are c1 to c2`},
		{"short.csv", Options{Ignore: "a,kind,id"}, "all columns are ignored; leave one of them"},
		{"short.csv", Options{Ignore: "id"}, "short.csv:3: 2 columns where the first row has 3"},
		{"rest.csv", Options{Ignore: "id", Weights: "w"}, `rest.csv:3: column 3 ("w"): the weight is "-1"`},
		{"rest.csv", Options{Ignore: "id,kind", Scale: "0:1", LabelColumn: "a"}, `rest.csv:3: column 3 ("w")`},
	} {
		_, err := load(c.file, c.opt)
		checkFormat(t, err, c.want)
	}
	if s, err := load("many.csv", Options{}); err != nil || len(s.Notes) != 1 || s.Notes[0] != `column 1 ("my id") is left out: another word in each row, as names of rows have; -categorical 'my id' keeps it` {
		t.Errorf("notes %q, %v", s.Notes, err)
	}
}
