package data

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm/npz"
)

// npyBytes returns a NumPy file with the given type and shape, in NumPy's format, around raw elements.
func npyBytes(descr, shape string, data any) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	return npyFile(head, data)
}

func npyFile(head string, data any) []byte {
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b = append(b, head...)
	b, err := binary.Append(b, binary.LittleEndian, data)
	if err != nil {
		panic(err)
	}
	return b
}

// zipped returns an archive of pairs of names and contents.
func zipped(method uint16, files ...any) []byte {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for i := 0; i < len(files); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i].(string) + ".npy", Method: method})
		if err == nil {
			_, err = w.Write(files[i+1].([]byte))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// two returns the training and the test set of a source, or nil for the latter.
func two(sets []*Set, err error) (train, test *Set, e error) {
	if err != nil {
		return nil, nil, err
	}
	if len(sets) > 1 {
		test = sets[1]
	}
	return sets[0], test, nil
}

func readNPZ(b []byte, labels string, binarize ...string) (train, test *Set, err error) {
	return two(loadNPZ(bytes.NewReader(b), int64(len(b)), "t.npz", Options{LabelColumn: labels, Binarize: strings.Join(binarize, "")}))
}

// Every type of element gives the same rows.
func TestNPZTypes(t *testing.T) {
	swap := func(descr, shape string, data any) []byte {
		b := npyBytes(descr, shape, []byte{})
		b, _ = binary.Append(b, binary.BigEndian, data)
		return b
	}
	between := [][]byte{
		npyBytes("<f8", "2, 3", []float64{0.25, 0.5, 0.75, 1, 0, 0.4999}),
		npyBytes("|u1", "2, 3", []byte{127, 128, 255, 200, 0, 1}),
	}
	for _, x := range [][]byte{
		npyBytes("|b1", "2, 3", []byte{0, 1, 1, 255, 0, 0}),
		npyBytes("|u1", "2, 3", []byte{0, 1, 1, 1, 0, 0}),
		npyBytes("|i1", "2, 3", []int8{0, 1, 1, 1, 0, 0}),
		npyBytes("<i2", "2, 3", []int16{0, 1, 1, 1, 0, 0}),
		npyBytes("<u4", "2, 3", []uint32{0, 1, 1, 1, 0, 0}),
		npyBytes("<i8", "2, 3", []int64{0, 1, 1, 1, 0, 0}),
		npyBytes("<f2", "2, 3", []uint16{0, 0x3c00, 0x3c00, 0x3c00, 0x8000, 0}),
		npyBytes("<f4", "2, 3", []float32{0, 1, 1, 1, 0, 0}),
		npyBytes("<f8", "2, 3", []float64{0, 1, 1, 1, 0, 0}),
		between[0],
		between[1],
		npyBytes("|u1", "2, 3, 1", []byte{0, 1, 1, 1, 0, 0}),
		npyBytes("|u1", "2, 1, 3, 1", []byte{0, 1, 1, 1, 0, 0}),
		npyBytes("|u1", "2L, 3L", []byte{0, 1, 1, 1, 0, 0}),
		swap(">i4", "2, 3", []int32{0, 1, 1, 1, 0, 0}),
		swap(">f2", "2, 3", []uint16{0, 0x3c00, 0x3c00, 0x3c00, 0x8000, 0}),
		swap(">f8", "2, 3", []float64{0, 1, 1, 1, 0, 0}),
	} {
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			s, test, err := readNPZ(zipped(method, "x", x), "auto")
			if err != nil {
				t.Errorf("%.60q: %v", x[10:], err)
				continue
			}
			if rowText(s.X, 0) != "011" || rowText(s.X, 1) != "100" || test != nil || s.Y != nil {
				t.Errorf("%.60q: rows %s, %s, want %s and %s", x[10:], rowText(s.X, 0), rowText(s.X, 1), "011", "100")
			}
			want := Binary
			if slices.ContainsFunc(between, func(b []byte) bool { return bytes.Equal(b, x) }) {
				want = Threshold
			}
			if s.Binarize != want {
				t.Errorf("%.60q: %s, want %s", x[10:], s.Binarize, want)
			}
		}
	}
}

