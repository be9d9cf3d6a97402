package exact

import (
	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"
)

// sums has the moments of a group of states, weighted by the weights of the states.
//
// Each quad adds to the moments of the two units in which its states differ. For any other listed unit, the
// running sums are subtracted when the unit turns on, and added when it turns off. This costs one addition for
// each quad and column, whatever the number of listed units.
type sums struct {
	ref    float64     // all are divided by e^ref
	weight float64     // running sum of the weights
	all    []float64   // running sum of the means of the columns, then of the states of the listed units if they are coupled
	listed []float64   // means of the listed units
	cross  [][]float64 // listed units × elements of all: mean products
	spare  [][]float64 // destinations that replace cross for units that a quad does not have
	slopes [][]float64 // parameters × hidden units: see rbm.Moments; nil if no parameter is learned
	// squares has the mean squares of real visible units, at their indices in the layer; nil if there are none
	// among the columns.
	squares []float64

	// The means of the real units in the states of a quad, then their slopes or squares, and a block of their inputs:
	to    [1 + units.MaxParams]units.Means
	in    [4 * vec.Block]float32
	block units.Block
}

func newSums(p *plan) *sums {
	width := len(p.columns)
	if p.coupled {
		width += len(p.order)
	}
	rows := matrix(len(p.order)+quadUnits+1, width)
	n := len(p.order)
	s := &sums{listed: make([]float64, n), cross: rows[:n], spare: rows[n : n+quadUnits], all: rows[n+quadUnits]}
	if p.rest == nil || p.bound {
		return s
	}
	units := len(p.dist.Field)
	for i := range s.to {
		s.to[i].Data, s.to[i].Cols = make([]float32, 4*units), units
	}
	if p.hidden {
		s.squares = make([]float64, units)
	} else if p.learned() != nil {
		s.slopes = matrix(len(p.dist.Params), units)
	}
	return s
}

// learned returns the kind of the hidden units if they have learned parameters.
func (p *plan) learned() units.LearnedKind {
	kind, _ := p.model.HiddenKind().(units.LearnedKind)
	return kind
}

// arrays calls f for all sums.
func (s *sums) arrays(f func(x []float64)) {
	f(s.all)
	f(s.listed)
	f(s.squares)
	for _, row := range s.cross {
		f(row)
	}
	for _, row := range s.slopes {
		f(row)
	}
}

func (s *sums) reset() {
	s.weight = 0
	s.arrays(func(x []float64) { clear(x) })
}

func (s *sums) scale(x float64) {
	s.weight *= x
	s.arrays(func(row []float64) { floats.Scale(x, row) })
}

func (s *sums) add(o *sums) {
	floats.Add(s.all, o.all)
	floats.Add(s.listed, o.listed)
	floats.Add(s.squares, o.squares)
	for i, row := range s.cross {
		floats.Add(row, o.cross[i])
	}
	for i, row := range s.slopes {
		floats.Add(row, o.slopes[i])
	}
}

// turn adds sign, 1 or −1, times the running sums to listed unit l.
func (s *sums) turn(l int, sign float64) {
	s.listed[l] += float64(sign * s.weight)
	floats.AddScaled(s.cross[l], sign, s.all)
}

// addQuad adds the moments of the quad, whose states have the weights p.
func (w *walk) addQuad(p [4]float64) {
	s := w.to
	units := [quadUnits][]float64{s.spare[0], s.spare[1]}
	copy(units[:w.within], s.cross)
	first, second := p[1]+p[3], p[2]+p[3]
	s.weight += (p[0] + p[2]) + first
	for l, x := range [quadUnits]float64{first, second} {
		if l < w.within {
			s.listed[l] += x
		}
	}
	n := w.plan.bits
	vec.QuadMeans(s.all[:n], units[0][:n], units[1][:n], w.on[:n], w.off, w.product[:n], w.first[:n], w.second[:n], &p)
	put := func(k int, x *[4]float64) {
		odd, upper := x[1]+x[3], x[2]+x[3]
		s.all[k] += (x[0] + x[2]) + odd
		units[0][k] += odd
		units[1][k] += upper
	}
	for i := range w.classes {
		g := &w.classes[i]
		scale := w.classSums(g)
		for t := range scale {
			scale[t] = p[t] / scale[t]
		}
		for k := g.at; k < g.at+g.Units; k++ {
			x := w.classOdds(k)
			for t := range x {
				x[t] *= scale[t]
			}
			put(k, &x)
		}
	}
	if w.rest != nil {
		w.addRest(p)
		for k := range w.z[0] {
			var x [4]float64
			for t := range 1 << w.within {
				x[t] = float64(p[t] * w.mean[t][k])
			}
			put(w.finite+k, &x)
		}
	}
	if w.coupled {
		at := len(w.columns)
		w.eachOn(func(l int) { put(at+l, &p) })
		if w.within > 0 {
			put(at, &[4]float64{0, p[1], 0, p[3]})
		}
		if w.within > 1 {
			put(at+1, &[4]float64{0, 0, p[2], p[3]})
		}
	}
}

