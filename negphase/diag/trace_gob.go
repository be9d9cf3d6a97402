package diag

import (
	"bytes"
	"encoding/gob"
)

// traceWire is the form in which encoding/gob writes a Trace.
type traceWire struct {
	Limit, Stride, Filled int
	Blocks                []float64
	Sums                  []float64 // block, first, sum and sumOfSqs: gob loses the sign of a field that is −0
	N                     int64
}

// GobEncode implements gob.GobEncoder. It preserves all values exactly.
func (t *Trace) GobEncode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(traceWire{t.limit, t.stride, t.filled, t.blocks, []float64{t.block, t.first, t.sum, t.sumOfSqs}, t.n})
	return b.Bytes(), err
}

// GobDecode implements gob.GobDecoder. It does not check the ranges of the values.
func (t *Trace) GobDecode(b []byte) error {
	var w traceWire
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&w); err != nil {
		return err
	}
	*t = Trace{limit: w.Limit, stride: w.Stride, filled: w.Filled, blocks: w.Blocks, block: w.Sums[0], first: w.Sums[1], sum: w.Sums[2], sumOfSqs: w.Sums[3], n: w.N}
	return nil
}
