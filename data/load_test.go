package data

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkError fails unless err is of one line and contains the words.
func checkError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one about %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("error %q has more than one line", err)
	}
}

// checkFormat is checkError for an error that must be ErrFormat.
func checkFormat(t *testing.T, err error, words ...string) {
	t.Helper()
	checkError(t, err, words...)
	if !errors.Is(err, ErrFormat) {
		t.Errorf("error %v is not ErrFormat", err)
	}
}

// checkSpec is checkFormat for an error that must be ErrSpec.
func checkSpec(t *testing.T, err error, words ...string) {
	t.Helper()
	checkFormat(t, err, words...)
	if !errors.Is(err, ErrSpec) {
		t.Errorf("error %v is not ErrSpec", err)
	}
}

func TestBadSpecs(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", "no data set named: use fontdigits, mnist, toy, bars, shifter, desjardins, sequences, stdin, or a .csv, .npz, .npy, FASTA or IDX file"},
		{"mnits", `unknown data set "mnits"; did you mean mnist?`},
		{"fontdigit:100", "did you mean fontdigits?"},
		{"Toy:4,4,25,0.2", "did you mean toy?"},
		{"qqqqqqqqqq", "known are fontdigits, mnist, toy, bars, shifter, desjardins, sequences, stdin, and .csv, .npz, .npy, FASTA and IDX files"},
		{"a\nb", "single line"},
		{"toy:", "spare colon"},
		{"toy:4,4,25", "four numbers"},
		{"toy:4,4,25,0.2,1", "four numbers"},
		{"toy:3,4,25,0.2", "power of two"},
		{"toy:1,4,25,0.2", "power of two"},
		{"toy:0,4,25,0.2", "modes"},
		{"toy:-4,4,25,0.2", "modes"},
		{"toy:x,4,25,0.2", "modes"},
		{"toy:8192,4,25,0.2", "modes"},
		{"toy:4,0,25,0.2", "repeats"},
		{"toy:4,4,0,0.2", "copies"},
		{"toy:4,4,1e3,0.2", "copies"},
		{"toy:4,4,99999999999999999999,0.2", "copies"},
		{"toy:4,4,60000000,0.2", "ask for less"},
		{"toy:4,100000,60000,0.2", "1 GiB"},
		{"toy:4096,1048576,1,0.2", "columns"},
		{"toy:4,4,25,1.5", "flip probability"},
		{"toy:4,4,25,-0.1", "flip probability"},
		{"toy:4,4,25,NaN", "flip probability"},
		{"toy:4,4,25,0.2:plane", "one too many"},
		{"toy:plain:plain", "one too many"},
		{"toy:seed=1:seed=1", "two seeds"},
		{"toy:seed=-1", "seed"},
		{"toy:seed=x", "seed"},
		{"fontdigits:0", "number of rows from 1 to 60000"},
		{"fontdigits:60001", "number of rows from 1 to 60000"},
		{"fontdigits:ten", "number of rows"},
		{"fontdigits:1:2", "too many settings"},
		{"mnist:0", "number of rows from 1 to 60000"},
		{"mnist:seed=3", "leave the seed out"},
		{"bars:0", "the side of a picture"},
		{"bars:21", "from 1 to 20"},
		{"bars:x", "the side of a picture"},
		{"bars:4:5", "one too many"},
		{"bars:distinct:distinct", "one too many"},
		{"bars:4:doubled", "one too many"},
		{"bars:seed=2", "bars is not generated at random; leave the seed out"},
		{"shifter:0", "the length of a pattern"},
		{"shifter:21", "from 1 to 20"},
		{"shifter:8:8", "one too many"},
		{"shifter:seed=2", "leave the seed out"},
		{"desjardins:2", "flip probability"},
		{"desjardins:x", "flip probability"},
		{"desjardins:0.1:10", "multiple of 4"},
		{"desjardins:0.1:0", "multiple of 4"},
		{"desjardins:0.1:99999999999", "multiple of 4"},
		{"desjardins:0.1:8:8", "one too many"},
		{strings.Repeat("x", 5000), "unknown data set"},
	} {
		_, _, err := Load(context.Background(), c.spec, Options{})
		checkFormat(t, err, c.want)
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%.20s…: an error of %d letters", c.spec, len(err.Error()))
		}
	}
	_, _, err := Load(context.Background(), "toy", Options{LabelColumn: "first"})
	checkFormat(t, err, "auto, last or none")
}