func TestNPZLabels(t *testing.T) {
	x := npyBytes("|b1", "3, 2", []byte{0, 1, 1, 1, 0, 0})
	word := func(s string) []uint32 {
		out := make([]uint32, 3)
		for i, r := range []rune(s) {
			out[i] = uint32(r)
		}
		return out
	}
	for _, c := range []struct {
		y       []byte
		classes []string
		want    []int32
	}{
		{npyBytes("<i8", "3,", []int64{10, 9, 10}), []string{"9", "10"}, []int32{1, 0, 1}},
		{npyBytes("<i8", "3, 1", []int64{-1, 9, math.MaxInt64}), []string{"-1", "9", "9223372036854775807"}, []int32{0, 1, 2}},
		{npyBytes("|i1", "3,", []int8{-1, 9, -128}), []string{"-128", "-1", "9"}, []int32{1, 2, 0}},
		{npyBytes("<i2", "3,", []int16{-300, 1, 300}), []string{"-300", "1", "300"}, []int32{0, 1, 2}},
		{npyBytes("<u2", "3,", []uint16{40000, 1, 257}), []string{"1", "257", "40000"}, []int32{2, 0, 1}},
		{npyBytes("|u1", "3,", []byte{200, 0, 1}), []string{"0", "1", "200"}, []int32{2, 0, 1}},
		{npyBytes("|b1", "3,", []byte{1, 0, 1}), []string{"0", "1"}, []int32{1, 0, 1}},
		{npyBytes("<f8", "3,", []float64{2, -1, 2}), []string{"-1", "2"}, []int32{1, 0, 1}},
		{npyBytes("<U3", "3,", slices.Concat(word("ül"), word("a"), word("cat"))), []string{"a", "cat", "ül"}, []int32{2, 0, 1}},
	} {
		s, _, err := readNPZ(zipped(zip.Deflate, "y", c.y, "x", x), "auto")
		if err != nil {
			t.Error(err)
			continue
		}
		if !slices.Equal(s.Classes, c.classes) || !slices.Equal(s.Y, c.want) {
			t.Errorf("classes %q, labels %v, want %q, %v", s.Classes, s.Y, c.classes, c.want)
		}
	}
	s, _, err := readNPZ(zipped(zip.Store, "x", x, "y", []byte("not read")), "none")
	if err != nil || s.Y != nil {
		t.Errorf("labels none: %v, %v", err, s)
	}
}

func TestNPZKeras(t *testing.T) {
	pixels := func(n int, grey byte) []byte {
		b := make([]byte, n*2*3)
		for i := range b {
			b[i] = byte(i%2) * grey
		}
		return b
	}
	train, test, err := readNPZ(zipped(zip.Deflate,
		"x_train", npyBytes("|u1", "4, 2, 3", pixels(4, 255)), "y_train", npyBytes("|u1", "4,", []byte{3, 1, 3, 7}),
		"x_test", npyBytes("|u1", "2, 2, 3", pixels(2, 1)), "y_test", npyBytes("|u1", "2,", []byte{7, 5}),
	), "auto")
	if err != nil {
		t.Fatal(err)
	}
	checkSet(t, train)
	checkSet(t, test)
	if train.Len() != 4 || test.Len() != 2 || train.Height != 2 || train.Width != 3 || test.Name != "t.npz test" {
		t.Errorf("%d and %d rows of %d × %d, %q", train.Len(), test.Len(), train.Height, train.Width, test.Name)
	}
	if !slices.Equal(train.Classes, []string{"1", "3", "5", "7"}) || !slices.Equal(train.Y, []int32{1, 0, 1, 3}) || !slices.Equal(test.Y, []int32{3, 2}) {
		t.Errorf("classes %q, labels %v and %v, want %q, %v, %v", train.Classes, train.Y, test.Y, []string{"1", "3", "5", "7"}, []int32{1, 0, 1, 3}, []int32{3, 2})
	}
	// The training rows show that bytes are grey, so that a 1 in a test row is dark.
	if rowText(train.X, 0) != "010101" || rowText(test.X, 0) != "000000" {
		t.Errorf("rows %s, %s, want %s and %s", rowText(train.X, 0), rowText(test.X, 0), "010101", "000000")
	}
}

