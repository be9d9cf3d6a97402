package data

import (
	"archive/zip"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Integer greys have the same values on the same scale, whatever kind of file
// they come from.
func TestScale(t *testing.T) {
	grey := []byte{3, 16, 5, 4, 3, 9}
	wide, float := make([]int32, len(grey)), make([]float64, len(grey))
	for i, g := range grey {
		wide[i], float[i] = int32(g), float64(g)
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{
		"a.csv": []byte("3,16,5\n4,3,9\n"),
		"a.idx": idxBuild(grey, 2, 3),
		"1.npz": zipped(zip.Deflate, "x", npyBytes("|u1", "2, 3", grey)),
		"4.npz": zipped(zip.Store, "x", npyBytes("<i4", "2, 3", wide)),
		"1.npy": npyBytes("|u1", "2, 3", grey),
		"8.npy": npyBytes("<f8", "2, 3", float),
	})
	for _, c := range []struct {
		rule      string
		low, high float64
		name      string
	}{
		{"max", 0, 16, "0:16"}, {"minmax", 3, 16, "3:16"}, {"255", 0, 255, "0:255"}, {"16", 0, 16, "0:16"}, {"-1:17.5", -1, 17.5, "-1:17.5"},
	} {
		for _, file := range []string{"a.csv", "a.idx", "1.npz", "4.npz", "1.npy", "8.npy"} {
			s, _, err := Load(context.Background(), filepath.Join(dir, file), Options{Scale: c.rule, Binarize: None, Height: 1, Width: 3})
			if err != nil {
				t.Error(err)
				continue
			}
			checkSet(t, s)
			for i, g := range float {
				// In float64 a value and its scale are exact. So is their quotient, except for rounding,
				// which is the same here and in the reader.
				if want := float32((g - c.low) / (c.high - c.low)); s.Grey.Data[i] != want {
					t.Errorf("%s, %s: value %g is %g, want %g", file, c.rule, g, s.Grey.Data[i], want)
				}
			}
			again, _, err := Load(context.Background(), filepath.Join(dir, file), Options{Scale: s.Scale, Binarize: None})
			if err != nil || s.Scale != c.name || again.Hash() != s.Hash() {
				t.Errorf("%s, %s: the scale is %q, which reads other rows, or: %v", file, c.rule, s.Scale, err)
			}
		}
	}
	// If all values are ends of the scale, the data are binary.
	writeFiles(t, dir, map[string][]byte{"ends.csv": []byte("3,16\n16,16\n"), "ends.npy": npyBytes("|u1", "2, 2", []byte{3, 16, 16, 16}), "ends.idx": idxBuild([]byte{3, 16, 16, 16}, 2, 2)})
	for _, file := range []string{"ends.csv", "ends.npy", "ends.idx"} {
		for rule, mode := range map[string]string{"minmax": Binary, "max": None} {
			s, _, err := Load(context.Background(), filepath.Join(dir, file), Options{Scale: rule, Binarize: None, Height: 1, Width: 2})
			if err != nil || s.Binarize != mode || rule == "minmax" && rowText(s.X, 0) != "01" {
				t.Errorf("%s, %s: %+v, %v", file, rule, s, err)
			}
		}
	}
}

// Each column of a CSV file is scaled by its range, and test rows are clipped to those of
// the training rows.
func TestScaleColumns(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{
		"a.csv":    []byte("age,dose,ward,label\n20,0.5,7,b\n60,2.5,7,a\n40,1.5,7,b\n"),
		"test.csv": []byte("age,dose,ward,label\n70,1,7,b\n30,-9,8,a\n"),
		"test.npz": zipped(zip.Store, "x", npyBytes("<f8", "2, 3", []float64{70, 1, 7, 30, -9, 8})),
		"test.npy": npyBytes("<f8", "1, 3", []float64{20, 2.5, 7}),
		"inf.csv":  []byte("age,dose,ward,label\ninf,1,7,b\n"),
		"a.idx":    idxBuild([]byte{3, 16, 5}, 1, 3),
		"two.csv":  []byte("20,0.5\n"),
	})
	for _, c := range []struct {
		rule, scale string
		grey, test  []float32
	}{
		{"max", "0:60,0:2.5,0:7", []float32{20. / 60, 0.5 / 2.5, 1, 1, 1, 1, 40. / 60, 1.5 / 2.5, 1}, []float32{1, 1 / 2.5, 1, 0.5, 0, 1}},
		{"minmax", "20:60,0.5:2.5,7:7", []float32{0, 0, 0, 1, 1, 0, 0.5, 0.5, 0}, []float32{1, 0.25, 0, 0.25, 0, 0}},
	} {
		opt := Options{Scale: c.rule, Binarize: None}
		train, _, err := Load(context.Background(), filepath.Join(dir, "a.csv"), opt)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(train.Grey.Data, c.grey) || train.Scale != c.scale || len(train.Notes) != 1 {
			t.Errorf("%s: values %v on %s, notes %q", c.rule, train.Grey.Data, train.Scale, train.Notes)
		}
		for _, file := range []string{"test.csv", "test.npz"} {
			test, err := LoadTest(context.Background(), filepath.Join(dir, file), train, opt)
			if err != nil {
				t.Fatal(err)
			}
			const note = "3 of 6 values lie outside the range of the training rows and are clipped to it"
			if !slices.Equal(test.Grey.Data, c.test) || test.Scale != c.scale || !slices.Equal(test.Notes, []string{note}) {
				t.Errorf("%s, %s: values %v on %s, notes %q, want %v, %s, %q", c.rule, file, test.Grey.Data, test.Scale, test.Notes, c.test, c.scale, []string{note})
			}
		}
		test, err := LoadTest(context.Background(), filepath.Join(dir, "test.npy"), train, opt)
		if err != nil || test.Notes != nil || (test.Binarize == Binary) != (c.rule == "minmax") {
			t.Errorf("%s: the ends of each column are %s, notes %q, %v", c.rule, test.Binarize, test.Notes, err)
		}
		_, _, err = Load(context.Background(), filepath.Join(dir, "test.npz"), Options{Scale: c.scale})
		checkFormat(t, err, "row 0, column 0: 70 is outside the scale")
		for file, want := range map[string]string{"inf.csv": "is not finite", "two.csv": "rows of 2 inputs, where -scale gives ranges of 3 columns"} {
			_, err = LoadTest(context.Background(), filepath.Join(dir, file), train, opt)
			checkFormat(t, err, want)
		}
	}
	// Bytes of pictures are clipped and counted too.
	for _, scale := range []string{"0:5", "3:5"} {
		_, _, err := Load(context.Background(), filepath.Join(dir, "a.idx"), Options{Scale: scale})
		checkFormat(t, err, "byte 16 is outside the scale")
		s, _, err := Load(context.Background(), filepath.Join(dir, "a.idx"), Options{Scale: scale, Clip: true})
		if err != nil || rowText(s.X, 0)[1:] != "11" || len(s.Notes) != 1 || !strings.HasPrefix(s.Notes[0], "1 of 3 values") {
			t.Errorf("scale %s: %+v, %v", scale, s, err)
		}
	}
}