func TestShape(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("0,1,0,0,1,1,0,1,0,1,0,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec         string
		high, wide   int
		wantH, wantW int
	}{{path, 0, 0, 3, 4}, {path, 2, 6, 2, 6}, {path, 12, 1, 12, 1}, {"toy:4,8,2,0.1", 2, 8, 2, 8}, {"fontdigits:1", 14, 56, 14, 56}} {
		s, test, err := Load(context.Background(), c.spec, Options{Height: c.high, Width: c.wide})
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Height != c.wantH || s.Width != c.wantW || test != nil && test.Height != c.wantH {
			t.Errorf("%s: %d × %d, want %d × %d", c.spec, s.Height, s.Width, c.wantH, c.wantW)
		}
	}
	for _, c := range []struct {
		high, wide int
		want       string
	}{
		{3, 5, "a row of 12 inputs is not a picture of 3 × 5"},
		{3, 2, "is not a picture of 3 × 2"},
		{5, 2, "sizes whose product is 12"},
		{1 << 62, 4, "is not a picture"},
		{3, 0, "give both sizes"},
		{0, 4, "give both sizes"},
		{-3, -4, "give both sizes"},
	} {
		_, _, err := Load(context.Background(), path, Options{Height: c.high, Width: c.wide})
		checkSpec(t, err, c.want)
	}
	for text, want := range map[string][2]int{"": {0, 0}, "28x28": {28, 28}, "3X4": {3, 4}} {
		h, w, err := ParseShape(text)
		if h != want[0] || w != want[1] || err != nil {
			t.Errorf("ParseShape(%q) = %d, %d, %v, want %d and %d", text, h, w, err, want[0], want[1])
		}
	}
	for _, text := range []string{"x", "28", "28x", "x28", "0x3", "-1x3", "3x4x5", "3 x 4", "99999999999999999999x1"} {
		_, _, err := ParseShape(text)
		checkSpec(t, err, "as in 28x28")
	}
}

func TestBadPaths(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "digits.csv")
	if err := os.WriteFile(good, []byte("0,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "digits.bin")
	if err := os.WriteFile(text, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ spec, want string }{
		{filepath.Join(dir, "digit.csv"), "did you mean " + good},
		{filepath.Join(dir, "absent.npz"), "name a .csv, .npz, .npy, FASTA or IDX file"},
		{filepath.Join(dir, "nowhere", "absent"), "name a .csv, .npz, .npy, FASTA or IDX file"},
	} {
		_, _, err := Load(context.Background(), c.spec, Options{})
		checkError(t, err, c.spec, c.want)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
	}
	_, _, err := Load(context.Background(), text, Options{})
	checkFormat(t, err, text, "must end in .csv, .tsv, .txt, .dat, .data, .amat, .tab, .csv.gz, .tsv.gz, .txt.gz, .npz, .npy, .fasta, .fa, .faa, .fna, .afa, .a2m, .a3m, .sto, .stk, .stockholm, -ubyte, -ubyte.gz, .idx or .idx.gz; convert")
	_, _, err = Load(context.Background(), dir, Options{})
	checkFormat(t, err, "is a folder")
	folder := filepath.Join(dir, "folder.csv")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	_, _, err = Load(context.Background(), folder, Options{})
	checkFormat(t, err, "not a regular file")
}

func TestLoadCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, spec := range []string{"toy", "bars", "shifter", "desjardins", "fontdigits", "x.csv"} {
		if _, _, err := Load(ctx, spec, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", spec, err)
		}
	}
}

// counts is a progress display that counts bytes.
type counts struct{ n int64 }

func (c *counts) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

func TestProgress(t *testing.T) {
	var c counts
	var what, unit string
	var total int64
	_, _, err := Load(context.Background(), "fontdigits:300", Options{Progress: func(w, u string, n int64) io.Writer {
		what, unit, total = w, u, n
		return &c
	}})
	if err != nil {
		t.Fatal(err)
	}
	if total != 300+fontTest || c.n != total || what != "drawing fontdigits:300" || unit != "pictures" {
		t.Errorf("%q: %d of %d pictures told", what, c.n, total)
	}
	// A Progress that returns nil.
	if _, _, err := Load(context.Background(), "fontdigits:1", Options{Progress: func(string, string, int64) io.Writer { return nil }}); err != nil {
		t.Error(err)
	}
}
