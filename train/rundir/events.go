package rundir

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gorbm/rbm/atomicfile"
)

// EventsDir is the folder of the files for TensorBoard in a run's folder.
const EventsDir = "tensorboard"

// eventsPrefix begins the names of its files. TensorBoard looks for "tfevents" in
// them, and reads them in the order of their names.
const eventsPrefix = "events.out.tfevents."

// Events is a file of scalars that TensorBoard reads.
type Events struct {
	appender
	columns []string // the first is the step, which has no curve
}

// NewEvents makes the file of events of a table with these columns, and writes the rows
// that the table has already. A row that an earlier file has keeps its record, and so the
// time at which it was measured. The earlier files are then removed: what a killed run had
// written beyond its checkpoint would stand beside what the resumed run measures.
func (f *Folder) NewEvents(columns []string, rows [][]float64, now time.Time) (*Events, error) {
	if err := os.MkdirAll(f.Path(EventsDir), 0o777); err != nil {
		return nil, fmt.Errorf("cannot write the events: %w", err)
	}
	earlier, records, err := f.readEvents()
	if err != nil {
		return nil, fmt.Errorf("cannot go on with the events: %w", err)
	}
	stamp := now.UnixNano()
	for _, name := range earlier { // the clock may have been set back
		var was int64
		if _, err := fmt.Sscanf(filepath.Base(name), eventsPrefix+"%d", &was); err == nil {
			stamp = max(stamp, was+1)
		}
	}
	e := &Events{appender: appender{what: "events"}, columns: columns}
	e.put(appendBytes(appendDouble(nil, 1, seconds(now)), 3, []byte("brain.Event:2"))) // Event.file_version
	if len(earlier) > 0 {
		e.put(appendBytes(appendDouble(nil, 1, seconds(now)), 7, sessionStart)) // a TensorBoard that runs forgets what it has read
	}
	for _, row := range rows {
		record, ok := records[uint64(row[0])]
		if !ok {
			record = e.record(row, now)
		}
		e.put(record)
	}
	name := filepath.Join(EventsDir, fmt.Sprintf("%s%020d.gorbm", eventsPrefix, stamp))
	if err := atomicfile.Write(f.Path(name), func(w io.Writer) error { _, err := w.Write(e.pending.Bytes()); return err }); err != nil {
		return nil, err
	}
	e.size = int64(e.pending.Len())
	e.pending.Reset()
	for _, name := range earlier {
		_ = os.Remove(f.Path(name)) // where a reader holds one it stays; readers leave out what is before the session's start
	}
	if e.file, err = f.openFile(name, os.O_WRONLY); err != nil {
		return nil, fmt.Errorf("cannot write the events: %w", err)
	}
	return e, nil
}

// sessionStart is a SessionLog whose status is START.
var sessionStart = []byte{1 << 3, 1}

// readEvents returns the names of the files of events within the folder, in order, and their
// records of summaries by step. The last one of a step counts. What follows a record that
// is damaged, as the last of a killed run may be, is left out.
func (f *Folder) readEvents() (names []string, records map[uint64][]byte, err error) {
	entries, err := os.ReadDir(f.Path(EventsDir))
	if err != nil {
		return nil, nil, err
	}
	records = map[uint64][]byte{}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), eventsPrefix) {
			continue
		}
		name := filepath.Join(EventsDir, entry.Name())
		text, err := f.Read(name, maxTable)
		if err != nil {
			return nil, nil, err
		}
		names = append(names, name)
		for {
			var record []byte
			if record, text = nextRecord(text); record == nil {
				break
			}
			switch step, kind := parseEvent(record); kind {
			case sessionEvent: // this file holds what those before it held
				clear(records)
			case summaryEvent:
				records[step] = record
			}
		}
	}
	return names, records, nil
}

// nextRecord returns the first record of a file and what follows it; nil if it is not whole.
func nextRecord(text []byte) (record, rest []byte) {
	const head, sum = 12, 4
	if len(text) < head+sum || binary.LittleEndian.Uint32(text[8:]) != maskedCRC(text[:8]) {
		return nil, nil
	}
	n := binary.LittleEndian.Uint64(text)
	if n > uint64(len(text)-head-sum) {
		return nil, nil
	}
	record, rest = text[head:head+n], text[head+n:]
	if binary.LittleEndian.Uint32(rest) != maskedCRC(record) {
		return nil, nil
	}
	return record, rest[sum:]
}

// What parseEvent tells apart.
const (
	otherEvent = iota
	summaryEvent
	sessionEvent // the start of a session
)

// parseEvent returns the step of an Event and its kind.
func parseEvent(b []byte) (step uint64, kind int) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, otherEvent
		}
		b = b[n:]
		size := 0
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return 0, otherEvent
			}
			if tag>>3 == 2 {
				step = v
			}
			size = n
		case 1:
			size = 8
		case 2:
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				return 0, otherEvent
			}
			size = n + int(length)
			switch {
			case tag>>3 == 5:
				kind = summaryEvent
			case tag>>3 == 7 && bytes.Equal(b[n:size], sessionStart):
				kind = sessionEvent
			}
		case 5:
			size = 4
		default:
			return 0, otherEvent
		}
		if size > len(b) {
			return 0, otherEvent
		}
		b = b[size:]
	}
	return step, kind
}

// Add writes a row of the table. Values that are not finite are left out.
func (e *Events) Add(values []float64, now time.Time) error {
	e.put(e.record(values, now))
	return e.flush()
}

// record returns the Event of a row.
func (e *Events) record(values []float64, now time.Time) []byte {
	var summary []byte
	for c, v := range values[1:] {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		value := appendBytes(nil, 1, []byte(e.columns[c+1])) // Summary.Value.tag
		value = append(value, 2<<3|5)                        // .simple_value, 32 bits
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(float32(v)))
		summary = appendBytes(summary, 1, value) // Summary.value
	}
	event := appendDouble(nil, 1, seconds(now)) // Event.wall_time
	event = append(event, 2<<3)                 // Event.step
	event = binary.AppendUvarint(event, uint64(values[0]))
	return appendBytes(event, 5, summary) // Event.summary
}

// put appends a record to what is to be written: its length, the bytes, and the masked
// CRC-32C of each (TFRecord).
func (e *Events) put(data []byte) {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	e.pending.Write(binary.LittleEndian.AppendUint32(length, maskedCRC(length)))
	e.pending.Write(data)
	e.pending.Write(binary.LittleEndian.AppendUint32(nil, maskedCRC(data)))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskedCRC is the checksum of TFRecord: rotated, and with a constant added, so that
// the checksum of data that hold checksums is no special one.
func maskedCRC(data []byte) uint32 {
	c := crc32.Checksum(data, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// appendDouble appends a field of 64 bits in the encoding of protocol buffers.
func appendDouble(b []byte, field int, v float64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, byte(field<<3|1)), math.Float64bits(v))
}

// appendBytes appends a field of bytes.
func appendBytes(b []byte, field int, v []byte) []byte {
	return append(binary.AppendUvarint(append(b, byte(field<<3|2)), uint64(len(v))), v...)
}
