package training

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
)

// Later flags override earlier ones, and a switch has no value.
func TestFlags(t *testing.T) {
	want := map[string]string{"data": "mnist", "redraw": "true", "rate": "0.2"}
	if got := Flags("-rate 0.1 -redraw", "-data mnist  -rate 0.2"); !maps.Equal(got, want) {
		t.Errorf("flags %v, want %v", got, want)
	}
}

func TestMeasured(t *testing.T) {
	run := t.TempDir()
	file := filepath.Join(run, "metrics.csv")
	clitest.Write(t, file, "step,x\n0,NaN\n10,-1.5\n")
	if x, err := Measured(run, "x"); err != nil || len(x) != 2 || x[1] != -1.5 {
		t.Errorf("got %v, %v, want -1.5 last", x, err)
	}
	if _, err := Measured(run, "y"); err == nil || !strings.Contains(err.Error(), "no column y") {
		t.Errorf("a column that is not there: %v, want %q in it", err, "no column y")
	}
	clitest.Write(t, file, "step,x\n")
	if _, err := Measured(run, "x"); err == nil || !strings.Contains(err.Error(), "no measurements") {
		t.Errorf("a file without rows: %v, want %q in it", err, "no measurements")
	}
}
