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
	// maxStatesBytes limits the memory of -states, at a byte a unit.
	maxStatesBytes = 1 << 30
)

// A spacing says which moves of a run of any length are kept: at most Most of them, equally spaced. When all places
// are taken, every other one is dropped, and from then on half as many are kept. It depends on the moves alone.
type spacing struct {
	Most, Kept int
	Every      int64 // moves from one kept to the next
	Seen       int64 // moves so far
}

// next counts a move. It reports whether the first of every two that are kept are to be dropped, and then whether
// this one is kept.
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

// halved keeps the second of every two rows of n values.
func halved[T any](x []T, n int) []T {
	kept := x[:0]
	for i := n; i < len(x); i += 2 * n {
		kept = append(kept, x[i:i+n]...)
	}
	return kept
}

// A stateLog keeps states of some moves.
type stateLog struct {
	Spacing  spacing
	Units    int
	States   []uint8
	Energies []float64
}

func newStateLog(most, units int) *stateLog {
	return &stateLog{Spacing: spacing{Most: most, Every: 1}, Units: units}
}

// reset forgets all states. A nil log stays as it is.
func (l *stateLog) reset() {
	if l != nil {
		*l = *newStateLog(l.Spacing.Most, l.Units)
	}
}

// add records the state and its energy after a move.
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
		return cli.Usagef("-states holds the states of one sampler, and -sampler names %d; name one", len(p.movers))
	case p.keep < 2 || p.keep > maxStatesBytes/p.units/p.chains:
		return cli.Usagef("-keep is %d; it must lie in 2 … %d for %d units and %s", p.keep, maxStatesBytes/p.units/p.chains, p.units, cli.Count(p.chains, "chain"))
	}
	return nil
}

// writeStates writes the arrays of -states: x, the spins −1 and +1 of each state, or
// the visible bits of an RBM, if it has any, and in h the hidden ones; energy, that of each; and
// move, the number of measured moves before it. States of several chains are written chain by chain,
// and the array chain has the numbers of the chains.
func (p *plan) writeStates(w io.Writer) error {
	l := &stateLog{Units: p.units}
	var moves, chains []float64
	for chain, run := range p.runs {
		its := run[0].States
		l.States, l.Energies = append(l.States, its.States...), append(l.Energies, its.Energies...)
		for i := range its.Energies {
			moves, chains = append(moves, float64(int64(i+1)*its.Spacing.Every)), append(chains, float64(chain))
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

// shape returns the sides of a square lattice, or else the number of spins.
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
