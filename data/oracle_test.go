package data

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"gorbm/data/oracle"
	"gorbm/rbm"
)

var long = flag.Bool("long", false, "read 2000 damaged files of each kind, not 400")

// damaged is the number of damaged files of each kind.
func damaged() int {
	if *long {
		return 2000
	}
	return 400
}

// A meaning is the content of a file: values in [0,1], and labels by name, "" for none.
type meaning struct {
	cols   int
	values []float64
	labels []string // nil: no labels
	scale  string
	header string
}

// compare fails if a reader has accepted a file with a different meaning.
func compare(t *testing.T, i int, file []byte, opt Options, s *Set, m meaning, err error) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("file %d, labels %s, scale %q, header %q, unlabelled %v: %s\n%.300q", i, opt.LabelColumn, opt.Scale, opt.Header, opt.Unlabelled, fmt.Sprintf(format, args...), file)
	}
	if err != nil {
		fail("taken, though %v", err)
		return
	}
	if s.X.Cols != m.cols || s.Len()*m.cols != len(m.values) {
		fail("%d rows of %d inputs, and the bytes say %d values in rows of %d", s.Len(), s.X.Cols, len(m.values), m.cols)
		return
	}
	for k, v := range m.values {
		r, j := k/m.cols, k%m.cols
		if s.X.Get(r, j) != (v >= 0.5) {
			fail("row %d, column %d is %v, and the bytes say %v", r, j, s.X.Get(r, j), v)
			return
		}
		if s.Grey.Rows > 0 && s.Grey.Row(r)[j] != float32(v) {
			fail("row %d, column %d is %v, and the bytes say %v", r, j, s.Grey.Row(r)[j], v)
			return
		}
		if s.Grey.Rows == 0 && opt.Binarize == None && v != 0 && v != 1 {
			fail("row %d, column %d is %v, and grey values are not kept", r, j, v)
			return
		}
	}
	if (s.Y == nil) != (m.labels == nil) {
		fail("labels %v, and the bytes say %q", s.Y, m.labels)
		return
	}
	for r, name := range m.labels {
		got := ""
		if s.Y[r] != NoClass {
			got = s.Classes[s.Y[r]]
		}
		if got != name {
			fail("row %d has the label %q, and the bytes say %q", r, got, name)
			return
		}
	}
	if s.Scale != m.scale || m.header != "" && s.Header != m.header {
		fail("scale %q, header %q, and the bytes say %q, %q", s.Scale, s.Header, m.scale, m.header)
	}
}

// TestCSVMeans compares the reader of CSV files with an independent parser on damaged files.
func TestCSVMeans(t *testing.T) {
	pandas := count(0, 6) + "\n"
	for range 110 {
		pandas += "0,3,3,16,0,7\n5,0,0,0,2,1\n"
	}
	type like struct{ labels, scale, header string }
	files := []struct {
		text    string
		options []like
	}{
		{"0,1,1,0\n1,0,0,1\n1,1,0,0\n0,0,1,1\n", []like{{"auto", "", ""}, {"last", "", "no"}, {"none", "max", "yes"}}},
		{"a,b,c,label\n0,0.25,1,cat\n1,.5,0,dog\n0,0.75,1,cat\n1,1,1,\n", []like{{"auto", "", ""}, {"last", "max", "yes"}}},
		{"\xef\xbb\xbf0.5,1e-1,0.0,x y\r\n1, 0.125,1,\"a, \"\"b\"\"\"\r\n0,0,0.875,x y\r\n", []like{{"last", "", ""}, {"last", "minmax", "no"}}},
		{"3,16,5,4\n0,9,12,1\n16,0,0,2\n", []like{{"auto", "max", ""}, {"last", "16", ""}, {"none", "-1:16", ""}}},
		{"0,1,2,3,4,5\n9,0,0,16,3,3\n4,4,1,0,0,8\n0,7,7,2,1,1\n", []like{{"auto", "minmax", ""}, {"last", "max", ""}}},
		{pandas, []like{{"none", "max", ""}, {"last", "minmax", ""}}},
		{"-1,1,-1\n1,1,-1\n-1,-1,1\n", []like{{"auto", "spins", ""}, {"none", "minmax", ""}}},
		{"0,1,y\n1,1,n\n1,0,y\n", []like{{"last", "", ""}, {"auto", "", ""}}},
	}
	var seeds []string
	for _, f := range files {
		seeds = append(seeds, f.text)
	}
	words := []string{",", "\n", "\r\n", "\"", "\"\"", " ", "0", "1", ".", "-", "+", "e", "E5", "_", "0x1p-1", "1_0", "nan", "inf", "1e999", "1e-999", "-0", ";", "\t", "a", "y", "label", "\x00", "\xef\xbb\xbf", "\u00a0", "٣", "0.5", "2", "16", "\n\n", "0", "1", "\n0,1,1,0\n"}
	accepted := 0
	oracle.Each(damaged(), rbm.NewKey(34).Child(1), seeds, words, func(i int, file []byte) {
		for _, like := range files[i%len(files)].options {
			opt := Options{LabelColumn: like.labels, Scale: like.scale, Header: like.header, Binarize: None, Unlabelled: i%2 == 0}
			if i%3 == 0 {
				opt.Binarize, opt.NoLabel = Threshold, "cat"
			}
			s, err := one(readText(bytes.NewReader(file), "t.csv", opt))
			if err != nil {
				checkFormat(t, err, "t.csv")
				continue
			}
			if s.Schema != nil { // words or missing cells: see TestDamagedTables
				continue
			}
			accepted++
			m, err := csvMeans(string(file), opt)
			compare(t, i, file, opt, s, m, err)
		}
	})
	if accepted < damaged()/4 {
		t.Errorf("%d readings are of files that are taken, too few to compare", accepted)
	}
}

