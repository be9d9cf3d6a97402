package negphase

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gorbm/rbm"
)

// The versions of the binary forms.
const (
	chainsVersion = 1
	realVersion   = 2 // chains whose hidden states are real
	ladderVersion = 2
)

// MarshalBinary returns the version and the numbers of rows and columns as uint32. Then come the hidden
// states: words of bits, or float32 values if they are real. For joint chains the number of columns and
// the words of the visible states follow; real visible states have 0 columns. Chains that have not
// started have no rows.
func (c *chains) MarshalBinary() ([]byte, error) {
	s := c.saved
	if c.states != nil {
		if s = (savedChains{c.states.H, c.states.V}); s.v.IsReal() {
			s.v = rbm.Values{}
		}
	}
	if s.h.IsReal() {
		return appendValues(nil, uint32(realVersion), uint32(s.h.Rows), uint32(s.h.Cols), s.h.Real), nil
	}
	b := appendValues(nil, uint32(chainsVersion), uint32(s.h.Rows), uint32(s.h.Cols), s.h.Words)
	if c.joint {
		b = appendValues(b, uint32(s.v.Cols), s.v.Words)
	}
	return b, nil
}

// UnmarshalBinary makes the next call continue from the states that MarshalBinary wrote. If it wrote no
// rows, the next call starts new chains. An error leaves c unchanged.
func (c *chains) UnmarshalBinary(b []byte) error {
	r := reader{b: b}
	saved := r.chains(c.rows, c.joint)
	r.check(len(r.b) == 0, "the saved chains are too long by %d bytes", len(r.b))
	if r.err == nil {
		c.states, c.saved = nil, saved
	}
	return r.err
}

// MarshalBinary returns the version and the number K of temperatures as uint32, the inverse
// temperatures as float32, the chains, the particles by temperature, the values and the journal of the
// record. The particles are bytes: for each group, and each temperature in it, the number 0 … K−1 of
// the particle there.
func (l *ladder) MarshalBinary() ([]byte, error) {
	k := len(l.beta)
	b := appendValues(nil, uint32(ladderVersion), uint32(k))
	for _, x := range l.beta {
		b = appendValues(b, float32(x))
	}
	chains, err := l.chains.MarshalBinary()
	b = append(b, chains...)
	for i, row := range l.at {
		b = append(b, uint8(int(row)-i/k*k))
	}
	b = appendValues(b, l.values()...)
	return append(b, l.record.journal[:l.record.kept()*k]...), err
}

// values returns the counters and measurements in the order of the binary form. In the binary form the
// journal follows.
func (l *ladder) values() []any {
	r := &l.record
	return []any{l.journey, &l.rounds, &l.trips, &l.calls, &l.next, &l.tuned, &l.capped, &r.rounds, &r.length, r.samples, r.rises, r.stays, r.moves}
}

// UnmarshalBinary leaves l unchanged if it returns an error.
func (l *ladder) UnmarshalBinary(b []byte) error {
	r := reader{b: b}
	beta := r.beta(l)
	r.check(len(r.b) >= 2*l.groups*len(beta), "the saved ladder is cut short") // before memory is allocated
	if r.err != nil {
		return r.err
	}
	n, k := *l, len(beta)
	n.setBeta(beta)
	n.states, n.saved = nil, r.chains(n.rows, n.joint)
	ranks := make([]uint8, n.rows)
	r.read(ranks)
	for g := range n.groups {
		var seen [256]bool
		for i, x := range ranks[g*k:][:k] {
			r.check(int(x) < k && !seen[x], "the saved temperatures of group %d are not a permutation", g)
			seen[x] = true
			n.at[g*k+i] = int32(g*k + int(x))
		}
	}
	r.read(n.values()...)
	n.checkValues(&r)
	if r.err != nil {
		return r.err
	}
	journal := n.record.journal[:n.record.kept()*k]
	r.read(journal)
	for _, x := range journal {
		r.check(int(x) < k, "the saved ladder has a trajectory through temperature %d of %d", x, k)
	}
	again, err := n.MarshalBinary()
	r.check(err == nil && bytes.Equal(again, b), "the saved ladder is too long, or is not what this program writes")
	if r.err == nil {
		*l = n
	}
	return r.err
}

// checkValues checks the ranges of the values of a ladder that was read.
func (l *ladder) checkValues(from *reader) {
	r := &l.record
	from.check(l.journey.Valid(), "the saved ladder has a stage of a round trip that does not exist")
	counts := slices.Concat([]int64{l.rounds, l.trips, l.calls, l.tuned, r.rounds, r.length}, r.stays, r.moves)
	if l.next != never {
		counts = append(counts, l.next)
	}
	for _, n := range counts { // negative counts are wrong, and larger ones could overflow later
		from.check(n >= 0 && n <= math.MaxInt64/2, "the saved ladder has a count of %d", n)
	}
	from.check(l.auto || l.next == never && l.tuned == 0, "the saved ladder is tuned; the settings name its temperatures")
	from.check(r.rounds <= l.rounds, "the saved ladder has records of %d rounds, but made %d", r.rounds, l.rounds)
	// The length of a single group's batches starts at 1 and doubles when all batches are full. So at
	// least one batch is not full, and if the length is above 1, at least half of the batches are.
	fits := r.length == 1
	if r.groups == 1 && r.length > 0 {
		full := r.rounds / r.length
		fits = r.length&(r.length-1) == 0 && full < loneBatches && (r.length == 1 || full >= loneBatches/2)
	}
	from.check(fits, "the saved ladder has batches of %d of %d rounds", r.length, r.rounds)
	for _, x := range r.samples {
		from.check(x >= 0 && x <= float64(r.rounds), "the saved ladder has rejections of %v in %d rounds", x, r.rounds)
	}
	for _, x := range r.rises {
		from.check(!math.IsNaN(x) && !math.IsInf(x, 0), "the saved ladder has a difference of energies of %v", x)
	}
}

