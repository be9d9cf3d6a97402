package cli

import (
	"errors"
	"io"
	"runtime"
	"testing"
)

// -workers lowers GOMAXPROCS, never raises it, and is taken back.
func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct {
		args []string
		want int
	}{{nil, 4}, {[]string{"-workers", "0"}, 4}, {[]string{"-workers", "1"}, 1}, {[]string{"-workers=3"}, 3}, {[]string{"-workers", "9"}, 4}} {
		f := NewFlags("x", "", "")
		n := AddWorkersFlag(f)
		if err := f.Parse(c.args, io.Discard); err != nil {
			t.Fatal(err)
		}
		restore, err := UseWorkers(*n)
		if err != nil {
			t.Fatal(err)
		}
		if got := runtime.GOMAXPROCS(0); got != c.want {
			t.Errorf("%v uses %d processors, want %d", c.args, got, c.want)
		}
		restore()
		if got := runtime.GOMAXPROCS(0); got != 4 {
			t.Fatalf("%v leaves %d processors, want 4", c.args, got)
		}
	}
	var usage usageError
	if _, err := UseWorkers(-1); !errors.As(err, &usage) {
		t.Errorf("-workers -1 gives %v, want a usage error", err)
	}
}
