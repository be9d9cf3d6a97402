package main

import (
	"fmt"
	"slices"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
)

// contests are the figures of autocorrelations and energies.
var contests = []contest{
	{
		name: "2", repeats: 10, title: "the ferromagnet at its critical temperature", systems: []system{ferro(2.27)}, rewards: true,
		says: "Swendsen–Wang does considerably better than its competitors, and SARDONICS much better than Gibbs.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			return append(slices.Concat(s.beatsGibbs(t), s.beats(t, clusters, sardonics)), s.learns(t).Aside())
		},
	},
	{
		name: "4", repeats: 10, alone: true, title: "the ferromagnet around its critical temperature", systems: []system{ferro(2.17), ferro(2.27), ferro(2.37)},
		says:   "at T = 2.17 and 2.37 SARDONICS mixes more rapidly than at T = 2.27. At 2.37 this is true. At 2.17 it appears so because the sampler explores a narrower range of energies.",
		claims: func(system, *claims.Table) []claims.Claim { return nil },
		finding: func(t *claims.Table) string {
			tau := func(temperature float64) string {
				return chains.Typical(ferro(temperature).At(t, tauMoves, sardonics))
			}
			sd := func(temperature float64) float64 { return ferro(temperature).Mean(t, sdPanel, sardonics) }
			return fmt.Sprintf("τ of SARDONICS is %s moves at T = 2.17, %s at 2.27 and %s at 2.37. The energies of a run have a standard deviation of %.3f per site at 2.17 and %.3f at 2.27.", tau(2.17), tau(2.27), tau(2.37), sd(2.17), sd(2.27))
		},
		more: func(t *claims.Table) []claims.Claim {
			low, critical, high := ferro(2.17), ferro(2.27), ferro(2.37)
			return []claims.Claim{
				claims.Smaller("SARDONICS: τ in moves is shorter at T = 2.17 than at 2.27", low.Logs(t, tauMoves, sardonics), critical.Logs(t, tauMoves, sardonics)),
				claims.Smaller("SARDONICS: τ in moves is shorter at T = 2.37 than at 2.27", high.Logs(t, tauMoves, sardonics), critical.Logs(t, tauMoves, sardonics)),
				claims.Smaller("SARDONICS: the energies of a run have a smaller standard deviation at T = 2.17 than at 2.27", low.At(t, sdPanel, sardonics), critical.At(t, sdPanel, sardonics)),
			}
		},
	},
	{
		name: "5", repeats: 5, title: "the ferromagnet at low and at high temperature", systems: []system{ferro(1), ferro(5)},
		finding: func(t *claims.Table) string {
			cold, hot := ferro(1), ferro(5)
			mean := func(curve string) float64 { return cold.Mean(t, meanPanel, curve) }
			return fmt.Sprintf("At T = 1 the mean energies per site are %.2f by SARDONICS, %.2f by Swendsen–Wang and %.2f by Gibbs with one site per move; the same number of sweeps of Gibbs reaches %.2f. The autocorrelation of SARDONICS is still %.2f after 50 moves. At T = 5, τ is %s moves by SARDONICS and %s by Swendsen–Wang.",
				mean(sardonics), mean(clusters), mean(oneSite), mean(sweeps), t.At(cold.Panel(rhoMoves), sardonics, 50).Mean(), chains.Typical(hot.At(t, tauMoves, sardonics)), chains.Typical(hot.At(t, tauMoves, clusters)))
		},
		says: "at T = 5 SARDONICS is comparable to Swendsen–Wang. At T = 1 the autocorrelations vanish quickly, but both are trapped at a few of the peaks. They find states of lower energy than Gibbs.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			if s.beta == 1 {
				var all []claims.Claim
				for _, c := range []string{sardonics, clusters} {
					all = append(all, s.vanished(t, c),
						claims.Smaller(s.Panel("the energies of "+c+" are below those of Gibbs with one site per move"), s.At(t, meanPanel, c), s.At(t, meanPanel, oneSite)),
						claims.Smaller(s.Panel("the energies of "+c+" are below those of sweeps of Gibbs"), s.At(t, meanPanel, c), s.At(t, meanPanel, sweeps)).InOtherUnit())
				}
				return all
			}
			return append(s.beatsGibbs(t), s.vanished(t, sardonics), s.vanished(t, clusters),
				claims.Smaller(s.Panel("τ of SARDONICS in moves is shorter than that of Swendsen–Wang"), s.Logs(t, tauMoves, sardonics), s.Logs(t, tauMoves, clusters)).Aside(),
				claims.Larger(s.Panel("SARDONICS gives more independent energies per second than Swendsen–Wang"), s.Logs(t, gainPanel, sardonics), s.Logs(t, gainPanel, clusters)).Aside())
		},
	},
	{
		name: "6", repeats: 10, title: "the frustrated square lattice, couplings and fields of ±1, T = 1", systems: []system{frustrated}, rewards: true,
		says: "SARDONICS does considerably better than its rivals, and Swendsen–Wang much worse than on the ferromagnet.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			return append(slices.Concat(s.beatsGibbs(t), s.beats(t, sardonics, clusters)), s.learns(t))
		},
	},
	{
		name: "9", repeats: heavyRepeats, title: "the cube of 9×9×9 spins, couplings of ±1, β = 1", systems: []system{cube}, rewards: true,
		says: "Swendsen–Wang deteriorates substantially; SARDONICS still mixes reasonably well.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			return append(slices.Concat(s.beatsGibbs(t), s.beats(t, sardonics, clusters)), s.learns(t).Aside())
		},
	},
	{
		name: "10", repeats: heavyRepeats, title: "the authors' RBM of 784 × 500 units", systems: []system{machine}, rewards: true, flags: "-model FILE",
		says: "SARDONICS mixes significantly better than Swendsen–Wang and Gibbs, and compares well with block Gibbs per move, at the price of more computing time. Swendsen–Wang (figure 11, left) fails to converge.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			return append(s.beatsGibbs(t),
				claims.Larger(s.Panel("Swendsen–Wang fails to converge: its energies are above those of block Gibbs"), s.At(t, meanPanel, clusters), s.At(t, meanPanel, blocks)),
				claims.NotLess(s.Panel("τ of SARDONICS in moves is not longer than that of block Gibbs"), s.Logs(t, tauMoves, blocks), s.Logs(t, tauMoves, sardonics), claims.Factor),
				claims.Larger(s.Panel("SARDONICS takes more time per move than block Gibbs"), s.Logs(t, microPanel, sardonics), s.Logs(t, microPanel, blocks)),
				claims.Larger(s.Panel("SARDONICS gives more independent energies per second than block Gibbs"), s.Logs(t, gainPanel, sardonics), s.Logs(t, gainPanel, blocks)).Aside(),
				s.learns(t).Aside())
		},
	},
	{
		name: "12", repeats: 10, title: "chimera lattice of 128 spins, couplings uniform in [−1, 1], β = 1", systems: []system{chimera}, rewards: true,
		says: "SARDONICS once again outperforms its competitors.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			return append(slices.Concat(s.beatsGibbs(t), s.beats(t, sardonics, clusters)), s.learns(t).Aside())
		},
	},
}

