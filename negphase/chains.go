package negphase

import (
	"encoding/binary"
	"errors"
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
	moveKey
)

// Where chains start.
const (
	Uniform = "uniform" // hidden states uniformly at random
	Data    = "data"    // hidden states drawn given rows of the first batch
)

const (
	// MaxChains is the largest number of chains.
	MaxChains = 1_000_000
	// MaxSites is the largest number of units in all chains and replicas that
	// samplers of binary systems should move: they keep flip costs and weights,
	// some 50 bytes a unit, 3 GiB.
	MaxSites = 1 << 26

	maxSteps = 1_000_000 // Gibbs steps an update: more is surely a slip
)

// chainSettings are the settings of estimators that have chains of their own.
type chainSettings struct {
	chains int // or groups of replicas
	start  string
}

// keys returns the table of the settings; what says what the chains are.
func (s *chainSettings) keys(what string) []key {
	return []key{
		countKey("chains", &s.chains, 10, 1, MaxChains, what),
		wordKey("start", &s.start, Uniform, "where chains start: uniform or data", Uniform, Data),
	}
}

// chains are Markov chains that persist from call to call.
type chains struct {
	settings Settings
	rows     int
	start    string
	joint    bool        // visible states persist too; Gibbs steps alone draw them from the hidden ones
	states   *rbm.States // nil before the first call
	saved    savedChains // restored from a checkpoint, until the first call
}

// savedChains are the states that persist: the hidden ones, and in joint chains
// also the visible ones. They have no rows if the chains have not begun.
type savedChains struct{ h, v rbm.Bits }

// begin makes the chains ready to be advanced under m.
func (c *chains) begin(m *rbm.RBM, pos rbm.Batch, key rbm.Key) error {
	if err := c.settings.Keeps(m.Constraint); err != nil {
		return err
	}
	if c.states != nil {
		return checkShape(c.states, m)
	}
	states := rbm.NewStates(m, c.rows)
	if c.saved.h.Rows > 0 {
		if err := c.saved.check(m, c.joint); err != nil {
			return err
		}
		states.H.CopyFrom(c.saved.h)
		if c.joint {
			states.V.CopyFrom(c.saved.v)
		}
		c.saved = savedChains{}
	} else {
		if err := drawStart(m, states, c.start, pos, key); err != nil {
			return err
		}
		if c.joint {
			drawVisible(m, states, c.start, pos, key.Child(visibleKey))
		}
	}
	c.states = states
	return nil
}

// visibleKey is the purpose of the key of visible states at the start.
const visibleKey = 0

// drawVisible draws the visible states of s that joint chains start at:
// uniformly, or rows of the batch, grey values being probabilities.
func drawVisible(m *rbm.RBM, s *rbm.States, start string, pos rbm.Batch, key rbm.Key) {
	switch {
	case start == Uniform && m.Constraint != nil && m.Constraint.On == rbm.AllUnits:
		drawShell(m, s, key)
	case start == Uniform:
		s.V.Randomize(key)
		for r := range s.V.Rows {
			for k, y := 0, int(key.Uniform(uint64(r))*float64(labelUnits(m))); k < labelUnits(m); k++ {
				s.V.Set(r, m.Inputs()+k, k == y)
			}
		}
	case pos.V.IsGrey():
		p := rbm.NewMatrix(s.V.Rows, s.V.Cols)
		for r := range p.Rows {
			copy(p.Row(r), pos.V.Grey.Row(r%pos.Rows()))
		}
		rbm.DrawBits(s.V, p, key)
	default:
		for r := range s.V.Rows {
			copy(s.V.Row(r), pos.V.Bits.Row(r%pos.Rows()))
		}
	}
}

// labelUnits returns the number of units of a softmax label, of which one is
// on; 0 if there is none.
func labelUnits(m *rbm.RBM) int {
	if m.LabelKind() == rbm.Softmax {
		return m.Classes()
	}
	return 0
}