// TestDialectMeans compares the records of damaged files, in each dialect, with those of an independent parser that
// knows the separator. A file whose separator is in doubt may be refused, but not be read by another one. Files of a
// few lines are left out: nothing says that the lines "a b c" and "0" are not a name and a number.
func TestDialectMeans(t *testing.T) {
	const fewLines = 5
	comma := regexp.MustCompile(`^\s*[+-]?[0-9]*,[0-9]+(?i:e[+-]?[0-9]+)?\s*$`)
	for k, separator := range []string{",", ";", "\t", "|", " "} {
		var seeds []string
		r := rbm.NewKey(34).Child(8).Rand()
		for _, words := range [][]string{{"0", "1", "0.5", "-2e3"}, {"0", "1", "1,5", "0,25"}, {"red", "green", "\"x\ty\"", "1"}} {
			var b strings.Builder
			decimal := slices.Contains(words, "1,5")
			if decimal && separator == "," || separator == " " && slices.Contains(words, "red") {
				continue
			}
			fmt.Fprintf(&b, "a%sb%sc\n", separator, separator)
			for range 20 {
				fmt.Fprintf(&b, "%s%s%s%s%s\n", words[r.IntN(4)], separator, words[r.IntN(4)], separator, words[r.IntN(4)])
			}
			seeds = append(seeds, b.String())
		}
		words := []string{separator, "\n", "\r\n", "\"", "0", "1", "x", "1,5", " ", "#", ";", "\t", "|", ",", "\n\n", "'"}
		taken := 0
		oracle.Each(damaged(), rbm.NewKey(34).Child(9+uint64(k)), seeds, words, func(i int, file []byte) {
			text, err := newText(bytes.NewReader(file), "t.csv")
			if err != nil {
				return
			}
			records, err := newRecords(text, Options{})
			if err != nil {
				return
			}
			var got [][]string
			for err == nil {
				var row []string
				if row, _, err = records.next(); err == nil {
					got = append(got, slices.Clone(row))
				}
			}
			if err != io.EOF || records.skipped > 0 || len(got) < fewLines {
				return
			}
			taken++
			want, err := oracle.Separated(string(file), separator)
			for _, row := range want {
				for j, cell := range row {
					if comma.MatchString(cell) && separator != "," && records.decimal {
						row[j] = strings.Replace(cell, ",", ".", 1)
					}
				}
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%q, file %d, by %q: %q, want %q, %v", separator, i, records.comma, got, want, err)
			}
		})
		if taken < damaged()/8 {
			t.Errorf("%q: %d of %d files are taken, too few to compare", separator, taken, damaged())
		}
	}
}

