package negphase

import (
	"encoding/binary"
	"fmt"
	"math"

	"gorbm/rbm"
)

// ladderVersion is the version of the binary form of ladders; 1 had no head.
const ladderVersion = 2

// MarshalBinary appends to each other: version and number of temperatures, the
// inverse temperatures, the chains, each group's rank of particles by
// temperature, each particle's journey, the counts and the record.
func (l *ladder) MarshalBinary() ([]byte, error) {
	k := len(l.beta)
	b := binary.LittleEndian.AppendUint32(nil, ladderVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(k))
	for _, x := range l.beta {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	}
	b = l.appendBinary(b)
	for i, row := range l.at {
		b = append(b, uint8(int(row)-i/k*k))
	}
	b = append(b, l.journey...)
	b = binary.LittleEndian.AppendUint64(b, uint64(l.rounds))
	b = binary.LittleEndian.AppendUint64(b, uint64(l.trips))
	for _, n := range []int64{l.calls, l.next, l.tuned} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	capped := uint8(0)
	if l.capped {
		capped = 1
	}
	b = append(b, capped)
	return l.record.appendBinary(b), nil
}

// UnmarshalBinary changes nothing unless all of b fits.
func (l *ladder) UnmarshalBinary(b []byte) error {
	r := reader{b: b}
	beta, err := l.readBeta(&r)
	if err != nil {
		return err
	}
	if len(r.b) < 2*l.groups*len(beta) { // of ranks and journeys alone, before room is made
		return fmt.Errorf("%w: the saved ladder is cut short", rbm.ErrFormat)
	}
	n := *l
	n.setBeta(beta)
	saved, rest, err := readChains(r.b, n.rows, n.joint)
	if err != nil {
		return err
	}
	n.restore(saved)
	r.b = rest
	if err := n.readRanks(&r); err != nil {
		return err
	}
	for i := range n.journey {
		if n.journey[i] = r.byte(); n.journey[i] > downward {
			return fmt.Errorf("%w: saved journey %d of particle %d", rbm.ErrFormat, n.journey[i], i)
		}
	}
	n.rounds, n.trips = r.count(), r.count()
	n.calls, n.next, n.tuned = r.count(), r.time(), r.count()
	capped := r.byte()
	n.capped = capped == 1
	n.record.readBinary(&r)
	switch {
	case r.short:
		return fmt.Errorf("%w: the saved ladder is cut short", rbm.ErrFormat)
	case r.bad != "":
		return fmt.Errorf("%w: the saved ladder has %s", rbm.ErrFormat, r.bad)
	case len(r.b) != 0:
		return fmt.Errorf("%w: %d bytes too many after the saved ladder", rbm.ErrFormat, len(r.b))
	case capped > 1:
		return fmt.Errorf("%w: the saved ladder has %d where 0 or 1 is due", rbm.ErrFormat, capped)
	case !n.auto && (n.next != never || n.tuned != 0):
		return fmt.Errorf("%w: the saved ladder is tuned; the settings name its temperatures", rbm.ErrFormat)
	case n.record.rounds > n.rounds:
		return fmt.Errorf("%w: the saved ladder has records of %d rounds, but took %d", rbm.ErrFormat, n.record.rounds, n.rounds)
	}
	*l = n
	return nil
}

// readBeta reads the version and the inverse temperatures.
func (l *ladder) readBeta(r *reader) ([]float64, error) {
	version, k := r.uint32(), r.uint32()
	switch {
	case r.short:
		return nil, fmt.Errorf("%w: the saved ladder is cut short", rbm.ErrFormat)
	case version != ladderVersion:
		return nil, fmt.Errorf("%w: a saved ladder of version %d; this program reads version %d", rbm.ErrFormat, version, ladderVersion)
	case l.lengthOf(int64(k)) != nil:
		return nil, l.lengthOf(int64(k))
	}
	beta := make([]float64, k)
	last := len(l.beta) - 1
	for i := range beta {
		beta[i] = float64(math.Float32frombits(r.uint32()))
		switch {
		case !l.auto && beta[i] != l.beta[i]:
			return nil, fmt.Errorf("%w: the saved ladder has the inverse temperature %v where the settings ask for %v", rbm.ErrFormat, beta[i], l.beta[i])
		case i > 0 && !(beta[i] < beta[i-1]) && l.auto:
			return nil, fmt.Errorf("%w: saved inverse temperatures that do not fall: %v follows %v", rbm.ErrFormat, beta[i], beta[i-1])
		}
	}
	if beta[0] != l.beta[0] || beta[k-1] != l.beta[last] {
		return nil, fmt.Errorf("%w: the saved ladder has inverse temperatures from %v to %v; the settings ask for %v to %v",
			rbm.ErrFormat, beta[0], beta[k-1], l.beta[0], l.beta[last])
	}
	return beta, nil
}

