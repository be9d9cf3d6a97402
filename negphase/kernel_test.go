package negphase

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

// kernelTol bounds the rounding error of sums of some hundred thousand products
// whose sum is about 1.
const kernelTol = 1e-12

// mutantBreak is the least error that a broken kernel must have.
const mutantBreak = 1e-6

// A replicated system has K particles of a tiny RBM. It lists the joint states
// X = (x_1 … x_K) of all particles, and the block Gibbs kernel of a particle at each
// temperature.
type replicated struct {
	m     *rbm.RBM
	base  *rbm.Base // nil: the uniform distribution
	all   []state
	beta  []float64
	p     [][]float64   // p[k][x]: the distribution at β_k
	gibbs [][][]float64 // gibbs[k][x][y], from x to y at β_k
	joint [][]int       // [number of X] X
	perms [][]int
}

func newReplicated(m *rbm.RBM, base *rbm.Base, beta []float64) *replicated {
	s := &replicated{m: m, base: base, all: states(m), beta: beta, perms: permutations(len(beta))}
	if base != nil {
		s.all = withBase(s.all, base)
	}
	for _, b := range beta {
		s.p = append(s.p, distribution(s.all, b))
		s.gibbs = append(s.gibbs, gibbsKernel(m, base, s.all, b))
	}
	x := make([]int, len(beta))
	for {
		s.joint = append(s.joint, slices.Clone(x))
		k := 0
		for ; k < len(x); k++ {
			if x[k]++; x[k] < len(s.all) {
				break
			}
			x[k] = 0
		}
		if k == len(x) {
			return s
		}
	}
}

// blend returns β·x + (1−β)·base; a nil base is 0.
func blend(beta float64, x []float64, base []float32) []float64 {
	y := make([]float64, len(x))
	for i := range y {
		y[i] = beta * x[i]
		if base != nil {
			y[i] += (1 - beta) * float64(base[i])
		}
	}
	return y
}

// gibbsKernel returns the transition matrix of one block Gibbs step at beta on the path
// from base: v given h, and then h given the new v. It multiplies the factors of the
// conditional distributions.
func gibbsKernel(m *rbm.RBM, base *rbm.Base, all []state, beta float64) [][]float64 {
	group := slices.Repeat([]int{-1}, m.Visible()) // softmax group of each unit
	for k, g := range m.SoftmaxGroups() {
		for i := range g.Units {
			group[g.First+i] = k
		}
	}
	if base == nil {
		base = &rbm.Base{}
	}
	kernel := make([][]float64, len(all))
	for x, from := range all {
		a := blend(beta, visibleField(m, from.h), base.VisibleBias)
		z := make([]float64, len(m.SoftmaxGroups()))
		for i, a := range a {
			if k := group[i]; k >= 0 {
				z[k] += math.Exp(a)
			}
		}
		for _, to := range all {
			p := 1.0
			for i, v := range to.v {
				switch k := group[i]; {
				case k < 0:
					p *= sigmoid(a[i] * float64(2*v-1))
				case v != 0:
					p *= math.Exp(a[i]) / z[k]
				}
			}
			for j, c := range blend(beta, hiddenField(m, to.v), base.HiddenBias) {
				p *= sigmoid(c * float64(2*to.h[j]-1))
			}
			kernel[x] = append(kernel[x], p)
		}
	}
	return kernel
}

// number is the inverse of s.joint.
func (s *replicated) number(x []int) int {
	n := 0
	for k := len(x) - 1; k >= 0; k-- {
		n = n*len(s.all) + x[k]
	}
	return n
}

// energies returns the energies E − E₀, which β multiplies.
func (s *replicated) energies(x []int) []float64 {
	e := make([]float64, len(x))
	for k := range x {
		e[k] = s.all[x[k]].energy - s.all[x[k]].base
	}
	return e
}

// set sets the energies of group g of l to those of X; swaps read nothing else.
func (s *replicated) set(l *ladder, g int, x []int) {
	for k := range x {
		l.states.Energy[g*len(x)+k] = s.all[x[k]].energy
		if s.base != nil {
			l.states.BaseEnergy[g*len(x)+k] = s.all[x[k]].base
		}
	}
}

// states returns states for the chains of l, which set fills.
func (s *replicated) states(l *ladder) *rbm.States {
	l.base = s.base
	st := rbm.NewStates(s.m, l.rows)
	if s.base != nil {
		st.BaseEnergy = make([]float64, l.rows)
	}
	return st
}

