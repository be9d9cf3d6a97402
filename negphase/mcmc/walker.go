package mcmc

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
)

// A walker changes the state of a system by walks and computes the proposal probabilities of the walks. A
// move consists of one or more walks, called segments. There is one walker for each data structure of the
// weights of sites: lists of sites of equal cost, block sums, and whole layers of an RBM.
type walker interface {
	// segment makes one walk of k flips with bias number 0 or 1. It multiplies the probabilities of the
	// walk and of its reverse into sc. It draws the sites with r or, if path is not nil, flips the
	// sites of path.
	segment(r *rand.Rand, path []int32, k, bias int, sc *score)
	// rise returns the energy that the segments of this move have added.
	rise() float64
	// commit keeps the state after the segments.
	commit()
	// undo restores the state before the segments.
	undo()
	// reset recomputes the weights after the state has changed elsewhere.
	reset()
	// rebias changes the biases between moves. Their number must not change.
	rebias(b biases)
}

// A score has the probabilities of walks and of their reverses, given their lengths, under each of two
// biases. A reverse starts at the end of the walk.
type score struct {
	forward, reverse [2]walk.Product
}

var emptyScore = score{[2]walk.Product{walk.One, walk.One}, [2]walk.Product{walk.One, walk.One}}

// finish accepts or rejects the walks that w has made, which have the given total number of flips.
// logRatio is log(r/w), where w is the probability of proposing the walks and r of proposing their
// reverse. acceptance is the acceptance probability.
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

// newBiases returns the weights of flips of s for one or two biases gamma. It returns an error if the
// weights span too large a range for the integers that represent them.
//
// Boltzmann weights are relative to the largest one. On an RBM and on a Marginal the largest possible
// cost changes in training, so their weights are clipped to e^±15 instead. Clipping does not bias the
// chain, because any positive weights give a valid proposal.
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
			return b, fmt.Errorf("%s: boltzmann weights span a factor of exp(%.3g), more than exp(%d); use weights=heatbath or gamma of at most %.2g", name, 2*x, walk.MaxSpan, walk.MaxSpan/(2*beta*top))
		default:
			family = walk.Boltzmann
		}
		b.weight[i] = walk.NewBias(family, sites, x)
	}
	return b, nil
}

// largestCost returns an upper bound top of |ΔE| of a flip. For an Ising system and an RBM the bound
// follows from the parameters, and always is true. For other systems top is twice
// the largest |ΔE| in the current state, and may be exceeded in others.
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

// flat reports whether ΔE is known to be 0 for every flip in every state of s.
func flat(s System) bool {
	top, always := largestCost(s)
	return always && top == 0
}
