package npz

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// open writes arrays and opens the archive.
func open(t testing.TB, arrays ...Named) *Archive {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, arrays); err != nil {
		t.Fatal(err)
	}
	a, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRoundTrip(t *testing.T) {
	a := open(t,
		Named{"m", []int{2, 3}, []float32{1, 2, 3, 4, 5, 6}}, Named{"v", nil, []float64{0.1, -7}},
		Named{"b", nil, []uint8{1, 255}}, Named{"i", []int{1, 2, 1}, []int32{-1 << 31, 7}}, Named{"s", []int{3}, []int8{-1, 1, -128}},
		Named{"none", []int{0, 3}, []float32{}})
	if !a.Has("m") || a.Has("x") || a.Names() != `"m", "v", "b", "i", "s", "none"` {
		t.Errorf("the archive has %s", a.Names())
	}
	for name, want := range map[string][]float64{"m": {1, 2, 3, 4, 5, 6}, "v": {0.1, -7}, "b": {1, 255}, "i": {-1 << 31, 7}, "s": {-1, 1, -128}, "none": {}} {
		r, err := a.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		if err := r.Rows(1, len(want), func(_ int, v []float64) error { got = append(got, v...); return nil }); err != nil {
			t.Error(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
		r.Close()
	}
}

// The entries of an archive are byte for byte those of numpy.save: see numpy/lib/format.py,
// _write_array_header, version 1.0.
func TestNumPysBytes(t *testing.T) {
	for _, c := range []struct {
		shape    []int
		data     any
		header   string // the text without padding
		elements string
	}{
		{nil, []int8{1, -1}, "{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }", "\x01\xff"},
		{nil, []uint8{7, 255}, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "\x07\xff"},
		{[]int{1, 2}, []float32{1, -2}, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", "\x00\x00\x80\x3f\x00\x00\x00\xc0"},
		{[]int{}, []float64{1}, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "\x00\x00\x00\x00\x00\x00\xf0\x3f"},
		{[]int{1, 1, 1}, []int32{-2}, "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1, 1), }", "\xfe\xff\xff\xff"},
	} {
		f, err := open(t, Named{"x", c.shape, c.data}).files[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		want := fmt.Sprintf("\x93NUMPY\x01\x00\x76\x00%-117s\n%s", c.header, c.elements) // 10 + 0x76 = 128, a multiple of 64
		if err != nil || string(got) != want {
			t.Errorf("%v: got %q, want %q, %v", c.shape, got, want, err)
		}
	}
}

// Headers of an earlier writer of models are read: version 2, with elements that start at any byte.
func TestHeadersOfOldFiles(t *testing.T) {
	const old = "\x93NUMPY\x02\x00\x46\x00\x00\x00{'descr': '<f4', 'fortran_order': False, 'shape': (12, 7), }         \n"
	h, err := readHeader(strings.NewReader(old + "elements"))
	if err != nil || h.Kind != 'f' || h.Size != 4 || h.Fortran || fmt.Sprint(h.Shape) != "[12 7]" || h.length != len(old) {
		t.Errorf("got %+v, %v", h, err)
	}
}

// A mistake of the caller panics.
func TestWritePanics(t *testing.T) {
	for _, a := range []Named{{"x", []int{2, 2}, []float32{1, 2, 3}}, {"x", nil, []int{1}}, {"x", nil, 1.0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v is written", a)
				}
			}()
			Write(io.Discard, []Named{a})
		}()
	}
}

// Entries of an archive are found with the ending .npy or without it.
func TestNamesWithoutEnding(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("x")
	if err != nil {
		t.Fatal(err)
	}
	const header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }"
	w.Write(append([]byte("\x93NUMPY\x01\x00"+string(rune(len(header)))+"\x00"+header), 7, 9))
	z.Close()
	a, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	x, err := a.Array("x")
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if got, err := x.Next(2); err != nil || !bytes.Equal(got, []byte{7, 9}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestErrors(t *testing.T) {
	if _, err := Open(bytes.NewReader([]byte("PK?")), 3); !errors.Is(err, ErrFormat) {
		t.Errorf("no archive: %v, want %v", err, ErrFormat)
	}
	a := open(t, Named{"v", nil, []float32{1, 2, 3}})
	if _, err := a.Array("w"); !errors.Is(err, ErrFormat) {
		t.Errorf("no array: %v, want %v", err, ErrFormat)
	}
	r, err := a.Array("v")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Rows(2, 2, func(int, []float64) error { return nil }); !errors.Is(err, ErrFormat) {
		t.Errorf("four elements of three: %v, want %v", err, ErrFormat)
	}
	stop := errors.New("stop")
	again, err := a.Array("v")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Rows(1, 3, func(int, []float64) error { return stop }); err != stop {
		t.Errorf("the error of the caller: %v, want %v", err, stop)
	}
}

// Headers that do not match the size of the file are refused.
func TestHeaders(t *testing.T) {
	npy := func(header string) []byte {
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
		return append(b, header...)
	}
	for _, h := range []string{
		"", "{", "{}", "{'descr': '<f4'}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
		"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
		"{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
		"{'descr': '<f4', 'descr': '<f8', 'shape': (1,), }",
		"{'descr': '<f4', 'fortran_order': False, 'shape': ((1), }",
		"{'descr': (1), 'fortran_order': False, 'shape': (1,), }",
	} {
		if _, err := readHeader(bytes.NewReader(npy(h))); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v, want %v", h, err, ErrFormat)
		}
	}
	h, err := readHeader(bytes.NewReader(npy("{'descr': '>f8', 'fortran_order': True, 'shape': (2, 3), }")))
	if err != nil || h.Kind != 'f' || h.Size != 8 || !h.Fortran || h.Elements() != 6 {
		t.Errorf("got %+v, %v", h, err)
	}
}

func Example() {
	var file bytes.Buffer
	if err := Write(&file, []Named{{"x", []int{2, 2}, []float32{1, 2, 3, 4}}}); err != nil {
		fmt.Println(err)
		return
	}
	a, err := Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := a.Array("x")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Close()
	fmt.Println(x.Shape)
	err = x.Rows(2, 2, func(i int, values []float64) error {
		fmt.Print(values, " ")
		return nil
	})
	fmt.Println(err)
	// Output:
	// [2 2]
	// [1 2] [3 4] <nil>
}

// Text is read back unchanged, and written as by NumPy: four bytes for each letter, padded with
// zeros.
func TestText(t *testing.T) {
	words := []string{"ül", "a", "", "0123"}
	a := open(t, Named{"y", nil, words}, Named{"z", []int{2, 2}, words}, Named{"none", []int{0}, []string{}})
	for _, name := range []string{"y", "z"} {
		r, err := a.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != 'U' || r.Size != 4*4 || r.Elements() != 4 {
			t.Errorf("%s: type %c%d, shape %v", name, r.Kind, r.Size, r.Shape)
		}
		for _, want := range words {
			b, err := r.Next(1)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := r.Text(b); got != want || ok != (want != "") {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	if r, err := a.Array("none"); err != nil || r.Elements() != 0 {
		t.Errorf("an empty array: %v", err)
	}
}

// A single npy file is an archive of one array.
func TestSingle(t *testing.T) {
	file := string(appendHeader(nil, "<i4", []int{2})) + "\x07\x00\x00\x00\xff\xff\xff\xff"
	a := Single(strings.NewReader(file), int64(len(file)), "x")
	if !a.Has("x") || a.Has("y") || a.Names() != `"x"` {
		t.Errorf("arrays %s", a.Names())
	}
	r, err := a.Array("x")
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	if err := r.Rows(1, 2, func(_ int, v []float64) error { got = append(got, v...); return nil }); err != nil || got[0] != 7 || got[1] != -1 {
		t.Errorf("read %v, %v", got, err)
	}
	if _, err := a.Array("y"); !errors.Is(err, ErrFormat) {
		t.Errorf("an array that is not there: %v", err)
	}
	for cut := range len(file) {
		if _, err := Single(strings.NewReader(file), int64(cut), "x").Array("x"); !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes of %d: %v, want %v", cut, len(file), err, ErrFormat)
		}
	}
}

// TestHalf checks all 16-bit numbers against their 32-bit form in IEEE 754, in which the bias of
// the exponent is 127 and the fraction is 13 bits longer.
func TestHalf(t *testing.T) {
	for i := range 1 << 16 {
		b := uint16(i)
		sign, exponent, fraction := uint32(b>>15)<<31, uint32(b>>10&31), uint32(b&1023)
		want := math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
		switch exponent {
		case 0:
			want = float32(fraction) / (1 << 24)
			want = math.Float32frombits(math.Float32bits(want) | sign)
		case 31:
			want = math.Float32frombits(sign | 255<<23 | fraction<<13)
		}
		if got := half(b); math.Float32bits(float32(got)) != math.Float32bits(want) && !(got != got && want != want) {
			t.Fatalf("%04x is %v, want %v", b, got, want)
		}
	}
	for b, want := range map[uint16]float64{0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0400: 6.103515625e-05, 0x0001: 5.960464477539063e-08, 0x3555: 0.333251953125} {
		if got := half(b); got != want { // examples from the definition of the format
			t.Errorf("%04x is %v, want %v", b, got, want)
		}
	}
}
