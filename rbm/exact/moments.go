package exact

import (
	"context"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
	"gorbm/rbm/internal/vec"
)

// sums are the moments of a group of states in the enumeration's own terms.
type sums struct {
	*grayWalk
	all    []float64 // running sum of the weighted means of the summed layer within a block
	weight float64   // running sum of the weights
	listed []float64 // per listed unit, then per label state if these are listed
	summed []float64
	cross  [][]float64 // per listed unit and label state, by summed unit
	spare  [][]float64 // in place of the cross sums of a quad's units that are not there
}

// Moments overwrites dst with ⟨v⟩, ⟨h⟩ and ⟨vhᵀ⟩ under the model and returns
// log Z, all exact to float64 rounding and then stored as float32. Two passes
// are made over the states, the first for log Z.
//
// Units that are listed are either on or off. Those of a quad take their
// means as they come; for the others a running sum is taken away when a unit
// comes on and added when it goes off, which costs one addition a quad and
// summed unit whatever the number of listed ones.
func (e *Enumeration) Moments(dst *rbm.Moments) float64 {
	e.logz, _ = e.LogZ(context.Background(), nil)
	if e.constrained != nil {
		e.constrainedMoments(dst)
		return e.logz
	}
	groups := e.sumGroups()
	for len(e.groups) < groups {
		e.groups = append(e.groups, e.newSums())
	}
	e.sumLoop.Run(groups, e.cost())
	total := e.groups[0]
	for _, s := range e.groups[1:groups] {
		total.add(s)
	}
	e.store(dst, total)
	return e.logz
}

func (e *Enumeration) sumGroups() int { return min(e.blocks(), momentGroups) }

// sumPart adds up the moments of the blocks of group g. Blocks are powers of
// two times the label states, so groups of one size cover them except where
// there are labels.
func (e *Enumeration) sumPart(g int) {
	s := e.groups[g]
	s.reset()
	n, groups := e.blocks(), e.sumGroups()
	for b := g * n / groups; b < (g+1)*n/groups; b++ {
		s.addBlock(b)
	}
}

func (e *Enumeration) newSums() *sums {
	n := e.units
	if e.labels > 1 || !e.hidden && e.units < e.m.Visible() {
		n += e.labels
	}
	rows := e.newRows(n + 2 + quadUnits)
	return &sums{
		grayWalk: e.newGrayWalk(), listed: make([]float64, n),
		cross: rows[:n], all: rows[n], summed: rows[n+1], spare: rows[n+2:],
	}
}

func (s *sums) reset() {
	clear(s.listed)
	clear(s.summed)
	for _, row := range s.cross {
		clear(row)
	}
}

func (s *sums) add(o *sums) {
	floats.Add(s.listed, o.listed)
	floats.Add(s.summed, o.summed)
	for i := range s.cross {
		floats.Add(s.cross[i], o.cross[i])
	}
}

// mark adds the running sums to unit l, or takes them away.
func (s *sums) mark(l int, add bool) {
	if add {
		s.listed[l] += s.weight
		vec.AddSigned(s.cross[l], s.all, 1)
	} else {
		s.listed[l] -= s.weight
		vec.AddSigned(s.cross[l], s.all, -1)
	}
}

func (s *sums) addBlock(b int) {
	e := s.enum
	s.start(e, b)
	s.weight = 0
	clear(s.all)
	within := min(e.low, quadUnits)
	for before := s.units; s.next(); before = s.units {
		for w := before ^ s.units; w != 0; w &= w - 1 {
			l := bits.TrailingZeros64(w)
			s.mark(l, before>>l&1 != 0)
		}
		s.addQuad(within)
	}
	for w := s.units; w != 0; w &= w - 1 {
		s.mark(bits.TrailingZeros64(w), true)
	}
	if len(s.listed) > e.units {
		s.mark(e.units+s.y, true)
	}
	floats.Add(s.summed, s.all)
}

// addQuad adds the weighted means of a quad to the running sums, and to those
// of its within units.
func (s *sums) addQuad(within int) {
	e := s.enum
	s.weigh()
	var weight [4]float64
	var base vec.Scaled
	x := s.logBase - e.logz
	finite := math.Abs(x) < 1e9
	if finite {
		base = vec.ScaledExp(x)
	}
	for i := range s.valid {
		weight[i] = vec.Exp(x) // no number, infinite or nothing
		if finite {
			weight[i] = float64(s.m[i]*base.M) * vec.Power(s.e[i]+base.E)
		}
		s.weight += weight[i]
		for l := range within {
			if i>>l&1 != 0 {
				s.listed[l] += weight[i]
			}
		}
	}
	width := e.width()
	var own [quadUnits][]float64
	for l := range own {
		own[l] = s.spare[l]
		if l < within {
			own[l] = s.cross[l]
		}
	}
	vec.QuadMeans(s.all[:width], own[0][:width], own[1][:width], s.on, s.off, s.upper, e.first, e.second, &weight)
	if len(s.class) == 0 {
		return
	}
	first := s.state()
	for i := range s.valid {
		scale := weight[i] / s.classSum(first+i)
		for k, r := range e.classes[(first+i)*len(s.class):][:len(s.class)] {
			g := float64(scale * float64(s.class[k]*r))
			s.all[width+k] += g
			for l := range within {
				if i>>l&1 != 0 {
					s.cross[l][width+k] += g
				}
			}
		}
	}
}

func (e *Enumeration) store(dst *rbm.Moments, s *sums) {
	listed, summed := dst.V, dst.H
	if e.hidden {
		listed, summed = summed, listed
	}
	for i, x := range s.listed {
		listed[i] = float32(x)
	}
	for i := range summed {
		summed[i] = float32(s.summed[e.place(i)])
	}
	for l, row := range s.cross {
		for i := range e.other {
			x := float32(row[e.place(i)])
			if e.hidden {
				dst.VH.Data[i*dst.VH.Cols+l] = x
			} else {
				dst.VH.Data[l*dst.VH.Cols+i] = x
			}
		}
	}
}
