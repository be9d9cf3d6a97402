package main

import (
	"slices"

	"gorbm/experiments/internal/claims"
)

// contests are the figures of autocorrelations and energies.
var contests = []contest{
	{
		name: "2", repeats: 10, title: "the ferromagnet at its critical temperature", systems: []system{ferro(2.27)}, rewards: true,
		says: "Swendsen–Wang does considerably better than its competitors, and SARDONICS much better than Gibbs.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			return slices.Concat(s.beatsGibbs(t), s.losesToClusters(t))
		},
	},
	{
		name: "4", repeats: 5, title: "the ferromagnet around its critical temperature", systems: []system{ferro(2.17), ferro(2.27), ferro(2.37)},
		says:   "at T = 2.17 and 2.37 SARDONICS mixes more rapidly than at T = 2.27. At 2.37 this is true; at 2.17 the sampler explores a narrower range of energies.",
		claims: func(s system, t *claims.Table) []claims.Claim { return s.beatsGibbs(t) },
		more: func(t *claims.Table) []claims.Claim {
			low, critical, high := ferro(2.17), ferro(2.27), ferro(2.37)
			return []claims.Claim{
				claims.Smaller("SARDONICS: τ in moves is shorter at T = 2.17 than at 2.27", low.Logs(t, tauMoves, sardonics), critical.Logs(t, tauMoves, sardonics)),
				claims.Smaller("SARDONICS: τ in moves is shorter at T = 2.37 than at 2.27", high.Logs(t, tauMoves, sardonics), critical.Logs(t, tauMoves, sardonics)),
				claims.Smaller("SARDONICS: the energies of a run spread less at T = 2.17 than at 2.27", low.At(t, sdPanel, sardonics), critical.At(t, sdPanel, sardonics)),
			}
		},
	},
	{
		name: "5", repeats: 5, title: "the ferromagnet at low and at high temperature", systems: []system{ferro(1), ferro(5)},
		says: "at T = 5 SARDONICS is comparable to Swendsen–Wang. At T = 1 the autocorrelations vanish quickly, but both are trapped at a few of the peaks; they find states of lower energy than Gibbs.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			if s.beta == 1 {
				return []claims.Claim{
					claims.Smaller(s.Panel("the energies of SARDONICS are below those of Gibbs"), s.At(t, meanPanel, sardonics), s.At(t, meanPanel, gibbs)),
					claims.Smaller(s.Panel("the energies of Swendsen–Wang are below those of Gibbs"), s.At(t, meanPanel, clusters), s.At(t, meanPanel, gibbs)),
					claims.Alike(s.Panel("SARDONICS finds the energies of Swendsen–Wang"), s.At(t, meanPanel, sardonics), s.At(t, meanPanel, clusters)),
				}
			}
			return append(s.beatsGibbs(t),
				claims.NotLess(s.Panel("by moves, SARDONICS does not lose to Swendsen–Wang by more than the error"), inverse(s.Logs(t, tauMoves, sardonics)), inverse(s.Logs(t, tauMoves, clusters)), claims.Factor),
				claims.NotLess(s.Panel("by seconds, SARDONICS does not lose to Swendsen–Wang by more than the error"), s.Logs(t, gainPanel, sardonics), s.Logs(t, gainPanel, clusters), claims.Factor))
		},
	},
	{
		name: "6", repeats: 10, title: "the frustrated square lattice, couplings and fields of ±1, T = 1", systems: []system{frustrated}, rewards: true,
		says: "SARDONICS does considerably better than its rivals, and Swendsen–Wang much worse than on the ferromagnet.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			return slices.Concat(s.beatsGibbs(t), s.beatsClusters(t))
		},
	},
	{
		name: "9", repeats: 10, title: "the cube of 9×9×9 spins, couplings of ±1, β = 1", systems: []system{cube}, rewards: true,
		says: "Swendsen–Wang deteriorates substantially; SARDONICS still mixes reasonably well.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			return slices.Concat(s.beatsGibbs(t), s.beatsClusters(t))
		},
	},
	{
		name: "10", repeats: 10, title: "RBM of 784 × 500 units", systems: []system{machine}, rewards: true, flags: "-model FILE",
		says: "SARDONICS mixes significantly better than Swendsen–Wang and Gibbs, and compares well against block Gibbs, for more computing time. Swendsen–Wang (figure 11, left) fails to converge.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			return slices.Concat(s.beatsGibbs(t), s.beatsClusters(t), []claims.Claim{
				claims.NotLess(s.Panel("by moves, SARDONICS does not lose to block Gibbs by more than the error"), inverse(s.Logs(t, tauMoves, sardonics)), inverse(s.Logs(t, tauMoves, blocks)), claims.Factor),
				claims.Larger(s.Panel("SARDONICS takes more time a move than block Gibbs"), s.Logs(t, microPanel, sardonics), s.Logs(t, microPanel, blocks)),
				claims.Larger(s.Panel("SARDONICS gives more independent energies a second than block Gibbs"), s.Logs(t, gainPanel, sardonics), s.Logs(t, gainPanel, blocks)),
			})
		},
	},
	{
		name: "12", repeats: 10, title: "chimera lattice of 128 spins, β = 1", systems: []system{chimera}, rewards: true,
		says: "SARDONICS once again outperforms its competitors.",
		claims: func(s system, t *claims.Table) []claims.Claim {
			return slices.Concat(s.beatsGibbs(t), s.beatsClusters(t))
		},
	},
}