// lengthOf returns an error if a saved ladder cannot have k temperatures.
func (l *ladder) lengthOf(k int64) error {
	least, most := int64(len(l.beta)), int64(len(l.beta))
	if l.auto && l.tuner.number == 0 {
		least, most = leastTemperatures, int64(l.most)
	}
	if k < least || k > most {
		return fmt.Errorf("%w: a saved ladder of %d temperatures; the settings ask for %d … %d", rbm.ErrFormat, k, least, most)
	}
	return nil
}

// readRanks reads which particle of each group is at which temperature.
func (l *ladder) readRanks(r *reader) error {
	k := len(l.beta)
	for g := range l.groups {
		seen := [maxTemperatures]bool{}
		for i := range k {
			x := int(r.byte())
			if !r.short && (x >= k || seen[x]) {
				return fmt.Errorf("%w: the saved temperatures of group %d are not a permutation", rbm.ErrFormat, g)
			}
			seen[x] = true
			l.at[g*k+i] = int32(g*k + x)
		}
	}
	return nil
}

// appendBinary appends what is recorded.
func (r *record) appendBinary(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.rounds))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.length))
	for _, x := range r.samples {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	for _, x := range r.rises {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	for _, counts := range [][]int64{r.stays, r.moves} {
		for _, n := range counts {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
	}
	return append(b, r.journal[:r.kept()*r.temperatures]...)
}

// readBinary reads what appendBinary wrote of a record of r's shape.
func (r *record) readBinary(from *reader) {
	r.rounds, r.length = from.count(), from.count()
	// A lone group's batches double from single rounds when all are full, so
	// that at least half are, and there is room for one round more.
	lone := r.groups == 1
	switch {
	case r.length < 1, r.length&(r.length-1) != 0, !lone && r.length > 1,
		lone && r.rounds/r.length >= loneBatches, lone && r.length > 1 && r.rounds/r.length < loneBatches/2:
		from.bad = fmt.Sprintf("batches of %d of %d rounds", r.length, r.rounds)
		return
	}
	for i := range r.samples {
		// Rejections are at most 1 a round.
		if r.samples[i] = from.float64(); !(r.samples[i] >= 0 && r.samples[i] <= float64(r.rounds)) {
			from.bad = fmt.Sprintf("rejections of %v in %d rounds", r.samples[i], r.rounds)
		}
	}
	for i := range r.rises {
		if r.rises[i] = from.float64(); math.IsNaN(r.rises[i]) || math.IsInf(r.rises[i], 0) {
			from.bad = fmt.Sprintf("a difference of energies of %v", r.rises[i])
		}
	}
	for _, counts := range [][]int64{r.stays, r.moves} {
		for i := range counts {
			counts[i] = from.count()
		}
	}
	for i := range r.kept() * r.temperatures {
		if r.journal[i] = from.byte(); int(r.journal[i]) >= r.temperatures {
			from.bad = fmt.Sprintf("a trajectory through temperature %d of %d", r.journal[i], r.temperatures)
		}
	}
}

// A reader takes values off the front of b. Past the end they are 0 and short
// is set; bad says in words what else is wrong.
type reader struct {
	b     []byte
	short bool
	bad   string
}

func (r *reader) take(n int) []byte {
	if len(r.b) < n {
		r.b, r.short = nil, true
		return make([]byte, n)
	}
	x := r.b[:n]
	r.b = r.b[n:]
	return x
}

func (r *reader) byte() uint8    { return r.take(1)[0] }
func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) float64() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(r.take(8)))
}

// time reads when something is due, which may be never.
func (r *reader) time() int64 {
	if len(r.b) >= 8 && binary.LittleEndian.Uint64(r.b) == never {
		r.take(8)
		return never
	}
	return r.count()
}

// count reads a number that is not negative and has room to grow.
func (r *reader) count() int64 {
	n := int64(binary.LittleEndian.Uint64(r.take(8)))
	if n < 0 || n > math.MaxInt64/2 {
		r.bad = fmt.Sprintf("a count of %d", n)
		return 0
	}
	return n
}
