package chains

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"gorbm/experiments/internal/figures"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
)

// A Label is the name of a system. The names of the system's panels begin with the label.
type Label string

// Panel returns the name of a panel of the system.
func (l Label) Panel(name string) string { return string(l) + ": " + name }

// Rho returns a panel of autocorrelations.
func (l Label) Rho(name, title, lag string, log bool) figures.Panel {
	return figures.Panel{Name: l.Panel(name), Title: string(l) + ": " + title, X: lag, Y: "ρ", LogX: log, Low: -0.1, High: 1, Whole: true}
}

// At returns the values of a panel by run. The panel must have one number per run.
func (l Label) At(t *figures.Table, panel, curve string) figures.Repeats {
	return t.At(l.Panel(panel), curve, 0)
}

// Logs returns the natural logarithms of At.
func (l Label) Logs(t *figures.Table, panel, curve string) figures.Repeats {
	return l.At(t, panel, curve).Logs()
}

// Adder returns an Add for the panels of the system. It leaves out numbers that are not finite.
func (l Label) Adder(add figures.Add) figures.Add {
	return func(panel, curve string, x, y float64) {
		if !math.IsNaN(y) && !math.IsInf(y, 0) {
			add(l.Panel(panel), curve, x, y)
		}
	}
}

// Panels of Measure. X is a lag in those of ρ, and otherwise 0. Energies are per site. The name of a unit follows Rho and Tau.
const (
	Rho    = "ρ by "
	Tau    = "τ in "
	Gain   = "independent energies a second"
	Mean   = "mean energy"
	Spread = "spread of energies" // standard deviation
	Micro  = "µs a move"
)

// A Unit is a unit of the cost of a run, in which lags and τ are measured.
type Unit struct {
	Name string
	Cost float64   // of the moves between two energies
	Lags []float64 // at which ρ is measured, in this unit; nil: none
}

// Measure adds the numbers of a run on the given number of sites. It discards the first burnt energies. A recorded energy is worth
// this number of moves. Autocorrelations are known up to a lag of the fraction longest of the run.
func Measure(add figures.Add, r Run, burnt int, sites, moves, longest float64, units ...Unit) {
	energies := r.Energies[burnt:]
	summary := diag.Summarize(energies)
	tau := summary.Time.Tau
	if math.IsInf(tau, 1) { // the energy never changed
		tau = float64(len(energies))
	}
	for _, u := range units {
		most := math.Floor(longest * float64(len(energies)))
		Decay(energies, slices.DeleteFunc(u.Lags, func(lag float64) bool { return lag > u.Cost*most }), u.Cost, func(lag, rho float64) { add(Rho+u.Name, r.Name, lag, rho) })
		add(Tau+u.Name, r.Name, 0, tau*u.Cost)
	}
	add(Gain, r.Name, 0, r.Rate()/(2*tau))
	mean, sd := stat.MeanStdDev(energies, nil)
	add(Mean, r.Name, 0, mean/sites)
	add(Spread, r.Name, 0, sd/sites)
	add(Micro, r.Name, 0, 1e6/r.Rate()/moves)
}

// Decay calls add with each lag at which the autocorrelation of energies is known, and with the autocorrelation, which is
// interpolated linearly between lags of moves. Lags are in a unit of cost, such as seconds, and cost is that of a move. They are known
// from one move to half the length of the series.
func Decay(energies, lags []float64, cost float64, add func(lag, rho float64)) {
	half, most := float64(len(energies)/2), 0.
	for _, l := range lags {
		if l/cost <= half {
			most = max(most, l/cost)
		}
	}
	rho := diag.Autocorrelation(energies, int(most)+1)
	for _, l := range lags {
		if k := int(l / cost); l/cost >= 1 && k+1 < len(rho) {
			w := l/cost - float64(k)
			add(l, (1-w)*rho[k]+w*rho[k+1])
		}
	}
}

// Repeated returns jobs for n seeds, from 1, of each system.
func Repeated[S interface{ String() string }](systems []S, n int, run func(ctx context.Context, s S, seed int, add figures.Add) error) (jobs []figures.Job) {
	for seed := 1; seed <= n; seed++ {
		for _, s := range systems {
			jobs = append(jobs, figures.Job{Name: fmt.Sprintf("%v, seed %d", s, seed), Repeat: seed, Run: func(ctx context.Context, add figures.Add) error { return run(ctx, s, seed, add) }})
		}
	}
	return jobs
}

// String returns the label.
func (l Label) String() string { return string(l) }

// Apart writes which samplers have different mean energies, and so have not sampled the same states. Means differ at p < 0.001 by
// Welch's test, because three standard errors are not enough for few repetitions and many comparisons.
func (l Label) Apart(b *strings.Builder, t *figures.Table, curves []string) {
	for i, x := range curves {
		for _, y := range curves[:i] {
			p, q := l.At(t, Mean, y), l.At(t, Mean, x)
			if len(p) < 2 || len(q) < 2 {
				continue
			}
			if errs, chance := diag.Welch(slices.Sorted(maps.Values(p)), slices.Sorted(maps.Values(q))); chance < 0.001 {
				fmt.Fprintf(b, "\n%s: the mean energies of %q and %q differ by %.1f standard errors, so at least one of them has not converged. τ uses the mean of each run. So the values of τ describe different sets of states, and cannot be compared.\n", l, y, x, math.Abs(errs))
			}
		}
	}
}

// Onto builds a system and sets its state.
func Onto(build func() mcmc.Settable, state []uint8) mcmc.Settable {
	x := build()
	x.SetState(state)
	return x
}
