package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// idxBuild returns an IDX file of bytes.
func idxBuild(data []byte, dims ...uint32) []byte {
	b := []byte{0, 0, 0x08, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, data...)
}

func gzipped(b []byte) []byte {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	w.Write(b)
	w.Close()
	return buf.Bytes()
}

// An idx is the content of an IDX file.
type idx struct {
	dims []int64
	data []byte
}

// readIDX reads an IDX file, gzipped or not.
func readIDX(r io.Reader, size int) (out idx, err error) {
	a, err := newIDX(r, io.NopCloser(nil), int64(size), "t.idx")
	if err != nil {
		return idx{}, err
	}
	n := int(a.Elements()) * a.Size
	err = eachByte(a, int(a.Elements()), func(b []byte) { out.data = append(out.data, b...) })
	if len(out.data) > n {
		panic("more bytes than elements")
	}
	out.dims = a.Shape
	return out, err
}

func unpackIDX(b []byte) (idx, error) { return readIDX(bytes.NewReader(b), len(b)) }

func TestIDX(t *testing.T) {
	data := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for _, pack := range []func([]byte) []byte{gzipped, bytes.Clone} {
		got, err := unpackIDX(pack(idxBuild(data, 2, 3, 2)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.data, data) || len(got.dims) != 3 || got.dims[0] != 2 || got.dims[1] != 3 || got.dims[2] != 2 {
			t.Errorf("got %v", got)
		}
	}
}

// Elements may have any type of the format.
func TestIDXTypes(t *testing.T) {
	for code, elements := range map[byte]any{0x09: []int8{0, 1, 1}, 0x0b: []int16{0, 1, 1}, 0x0c: []int32{0, 1, 1}, 0x0d: []float32{0, 1, .5}, 0x0e: []float64{.25, 1, 1}} {
		file, err := binary.Append(append([]byte{0, 0, code, 2}, 0, 0, 0, 1, 0, 0, 0, 3), binary.BigEndian, elements)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		writeFiles(t, dir, map[string][]byte{"t.idx": file})
		if s, _ := mustLoad(t, filepath.Join(dir, "t.idx")); rowText(s.X, 0) != "011" {
			t.Errorf("type %#x: row %s, want 011", code, rowText(s.X, 0))
		}
	}
}

func TestIDXErrors(t *testing.T) {
	good := idxBuild([]byte{1, 2, 3, 4}, 4)
	long := gzipped(idxBuild(bytes.Repeat([]byte{1, 2, 3, 5, 8, 13}, 100), 600))
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "cut short"},
		{"one byte", good[:1], "cut short"},
		{"cut magic", good[:3], "cut short"},
		{"cut header", good[:6], "cut short"},
		{"cut data", good[:10], "cut short"},
		{"too long", append(bytes.Clone(good), 0), "more data than the header says"},
		{"web page", []byte("<!DOCTYPE html>"), "not an IDX file"},
		{"type", []byte{0, 0, 0x0a, 1, 0, 0, 0, 0}, "kind 0x0a"},
		{"no rows", idxBuild(nil, 0), "empty"},
		{"huge", idxBuild(nil, 1<<31, 1<<31, 1<<31), "more than 1073741824 bytes"},
		{"cut gzip", long[:len(long)-10], "cut short"},
		{"gzip magic only", []byte{0x1f, 0x8b, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := unpackIDX(c.file)
			if err == nil || !strings.Contains(err.Error(), "t.idx") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	fails := io.MultiReader(bytes.NewReader(good[:6]), brokenReader{})
	if _, err := readIDX(fails, 10); !errors.Is(err, errBroken) || errors.Is(err, ErrFormat) {
		t.Errorf("a failing disk gives %v", err)
	}
}

// endless is a Reader of zeros that counts them.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	clear(p)
	e.n += int64(len(p))
	return len(p), nil
}

// Bytes beyond those in the header are not read, and no memory is allocated for bytes that are missing.
func TestIDXEndless(t *testing.T) {
	var zeros endless
	_, err := readIDX(io.MultiReader(bytes.NewReader(idxBuild(nil, 1000)), &zeros), 1<<20)
	checkError(t, err, "more data than the header says")
	if zeros.n > 1<<17 {
		t.Errorf("%d bytes were read for 1000, want at most %d", zeros.n, 1<<17)
	}
}

var errBroken = errors.New("disk on fire")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func FuzzIDX(f *testing.F) {
	good := idxBuild([]byte{1, 2, 3, 4}, 4)
	f.Add(good)
	f.Add(gzipped(good))
	f.Add(idxBuild(make([]byte, 8), 2, 2, 2))
	f.Add(idxBuild(nil, 1<<31, 1<<31, 4))
	f.Add(good[:7])
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := unpackIDX(b)
		if err != nil {
			return
		}
		size := int64(1)
		for _, d := range got.dims {
			size *= d
		}
		if size != int64(len(got.data)) || size == 0 {
			t.Errorf("dimensions %v of %d bytes", got.dims, len(got.data))
		}
	})
}