// beatsGibbs returns the claims that SARDONICS is better than Gibbs: in moves as in the paper, in flips and in seconds.
func (s system) beatsGibbs(t *claims.Table) []claims.Claim {
	return []claims.Claim{
		claims.Smaller(s.Panel("τ of SARDONICS in moves is shorter than that of Gibbs with one site per move, as the paper counts moves"), s.Logs(t, tauMoves, sardonics), s.Logs(t, tauMoves, oneSite)),
		claims.Smaller(s.Panel("τ of SARDONICS in moves is shorter than that of Gibbs with 40 sites per move, which took equal time in the paper"), s.Logs(t, tauMoves, sardonics), s.Logs(t, tauMoves, manySites)),
		claims.Smaller(s.Panel("τ of SARDONICS in flips is shorter than that of sweeps of Gibbs"), s.Logs(t, tauFlips, sardonics), s.Logs(t, tauFlips, sweeps)).InOtherUnit(),
		claims.Larger(s.Panel("SARDONICS gives more independent energies per second than sweeps of Gibbs"), s.Logs(t, gainPanel, sardonics), s.Logs(t, gainPanel, sweeps)).InOtherUnit(),
	}
}

// beats returns the claims that a mixes faster than b, in moves, flips and seconds.
func (s system) beats(t *claims.Table, a, b string) []claims.Claim {
	return []claims.Claim{
		claims.Smaller(s.Panel("τ of "+a+" in moves is shorter than that of "+b), s.Logs(t, tauMoves, a), s.Logs(t, tauMoves, b)),
		claims.Smaller(s.Panel("τ of "+a+" in flips is shorter than that of "+b), s.Logs(t, tauFlips, a), s.Logs(t, tauFlips, b)).InOtherUnit(),
		claims.Larger(s.Panel(a+" gives more independent energies per second than "+b), s.Logs(t, gainPanel, a), s.Logs(t, gainPanel, b)).InOtherUnit(),
	}
}

// vanished returns the claim that the autocorrelation of a sampler is below 0.05 at a tenth of the largest lag of the
// picture.
func (s system) vanished(t *claims.Table, curve string) claims.Claim {
	at := func(lag float64) float64 { return t.At(s.Panel(rhoMoves), curve, lag).Mean() }
	const lag = mostLag / 10
	return claims.Holds(s.Panel(fmt.Sprintf("the autocorrelation of %s has fallen below 0.05 at a tenth of the largest lag shown, %g moves", curve, lag)), at(lag) < 0.05, at(lag),
		"%.3f at a lag of %g moves, %.3f at 10", at(lag), lag, at(10))
}

// learns returns the claim that tuning raises the reward that the paper plots.
func (s system) learns(t *claims.Table) claims.Claim {
	xs := t.Xs(s.Panel(reward), sardonics)
	if len(xs) == 0 {
		return claims.Larger(s.Panel("no rewards"), nil, nil)
	}
	last := xs[len(xs)-1]
	text := fmt.Sprintf("the rewards of the last %d trials of tuning are above those of the first %d", lastTrials, firstTrials)
	return claims.Larger(s.Panel(text), t.Mean(s.Panel(reward), sardonics, last-lastTrials+1, last), t.Mean(s.Panel(reward), sardonics, 0, firstTrials))
}