// Inputs and labels have the names that people give them, and pictures may have one channel.
func TestArrayNames(t *testing.T) {
	x, test := npyBytes("|u1", "2, 2", []byte{0, 1, 1, 0}), npyBytes("|u1", "1, 2", []byte{1, 1})
	y, yTest := npyBytes("|u1", "2,", []byte{4, 7}), npyBytes("|u1", "1,", []byte{7})
	for _, names := range [][4]string{
		{"x", "y", "x_test", "y_test"}, {"X", "Y", "X_test", "y_test"}, {"x_train", "y_train", "x_test", "y_test"}, {"X_train", "y_train", "X_test", "Y_test"},
		{"train_images", "train_labels", "test_images", "test_labels"}, {"data", "labels", "", ""}, {"images", "target", "", ""}, {"arr_0", "arr_1", "", ""},
	} {
		files := []any{"other", x, names[1], y, names[0], x}
		if names[2] != "" {
			files = append(files, names[2], test, names[3], yTest)
		}
		s, s2, err := readNPZ(zipped(zip.Store, files...), "auto")
		if err != nil {
			t.Errorf("%v: %v", names, err)
			continue
		}
		if rowText(s.X, 0) != "01" || !slices.Equal(s.Classes, []string{"4", "7"}) || !slices.Equal(s.Y, []int32{0, 1}) || (s2 == nil) != (names[2] == "") || s2 != nil && s2.Y[0] != 1 {
			t.Errorf("%v: read %+v, %+v", names, s, s2)
		}
	}
	for _, shape := range []string{"2, 1, 2, 3", "2, 2, 3, 1", "2, 2, 3"} {
		s, _, err := readNPZ(zipped(zip.Store, "x", npyBytes("|u1", shape, []byte{0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1})), "auto")
		if err != nil || s.Height != 2 || s.Width != 3 || s.Len() != 2 || rowText(s.X, 0) != "011000" || !s.Pictures {
			t.Errorf("(%s): %+v, %v", shape, s, err)
		}
	}
}

// The fast ways through arrays see every value: one that is not a number in a late row, and values beyond
// the scale among many others.
func TestArrayLateValues(t *testing.T) {
	const rows, cols = 50, 70
	for _, bad := range []float64{math.NaN(), math.Inf(1), -0.25, 1.5} {
		for _, at := range []int{0, 5, rows*cols - 1} {
			x := make([]float64, rows*cols)
			for i := range x {
				x[i] = float64(i%7) / 7
			}
			x[at] = bad
			_, _, err := readNPZ(zipped(zip.Store, "x", npyBytes("<f8", "50, 70", x)), "auto")
			checkFormat(t, err, fmt.Sprintf("row %d, column %d", at/cols, at%cols))
		}
	}
}

// The reader reads what package npz writes, in rows of more than a word.
func TestNPZRoundTrip(t *testing.T) {
	want := randomSet(9, 150, 3)
	var x []float64
	for r := range 9 {
		for _, bit := range rowText(want.X, r) {
			x = append(x, float64(bit-'0'))
		}
	}
	var buf bytes.Buffer
	if err := npz.Write(&buf, []npz.Named{{Name: "x", Shape: []int{9, 150}, Data: x}, {Name: "y", Data: want.Y}}); err != nil {
		t.Fatal(err)
	}
	s, _, err := readNPZ(buf.Bytes(), "auto")
	if err != nil {
		t.Fatal(err)
	}
	if s.Hash() != want.Hash() {
		t.Error("the rows differ from those written")
	}
}

