package partition

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"gorbm/rbm/internal/vec"
)

// A Reweighting computes log Z and means at any inverse temperature within a ladder, from
// draws at the temperatures of the ladder. It is multiple-histogram reweighting (Ferrenberg &
// Swendsen 1989) in the form without histograms (Shirts & Chodera 2008, eqs. 11 and 14). At may
// run in several goroutines.
type Reweighting struct {
	lowest, highest float64 // the smallest and largest β of the ladder
	logZ0           float64 // log Z at lowest
	groups          int
	s               *mbar
	order           []int           // order[i] is the index of the i-th lowest β in the arguments
	draws           [][]mixtureDraw // temperatures × draws
	moved           [][]float64     // for each group of draws: its first-order contribution to the error of f
	overlap         float64
}

// A mixtureDraw has the probabilities of a draw in the mixture of all temperatures.
type mixtureDraw struct {
	value float64   // log Σ_l n_l p_l
	lo    int       // the temperature of r[0]
	r     []float64 // n_k p_k/Σ_l n_l p_l for the temperatures k from lo on, up to the last that is not negligible
}

// NewReweighting solves the equations of Bennett for draws with energies d[k] at beta[k]. No β
// need be 0: logZ0 is log Z at the lowest β. groups is the number of independent groups of draws, at
// least 2, as in Bennett; all errors come from the variance between groups.
//
// If two neighbours overlap too little, the error wraps ErrOverlap and names them.
func NewReweighting(beta []float64, d [][]float64, groups int, logZ0 float64) (*Reweighting, error) {
	if len(beta) == 0 || groups < 2 {
		return nil, errors.New("reweighting: give draws at two inverse temperatures or more, of two groups or more")
	}
	w := &Reweighting{lowest: slices.Min(beta), highest: slices.Max(beta), logZ0: logZ0, groups: groups}
	above := make([]float64, len(beta)) // β relative to the lowest, whose distribution is the base of Bennett
	for k, b := range beta {
		above[k] = b - w.lowest
	}
	if err := checkLadder(above, d, groups); err != nil {
		return nil, fmt.Errorf("reweighting: %w", err)
	}
	hessian, err := w.solve(above, d)
	if err != nil {
		return nil, fmt.Errorf("reweighting: %w", err)
	}
	r := make([]float64, len(beta))
	w.moved = make([][]float64, groups)
	score := make([][]float64, groups)
	for g := range score {
		score[g] = make([]float64, len(beta))
	}
	for i, energies := range w.s.d {
		each := len(energies) / groups
		draws := make([]mixtureDraw, len(energies))
		for n, e := range energies {
			lo, hi, value := w.s.weights(r, e)
			draws[n] = mixtureDraw{value, lo, slices.Clone(r[lo:hi])}
			for k := lo; k < hi; k++ {
				score[n/each][k] -= r[k]
			}
		}
		w.draws = append(w.draws, draws)
		for g := range score {
			score[g][i] += float64(each)
		}
	}
	for g := range score {
		moved := solve(hessian, score[g][1:])
		w.moved[g] = append([]float64{0}, moved.RawVector().Data...)
	}
	return w, nil
}

// solve computes f and returns the factors of the Hessian at it.
func (w *Reweighting) solve(above []float64, d [][]float64) (*mat.Cholesky, error) {
	w.s, w.order = sortedMBAR(above, d)
	var err error
	if w.overlap, err = w.s.overlapping(w.lowest); err != nil {
		return nil, err
	}
	return w.s.newton()
}

// Reweighted is the result of a Reweighting at one inverse temperature. To first order, every error is
// a sum of contributions of the groups of draws. StdErr(LogZShift) is the standard error of log Z. For
// a function of several means with the derivatives c_i it is StdErr(Σ_i c_i·Shift[i]).
type Reweighted struct {
	LogZ      float64     // in nats
	Mean      []float64   // mean of each observable
	LogZShift []float64   // contribution of each group of draws to the error of log Z
	Shift     [][]float64 // observables × groups: contributions to the error of each mean
}

// StdErr returns the standard error of a quantity, given the contribution of each group of draws to its
// error. The standard error has one degree of freedom less than there are groups.
func StdErr(shift []float64) float64 {
	sum := 0.0
	for _, x := range shift {
		sum += float64(x * x)
	}
	return math.Sqrt(sum * float64(len(shift)) / float64(len(shift)-1))
}

// At returns log Z and the means of observables at an inverse temperature within the ladder.
// observables[i][k][n] is the value of observable i in draw n at beta[k]. It panics if beta is outside
// of the ladder, or if an observable does not have one value for each draw.
func (w *Reweighting) At(beta float64, observables ...[][]float64) Reweighted {
	if !(beta >= w.lowest && beta <= w.highest) {
		panic("partition: reweighting beyond the ladder")
	}
	b := beta - w.lowest
	top := math.Inf(-1)
	for i, draws := range w.draws {
		for n := range draws {
			top = max(top, w.logWeight(b, i, n))
		}
	}
	// The weight of each draw, relative to the largest.
	total := 0.0
	weight := make([][]float64, len(w.draws))
	for i, draws := range w.draws {
		weight[i] = make([]float64, len(draws))
		for n := range draws {
			if x := w.logWeight(b, i, n) - top; x > negligible {
				weight[i][n] = vec.Exp(x)
				total += weight[i][n]
			}
		}
	}
	out := Reweighted{Mean: make([]float64, len(observables)), Shift: make([][]float64, len(observables)), LogZShift: make([]float64, w.groups)}
	out.LogZ = w.logZ0 + top + vec.Log(total) - float64(b*w.s.centre)
	for o, x := range observables {
		out.Shift[o] = make([]float64, w.groups)
		for i, k := range w.order {
			if len(x[k]) != len(weight[i]) {
				panic("partition: an observable needs a value for each draw")
			}
			for n := range weight[i] {
				out.Mean[o] += float64(weight[i][n] / total * x[k][n])
			}
		}
	}
	slope := make([][]float64, len(observables)+1) // derivatives of log Z and of each mean with respect to −f
	for o := range slope {
		slope[o] = make([]float64, len(w.s.f))
	}
	for i, k := range w.order {
		each := len(weight[i]) / w.groups
		for n, p := range weight[i] {
			if p == 0 {
				continue
			}
			p /= total
			g := n / each
			draw := &w.draws[i][n]
			out.LogZShift[g] += p
			for l, r := range draw.r {
				slope[0][draw.lo+l] += float64(p * r)
			}
			for o, x := range observables {
				part := float64(p * (x[k][n] - out.Mean[o]))
				out.Shift[o][g] += part
				for l, r := range draw.r {
					slope[o+1][draw.lo+l] += float64(part * r)
				}
			}
		}
	}
	for g, moved := range w.moved {
		out.LogZShift[g] -= 1 / float64(w.groups)
		for l, m := range moved {
			out.LogZShift[g] -= float64(slope[0][l] * m)
			for o := range observables {
				out.Shift[o][g] -= float64(slope[o+1][l] * m)
			}
		}
	}
	return out
}

// logWeight returns the log weight of draw n of the i-th lowest temperature, for the inverse
// temperature lowest + b.
func (w *Reweighting) logWeight(b float64, i, n int) float64 {
	return -float64(b*(w.s.d[i][n]-w.s.centre)) - w.draws[i][n].value
}
