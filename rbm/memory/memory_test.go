package memory

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	l := limit{2.5e9, "the machine"}
	if err := l.check("it", 2.5e9); err != nil {
		t.Error(err)
	}
	want := "it needs some 3.2 GB of memory, and the machine leaves 2.5 GB"
	if err := l.check("it", 3.2e9); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := (limit{math.Inf(1), ""}).check("it", 1e30); err != nil {
		t.Error(err)
	}
	if err := Check("a little", 1e3); err != nil {
		t.Error(err)
	}
	if err := Check("all", 1e19); runtime.GOOS == "linux" && err == nil {
		t.Error("there is room for 10 exabytes")
	}
}

func TestMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meminfo")
	put(t, path, "MemTotal:       24609800 kB\nMemFree:        100 kB\nMemAvailable:   2000 kB\n")
	if l := machine(path); len(l) != 1 || l[0].bytes != 2000*1024 {
		t.Errorf("%v", l)
	}
	if l := machine(path + "x"); l != nil {
		t.Errorf("%v", l)
	}
}

// TestGroups checks control groups of both versions, their parents, and none.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name, self string
		files      map[string]string
		want       []float64
	}{
		{"version 2", "0::/user/job\n", map[string]string{
			"user/job/memory.max": "max\n", "user/job/memory.current": "7\n",
			"user/memory.max": "1000\n", "user/memory.current": "300\n", "user/memory.stat": "anon 5\ninactive_file 50\n",
			"memory.max": "5000\n", "memory.current": "400\n",
		}, []float64{750, 4600}},
		{"version 1", "9:cpu:/x\n8:memory:/job\n", map[string]string{
			"memory/job/memory.limit_in_bytes": "900\n", "memory/job/memory.usage_in_bytes": "1000\n", "memory/job/memory.stat": "total_inactive_file 0\n",
		}, []float64{0}},
		{"none", "0::/\n", nil, nil},
	} {
		root := t.TempDir()
		put(t, filepath.Join(root, "self"), c.self)
		for name, text := range c.files {
			put(t, filepath.Join(root, name), text)
		}
		got := groups(filepath.Join(root, "self"), root)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
			continue
		}
		for i, l := range got {
			if l.bytes != c.want[i] || !strings.Contains(l.by, "control group") {
				t.Errorf("%s: %v, want %v", c.name, l, c.want[i])
			}
		}
	}
}
