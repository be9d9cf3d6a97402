package negphase

import (
	"math"
	"slices"
	"testing"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A listing has all joint states of a tiny RBM, with the cost of each flip in each state, computed by the
// systems of the walks.
type listing struct {
	m            *rbm.RBM
	all          []state
	sites        []int32
	first        int         // label unit
	state        [][]uint8   // [x][unit]
	cost         [][]float64 // [x][unit]
	index        map[string]int
	beta         float64
	free         []float64 // exp(−βE), by the energies of the systems
	distribution []float64 // of the states that the constraint allows
}

func newListing(t *testing.T, m *rbm.RBM, beta float64) *listing {
	t.Helper()
	w := newMoves(samplerSettings{mover: mcmc.Exchange{}}, 1)
	if err := w.prepare(m, []float64{beta}, 1); err != nil {
		t.Fatal(err)
	}
	l := &listing{m: m, all: states(m), sites: w.units, first: m.Inputs(), index: map[string]int{}, beta: beta}
	system := w.replicas[0].system
	s := rbm.NewStates(m, 1)
	sum := 0.0
	for x, st := range l.all {
		for i, v := range st.v {
			s.V.Set(0, i, v != 0)
		}
		for j, h := range st.h {
			s.H.Set(0, j, h != 0)
		}
		w.parameters.Load([]*mcmc.RBM{system}, s.V, s.H)
		l.state = append(l.state, slices.Clone(system.State()))
		cost := make([]float64, system.Len())
		for i := range cost {
			cost[i] = system.FlipCost(i)
		}
		l.cost = append(l.cost, cost)
		l.index[string(system.State())] = x
		// Rounding changes parameters by at most half a quantum, which is at most 2⁻²⁹ times
		// the reach.
		units := m.Visible() + m.Hidden()
		near(t, "energy", system.Energy(), st.energy, w.parameters.Reach()*0x1p-29*float64(units*units))
		l.all[x].energy = system.Energy()
		l.free = append(l.free, math.Exp(-beta*system.Energy()))
		l.distribution = append(l.distribution, 0)
		if meetsConstraint(m, st) {
			l.distribution[x] = l.free[x]
			sum += l.free[x]
		}
	}
	for x := range l.distribution {
		l.distribution[x] /= sum
	}
	return l
}

// flipped returns the number of state x with unit i flipped; −1 if the model
// has no such state.
func (l *listing) flipped(x int, i int32) int {
	s := slices.Clone(l.state[x])
	s[i] ^= 1
	if y, ok := l.index[string(s)]; ok {
		return y
	}
	return -1
}

func (l *listing) empty() [][]float64 {
	k := make([][]float64, len(l.all))
	for x := range k {
		k[x] = make([]float64, len(l.all))
	}
	return k
}

// identity returns the identity matrix.
func (l *listing) identity() [][]float64 {
	k := l.empty()
	for x := range k {
		k[x][x] = 1
	}
	return k
}

// heatBath returns the weight of a flip with βΔE = x.
func heatBath(x float64) float64 { return 1 / (1 + math.Exp(x)) }

// A stroll is a sequence of flips with its probability and that of its reverse.
type stroll struct {
	at            int
	forward, back float64
	path          []int32
}

// strolls extends each stroll in from by k flips. A flip is drawn by heat-bath weights among
// the sites free, and its reverse among the sites home; the function sites returns both. Strolls to states
// that the model does not have are dropped.
func (l *listing) strolls(from []stroll, k int, sites func(s stroll, before int) (free, home []int32)) []stroll {
	weight := func(x int, among []int32, i int32) float64 {
		sum := 0.0
		for _, j := range among {
			sum += heatBath(l.beta * l.cost[x][j])
		}
		return heatBath(l.beta*l.cost[x][i]) / sum
	}
	for range k {
		var next []stroll
		for _, s := range from {
			free, _ := sites(s, s.at)
			for _, i := range free {
				y := l.flipped(s.at, i)
				if y < 0 {
					continue
				}
				n := stroll{y, s.forward * weight(s.at, free, i), s.back, append(slices.Clone(s.path), i)}
				_, home := sites(n, s.at)
				n.back *= weight(y, home, i)
				next = append(next, n)
			}
		}
		from = next
	}
	return from
}

// accepted adds to row x of k the probabilities of accepted moves, and of staying at x otherwise.
func (l *listing) accepted(k [][]float64, x int, share float64, ways []stroll) {
	for _, s := range ways {
		p := share * s.forward * min(1, l.free[s.at]*s.back/(l.free[x]*s.forward))
		k[x][s.at] += p
		k[x][x] += share*s.forward - p
	}
}

// sardonics returns the kernel of one walk of 1 or 2 flips on sites, by enumeration of all walks and their
// reverses.
func (l *listing) sardonics(sites []int32) [][]float64 {
	kernel := l.empty()
	for x := range l.all {
		for k := 1; k <= 2; k++ {
			ways := l.strolls([]stroll{{at: x, forward: 1, back: 1}}, k, func(s stroll, _ int) (free, _ []int32) {
				for _, i := range sites {
					if !slices.Contains(s.path, i) {
						free = append(free, i)
					}
				}
				return free, sites
			})
			// The reverse flips the last site first. Its normalisers are sums over
			// the sites that it has not flipped yet.
			for n := range ways {
				s := &ways[n]
				s.back = 1
				y, free := s.at, slices.Clone(sites)
				for t := len(s.path) - 1; t >= 0; t-- {
					i, sum := s.path[t], 0.0
					for _, j := range free {
						sum += heatBath(l.beta * l.cost[y][j])
					}
					s.back *= heatBath(l.beta*l.cost[y][i]) / sum
					free = slices.DeleteFunc(free, func(j int32) bool { return j == i })
					y = l.flipped(y, i)
				}
			}
			l.accepted(kernel, x, .5, ways)
		}
	}
	return kernel
}

// im returns the kernel of one intracluster move on sites, with one flip in each direction.
func (l *listing) im(sites []int32) [][]float64 {
	kernel := l.empty()
	side := func(x int, on uint8) (list []int32) {
		for _, i := range sites {
			if l.state[x][i] == on {
				list = append(list, i)
			}
		}
		return list
	}
	for x := range l.all {
		if len(side(x, 0)) == 0 || len(side(x, 1)) == 0 {
			kernel[x][x] = 1
			continue
		}
		for _, first := range []uint8{0, 1} {
			step := func(on uint8) func(s stroll, _ int) (free, home []int32) {
				return func(s stroll, _ int) ([]int32, []int32) { return side(s.at, on), side(s.at, 1-on) }
			}
			ways := l.strolls([]stroll{{at: x, forward: 1, back: 1}}, 1, step(first))
			l.accepted(kernel, x, .5, l.strolls(ways, 1, step(1-first)))
		}
	}
	return kernel
}

// sweep returns the kernel of heat-bath updates of sites in order.
func (l *listing) sweep(sites []int32) [][]float64 {
	kernel := l.identity()
	for _, i := range sites {
		one := l.empty()
		for x := range l.all {
			p := heatBath(l.beta * l.cost[x][i])
			one[x][x] += 1 - p
			if y := l.flipped(x, i); y >= 0 {
				one[x][y] += p
			}
		}
		kernel = product(kernel, one)
	}
	return kernel
}

// inputs returns the kernel that redraws the visible units except for a softmax label. chance returns the
// probability of a flip.
func (l *listing) inputs(chance func(cost, beta float64) float64) [][]float64 {
	kernel := l.identity()
	for i := range l.m.Visible() - softmaxLabel(l.m).Units {
		one := l.empty()
		for x := range l.all {
			p := chance(l.cost[x][i], l.beta)
			one[x][x] += 1 - p
			one[x][l.flipped(x, int32(i))] += p
		}
		kernel = product(kernel, one)
	}
	return kernel
}

// allowed lists the joint states of m that its constraint allows.
func allowed(m *rbm.RBM) []state {
	return slices.DeleteFunc(states(m), func(s state) bool { return !meetsConstraint(m, s) })
}

// meetsConstraint reports whether the constraint of m allows a state.
func meetsConstraint(m *rbm.RBM, s state) bool {
	c := m.Constraint
	if c == nil {
		return true
	}
	x := s.h
	if c.On == rbm.AllUnits {
		x = slices.Concat(s.v, s.h)
	}
	active := 0
	for i := range x {
		if x[i] != 0 {
			active++
		}
	}
	return active == c.Active
}

// label returns the kernel that redraws the label. The function probabilities computes the probabilities of the classes from
// the states and costs of the label's units.
func (l *listing) label(probabilities func(p []float64, state []uint8, cost []float64, beta float64)) [][]float64 {
	n := softmaxLabel(l.m).Units
	if n == 0 {
		return l.identity()
	}
	kernel := l.empty()
	p := make([]float64, n)
	for x := range l.all {
		probabilities(p, l.state[x][l.first:][:n], l.cost[x][l.first:][:n], l.beta)
		for y, share := range p {
			s := slices.Clone(l.state[x])
			for k := range n {
				s[l.first+k] = 0
			}
			s[l.first+y] = 1
			kernel[x][l.index[string(s)]] += share
		}
	}
	return kernel
}

func product(a, b [][]float64) [][]float64 {
	c := make([][]float64, len(a))
	for x, row := range a {
		c[x] = after(row, b)
	}
	return c
}

// moved returns the largest change of the distribution by a kernel, or the error of a row sum if that is larger.
func (l *listing) moved(kernel [][]float64) float64 {
	off := farthest(after(l.distribution, kernel), l.distribution)
	for x, row := range kernel {
		sum := 0.0
		for _, p := range row {
			sum += p
		}
		if l.distribution[x] > 0 {
			off = max(off, math.Abs(sum-1))
		}
	}
	return off
}

// states returns the number of allowed states.
func (l *listing) states() (n int) {
	for _, p := range l.distribution {
		if p > 0 {
			n++
		}
	}
	return n
}

// reachable returns the number of states that the kernel can reach
// from the first allowed state.
func (l *listing) reachable(kernel [][]float64) int {
	first := slices.IndexFunc(l.distribution, func(p float64) bool { return p > 0 })
	seen, todo := map[int]bool{first: true}, []int{first}
	for len(todo) > 0 {
		x := todo[0]
		todo = todo[1:]
		for y, p := range kernel[x] {
			if p > 0 && !seen[y] {
				seen[y] = true
				todo = append(todo, y)
			}
		}
	}
	return len(seen)
}
