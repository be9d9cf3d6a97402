package main

import (
	"fmt"
	"slices"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/figures"
)

// contests are the figures of autocorrelations and energies.
var contests = []contest{
	{
		name: "2", repeats: 10, systems: []system{ferro(2.27)}, rewards: true,
		claims: func(s system, t *figures.Table) []figures.Claim {
			return append(slices.Concat(s.beatsGibbs(t), s.beats(t, clusters, sardonics)), s.learns(t).Aside())
		},
	},
	{
		name: "4", repeats: 10, alone: true, systems: []system{ferro(2.17), ferro(2.27), ferro(2.37)},
		more: func(t *figures.Table) []figures.Claim {
			low, critical, high := ferro(2.17), ferro(2.27), ferro(2.37)
			tau := func(s system) figures.Repeats { return s.Logs(t, chains.Tau+moves, sardonics) }
			return []figures.Claim{
				figures.Smaller("SARDONICS: τ in moves is shorter at T = 2.17 than at 2.27", tau(low), tau(critical)),
				figures.Smaller("SARDONICS: τ in moves is shorter at T = 2.37 than at 2.27", tau(high), tau(critical)),
				figures.Smaller("SARDONICS: the energies of a run have a smaller standard deviation at T = 2.17 than at 2.27", low.At(t, chains.Spread, sardonics), critical.At(t, chains.Spread, sardonics)),
			}
		},
	},
	{
		name: "5", repeats: 5, systems: []system{ferro(1), ferro(5)},
		claims: func(s system, t *figures.Table) (all []figures.Claim) {
			if s.beta != 1 {
				return append(s.beatsGibbs(t), s.vanished(t, sardonics), s.vanished(t, clusters),
					s.compare(t, "τ of SARDONICS in moves is shorter than that of Swendsen–Wang", chains.Tau+moves, sardonics, clusters).Aside(),
					s.compare(t, "SARDONICS gives more independent energies per second than Swendsen–Wang", chains.Gain, clusters, sardonics).Aside())
			}
			energies := func(curve string) figures.Repeats { return s.At(t, chains.Mean, curve) }
			for _, c := range []string{sardonics, clusters} {
				all = append(all, s.vanished(t, c),
					figures.Smaller(s.Panel("the energies of "+c+" are below those of Gibbs with one site per move"), energies(c), energies(oneSite)),
					figures.Smaller(s.Panel("the energies of "+c+" are below those of sweeps of Gibbs"), energies(c), energies(sweeps)).InOtherUnit())
			}
			return all
		},
	},
	{
		name: "6", repeats: 10, systems: []system{frustrated}, rewards: true,
		claims: func(s system, t *figures.Table) []figures.Claim {
			return append(slices.Concat(s.beatsGibbs(t), s.beats(t, sardonics, clusters)), s.learns(t))
		},
	},
	{name: "9", repeats: heavyRepeats, systems: []system{cube}, rewards: true, claims: rivals},
	{
		name: "10", repeats: heavyRepeats, systems: []system{machine}, rewards: true, flags: "-model FILE",
		claims: func(s system, t *figures.Table) []figures.Claim {
			return append(s.beatsGibbs(t),
				figures.Larger(s.Panel("Swendsen–Wang fails to converge: its energies are above those of block Gibbs"), s.At(t, chains.Mean, clusters), s.At(t, chains.Mean, blocks)),
				figures.NotLess(s.Panel("τ of SARDONICS in moves is not longer than that of block Gibbs"), s.Logs(t, chains.Tau+moves, blocks), s.Logs(t, chains.Tau+moves, sardonics)),
				s.compare(t, "SARDONICS takes more time per move than block Gibbs", chains.Micro, blocks, sardonics),
				s.compare(t, "SARDONICS gives more independent energies per second than block Gibbs", chains.Gain, blocks, sardonics).Aside(),
				s.learns(t).Aside())
		},
	},
	{name: "12", repeats: 10, systems: []system{chimera}, rewards: true, claims: rivals},
}

// rivals returns the claims that SARDONICS is better than Gibbs and Swendsen–Wang.
func rivals(s system, t *figures.Table) []figures.Claim {
	return append(slices.Concat(s.beatsGibbs(t), s.beats(t, sardonics, clusters)), s.learns(t).Aside())
}

// compare returns the claim that the number of curve a is smaller than that of b, by their logarithms.
func (s system) compare(t *figures.Table, text, panel, a, b string) figures.Claim {
	return figures.Smaller(s.Panel(text), s.Logs(t, panel, a), s.Logs(t, panel, b)).Times()
}

// beatsGibbs returns the claims that SARDONICS is better than Gibbs: in moves as in the paper, in flips and in seconds.
func (s system) beatsGibbs(t *figures.Table) []figures.Claim {
	return []figures.Claim{
		s.compare(t, "τ of SARDONICS in moves is shorter than that of Gibbs with one site per move, as the paper counts moves", chains.Tau+moves, sardonics, oneSite),
		s.compare(t, "τ of SARDONICS in moves is shorter than that of Gibbs with 40 sites per move, which took equal time in the paper", chains.Tau+moves, sardonics, manySites),
		s.compare(t, "τ of SARDONICS in flips is shorter than that of sweeps of Gibbs", chains.Tau+flips, sardonics, sweeps).InOtherUnit(),
		s.compare(t, "SARDONICS gives more independent energies per second than sweeps of Gibbs", chains.Gain, sweeps, sardonics).InOtherUnit(),
	}
}

// beats returns the claims that a mixes faster than b, in moves, flips and seconds.
func (s system) beats(t *figures.Table, a, b string) []figures.Claim {
	return []figures.Claim{
		s.compare(t, "τ of "+a+" in moves is shorter than that of "+b, chains.Tau+moves, a, b),
		s.compare(t, "τ of "+a+" in flips is shorter than that of "+b, chains.Tau+flips, a, b).InOtherUnit(),
		s.compare(t, a+" gives more independent energies per second than "+b, chains.Gain, b, a).InOtherUnit(),
	}
}

// vanished returns the claim that the autocorrelation of a sampler is below 0.05 at a tenth of the largest lag of the
// picture.
func (s system) vanished(t *figures.Table, curve string) figures.Claim {
	at := func(lag float64) float64 { return t.At(s.Panel(chains.Rho+moves), curve, lag).Mean() }
	const lag = mostLag / 10
	return figures.Holds(s.Panel(fmt.Sprintf("the autocorrelation of %s has fallen below 0.05 at a tenth of the largest lag shown, %g moves", curve, lag)), at(lag) < 0.05, at(lag),
		"%.3f at a lag of %g moves, %.3f at 10", at(lag), lag, at(10))
}

// learns returns the claim that tuning raises the reward that the paper plots.
func (s system) learns(t *figures.Table) figures.Claim {
	last := t.LastX(s.Panel(reward), sardonics)
	mean := func(lo, hi float64) figures.Repeats { return t.Mean(s.Panel(reward), sardonics, lo, hi) }
	return figures.Larger(s.Panel(fmt.Sprintf("the rewards of the last %d trials of tuning are above those of the first %d", lastTrials, firstTrials)), mean(last-lastTrials+1, last), mean(0, firstTrials))
}
