package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm/atomicfile"
)

// TestClean checks that control characters are escaped, and nothing else is changed.
func TestClean(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"größer –0.5 日本 ± ⟨v⟩\u00a0x", "größer –0.5 日本 ± ⟨v⟩\u00a0x"},
		{"a\x1b[31mred", `a\u001b[31mred`},
		{"\x00\a\b\r\v\x7f", `\u0000\u0007\u0008\u000d\u000b\u007f`},
		{"\u0085\u009b31m", `\u0085\u009b31m`},
		{"\u202ebackwards", `\u202ebackwards`},
		{"\x9b31m\xff", "\ufffd31m\ufffd"},
		{"\U000e0001tag", "\ufffdtag"},
		{"", ""},
	} {
		if got := string(clean([]byte(c.text))); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

// A fullDisk accepts the given number of bytes, then fails.
type fullDisk struct {
	bytes.Buffer
	room int
}

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.Len()+len(p) > d.room {
		return 0, errFull
	}
	return d.Buffer.Write(p)
}

// TestOutputFails checks that a command whose output cannot be written continues to
// its end and then fails.
func TestOutputFails(t *testing.T) {
	for _, room := range []int{0, 3, 100} {
		done := false
		var stderr bytes.Buffer
		status := Run(context.Background(), "prog", func(_ context.Context, _ []string, stdout, _ io.Writer) error {
			for range 10 {
				if _, err := fmt.Fprint(stdout, "ab"); err != nil {
					return err
				}
			}
			done = true
			return nil
		}, nil, &fullDisk{room: room}, &stderr)
		full := room < 20
		if !done || full != (status == Failed) || full != strings.Contains(stderr.String(), "not all output could be written: no space left") {
			t.Errorf("room for %d bytes: done is %v, status %d, %q", room, done, status, &stderr)
		}
	}
	// An error of the command is reported first; errors of stderr are ignored.
	var stderr bytes.Buffer
	status := Run(context.Background(), "prog", func(_ context.Context, _ []string, stdout, _ io.Writer) error {
		fmt.Fprint(stdout, "ab")
		return Usagef("-k")
	}, nil, &fullDisk{}, &stderr)
	if status != Usage || stderr.String() != "prog: -k\n" {
		t.Errorf("status %d, %q, want %d and %q", status, &stderr, Usage, "prog: -k\n")
	}
	status = Run(context.Background(), "prog", func(_ context.Context, _ []string, _, stderr io.Writer) error {
		fmt.Fprint(stderr, "a warning")
		return nil
	}, nil, io.Discard, &fullDisk{})
	if status != OK {
		t.Errorf("status %d where stderr is full, want %d", status, OK)
	}
}

// TestHostileError checks that an error is one line without control characters.
func TestHostileError(t *testing.T) {
	_, stderr := status(context.Background(), errors.New("file \x1b]0;title\a.csv"))
	if want := "prog: file \\u001b]0;title\\u0007.csv\n"; stderr != want {
		t.Errorf("%q, want %q", stderr, want)
	}
}

// What a command writes is read as it was, whatever the separator: names with commas, words that begin like
// formulas, and control characters.
func TestWriteSeparated(t *testing.T) {
	lines := [][]string{{"a,b", "c;d", "e\tf", "#g"}, {"x,y", `say "no"`, "1", "-2+3"}, {"z", " w ", "0", "@SUM(A1)"}, {"=1", "'w", "0", "\x1b[2Jred"}, {"", "|", "two\nlines", "größer"}}
	for _, separator := range ",;\t|" {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := atomicfile.Write(path, WriteSeparated(lines, separator)); err != nil {
			t.Fatal(err)
		}
		if got, err := data.Lines(t.Context(), path); err != nil || !reflect.DeepEqual(got, lines) {
			t.Errorf("with %q: reads %q, %v, want %q", separator, got, err, lines)
		}
	}
}
