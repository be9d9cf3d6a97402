package data

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
)

// A gzipped CSV file is read as the plain one, also if its reading begins again: as reals, as a table, and
// with scales. A damaged file is an error that names it.
func TestGzippedLoads(t *testing.T) {
	for name, text := range map[string]string{
		"bits":  strings.Repeat("0,1,1\n1,0,1\n", 5000),
		"reals": "a,b\n" + strings.Repeat("0.5,1\n0.25,0\n", 8000) + "-3.5,1\n",
		"table": "a,b\n" + strings.Repeat("x,1\ny,2\n", 9000),
	} {
		load := func(file, content string) *Set {
			s, _, err := Load(context.Background(), writeFile(t, file, content), Options{Real: true})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return s
		}
		if got, want := load("a.csv.gz", string(gzipped([]byte(text)))), load("a.csv", text); got.Hash() != want.Hash() {
			t.Errorf("%s: the gzipped file has other rows", name)
		}
	}
	whole := gzipped([]byte(strings.Repeat("0,1\n1,1\n", 1<<16)))
	whole[len(whole)-6] ^= 1 // checksum
	for want, b := range map[string][]byte{"cut short; fetch it again": whole[:len(whole)-20], "damaged (gzip: invalid checksum); fetch it again": whole} {
		_, _, err := Load(context.Background(), writeFile(t, "a.csv.gz", string(b)), Options{})
		checkFormat(t, err, "a.csv.gz: "+want)
	}
}

// A gzipped file is not kept in memory, which a small file of zeros would fill.
func TestGzippedMemory(t *testing.T) {
	const size = 1 << 28
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.Copy(z, &repeated{text: "0,0,0,0\n", n: size})
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, err := newText(&packed, "a.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, text.in)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; n != size || err != nil || used > 1<<22 {
		t.Errorf("%d bytes read of %d, %v, in %d bytes of memory, want at most %d", n, size, err, used, 1<<22)
	}
}
