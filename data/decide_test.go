package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/rbm"
)

// lines joins rows of cells.
func lines(separator string, rows ...[]string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.Join(row, separator) + "\n")
	}
	return b.String()
}

// manyRows returns n rows of three bits, as text, in a fixed random order.
func manyRows(n int) (rows [][]string) {
	r := rbm.NewKey(5).Rand()
	for range n {
		rows = append(rows, []string{strconv.Itoa(r.IntN(2)), strconv.Itoa(r.IntN(2)), strconv.Itoa(r.IntN(2))})
	}
	return rows
}

// mapped returns rows with each cell replaced.
func mapped(rows [][]string, cell func(r, j int, text string) string) (to [][]string) {
	for r, row := range rows {
		var cells []string
		for j, text := range row {
			cells = append(cells, cell(r, j, text))
		}
		to = append(to, cells)
	}
	return to
}

// before returns rows with a further first column.
func before(rows [][]string, first func(r int) string) (to [][]string) {
	for r, row := range rows {
		to = append(to, append([]string{first(r)}, row...))
	}
	return to
}

// The same rows of bits are read from every dialect in which they are unambiguous.
func TestDialectsOfBits(t *testing.T) {
	rows, head := manyRows(40), [][]string{{"a", "b", "c"}}
	all := append(slices.Clone(head), rows...)
	want, err := one(readText(strings.NewReader(lines(",", rows...)), "t.csv", Options{LabelColumn: "auto"}))
	if err != nil {
		t.Fatal(err)
	}
	table, err := one(readText(strings.NewReader(lines(",", mapped(all, func(r, j int, s string) string {
		if r > 0 {
			return map[string]string{"0": "no", "1": "yes"}[s]
		}
		return s
	})...)), "t.csv", Options{LabelColumn: "auto"}))
	if err != nil || !slices.Equal(table.X.Words, want.X.Words) {
		t.Fatalf("words: %v", err)
	}
	quotes := func(q string) [][]string {
		return mapped(all, func(_, _ int, s string) string { return q + s + q })
	}
	percent := mapped(all, func(r, _ int, s string) string {
		if r == 0 {
			return s
		}
		return map[string]string{"0": "0%", "1": "100%"}[s]
	})
	index := append([][]string{{"id", "a", "b", "c"}}, before(rows, func(r int) string { return strconv.Itoa(r + 1) })...)
	names := append([][]string{{"id", "a", "b", "c"}}, before(rows, func(r int) string { return fmt.Sprintf("u%d", 7919*r%101) })...)
	dates := append([][]string{{"day", "a", "b", "c"}}, before(rows, func(r int) string { return fmt.Sprintf("2024-%02d-%02dT00:00:00", r/28+1, r%28+1) })...)
	unnamed := append([][]string{{"", "a", "b", "c"}}, before(rows, strconv.Itoa)...)
	pandas := append([][]string{{"", "0", "1", "2"}}, before(rows, strconv.Itoa)...)
	for name, text := range map[string]string{
		"blanks":              lines(" ", rows...),
		"blanks, names":       lines(" ", all...),
		"columns of blanks":   lines("   ", rows...),
		"leading blanks":      "  " + strings.ReplaceAll(lines("  ", rows...), "\n", " \n  "),
		"tabs":                lines("\t", all...),
		"bars":                lines("|", all...),
		"semicolons":          lines(";", all...),
		"line for Excel":      "sep=;\n" + lines(";", all...),
		"comments":            "# made by a script\n# 2024\n" + lines(",", all...),
		"names in a comment":  "# a,b,c\n" + lines(",", rows...),
		"savetxt":             "# a b c\n" + lines(" ", mapped(rows, func(_, _ int, s string) string { return s + ".000000000000000000e+00" })...),
		"separator at ends":   lines(",", mapped(all, func(_, j int, s string) string { return s + []string{"", "", ","}[j] })...),
		"quotes":              lines(",", quotes(`"`)...),
		"single quotes":       lines(",", quotes("'")...),
		"empty lines":         "\n\n" + strings.ReplaceAll(lines(",", all...), "\n", "\n\n"),
		"old ends of lines":   strings.ReplaceAll(lines(",", all...), "\n", "\r"),
		"two ends of lines":   strings.ReplaceAll(lines(",", all...), "\n", "\r\r\n"),
		"strings of bits":     lines("", rows...),
		"named string":        "state\n" + lines("", rows...),
		"percent":             lines(",", percent...),
		"decimal commas":      lines(";", mapped(rows, func(_, _ int, s string) string { return s + ",0" })...),
		"numbers of the rows": lines(",", index...),
		"names of the rows":   lines(",", names...),
		"dates":               lines(",", dates...),
		"no name":             lines(",", unnamed...),
		"numbered by pandas":  lines(",", pandas...),
	} {
		for _, real := range []bool{false, true} {
			s, err := one(readText(strings.NewReader(text), "t.csv", Options{LabelColumn: "auto", Real: real, Binarize: Threshold}))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checkSet(t, s)
			if s.Len() != want.Len() || !slices.Equal(s.X.Words, want.X.Words) {
				t.Errorf("%s: %d rows of %d inputs differ from the %d of 3", name, s.Len(), s.X.Cols, want.Len())
			}
		}
	}
}