// product returns Π_k p_k(x_k).
func (s *replicated) product() []float64 { return s.assigned(nil) }

// assigned returns the distribution Π_j p_j(x_at[j]) of X; nil is the identity.
func (s *replicated) assigned(at []int) []float64 {
	p := make([]float64, len(s.joint))
	for n, x := range s.joint {
		p[n] = 1
		for j := range s.beta {
			k := j
			if at != nil {
				k = at[j]
			}
			p[n] *= s.p[j][x[k]]
		}
	}
	return p
}

// symmetrised returns p̄, the mean of assigned over all assignments.
func (s *replicated) symmetrised() []float64 {
	var p []float64
	for _, at := range s.perms {
		p = addTo(p, 1/float64(len(s.perms)), s.assigned(at))
	}
	return p
}

// move returns the distribution of X after a Gibbs step of each particle, from the state
// from, with temperatures assigned by at.
func (s *replicated) move(at, from []int) []float64 {
	row := make([]float64, len(s.joint))
	for n, to := range s.joint {
		row[n] = 1
		for j, k := range at {
			row[n] *= s.gibbs[j][from[k]][to[k]]
		}
	}
	return row
}

// swapping returns the implementation's distribution of the permutation
// and its weights of the particles, for each X.
func (s *replicated) swapping() (rho, weights [][]float64) {
	p := newPermanent(s.beta)
	for _, x := range s.joint {
		p.set(s.energies(x))
		w := make([]float64, len(x))
		p.weights(w)
		weights = append(weights, w)
		var r []float64
		for _, at := range s.perms {
			prob, _ := p.path(at)
			r = append(r, prob)
		}
		rho = append(rho, r)
	}
	return rho, weights
}

// infinite returns the transition matrix on X of one step of infinite swapping: the temperatures are drawn
// given X, and then each particle moves at its temperature.
func (s *replicated) infinite() [][]float64 {
	rho, _ := s.swapping()
	matrix := make([][]float64, len(s.joint))
	for n, x := range s.joint {
		for i, at := range s.perms {
			matrix[n] = addTo(matrix[n], rho[n][i], s.move(at, x))
		}
	}
	return matrix
}

// estimate returns Σ_X p(X) Σ_k w_k(X) f_k(x_k), where f_k is terms at inverse
// temperature b[k].
func (s *replicated) estimate(p []float64, weights [][]float64, b []float64) []float64 {
	table := make([][][]float64, len(b))
	for k := range b {
		for _, st := range s.all {
			table[k] = append(table[k], terms(s.m, st.v, b[k]))
		}
	}
	var sum []float64
	for n, x := range s.joint {
		for k := range x {
			sum = addTo(sum, p[n]*weights[n][k], table[k][x[k]])
		}
	}
	return sum
}

// after returns the row vector p times the matrix.
func after(p []float64, matrix [][]float64) []float64 {
	var q []float64
	for n, row := range matrix {
		q = addTo(q, p[n], row)
	}
	return q
}

// ones returns n ones.
func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// eachReplicated calls f for tiny models, with ladders
// of two and three temperatures, on both paths.
func eachReplicated(t *testing.T, f func(t *testing.T, s *replicated)) {
	for _, shape := range []shape{{2, 1, 0, rbm.Softmax}, {1, 2, 0, rbm.Softmax}, {3, 1, 2, rbm.Softmax}} {
		for _, beta := range [][]float64{{1, 0.5}, {1, 0.625, 0.25}} {
			name := shape.String() + "/K=" + string(rune('0'+len(beta)))
			m := shape.random(21, 1.5)
			t.Run(name, func(t *testing.T) { f(t, newReplicated(m, nil, beta)) })
			t.Run(name+"/base", func(t *testing.T) { f(t, newReplicated(m, randomBase(m, 5), beta)) })
		}
	}
	m := grouped(21, 1.5, 1, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Softmax, Units: 2})
	t.Run("groups", func(t *testing.T) { f(t, newReplicated(m, nil, []float64{1, 0.5})) })
	t.Run("groups/base", func(t *testing.T) { f(t, newReplicated(m, randomBase(m, 5), []float64{1, 0.5})) })
}

