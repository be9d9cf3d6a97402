package data

import (
	"context"
	"fmt"

	"gorbm/rbm"
)

// The number of sites and of rows of the generated family, and the scales of its couplings.
const (
	familySites     = 60
	familyRows      = 10_000
	familyTestRows  = 2_000
	familyContact   = 0.7  // of the couplings of a contact, a matrix of rank 2
	familyNeighbour = 0.35 // of the couplings of adjacent sites, a matrix of rank 2
)

// A family is a Potts model of sequences that fold into a hairpin. With L = familySites, site i is in
// contact with site L−1−i; such a pair is a rung. Adjacent sites are coupled weakly. With each rung as one
// variable the model is a chain, so that a transfer matrix gives log Z and exact draws.
type family struct {
	alphabet *alphabet
	q, rungs int         // number of letters; number of rungs, L/2
	field    [][]float64 // [site][state] log weight
	contact  [][]float64 // [rung r] q × q: state of site r, state of site L−1−r
	up, down [][]float64 // [rung r] q × q: sites r and r+1, and sites L−1−r and L−2−r
	// For each rung, ahead has a q × q matrix: the weight of each pair of states of the rung, summed over
	// the states of all later rungs, up to a factor. expUp and expDn are the exponentials of the couplings
	// to the rung before.
	ahead        [][]float64
	expUp, expDn [][]float64
	logZ         float64
}

// newFamily draws the parameters of a family by key.
func newFamily(key rbm.Key) *family {
	a, err := newAlphabet("protein")
	if err != nil {
		panic("data: " + err.Error())
	}
	f := &family{alphabet: a, q: len(a.letters), rungs: familySites / 2}
	var r rng
	r.seed(key)
	unit := func() float64 { return float64(r.bell()) / 0.2886751345948129 } // of variance 1
	for range familySites {
		h := make([]float64, f.q)
		for c := range h {
			h[c] = unit()
		}
		h[0] -= 1.5 // gaps are rare
		f.field = append(f.field, h)
	}
	coupling := func(scale float64) []float64 {
		j := make([]float64, f.q*f.q)
		for range 2 {
			u, w := make([]float64, f.q), make([]float64, f.q)
			for c := range f.q {
				u[c], w[c] = unit(), unit()
			}
			for x := range j {
				j[x] += float64(scale * u[x/f.q] * w[x%f.q])
			}
		}
		return j
	}
	for rung := range f.rungs {
		f.contact = append(f.contact, coupling(familyContact))
		if rung+1 < f.rungs {
			f.up, f.down = append(f.up, coupling(familyNeighbour)), append(f.down, coupling(familyNeighbour))
		}
	}
	f.sum()
	return f
}

// sum computes logZ, ahead, expUp and expDn, from the last rung to the first.
func (f *family) sum() {
	q := f.q
	f.ahead, f.expUp, f.expDn = make([][]float64, f.rungs), make([][]float64, f.rungs), make([][]float64, f.rungs)
	next := make([]float64, q*q)
	for x := range next {
		next[x] = 1
	}
	for r := f.rungs - 1; r >= 0; r-- {
		total := 0.0
		for x, z := range f.contact[r] {
			next[x] = float64(next[x] * rbm.Exp(z+f.field[r][x/q]+f.field[familySites-1-r][x%q]))
			total += next[x]
		}
		for x := range next {
			next[x] /= total
		}
		f.ahead[r] = next
		f.logZ += rbm.Log(total)
		if r == 0 {
			return
		}
		up, down := exps(f.up[r-1]), exps(f.down[r-1])
		f.expUp[r], f.expDn[r] = up, down
		half, m := make([]float64, q*q), make([]float64, q*q)
		for a := range q {
			for c := range q {
				for d := range q {
					half[a*q+d] += float64(up[a*q+c] * next[c*q+d])
				}
			}
		}
		for a := range q {
			for b := range q {
				for d := range q {
					m[a*q+b] += float64(down[b*q+d] * half[a*q+d])
				}
			}
		}
		next = m
	}
}

