package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// idxBuild returns an IDX file of bytes.
func idxBuild(data []byte, dims ...uint32) []byte {
	b := []byte{0, 0, idxBytes, byte(len(dims))}
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
	dims []int
	data []byte
}

func readIDX(r io.Reader, path string, most int64, dims ...int) (out idx, err error) {
	var buf bytes.Buffer
	err = scanIDX(r, path, most, dims, func(dims []int) (io.Writer, error) {
		out.dims = dims
		return &buf, nil
	})
	out.data = buf.Bytes()
	return out, err
}

// unpackIDX reads an IDX file, gzipped or not.
func unpackIDX(b []byte, most int64, dims ...int) (idx, error) {
	r, err := decompress(bytes.NewReader(b))
	if err != nil {
		return idx{}, idxRead("t.idx", err)
	}
	return readIDX(r, "t.idx", most, dims...)
}

func TestIDX(t *testing.T) {
	data := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for _, pack := range []func([]byte) []byte{gzipped, bytes.Clone} {
		got, err := unpackIDX(pack(idxBuild(data, 2, 3, 2)), 100, 3)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.data, data) || len(got.dims) != 3 || got.dims[0] != 2 || got.dims[1] != 3 || got.dims[2] != 2 {
			t.Errorf("got %v", got)
		}
	}
}

func TestIDXErrors(t *testing.T) {
	good := idxBuild([]byte{1, 2, 3, 4}, 4)
	long := gzipped(idxBuild(bytes.Repeat([]byte{1, 2, 3, 5, 8, 13}, 100), 600))
	for _, c := range []struct {
		name string
		file []byte
		dims int
		want string
	}{
		{"empty", nil, 1, "cut short"},
		{"one byte", good[:1], 1, "cut short"},
		{"cut magic", good[:3], 1, "cut short"},
		{"cut header", good[:6], 1, "cut short"},
		{"cut data", good[:10], 1, "cut short, 2 bytes of data where the header says 4"},
		{"too long", append(bytes.Clone(good), 0), 1, "more data than the 4 bytes"},
		{"web page", []byte("<!DOCTYPE html>"), 1, "not an IDX file"},
		{"floats", []byte{0, 0, 0x0d, 1, 0, 0, 0, 0}, 1, "kind 0x0d"},
		{"exchanged", good, 3, "labels (1 dimension), but images (3 dimensions) belong there; are the files exchanged?"},
		{"no rows", idxBuild(nil, 0), 1, "empty"},
		{"huge", idxBuild(nil, 1<<31, 1<<31, 1<<31), 3, "more than 1000 bytes"},
		{"too large", idxBuild(nil, 1001), 1, "more than 1000 bytes"},
		{"cut gzip", long[:len(long)-10], 1, "cut short"},
		{"gzip magic only", []byte{0x1f, 0x8b, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, 1, "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := unpackIDX(c.file, 1000, c.dims)
			checkFormat(t, err, "t.idx", c.want)
		})
	}
	fails := io.MultiReader(bytes.NewReader(good[:6]), brokenReader{})
	if _, err := readIDX(fails, "t.idx", 1000, 1); !errors.Is(err, errBroken) || errors.Is(err, ErrFormat) {
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
	_, err := readIDX(io.MultiReader(bytes.NewReader(idxBuild(nil, 1000)), &zeros), "t.idx", 1<<20, 1)
	checkFormat(t, err, "more data than the 1000 bytes")
	if zeros.n > 1<<16 {
		t.Errorf("%d bytes were read for 1000, want at most %d", zeros.n, 1<<16)
	}
}

var errBroken = errors.New("disk on fire")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func FuzzIDX(f *testing.F) {
	good := idxBuild([]byte{1, 2, 3, 4}, 4)
	f.Add(good, uint8(1))
	f.Add(gzipped(good), uint8(1))
	f.Add(idxBuild(make([]byte, 8), 2, 2, 2), uint8(3))
	f.Add(idxBuild(nil, 1<<31, 1<<31, 4), uint8(3))
	f.Add(good[:7], uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, dims uint8) {
		got, err := unpackIDX(b, 1<<20, int(dims))
		if err != nil {
			checkFormat(t, err, "t.idx")
			return
		}
		size := 1
		for _, d := range got.dims {
			size *= d
		}
		if len(got.dims) != int(dims) || size != len(got.data) || size == 0 && dims > 0 {
			t.Errorf("dimensions %v of %d bytes", got.dims, len(got.data))
		}
	})
}

// However a scan ends, the goroutine that reads ahead ends too: synctest fails if one is left.
func TestScanLeavesNoGoroutine(t *testing.T) {
	rest := make([]byte, 1<<20)
	good := append(idxBuild(nil, 1<<20), rest...)
	for _, c := range []struct {
		name  string
		file  []byte
		begin error
		want  string // part of the error; "": none
	}{
		{"good", good, nil, ""},
		{"no IDX file", append([]byte("<!DOCTYPE html>"), rest...), nil, "not an IDX file"},
		{"refused", good, errBroken, errBroken.Error()},
		{"too long", append(idxBuild(nil, 100), rest...), nil, "more data than the 100 bytes"},
		{"cut gzip", gzipped(good)[:200], nil, "cut short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := scanPacked(bytes.NewReader(c.file), "t.idx", []int{1}, func([]int) (io.Writer, error) { return io.Discard, c.begin })
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
			})
		})
	}
}
