package negphase

import (
	"encoding/binary"
	"fmt"
	"math"

	"gorbm/rbm"
)

// Purposes of the keys derived from the key of a call.
const (
	startKey = iota
	roundKeys
)

// Purposes within a round.
const (
	stepKey = iota
	swapKey
)

// chains are persistent Markov chains: what pcd, pt and ins go on with.
type chains struct {
	kind   string
	rows   int
	start  Start
	states *rbm.States // nil before the first call
	saved  rbm.Bits    // hidden states restored from a checkpoint, until the first call
}

// begin makes the chains ready to be advanced under m.
func (c *chains) begin(m *rbm.RBM, pos rbm.Batch, key rbm.Key) error {
	if err := Keeps(c.kind, m.Constraint); err != nil {
		return err
	}
	if c.states != nil {
		return checkShape(c.states, m)
	}
	states := rbm.NewStates(m, c.rows)
	if c.saved.Rows > 0 {
		if c.saved.Cols != m.Hidden() {
			return fmt.Errorf("%w: the saved chains have %d hidden units, the model has %d", rbm.ErrFormat, c.saved.Cols, m.Hidden())
		}
		if err := meets(m, c.saved); err != nil {
			return err
		}
		states.H.CopyFrom(c.saved)
		c.saved = rbm.Bits{}
	} else if err := drawStart(m, states, c.start, pos, key); err != nil {
		return err
	}
	c.states = states
	return nil
}

// drawStart draws the hidden states of s that chains start at.
func drawStart(m *rbm.RBM, s *rbm.States, start Start, pos rbm.Batch, key rbm.Key) error {
	if start == Uniform {
		m.RandomizeHidden(s.H, key)
		return nil
	}
	if pos.Rows() == 0 {
		return fmt.Errorf("chains that start at the data need at least one row")
	}
	m.HiddenSample(s.H, pos, key)
	return nil
}

// checkShape returns an error if the chains are not of m's layers.
func checkShape(s *rbm.States, m *rbm.RBM) error {
	if s.H.Cols != m.Hidden() || s.V.Cols != m.Visible() {
		return fmt.Errorf("the chains have %d visible and %d hidden units, the model has %d and %d",
			s.V.Cols, s.H.Cols, m.Visible(), m.Hidden())
	}
	return nil
}

// finite returns an error if an energy is not.
func finite(s *rbm.States) error {
	for r, e := range s.Energy {
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return fmt.Errorf("%w: the energy of chain %d is %v", rbm.ErrDiverged, r, e)
		}
	}
	return nil
}

// chainsVersion is the version of the binary form of chains.
const chainsVersion = 1

// appendBinary appends version, rows and columns as uint32 and the words of
// the hidden states; chains that have not begun have no rows.
func (c *chains) appendBinary(b []byte) []byte {
	h := c.saved
	if c.states != nil {
		h = c.states.H
	}
	for _, n := range []int{chainsVersion, h.Rows, h.Cols} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for _, w := range h.Words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// readChains reads what appendBinary wrote of so many rows, for restore, and
// returns what follows.
func readChains(b []byte, want int) (h rbm.Bits, rest []byte, err error) {
	bad := func(format string, args ...any) (rbm.Bits, []byte, error) {
		return rbm.Bits{}, nil, fmt.Errorf("%w: %s", rbm.ErrFormat, fmt.Sprintf(format, args...))
	}
	if len(b) < 12 {
		return bad("the saved chains are cut short")
	}
	version, rows, cols := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	b = b[12:]
	switch {
	case version != chainsVersion:
		return bad("saved chains of version %d; this program reads version %d", version, chainsVersion)
	case rows == 0:
		return rbm.Bits{}, b, nil
	case int(rows) != want:
		return bad("%d saved chains; the settings ask for %d", rows, want)
	case uint64(rows)*((uint64(cols)+63)/64)*8 > uint64(len(b)):
		return bad("the saved chains are cut short")
	}
	h = rbm.NewBits(int(rows), int(cols))
	for i := range h.Words {
		h.Words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	for r := range h.Rows {
		if h.Cols%64 != 0 && h.Row(r)[h.Stride-1]>>(h.Cols%64) != 0 {
			return bad("saved chain %d has bits beyond its last unit", r)
		}
	}
	return h, b[8*len(h.Words):], nil
}

// restore makes the next call begin at hidden states h; with no rows, anew.
func (c *chains) restore(h rbm.Bits) {
	c.states, c.saved = nil, h
}
