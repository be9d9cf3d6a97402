package mcmc

import (
	"fmt"
	"slices"
)

// An Order is the order of the single-site updates of a sweep.
type Order int

const (
	// Linear takes the sites in ascending order, or as they were given.
	Linear Order = iota
	// Chessboard takes the sites of even x+y+z first, one after the other.
	// It is an order only: on a periodic side of odd length neighbours share
	// a colour.
	Chessboard
	// Random takes as many sites as there are, each uniformly at random.
	Random
)

var orderNames = []string{"linear", "chessboard", "random"}

// Orders returns the names of all orders.
func Orders() []string { return slices.Clone(orderNames) }

func (o Order) String() string {
	if o < 0 || int(o) >= len(orderNames) {
		return fmt.Sprintf("Order(%d)", int(o))
	}
	return orderNames[o]
}

// ParseOrder returns the order of the given name.
func ParseOrder(name string) (Order, error) {
	if k := slices.Index(orderNames, name); k >= 0 {
		return Order(k), nil
	}
	return 0, fmt.Errorf("order %q: one of linear, chessboard, random", name)
}

// MarshalText returns the order's name.
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText is ParseOrder.
func (o *Order) UnmarshalText(text []byte) (err error) {
	*o, err = ParseOrder(string(text))
	return err
}

// sequence returns the sites of a sweep over s in their order; of a random
// one, the sites to draw from.
func (o Order) sequence(s System, sites []int32) ([]int32, error) {
	switch o {
	case Linear, Random:
		return sites, nil
	case Chessboard:
	default:
		return nil, fmt.Errorf("order %v: one of linear, chessboard, random", o)
	}
	is, ok := s.(*Ising)
	if !ok || is.graph.parity == nil {
		return nil, fmt.Errorf("order chessboard: the system is not a lattice; use linear or random")
	}
	parity := is.graph.parity
	sequence := make([]int32, 0, len(sites))
	for colour := range uint8(2) {
		for _, i := range sites {
			if parity[i] == colour {
				sequence = append(sequence, i)
			}
		}
	}
	return sequence, nil
}

// bindable checks what every mover's Bind is given and returns the sites, all
// of them for nil, in a slice of the caller's own. On an RBM all are all but
// softmax labels.
func bindable(s System, beta float64, sites []int32) ([]int32, error) {
	if !(beta >= 0) || !finite(beta) {
		return nil, fmt.Errorf("inverse temperature %g: give a finite number, 0 or more", beta)
	}
	n := s.Len()
	machine, isRBM := machineOf(s)
	if sites == nil {
		if isRBM {
			return machine.Sites(), nil
		}
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		return all, nil
	}
	if len(sites) == 0 {
		return nil, fmt.Errorf("no sites to move on: give at least one, or nil for all")
	}
	seen := make([]bool, n)
	for _, i := range sites {
		switch {
		case i < 0 || int(i) >= n:
			return nil, fmt.Errorf("site %d: sites are numbered 0 to %d", i, n-1)
		case seen[i]:
			return nil, fmt.Errorf("site %d is given twice", i)
		case isRBM && machine.isLabel(i):
			return nil, fmt.Errorf("site %d is one of a softmax label, of which a flip would leave none or two on; leave out sites %d to %d and redraw the label from p(y|h)", i, machine.labels[0], machine.labels[1]-1)
		}
		seen[i] = true
	}
	return slices.Clone(sites), nil
}