// exps returns the exponentials of x.
func exps(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = rbm.Exp(v)
	}
	return y
}

// draw overwrites states with a sequence drawn from the model.
func (f *family) draw(states []uint8, r *rng) {
	q := f.q
	p := make([]float64, q*q)
	for rung := range f.rungs {
		total := 0.0
		copy(p, f.ahead[rung])
		if rung > 0 {
			up, down := f.expUp[rung][int(states[rung-1])*q:], f.expDn[rung][int(states[familySites-rung])*q:]
			for x := range p {
				p[x] = float64(float64(p[x]*up[x/q]) * down[x%q])
			}
		}
		for _, w := range p {
			total += w
		}
		u, x := float64(r.uniform()*total), 0
		for u -= p[0]; u >= 0 && x+1 < len(p); u -= p[x] {
			x++
		}
		states[rung], states[familySites-1-rung] = uint8(x/q), uint8(x%q)
	}
}

// logWeight returns the log probability of states plus logZ.
func (f *family) logWeight(states []uint8) float64 {
	q, sum := f.q, 0.0
	for i, c := range states {
		sum += f.field[i][c]
	}
	for r := range f.rungs {
		a, b := int(states[r]), int(states[familySites-1-r])
		sum += f.contact[r][a*q+b]
		if r+1 < f.rungs {
			sum += f.up[r][a*q+int(states[r+1])] + f.down[r][b*q+int(states[familySites-2-r])]
		}
	}
	return sum
}

// logProb is Set.LogProb of the family. Rows that are not sequences have probability zero.
func (f *family) logProb(x []uint64, _ int) float64 {
	var states [familySites]uint8
	for i := range states {
		n := 0
		for c := range f.q {
			if unit := i*f.q + c; x[unit/64]>>(unit%64)&1 == 1 {
				states[i] = uint8(c)
				n++
			}
		}
		if n != 1 {
			return rbm.Log(0)
		}
	}
	return f.logWeight(states[:]) - f.logZ
}

// loadFamily draws a family of protein-like sequences from a Potts model of known log Z. The family has 60
// sites in two strands, where site i is in contact with site 61−i, counted from 1. The spec sequences:N has
// N training rows.
func loadFamily(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
	rows := familyRows
	name := "sequences"
	if len(sp.args) > 0 {
		n, err := sp.rows(maxRows)
		if err != nil {
			return nil, err
		}
		if why := checkShape(int64(n), familySites*maxAlphabet); why != "" {
			return nil, specErrorf("%s: %s; ask for less", sp.text, why)
		}
		if rows = n; n != familyRows {
			name = fmt.Sprintf("sequences:%d", n)
		}
	}
	key := dataKey(sp.seed, streamFamily)
	f := newFamily(key.Child(0))
	var sets []*Set
	for part, n := range []int{rows, familyTestRows} {
		states := make([]uint8, n*familySites)
		rowKey := key.Child(1 + uint64(part))
		err := forBlocks(ctx, n, 64, func(lo, hi int) {
			var r rng
			for i := lo; i < hi; i++ {
				r.seed(rowKey.Child(uint64(i)))
				f.draw(states[i*familySites:(i+1)*familySites], &r)
			}
		})
		if err != nil {
			return nil, err
		}
		s := newSequences(sp.withSeed(name), f.alphabet, familySites, states)
		if part == 1 {
			s.Name += " test"
		}
		s.LogProb = f.logProb
		s.Contacts = f.contacts()
		sets = append(sets, s)
	}
	return sets, nil
}

// contacts returns the pairs of sites in contact, counted from 0.
func (f *family) contacts() [][2]int {
	pairs := make([][2]int, f.rungs)
	for r := range pairs {
		pairs[r] = [2]int{r, familySites - 1 - r}
	}
	return pairs
}
