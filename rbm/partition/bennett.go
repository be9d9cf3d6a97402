package partition

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrOverlap is wrapped by Bennett's error when neighbouring temperatures of a
// ladder share too few states to estimate the ratio of their partition functions.
var ErrOverlap = errors.New("neighbouring temperatures overlap too little")

const (
	// leastOverlap is the overlap below which Bennett gives no estimate. At 1 %
	// the variance of a ratio is some 200 times that of a mean of as many draws,
	// and the draws that determine it may be missing altogether.
	leastOverlap = 0.01
	// maxLadder is the largest number of temperatures. It bounds the memory of the
	// matrices, one for each of mbarParts, to 32 MiB.
	maxLadder = 512
)

// A BennettLogZ is an estimate of log Z at every temperature of a ladder.
type BennettLogZ struct {
	LogZ    []float64 `json:"log_z"`   // at each temperature, in the order given, in nats
	StdErr  []float64 `json:"std_err"` // for each LogZ; 0 at β = 0, whose log Z is known
	Overlap float64   `json:"overlap"` // the smallest of two neighbours, between 0 and 1

	// IndependentErr is what StdErr would be if all draws were independent. A draw
	// is worth IndependentErr²/StdErr² independent ones.
	IndependentErr []float64 `json:"independent_err"`
}

// Bennett estimates log Z at every inverse temperature of a ladder from draws at
// all of them, by the multistate Bennett acceptance ratio, MBAR (Shirts & Chodera
// 2008). Draw n at beta[k] is from
//
//	p_k(x) ∝ exp(−E₀(x) − beta[k]·D(x)),  D = E − E₀,
//
// and d[k][n] is its D. On a path from the uniform distribution D is the energy. The inverse
// temperatures may come in any order and have different numbers of draws n_k. One
// must be 0, with log Z equal to logZ0 (rbm.Base.LogZ). The free energies
// f_k = −log Z_k/Z₀ solve
//
//	Σ_x p_k(x)/Σ_l n_l p_l(x) = 1,  p_k(x) = exp(f_k − β_k D(x))
//
// (eq. 11). They are found by Newton's method, which starts from the ratios of
// neighbours. The sums run over all draws, without a matrix of them.
//
// groups says which draws are independent. If it is 0 all of them are, and the
// standard errors are eq. 8. Else d[k] holds equally many draws of each of that many
// groups, at least 2, one group after the other. A group is for example the draws of
// one ladder of replicas, which depend on each other in time and across
// temperatures. Only groups are independent then, and the standard errors come from
// the spread between them. To first order group g moves f by H⁻¹u_g, where H is the
// Hessian of the function that Newton's method minimises and u_g the contribution of
// the draws of g to its gradient, so that
//
//	Var f = G/(G−1) · Σ_g (H⁻¹u_g)(H⁻¹u_g)ᵀ
//
// (the infinitesimal jackknife, Efron 1982, chapter 6). An error of G groups
// is itself uncertain: (LogZ − log Z)/StdErr follows Student's t with G − 1
// degrees of freedom. The spread does not show states that all groups have missed.
//
// The overlap of neighbours i and j is ∫ 2 p_i p_j/(p_i+p_j): 1 if they agree
// and 0 if they share nothing. It is estimated from the draws of either alone, and
// the smaller estimate counts. With n draws of each the variance of the ratio is
// (2/n)(1/overlap − 1) (Bennett 1976). If it is below 1 % the error wraps
// ErrOverlap, and only Overlap is set. Other errors name what is wrong with the
// input. Results do not depend on the number of processors.
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

// sortedMBAR returns the equations of a ladder, and the places of its temperatures by ascending β.
func sortedMBAR(beta []float64, d [][]float64) (*mbar, []int) {
	order := make([]int, len(beta))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(beta[i], beta[j]) })
	return newMBAR(beta, d, order), order
}

// overlapping starts f from the ratios of neighbours and returns their smallest overlap. If it is
// too small the error names the two, whose inverse temperatures lie above lowest.
func (s *mbar) overlapping(lowest float64) (float64, error) {
	overlap, at := s.startFromPairs()
	if overlap < leastOverlap {
		return overlap, fmt.Errorf("%w: %.2g %% at β = %.6g and %.6g; put temperatures between them",
			ErrOverlap, 100*overlap, lowest+s.beta[at], lowest+s.beta[at+1])
	}
	return overlap, nil
}

// checkLadder returns an error that says what is wrong with the arguments of
// Bennett.
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