// addRest computes the means of the real units in each state of the quad, from inputs in float32 as training
// does, and adds their slopes or squares. Under a constraint the means are known already.
func (w *walk) addRest(p [4]float64) {
	s := w.to
	if w.bound {
		return
	}
	for _, g := range w.rest {
		for lo := g.First / vec.Block * vec.Block; lo < g.First+g.Units; lo += vec.Block {
			from, width := max(0, g.First-lo), min(vec.Block, g.First+g.Units-lo)
			at := g.at - w.finite + lo - g.First // column of unit lo
			for t := range 1 << w.within {
				for c := from; c < width; c++ {
					s.in[t*vec.Block+c] = float32(w.z[t][at+c])
				}
			}
			s.block = units.Block{First: lo, From: from, Width: width, In: s.in[:], Stride: vec.Block, Rows: 1 << w.within, Model: &w.dist}
			g.Kind.Means(s.to[0], &s.block)
			switch {
			case s.squares != nil:
				g.Kind.(units.RealKind).Squares(s.to[1], &s.block)
			case s.slopes != nil:
				w.learned().Slopes([units.MaxParams]units.Means(s.to[1:]), &s.block)
			}
			for t := range 1 << w.within {
				for c := from; c < width; c++ {
					k := t*s.to[0].Cols + lo + c
					w.mean[t][at+c] = float64(s.to[0].Data[k])
					if s.squares != nil {
						s.squares[lo+c] += float64(p[t] * float64(s.to[1].Data[k]))
					}
				}
			}
		}
	}
	for k, row := range s.slopes {
		for t := range 1 << w.within {
			for j := range row {
				row[j] += float64(p[t] * float64(s.to[1+k].Data[t*len(row)+j]))
			}
		}
	}
}

// store overwrites dst with the moments from s, whose weights are probabilities.
func (p *plan) store(dst *rbm.Moments, s *sums) {
	listed, summed := dst.H, dst.V
	at := func(l, i int) *float32 { return &dst.VH.Data[i*dst.VH.Cols+p.order[l]] }
	if !p.hidden {
		listed, summed = summed, listed
		at = func(l, i int) *float32 { return &dst.VH.Data[p.order[l]*dst.VH.Cols+i] }
	}
	for k, i := range p.columns {
		if i >= 0 {
			summed[i] = float32(s.all[k])
		}
	}
	for l, row := range s.cross {
		listed[p.order[l]] = float32(s.listed[l])
		for k, i := range p.columns {
			if i >= 0 {
				*at(l, i) = float32(row[k])
			}
		}
	}
	for k, x := range dst.Slopes {
		for j := range x {
			x[j] = float32(s.slopes[k][j])
		}
	}
	if !p.model.Real() {
		return
	}
	copy(dst.Squares, dst.V) // a bit equals its square
	for _, g := range p.rest {
		for i := g.First; i < g.First+g.Units; i++ {
			dst.Squares[i] = float32(s.squares[i])
		}
	}
	for _, g := range p.model.Groups() {
		for i := g.First; g.Kind == rbm.Gaussian && i < g.First+g.Units; i++ {
			p.storeGaussian(dst, s, i)
		}
	}
}

// storeGaussian overwrites the moments of Gaussian unit i. Given the hidden states h, its mean is
// (b + Σ_j W_j h_j)/γ and its variance 1/γ. All moments follow from those of pairs of hidden units.
func (p *plan) storeGaussian(dst *rbm.Moments, s *sums, i int) {
	bias, precision := float64(p.model.VisibleBias[i]), float64(p.model.VisibleParams()[0][i])
	mean, square := bias, 1.0
	row := dst.VH.Row(i)
	for l, pairs := range s.cross {
		product := float64(bias * s.listed[l])
		for k, x := range pairs[len(p.columns):] {
			product += float64(float64(p.model.Weight(i, k)) * x)
		}
		row[l] = float32(product / precision)
		w := float64(p.model.Weight(i, l))
		mean += float64(w * s.listed[l])
		square += float64(w*product) / precision
	}
	mean /= precision
	dst.V[i] = float32(mean)
	dst.Squares[i] = float32((square + float64(bias*mean)) / precision)
}