// A column of a file is read by the first rule that applies, and the other flag of its reading changes it.
func TestReadings(t *testing.T) {
	r := rbm.NewKey(6).Rand()
	colours := []string{"red", "green", "blue"}
	cell := map[string]func(i int) string{
		"bit":      func(i int) string { return strconv.Itoa(i % 2) },
		"colour":   func(i int) string { return colours[i%3] },
		"pounds":   func(i int) string { return fmt.Sprintf("\"£%d,%03d.68\"", 1+i%90, r.IntN(1000)) },
		"salary":   func(i int) string { return fmt.Sprintf("\"%d,%03d\"", 26+i%40, r.IntN(1000)) },
		"dollars":  func(i int) string { return fmt.Sprintf("\"$%d,%03d\"", 100+i, r.IntN(1000)) },
		"percent":  func(i int) string { return fmt.Sprintf("%d.%d%%", r.IntN(100), r.IntN(10)) },
		"date":     func(i int) string { return fmt.Sprintf("2024-%02d-%02d", i%12+1, i%28+1) },
		"day":      func(i int) string { return fmt.Sprintf("%d/%d/2024", i%28+1, i%12+1) },
		"id":       func(i int) string { return fmt.Sprintf("u%05d", 7919*i%99991) },
		"constant": func(i int) string { return "same" },
		"empty":    func(i int) string { return "" },
		"dash": func(i int) string {
			if i%9 == 0 {
				return "-"
			}
			return strconv.Itoa(i % 50)
		},
		"unknown": func(i int) string {
			if i%9 == 0 {
				return "n.a."
			}
			return strconv.Itoa(i % 5)
		},
		"plus": func(i int) string { return []string{"+", "-"}[i%2] },
	}
	for _, c := range []struct {
		column, as string
		missing    int
		opt        Options // flags that change the reading
		then       string
	}{
		{"bit", asBit, 0, Options{}, asBit},
		{"colour", asCategories, 0, Options{Ignore: "colour"}, asNothing},
		{"pounds", asLevels, 0, Options{Numbers: NumbersGaussian}, asGaussian},
		{"salary", asLevels, 0, Options{Categorical: "salary"}, asCategories},
		{"dollars", asLevels, 0, Options{Levels: 4}, asLevels},
		{"percent", asLevels, 0, Options{Numbers: NumbersGaussian}, asGaussian},
		{"date", asNothing, 0, Options{Categorical: "date"}, asCategories},
		{"day", asNothing, 0, Options{Categorical: "day"}, asCategories},
		{"id", asNothing, 0, Options{Categorical: "id"}, asCategories},
		{"constant", asNothing, 0, Options{}, asNothing},
		{"empty", asNothing, 120, Options{}, asNothing},
		{"dash", asLevels, 14, Options{Categorical: "dash"}, asCategories},
		{"unknown", asCategories, 14, Options{Categorical: "unknown"}, asCategories},
		{"plus", asBit, 0, Options{}, asBit},
	} {
		var b strings.Builder
		fmt.Fprintf(&b, "kind,%s,word\n", c.column)
		for i := range 120 {
			fmt.Fprintf(&b, "%s,%s,%s\n", colours[i%3], cell[c.column](i), []string{"up", "down"}[i/7%2])
		}
		for k, opt := range []Options{{}, c.opt} {
			opt.LabelColumn = "auto"
			s, err := one(readText(strings.NewReader(b.String()), "t.csv", opt))
			if err != nil {
				t.Errorf("%s, %+v: %v", c.column, c.opt, err)
				continue
			}
			got := s.Readings[1]
			if as := []string{c.as, c.then}[k]; got.As != as || k == 0 && got.Missing != c.missing || got.Why == "" {
				t.Errorf("%s, reading %d: %+v, want %s with %d missing cells", c.column, k, got, as, c.missing)
			}
		}
	}
}

