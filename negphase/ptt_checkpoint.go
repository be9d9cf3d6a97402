package negphase

import (
	"math"
	"slices"

	"gorbm/rbm"
)

// savedLadder is the state of ptt in a checkpoint.
type savedLadder struct {
	chains savedChains
	head   ladderHead
	free   []float64 // free energies of the live chains
	born   []int64   // see rung
	rungs  []savedRung
}

type ladderHead struct {
	Rungs                 uint32
	Now, OldPairs, Vetoes int64
	Version               int64 // 1; version 0 also has two values per chain, before the rungs; they are ignored
	Rate                  float64
}

type savedRung struct {
	parameters []byte
	v, h       rbm.Values
	born       []int64
	logZ       estimateOfLogZ
}

// MarshalBinary returns the live chains. If they have started, it appends a ladderHead, the free energy
// and the time of birth of each live particle, and the rungs, oldest first. A rung has parameters, a
// reservoir with times of birth, and log Z.
func (p *ptt) MarshalBinary() ([]byte, error) {
	if p.states == nil && p.raw != nil {
		return slices.Clone(p.raw), nil
	}
	b, err := p.chains.MarshalBinary()
	if p.states == nil {
		return b, err
	}
	b = appendValues(b, ladderHead{uint32(len(p.rungs)), p.now, p.oldPairs, p.vetoes, 1, p.rate}, p.live.free, p.live.born)
	for _, g := range p.rungs {
		b = appendValues(b, uint32(g.model.Parameters().Bytes()))
		b = g.model.Parameters().AppendTo(b)
		b = appendValues(b, uint32(g.reservoir.Cols), g.reservoir.Words, uint32(g.reservoirH.Cols), g.reservoirH.Words, g.reservoirBorn, g.logZ)
	}
	return b, err
}

// UnmarshalBinary leaves p unchanged if it returns an error.
func (p *ptt) UnmarshalBinary(b []byte) error {
	saved, err := p.read(b)
	if err != nil {
		return err
	}
	p.states, p.rungs, p.looked, p.raw = nil, nil, false, nil
	p.now, p.oldPairs, p.vetoes, p.rate = 0, 0, 0, 0
	clear(p.live.born)
	if saved.chains.h.Rows > 0 {
		p.raw = slices.Clone(b)
	}
	return nil
}

// read decodes and checks b.
func (p *ptt) read(b []byte) (savedLadder, error) {
	r := reader{b: b}
	s := savedLadder{chains: r.chains(p.rows, true)}
	if r.err == nil && s.chains.h.Rows > 0 {
		r.read(&s.head)
		r.check(s.head.Rungs >= 1 && s.head.Rungs <= maxRungs, "a saved ladder of %d rungs", s.head.Rungs)
		for _, n := range []int64{s.head.Now, s.head.OldPairs, s.head.Vetoes} {
			r.check(n >= 0 && n <= math.MaxInt64/2, "the saved ladder has a count of %d", n)
		}
		r.check(s.head.Version == 0 || s.head.Version == 1, "a saved ladder of version %d; this program reads 0 and 1", s.head.Version)
		r.check(s.head.Rate >= 0 && s.head.Rate <= 1, "the saved ladder has a swap rate of %v", s.head.Rate)
		s.free, s.born = make([]float64, p.rows), make([]int64, p.rows)
		r.read(s.free, s.born)
		if s.head.Version == 0 {
			r.read(make([]float64, 2*p.rows))
		}
		r.checkFinite(s.free)
		r.checkBorn(s.born, s.head.Now)
		for i := 0; i < int(s.head.Rungs) && r.err == nil; i++ {
			s.rungs = append(s.rungs, r.rung(p.rows*p.reservoir, s.head.Now))
		}
	}
	r.check(len(r.b) == 0, "the saved chains are too long by %d bytes", len(r.b))
	return s, r.err
}

// rung reads a rung whose reservoir has the given number of rows. now is
// the number of calls of Estimate before the checkpoint.
func (r *reader) rung(rows int, now int64) (g savedRung) {
	var size uint32
	r.read(&size)
	r.check(int(size) <= len(r.b), "the saved ladder is cut short")
	if r.err != nil {
		return g
	}
	g.parameters, r.b = slices.Clone(r.b[:size]), r.b[size:]
	g.v, g.h = r.bits(rows), r.bits(rows)
	r.check(8*rows <= len(r.b), "the saved ladder is cut short")
	if r.err != nil {
		return g
	}
	g.born = make([]int64, rows)
	r.read(g.born, &g.logZ)
	r.checkBorn(g.born, now)
	r.checkFinite([]float64{g.logZ.Mean})
	r.check(g.logZ.Variance >= 0, "a saved rung has a variance of %v", g.logZ.Variance)
	return g
}

func (r *reader) checkFinite(lists ...[]float64) {
	for _, x := range slices.Concat(lists...) {
		r.check(!math.IsNaN(x) && !math.IsInf(x, 0), "a saved free energy is %v", x)
	}
}

func (r *reader) checkBorn(born []int64, now int64) {
	for _, n := range born {
		r.check(n >= 0 && n <= now, "a saved particle was born in round %d of %d", n, now)
	}
}

// setSaved restores the saved state, without the chains and rungs.
func (p *ptt) setSaved(s savedLadder) {
	p.now, p.oldPairs, p.vetoes, p.rate = s.head.Now, s.head.OldPairs, s.head.Vetoes, s.head.Rate
	p.live.free, p.live.born = s.free, s.born
}