// inverse returns the logarithms of the inverse.
func inverse(l claims.Repeats) claims.Repeats {
	o := claims.Repeats{}
	for k, x := range l {
		o[k] = -x
	}
	return o
}

// beatsGibbs compares SARDONICS with Gibbs by updates, sweeps and seconds. In the program of the
// paper's authors a step of Gibbs is an update of one site; the paper does not say.
func (s system) beatsGibbs(t *claims.Table) []claims.Claim {
	return []claims.Claim{
		claims.Smaller(s.Panel("τ of SARDONICS in moves is shorter than that of Gibbs in updates of one site, the paper's steps"), s.Logs(t, tauMoves, sardonics), s.Logs(t, tauUpdates, gibbs)),
		claims.Smaller(s.Panel("τ of SARDONICS in moves is shorter than that of Gibbs in sweeps"), s.Logs(t, tauMoves, sardonics), s.Logs(t, tauMoves, gibbs)),
		claims.Larger(s.Panel("Gibbs loses for the computing time of SARDONICS, too: SARDONICS gives more independent energies a second"), s.Logs(t, gainPanel, sardonics), s.Logs(t, gainPanel, gibbs)),
	}
}

// beatsClusters compares SARDONICS with Swendsen–Wang.
func (s system) beatsClusters(t *claims.Table) []claims.Claim {
	return []claims.Claim{
		claims.Smaller(s.Panel("τ of SARDONICS in moves is shorter than that of Swendsen–Wang"), s.Logs(t, tauMoves, sardonics), s.Logs(t, tauMoves, clusters)),
		claims.Larger(s.Panel("SARDONICS gives more independent energies a second than Swendsen–Wang"), s.Logs(t, gainPanel, sardonics), s.Logs(t, gainPanel, clusters)),
	}
}

// losesToClusters compares Swendsen–Wang with SARDONICS.
func (s system) losesToClusters(t *claims.Table) []claims.Claim {
	return []claims.Claim{
		claims.Smaller(s.Panel("τ of Swendsen–Wang in moves is shorter than that of SARDONICS"), s.Logs(t, tauMoves, clusters), s.Logs(t, tauMoves, sardonics)),
		claims.Larger(s.Panel("Swendsen–Wang gives more independent energies a second than SARDONICS"), s.Logs(t, gainPanel, clusters), s.Logs(t, gainPanel, sardonics)),
	}
}
