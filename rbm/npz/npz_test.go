package npz

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// open returns what Write makes of the arrays.
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
	a := open(t, Named{"m", Matrix(2, 3, []float32{1, 2, 3, 4, 5, 6})}, Named{"v", []float64{0.1, -7}}, Named{"b", []uint8{1, 255}})
	if !a.Has("m") || a.Has("x") || a.Names() != `"m", "v", "b"` {
		t.Errorf("the archive has %s", a.Names())
	}
	for name, want := range map[string][]float64{"m": {1, 2, 3, 4, 5, 6}, "v": {0.1, -7}, "b": {1, 255}} {
		r, err := a.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		if err := r.Rows(1, len(want), func(_, _ int, v float64) error { got = append(got, v); return nil }); err != nil {
			t.Error(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
		r.Close()
	}
}

// Entries of an archive are found with the ending .npy or without.
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
		t.Errorf("no archive: %v", err)
	}
	a := open(t, Named{"v", []float32{1, 2, 3}})
	if _, err := a.Array("w"); !errors.Is(err, ErrFormat) {
		t.Errorf("no array: %v", err)
	}
	r, err := a.Array("v")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Rows(2, 2, func(int, int, float64) error { return nil }); !errors.Is(err, ErrFormat) {
		t.Errorf("four elements of three: %v", err)
	}
	stop := errors.New("stop")
	again, err := a.Array("v")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Rows(1, 3, func(int, int, float64) error { return stop }); err != stop {
		t.Errorf("the error of the caller: %v", err)
	}
}

// Headers that promise what is not there.
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
	} {
		if _, err := readHeader(bytes.NewReader(npy(h))); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", h, err)
		}
	}
	h, err := readHeader(bytes.NewReader(npy("{'descr': '>f8', 'fortran_order': True, 'shape': (2, 3), }")))
	if err != nil || h.Kind != 'f' || h.Size != 8 || !h.fortran || h.Elements() != 6 {
		t.Errorf("got %+v, %v", h, err)
	}
}

func Example() {
	var file bytes.Buffer
	if err := Write(&file, []Named{{"x", Matrix(2, 2, []float32{1, 2, 3, 4})}}); err != nil {
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
	err = x.Rows(2, 2, func(i, j int, v float64) error {
		fmt.Print(v, " ")
		return nil
	})
	fmt.Println(err)
	// Output:
	// [2 2]
	// 1 2 3 4 <nil>
}
