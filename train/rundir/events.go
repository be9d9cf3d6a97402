package rundir

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"gorbm/rbm/finitejson"
)

// EventsDir is the folder of the files for TensorBoard in a run's folder.
const EventsDir = "tensorboard"

// eventsPrefix begins the names of its files. TensorBoard looks for "tfevents" in
// them, and reads them in the order of their names.
const eventsPrefix = "events.out.tfevents."

// Events is a file of scalars that TensorBoard reads. A run that goes on begins a new
// file, as TensorBoard joins all files of a folder.
type Events struct {
	appender
	columns []string // the first is the step, which has no curve
}

// NewEvents makes a file of events for a table with these columns.
func (f *Folder) NewEvents(columns []string, now time.Time) (*Events, error) {
	dir := f.Path(EventsDir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("cannot write the events: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s%020d.gorbm", eventsPrefix, now.UnixNano())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("cannot write the events: %w", err)
	}
	e := &Events{appender: appender{file: file, what: "events"}, columns: columns}
	version := appendBytes(appendDouble(nil, 1, seconds(now)), 3, []byte("brain.Event:2"))
	return e, e.write(version)
}

// Add writes a row of the table. Values that are not finite are left out.
func (e *Events) Add(values []float64, now time.Time) error {
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
	return e.write(appendBytes(event, 5, summary)) // Event.summary
}

// write writes a record: its length, the bytes, and the masked CRC-32C of each
// (TFRecord).
func (e *Events) write(data []byte) error {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	e.pending.Write(binary.LittleEndian.AppendUint32(length, maskedCRC(length)))
	e.pending.Write(binary.LittleEndian.AppendUint32(data, maskedCRC(data)))
	return e.flush()
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

// LinesFile is the table of metrics as lines of JSON.
const LinesFile = "metrics.jsonl"

// Lines is a growing file of JSON, an object a line for each row of a table. Values
// that are not finite are null.
type Lines struct {
	appender
	columns []string
}

// NewLines makes the file of a table with these columns, and writes the rows that the
// table has already.
func (f *Folder) NewLines(columns []string, rows [][]float64) (*Lines, error) {
	file, err := f.openFile(LinesFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, fmt.Errorf("cannot write the metrics: %w", err)
	}
	l := &Lines{appender: appender{file: file, what: metricsText}, columns: columns}
	for _, row := range rows {
		if err := l.Add(row); err != nil {
			file.Close()
			return nil, err
		}
	}
	return l, nil
}

// Add writes a row.
func (l *Lines) Add(values []float64) error {
	line := append(l.pending.AvailableBuffer(), '{')
	for c, v := range values {
		name, err := finitejson.Marshal(l.columns[c])
		if err != nil {
			return err
		}
		value := []byte("null")
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			value = strconv.AppendFloat(nil, v, 'g', 10, 64)
		}
		line = append(append(append(append(line, name...), ':'), value...), ',')
	}
	l.pending.Write(append(line[:len(line)-1], "}\n"...))
	return l.flush()
}
