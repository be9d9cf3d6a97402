package mcmc

import "gorbm/negphase/mcmc/internal/walk"

// newWalker returns the walker of m on s: lists of classes where costs are few
// and equal, whole layers on an RBM, block sums elsewhere.
func newWalker(m *Sardonics, s System, beta float64, sites []int32) (walker, error) {
	gamma, biases := [2]float64{m.Gamma1, m.Gamma2}, 1
	if m.mixed() {
		biases = 2
	}
	var weights [2]walk.Bias
	var scale [2]float64
	for b := range biases {
		var err error
		if weights[b], err = bias("sardonics", m.Weights, gamma[b], beta, s, len(sites)); err != nil {
			return nil, err
		}
		scale[b] = gamma[b] * beta
	}
	if in, ok := newIntegers(s, sites); ok {
		w := newClassWalk(in, biases, m.MaxLength)
		in.describe(w.lists.List[:], 0, weights[:biases], scale[:biases])
		w.reset()
		return w, nil
	}
	if s, ok := s.(*RBM); ok && m.Weights == HeatBath {
		return newDenseWalk(s, sites, biases, scale, m.MaxLength), nil
	}
	var table [2]*walk.Table
	for b := range biases {
		table[b] = walk.NewTable(weights[b])
	}
	return newBlockWalk(s, sites, biases, scale, table, m.MaxLength), nil
}

// largestCost bounds what a flip can cost or gain: of an Ising system and of an
// RBM by their parameters, of others by the state they are in, with room to
// spare.
func largestCost(s System) float64 {
	top := 0.0
	switch s := s.(type) {
	case *Ising:
		return 2 * s.graph.maxField
	case *RBM:
		return s.machine.reach
	default:
		for _, d := range s.Deltas() {
			top = max(top, d, -d)
		}
	}
	return 2 * top
}
