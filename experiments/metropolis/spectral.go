package main

import (
	"io"
	"math"
	"slices"

	"gorbm/experiments/internal/figures"
	"gorbm/negphase/mcmc"
)

// Panels of Figures 2 and B.5.
const (
	torus       = "periodic"
	open        = "free"
	torusLinear = "periodic, linear"
	openLinear  = "free, linear"
)

// weak is the smallest coupling above 0.
const weak = 0.001

// weakGap is the largest gap that counts as close to 0, and the largest relative
// difference between gaps that count as equal.
const weakGap = 0.05

// figure2 is Figure 2 of the paper. It also checks the remark that the linear order makes no
// difference.
var figure2 = figures.Figure{
	Name: "2",
	Jobs: func(o figures.Options) (jobs []figures.Job) {
		for _, j := range couplings(o) {
			jobs = append(jobs,
				gapsJob(torus, "", true, samplers, mcmc.Chessboard, false, j),
				gapsJob(open, "", false, samplers, mcmc.Chessboard, false, j),
				gapsJob(torusLinear, "", true, samplers, mcmc.Linear, false, j),
				gapsJob(openLinear, "", false, samplers, mcmc.Linear, false, j))
		}
		return jobs
	},
	Claims: claims2,
	Draw: drawGaps(nil, figures.Panel{Name: torus, Title: "periodic, chessboard order"}, figures.Panel{Name: open, Title: "free, chessboard order"},
		figures.Panel{Name: torusLinear, Title: "periodic, linear order"}, figures.Panel{Name: openLinear, Title: "free, linear order"}),
}

// drawGaps draws panels with the gaps of all samplers, and the curves named in more. The points at
// J = 0 are not joined.
func drawGaps(more []string, panels ...figures.Panel) func(w io.Writer, t *figures.Table) error {
	names := more
	for i, s := range samplers {
		names = slices.Insert(slices.Clone(names), i, s.name)
	}
	for i := range panels {
		p := &panels[i]
		p.X, p.Y, p.Low, p.High, p.JoinFrom = "coupling J", "spectral gap", 0, 1, weak
	}
	return figures.Curves(2, names, panels...)
}

func claims2(t *figures.Table) (all []figures.Claim) {
	for _, panel := range []string{torus, open} {
		g := curve(t, panel, gibbs)
		xs := where(func(float64) bool { return true }, g)
		all = append(all, figures.Holds("Gibbs, "+panel+": one sweep suffices at J = 0, and convergence slows down as the coupling grows",
			math.Abs(g[0]-1) < 1e-9 && falling(xs, g), g[0], "gap %.4g at J = 0; it falls from each of %d couplings to the next: %v", g[0], len(xs), falling(xs, g)))
	}
	m := curve(t, torus, metropolis)
	_, high := m.extremes()
	_, linear := curve(t, torusLinear, metropolis).extremes()
	all = append(all, figures.Holds("periodic: the gap of Metropolis is 0 at every J, in both orders", high == 0 && linear == 0, max(high, linear),
		"largest gap %g in chessboard order, %g in linear order", high, linear))
	for _, panel := range []string{torus, open} {
		low, _ := curve(t, panel, modified).extremes()
		all = append(all, figures.Holds("modified Metropolis, "+panel+": it converges at every J", low > 0, low, "smallest gap %.3g", low))
	}
	for _, panel := range []string{torus, open} {
		c := curve(t, panel, modified)
		all = append(all, figures.Holds("modified Metropolis, "+panel+": a discontinuity at J = 0: the gap is 1 there, and close to 0 at weak coupling",
			math.Abs(c[0]-1) < 1e-9 && c[weak] < weakGap, c[weak], "gap %.4g at J = 0 and %.3g at J = %g; close to 0 is below %g", c[0], c[weak], weak, weakGap))
	}
	faster := func(panel, a, b string) []float64 {
		x, y := curve(t, panel, a), curve(t, panel, b)
		return where(func(j float64) bool { return j > 0 && x[j] > y[j]*(1+1e-9) }, x)
	}
	won := faster(torus, modified, gibbs)
	all = append(all, figures.Holds("periodic: the modified operator is slower than Gibbs at weak coupling, and faster from medium coupling on",
		len(won) > 0 && !slices.Contains(won, weak), float64(len(won)), "faster %s", span(won)))
	last := t.Xs(torus, gibbs)
	end := last[len(last)-1]
	ratio := curve(t, torus, modified)[end] / curve(t, torus, gibbs)[end]
	all = append(all, figures.Holds("periodic: at very strong coupling the modified operator and Gibbs have the same speed", math.Abs(ratio-1) < weakGap, ratio,
		"ratio of the gaps %.4f at J = %g; within 5 %% counts as the same", ratio, end))
	low, medium, strong := fastest(t)
	all = append(all, figures.Holds("free: Gibbs is fastest at low J, the modified operator at medium J, Metropolis at high J",
		len(low) > 0 && len(medium) > 0 && len(strong) > 0 && low[len(low)-1] < medium[0] && medium[len(medium)-1] < strong[0], float64(len(medium)),
		"fastest: Gibbs %s, modified %s, Metropolis %s", span(low), span(medium), span(strong)))
	x, y := curve(t, open, modified).top()
	x2, y2 := curve(t, open, metropolis).top()
	all = append(all, figures.Holds("free: the gap of the modified operator rises faster than that of Metropolis, and has its maximum at a lower J", x < x2, x2-x,
		"maximum %.3f at J = %g; Metropolis %.3f at J = %g", y, x, y2, x2))
	return append(all, sameOrders(t))
}

// falling reports whether the values fall along xs.
func falling(xs []float64, c curveOf) bool {
	for i := 1; i < len(xs); i++ {
		if !(c[xs[i]] < c[xs[i-1]]) {
			return false
		}
	}
	return true
}

// fastest returns the couplings above 0 at which each sampler is the fastest on the
// free lattice.
func fastest(t *figures.Table) (low, medium, strong []float64) {
	g, m, c := curve(t, open, gibbs), curve(t, open, modified), curve(t, open, metropolis)
	low = where(func(j float64) bool { return j > 0 && g[j] > max(m[j], c[j]) }, g)
	medium = where(func(j float64) bool { return j > 0 && m[j] > max(g[j], c[j]) }, g)
	strong = where(func(j float64) bool { return j > 0 && c[j] > max(g[j], m[j]) }, g)
	return low, medium, strong
}

// sameOrders returns the claim that the order makes no difference, a remark of the paper without numbers.
func sameOrders(t *figures.Table) figures.Claim {
	worst, at, who := 0.0, 0.0, ""
	for _, pair := range [][2]string{{torus, torusLinear}, {open, openLinear}} {
		for _, s := range samplers {
			a, b := curve(t, pair[0], s.name), curve(t, pair[1], s.name)
			for _, j := range t.Xs(pair[0], s.name) {
				if d := math.Abs(a[j] - b[j]); who == "" || d > worst {
					worst, at, who = d, j, s.name+", "+pair[0]
				}
			}
		}
	}
	return figures.Holds("chessboard and linear order have the same speed of convergence", worst < 0.01, worst,
		"largest difference of two gaps %.2g (%s, J = %g); within 0.01 counts as the same", worst, who, at)
}
