package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/rbm/npz"
)

// TestPipe checks that rows from a pipe are those of the file, in each format, also if they must be read
// twice. It also checks the errors.
func TestPipe(t *testing.T) {
	var archive bytes.Buffer
	if err := npz.Write(&archive, []npz.Named{{Name: "x", Shape: []int{2, 3}, Data: []uint8{0, 1, 1, 1, 0, 0}}, {Name: "y", Data: []int32{4, 7}}}); err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf("%-117s\n", "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }")
	array := "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), 0}) + head + "\x00\x01\x01\x01\x00\x00"
	dir := t.TempDir()
	for name, text := range map[string]string{"plain.csv": "a,b,label\n0,1,x\n1,1,y\n", "spins.csv": "-1,1\n1,1\n", "table.csv": "a,b\nred,1\nblue ,2\n blue,N/A\n", "a.npz": archive.String(), "a.npy": array} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		want, _, err := Load(context.Background(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range []string{"-", Stdin, "/dev/stdin"} {
			got, _, err := Load(context.Background(), spec, Options{Stdin: strings.NewReader(text)})
			if err != nil || got.Name != Stdin || got.Hash() != want.Hash() || got.Spins != want.Spins {
				t.Errorf("%s by %s: %v, %v", name, spec, got, err)
			}
		}
	}
	named, _, err := Load(context.Background(), "/dev/stdin", Options{Stdin: strings.NewReader("a,kind\n0,x\n1,y\n"), LabelColumn: "kind"})
	if err != nil || len(named.Classes) != 2 || named.X.Cols != 1 {
		t.Errorf("a column of labels by its name: %v", err)
	}
	if Absolute(Stdin) != Stdin {
		t.Error("a pipe has a path")
	}
	for text, want := range map[string]string{"": "nothing came", "\x00\x00\x08\x03": "by their names", "\x1f\x8b\x08": "cut short", "0,1\n0,zwei\n": "stdin", ">a\nMK\n": "by a file's name", "# STOCKHOLM 1.0\n": "by a file's name"} {
		if _, _, err := Load(context.Background(), "-", Options{Stdin: strings.NewReader(text)}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, _, err := Load(context.Background(), "-", Options{}); err == nil || !strings.Contains(err.Error(), "no pipe") {
		t.Errorf("without a pipe: %v, want %q in it", err, "no pipe")
	}
	if _, _, err := Load(context.Background(), "stdin:3", Options{Stdin: strings.NewReader("0,1\n")}); !errors.Is(err, ErrSpec) {
		t.Errorf("with settings: %v, want %v", err, ErrSpec)
	}
	broken := errors.New("broken")
	if _, _, err := Load(context.Background(), "-", Options{Stdin: io.MultiReader(strings.NewReader("0,1\n"), errorReader{broken})}); !errors.Is(err, broken) {
		t.Errorf("of a broken pipe: %v, want %v", err, broken)
	}
}

type errorReader struct{ error }

func (e errorReader) Read([]byte) (int, error) { return 0, e.error }