func TestNPZErrors(t *testing.T) {
	x := npyBytes("|b1", "3, 2", []byte{0, 1, 1, 1, 0, 0})
	one := func(x []byte) []byte { return zipped(zip.Deflate, "x", x) }
	labels := func(y []byte) []byte { return zipped(zip.Deflate, "x", x, "y", y) }
	head := func(h string) []byte { return one(npyFile(h, []byte{0, 1, 1, 1, 0, 0})) }
	damaged := zipped(zip.Store, "x", x)
	damaged[bytes.Index(damaged, []byte{0, 1, 1, 1, 0, 0})] = 1
	bomb := zipped(zip.Deflate, "x", x)
	central := bytes.LastIndex(bomb, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(bomb[central+24:], 1<<31)
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"not a zip", []byte("hello"), "not an npz archive"},
		{"empty zip", zipped(zip.Store), "an empty archive"},
		{"other names", zipped(zip.Store, "a", x, "b", x), `only "a", "b"; name the inputs x`},
		{"not npy", one([]byte("hello, world")), "not a NumPy array"},
		{"empty npy", one(nil), "cut short"},
		{"only magic", one([]byte("\x93NUMPY\x01\x00")), "cut short"},
		{"version 9", one([]byte("\x93NUMPY\x09\x00")), "format 9"},
		{"cut header", one(x[:40]), "cut short"},
		{"long header", one([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff")), "a header of 4294967295 bytes"},
		{"no dictionary", head("hello"), "cannot be read"},
		{"no shape", head("{'descr': '|b1', 'fortran_order': False, }"), "cannot be read"},
		{"two shapes", head("{'shape': (3, 2), 'shape': (3, 2), }"), "cannot be read"},
		{"no quote", head("{'descr': '|b1, 'fortran_order': False, 'shape': (3, 2), }"), "cannot be read"},
		{"bad shape", head("{'descr': '|b1', 'fortran_order': False, 'shape': (3, a), }"), "cannot be read"},
		{"negative", head("{'descr': '|b1', 'fortran_order': False, 'shape': (-3, -2), }"), "cannot be read"},
		{"overflow", head("{'descr': '|b1', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"), "cannot be read"},
		{"maybe fortran", head("{'descr': '|b1', 'fortran_order': Maybe, 'shape': (3, 2), }"), "cannot be read"},
		{"records", head("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 2), }"), "records"},
		{"objects", one(npyBytes("|O", "3, 2", make([]byte, 48))), "Python objects"},
		{"complex", one(npyBytes("<c8", "3, 2", make([]byte, 48))), `"<c8" cannot be read`},
		{"quarter", one(npyBytes("<f1", "3, 2", make([]byte, 6))), `"<f1" cannot be read`},
		{"text", one(npyBytes("<U1", "3, 2", make([]byte, 24))), "inputs are text"},
		{"one dimension", one(npyBytes("|b1", "6,", make([]byte, 6))), "1 dimensions"},
		{"channels", one(npyBytes("|b1", "1, 3, 1, 2", make([]byte, 6))), "several channels"},
		{"none", one(npyBytes("|b1", "", make([]byte, 1))), "0 dimensions"},
		{"no rows", one(npyBytes("|b1", "0, 3", []byte{})), "no examples"},
		{"no columns", one(npyBytes("|b1", "3, 0", []byte{})), "no examples"},
		{"too little", one(npyBytes("|b1", "4, 2", make([]byte, 6))), "needs 8 elements of 1 bytes, but 6"},
		{"too much", one(npyBytes("|b1", "2, 2", make([]byte, 6))), "needs 4 elements"},
		{"not whole", one(npyBytes("<f4", "1, 2", make([]byte, 9))), "needs 2 elements"},
		{"wide", one(npyBytes("|b1", "1, 2000000", make([]byte, 2000000))), "columns"},
		{"NaN", one(npyBytes("<f4", "1, 2", []float32{0, float32(math.NaN())})), "x: row 0, column 1: NaN"},
		{"above", one(npyBytes("<f8", "2, 1", []float64{0, 16})), "x: row 1, column 0: 16 is outside [0,1]"},
		{"below", one(npyBytes("<i8", "2, 1", []int64{-1, 1})), "-1 is outside [0,1]"},
		{"dark", one(npyBytes("|u1", "2, 1", []byte{16, 1})), "bytes up to 16 only"},
		{"damaged", damaged, "checksum"},
		{"false size", bomb, "are impossible"},
		{"label count", labels(npyBytes("|u1", "2,", []byte{0, 1})), "labels of shape [2] for 3 examples"},
		{"one-hot", labels(npyBytes("|u1", "3, 2", []byte{0, 1, 1, 0, 0, 1})), "y.argmax(1)"},
		{"label NaN", labels(npyBytes("<f8", "3,", []float64{0, math.NaN(), 1})), "label of row 1"},
		{"label 0.5", labels(npyBytes("<f8", "3,", []float64{0, 1, 0.5})), "label of row 2"},
		{"label empty", labels(npyBytes("<U1", "3,", []uint32{65, 0, 66})), "label of row 1"},
		{"widths", zipped(zip.Store, "x_train", x, "x_test", npyBytes("|b1", "2, 3", make([]byte, 6))), "give both the same shape"},
		{"half labelled", zipped(zip.Store, "x_train", x, "y_train", npyBytes("|u1", "3,", make([]byte, 3)), "x_test", x), "no array y_test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readNPZ(c.file, "auto")
			checkFormat(t, err, "t.npz", c.want)
		})
	}
	_, _, err := readNPZ(one(x), "last")
	checkFormat(t, err, "no array y")
}

func FuzzNPZ(f *testing.F) {
	x := npyBytes("|u1", "2, 3", []byte{0, 1, 1, 1, 0, 0})
	f.Add(x, []byte{}, false, uint8(0))
	f.Add(x, npyBytes("<i2", "2,", []int16{4, 2}), true, uint8(1))
	f.Add(npyBytes("<f4", "2, 1, 1", []float32{0.25, 1}), npyBytes("<U1", "2,", []uint32{65, 66}), false, uint8(2))
	f.Add(npyBytes(">f8", "1, 1", []float64{0}), npyBytes("|b1", "1, 1", []byte{1}), true, uint8(0))
	f.Add([]byte("\x93NUMPY\x02\x00\x00\x01\x00\x00"), []byte{}, false, uint8(0))
	// The arrays are fuzzed inside a valid archive, because mutations of a whole archive would rarely be
	// valid. Then the same bytes are read as an archive.
	f.Fuzz(func(t *testing.T, x, y []byte, deflate bool, mode uint8) {
		method := zip.Store
		if deflate {
			method = zip.Deflate
		}
		files := []any{"x", x}
		if len(y) > 0 {
			files = append(files, "y", y)
		}
		for _, b := range [][]byte{zipped(method, files...), x} {
			s, _, err := readNPZ(b, "auto", []string{Threshold, Sample, None}[mode%3])
			if err != nil {
				checkFormat(t, err, "t.npz")
				continue
			}
			checkSet(t, s)
		}
	})
}

// TestBombs checks that files whose headers claim far more bytes than the files can contain are refused.
func TestBombs(t *testing.T) {
	for _, c := range []struct {
		full, packed float64
		want         bool
	}{{1 << 26, 1, false}, {1<<26 + 1, 1, true}, {1 << 30, 1 << 23, false}, {1 << 30, 1 << 22, true}} {
		if got := npz.Bomb(c.full, c.packed); got != c.want {
			t.Errorf("%g bytes out of %g: %v, want %v", c.full, c.packed, got, c.want)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "bomb-images-idx3-ubyte.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	z.Write([]byte{0, 0, 8, 3, 0, 1, 0, 0, 0, 0, 0, 64, 0, 0, 0, 64}) // 65536 × 64 × 64
	zeros := make([]byte, 1<<20)
	for range 256 {
		z.Write(zeros)
	}
	z.Close()
	f.Close()
	if _, _, err := Load(t.Context(), path, Options{}); err == nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "asks for 2.68e+08 bytes out of a file of ") {
		t.Errorf("%v", err)
	}
}

// Arrays in Fortran order have the rows of the same arrays in C order.
func TestFortranOrder(t *testing.T) {
	file := func(order, shape string, data any) []byte {
		return npyFile(fmt.Sprintf("{'descr': '<f4', 'fortran_order': %s, 'shape': (%s), }", order, shape), data)
	}
	// The file counts the first index fastest.
	for _, c := range []struct {
		shape  string
		values []float32 // in C order
		file   []float32
	}{
		{"2, 3", []float32{0, .1, .2, .3, .4, .5}, []float32{0, .3, .1, .4, .2, .5}},
		{"2, 2, 3", []float32{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1, 0}, []float32{0, .6, .3, .9, .1, .7, .4, 1, .2, .8, .5, 0}},
		{"1, 2, 2, 1", []float32{0, .1, .2, .3}, []float32{0, .2, .1, .3}},
	} {
		got, _, err := readNPZ(zipped(zip.Deflate, "x", file("True", c.shape, c.file)), "auto", None)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := readNPZ(zipped(zip.Store, "x", file("False", c.shape, c.values)), "auto", None)
		if err != nil || !slices.Equal(got.Grey.Data, c.values) || got.Hash() != want.Hash() || got.Height != want.Height {
			t.Errorf("(%s): rows %v, want %v, %v", c.shape, got.Grey.Data, c.values, err)
		}
	}
}

// A sparse matrix of scipy gives the rows of the dense one. Invalid sparse files are refused.
func TestSparse(t *testing.T) {
	csr := map[string][]byte{
		"format":  npyBytes("|S3", "", []byte("csr")),
		"shape":   npyBytes("<i8", "2,", []int64{4, 5}),
		"indptr":  npyBytes("<i4", "5,", []int32{0, 2, 2, 3, 6}),
		"indices": npyBytes("<i4", "6,", []int32{4, 0, 2, 1, 2, 3}),
		"data":    npyBytes("<f8", "6,", []float64{.75, .5, 1, .25, 1, 0}),
	}
	archive := func(method uint16, but string, with []byte) []byte {
		var files []any
		for _, name := range slices.Sorted(maps.Keys(csr)) {
			switch {
			case name != but:
				files = append(files, name, csr[name])
			case with != nil:
				files = append(files, name, with)
			}
		}
		if _, ok := csr[but]; !ok && with != nil {
			files = append(files, but, with)
		}
		return zipped(method, files...)
	}
	want := []float32{.5, 0, 0, 0, .75, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, .25, 1, 0, 0}
	for _, with := range []struct {
		but  string
		file []byte
	}{
		{}, {"format", npyBytes("<U3", "", []int32{'c', 's', 'r'})}, {"indptr", npyBytes("<i8", "5,", []int64{0, 2, 2, 3, 6})},
		{"y", npyBytes("|S3", "4,", []byte("antbee\x00\x00\x00ant"))},
	} {
		s, _, err := readNPZ(archive(zip.Deflate, with.but, with.file), "none", None)
		if err != nil {
			t.Fatal(with.but, err)
		}
		checkSet(t, s)
		if s.X.Cols != 5 || !slices.Equal(s.Grey.Data, want) {
			t.Errorf("%s: rows %v, want %v", with.but, s.Grey.Data, want)
		}
	}
	names := npyBytes("|S3", "4,", []byte("antbe\x00antbe\x00"))
	if s, _, err := readNPZ(archive(zip.Store, "y", names), "auto"); err != nil || !slices.Equal(s.Classes, []string{"ant", "be"}) {
		t.Errorf("labels: %v, %v", s, err)
	}
	for _, c := range []struct {
		but  string
		with []byte
		want string
	}{
		{"format", npyBytes("|S3", "", []byte("csc")), `a sparse matrix of format "csc"; save it by scipy.sparse.save_npz(FILE, matrix.tocsr())`},
		{"format", nil, "1 dimensions"},
		{"indptr", nil, "no array indptr"},
		{"indptr", npyBytes("<i4", "4,", []int32{0, 2, 2, 6}), "shape and indptr do not describe the rows"},
		{"indptr", npyBytes("<i4", "5,", []int32{0, 3, 2, 3, 6}), "shape and indptr do not describe the rows"},
		{"indptr", npyBytes("<i4", "5,", []int32{1, 2, 2, 3, 6}), "shape and indptr do not describe the rows"},
		{"indptr", npyBytes("<f4", "5,", []float32{0, 2, 2, 3, 6}), "it is not a list of integers"},
		{"shape", npyBytes("<i8", "2,", []int64{4, -5}), "shape and indptr do not describe the rows"},
		{"shape", npyBytes("<i8", "2,", []int64{4, 3}), "row 0 has an element in column 4 of 3"},
		{"indices", npyBytes("<i4", "5,", []int32{4, 0, 2, 1, 2}), "do not hold 6 numbers each"},
		{"indices", npyBytes("<i4", "6,", []int32{4, 4, 2, 1, 2, 3}), "row 0 has two elements in column 4; call sum_duplicates()"},
		{"indices", npyBytes("<i4", "6,", []int32{4, -1, 2, 1, 2, 3}), "row 0 has an element in column -1"},
		{"data", npyBytes("<f8", "6,", []float64{.75, 7, 1, .25, 1, 0}), "row 0, column 0: 7 is outside [0,1]"},
		{"data", npyBytes("|S1", "6,", []byte("abcdef")), "do not hold 6 numbers each"},
	} {
		_, _, err := readNPZ(archive(zip.Store, c.but, c.with), "auto")
		checkFormat(t, err, c.want)
	}
}
