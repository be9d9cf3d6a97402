package mcmc

import (
	"fmt"
	"slices"

	"gorbm/rbm"
)

// A Lattice is which spins are neighbours, before they have couplings.
type Lattice struct {
	Name   string
	Spins  int
	Bonds  []Bond
	Parity []uint8 // of the sum of a spin's coordinates: the colours of a chessboard
}

// A Bond joins spins I and J, Times over: 2 where a periodic side has two
// spins, which then meet on both sides.
type Bond struct{ I, J, Times int32 }

// Grid returns the hypercubic lattice of the given sides: a square for two, a
// cube for three. Spin (x,y,z) has number x + side₀·(y + side₁·z). A periodic
// side of 1 would join a spin to itself and is an error, as are no sides,
// sides below 1 and more than MaxSpins spins.
func Grid(sides []int, periodic bool) (*Lattice, error) {
	if len(sides) == 0 {
		return nil, fmt.Errorf("a lattice without sides: give one number a dimension, as 60x60")
	}
	n := 1
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
	}
	l := &Lattice{Name: join(sides), Spins: n, Parity: make([]uint8, n)}
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

// join returns "60x60" for the sides 60, 60.
func join(sides []int) string {
	s := ""
	for d, l := range sides {
		if d > 0 {
			s += "x"
		}
		s += fmt.Sprint(l)
	}
	return s
}

// Chimera returns the graph of rows × columns cells, each a complete bipartite
// graph between two shores of `shore` spins (4 in the machines of D-Wave). The
// first shore's spins are joined to those of the cells above and below, the
// second's to those left and right; periodic joins the edges of the whole.
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
	reach := func(u, at, side int, here, there func(k int) int32) {
		times := int32(1)
		switch {
		case at+1 < side && side == 2 && periodic:
			times = 2
		case at+1 == side && (!periodic || side == 2):
			return
		}
		for k := range shore {
			l.Bonds = append(l.Bonds, Bond{here(k), there(k), times})
		}
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
			reach(0, r, rows, func(k int) int32 { return spin(r, c, 0, k) }, func(k int) int32 { return spin((r+1)%rows, c, 0, k) })
			reach(1, c, columns, func(k int) int32 { return spin(r, c, 1, k) }, func(k int) int32 { return spin(r, (c+1)%columns, 1, k) })
		}
	}
	return l, nil
}

// Graph couples the spins of l, each bond by the next number of c times its
// multiplicity, in the same field.
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

// Gaussian couples the bonds by independent normal deviates of standard
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
