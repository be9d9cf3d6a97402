package sample

import (
	"context"
	"fmt"
	"math"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// A side is one of the two sets of independent chains: from random states, or from rows of data.
type side struct {
	target   *Target
	group    *ranks.Group
	e        negphase.Estimator
	key      rbm.Key
	rows     []int          // [chain] row of Target.Data at which it started; nil: random states
	pos      rbm.Batch      // these rows
	every    int            // number of rounds between two values of a trace
	rounds   int            // number of rounds so far
	v        rbm.Values     // [chain] current state at temperature 1
	h        rbm.Matrix     // [chain] p(h|v)
	trace    [][]float64    // [chain] free energies
	activity [][]float64    // [chain] sums of the hidden means
	states   [][]rbm.Values // [chain] visible states, for the first keptChains chains
	energies []float64      // scratch
	trips    int64          // round trips of ladders
	each     int            // number of particles per group; 1 without a ladder
}

// Purposes of random streams.
const (
	coldKey = iota
	dataKey
	tuneKey
	pickKey
	weightKey
	meanKey
	testKey
	componentKey
)

// newSide returns chains with the given settings. They start at random states or, if rows is
// not nil, at these rows of t.Data.
func newSide(t *Target, g *ranks.Group, s negphase.Settings, rows []int, every int, key rbm.Key) (*side, error) {
	start := negphase.Uniform
	each := max(1, len(s.Ladder().Temperatures.List)) // particles that start at a row
	n := max(1, each*len(rows))
	x := &side{target: t, group: g, key: key, every: every, rows: rows}
	x.pos = rbm.Batch{V: t.Model.NewVisible(n), H: rbm.NewMatrix(n, t.Model.Hidden())}
	if rows != nil {
		start = negphase.Data
		for to := range n {
			x.pos.V.CopyRow(to, t.Data, rows[to/each])
		}
		t.Model.HiddenMean(x.pos.H, x.pos.V)
	}
	if err := s.Set("start", start); err != nil {
		return nil, err
	}
	var err error
	if x.e, err = negphase.New(s); err != nil {
		return nil, err
	}
	return x, negphase.Share(x.e, s, g)
}

// round makes one round of all chains and records their traces.
func (x *side) round(ctx context.Context) error {
	if err := x.group.Done(ctx); err != nil {
		return err
	}
	key := x.key.Child(uint64(x.rounds))
	phase, info, err := x.e.Estimate(x.target.Model, x.pos, key)
	if err != nil {
		return err
	}
	x.rounds++
	x.trips += int64(info.Get(negphase.RoundTrips))
	x.keep(phase, key.Child(weightKey))
	if x.rounds%x.every != 0 {
		return nil
	}
	x.target.Model.FreeEnergy(x.energies, x.v)
	for c, f := range x.energies {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%w: the free energy of a chain is %v", rbm.ErrDiverged, f)
		}
		x.trace[c] = append(x.trace[c], f)
		sum := 0.0
		for _, p := range x.h.Row(c) {
			sum += float64(p)
		}
		x.activity[c] = append(x.activity[c], sum)
		if c < keptChains {
			row := x.target.Model.NewVisible(1)
			row.CopyRow(0, x.v, c)
			x.states[c] = append(x.states[c], row)
		}
	}
	return nil
}

// keep copies the state of each chain. In a ladder this is one particle of each group, drawn with the
// weights of the estimate, which are the probabilities of being at temperature 1.
func (x *side) keep(phase rbm.Phase, key rbm.Key) {
	if x.trace == nil {
		x.each = 1
		if t, ok := x.e.(negphase.Tempered); ok {
			x.each = len(t.Ladder().Beta) // constant, because ladders have been tuned
		}
		n := phase.Rows() / x.each
		x.v, x.h = x.target.Model.NewVisible(n), rbm.NewMatrix(n, x.target.Model.Hidden())
		x.trace, x.activity, x.energies = make([][]float64, n), make([][]float64, n), make([]float64, n)
		x.states = make([][]rbm.Values, min(n, keptChains))
	}
	for c := range x.trace {
		row := c * x.each
		if x.each > 1 {
			row += pick(phase.Weight[row:row+x.each], key.Uniform(uint64(c)))
		}
		x.v.CopyRow(c, phase.V, row)
		copy(x.h.Row(c), phase.H.Row(row))
	}
}

// pick maps a uniform variate u in [0,1) to an index i, with probability proportional to weight[i]. The sum of
// the weights must be positive.
func pick(weight []float32, u float64) int {
	sum := 0.0
	for _, w := range weight {
		sum += float64(w)
	}
	last := 0
	for i, w := range weight {
		if w <= 0 {
			continue
		}
		if last = i; u*sum < float64(w) {
			break
		}
		u -= float64(w) / sum
	}
	return last
}

// settled returns the second half of the trace of each chain. The first half is burn-in.
func settled[T any](trace [][]T) [][]T {
	half := make([][]T, len(trace))
	for c, t := range trace {
		half[c] = t[len(t)/2:]
	}
	return half
}