// check returns an error if the saved states are none of m.
func (s savedChains) check(m *rbm.RBM, joint bool) error {
	switch {
	case s.h.Cols != m.Hidden():
		return fmt.Errorf("%w: the saved chains have %d hidden units, the model has %d", rbm.ErrFormat, s.h.Cols, m.Hidden())
	case !joint:
		return checkSaved(m, s)
	case s.v.Cols != m.Visible():
		return fmt.Errorf("%w: the saved chains have %d visible units, the model has %d", rbm.ErrFormat, s.v.Cols, m.Visible())
	}
	for r := range s.v.Rows {
		on := 0
		for k := range labelUnits(m) {
			if s.v.Get(r, m.Inputs()+k) {
				on++
			}
		}
		if labelUnits(m) > 0 && on != 1 {
			return fmt.Errorf("%w: %d label units of saved chain %d are on; it must be one", rbm.ErrFormat, on, r)
		}
	}
	return checkSaved(m, s)
}

// drawStart draws the hidden states of s that chains start at.
func drawStart(m *rbm.RBM, s *rbm.States, start string, pos rbm.Batch, key rbm.Key) error {
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

// appendBinary appends version and rows as uint32, then of the hidden states,
// and of joint chains of the visible states after them, columns as uint32 and
// the words; chains that have not begun have no rows.
func (c *chains) appendBinary(b []byte) []byte {
	saved := c.saved
	if c.states != nil {
		saved = savedChains{c.states.H, c.states.V}
	}
	for _, n := range []int{chainsVersion, saved.h.Rows} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	b = appendBits(b, saved.h)
	if c.joint {
		b = appendBits(b, saved.v)
	}
	return b
}

func appendBits(b []byte, x rbm.Bits) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(x.Cols))
	for _, w := range x.Words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// readChains reads what appendBinary wrote of so many rows, joint or not, for
// restore, and returns what follows.
func readChains(b []byte, want int, joint bool) (s savedChains, rest []byte, err error) {
	bad := func(format string, args ...any) (savedChains, []byte, error) {
		return savedChains{}, nil, fmt.Errorf("%w: %s", rbm.ErrFormat, fmt.Sprintf(format, args...))
	}
	if len(b) < 8 {
		return bad("the saved chains are cut short")
	}
	version, rows := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	switch {
	case version != chainsVersion:
		return bad("saved chains of version %d; this program reads version %d", version, chainsVersion)
	case rows != 0 && int(rows) != want:
		return bad("%d saved chains; the settings ask for %d", rows, want)
	}
	if s.h, b, err = readBits(b[8:], int(rows)); err == nil && joint {
		s.v, b, err = readBits(b, int(rows))
	}
	if err != nil {
		return bad("%v", err)
	}
	return s, b, nil
}

// readBits reads what appendBits wrote of so many rows.
func readBits(b []byte, rows int) (x rbm.Bits, rest []byte, err error) {
	if len(b) < 4 {
		return x, nil, errors.New("the saved chains are cut short")
	}
	cols := binary.LittleEndian.Uint32(b)
	b = b[4:]
	switch {
	case rows == 0:
		return x, b, nil
	case uint64(rows)*((uint64(cols)+63)/64)*8 > uint64(len(b)):
		return x, nil, errors.New("the saved chains are cut short")
	}
	x = rbm.NewBits(rows, int(cols))
	for i := range x.Words {
		x.Words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	for r := range x.Rows {
		if x.Cols%64 != 0 && x.Row(r)[x.Stride-1]>>(x.Cols%64) != 0 {
			return x, nil, fmt.Errorf("saved chain %d has bits beyond its last unit", r)
		}
	}
	return x, b[8*len(x.Words):], nil
}

// restore makes the next call begin at states s; with no rows, anew.
func (c *chains) restore(s savedChains) {
	c.states, c.saved = nil, s
}

// UnmarshalBinary reads what appendBinary wrote and nothing else. It changes
// nothing unless all of b fits.
func (c *chains) UnmarshalBinary(b []byte) error {
	saved, rest, err := readChains(b, c.rows, c.joint)
	if err != nil {
		return err
	}
	if len(rest) != 0 {
		return fmt.Errorf("%w: %d bytes too many after the saved chains", rbm.ErrFormat, len(rest))
	}
	c.restore(saved)
	return nil
}

func (c *chains) MarshalBinary() ([]byte, error) { return c.appendBinary(nil), nil }
