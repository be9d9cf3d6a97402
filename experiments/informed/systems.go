package main

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/informed"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// An arena is a system on which samplers are compared.
type arena struct {
	label string
	word  string // short label for pictures
	truth string // source of the true means
	beta  float64
	make  func(ctx context.Context, quick bool) (*ground, error)
}

// A ground has the data that all runs in an arena share. starts are states of the distribution, and mean and variance
// are those of the observables over starts.
type ground struct {
	build, free    func() mcmc.Settable // free makes the system of p(v); nil for lattices
	starts         [][]uint8
	observables    int
	observer       func(s mcmc.System) func(dst []float64)
	mean, variance []float64
	halves         float64 // largest difference between the means of an observable over the two halves of starts, in standard deviations
}

// finish sets means and variances from starts.
func (g *ground) finish() *ground {
	series := make([][]float64, g.observables)
	values := make([]float64, g.observables)
	s := g.build()
	observe := g.observer(s)
	for _, x := range g.starts {
		s.SetState(x)
		observe(values)
		for k, v := range values {
			series[k] = append(series[k], v)
		}
	}
	for _, x := range series {
		mean, variance := stat.MeanVariance(x, nil)
		g.mean, g.variance = append(g.mean, mean), append(g.variance, variance)
		half := len(x) / 2
		g.halves = max(g.halves, math.Abs(stat.Mean(x[:half], nil)-stat.Mean(x[half:], nil))/math.Sqrt(variance))
	}
	return g
}

// once returns a function that calls f once and keeps its result.
func once(f func(ctx context.Context, quick bool) (*ground, error)) func(ctx context.Context, quick bool) (*ground, error) {
	var mutex sync.Mutex
	var kept *ground
	return func(ctx context.Context, quick bool) (*ground, error) {
		mutex.Lock()
		defer mutex.Unlock()
		if kept != nil {
			return kept, nil
		}
		g, err := f(ctx, quick)
		if err == nil {
			kept = g
		}
		return g, err
	}
}

const (
	states     = 4000 // states of a reference
	components = 8
	trainSteps = 3000
)

// trained returns a model of the built-in digits with all parameters multiplied by sharp.
func trained(ctx context.Context, hidden int, sharp float32, quick bool) (*rbm.RBM, error) {
	rows, steps := 5000, trainSteps
	if quick {
		rows, hidden, steps = 200, min(hidden, 6), 20
	}
	m, err := chains.TrainedOnDigits(ctx, hidden, rows, steps)
	if err != nil {
		return nil, err
	}
	w := rbm.NewMatrix(m.Visible(), m.Hidden())
	for i := range m.Visible() {
		for j := range m.Hidden() {
			w.Row(i)[j] = sharp * m.Weight(i, j)
		}
	}
	m.SetWeights(w)
	for _, b := range [][]float32{m.VisibleBias, m.HiddenBias} {
		for i := range b {
			b[i] *= sharp
		}
	}
	return m, nil
}

// Numbers of moves between the states of a reference from long runs, in units of 150 moves of block Gibbs or 30 of tempering.
const (
	shortApart = 1
	longApart  = 10
)

// machine returns an arena with an RBM of 784 visible units. Its reference is from exact draws if apart is 0, and otherwise from long runs with
// shortApart or longApart units of moves between states.
func machine(hidden int, sharp float32, apart int) arena {
	a := arena{label: fmt.Sprintf("784×%d", hidden), beta: 1, truth: "long runs"}
	a.word = a.label
	if sharp != 1 {
		a.label += fmt.Sprintf(", parameters × %g", sharp)
		a.word += fmt.Sprintf(" × %g", sharp)
	}
	if apart == 0 {
		a.truth = "exact draws"
	}
	a.make = once(func(ctx context.Context, quick bool) (*ground, error) {
		m, err := trained(ctx, hidden, sharp, quick)
		if err != nil {
			return nil, err
		}
		p := mcmc.NewParameters(m)
		g := &ground{build: func() mcmc.Settable { return mcmc.NewRBM(p) }, free: func() mcmc.Settable { return informed.NewFree(m) }, observables: components}
		n, apart := states, apart
		if quick {
			n, apart = 200, min(apart, shortApart)
		}
		if apart == 0 {
			g.starts, err = drawn(ctx, m, n)
		} else {
			g.starts, err = visited(ctx, g.build, 1, n, []reference{{mcmc.BlockGibbs{}, 150 * apart}, {onRBM()[2].mover, 30 * apart}}, quick)
		}
		if err != nil {
			return nil, err
		}
		axes := principal(g.starts, m.Visible())
		g.observer = func(s mcmc.System) func(dst []float64) {
			visible := s.State()[:m.Visible()]
			return func(dst []float64) {
				clear(dst)
				for i, x := range visible {
					if x != 0 {
						floats.Add(dst, axes[i])
					}
				}
			}
		}
		return g.finish(), nil
	})
	return a
}

