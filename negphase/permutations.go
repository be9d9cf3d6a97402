package negphase

import (
	"slices"

	"gorbm/rbm"
)

// A permanent represents the distribution of the permutations σ that assign K particles with
// energies E_k to K inverse temperatures β_j,
//
//	ρ_σ ∝ Π_k exp(−β_σ(k) E_k).
//
// It does not list the K! permutations. From a table over the 2^K subsets of particles it computes
// the probability that a particle is at the first temperature, and exact draws of
// σ. The table takes O(K·2^K) operations (the recursion of Held & Karp 1962 and Ryser 1963).
//
// The factors are scaled so that no logarithms are needed. Sort the particles by
// rising energy and the temperatures by falling β. The identity is then the
// likeliest assignment. With
//
//	v_{j+1} = v_j + (β_j − β_{j+1})(E_j + E_{j+1})/2,  u_k = −β_k E_k − v_k
//
// all a_kj = exp(−β_j E_k − u_k − v_j) are at most 1 and a_kk = 1, while ρ is
// unchanged: the permanent Σ_σ Π a_kσ(k) lies between 1 and K!.
type permanent struct {
	beta  []float64 // falling
	order []int     // particles by rising energy
	a     []float64 // a[j·K+k] is a_kj, for temperature j and the k-th particle of order
	// table[S] sums the products of a over all ways to assign the particles in the
	// set S to the last |S| temperatures. S is a bit set: member[k] is the bit of the k-th particle of order.
	table  []float64
	member []uint
	sums   *rbm.Subsets
	e      []float64 // sorted energies minus the least
	u, v   []float64
}

func newPermanent(beta []float64) *permanent {
	k := len(beta)
	p := &permanent{
		beta: beta, order: make([]int, k), a: make([]float64, k*k), member: make([]uint, k), sums: rbm.NewSubsets(k),
		table: make([]float64, 1<<k), e: make([]float64, k), u: make([]float64, k), v: make([]float64, k),
	}
	for i := range p.member {
		p.member[i] = p.sums.Member(i)
	}
	return p
}

// set fills the table for particles with the given energies, which must be finite.
func (p *permanent) set(energy []float64) {
	n := len(p.beta)
	for k := range p.order {
		p.order[k] = k
	}
	slices.SortFunc(p.order, func(a, b int) int {
		switch {
		case energy[a] < energy[b]:
			return -1
		case energy[a] > energy[b]:
			return 1
		}
		return a - b
	})
	// Only differences of energies matter. Subtracting the least energy first avoids
	// cancellation between large energies.
	for k, particle := range p.order {
		p.e[k] = energy[particle] - energy[p.order[0]]
		if k > 0 {
			p.v[k] = p.v[k-1] + float64((p.beta[k-1]-p.beta[k])*(float64(p.e[k-1]/2)+float64(p.e[k]/2)))
		}
		p.u[k] = -float64(p.beta[k]*p.e[k]) - p.v[k]
	}
	for j, beta := range p.beta {
		for k, e := range p.e {
			p.a[j*n+k] = rbm.Exp(min(0, -float64(beta*e)-p.u[k]-p.v[j]))
		}
		p.a[j*n+j] = 1 // also where the terms are so large that their rounding errors exceed 1
	}
	p.sums.Fill(p.table, p.a)
}

// weights overwrites w[k] with the probability Σ_{σ: σ(k)=1} ρ_σ that particle k is at the first
// temperature.
func (p *permanent) weights(w []float64) {
	all := uint(len(p.table) - 1)
	for k, particle := range p.order {
		w[particle] = float64(p.a[k]*p.table[all&^p.member[k]]) / p.table[all]
	}
}

// draw overwrites at with a permutation drawn from ρ: at[j] is the particle at temperature j. It goes
// through the temperatures in order, and draws one of the remaining particles for each, with
// probabilities from the table. uniform(j) is a uniform variate in [0,1) for temperature j.
func (p *permanent) draw(at []int, uniform func(j int) float64) {
	n := len(p.beta)
	left := uint(len(p.table) - 1)
	for j := range at {
		u := float64(uniform(j) * p.table[left])
		last := -1
		for k, member := range p.member {
			if left&member == 0 {
				continue
			}
			x := float64(p.a[j*n+k] * p.table[left&^member])
			if x == 0 {
				continue
			}
			last = k
			if u -= x; u < 0 {
				break
			}
		}
		at[j] = p.order[last]
		left &^= p.member[last]
	}
}
