// Package memory estimates how much memory is available, so that a program can refuse work for
// which there is not enough.
package memory

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Check returns an error if less than need more bytes of memory are available. The error names what
// needs them and both numbers. Check returns nil if the available memory is unknown.
func Check(what string, need float64) error {
	return available().check(what, need)
}

// A limit is the number of bytes that the process can still allocate.
type limit struct {
	bytes float64
	by    string // the reason of the limit, for a message
}

func (l limit) check(what string, need float64) error {
	if need <= l.bytes {
		return nil
	}
	return fmt.Errorf("%s needs some %s of memory, and %s leaves %s", what, Size(need), l.by, Size(l.bytes))
}

// Size formats a number of bytes, such as 12 MB.
func Size(bytes float64) string {
	switch {
	case bytes >= 1e13:
		return fmt.Sprintf("%.3g TB", bytes/1e12)
	case bytes >= 1e9:
		return fmt.Sprintf("%.3g GB", bytes/1e9)
	}
	return fmt.Sprintf("%.0f MB", math.Ceil(max(0, bytes)/1e6))
}

// available returns the smallest of the known limits: those of the machine, of the control groups and
// of the process.
func available() limit {
	least := limit{math.Inf(1), ""}
	for _, l := range append(append(machine("/proc/meminfo"), groups("/proc/self/cgroup", "/sys/fs/cgroup")...), process()...) {
		if l.bytes < least.bytes {
			least = l
		}
	}
	return least
}

// machine returns the available memory of the machine, from /proc/meminfo.
func machine(path string) []limit {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "MemAvailable:" {
			if kib, err := strconv.ParseFloat(f[1], 64); err == nil {
				return []limit{{1024 * kib, "the machine"}}
			}
		}
	}
	return nil
}

// groups returns the limits of the control groups of the process, of version 1 or
// 2, and of their parent groups. Inside a container the root is the group of the container.
func groups(self, root string) (all []limit) {
	text, err := os.ReadFile(self)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		// number:controllers:path
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		top, most, used := root, "memory.max", "memory.current"
		if f[1] == "memory" || strings.Contains(","+f[1]+",", ",memory,") {
			top, most, used = filepath.Join(root, "memory"), "memory.limit_in_bytes", "memory.usage_in_bytes"
		} else if f[1] != "" {
			continue
		}
		for dir := filepath.Clean("/" + f[2]); ; dir = filepath.Dir(dir) {
			at := filepath.Join(top, dir)
			if m, ok := number(filepath.Join(at, most)); ok {
				u, _ := number(filepath.Join(at, used))
				all = append(all, limit{max(0, m-u+reclaimable(at)), "the control group"})
			}
			if dir == "/" {
				break
			}
		}
	}
	return all
}

// reclaimable returns the number of bytes of cached files that count as used in a control group. The
// kernel frees them when memory is short.
func reclaimable(dir string) float64 {
	text, err := os.ReadFile(filepath.Join(dir, "memory.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 2 && (f[0] == "inactive_file" || f[0] == "total_inactive_file") {
			x, _ := strconv.ParseFloat(f[1], 64)
			return x
		}
	}
	return 0
}

// number reads a file that contains one number.
func number(path string) (float64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64) // fails for "max", which is no limit
	return x, err == nil
}