// appendValues appends the little-endian form of each value: a value of fixed size, a slice of such
// values, or a pointer to one.
func appendValues(b []byte, values ...any) []byte {
	for _, v := range values {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			panic("negphase: " + err.Error())
		}
	}
	return b
}

// A reader decodes values from the front of b. It keeps the first error, which wraps rbm.ErrFormat.
type reader struct {
	b   []byte // not yet decoded
	err error
}

// check sets the error if ok is false and there is no earlier error.
func (r *reader) check(ok bool, format string, args ...any) {
	if r.err == nil && !ok {
		r.err = fmt.Errorf("%w: %s", rbm.ErrFormat, fmt.Sprintf(format, args...))
	}
}

// read fills the given slices and pointers with the next values that appendValues wrote.
func (r *reader) read(values ...any) {
	for _, v := range values {
		n, err := binary.Decode(r.b, binary.LittleEndian, v)
		r.check(err == nil, "the saved chains are cut short")
		r.b = r.b[min(n, len(r.b)):]
	}
}

// beta reads the version and the inverse temperatures, and checks them against the settings of l.
func (r *reader) beta(l *ladder) []float64 {
	var head [2]uint32
	r.read(&head)
	least, most := len(l.beta), len(l.beta)
	if l.auto && l.tuner.number == 0 {
		least, most = leastTemperatures, l.most
	}
	k := int64(head[1])
	r.check(head[0] == ladderVersion, "a saved ladder of version %d; this program reads version %d", head[0], ladderVersion)
	r.check(k >= int64(least) && k <= int64(most), "a saved ladder of %d temperatures; the settings ask for %d … %d", k, least, most)
	if r.err != nil {
		return nil
	}
	saved, beta := make([]float32, k), make([]float64, k)
	r.read(saved)
	for i := range beta {
		beta[i] = float64(saved[i])
		r.check(i == 0 || beta[i] < beta[i-1], "saved inverse temperatures that do not fall: %v", saved)
		r.check(l.auto || beta[i] == l.beta[i], "the saved ladder has the inverse temperatures %v; the settings ask for %v", saved, l.beta)
	}
	cold, hot := l.beta[0], l.beta[len(l.beta)-1]
	if l.reach {
		hot = l.lowest
	}
	r.check(beta[0] == cold && (beta[k-1] == hot || l.reach && beta[k-1] > hot), "the saved ladder has inverse temperatures from %v to %v; the settings ask for %v to %v", beta[0], beta[k-1], cold, hot)
	return beta
}

// chains reads the states of want chains, or of none if they have not started.
func (r *reader) chains(want int, joint bool) (s savedChains) {
	var head [2]uint32
	r.read(&head)
	rows := int(head[1])
	r.check(head[0] == chainsVersion || head[0] == realVersion && !joint, "saved chains of version %d; this program reads versions %d and %d", head[0], chainsVersion, realVersion)
	r.check(rows == 0 || rows == want, "%d saved chains; the settings ask for %d", rows, want)
	if head[0] == realVersion {
		s.h = r.reals(rows)
		return s
	}
	s.h = r.bits(rows)
	if joint {
		s.v = r.bits(rows)
	}
	return s
}

// reals reads the number of columns, and the values of the given number of rows.
func (r *reader) reals(rows int) (x rbm.Values) {
	var cols uint32
	r.read(&cols)
	r.check(4*uint64(rows)*uint64(cols) <= uint64(len(r.b)), "the saved chains are cut short") // before memory is allocated
	if r.err != nil || rows == 0 {
		return x
	}
	x = rbm.NewValues(rows, int(cols), true)
	r.read(x.Real)
	for i, v := range x.Real {
		r.check(v-v == 0, "saved chain %d has a unit of value %v", i/int(cols), v)
	}
	return x
}

// bits reads the number of columns, and the words of the given number of rows.
func (r *reader) bits(rows int) (x rbm.Values) {
	var cols uint32
	r.read(&cols)
	r.check(uint64(rows)*((uint64(cols)+63)/64)*8 <= uint64(len(r.b)), "the saved chains are cut short") // before memory is allocated
	if r.err != nil || rows == 0 {
		return x
	}
	x = rbm.NewBits(rows, int(cols))
	r.read(x.Words)
	for i := range x.Rows {
		r.check(x.Cols%64 == 0 || x.Row(i)[x.Stride-1]>>(x.Cols%64) == 0, "saved chain %d has bits beyond its last unit", i)
	}
	return x
}