// Numbers of money and percent have their values.
func TestAmounts(t *testing.T) {
	for text, want := range map[string]float64{"£36,392.68": 36392.68, "26,694": 26694, "$256,000": 256000, "-€1,234,567": -1234567, "1.2%": 0.012, "100 %": 1, "5 €": 5, "+$.5": 0.5} {
		if got, ok := number(text); !ok || math.Abs(got-want) > 1e-15 {
			t.Errorf("%q is %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"1,5", "26,6940", "0,123", "12,34,567", "$", "%", "a5%", "5%%", "1.234,5", "$-5", "$1x"} {
		if v, ok := number(text); ok {
			t.Errorf("%q is %v, want no number", text, v)
		}
	}
}

// Where two readings are about equally likely, or most of a column would be lost, the error names the flags of both.
func TestQuestions(t *testing.T) {
	rows := manyRows(40)
	list := "user,film,stars\n"
	for u := range 30 {
		for k := range 10 {
			list += fmt.Sprintf("%d,%d,%d\n", u+1, (7*u+3*k)%30+1, (u+k)%5+1)
		}
	}
	between := ""
	postal := "code,x\n"
	for i := range 3000 {
		between += fmt.Sprintf("%.4f,%.4f\n", 0.3+float64(i%97)/500, 0.7-float64(i%89)/500)
		postal += fmt.Sprintf("D%04d,%d\n", i%1500, i%2)
	}
	spread := func(word string, at int) string {
		return lines(",", append([][]string{{"a", "b", "c"}}, mapped(rows, func(r, j int, s string) string {
			if (3*r+j)%at == 1 {
				return word
			}
			return s
		})...)...)
	}
	for _, c := range []struct {
		name, text string
		want       []string
		opts       []Options // which of the flags answer
	}{
		{"words that occur again in one of three columns", "red,tall,new\nblue,red,old\nred,new,old\n" + strings.Repeat("blue,wide,old\n", 5),
			[]string{"-header yes or -header no"}, []Options{{Header: HeaderYes}, {Header: HeaderNo}}},
		{"−1, 0 and 1", spread("-1", 7), []string{"-missing -1", "-categorical all", "-units gaussian"}, []Options{{Missing: "-1"}, {Categorical: "all"}, {Binarize: Standard}}},
		{"9 among bits", spread("9", 11), []string{"-missing 9", "-scale presence", "-numbers levels", "-scale max"}, []Options{{Missing: "9"}, {Scale: "presence"}, {Numbers: NumbersLevels}, {Scale: "max"}}},
		{"a word among bits", spread("unclear", 11), []string{"-missing 'unclear'", "-categorical"}, []Options{{Missing: "unclear"}, {Categorical: "all"}}},
		{"a list", list, []string{"-pivot user,film,stars", "-pivot none"}, []Options{{Pivot: "user,film,stars"}, {Pivot: "none", Numbers: NumbersLevels}}},
		{"reals in [0,1]", between, []string{"100 % of the values lie strictly between 0 and 1", "-units gaussian", "-binarize sample, threshold or none"}, []Options{{Binarize: Standard}, {Binarize: Sample}, {Binarize: None}}},
		{"postal codes", postal, []string{"1500 different words", "-ignore code", "-categorical"}, []Options{{Ignore: "code"}, {Categorical: "code"}}},
		{"gaps of reals", "a,b\n" + strings.Repeat("0.51,-2\n,3.5\n1.25,7\n", 9), []string{":3: column 1", "a value is missing", "-numbers gaussian", "-numbers levels"}, []Options{{Numbers: NumbersGaussian}, {Numbers: NumbersLevels}}},
		{"words with blanks", strings.Repeat("red round\nblue long\n", 9), []string{"-separator blank", "-separator comma"}, []Options{{Separator: "blank"}, {Separator: "comma"}}},
		{"commas beside tabs", strings.Repeat("26,694\t1\n31,200\t0\n", 9), []string{`"26,694" may have a decimal comma or a comma between thousands`}, nil},
		{"both kinds of commas", strings.Repeat("1,234.5\t1\n31,2\t0\n", 9), []string{"has a decimal comma", "between thousands"}, nil},
		{"two colons", "1::2::3\n2::1::5\n", []string{"separated by ::", "sed"}, nil},
		{"a comment or a row", "#1,0,1\n1,0,0\n0,1,1\n", []string{":1: the line begins with #", "comment or a row"}, nil},
		{"units below the names", "a,b\nmV,mV\n1,0\n0,1\n1,1\n", []string{`:2: column 1 ("a"): "mV" is not a number`, "if the line has units or second names, delete it"}, nil},
		{"a title", "Report\na,b\n1,0\n0,1\n1,1\n", []string{":2: 2 columns where the first row has 1", "if line 1 is a title, delete it"}, nil},
		{"totals", "a,b\n1,0\n0,1\n1,1\n2,2\n", []string{":5:", "if the last line has totals, delete it"}, nil},
		{"counts of rows", "a,n\n1,2\n0,3\n1,2\n", []string{`"2" is outside [0,1]`, "-weights n"}, []Options{{Weights: "n"}}},
		{"marks", "a,b\nx,\n,x\nx,x\n,x\n", []string{`has one value, "x"`, "write 0 and 1"}, nil},
	} {
		opt := Options{LabelColumn: "auto", Real: true, Binarize: Threshold}
		_, err := one(readText(strings.NewReader(c.text), "t.csv", opt))
		checkFormat(t, err, append(c.want, "t.csv")...)
		for _, answer := range c.opts {
			path := writeFile(t, "t.csv", c.text)
			answer.Real = answer.Binarize == ""
			if _, _, err := Load(t.Context(), path, answer); err != nil {
				t.Errorf("%s, answered by %+v: %v", c.name, answer, err)
			}
		}
	}
}

// A first line of words that occur again below is a row.
func TestHeaderlessWords(t *testing.T) {
	text := ""
	for i := range 60 {
		text += fmt.Sprintf("%s,%s,%s\n", []string{"red", "green", "yellow"}[i%3], []string{"round", "long"}[i/2%2], []string{"small", "large"}[i/5%2])
	}
	s, err := one(readText(strings.NewReader(text), "t.csv", Options{LabelColumn: "auto"}))
	if err != nil || s.Len() != 60 || s.Schema.Columns[0].Name != "c1" || words(s)[0] != "red round small" {
		t.Fatalf("%+v, %v", s, err)
	}
	again, err := one(readText(strings.NewReader(text[:len(text)/2]), "u.csv", Options{LabelColumn: "auto", Schema: s.Schema}))
	if err != nil || !slices.Equal(words(again), words(s)[:again.Len()]) {
		t.Errorf("read by the schema: %v", err)
	}
	mixed := "0,tcp,0.5\n" + strings.Repeat("1,udp,0.25\n0,tcp,1\n", 20)
	if s, err = one(readText(strings.NewReader(mixed), "t.csv", Options{LabelColumn: "auto"})); err != nil || s.Len() != 41 {
		t.Errorf("words and numbers: %v", err)
	}
	years := "country,1999,2004\n" + strings.Repeat("chad,3.5,4\nmali,2,1.5\n", 20)
	if s, err = one(readText(strings.NewReader(years), "t.csv", Options{LabelColumn: "auto"})); err != nil || s.Len() != 40 || s.Header != HeaderNumbers {
		t.Errorf("names of years: %+v, %v", s, err)
	}
}

// A list becomes a table, with missing cells where it has no pair, or with bits.
func TestPivot(t *testing.T) {
	const text = "user,film,stars\nb,Up,5\na,Up,3\nb,Heat,4\nc,Heat,3\na,Jaws,5\nc,Jaws,4\n"
	s, err := one(readText(strings.NewReader(text), "t.csv", Options{LabelColumn: "auto", Pivot: "user,film,stars"}))
	if err != nil || !slices.Equal(words(s), []string{"4 . 5", ". 5 3", "3 4 ."}) || s.Schema.Columns[1].Name != "Jaws" {
		t.Fatalf("rows %q, %v", words(s), err)
	}
	later, err := one(readText(strings.NewReader("user,film,stars\nz,Up,3\n"), "t.csv", Options{LabelColumn: "auto", Pivot: "user,film,stars", Schema: s.Schema}))
	if err != nil || !slices.Equal(words(later), []string{". . 3"}) {
		t.Errorf("a later list: %v", err)
	}
	bits, err := one(readText(strings.NewReader(text), "t.csv", Options{LabelColumn: "auto", Pivot: "user,film"}))
	if err != nil || bits.Schema != nil || rowText(bits.X, 0)+rowText(bits.X, 1)+rowText(bits.X, 2) != "101011110" {
		t.Errorf("pairs: %+v, %v", bits, err)
	}
	for _, c := range []struct {
		text  string
		pivot string
		want  string
	}{
		{text + "a,Up,2\n", "user,film,stars", `t.csv:8: column 2 ("film"): "Up" of "a" is there twice, also in line 3`},
		{text, "user", "name the column of the rows"},
		{text, "user,movie", `has no column "movie" for -pivot`},
	} {
		_, err := one(readText(strings.NewReader(c.text), "t.csv", Options{LabelColumn: "auto", Pivot: c.pivot}))
		checkFormat(t, err, c.want)
	}
}

// Presence is 1 for everything above 0.
func TestPresence(t *testing.T) {
	s, err := one(readText(strings.NewReader("0,3,0.5\n12,0,0\n"), "t.csv", Options{LabelColumn: "auto", Scale: "presence"}))
	if err != nil || rowText(s.X, 0)+rowText(s.X, 1) != "011100" || s.Scale != "presence" || s.Binarize != Binary {
		t.Errorf("%+v, %v", s, err)
	}
	_, err = one(readText(strings.NewReader("0,3\n-2,0\n"), "t.csv", Options{LabelColumn: "auto", Scale: "presence"}))
	checkFormat(t, err, `t.csv:2: column 1: "-2" is below 0`)
}

// Names of columns may have commas, in quotes.
func TestNames(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "a": {"a"}, " a, b ": {"a", "b"}, `"Room, The",b`: {"Room, The", "b"}, `"say ""no""",x`: {`say "no"`, "x"}, "\"two\nlines\"": {"two\nlines"}, `a"b,c`: {`a"b`, "c"}} {
		got := ParseNames(text)
		if !slices.Equal(got, want) || !slices.Equal(ParseNames(JoinNames(got...)), want) {
			t.Errorf("%q: names %q, want %q", text, got, want)
		}
	}
	s, err := one(readText(strings.NewReader("\"Room, The (2003)\",b,c\n0,1,1\n1,0,1\n1,1,0\n"), "t.csv", Options{LabelColumn: "auto", Ignore: `"Room, The (2003)"`}))
	if err != nil || !slices.Equal(s.Columns, []string{"b", "c"}) {
		t.Errorf("columns %q, %v", s.Columns, err)
	}
}

// With Unknown, words that a model does not know are missing cells.
func TestUnknownWords(t *testing.T) {
	train, err := one(readText(strings.NewReader("a,b\nx,1\ny,2\nx,2\nz,1\n"), "t.csv", Options{LabelColumn: "auto"}))
	if err != nil {
		t.Fatal(err)
	}
	const text = "a,b\nw,1\nx,2\n"
	_, err = one(readText(strings.NewReader(text), "u.csv", Options{LabelColumn: "auto", Schema: train.Schema}))
	checkFormat(t, err, `"w" is no level that the model knows`, "-unknown missing")
	s, err := one(readText(strings.NewReader(text), "u.csv", Options{LabelColumn: "auto", Schema: train.Schema, Unknown: "missing"}))
	if err != nil || !slices.Equal(words(s), []string{". 1", "x 2"}) || !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.HasPrefix(n, "1 cell with words") }) {
		t.Errorf("%v: notes %q", err, s.Notes)
	}
}

// A column of a model is read from a later file even if it counts the rows there, and columns that the model
// lacks are not used.
func TestColumnsOfModel(t *testing.T) {
	train, later := "n,x\n", "id,n,x\n"
	for i := range 20 {
		train += fmt.Sprintf("%d,%d\n", (7*i)%20, i%2)
		later += fmt.Sprintf("%d,%d,%d\n", i, i, i%2)
	}
	opt := Options{Scale: "max"}
	s, _, err := Load(t.Context(), writeFile(t, "train.csv", train), opt)
	if err != nil {
		t.Fatal(err)
	}
	got, err := LoadTest(t.Context(), writeFile(t, "later.csv", later), s, opt)
	if err != nil || got.X.Cols != 2 || !slices.Equal(got.Unused, []string{"id"}) || rowText(got.X, 15) != "11" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = LoadTest(t.Context(), writeFile(t, "later.csv", "id,x\n1,0\n"), s, opt)
	checkFormat(t, err, `has no column "n", which the model has`)
}
