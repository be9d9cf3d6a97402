package main

import (
	"io"
	"math/bits"
	"slices"

	"gorbm/experiments/internal/figures"
	"gorbm/negphase/mcmc"
)

// Panels of Figure B.5, in addition to open and torus.
const (
	torusOnce = "periodic, each site once"
	openOnce  = "free, each site once"
)

// randomPanels are the panels of Figure B.5 with their boundaries and orders.
var randomPanels = []struct {
	name, boundary, order string
	periodic, once        bool
}{
	{open, "free", allSites, false, false},
	{torus, "periodic", allSites, true, false},
	{openOnce, "free", eachOnce, false, true},
	{torusOnce, "periodic", eachOnce, true, true},
}

// Ways to draw a random order.
const (
	allSites = "sites drawn from all"
	eachOnce = "each site once"
)

// figureB5 is Figure B.5: random order, compared with Gibbs in a fixed order.
var figureB5 = figures.Figure{
	Name: "B.5",
	Jobs: func(o figures.Options) (jobs []figures.Job) {
		for i, j := range couplings(o) {
			if o.Quick && i%3 != 2 {
				continue // every third coupling and the last one remain
			}
			for _, p := range randomPanels {
				order := mcmc.Random
				if p.once {
					order = mcmc.Linear // newShuffled updates the sites one by one
				}
				jobs = append(jobs, gapsJob(p.name, "", p.periodic, samplers, order, p.once, j), gapsJob(p.name, ", fixed", p.periodic, fixedGibbs, mcmc.Chessboard, false, j))
			}
		}
		return jobs
	},
	Claims: claimsB5,
	Draw: func(w io.Writer, t *figures.Table) error {
		var panels []figures.Panel
		for _, p := range randomPanels {
			panels = append(panels, figures.Panel{Name: p.name, Title: p.boundary + " boundary, " + p.order})
		}
		return drawGaps([]string{fixedOrder}, panels...)(w, t)
	},
}

const fixedOrder = "Gibbs in fixed order"

// fixedGibbs is the sampler with which random order is compared.
var fixedGibbs = []sampler{{fixedOrder, func(o mcmc.Order) mcmc.Mover { return mcmc.Gibbs{Order: o} }}}

// A shuffled is the operator of a sweep that updates each site once, in a uniformly
// random order. It is the mean of the products of the sites' operators in all n! orders.
type shuffled struct {
	*mcmc.SweepOperator
	after [][]float64 // by subset of the sites, as a bit mask: the distribution after their updates
	last  []float64   // scratch
}

func newShuffled(o *mcmc.SweepOperator, sites int) *shuffled {
	s := &shuffled{SweepOperator: o, after: make([][]float64, 1<<sites), last: make([]float64, o.States())}
	for k := range s.after {
		s.after[k] = make([]float64, o.States())
	}
	return s
}

// Step overwrites a distribution with the distribution after a sweep. Each site of a subset is the last of
// the subset with equal probability. So the distribution after the subset is a mean over its sites i of the
// distribution after the other sites, followed by an update of site i.
func (s *shuffled) Step(x []float64) {
	copy(s.after[0], x)
	for set := 1; set < len(s.after); set++ {
		sum := s.after[set]
		clear(sum)
		for rest := set; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros(uint(rest))
			copy(s.last, s.after[set^1<<i])
			s.Update(s.last, i)
			for k, w := range s.last {
				sum[k] += w
			}
		}
		for k := range sum {
			sum[k] /= float64(bits.OnesCount(uint(set)))
		}
	}
	copy(x, s.after[len(s.after)-1])
}

// slowerThanFixed counts the settings, without Metropolis on the periodic lattice, in which a random order is slower than Gibbs in a
// fixed order.
func slowerThanFixed(t *figures.Table, order string) (slower, settings int) {
	for _, p := range randomPanels {
		if p.order != order {
			continue
		}
		fixed := curve(t, p.name, fixedOrder)
		for _, s := range samplers {
			if p.periodic && s.name == metropolis {
				continue
			}
			for j, gap := range curve(t, p.name, s.name) {
				settings++
				if gap < fixed[j] {
					slower++
				}
			}
		}
	}
	return slower, settings
}

func claimsB5(t *figures.Table) (all []figures.Claim) {
	for _, order := range []string{allSites, eachOnce} {
		slower, settings := slowerThanFixed(t, order)
		fraction := float64(slower) / float64(settings)
		all = append(all, figures.Holds(order+": without Metropolis on the periodic lattice, random order is slower than Gibbs in a fixed order in almost all settings", fraction > 0.9, fraction,
			"slower in %d of %d settings; almost all is more than 90 %%", slower, settings))
	}
	for _, p := range randomPanels {
		if !p.periodic {
			continue
		}
		m, fixed := curve(t, p.name, metropolis), curve(t, p.name, fixedOrder)
		better := where(func(j float64) bool { return j > 0 && m[j] > fixed[j] }, m)
		end := slices.Max(t.Xs(p.name, metropolis))
		all = append(all, figures.Holds(p.order+", periodic: Metropolis in random order is faster than Gibbs in a fixed order at high J", m[end] > fixed[end], m[end]/fixed[end],
			"its gap is %.2f times that of Gibbs at J = %g; faster %s", m[end]/fixed[end], end, span(better)))
	}
	return all
}
