package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"gorbm/experiments/internal/claims"
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
var figure2 = claims.Figure{
	Name:  "2",
	Title: "spectral gaps of a 3×3 lattice against the coupling J",
	Says: "On the periodic lattice Metropolis in a fixed order never converges, and the modified operator does. On the free lattice both converge, " +
		"and the fastest is Gibbs at low J, the modified operator at medium J, and Metropolis at high J.",
	Jobs: func(o claims.Options) (jobs []claims.Job) {
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
	Finding: func(t *claims.Table) string {
		_, metro := curve(t, torus, metropolis).extremes()
		low, _ := curve(t, torus, modified).extremes()
		_, medium, strong := fastest(t)
		return fmt.Sprintf("Periodic: the gap of Metropolis is %g at each of %d couplings, and that of the modified operator is at least %.2g. Free: Gibbs is fastest up to J = %g, the modified operator up to %g, then Metropolis.",
			metro, len(t.Xs(torus, metropolis)), low, before(t.Xs(open, gibbs), medium[0]), before(t.Xs(open, gibbs), strong[0]))
	},
	Draw: func(w io.Writer, t *claims.Table) error {
		return drawGaps(w, t, []claims.Panel{
			{Name: torus, Title: "periodic, chessboard order"}, {Name: open, Title: "free, chessboard order"},
			{Name: torusLinear, Title: "periodic, linear order"}, {Name: openLinear, Title: "free, linear order"}})
	},
}

// before returns the largest of the couplings below j.
func before(couplings []float64, j float64) (last float64) {
	for _, c := range couplings {
		if c < j {
			last = c
		}
	}
	return last
}

// drawGaps draws panels with the gaps of all samplers, and the curves named in more. The points at
// J = 0 are not joined.
func drawGaps(w io.Writer, t *claims.Table, panels []claims.Panel, more ...string) error {
	for i := range panels {
		p := &panels[i]
		p.X, p.Y, p.Low, p.High, p.JoinFrom = "coupling J", "spectral gap", 0, 1, weak
	}
	return claims.Curves(w, t, 2, panels, append(samplerNames(), more...))
}

func samplerNames() (names []string) {
	for _, s := range samplers {
		names = append(names, s.name)
	}
	return names
}

func claims2(t *claims.Table) (all []claims.Claim) {
	for _, panel := range []string{torus, open} {
		g := curve(t, panel, gibbs)
		xs := where(func(float64) bool { return true }, g)
		all = append(all, claims.Holds("Gibbs, "+panel+": one sweep suffices at J = 0, and convergence slows down as the coupling grows",
			math.Abs(g[0]-1) < 1e-9 && falling(xs, g), g[0], "gap %.4g at J = 0; it falls from each of %d couplings to the next: %v", g[0], len(xs), falling(xs, g)))
	}
	m := curve(t, torus, metropolis)
	_, high := m.extremes()
	_, linear := curve(t, torusLinear, metropolis).extremes()
	all = append(all, claims.Holds("periodic: the gap of Metropolis is 0 at every J, in both orders", high == 0 && linear == 0, max(high, linear),
		"largest gap %g in chessboard order, %g in linear order", high, linear))
	for _, panel := range []string{torus, open} {
		low, _ := curve(t, panel, modified).extremes()
		all = append(all, claims.Holds("modified Metropolis, "+panel+": it converges at every J", low > 0, low, "smallest gap %.3g", low))
	}
	for _, panel := range []string{torus, open} {
		c := curve(t, panel, modified)
		all = append(all, claims.Holds("modified Metropolis, "+panel+": a discontinuity at J = 0: the gap is 1 there, and close to 0 at weak coupling",
			math.Abs(c[0]-1) < 1e-9 && c[weak] < weakGap, c[weak], "gap %.4g at J = 0 and %.3g at J = %g; close to 0 is below %g", c[0], c[weak], weak, weakGap))
	}
	faster := func(panel, a, b string) []float64 {
		x, y := curve(t, panel, a), curve(t, panel, b)
		return where(func(j float64) bool { return j > 0 && x[j] > y[j]*(1+1e-9) }, x)
	}
	won := faster(torus, modified, gibbs)
	all = append(all, claims.Holds("periodic: the modified operator is slower than Gibbs at weak coupling, and faster from medium coupling on",
		len(won) > 0 && !slices.Contains(won, weak), float64(len(won)), "faster %s", span(won)))
	last := t.Xs(torus, gibbs)
	end := last[len(last)-1]
	ratio := curve(t, torus, modified)[end] / curve(t, torus, gibbs)[end]
	all = append(all, claims.Holds("periodic: at very strong coupling the modified operator and Gibbs have the same speed", math.Abs(ratio-1) < weakGap, ratio,
		"ratio of the gaps %.4f at J = %g; within 5 %% counts as the same", ratio, end))
	low, medium, strong := fastest(t)
	all = append(all, claims.Holds("free: Gibbs is fastest at low J, the modified operator at medium J, Metropolis at high J",
		len(low) > 0 && len(medium) > 0 && len(strong) > 0 && low[len(low)-1] < medium[0] && medium[len(medium)-1] < strong[0], float64(len(medium)),
		"fastest: Gibbs %s, modified %s, Metropolis %s", span(low), span(medium), span(strong)))
	x, y := curve(t, open, modified).top()
	x2, y2 := curve(t, open, metropolis).top()
	all = append(all, claims.Holds("free: the gap of the modified operator rises faster than that of Metropolis, and has its maximum at a lower J", x < x2, x2-x,
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
func fastest(t *claims.Table) (low, medium, strong []float64) {
	g, m, c := curve(t, open, gibbs), curve(t, open, modified), curve(t, open, metropolis)
	low = where(func(j float64) bool { return j > 0 && g[j] > max(m[j], c[j]) }, g)
	medium = where(func(j float64) bool { return j > 0 && m[j] > max(g[j], c[j]) }, g)
	strong = where(func(j float64) bool { return j > 0 && c[j] > max(g[j], m[j]) }, g)
	return low, medium, strong
}

// sameOrders returns the claim that the order makes no difference, a remark of the paper without numbers.
func sameOrders(t *claims.Table) claims.Claim {
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
	return claims.Holds("chessboard and linear order have the same speed of convergence", worst < 0.01, worst,
		"largest difference of two gaps %.2g (%s, J = %g); within 0.01 counts as the same", worst, who, at)
}
