package sample

import (
	"fmt"
	"math"
	"math/bits"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// The free energy may decorrelate faster than the states: chains that each stay in a different
// mode can have the same free energies. So the autocorrelation time is
// the longest one of several quantities.
const (
	ofFreeEnergy  = "free energy"
	ofActivity    = "hidden activity"        // Σ p(h=1|v)
	ofComponent   = "principal component %d" // projection of the visible states on it
	components    = 3                        // number of principal components
	keptChains    = 64                       // number of chains of each side whose states are kept for projections
	componentRows = 256                      // number of states from which the components are computed
	iterations    = 30                       // number of subspace iterations
)

// A quantity is a function of the state whose autocorrelation is measured.
type quantity struct {
	name  string
	trace [][]float64 // [chain] values
}

// slowest returns the name and the summary of the quantity with the longest autocorrelation time.
// It ignores constant quantities unless all are constant.
// All chains of both sides are summarised together, as if they had one distribution.
func (r *run) slowest() (name string, worst diag.Chains) {
	sides := []*side{r.cold}
	if r.data != nil {
		sides = append(sides, r.data)
	}
	free, activity := quantity{name: ofFreeEnergy}, quantity{name: ofActivity}
	var states [][]rbm.Values // [chain][round] one row
	for _, s := range sides {
		free.trace = append(free.trace, settled(s.trace)...)
		activity.trace = append(activity.trace, settled(s.activity)...)
		states = append(states, settled(s.states)...)
	}
	name, worst = ofFreeEnergy, diag.SummarizeChains(free.trace)
	moves := varies(free.trace)
	for _, q := range append(follow(states, r.target.Model.Visible(), r.key.Child(componentKey)), activity) {
		if !varies(q.trace) {
			continue
		}
		c := diag.SummarizeChains(q.trace)
		c.Effective *= float64(len(free.trace)) / float64(len(q.trace)) // scaled to all chains
		if !moves || longer(c.Time, worst.Time) {
			name, worst, moves = q.name, c, true
		}
	}
	return name, worst
}

// longer reports whether a is longer than b. An unknown time (with infinite StdErr) is
// longer than a known one.
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

// follow returns the projections of the states on their leading principal components, as quantities.
func follow(states [][]rbm.Values, units int, key rbm.Key) []quantity {
	var rows []rbm.Values
	all := len(states) * len(states[0])
	n := min(all, componentRows)
	for i := range n { // chain by chain, with equally spaced rounds
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

// gram returns the inner products of the rows minus their mean.
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

// leading returns approximations of the k leading eigenvectors of the positive semidefinite matrix g,
// by subspace iteration. It returns fewer if the rank of g is less than k.
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
			if largest = max(largest, size); size <= 1e-9*largest { // only rounding errors are left
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

// dots returns the inner products of a with the vectors v, of which there are at most components. Three
// independent sums in one loop are faster than three loops.
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
