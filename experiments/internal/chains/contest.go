package chains

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"gorbm/experiments/internal/claims"
	"gorbm/negphase/mcmc"
)

// A Label is the name of a system. The names of the system's panels begin with the label.
type Label string

// Panel returns the name of a panel of the system.
func (l Label) Panel(name string) string { return string(l) + ": " + name }

// Rho returns a panel of autocorrelations.
func (l Label) Rho(name, title, lag string, log bool) claims.Panel {
	return claims.Panel{Name: l.Panel(name), Title: string(l) + ": " + title, X: lag, Y: "ρ", LogX: log, Low: -0.1, High: 1, Whole: true}
}

// At returns the values of a panel by run. The panel must have one number per run.
func (l Label) At(t *claims.Table, panel, curve string) claims.Repeats {
	return t.At(l.Panel(panel), curve, 0)
}

// Mean returns the mean of At over the runs.
func (l Label) Mean(t *claims.Table, panel, curve string) float64 {
	mean, _ := l.At(t, panel, curve).Average()
	return mean
}

// Logs returns the natural logarithms of At.
func (l Label) Logs(t *claims.Table, panel, curve string) claims.Repeats {
	return Logs(l.At(t, panel, curve))
}

// Apart writes which samplers have different mean energies, and so have not sampled the same states.
func (l Label) Apart(b *strings.Builder, t *claims.Table, panel string, curves []string) {
	for i, x := range curves {
		for _, y := range curves[:i] {
			if errs, yes := claims.Differ(l.At(t, panel, y), l.At(t, panel, x)); yes {
				fmt.Fprintf(b, "\n%s: the mean energies of %q and %q differ by %.1f standard errors, so at least one of them has not converged. τ uses the mean of each run. So the values of τ describe different sets of states, and cannot be compared.\n", l, y, x, errs)
			}
		}
	}
}

// Logs returns the natural logarithms of values.
func Logs(r claims.Repeats) claims.Repeats {
	l := claims.Repeats{}
	for k, x := range r {
		l[k] = math.Log(x)
	}
	return l
}

// Factor formats the geometric mean of values and its standard error, which is a factor, given their logarithms.
func Factor(r claims.Repeats) string {
	mean, sd := r.Average()
	return fmt.Sprintf("%s ×/÷ %.2f", Digits(math.Exp(mean)), math.Exp(sd/math.Sqrt(float64(len(r)))))
}

// Typical formats the geometric mean of values.
func Typical(r claims.Repeats) string {
	mean, _ := Logs(r).Average()
	return Digits(math.Exp(mean))
}

// Digits formats x with three digits, or with all digits before the point.
func Digits(x float64) string {
	if x >= 999.5 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// Onto builds a system and sets its state.
func Onto(build func() mcmc.Settable, state []uint8) mcmc.Settable {
	x := build()
	x.SetState(state)
	return x
}

// Decay calls add with each lag at which the autocorrelation of energies is known, and with the autocorrelation.
// Lags are in a unit of cost, such as seconds, and cost is that of a move.
func Decay(energies, lags []float64, cost float64, add func(lag, rho float64)) {
	moves := slices.Clone(lags)
	floats.Scale(1/cost, moves)
	for k, rho := range Correlation(energies, moves) {
		if !math.IsNaN(rho) {
			add(lags[k], rho)
		}
	}
}
