package data

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// repeated is a Reader of a text again and again, without end, or of n bytes if n is positive.
type repeated struct {
	text string
	n    int
	read int
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.n > 0 && r.read == r.n {
		return 0, io.EOF
	}
	n := len(b)
	if r.n > 0 {
		n = min(n, r.n-r.read)
	}
	for i := range b[:n] {
		b[i] = r.text[(r.read+i)%len(r.text)]
	}
	r.read += n
	return n, nil
}

// TestRowWithoutEnd checks that a row without end is refused while it is read, after 2²⁰ columns or 32 MiB,
// from an endless pipe and from a file.
func TestRowWithoutEnd(t *testing.T) {
	for _, c := range []struct {
		name, start, text string
		most              int // largest number of bytes to be read
		want              string
	}{
		{"columns", "", "0,", 2*maxCols + 1<<17, "line 1: a row of more than the 1048576 columns"},
		{"columns later", "0,1\n0,1\n", "0,", 2*maxCols + 1<<17, "line 3: a row of more than the 1048576 columns"},
		{"zeros", "", "\x00", maxRow + 1<<17, "line 1: a row that does not end within 32 MiB"},
		{"a quote", "0,1\n0,\"", "1\n", maxRow + 1<<17, "line 2: a quote that does not end within 32 MiB"},
	} {
		stream := &repeated{text: c.text}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Load(context.Background(), "-", Options{Stdin: io.MultiReader(strings.NewReader(c.start), stream)})
		runtime.ReadMemStats(&after)
		checkFormat(t, err, "stdin: "+c.want)
		if stream.read > c.most {
			t.Errorf("%s: %d bytes are read, want %d at most", c.name, stream.read, c.most)
		}
		// The parser's slices have 48 bytes for each column and double as they grow.
		if used := after.TotalAlloc - before.TotalAlloc; used > 512<<20 {
			t.Errorf("%s: %d bytes are allocated for %d that are read, want at most %d", c.name, used, stream.read, 512<<20)
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		f, err := os.Create(path)
		if err == nil {
			_, err = io.Copy(f, io.MultiReader(strings.NewReader(c.start), &repeated{text: c.text, n: 40 << 20}))
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		runtime.ReadMemStats(&before)
		_, _, err = Load(context.Background(), path, Options{})
		runtime.ReadMemStats(&after)
		checkFormat(t, err, path+": "+c.want)
		if used := after.TotalAlloc - before.TotalAlloc; used > 512<<20 {
			t.Errorf("%s: %d bytes are allocated for a file of %d, want at most %d", c.name, used, 40<<20, 512<<20)
		}
	}
}

// TestRowLimit checks that rows up to the limits are read unchanged, whatever the pieces in which they
// arrive. Rows end where the number of quotes is even, and the counts start again for each row.
func TestRowLimit(t *testing.T) {
	wide := strings.Repeat("0,", maxCols-1) + "1\n"
	text := wide + "\"a\nb\",\"\"\"\"\n" + wide
	got, err := io.ReadAll(LimitRows(strings.NewReader(text)))
	if err != nil || string(got) != text {
		t.Fatalf("%d bytes of %d, %v", len(got), len(text), err)
	}
	for _, piece := range []int{1, 7, 4096} {
		l := &rowLimit{comma: ','}
		for i, b := range [][]byte{[]byte("a,\"b\n"), []byte("c\"\nd,e\n")} {
			for part := range bytesOf(b, piece) {
				if err := l.add(part); err != nil {
					t.Fatal(err)
				}
			}
			if want := []int{0, 3}[i]; l.line != want {
				t.Errorf("in pieces of %d: line %d begins a row, want %d", piece, l.line, want)
			}
		}
	}
	_, err = io.ReadAll(LimitRows(strings.NewReader("0," + wide)))
	checkFormat(t, err, "1048576 columns")
	_, err = io.ReadAll(LimitRows(io.MultiReader(strings.NewReader("1\n"), &repeated{text: "1", n: maxRow + 1})))
	checkFormat(t, err, "line 2", "32 MiB")
	if _, err = io.ReadAll(LimitRows(&repeated{text: "1", n: maxRow})); err != nil {
		t.Error(err)
	}
}

// bytesOf returns b in pieces of a given size.
func bytesOf(b []byte, size int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := min(size, len(b))
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// TestReadingEnds checks that reading a pipe or any kind of file ends with the context, also if nothing
// comes through the pipe.
func TestReadingEnds(t *testing.T) {
	quiet, w := io.Pipe()
	defer w.Close()
	for name, stdin := range map[string]io.Reader{
		"a quiet pipe": quiet,
		"rows":         &repeated{text: "0,1\n"},
		"an archive":   io.MultiReader(strings.NewReader(zipMagic), &repeated{text: "x"}),
	} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(50*time.Millisecond, cancel)
		_, _, err := Load(ctx, "-", Options{Stdin: stdin})
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}

	x := make([]byte, 1<<20)
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{
		"t.csv": bytes.Repeat([]byte("0,1,1,0\n"), 1<<17), "t.npy": npyBytes("|u1", "1024, 1024", x),
		"t.npz": zipped(0, "x", npyBytes("|u1", "1024, 1024", x)), "t.idx": idxBuild(x, 1024, 1024),
	})
	for _, name := range []string{"t.csv", "t.npy", "t.npz", "t.idx"} {
		ctx := &endsAfter{Context: context.Background(), calls: 6}
		_, _, err := Load(ctx, filepath.Join(dir, name), Options{})
		if err != context.Canceled {
			t.Errorf("%s: %v, want %v", name, err, context.Canceled)
		}
	}
}

// endsAfter is a context that ends after a number of calls of Err.
type endsAfter struct {
	context.Context
	calls int
}

func (c *endsAfter) Err() error {
	if c.calls--; c.calls < 0 {
		return context.Canceled
	}
	return nil
}
