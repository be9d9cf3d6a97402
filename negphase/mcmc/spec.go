package mcmc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSpec is wrapped by ParseLattice's error for a text that is not of its
// grammar at all, which may be the name of a file.
var ErrSpec = errors.New("no lattice")

// ParseLattice returns the lattice of a text: its sides, as 60x60 or 9x9x9, or
// chimera:M for M×M cells with shores of 4, chimera:MxN, or chimera:MxNxL with
// shores of L.
func ParseLattice(text string, periodic bool) (*Lattice, error) {
	if cells, ok := strings.CutPrefix(text, "chimera:"); ok {
		sides, err := parseSides(cells)
		if err != nil || len(sides) > 3 {
			return nil, fmt.Errorf("lattice %q: write chimera:4, chimera:4x3 or chimera:4x3x2 (rows, columns, spins a shore)", text)
		}
		switch len(sides) {
		case 1:
			sides = []int{sides[0], sides[0], 4}
		case 2:
			sides = append(sides, 4)
		}
		l, err := Chimera(sides[0], sides[1], sides[2], periodic)
		if err != nil {
			return nil, fmt.Errorf("lattice %q: %w", text, err)
		}
		return l, nil
	}
	sides, err := parseSides(text)
	if err != nil {
		return nil, fmt.Errorf("%w %q: give sides as 60x60 or 9x9x9, chimera:4, or a file of couplings", ErrSpec, text)
	}
	l, err := Grid(sides, periodic)
	if err != nil {
		return nil, fmt.Errorf("lattice %q: %w", text, err)
	}
	return l, nil
}

// parseSides reads numbers with an x between.
func parseSides(text string) ([]int, error) {
	var sides []int
	for field := range strings.SplitSeq(text, "x") {
		n, err := strconv.ParseUint(field, 10, 31)
		if err != nil {
			return nil, err
		}
		sides = append(sides, int(n))
	}
	return sides, nil
}
