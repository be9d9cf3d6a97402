package main

import (
	"errors"
	"math"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/chains"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A system is one of the three systems of the paper, or the trained RBM of its authors.
type system struct {
	chains.Label
	beta   float64
	active int // bits that are on
	im     mcmc.Intracluster
	// Numbers of moves of IM and of attempts to exchange that took the same time in the paper.
	moves, attempts int
	repeats         int
	// settled is set if exchange reaches the energies of IM in the paper.
	settled bool
	// build returns a function that makes copies of the system.
	build func(model string, quick bool) (func() mcmc.Settable, error)
}

// intracluster returns a mover whose walks both have lo to hi flips and bias gamma.
func intracluster(lo, hi int, gamma float64) mcmc.Intracluster {
	m := mcmc.DefaultIntracluster()
	m.MinLength, m.MaxLength, m.GammaDown, m.GammaUp = lo, hi, gamma, gamma
	return m
}

// The systems with the settings of the paper's section 4. The paper gives the RBM 1484 units, but
// 784 + 500 is 1284, a third of which is 428.
var (
	ferromagnet = system{Label: "ferromagnet", beta: 1 / 2.27, active: 1800, im: intracluster(90, 90, 1), moves: 1e5, attempts: 5e6, repeats: 10, settled: true,
		build: func(_ string, quick bool) (func() mcmc.Settable, error) {
			return lattice(quick, "60x60", "8x8", mcmc.Uniform(1))
		}}
	cube = system{Label: "cube", beta: 1, active: 364, im: intracluster(1, 25, 0.8), moves: 1e5, attempts: 1e6, repeats: 10,
		build: func(_ string, quick bool) (func() mcmc.Settable, error) {
			return lattice(quick, "9x9x9", "4x4x4", mcmc.PlusMinus(1, rbm.NewKey(1)))
		}}
	filters = system{Label: "Gabor filters", beta: 1, active: 428, im: intracluster(1, 20, 0.8), moves: 1e4, attempts: 1e5, repeats: 16,
		build: func(_ string, quick bool) (func() mcmc.Settable, error) {
			m := gabor(28, 500, rbm.NewKey(1))
			if quick {
				m = gabor(6, 20, rbm.NewKey(1))
			}
			return copies(m), nil
		}}
	trained = system{Label: "authors' RBM", beta: 1, active: 428, im: filters.im, moves: filters.moves, attempts: filters.attempts, repeats: filters.repeats,
		build: func(model string, _ bool) (func() mcmc.Settable, error) {
			if model == "" {
				return nil, errors.New("give the RBM by -model")
			}
			m, _, err := cli.ReadModel(&model)
			if err != nil {
				return nil, err
			}
			return copies(m), nil
		}}
)

// small returns the system for -quick, with the given number of units, of which half or a third are on.
func (s system) small(units int) system {
	divisor := 2
	if s.Label == filters.Label {
		divisor = 3
	}
	s.active = units / divisor
	s.im.MinLength, s.im.MaxLength = min(s.im.MinLength, 5), min(s.im.MaxLength, 7)
	return s
}

func lattice(quick bool, full, small string, c mcmc.Couplings) (func() mcmc.Settable, error) {
	if quick {
		full = small
	}
	g, err := mcmc.ParseGraph(full, true, c, 0)
	return func() mcmc.Settable { return mcmc.NewIsing(g, nil) }, err
}

func copies(m *rbm.RBM) func() mcmc.Settable {
	p := mcmc.NewParameters(m)
	return func() mcmc.Settable { return mcmc.NewRBM(p) }
}

// weightSD is the standard deviation of the weights of the RBM of the authors' program,
// ziyuw/AdaptSAW on GitHub. The paper does not give the size of its weights.
const weightSD = 0.228

// gabor returns an RBM without biases for images of side × side pixels. The weights of a hidden
// unit are a Gabor filter: a plane wave in a Gaussian window at a random place, with a random
// direction and phase. Wavelengths are 4 to 10 pixels, and the standard deviation of the window is half a
// wavelength. All filters have the same norm.
func gabor(side, hidden int, key rbm.Key) *rbm.RBM {
	r := key.Rand()
	weights := rbm.NewMatrix(side*side, hidden)
	filter := make([]float64, side*side)
	for j := range hidden {
		x0, y0 := r.Float64()*float64(side), r.Float64()*float64(side)
		wave, phase := 4+6*r.Float64(), 2*math.Pi*r.Float64()
		sin, cos := math.Sincos(math.Pi * r.Float64())
		var squares float64
		for i := range filter {
			x, y := float64(i%side)+0.5-x0, float64(i/side)+0.5-y0
			window := math.Exp(-(x*x + y*y) / (2 * (wave / 2) * (wave / 2)))
			filter[i] = window * math.Cos(2*math.Pi*(x*cos+y*sin)/wave+phase)
			squares += filter[i] * filter[i]
		}
		scale := weightSD * math.Sqrt(float64(len(filter))/squares)
		for i, w := range filter {
			weights.Row(i)[j] = float32(scale * w)
		}
	}
	m := rbm.New(side*side, hidden, 0, rbm.Softmax)
	m.SetWeights(weights)
	return m
}