// Block Gibbs steps of a model with softmax groups are in detailed balance with its distribution, both as
// chains of hidden states and as chains of visible states. The conditional distributions equal those of the code, up to
// rounding in float32. Groups that are drawn at another temperature, or as independent units, break detailed balance.
func TestGroupsAreInDetailedBalance(t *testing.T) {
	m := sharpGroups(31, sharpSD)
	all := states(m)
	for _, base := range []*rbm.Base{nil, randomBase(m, 6)} {
		listed := all
		if base != nil {
			listed = withBase(all, base)
		}
		for _, beta := range []float64{1, 0.4} {
			p := distribution(listed, beta)
			kernel := gibbsKernel(m, base, listed, beta)
			if d := imbalance(listed, p, kernel); d > kernelTol {
				t.Errorf("β = %v, a base %v: detailed balance is off by %v, want at most %v", beta, base != nil, d, kernelTol)
			}
			warm := gibbsKernel(m, base, listed, 0.9*beta)
			apart := independentGroups(m, base, listed, beta)
			for name, broken := range map[string][][]float64{"a β off by a tenth": warm, "units of a group apart": apart} {
				d := imbalance(listed, p, broken)
				t.Logf("β = %v: %s: off by %.2g", beta, name, d)
				if d < mutantBreak {
					t.Errorf("mutant is not seen: β = %v, %s: off by %v only", beta, name, d)
				}
			}
		}
	}
	// p(v'|h) is the product of the means of units that are on, and of 1 − mean for bits that are off.
	kernel := gibbsKernel(m, nil, all, 1)
	h, v := rbm.NewBits(1, m.Hidden()), rbm.NewBits(1, m.Visible())
	visible, hidden := rbm.NewMatrix(1, m.Visible()), rbm.NewMatrix(1, m.Hidden())
	for x, from := range all {
		for j, b := range from.h {
			h.Set(0, j, b != 0)
		}
		m.VisibleMean(visible, h)
		for y, to := range all {
			for i, b := range to.v {
				v.Set(0, i, b != 0)
			}
			m.HiddenMean(hidden, v)
			want := 1.0
			for i, b := range to.v {
				switch q := float64(visible.Row(0)[i]); {
				case b != 0:
					want *= q
				case i == 3: // the bit
					want *= 1 - q
				}
			}
			for j, b := range to.h {
				q := float64(hidden.Row(0)[j])
				if b == 0 {
					q = 1 - q
				}
				want *= q
			}
			if math.Abs(kernel[x][y]-want) > 1e-6 {
				t.Fatalf("from state %d to %d the code has %v, the matrix %v", x, y, want, kernel[x][y])
			}
		}
	}
}

// imbalance returns the largest |p(x)·P(x,y) − p(y)·P(y,x)| for the chains of hidden and of visible states under a
// kernel that draws v|h and then h|v. The chain of visible states draws h first.
func imbalance(all []state, p []float64, kernel [][]float64) (d float64) {
	// Flows between hidden states. The kernel depends on x through h only.
	flow := map[[2]string]float64{}
	for x, from := range all {
		for y, to := range all {
			flow[[2]string{fmt.Sprint(from.h), fmt.Sprint(to.h)}] += p[x] * kernel[x][y]
		}
	}
	for k, f := range flow {
		d = max(d, math.Abs(f-flow[[2]string{k[1], k[0]}]))
	}
	// Flows between visible states: h is drawn given v, and then v'. The sum is over the kernel's h'.
	clear(flow)
	for x, from := range all { // (v, h) is a draw of v and then of h|v
		for y, to := range all {
			flow[[2]string{fmt.Sprint(from.v), fmt.Sprint(to.v)}] += p[x] * kernel[x][y]
		}
	}
	for k, f := range flow {
		d = max(d, math.Abs(f-flow[[2]string{k[1], k[0]}]))
	}
	return d
}

// independentGroups is a broken gibbsKernel, in which the probability of the active unit of a group is that of an
// independent bit.
func independentGroups(m *rbm.RBM, base *rbm.Base, all []state, beta float64) [][]float64 {
	kernel := gibbsKernel(m, base, all, beta)
	if base == nil {
		base = &rbm.Base{}
	}
	for x, from := range all {
		a := blend(beta, visibleField(m, from.h), base.VisibleBias)
		total := 0.0
		for y, to := range all {
			for _, g := range m.SoftmaxGroups() {
				sum, own := 0.0, 0.0
				for i := range g.Units {
					w := math.Exp(a[g.First+i])
					sum += w
					if to.v[g.First+i] != 0 {
						own = w
					}
				}
				kernel[x][y] *= sigmoid(math.Log(own)) / (own / sum) // in place of the softmax
			}
			total += kernel[x][y]
		}
		for y := range all {
			kernel[x][y] /= total
		}
	}
	return kernel
}

