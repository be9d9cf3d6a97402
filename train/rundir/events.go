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

	"gorbm/rbm/atomicfile"
)

// EventsDir is the subfolder of a run's folder with the files for TensorBoard.
const EventsDir = "tensorboard"

// eventsPrefix begins the name of each file of events. TensorBoard looks for "tfevents" in the names, and
// reads files in the order of their names.
const eventsPrefix = "events.out.tfevents."

// Events is a file of scalars for TensorBoard: the rows of a table whose first two columns are the step and
// the seconds of training.
type Events struct {
	appender
	columns []string
	origin  float64 // Unix time at which the table's seconds are 0
}

// NewEvents makes the file of events of a table with the given columns, and writes the rows that the table
// already has. In TensorBoard the last of these rows has the time now, and the others are as far apart as
// in the table. Files of an earlier process of the run are removed, because they may have rows that the
// resumed run measures again.
func (f *Folder) NewEvents(columns []string, rows [][]float64, now time.Time) (*Events, error) {
	if err := os.MkdirAll(f.Path(EventsDir), 0o777); err != nil {
		return nil, fmt.Errorf("cannot write the events: %w", err)
	}
	earlier, _ := filepath.Glob(f.Path(filepath.Join(EventsDir, eventsPrefix+"*"))) // the pattern is well formed
	stamp := now.UnixNano()
	for _, path := range earlier { // the clock may have been set back
		var was int64
		if _, err := fmt.Sscanf(filepath.Base(path), eventsPrefix+"%d", &was); err == nil {
			stamp = max(stamp, was+1)
		}
	}
	e := &Events{appender: appender{what: "events"}, columns: columns, origin: seconds(now)}
	e.put(appendBytes(appendDouble(nil, 1, seconds(now)), 3, []byte("brain.Event:2"))) // Event.file_version
	if len(earlier) > 0 {
		sessionStart := []byte{1 << 3, 1}                                       // a SessionLog whose status is START
		e.put(appendBytes(appendDouble(nil, 1, seconds(now)), 7, sessionStart)) // a TensorBoard that is open drops what it has read
	}
	if len(rows) > 0 {
		e.origin -= rows[len(rows)-1][1]
	}
	for _, row := range rows {
		e.put(e.record(row))
	}
	name := filepath.Join(EventsDir, fmt.Sprintf("%s%020d.gorbm", eventsPrefix, stamp))
	if err := atomicfile.WriteBytes(f.Path(name), e.pending.Bytes()); err != nil {
		return nil, err
	}
	e.size = int64(e.pending.Len())
	e.pending.Reset()
	for _, path := range earlier {
		_ = os.Remove(path) // it stays if a reader has it open; readers skip what is before the session's start
	}
	var err error
	if e.file, err = f.openFile(name, os.O_WRONLY); err != nil {
		return nil, fmt.Errorf("cannot write the events: %w", err)
	}
	return e, nil
}

// Add writes a row of the table. Values that are not finite are left out.
func (e *Events) Add(values []float64) error {
	e.put(e.record(values))
	return e.flush()
}

// record returns the Event of a row, in the encoding of protocol buffers.
func (e *Events) record(values []float64) []byte {
	var summary []byte
	for c, v := range values[1:] {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', tableDigits, 64), 64) // as a resumed run reads it from the table
		value := appendBytes(nil, 1, []byte(e.columns[c+1]))                        // Summary.Value.tag
		value = append(value, 2<<3|5)                                               // .simple_value, 32 bits
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(float32(v)))
		summary = appendBytes(summary, 1, value) // Summary.value
	}
	event := appendDouble(nil, 1, e.origin+values[1]) // Event.wall_time
	event = append(event, 2<<3)                       // Event.step
	event = binary.AppendUvarint(event, uint64(values[0]))
	return appendBytes(event, 5, summary) // Event.summary
}

// put appends a TFRecord to the pending bytes: the length, the data, and the masked CRC-32C of each.
func (e *Events) put(data []byte) {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	e.pending.Write(binary.LittleEndian.AppendUint32(length, maskedCRC(length)))
	e.pending.Write(data)
	e.pending.Write(binary.LittleEndian.AppendUint32(nil, maskedCRC(data)))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskedCRC returns the checksum of TFRecord: a CRC-32C that is rotated and has a constant added, because
// the plain CRC of data that include their CRC would be a constant.
func maskedCRC(data []byte) uint32 {
	c := crc32.Checksum(data, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// appendDouble appends a 64-bit field in the encoding of protocol buffers.
func appendDouble(b []byte, field int, v float64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, byte(field<<3|1)), math.Float64bits(v))
}

// appendBytes appends a field of bytes in the encoding of protocol buffers.
func appendBytes(b []byte, field int, v []byte) []byte {
	return append(binary.AppendUvarint(append(b, byte(field<<3|2)), uint64(len(v))), v...)
}
