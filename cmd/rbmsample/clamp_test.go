package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data/oracle"
	"gorbm/rbm"
)

var long = flag.Bool("long", false, "read 2000 damaged files of each kind, not 400")

// A row is what a file of -clamp contains for one row, with rbm.Free for a missing value.
type row struct {
	inputs []float32
	class  int
}

// TestClampMeans compares the reader of -clamp with a second parser on damaged files. The reader may
// refuse such a file. Otherwise all missing values, values and classes must agree.
func TestClampMeans(t *testing.T) {
	n := 400
	if *long {
		n = 2000
	}
	dir := t.TempDir()
	taken := 0
	o := newOptions()
	check := func(i int, name string, file []byte, want func() ([]row, error)) {
		t.Helper()
		p := &plan{options: *o, m: clitest.Model(8, 3, 2, rbm.Softmax), classes: []string{"cat", "7"}}
		p.clamp = filepath.Join(dir, name)
		if err := os.WriteFile(p.clamp, file, 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := p.readClamp(context.Background(), rbm.Free)
		if err != nil {
			if text := strings.ReplaceAll(err.Error(), p.clamp, ""); strings.ContainsAny(text, "\n\r") {
				t.Errorf("file %d: the error has several lines: %q", i, err)
			}
			return
		}
		taken++
		var got []row
		for _, q := range g.queries {
			got = append(got, row{q.Inputs, q.Class})
		}
		said, err := want()
		if err != nil || !reflect.DeepEqual(got, said) {
			t.Errorf("file %d of %s: %v, and the bytes say %v, %v\n%.300q", i, name, got, said, err, file)
		}
	}

	texts := []string{
		"1,,0,nan,,1\n,,,,1,0\n0.5,0.49,,-1,1,1\n",
		"a,b,c,d,e,f,y\r\n1,,0,NaN,,1,cat\r\n,,,,1,0,\r\n0,0,0,1e-1,,0,7\r\n",
		"1,,0,\"1\", 0,1,7\n,,1,,1,0,nan\n",
		"\xef\xbb\xbf1,,0,0,,1\n",
	}
	words := []string{",", "\n", "\r\n", "\"", " ", "0", "1", "0", "1", ".", "-", "+", "e", "_", "0x1p-1", "1_0", "nan", "NaN", "inf", "1e999", "-0", "-1", "2", "cat", "7", "\x00", "a", ",0,"}
	oracle.Each(n, rbm.NewKey(34).Child(9), texts, words, func(i int, file []byte) {
		check(i, "t.csv", file, func() ([]row, error) { return clampedText(string(file)) })
	})

	nan := math.NaN()
	array := func(descr, shape string, data any) string {
		text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), 0)
		b, err := binary.Append(append(b, text...), binary.LittleEndian, data)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	xs := []string{
		array("<f8", "2, 6", []float64{1, nan, 0, 0.5, nan, 1, nan, nan, -1, 0, 1, 0.25}),
		array("<f4", "2, 2, 3", []float32{1, float32(nan), 0, 0.5, 1, 1, 0, 0, -1, 0, 1, float32(nan)}),
		array("<f2", "2, 6", []uint16{0x3c00, 0x7e00, 0, 0x3800, 0xbc00, 0x3c00, 0x7e00, 0, 0, 1, 0x3bff, 0x37ff}),
		array("|i1", "2, 6", []int8{1, 0, 0, -1, 1, 1, 0, 0, -1, 0, 1, 1}),
	}
	ys := []string{array("<f8", "2,", []float64{7, nan}), array("<U3", "2,", []uint32{'c', 'a', 't', 0, 0, 0}), array("<i4", "2,", []int32{7, 7})}
	words = []string{"\x00", "\x01", "\xff", "\x80", "4", "2", "3", "6", "(", ")", ",", "<", ">", "f", "i", "u", "?", " ", "12"}
	zipped := func(x, y []byte) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, content := range map[string][]byte{"x.npy": x, "y.npy": y} {
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write(content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		z.Close()
		return b.Bytes()
	}
	oracle.Each(n, rbm.NewKey(34).Child(10), xs, words, func(i int, x []byte) {
		check(i, "t.npy", x, func() ([]row, error) { return clampedArrays(x, nil) })
		y := []byte(ys[i%len(ys)])
		check(i, "t.npz", zipped(x, y), func() ([]row, error) { return clampedArrays(x, y) })
	})
	oracle.Each(n, rbm.NewKey(34).Child(11), ys, words, func(i int, y []byte) {
		x := []byte(xs[i%len(xs)])
		check(i, "t.npz", zipped(x, y), func() ([]row, error) { return clampedArrays(x, y) })
	})
	if taken < n/4 {
		t.Errorf("%d files are taken, too few to compare, want at least %d", taken, n/4)
	}
}

// unit returns the value of an input. It maps a spin of −1 to 0.
func unit(v float64) (float32, error) {
	switch {
	case v != v:
		return rbm.FreeInput, nil
	case v == -1 || v >= 0 && v < 0.5:
		return 0, nil
	case v >= 0.5 && v <= 1:
		return 1, nil
	}
	return 0, fmt.Errorf("%v is no value", v)
}

// class returns the number of a class by its name, and rbm.Free for a missing label.
func class(name string) (int, error) {
	at := slices.Index([]string{"cat", "7"}, name)
	switch {
	case name == "":
		return rbm.Free, nil
	case at < 0:
		return 0, fmt.Errorf("no class %q", name)
	}
	return at, nil
}

var hole = regexp.MustCompile(`^([+-]?[nN][aA][nN])?$`)

// clampedText is a second parser for CSV files of -clamp.
func clampedText(text string) (rows []row, err error) {
	lines, err := oracle.CSV(text)
	if err != nil {
		return nil, err
	}
	width := 0
	for _, line := range lines {
		if len(line) != 6 && len(line) != 7 || width != 0 && len(line) != width {
			return nil, errors.New("a row of another length")
		}
		r := row{class: rbm.Free}
		words := 0
		for _, f := range line[:6] {
			v, err := oracle.Decimal(f)
			if f = strings.TrimSpace(f); hole.MatchString(f) {
				v, err = math.NaN(), nil
			}
			if err != nil {
				words++
				continue
			}
			u, err := unit(v)
			if err != nil {
				return nil, err
			}
			r.inputs = append(r.inputs, u)
		}
		switch {
		case words == 6 && len(rows) == 0: // a header
			continue
		case words > 0:
			return nil, errors.New("no number")
		}
		width = len(line)
		if width == 7 {
			name := strings.TrimSpace(line[6])
			if strings.EqualFold(name, "nan") {
				name = ""
			}
			if r.class, err = class(name); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// clampedArrays is a second parser for NumPy files of -clamp. y may be nil.
func clampedArrays(x, y []byte) (rows []row, err error) {
	a, err := oracle.NPY(x)
	if err != nil {
		return nil, err
	}
	known := map[string]string{"b": "1", "i": "1 2 4 8", "u": "1 2 4 8", "f": "2 4 8"}[a.Type[1:2]]
	if !slices.Contains(strings.Fields(known), a.Type[2:]) || len(a.Shape) < 2 || len(a.Data) != 6*a.Shape[0]*a.Size {
		return nil, errors.New("no rows of 6 inputs")
	}
	var l oracle.Array
	if y != nil {
		if l, err = oracle.NPY(y); err != nil || len(l.Data) != a.Shape[0]*l.Size {
			return nil, fmt.Errorf("labels of another number, %v", err)
		}
	}
	for i := range a.Shape[0] {
		r := row{class: rbm.Free}
		for j := range 6 {
			u, err := unit(a.Number(6*i + j))
			if err != nil {
				return nil, err
			}
			r.inputs = append(r.inputs, u)
		}
		if y != nil && !(l.Type[1] == 'f' && l.Number(i) != l.Number(i)) {
			name, err := l.Label(i)
			if err != nil {
				return nil, err
			}
			if r.class, err = class(name); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// Complete rows are kept in place among the samples of the others, with their numbers, and are
// counted. The samples of a row do not depend on other rows.
func TestClampComplete(t *testing.T) {
	isolate(t)
	clitest.Write(t, "some.csv", "1,0,0,1,0,0\n1,,0,,,1\n0,1,1,1,0,1\n,,,,1,0\n0,0,0,0,0,1\n")
	clitest.Write(t, "open.csv", "1,,0,,,1\n,,,,1,0\n")
	const args = "-model plain.npz -n 2 -rounds 64 -quiet=false "
	out := rbmsample.OK(t, strings.Fields(args+"-clamp some.csv -out some-filled.csv")...)
	for _, want := range []string{"3 of 5 of some.csv, which are written as they were read", "row 1: ", "row 3: "} {
		if !strings.Contains(out, want) {
			t.Errorf("prints no %q:\n%s", want, out)
		}
	}
	out = rbmsample.OK(t, strings.Fields(args+"-clamp open.csv -out open-filled.csv")...)
	if strings.Contains(out, "complete rows") {
		t.Errorf("counts complete rows where there are none:\n%s", out)
	}
	open := strings.Split(clitest.Read(t, "open-filled.csv"), "\n")
	want := []string{open[0]}
	for r, line := range []string{"1,0,0,1,0,0", "", "0,1,1,1,0,1", "", "0,0,0,0,0,1"} {
		for k := range 2 {
			if line != "" {
				want = append(want, fmt.Sprintf("%s,%d", line, r))
			} else {
				drawn := open[1+2*(r/2)+k]
				want = append(want, fmt.Sprintf("%s,%d", drawn[:strings.LastIndex(drawn, ",")], r))
			}
		}
	}
	if got := strings.TrimSpace(clitest.Read(t, "some-filled.csv")); got != strings.Join(want, "\n") {
		t.Errorf("writes\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	rbmsample.OK(t, strings.Fields(args+"-clamp some.csv -out some.png")...)
	// In a model with labels a complete row includes its label.
	clitest.Write(t, "named.csv", "1,0,0,1,0,0,dog\n1,0,0,1,0,0,\n")
	rbmsample.OK(t, strings.Fields("-model named.npz -n 1 -rounds 64 -clamp named.csv -out named-filled.csv")...)
	lines := strings.Split(clitest.Read(t, "named-filled.csv"), "\n")
	if lines[1] != "1,0,0,1,0,0,0,dog" || !strings.HasPrefix(lines[2], "1,0,0,1,0,0,1,") {
		t.Errorf("with labels it writes %q", lines)
	}
}