// likeNumber reports whether a field cannot be a name because it is a number, including Go's notations.
func likeNumber(field string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// allDiffer returns the fields as a sorted text if they are distinct whole numbers.
func allDiffer(fields []string) string {
	var seen []float64
	for _, f := range fields {
		v, err := oracle.Decimal(f)
		if err != nil || v != math.Floor(v) || math.IsInf(v, 0) || slices.Contains(seen, v) {
			return ""
		}
		seen = append(seen, v+0)
	}
	sort.Float64s(seen)
	return fmt.Sprint(seen)
}

// headerOf reports whether the first line is a header, by the documentation of Options.Header.
func headerOf(lines [][]string, opt Options) string {
	if opt.Header == "yes" || opt.Header == "no" {
		return opt.Header
	}
	first := lines[0]
	n := len(first)
	next := lines[1:min(len(lines), 101)]
	last := strings.ToLower(strings.TrimSpace(first[n-1]))
	if last == "y" || last == "label" || last == "class" || last == "target" {
		for _, row := range next {
			if slices.ContainsFunc(first[:n-1], likeNumber) && strings.EqualFold(strings.TrimSpace(row[len(row)-1]), last) {
				last = ""
			}
		}
		if last != "" {
			return HeaderYes
		}
	}
	inputs := first
	if opt.LabelColumn == "last" && n > 1 {
		inputs = first[:n-1]
	}
	if !slices.ContainsFunc(inputs, likeNumber) {
		return HeaderYes
	}
	names := allDiffer(inputs)
	if names == "" || len(next) == 0 {
		return HeaderNo
	}
	counts := true
	zero, _ := oracle.Decimal(inputs[0])
	for j, f := range inputs {
		v, _ := oracle.Decimal(f)
		counts = counts && v == zero+float64(j) && (zero == 0 || zero == 1)
	}
	alike, same := 0, 0
	for _, row := range next {
		if d := allDiffer(row[:min(len(row), len(inputs))]); d != "" {
			alike++
			if d == names {
				same++
			}
		}
	}
	if counts && (len(inputs) >= 5 || len(inputs) >= 3 && same == 0) || len(next) == 100 && alike == 0 {
		return HeaderNumbers
	}
	return HeaderNo
}

// csvMeans is the independent parser of CSV files.
func csvMeans(text string, opt Options) (m meaning, err error) {
	lines, err := oracle.CSV(text)
	if err != nil || len(lines) == 0 {
		return m, cmpErr(err, "no rows")
	}
	m.header = headerOf(lines, opt)
	first := lines[0]
	labelled := opt.LabelColumn == "last"
	if m.header != HeaderNo {
		last := strings.ToLower(strings.TrimSpace(first[len(first)-1]))
		labelled = labelled || opt.LabelColumn == "auto" && slices.Contains([]string{"y", "label", "class", "target"}, last)
		lines = lines[1:]
	}
	m.cols = len(first)
	if labelled {
		m.cols--
	}
	for j := m.cols - 1; j >= 0; j-- { // a column of missing cells alone is left out
		if len(lines) == 0 || slices.ContainsFunc(lines, func(line []string) bool { return len(line) != len(first) || strings.TrimSpace(line[j]) != "" }) {
			continue
		}
		first = slices.Delete(slices.Clone(first), j, j+1)
		for i, line := range lines {
			lines[i] = slices.Delete(slices.Clone(line), j, j+1)
		}
		m.cols--
	}
	named := false
	for _, line := range lines {
		if len(line) != len(first) {
			return m, errors.New("a row of another length")
		}
		for _, f := range line[:m.cols] {
			v, err := oracle.Decimal(f)
			if err != nil {
				return m, err
			}
			m.values = append(m.values, v)
		}
		if labelled {
			name := strings.TrimSpace(line[m.cols])
			if opt.Unlabelled && name == opt.NoLabel {
				name = ""
			}
			if name == "" && !opt.Unlabelled {
				return m, errors.New("no label")
			}
			named = named || name != ""
			if v, err := oracle.Decimal(name); err == nil { // spellings of a number are one class
				if at := slices.IndexFunc(m.labels, func(l string) bool { x, err := oracle.Decimal(l); return err == nil && x == v }); at >= 0 {
					name = m.labels[at]
				}
			}
			m.labels = append(m.labels, name)
		}
	}
	if !named {
		m.labels = nil
	}
	if opt.Scale == "max" || opt.Scale == "minmax" {
		return m, m.rescaleColumns(opt.Scale)
	}
	return m, m.rescale(opt.Scale, false)
}

// rescaleColumns maps the values of each column to [0,1] by max or minmax.
func (m *meaning) rescaleColumns(rule string) error {
	if len(m.values) == 0 {
		return errors.New("no values")
	}
	var ranges []string
	apart := false
	for j := range m.cols {
		least, most := math.Inf(1), math.Inf(-1)
		for k := j; k < len(m.values); k += m.cols {
			least, most = min(least, m.values[k]+0), max(most, m.values[k]+0)
		}
		if rule == "max" {
			if least < 0 {
				return fmt.Errorf("%v below zero", least)
			}
			least = 0
		}
		if math.IsInf(most-least, 0) {
			return errors.New("values too far apart")
		}
		for k := j; k < len(m.values); k += m.cols {
			if m.values[k] -= least; most > least {
				m.values[k] /= most - least
			}
		}
		ranges = append(ranges, fmt.Sprintf("%v:%v", least, most))
		apart = apart || most > least
	}
	if !apart {
		return errors.New("each column has one value")
	}
	if m.scale = strings.Join(ranges, ","); len(slices.Compact(slices.Clone(ranges))) == 1 {
		m.scale = ranges[0]
	}
	return nil
}

func cmpErr(err error, words string) error {
	if err != nil {
		return err
	}
	return errors.New(words)
}

// rescale maps the values to [0,1], by the documentation of Options.Scale.
func (m *meaning) rescale(rule string, bytes bool) error {
	if len(m.values) == 0 {
		return errors.New("no values")
	}
	least, most := slices.Min(m.values)+0, slices.Max(m.values)+0 // −0 is 0
	low, high := 0.0, 1.0
	switch rule {
	case "", "auto":
		if bytes && most >= 128 {
			high = 255
		}
	case "max":
		high = most
	case "minmax":
		low, high = least, most
	case "spins":
		low = -1
		if slices.ContainsFunc(m.values, func(v float64) bool { return v != -1 && v != 1 }) {
			return errors.New("no spins")
		}
		m.scale = "spins"
	default:
		a, b, both := strings.Cut(rule, ":")
		if !both {
			a, b = "0", a
		}
		low, _ = strconv.ParseFloat(a, 64)
		high, _ = strconv.ParseFloat(b, 64)
	}
	if rule != "" && rule != "auto" && rule != "spins" {
		m.scale = fmt.Sprintf("%v:%v", low, high)
	}
	if !(least >= low && most <= high && low < high) {
		return fmt.Errorf("values from %v to %v are beyond %v to %v", least, most, low, high)
	}
	for i, v := range m.values {
		m.values[i] = (v - low) / (high - low)
	}
	return nil
}

// TestNPYMeans compares the reader of NumPy's arrays with an independent parser on damaged files: single
// arrays, and archives of x and y in which one array, or the archive, is damaged.
func TestNPYMeans(t *testing.T) {
	xs := []string{
		string(npyBytes("|u1", "4, 3", []byte{0, 255, 17, 200, 127, 128, 0, 0, 1, 255, 254, 3})),
		string(npyBytes("<f4", "4, 3", []float32{0, 1, .5, .25, .75, 1, 0, 0, 1, 1, .125, .4999})),
		string(npyBytes("<f2", "4, 3", []uint16{0, 0x3c00, 0x3800, 0x3400, 0x3a00, 0x3c00, 0, 0x8000, 1, 0x3bff, 0x37ff, 0x0400})),
		string(npyBytes("<i4", "4, 1, 3", []int32{0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0, 0})),
		string(npyBytes("|b1", "4, 3", []byte{0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0, 0})),
		string(npyBytes(">f8", "4, 3", make([]float64, 12))),
	}
	ys := []string{
		string(npyBytes("<i8", "4,", []int64{3, -1, 3, 10})),
		string(npyBytes("<f8", "4, 1", []float64{0, 1, math.Copysign(0, -1), 2})),
		string(npyBytes("<U2", "4,", []uint32{'a', 0, 'b', 'c', 'a', 0, 0, 0x1f600})),
		string(npyBytes("|u1", "4,", []byte{0, 1, 0, 200})),
	}
	words := []string{"'", "(", ")", ",", " ", "3", "4", "<", ">", "|", "f", "u", "i", "b", "U", "1", "2", "4", "8", "True", "False", "'shape': ", "'descr': ", "}", "{", "\n", "L", "\x00", "\x01", "\xff", "\x80", "x", "(4, 3)", "(12,)", "-", "_", "+", "0"}
	accepted := 0
	check := func(i int, file, x, y []byte, opt Options, sets []*Set, err error) {
		if err != nil {
			checkFormat(t, err, "t.np")
			return
		}
		accepted++
		m, err := npyMeans(x, y, opt)
		compare(t, i, file, opt, sets[0], m, err)
	}
	options := func(i int) Options {
		return Options{LabelColumn: "auto", Binarize: None, Scale: []string{"minmax", "-300:70000", "max", "", "255"}[i%5], Unlabelled: i%2 == 0, NoLabel: "-1"}
	}
	oracle.Each(damaged(), rbm.NewKey(34).Child(2), xs, words, func(i int, x []byte) {
		opt := options(i)
		sets, err := loadNPY(bytes.NewReader(x), int64(len(x)), "t.npy", opt)
		check(i, x, x, nil, opt, sets, err)
		y := []byte(ys[i%len(ys)])
		file := zipped(zip.Deflate, "x", x, "y", y)
		sets, err = loadNPZ(bytes.NewReader(file), int64(len(file)), "t.npz", opt)
		check(i, x, x, y, opt, sets, err)
	})
	oracle.Each(damaged(), rbm.NewKey(34).Child(3), ys, words, func(i int, y []byte) {
		opt := options(i)
		x := []byte(xs[i%len(xs)])
		file := zipped(zip.Store, "y", y, "x", x)
		sets, err := loadNPZ(bytes.NewReader(file), int64(len(file)), "t.npz", opt)
		check(i, y, x, y, opt, sets, err)
	})
	whole := []string{string(zipped(zip.Store, "x", []byte(xs[1]), "y", []byte(ys[0]))), string(zipped(zip.Store, "x", []byte(xs[1]), "x", []byte(xs[3]))), string(zipped(zip.Store, "x", []byte(xs[1]), "z", []byte(xs[3])))}
	oracle.Each(damaged(), rbm.NewKey(34).Child(4), whole, append(words, "PK\x01\x02", "y.npy", "x.npy"), func(i int, file []byte) {
		opt := options(i)
		sets, err := loadNPZ(bytes.NewReader(file), int64(len(file)), "t.npz", opt)
		if err != nil {
			checkFormat(t, err, "t.npz")
			return
		}
		x, y, err := oracle.Members(file)
		if err != nil {
			t.Errorf("file %d: taken, though %v", i, err)
			return
		}
		check(i, file, x, y, opt, sets, nil)
	})
	if accepted < damaged()/4 {
		t.Errorf("%d readings are of files that are taken, too few to compare", accepted)
	}
}

// npyMeans is the independent parser of NumPy's files. y may be nil.
func npyMeans(x, y []byte, opt Options) (m meaning, err error) {
	a, err := oracle.NPY(x)
	if err != nil {
		return m, err
	}
	var labels *oracle.Array
	if y != nil {
		l, err := oracle.NPY(y)
		if err != nil {
			return m, err
		}
		labels = &l
	}
	return arrayMeans(a, labels, opt)
}

// arrayMeans returns what an array of inputs and one of labels, which may be nil, mean.
func arrayMeans(a oracle.Array, l *oracle.Array, opt Options) (m meaning, err error) {
	known := map[string]string{"b": "1", "i": "1 2 4 8", "u": "1 2 4 8", "f": "2 4 8"}[a.Type[1:2]]
	if !slices.Contains(strings.Fields(known), a.Type[2:]) || len(a.Shape) < 2 {
		return m, errors.New("no inputs")
	}
	m.cols = 1
	for _, d := range a.Shape[1:] {
		m.cols *= d
	}
	for i := range len(a.Data) / a.Size {
		v := a.Number(i)
		if v != v {
			return m, errors.New("nan")
		}
		m.values = append(m.values, v)
	}
	if l != nil {
		if len(l.Data) != a.Shape[0]*l.Size {
			return m, errors.New("labels of another number")
		}
		named := false
		for i := range a.Shape[0] {
			name, err := l.Label(i)
			if err != nil {
				return m, err
			}
			if opt.Unlabelled && name == opt.NoLabel {
				name = ""
			}
			named = named || name != ""
			m.labels = append(m.labels, name)
		}
		if !named {
			m.labels = nil
		}
	}
	return m, m.rescale(opt.Scale, a.Type[1:] == "u1")
}

// TestIDXMeans compares the reader of IDX files, gzipped or not, with an independent parser on damaged
// files of images or labels.
func TestIDXMeans(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t-images.idx")
	images := []string{
		string(idxBuild([]byte{0, 255, 17, 200, 127, 128, 0, 0, 1, 255, 254, 3}, 4, 1, 3)),
		string(idxBuild([]byte{0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0, 0}, 4, 3)),
	}
	labels := string(idxBuild([]byte{7, 0, 255, 7}, 4))
	words := []string{"\x00", "\x01", "\x02", "\x03", "\x04", "\x08", "\x09", "\xff", "\x1f\x8b", "\x00\x00\x00\x04", "\x00\x00\x00\x03", "\x00\x00\x08\x03"}
	accepted := 0
	read := func(i int, x, y []byte) {
		opt := Options{LabelColumn: "last", Binarize: None, Scale: []string{"", "max", "255"}[i%3]}
		writeFiles(t, dir, map[string][]byte{"t-images.idx": x, "t-labels.idx": y})
		s, _, err := Load(context.Background(), path, opt)
		if err != nil {
			checkFormat(t, err, "t-")
			return
		}
		accepted++
		m, err := idxMeans(x, y, opt)
		compare(t, i, x, opt, s, m, err)
	}
	oracle.Each(damaged(), rbm.NewKey(34).Child(5), images, words, func(i int, x []byte) { read(i, x, []byte(labels)) })
	oracle.Each(damaged(), rbm.NewKey(34).Child(6), []string{labels}, words, func(i int, y []byte) { read(i, []byte(images[i%2]), y) })
	packed := []string{string(gzipped([]byte(images[0]))), string(gzipped([]byte(images[1]))), string(gzipped([]byte(images[0][:20]))) + string(gzipped([]byte(images[0][20:])))}
	oracle.Each(damaged(), rbm.NewKey(34).Child(7), packed, words, func(i int, x []byte) { read(i, x, gzipped([]byte(labels))) })
	if accepted < damaged()/4 {
		t.Errorf("%d readings are of files that are taken, too few to compare", accepted)
	}
}

// unpacked returns the bytes of a file, decompressed if it is gzipped. gzip has a checksum.
func unpacked(b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte("\x1f\x8b")) {
		return b, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// idxTaken parses an IDX file.
func idxTaken(b []byte) (a oracle.Array, err error) {
	if b, err = unpacked(b); err != nil {
		return a, err
	}
	if len(b) < 4 || b[0] != 0 || b[1] != 0 || len(b) < 4+4*int(b[3]) {
		return a, errors.New("no IDX file")
	}
	a.Type = map[byte]string{8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}[b[2]]
	if a.Type == "" {
		return a, errors.New("no IDX file")
	}
	a.Size = int(a.Type[2] - '0')
	full := uint64(a.Size)
	for k := range int(b[3]) {
		d := binary.BigEndian.Uint32(b[4+4*k:])
		a.Shape, full = append(a.Shape, int(d)), full*uint64(d)
	}
	if a.Data = b[4+4*len(a.Shape):]; uint64(len(a.Data)) != full {
		return a, errors.New("another number of bytes")
	}
	return a, nil
}

// idxMeans is the independent parser of pairs of IDX files.
func idxMeans(x, y []byte, opt Options) (m meaning, err error) {
	images, err := idxTaken(x)
	if err != nil || len(images.Shape) < 2 {
		return m, cmpErr(err, "no images")
	}
	labels, err := idxTaken(y)
	if err != nil || len(labels.Data) != images.Shape[0]*labels.Size {
		return m, cmpErr(err, "labels of another number")
	}
	return arrayMeans(images, &labels, opt)
}