func TestScaleErrors(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{
		"a.csv":    []byte("3,16\n4,3\n"),
		"less.csv": []byte("3,-16\n4,3\n"),
		"same.csv": []byte("3,3\n3,3\n"),
		"nan.csv":  []byte("3,NaN\n3,3\n"),
		"far.csv":  []byte("1e308,1\n-1e308,2\n"),
		"inf.csv":  []byte("3,inf\n3,3\n"),
		"a.npz":    zipped(zip.Store, "x", npyBytes("<i4", "2, 2", []int32{3, 16, 4, 3})),
		"less.npz": zipped(zip.Store, "x", npyBytes("<i4", "2, 2", []int32{3, -16, 4, 3})),
		"same.npy": npyBytes("|u1", "1, 2", []byte{3, 3}),
		"nan.npy":  npyBytes("<f8", "1, 2", []float64{3, math.NaN()}),
		"a.idx":    idxBuild([]byte{3, 16, 4, 3}, 2, 2),
		"same.idx": idxBuild([]byte{0, 0}, 1, 2),
	})
	for _, c := range []struct{ file, scale, want string }{
		{"a.csv", "", `a.csv:1: column 1: "3" is outside [0,1]; of counts and scores, -scale presence reads all above 0 as 1, -numbers levels takes intervals, and -scale max fractions of the largest; -missing 3 if it marks missing cells, or if this line names the columns, say so by -header yes`},
		{"a.csv", "15", `a.csv:1: column 2: "16" is outside the scale 0:15; give all of the range by -scale LOW:HIGH`},
		{"less.csv", "max", "less.csv: column 2: -scale max needs values from 0 up, but there is -16; use -scale minmax"},
		{"same.csv", "minmax", "same.csv: all values of a column are equal"},
		{"nan.csv", "max", "is not a number; fill it in, or take -numbers gaussian"},
		{"inf.csv", "minmax", "is not finite"},
		{"far.csv", "minmax", "column 1: values from -1e+308 to 1e+308 are too far apart"},
		{"a.npz", "", "x: row 0, column 0: 3 is outside [0,1]; scale the values to it by -scale max"},
		{"less.npz", "", "row 0, column 0: 3 is outside"},
		{"less.npz", "max", "use -scale minmax"},
		{"less.npz", "0:16", "row 0, column 1: -16 is outside the scale 0:16"},
		{"same.npy", "minmax", "all values are 3"},
		{"nan.npy", "max", "row 0, column 1: NaN is not a number"},
		{"a.idx", "", "bytes up to 16 only, so none is white or nearly so; say which is, by -scale max or -scale 255"},
		{"a.idx", "5:16", "a.idx: byte 3 is outside the scale 5:16"},
		{"same.idx", "max", "all values are 0"},
	} {
		_, _, err := Load(context.Background(), filepath.Join(dir, c.file), Options{Scale: c.scale})
		checkFormat(t, err, c.want)
	}
	for _, scale := range []string{"most", "0", "-3", "5:5", "5:1", "nan", "0:inf", "-1e308:1e308", ":", "1:2:3", "max:min", "0:1,", "0:1,1:0", "0:1,5", "max,0:1"} {
		_, _, err := Load(context.Background(), filepath.Join(dir, "a.csv"), Options{Scale: scale})
		checkSpec(t, err, "scale ", "it must be auto, max, minmax")
	}
}

