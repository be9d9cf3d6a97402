package main

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/rbm/npz"
)

const (
	defaultKeep = 10000
	// maxStatesBytes limits the memory of -states, at a byte per unit.
	maxStatesBytes = 1 << 30
)

// A spacing selects the moves to record, at equal intervals and at most Most of them, in a run of unknown
// length. When Most moves are recorded, it drops every other record and doubles the interval. The selection
// depends only on the number of moves.
type spacing struct {
	Most, Kept int
	Every      int64 // interval between recorded moves
	Seen       int64 // number of moves so far
}

// next counts a move. drop is true if every other record must be dropped, beginning with the first. keep is
// true if the move must be recorded after that.
func (s *spacing) next() (drop, keep bool) {
	if s.Seen++; s.Seen%s.Every != 0 {
		return false, false
	}
	if drop = s.Kept == s.Most; drop {
		s.Kept /= 2
		s.Every *= 2
	}
	if keep = s.Seen%s.Every == 0; keep {
		s.Kept++
	}
	return drop, keep
}

// halved returns x, rows of n values, without every other row; it drops the first. It overwrites x.
func halved[T any](x []T, n int) []T {
	kept := x[:0]
	for i := n; i < len(x); i += 2 * n {
		kept = append(kept, x[i:i+n]...)
	}
	return kept
}

// A stateLog records the states after some of the moves.
type stateLog struct {
	Spacing  spacing
	Units    int
	States   []uint8 // states × Units
	Energies []float64
}

func newStateLog(most, units int) *stateLog {
	return &stateLog{Spacing: spacing{Most: most, Every: 1}, Units: units}
}

// reset discards all states. l may be nil.
func (l *stateLog) reset() {
	if l != nil {
		*l = *newStateLog(l.Spacing.Most, l.Units)
	}
}

// add counts a move, and records the state and energy after it if the move is selected.
func (l *stateLog) add(state []uint8, energy float64) {
	drop, keep := l.Spacing.next()
	if drop {
		l.States, l.Energies = halved(l.States, l.Units), halved(l.Energies, 1)
	}
	if keep {
		l.States, l.Energies = append(l.States, state...), append(l.Energies, energy)
	}
}

// checkStates checks -states and -keep.
func (p *plan) checkStates() error {
	switch {
	case p.states == "":
		return nil
	case len(p.movers) > 1:
		return cli.Usagef("-states is for one sampler, but -sampler names %d; name one", len(p.movers))
	case p.keep < 2 || p.keep > maxStatesBytes/p.units/p.chains:
		return cli.Usagef("-keep is %d; it must lie in 2 … %d for %d units and %s", p.keep, maxStatesBytes/p.units/p.chains, p.units, cli.Count(p.chains, "chain"))
	}
	return nil
}

// writeStates writes the arrays of -states. x has the spins −1 and +1 of each state. For an RBM x has
// the visible bits, if there are any, and h the hidden bits. energy and move have the energy of
// each state and the number of its move. States of several chains are written chain after chain, and the array
// chain has the number of the chain of each state.
func (p *plan) writeStates(w io.Writer) error {
	l := &stateLog{Units: p.units}
	var moves, chains []float64
	for chain, run := range p.runs {
		log := run[0].States
		l.States, l.Energies = append(l.States, log.States...), append(l.Energies, log.Energies...)
		for i := range log.Energies {
			moves, chains = append(moves, float64(int64(i+1)*log.Spacing.Every)), append(chains, float64(chain))
		}
	}
	n := len(l.Energies)
	about := []npz.Named{{Name: "energy", Data: l.Energies}, {Name: "move", Data: moves}}
	if len(p.runs) > 1 {
		about = append(about, npz.Named{Name: "chain", Data: chains})
	}
	if p.flags.Given("model") {
		part := func(name string, lo, hi int) npz.Named {
			units := make([]uint8, 0, n*(hi-lo))
			for state := range slices.Chunk(l.States, l.Units) {
				units = append(units, state[lo:hi]...)
			}
			return npz.Named{Name: name, Shape: []int{n, hi - lo}, Data: units}
		}
		units := []npz.Named{part("h", p.firstHidden, l.Units)}
		if p.firstHidden > 0 {
			units = slices.Insert(units, 0, part("x", 0, p.firstHidden))
		}
		return npz.Write(w, append(units, about...))
	}
	spins := make([]int8, len(l.States))
	for i, x := range l.States {
		spins[i] = 2*int8(x) - 1
	}
	return npz.Write(w, append([]npz.Named{{Name: "x", Shape: append([]int{n}, p.shape()...), Data: spins}}, about...))
}

// shape returns the sides of a square lattice, or the number of spins of another system.
func (p *plan) shape() []int {
	var sides []int
	for _, side := range strings.Split(p.lattice, "x") {
		if n, err := strconv.Atoi(side); err == nil {
			sides = append(sides, n)
		}
	}
	if len(sides) == 2 && sides[0]*sides[1] == p.units {
		return sides
	}
	return []int{p.units}
}