func TestInfiniteSwappingKernel(t *testing.T) {
	eachReplicated(t, func(t *testing.T, s *replicated) {
		k := len(s.beta)
		bar, matrix := s.symmetrised(), s.infinite()
		for n, row := range matrix {
			sum := 0.0
			for _, p := range row {
				sum += p
			}
			near(t, "sum of a row", sum, 1, kernelTol)
			if t.Failed() {
				t.Fatalf("row %d is no distribution", n)
			}
		}
		if d := farthest(after(bar, matrix), bar); d > kernelTol {
			t.Errorf("p̄ is moved by %v, want at most %v", d, kernelTol)
		}
		_, weights := s.swapping()
		want := expectation(s.m, s.all, s.p[0])
		if d := farthest(s.estimate(bar, weights, ones(k)), want); d > kernelTol {
			t.Errorf("the estimate is off by %v, want at most %v", d, kernelTol)
		}
		// The joint distribution of X and the assignment is symmetric, so the identity assignment
		// may replace p̄.
		if d := farthest(s.estimate(s.product(), weights, ones(k)), want); d > kernelTol {
			t.Errorf("the estimate under the identity is off by %v, want at most %v", d, kernelTol)
		}

		mutant := func(name string, d float64) {
			t.Helper()
			t.Logf("%s: off by %.2g", name, d)
			if d < mutantBreak {
				t.Errorf("mutant is not seen: %s: off by %v only", name, d)
			}
		}
		// Broken: weights from the state before the Gibbs steps, terms from the state after them.
		var stale []float64
		for n := range s.joint {
			one := make([][]float64, len(s.joint))
			for i := range one {
				one[i] = weights[n]
			}
			stale = addTo(stale, bar[n], s.estimate(matrix[n], one, ones(k)))
		}
		mutant("weights before the Gibbs steps", farthest(stale, want))
		mutant("hidden means at the particle's temperature", farthest(s.estimate(s.product(), weights, s.beta), want))
		flat := make([][]float64, len(s.joint))
		for n := range flat {
			flat[n] = slices.Repeat([]float64{1 / float64(k)}, k)
		}
		mutant("equal weights", farthest(s.estimate(bar, flat, ones(k)), want))
		if s.base != nil {
			forget := *s
			forget.all = states(s.m)
			_, weights := forget.swapping()
			mutant("weights by E instead of E − E₀", farthest(s.estimate(bar, weights, ones(k)), want))
			mutant("permutation by E instead of E − E₀", forget.moved(false))
		}
		// The joint distribution of particles by temperature must also be invariant. Drawing
		// the permutation from the energies before the steps breaks it.
		mutant("permutation from the energies before the Gibbs steps", s.moved(true))
		if d := s.moved(false); d > kernelTol {
			t.Errorf("the distribution of the particles by temperature is moved by %v, want at most %v", d, kernelTol)
		}
	})
}

// moved returns the largest change of the distribution Π_j p_j of the particles by temperature in one step of the
// code: Gibbs steps, and then a permutation drawn given the new state. If stale, it is drawn given the old state.
func (s *replicated) moved(stale bool) float64 {
	rho, _ := s.swapping()
	start := s.product()
	identity := make([]int, len(s.beta))
	for k := range identity {
		identity[k] = k
	}
	end := make([]float64, len(start))
	y := make([]int, len(s.beta))
	for n, from := range s.joint {
		row := s.move(identity, from)
		for i, to := range s.joint {
			distribution := rho[i]
			if stale {
				distribution = rho[n]
			}
			for q, at := range s.perms {
				for j, k := range at {
					y[j] = to[k]
				}
				end[s.number(y)] += start[n] * row[i] * distribution[q]
			}
		}
	}
	return farthest(end, start)
}