// drawn returns n independent states of both layers.
func drawn(ctx context.Context, m *rbm.RBM, n int) ([][]uint8, error) {
	v, h := rbm.NewValues(n, m.Visible(), false), rbm.NewValues(n, m.Hidden(), false)
	if err := exact.Draw(ctx, m, v, h, rbm.NewKey(1)); err != nil {
		return nil, err
	}
	all := make([][]uint8, n)
	for k := range all {
		for _, layer := range []rbm.Values{v, h} {
			for i := range layer.Cols {
				all[k] = append(all[k], uint8(layer.Row(k)[i/64]>>(i%64)&1))
			}
		}
	}
	return all, nil
}

// A reference is a sampler for long runs, with the number of moves between the states that are kept.
type reference struct {
	mover mcmc.Mover
	apart int
}

// visited returns n states, with equal numbers from a run of each sampler. The runs start at different random states, and their first tenth is discarded.
func visited(ctx context.Context, build func() mcmc.Settable, beta float64, n int, samplers []reference, quick bool) (all [][]uint8, err error) {
	for k, ref := range samplers {
		key := rbm.NewKey(uint64(100 + k))
		s := build()
		start, err := chains.Relaxed(s, samplers[0].mover, beta, 0, n/10*samplers[0].apart, key.Child(0))
		if err != nil {
			return nil, err
		}
		s.SetState(start)
		c, err := ref.mover.Bind(s, beta, nil)
		if err != nil {
			return nil, err
		}
		r, each := key.Child(1).Rand(), n/len(samplers)
		for t := range each + each/10 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for range ref.apart {
				c.Move(r)
			}
			if t >= each/10 {
				all = append(all, append([]uint8(nil), s.State()...))
			}
		}
	}
	return all, nil
}

// principal returns, for each of the first n bits, its coefficients in the first principal components of the states.
func principal(all [][]uint8, n int) [][]float64 {
	x := mat.NewDense(len(all), n, nil)
	for k, state := range all {
		for i := range n {
			x.Set(k, i, float64(state[i]))
		}
	}
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, x, nil)
	var eigen mat.EigenSym
	if !eigen.Factorize(&covariance, true) {
		panic("informed: no principal axes of finite numbers")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	axes := make([][]float64, n)
	for i := range axes {
		for k := range components {
			axes[i] = append(axes[i], vectors.At(i, n-1-k))
		}
	}
	return axes
}

// lattice returns an arena with an Ising system with periodic boundaries. Its observables are the energy and the square of the
// magnetisation, or for a glass the square of the overlap with a state of the distribution.
func lattice(label, word, size string, beta float64, couplings mcmc.Couplings, glass bool, samplers ...reference) arena {
	truth := "long runs of Wolff's clusters"
	if glass {
		truth = "long runs of tempering"
	}
	return arena{label: label, word: word, beta: beta, truth: truth, make: once(func(ctx context.Context, quick bool) (*ground, error) {
		n := states
		if quick {
			size, n = map[bool]string{true: "3x3x3", false: "6x6"}[glass], 200
		}
		graph, err := mcmc.ParseGraph(size, true, couplings, 0)
		if err != nil {
			return nil, err
		}
		g := &ground{build: func() mcmc.Settable { return mcmc.NewIsing(graph, nil) }, observables: 2}
		if g.starts, err = visited(ctx, g.build, beta, n, samplers, quick); err != nil {
			return nil, err
		}
		pole := make([]uint8, graph.Len())
		if glass {
			copy(pole, g.starts[0])
		}
		g.observer = func(s mcmc.System) func(dst []float64) {
			state := s.State()
			return func(dst []float64) {
				overlap := 0
				for i, x := range state {
					overlap += 1 - 2*int(x^pole[i])
				}
				q := float64(overlap) / float64(len(state))
				dst[0], dst[1] = s.Energy(), q*q
			}
		}
		return g.finish(), nil
	})}
}

var critical = math.Log(1+math.Sqrt2) / 2