// Files of spins, −1 and +1, are recognised, whatever their kind. Another value next to −1 is an error that
// names it.
func TestSpins(t *testing.T) {
	dir := t.TempDir()
	spins := []int32{-1, 1, 1, 1, 1, -1}
	short := make([]byte, len(spins)) // int8
	float := make([]float64, len(spins))
	for i, v := range spins {
		short[i], float[i] = byte(int8(v)), float64(v)
	}
	writeFiles(t, dir, map[string][]byte{
		"a.csv":    []byte("-1,1,1\n1.0,1,-1.0\n"),
		"head.csv": []byte("a,b,c,label\n-1,1,1,-1\n1,1,-1,1\n"),
		"1.npz":    zipped(zip.Deflate, "x", npyBytes("|i1", "2, 3", short)),
		"4.npz":    zipped(zip.Store, "x", npyBytes("<i4", "2, 3", spins)),
		"8.npy":    npyBytes("<f8", "2, 3", float),
		"up.csv":   []byte("1,1,1\n1,1,1\n"),
		"mix.csv":  []byte("-1,1,1\n1,0,1\n"),
		"mix.npy":  npyBytes("<i4", "1, 3", []int32{1, 0, -1}),
	})
	for _, file := range []string{"a.csv", "head.csv", "1.npz", "4.npz", "8.npy"} {
		for _, scale := range []string{"", "spins"} {
			s, _, err := Load(context.Background(), filepath.Join(dir, file), Options{Scale: scale})
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			checkSet(t, s)
			if rowText(s.X, 0) != "011" || rowText(s.X, 1) != "110" || s.Binarize != Binary {
				t.Errorf("%s: rows %s and %s, %s, want %s, %s, %s", file, rowText(s.X, 0), rowText(s.X, 1), s.Binarize, "011", "110", Binary)
			}
			if s.Spins != (scale == "") || s.Scale != scale {
				t.Errorf("%s, scale %q: Spins is %v and Scale %q", file, scale, s.Spins, s.Scale)
			}
			if (s.Y != nil) != (file == "head.csv") {
				t.Errorf("%s: labels %v", file, s.Y)
			}
		}
	}
	// If all spins are up they could be bits as well, with the same meaning.
	s, _, err := Load(context.Background(), filepath.Join(dir, "up.csv"), Options{})
	if err != nil || s.Spins || rowText(s.X, 0) != "111" {
		t.Errorf("up.csv: %+v, %v", s, err)
	}
	for file, want := range map[string]string{"mix.csv": `mix.csv:1: column 1: "-1" is outside [0,1]`, "mix.npy": "row 0, column 2: -1 is outside [0,1]"} {
		_, _, err := Load(context.Background(), filepath.Join(dir, file), Options{})
		checkFormat(t, err, want)
	}
	_, _, err = Load(context.Background(), filepath.Join(dir, "mix.csv"), Options{Scale: "spins"})
	checkFormat(t, err, `mix.csv:2: column 2: "0" is no spin, −1 or 1`)
}

