package main

import (
	"context"
	"fmt"
	"math"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/chains"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A system is sampled in the paper's figures.
type system struct {
	chains.Label
	lattice string // "": an RBM
	coupled func(key rbm.Key) mcmc.Couplings
	fields  bool // ±1 at random
	free    bool // the boundary
	beta    float64
	draw    uint64 // of the couplings and fields; 0 is that of all other figures
	// Settings of SARDONICS by the paper's table II, with k and N rounded.
	k, gamma, walks, mix string
}

func ferro(temperature float64) system {
	return system{Label: chains.Label(fmt.Sprintf("T = %g", temperature)), lattice: "60x60", beta: 1 / temperature,
		coupled: func(rbm.Key) mcmc.Couplings { return mcmc.Uniform(1) },
		k:       "56-91", gamma: "1.002/1.029", walks: "2", mix: ".385/.371/.243"}
}

func plusMinus(key rbm.Key) mcmc.Couplings { return mcmc.PlusMinus(1, key) }

// between couples each bond by a number that is uniform between −1 and 1.
func between(key rbm.Key) mcmc.Couplings {
	return func(n int) []float64 {
		r := key.Rand()
		c := make([]float64, n)
		for k := range c {
			c[k] = 2*r.Float64() - 1
		}
		return c
	}
}

// The systems of section 5. The paper does not give the distribution of the chimera's couplings; in the files of
// its authors they are uniform between −1 and 1, and the boundary is free.
var (
	frustrated = system{Label: "frustrated 2D", lattice: "60x60", coupled: plusMinus, fields: true, beta: 1,
		k: "63-91", gamma: "1.04/1.082", walks: "3", mix: ".208/.674/.119"}
	cube = system{Label: "cube", lattice: "9x9x9", coupled: plusMinus, beta: 1,
		k: "4-30", gamma: "1.039/1.134", walks: "3", mix: ".616/.231/.153"}
	chimera = system{Label: "chimera", lattice: "chimera:4", free: true, coupled: between, beta: 1,
		k: "4-20", gamma: "1.043/1.139", walks: "4", mix: ".397/.324/.279"}
	machine = system{Label: "RBM", beta: 1, k: "18-50", gamma: "1.029", walks: "1", mix: "1/0/0"}
)

// A copies makes copies of a system.
type copies struct {
	build func() mcmc.Settable
	// ising makes copies of the same state as an Ising system, with energies that differ by a
	// constant; of a lattice it is build.
	ising     func() mcmc.Settable
	graph     *mcmc.Graph // of a lattice
	hidden    int         // first of the hidden units; 0 of a lattice
	symmetric bool        // a state has the energy of its mirror image
}

// make returns copies of the system.
func (s system) make(ctx context.Context, p *programs, quick bool) (copies, error) {
	if s.lattice == "" {
		m, err := p.rbm(ctx, quick)
		if err != nil {
			return copies{}, err
		}
		parameters := mcmc.NewParameters(m)
		return copies{
			build: func() mcmc.Settable { return mcmc.NewRBM(parameters) },
			ising: func() mcmc.Settable {
				g, err := spins(m)
				if err != nil {
					panic(err) // parameters are finite
				}
				return mcmc.NewIsing(g, nil)
			},
			hidden: m.Visible(),
		}, nil
	}
	text := s.lattice
	if quick {
		text = small[text]
	}
	key := rbm.NewKey(1 + s.draw)
	g, err := mcmc.ParseGraph(text, !s.free, s.coupled(key), 0)
	if err != nil {
		return copies{}, err
	}
	if s.fields {
		if g, err = withFields(g, key.Child(1)); err != nil {
			return copies{}, err
		}
	}
	build := func() mcmc.Settable { return mcmc.NewIsing(g, nil) }
	return copies{build: build, ising: build, graph: g, symmetric: !s.fields}, nil
}

// withFields returns g with fields of ±1, by fair coins.
func withFields(g *mcmc.Graph, key rbm.Key) (*mcmc.Graph, error) {
	r := key.Rand()
	field := make([]float64, g.Len())
	var edges []mcmc.Edge
	for i := range field {
		field[i] = float64(2*r.IntN(2) - 1)
		neighbors, couplings := g.Neighbors(i)
		for k, j := range neighbors {
			if int(j) > i {
				edges = append(edges, mcmc.Edge{I: int32(i), J: j, Coupling: couplings[k]})
			}
		}
	}
	return mcmc.NewGraph(field, edges)
}

// spins returns the Ising system of an RBM, visible units first: with v = (1+s)/2 a weight w
// couples spins by w/4 and adds w/4 to the field of both, and a bias b adds b/2.
func spins(m *rbm.RBM) (*mcmc.Graph, error) {
	n := m.Visible()
	field := make([]float64, n+m.Hidden())
	for i, b := range m.VisibleBias {
		field[i] = float64(b) / 2
	}
	for j, b := range m.HiddenBias {
		field[n+j] = float64(b) / 2
	}
	edges := make([]mcmc.Edge, 0, n*m.Hidden())
	for i := range n {
		for j := range m.Hidden() {
			w := float64(m.Weight(i, j)) / 4
			field[i] += w
			field[n+j] += w
			edges = append(edges, mcmc.Edge{I: int32(i), J: int32(n + j), Coupling: w})
		}
	}
	return mcmc.NewGraph(field, edges)
}

// rbm returns the model of -model, or one that is trained on the built-in digits by persistent
// chains: with -quick of fewer units.
func (p *programs) rbm(ctx context.Context, quick bool) (*rbm.RBM, error) {
	p.load.Do(func() {
		if p.model != "" && !quick {
			p.machine, _, p.loadErr = cli.ReadModel(&p.model)
			return
		}
		p.machine, p.loadErr = trainOnDigits(ctx, quick)
	})
	return p.machine, p.loadErr
}

// trainOnDigits trains a model of 784 × 500 units on the built-in digits.
func trainOnDigits(ctx context.Context, quick bool) (*rbm.RBM, error) {
	rows, hidden, steps := 5000, 500, 3000
	if quick {
		rows, hidden, steps = 200, 10, 20
	}
	return chains.TrainedOnDigits(ctx, hidden, rows, steps)
}

// tableII names SARDONICS by the paper's table II: with all settings, with one walk a half and one
// bias ("pure"), and with either of the two schemes alone.
func (s system) tableII(walks, mix bool) string {
	if !walks {
		s.walks = "1"
	}
	if !mix {
		s.mix = "1/0/0"
	}
	return "sardonics:k=" + s.k + ":gamma=" + s.gamma + ":walks=" + s.walks + ":mix=" + s.mix
}

// settings returns the sampler that tableII names.
func (s system) settings(walks, mix bool) mcmc.Mover {
	m, err := mcmc.ParseMover(s.tableII(walks, mix), mcmc.Linear)
	if err != nil {
		panic(err) // a constant of this file
	}
	return m
}

// shortened returns m with walks that fit n units, for -quick.
func shortened(m mcmc.Mover, n int) mcmc.Mover {
	if s, ok := m.(mcmc.Sardonics); ok {
		s.MinLength, s.MaxLength = min(s.MinLength, n/8), min(s.MaxLength, n/4)
		return s
	}
	return m
}

// random returns the state that samplers of a contest start from, as those of the paper's authors: half of the spins
// are up, or a third of the units on.
func (s system) random(c copies, seed int) ([]uint8, error) {
	x := c.build()
	active := x.Len() / 2
	if c.hidden > 0 {
		active = x.Len() / 3
	}
	return chains.Relaxed(x, mcmc.Gibbs{}, s.beta, active, 0, rbm.NewKey(uint64(seed)).Child(0))
}

// begin returns copies of the system, and the state that samplers with given settings start from. Long walks that fit the
// temperature are hardly ever accepted in a random state.
func (s system) begin(ctx context.Context, p *programs, seed int, quick bool) (c copies, start []uint8, err error) {
	const sweeps = 100
	if c, err = s.make(ctx, p, quick); err == nil {
		start, err = chains.Relaxed(c.build(), mcmc.Gibbs{}, s.beta, 0, sweeps, rbm.NewKey(uint64(seed)).Child(0))
	}
	return c, start, err
}

// finite reports whether x is a number.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
