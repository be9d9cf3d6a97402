package mcmc

import "gorbm/rbm"

// Gibbs is the heat bath: a site takes each of its values with their
// conditional probability, so that it flips with probability
// 1/(1 + exp(βΔE)). A move is a sweep: as many updates as there are sites.
type Gibbs struct {
	Order Order `json:"order"`
}

// Bind returns the chain; see Mover.
func (g Gibbs) Bind(s System, beta float64, sites []int32) (Chain, error) {
	return newSweep(s, beta, sites, g)
}

func (g Gibbs) order() Order         { return g.Order }
func (Gibbs) flip(x float64) float64 { return 1 / (1 + rbm.Exp(x)) }
func (Gibbs) proposes() bool         { return false }