// Columns are separated by commas, tabs or semicolons. With the latter two, decimal commas are allowed.
func TestSeparators(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{
		"comma.csv":     []byte("a,\"b,c\",label\n0.5,1,x\n0.25,0,y\n"),
		"tab.tsv":       []byte("\"a\"\t\"b,c\"\tlabel\r\n0.5\t1\tx\r\n0.25\t0\ty\r\n"),
		"semicolon.csv": []byte("\xef\xbb\xbf\"a\";\"b,c\";\"label\"\n0,5;1;x\n,25;\"0,0\";y\n"),
		"decimal.tsv":   []byte("a\t\"b,c\"\tlabel\n0,5\t1\tx\n,25\t\"0,0\"\ty\n"),
		"point.csv":     []byte("a; \"b,c\"; label\n0.5; 1; x\n0.25; 0; y\n"),
	})
	load := func(file string) *Set {
		s, _, err := Load(context.Background(), filepath.Join(dir, file), Options{Binarize: None})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := load("comma.csv")
	for _, file := range []string{"tab.tsv", "semicolon.csv", "decimal.tsv", "point.csv"} {
		if s := load(file); s.Hash() != want.Hash() || !slices.Equal(s.Columns, want.Columns) || !slices.Equal(s.Classes, want.Classes) {
			t.Errorf("%s: columns %q, classes %q, values %v", file, s.Columns, s.Classes, s.Grey.Data)
		}
	}
	for sample, want := range map[string]rune{
		"": ',', "0\n1;2": ',', "0,1": ',', "0,5;1,5": ';', "1,1;0,1,1": ',', "a,b;c": ',', "a;b": ';', "\"a;b\"": ',', "a,\"b;c\"": ',', "\"a,b\";c": ';', "a\tb": '\t', "0,\t1": ',', "a\tb;c": '\t',
		"0,5\t1,5": '\t', "0,5\t1;2": '\t', "a,b\tc": ',', "1,1\t0,1,1": ',',
	} {
		if got, _ := (&text{start: sample, all: true}).separator(); got != want {
			t.Errorf("%q: separated by %q, want %q", sample, got, want)
		}
	}
}

// Errors about files that other tools wrote give the right hint.
func TestCSVHints(t *testing.T) {
	index, more, less := "", "", ""
	for i := range leastIndex {
		row := string(rune('0'+i)) + ",1,16\n"
		index += row
		if more += "1" + row; i > 0 {
			less += row
		}
	}
	for _, c := range []struct{ text, scale, want string }{
		{"0,1\n0;1\n", "", "t.csv:2: 1 columns where the first row has 2"},
		{"0,1\n0,1;1\n", "", `t.csv:2: column 2: "1;1" is not a number`},
		{"0;1\n0;1.000,5\n", "", `t.csv:2: column 2: "1.000,5" is not a number`},
		{"0;1\n0;;1\n", "", "t.csv:2: 3 columns where the first row has 2"},
		{"0\t1\n\t1\n", "", "t.csv:2: column 1: a value is missing"},
		{"0\t1\n0\t\"1\n", "", "quotes must enclose a whole field"},
		{",a,b\n0,1,1\n0,0,0\n", "", "t.csv: column 1 (\"\") has no name, like the row numbers of pandas; leave it out (to_csv(index=False))"},
		{"id,a,b\n0,1,1\n1,0,0\n2,0,0\n", "", `t.csv:4: column 1 ("id"): "2": the first column counts the rows; leave it out`},
		{"1,1,1\n2,0,0\n", "", `t.csv:2: column 1: "2": the first column counts the rows; leave it out`},
		{"5,1\n0,0\n", "", `t.csv:1: column 1: "5" is outside`},
		{"0,1\n2,0\n", "", `t.csv:2: column 1: "2" is outside`},
	} {
		opt := Options{LabelColumn: "auto", Scale: c.scale}
		_, err := readText(strings.NewReader(c.text), "t.csv", opt)
		checkFormat(t, err, c.want)
	}
	for _, text := range []string{index, ",a,b\n0,1,1\n1,0,0\n"} {
		s, err := one(readText(strings.NewReader(text), "t.csv", Options{LabelColumn: "auto", Scale: "max"}))
		if err != nil || s.X.Cols != 2 || len(s.Notes) < 1 || !strings.Contains(s.Notes[0], "column 1") {
			t.Errorf("%q: the column that counts the rows is not left out: %+v, %v", text, s, err)
		}
	}
	for _, text := range []string{more, "0,1,1\n1,0,0\n", "0\n1\n", less[:len(less)-7]} {
		if _, err := readText(strings.NewReader(text), "t.csv", Options{LabelColumn: "auto", Scale: "max"}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestExtent(t *testing.T) {
	for _, c := range []struct {
		values []float64
		of     scale
		want   bool
	}{
		{nil, asIs, false}, {[]float64{0, 1, 0}, asIs, false}, {[]float64{0.5}, asIs, true}, {[]float64{0, 1, 0.5}, asIs, true},
		{[]float64{1, 255, 0}, white, true}, {[]float64{255, 255}, white, false}, {[]float64{3, 16}, scale{0, 16}, true},
		{[]float64{5, 6, 7, 6, 2, 6, 99}, white, true},
	} {
		var e, other, both extent
		for i, v := range c.values {
			if e.add(v); i%2 == 0 {
				other.add(v)
			} else {
				both.add(v)
			}
		}
		both.join(other)
		for _, e := range []extent{e, both} {
			if e.between(c.of) != c.want || len(c.values) > 0 && (e.least != slices.Min(c.values) || e.most != slices.Max(c.values)) {
				t.Errorf("%v on %v: %+v", c.values, c.of, e)
			}
		}
	}
}
