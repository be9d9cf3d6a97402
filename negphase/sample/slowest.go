package sample

import (
	"fmt"
	"math"
	"math/bits"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// The free energy may forget faster than the pictures do: chains that stay each at its
// own kind of picture can have the same free energies. So the autocorrelation time is
// the longest of several quantities.
const (
	ofFreeEnergy = "free energy"
	ofActivity   = "hidden activity"        // Σ p(h=1|v)
	ofComponent  = "principal component %d" // of the states of the visible units
	components   = 3                        // that are followed
	keptChains   = 64                       // for each side, whose states are kept for them
	rowsOfLaw    = 256                      // states from which they are computed
	iterations   = 30                       // of the subspace
)

// A quantity is a number that is followed along the chains.
type quantity struct {
	name  string
	trace [][]float64 // for each chain
}

// slowest returns the summary of the quantity whose autocorrelation time is the
// longest, and what it is. Quantities that are constant do not count if another is
// not. Both sides count as chains with one distribution.
func (r *run) slowest() (of string, worst diag.Chains) {
	sides := []*side{r.cold}
	if r.data != nil {
		sides = append(sides, r.data)
	}
	free, activity := quantity{name: ofFreeEnergy}, quantity{name: ofActivity}
	var states [][]rbm.Values // for each chain and round, one row each
	for _, s := range sides {
		free.trace = append(free.trace, settled(s.trace)...)
		activity.trace = append(activity.trace, settled(s.activity)...)
		states = append(states, settled(s.states)...)
	}
	of, worst = ofFreeEnergy, diag.SummarizeChains(free.trace)
	moves := varies(free.trace)
	for _, q := range append(follow(states, r.law.Model.Visible(), r.key.Child(componentKey)), activity) {
		if !varies(q.trace) {
			continue
		}
		c := diag.SummarizeChains(q.trace)
		c.Effective *= float64(len(free.trace)) / float64(len(q.trace)) // as of all chains
		if !moves || longer(c.Time, worst.Time) {
			of, worst, moves = q.name, c, true
		}
	}
	return of, worst
}

// longer reports whether a is longer than b: a time whose end is not in sight is
// longer than one that is known.
func longer(a, b diag.Time) bool {
	if endless := math.IsInf(a.StdErr, 1); endless != math.IsInf(b.StdErr, 1) {
		return endless
	}
	return a.Tau > b.Tau
}

func varies(x [][]float64) bool {
	for _, chain := range x {
		for _, v := range chain {
			if v != x[0][0] {
				return true
			}
		}
	}
	return false
}

// follow returns the projections of the states on their first principal components.
func follow(states [][]rbm.Values, units int, key rbm.Key) []quantity {
	var rows []rbm.Values
	all := len(states) * len(states[0])
	n := min(all, rowsOfLaw)
	for i := range n { // for each chain in turn, evenly over rounds
		rows = append(rows, states[i%len(states)][i*len(states[0])/n])
	}
	var list []quantity
	for k, a := range leading(gram(rows), components, key) {
		u := make([]float64, units)
		for r, row := range rows {
			row.Nonzero(0, func(i int, x float32) { u[i] += float64(a[r] * float64(x)) })
		}
		q := quantity{name: fmt.Sprintf(ofComponent, k+1)}
		for _, chain := range states {
			trace := make([]float64, len(chain))
			for t, row := range chain {
				sum := 0.0
				row.Nonzero(0, func(i int, x float32) { sum += float64(u[i] * float64(x)) })
				trace[t] = sum
			}
			q.trace = append(q.trace, trace)
		}
		list = append(list, q)
	}
	return list
}

// gram returns the inner products of rows less their mean.
func gram(rows []rbm.Values) [][]float64 {
	n := len(rows)
	g, mean, all := make([][]float64, n), make([]float64, n), 0.0
	for r := range g {
		g[r] = make([]float64, n)
		for s := range g {
			g[r][s] = product(rows[r], rows[s])
			mean[r] += g[r][s] / float64(n)
		}
		all += mean[r] / float64(n)
	}
	for r := range g {
		for s := range g {
			g[r][s] += all - mean[r] - mean[s]
		}
	}
	return g
}

// product returns the inner product of two rows.
func product(a, b rbm.Values) (sum float64) {
	for k, w := range a.Words {
		sum += float64(bits.OnesCount64(w & b.Words[k]))
	}
	for i, x := range a.Real {
		sum += float64(float64(x) * float64(b.Real[i]))
	}
	return sum
}

// leading returns unit vectors that span about the k leading directions of the
// positive semidefinite matrix g, the largest first: subspace iteration. It takes
// fewer where g has fewer.
func leading(g [][]float64, k int, key rbm.Key) [][]float64 {
	n := len(g)
	v, next := make([][]float64, k), make([][]float64, k)
	for c := range v {
		v[c], next[c] = make([]float64, n), make([]float64, n)
		for i := range v[c] {
			v[c][i] = key.Child(uint64(c)).Uniform(uint64(i)) - 0.5
		}
	}
	largest := 0.0
	for range iterations {
		for i, row := range g {
			sums := dots(row, v)
			for c := range v {
				next[c][i] = sums[c]
			}
		}
		v, next = next[:len(v)], v
		for c := range v {
			for _, before := range v[:c] {
				x := dot(before, v[c])
				for i := range v[c] {
					v[c][i] -= float64(x * before[i])
				}
			}
			size := math.Sqrt(dot(v[c], v[c]))
			if largest = max(largest, size); size <= 1e-9*largest { // rounding alone is left
				v = v[:c]
				break
			}
			for i := range v[c] {
				v[c][i] /= size
			}
		}
	}
	return v
}

// dots returns the inner products of a with at most components vectors. One sum has to
// wait for itself; three go side by side.
func dots(a []float64, v [][]float64) (sums [components]float64) {
	if len(v) < components {
		for c := range v {
			sums[c] = dot(a, v[c])
		}
		return sums
	}
	v0, v1, v2 := v[0][:len(a)], v[1][:len(a)], v[2][:len(a)]
	s0, s1, s2 := 0.0, 0.0, 0.0
	for i, x := range a {
		s0 += float64(x * v0[i])
		s1 += float64(x * v1[i])
		s2 += float64(x * v2[i])
	}
	return [components]float64{s0, s1, s2}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}