// tempering makes one step of parallel tempering on the distribution Π_k p_k: Gibbs steps, and then
// swaps of the given pairs in order. It returns the largest change, and the resulting distribution of
// the particle at temperature 1. If stale, swaps use the energies before the Gibbs steps.
func (s *replicated) tempering(pairs []int, swap func(betaA, betaB, energyA, energyB float64) float64, stale bool) (float64, []float64) {
	start := s.product()
	identity := make([]int, len(s.beta))
	for k := range identity {
		identity[k] = k
	}
	sweep := func(q []float64, energies func(x []int) []float64) []float64 {
		for _, k := range pairs {
			next := make([]float64, len(q))
			for n, x := range s.joint {
				e := energies(x)
				a := swap(s.beta[k], s.beta[k+1], e[k], e[k+1])
				y := slices.Clone(x)
				y[k], y[k+1] = y[k+1], y[k]
				next[s.number(y)] += q[n] * a
				next[n] += q[n] * (1 - a)
			}
			q = next
		}
		return q
	}
	end := make([]float64, len(start))
	if stale {
		for n, from := range s.joint {
			old := s.energies(from)
			row := sweep(s.move(identity, from), func([]int) []float64 { return old })
			end = addTo(end, start[n], row)
		}
	} else {
		var q []float64
		for n, from := range s.joint {
			q = addTo(q, start[n], s.move(identity, from))
		}
		end = sweep(q, s.energies)
	}
	cold := make([]float64, len(s.all))
	for n, x := range s.joint {
		cold[x[0]] += end[n]
	}
	return farthest(end, start), cold
}

func TestParallelTemperingKernel(t *testing.T) {
	eachReplicated(t, func(t *testing.T, s *replicated) {
		want := expectation(s.m, s.all, s.p[0])
		upward := []int{0, 1}[:len(s.beta)-1]
		// All pairs in order; the even pairs; the odd pairs.
		for _, pairs := range [][]int{upward, {0}, upward[1:]} {
			d, cold := s.tempering(pairs, swapProbability, false)
			if d > kernelTol {
				t.Errorf("pairs %v: Π p_k is moved by %v, want at most %v", pairs, d, kernelTol)
			}
			if d := farthest(expectation(s.m, s.all, cold), want); d > kernelTol {
				t.Errorf("pairs %v: the estimate is off by %v, want at most %v", pairs, d, kernelTol)
			}
		}
		if s.base != nil {
			forget := *s // broken: the path has no base
			forget.all = states(s.m)
			d, _ := forget.tempering(upward, swapProbability, false)
			t.Logf("E instead of E − E₀: distribution moved by %.2g", d)
			if d < mutantBreak {
				t.Errorf("mutant is not seen: E instead of E − E₀: the distribution is moved by %v only", d)
			}
		}
		for _, mutant := range []struct {
			name  string
			swap  func(betaA, betaB, energyA, energyB float64) float64
			stale bool
		}{
			{"wrong sign", func(a, b, x, y float64) float64 { return swapProbability(b, a, x, y) }, false},
			{"no difference of β", func(a, b, x, y float64) float64 { return swapProbability(a, 0, x, y) }, false},
			{"always swap", func(a, b, x, y float64) float64 { return 1 }, false},
			{"energies before the Gibbs steps", swapProbability, true},
		} {
			d, cold := s.tempering(upward, mutant.swap, mutant.stale)
			off := farthest(expectation(s.m, s.all, cold), want)
			t.Logf("%s: distribution moved by %.2g, estimate off by %.2g", mutant.name, d, off)
			if d < mutantBreak {
				t.Errorf("mutant is not seen: %s: the distribution is moved by %v only", mutant.name, d)
			}
			if off < mutantBreak {
				t.Errorf("mutant is not seen: %s: the estimate is off by %v only", mutant.name, off)
			}
		}
	})
}

// permute of the estimator gives each row its weight, for every X and from every
// assignment of temperatures.
func TestPermuteWeighsTheRows(t *testing.T) {
	eachReplicated(t, func(t *testing.T, s *replicated) {
		k := len(s.beta)
		_, weights := s.swapping()
		n := build[*ins](set(t, "ins", "chains", len(s.joint), "tau", inverse(s.beta)))
		part := newPart(k)
		n.lo, n.hi, n.weigh = 0, k, true
		for _, at := range s.perms {
			n.states = s.states(&n.ladder)
			for g, x := range s.joint {
				s.set(&n.ladder, g, x)
				for j, row := range at {
					n.ladder.at[g*k+j] = int32(g*k + row)
				}
				n.permute(part, g)
				for row, want := range weights[g] {
					// share is in float64, and equal energies may be sorted in any order;
					// the row's weight is rounded to float32.
					near(t, "weight", part.share[slices.Index(at, row)], want, 1e-14)
					near(t, "weight of the row", float64(n.weight[g*k+row])*float64(len(s.joint)), want, 1e-6*want)
				}
			}
		}
	})
}
