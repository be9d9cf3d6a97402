package rbm

import (
	"context"
	"math/bits"

	"gorbm/rbm/internal/vec"
)

// sums are the moments of a group of states in the enumeration's own terms.
type sums struct {
	a, g, prefix []float64
	weight       float64   // sum of the weights within the running block
	listed       []float64 // per listed unit, then per label state if these are listed
	summed       []float64
	cross        [][]float64 // per listed unit and label state, by summed unit
}

// Moments overwrites dst with ⟨v⟩, ⟨h⟩ and ⟨vhᵀ⟩ under the model and returns
// log Z, all exact to float64 rounding and then stored as float32. Two passes
// are made over the states, the first for log Z.
//
// Units that are listed are either on or off; a running sum of the weighted
// means of the other layer is taken away when a unit comes on and added when it
// goes off, which costs two additions a state and summed unit whatever the
// number of listed ones.
func (e *Enumeration) Moments(dst *Moments) float64 {
	e.logz, _ = e.LogZ(context.Background(), nil)
	if e.counted != nil {
		e.countedMoments(dst)
		return e.logz
	}
	groups := e.sumGroups()
	for len(e.groups) < groups {
		e.groups = append(e.groups, e.newSums())
	}
	e.sumJob.run(groups, e.wide())
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
		e.addBlock(s, b, e.logz)
	}
}

func (e *Enumeration) newSums() *sums {
	n := e.units
	if e.labels > 1 || !e.hidden && e.units < e.m.Visible() {
		n += e.labels
	}
	s := &sums{
		a: make([]float64, e.other), g: make([]float64, e.other), prefix: make([]float64, e.other),
		listed: make([]float64, n), summed: make([]float64, e.other),
		cross: make([][]float64, n),
	}
	for i := range s.cross {
		s.cross[i] = make([]float64, e.other)
	}
	return s
}

func (s *sums) reset() {
	clear(s.listed)
	clear(s.summed)
	for _, row := range s.cross {
		clear(row)
	}
}

func (s *sums) add(o *sums) {
	plus := func(a, b []float64) {
		for i := range a {
			a[i] += b[i]
		}
	}
	plus(s.listed, o.listed)
	plus(s.summed, o.summed)
	for i := range s.cross {
		plus(s.cross[i], o.cross[i])
	}
}

// mark adds sign times the running sums to unit l.
func (s *sums) mark(l int, sign float64) {
	s.listed[l] += sign * s.weight
	for i, p := range s.prefix {
		s.cross[l][i] += sign * p
	}
}

func (e *Enumeration) addBlock(s *sums, b int, logz float64) {
	var on uint64
	label := -1
	s.weight = 0
	clear(s.prefix)
	e.walk(b, s.a,
		func(logw float64) {
			w := vec.Exp(logw - logz)
			s.weight += w
			e.means(s.g, s.a)
			for i, g := range s.g {
				s.prefix[i] += float64(w * g)
			}
		},
		func(y int, units uint64) {
			on = units
			if len(s.listed) > e.units {
				label = e.units + y
			}
		},
		func(l int, now bool) {
			on ^= 1 << l
			if now {
				s.mark(l, -1)
			} else {
				s.mark(l, 1)
			}
		})
	for w := on; w != 0; w &= w - 1 {
		s.mark(bits.TrailingZeros64(w), 1)
	}
	if label >= 0 {
		s.mark(label, 1)
	}
	for i, p := range s.prefix {
		s.summed[i] += p
	}
}

// means overwrites g with the means of the summed layer given its
// preactivations a.
func (e *Enumeration) means(g, a []float64) {
	for i, x := range a[:e.soft] {
		if x >= 0 {
			g[i] = 1 / (1 + vec.Exp(-x))
		} else {
			y := vec.Exp(x)
			g[i] = y / (1 + y)
		}
	}
	if e.soft < e.other {
		z := vec.LogSumExp(a[e.soft:])
		for i, x := range a[e.soft:] {
			g[e.soft+i] = vec.Exp(x - z)
		}
	}
}

func (e *Enumeration) store(dst *Moments, s *sums) {
	listed, summed := dst.V, dst.H
	if e.hidden {
		listed, summed = summed, listed
	}
	for i, x := range s.listed {
		listed[i] = float32(x)
	}
	for i, x := range s.summed {
		summed[i] = float32(x)
	}
	for l, row := range s.cross {
		for i, x := range row {
			if e.hidden {
				dst.VH.Data[i*dst.VH.Cols+l] = float32(x)
			} else {
				dst.VH.Data[l*dst.VH.Cols+i] = float32(x)
			}
		}
	}
}
