package partition

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrOverlap says that the distributions at neighbouring temperatures of a ladder overlap too little to
// estimate the ratio of their partition functions.
var ErrOverlap = errors.New("neighbouring temperatures overlap too little")

const (
	// leastOverlap is the smallest overlap for which Bennett gives an estimate. At 1 %
	// the variance of a log ratio from n draws is about 200/n,
	// and the few draws that determine the ratio may be missing.
	leastOverlap = 0.01
	// maxLadder is the largest number of temperatures. It limits the memory of the
	// matrices, one for each of mbarParts, to 32 MiB.
	maxLadder = 512
)

// A BennettLogZ is an estimate of log Z at every temperature of a ladder.
type BennettLogZ struct {
	LogZ    []float64 `json:"log_z"`   // at each temperature, in the order given, in nats
	StdErr  []float64 `json:"std_err"` // for each LogZ; 0 at β = 0, where log Z is known
	Overlap float64   `json:"overlap"` // the smallest overlap of two neighbours, between 0 and 1

	// IndependentErr is what StdErr would be if all draws were independent. n draws have the
	// effective sample size n·IndependentErr²/StdErr².
	IndependentErr []float64 `json:"independent_err"`
}

// Bennett estimates log Z at every inverse temperature of a ladder from draws at all temperatures, by the
// multistate Bennett acceptance ratio, MBAR (Shirts & Chodera 2008). Draw n at beta[k] is from the
// distribution
//
//	p_k(x) ∝ exp(−E₀(x) − beta[k]·D(x)),  D = E − E₀,
//
// with the energy E₀ of the base and E of the model. d[k][n] is D of this draw. On a path from
// the uniform distribution D is the energy. The inverse temperatures may be in any order, with
// different numbers n_k of draws. One of them must be 0, where log Z is logZ0 (rbm.Base.LogZ). The
// free energies f_k = −log(Z_k/Z₀) solve
//
//	Σ_x p_k(x)/Σ_l n_l p_l(x) = 1,  p_k(x) = exp(f_k − β_k D(x))
//
// (eq. 11), where the sum over x is over all draws. Bennett solves them by Newton's method, which
// starts from the ratios of neighbours.
//
// groups says which draws are independent. With groups = 0 all draws are, and the
// standard errors are those of eq. 8. Otherwise groups is the number G ≥ 2 of independent groups, and
// d[k] has the same number of draws from each group, one group after the other. A group may be the
// draws of one ladder of replicas, which depend on each other in time and across temperatures. The
// standard errors then come from the variance between groups. To first order the draws of group g
// change f by H⁻¹u_g. H is the Hessian of the function that Newton's method minimises, and u_g the
// contribution of these draws to its gradient. Hence
//
//	Var f = G/(G−1) · Σ_g (H⁻¹u_g)(H⁻¹u_g)ᵀ
//
// (the infinitesimal jackknife, Efron 1982, chapter 6). (LogZ − log Z)/StdErr then has Student's t
// distribution with G − 1 degrees of freedom. States that all groups have missed do not show in StdErr.
//
// The overlap of neighbours i and j is ∫ 2 p_i p_j/(p_i+p_j), which is 1 for equal distributions
// and 0 for disjoint ones. Bennett estimates it from the draws of i and from those of j, and takes
// the smaller estimate. With n draws of each the variance of the log ratio is
// (2/n)(1/overlap − 1) (Bennett 1976). If an overlap is below 1 %, the error wraps
// ErrOverlap, and only Overlap is set. Other errors describe a fault of the input. Results do
// not depend on the number of processors.
func Bennett(beta []float64, d [][]float64, groups int, logZ0 float64) (BennettLogZ, error) {
	if err := checkLadder(beta, d, groups); err != nil {
		return BennettLogZ{}, fmt.Errorf("bennett: %w", err)
	}
	s, order := sortedMBAR(beta, d)
	overlap, err := s.overlapping(0)
	if err != nil {
		return BennettLogZ{Overlap: overlap}, fmt.Errorf("bennett: %w", err)
	}
	hessian, err := s.newton()
	if err != nil {
		return BennettLogZ{}, fmt.Errorf("bennett: %w", err)
	}
	out := BennettLogZ{LogZ: make([]float64, len(beta)), StdErr: make([]float64, len(beta)),
		IndependentErr: make([]float64, len(beta)), Overlap: overlap}
	independent := s.variances(hessian)
	variance := independent
	if groups > 0 {
		variance = s.groupVariances(hessian, groups)
	}
	for i, k := range order {
		out.LogZ[k] = logZ0 - (s.f[i] + float64(s.beta[i]*s.centre))
		out.StdErr[k], out.IndependentErr[k] = math.Sqrt(variance[i]), math.Sqrt(independent[i])
	}
	return out, nil
}

// sortedMBAR returns the equations of a ladder, and the indices of its temperatures by ascending β.
func sortedMBAR(beta []float64, d [][]float64) (*mbar, []int) {
	order := make([]int, len(beta))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(beta[i], beta[j]) })
	return newMBAR(beta, d, order), order
}

// overlapping initialises f from the ratios of neighbours and returns their smallest overlap. The error
// wraps ErrOverlap if that is too small. lowest is added to inverse temperatures in the error.
func (s *mbar) overlapping(lowest float64) (float64, error) {
	overlap, at := s.startFromPairs()
	if overlap < leastOverlap {
		return overlap, fmt.Errorf("%w: %.2g %% at β = %.6g and %.6g; put temperatures between them",
			ErrOverlap, 100*overlap, lowest+s.beta[at], lowest+s.beta[at+1])
	}
	return overlap, nil
}

// checkLadder returns an error if the arguments of Bennett are not valid.
func checkLadder(beta []float64, d [][]float64, groups int) error {
	switch {
	case len(d) != len(beta):
		return fmt.Errorf("%d inverse temperatures and draws of %d", len(beta), len(d))
	case groups < 0 || groups == 1:
		return fmt.Errorf("%d groups; it takes 2 or more, as errors follow from the spread between them, or 0 where all draws are independent", groups)
	case len(beta) < 2 || len(beta) > maxLadder:
		return fmt.Errorf("%d temperatures; it takes 2 to %d", len(beta), maxLadder)
	case !slices.Contains(beta, 0):
		return errors.New("no temperature with β = 0, whose log Z is known; end the ladder there")
	}
	for k, b := range beta {
		if math.IsNaN(b) || math.IsInf(b, 0) || b < 0 || slices.Contains(beta[:k], b) {
			return fmt.Errorf("inverse temperature %v; they are different numbers from 0 on", b)
		}
		if len(d[k]) == 0 {
			return fmt.Errorf("no draws at β = %v", b)
		}
		if groups > 0 && len(d[k])%groups != 0 {
			return fmt.Errorf("%d draws at β = %v, not equally many of %d groups", len(d[k]), b, groups)
		}
		for n, x := range d[k] {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("draw %d at β = %v has the energy %v", n, b, x)
			}
		}
	}
	return nil
}
