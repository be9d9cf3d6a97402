package mcmc

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gorbm/rbm"
)

// A Lattice defines which spins are neighbours. Its method Graph adds couplings.
type Lattice struct {
	Name   string
	Spins  int
	Bonds  []Bond
	Parity []uint8 // parity of the sum of a spin's coordinates: its colour on a chessboard
}

// A Bond joins spins I and J. Times multiplies its coupling: 2 on a periodic side of length two, where
// the spins are neighbours in both directions, and otherwise 1.
type Bond struct{ I, J, Times int32 }

// ErrSpec is wrapped by the error of ParseLattice for a text that is not in its
// grammar. Such a text may be the name of a file.
var ErrSpec = errors.New("no lattice")

// ParseLattice parses a lattice. The text is its sides, as 60x60 or 9x9x9, or one of chimera:M,
// chimera:MxN and chimera:MxNxL. A Chimera lattice has M×N cells with shores of L spins; by default N =
// M and L = 4. See Grid and Chimera.
func ParseLattice(text string, periodic bool) (*Lattice, error) {
	var l *Lattice
	cells, chimera := strings.CutPrefix(text, "chimera:")
	sides, err := parseSides(cells)
	switch {
	case chimera:
		if err != nil || len(sides) > 3 {
			return nil, fmt.Errorf("lattice %q: write chimera:4, chimera:4x3 or chimera:4x3x2 (rows, columns, spins per shore)", text)
		}
		if len(sides) == 1 {
			sides = append(sides, sides[0])
		}
		sides = append(sides, 4)
		l, err = Chimera(sides[0], sides[1], sides[2], periodic)
	case err != nil:
		return nil, fmt.Errorf("%w %q: give sides as 60x60 or 9x9x9, chimera:4, or a file of couplings", ErrSpec, text)
	default:
		l, err = Grid(sides, periodic)
	}
	if err != nil {
		return nil, fmt.Errorf("lattice %q: %w", text, err)
	}
	return l, nil
}

// ParseGraph returns the graph of a lattice of ParseLattice, with couplings and a field on every spin.
func ParseGraph(text string, periodic bool, c Couplings, field float64) (*Graph, error) {
	l, err := ParseLattice(text, periodic)
	if err != nil {
		return nil, err
	}
	return l.Graph(c, field)
}

// parseSides parses numbers separated by x.
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

// Grid returns the hypercubic lattice with the given side lengths: two for a square lattice, three for
// a cubic one. Spin (x,y,z) has number x + side₀·(y + side₁·z). It is an error if there are no sides,
// if a side is below 1, or if there are more than MaxSpins spins. A periodic side of 1 is an error too,
// because it would join a spin to itself.
func Grid(sides []int, periodic bool) (*Lattice, error) {
	if len(sides) == 0 {
		return nil, fmt.Errorf("a lattice without sides: give one number per dimension, as in 60x60")
	}
	n, name := 1, ""
	for _, l := range sides {
		switch {
		case l < 1:
			return nil, fmt.Errorf("a lattice side of %d: at least 1", l)
		case l == 1 && periodic:
			return nil, fmt.Errorf("a periodic side of 1 joins a spin to itself: make it longer, or the boundary free")
		case l > MaxSpins/n:
			return nil, fmt.Errorf("a lattice of more than %d spins: make it smaller", MaxSpins)
		}
		n *= l
		name += fmt.Sprintf("x%d", l)
	}
	l := &Lattice{Name: name[1:], Spins: n, Parity: make([]uint8, n)}
	at := make([]int, len(sides)) // the coordinates of spin i
	for i := range n {
		rest, stride := i, 1
		for d, side := range sides {
			at[d] = rest % side
			rest /= side
			l.Parity[i] ^= uint8(at[d] & 1)
			switch {
			case at[d]+1 < side:
				times := int32(1)
				if periodic && side == 2 {
					times = 2
				}
				l.Bonds = append(l.Bonds, Bond{int32(i), int32(i + stride), times})
			case periodic && side > 2:
				l.Bonds = append(l.Bonds, Bond{int32(i), int32(i - (side-1)*stride), 1})
			}
			stride *= side
		}
	}
	return l, nil
}

