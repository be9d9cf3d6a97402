package exact

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm/internal/vec"
)

// sums has the moments of a group of states, weighted by their probabilities.
type sums struct {
	listed []float64   // means of the listed binary units, then of the units of listed groups
	summed []float64   // means of the summed units
	cross  [][]float64 // listed units × summed units: mean products

	squares []float64   // mean squares of the summed units, if some are real
	slopes  [][]float64 // parameters × hidden units: see rbm.Moments; nil if no parameter is learned

	weight float64     // running sum of the probabilities in a block
	all    []float64   // running sum of the means of the summed layer, times probabilities, in a block
	spare  [][]float64 // unused destinations that replace cross for units that a quad does not have
}

func (s *sums) reset() {
	s.weight = 0
	clear(s.listed)
	clear(s.summed)
	clear(s.squares)
	for _, row := range s.slopes {
		clear(row)
	}
	for _, row := range s.cross {
		clear(row)
	}
}

func (s *sums) add(o *sums) {
	floats.Add(s.listed, o.listed)
	floats.Add(s.summed, o.summed)
	floats.Add(s.squares, o.squares)
	for i := range s.slopes {
		floats.Add(s.slopes[i], o.slopes[i])
	}
	for i := range s.cross {
		floats.Add(s.cross[i], o.cross[i])
	}
}

// addRunning adds sign, 1 or −1, times the running sums to listed unit l.
func (s *sums) addRunning(l int, sign float64) {
	s.listed[l] += float64(sign * s.weight)
	vec.AddSigned(s.cross[l], s.all, sign)
}

func (s *grayStates) newSums() *sums {
	n := s.units + s.classes
	rows := s.newRows(n + 2 + quadUnits)
	return &sums{listed: make([]float64, n), cross: rows[:n], all: rows[n], summed: rows[n+1], spare: rows[n+2:]}
}

// addBlocks adds the moments of blocks lo … hi−1 to sums.
//
// Each quad adds to the moments of the two units in which its states differ. For any other listed unit,
// the running sums are subtracted when the unit turns on, and added when the unit turns off. This costs one
// addition for each quad and summed unit, whatever the number of listed units.
func (s *grayStates) addBlocks(g, lo, hi int, sums *sums, logZ float64) {
	q := s.walks[g]
	for b := lo; b < hi; b++ {
		first, end, part := s.block(b)
		for y := first; y < end; y++ {
			q.start(y, part)
			sums.weight = 0
			clear(sums.all)
			for before := q.active; q.next(); before = q.active {
				for w := before ^ q.active; w != 0; w &= w - 1 {
					l := bits.TrailingZeros64(w)
					sums.addRunning(l, 2*float64(before>>l&1)-1)
				}
				q.addQuad(sums, logZ)
			}
			for w := q.active; w != 0; w &= w - 1 {
				sums.addRunning(bits.TrailingZeros64(w), 1)
			}
			if !s.hidden {
				for _, l := range q.lit {
					sums.addRunning(l, 1)
				}
			}
			floats.Add(sums.summed, sums.all)
		}
	}
}

// addQuad adds the moments of a quad to the running sums, and to those of the units in which its
// states differ.
func (q *grayWalk) addQuad(s *sums, logZ float64) {
	q.weigh()
	var weight [4]float64
	var base vec.Scaled
	x := q.logBase - logZ
	finite := math.Abs(x) < 1e9
	if finite {
		base = vec.ScaledExp(x)
	}
	within := q.within()
	for i := range q.valid {
		weight[i] = vec.Exp(x) // NaN, infinite or zero
		if finite {
			weight[i] = float64(q.m[i]*base.M) * vec.Power(q.e[i]+base.E)
		}
		s.weight += weight[i]
		for l := range within {
			if i>>l&1 != 0 {
				s.listed[l] += weight[i]
			}
		}
	}
	width := q.width()
	scratch := [quadUnits][]float64{s.spare[0], s.spare[1]}
	copy(scratch[:within], s.cross)
	vec.QuadMeans(s.all[:width], scratch[0][:width], scratch[1][:width], q.on, q.off, q.product, q.first, q.second, &weight)
	if len(q.class) == 0 {
		return
	}
	first := q.state()
	for i := range q.valid {
		for k := range q.groups {
			g := &q.groups[k]
			scale := weight[i] / q.classSum(first+i, g)
			for c, r := range q.classOdds(first+i, g) {
				x := float64(scale * float64(q.class[g.First+c]*r))
				at := width + g.First + c
				s.all[at] += x
				for l := range within {
					if i>>l&1 != 0 {
						s.cross[l][at] += x
					}
				}
			}
		}
	}
}
