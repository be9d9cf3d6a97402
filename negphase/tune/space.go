package tune

import (
	"fmt"
	"math"
	"slices"

	"gorbm/negphase/mcmc"
)

// A Range is the range of one free parameter. It maps a coordinate in [0, 1] to the parameter.
type Range struct {
	Name      string
	Low, High float64
	Whole     bool // whole numbers only
}

// at returns the parameter at coordinate u.
func (r Range) at(u float64) float64 {
	low, high := r.Low, r.High
	if r.Whole {
		high++
	}
	x := low + u*(high-low)
	if r.Whole {
		x = math.Floor(x)
	}
	return min(r.High, max(r.Low, x))
}

// A Space maps a unit cube, with one dimension per free parameter, to settings of Sardonics.
type Space struct {
	Ranges []Range
	mover  func(x []float64) mcmc.Sardonics // maps parameters to settings
}

// Mover returns the settings at a point of the cube.
func (s *Space) Mover(u []float64) mcmc.Sardonics {
	x := make([]float64, len(u))
	for i, r := range s.Ranges {
		x[i] = r.at(u[i])
	}
	return s.mover(x)
}

// The default ranges, from the paper's table I and its program. Biases are divided by
// mcmc.Weights.Balanced.
const (
	mostLow, mostSpread   = 70, 50     // largest k_l, and largest k_u − k_l
	lowGamma, highGamma   = 0.89, 1.05 // γ_L
	leastApart, mostApart = 0.01, 0.10 // γ_H − γ_L
	mostWalks             = 5
)

// NewSpace returns the space of settings that differ from base in the free parameters. room is the
// number of units of the system, and so the largest length of a walk. held has the keys of settings
// that are not tuned, in the grammar of mcmc.ParseMover. Parameters are mapped as in the paper's section 5: the three
// frequencies of the types of moves are divided by their sum.
//
// k has the smallest and the largest length of a walk, or two zeros for the default range. The error says that k is
// invalid, or that no parameter is free.
func NewSpace(base mcmc.Sardonics, held []string, room int, k [2]int) (*Space, error) {
	if k != [2]int{} && !(1 <= k[0] && k[0] <= k[1] && k[1] <= mcmc.MaxLength) {
		return nil, fmt.Errorf("bounds k=%d-%d leave no length; give two in 1 … %d, the smaller one first", k[0], k[1], mcmc.MaxLength)
	}
	if base.Auto {
		return nil, fmt.Errorf("%s finds its lengths without tuning; leave k out to tune it, or give a range", mcmc.FormatMover(base))
	}
	free := func(key string) bool { return !slices.Contains(held, key) }
	s := new(Space)
	err := s.fill(base, free, room, k)
	if err == nil && len(s.Ranges) == 0 {
		err = fmt.Errorf("every setting of %s is given, so nothing is left to tune; leave one out", mcmc.FormatMover(base))
	}
	return s, err
}

// add adds a range and returns its index.
func (s *Space) add(r Range) int {
	s.Ranges = append(s.Ranges, r)
	return len(s.Ranges) - 1
}

// lengthAxes describes the parameters of the lengths of walks. If low is negative, there are none.
type lengthAxes struct {
	low, spread int // indices of the ranges of the smallest length and of the number of lengths
	top         int // largest length
}

// addLengths adds the ranges of the smallest length and of the number of lengths. most is
// the largest possible length of a walk.
func (s *Space) addLengths(k [2]int, most int) (a lengthAxes, err error) {
	const least = 2 // least number of lengths: walks of one length do not reach all states
	bottom, top := 1, min(most, mostLow+mostSpread)
	if k != [2]int{} {
		bottom, top = k[0], min(most, k[1])
	}
	last := top - least + 1 // the largest k_l
	if last < bottom {
		return a, fmt.Errorf("bounds of k leave no range of lengths: walks have room for %d flips, and %d lengths or more are needed from %d on", most, least, bottom)
	}
	if k == [2]int{} {
		last = min(last, mostLow)
	}
	a.low, a.top = s.add(Range{"k_l", float64(bottom), float64(last), true}), top
	a.spread = s.add(Range{"lengths", float64(least), float64(max(least, min(mostSpread+1, top-bottom+1))), true})
	return a, nil
}

// fill sets the ranges and the functions of s. free reports whether a key is tuned.
func (s *Space) fill(m mcmc.Sardonics, free func(string) bool, room int, k [2]int) error {
	const none = -1
	lengths := lengthAxes{low: none}
	walks, gamma, apart := none, none, none
	var mix []int
	var err error
	if free("k") {
		if lengths, err = s.addLengths(k, room); err != nil {
			return err
		}
	}
	if !m.Single && free("walks") {
		walks = s.add(Range{"N", 1, mostWalks, true})
	}
	if !m.Single && free("mix") {
		mix = []int{s.add(Range{Name: "P_LL", High: 1}), s.add(Range{Name: "P_HL", High: 1}), s.add(Range{Name: "P_LH", High: 1})}
	}
	two := len(mix) > 0 || !m.Single && (m.Mix[1] > 0 || m.Mix[2] > 0)
	unit := m.Weights.Balanced()
	if free("gamma") {
		gamma = s.add(Range{Name: "γ_L", Low: lowGamma, High: highGamma})
		if two {
			apart = s.add(Range{Name: "γ_H−γ_L", Low: leastApart, High: mostApart})
		}
	}
	s.mover = func(x []float64) mcmc.Sardonics {
		m := m
		if lengths.low >= 0 {
			m.MinLength = int(x[lengths.low])
			m.MaxLength = min(lengths.top, m.MinLength+int(x[lengths.spread])-1)
		}
		if walks >= 0 {
			m.Walks = int(x[walks])
		}
		if mix != nil {
			m.Mix = shares(x[mix[0]], x[mix[1]], x[mix[2]])
		}
		if gamma >= 0 {
			m.Gamma1 = unit * x[gamma]
			m.Gamma2 = m.Gamma1
			if apart >= 0 {
				m.Gamma2 = unit * (x[gamma] + x[apart])
			}
		}
		return m
	}
	return nil
}

// shares divides three numbers by their sum, as the paper does. If all are 0, the
// results are equal.
func shares(a, b, c float64) [3]float64 {
	if sum := a + b + c; sum > 0 {
		return [3]float64{a / sum, b / sum, c / sum}
	}
	return [3]float64{1. / 3, 1. / 3, 1. / 3}
}
