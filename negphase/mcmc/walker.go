package mcmc

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
)

// A walker takes the state of a system along self-avoiding walks, or walks
// between shells, and scores them. There is one walker for each structure that
// holds the weights of sites: classes of sites of equal cost, block sums, and
// whole layers of an RBM.
type walker interface {
	// segment takes one walk of k flips, at the given one of two biases, and
	// multiplies into sc what the walk and its reverse are proposed with. The
	// sites are drawn with r, or are those of path if that is not nil.
	segment(r *rand.Rand, path []int32, k, bias int, sc *score)
	// rise returns the energy that the segments so far have added.
	rise() float64
	// commit keeps the state that the segments have led to.
	commit()
	// undo goes back to the state before the segments.
	undo()
	// reset takes over a state that was changed elsewhere.
	reset()
	// rebias changes the biases between moves. There are as many as before.
	rebias(b biases)
}

// A score holds the probabilities of walks, given their lengths: forward, and
// of their reverses from where they ended, under each of two biases.
type score struct {
	forward, reverse [2]walk.Product
}

// emptyScore is the score of no walk.
var emptyScore = score{[2]walk.Product{walk.One, walk.One}, [2]walk.Product{walk.One, walk.One}}

// finish accepts or rejects the walks that w has taken, of the given number of flips.
// logRatio is the logarithm of the probability of proposing the reverse over
// that of proposing the walks. It returns the probability of acceptance too.
func finish(w walker, r *rand.Rand, beta, logRatio float64, flips int) (info Info, acceptance float64) {
	info, acceptance = Info{Moves: 1, Proposals: 1, Flips: int64(flips)}, 1
	a := -float64(beta*w.rise()) + logRatio
	if a < 0 {
		acceptance = rbm.Exp(a)
	}
	if a >= 0 || r.Float64() < acceptance {
		w.commit()
		info.Accepted = 1
	} else {
		w.undo()
	}
	return info, acceptance
}

// biases are the weights of flips under one or two biases γ.
type biases struct {
	n      int // 1 or 2
	weight [2]walk.Bias
	scale  [2]float64 // γβ
}

// newBiases returns the weights of flips of s. An error means that they cannot
// be held.
//
// Boltzmann weights are in units of the largest. On an RBM and on a Marginal, whose costs
// change as it is trained, that is e¹⁵, and smaller and larger ones are cut: any
// positive weights leave the distribution as it is, and these are the same function of
// costs always.
func newBiases(name string, weights Weights, s System, beta float64, sites int, gamma ...float64) (b biases, err error) {
	top, _ := largestCost(s)
	_, cut := s.(*RBM)
	if is, ok := s.(*Ising); ok {
		cut = is.graph.changes
	}
	b.n = len(gamma)
	for i, g := range gamma {
		b.scale[i] = g * beta
		x := float64(b.scale[i] * top)
		family := walk.HeatBath
		switch {
		case math.IsInf(x, 0) || math.IsNaN(x):
			return b, fmt.Errorf("%s: gamma %v times beta %v times the largest cost of a flip, %v, overflows; lower gamma", name, g, beta, top)
		case weights == HeatBath:
		case cut:
			family, x = walk.Boltzmann, walk.MaxSpan/2
		case float64(2*x) > walk.MaxSpan:
			return b, fmt.Errorf("%s: boltzmann weights span a factor of exp(%.3g), more than exp(%d); take weights=heatbath or gamma of at most %.2g", name, 2*x, walk.MaxSpan, walk.MaxSpan/(2*beta*top))
		default:
			family = walk.Boltzmann
		}
		b.weight[i] = walk.NewBias(family, sites, x)
	}
	return b, nil
}

// largestCost bounds |ΔE| of a flip. The bound of an Ising system and of an RBM
// follows from their parameters and holds always. That of other systems is twice
// the largest |ΔE| in the current state.
func largestCost(s System) (top float64, always bool) {
	switch s := s.(type) {
	case *Ising:
		return 2 * s.graph.maxField, true
	case *RBM:
		return s.parameters.reach, true
	}
	for i := range s.Len() {
		top = max(top, math.Abs(s.FlipCost(i)))
	}
	return 2 * top, false
}

// flat reports whether no flip of s ever costs anything.
func flat(s System) bool {
	top, always := largestCost(s)
	return always && top == 0
}
