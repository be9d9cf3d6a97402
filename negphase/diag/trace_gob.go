package diag

import (
	"bytes"
	"encoding/gob"
)

// traceWire is a Trace as encoding/gob knows it.
type traceWire struct {
	Limit, Stride, Filled       int
	Blocks                      []float64
	Block, First, Sum, SumOfSqs float64
	N                           int64
}

// GobEncode implements gob.GobEncoder: the trace travels with all its bits.
func (t *Trace) GobEncode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(traceWire{t.limit, t.stride, t.filled, t.blocks, t.block, t.first, t.sum, t.sumOfSqs, t.n})
	return b.Bytes(), err
}

// GobDecode implements gob.GobDecoder. It trusts b.
func (t *Trace) GobDecode(b []byte) error {
	var w traceWire
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&w); err != nil {
		return err
	}
	*t = Trace{limit: w.Limit, stride: w.Stride, filled: w.Filled, blocks: w.Blocks, block: w.Block, first: w.First, sum: w.Sum, sumOfSqs: w.SumOfSqs, n: w.N}
	return nil
}
