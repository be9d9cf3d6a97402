package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gorbm/experiments/internal/figures"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
)

// A sampler is a named way to update spins, a curve in the pictures.
type sampler struct {
	name  string
	mover func(o mcmc.Order) mcmc.Mover
}

const gibbs, metropolis, modified = "Gibbs", "Metropolis", "modified Metropolis"

var samplers = []sampler{
	{gibbs, func(o mcmc.Order) mcmc.Mover { return mcmc.Gibbs{Order: o} }},
	{metropolis, func(o mcmc.Order) mcmc.Mover { return mcmc.Metropolis{Order: o} }},
	{modified, func(o mcmc.Order) mcmc.Mover { return mcmc.ModifiedMetropolis{Order: o} }},
}

// leastGap is the size of rounding errors. A smaller gap has no correct digit.
const leastGap = 1e-12

// An operator is a transition matrix with its stationary distribution. mcmc.SweepOperator is one.
type operator interface {
	diag.Operator
	Stationary() []float64
}

// spectralGap returns the spectral gap. It is 0 if the chain is reducible or periodic, and otherwise
// at least leastGap.
func spectralGap(o operator) (float64, error) {
	gap, err := diag.SpectralGap(o, o.Stationary())
	if err == nil && gap < leastGap && diag.Period(o) == 1 {
		gap = leastGap
	}
	return gap, err
}

// gapsJob returns a job that computes the gaps of samplers on a 3×3 lattice at coupling j. The job's name begins with panel and
// suffix. Sweeps are in the given order; with once they update each site once, in random order.
func gapsJob(panel, suffix string, periodic bool, samplers []sampler, order mcmc.Order, once bool, j float64) figures.Job {
	return figures.Job{Name: fmt.Sprintf("%s%s 3x3 J=%g", panel, suffix, j), Run: func(_ context.Context, add figures.Add) error {
		g, err := mcmc.ParseGraph("3x3", periodic, mcmc.Uniform(j), 0)
		if err != nil {
			return err
		}
		for _, m := range samplers {
			sweep, err := mcmc.NewSweepOperator(mcmc.NewIsing(g, nil), m.mover(order), 1, nil)
			if err != nil {
				return err
			}
			var o operator = sweep
			if once {
				o = newShuffled(sweep, g.Len())
			}
			gap, err := spectralGap(o)
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			add(panel, m.name, j, gap)
		}
		return nil
	}}
}

// couplings returns the couplings J of a figure. The second one shows the limit of weak coupling.
func couplings(o figures.Options) []float64 {
	step := figures.Size(o, 0.15, 0.025)
	js := []float64{0, weak}
	for k := 1; float64(k)*step < 1.5+step/2; k++ {
		js = append(js, math.Round(1000*float64(k)*step)/1000)
	}
	return js
}

// A curveOf maps x to y for a curve without random numbers.
type curveOf map[float64]float64

func curve(t *figures.Table, panel, name string) curveOf {
	c := curveOf{}
	for _, p := range t.Curve(panel, name) {
		c[p.X] = p.Y
	}
	return c
}

// where returns the x of c that satisfy the condition, in order.
func where(condition func(x float64) bool, c curveOf) (xs []float64) {
	for x := range c {
		if condition(x) {
			xs = append(xs, x)
		}
	}
	slices.Sort(xs)
	return xs
}

// top returns the largest value y and its x, without J = 0.
func (c curveOf) top() (x, y float64) {
	for j, gap := range c {
		if j > 0 && (gap > y || gap == y && j < x) {
			x, y = j, gap
		}
	}
	return x, y
}

// extremes returns the smallest and the largest value.
func (c curveOf) extremes() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, y := range c {
		low, high = min(low, y), max(high, y)
	}
	return low, high
}

// span describes a range of couplings.
func span(xs []float64) string {
	switch len(xs) {
	case 0:
		return "nowhere"
	case 1:
		return fmt.Sprintf("at J = %g", xs[0])
	}
	return fmt.Sprintf("at %d couplings, J = %g … %g", len(xs), xs[0], xs[len(xs)-1])
}
