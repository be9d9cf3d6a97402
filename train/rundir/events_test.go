package rundir

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestEvents reads a file of events with an independent reader, record by record, and with TensorBoard's
// reader if Python has it.
func TestEvents(t *testing.T) {
	f := &Folder{Dir: t.TempDir()}
	e, err := f.NewEvents([]string{"step", "seconds", "error", "gap"}, nil, time.Unix(1000, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]float64{{0, 0.5, 0.9, math.NaN()}, {300, 1000.5, 0.25, -1.5}} {
		if err := e.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(f.Path("tensorboard/events.out.tfevents.*"))
	if len(paths) != 1 {
		t.Fatalf("files: %v, want 1 of them", paths)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	check := func(b []byte, sum uint32) {
		c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		if sum-0xa282ead8 != c>>15|c<<17 {
			t.Errorf("record %d has a wrong checksum: got %v, want %v", len(records), sum-0xa282ead8, c>>15|c<<17)
		}
	}
	for len(data) > 0 {
		n := binary.LittleEndian.Uint64(data)
		check(data[:8], binary.LittleEndian.Uint32(data[8:]))
		check(data[12:12+n], binary.LittleEndian.Uint32(data[12+n:]))
		records = append(records, data[12:12+n])
		data = data[16+n:]
	}
	// This follows the definition of Event in TensorFlow's event.proto.
	double := func(v float64) string { return string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))) }
	float := func(v float32) string { return string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))) }
	want := []string{
		"\x09" + double(1000) + "\x1a\x0dbrain.Event:2",
		"\x09" + double(1000.5) + "\x10\x00" + "\x2a\x1e\x0a\x0e\x0a\x07seconds\x15" + float(0.5) + "\x0a\x0c\x0a\x05error\x15" + float(0.9),
		"\x09" + double(2000.5) + "\x10\xac\x02" + "\x2a\x2a\x0a\x0e\x0a\x07seconds\x15" + float(1000.5) + "\x0a\x0c\x0a\x05error\x15" + float(0.25) + "\x0a\x0a\x0a\x03gap\x15" + float(-1.5),
	}
	for i, w := range want {
		if i >= len(records) || string(records[i]) != w {
			t.Fatalf("record %d is %q, want %q", i, records[i], w)
		}
	}
	out, err := exec.Command("python3", "-c", `
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
a = EventAccumulator(sys.argv[1]); a.Reload()
print([(s.step, round(s.value, 6)) for s in a.Scalars("error")], [(s.step, s.value) for s in a.Scalars("gap")])`, paths[0]).Output()
	if err != nil {
		t.Log("TensorBoard's own reader is not on this machine (pip install tensorboard); the bytes alone were checked")
	} else if got := strings.TrimSpace(string(out)); got != "[(0, 0.9), (300, 0.25)] [(300, -1.5)]" {
		t.Errorf("TensorBoard reads %s, want %s", got, "[(0, 0.9), (300, 0.25)] [(300, -1.5)]")
	}
}

// eventsOf returns the wall times and values of the steps in the folder's one file.
func eventsOf(t *testing.T, f *Folder) string {
	t.Helper()
	paths, _ := filepath.Glob(f.Path(EventsDir + "/*"))
	if len(paths) != 1 {
		t.Fatalf("files: %v, want 1 of them", paths)
	}
	var all strings.Builder
	for text := content(t, paths[0]); len(text) > 0; {
		n := binary.LittleEndian.Uint64(text)
		b := text[12 : 12+n]
		text = text[16+n:]
		fmt.Fprint(&all, math.Float64frombits(binary.LittleEndian.Uint64(b[1:])), " ")
		switch {
		case b[9] == 0x1a:
			all.WriteString("version")
		case b[9] == 0x3a:
			fmt.Fprintf(&all, "session %x", b[10:])
		default:
			fmt.Fprint(&all, "step ", b[10], " ", math.Float32frombits(binary.LittleEndian.Uint32(b[len(b)-4:])))
		}
		all.WriteString("\n")
	}
	return all.String()
}

// TestEventsContinue resumes runs that were killed. Rows of the table are written again, each with its
// time, and later ones are removed, whatever the earlier files contain.
func TestEventsContinue(t *testing.T) {
	columns := []string{"step", "seconds", "x"}
	write := func(f *Folder, at int64, rows, later [][]float64) {
		t.Helper()
		e, err := f.NewEvents(columns, rows, time.Unix(at, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range later {
			if err := e.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		e.Close()
	}
	f := folder(t)
	write(f, 1000, nil, [][]float64{{0, 1, 1}, {10, 2, 2}, {20, 3, 3}})
	const first = "1000 version\n1001 step 0 1\n1002 step 10 2\n1003 step 20 3\n"
	if got := eventsOf(t, f); got != first {
		t.Fatalf("the first file: got\n%s, want\n%s", got, first)
	}
	path := func() string { p, _ := filepath.Glob(f.Path(EventsDir + "/*")); return p[len(p)-1] }
	was := path()
	put(t, was, append(content(t, was), "torn"...))
	put(t, f.Path(EventsDir+"/"+eventsPrefix+"00000000000000000001.gorbm"), []byte("older, left by a kill"))
	put(t, f.Path(EventsDir+"/.events.out.tfevents.00000000000000000007.gorbm.10000"), []byte("left by a kill"))
	if err := f.removeTemporary(); err != nil {
		t.Fatal(err)
	}
	write(f, 500, [][]float64{{0, 1, 1}, {10, 2, 2}}, [][]float64{{20, 4, 4}}) // the clock was set back
	want := "500 version\n500 session 020801\n499 step 0 1\n500 step 10 2\n502 step 20 4\n"
	if got := eventsOf(t, f); got != want {
		t.Errorf("the resumed file: got\n%s, want\n%s", got, want)
	}
	if filepath.Base(path()) <= filepath.Base(was) { // TensorBoard would not read it
		t.Errorf("got %s, want a name after %s", path(), was)
	}
}

// Events that could not be written, as on a full disk, are written with the next ones.
func TestAppender(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rows")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	full, err := os.Open(path) // opened for reading only
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table := &Table{appender: appender{file: file, what: "rows"}, cols: 2}
	for i, f := range []*os.File{file, full, full, file} {
		table.file = f
		if err := table.Add([]float64{float64(i), 0.5}); (err != nil) != (f == full) {
			t.Fatalf("row %d: %v", i, err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "0,0.5\n1,0.5\n2,0.5\n3,0.5\n" {
		t.Errorf("the file holds %q, %v, want %q", got, err, "0,0.5\n1,0.5\n2,0.5\n3,0.5\n")
	}
}

// A resumed run writes the values that it reads from the table, with its digits, and the run that was not
// interrupted writes the same ones.
func TestEventsHaveTheDigitsOfTheTable(t *testing.T) {
	e := &Events{columns: []string{"step", "seconds", "x"}}
	differ := 0
	for k := range 100_000 {
		x := 1 / float64(k+3)
		read, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', tableDigits, 64), 64)
		if err != nil {
			t.Fatal(err)
		}
		if float32(read) != float32(x) {
			differ++
		}
		if got, want := e.record([]float64{1, 0, x}), e.record([]float64{1, 0, read}); !bytes.Equal(got, want) {
			t.Fatalf("the event of %v is %x, and that of its text %x", x, got, want)
		}
	}
	if differ == 0 {
		t.Error("no value is rounded to another float32")
	}
}