// Chimera returns the Chimera graph of rows × columns cells. Each cell is a complete bipartite
// graph between two shores of the given number of spins (4 in the machines of D-Wave). A spin of the
// first shore is also joined to its counterparts in the cells above and below, a spin of the
// second shore to those in the cells left and right. With periodic, opposite edges are joined.
// Spin k of shore u in cell (row, column) has number
// ((row·columns + column)·2 + u)·shore + k.
func Chimera(rows, columns, shore int, periodic bool) (*Lattice, error) {
	switch {
	case rows < 1 || columns < 1 || shore < 1:
		return nil, fmt.Errorf("chimera of %dx%d cells with shores of %d: each at least 1", rows, columns, shore)
	case periodic && (rows == 1 || columns == 1):
		return nil, fmt.Errorf("a periodic side of 1 joins a spin to itself: make it longer, or the boundary free")
	case columns > MaxSpins/rows || shore > MaxSpins/(2*rows*columns) || shore > MaxEdges/(2*rows*columns*shore):
		return nil, fmt.Errorf("a chimera graph of more than %d spins or %d edges: make it smaller", MaxSpins, MaxEdges)
	}
	l := &Lattice{Name: fmt.Sprintf("chimera:%dx%dx%d", rows, columns, shore), Spins: 2 * rows * columns * shore}
	l.Parity = make([]uint8, l.Spins)
	spin := func(r, c, u, k int) int32 { return int32(((r*columns+c)*2+u)*shore + k) }
	// times returns Bond.Times between cell at and the next one along a side; 0 if there is no bond.
	times := func(at, side int) int32 {
		switch {
		case at+1 == side && (!periodic || side == 2):
			return 0
		case side == 2 && periodic:
			return 2
		}
		return 1
	}
	for r := range rows {
		for c := range columns {
			for k := range shore {
				for m := range shore {
					l.Bonds = append(l.Bonds, Bond{spin(r, c, 0, k), spin(r, c, 1, m), 1})
				}
				l.Parity[spin(r, c, 0, k)] = uint8((r + c) & 1)
				l.Parity[spin(r, c, 1, k)] = uint8((r + c + 1) & 1)
			}
			if t := times(r, rows); t > 0 {
				for k := range shore {
					l.Bonds = append(l.Bonds, Bond{spin(r, c, 0, k), spin((r+1)%rows, c, 0, k), t})
				}
			}
			if t := times(c, columns); t > 0 {
				for k := range shore {
					l.Bonds = append(l.Bonds, Bond{spin(r, c, 1, k), spin(r, (c+1)%columns, 1, k), t})
				}
			}
		}
	}
	return l, nil
}

// Graph returns the graph of l with the couplings c(n) of its n bonds, each multiplied by Bond.Times, and
// a uniform field.
func (l *Lattice) Graph(c Couplings, field float64) (*Graph, error) {
	edges := make([]Edge, len(l.Bonds))
	j := c(len(edges))
	for k, b := range l.Bonds {
		edges[k] = Edge{b.I, b.J, float64(b.Times) * j[k]}
	}
	h := slices.Repeat([]float64{field}, l.Spins)
	g, err := NewGraph(h, edges)
	if err != nil {
		return nil, fmt.Errorf("lattice %s: %w", l.Name, err)
	}
	g.parity = l.Parity
	return g, nil
}

// Couplings returns the couplings of n bonds.
type Couplings func(n int) []float64

// Uniform couples every bond by j.
func Uniform(j float64) Couplings {
	return func(n int) []float64 { return slices.Repeat([]float64{j}, n) }
}

// PlusMinus couples each bond by +j or −j with equal odds, independently.
func PlusMinus(j float64, key rbm.Key) Couplings {
	return func(n int) []float64 {
		c := make([]float64, n)
		for k := range c {
			c[k] = j
			if key.Uniform(uint64(k)) < 0.5 {
				c[k] = -j
			}
		}
		return c
	}
}

// Gaussian couples the bonds by independent normal variates with mean 0 and standard
// deviation sd.
func Gaussian(sd float64, key rbm.Key) Couplings {
	return func(n int) []float64 {
		r := key.Rand()
		c := make([]float64, n)
		for k := range c {
			c[k] = sd * r.NormFloat64()
		}
		return c
	}
}
