package negphase

import (
	"math"

	"gorbm/rbm"
)

// setEnergies fills the table for K particles and K models whose normalisers are
// unknown: energy[j·K+k] is the finite free energy F_j of particle k under model j,
// and the permutations that assign particles to models have the law
//
//	ρ_σ ∝ Π_k exp(−F_σ(k)(x_k)).
//
// There is no order in which the identity is the likeliest, as there is among
// temperatures. So rows and columns are scaled by the dual variables of an optimal
// assignment: u_k + v_j ≤ F_j(x_k), with equality along the likeliest permutation. All
// a_kj = exp(u_k + v_j − F_j(x_k)) are then at most 1, and their permanent lies between 1
// and K!.
func (p *permanent) setEnergies(energy []float64) {
	p.assign(energy)
	n := len(p.beta)
	for k := range n {
		p.order[k] = k
	}
	for j := range n {
		for k := range n {
			p.a[j*n+k] = rbm.Exp(min(0, p.u[k]+p.v[j]-energy[j*n+k]))
		}
	}
	p.sums.Fill(p.table, p.a)
}

// assign overwrites u, of particles, and v, of models, with dual variables of the
// assignment of least Σ_k F_σ(k)(x_k), by shortest augmenting paths in O(K³) (Kuhn
// 1955; Jonker & Volgenant 1987).
func (p *permanent) assign(energy []float64) {
	const most = maxBlock + 1
	n := len(p.beta)
	// Numbered from 1; particle[0] is the one to be added, at a model of no cost.
	var u, v [most]float64
	var particle [most]int // of each model; 0 is none
	for k := 1; k <= n; k++ {
		particle[0] = k
		var least [most]float64 // reduced cost of the way to each model
		var from [most]int
		var done [most]bool
		for j := range least {
			least[j] = math.Inf(1)
		}
		at := 0
		for particle[at] != 0 {
			done[at] = true
			x, step, next := particle[at], math.Inf(1), 0
			for j := 1; j <= n; j++ {
				if done[j] {
					continue
				}
				if cost := energy[(j-1)*n+x-1] - u[x] - v[j]; cost < least[j] {
					least[j], from[j] = cost, at
				}
				if least[j] < step || next == 0 {
					step, next = least[j], j
				}
			}
			for j := 0; j <= n; j++ {
				if done[j] {
					u[particle[j]] += step
					v[j] -= step
				} else {
					least[j] -= step
				}
			}
			at = next
		}
		for at != 0 {
			particle[at] = particle[from[at]]
			at = from[at]
		}
	}
	copy(p.u, u[1:n+1])
	copy(p.v, v[1:n+1])
}
